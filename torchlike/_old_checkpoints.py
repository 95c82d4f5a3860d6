"""Checkpoints of PyTorch before 1.6: pickles one after the other, then the storages' bytes."""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np

from ._archive import _fill
from ._locations import Restore, dtype_of, text
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
        self.memory[key] = np.empty(numel * dtype.itemsize, np.uint8)
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
    result = read(file, storages.find)
    swap = isinstance(system, dict) and system.get("little_endian") is not (
        sys.byteorder == "little"
    )
    storages.fill(file, read(file, _refuse), swap)
    return result
