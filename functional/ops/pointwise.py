"""Pointwise operations: arithmetic, comparison, exponentials, rounding, selection."""

from __future__ import annotations

from typing import Any

from ..dtypes import FLOAT, INT, bool_, result_type
from ..kernels.complex import log1p_complex
from ..tape.declare import binary, elementwise, unary
from ..tape.op import TENSOR, public
from ..tape.out import out_of
from ..tensor import Tensor
from .arguments import is_complex, number_for, operand

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
add.op.scaled, sub.op.scaled = add_scaled.op, sub_scaled.op
add_scaled.op.title, sub_scaled.op.title = "add", "sub"


def _check_subtraction(self: Any, other: Any, alpha: Any = 1) -> None:
    found = [x.dtype is bool_ if isinstance(x, Tensor) else type(x) is bool for x in (self, other)]
    if all(found):
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
            "`logical_xor()` operator instead."
        )
    if any(found):
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying "
            "to invert a mask, use the `~` or `logical_not()` operator instead."
        )
    if type(alpha) is not int or alpha != 1:
        _check_sum(self, other, alpha)


def _check_alpha(self: Any, other: Any, alpha: Any) -> None:
    if type(alpha) is int:
        return
    found = result_type([operand(x) for x in (self, other)])
    if isinstance(alpha, bool) and found is not bool_:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if found.category < FLOAT and not isinstance(alpha, bool):
        raise RuntimeError(
            "For integral input tensors, argument alpha must not be a floating point number."
        )
    if isinstance(alpha, complex) and not found.is_complex:
        raise RuntimeError(
            "For non-complex input tensors, argument alpha must not be a complex number."
        )


def _check_sum(self: Any, other: Any, alpha: Any) -> None:
    _check_alpha(self, other, alpha)
    found = result_type([operand(x) for x in (self, other)])
    if found.category == INT:
        number_for(alpha, found)


sub.op.check = sub_scaled.op.check = rsub.op.check = _check_subtraction
add_scaled.op.check = _check_sum


def _with_number(name: str, title: str, rule: Any) -> Any:
    """The form of a binary operation that takes a number, where its node has one edge only."""
    closure = elementwise(
        f"{name}_scalar",
        rule,
        inputs=("self",),
        statics=("other",),
        kernel=name,
        node=title,
        result="numbers",
    )
    closure.op.title = name
    return closure


def _with_constant(name: str, rule: Any, kernel: str) -> Any:
    """An operation with a number, as PyTorch's own composites record it: one edge."""
    title = kernel.capitalize() + "Backward1"
    return elementwise(
        f"{name}_number",
        rule,
        inputs=("self",),
        statics=("other",),
        kernel=kernel,
        node=title,
        result="numbers",
    )


add_number = _with_constant("add", lambda F, g: g, "add")
sub_number = _with_constant("sub", lambda F, g: g, "sub")
mul_number = _with_constant("mul", lambda F, g, other: g * other, "mul")
div_number = _with_constant("div", lambda F, g, other: g / other, "div")


def no_derivative(name: str) -> Any:
    def rule(F: Any, g: Any) -> Any:
        raise RuntimeError(f"derivative for aten::{name} is not implemented")

    return rule


def _floor_divide(name: str) -> Any:
    """Recorded, but going backward through it raises; in place it has a name of its own."""
    rule = no_derivative(name)
    number = _with_number("floor_divide", "NotImplemented", rule) if name[-1] != "_" else None
    if number is None:
        number = elementwise(
            "floor_divide_scalar_",
            rule,
            inputs=("self",),
            statics=("other",),
            kernel="floor_divide",
            node="NotImplemented",
            result="numbers",
        )
    closure = binary(
        name,
        rule,
        rule,
        kernel="floor_divide",
        node="NotImplemented",
        in_place=name[-1] == "_",
        number=number.op,
    )
    closure.op.refuses_gradients = number.op.refuses_gradients = True
    return closure


floor_divide, _floor_divide_ = _floor_divide("floor_divide"), _floor_divide("floor_divide_")
floor_divide.in_place = TENSOR.floor_divide_ = _floor_divide_.in_place
floor_divide.in_place.__name__ = "floor_divide_"
remainder = binary(
    "remainder",
    lambda F, g: g,
    lambda F, g, self, other: -g * F.floor(self / other),
    node="RemainderBackward1",
    number=_with_number("remainder", "RemainderBackward0", lambda F, g: g).op,
)
fmod = binary(
    "fmod",
    lambda F, g: g,
    lambda F, g, self, other: -g * F.trunc(self / other),
    node="FmodBackward1",
    number=_with_number("fmod", "FmodBackward0", lambda F, g: g).op,
)
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
    log = F.log(self + F.zeros_like(result) if is_complex(exponent) else self)
    return F.where((self == 0) & _upward(F, exponent), 0.0, g * (result * log))


def _upward(F: Any, exponent: Any) -> Any:
    """Where zero to this power has no slope: exponents that are real and not negative."""
    if not is_complex(exponent):
        return exponent >= 0
    return (F.imag(exponent) == 0) & (F.real(exponent) >= 0)


def _scalar_pow_vjp(F: Any, g: Any, exponent: Any, base: Any, result: Any) -> Any:
    if base == 0:
        return F.where(_upward(F, exponent), 0.0, g * (result * -float("inf")))
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


def _check_power(self: Tensor, exponent: Any) -> None:
    if isinstance(exponent, int) and exponent < 0 and self.dtype.category < FLOAT:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    if type(exponent) is int and exponent > 127 and self.dtype.category == INT:
        number_for(exponent, self.dtype)


pow_scalar.op.check = _check_power
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


pow_of_scalar.op.contiguous = True
for _form in (pow_scalar, pow_tensor, pow_of_scalar):
    _form.op.title = "pow"
remainder.op.number.rounds = fmod.op.number.rounds = True
pow_scalar.op.rounds = rsub.op.rounds = True


@public
def pow(self: Any, exponent: Any, *, out: Any = None) -> Tensor:
    """``self`` to the power of ``exponent``; either may be a number."""
    if out is not None:
        return out_of(pow, out, self, exponent)
    if not isinstance(exponent, Tensor):
        return pow_scalar(self, exponent)
    return pow_tensor(self, exponent) if isinstance(self, Tensor) else pow_of_scalar(exponent, self)


def _pow_twin(self: Tensor, exponent: Any) -> Tensor:
    """``pow`` in place."""
    twin = pow_tensor if isinstance(exponent, Tensor) else pow_scalar
    return twin.in_place(self, exponent)


TENSOR.pow_ = _pow_twin


@public
def square(self: Tensor, *, out: Any = None) -> Tensor:
    """``self`` squared."""
    return pow_scalar(self, 2) if out is None else out_of(pow, out, self, 2)


TENSOR.square_ = lambda self: _pow_twin(self, 2)


# --- one operand ----------------------------------------------------------------------------------

neg = unary("neg", lambda F, g: -g)
reciprocal = unary("reciprocal", lambda F, g, result: -g * (result * result), result="float")
exp = unary("exp", lambda F, g, result: g * result, result="float")
expm1 = unary("expm1", lambda F, g, result: g * (result + 1), result="float")
log = unary("log", lambda F, g, self: g / self, result="float")
log1p = unary("log1p", lambda F, g, self: g / (self + 1), node="Log1PBackward0", result="float")
log1p.op.complex_kernel = log1p_complex
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
_write_abs = TENSOR.abs_


def _abs_twin(self: Tensor) -> Tensor:
    """``abs`` in place."""
    if self.dtype.is_complex:
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    return _write_abs(self)


TENSOR.abs_ = abs.in_place = _abs_twin
sign = unary("sign", lambda F, g: F.zeros_like(g))


def _sgn_vjp(F: Any, g: Any, self: Any, result: Any) -> Any:
    """Zero for real numbers; for complex ones the part of g / |self| across the direction."""
    if not is_complex(self):
        return F.zeros_like(g)
    along = g * F.conj(result)
    across = g - (along + F.conj(along)) / 2 * result
    size = F.abs(self)
    return F.where(size == 0, 0.0, across / size)


sgn = unary("sgn", _sgn_vjp, holomorphic=False)
floor = unary("floor", lambda F, g: F.zeros_like(g))
ceil = unary("ceil", lambda F, g: F.zeros_like(g))
trunc = unary("trunc", lambda F, g: F.zeros_like(g))
round = unary("round", lambda F, g: F.zeros_like(g))
leaky_relu = elementwise(
    "leaky_relu",
    lambda F, g, self, negative_slope: F.leaky_relu_backward(g, self, negative_slope),
    inputs=("self",),
    statics=("negative_slope",),
)
leaky_relu_backward = elementwise(
    "leaky_relu_backward",
    lambda F, g, input, negative_slope: F.leaky_relu_backward(g, input, negative_slope),
    lambda F, g: F.zeros_like(g),
    inputs=("self", "input"),
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
    "threshold_backward",
    lambda F, g, other: F.threshold_backward(g, other),
    lambda F, g, other: F.zeros_like(g),
    in_place=False,
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
