"""Copies of a tensor with another written where a view of it would lie."""

from __future__ import annotations

import math
from typing import Any

from ..kernels.layout import kept_strides
from ..modes import MODE
from ..tape.declare import general
from ..tape.op import TENSOR, public
from ..tape.out import out_of
from ..tape.wrappers import Wrapped
from ..tensor import Tensor
from .arguments import one_dim

# --- into a view's place --------------------------------------------------------------------------


def _into_view(name: str, read: Any, statics: tuple[str, ...]) -> Any:
    """``name``: a copy of ``self`` with ``source`` where the view that ``read`` makes lies."""

    def of_self(F: Any, g: Any, *rest: Any) -> Any:
        return getattr(F, f"{name}_at")(g, F.zeros_like(read(F)(g, *rest)), *rest)

    def of_source(F: Any, g: Any, *rest: Any) -> Any:
        return read(F)(g, *rest)

    for rule in (of_self, of_source):
        rule.names = ("F", "g", *statics)  # type: ignore[attr-defined]
    closure = general(
        f"{name}_at",
        of_self,
        of_source,
        inputs=("self", "source"),
        statics=statics,
        node="".join(part.capitalize() for part in name.split("_")) + "Backward0",
        shape=lambda x, *rest: (x.shape, x.dtype, kept_strides(x)),
    )
    closure.op.rewrites = True
    return closure


select_scatter_at = _into_view("select_scatter", lambda F: F.select, ("dim", "index"))
slice_scatter_at = _into_view("slice_scatter", lambda F: F.slice_, ("dim", "start", "end", "step"))
diagonal_scatter_at = _into_view(
    "diagonal_scatter", lambda F: F.diagonal, ("offset", "dim1", "dim2")
)
as_strided_scatter_at = _into_view("as_strided_scatter", lambda F: F.strided_take, ("place",))


def _no_complex(name: str, self: Tensor, src: Tensor) -> None:
    if self.dtype.is_complex and MODE.grad and (self.requires_grad or src.requires_grad):
        raise RuntimeError(
            f"{name} does not support automatic differentiation for outputs with complex dtype."
        )


def _check_source(view: Tensor, src: Tensor) -> None:
    if view.shape != src.shape:
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. src size = "
            f"{list(src.shape)}, slice size = {list(view.shape)}"
        )


def _cast(src: Tensor, self: Tensor) -> Tensor:
    return src if src.dtype is self.dtype else TENSOR.to_dtype(src, self.dtype)


@public
def select_scatter(self: Tensor, src: Tensor, dim: int, index: int, *, out: Any = None) -> Tensor:
    """A copy of ``self`` with ``src`` at ``index`` along ``dim``."""
    if out is not None:
        return out_of(select_scatter, out, self, src, dim, index)
    _no_complex("select_scatter", self, src)
    _check_source(TENSOR.select(self.detach(), dim, index), src)
    at = one_dim(self, dim)
    return select_scatter_at(self, _cast(src, self), at, index % self.shape[at])


@public
def slice_scatter(
    self: Tensor,
    src: Tensor,
    dim: int = 0,
    start: Any = None,
    end: Any = None,
    step: int = 1,
    *,
    out: Any = None,
) -> Tensor:
    """A copy of ``self`` with ``src`` in a slice along ``dim``."""
    if out is not None:
        return out_of(slice_scatter, out, self, src, dim, start, end, step)
    at = one_dim(self, dim)
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    first, last, _ = slice(start, end).indices(self.shape[at])
    last = max(first, last)
    _no_complex("slice_scatter", self, src)
    _check_source(TENSOR.slice_(self.detach(), at, first, last, step), src)
    return slice_scatter_at(self, _cast(src, self), at, first, last, step)


@public
def diagonal_scatter(
    self: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1, *, out: Any = None
) -> Tensor:
    """A copy of ``self`` with ``src`` on a diagonal."""
    if out is not None:
        return out_of(diagonal_scatter, out, self, src, offset, dim1, dim2)
    _check_source(TENSOR.diagonal(self.detach(), offset, dim1, dim2), src)
    dims = one_dim(self, dim1), one_dim(self, dim2)
    return diagonal_scatter_at(self, _cast(src, self), offset, *dims)


@public
def as_strided_scatter(
    self: Tensor,
    src: Tensor,
    size: Any,
    stride: Any,
    storage_offset: Any = None,
    *,
    out: Any = None,
) -> Tensor:
    """A copy of ``self`` with ``src`` where ``as_strided`` with these arguments would lie."""
    if out is not None:
        return out_of(as_strided_scatter, out, self, src, size, stride, storage_offset)
    size, stride = tuple(size), tuple(stride)
    if tuple(src.shape) != size:
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. src size = "
            f"{list(src.shape)}, slice size = {list(size)}"
        )
    offset = self.storage_offset() if storage_offset is None else storage_offset
    place = (tuple(self.shape), tuple(self.stride()), size, stride, offset)
    reach = 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True)) + offset
    if math.prod(size) and reach > self.numel() and not isinstance(self, Wrapped):
        item = self.dtype.itemsize
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and "
            f"itemsize {item} requiring a storage size of {reach * item} are out of bounds for "
            f"storage of size {self.numel() * item}"
        )
    return as_strided_scatter_at(self, _cast(src, self), place)
