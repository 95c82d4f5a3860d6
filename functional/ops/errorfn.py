"""The error function, its relatives, and functions of the normal distribution."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..dtypes import bfloat16, float16
from ..tape.declare import elementwise, unary
from ..tape.op import public
from ..tape.out import out_of
from ..tensor import Tensor
from .pointwise import add_number, mul_number
from .refusals import only_wide
from .twins import twin

_TWO_OVER_ROOT_PI = 1.1283791670955126
_HALF_ROOT_PI = 0.8862269254527580
_ROOT_2_PI = 2.5066282746310002
_ROOT_HALF = 0.7071067811865476
_ROOT_2_OVER_PI = 0.7978845608028654


def special(name: str, rule: Any = None, *, node: str = "", wide: bool = True) -> Any:
    """A function of ``torch.special`` alone; ``wide`` ones exist for float32 and float64 only."""
    title = node or "Special" + name.capitalize()
    closure = unary(name, rule, node=title + "Backward0", result="float", in_place=False)
    closure.op.title = f"special_{name}"
    if wide:
        closure.op.check = only_wide(f"{name}_cpu")
    return closure


erf = unary(
    "erf", lambda F, g, self: g * (_TWO_OVER_ROOT_PI * F.exp(-(self * self))), result="float"
)
erfc = unary(
    "erfc", lambda F, g, self: g * (-_TWO_OVER_ROOT_PI * F.exp(-(self * self))), result="float"
)


def _erfinv_vjp(F: Any, g: Any, self: Any) -> Any:
    inverse = F.erfinv(self)
    return g * (_HALF_ROOT_PI * F.exp(inverse * inverse))


erfinv = unary("erfinv", _erfinv_vjp, result="float")
erfcx = special("erfcx", lambda F, g, self, result: g * (2 * self * result - _TWO_OVER_ROOT_PI))
entr = special("entr", lambda F, g, self: g * (-F.log(self) - 1), wide=False)
ndtri = special("ndtri", lambda F, g, result: g * (_ROOT_2_PI * F.exp(result * result / 2)))
log_ndtr = special(
    "log_ndtr",
    lambda F, g, self, result: g * _ROOT_2_OVER_PI / F.erfcx(self * -_ROOT_HALF),
    node="SpecialLogNdtr",
)


@public
def ndtr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The normal distribution function, (1 + erf(x / √2)) / 2."""
    if out is not None:
        return out_of(ndtr, out, input, name="special_ndtr")
    return mul_number(add_number(erf(mul_number(input, _ROOT_HALF)), 1), 0.5)


# --- logit and sinc -------------------------------------------------------------------------------


def _logit_vjp(F: Any, g: Any, self: Any, eps: Any) -> Any:
    slope = g / (self * (1 - self))
    if eps is None:
        return F.where((self < 0) | (self > 1), float("nan"), slope)
    return F.where((self < eps) | (self > 1 - eps), 0.0, slope)


logit_of = elementwise(
    "logit_of",
    _logit_vjp,
    inputs=("self",),
    statics=("eps", "steps"),
    kernel="logit",
    node="LogitBackward0",
    result="float",
)
logit_of.op.title = "logit"


def _steps(x: Tensor) -> Any:
    """The half type that PyTorch rounds each step of ``logit`` to."""
    return x.dtype.array if x.dtype in (float16, bfloat16) else None


@public
def logit(input: Tensor, eps: float | None = None, *, out: Tensor | None = None) -> Tensor:
    """log(x / (1 - x)), of x limited to [eps, 1 - eps] where ``eps`` is given."""
    if out is not None:
        return out_of(logit, out, input, eps)
    return logit_of(input, eps, _steps(input))


twin("logit_", lambda self, eps=None: logit_of.in_place(self, eps, _steps(self)))


def _sinc_vjp(F: Any, g: Any, self: Any) -> Any:
    angle = self * 3.141592653589793
    squared = self * self  # 0 for the smallest numbers
    slope = (F.cos(angle) * angle - F.sin(angle)) / (squared * 3.141592653589793)
    return F.where(squared == 0, 0.0, g * slope)


sinc = unary("sinc", _sinc_vjp, result="float")

# --- GELU -----------------------------------------------------------------------------------------

gelu_of = elementwise(
    "gelu_of",
    lambda F, g, self, approximate: F.gelu_backward(g, self, approximate),
    inputs=("self",),
    statics=("approximate",),
    kernel="gelu",
    node="GeluBackward0",
)


def _gelu_curvature(F: Any, x: Any, approximate: str) -> Any:
    """The second derivative of GELU."""
    if approximate == "none":
        return F.exp(x * x * -0.5) * (2 - x * x) / _ROOT_2_PI
    square = x * x
    t = F.tanh(x * (1 + 0.044715 * square) * _ROOT_2_OVER_PI)
    inner = (1 + 3 * 0.044715 * square) * _ROOT_2_OVER_PI
    bend = x * (6 * 0.044715 * _ROOT_2_OVER_PI)
    return (1 - t * t) * (inner + 0.5 * x * bend - x * t * inner * inner)


gelu_backward = elementwise(
    "gelu_backward",
    lambda F, g, input, approximate: F.gelu_backward(g, input, approximate),
    lambda F, g, self, input, approximate: g * self * _gelu_curvature(F, input, approximate),
    inputs=("self", "input"),
    statics=("approximate",),
)


@public
def gelu(input: Tensor, *, approximate: str = "none", out: Tensor | None = None) -> Tensor:
    """x times the normal distribution function; ``approximate`` is 'none' or 'tanh'."""
    if out is not None:
        return out_of(partial(gelu, approximate=approximate), out, input, name="gelu")
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return gelu_of(input, approximate)
