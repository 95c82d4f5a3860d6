"""``torch.sparse``: products, sums and softmax whose gradients are sparse as well."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import coo, coo_products
from ..tape.op import TENSOR, public
from ..tape.sparse import declare, is_compressed, is_sparse, not_sparse, refused
from ..tensor import Tensor, wrap
from .arguments import dims_of, one_dim, wrong_type
from .reduce import dims_or_all
from .sparse import coalesce, coo_of, coo_values_at, in_places_of, indices_of, values_of
from .sparse_kernels import as_sum, product, sum_of_product

# --- products -------------------------------------------------------------------------------------


def _times(x: Any, factor: Any) -> Any:
    return x if factor == 1 else x * factor


@public
def sampled_product(g: Tensor, other: Tensor, like: Tensor) -> Any:
    """``g @ other.t()`` in the places of ``like`` only."""
    mask = like.detach() if is_compressed(like) else coalesce(like.detach())
    at = indices_of(TENSOR.to_sparse(mask))
    rows, columns = TENSOR.select(at, 0, 0), TENSOR.select(at, 0, 1)
    picked: Any = TENSOR.index_select(g, 0, rows) * TENSOR.index_select(other, 0, columns)
    return in_places_of(TENSOR, mask, TENSOR.sum(picked, 1))


sparse_addmm = declare(
    "sparse_addmm",
    sum_of_product,
    lambda F, g, beta: _times(g, beta),
    lambda F, g, mat1, mat2, alpha: _times(F.sampled_product(g, mat2, mat1), alpha),
    lambda F, g, mat1, alpha: _times(F.mm(F.t(mat1), g), alpha),
    inputs=("self", "mat1", "mat2"),
    statics=("beta", "alpha"),
    node="SparseAddmmBackward0",
)
sparse_sparse_matmul = declare(
    "sparse_sparse_matmul",
    product,
    lambda F, g, self, other: F.sparse_mask(F.mm(g, F.t(other)), F.coalesce(self.detach())),
    lambda F, g, self, other: F.sparse_mask(F.mm(F.t(self), g), F.coalesce(other.detach())),
    inputs=("self", "other"),
    node="SparseSparseMatmulBackward0",
)


@public
def sparse_mm(self: Tensor, mat2: Tensor) -> Any:
    """The product of matrices; gradients of sparse ones have their places."""
    first, second = (type(t._data) in coo.SPARSE for t in (self, mat2))
    if first and second:
        return sparse_sparse_matmul(self, mat2)
    if second:
        found = _mm_dense(TENSOR.transpose(mat2, -2, -1), TENSOR.transpose(self, -2, -1))
        return TENSOR.transpose(found, -2, -1)
    return _mm_dense(self, mat2) if first else TENSOR.mm(self, mat2)


def _mm_dense(x: Tensor, y: Tensor) -> Any:
    one_dim(y, 1)
    zero = TENSOR.zeros((x.shape[0], y.shape[1]), dtype=x.dtype)
    return sparse_addmm(zero, x, y, 0, 1)


@public
def sparse_addmm_of(self: Tensor, mat1: Tensor, mat2: Tensor, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta · self + alpha · mat1 @ mat2, with a sparse ``mat1``."""
    if type(mat1._data) not in coo.SPARSE:
        return TENSOR.addmm(self, mat1, mat2, beta=beta, alpha=alpha)
    return sparse_addmm(self, mat1, mat2, beta, alpha)


# --- sums -----------------------------------------------------------------------------------------


def _kept(dim: tuple[int, ...], count: int) -> list[int]:
    return [d for d in range(count) if d not in dim]


def _sum_vjp(F: Any, g: Any, self: Any, dim: tuple[int, ...]) -> Any:
    """What a sum got goes to every element that went into it."""
    x, shape = coo.coalesce(self._data), tuple(self.shape)
    kept = _kept(dim, x.sparse_dim)
    inner = [d - x.sparse_dim + 1 for d in dim if d >= x.sparse_dim]
    if kept:
        found = coo_values_at(g, wrap(x.indices[kept]))
    else:
        found = TENSOR.unsqueeze(F.to_dense(g), 0)
    for d in inner:
        found = TENSOR.unsqueeze(found, d)
    found = TENSOR.contiguous(TENSOR.expand(found, (x.nnz, *shape[x.sparse_dim :])))
    return coo_of(wrap(x.indices), found, shape, x.coalesced)


def _sum_kernel(self: Tensor, dim: tuple[int, ...]) -> Any:
    x = self._data
    return coo.summed(x if _kept(dim, x.sparse_dim) else as_sum(x, None), dim)


sparse_sum_dims = declare(
    "sparse_sum_dims",
    _sum_kernel,
    _sum_vjp,
    statics=("dim",),
    node="SparseSumBackward0",
)


@public
def sparse_sum(self: Tensor, dim: Any = None, dtype: Any = None) -> Any:
    """The sum over ``dim``: sparse, unless no sparse dimension is left; or of all elements."""
    if dim is None:
        return TENSOR.sum(values_of(_coalesced(self, "coalesce")), dtype=dtype)
    if not is_sparse(self):
        raise refused("_indices", "CPU")
    dims = dims_of(self, dim)
    if isinstance(dim, (tuple, list)) and not dims:
        raise RuntimeError("dim is empty")
    source = self if dtype is None else TENSOR.to_dtype(self, dtype)
    return sparse_sum_dims(source, tuple(sorted(dims_or_all(self, dim))))


def _coalesced(self: Tensor, name: str) -> Any:
    if not is_sparse(self):
        raise not_sparse(name, self)
    return coalesce(self)


# --- softmax --------------------------------------------------------------------------------------


def _line_sums(F: Any, values: Any, x: Any, dim: int) -> Any:
    """For every element, the sum of those on its line along ``dim``."""
    if dim >= x.sparse_dim:
        axis = dim - x.sparse_dim + 1
        return F.sum(values, (axis,), True)
    at, count = coo_products.pools(x.indices, x.shape, dim)
    lines = wrap(at)
    start = TENSOR.zeros((count, *x.values.shape[1:]), dtype=values.dtype)
    return F.index_select(F.index_add(start, 0, lines, values), 0, lines)


def _softmax_vjp(F: Any, g: Any, dim: int, result: Any) -> Any:
    y, x = values_of(result), result._data
    found = coo_values_at(g, wrap(x.indices)) * y
    return _in_places(x, found - y * _line_sums(F, found, x, dim))


def _log_softmax_vjp(F: Any, g: Any, dim: int, result: Any) -> Any:
    y, x = values_of(result), result._data
    found = coo_values_at(g, wrap(x.indices))
    return _in_places(x, found - F.exp(y) * _line_sums(F, found, x, dim))


def _in_places(x: Any, values: Any) -> Any:
    return coo_of(wrap(x.indices), values, x.shape, True)


def _declared(name: str, node: str, rule: Any, log: bool) -> Any:
    def kernel(self: Tensor, dim: int) -> Any:
        return coo_products.softmax(self._data, dim, log)

    return declare(name, kernel, rule, statics=("dim",), node=node)


_SOFTMAX = {
    False: _declared("sparse_softmax", "SparseSoftmaxBackward0", _softmax_vjp, False),
    True: _declared("sparse_log_softmax", "SparseLogSoftmaxBackward0", _log_softmax_vjp, True),
}


@public
def sparse_softmax_of(self: Tensor, dim: int, dtype: Any = None, log: bool = False) -> Any:
    """The softmax over the elements that are there; others count as minus infinity."""
    if not isinstance(self, Tensor):
        raise wrong_type("softmax.input.1", "Tensor", self)
    if not is_sparse(self):
        raise refused("_sparse_log_softmax" if log else "_sparse_softmax", "CPU")
    at = one_dim(self, dim)
    source = self if dtype is None else TENSOR.to_dtype(self, dtype)
    if source._data.dtype.kind not in "fV":
        name = "log_softmax" if log else "softmax"
        raise NotImplementedError(f"\"{name}\" not implemented for '{source.dtype.legacy}'")
    return _SOFTMAX[log](source, at)


# --- other names ----------------------------------------------------------------------------------


@public
def spmm(input: Tensor, mat2: Tensor) -> Any:
    """``mm``, also of sparse matrices."""
    return TENSOR.mm(input, mat2)


def _places_of_all(rows: np.ndarray, columns: int) -> np.ndarray:
    return np.stack([np.repeat(rows, columns), np.tile(np.arange(columns), len(rows))])


def _used_rows(x: Tensor) -> np.ndarray:
    return np.unique(x._data.indices[0])


@public
def smm(input: Tensor, mat2: Tensor) -> Any:
    """A sparse matrix times a dense one, as a sparse one of all rows that are used."""
    z, rows = TENSOR.mm(input.detach(), mat2.detach()), _used_rows(input)
    at = _places_of_all(rows, z.shape[1])
    return wrap(coo.CooArray(at, z._data[tuple(at)], tuple(z.shape)))


@public
def hspmm(mat1: Tensor, mat2: Tensor) -> Any:
    """The same with one sparse dimension: the rows that are used."""
    z, rows = TENSOR.mm(mat1.detach(), mat2.detach()), _used_rows(mat1)
    return wrap(coo.CooArray(rows[None], z._data[rows], tuple(z.shape)))


@public
def dsmm(input: Tensor, mat2: Tensor) -> Any:
    """``mm``, also of sparse matrices."""
    return TENSOR.mm(input, mat2)


@public
def sspaddmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta · input + alpha · mat1 @ mat2: sparse, with a sparse ``mat1``."""
    return TENSOR.add(_times(input.detach(), beta), smm(mat1, mat2), alpha=alpha)
