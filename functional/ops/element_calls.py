"""Python functions called for each element of a tensor: ``apply_``, ``map_`` and ``map2_``."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..kernels.meta import MetaArray
from ..tape.views import requires_grad
from ..tensor import Tensor
from .arguments import need_tensor, number_for
from .views import expand


def apply_(self: Tensor, function: Callable[[Any], Any], /) -> Tensor:
    """Replace each element by what ``function`` returns for it, in order."""
    _need_no_gradient("apply_", self)
    if type(self._data) is not MetaArray:
        _replace(self, function)
    return self


def map_(self: Tensor, other: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Replace each element by what ``callable`` returns for it and for that of ``other``.

    Raises TypeError if ``other`` has another dtype; it is expanded to the shape of ``self``.
    """
    need_tensor(other, "map_.other.1")
    _need_no_gradient("map_", self, other)
    _need_dtype("map_", self, other, "'other'")
    _replace(self, callable, expand(other, tuple(self.shape)))
    return self


def map2_(
    self: Tensor, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]
) -> Tensor:  # fmt: skip
    """`map_` for two other tensors."""
    need_tensor(x, "map2_.x.1")
    need_tensor(y, "map2_.y.2")
    _need_no_gradient("map2_", self, x, y)
    _need_dtype("map2_", self, x, "argument 'x'")
    _need_dtype("map2_", self, y, "argument 'y'")
    _replace(self, callable, *(expand(t, tuple(self.shape)) for t in (x, y)))
    return self


def _need_no_gradient(name: str, *tensors: Tensor) -> None:
    if any(requires_grad(t) for t in tensors):
        raise RuntimeError(
            f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() "
            "instead."
        )


def _need_dtype(name: str, self: Tensor, other: Tensor, what: str) -> None:
    if other.dtype is not self.dtype:
        raise TypeError(
            f"{name}: expected torch.{self.dtype.legacy}Tensor for {what} (got "
            f"torch.{other.dtype.legacy}Tensor)"
        )


def _replace(self: Tensor, function: Callable[..., Any], *others: Tensor) -> None:
    arrays = [t._data for t in (self, *others)]
    number = float if arrays[0].dtype.kind == "V" else lambda v: v.item()
    for at in np.ndindex(arrays[0].shape):
        value = function(*(number(x[at]) for x in arrays))
        arrays[0][at] = np.asarray(_as_element(value, self.dtype)).astype(self.dtype.array)


def _as_element(value: Any, dtype: dtypes.dtype) -> Any:
    if dtype.category == dtypes.INT:
        value = int(value) if isinstance(value, float) else operator.index(value)
    return number_for(value, dtype)
