"""Pooling as functions: averages, adaptive and fractional windows, norms, unpooling."""

from __future__ import annotations

from typing import Any

from .kernels.formats import suggests_channels_last
from .ops.create import empty
from .ops.nn_checks import remembered
from .ops.pool_checks import (
    adaptive_sizes,
    check_adaptive,
    check_avg,
    check_avg_size,
    check_fractional,
    check_lines,
    check_maxima_size,
    check_means_size,
    check_room,
    check_unpool,
    one_int,
    pairs_of,
)
from .ops.pooling import (
    FLOATING,
    adaptive_avg_pools,
    adaptive_max_pools,
    avg_pools,
    fractional_max_pools,
    max_unpools,
    refuse_dtypes,
)
from .ops.views import squeeze, unsqueeze
from .tape.op import TENSOR, public
from .tensor import Tensor

# --- averages -------------------------------------------------------------------------------------


def _avg_settings(
    x: Tensor, kernel_size: Any, stride: Any, padding: Any, ceil: bool, divisor: Any, n: int
) -> tuple[Any, ...]:
    title = f"avg_pool{n}d"
    kernel = pairs_of(kernel_size, n, title, "kernel_size")
    step = kernel if stride in (None, (), []) else pairs_of(stride, n, title, "stride", True)
    pad = pairs_of(padding, n, title, "padding")
    check_avg(x, kernel, step, pad, divisor)
    check_avg_size(x, kernel, step, pad, ceil)
    return kernel, step, pad


def _avg_pool(n: int) -> Any:
    def avg_pool(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Tensor:
        given = (kernel_size, stride, padding, ceil_mode, divisor_override, n)
        settings = remembered(_avg_settings, (input,), given)
        found: Tensor = avg_pools[n](
            input, *settings, ceil_mode, count_include_pad, divisor_override
        )
        return found

    avg_pool.__name__ = avg_pool.__qualname__ = f"avg_pool{n}d"
    avg_pool.__doc__ = f"The mean of every window over {n} spatial dimensions."
    return public(avg_pool)


avg_pool2d, avg_pool3d = _avg_pool(2), _avg_pool(3)


@public
def avg_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean of every window of lines (N, C, L) or (C, L)."""
    (kernel,) = one_int(kernel_size, "avg_pool1d", "kernel_size")
    (step,) = (kernel,) if stride in (None, (), []) else one_int(stride, "avg_pool1d", "stride")
    (pad,) = one_int(padding, "avg_pool1d", "padding")
    check_lines(input, "avg_pool1d")
    rows = unsqueeze(input, -2)
    found = avg_pool2d(rows, (1, kernel), (1, step), (0, pad), ceil_mode, count_include_pad)
    return squeeze(found, -2)


# --- adaptive -------------------------------------------------------------------------------------


def _adaptive_avg(n: int) -> Any:
    title, kernel = f"adaptive_avg_pool{n}d", "adaptive_avg_pool" + ("2d", "3d_cpu")[n - 2]

    def adaptive_avg_pool(input: Tensor, output_size: Any) -> Tensor:
        size = adaptive_sizes(output_size, input, n, title)
        check_means_size(size, n, title)
        check_room((*input.shape[: input.ndim - n], *size), input.dtype.itemsize)
        if size == (1,) * n:
            mean: Tensor = TENSOR.mean(input, tuple(range(-1, -n - 1, -1)), True)
            if not isinstance(input._data, Tensor) and suggests_channels_last(input._data):
                c = mean.shape[1]
                mean = TENSOR.as_strided(mean, mean.shape, (c, 1, *(c,) * n))
            return mean
        check_adaptive(input, n, title, "")
        if input.dtype not in FLOATING:
            if n == 3 or (input.numel() and all(size)):
                refuse_dtypes(input, kernel)
            return empty((*input.shape[:-n], *size), dtype=input.dtype, device=input.device)
        found: Tensor = adaptive_avg_pools[n](input, size)
        return found

    adaptive_avg_pool.__name__ = adaptive_avg_pool.__qualname__ = title
    adaptive_avg_pool.__doc__ = f"Means over windows that give ``output_size`` over {n} dimensions."
    return public(adaptive_avg_pool)


adaptive_avg_pool2d, adaptive_avg_pool3d = _adaptive_avg(2), _adaptive_avg(3)


@public
def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """Means over windows that give ``output_size`` elements per line."""
    check_lines(input, "adaptive_avg_pool1d")
    (size,) = one_int(output_size, "adaptive_avg_pool1d", "output_size")
    return squeeze(adaptive_avg_pool2d(unsqueeze(input, -2), (1, size)), -2)


def _adaptive_max(n: int) -> Any:
    title, kernel = f"adaptive_max_pool{n}d", "adaptive_max_pool" + ("2d", "3d_cpu")[n - 2]

    def pool(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
        size = adaptive_sizes(output_size, input, n, title)
        check_adaptive(input, n, title, ":")
        check_maxima_size(input.shape, size, n, title)
        check_room((*input.shape[: input.ndim - n], *size), input.dtype.itemsize)
        refuse_dtypes(input, kernel, *FLOATING)
        return adaptive_max_pools[n](input, size)

    pool.__name__ = pool.__qualname__ = f"{title}_with_indices"
    pool.__doc__ = f"Maxima over windows that give ``output_size`` over {n} dimensions, and where."
    return pool


adaptive_max_pool2d_with_indices, adaptive_max_pool3d_with_indices = map(_adaptive_max, (2, 3))


def adaptive_max_pool1d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """Maxima over windows that give ``output_size`` elements per line, and where they were."""
    check_lines(input, "adaptive_max_pool1d")
    (size,) = one_int(output_size, "adaptive_max_pool1d", "output_size")
    check_adaptive(input, 1, "adaptive_max_pool1d", ":")
    rows = adaptive_max_pool2d_with_indices(unsqueeze(input, -2), (1, size))
    values, indices = (squeeze(z, -2) for z in rows)
    return values, indices


def _plain(with_indices: Any, name: str) -> Any:
    def pool(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
        found = with_indices(input, output_size)
        return found if return_indices else found[0]

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = with_indices.__doc__ + " ``return_indices`` says whether to tell where."
    return public(pool, f"nn_{name}")


adaptive_max_pool1d = _plain(adaptive_max_pool1d_with_indices, "adaptive_max_pool1d")
adaptive_max_pool2d = _plain(adaptive_max_pool2d_with_indices, "adaptive_max_pool2d")
adaptive_max_pool3d = _plain(adaptive_max_pool3d_with_indices, "adaptive_max_pool3d")
public(adaptive_max_pool1d_with_indices, "adaptive_max_pool1d")

# --- fractional -----------------------------------------------------------------------------------


def _fractional(n: int) -> Any:
    def pool(
        input: Tensor,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> Any:
        if output_size is None and output_ratio is None:
            raise ValueError(
                f"fractional_max_pool{n}d requires specifying either an output_size or an "
                "output_ratio"
            )
        if output_size is None:
            if n == 3 and not isinstance(output_ratio, (tuple, list)):
                output_ratio = (output_ratio,)
            if n == 2 and len(output_ratio) > n:
                raise ValueError(
                    f"fractional_max_pool{n}d requires output_ratio to either be a single Int or "
                    "tuple of Ints."
                )
            ratios = tuple(output_ratio) * (n if len(output_ratio) == 1 else 1)
            output_size = [int(s * r) for s, r in zip(input.shape[-n:], ratios[:n], strict=True)]
        kernel, size = (
            tuple(v) if isinstance(v, (tuple, list)) else (v,) * n
            for v in (kernel_size, output_size)
        )
        samples = _random_samples
        if samples is None:
            lead = (1, input.shape[0]) if input.ndim == n + 1 else tuple(input.shape[:2])
            samples = TENSOR.rand((*lead, n), dtype=input.dtype)
        check_fractional(input, samples, kernel, size, n)
        return fractional_max_pools[n](input, samples, kernel, size)

    pool.__name__ = pool.__qualname__ = f"fractional_max_pool{n}d_with_indices"
    pool.__doc__ = f"Maxima of windows at pseudo-random places over {n} dimensions, and where."
    return pool


fractional_max_pool2d_with_indices, fractional_max_pool3d_with_indices = map(_fractional, (2, 3))


def _plain_fractional(with_indices: Any, name: str) -> Any:
    def pool(
        input: Tensor,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> Any:
        found = with_indices(input, kernel_size, output_size, output_ratio, True, _random_samples)
        return found if return_indices else found[0]

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = with_indices.__doc__ + " ``return_indices`` says whether to tell where."
    return public(pool, f"nn_{name}")


fractional_max_pool2d = _plain_fractional(
    fractional_max_pool2d_with_indices, "fractional_max_pool2d"
)
fractional_max_pool3d = _plain_fractional(
    fractional_max_pool3d_with_indices, "fractional_max_pool3d"
)

# --- norms ----------------------------------------------------------------------------------------


def _root_of_powers(means: Any, count: int, norm: float) -> Tensor:
    """(count · mean) ** (1 / norm), of the positive part."""
    positive = TENSOR.mul(TENSOR.sign(means), TENSOR.relu(TENSOR.abs(means)))
    result: Tensor = TENSOR.pow(TENSOR.mul(positive, count), 1.0 / norm)
    return result


@public
def lp_pool1d(
    input: Tensor, norm_type: float, kernel_size: int, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """The ``norm_type`` norm of every window of lines."""
    means = avg_pool1d(TENSOR.pow(input, norm_type), kernel_size, stride, 0, ceil_mode)
    return _root_of_powers(means, kernel_size, norm_type)


def _lp_pool(n: int) -> Any:
    def lp_pool(
        input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None,
        ceil_mode: bool = False,
    ) -> Tensor:  # fmt: skip
        sizes = kernel_size if isinstance(kernel_size, (tuple, list)) else (kernel_size,) * n
        count = 1
        for size in sizes:
            count *= size
        pool = avg_pool2d if n == 2 else avg_pool3d
        means = pool(TENSOR.pow(input, norm_type), kernel_size, stride, 0, ceil_mode)
        return _root_of_powers(means, count, norm_type)

    lp_pool.__name__ = lp_pool.__qualname__ = f"lp_pool{n}d"
    lp_pool.__doc__ = f"The ``norm_type`` norm of every window over {n} dimensions."
    return public(lp_pool)


lp_pool2d, lp_pool3d = _lp_pool(2), _lp_pool(3)

# --- unpooling ------------------------------------------------------------------------------------


def _unpool_size(x: Tensor, kernel: Any, stride: Any, padding: Any, output_size: Any) -> list[int]:
    if len(kernel) > len(padding):
        raise IndexError("tuple index out of range")
    n = len(kernel)
    settings = zip(x.shape[-n:], kernel, stride, padding, strict=True)
    default = [(m - 1) * s + k - 2 * p for m, k, s, p in settings]
    if output_size is None:
        return default
    if len(output_size) == n + 2:
        output_size = output_size[2:]
    if len(output_size) != n:
        raise ValueError(
            f"output_size should be a sequence containing {n} or {n + 2} elements, but it has a "
            f"length of '{len(output_size)}'"
        )
    for d in range(n):
        low, high = default[d] - stride[d], default[d] + stride[d]
        if not low < output_size[d] < high:
            raise ValueError(
                f'invalid output_size "{output_size}" (dim {d} must be between {low} and {high})'
            )
    return list(output_size)


_SIZES = {1: "two", 2: "two", 3: "three"}


def _max_unpool(n: int) -> Any:
    def max_unpool(
        input: Tensor,
        indices: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        output_size: Any = None,
    ) -> Tensor:
        def each(value: Any) -> tuple[int, ...]:
            return tuple(value) if isinstance(value, (tuple, list)) else (value,) * n

        kernel, pad = each(kernel_size), each(padding)
        step = kernel if stride is None else each(stride)
        if min(len(v) for v in (kernel, pad, step)) < n or len(input.shape) < n:
            raise RuntimeError(
                f"There should be exactly {_SIZES[n]} elements "
                f"({', '.join(('depth', 'height', 'width')[-max(n, 2) :])}) in output_size, but "
                f"got {min(len(kernel), len(pad), len(step)) + (n == 1)} elements."
            )
        size = _unpool_size(input, kernel, step, pad, output_size)
        return _unpooled(input, indices, size)

    max_unpool.__name__ = max_unpool.__qualname__ = f"max_unpool{n}d"
    max_unpool.__doc__ = f"Maxima put back where they were over {n} dimensions; zeros elsewhere."
    return public(max_unpool)


def _unpooled(x: Tensor, indices: Tensor, size: list[int]) -> Tensor:
    if len(size) == 1:  # columns one pixel wide
        column = _unpooled(unsqueeze(x, -1), unsqueeze(indices, -1), [*size, 1])
        return squeeze(column, -1)
    check_unpool(x, indices, len(size))
    found: Tensor = max_unpools[len(size)](x, indices, tuple(size))
    return found


max_unpool1d, max_unpool2d, max_unpool3d = _max_unpool(1), _max_unpool(2), _max_unpool(3)
