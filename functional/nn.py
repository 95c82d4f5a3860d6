"""Stateless functions of neural networks: convolution, pooling, activation, losses, dropout."""

from __future__ import annotations

import warnings
from typing import Any

from . import dtypes
from .ops import nn as ops
from .ops import pointwise
from .ops.arguments import common_shape, one_dim
from .ops.cast import contiguous, to_dtype
from .ops.create import empty_like
from .ops.matmul import linear
from .ops.nn_checks import (
    check_conv,
    check_conv_settings,
    check_kernel_fits,
    check_nll,
    check_pool,
    check_pool_size,
    per_dimension,
    remembered,
    window,
)
from .ops.pointwise import add_number, div_number, mul_number
from .ops.random import bernoulli_
from .ops.selection import masked_fill
from .ops.views import squeeze, unsafe_view, unsqueeze, view_
from .tape.op import public
from .tensor import Tensor

REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}
relu, sigmoid, tanh = pointwise.relu, pointwise.sigmoid, pointwise.tanh


def reduction_code(reduction: str) -> int:
    """0, 1 or 2 for 'none', 'mean' or 'sum'."""
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return REDUCTIONS[reduction]


def legacy_reduction(size_average: Any, reduce: Any, reduction: str) -> str:
    """The reduction that the deprecated ``size_average`` and ``reduce`` mean."""
    if size_average is None and reduce is None:
        return reduction
    if reduce is False:
        found = "none"
    else:
        found = "sum" if size_average is False else "mean"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{found}' instead.",
        UserWarning,
        stacklevel=3,
    )
    return found


# --- convolution ----------------------------------------------------------------------------------


def _same_padding(kernel: tuple[int, ...], dilation: tuple[int, ...]) -> tuple[int, ...]:
    total = [d * (k - 1) for k, d in zip(kernel, dilation, strict=True)]
    if any(t % 2 for t in total):
        raise NotImplementedError("conv with padding='same' and an even kernel size")
    return tuple(t // 2 for t in total)


def _conv_padding(padding: Any, stride: Any, kernel: Any, dilation: Any, n: int) -> tuple[int, ...]:
    if not isinstance(padding, str):
        return per_dimension(padding, n, "padding")
    if padding == "valid":
        return (0,) * n
    if padding != "same":
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    if any(s != 1 for s in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    return _same_padding(kernel, dilation)


def _conv_settings(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
    n: int,
) -> tuple[Any, ...]:
    """A convolution's static arguments, checked."""
    check_conv(input, weight, bias, groups, n)
    step, spread = per_dimension(stride, n, "stride"), per_dimension(dilation, n, "dilation")
    pad = _conv_padding(padding, step, tuple(weight.shape[2:]), spread, n)
    check_conv_settings(step, pad, spread)
    check_kernel_fits(input, weight, pad, spread, n)
    return step, pad, spread, False, (0,) * n, groups


def _conv(n: int) -> Any:
    def conv(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        tensors = (input, weight, bias)
        settings = remembered(_conv_settings, tensors, (stride, padding, dilation, groups, n))
        if input.ndim == n + 1:
            return squeeze(ops.convolution(unsqueeze(input, 0), weight, bias, *settings), 0)
        return ops.convolution(input, weight, bias, *settings)

    conv.__name__ = conv.__qualname__ = f"conv{n}d"
    conv.__doc__ = (
        f"A convolution over {n} spatial dimension(s).\n\n"
        "input is (N, C, *spatial) or (C, *spatial), weight (O, C / groups, *kernel), bias (O,)."
    )
    return public(conv)


conv1d, conv2d, conv3d = _conv(1), _conv(2), _conv(3)

# --- pooling --------------------------------------------------------------------------------------


def _pool_settings(
    input: Tensor,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
    n: int,
) -> tuple[Any, ...]:
    """A maximum pooling's static arguments, checked."""
    kernel = window(kernel_size, n, "kernel_size")
    step = kernel if stride in (None, (), []) else window(stride, n, "stride", True)
    pad, spread = window(padding, n, "padding"), window(dilation, n, "dilation")
    check_pool(input, kernel, step, pad, spread, n)
    settings = (kernel, step, pad, spread, ceil_mode)
    check_pool_size(input, settings, n)
    return settings


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
        given = (kernel_size, stride, padding, dilation, ceil_mode, n)
        settings = remembered(_pool_settings, (input,), given)
        if n == 1:
            found = _max_pool_lines(input, *settings)
        else:
            found = (ops.max_pool2d, ops.max_pool3d)[n - 2](input, *settings)
        return found if return_indices else found[0]

    max_pool.__name__ = max_pool.__qualname__ = f"max_pool{n}d"
    max_pool.__doc__ = f"The maximum of every window over {n} spatial dimension(s)."
    return public(max_pool)


def _max_pool_lines(x: Tensor, k: Any, s: Any, p: Any, d: Any, ceil: bool) -> Any:
    """Pooling of lines: they are images one pixel high."""
    flat = unsqueeze(x, -2)
    found = ops.max_pool2d(flat, (1, *k), (1, *s), (0, *p), (1, *d), ceil)
    if x.requires_grad:
        return tuple(squeeze(z, -2) for z in found)
    return tuple(unsafe_view(z, (*z.shape[:-2], z.shape[-1])) for z in found)


max_pool1d, max_pool2d, max_pool3d = _max_pool(1), _max_pool(2), _max_pool(3)

# --- softmax --------------------------------------------------------------------------------------


def _softmax_dim(name: str, ndim: int) -> int:
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include "
        "dim=X as an argument.",
        UserWarning,
        stacklevel=3,
    )
    return 0 if ndim in (0, 1, 3) else 1


def _softmax(name: str, op: Any) -> Any:
    def function(input: Tensor, dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
        if isinstance(_stacklevel, dtypes.dtype):
            dtype = _stacklevel  # torch.softmax(x, dim, dtype)
        if dim is None:
            dim = _softmax_dim(name, input.ndim)
        if dtype is not None and dtype is not input.dtype:
            input = to_dtype(input, dtype)
        if input.dtype.category < dtypes.FLOAT:
            raise NotImplementedError(
                f"\"{name}_lastdim_kernel_impl\" not implemented for '{input.dtype.legacy}'"
            )
        return op(input, one_dim(input, dim))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name} over ``dim``."
    return public(function)


softmax = _softmax("softmax", ops.softmax)
log_softmax = _softmax("log_softmax", ops.log_softmax)

# --- losses ---------------------------------------------------------------------------------------


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """The squared difference, averaged, summed or as it is."""
    reduction = legacy_reduction(size_average, reduce, reduction)
    if input.shape != target.shape:
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}). This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.",
            UserWarning,
            stacklevel=2,
        )
        shape = common_shape(input, target)
        input, target = (t if t.shape == shape else t.expand(shape) for t in (input, target))
    if input.dtype is not target.dtype:
        found = dtypes.promote_types(input.dtype, target.dtype)
        input, target = input.to(found), target.to(found)
    return ops.mse_loss(input, target, reduction_code(reduction))


def _nll_checked(input: Tensor, target: Tensor, weight: Any) -> bool:
    check_nll(input, target, weight)
    return True


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """The negative log likelihood of class indices; input is (N, C), (C,) or (N, C, *d)."""
    reduction = legacy_reduction(size_average, reduce, reduction)
    remembered(_nll_checked, (input, target, weight), ())
    code = reduction_code(reduction)
    if input.ndim <= 2:
        return ops.nll_loss(input, target, weight, code, ignore_index)[0]
    if input.ndim == 4:
        return ops.nll_loss2d(input, target, weight, code, ignore_index)[0]
    n, classes = input.shape[:2]
    image = view_(contiguous(input), (n, classes, 1, -1) if input.numel() else (n, classes, 0, 0))
    flat = view_(contiguous(target), (n, 1, -1) if input.numel() else (n, 0, 0))
    loss = ops.nll_loss2d(image, flat, weight, code, ignore_index)[0]
    return loss if code else view_(loss, (n, *input.shape[2:]))


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """log_softmax and nll_loss in one; targets are class indices or probabilities."""
    reduction = legacy_reduction(size_average, reduce, reduction)
    dim = 0 if input.ndim == 1 else 1
    if target.shape == input.shape:
        return _soft_cross_entropy(input, target, weight, reduction, label_smoothing, dim)
    logs = log_softmax(input, dim)
    if label_smoothing == 0:
        return nll_loss(logs, target, weight, None, ignore_index, None, reduction)
    return _smoothed(logs, target, weight, ignore_index, reduction, label_smoothing, dim)


def _soft_cross_entropy(
    input: Tensor, target: Tensor, weight: Any, reduction: str, smoothing: float, dim: int
) -> Tensor:
    """-Σ target · log_softmax(input) over classes; the mean divides by the batch."""
    if target.dtype.category < dtypes.FLOAT:
        raise RuntimeError(
            "Expected floating point type for target with class probabilities, got "
            f"{target.dtype.legacy}"
        )
    logs = log_softmax(input, dim)
    if smoothing > 0:
        target = add_number(mul_number(target, 1 - smoothing), smoothing / input.shape[dim])
    product = logs * target
    if weight is not None:
        shape = [1] * input.ndim
        shape[dim] = -1
        product = product * weight.reshape(shape)
    if reduction == "none":
        return -product.sum(dim)
    total = -product.sum()
    return total if reduction == "sum" else div_number(total, input.numel() / input.shape[dim])


def _smoothed(
    logs: Tensor,
    target: Tensor,
    weight: Any,
    ignore_index: int,
    reduction: str,
    smoothing: float,
    dim: int,
) -> Tensor:
    """Mix the loss with its mean over classes (C. Szegedy et al., 2016)."""
    plain = nll_loss(logs, target, weight, None, ignore_index, None, reduction)
    share = smoothing / logs.shape[dim]
    if weight is not None:
        shape = [1] * logs.ndim
        shape[dim] = -1
        logs = logs * weight.reshape(shape)
    ignored = target == ignore_index
    smooth = masked_fill(-logs.sum(dim), ignored, 0.0)
    if reduction == "mean":
        if weight is None:
            smooth = smooth.sum() / (target != ignore_index).sum()
        else:
            index = masked_fill(target, ignored, 0)
            smooth = smooth.sum() / (weight[index] * (target != ignore_index)).sum()
    elif reduction == "sum":
        smooth = smooth.sum()
    return mul_number(plain, 1 - smoothing) + mul_number(smooth, share)


# --- dropout --------------------------------------------------------------------------------------


@public
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero elements with probability ``p`` and scale the rest by 1 / (1 - p)."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0 or input.numel() == 0:
        return input
    if p == 1:
        return pointwise.mul(input, 0.0) if not inplace else pointwise.mul.in_place(input, 0.0)
    noise = bernoulli_(empty_like(input), 1 - p)
    pointwise.div.in_place(noise, 1 - p)
    return pointwise.mul.in_place(input, noise) if inplace else pointwise.mul(input, noise)


__all__ = ["linear"]
