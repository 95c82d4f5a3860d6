"""Storages as bytes."""

from __future__ import annotations

import copy
import os
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy import ndarray

from functional import devices
from functional.errors import type_name
from functional.kernels.meta import MetaArray
from functional.kernels.shapes import extent
from functional.tape import foreign
from functional.tape.foreign import strided
from functional.tape.operands import no_form
from functional.tensor import Tensor, address, device_of, storage_array, wrap

_ONE_STEP = "Trying to slice with a step of {}, but only a step of 1 is supported"


def bytes_of(t: Tensor) -> Any:
    """The memory a tensor is part of as a uint8 array over the same memory; None on ``meta``."""
    memory = storage_array(t)
    if type(memory) is MetaArray:
        return None
    if memory.size and not memory.flags.c_contiguous:
        memory = strided(memory, (extent(memory),), (memory.itemsize,))
    return memory.reshape(-1).view(np.uint8)


def mapped(filename: Any, shared: bool, count: int) -> ndarray:
    """So many bytes of a file; written to it where ``shared``, which also makes it long enough.

    RuntimeError where the file cannot be opened, or is too short and not shared.
    """
    path = os.fspath(filename)
    try:
        with open(path, "r+b" if shared else "rb") as file:
            have = os.fstat(file.fileno()).st_size
            if have < count and not shared:
                raise RuntimeError(
                    f"file <{path}> size <{have}> is smaller than the required mapping size "
                    f"<{count}>"
                )
            if have < count:
                file.truncate(count)
    except OSError as error:
        mode = "read-write" if shared else "read-only"
        raise RuntimeError(
            f"unable to open file <{path}> in {mode} mode: {error.strerror} ({error.errno})"
        ) from None
    if not count:
        return np.zeros(0, np.uint8)
    return np.asarray(np.memmap(path, np.uint8, "r+" if shared else "c", shape=(count,)))


def _checked(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise RuntimeError(
            f"can only set storage content with a int types, but got {type_name(value)} instead"
        )
    return int(value) % 256


def _from_sequence(values: Any) -> ndarray:
    found = []
    for value in values:
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            raise RuntimeError(
                "torch.UntypedStorage(): tried to construct a storage from a sequence "
                f"({type_name(values)}), but one of the items was of type {type_name(value)} "
                "instead of int"
            )
        found.append(int(value) % 256)
    return np.array(found, np.uint8)


_FORMS = """
 * (*, int allocator = None, torch.device device = None)
 * (int size, *, int allocator = None, torch.device device = None)
 * (object sequence, *, int allocator = None, torch.device device = None)
"""


class UntypedStorage:
    """Bytes: ``UntypedStorage(n)`` or ``UntypedStorage([1, 2])``, or a tensor's own memory."""

    __module__ = "torchlike.storage"
    _memory: Any  # uint8 array; on meta the number of bytes
    _owner: Any  # the tensor whose memory this is

    def __init__(self, *args: Any, device: Any = None, **named: Any) -> None:
        if len(args) > 1 or named:
            raise TypeError(f"{no_form('torch.UntypedStorage', args, named)}{_FORMS}")
        kind = devices.resolve("cpu" if device is None else device)
        given = args[0] if args else 0
        self._owner = None
        if not isinstance(given, (int, np.integer)):
            self._memory = _from_sequence(given)
        elif kind.type == "meta":
            self._memory = int(given)
        else:
            self._memory = _new_bytes(int(given))
        if kind.type == "meta" and not isinstance(self._memory, int):
            self._memory = self._memory.size
        if kind.type == "cuda":
            self._memory = foreign.place(self._memory, kind)

    @classmethod
    def over(cls, memory: Any, owner: Any = None) -> UntypedStorage:
        """The storage over a uint8 array, or of so many bytes on ``meta``."""
        made = object.__new__(cls)
        made._memory, made._owner = memory, owner
        return made

    @classmethod
    def from_buffer(cls, *args: Any, **named: Any) -> UntypedStorage:
        """A copy of a buffer's bytes, as elements of ``dtype`` that lie in ``byte_order``."""
        from ._buffers import copied

        dtype = named.pop("dtype", None)
        if dtype is None:
            raise RuntimeError("argument 'dtype' cannot be None")
        return cls.over(copied(dtype, *args, **named))

    @classmethod
    def from_file(cls, filename: Any, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """The bytes of a file; what is written goes there if ``shared``."""
        return cls.over(mapped(filename, shared, nbytes))

    @property
    def device(self) -> devices.device:
        """Where the bytes are kept."""
        return devices.meta if isinstance(self._memory, int) else device_of(self._memory)

    is_cuda = property(lambda self: self.device.type == "cuda")
    is_hpu = is_sparse = is_sparse_csr = False

    @property
    def filename(self) -> str | None:
        """The file whose bytes these are, if what is written goes there."""
        array = self._memory
        while isinstance(array, ndarray):
            if isinstance(array, np.memmap):
                return str(array.filename) if array.mode == "r+" else None
            array = array.base  # type: ignore[assignment]
        return None

    def nbytes(self) -> int:
        """The number of bytes."""
        return self._memory if isinstance(self._memory, int) else self._memory.size

    size = __len__ = nbytes

    def element_size(self) -> int:
        """One byte."""
        return 1

    def get_device(self) -> int:
        """The index of the device."""
        found = self.device.index
        return -1 if found is None else found

    def data_ptr(self) -> int:
        """The address of the first byte; 0 where there is no memory."""
        return 0 if isinstance(self._memory, int) else address(self._memory)

    _cdata = property(data_ptr)

    def tolist(self) -> list[int]:
        """The bytes as ints."""
        return self._held().tolist()

    def _held(self) -> ndarray:
        if isinstance(self._memory, int):
            raise NotImplementedError("Not available for 'meta' device type")
        return self._memory

    def _place(self, index: Any, past: str) -> Any:
        """An index into the bytes, checked."""
        if isinstance(index, slice):
            step = 1 if index.step is None else index.step
            if step != 1:
                raise RuntimeError(_ONE_STEP.format(step))
            return index
        if isinstance(index, bool) or not hasattr(index, "__index__"):
            raise TypeError(f"can't index a torch.UntypedStorage with {type_name(index)}")
        at, n = index.__index__(), self.nbytes()
        if not -n <= at < n:
            kind = RuntimeError if past == "out of bounds" else IndexError
            raise kind(past.format(at, n))
        return at

    def __getitem__(self, index: Any) -> Any:
        held = self._held()
        found = held[self._place(index, "index {} out of range for storage of size {}")]
        return type(self).over(found) if isinstance(index, slice) else int(found)

    def __setitem__(self, index: Any, value: int) -> None:
        if not isinstance(self._memory, int):
            self._memory[self._place(index, "out of bounds")] = _checked(value)

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, UntypedStorage):
            return NotImplemented
        return self is other or (self.data_ptr() == other.data_ptr() != 0)

    def __hash__(self) -> int:
        return hash((UntypedStorage, self.data_ptr() or id(self)))

    def clone(self) -> UntypedStorage:
        """A copy."""
        held = self._memory
        return type(self).over(held if isinstance(held, int) else held.copy())

    __copy__ = clone

    def __deepcopy__(self, memo: dict[Any, Any]) -> UntypedStorage:
        """A copy, which shares memory with the copies of tensors over the same memory."""
        if not isinstance(self._memory, ndarray):
            return self.clone()
        t = copy.deepcopy(wrap(self._memory), memo)
        return memo.setdefault(id(self), type(self).over(t._data, t))

    def __reduce__(self) -> Any:
        return type(self).over, (self._memory,)

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes()

    def cpu(self) -> UntypedStorage:
        """The storage itself, or a copy of one that lies on a GPU."""
        return self.to("cpu")

    def cuda(self, device: Any = None, non_blocking: bool = False) -> UntypedStorage:
        """A copy on a GPU."""
        return self.to("cuda" if device is None else device)

    def to(self, device: Any, non_blocking: bool = False) -> UntypedStorage:
        """A storage on a device: itself where it is there already."""
        found = devices.resolve(device)
        if found == self.device:
            return self
        if isinstance(self._memory, int):
            raise NotImplementedError("Cannot copy out of meta tensor; no data!")
        if found.type == "meta":
            return type(self).over(self.nbytes())
        return type(self).over(foreign.place(self._memory, found))

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """The name of the class."""
        if dtype is None:
            return "torch.storage.UntypedStorage"
        raise NotImplementedError("UntypedStorage.type with a dtype: see TypedStorage")

    def copy_(self, source: Any, non_blocking: bool = False) -> UntypedStorage:
        """Take over the bytes of another storage of the same size."""
        source = getattr(source, "_untyped_storage", source)
        if self.nbytes() != source.nbytes():
            raise RuntimeError(
                f"size does not match, self was {self.nbytes()} bytes but src was "
                f"{source.nbytes()} bytes"
            )
        if not isinstance(self._memory, int):
            self._memory[...] = source.to(self.device)._held()
        return self

    def fill_(self, value: int) -> UntypedStorage:
        """Set every byte."""
        self[:] = value
        return self

    def resize_(self, size: int) -> UntypedStorage:
        """Another number of bytes, in new memory; not for the memory of a tensor."""
        if isinstance(self._memory, int):
            self._memory = size
        elif size != self.nbytes():
            if self._owner is not None:
                raise NotImplementedError(
                    "resize_ of the storage of a tensor: resize the tensor instead"
                )
            grown, count = _new_bytes(size), min(size, self.nbytes())
            grown[:count] = self._memory[:count]
            self._memory = grown
        return self

    def resizable(self) -> bool:
        """Whether the size may change."""
        return self.filename is None

    def is_shared(self) -> bool:
        """Whether other processes see what is written."""
        return self.filename is not None

    def is_pinned(self, device: Any = "cuda") -> bool:
        """Whether the memory is pinned; it never is."""
        return False

    def untyped(self) -> UntypedStorage:
        """The storage itself."""
        return self

    def byteswap(self, dtype: Any) -> None:
        """Turn round the bytes of every element of ``dtype``, or of both parts of one."""
        item = dtype.itemsize // (2 if dtype.is_complex else 1)
        if item > 1:
            self._held().view(f"u{item}").byteswap(inplace=True)

    def _elements_for(self, dtype: Any, *names: str) -> ndarray:
        """The memory as elements, for ``torch.tensor`` and the legacy constructors."""
        kind = np.dtype(np.int64) if dtype is None else dtype.array
        held = self._held()
        return held[: held.size // kind.itemsize * kind.itemsize].view(kind)

    def __repr__(self) -> str:
        held = self._memory
        lines = "..." if isinstance(held, int) else "\n".join(f" {x}" for x in held.tolist())
        kind = f"[torch.storage.UntypedStorage(device={self.device}) of size {len(self)}]"
        return f"{lines}\n{kind}"


def _new_bytes(size: int) -> ndarray:
    if size < 0:
        raise RuntimeError(
            "[enforce fail at alloc_cpu.cpp:98] ((ptrdiff_t)nbytes) >= 0. alloc_cpu() seems to "
            f"have been called with negative number: {size % (sys.maxsize * 2 + 2)}"
        )
    return np.zeros(size, np.uint8)


def _caster(name: str) -> Any:
    def cast(self: UntypedStorage) -> Any:
        from . import _typed_storage, uint8

        whole = _typed_storage.TypedStorage(wrap_storage=self, dtype=uint8, _internal=True)
        return getattr(whole, name)()

    cast.__name__ = name
    cast.__doc__ = "The bytes as numbers of that type."
    return cast


CASTS = {
    "double": "float64", "float": "float32", "half": "float16", "bfloat16": "bfloat16",
    "long": "int64", "int": "int32", "short": "int16", "char": "int8", "byte": "uint8",
    "bool": "bool", "complex_double": "complex128", "complex_float": "complex64",
}  # fmt: skip
for _name in CASTS:
    setattr(UntypedStorage, _name, _caster(_name))
