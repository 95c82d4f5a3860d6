"""A module's parameters in another dtype, on another device, or in other memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from functional.kernels.coo import SPARSE
from functional.kernels.meta import MetaArray
from functional.modes import no_grad
from functional.tensor import Tensor

from ... import __future__ as conversion
from ..parameter import Parameter


def _memory(t: Tensor) -> Any:
    """The kind of memory: without numbers, one of the sparse kinds, or None for all others."""
    kind = type(t._data)
    return kind if kind is MetaArray or kind in SPARSE else None


def converted(parameter: Any, fn: Callable[[Tensor], Tensor], where: str) -> Any:
    """The same Parameter over new memory; a new one where the kind of memory changes.

    ``where`` names it in errors. ``torch.__future__`` can ask for new ones, or for swapped ones.
    """
    with no_grad():
        made = fn(parameter)
        old_grad = parameter._grad
        grad = None if old_grad is None else fn(old_grad).requires_grad_(old_grad.requires_grad)
    if conversion.get_swap_module_params_on_conversion():
        failure = f"_apply(): Couldn't swap {where}"
        swap(parameter, Parameter(made, parameter.requires_grad), failure)
        if old_grad is not None:
            swap(old_grad, grad, f"{failure}.grad")
            grad = old_grad
    elif _stays(parameter, made):
        if made is not parameter:
            parameter._grad = None  # it may not fit for a moment
            parameter.data = made
    else:
        parameter = Parameter(made, parameter.requires_grad)
    parameter._grad = grad
    return parameter


def _stays(parameter: Any, made: Any) -> bool:
    """Whether the Parameter itself takes the new memory."""
    overwrite = conversion.get_overwrite_module_params_on_conversion()
    return _memory(made) is _memory(parameter) and not overwrite


def swap(old: Tensor, new: Tensor, failure: str) -> None:
    """Put what ``new`` holds into ``old``."""
    from ...utils import swap_tensors

    try:
        swap_tensors(old, new)
    except RuntimeError as error:
        raise RuntimeError(failure) from error
