"""PyTorch's errors for the arguments of average, adaptive and fractional pooling and unpooling."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..kernels.pool import pool_shape
from ..tensor import Tensor
from .nn_checks import WORDS, listed
from .pooling import FLOATING, refuse_dtypes
from .too_large import check_bytes, check_numel


def pairs_of(value: Any, n: int, title: str, name: str, optional: bool = False) -> tuple[int, ...]:
    """One int for every spatial dimension of an average's window, or one each."""
    items = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if len(items) not in (1, n):
        either = "either be omitted, a single int" if optional else "either be a single int"
        if n == 3:
            either = either.removeprefix("either ")
        raise RuntimeError(f"{title}: {name} must {either}, or a tuple of {WORDS[n]}")
    items = listed(value, f"{title}.{name}.{_PLACES.get(name, 2)}")
    return items * n if len(items) == 1 else items


_PLACES = {"stride": 3, "padding": 4, "dilation": 5}


def one_int(value: Any, title: str, name: str) -> tuple[int, ...]:
    """The single int of a one-dimensional pooling's argument."""
    items = listed(value, f"{title}.{name}.{_PLACES.get(name, 2)}")
    if len(items) != 1:
        raise RuntimeError(f"{title}() argument '{name}' should contain one int (got {len(items)})")
    return items


def check_lines(x: Tensor, title: str) -> None:
    """Lines are (N, C, L) or (C, L)."""
    if x.ndim not in (2, 3):
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {x.ndim}-dimensional tensor for argument #1 "
            f"'self' (while checking arguments for {title})"
        )


def check_avg(x: Tensor, kernel: Any, stride: Any, padding: Any, divisor: Any) -> None:
    """Ranks, signs and dtypes of an average pooling over 2 or 3 dimensions."""
    n = len(kernel)
    if n == 2 and x.ndim < 3:
        low, high = -x.ndim, x.ndim - 1
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{low}, {high}], but got -3)"
        )
    if divisor == 0:
        raise RuntimeError("divisor must be not zero")
    if any(s == 0 for s in stride):
        raise RuntimeError("stride should not be zero")
    if any(s < 0 for s in stride):
        named = " ".join(f"d{a}: {s}" for a, s in zip("THW"[-n:], stride, strict=True))
        raise RuntimeError(f"stride should be greater than zero, but got {named}")
    if any(k <= 0 for k in kernel):
        shown = zip("THW"[-n:], kernel, strict=True)
        listed = " ".join(f"k{a}: {k}" for a, k in shown)
        raise RuntimeError(f"kernel size should be greater than zero, but got {listed}")
    for k, p in zip(kernel, padding, strict=True):
        if p < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
        if p > k // 2:
            raise RuntimeError(
                "pad should be at most half of effective kernel size, but got "
                f"pad={p}, kernel_size={k} and dilation=1"
            )
    _check_avg_rank(x, n)
    allowed = (*FLOATING, dtypes.int64) if n == 2 else (*FLOATING[:2], dtypes.int64)
    refuse_dtypes(x, "avg_pool2d" if n == 2 else "avg_pool3d_out_frame", *allowed)


def _check_avg_rank(x: Tensor, n: int) -> None:
    if x.ndim not in (n + 1, n + 2):
        if n == 2:
            raise RuntimeError(
                "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, "
                f"but got:{list(x.shape)}"
            )
        raise RuntimeError(f"non-empty {n + 1}D or {n + 2}D (batch mode) tensor expected for input")
    if n == 3 and 0 in x.shape[x.ndim - n - 1 :]:
        raise RuntimeError(
            "avg_pool3d(): Expected input's non-batch dimensions to have positive length, but "
            f"input has a shape of {list(x.shape)} and non-batch dimension 0 has length zero!"
        )
    if 0 in x.shape[x.ndim - n - 1 :]:
        raise RuntimeError(
            f"Expected {n + 1}D or {n + 2}D (batch mode) tensor with optional 0 dim batch size for "
            f"input, but got:{list(x.shape)}"
        )


def check_avg_size(x: Tensor, kernel: Any, stride: Any, padding: Any, ceil_mode: bool) -> None:
    """The result may not be empty."""
    n = len(kernel)
    given = tuple(x.shape[-n:])
    if n == 3 and any(s < k for s, k in zip(given, kernel, strict=True)):  # without its padding
        sizes = " ".join(f"{a}: {s}" for a, s in zip("THW", given, strict=True))
        kernels = " ".join(f"k{a}: {k}" for a, k in zip("THW", kernel, strict=True))
        raise RuntimeError(f"input image ({sizes}) smaller than kernel size ({kernels})")
    size = pool_shape(given, kernel, stride, padding, (1,) * n, ceil_mode)
    if all(s > 0 for s in size):
        return
    before, after = ("x".join(map(str, (x.shape[-n - 1], *s))) for s in (given, size))
    raise RuntimeError(
        f"Given input size: ({before}). Calculated output size: ({after}). Output size is too small"
    )


def adaptive_sizes(value: Any, x: Tensor, n: int, title: str) -> tuple[int, ...]:
    """Sizes of an adaptive pooling's result; None among them keeps the input's."""
    if not isinstance(value, (tuple, list)):
        if not hasattr(value, "__index__"):
            raise TypeError(f"object of type '{type(value).__name__}' has no len()")
        return (int(value),) * n
    if x.ndim <= len(value):
        raise ValueError(f"Input dimension should be at least {len(value) + 1}")
    shape = x.shape[x.ndim - len(value) :]
    sizes = [m if s is None else s for s, m in zip(value, shape, strict=True)]
    return listed(sizes, f"{title}.output_size.2")


def check_means_size(size: tuple[int, ...], n: int, title: str) -> None:
    """Length and signs of what an adaptive average is asked for."""
    if len(size) != n:
        raise RuntimeError(f"{title}: output_size must be {n}")
    if min(size) < 0:
        shown = f"{size[0]}, {','.join(map(str, size[1:]))}"
        raise RuntimeError(
            f"{title}: elements of output_size must be greater than or equal to 0 but received "
            f"{{{shown}}}"
        )


def check_maxima_size(shape: tuple[int, ...], size: tuple[int, ...], n: int, title: str) -> None:
    """Length and signs of what an adaptive maximum is asked for, of an input of that shape."""
    if len(size) != n:
        raise RuntimeError(f"{title}(): internal error: output_size.size() must be {n}")
    if min(size) < 0:
        result = [*shape[:-n], *size]
        negative = next(s for s in size if s < 0)
        raise RuntimeError(f"Trying to create tensor with negative dimension {negative}: {result}")


def check_adaptive(x: Tensor, n: int, title: str, colon: str) -> None:
    """Ranks, and that only the batch may be empty (and, for means of images, the channels)."""
    if n > 1 and x.ndim not in (n + 1, n + 2):
        raise RuntimeError(
            f"{title}(): Expected {n + 1}D or {n + 2}D tensor, but got{colon} {list(x.shape)}"
        )
    for i in range(x.ndim - 2 if title == "adaptive_avg_pool2d" else 1, x.ndim):
        if x.shape[i] == 0:
            raise RuntimeError(
                f"{title}(): Expected input to have non-zero size for non-batch dimensions, but "
                f"input has sizes {list(x.shape)} with dimension {i} being empty"
            )


def check_room(shape: tuple[int, ...], itemsize: int) -> None:
    """PyTorch's errors for results that have more elements, or bytes, than an int64 counts."""
    check_numel(shape)
    check_bytes(shape, itemsize)


def check_fractional(x: Tensor, samples: Any, kernel: Any, size: Any, n: int) -> None:
    """Windows must fit beside each other, and there is a sample for every plane."""
    if x.ndim not in (n + 1, n + 2):
        low, high = -x.ndim, x.ndim - 1
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{low}, {high}], but got -{n + 1})"
        )
    names = ("height", "width") if n == 2 else ("time", "height", "width")
    title = "fractional_max_pool2d" if n == 2 else "fractional_max_pool3d_out"
    for argument, value in (("kernel_size", kernel), ("output_size", size)):
        if len(value) != n:
            several = "Ints" if n == 2 else "three Ints"
            raise RuntimeError(
                f"fractional_max_pool{n}d: {argument} must either be a single Int or tuple of "
                f"{several}"
            )
    for i in range(1, x.ndim):
        if x.shape[i] == 0:
            raise RuntimeError(
                f"{title}(): Expected input to have non-zero size for non-batch dimensions, but "
                f"got{list(x.shape)} with dimension {i} being empty."
            )
    for name, k, out, given in zip(names, kernel, size, x.shape[-n:], strict=True):
        if out + k - 1 > given:
            raise RuntimeError(
                f"{title}(): pool {name} {k} too large relative to input {name} {given}"
            )
    refuse_dtypes(x, f"fractional_max_pool{n}d_out_frame", *FLOATING)
    _check_samples(samples, x, n)


def _check_samples(samples: Any, x: Tensor, n: int) -> None:
    start = "Expect _random_samples"
    if samples.dtype is not x.dtype:
        raise RuntimeError(f"{start} to have the same dtype as input")
    if samples.ndim != 3:
        raise RuntimeError(f"{start} to have 3 dimensions, got {samples.ndim}")
    batch = x.shape[0] if x.ndim == n + 2 else 1
    if samples.shape[0] < batch:
        raise RuntimeError(f"{start}.size(0) no less then input batch size.")
    if samples.shape[1] != x.shape[-n - 1]:
        raise RuntimeError(f"{start}.size(1) equals to input channel size.")
    if samples.shape[2] != n:
        raise RuntimeError(f"{start}.size(2) equals to {n}; got {samples.shape[2]}.")


def check_unpool(x: Tensor, indices: Tensor, n: int) -> None:
    """Indices are int64 and belong to the values."""
    if indices.dtype is not dtypes.int64:
        found = f" but got: {indices.dtype.legacy}" if n == 2 else ""
        raise RuntimeError(f"elements in indices should be type int64{found}")
    if x.ndim not in (n + 1, n + 2):
        raise RuntimeError(
            f"Input to max_unpooling{n}d should be a {n + 1}d or {n + 2}d Tensor, but got a tensor "
            f"with {x.ndim} dimensions."
        )
    if x.shape != indices.shape:
        raise RuntimeError(
            "Expected shape of indices to be same as that of the input tensor "
            f"({list(x.shape)}) but got indices tensor with shape: {list(indices.shape)}"
        )
    for i in range(1, x.ndim):
        if x.shape[i] == 0:
            raise RuntimeError(
                f"max_unpooling{n}d_forward_out_cpu(): Expected input to have non-zero size for "
                f"non-batch dimensions, but got {list(x.shape)} with dimension {i} being empty."
            )
    refuse_dtypes(x, f"max_unpool{n}d", *FLOATING)
