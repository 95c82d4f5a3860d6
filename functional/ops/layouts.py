"""Layouts of new tensors: which functions make sparse ones, and PyTorch's errors for the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..kernels import compressed, coo
from ..tape.sparse import is_sparse, refused
from ..tensor import Tensor, wrap


class layout:
    """How the elements of a tensor are kept: ``strided``, or one of the sparse formats."""

    name: str

    def __new__(cls, *args: Any) -> Any:
        raise TypeError("cannot create 'torch.layout' instances")

    def __repr__(self) -> str:
        return f"torch.{self.name}"


def _made(name: str) -> layout:
    one: layout = object.__new__(layout)
    one.name = name
    return one


LAYOUTS = {
    name: _made(name)
    for name in "strided sparse_coo sparse_csr sparse_csc sparse_bsr sparse_bsc jagged "
    "_mkldnn".split()
}
STRIDED, SPARSE_COO = LAYOUTS["strided"], LAYOUTS["sparse_coo"]
COMPRESSED_LAYOUTS = (LAYOUTS["sparse_csr"], LAYOUTS["sparse_csc"])
_TITLES = {
    "sparse_coo": "Sparse", "sparse_csr": "SparseCsr", "sparse_csc": "SparseCsc",
    "sparse_bsr": "SparseBsr", "sparse_bsc": "SparseBsc", "jagged": "Jagged", "_mkldnn": "Mkldnn",
}  # fmt: skip
# The operation that fails where a function is asked for a sparse tensor.
_INNER = {
    "rand": "uniform_", "randn": "normal_", "arange": "arange.start_out", "eye": "eye.m_out",
    "linspace": "linspace.out", "logspace": "logspace.out", "randint": "random_.from",
    "randperm": "randperm.generator_out", "rand_like": "uniform_", "randn_like": "normal_",
    "randint_like": "random_.from", "empty_strided": "empty_strided",
}  # fmt: skip


def is_strided(given: Any, function: str) -> bool:
    """Whether a layout argument asks for an ordinary tensor; TypeError if it is no layout."""
    if given is None or given is STRIDED or given is LAYOUTS["jagged"]:
        return True
    if not isinstance(given, layout):
        raise TypeError(
            f"{function}(): argument 'layout' must be torch.layout, not {type(given).__name__}"
        )
    return False


def need_strided(given: Any, function: str) -> None:
    """PyTorch's error for a layout that a function cannot make."""
    if not is_strided(given, function):
        raise refused(_INNER.get(function, function))


def _zeros(size: tuple[int, ...], array: Any, given: layout, function: str, dims: Any) -> Tensor:
    if given is SPARSE_COO:
        return wrap(coo.empty(size, array, dims))
    if given not in COMPRESSED_LAYOUTS:
        raise NotImplementedError(f"{function}: tensors of layout {given}")
    if len(size) < 2:
        raise RuntimeError(
            f"torch.{function}: Only batched sparse compressed (non-block) tensors are supported, "
            f"but got size {list(size)}"
        )
    if len(size) > 2:
        raise NotImplementedError(f"{function}: batches of layout {given}")
    return wrap(compressed.empty(size, array, given is LAYOUTS["sparse_csr"]))


def layout_of(t: Tensor) -> layout:
    """How the elements of a tensor are kept."""
    data = t._data
    if type(data) is coo.CooArray:
        return SPARSE_COO
    if type(data) is compressed.CompressedArray:
        return COMPRESSED_LAYOUTS[not data.by_rows]
    return STRIDED


def filled_sparse(
    value: Any, size: tuple[int, ...], dtype: Any, given: layout, function: str
) -> Tensor:
    """``zeros`` and ``empty`` of layout ``sparse_coo``; the error of other functions."""
    if function in ("ones", "full"):
        raise RuntimeError("full(...) is not implemented for sparse layout")
    if value is not None and value != 0:
        raise refused("fill_.Scalar")
    array = (dtype or dtypes.get_default_dtype()).array
    return _zeros(size, array, given, function, None)


def like_sparse(value: Any, self: Tensor, dtype: Any, given: Any) -> Tensor:
    """``zeros_like`` and its kin where the tensor or the layout asked for is sparse."""
    kind, shape = dtype or self.dtype, tuple(self.shape)
    if given is not None and is_strided(given, "zeros_like"):
        return wrap(np.full(shape, value or 0, kind.array))
    if value is not None and value != 0:
        raise refused("fill_.Scalar" if is_sparse(self) else "empty_strided")
    dims = self._data.sparse_dim if is_sparse(self) else None
    return _zeros(shape, kind.array, given or layout_of(self), "zeros_like", dims)


def options_text(dtype: Any, given: layout, chosen: bool) -> str:
    """How PyTorch's errors describe what was asked for."""
    suffix = "" if chosen else " (default)"
    return (
        f"TensorOptions(dtype={dtypes.c_name(dtype)}{suffix}, device=cpu, "
        f"layout={_TITLES[given.name]}, requires_grad=false (default), pinned_memory=false, "
        "memory_format=(nullopt))"
    )
