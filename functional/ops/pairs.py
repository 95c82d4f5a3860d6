"""Pointwise operations of two and three operands: mixtures, signs, bits, largest and smallest."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..dtypes import c_name, result_type
from ..errors import not_implemented
from ..tape.declare import binary, elementwise
from ..tape.op import TENSOR, public
from ..tape.operands import check_operands, factor
from ..tape.out import check_out, out_of
from ..tensor import Tensor
from .arguments import need_tensor, number_for, operand, wrong_type
from .cast import to_dtype
from .older_forms import with_value
from .pointwise import no_derivative, pow, rsub, sub
from .refusals import tensor_operand
from .twins import twin

# --- roots, logarithms and powers -----------------------------------------------------------------

hypot = binary(
    "hypot",
    lambda F, g, self, result: g * (self / result),
    lambda F, g, other, result: g * (other / result),
)
logaddexp = binary(
    "logaddexp",
    lambda F, g, self, other: g / (1 + F.exp(other - self)),
    lambda F, g, self, other: g / (1 + F.exp(self - other)),
    in_place=False,
)
logaddexp2 = binary(
    "logaddexp2",
    lambda F, g, self, other: g / (1 + F.exp2(other - self)),
    lambda F, g, self, other: g / (1 + F.exp2(self - other)),
    node="Logaddexp2Backward0",
    in_place=False,
)
ldexp = binary(
    "ldexp",
    lambda F, g, other: g * F.exp2(other),
    lambda F, g, result: g * (result * 0.6931471805599453),
    result="float",
)
_write_ldexp = TENSOR.ldexp_
_need_exponent = tensor_operand("ldexp")


def _check_ldexp(self: Any, other: Any) -> None:
    _need_exponent(self, other)
    if other.dtype is dtypes.bool_ and isinstance(self, Tensor) and self.is_floating_point():
        raise not_implemented("ldexp_cpu_exp", dtypes.bool_)


ldexp.op.check = _check_ldexp


def _ldexp_twin(self: Tensor, other: Tensor) -> Tensor:
    """``ldexp`` in place."""
    if self.dtype.category < dtypes.FLOAT:
        raise RuntimeError(f"ldexp can't be cast to the desired output type {self.dtype.legacy}")
    return _write_ldexp(self, other)


twin("ldexp_", _ldexp_twin)


@public
def float_power(input: Any, exponent: Any, *, out: Tensor | None = None) -> Tensor:
    """``input`` to the power of ``exponent``, in float64 or complex128."""
    if out is not None:
        check_out("pow", (input, exponent), out)
        return out_of(float_power, out, input, exponent)
    both = [input, exponent]
    if any(_is_complex(a) for a in both):
        wide, number = dtypes.complex128, complex
    else:
        wide, number = dtypes.float64, float  # type: ignore[assignment]
    check_operands("float_power", input, exponent)
    both = [_widened(a, wide) if isinstance(a, Tensor) else number(a) for a in both]
    return pow(*both)


def _is_complex(a: Any) -> bool:
    return a.dtype.is_complex if isinstance(a, Tensor) else isinstance(a, complex)


def _widened(t: Tensor, d: dtypes.dtype) -> Tensor:
    return t if t.dtype is d else to_dtype(t, d)


def _float_power_twin(self: Tensor, exponent: Any) -> Tensor:
    """``float_power`` in place, for float64 and complex128 only."""
    wide = self.dtype.is_complex or _is_complex(exponent)
    base = dtypes.complex128 if wide else dtypes.float64
    if self.dtype is not base:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {self.dtype.legacy} but the operation's "
            f"result requires dtype {base.legacy}"
        )
    return TENSOR.pow_(self, _widened(exponent, base) if isinstance(exponent, Tensor) else exponent)


twin("float_power_", _float_power_twin)

# --- signs and neighbours -------------------------------------------------------------------------


def _copysign_vjp(F: Any, g: Any, self: Any, result: Any) -> Any:
    return F.where(self == 0, 0.0, g * (result / self))


_copysign_number = elementwise(
    "copysign_number",
    _copysign_vjp,
    inputs=("self",),
    statics=("other",),
    kernel="copysign",
    node="CopysignBackward1",
    result="float",
)
_copysign_number.op.title = "copysign"


def _check_sign(self: Tensor, other: Any) -> None:
    if isinstance(other, complex):
        found = dtypes.result_type([operand(self), other])
        raise not_implemented("copysign_cpu", found)


_copysign_number.op.check = _check_sign
copysign = binary(
    "copysign",
    _copysign_vjp,
    lambda F, g: F.zeros_like(g),
    result="float",
    number=_copysign_number.op,
)
nextafter = binary(
    "nextafter",
    lambda F, g, self, other: F.where(self == other, 0.0, g),
    lambda F, g: F.zeros_like(g),
)
nextafter.op.narrow = True


def _heaviside(name: str) -> Any:
    """Recorded, but going backward through it raises; in place it has a name of its own."""
    rule = no_derivative(name)
    over = name[-1] == "_"
    closure = binary(name, rule, rule, kernel="heaviside", node="NotImplemented", in_place=over)
    closure.op.refuses_gradients = True
    closure.op.title = "heaviside"
    return closure


heaviside, _heaviside_ = _heaviside("heaviside"), _heaviside("heaviside_")
twin("heaviside_", _heaviside_.in_place)


def _check_heaviside(self: Any, values: Any) -> None:
    if not isinstance(values, Tensor):
        raise wrong_type("heaviside.values.2", "Tensor", values)
    if self.dtype.is_complex or values.dtype.is_complex:
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    if self.dtype is not values.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")


heaviside.op.check = _heaviside_.op.check = _check_heaviside

# --- the larger and the smaller, NaN losing -------------------------------------------------------


def _takes_first(F: Any, better: Any, other: Any) -> Any:
    return better | F.isnan(other)


fmax = binary(
    "fmax",
    lambda F, g, self, other: F.where(_takes_first(F, self >= other, other), g, 0.0),
    lambda F, g, self, other: F.where(_takes_first(F, self >= other, other), 0.0, g),
    in_place=False,
)
fmin = binary(
    "fmin",
    lambda F, g, self, other: F.where(_takes_first(F, self <= other, other), g, 0.0),
    lambda F, g, self, other: F.where(_takes_first(F, self <= other, other), 0.0, g),
    in_place=False,
)

# --- whole numbers --------------------------------------------------------------------------------

gcd, lcm = binary("gcd"), binary("lcm")
bitwise_left_shift = binary("bitwise_left_shift")
bitwise_right_shift = binary("bitwise_right_shift")
for _closure in (hypot, logaddexp, logaddexp2, nextafter, fmax, fmin, gcd, lcm):
    _closure.op.check = tensor_operand(_closure.op.name)

# --- mixtures -------------------------------------------------------------------------------------


def _same_dtype(name: str) -> Any:
    def check(self: Any, end: Any, weight: Any) -> None:
        for what, t in (("end", end), ("weight", weight)):
            if not isinstance(t, Tensor) or t.dtype is self.dtype:
                continue
            if t is end or t.ndim:  # a single weight is promoted
                wanted, found = c_name(self.dtype), c_name(t.dtype)
                raise RuntimeError(f"expected dtype {wanted} for `{what}` but got dtype {found}")

    return check


lerp_number = elementwise(
    "lerp_number",
    lambda F, g, weight: g * (1 - weight),
    lambda F, g, weight: g * weight,
    inputs=("self", "end"),
    statics=("weight",),
    kernel="lerp",
    node="LerpBackward0",
)
lerp_tensor = elementwise(
    "lerp_tensor",
    lambda F, g, weight: g * (1 - weight),
    lambda F, g, weight: g * weight,
    lambda F, g, self, end: g * (end - self),
    inputs=("self", "end", "weight"),
    kernel="lerp",
    node="LerpBackward1",
)
for _form in (lerp_number, lerp_tensor):
    _form.op.title, _form.op.check = "lerp", _same_dtype("lerp")


@public
def lerp(input: Tensor, end: Tensor, weight: Any, *, out: Tensor | None = None) -> Tensor:
    """input + weight (end - input); ``weight`` is a number or a tensor."""
    if out is not None:
        kind = "lerp.tensor" if isinstance(weight, Tensor) else "lerp"
        return out_of(lerp, out, input, end, weight, name=kind)
    return (lerp_tensor if isinstance(weight, Tensor) else lerp_number)(input, end, weight)


twin(
    "lerp_",
    lambda self, end, weight: (lerp_tensor if isinstance(weight, Tensor) else lerp_number).in_place(
        self, end, weight
    ),
)

addcmul_of = elementwise(
    "addcmul_of",
    lambda F, g: g,
    lambda F, g, tensor2, value: g * (tensor2 * value),
    lambda F, g, tensor1, value: g * (tensor1 * value),
    inputs=("self", "tensor1", "tensor2"),
    statics=("value",),
    kernel="addcmul",
    node="AddcmulBackward0",
)
addcdiv_of = elementwise(
    "addcdiv_of",
    lambda F, g: g,
    lambda F, g, tensor2, value: g * (value / tensor2),
    lambda F, g, tensor1, tensor2, value: -g * (value * (tensor1 / (tensor2 * tensor2))),
    inputs=("self", "tensor1", "tensor2"),
    statics=("value",),
    kernel="addcdiv",
    node="AddcdivBackward0",
)
addcmul_of.op.title, addcdiv_of.op.title = "addcmul", "addcdiv"


def _check_addcdiv(self: Any, tensor1: Any, tensor2: Any, value: Any) -> None:
    if tensor1.dtype.category < dtypes.FLOAT and tensor2.dtype.category < dtypes.FLOAT:
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release "
            "addcdiv will perform a true division of tensor1 and tensor2. The historic addcdiv "
            "behavior can be implemented as (input + value * torch.trunc(tensor1 / tensor2))."
            "to(input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) for "
            "float inputs. The future addcdiv behavior is just the latter implementation: "
            "(input + value * tensor1 / tensor2), for all dtypes."
        )


addcdiv_of.op.check = _check_addcdiv


def _value(name: str, value: Any, *tensors: Tensor) -> Any:
    """The number that multiplies, if the dtype that the tensors have in common can hold it."""
    if type(value) is int and value == 1:
        return value
    return number_for(factor(name, "value", value), result_type([operand(t) for t in tensors]))


def _fused(name: str, form: Any) -> Any:
    parts = ("tensor1", "tensor2")

    def function(
        input: Tensor,
        tensor1: Any,
        tensor2: Any,
        *old: Any,
        value: Any = 1,
        out: Tensor | None = None,
    ) -> Tensor:
        if old:
            return with_value(function, parts, (input, tensor1, tensor2, *old), out=out)
        need_tensor(tensor1, f"{name}.tensor1.2")
        need_tensor(tensor2, f"{name}.tensor2.3")
        value = _value(name, value, input, tensor1, tensor2)
        if out is not None:
            given = (input, tensor1, tensor2)
            return out_of(lambda *given: form(*given, value), out, *given, name=name)
        return form(input, tensor1, tensor2, value)

    def write(self: Tensor, tensor1: Any, tensor2: Any, *old: Any, value: Any = 1) -> Tensor:
        if old:
            return with_value(write, parts, (self, tensor1, tensor2, *old))
        value = _value(f"{name}_", value, self, tensor1, tensor2)
        return form.in_place(self, tensor1, tensor2, value)

    function.__name__ = function.__qualname__ = name
    twin(f"{name}_", write)
    return public(function)


addcmul, addcdiv = _fused("addcmul", addcmul_of), _fused("addcdiv", addcdiv_of)
addcmul.__doc__ = "input + value tensor1 tensor2."
addcdiv.__doc__ = "input + value tensor1 / tensor2."

# --- subtraction the other way round --------------------------------------------------------------

rsub_tensor = elementwise(
    "rsub_tensor",
    lambda F, g, alpha: -(g * alpha),
    lambda F, g: g,
    inputs=("self", "other"),
    statics=("alpha",),
    kernel="rsub_scaled",
    node="RsubBackward0",
)
rsub_tensor.op.title, rsub_tensor.op.check = "rsub", sub.op.check


def rsub_of(input: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """other - alpha input."""
    check_operands("rsub", input, other)
    if type(alpha) is not int:
        alpha = factor("rsub", "alpha", alpha)
        sub.op.scaled.check(input, other, alpha)
    if isinstance(other, Tensor):
        return rsub_tensor(input, other, alpha)
    plain = type(alpha) is int and alpha == 1
    return rsub(input, other) if plain else rsub_scaled(input, other, alpha)


rsub_scaled = elementwise(
    "rsub_scaled",
    lambda F, g, alpha: -(g * alpha),
    inputs=("self",),
    statics=("other", "alpha"),
    node="RsubBackward1",
    result="numbers",
)
rsub_scaled.op.title, rsub_scaled.op.rounds = "rsub", True
rsub_scaled.op.check = lambda self, other, alpha: rsub_tensor.op.check(self, other, alpha)
rsub_of.__name__ = rsub_of.__qualname__ = "rsub"
TENSOR.rsub = rsub_of
