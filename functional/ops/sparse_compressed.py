"""Sparse matrices in compressed format, by rows (CSR) and by columns (CSC).

Most go through the coordinate format, whose kernels do the work.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import devices, dtypes
from ..kernels import compressed as kernels
from ..kernels import coo
from ..kernels.compressed import CompressedArray, to_coo
from ..tape.op import OPS, TENSOR, public
from ..tape.sparse import COMPRESSED, KERNELS, declare, is_compressed, is_sparse, refused
from ..tensor import Tensor, wrap
from . import sparse_products  # noqa: F401 - it declares operations that have kernels here
from .arguments import ints
from .create import recorded
from .layouts import LAYOUTS
from .sparse import Invariants
from .sparse_elementwise import ZERO_AT_ZERO, apply, in_dtype

_BY_ROWS = {LAYOUTS["sparse_csr"]: True, LAYOUTS["sparse_csc"]: False}


def kernel(*names: str) -> Any:
    """Enter a function as the kernel of these operations for compressed matrices."""

    def enter(function: Any) -> Any:
        for name in names:
            if name not in OPS:
                raise NameError(f"there is no operation {name}")
            COMPRESSED[name] = function
        return function

    return enter


def _as_coo(a: Any) -> Any:
    """A compressed matrix in coordinate format; anything else as it is."""
    return wrap(to_coo(a._data)) if is_compressed(a) else a


def _title(a: Any) -> str:
    x = a._data
    return x.title if type(x) in coo.SPARSE else "Strided"


# --- conversions ----------------------------------------------------------------------------------


def _made(starts: Tensor, inner: Tensor, values: Tensor, size: Any, by_rows: bool) -> Any:
    return CompressedArray(starts._data, inner._data, values._data, size, by_rows)


def _values_vjp(F: Any, g: Any, starts: Any, inner: Any, size: Any, by_rows: bool) -> Any:
    x = CompressedArray(starts._data, inner._data, np.zeros(len(inner._data)), size, by_rows)
    return F.coo_values_at(_as_coo(g), wrap(to_coo(x).indices))


compressed_of = declare(
    "compressed_of",
    _made,
    None,
    None,
    _values_vjp,
    inputs=("starts", "inner", "values"),
    statics=("size", "by_rows"),
    node="SparseCompressedTensorBackward0",
)


def _compress_vjp(F: Any, g: Any, self: Any) -> Any:
    return F.to_sparse(g) if is_sparse(self) else F.to_dense(g)


def _compressing(name: str, node: str) -> Any:
    return declare(
        name,
        lambda self, by_rows: kernels.compressed(self._data, by_rows),
        _compress_vjp,
        statics=("by_rows",),
        node=node,
    )


_to_csr = _compressing("to_csr", "ToSparseCsrBackward0")
_to_csc = _compressing("to_csc", "ToSparseCscBackward0")
coo_of_compressed = declare(
    "coo_of_compressed",
    lambda self: to_coo(self._data),
    lambda F, g, self: _compress(g, self._data.by_rows),
    node="ToSparseBackward1",
)
for _name in ("to_csr", "to_csc", "coo_of_compressed"):
    COMPRESSED[_name] = KERNELS[_name]


def _compress(t: Tensor, by_rows: bool) -> Any:
    if is_compressed(t) and t._data.by_rows is by_rows:
        return t
    return (_to_csr if by_rows else _to_csc)(t, by_rows)


@public
def to_sparse_csr(self: Tensor, dense_dim: int | None = None) -> Any:
    """A matrix in compressed format, by rows."""
    return _converted(self, True, dense_dim)


@public
def to_sparse_csc(self: Tensor, dense_dim: int | None = None) -> Any:
    """A matrix in compressed format, by columns."""
    return _converted(self, False, dense_dim)


def _converted(self: Tensor, by_rows: bool, dense_dim: int | None) -> Any:
    if self.ndim != 2 or dense_dim or (is_sparse(self) and self._data.dense_dim):
        kind = "csr" if by_rows else "csc"
        raise NotImplementedError(f"to_sparse_{kind}: batches, and elements that are tensors")
    return _compress(self, by_rows)


# --- parts ----------------------------------------------------------------------------------------


def _part(name: str, by_rows: bool, field: str) -> Any:
    kind = "row" if by_rows else "column"

    def part(self: Tensor) -> Tensor:
        if not is_compressed(self) or self._data.by_rows is not by_rows:
            raise RuntimeError(
                f"{name} expected sparse {kind} compressed tensor layout but got {_title(self)}"
            )
        return wrap(getattr(self._data, field))

    part.__name__ = part.__qualname__ = name
    part.__doc__ = f"The ``{name}`` of a sparse matrix compressed along its {kind}s."
    return part


crow_indices, col_indices = (
    _part("crow_indices", True, "starts"),
    _part("col_indices", True, "inner"),
)
ccol_indices = _part("ccol_indices", False, "starts")
row_indices = _part("row_indices", False, "inner")


@kernel("values_of")
def _values(self: Tensor) -> Any:
    return self._data.values


@kernel("dense_of")
def _dense(self: Tensor, masked: bool) -> Any:
    return coo.to_dense(to_coo(self._data))


@kernel("sparse_mask_of")
def _masked(self: Tensor, mask: Tensor) -> Any:
    if not is_compressed(mask):
        raise refused("sparse_mask", "SparseCsrCPU")
    x = mask._data
    return x.with_values(coo.values_at(_as_coo(self)._data, to_coo(x).indices))


@kernel("coo_values_at")
def _values_at(self: Tensor, indices: Tensor) -> Any:
    return coo.values_at(to_coo(self._data), indices._data)


# --- making them ----------------------------------------------------------------------------------


def _tensor(value: Any, dtype: Any = None) -> Tensor:
    t = value if isinstance(value, Tensor) else TENSOR.tensor(value)
    return t if dtype is None or t.dtype is dtype else TENSOR.to_dtype(t, dtype)


def _size_of(starts: Tensor, inner: Tensor, by_rows: bool) -> tuple[int, ...]:
    width = int(inner._data.max()) + 1 if inner.numel() else 0
    size = (starts.numel() - 1, width)
    return size if by_rows else size[::-1]


def _compressed_tensor(
    starts: Any, inner: Any, values: Any, size: Any, by_rows: bool, dtype: Any, device: Any,
    grad: bool, checked: Any,
) -> Any:  # fmt: skip
    where = devices.resolve(device)
    if where.type != "cpu":
        raise NotImplementedError(f"sparse tensors on {where}")
    starts, inner, held = _tensor(starts).detach(), _tensor(inner).detach(), _tensor(values, dtype)
    if starts.ndim != 1 or inner.ndim != 1 or held.ndim != 1:
        raise NotImplementedError("sparse compressed tensors: batches, and elements of dimensions")
    shape = _size_of(starts, inner, by_rows) if size is None else ints((tuple(size),))
    if len(shape) != 2:
        raise NotImplementedError(f"sparse compressed tensors of {len(shape)} dimensions")
    if Invariants.on if checked is None else checked:
        kernels.check(CompressedArray(starts._data, inner._data, held._data, shape, by_rows))
    held = held.detach() if grad else held
    return recorded(compressed_of(starts, inner, held, shape, by_rows), grad)


@public
def sparse_csr_tensor(
    crow_indices: Any, col_indices: Any, values: Any, size: Any = None, *, dtype: Any = None,
    layout: Any = None, device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Any:  # fmt: skip
    """A sparse matrix: row i has the elements ``crow_indices[i]`` to ``crow_indices[i + 1]``."""
    return _compressed_tensor(
        crow_indices, col_indices, values, size, True, dtype, device, requires_grad,
        check_invariants,
    )  # fmt: skip


@public
def sparse_csc_tensor(
    ccol_indices: Any, row_indices: Any, values: Any, size: Any = None, *, dtype: Any = None,
    layout: Any = None, device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Any:  # fmt: skip
    """A sparse matrix: column j has the elements ``ccol_indices[j]`` to ``ccol_indices[j + 1]``."""
    return _compressed_tensor(
        ccol_indices, row_indices, values, size, False, dtype, device, requires_grad,
        check_invariants,
    )  # fmt: skip


@public
def sparse_compressed_tensor(
    compressed_indices: Any, plain_indices: Any, values: Any, size: Any = None, *,
    layout: Any = None, dtype: Any = None, device: Any = None, pin_memory: bool = False,
    requires_grad: bool = False, check_invariants: bool | None = None,
) -> Any:  # fmt: skip
    """``sparse_csr_tensor`` or ``sparse_csc_tensor``, as ``layout`` says."""
    if layout not in _BY_ROWS:
        raise NotImplementedError(f"sparse_compressed_tensor: layout {layout}")
    return _compressed_tensor(
        compressed_indices, plain_indices, values, size, _BY_ROWS[layout], dtype, device,
        requires_grad, check_invariants,
    )  # fmt: skip


# --- what can be computed -------------------------------------------------------------------------


def _of_values(name: str) -> Any:
    op = OPS[name]

    def of_values(self: Tensor, *rest: Any) -> Any:
        return self._data.with_values(apply(op.call, self._data.values, *rest))

    return of_values


for _name in {*ZERO_AT_ZERO, "neg"} - {"div_mode", "floor_divide_scalar"}:
    kernel(_name)(_of_values(_name))


@kernel("clone_dense")
def _clone(self: Tensor) -> Any:
    return self._data.copy()


@kernel("cast")
def _cast(self: Tensor, dtype: dtypes.dtype) -> Any:
    return self._data.with_values(in_dtype(self._data.values, dtype))


@kernel("zero")
def _zero(self: Tensor) -> Any:
    x = self._data
    return kernels.empty(x.shape, x.dtype, x.by_rows)


@kernel("t_of")
def _t(self: Tensor) -> Any:
    return self._data.turned()


@kernel("transpose_dims")
def _transpose(self: Tensor, dim0: int, dim1: int) -> Any:
    return self._data if dim0 == dim1 else self._data.turned()


@kernel("select_index")
def _select(self: Tensor, dim: int, index: int) -> Any:
    return coo.selected(to_coo(self._data), dim, index)


@kernel("sum_all")
def _sum(self: Tensor, dtype: Any = None) -> Any:
    return KERNELS["sum_all"](_as_coo(self), dtype)


@kernel("sum_dims")
def _sum_dims(self: Tensor, dim: Any, keepdim: bool, dtype: Any = None) -> Any:
    if not keepdim:
        raise RuntimeError("reduction operations on CSR tensors with keepdim=False is unsupported")
    found = KERNELS["sum_dims"](_as_coo(self), dim, True, dtype)
    return kernels.compressed(found, self._data.by_rows)


@kernel("mul")
def _mul(self: Any, other: Any) -> Any:
    x = self if is_compressed(self) else other
    found = KERNELS["mul"](_as_coo(self), _as_coo(other))
    return kernels.compressed(found, x._data.by_rows)


@kernel("add", "add_scaled")
def _add(self: Any, other: Any, alpha: Any = 1) -> Any:
    if is_compressed(self) and not is_compressed(other):
        if alpha != 1 or not isinstance(other, Tensor) or is_sparse(other):
            raise refused("add.Tensor", "SparseCsrCPU")
        self, other = other, self
    found = KERNELS["add_scaled"](_as_coo(self), _as_coo(other), alpha)
    return kernels.compressed(found, self._data.by_rows) if is_compressed(self) else found


@kernel("mm_primitive", "sparse_sparse_matmul")
def _mm(x: Tensor, y: Tensor) -> Any:
    _check_shapes(x, y)
    found = KERNELS["mm_primitive"](_as_coo(x), _as_coo(y))
    if isinstance(found, np.ndarray):
        return found
    return kernels.compressed(found, (x if is_compressed(x) else y)._data.by_rows)


@kernel("mv_primitive")
def _mv(x: Tensor, v: Tensor) -> Any:
    return KERNELS["mv_primitive"](_as_coo(x), v)


@kernel("addmm_primitive", "sparse_addmm")
def _addmm(b: Tensor, x: Tensor, y: Tensor, beta: Any, alpha: Any) -> Any:
    _check_shapes(x, y)
    if is_compressed(b):
        raise refused("addmm", "SparseCsrCPU")
    return KERNELS["addmm_primitive"](b, _as_coo(x), _as_coo(y), beta, alpha)


def _check_shapes(x: Tensor, y: Tensor) -> None:
    a, b = tuple(x.shape), tuple(y.shape)
    if len(a) == len(b) == 2 and a[1] != b[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({a[0]}x{a[1]} and {b[0]}x{b[1]})"
        )
