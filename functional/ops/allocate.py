"""Memory laid out as asked: strided creation, resizing, sharing with other libraries' arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import devices, dtypes
from ..kernels import meta
from ..kernels.layout import dense_strides
from ..kernels.shapes import extent
from ..modes import MODE
from ..tape.foreign import filled as filled_on
from ..tape.foreign import library, strided
from ..tape.op import TENSOR, public
from ..tape.views import bump, requires_grad
from ..tensor import Tensor, replace_data, storage_array, wrap
from .arguments import ints
from .create import as_dtype, filled, recorded
from .layouts import need_strided


def _strided(shape: Any, strides: Any, dtype: Any, device: Any, grad: bool) -> Tensor:
    """An uninitialised tensor; ``strides`` in bytes."""
    array = (dtype or dtypes.get_default_dtype()).array
    if devices.resolve(device).type == "meta":
        return recorded(wrap(meta.empty(shape, array, strides)), grad)
    where = devices.resolve(device)
    if where.type == "cuda":
        return recorded(wrap(filled_on(None, shape, array, where, strides)), grad)
    extent = sum(max(n - 1, 0) * s for n, s in zip(shape, strides, strict=True)) + array.itemsize
    memory = np.empty(extent // array.itemsize, array)
    return recorded(wrap(np.ndarray(shape, array, memory, 0, strides)), grad)


@public
def empty_strided(
    size: Any,
    stride: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of these sizes and strides (in elements) whose elements are not set."""
    d = as_dtype(dtype, "empty_strided") or dtypes.get_default_dtype()
    need_strided(layout, "empty_strided")
    shape, steps = ints((size,)), ints((stride,))
    if len(shape) != len(steps):
        raise RuntimeError(
            "dimensionality of sizes "
            f"({len(shape)}) must match dimensionality of strides ({len(steps)})"
        )
    return _strided(shape, tuple(s * d.itemsize for s in steps), d, device, requires_grad)


@public
def empty_permuted(
    size: Any,
    physical_layout: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A dense tensor whose dimensions lie in memory in the order ``physical_layout``."""
    d = as_dtype(dtype, "empty_permuted") or dtypes.get_default_dtype()
    shape, order = ints((size,)), ints((physical_layout,))
    if len(shape) != len(order):
        raise RuntimeError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. "
            f"len(size) = {len(shape)} is not equal to len(physical_layout) = {len(order)}"
        )
    for i, at in enumerate(order):
        if not 0 <= at < len(order):
            raise RuntimeError(
                "Dimension out of range (expected to be between 0 and "
                f"{len(order) - 1}, but got {at} at index {i}).  NB: negative dims not currently "
                "supported; file an issue if you want it."
            )
        if at in order[:i]:
            raise RuntimeError("Duplicate dim not allowed")
    return _strided(shape, dense_strides(shape, list(order), d.itemsize), d, device, requires_grad)


@public
def scalar_tensor(s: Any, *, dtype: Any = None, device: Any = None, **other: Any) -> Tensor:
    """A number as a tensor of the default dtype."""
    return filled(
        s, (), dtype or dtypes.get_default_dtype(), device, bool(other.get("requires_grad"))
    )


def new_empty_strided(self: Tensor, size: Any, stride: Any, **named: Any) -> Tensor:
    """``empty_strided`` with the dtype and device of ``self``."""
    options = {"dtype": self.dtype, "device": self.device} | named
    return empty_strided(size, stride, **options)


# --- resizing -------------------------------------------------------------------------------------


def resize_(self: Tensor, *sizes: Any, memory_format: Any = None) -> Tensor:
    """Another shape over the same memory, which grows if it must; new elements are not set."""
    shape = ints(sizes)
    if requires_grad(self) and MODE.grad:
        raise RuntimeError("cannot resize variables that require grad")
    data, need = self._data, math.prod(shape)
    if type(data) is meta.MetaArray:
        replace_data(self, meta.empty(shape, data.dtype))
        return self
    storage = storage_array(self)
    flat = strided(storage, (extent(storage),), (data.itemsize,))[self.storage_offset() :]
    place = self._place
    if need > flat.size:
        grown = library(data).empty(need, data.dtype)
        grown[: flat.size] = flat
        flat, place = grown, None
    replace_data(self, flat[:need].reshape(shape))
    if place is not None and place.base is not None:
        self._place = place
    bump(self)
    return self


TENSOR.resize_ = resize_  # for out=


@public
def resize_as_(self: Tensor, other: Tensor, *, memory_format: Any = None) -> Tensor:
    """``resize_`` to the shape of ``other``."""
    return resize_(self, tuple(other.shape))


# --- arrays of other libraries --------------------------------------------------------------------


@public
def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: Any = None, requires_grad: Any = None
) -> Tensor:
    """``obj`` as a tensor: with its memory where possible, or always (``copy=True``) a copy."""
    grad = bool(requires_grad)
    if isinstance(obj, Tensor):
        grad = obj.requires_grad if requires_grad is None else grad
        shared = obj if grad else TENSOR.detach(obj) if obj.requires_grad else obj
    elif isinstance(obj, np.ndarray):
        shared = TENSOR.from_numpy(obj)
    elif hasattr(obj, "__dlpack__"):
        shared = from_dlpack(obj)
    else:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        return TENSOR.tensor(obj, dtype=dtype, device=device, requires_grad=grad)
    if dtype is not None and dtype is not shared.dtype:
        if copy is False:
            raise ValueError(
                f"can't alias tensor with dtype '{shared.dtype.legacy}' into dtype "
                f"'{dtype.legacy}'."
            )
        shared, copy = TENSOR.to_dtype(shared, dtype), None
    if copy:
        shared = TENSOR.clone(shared)
    if device is not None:
        shared = TENSOR.to(shared, device) if hasattr(TENSOR, "to") else shared.to(device)
    return shared.requires_grad_() if grad and not shared.requires_grad else shared


@public
def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: Any = None) -> Tensor:
    """A tensor over the memory of an object that speaks DLPack."""
    if isinstance(ext_tensor, Tensor):
        _check_exported(ext_tensor)
        return TENSOR.detach(ext_tensor)
    shared = TENSOR.from_numpy(np.from_dlpack(ext_tensor))
    return TENSOR.clone(shared) if copy else shared


@public
def frombuffer(
    buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """A 1-D tensor over the memory of a Python buffer."""
    array = np.frombuffer(buffer, dtype.array, count, offset)
    return recorded(TENSOR.from_numpy(array), requires_grad)


def _check_exported(t: Tensor) -> None:
    if t.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")


def to_dlpack(self: Tensor, *args: Any, **named: Any) -> Any:
    """The memory as a DLPack capsule."""
    _check_exported(self)
    return self._data.__dlpack__(*args, **named)


def dlpack_device(self: Tensor) -> Any:
    """The DLPack device: (1, 0) on a CPU."""
    return self._data.__dlpack_device__()
