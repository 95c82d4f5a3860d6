"""Bessel and Airy functions."""

from __future__ import annotations

from typing import Any

from ..tape.declare import unary
from .errorfn import special
from .refusals import only_wide

_TINY = 1e-6  # |x| below which i1(x) / x is 1/2, whatever the rounding


def _i1_vjp(F: Any, g: Any, self: Any, result: Any) -> Any:
    slope = F.i0(self) - result / self
    return F.where(F.abs(self) > _TINY, g * slope, g * 0.5)


def _i1e_vjp(F: Any, g: Any, self: Any, result: Any) -> Any:
    slope = F.i0e(self) - result * (F.sgn(self) + 1 / self)
    return F.where(F.abs(self) > _TINY, g * slope, g * 0.5)


i0 = unary("i0", lambda F, g, self: g * F.i1(self), result="float")
i0e = special(
    "i0e",
    lambda F, g, self, result: g * (F.i1e(self) - F.sgn(self) * result),
    node="SpecialI0E",
    wide=False,
)
i1 = special("i1", _i1_vjp, node="SpecialI1", wide=False)
i1e = special("i1e", _i1e_vjp, node="SpecialI1E", wide=False)

WITHOUT_DERIVATIVES = (
    "airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 modified_bessel_i0 modified_bessel_i1 "
    "modified_bessel_k0 modified_bessel_k1 scaled_modified_bessel_k0 scaled_modified_bessel_k1 "
    "spherical_bessel_j0"
).split()
for _name in WITHOUT_DERIVATIVES:
    _closure = unary(_name, result="float", in_place=False)
    _closure.op.title = f"special_{_name}"
    _closure.op.check = only_wide(f"{_name}_cpu")
