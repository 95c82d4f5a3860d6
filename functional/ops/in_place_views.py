"""Views in place: a tensor that gets another geometry over its memory; and its diagonal filled."""

from __future__ import annotations

from typing import Any

from ..tape.declare import view
from ..tape.op import TENSOR
from ..tape.slow import view_in_place
from ..tensor import Tensor
from .arguments import one_dim
from .too_large import check_numel
from .views import strided_place

_T_OP = view("t_in_place", lambda F, g: F.t(g), kernel="t", node="TBackward1", hidden=True).op
_TRANSPOSE = view(
    "transpose_in_place",
    lambda F, g, dim0, dim1: F.transpose(g, dim0, dim1),
    statics=("dim0", "dim1"),
    kernel="transpose",
    node="TransposeBackward1",
    hidden=True,
).op

_AS_STRIDED = view(
    "as_strided_in_place",
    lambda F, g, place: F.strided_put(g, place),
    statics=("place",),
    kernel="as_strided_at",
    node="AsStridedBackward1",
    hidden=True,
).op


def as_strided_(self: Tensor, size: Any, stride: Any, storage_offset: Any = None) -> Tensor:
    """``as_strided`` in place."""
    check_numel(tuple(size))
    shape, strides, offset = strided_place(self, size, stride, storage_offset)
    own = tuple(self.shape), tuple(self.stride())
    return view_in_place(_AS_STRIDED, self, (*own, shape, strides, offset))


def t_(self: Tensor) -> Tensor:
    """``t`` in place."""
    if self.ndim > 2:
        raise RuntimeError(f"t_() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
    return view_in_place(_T_OP, self)


def transpose_(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """``transpose`` in place."""
    return view_in_place(_TRANSPOSE, self, one_dim(self, dim0), one_dim(self, dim1))


def fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """The main diagonal of all dimensions set to a number, in place.

    ``wrap`` goes on below the square part of a tall matrix, after a row's pause.
    """
    if self.ndim < 2:
        raise RuntimeError("dimensions must larger than 1")
    if self.ndim > 2 and len(set(self.shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    size, step = min(self.shape), sum(self.stride())
    main = TENSOR.as_strided(self, (size,), (step,), self.storage_offset())
    main.fill_(fill_value)
    rows, columns = self.shape[0], self.shape[1]
    if wrap and self.ndim == 2 and rows > columns + 1:
        start = self.storage_offset() + self.stride(0) * (columns + 1)
        left = rows * columns - columns * (columns + 1)
        count = -(-left // (columns + 1))
        TENSOR.as_strided(self, (count,), (step,), start).fill_(fill_value)
    return self


TENSOR.t_, TENSOR.transpose_, TENSOR.as_strided_ = t_, transpose_, as_strided_
