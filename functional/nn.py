"""Stateless functions of neural networks: convolution, pooling, activation, losses, dropout."""

from __future__ import annotations

import warnings
from typing import Any

from . import dtypes
from .classification import cross_entropy, nll_loss
from .convolution import (
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
)
from .dropouts import dropout
from .errors import not_implemented
from .folding import channel_shuffle, fold, pixel_shuffle, pixel_unshuffle, unfold
from .grid import affine_grid, grid_sample
from .losses import legacy_reduction, mse_loss
from .ops import nn as ops
from .ops import pointwise
from .ops.arguments import one_dim
from .ops.cast import to_dtype
from .ops.create import empty_like
from .ops.matmul import linear
from .ops.max_pool_checks import check_images, image_settings, line_settings
from .ops.nn_checks import remembered
from .ops.pool_checks import check_lines, one_int
from .ops.views import squeeze, unsafe_view, unsqueeze
from .padding import pad
from .pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool1d_with_indices,
    adaptive_max_pool2d,
    adaptive_max_pool2d_with_indices,
    adaptive_max_pool3d,
    adaptive_max_pool3d_with_indices,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    fractional_max_pool2d,
    fractional_max_pool2d_with_indices,
    fractional_max_pool3d,
    fractional_max_pool3d_with_indices,
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
)
from .resample import interpolate, upsample, upsample_bilinear, upsample_nearest
from .tape.op import public
from .tape.out import out_of
from .tensor import Tensor
from .time_convolution import conv_tbc

relu, sigmoid, tanh = pointwise.relu, pointwise.sigmoid, pointwise.tanh

# --- pooling --------------------------------------------------------------------------------------


def _pool_settings(
    input: Tensor,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
    n: int,
    indices: bool,
) -> tuple[Any, ...]:
    """A maximum pooling's static arguments, checked."""
    if n > 1:
        return image_settings(input, kernel_size, stride, padding, dilation, ceil_mode, n)
    if not indices:
        return line_settings(input, kernel_size, stride, padding, dilation, ceil_mode)
    check_lines(input, "max_pool1d")
    named = {"kernel_size": kernel_size, "stride": stride, "padding": padding, "dilation": dilation}
    if stride in (None, (), []):
        named["stride"] = kernel_size
    k, s, p, d = (one_int(value, "max_pool1d", name) for name, value in named.items())
    image = ((1, *k), (1, *s), (0, *p), (1, *d), ceil_mode)
    check_images(input, [*input.shape[:-1], 1, input.shape[-1]], image)
    return k, s, p, d, ceil_mode


def _max_pool(n: int) -> Any:
    def max_pool(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        given = (kernel_size, stride, padding, dilation, ceil_mode, n, bool(return_indices))
        settings = remembered(_pool_settings, (input,), given)
        if n == 1:
            found = _max_pool_lines(input, return_indices, *settings)
        else:
            found = (ops.max_pool2d, ops.max_pool3d)[n - 2](input, *settings)
        return found if return_indices else found[0]

    max_pool.__name__ = max_pool.__qualname__ = f"max_pool{n}d"
    max_pool.__doc__ = f"The maximum of every window over {n} spatial dimension(s)."
    return public(max_pool)


def _max_pool_lines(x: Tensor, views: bool, k: Any, s: Any, p: Any, d: Any, ceil: bool) -> Any:
    """Pooling of lines: they are images one pixel high."""
    flat = unsqueeze(x, -2)
    found = ops.max_pool2d(flat, (1, *k), (1, *s), (0, *p), (1, *d), ceil)
    if views or x.requires_grad:
        return tuple(squeeze(z, -2) for z in found)
    return tuple(unsafe_view(z, (*z.shape[:-2], z.shape[-1])) for z in found)


max_pool1d, max_pool2d, max_pool3d = _max_pool(1), _max_pool(2), _max_pool(3)


@public
def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> Any:
    """The maximum of every window of lines, and where it was."""
    return max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


# --- softmax --------------------------------------------------------------------------------------


def _softmax_dim(name: str, ndim: int) -> int:
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include "
        "dim=X as an argument.",
        UserWarning,
        stacklevel=3,
    )
    return 0 if ndim in (0, 1, 3) else 1


def _refused(name: str, input: Tensor, dim: int) -> Tensor:
    """PyTorch's error for a dtype that it has no kernel for, which it only looks for if needed."""
    if not input.numel():
        return empty_like(input)
    which = "lastdim_" if dim >= input.ndim - 1 else ""
    raise not_implemented(f"{name}_{which}kernel_impl", input.dtype)


def _softmax(name: str, op: Any) -> Any:
    def function(
        input: Tensor, dim: Any = None, _stacklevel: int = 3, dtype: Any = None, *, out: Any = None
    ) -> Tensor:
        if isinstance(_stacklevel, dtypes.dtype):
            dtype = _stacklevel  # torch.softmax(x, dim, dtype)
        if out is not None:
            return out_of(lambda x: function(x, dim, dtype=dtype), out, input, name=name)
        if dim is None:
            dim = _softmax_dim(name, input.ndim)
        if dtype is not None and dtype is not input.dtype:
            input = to_dtype(input, dtype)
        dim = one_dim(input, dim)
        if input.dtype.category != dtypes.FLOAT:
            return _refused(name, input, dim)
        return op(input, dim)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name} over ``dim``."
    return public(function)


softmax = _softmax("softmax", ops.softmax)
log_softmax = _softmax("log_softmax", ops.log_softmax)

__all__ = ["cross_entropy", "dropout", "legacy_reduction", "linear", "mse_loss", "nll_loss"]

__all__ += [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices", "adaptive_max_pool2d", "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d", "adaptive_max_pool3d_with_indices", "affine_grid", "avg_pool1d",
    "avg_pool2d", "avg_pool3d", "channel_shuffle", "conv1d", "conv2d", "conv3d", "conv_tbc",
    "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "fold", "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices", "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices", "grid_sample", "interpolate", "lp_pool1d", "lp_pool2d",
    "lp_pool3d", "max_unpool1d", "max_unpool2d", "max_unpool3d", "pad", "pixel_shuffle",
    "pixel_unshuffle", "unfold", "upsample", "upsample_bilinear", "upsample_nearest",
]  # fmt: skip
