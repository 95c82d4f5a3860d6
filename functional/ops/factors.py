"""The factors of sums with products: numbers that the result's dtype can hold."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..tape.op import Op
from ..tape.operands import factor, no_form
from ..tensor import Tensor
from .arguments import number_for

ONE = 1  # a factor that is this very number needs no look
_WITH_OUT_DTYPE = ("addmm", "baddbmm")  # have a second form, so that the error is another


def factors(
    name: str, op: Op, tensors: tuple[Any, ...], beta: Any, alpha: Any, whole: bool = False
) -> tuple[Any, Any]:
    """(beta, alpha) of a call of ``name``; tensors without dimensions become numbers.

    Raises TypeError for what is no number, RuntimeError for numbers that do not fit (or are not
    ``whole``), unless the operation refuses the tensors.
    """
    beta, alpha = _number(name, tensors, "beta", beta), _number(name, tensors, "alpha", alpha)
    for which, number in (("beta", beta), ("alpha", alpha)):
        if whole and isinstance(number, (float, complex)):
            raise RuntimeError(
                f"For integral input tensors, argument {which} must not be a floating point number."
            )
    if isinstance(tensors[0], Tensor):
        kind = tensors[0].dtype
        wide = dtypes.float32 if kind.array in dtypes.HALF else kind
        try:
            number_for(beta, wide)
            number_for(alpha, wide)
        except RuntimeError:
            if op.check is not None:
                op.check(*tensors)
            raise
    return beta, alpha


def _number(name: str, tensors: tuple[Any, ...], key: str, value: Any) -> Any:
    try:
        return factor(name, key, value)
    except TypeError:
        if name in _WITH_OUT_DTYPE:
            raise no_form(name, tensors, {key: value}) from None
        raise
