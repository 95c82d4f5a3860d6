"""Checkpoints of PyTorch before 1.6: pickles one after the other, then the storages' bytes."""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np

from ._archive import _fill
from ._locations import Restore, dtype_of, text
from ._pickler import Pointer, Storages, dump
from ._utils import checked_at_the_end
from .storage import TypedStorage, UntypedStorage

_MAGIC, _PROTOCOL = 0x1950A86A20F9469CFC6C, 1001


class _Storages:
    """Storages whose bytes are still to come; never more than the file can hold."""

    def __init__(self, room: int, restore: Restore) -> None:
        self.room, self.restore = room, restore
        self.memory: dict[str, np.ndarray] = {}
        self.items: dict[str, int] = {}
        self.made: dict[str, TypedStorage] = {}

    def find(self, pid: Any) -> Any:
        """The storage that a reference of the old format means."""
        kind = text(pid[0]) if isinstance(pid, tuple) and pid else None
        if kind == "module":
            return pid[1]
        if kind != "storage" or len(pid) != 6:
            raise RuntimeError(f"Unknown saved id type: {kind}")
        _, cls, key, location, numel, view = pid
        key, dtype = str(text(key)), dtype_of(cls)
        if key not in self.made:
            self._make(key, dtype, text(location), numel)
        whole = self.made[key]
        if view is None:
            return whole
        name, offset, size = view
        if name not in self.made:
            first, last = offset * dtype.itemsize, (offset + size) * dtype.itemsize
            part = whole.untyped()[first:last]
            self.made[name] = TypedStorage(wrap_storage=part, dtype=dtype, _internal=True)
        return self.made[name]

    def _make(self, key: str, dtype: Any, location: str, numel: Any) -> None:
        if type(numel) is not int or numel < 0 or numel * dtype.itemsize > self.room:
            raise RuntimeError("the checkpoint speaks of more elements than the file can hold")
        self.room -= numel * dtype.itemsize
        self.memory[key] = np.zeros(numel * dtype.itemsize, np.uint8)
        self.items[key] = dtype.itemsize // (2 if dtype.is_complex else 1)
        storage = self.restore(UntypedStorage.over(self.memory[key]), location)
        self.made[key] = TypedStorage(wrap_storage=storage, dtype=dtype, _internal=True)

    def fill(self, file: Any, keys: Any, swap: bool) -> None:
        """Read the bytes of the storages ``keys``, each behind its number of elements."""
        for key in map(text, keys):
            if key not in self.memory:
                raise RuntimeError(f"storage {key!r} has data, but no tensor")
            count = int.from_bytes(file.read(8), "big" if swap else "little")
            data = self.memory[key]
            if count * self.items[key] not in (data.size, data.size // 2):
                raise RuntimeError(f"storage {key!r} has another size than its data")
            _fill(file, data, key)
            if swap and self.items[key] > 1:
                data.view(f"u{self.items[key]}").byteswap(inplace=True)


class OldStorages(Storages):
    """The memory that a pickle of the old format refers to."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: dict[str, int] = {}

    def pointer(self, memory: Any, dtype: Any) -> Pointer:
        """The reference, which says last that it means no part of another storage."""
        found = super().pointer(memory, dtype)
        self.counts[found.pid[2]] = found.pid[4]
        return Pointer(*found.pid, None)


def save_old(value: Any, file: Any, module: Any, protocol: int) -> None:
    """Write the old format: four pickles, the names of the storages, then their bytes."""
    little = sys.byteorder == "little"
    sizes = {"short": 2, "int": 4, "long": 4}
    system = {"protocol_version": _PROTOCOL, "little_endian": little, "type_sizes": sizes}
    for part in (_MAGIC, _PROTOCOL, system):
        module.dump(part, file, protocol=protocol)
    storages = dump(value, file, module, protocol, OldStorages())
    keys = sorted(storages.records)
    module.dump(keys, file, protocol=protocol)
    file.flush()
    for key in keys:
        file.write(storages.counts[key].to_bytes(8, sys.byteorder))
        file.write(storages.records[key].tobytes())


def _refuse(pid: Any) -> Any:
    raise RuntimeError("a reference to a storage where none can be; corrupt file?")


def load_old(file: Any, restore: Restore, read: Any) -> Any:
    """Read a file of the old format; RuntimeError for other files."""
    start = file.tell()
    room = file.seek(0, os.SEEK_END) - start
    file.seek(start + 257)
    is_tar = file.read(5) == b"ustar"
    file.seek(start)
    if not room:
        raise EOFError("Ran out of input")
    if is_tar:
        raise RuntimeError("torchlike does not read the .tar checkpoints of PyTorch before 0.1.10")
    if read(file, _refuse) != _MAGIC:
        raise RuntimeError("Invalid magic number; corrupt file?")
    if read(file, _refuse) != _PROTOCOL:
        raise RuntimeError("Invalid protocol version")
    system = read(file, _refuse)
    storages = _Storages(room, restore)
    with checked_at_the_end():
        result = read(file, storages.find)
        _fill_storages(file, read, storages, system)
    return result


def _fill_storages(file: Any, read: Any, storages: _Storages, system: Any) -> None:
    if isinstance(system, dict):  # what Python 2 wrote may come as bytes
        system = {text(k): v for k, v in system.items()}
    swap = isinstance(system, dict) and system.get("little_endian") is not (
        sys.byteorder == "little"
    )
    storages.fill(file, read(file, _refuse), swap)
