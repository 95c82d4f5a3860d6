"""Changes of sparse tensors in place: their size, and whether they count as coalesced."""

from __future__ import annotations

from typing import Any

from ..kernels import coo
from ..kernels.coo import CooArray
from ..tape.views import bump
from ..tensor import Tensor
from .arguments import ints


def mark_coalesced(self: Tensor, coalesced: bool) -> Tensor:
    """Say whether places are in order, each once."""
    self._data = CooArray(self._data.indices, self._data.values, self._data.shape, coalesced)
    return self


def sparse_resize_(self: Tensor, size: Any, sparse_dim: int, dense_dim: int) -> Tensor:
    """Another size, at least as large; with other numbers of dimensions only if it is empty."""
    x, shape = self._data, ints((tuple(size),))
    if (x.sparse_dim, x.dense_dim) != (sparse_dim, dense_dim):
        if x.nnz:
            _check_counts(x, sparse_dim, dense_dim)
        return sparse_resize_and_clear_(self, size, sparse_dim, dense_dim)
    if x.nnz:
        _check_growth(x, shape)
    self._data = CooArray(x.indices, x.values, shape, x.coalesced)
    bump(self)
    return self


_NOT_EMPTY = "on a non-empty sparse tensor is not supported."


def _check_counts(x: CooArray, sparse: int, dense: int) -> None:
    for kind, old, new in (("sparse", x.sparse_dim, sparse), ("dense", x.dense_dim, dense)):
        if old != new:
            raise RuntimeError(
                f"changing the number of {kind} dimensions (from {old} to {new}) {_NOT_EMPTY}"
            )


def _check_growth(x: CooArray, shape: tuple[int, ...]) -> None:
    k = x.sparse_dim
    for kind, part in (("sparse", slice(0, k)), ("dense", slice(k, None))):
        old, new = list(x.shape[part]), list(shape[part])
        if any(n < o for n, o in zip(new, old, strict=True)):
            raise RuntimeError(
                f"shrinking the size of {kind} dimensions (from {old} to {new}) {_NOT_EMPTY}"
            )


def sparse_resize_and_clear_(self: Tensor, size: Any, sparse_dim: int, dense_dim: int) -> Tensor:
    """Another size, and no elements."""
    self._data = coo.empty(ints((tuple(size),)), self._data.dtype, sparse_dim)
    bump(self)
    return self
