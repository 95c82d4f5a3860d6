"""Operations of neural networks: convolution, pooling, softmax, losses, normalisation."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..kernels.conv import convolution_is_last, convolution_shape
from ..kernels.formats import channels_last_strides
from ..kernels.layout import result_strides
from ..kernels.meta import ARRAYS
from ..kernels.pool import pool_shape
from ..tape.batching import expanded, over_scalars, shifted, stack_rows
from ..tape.declare import general

# --- convolution: three operations, each the derivative of the others -----------------------------

_SETTINGS = ("stride", "padding", "dilation", "transposed", "output_padding", "groups")


def _is_last(input: Any, weight: Any, groups: int) -> bool:
    """Whether gradients have their channels innermost in memory; never inside a transform."""
    x, w = (a if type(a) in ARRAYS else a._data for a in (input, weight))
    return type(x) in ARRAYS and type(w) in ARRAYS and convolution_is_last(x, w, groups)


def _conv_vjp(F: Any, g: Any, need: Any, input: Any, weight: Any, *settings: Any) -> Any:
    rest = (*settings, _is_last(input, weight, settings[-1]))
    transposed = settings[3]
    return (
        F.convolution_input(g, weight, tuple(input.shape), *rest) if need[0] else None,
        F.convolution_weight(g, input, tuple(weight.shape), *rest) if need[1] else None,
        _bias_gradient(F, g, input, weight, transposed) if need[2] else None,
    )


def _bias_gradient(F: Any, g: Any, input: Any, weight: Any, transposed: bool) -> Any:
    rest = tuple(range(2, len(weight.shape)))
    if transposed or input.shape[1]:
        return F.sum(g, (0, *rest), False)
    return F.sum(weight, (1, *rest), False)  # without channels there is nothing to sum: zeros


def _conv_shape(x: Any, weight: Any, bias: Any, *settings: Any) -> Any:
    return convolution_shape(x.shape, weight.shape, *settings), x.dtype


def _conv_input_vjp(F: Any, g: Any, need: Any, self: Any, weight: Any, *rest: Any) -> Any:
    settings = rest[1:]
    return (
        F.convolution(g, weight, None, *settings) if need[0] else None,
        F.convolution_weight(self, g, tuple(weight.shape), *settings) if need[1] else None,
    )


def _conv_weight_vjp(F: Any, g: Any, need: Any, self: Any, input: Any, *rest: Any) -> Any:
    settings = rest[1:]
    return (
        F.convolution(input, g, None, *settings) if need[0] else None,
        F.convolution_input(self, g, tuple(input.shape), *settings) if need[1] else None,
    )


def _gradient_shape(g: Any, shape: Any, last: bool = False) -> Any:
    if last and len(shape) > 3:
        return shape, g.dtype, channels_last_strides(shape, g.dtype.itemsize)
    return shape, g.dtype


def with_names(rule: Any, *names: str) -> Any:
    """A rule that takes ``*rest``, declared to ask for these names."""
    rule.names = names
    return rule


def _merged(call: Any) -> Any:
    """vmap's rule where only the input is batched: its batch joins the samples'."""

    def rule(F: Any, flags: Any, x: Any, weight: Any, bias: Any, *settings: Any) -> Any:
        if any(flags[1:]):
            rows = [
                call(F)(
                    *[
                        None if v is None else v[i] if f else v
                        for v, f in zip((x, weight, bias), flags, strict=True)
                    ],
                    *settings,
                )
                for i in range(
                    next(v for v, f in zip((x, weight, bias), flags, strict=True) if f).shape[0]
                )
            ]
            return stack_rows(rows)
        z = call(F)(F.flatten(x, 0, 1), weight, bias, *settings)
        return F.unflatten(z, 0, tuple(x.shape[:2]))

    return rule


def _pair(call: Any) -> Any:
    """vmap's rule for two tensors of one shape and a dimension."""

    def rule(F: Any, flags: Any, g: Any, output: Any, dim: int) -> Any:
        return call(F)(*expanded((g, output), flags), dim + 1)

    return rule


convolution = general(
    "convolution",
    joint=with_names(_conv_vjp, "F", "g", "need", "input", "weight", *_SETTINGS),
    inputs=("input", "weight", "bias"),
    statics=_SETTINGS,
    vmap=_merged(lambda F: F.convolution),
    shape=_conv_shape,
)
convolution_input = general(
    "convolution_input",
    joint=with_names(_conv_input_vjp, "F", "g", "need", "self", "weight", "shape", *_SETTINGS),
    inputs=("self", "weight"),
    statics=("shape", *_SETTINGS),
    shape=lambda g, weight, shape, *settings: _gradient_shape(g, shape, *settings[6:]),
)
convolution_weight = general(
    "convolution_weight",
    joint=with_names(_conv_weight_vjp, "F", "g", "need", "self", "input", "shape", *_SETTINGS),
    inputs=("self", "input"),
    statics=("shape", *_SETTINGS),
    shape=lambda g, input, shape, *settings: _gradient_shape(g, shape, *settings[6:]),
)

# --- pooling --------------------------------------------------------------------------------------

_INT64 = np.dtype(np.int64)


def _pool_shape(x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: Any) -> Any:
    n = len(kernel)
    size = pool_shape(x.shape[-n:], kernel, stride, padding, dilation, ceil)
    shape = (*x.shape[:-n], *size)
    return [(shape, x.dtype), (shape, _INT64)]


def _first(g: Any) -> Any:
    return g[0] if type(g) is list else g


def max_pool_rule(n: int, keeps_format: bool = True) -> Any:
    """The gradient of maxima over ``n`` spatial dims goes to where they were."""

    def rule(F: Any, g: Any, self: Any, result1: Any) -> Any:
        g, shape = _first(g), tuple(self.shape)
        if len(shape) == n + 2:
            grad = F.max_pool_grad if keeps_format else F.max_pool_grad_plain
            return grad(g, self, result1)
        planes = (1, prod(shape[:-n]))
        one = [F.reshape(x, (*planes, *x.shape[-n:])) for x in (g, self, result1)]
        return F.reshape(F.max_pool_grad(*one), shape)

    return rule


def _max_pool(n: int) -> Any:
    return general(
        f"max_pool{n}d_with_indices",
        max_pool_rule(n),
        statics=("kernel_size", "stride", "padding", "dilation", "ceil_mode"),
        kernel="max_pool",
        node=f"MaxPool{n}DWithIndicesBackward0",
        differentiable=(True, False),
        shape=_pool_shape,
    )


max_pool2d, max_pool3d = _max_pool(2), _max_pool(3)
max_pool_grad, max_pool_grad_plain = (
    general(
        name,
        lambda F, g, indices: F.max_pool_gather(g, indices),
        lambda F, g, input: F.zeros_like(input),
        None,
        inputs=("self", "input", "indices"),
        shape=lambda g, x, indices: (x.shape, g.dtype),
    )
    for name in ("max_pool_grad", "max_pool_grad_plain")
)
max_pool_backward = general(
    "max_pool_backward",
    lambda F, g, indices: F.max_pool_gather(g, indices),
    None,
    inputs=("self", "indices"),
    statics=("shape",),
    shape=lambda g, indices, shape: (shape, g.dtype),
)
max_pool_gather = general(
    "max_pool_gather",
    lambda F, g, indices, self_shape: F.max_pool_backward(g, indices, self_shape),
    None,
    inputs=("self", "indices"),
    shape=lambda x, indices: (indices.shape, x.dtype),
)

# --- softmax --------------------------------------------------------------------------------------


def _same_shape(x: Any, *rest: Any) -> Any:
    return x.shape, x.dtype


softmax = general(
    "softmax_dim",
    lambda F, g, result, dim: F.softmax_backward(g, result, dim),
    statics=("dim",),
    kernel="softmax",
    node="SoftmaxBackward0",
    vmap=over_scalars(shifted(lambda F: F.softmax_dim, 0)),
    shape=_same_shape,
)
log_softmax = general(
    "log_softmax_dim",
    lambda F, g, result, dim: F.log_softmax_backward(g, result, dim),
    statics=("dim",),
    kernel="log_softmax",
    node="LogSoftmaxBackward0",
    vmap=over_scalars(shifted(lambda F: F.log_softmax_dim, 0)),
    shape=_same_shape,
)


def _along(F: Any, x: Any, dim: int) -> Any:
    """The sum over ``dim``, kept; a single number is its own sum."""
    return F.sum(x, (dim,), True) if x.ndim else x


softmax_backward = general(
    "softmax_backward",
    lambda F, g, output, dim: F.softmax_backward(g, output, dim),
    lambda F, g, self, output, dim: (
        g * self - g * _along(F, self * output, dim) - self * _along(F, g * output, dim)
    ),
    inputs=("self", "output"),
    vmap=over_scalars(_pair(lambda F: F.softmax_backward)),
    statics=("dim",),
    shape=_same_shape,
)
log_softmax_backward = general(
    "log_softmax_backward",
    lambda F, g, output, dim: g - _along(F, g * F.exp(output), dim),
    lambda F, g, self, output, dim: -g * F.exp(output) * _along(F, self, dim),
    inputs=("self", "output"),
    vmap=over_scalars(_pair(lambda F: F.log_softmax_backward)),
    statics=("dim",),
    shape=_same_shape,
)

# --- losses ---------------------------------------------------------------------------------------


def loss_shape(x: Any, target: Any, reduction: int, *rest: Any) -> Any:
    """The shape rule of an elementwise loss."""
    if reduction:
        return (), x.dtype
    shape = np.broadcast_shapes(x.shape, target.shape)
    phantoms = [getattr(a, "phantom", a) for a in (x, target)]
    return shape, x.dtype, result_strides(shape, phantoms, x.dtype.itemsize)


mse_loss = general(
    "mse_loss_reduced",
    lambda F, g, self, target, reduction: F.mse_loss_backward(g, self, target, reduction),
    lambda F, g, self, target, reduction: F.mse_loss_backward(g, target, self, reduction),
    inputs=("self", "target"),
    statics=("reduction",),
    kernel="mse_loss",
    node="MseLossBackward0",
    shape=loss_shape,
)


def _mse_factor(x: Any, reduction: int) -> float:
    size = 1
    for n in x.shape:
        size *= n
    return 2.0 if reduction != 1 else 2.0 / size if size else float("nan")


mse_loss_backward = general(
    "mse_loss_backward",
    lambda F, g, self, input, target, reduction: F.sum_to_size(
        g * (input - target) * _mse_factor(input, reduction), tuple(self.shape)
    ),
    lambda F, g, self, input, reduction: g * self * _mse_factor(input, reduction),
    lambda F, g, self, input, reduction: -g * self * _mse_factor(input, reduction),
    inputs=("self", "input", "target"),
    statics=("reduction",),
    shape=lambda g, x, target, reduction: (x.shape, x.dtype),
)


def _nll_shape(x: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> Any:
    return [(target.shape if reduction == 0 else (), x.dtype), ((), x.dtype)]


def _nll(name: str, node: str) -> Any:
    return general(
        name,
        lambda F, g, self, target, weight, reduction, ignore_index, result1: F.nll_backward(
            _first(g), self, target, weight, result1, reduction, ignore_index
        ),
        None,
        None,
        inputs=("self", "target", "weight"),
        statics=("reduction", "ignore_index"),
        kernel="nll_loss_reduced",
        node=node,
        differentiable=(True, False),
        shape=_nll_shape,
    )


nll_loss = _nll("nll_loss_reduced", "NllLossBackward0")
nll_loss2d = _nll("nll_loss2d_reduced", "NllLoss2DBackward0")


def _nll_backward_vjp(
    F: Any, g: Any, target: Any, weight: Any, total_weight: Any, *rest: Any
) -> Any:
    """The loss of ``g``, divided by the weight that the backward pass divided by."""
    reduction, ignore_index = rest
    total = F.nll_loss_reduced(g, target, weight, 2 if reduction else 0, ignore_index)[0]
    return total / total_weight if reduction == 1 else total


nll_backward = general(
    "nll_backward",
    with_names(
        _nll_backward_vjp, "F", "g", "target", "weight", "total_weight", "reduction", "ignore_index"
    ),
    lambda F, g, input: F.zeros_like(input),
    None,
    None,
    None,
    inputs=("self", "input", "target", "weight", "total_weight"),
    statics=("reduction", "ignore_index"),
    node="NllLossBackwardBackward0",
    shape=lambda g, x, *rest: (x.shape, g.dtype),
)
