"""Rounding, limits and angles; tests of single elements; comparison of whole tensors."""

from __future__ import annotations

from typing import Any

import ml_dtypes

from .. import dtypes
from ..errors import not_implemented
from ..kernels.layout import kept_strides
from ..tape.declare import elementwise, general, unary
from ..tape.op import TENSOR, public
from ..tape.operands import check_operands
from ..tape.out import out_of
from ..tape.wrappers import is_batched
from ..tensor import Tensor
from . import pointwise
from .arguments import need_tensor
from .cast import item
from .refusals import check_written, no_complex_gradient, unknown_derivative
from .results import out_several, return_type
from .twins import twin

# --- more functions of one operand ----------------------------------------------------------------

exp2 = unary("exp2", lambda F, g, result: g * result * 0.6931471805599453, result="float")
asinh = unary("asinh", lambda F, g, self: g * F.rsqrt(self * self + 1), result="float")
acosh = unary("acosh", lambda F, g, self: g * F.rsqrt(self * self - 1), result="float")
atanh = unary("atanh", lambda F, g, self: g / (1 - self * self), result="float")


def _refused_in_place(name: str) -> None:
    """In place, PyTorch has no derivative for it."""
    closure = elementwise(
        f"{name}_over",
        unknown_derivative(f"inplace version of {name}"),
        inputs=("self",),
        kernel=name,
        node=f"{name.capitalize()}Backward1",
        result="float",
        hidden=True,
    )
    closure.op.title = name
    twin(f"{name}_", closure.in_place)


for _name in ("asinh", "acosh", "atanh"):
    _refused_in_place(_name)
frac = unary("frac", lambda F, g: g)
deg2rad = unary(
    "deg2rad",
    lambda F, g: g * 0.017453292519943295,
    node="Deg2RadBackward0",
    result="float",
)
rad2deg = unary(
    "rad2deg",
    lambda F, g: g * 57.29577951308232,
    node="Rad2DegBackward0",
    result="float",
)
signbit = unary("signbit", result="bool", in_place=False)
isposinf = unary("isposinf", result="bool", in_place=False)
isneginf = unary("isneginf", result="bool", in_place=False)
isreal = unary("isreal", result="bool", in_place=False)


@public
def positive(input: Tensor) -> Tensor:
    """``input`` itself."""
    if input.dtype is dtypes.bool_:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


_Frexp = return_type("frexp", ("mantissa", "exponent"))


def _frexp_vjp(F: Any, g: Any, self_shape: Any, result1: Any) -> Any:
    g = g[0] if type(g) is list else g
    if g is None:  # from the exponent, which has no derivative
        return None
    return F.ldexp(g, F.to_dtype(-result1, g.dtype))


frexp_of = general(
    "frexp_of",
    _frexp_vjp,
    kernel="frexp",
    node="FrexpBackward0",
    differentiable=(True, False),
    vmap="lead",
    shape=lambda x: [
        (x.shape, x.dtype, x.strides),
        (x.shape, dtypes.int32.array, kept_strides(x, dtypes.int32.array)),
    ],
)


@public
def frexp(input: Tensor, *, out: Any = None) -> Any:
    """(mantissa, exponent): ``input`` is mantissa times 2 to the power of exponent."""
    if not input.dtype.is_floating_point:
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    if out is not None:
        return _Frexp.out(out_several(frexp, out, input))
    return _Frexp(frexp_of(input))


# --- rounding -------------------------------------------------------------------------------------

round_decimals = elementwise(
    "round_decimals",
    lambda F, g: F.zeros_like(g),
    inputs=("self",),
    statics=("decimals",),
    node="RoundBackward1",
)
round_decimals.op.title = "round"


def _check_decimals(self: Tensor, decimals: int) -> None:
    if not self.dtype.is_floating_point:
        kernel = "round_cpu" if decimals else "round_vml_cpu"
        raise not_implemented(kernel, self.dtype)


round_decimals.op.check = _check_decimals
_round, _round_ = pointwise.round, TENSOR.round_


@public
def round(input: Tensor, *, decimals: int | None = None, out: Tensor | None = None) -> Tensor:
    """The nearest whole number, or number with so many decimals; halves to even."""
    if decimals is None:
        return _round(input, out=out)
    if out is not None:
        return out_of(lambda x: round_decimals(x, decimals), out, input, name="round")
    return round_decimals(input, decimals)


def _round_twin(self: Tensor, *, decimals: int | None = None) -> Tensor:
    """``round`` in place."""
    return _round_(self) if decimals is None else round_decimals.in_place(self, decimals)


twin("round_", _round_twin)
div_mode = elementwise(
    "div_mode",
    lambda F, g, self, other: F.zeros_like(g),
    lambda F, g, self, other: F.zeros_like(g),
    inputs=("self", "other"),
    statics=("rounding_mode",),
    node="DivBackward2",
)
div_mode.op.title = "div"


def _check_mode(self: Any, other: Any, rounding_mode: Any) -> None:
    if rounding_mode not in ("trunc", "floor"):
        raise RuntimeError(
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
            f"'{rounding_mode}'"
        )
    found = dtypes.result_type(
        (t.dtype, t.ndim) if isinstance(t, Tensor) else t for t in (self, other)
    )
    if found is dtypes.bool_ or found.is_complex:
        raise not_implemented(f"div_{rounding_mode}_cpu", found)


div_mode.op.check = _check_mode
_div = pointwise.div


@public
def div(
    input: Any, other: Any, *, rounding_mode: str | None = None, out: Tensor | None = None
) -> Tensor:
    """input / other, as it is, truncated ('trunc') or rounded down ('floor')."""
    if rounding_mode is None:
        return _div(input, other, out=out)
    if out is not None:
        form = lambda x, y: div_mode(x, y, rounding_mode)
        return out_of(form, out, input, other, name="div")
    return div_mode(input, other, rounding_mode)


def _div_twin(self: Tensor, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """``div`` in place."""
    if rounding_mode is None:
        return _div.in_place(self, other)
    return div_mode.in_place(self, other, rounding_mode)


twin("div_", _div_twin)

# --- limits ---------------------------------------------------------------------------------------


def _limit(name: str, keeps: Any) -> Any:
    """``clamp_min`` or ``clamp_max``; ``keeps(self, limit)`` is where a gradient goes to self."""
    node = "".join(part.capitalize() for part in name.split("_"))
    pair = elementwise(
        f"{name}_tensor",
        lambda F, g, self, limit: F.where(keeps(self, limit), g, 0.0),
        lambda F, g, self, limit: F.where(keeps(self, limit), 0.0, g),
        inputs=("self", "limit"),
        kernel=name,
        node=f"{node}Backward1",
    )
    single = elementwise(
        f"{name}_number",
        lambda F, g, self, limit: F.where(keeps(self, limit), g, 0.0),
        inputs=("self",),
        statics=("limit",),
        kernel=name,
        node=f"{node}Backward0",
        result="numbers",
    )
    pair.op.title = single.op.title = name

    def function(self: Tensor, limit: Any, *, out: Any = None) -> Tensor:
        if out is not None:
            kind = name if isinstance(limit, Tensor) else f"{name}.number"
            return out_of(function, out, self, limit, name=kind)
        if not isinstance(self, Tensor):
            check_operands(name, self, limit)
        return (pair if isinstance(limit, Tensor) else single)(self, limit)

    def write(self: Tensor, limit: Any) -> Tensor:
        if isinstance(limit, complex):
            raise NotImplementedError("clamp is not supported for complex types")
        check_written(self, limit)
        return (pair if isinstance(limit, Tensor) else single).in_place(self, limit)

    function.__name__ = function.__qualname__ = name
    twin(f"{name}_", write)
    return public(function)


clamp_min = _limit("clamp_min", lambda self, low: self >= low)
clamp_max = _limit("clamp_max", lambda self, high: self <= high)
clamp_min.__doc__ = "max(x, min), for a number or a tensor ``min``."
clamp_max.__doc__ = "min(x, max), for a number or a tensor ``max``."

nan_to_num_of = elementwise(
    "nan_to_num_of",
    lambda F, g, self: F.where(F.isfinite(self), g, 0.0),
    inputs=("self",),
    statics=("nan", "posinf", "neginf"),
    kernel="nan_to_num",
    node="NanToNumBackward0",
)
nan_to_num_of.op.title = "nan_to_num"
_check_nan_to_num = no_complex_gradient("nan_to_num")


@public
def nan_to_num(
    input: Tensor,
    nan: float | None = None,
    posinf: float | None = None,
    neginf: float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """``input`` with numbers for NaN and infinities: by default 0 and the dtype's extremes."""
    if out is not None:
        return out_of(nan_to_num, out, input, nan, posinf, neginf)
    need_tensor(input, "nan_to_num.input.1")
    _check_nan_to_num(input)
    return nan_to_num_of(input, nan, *_extremes(input.dtype, posinf, neginf))


def _extremes(dtype: dtypes.dtype, high: Any, low: Any) -> tuple[Any, Any]:
    """What stands for infinities; that of half types is known here only."""
    if dtype.array in dtypes.HALF:
        info = ml_dtypes.finfo(dtype.array)
        high = float(info.max) if high is None else high
        low = float(info.min) if low is None else low
    return high, low


twin(
    "nan_to_num_",
    lambda self, nan=None, posinf=None, neginf=None: nan_to_num_of.in_place(
        self, nan, *_extremes(self.dtype, posinf, neginf)
    ),
)

# --- comparison of whole tensors ------------------------------------------------------------------


@public
def isclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> Tensor:
    """Where |input - other| <= atol + rtol |other|, or both are equal."""
    need_tensor(input, "isclose.input.1")
    need_tensor(other, "isclose.other.2")
    if input.dtype is not other.dtype:
        raise RuntimeError(f"{input.dtype.legacy} did not match {other.dtype.legacy}")
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not value >= 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {value:g}")
    a, b = input.detach(), other.detach()
    close = a == b
    if equal_nan and a.dtype.category >= dtypes.FLOAT:
        close = close | ((a != a) & (b != b))
    if rtol == 0 and atol == 0:
        return close
    if a.dtype.category < dtypes.FLOAT:
        a, b = (TENSOR.to_dtype(t, dtypes.get_default_dtype()) for t in (a, b))
    error = TENSOR.abs(a - b)
    return close | (TENSOR.isfinite(error) & (error <= atol + TENSOR.abs(rtol * b)))


@public
def allclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> bool:
    """Whether all elements are close, see ``isclose``."""
    need_tensor(input, "allclose.input.1")
    need_tensor(other, "allclose.other.2")
    if is_batched(input) or is_batched(other):
        raise RuntimeError(
            "vmap over torch.allclose isn't supported yet. Please file an issue at "
            "https://github.com/pytorch/pytorch/issues if you need this feature."
        )
    return bool(item(TENSOR.all(isclose(input, other, rtol, atol, equal_nan))))


@public
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether shapes and elements are the same."""
    need_tensor(other, "equal.other.2")
    if input.shape != other.shape:
        return False
    if is_batched(input) or is_batched(other):
        raise RuntimeError(
            "Batching rule not implemented for aten::equal. We could not generate a fallback."
        )
    return bool(item(TENSOR.all(input.detach() == other.detach())))


@public
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether shapes are the same."""
    return tuple(input.shape) == tuple(other.shape)


@public
def is_nonzero(input: Tensor) -> bool:
    """Whether the only element is not 0."""
    n = input.numel()
    if n != 1:
        what = "no values" if n == 0 else "more than one value"
        raise RuntimeError(f"Boolean value of Tensor with {what} is ambiguous")
    return bool(item(input))
