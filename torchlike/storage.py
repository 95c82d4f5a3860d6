"""Storages: the memory that tensors lie in, as bytes or as elements of one type."""

from __future__ import annotations

from typing import Any

from functional import devices, dtypes
from functional.errors import type_name
from functional.ops import resizing
from functional.ops.arguments import ints
from functional.ops.create import as_dtype, recorded
from functional.ops.layouts import need_strided
from functional.tape.operands import no_form
from functional.tensor import Tensor, storage_array, wrap

from . import _typed_storage
from ._storage_classes import CLASSES
from ._storage_classes import _LegacyStorage as _LegacyStorage
from ._typed_storage import TypedStorage
from ._untyped_storage import UntypedStorage, bytes_of, mapped
from .legacy import ARGUMENT

__all__ = ["TypedStorage", "UntypedStorage"]

BY_NAME = {kind.__name__: kind for kind in CLASSES.values()}
globals().update(BY_NAME)
Storage = BY_NAME["FloatStorage"]


def _dtype_to_storage_type_map() -> dict[dtypes.dtype, str]:
    return {dtype: kind.__name__ for dtype, kind in CLASSES.items()}


def untyped_storage(self: Tensor) -> UntypedStorage:
    """The memory the tensor is part of, as bytes."""
    memory = bytes_of(self)
    if memory is None:
        phantom = storage_array(self).phantom
        reach = sum((n - 1) * s for n, s in zip(phantom.shape, phantom.strides, strict=True))
        memory = reach + phantom.itemsize if phantom.size else 0
    return UntypedStorage.over(memory, self)


def typed_storage(self: Tensor) -> TypedStorage:
    """The memory the tensor is part of, as elements of its dtype."""
    _typed_storage.warn()
    return internal_storage(self)


def internal_storage(self: Tensor) -> TypedStorage:
    """The same without a warning."""
    return TypedStorage(wrap_storage=untyped_storage(self), dtype=self.dtype, _internal=True)


def from_file(
    filename: Any,
    shared: bool | None = None,
    size: int = 0,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """A vector of ``size`` elements over a file; what is written goes there if ``shared``.

    RuntimeError where the file cannot be opened, or is too short and not shared.
    """
    if shared is not None and not isinstance(shared, bool):
        raise TypeError(f"from_file(): argument 'shared' must be bool, not {type_name(shared)}")
    need_strided(layout, "from_file")
    if devices.resolve(device).type != "cpu":
        raise NotImplementedError("from_file: only on the CPU")
    kind = (as_dtype(dtype, "from_file") or dtypes.get_default_dtype()).array
    memory = mapped(filename, bool(shared), size * kind.itemsize)
    return recorded(wrap(memory.view(kind)), requires_grad)


# --- Tensor.set_ ----------------------------------------------------------------------------------

_FORMS = """ * ()
 * (torch.Storage source)
 * (torch.Storage source, int storage_offset, tuple of ints size, tuple of ints stride = None)
 * (Tensor source)
 * (Tensor source, int storage_offset, tuple of ints size, tuple of ints stride = None)
"""
_OTHER_DEVICE = (
    'Attempted to set the storage of a tensor on device "{}" to a storage on different device '
    '"{}".  This is no longer allowed; the devices must match.'
)


def set_(self: Tensor, *args: Any, **named: Any) -> Tensor:
    """Give the tensor the memory of another tensor or of a storage, or none.

    With ``storage_offset``, ``size`` and ``stride`` (in elements) it becomes that part of the
    memory, which grows where it must. RuntimeError for another dtype or device.
    """
    names = ("source", "storage_offset", "size", "stride")
    given = dict(zip(names, args, strict=False)) | named
    source, offset, size = (given.get(name) for name in names[:3])
    if not given:
        resizing.set_over(self, resizing.flat_memory(self)[:0].copy(), (0,), None, 0)
        return self
    if len(args) > 4 or not given.keys() <= set(names) or not _fits(source, offset, size, given):
        raise TypeError(f"{no_form('set_', args, named)}\n{_FORMS}")
    _check_source(self, source)
    if isinstance(source, Tensor):
        _set_to_tensor(self, source, given)
    else:
        _set_to_storage(self, getattr(source, "_untyped_storage", source), given)
    return self


def _fits(source: Any, offset: Any, size: Any, given: Any) -> bool:
    if not isinstance(source, (Tensor, UntypedStorage, TypedStorage)):
        return False
    if given.keys() == {"source"}:
        return True
    return type(offset) is int and isinstance(size, (tuple, list))


def _check_source(self: Tensor, source: Any) -> None:
    if isinstance(source, Tensor) and source.dtype is not self.dtype:
        raise RuntimeError(
            f"Could not set tensor of type {dtypes.c_name(source.dtype)} to a tensor of type "
            f"{dtypes.c_name(self.dtype)}"
        )
    if isinstance(source, TypedStorage) and source.dtype is not self.dtype:
        source._elements_for(self.dtype, dtypes.c_name(self.dtype), ARGUMENT)
    where = getattr(source, "_untyped_storage", source).device
    if where != self.device:
        raise RuntimeError(_OTHER_DEVICE.format(self.device, where))


def _set_to_tensor(self: Tensor, source: Tensor, given: dict[str, Any]) -> None:
    memory = resizing.flat_memory(source)
    if "size" not in given:
        place = tuple(source.shape), source.stride(), source.storage_offset()
        resizing.set_over(self, memory, *place, source)
        return
    if not source.is_contiguous():
        raise RuntimeError("passed in tensor to be used as storage must be contiguous")
    size, stride, offset = _place(given)
    need = resizing.check_geometry(self, size, stride, offset)
    if not source.is_meta:
        memory = resizing.reached(memory, memory.dtype, need)
    resizing.set_over(self, memory, size, stride, offset, source)


def _set_to_storage(self: Tensor, storage: UntypedStorage, given: dict[str, Any]) -> None:
    kind, memory = self._data.dtype, storage._memory
    size, stride, offset = _place(given)
    if size is None:
        size = (storage.nbytes() // kind.itemsize,)
    need = resizing.check_geometry(self, size, stride, offset)
    if isinstance(memory, int):
        memory = resizing.flat_memory(self)
    else:
        grown = resizing.reached(memory, kind, need)
        if grown.nbytes > memory.nbytes:
            storage._memory = grown.view(memory.dtype)
        memory = grown
    resizing.set_over(self, memory, size, stride, offset)


def _place(given: dict[str, Any]) -> Any:
    size, stride = (
        None if given.get(name) is None else ints((given[name],)) for name in ("size", "stride")
    )
    return size, stride, given.get("storage_offset", 0)
