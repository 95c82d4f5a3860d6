"""The χ² distribution."""

from __future__ import annotations

from typing import Any, ClassVar

from . import constraints
from .gamma import Gamma

__all__ = ["Chi2"]


class Chi2(Gamma):
    """The sum of the squares of ``df`` standard normal numbers: Gamma(df / 2, 1 / 2)."""

    arg_constraints: ClassVar = {"df": constraints.positive}
    _fields = Gamma._fields

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    df = property(lambda self: self.concentration * 2)
