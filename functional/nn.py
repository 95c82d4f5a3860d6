"""Stateless functions of neural networks: convolution, pooling, activation, losses, dropout."""

from __future__ import annotations

import warnings
from typing import Any

from . import dtypes
from .ops import nn as ops
from .ops import pointwise
from .ops.arguments import one_dim
from .ops.cast import to_dtype
from .ops.matmul import linear
from .ops.random import bernoulli_
from .ops.create import empty_like
from .ops.views import squeeze, unsqueeze
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


def several(value: Any, n: int, name: str) -> tuple[int, ...]:
    """One int for every spatial dimension, or one each."""
    if isinstance(value, (tuple, list)):
        items = tuple(int(v) for v in value)
        if len(items) == n:
            return items
        if len(items) == 1:
            return items * n
        raise RuntimeError(f"expected {name} to be a single integer value or a list of {n} values")
    return (int(value),) * n


# --- convolution ----------------------------------------------------------------------------------


def _same_padding(kernel: tuple[int, ...], dilation: tuple[int, ...]) -> tuple[int, ...]:
    total = [d * (k - 1) for k, d in zip(kernel, dilation, strict=True)]
    if any(t % 2 for t in total):
        raise NotImplementedError("conv with padding='same' and an even kernel size")
    return tuple(t // 2 for t in total)


def _conv_padding(padding: Any, stride: Any, kernel: Any, dilation: Any, n: int) -> tuple[int, ...]:
    if not isinstance(padding, str):
        return several(padding, n, "padding")
    if padding == "valid":
        return (0,) * n
    if padding != "same":
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    if any(s != 1 for s in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    return _same_padding(kernel, dilation)


def _check_conv(x: Tensor, weight: Tensor, bias: Any, groups: int, n: int) -> None:
    shape, wanted = list(x.shape), list(weight.shape)
    if len(shape) not in (n + 1, n + 2):
        raise RuntimeError(
            f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to conv{n}d, but got input "
            f"of size: {shape}"
        )
    channels = shape[-n - 1]
    if channels != wanted[1] * groups:
        full = shape if len(shape) == n + 2 else [1, *shape]
        raise RuntimeError(
            f"Given groups={groups}, weight of size {wanted}, expected input{full} to have "
            f"{wanted[1] * groups} channels, but got {channels} channels instead"
        )
    if x.dtype is not weight.dtype:
        from .ops.matmul import c_name

        raise RuntimeError(
            f"Input type ({c_name(x)}) and bias type ({c_name(weight)}) should be the same"
        )


def _check_kernel_fits(x: Tensor, weight: Tensor, padding: Any, dilation: Any, n: int) -> None:
    size = [s + 2 * p for s, p in zip(x.shape[-n:], padding, strict=True)]
    kernel = [d * (k - 1) + 1 for k, d in zip(weight.shape[2:], dilation, strict=True)]
    if any(k > s for k, s in zip(kernel, size, strict=True)):
        show = [" x ".join(map(str, v)) for v in (size, kernel)]
        raise RuntimeError(
            f"Calculated padded input size per channel: ({show[0]}). Kernel size: ({show[1]}). "
            "Kernel size can't be greater than actual input size"
        )


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
        _check_conv(input, weight, bias, groups, n)
        step, spread = several(stride, n, "stride"), several(dilation, n, "dilation")
        pad = _conv_padding(padding, step, tuple(weight.shape[2:]), spread, n)
        _check_kernel_fits(input, weight, pad, spread, n)
        zero = (0,) * n
        if input.ndim == n + 1:
            x = unsqueeze(input, 0)
            z = ops.convolution(x, weight, bias, step, pad, spread, False, zero, groups)
            return squeeze(z, 0)
        return ops.convolution(input, weight, bias, step, pad, spread, False, zero, groups)

    conv.__name__ = conv.__qualname__ = f"conv{n}d"
    conv.__doc__ = (
        f"A convolution over {n} spatial dimension(s).\n\n"
        "input is (N, C, *spatial) or (C, *spatial), weight (O, C / groups, *kernel), bias (O,)."
    )
    return public(conv)


conv1d, conv2d, conv3d = _conv(1), _conv(2), _conv(3)

# --- pooling --------------------------------------------------------------------------------------


def _check_pool(x: Tensor, kernel: Any, padding: Any, dilation: Any, stride: Any, n: int) -> None:
    for k, p in zip(kernel, padding, strict=True):
        if p > k // 2:
            raise RuntimeError(
                "pad should be at most half of effective kernel size, but got "
                f"pad={p}, kernel_size={k} and dilation={dilation[0]}"
            )
    if x.ndim not in (n + 1, n + 2):
        raise RuntimeError(
            f"non-empty {n + 1}D or {n + 2}D (batch mode) tensor expected for input"
        )


def _max_pool(n: int) -> Any:
    op = (ops.max_pool1d, ops.max_pool2d, ops.max_pool3d)[n - 1]

    def max_pool(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        kernel = several(kernel_size, n, "kernel_size")
        step = kernel if stride in (None, (), []) else several(stride, n, "stride")
        pad, spread = several(padding, n, "padding"), several(dilation, n, "dilation")
        _check_pool(input, kernel, pad, spread, step, n)
        x = unsqueeze(input, 0) if input.ndim == n + 1 else input
        values, indices = op(x, kernel, step, pad, spread, ceil_mode)
        if x is not input:
            values = squeeze(values, 0)
            indices = squeeze(indices, 0) if return_indices else indices
        return (values, indices) if return_indices else values

    max_pool.__name__ = max_pool.__qualname__ = f"max_pool{n}d"
    max_pool.__doc__ = f"The maximum of every window over {n} spatial dimension(s)."
    return public(max_pool)


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
                f'"{name}_lastdim_kernel_impl" not implemented for \'{input.dtype.legacy}\''
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
        from .tape.slow import size_mismatch

        import numpy as np

        try:
            shape = np.broadcast_shapes(tuple(input.shape), tuple(target.shape))
        except ValueError:
            raise size_mismatch(tuple(input.shape), tuple(target.shape)) from None
        input, target = input.expand(shape), target.expand(shape)
    if input.dtype is not target.dtype:
        found = dtypes.promote_types(input.dtype, target.dtype)
        input, target = input.to(found), target.to(found)
    return ops.mse_loss(input, target, reduction_code(reduction))


def _check_nll(input: Tensor, target: Tensor) -> None:
    if input.ndim == 0:
        raise RuntimeError("input tensor should be 1D or 2D")
    if target.dtype not in (dtypes.int64, dtypes.uint8):
        raise RuntimeError(f"expected scalar type Long but found {target.dtype.legacy}")
    batch = () if input.ndim == 1 else (input.shape[0], *input.shape[2:])
    if tuple(target.shape) != tuple(batch):
        if input.ndim > 1 and (not target.ndim or input.shape[0] != target.shape[0]):
            raise ValueError(
                f"Expected input batch_size ({input.shape[0]}) to match target batch_size "
                f"({target.shape[0] if target.ndim else 1})."
            )
        if input.ndim <= 2:
            raise RuntimeError(
                "0D or 1D target tensor expected, multi-target not supported"
            )
        raise RuntimeError(
            f"size mismatch (got input: {list(input.shape)}, target: {list(target.shape)})"
        )


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
    _check_nll(input, target)
    op = ops.nll_loss if input.ndim <= 2 else ops.nll_loss2d
    return op(input, target, weight, reduction_code(reduction), ignore_index)[0]


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
    if smoothing > 0:
        target = target * (1 - smoothing) + smoothing / input.shape[dim]
    logs = log_softmax(input, dim)
    if weight is not None:
        shape = [1] * input.ndim
        shape[dim] = -1
        target = target * weight.reshape(shape)
    total = -(logs * target)
    if reduction == "mean":
        n = input.numel() // input.shape[dim]
        return total.sum() / n
    return total.sum() if reduction == "sum" else total.sum(dim)


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
    if weight is not None:
        shape = [1] * logs.ndim
        shape[dim] = -1
        logs = logs * weight.reshape(shape)
    smooth = pointwise.masked_fill(-logs.sum(dim), target == ignore_index, 0)
    if reduction == "mean":
        kept = target != ignore_index
        if weight is None:
            smooth = smooth.sum() / kept.sum()
        else:
            index = pointwise.masked_fill(target, target == ignore_index, 0)
            smooth = smooth.sum() / (weight[index] * kept).sum()
    elif reduction == "sum":
        smooth = smooth.sum()
    share = smoothing / logs.shape[dim]
    return plain * (1 - smoothing) + smooth * share


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
