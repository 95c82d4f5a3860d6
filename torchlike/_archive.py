"""The zip archive of a checkpoint: records stored as they are, at multiples of 64 bytes.

The zip format: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
"""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from typing import Any

import numpy as np
from numpy import ndarray

ALIGNMENT = 64
_MOST32, _MOST16 = 0xFFFFFFFF, 0xFFFF
_FLAGS = 0x800  # names are UTF-8
_LOCAL, _CENTRAL = struct.Struct("<4s5H3L2H"), struct.Struct("<4s6H3L5H2L")
_END64, _LOCATOR64 = struct.Struct("<4sQ2H2L4Q"), struct.Struct("<4sLQL")
_END = struct.Struct("<4s4H2LH")


# --- writing --------------------------------------------------------------------------------------


class Writer:
    """Writes records to anything with a ``write``, one after the other."""

    def __init__(self, file: Any, name: str) -> None:
        self.file, self.name, self.at = file, name, 0
        self.entries: list[tuple[bytes, int, int, int]] = []  # name, crc, size, where

    def _write(self, data: Any) -> None:
        self.file.write(data)
        self.at += len(data)

    def record(self, name: str, data: Any) -> None:
        """Add one record: bytes, or a contiguous uint8 array."""
        data = memoryview(data)
        full, size, crc = f"{self.name}/{name}".encode(), len(data), zlib.crc32(data)
        self.entries.append((full, crc, size, self.at))
        large = size >= _MOST32
        extra = struct.pack("<2H2Q", 1, 16, size, size) if large else b""
        start = self.at + _LOCAL.size + len(full) + len(extra) + 4
        gap = -start % ALIGNMENT
        extra += struct.pack("<2s1H", b"FB", gap) + b"Z" * gap
        held = _MOST32 if large else size
        lengths = (len(full), len(extra))
        head = _LOCAL.pack(
            b"PK\3\4", 45 if large else 0, _FLAGS, 0, 0, 33, crc, held, held, *lengths
        )
        self._write(head + full + extra)
        self._write(data)

    def serialization_id(self) -> bytes:
        """Forty digits that tell contents apart: of the names, then of the data."""
        names = zlib.crc32(b"".join(name for name, *_ in self.entries))
        data = zlib.crc32(b"".join(crc.to_bytes(4, "little") for _, crc, *_ in self.entries))
        return f"{names:020d}{data:020d}".encode()

    def close(self) -> None:
        """Write the directory of records."""
        start = self.at
        for entry in self.entries:
            self._write(_directory_entry(*entry))
        size, count = self.at - start, len(self.entries)
        if count >= _MOST16 or start >= _MOST32:
            end = self.at
            self._write(
                _END64.pack(b"PK\6\6", 44, 45, 45, 0, 0, count, count, size, start)
                + _LOCATOR64.pack(b"PK\6\7", 0, end, 1)
            )
        count, size, start = min(count, _MOST16), min(size, _MOST32), min(start, _MOST32)
        self._write(_END.pack(b"PK\5\6", 0, 0, count, count, size, start, 0))


def _directory_entry(name: bytes, crc: int, size: int, where: int) -> bytes:
    wide = [n for n in (size, size, where) if n >= _MOST32]
    extra = struct.pack(f"<2H{len(wide)}Q", 1, 8 * len(wide), *wide) if wide else b""
    version, held, at = 45 if wide else 0, min(size, _MOST32), min(where, _MOST32)
    lengths = (len(name), len(extra))
    numbers = (version, version, _FLAGS, 0, 0, 33, crc, held, held, *lengths, 0, 0, 0, 0, at)
    return _CENTRAL.pack(b"PK\1\2", *numbers) + name + extra


# --- reading --------------------------------------------------------------------------------------


def broken(what: str) -> RuntimeError:
    """The error for an archive that cannot be read."""
    return RuntimeError(f"PytorchStreamReader failed reading zip archive: {what}")


class Reader:
    """The records of an archive. Nothing is read, or allocated, beyond the size of the file."""

    def __init__(self, file: Any) -> None:
        self.file = file
        self.file_size = file.seek(0, os.SEEK_END)
        file.seek(0)
        try:
            with zipfile.ZipFile(file) as found:
                entries = found.infolist()
        except (zipfile.BadZipFile, EOFError) as error:
            raise broken("failed finding central directory") from error
        except (ValueError, OverflowError, NotImplementedError, struct.error, OSError) as error:
            raise broken("its central directory is damaged") from error
        if not entries:
            raise broken("it holds no records")
        self.name = entries[0].filename.partition("/")[0]
        self.entries = {e.filename: e for e in entries}
        self._check(entries)

    def _check(self, entries: list[zipfile.ZipInfo]) -> None:
        if len(self.entries) != len(entries):
            raise broken("two records have one name")
        for entry in entries:
            if entry.compress_type or entry.flag_bits & 1:
                raise broken(f"record {entry.filename!r} is compressed or encrypted")
        if sum(e.file_size for e in entries) > self.file_size:
            raise broken("its records are larger than the file")

    def __contains__(self, name: str) -> bool:
        return f"{self.name}/{name}" in self.entries

    def place(self, name: str) -> tuple[int, int]:
        """Where a record's data begins in the file, and how many bytes they are."""
        entry = self.entries.get(f"{self.name}/{name}")
        if entry is None:
            raise RuntimeError(f"PytorchStreamReader failed locating file {name}: file not found")
        self.file.seek(entry.header_offset)
        head = self.file.read(_LOCAL.size)
        if len(head) != _LOCAL.size or head[:4] != b"PK\3\4":
            raise broken(f"record {name!r} has no header")
        *_, name_length, extra_length = _LOCAL.unpack(head)
        start = entry.header_offset + _LOCAL.size + name_length + extra_length
        if start + entry.file_size > self.file_size:
            raise broken(f"record {name!r} reaches beyond the file")
        return start, entry.file_size

    def array(self, name: str) -> ndarray:
        """A record as a new uint8 array."""
        start, size = self.place(name)
        data = np.empty(size, np.uint8)
        self.file.seek(start)
        _fill(self.file, data, name)
        if zlib.crc32(data) != self.entries[f"{self.name}/{name}"].CRC:
            raise broken(f"the checksum of record {name!r} is wrong")
        return data

    def read(self, name: str) -> bytes:
        """A record as bytes."""
        return self.array(name).tobytes()


def _fill(file: Any, data: ndarray, name: str) -> None:
    readinto = getattr(file, "readinto", None)
    if readinto is None:
        got = file.read(data.size)
        count = len(got)
        data[:count] = np.frombuffer(got, np.uint8)
    else:
        count, view = 0, memoryview(data)
        while count < data.size:
            more = readinto(view[count:])
            if not more:
                break
            count += more
    if count != data.size:
        raise broken(f"record {name!r} is cut off")
