"""A tensor gets other memory, or another place in its memory: ``resize_``, ``set_`` and kin."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy import ndarray

from ..kernels.layout import dense_strides
from ..kernels.meta import MetaArray, contiguous_strides, empty
from ..kernels.shapes import extent
from ..modes import MODE
from ..tape.foreign import library, strided
from ..tape.node import Node, new_node
from ..tape.op import TENSOR, public
from ..tape.views import bump, check_in_place, edge_of, requires_grad
from ..tensor import (
    NO_EDGE,
    ODD,
    Place,
    Shared,
    Tensor,
    address,
    base_of,
    is_inference,
    storage_array,
)
from .arguments import ints, need_tensor
from .memory_formats import order_of, suggested_format
from .too_large import check_bytes, check_numel, no_memory


def byte_strides(
    shape: tuple[int, ...], strides: tuple[int, ...] | None, item: int
) -> tuple[int, ...]:
    """Strides in bytes; those of a contiguous tensor where ``strides`` is None."""
    if strides is None:
        return contiguous_strides(shape, item)
    return tuple(s * item for s in strides)


# --- geometry over memory -------------------------------------------------------------------------


def reached(memory: Any, dtype: Any, need: int) -> Any:
    """Flat ``memory`` as elements of a dtype, grown (in a copy) until it has ``need`` of them."""
    if memory.dtype != dtype:
        memory = memory[: memory.nbytes // dtype.itemsize * dtype.itemsize].view(dtype)
    if need <= memory.size:
        return memory
    try:
        grown = library(memory).empty(need, dtype)
    except MemoryError:
        raise no_memory(need * dtype.itemsize) from None
    grown[: memory.size] = memory
    return grown


def put_over(t: Tensor, memory: Any, shape: Any, strides: Any, offset: int) -> None:
    """Give ``t`` a geometry (strides and offset in bytes) over flat memory of its dtype."""
    data = _array_over(memory, shape, strides, offset)
    inference = is_inference(t)
    t._data = data
    if type(data) is MetaArray:
        t._place = Place(inference=True) if inference else ODD
        return
    whole = data.size == memory.size and data.flags.c_contiguous
    if not whole or inference or type(data) is not ndarray:
        t._place = Shared(memory, inference)
    else:
        t._place = None


def _array_over(memory: Any, shape: Any, strides: Any, offset: int) -> Any:
    if type(memory) is MetaArray:
        return empty(shape, memory.dtype, strides)
    if 0 in shape and isinstance(memory, ndarray):
        if strides == contiguous_strides(shape, memory.itemsize) and max(shape) < 1 << 40:
            return memory[:0].reshape(shape)
        return np.ndarray(shape, memory.dtype, None, 0, strides)
    return strided(memory, shape, strides, offset)


def flat_memory(t: Tensor) -> Any:
    """All the memory that a tensor is part of, as a flat array of its dtype."""
    storage, kind = storage_array(t), t._data.dtype
    if type(storage) is MetaArray:
        return storage
    if storage.ndim != 1 or not storage.flags.c_contiguous:
        storage = strided(storage, (extent(storage),), (storage.itemsize,))
    return storage if storage.dtype == kind else reached(storage, kind, 0)


# --- resize_ --------------------------------------------------------------------------------------


def resize_(self: Tensor, *sizes: Any, memory_format: Any = None) -> Tensor:
    """Another shape over the same memory, which grows if it must; new elements are not set.

    Grown memory is new: tensors that shared the old keep it. With a ``memory_format`` the
    dimensions lie in memory in its order.
    """
    shape = ints(sizes)
    if requires_grad(self) and not MODE.inference:
        raise RuntimeError("cannot resize variables that require grad")
    format_name = str(memory_format)
    if format_name == "torch.preserve_format":
        raise RuntimeError("Unsupported memory formatPreserve")
    order = order_of(memory_format, len(shape))
    check_numel(shape)
    item = self._data.dtype.itemsize
    if shape == self._data.shape and order is None:
        return self
    check_bytes(shape, item)
    strides = contiguous_strides(shape, item)
    if order is not None:
        strides = dense_strides(shape, order, item)
    changed = shape != self._data.shape
    resized(self, shape, strides)
    if changed:
        bump(self)
    return self


TENSOR.resize_ = resize_  # for out=


def resized(self: Tensor, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
    """Give ``self`` another geometry (strides in bytes) in its memory, or in more memory."""
    memory, kind = flat_memory(self), self._data.dtype
    if type(memory) is MetaArray:
        put_over(self, memory, shape, strides, 0)
        return
    offset = self.storage_offset()
    need = offset + math.prod(shape) if math.prod(shape) else 0
    grown = reached(memory, kind, need)
    offset *= kind.itemsize
    if grown is memory and base_of(self) is not None:
        self._data = _array_over(memory, shape, strides, offset)  # it stays a view
    else:
        put_over(self, grown, shape, strides, offset)


@public
def resize_as_(self: Tensor, other: Tensor, *, memory_format: Any = None) -> Tensor:
    """``resize_`` to the shape of ``other``; in its memory format if that is to be preserved."""
    if str(memory_format) == "torch.preserve_format":
        memory_format = suggested_format(getattr(other._data, "phantom", other._data))
    return resize_(self, tuple(other.shape), memory_format=memory_format)


# --- set_ -----------------------------------------------------------------------------------------


class NotDerived(Node):
    """The history of a tensor that has been given other memory."""

    __slots__ = ()

    def apply(self, F: Any, g: Any, raw: bool) -> Any:
        raise RuntimeError("derivative for set_ is not implemented")


NotDerived.__name__ = NotDerived.__qualname__ = "NotImplemented"


def set_over(
    self: Tensor, memory: Any, shape: Any, strides: Any, offset: int, source: Tensor | None = None
) -> None:
    """Give ``self`` this geometry (in elements) over ``memory``: flat, or another tensor's array.

    Where gradients are recorded, the history of ``self`` ends in an error.
    """
    edge = NO_EDGE if source is None else edge_of(source)
    recording = MODE.grad and (requires_grad(self) or edge is not NO_EDGE)
    check_in_place(self, recording)
    old = edge_of(self)
    item = self._data.dtype.itemsize
    put_over(self, memory, shape, byte_strides(shape, strides, item), offset * item)
    if recording:
        node = new_node(NotDerived, (old, edge), None, self._data.shape, self._data.dtype)
        self._edge = (node, 0)
    bump(self)


@public
def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Whether both are the same elements of the same memory in the same order."""
    need_tensor(tensor, "is_set_to.tensor.1")
    if self.is_meta or tensor.is_meta:
        raise NotImplementedError("aten::is_set_to: not available for meta tensors")
    same = self.shape == tensor.shape and self.stride() == tensor.stride()
    if not same or self.storage_offset() != tensor.storage_offset():
        return False
    own, other = storage_array(self), storage_array(tensor)
    if own.size and other.size:
        return address(own) == address(other)
    return own is other or _ends(own) == _ends(other)


def _ends(x: Any) -> Any:
    """The array that an empty one was made of."""
    while isinstance(x, ndarray) and isinstance(x.base, ndarray):
        x = x.base
    return id(x)


def check_geometry(
    self: Tensor, shape: tuple[int, ...], strides: tuple[int, ...] | None, offset: int
) -> int:
    """PyTorch's errors for a geometry, in elements; how many elements of memory it needs."""
    if strides is not None and len(shape) != len(strides):
        raise RuntimeError(f"unequal size length ({len(shape)}) and stride length ({len(strides)})")
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    check_numel(shape)
    item = self._data.dtype.itemsize
    check_bytes(shape, item, strides)
    if 0 in shape:
        return 0
    if strides is None:
        return offset + math.prod(shape)
    return offset + 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
