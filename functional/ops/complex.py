"""Complex numbers: their parts, made of parts, and as pairs of real numbers."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..errors import not_implemented
from ..tape.declare import binary, general, unary, view
from ..tape.memory import check_overlap
from ..tape.op import public
from ..tape.out import need_out, write_out
from ..tape.slow import in_place
from ..tensor import Tensor
from .arguments import is_complex
from .twins import twin
from .views import select

# --- as pairs of real numbers ---------------------------------------------------------------------

view_real = view(
    "view_real",
    lambda F, g: F.complex(F.select(g, g.ndim - 1, 0), F.select(g, g.ndim - 1, 1)),
    kernel="view_as_real",
    node="ViewAsRealBackward0",
    vmap="lead",
)
view_complex = view(
    "view_complex",
    lambda F, g: F.view_as_real(g),
    kernel="view_as_complex",
    node="ViewAsComplexBackward0",
    vmap="lead",
)
view_real.op.holomorphic = view_complex.op.holomorphic = False


@public
def view_as_real(input: Tensor) -> Tensor:
    """Real and imaginary part along a last dimension of size 2, in the same memory."""
    if not input.dtype.is_complex:
        raise RuntimeError("view_as_real is only supported for complex tensors")
    return view_real(input)


@public
def view_as_complex(input: Tensor) -> Tensor:
    """Pairs along the last dimension as complex numbers, in the same memory."""
    if input.dtype not in (dtypes.float32, dtypes.float64):
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a "
            f"tensor of scalar type: {input.dtype.legacy}"
        )
    if not input.ndim:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if input.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if input.stride(-1) != 1:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if any(s % 2 for s in input.stride()[:-1]):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    return view_complex(input)


@public
def real(input: Tensor) -> Tensor:
    """The real part, in the same memory."""
    return select(view_real(input), -1, 0) if input.dtype.is_complex else input


@public
def imag(input: Tensor) -> Tensor:
    """The imaginary part, in the same memory."""
    if not input.dtype.is_complex:
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return select(view_real(input), -1, 1)


# --- made of parts --------------------------------------------------------------------------------


def _check_parts(first: Any, second: Any) -> None:
    kinds = (first.dtype, second.dtype)
    if any(d not in (dtypes.float16, dtypes.float32, dtypes.float64) for d in kinds):
        raise RuntimeError(
            "Expected both inputs to be Half, Float or Double tensors but got "
            f"{kinds[0].legacy} and {kinds[1].legacy}"
        )
    if kinds[0] is not kinds[1]:
        raise RuntimeError(
            f"Expected object of scalar type {kinds[0].legacy} but got scalar type "
            f"{kinds[1].legacy} for second argument"
        )


complex = binary(
    "complex",
    lambda F, g, self, other: F.real(g),
    lambda F, g, self, other: F.imag(g),
    holomorphic=False,
    in_place=False,
)


def _polar_angle(F: Any, g: Any, result: Any) -> Any:
    return F.real(F.conj(g) * (result * 1j))


polar = binary(
    "polar",
    lambda F, g, result: F.real(F.conj(g) * F.sgn(result)),
    _polar_angle,
    holomorphic=False,
    in_place=False,
)


def _check_polar(abs: Any, angle: Any) -> None:
    _check_parts(abs, angle)
    if abs.dtype is dtypes.float16:
        raise not_implemented("polar_cpu", dtypes.float16)


def _check_complex(real: Any, imag: Any) -> None:
    _check_parts(real, imag)
    if real.dtype is dtypes.float16:
        raise NotImplementedError("complex: of float16, which would be complex32")


complex.op.check, polar.op.check = _check_complex, _check_polar

# --- angle and conjugate --------------------------------------------------------------------------


def _angle_vjp(F: Any, g: Any, self: Any) -> Any:
    if not is_complex(self):
        return F.zeros_like(g)
    square = F.real(self * F.conj(self))
    return F.where(square == 0, 0.0, self * 1j * (g / square))


angle = unary("angle", _angle_vjp, result="float", holomorphic=False, in_place=False)


def _conjugation(name: str, node: str) -> Any:
    closure = general(
        name,
        lambda F, g: F.conj(g),
        kernel="conj_physical",
        node=node,
        vmap="lead",
        jvp=lambda F, tangents, self: F.conj(tangents[0]),
        shape=lambda x: (x.shape, x.dtype, x.strides),
    )
    closure.op.holomorphic = False
    return closure


conj_elements = _conjugation("conj_elements", "ConjPhysicalBackward0")
_conj_over = _conjugation("conj_over", "ConjPhysicalBackward1")


@public
def conj_physical(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The complex conjugate in new memory; ``input`` itself where it is real."""
    if out is not None:
        check_overlap(need_out("conj_physical", out), (input,))
        return write_out(conj_physical(input.detach()), out, "conj_physical")
    return conj_elements(input) if input.dtype.is_complex else input


def _conj_twin(self: Tensor) -> Tensor:
    """``conj_physical`` in place."""
    return in_place(_conj_over.op, (self,))


twin("conj_physical_", _conj_twin)


@public
def resolve_conj(input: Tensor) -> Tensor:
    """``input`` itself: conjugates are never put off here."""
    return input


@public
def resolve_neg(input: Tensor) -> Tensor:
    """``input`` itself: no tensor waits to be negated here."""
    return input


@public
def is_conj(input: Tensor) -> bool:
    """Whether the conjugate was put off; it never is."""
    return False


@public
def is_neg(input: Tensor) -> bool:
    """Whether a negation was put off; it never is."""
    return False
