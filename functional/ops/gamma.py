"""The gamma function and its relatives: lgamma, polygamma, incomplete gamma, zeta, x log y."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..errors import not_implemented
from ..tape.declare import binary, elementwise, unary
from ..tape.op import public
from ..tape.out import out_of
from ..tensor import Tensor
from .arguments import operand
from .refusals import only_wide, tensor_operand, unknown_derivative
from .twins import twin

lgamma = unary("lgamma", lambda F, g, self: g * F.digamma(self), result="float")
digamma = unary("digamma", lambda F, g, self: g * F.polygamma(1, self), result="float")


def _polygamma(name: str, node: str) -> Any:
    closure = elementwise(
        name,
        lambda F, g, self, n: g * F.polygamma(n + 1, self),
        inputs=("self",),
        statics=("n",),
        kernel="polygamma_of",
        node=node,
        result="float",
    )
    closure.op.title = "polygamma"
    closure.op.check = _check_order
    return closure


def _check_order(self: Tensor, n: int) -> None:
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if self.dtype.is_complex:
        kernel = ("digamma", "trigamma", "polygamma")[min(n, 2)]
        raise not_implemented(kernel, self.dtype)


polygamma_of = _polygamma("polygamma_of", "PolygammaBackward0")
_polygamma_over = _polygamma("polygamma_over", "PolygammaBackward1")


@public
def polygamma(n: Any, input: Any, *, out: Tensor | None = None) -> Tensor:
    """The derivative of order ``n`` of digamma; as a method, ``x.polygamma(n)``."""
    if isinstance(n, Tensor):
        n, input = input, n
    if out is not None:
        return out_of(polygamma, out, n, input)
    return polygamma_of(input, n)


twin("polygamma_", lambda self, n: _polygamma_over.in_place(self, n))


def _mvlgamma_vjp(F: Any, g: Any, self: Any, p: int) -> Any:
    total = F.digamma(self)
    for i in range(1, p):
        total = total + F.digamma(self - i / 2)
    return g * total


mvlgamma_of = elementwise(
    "mvlgamma_of",
    _mvlgamma_vjp,
    inputs=("self",),
    statics=("p",),
    kernel="mvlgamma",
    node="MvlgammaBackward0",
    result="float",
)
mvlgamma_of.op.title, mvlgamma_of.op.contiguous = "mvlgamma", True


def _check_dimensions(self: Tensor, p: int) -> None:
    if self.dtype is dtypes.bool_:
        raise RuntimeError("The input tensor may not be a boolean tensor.")
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")


mvlgamma_of.op.check = _check_dimensions


@public
def mvlgamma(input: Tensor, p: int, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension ``p``."""
    if out is not None:
        return out_of(mvlgamma, out, input, p)
    return mvlgamma_of(input, p)


def _mvlgamma_twin(self: Tensor, p: int) -> Tensor:
    """``mvlgamma`` in place."""
    if self.dtype.category == dtypes.INT:
        raise RuntimeError(
            f"mvlgamma: result type {self.dtype.legacy} can't be cast to the desired output type "
            f"{dtypes.get_default_dtype().legacy}"
        )
    return mvlgamma_of.in_place(self, p)


twin("mvlgamma_", _mvlgamma_twin)


def _incomplete(name: str, sign: int) -> Any:
    """An incomplete gamma function; its derivative by the first operand is not known."""

    def rule(F: Any, g: Any, self: Any, other: Any) -> Any:
        return g * (sign * F.exp((self - 1) * F.log(other) - other - F.lgamma(self)))

    closure = binary(name, unknown_derivative(f"{name}: input"), rule)
    closure.op.check = tensor_operand(name)
    return closure


igamma, igammac = _incomplete("igamma", 1), _incomplete("igammac", -1)

# --- operations with a node for each of: two tensors, a number first, a number second -------------


def _check_real(name: str) -> Any:
    def check(tensor: Tensor, number: Any) -> None:
        if isinstance(number, complex):
            found = dtypes.result_type([operand(tensor), number])
            raise not_implemented(f"{name}_cpu", found)

    return check


def _three_forms(name: str, node: str, first: Any, second: Any, number: Any, title: str) -> Any:
    """A public function; ``number`` is the rule for the tensor after a number."""
    pair = binary(f"{name}_pair", first, second, kernel=name, node=f"{node}0", result="float")
    after = elementwise(
        f"{name}_after_number",
        number,
        inputs=("other",),
        statics=("self",),
        kernel=f"{name}_after_number",
        node=f"{node}1",
        result="float",
    )
    before = elementwise(
        f"{name}_before_number",
        first,
        inputs=("self",),
        statics=("other",),
        kernel=f"{name}_before_number",
        node=f"{node}2",
        result="float",
    )
    for form in (pair, after, before):
        form.op.title = title
    after.op.check = before.op.check = _check_real(name)

    def function(input: Any, other: Any, *, out: Tensor | None = None) -> Tensor:
        if out is not None:
            return out_of(function, out, input, other, name=title)
        if not isinstance(other, Tensor):
            return before(input, other)
        return pair(input, other) if isinstance(input, Tensor) else after(other, input)

    def write(self: Tensor, other: Any) -> Tensor:
        return (pair if isinstance(other, Tensor) else before).in_place(self, other)

    function.__name__ = function.__qualname__ = name
    twin(f"{name}_", write)
    function.forms = (pair, after, before)  # type: ignore[attr-defined]
    return public(function)


def _xlogy_first(F: Any, g: Any, self: Any, other: Any) -> Any:
    return F.where((self == 0) & (other <= 0), 0.0, F.xlogy(g, other))


def _xlog1py_first(F: Any, g: Any, self: Any, other: Any) -> Any:
    return F.where((self == 0) & (other <= -1), 0.0, F.xlog1py(g, other))


xlogy = _three_forms(
    "xlogy",
    "XlogyBackward",
    _xlogy_first,
    lambda F, g, self, other: g * self / other,
    lambda F, g, other, self: g * self / other,
    "xlogy",
)
xlogy.__doc__ = "x log y; 0 where x is 0, unless y is NaN. Either may be a number."
xlog1py = _three_forms(
    "xlog1py",
    "SpecialXlog1PyBackward",
    _xlog1py_first,
    lambda F, g, self, other: g * self / (other + 1),
    lambda F, g, other, self: g * self / (other + 1),
    "special_xlog1py",
)
xlog1py.__doc__ = "x log(1 + y); 0 where x is 0, unless y is NaN. Either may be a number."
_no_zeta = unknown_derivative("zeta")
zeta = _three_forms(
    "zeta",
    "SpecialZetaBackward",
    _no_zeta,
    lambda F, g, self, other: g * -self * F.zeta(self + 1, other),
    lambda F, g, other, self: g * -self * F.zeta(self + 1, other),
    "special_zeta",
)
zeta.__doc__ = "Hurwitz's zeta function Σ (k + other) ** -input. Either may be a number."
for _form in zeta.forms:
    _form.op.check = only_wide("zeta_cpu")
