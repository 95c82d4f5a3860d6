"""Activations of neural networks."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..errors import not_implemented
from ..kernels.half import is_half, widen
from ..kernels.layout import result_strides
from ..tape.declare import elementwise, general
from ..tensor import Tensor
from .arguments import number_for

# In place, the derivative of some is written in terms of the result, under a node of its own.


def _rounded_once(rule: Any) -> Any:
    """A rule that gives float32 for arrays of half types; the engine rounds, as PyTorch does."""

    def wide(F: Any, g: Any, *rest: Any) -> Any:
        if not isinstance(g, Tensor) and is_half(g.dtype):
            g = widen(g)
            rest = tuple([widen(a) if hasattr(a, "dtype") else a for a in rest])
        return rule(F, g, *rest)

    wide.names = rule.__code__.co_varnames[: rule.__code__.co_argcount]  # type: ignore[attr-defined]
    return wide


def _activation(
    name: str,
    rule: Any,
    statics: tuple[str, ...] = (),
    node: str | None = None,
    kernel: str | None = None,
    over: Any = None,
    repeatable: bool = False,
) -> Any:
    """An elementwise operation; ``over`` is the rule, and node, of its in-place form.

    What is ``repeatable`` may be written twice to elements that share memory.
    """
    closure = elementwise(
        f"{name}_of",
        rule,
        inputs=("self",),
        statics=statics,
        kernel=kernel or name,
        node=(node or "".join(p.capitalize() for p in name.split("_"))) + "Backward0",
    )
    closure.op.title = name
    if over is not None:
        title = closure.op.node.__name__[:-1] + "1"
        twin = elementwise(
            f"{name}_over",
            over,
            inputs=("self",),
            statics=statics,
            kernel=kernel or name,
            node=title,
            hidden=True,
        )
        twin.op.title, twin.op.rewrites = name, repeatable
        closure.in_place = twin.in_place
    return closure


@_rounded_once
def _elu_vjp(F: Any, g: Any, self: Any, alpha: Any, scale: Any, input_scale: Any) -> Any:
    slope = F.exp(self * input_scale) * (input_scale * alpha * scale)
    return F.where(self <= 0, g * slope, g * scale)


def _negative_slope(name: str, more: str = "") -> RuntimeError:
    """PyTorch's error where a result does not tell which sign its input had."""
    return RuntimeError(
        f"In-place {name} backward calculation is triggered with a negative slope which is not "
        "supported. This is caused by calling in-place forward function with a negative slope, "
        f"please call out-of-place version instead.{more}"
    )


@_rounded_once
def _elu_over(F: Any, g: Any, alpha: Any, scale: Any, input_scale: Any, result: Any) -> Any:
    if alpha < 0:
        raise _negative_slope("elu")
    slope = (result + alpha * scale) * input_scale
    return F.where(result <= 0, g * slope, g * scale)


elu = _activation("elu", _elu_vjp, ("alpha", "scale", "input_scale"), over=_elu_over)


def _inverse(alpha: float) -> float:
    """1 / alpha for the derivative, where PyTorch holds alpha in single precision."""
    return 1 / float(np.float32(alpha))


celu = _activation(
    "celu",
    lambda F, g, self, alpha: _elu_vjp(F, g, self, alpha, 1, _inverse(alpha)),
    ("alpha",),
    over=lambda F, g, alpha, result: _elu_over(F, g, alpha, 1, _inverse(alpha), result),
)
silu = elementwise(
    "silu", lambda F, g, self: F.silu_backward(g, self), inputs=("self",), kernel="silu"
)
silu.op.holomorphic = False  # PyTorch leaves out the conjugate, and refuses all but silu_


def _silu_curvature(F: Any, x: Any) -> Any:
    """The second derivative of x sigmoid(x)."""
    s = F.sigmoid(x)
    return s * (1 - s) * (2 + x * (1 - 2 * s))


silu_backward = elementwise(
    "silu_backward",
    lambda F, g, input: F.silu_backward(g, input),
    lambda F, g, self, input: g * self * _silu_curvature(F, input),
    inputs=("self", "input"),
)


@_rounded_once
def _mish_vjp(F: Any, g: Any, self: Any) -> Any:
    t, s = F.tanh(F.softplus(self, 1, 20)), F.sigmoid(self)
    return g * (t + self * s * (1 - t * t))


mish = _activation("mish", _mish_vjp)


@_rounded_once
def _softplus_vjp(F: Any, g: Any, self: Any, beta: Any, threshold: Any) -> Any:
    t = self * beta
    return F.where(t > threshold, g, g * F.sigmoid(t))


softplus = elementwise("softplus", _softplus_vjp, inputs=("self",), statics=("beta", "threshold"))
log_sigmoid = elementwise(
    "log_sigmoid",
    _rounded_once(lambda F, g, self: g * F.sigmoid(-self)),
    inputs=("self",),
)
log_sigmoid.op.contiguous = True
hardtanh = _activation(
    "hardtanh",
    lambda F, g, self, min_val, max_val: F.hardtanh_backward(g, self, min_val, max_val),
    ("min_val", "max_val"),
)
hardsigmoid = _activation(
    "hardsigmoid", lambda F, g, self: F.where((self > -3) & (self < 3), g / 6, 0.0)
)


@_rounded_once
def _hardswish_vjp(F: Any, g: Any, self: Any) -> Any:
    inner = F.where(self < 3, g * (self / 3 + 0.5), g)
    return F.where(self <= -3, 0.0, inner)


hardswish = _activation("hardswish", _hardswish_vjp)


hardtanh_backward = elementwise(
    "hardtanh_backward",
    lambda F, g, input, low, high: F.hardtanh_backward(g, input, low, high),
    lambda F, g: F.zeros_like(g),
    inputs=("self", "input"),
    statics=("low", "high"),
)
shrink_backward = elementwise(
    "shrink_backward",
    lambda F, g, input, low, high: F.shrink_backward(g, input, low, high),
    lambda F, g: F.zeros_like(g),
    inputs=("self", "input"),
    statics=("low", "high"),
)


def _shrink_vjp(F: Any, g: Any, self: Any, lambd: Any) -> Any:
    return F.shrink_backward(g, self, -lambd, lambd)


hardshrink = _activation("hardshrink", _shrink_vjp, ("lambd",))
hardshrink.op.rounds = True
softshrink = _activation("softshrink", _shrink_vjp, ("lambd",))


def _check_lambda(self: Tensor, lambd: float) -> None:
    if self.dtype.category != dtypes.FLOAT:
        raise not_implemented("softshrink_check", self.dtype)
    if not lambd >= 0:
        top = f"{_largest(self.dtype):g}"
        raise RuntimeError(
            f"lambda must be in range [0, {top}] for input dtype {self.dtype.legacy}, but found "
            f"{lambd:g}"
        )


def _largest(d: dtypes.dtype) -> float:
    import ml_dtypes

    return float(ml_dtypes.finfo(d.array).max)


softshrink.op.check = _check_lambda


def _threshold_vjp(F: Any, g: Any, self: Any, threshold: Any) -> Any:
    return F.shrink_backward(g, self, -float("inf"), threshold)


threshold = _activation(
    "threshold", _threshold_vjp, ("threshold", "value"), over=_threshold_vjp, repeatable=True
)


def _check_threshold(self: Tensor, threshold: Any, value: Any) -> None:
    for number in (threshold, value):
        number_for(number, dtypes.float64)


threshold.op.check = _check_threshold


def _check_hardtanh(self: Tensor, min_val: Any, max_val: Any) -> None:
    if self.dtype is dtypes.bool_:
        raise RuntimeError("Bool inputs not supported for hardtanh")
    if not self.dtype.is_signed and int(min_val) < 0:
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")


hardtanh.op.check = _check_hardtanh


def _leaky_relu_over(F: Any, g: Any, negative_slope: Any, result: Any) -> Any:
    if negative_slope < 0:
        raise _negative_slope(
            "leakyReLu",
            " File an issue at https://github.com/pytorch/pytorch if you do require supporting "
            "in-place leakRelu backward calculation with negative slope",
        )
    return F.leaky_relu_backward(g, result, negative_slope)


leaky_relu_over = elementwise(
    "leaky_relu_over",
    _leaky_relu_over,
    inputs=("self",),
    statics=("negative_slope",),
    kernel="leaky_relu",
    node="LeakyReluBackward1",
    hidden=True,
)
leaky_relu_over.op.title = "leaky_relu"
prelu_kernel = elementwise(
    "prelu_kernel",
    lambda F, g, self, weight: F.where(self > 0, g, weight * g),
    lambda F, g, self: F.where(self > 0, 0.0, self * g),
    inputs=("self", "weight"),
)


def _rrelu_vjp(F: Any, g: Any, self: Any, noise: Any, lower: Any, upper: Any, training: Any) -> Any:
    if training and upper - lower > 1e-6:
        return F.leaky_relu_backward(g * noise, self, 1.0)
    return F.leaky_relu_backward(g, self, (lower + upper) / 2)


def _rrelu_over_vjp(
    F: Any, g: Any, noise: Any, lower: Any, upper: Any, training: Any, result: Any
) -> Any:
    if not (training and upper - lower > 1e-6):
        return _leaky_relu_over(F, g, (lower + upper) / 2, result)
    return _rrelu_vjp(F, g, result, noise, lower, upper, training)


def _check_rrelu(self: Tensor, noise: Any, lower: Any, upper: Any, training: bool) -> None:
    if training and self.dtype not in (dtypes.float32, dtypes.float64, dtypes.bfloat16):
        raise not_implemented("rrelu_with_noise_out_cpu", self.dtype)


def _rrelu(name: str, rule: Any, node: str) -> Any:
    closure = elementwise(
        name,
        rule,
        None,
        inputs=("self", "noise"),
        statics=("lower", "upper", "training"),
        kernel="rrelu_with_noise",
        node=node,
    )
    closure.op.title, closure.op.contiguous = "rrelu_with_noise", True
    closure.op.check = _check_rrelu
    return closure


rrelu_with_noise = _rrelu("rrelu_with_noise", _rrelu_vjp, "RreluWithNoiseBackward0")
rrelu_with_noise.in_place = _rrelu(
    "rrelu_over", _rrelu_over_vjp, "RreluWithNoiseBackward1"
).in_place


@_rounded_once
def _glu_vjp(F: Any, g: Any, self: Any, dim: int) -> Any:
    half = self.shape[dim] // 2
    first, second = F.split(self, (half, half), dim)
    s = F.sigmoid(second)
    return F.cat([g * s, g * first * s * (1 - s)], dim)


def _glu_shape(x: Any, dim: int) -> Any:
    shape = (*x.shape[:dim], x.shape[dim] // 2, *x.shape[dim + 1 :])
    return shape, x.dtype, result_strides(shape, [x], x.dtype.itemsize)


glu_dim = general(
    "glu_dim",
    _glu_vjp,
    statics=("dim",),
    kernel="glu",
    node="GluBackward0",
    shape=_glu_shape,
    vmap=lambda F, flags, x, dim: F.glu(x, dim + 1),
)
