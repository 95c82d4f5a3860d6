"""Storages: the memory that tensors lie in, as bytes or as elements of one type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy import ndarray

from functional import devices, dtypes
from functional.blame import warn_once
from functional.kernels.meta import MetaArray
from functional.kernels.shapes import extent
from functional.tape import foreign
from functional.tape.foreign import strided
from functional.tensor import Tensor, address, device_of, storage_array

__all__ = ["TypedStorage", "UntypedStorage"]


def bytes_of(t: Tensor) -> Any:
    """The memory a tensor is part of as a uint8 array over the same memory; None on ``meta``."""
    memory = storage_array(t)
    if type(memory) is MetaArray:
        return None
    if memory.size and not memory.flags.c_contiguous:
        memory = strided(memory, (extent(memory),), (memory.itemsize,))
    return memory.reshape(-1).view(np.uint8)


class UntypedStorage:
    """Bytes: ``UntypedStorage(n)`` or ``UntypedStorage([1, 2])``, or a tensor's own memory."""

    _memory: Any  # uint8 array; on meta the number of bytes

    def __init__(self, *args: Any, device: Any = None) -> None:
        kind = devices.resolve("cpu" if device is None else device)
        given = args[0] if args else 0
        if kind.type == "meta":
            self._memory = int(given)
        elif isinstance(given, (int, np.integer)):
            self._memory = np.zeros(given, np.uint8)
        else:
            self._memory = np.array(list(given), np.uint8)
        if kind.type == "cuda":
            self._memory = foreign.place(self._memory, kind)

    @classmethod
    def over(cls, memory: Any) -> UntypedStorage:
        """The storage over a uint8 array, or of so many bytes on ``meta``."""
        made = object.__new__(cls)
        made._memory = memory
        return made

    @property
    def device(self) -> devices.device:
        """Where the bytes are kept."""
        return devices.meta if isinstance(self._memory, int) else device_of(self._memory)

    is_cuda = property(lambda self: self.device.type == "cuda")
    is_sparse = False
    filename = None

    def nbytes(self) -> int:
        """The number of bytes."""
        return self._memory if isinstance(self._memory, int) else self._memory.size

    size = __len__ = nbytes

    def element_size(self) -> int:
        """One byte."""
        return 1

    def data_ptr(self) -> int:
        """The address of the first byte; 0 where there is no memory."""
        return 0 if isinstance(self._memory, int) else address(self._memory)

    def tolist(self) -> list[int]:
        """The bytes as ints."""
        return self._held().tolist()

    def _held(self) -> ndarray:
        if isinstance(self._memory, int):
            raise NotImplementedError("Not available for 'meta' device type")
        return self._memory

    def __getitem__(self, index: Any) -> Any:
        found = self._held()[index]
        return type(self).over(found) if isinstance(index, slice) else int(found)

    def __setitem__(self, index: Any, value: int) -> None:
        self._held()[index] = value

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())

    def clone(self) -> UntypedStorage:
        """A copy."""
        return type(self).over(self._held().copy())

    def cpu(self) -> UntypedStorage:
        """The storage itself, or a copy of one that lies on a GPU."""
        return self.to("cpu")

    def cuda(self, device: Any = None, non_blocking: bool = False) -> UntypedStorage:
        """A copy on a GPU."""
        return self.to("cuda" if device is None else device)

    def to(self, device: Any, non_blocking: bool = False) -> UntypedStorage:
        """A storage on a device: itself where it is there already."""
        found = devices.resolve(device)
        held = self._held()
        return type(self).over(held if found == self.device else foreign.place(held, found))

    def copy_(self, source: Any, non_blocking: bool = False) -> UntypedStorage:
        """Take over the bytes of another storage of the same size."""
        given = getattr(source, "_untyped_storage", source).to(self.device)
        self._held()[...] = given._held()
        return self

    def fill_(self, value: int) -> UntypedStorage:
        """Set every byte."""
        self._held()[...] = value
        return self

    def untyped(self) -> UntypedStorage:
        """The storage itself."""
        return self

    def __repr__(self) -> str:
        lines = "" if self.device.type == "meta" else "\n".join(f" {x}" for x in self.tolist())
        kind = f"[torch.storage.UntypedStorage(device={self.device}) of size {len(self)}]"
        return f"{lines}\n{kind}" if lines else kind


class TypedStorage:
    """Elements of one dtype over an UntypedStorage."""

    dtype: dtypes.dtype

    def __init__(
        self,
        *args: Any,
        wrap_storage: UntypedStorage | None = None,
        dtype: Any = None,
        device: Any = None,
        _internal: bool = False,
    ) -> None:
        self.dtype = dtype or getattr(type(self), "dtype", None) or dtypes.get_default_dtype()
        kind = self.dtype.array
        if wrap_storage is None:
            if args and not isinstance(args[0], (int, np.integer)):
                wrap_storage = UntypedStorage.over(np.array(list(args[0]), kind).view(np.uint8))
            else:
                count = int(args[0]) if args else 0
                wrap_storage = UntypedStorage(count * kind.itemsize, device=device)
        self._untyped_storage = wrap_storage

    @property
    def device(self) -> devices.device:
        """Where the elements are kept."""
        return self._untyped_storage.device

    def untyped(self) -> UntypedStorage:
        """The same memory as bytes."""
        return self._untyped_storage

    def nbytes(self) -> int:
        """The number of bytes."""
        return self._untyped_storage.nbytes()

    def element_size(self) -> int:
        """The bytes of an element."""
        return self.dtype.itemsize

    def size(self) -> int:
        """The number of elements."""
        return self.nbytes() // self.dtype.itemsize

    __len__ = size

    def data_ptr(self) -> int:
        """The address of the first element."""
        return self._untyped_storage.data_ptr()

    def _elements(self) -> ndarray:
        return self._untyped_storage._held().view(self.dtype.array)

    def tolist(self) -> list[Any]:
        """The elements as Python numbers."""
        return self._elements().tolist()

    def __getitem__(self, index: Any) -> Any:
        return self._elements()[index].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._elements()[index] = value

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __repr__(self) -> str:
        lines = "\n".join(f" {x}" for x in self.tolist())
        kind = f"[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of size"
        return f"{lines}\n{kind} {len(self)}]"


def _typed_class(dtype: dtypes.dtype) -> type[TypedStorage]:
    names = {"dtype": dtype, "__module__": "torchlike"}
    return type(f"{dtype.legacy}Storage", (TypedStorage,), names)


# PyTorch has no storage classes of the newer unsigned types.
CLASSES = {d: _typed_class(d) for d in dtypes.ALL if not d.legacy.startswith("UInt")}
BY_NAME = {kind.__name__: kind for kind in CLASSES.values()}
globals().update(BY_NAME)


def untyped_storage(self: Tensor) -> UntypedStorage:
    """The memory the tensor is part of, as bytes."""
    memory = bytes_of(self)
    return UntypedStorage.over(storage_array(self).nbytes if memory is None else memory)


def typed_storage(self: Tensor) -> TypedStorage:
    """The memory the tensor is part of, as elements of its dtype."""
    warn_once(
        "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be "
        "the only storage class. This should only matter to you if you are using storages "
        "directly.  To access UntypedStorage directly, use tensor.untyped_storage() instead of "
        "tensor.storage()"
    )
    return TypedStorage(wrap_storage=untyped_storage(self), dtype=self.dtype, _internal=True)
