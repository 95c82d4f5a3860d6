"""Products of compressed matrices that combine what they add up differently, or only in places."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..kernels.compressed import to_coo
from ..tape.op import TENSOR, public
from ..tape.sparse import is_compressed, refused
from ..tensor import Tensor, wrap
from .sparse import in_places_of, values_of

_REDUCES = ("sum", "mean", "amax", "amin")


@public
def sparse_mm_reduce(self: Tensor, mat2: Tensor, reduce: str) -> Any:
    """A CSR matrix times a dense one, with the mean or an extreme of the terms as well as the sum.

    Rows without elements give zeros.
    """
    if not is_compressed(self):
        raise refused("_sparse_mm_reduce_impl")
    if reduce not in _REDUCES:
        raise RuntimeError(f"sparse_mm_reduce: reduce type of {reduce} has not been enabled.")
    rows, columns = (wrap(np.ascontiguousarray(at)) for at in to_coo(self._data).indices)
    terms: Any = TENSOR.unsqueeze(values_of(self), 1) * TENSOR.index_select(mat2, 0, columns)
    size = (self.shape[0], mat2.shape[1])
    if reduce in ("amax", "amin"):  # no zeros to begin with: they would share in gradients
        start = TENSOR.full(size, math.inf if reduce == "amin" else -math.inf, dtype=terms.dtype)
        found = TENSOR.index_reduce(start, 0, rows, terms, reduce)
        used = wrap(np.diff(self._data.starts)[:, None] > 0)
        return TENSOR.where(used, found, TENSOR.zeros((), dtype=terms.dtype))
    start = TENSOR.zeros(size, dtype=terms.dtype)
    if reduce == "sum":
        return TENSOR.index_add(start, 0, rows, terms)
    return TENSOR.index_reduce(start, 0, rows, terms, reduce, include_self=False)


@public
def sparse_sampled_addmm(
    self: Tensor, mat1: Tensor, mat2: Tensor, beta: Any = 1.0, alpha: Any = 1.0
) -> Any:
    """beta · self + alpha · mat1 @ mat2, only in the places of the CSR matrix ``self``."""
    if not is_compressed(self):
        raise refused("sparse_sampled_addmm")
    found = values_of(TENSOR.sampled_product(mat1, TENSOR.t(mat2), self)) * alpha
    return in_places_of(TENSOR, self, found + values_of(self) * beta if beta != 0 else found)
