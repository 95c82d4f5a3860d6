"""Sparse tensors in coordinate format: what makes them, takes them apart, and turns them dense."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import devices, dtypes
from ..kernels import coo
from ..kernels.coo import CooArray
from ..tape.op import TENSOR, public
from ..tape.sparse import declare, is_compressed, is_sparse, not_sparse, refused
from ..tensor import Tensor, wrap
from .arguments import ints, wrong_type
from .create import check_sizes, recorded

# --- parts and the whole --------------------------------------------------------------------------


def _made(indices: Tensor, values: Tensor, size: tuple[int, ...], coalesced: bool) -> CooArray:
    return CooArray(indices._data, values._data, size, coalesced)


def in_places_of(F: Any, like: Any, values: Any) -> Any:
    """A tensor with the places of ``like`` and these elements."""
    x, size = like._data, tuple(like.shape)
    if is_compressed(like):
        return F.compressed_of(wrap(x.starts), wrap(x.inner), values, size, x.by_rows)
    return F.coo_of(wrap(x.indices), values, size, x.coalesced)


def _values_at(self: Tensor, indices: Tensor) -> Any:
    return coo.values_at(self._data, indices._data)


coo_of = declare(
    "coo_of",
    _made,
    None,
    lambda F, g, indices: F.coo_values_at(g, indices),
    inputs=("indices", "values"),
    statics=("size", "is_coalesced"),
    node="SparseCooTensorWithDimsAndTensorsBackward0",
)
coo_values_at = declare(
    "coo_values_at",
    _values_at,
    lambda F, g, indices, self_shape: F.coo_of(indices, g, self_shape, False),
    None,
    inputs=("self", "indices"),
    node="SparseMaskHelperBackward0",
)
values_of = declare(
    "values_of",
    lambda self: self._data.values,
    lambda F, g, self: in_places_of(F, self, g),
    node="ValuesBackward0",
)
coalesced_of = declare(
    "coalesced_of",
    lambda self: coo.coalesce(self._data),
    lambda F, g: g,
    node="CoalesceBackward0",
)


def _dense(self: Tensor, *rest: Any) -> Any:
    return coo.to_dense(self._data)


def _dense_vjp(F: Any, g: Any, self: Any, masked: bool) -> Any:
    """Gradients of zeros that nobody sees are left out, unless ``masked`` is False."""
    if is_compressed(self):
        return F.sparse_mask(g, self)
    if masked:
        return F.sparse_mask(g, F.coalesced_of(self))
    return F.to_sparse(g, self._data.sparse_dim)


dense_of = declare("dense_of", _dense, _dense_vjp, statics=("masked",), node="ToDenseBackward0")
_sparse_of = declare(
    "sparse_of",
    lambda self, dim: coo.from_dense(self._data, dim),
    lambda F, g: F.to_dense(g),
    statics=("sparse_dim",),
    node="ToSparseBackward1",
)
_sparse_of_dims = declare(
    "sparse_of_dims",
    lambda self, dim: coo.from_dense(self._data, dim),
    lambda F, g: F.to_dense(g),
    statics=("sparse_dim",),
    node="ToSparseBackward0",
)


def _masked(self: Tensor, mask: Tensor) -> Any:
    x = mask._data
    return x.with_values(coo.values_at(self._data, x.indices))


def _masked_vjp(F: Any, g: Any, self: Any, mask: Any) -> Any:
    found = F.sparse_mask(g, mask)
    return found if is_sparse(self) else F.to_dense(found)


_mask = declare(
    "sparse_mask_of",
    _masked,
    _masked_vjp,
    None,
    inputs=("self", "mask"),
    node="SparseMaskBackward0",
)


def indices_of(self: Tensor) -> Tensor:
    """The places, in the memory that the tensor itself uses."""
    return wrap(self._data.indices)


# --- methods --------------------------------------------------------------------------------------


def _need_sparse(self: Any, name: str) -> None:
    if not is_sparse(self):
        raise not_sparse(name, self)


@public
def to_dense(self: Tensor, dtype: Any = None, *, masked_grad: bool | None = None) -> Any:
    """The same elements and their zeros in a dense tensor; a dense tensor itself.

    The gradient has the elements that the tensor has, unless ``masked_grad`` is False.
    """
    if type(self._data) not in coo.SPARSE:
        return self if dtype is None else TENSOR.to_dtype(self, dtype)
    if dtype is not None:
        name = "sparse_csr" if is_compressed(self) else "sparse"
        raise RuntimeError(f"dtype argument is not supported by {name}_to_dense")
    return dense_of(self, masked_grad is not False)


@public
def to_sparse(
    self: Tensor, sparse_dim: Any = None, *, layout: Any = None, blocksize: Any = None,
    dense_dim: Any = None,
) -> Any:  # fmt: skip
    """The elements that are not zero, in a sparse tensor of ``sparse_dim`` sparse dimensions.

    The other dimensions are dense: an element is then a tensor. All are sparse if none is named.
    """
    if str(layout) in ("torch.sparse_csr", "torch.sparse_csc") and blocksize is None:
        return getattr(TENSOR, str(layout).replace("torch.", "to_"))(self, dense_dim)
    if str(layout) not in ("None", "torch.sparse_coo") or blocksize is not None:
        raise NotImplementedError(f"to_sparse: layout {layout}")
    if is_compressed(self):
        return TENSOR.coo_of_compressed(self)
    if is_sparse(self):
        if sparse_dim not in (None, self._data.sparse_dim):
            raise RuntimeError(
                "to_sparse: conversion from Sparse to Sparse with sparse_dim argument "
                "!=self.sparse_dim() is not supported"
            )
        return self
    if sparse_dim is None:
        return _sparse_of(self, self.ndim)
    if self.ndim and sparse_dim == 0:
        raise RuntimeError("dense_to_sparse: sparse_dim argument must be in >0 when self.dim()>0")
    if not 0 <= sparse_dim <= self.ndim:
        raise RuntimeError(
            f"dense_to_sparse: sparse_dim argument must be in [0,{self.ndim}] range, but "
            f"{sparse_dim} is given"
        )
    return _sparse_of_dims(self, sparse_dim)


def to_sparse_coo(self: Tensor) -> Tensor:
    """``to_sparse()``."""
    return to_sparse(self)


@public
def coalesce(self: Tensor) -> Any:
    """The same tensor with its places in order, the elements of one place added up."""
    _need_sparse(self, "coalesce")
    return self if self._data.coalesced else coalesced_of(self)


def is_coalesced(self: Tensor) -> bool:
    """Whether places are known to be in order, each once."""
    _need_sparse(self, "is_coalesced")
    return self._data.coalesced


def _need_coalesced(self: Tensor, name: str) -> None:
    if not is_coalesced(self):
        raise RuntimeError(
            f"Cannot get {name} on an uncoalesced tensor, please call .coalesce() first"
        )


def indices(self: Tensor) -> Tensor:
    """The places of the elements, (sparse dimensions, elements); only of coalesced tensors."""
    _need_sparse(self, "indices")
    _need_coalesced(self, "indices")
    return indices_of(self)


def values(self: Tensor) -> Any:
    """The elements, (elements, dense dimensions); only of coalesced tensors."""
    if is_compressed(self):
        return values_of(self)
    if not is_sparse(self):
        raise RuntimeError("values expected sparse tensor layout but got Strided")
    _need_coalesced(self, "values")
    return values_of(self)


def raw_indices(self: Tensor) -> Tensor:
    """``indices()`` of any sparse tensor."""
    if not is_sparse(self):
        raise refused("_indices", "CPU")
    return indices_of(self)


def raw_values(self: Tensor) -> Tensor:
    """``values()`` of any sparse tensor, without history."""
    if not is_sparse(self):
        raise refused("_values", "CPU")
    return wrap(self._data.values)


def nnz(self: Tensor) -> int:
    """How many elements are kept."""
    if type(self._data) not in coo.SPARSE:
        raise refused("_nnz", "CPU")
    return self._data.nnz


def sparse_dim(self: Tensor) -> int:
    """How many dimensions the places have."""
    return self._data.sparse_dim if is_sparse(self) else 2 * is_compressed(self)


def dense_dim(self: Tensor) -> int:
    """How many dimensions an element has."""
    return self._data.dense_dim if is_sparse(self) else self.ndim - 2 * is_compressed(self)


@public
def sparse_mask(self: Tensor, mask: Tensor) -> Any:
    """The elements of ``self`` in the places of the sparse tensor ``mask``."""
    if not isinstance(mask, Tensor):
        raise wrong_type("sparse_mask.mask.1", "Tensor", mask)
    if type(mask._data) not in coo.SPARSE:
        raise refused("sparse_mask", "CPU")
    if self.shape != mask.shape:
        raise RuntimeError(
            f"sparse_mask(): operands have incompatible sizes; self has size {list(self.shape)} "
            f"but mask has size {list(mask.shape)}"
        )
    return _mask(self, mask)


# --- making them ----------------------------------------------------------------------------------


class Invariants:
    """Whether new sparse tensors are checked, where the call does not say."""

    on = False


def _as_tensor(value: Any, dtype: Any = None) -> Tensor:
    if not isinstance(value, Tensor):
        return TENSOR.tensor(value, dtype=dtype)
    return value if dtype is None or value.dtype is dtype else TENSOR.to_dtype(value, dtype)


def _size_of(indices: np.ndarray, values: np.ndarray) -> tuple[int, ...]:
    """The least size that has room for these places."""
    if not indices.size:
        lead: tuple[int, ...] = (0,) * len(indices)
    else:
        lowest = indices.min()
        if lowest < 0:
            at = int(np.argmax(indices.min(1) < 0))
            raise RuntimeError(f"found negative index {lowest} for dim {at}")
        lead = tuple(int(n) + 1 for n in indices.max(1))
    return (*lead, *values.shape[1:])


def check_parts(indices: Tensor, values: Tensor, size: tuple[int, ...]) -> None:
    """PyTorch's errors for parts that do not fit together."""
    n, dense = len(size), values.ndim - 1
    dims = indices.shape[0] if indices.ndim else 0
    if n != dims + dense:
        raise RuntimeError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {n}, sparse_dim "
            f"= {dims}, dense_dim = {dense}"
        )
    if indices.ndim != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(indices.shape)}")
    if indices.shape[1] != values.shape[0]:
        raise RuntimeError(
            "indices and values must have same nnz, but got nnz from indices: "
            f"{indices.shape[1]}, nnz from values: {values.shape[0]}"
        )
    if tuple(values.shape[1:]) != tuple(size[dims:]):
        raise RuntimeError(
            f"values has incorrect size, expected {[values.shape[0], *size[dims:]]}, got "
            f"{list(values.shape)}"
        )


def check_places(x: CooArray, coalesced: Any) -> None:
    """PyTorch's errors for places that are not in the tensor, or not in order as promised."""
    flat = coo.places(x.indices, x.shape)
    if coalesced and np.any(flat[1:] <= flat[:-1]):
        raise RuntimeError(
            "cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor"
        )


def _is_size(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and all(type(n) is int for n in value)


@public
def sparse_coo_tensor(
    indices: Any = None, values: Any = None, size: Any = None, *, dtype: Any = None,
    device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
    check_invariants: bool | None = None, is_coalesced: bool | None = None,
) -> Any:  # fmt: skip
    """A sparse tensor of ``values`` in the places ``indices``: (sparse dimensions, elements).

    Values may be tensors themselves, of the last dimensions of ``size``, which is as small as
    possible where it is not given. Values of one place add up. With a size alone, nothing is set.
    """
    where = devices.resolve(device)
    if where.type != "cpu":
        raise NotImplementedError(f"sparse_coo_tensor: sparse tensors on {where}")
    if values is None:
        given = size if indices is None else indices
        if not _is_size(given):
            raise TypeError(
                "sparse_coo_tensor(): argument 'size' (position 1) must be tuple of ints, not "
                f"{type(given).__name__}"
            )
        kind = dtype or dtypes.get_default_dtype()
        return recorded(wrap(coo.empty(ints((given,)), kind.array)), requires_grad)
    if size is not None and not isinstance(size, (tuple, list)):
        names = ", ".join(type(a).__name__ for a in (indices, values, size))
        raise TypeError(
            "sparse_coo_tensor() received an invalid combination of arguments - got "
            f"({names}), but expected one of:"
        )
    at, held = _as_tensor(indices).detach(), _as_tensor(values, dtype)
    at = TENSOR.to_dtype(at, dtypes.int64)
    held = held if held.ndim else TENSOR.reshape(held, (1,))
    if at.ndim != 2 and size is None:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(at.shape)}")
    shape = _size_of(at._data, held._data) if size is None else ints((tuple(size),))
    check_sizes(shape)
    check_parts(at, held, shape)
    if Invariants.on if check_invariants is None else check_invariants:
        check_places(CooArray(at._data, held._data, shape), is_coalesced)
    if requires_grad:
        held = held.detach()
    return recorded(coo_of(at, held, shape, bool(is_coalesced)), requires_grad)
