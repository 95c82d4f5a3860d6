"""Checkpoints: ``save`` and ``load`` of PyTorch's ``.pt`` files."""

from __future__ import annotations

import io
import os
import pickle
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy import ndarray

from ._archive import ALIGNMENT, Reader, Writer
from ._full_unpickler import read_all
from ._locations import (
    Loaded,
    default_restore_location,
    location_tag,
    register_package,
    restorer,
)
from ._pickler import dump
from ._safe_globals import Allowed, marked
from ._safe_globals import _get_layout as _get_layout
from ._weights_only_unpickler import Unpickler, globals_of

__all__ = [
    "SourceChangeWarning",
    "add_safe_globals",
    "check_module_version_greater_or_equal",
    "clear_safe_globals",
    "default_restore_location",
    "get_safe_globals",
    "get_unsafe_globals_in_checkpoint",
    "load",
    "location_tag",
    "register_package",
    "safe_globals",
    "save",
]

DEFAULT_PROTOCOL = 2
_UNSAFE = (
    "In PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` "
    "from `False` to `True`. Re-running `torch.load` with `weights_only` set to `False` will "
    "likely succeed, but it can result in arbitrary code execution. Do it only if you got the file "
    "from a trusted source."
)
_DOCS = (
    "\n\nCheck the documentation of torch.load to learn more about types accepted by default with "
    "weights_only https://pytorch.org/docs/stable/generated/torch.load.html."
)


class SourceChangeWarning(Warning):
    """The source of a pickled class is not what it was; kept for programs that silence it."""


def check_module_version_greater_or_equal(
    module: Any, req_version_tuple: tuple[Any, ...], error_if_malformed: bool = True
) -> bool:
    """Whether a module's ``__version__`` is at least the tuple, compared with its types.

    RuntimeError, or a warning and True, where the version does not look like the tuple.
    """
    try:
        parts = module.__version__.split(".")
        have = tuple(type(want)(part) for want, part in zip(req_version_tuple, parts, strict=False))
        if len(have) < len(req_version_tuple):
            raise IndexError
        return have >= req_version_tuple
    except Exception as error:
        text = (
            f"'{module.__name__}' module version string is malformed '{module.__version__}' and "
            f"cannot be compared with tuple {req_version_tuple!s}"
        )
        if error_if_malformed:
            raise RuntimeError(text) from error
        warnings.warn(
            f"{text}, but continuing assuming that requirement is met", UserWarning, stacklevel=2
        )
    return True


# --- what is declared safe ------------------------------------------------------------------------


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Let ``load(weights_only=True)`` make use of these classes and functions."""
    marked.extend(item for item in safe_globals if item not in marked)


def get_safe_globals() -> list[Any]:
    """What ``add_safe_globals`` has added."""
    return list(marked)


def clear_safe_globals() -> None:
    """Take back what ``add_safe_globals`` has added."""
    marked.clear()


class safe_globals:
    """``add_safe_globals`` for the length of a block."""

    def __init__(self, safe_globals: list[Any]) -> None:
        self.safe_globals = safe_globals

    def __enter__(self) -> None:
        add_safe_globals(self.safe_globals)

    def __exit__(self, *exc: object) -> None:
        marked[:] = [item for item in marked if item not in self.safe_globals]


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """The classes and functions a checkpoint names that ``weights_only=True`` refuses."""
    with _opened(f) as file:
        if not _is_archive(file):
            raise ValueError("Expected input to be a checkpoint returned by torch.save")
        names = globals_of(Reader(file).read("data.pkl"))
    allowed = Allowed()
    return sorted(name for name in names if allowed.find(name) is None)


# --- saving ---------------------------------------------------------------------------------------


def save(
    obj: Any,
    f: Any,
    pickle_module: Any = pickle,
    pickle_protocol: int = DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Write an object to a path or to something with a ``write``, as PyTorch does.

    A file is written under another name and put in place when it is complete, so that a failure
    leaves what was there. Raises AttributeError for what cannot be written to.
    """
    if not _is_path(f) and not hasattr(f, "write"):
        raise AttributeError(
            "expected 'f' to be string, path, or a file-like object with a 'write' attribute"
        )
    if not _use_new_zipfile_serialization:
        from ._old_checkpoints import save_old

        with _writable(f) as file:
            save_old(obj, file, pickle_module, pickle_protocol)
        return
    data = io.BytesIO()
    storages = dump(obj, data, pickle_module, pickle_protocol)
    byteorder = not _disable_byteorder_record
    name = _archive_name(os.path.realpath(os.fspath(f))) if _is_path(f) else "archive"
    with _writable(f) as file:
        _write(Writer(file, name), data, storages.records, byteorder)


def _write(writer: Writer, data: io.BytesIO, records: dict[str, ndarray], byteorder: bool) -> None:
    writer.record("data.pkl", data.getbuffer())
    writer.record(".format_version", b"1")
    writer.record(".storage_alignment", str(ALIGNMENT).encode())
    if byteorder:
        writer.record("byteorder", sys.byteorder.encode())
    for key, memory in records.items():
        writer.record(f"data/{key}", memory)
    writer.record("version", b"3\n")
    writer.record(".data/serialization_id", writer.serialization_id())
    writer.close()


def _archive_name(path: Any) -> str:
    name = os.fsdecode(os.path.basename(path))
    stem, dot, _ = name.rpartition(".")
    name = stem if dot else name
    return name if name.isascii() and name.strip(".") else "archive"


@contextmanager
def _writable(f: Any) -> Iterator[Any]:
    """A file to write to: what takes the place of a path, or ``f`` itself, flushed at the end."""
    if _is_path(f):
        with _replacing(os.path.realpath(os.fspath(f))) as file:
            yield file
        return
    yield f
    if hasattr(f, "flush"):
        f.flush()


@contextmanager
def _replacing(path: Any) -> Iterator[Any]:
    """A file that takes the place of ``path`` once the block has ended well."""
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise RuntimeError(f"Parent directory {os.fsdecode(folder)} does not exist.")
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:  # a device or a pipe; a folder raises here
            yield file
        return
    number, own = tempfile.mkstemp(b".part" if isinstance(path, bytes) else ".part", dir=folder)
    try:
        with os.fdopen(number, "wb") as file:
            yield file
        os.chmod(own, _mode(path))
        os.replace(own, path)
    except BaseException:
        os.unlink(own)
        raise


def _mode(path: Any) -> int:
    """The permissions a new file would have, or those of the file that is replaced."""
    if os.path.exists(path):
        return os.stat(path).st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


# --- loading --------------------------------------------------------------------------------------


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Read what ``save``, of this library or of PyTorch, has written.

    ``map_location`` is a device, its name, a dict from one to the other, or a function of a
    storage and its device. With ``weights_only`` (the default) nothing is run but what makes
    tensors and plain containers: pickle.UnpicklingError names anything else. ``mmap`` leaves
    tensors on disk until they are read. Raises RuntimeError for damaged files.
    """
    if weights_only is None:
        weights_only = pickle_module is None
    if weights_only and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    if weights_only and pickle_load_args:
        warnings.warn("pickle_load_args only works if `weights_only=False`.", stacklevel=2)
    options = {"encoding": "utf-8", **pickle_load_args}
    with _opened(f) as file:
        read = _reader(weights_only, pickle_module or pickle, options)
        if _is_archive(file):
            return _load(file, f, restorer(map_location), read, bool(mmap))
        if mmap:
            raise RuntimeError(
                "mmap can only be used with files saved with `torch.save(_use_new_zipfile_"
                f"serialization=True), please torch.save {f} with this option in order to use mmap."
            )
        from ._old_checkpoints import load_old

        return load_old(file, restorer(map_location), read)


def _reader(weights_only: bool, module: Any, options: dict[str, Any]) -> Callable[..., Any]:
    """A function that reads one pickle from a file, given how storages are found."""
    if not weights_only:
        return lambda file, find: read_all(module, file, find, options)

    def read(file: Any, find: Any) -> Any:
        try:
            return Unpickler(file, encoding=options["encoding"], persistent_load=find).load()
        except pickle.UnpicklingError as error:
            raise pickle.UnpicklingError(_explained(str(error))) from None

    return read


def _load(file: Any, f: Any, restore: Any, read: Any, mmap: bool) -> Any:
    archive = Reader(file)
    if "constants.pkl" in archive:
        raise RuntimeError(
            "this file is a TorchScript archive, which torchlike does not read: save a state_dict"
        )
    order = archive.read("byteorder") if "byteorder" in archive else b"little"
    if order not in (b"little", b"big"):
        raise ValueError(f"Unknown endianness type: {order!r}")
    memory = _mapped(f) if mmap else None

    def fetch(key: str) -> ndarray:
        if memory is None:
            return archive.array(f"data/{key}")
        start, size = archive.place(f"data/{key}")
        part = memory[start : start + size]
        return part if start % 16 == 0 else part.copy()

    loaded = Loaded(fetch, restore, swap=order.decode() != sys.byteorder)
    return read(io.BytesIO(archive.read("data.pkl")), loaded.find)


def _mapped(f: Any) -> ndarray:
    if not _is_path(f):
        raise ValueError("f must be a file path in order to use the mmap argument")
    return np.asarray(np.memmap(os.fspath(f), np.uint8, "c"))


def _explained(message: str) -> str:
    """PyTorch's advice around the reason why a file was refused."""
    if re.search(r"GLOBAL (\S+) was not an allowed global by default.", message):
        return (
            "Weights only load failed. This file can still be loaded, to do so you have two "
            "options, \033[1mdo those steps only if you trust the source of the checkpoint\033[0m."
            f" \n\t(1) {_UNSAFE}\n\t(2) Alternatively, to load with `weights_only=True` please "
            "check the recommended steps in the following error message.\n\tWeightsUnpickler "
            f"error: {message}{_DOCS}"
        )
    ask = (
        ""
        if "is blocked" in message
        else (
            "Please file an issue with the following so that we can make `weights_only=True` "
            "compatible with your use case: WeightsUnpickler error: "
        )
    )
    return f"Weights only load failed. {_UNSAFE}\n{ask}\n\n{message}{_DOCS}"


# --- files ----------------------------------------------------------------------------------------


def _is_path(f: Any) -> bool:
    return isinstance(f, (str, os.PathLike))


@contextmanager
def _opened(f: Any) -> Iterator[Any]:
    if _is_path(f):
        with open(f, "rb") as file:
            yield file
        return
    try:
        f.seek(f.tell())
    except (io.UnsupportedOperation, AttributeError) as error:
        raise type(error)(
            f"{error}. You can only torch.load from a file that is seekable. Please pre-load the "
            "data into a buffer like io.BytesIO and try to load from it instead."
        ) from None
    yield f


def _is_archive(file: Any) -> bool:
    """Whether the file goes on with the first record of a zip archive."""
    start = file.tell()
    found = file.read(4) == b"PK\3\4"
    file.seek(start)
    return found
