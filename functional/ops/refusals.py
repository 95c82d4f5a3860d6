"""Ready-made checks: what several operations refuse in the same words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import dtypes
from ..dtypes import c_name
from ..errors import not_implemented
from ..modes import MODE
from ..tape.views import requires_grad
from ..tensor import Tensor
from .arguments import operand, wrong_type

_HALF = (dtypes.float16, dtypes.bfloat16)


def only_wide(kernel: str) -> Callable[..., None]:
    """A check for operations that have no kernel for half types."""

    def check(*args: Any) -> None:
        tensors = [a for a in args if isinstance(a, Tensor)]
        found = dtypes.result_type([(t.dtype, t.ndim) for t in tensors])
        if found in _HALF:
            raise not_implemented(kernel, found)

    return check


def none_beyond_scalars(kernel: str, *categories: int) -> Callable[..., None]:
    """A check for operations whose missing kernel 0-dim tensors do not need."""

    def check(self: Tensor, *statics: Any) -> None:
        if self.dtype.category in categories and self.ndim:
            raise not_implemented(kernel, self.dtype)

    return check


def both(first: Callable[..., None], second: Callable[..., None]) -> Callable[..., None]:
    """Two checks, one after the other."""

    def check(*args: Any) -> None:
        first(*args)
        second(*args)

    return check


def tensor_operand(name: str) -> Callable[..., None]:
    """A check for binary operations whose second operand may not be a number."""

    def check(self: Any, other: Any) -> None:
        if not isinstance(other, Tensor):
            raise wrong_type(f"{name}.other.2", "Tensor", other)

    return check


def no_complex_gradient(name: str) -> Callable[..., None]:
    """A check for operations that PyTorch does not differentiate for complex tensors."""

    def check(self: Tensor, *statics: Any) -> None:
        if self.dtype.is_complex and MODE.grad and requires_grad(self):
            raise RuntimeError(
                f"{name} does not support automatic differentiation for outputs with complex dtype."
            )

    return check


def check_written(self: Tensor, *others: Any) -> None:
    """PyTorch's error for an in-place result that ``self`` cannot hold.

    Beside numbers it names the dtype of ``self`` as C++ does.
    """
    found = dtypes.result_type([operand(x) for x in (self, *others)])
    if not dtypes.can_cast(found, self.dtype):
        among = any(isinstance(x, Tensor) for x in others)
        wanted = self.dtype.legacy if among else c_name(self.dtype)
        raise RuntimeError(
            f"result type {found.legacy} can't be cast to the desired output type {wanted}"
        )


def unknown_derivative(what: str) -> Callable[..., Any]:
    """A rule that says the derivative is not known."""

    def rule(F: Any, g: Any) -> Any:
        raise NotImplementedError(f"the derivative for '{what}' is not implemented.")

    return rule
