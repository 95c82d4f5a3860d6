"""What other operations do with sparse tensors: copies, geometry, sums, matrix products."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from .. import dtypes
from ..dtypes import c_name
from ..kernels import coo, coo_products
from ..kernels.coo import CooArray
from ..tape.op import TENSOR
from ..tape.sparse import TITLES, is_sparse, refused
from ..tensor import Tensor, wrap
from .sparse_elementwise import apply, common, in_dtype, kernel

# --- copies and geometry --------------------------------------------------------------------------


@kernel("clone_dense")
def _clone(self: Tensor) -> Any:
    return self._data.copy()


@kernel("cast")
def _cast(self: Tensor, dtype: dtypes.dtype) -> Any:
    return in_dtype(self._data, dtype)


@kernel("zero")
def _zero(self: Tensor) -> Any:
    x = self._data
    return coo.empty(x.shape, x.dtype, x.sparse_dim)


@kernel("overwrite")
def _overwrite(self: Tensor, source: Tensor) -> Any:
    if is_sparse(self) and is_sparse(source):
        return in_dtype(source._data.copy(), self.dtype)
    kinds = [f"torch.{'sparse.' * is_sparse(t)}{t.dtype.legacy}Tensor" for t in (self, source)]
    raise RuntimeError(
        "copy_() between dense and sparse Tensors is not implemented! Found self type = "
        f"{kinds[0]} and src type = {kinds[1]}"
    )


def _turned(self: Tensor, name: str) -> Any:
    x = self._data
    if x.sparse_dim > 2 or x.dense_dim:
        raise RuntimeError(
            f"{name}() expects a tensor with <= 2 sparse and 0 dense dimensions, but got "
            f"{x.sparse_dim} sparse and {x.dense_dim} dense dimensions"
        )
    return x if x.ndim < 2 else coo.transposed(x, 0, 1)


@kernel("transpose_dims")
def _transpose(self: Tensor, dim0: int, dim1: int) -> Any:
    x = self._data
    if max(dim0, dim1) >= x.sparse_dim:
        raise RuntimeError(
            "sparse transpose: transposed dimensions must be sparse Got sparse_dim: "
            f"{x.sparse_dim}, d0: {dim0}, d1: {dim1}"
        )
    return coo.transposed(x, dim0, dim1)


@kernel("permute_dims")
def _permute(self: Tensor, dims: tuple[int, ...]) -> Any:
    x = self._data
    if any((d < x.sparse_dim) != (i < x.sparse_dim) for i, d in enumerate(dims)):
        raise RuntimeError(
            "permute(sparse_coo): transpositions between sparse and dense dimensions are not "
            "allowed.Only transpositions within sparse and dense dimensions are supported."
        )
    return coo.permuted(x, dims)


kernel("t_of")(lambda self: _turned(self, "t"))
kernel("t_in_place")(lambda self: _turned(self, "t_"))
kernel("transpose_in_place")(_transpose)


@kernel("unbind_dim")
def _unbind(self: Tensor, dim: int) -> Any:
    return [coo.selected(self._data, dim, i) for i in range(self.shape[dim])]


@kernel("unsqueeze_dim")
def _unsqueeze(self: Tensor, dim: int) -> Any:
    return coo.unsqueezed(self._data, dim)


@kernel("select_index")
def _select(self: Tensor, dim: int, index: int) -> Any:
    return coo.selected(self._data, dim, index)


@kernel("index_select_dim")
def _index_select(self: Tensor, index: Tensor, dim: int) -> Any:
    if not is_sparse(self):
        raise refused("index_select")
    at, n = index._data, self.shape[dim]
    return coo.index_selected(self._data, dim, np.where(at < 0, at + n, at).reshape(-1))


def _all_sparse(tensors: Any, name: str) -> list[CooArray]:
    for t in tensors:
        if not is_sparse(t):
            raise RuntimeError(
                f"{name}: all tensors have to be sparse, or none of them, but one of them is dense"
            )
    d = common(*tensors)
    parts = [in_dtype(t._data, d) for t in tensors]
    if len({p.sparse_dim for p in parts}) > 1:
        raise RuntimeError(f"{name}: all tensors must have as many sparse dimensions")
    return parts


@kernel("cat_of")
def _cat(tensors: Any, dim: int) -> Any:
    return coo.concatenated(_all_sparse(tensors, "cat"), dim)


@kernel("stack_of")
def _stack(tensors: Any, dim: int) -> Any:
    parts = [coo.unsqueezed(p, dim) for p in _all_sparse(tensors, "stack")]
    return coo.concatenated(parts, dim)


# --- reductions -----------------------------------------------------------------------------------


def as_sum(x: CooArray, dtype: Any) -> CooArray:
    """The array in the dtype that sums have."""
    d = dtypes.FROM_ARRAY[x.dtype]
    wanted = dtype or (dtypes.int64 if d.category < dtypes.FLOAT else d)
    return in_dtype(x, wanted)


@kernel("sum_all")
def _sum(self: Tensor, dtype: Any = None) -> Any:
    return apply(TENSOR.sum, as_sum(self._data, dtype).values)


@kernel("sum_dims")
def _sum_dims(self: Tensor, dim: Any, keepdim: bool, dtype: Any = None) -> Any:
    x = as_sum(self._data, dtype)
    dims = tuple(range(x.ndim)) if dim is None else tuple(sorted(dim))
    z = coo.summed(x, dims)
    if not keepdim:
        return z
    if not isinstance(z, CooArray):
        return np.asarray(z).reshape([1 if i in dims else n for i, n in enumerate(x.shape)])
    for d in dims:
        z = coo.unsqueezed(z, d)
    return z


@kernel("sum_to_size")
def _sum_to_size(self: Tensor, size: tuple[int, ...]) -> Any:
    lead = self.ndim - len(size)
    z = coo.summed(as_sum(self._data, None), tuple(range(lead))) if lead else self._data
    dims = [i for i, n in enumerate(size) if n == 1 != z.shape[i]]
    return _sum_dims(wrap(z), dims, True) if dims else z


@kernel("vector_norm_dims")
def _norm(self: Tensor, p: Any, dim: Any, keepdim: bool, dtype: Any = None) -> Any:
    if dim is not None and len(dim) < self.ndim:
        raise RuntimeError(
            "norm_sparse currently only supports full reductions, so 'dim' must either be empty "
            "or contain all dimensions of the input"
        )
    found = apply(TENSOR.norm, coo.coalesce(self._data).values, p)
    return found.reshape((1,) * self.ndim) if keepdim else found


@kernel("any_dims")
def _any(self: Tensor, dim: Any, keepdim: bool) -> Any:
    if dim is not None and len(dim) < self.ndim:
        raise refused("any.dim")
    return apply(TENSOR.any, coo.coalesce(self._data).values)


# --- matrix products ------------------------------------------------------------------------------


def _check_product(x: Tensor, y: Tensor) -> None:
    if x.dtype is not y.dtype:
        raise RuntimeError(f"expected scalar type {x.dtype.legacy} but found {y.dtype.legacy}")
    if x.shape[1] != y.shape[0]:
        raise RuntimeError(
            f"addmm: Argument #3 (dense): Expected dim 0 size {x.shape[1]}, got {y.shape[0]}"
        )


@kernel("mm_primitive")
def product(x: Tensor, y: Tensor) -> Any:
    """The product of matrices of which one or both are sparse."""
    for name, t in (("self", x), ("mat2", y)):
        if t.ndim != 2:
            raise RuntimeError(f"{name} must be a matrix")
        if is_sparse(t) and t._data.dense_dim:
            raise RuntimeError(f"addmm: Argument #2: Expected dense_dim 0, got {t._data.dense_dim}")
    _check_product(x, y)
    if is_sparse(x) and is_sparse(y):
        return coo_products.times_sparse(x._data, y._data)
    if is_sparse(x):
        return coo_products.times_dense(x._data, y._data)
    turned = coo.transposed(y._data, 0, 1)
    return np.ascontiguousarray(coo_products.times_dense(turned, x._data.T).T)


@kernel("mv_primitive")
def _mv(x: Tensor, v: Tensor) -> Any:
    if x.ndim != 2 or v.ndim != 1 or is_sparse(v):
        raise refused("mv")
    if x.shape[1] != v.shape[0]:
        raise RuntimeError("mv: expected self.size(-1) == vec.size(-1)")
    return coo_products.times_dense(x._data, v._data[:, None])[:, 0]


def _combined(b: Tensor, z: ndarray, beta: Any, alpha: Any) -> ndarray:
    """beta · b + alpha · z, in which a beta of 0 takes no notice of b."""
    z = z if alpha == 1 else apply(TENSOR.mul, z, alpha)
    if beta == 0:
        return z
    term = b._data if beta == 1 else apply(TENSOR.mul, b._data, beta)
    return apply(TENSOR.add, np.broadcast_to(term, z.shape), wrap(z))


@kernel("addmm_primitive")
def sum_of_product(b: Tensor, x: Tensor, y: Tensor, beta: Any, alpha: Any) -> Any:
    """beta · b + alpha · x @ y, with a sparse x."""
    if is_sparse(b):
        if tuple(b.shape) != (x.shape[0], y.shape[1]):
            raise RuntimeError("expand is unsupported for Sparse tensors")
        raise RuntimeError(
            "addmm_sparse_dense: expected strided result tensor, got tensor with layout Sparse"
        )
    z = product(x, y)
    if isinstance(z, CooArray):
        raise refused("addmm")
    for t in (b, y):
        if t.dtype is not x.dtype:
            raise RuntimeError(
                f"expected m1 and m2 to have the same dtype, but got: {c_name(x.dtype)} != "
                f"{c_name(t.dtype)}"
            )
    return _combined(b, z, beta, alpha)


# --- errors that are not the usual one ------------------------------------------------------------


def _refuse(error: type[Exception], text: str) -> Any:
    def refuse(*args: Any) -> Any:
        raise error(text)

    return refuse


kernel("alias")(_refuse(NotImplementedError, "Cannot access storage of SparseTensorImpl"))
kernel("expand_to")(_refuse(RuntimeError, "expand is unsupported for Sparse tensors"))
kernel("repeat_times")(_refuse(RuntimeError, "expand is unsupported for Sparse tensors"))
kernel("bmm_primitive")(_refuse(RuntimeError, "bmm_sparse: Tensor 'mat2' must be dense"))
kernel("reshape_alias")(_refuse(RuntimeError, "reshape is not implemented for sparse tensors"))
kernel("masked_fill_value", "clone_contiguous")(
    _refuse(RuntimeError, "unsupported memory format option Contiguous")
)
kernel("index_fill_value", "index_fill_tensor")(
    _refuse(RuntimeError, "unsupported memory format option Preserve")
)

TITLES.update(
    {
        "eq": "eq.Tensor", "ne": "ne.Tensor", "gt": "gt.Scalar", "lt": "lt.Scalar",
        "ge": "ge.Scalar", "le": "le.Scalar", "fill_scalar": "fill_.Scalar",
        "clamp_scalar": "clamp", "index_select_backward": "index_add_", "mean_all": "mean.dim",
        "mean_dims": "mean.dim", "max_all": "max", "min_all": "min", "pow_tensor":
        "pow.Tensor_Tensor", "pow_of_scalar": "pow.Scalar", "argmax_flat": "argmax",
        "argmin_flat": "argmin", "cumsum_dim": "cumsum", "softmax_dim": "_softmax",
        "log_softmax_dim": "_log_softmax", "squeeze_all": "as_strided",
        "squeeze_dim": "as_strided", "squeeze_dims": "as_strided", "slice_dim": "as_strided",
        "nonzero_rows": "nonzero", "round_decimals": "round.decimals",
        "all_dims": "all", "slice_backward": "as_strided",
        "as_strided_in": "as_strided", "where_select": "where.self", "view_as_shape": "view",
        "remainder": "remainder.Tensor",
        "remainder_scalar": "remainder.Tensor", "sort_dim": "sort.stable",
        "sort_stable": "sort.stable", "diagonal_of": "diagonal_copy",
        "index_at_1": "index.Tensor", "index_at_2": "index.Tensor", "index_at_3": "index.Tensor",
    }
)  # fmt: skip
