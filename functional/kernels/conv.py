"""Convolution over 1, 2 or 3 spatial dims on NumPy arrays, transposed too, and its gradients.

x is (N, C, *spatial); weight is (O, C / groups, *kernel), or (C, O / groups, *kernel) when
transposed; settings are tuples of ints, one per spatial dim. A transposed convolution is the
gradient, with respect to its input, of the ordinary one with the same weight; so each function here
is one of three kernels (conv_core.py) with its arguments in another order. All are plain products
and sums, so complex arrays need nothing special; no gradient conjugates.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from .conv_core import forward
from .conv_input import gradient_input
from .conv_plan import make_plan
from .conv_strided import gradient_weight
from .formats import channels_last, follows, suggests_channels_last
from .half import is_half, narrow, widen
from .threads import workers

__all__ = [
    "conv_tbc_of",
    "convolution",
    "convolution_input",
    "convolution_is_last",
    "convolution_shape",
    "convolution_weight",
]


@lru_cache(maxsize=512)
def convolution_shape(
    x_shape: tuple[int, ...],
    weight_shape: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
    transposed: bool,
    output_padding: tuple[int, ...],
    groups: int,
) -> tuple[int, ...]:
    """The shape of the result; input without channels has a result without them."""
    size, kernel = x_shape[2:], weight_shape[2:]
    settings = zip(size, kernel, stride, padding, dilation, output_padding, strict=True)
    if transposed:
        spatial = ((n - 1) * s - 2 * p + d * (k - 1) + q + 1 for n, k, s, p, d, q in settings)
        return (x_shape[0], weight_shape[1] * groups, *spatial)
    spatial = ((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d, q in settings)
    return (x_shape[0], weight_shape[0] if x_shape[1] else 0, *spatial)


def _ready(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """x contiguous and of the computing type."""
    return np.ascontiguousarray(widen(x).astype(dtype, copy=False))


def _ordinary(kernel, result_shape, dtype, x_shape, weight_shape, out, settings, *arrays):
    """Runs one of the three kernels; nothing to add up gives zeros."""
    if 0 in x_shape or 0 in weight_shape or 0 in out:
        return np.zeros(result_shape, dtype)
    wide = np.dtype(np.float32) if is_half(arrays[0].dtype) else arrays[0].dtype
    ready = [None if a is None else _ready(a, wide) for a in arrays]
    stride, padding, dilation, groups = settings
    if len(out) == 1:
        # The kernels want rows: a line is a plane of one row.
        x_shape, weight_shape, out = (s[:-1] + (1,) + s[-1:] for s in (x_shape, weight_shape, out))
        stride, padding, dilation = (1, *stride), (0, *padding), (1, *dilation)
        ready = [a[..., None, :] if a is not None and a.ndim == 3 else a for a in ready]
    threads = workers()
    plan = make_plan(x_shape, weight_shape, out, stride, padding, dilation, groups, threads)
    return narrow(kernel(plan, *ready).reshape(result_shape), dtype)


_ONEDNN = 20_480  # numbers of a sample, without its last dim, from which its kernels take it


def convolution_is_last(x: np.ndarray, weight: np.ndarray, groups: int) -> bool:
    """Whether a convolution and its gradients have channels innermost: either operand's format.

    PyTorch's own kernel for volumes, which serves what oneDNN does not, ignores formats.
    """
    if len(x.shape) < 4 or not (suggests_channels_last(x) or suggests_channels_last(weight)):
        return False
    if x.ndim == 4 or is_half(x.dtype):
        return True
    many = x.shape[0] > 1 or groups > 1 or min(weight.shape[-2:]) > 3
    return x.dtype == np.float32 and (many or prod(x.shape[:-1]) > _ONEDNN)


def _is_last(x: np.ndarray, weight: np.ndarray, *rest: Any) -> bool:
    return convolution_is_last(x, weight, rest[-1])


@follows(0, 1, when=_is_last, meta=False)
def convolution(
    x: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray | None,
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
    transposed: bool,
    output_padding: tuple[int, ...],
    groups: int,
) -> np.ndarray:
    """The convolution (cross-correlation) of x with weight, plus bias (O,)."""
    shape = convolution_shape(
        x.shape, weight.shape, stride, padding, dilation, transposed, output_padding, groups
    )
    settings = (stride, padding, dilation, groups)
    channels = (-1,) + (1,) * (x.ndim - 2)
    if x.size and weight.size and 0 not in shape and not transposed:
        return _ordinary(
            forward, shape, x.dtype, x.shape, weight.shape, shape[2:], settings, x, weight, bias
        )
    if transposed:
        result = _ordinary(
            gradient_input,
            shape,
            np.float32 if bias is not None and x.dtype.itemsize == 2 else x.dtype,
            shape,
            weight.shape,
            x.shape[2:],
            settings,
            x,
            weight,
        )
    else:
        result = np.zeros(shape, x.dtype)
    if bias is not None and result.size:
        result += widen(bias).reshape(channels).astype(result.dtype, copy=False)
    return narrow(result, x.dtype)


def convolution_input(
    g: np.ndarray,
    weight: np.ndarray,
    x_shape: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
    transposed: bool,
    output_padding: tuple[int, ...],
    groups: int,
    last: bool = False,
) -> np.ndarray:
    """The gradient of a convolution's result g with respect to x, of shape x_shape.

    ``last``: with its channels innermost in memory.
    """
    settings = (stride, padding, dilation, groups)
    x_shape = tuple(x_shape)
    if transposed:
        found = _ordinary(
            forward, x_shape, g.dtype, g.shape, weight.shape, x_shape[2:], settings, g, weight, None
        )
    else:
        sizes = (x_shape, weight.shape, g.shape[2:])
        found = _ordinary(gradient_input, x_shape, g.dtype, *sizes, settings, g, weight)
    return channels_last(found) if last else found


def convolution_weight(
    g: np.ndarray,
    x: np.ndarray,
    weight_shape: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
    transposed: bool,
    output_padding: tuple[int, ...],
    groups: int,
    last: bool = False,
) -> np.ndarray:
    """The gradient of a convolution's result g with respect to weight, of shape weight_shape.

    ``last``: with its channels innermost in memory.
    """
    settings = (stride, padding, dilation, groups)
    weight_shape = tuple(weight_shape)
    if transposed:
        g, x = x, g
    sizes = (x.shape, weight_shape, g.shape[2:])
    found = _ordinary(gradient_weight, weight_shape, g.dtype, *sizes, settings, g, x)
    return channels_last(found) if last else found


def conv_tbc_of(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, pad: int) -> np.ndarray:
    """The convolution over time of x (T, B, C) with weight (K, C, O), plus bias (O,)."""
    settings = (1,), (pad,), (1,), False, (0,), 1
    images, kernels = x.transpose(1, 2, 0), weight.transpose(2, 1, 0)
    return np.ascontiguousarray(convolution(images, kernels, bias, *settings).transpose(2, 0, 1))
