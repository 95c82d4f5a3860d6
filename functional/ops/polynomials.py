"""Orthogonal polynomials of degree n at x; either may be a number. They have no derivatives."""

from __future__ import annotations

from ..tape.declare import binary
from .refusals import only_wide

POLYNOMIALS = [
    *(f"{shift}chebyshev_polynomial_{k}" for shift in ("", "shifted_") for k in "tuvw"),
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
]
for _name in POLYNOMIALS:
    _closure = binary(_name, result="float", in_place=False)
    _closure.op.title = f"special_{_name}"
    _closure.op.check = only_wide(f"{_name}_cpu")
