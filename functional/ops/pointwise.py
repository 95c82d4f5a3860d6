"""Pointwise operations: arithmetic, comparison, exponentials, rounding, selection."""

from __future__ import annotations

from typing import Any

from ..tape.declare import binary, elementwise, general, unary
from ..tape.op import public
from ..tensor import Tensor

# --- arithmetic -----------------------------------------------------------------------------------

add = binary("add", lambda F, g: g, lambda F, g: g)
sub = binary("sub", lambda F, g: g, lambda F, g: -g)
mul = binary("mul", lambda F, g, other: g * other, lambda F, g, self: g * self)
div = binary(
    "div",
    lambda F, g, other: g / other,
    lambda F, g, self, other: -g * ((self / other) / other),
    result="float",
)
rsub = elementwise(
    "rsub",
    lambda F, g: -g,
    inputs=("self",),
    statics=("other",),
    node="RsubBackward1",
    result="numbers",
)
add_scaled = elementwise(
    "add_scaled",
    lambda F, g: g,
    lambda F, g, alpha: g * alpha,
    inputs=("self", "other"),
    statics=("alpha",),
    node="AddBackward0",
)
sub_scaled = elementwise(
    "sub_scaled",
    lambda F, g: g,
    lambda F, g, alpha: -(g * alpha),
    inputs=("self", "other"),
    statics=("alpha",),
    node="SubBackward0",
)
floor_divide = binary("floor_divide")
remainder = binary(
    "remainder",
    lambda F, g: g,
    lambda F, g, self, other: -g * F.floor(self / other),
)
fmod = binary("fmod", lambda F, g: g, lambda F, g, self, other: -g * F.trunc(self / other))
maximum = binary(
    "maximum",
    lambda F, g, self, other: g * (self > other) + g * (self == other) / 2,
    lambda F, g, self, other: g * (self < other) + g * (self == other) / 2,
)
minimum = binary(
    "minimum",
    lambda F, g, self, other: g * (self < other) + g * (self == other) / 2,
    lambda F, g, self, other: g * (self > other) + g * (self == other) / 2,
)

# --- powers ---------------------------------------------------------------------------------------


def _pow_vjp(F: Any, g: Any, self: Any, exponent: Any) -> Any:
    return F.zeros_like(g) if exponent == 0 else g * (exponent * F.pow(self, exponent - 1))


def _pow_vjp_base(F: Any, g: Any, self: Any, exponent: Any) -> Any:
    return F.where(exponent == 0, 0.0, g * (exponent * F.pow(self, exponent - 1)))


def _pow_vjp_exponent(F: Any, g: Any, self: Any, exponent: Any, result: Any) -> Any:
    return F.where((self == 0) & (exponent >= 0), 0.0, g * (result * F.log(self)))


def _scalar_pow_vjp(F: Any, g: Any, exponent: Any, base: Any, result: Any) -> Any:
    if base == 0:
        return F.where(exponent >= 0, 0.0, g * result * -float("inf"))
    return g * (result * log_of(base))


def log_of(number: Any) -> Any:
    """The natural logarithm of a number, complex where it has to be."""
    import cmath

    z = cmath.log(number)
    return z if isinstance(number, complex) or number < 0 else z.real


pow_scalar = elementwise(
    "pow_scalar",
    _pow_vjp,
    inputs=("self",),
    statics=("exponent",),
    node="PowBackward0",
    result="numbers",
)
pow_tensor = elementwise(
    "pow_tensor",
    _pow_vjp_base,
    _pow_vjp_exponent,
    inputs=("self", "exponent"),
    kernel="pow",
    node="PowBackward1",
)
pow_of_scalar = elementwise(
    "pow_of_scalar",
    _scalar_pow_vjp,
    inputs=("exponent",),
    statics=("base",),
    node="PowBackward2",
    result="numbers",
)


@public
def pow(self: Any, exponent: Any, *, out: Any = None) -> Tensor:
    """``self`` to the power of ``exponent``; either may be a number."""
    if not isinstance(exponent, Tensor):
        return pow_scalar(self, exponent)
    return pow_tensor(self, exponent) if isinstance(self, Tensor) else pow_of_scalar(exponent, self)


@public
def square(self: Tensor) -> Tensor:
    """``self`` squared."""
    return pow_scalar(self, 2)


# --- one operand ----------------------------------------------------------------------------------

neg = unary("neg", lambda F, g: -g)
reciprocal = unary("reciprocal", lambda F, g, result: -g * (result * result), result="float")
exp = unary("exp", lambda F, g, result: g * result, result="float")
expm1 = unary("expm1", lambda F, g, result: g * (result + 1), result="float")
log = unary("log", lambda F, g, self: g / self, result="float")
log1p = unary("log1p", lambda F, g, self: g / (self + 1), node="Log1PBackward0", result="float")
log2 = unary("log2", lambda F, g, self: g / (self * 0.6931471805599453), result="float")
log10 = unary("log10", lambda F, g, self: g / (self * 2.302585092994046), result="float")
sqrt = unary("sqrt", lambda F, g, result: g / (2 * result), result="float")
rsqrt = unary("rsqrt", lambda F, g, result: -0.5 * g * (result * result * result), result="float")
sin = unary("sin", lambda F, g, self: g * F.cos(self), result="float")
cos = unary("cos", lambda F, g, self: g * -F.sin(self), result="float")
tan = unary("tan", lambda F, g, result: g * (1 + result * result), result="float")
sinh = unary("sinh", lambda F, g, self: g * F.cosh(self), result="float")
cosh = unary("cosh", lambda F, g, self: g * F.sinh(self), result="float")
asin = unary("asin", lambda F, g, self: g * F.rsqrt(1 - self * self), result="float")
acos = unary("acos", lambda F, g, self: g * -F.rsqrt(1 - self * self), result="float")
atan = unary("atan", lambda F, g, self: g / (self * self + 1), result="float")
tanh = unary("tanh", lambda F, g, result: F.tanh_backward(g, result), result="float")
sigmoid = unary("sigmoid", lambda F, g, result: F.sigmoid_backward(g, result), result="float")
relu = unary("relu", lambda F, g, result: F.threshold_backward(g, result))
abs = unary("abs", lambda F, g, self: g * F.sgn(self), holomorphic=False)
sign = unary("sign", lambda F, g: F.zeros_like(g))
sgn = unary("sgn", lambda F, g: F.zeros_like(g), holomorphic=False)
floor = unary("floor", lambda F, g: F.zeros_like(g))
ceil = unary("ceil", lambda F, g: F.zeros_like(g))
trunc = unary("trunc", lambda F, g: F.zeros_like(g))
round = unary("round", lambda F, g: F.zeros_like(g))
leaky_relu = elementwise(
    "leaky_relu",
    lambda F, g, self, negative_slope: F.where(self > 0, g, g * negative_slope),
    inputs=("self",),
    statics=("negative_slope",),
)
atan2 = binary(
    "atan2",
    lambda F, g, self, other: g * other / (self * self + other * other),
    lambda F, g, self, other: g * -self / (self * self + other * other),
    result="float",
)

# --- their backward kernels, operations of their own ----------------------------------------------

threshold_backward = binary(
    "threshold_backward", lambda F, g, other: F.threshold_backward(g, other), in_place=False
)
tanh_backward = binary(
    "tanh_backward",
    lambda F, g, other: F.tanh_backward(g, other),
    lambda F, g, self, other: g * self * (-2 * other),
    in_place=False,
)
sigmoid_backward = binary(
    "sigmoid_backward",
    lambda F, g, other: F.sigmoid_backward(g, other),
    lambda F, g, self, other: g * self * (1 - 2 * other),
    in_place=False,
)

# --- comparison and logic -------------------------------------------------------------------------

eq, ne = binary("eq", result="bool"), binary("ne", result="bool")
lt, le = binary("lt", result="bool"), binary("le", result="bool")
gt, ge = binary("gt", result="bool"), binary("ge", result="bool")
isnan, isinf = unary("isnan", in_place=False), unary("isinf", in_place=False)
isfinite = unary("isfinite", in_place=False)
logical_not = unary("logical_not")
logical_and, logical_or = binary("logical_and"), binary("logical_or")
logical_xor = binary("logical_xor")
bitwise_and, bitwise_or = binary("bitwise_and"), binary("bitwise_or")
bitwise_xor, bitwise_not = binary("bitwise_xor"), unary("bitwise_not")

# --- selection ------------------------------------------------------------------------------------

where_select = elementwise(
    "where_select",
    None,
    lambda F, g, condition: F.where(condition, g, 0.0),
    lambda F, g, condition: F.where(condition, 0.0, g),
    inputs=("condition", "self", "other"),
    kernel="where",
    node="WhereBackward0",
)
where_select.op.fixed = frozenset({"condition"})  # takes no part in promotion


@public
def where(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    """``input`` where ``condition`` holds, else ``other``; alone, the indices where it holds."""
    if input is None and other is None:
        from ..tape.op import TENSOR

        return TENSOR.nonzero(condition, as_tuple=True)
    return where_select(condition, input, other)


def _clamp_vjp(F: Any, g: Any, self: Any, low: Any, high: Any) -> Any:
    inside = True
    if low is not None:
        inside = self >= low
    if high is not None:
        inside = inside & (self <= high) if low is not None else self <= high
    return F.where(inside, g, 0.0)


clamp_scalar = elementwise(
    "clamp_scalar",
    _clamp_vjp,
    inputs=("self",),
    statics=("low", "high"),
    kernel="clamp",
    node="ClampBackward1",
    result="numbers",
)


@public
def clamp(self: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """Limit every element to [min, max]; tensors are accepted as limits."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if not isinstance(min, Tensor) and not isinstance(max, Tensor):
        return clamp_scalar(self, min, max)
    result = self if min is None else maximum(self, min)
    return result if max is None else minimum(result, max)


masked_fill_value = general(
    "masked_fill_value",
    lambda F, g, mask: F.masked_fill(g, mask, 0),
    None,
    inputs=("self", "mask"),
    statics=("value",),
    kernel="masked_fill",
    node="MaskedFillBackward0",
    shape=lambda x, mask, value: (x.shape, x.dtype),
)


@public
def masked_fill(self: Tensor, mask: Tensor, value: Any) -> Tensor:
    """A copy of ``self`` with ``value`` where ``mask`` holds."""
    if isinstance(value, Tensor):
        return where_select(mask, value, self)
    return masked_fill_value(self, mask, value)
