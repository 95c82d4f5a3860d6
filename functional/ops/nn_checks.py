"""PyTorch's errors for the arguments of convolutions, pooling and classification losses."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..kernels.pool import pool_shape
from ..modes import PLAIN
from ..tensor import Tensor
from .matmul_checks import c_name

_remembered: dict[Any, Any] = {}
_MOST = 1024


def _signature(t: Tensor) -> Any:
    """What a check needs to know of a tensor."""
    if type(t) in PLAIN:
        return t._data.shape, t._data.dtype
    return t.shape, t.dtype


def remembered(make: Any, tensors: tuple[Any, ...], given: tuple[Any, ...]) -> Any:
    """``make(*tensors, *given)``, or its earlier result for the same shapes and arguments.

    The checks cost more than a small convolution. What raises is never remembered.
    """
    key = (make, *[t if t is None else _signature(t) for t in tensors], given)
    try:
        found = _remembered.get(key)
    except TypeError:  # a list among the arguments
        return make(*tensors, *given)
    if found is None:
        found = make(*tensors, *given)
        if len(_remembered) >= _MOST:
            _remembered.clear()
        _remembered[key] = found
    return found


def per_dimension(value: Any, n: int, name: str) -> tuple[int, ...]:
    """One int for every spatial dimension of a convolution, or one each."""
    if isinstance(value, (tuple, list)):
        items = tuple(int(v) for v in value)
        if len(items) == n:
            return items
        if len(items) == 1:
            return items * n
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {n} values to match the "
            f"convolution dimensions, but got {name}={list(items)}"
        )
    return (int(value),) * n


def check_conv(
    x: Tensor, weight: Tensor, bias: Any, groups: int, n: int, transposed: bool = False
) -> None:
    """Ranks, channels and dtypes."""
    shape, wanted = list(x.shape), list(weight.shape)
    if weight.ndim < 3:
        raise RuntimeError("weight should have at least three dimensions")
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    if len(shape) not in (n + 1, n + 2):
        raise RuntimeError(
            f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to "
            f"conv{'_transpose' * transposed}{n}d, but got input of size: {shape}"
        )
    _check_divisible(wanted, groups)
    (_check_transposed_channels if transposed else _check_channels)(shape, wanted, groups, n)
    outputs = wanted[1] * groups if transposed else wanted[0]
    if bias is not None and tuple(bias.shape) != (outputs,):
        given = "Given transposed=1," if transposed else "Given"
        raise RuntimeError(
            f"{given} weight of size {wanted}, expected bias to be 1-dimensional with {outputs} "
            f"elements, but got bias of size {list(bias.shape)} instead"
        )
    _check_dtypes(x, weight, bias)


def _check_channels(shape: list[int], wanted: list[int], groups: int, n: int) -> None:
    channels = shape[-n - 1]
    if channels != wanted[1] * groups:
        full = shape if len(shape) == n + 2 else [1, *shape]
        raise RuntimeError(
            f"Given groups={groups}, weight of size {wanted}, expected input{full} to have "
            f"{wanted[1] * groups} channels, but got {channels} channels instead"
        )


def _check_transposed_channels(shape: list[int], wanted: list[int], groups: int, n: int) -> None:
    channels = shape[-n - 1]
    if channels != wanted[0]:
        full = shape if len(shape) == n + 2 else [1, *shape]
        raise RuntimeError(
            f"Given transposed=1, weight of size {wanted}, expected input{full} to have "
            f"{wanted[0]} channels, but got {channels} channels instead"
        )


def _check_divisible(wanted: list[int], groups: int) -> None:
    if wanted[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, "
            f"but got weight of size [{wanted}] instead"
        )


def _check_dtypes(x: Tensor, weight: Tensor, bias: Any) -> None:
    if bias is not None and bias.dtype is not x.dtype:
        raise RuntimeError(
            f"Input type ({c_name(x)}) and bias type ({c_name(bias)}) should be the same"
        )
    if x.dtype is not weight.dtype:
        if bias is not None:
            raise RuntimeError(
                f"Input type ({c_name(x)}) and bias type ({c_name(weight)}) should be the same"
            )
        raise RuntimeError(f"expected scalar type {x.dtype.legacy} but found {weight.dtype.legacy}")


def check_conv_settings(stride: Any, padding: Any, dilation: Any, output: Any = ()) -> None:
    """Signs of a convolution's settings."""
    if any(p < 0 for p in padding):
        raise RuntimeError("negative padding is not supported")
    if any(p < 0 for p in output):
        raise RuntimeError("negative output_padding is not supported")
    if any(s <= 0 for s in stride):
        raise RuntimeError("non-positive stride is not supported")
    if any(d <= 0 for d in dilation):
        raise RuntimeError(f"dilation should be greater than zero, but got {list(dilation)}")


def check_output_padding(output: Any, stride: Any, dilation: Any) -> None:
    """What a transposed convolution adds must be less than what its stride leaves open."""
    rows = zip(output, stride, dilation, strict=True)
    if all(p < s or p < d for p, s, d in rows):
        return
    sides = ("depth", "height", "width")[-max(len(output), 2) :]
    missing = (0,) if len(output) == 1 else ()
    named = {"output_padding": missing + output, "stride": (1,) * len(missing) + stride}
    named["dilation"] = (1,) * len(missing) + dilation
    listed = " ".join(
        f"{name}_{side}: {value}"
        for name, values in named.items()
        for side, value in zip(sides, values, strict=True)
    )
    raise RuntimeError(
        f"output padding must be smaller than either stride or dilation, but got {listed}"
    )


def check_kernel_fits(x: Tensor, weight: Tensor, padding: Any, dilation: Any, n: int) -> None:
    """The kernel may not be larger than the padded input."""
    size = [s + 2 * p for s, p in zip(x.shape[-n:], padding, strict=True)]
    kernel = [d * (k - 1) + 1 for k, d in zip(weight.shape[2:], dilation, strict=True)]
    if any(k > s for k, s in zip(kernel, size, strict=True)):
        show = [" x ".join(map(str, v)) for v in (size, kernel)]
        raise RuntimeError(
            f"Calculated padded input size per channel: ({show[0]}). Kernel size: ({show[1]}). "
            "Kernel size can't be greater than actual input size"
        )


# --- pooling --------------------------------------------------------------------------------------

WORDS = {1: "one int", 2: "two ints", 3: "three ints"}


def window(value: Any, n: int, name: str, optional: bool = False) -> tuple[int, ...]:
    """One int for every spatial dimension of a pooling window, or one each."""
    items = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if len(items) not in (1, n):
        either = "either be omitted, a single int" if optional else "either be a single int"
        raise RuntimeError(f"max_pool{n}d: {name} must {either}, or a tuple of {WORDS[n]}")
    return tuple(int(v) for v in (items * n if len(items) == 1 else items))


def check_pool(x: Tensor, kernel: Any, stride: Any, padding: Any, dilation: Any, n: int) -> None:
    """Signs of the settings, and ranks."""
    if n == 1:
        _check_pool1d(x, kernel, padding)
    if any(s == 0 for s in stride):
        raise RuntimeError("stride should not be zero")
    named = list(zip("THW"[-n:], kernel, dilation, strict=True))
    if any(k <= 0 for k in kernel):
        listed = " ".join(f"k{a}: {k}" for a, k, _ in named)
        raise RuntimeError(f"kernel size should be greater than zero, but got {listed}")
    if any(d <= 0 for d in dilation):
        listed = " ".join(f"dilation{a}: {d}" for a, _, d in named)
        raise RuntimeError(f"dilation should be greater than zero, but got {listed}")
    for k, p in zip(kernel, padding, strict=True):
        if p < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
        if p > k // 2:
            raise RuntimeError(
                "pad should be at most half of effective kernel size, but got "
                f"pad={p}, kernel_size={k} and dilation={dilation[0]}"
            )
    _check_pool_rank(x, n)


def _check_pool1d(x: Tensor, kernel: Any, padding: Any) -> None:
    if x.ndim not in (2, 3):
        raise RuntimeError(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for "
            f"input, but got:{list(x.shape)}"
        )
    if padding[0] > kernel[0] // 2:
        raise RuntimeError(
            "max_pool1d() padding should be at most half of kernel size, but got "
            f"padding={padding[0]} and kernel_size={kernel[0]}"
        )


def _check_pool_rank(x: Tensor, n: int) -> None:
    if x.ndim not in (n + 1, n + 2):
        raise RuntimeError(f"non-empty {n + 1}D or {n + 2}D (batch mode) tensor expected for input")
    if 0 in x.shape[x.ndim - n - 1 :]:
        raise RuntimeError(
            f"Expected {n + 1}D or {n + 2}D (batch mode) tensor with optional 0 dim batch size for "
            f"input, but got:{list(x.shape)}"
        )


def check_pool_size(x: Tensor, settings: Any, n: int) -> None:
    """The result may not be empty."""
    size = pool_shape(tuple(x.shape[-n:]), *settings)
    if all(s > 0 for s in size):
        return
    if n == 1:
        raise RuntimeError(f"max_pool1d() Invalid computed output size: {size[0]}")
    given, found = ("x".join(map(str, (x.shape[-n - 1], *s))) for s in (x.shape[-n:], size))
    raise RuntimeError(
        f"Given input size: ({given}). Calculated output size: ({found}). Output size is too small"
    )


# --- classification losses ------------------------------------------------------------------------


def check_nll(input: Tensor, target: Tensor, weight: Any) -> None:
    """Shapes and dtypes of class scores, class indices and class weights."""
    if input.ndim == 0:
        raise ValueError(f"Expected 1 or more dimensions (got {input.ndim})")
    if input.ndim != 1 and (not target.ndim or input.shape[0] != target.shape[0]):
        raise ValueError(
            f"Expected input batch_size ({input.shape[0]}) to match target batch_size "
            f"({target.shape[0] if target.ndim else 1})."
        )
    if target.dtype not in (dtypes.int64, dtypes.uint8):
        raise RuntimeError(
            f"expected target dtype to be Long or Byte, but got {target.dtype.legacy}"
        )
    if input.ndim <= 2 and target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    _check_target_shape(input, target)
    classes = input.shape[0 if input.ndim == 1 else 1]
    if weight is not None and tuple(weight.shape) != (classes,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but "
            f"got weight tensor of shape: {list(weight.shape)}"
        )


def _check_target_shape(input: Tensor, target: Tensor) -> None:
    if input.ndim <= 2:
        return
    wanted = [input.shape[0], *input.shape[2:]]
    if list(target.shape) == wanted:
        return
    if input.ndim == 4:
        raise RuntimeError(
            f"size mismatch (got input: {list(input.shape)} , target: {list(target.shape)}"
        )
    raise RuntimeError(f"Expected target size {wanted}, got {list(target.shape)}")
