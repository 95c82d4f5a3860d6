"""Arrays in a file: NumPy's ``.npz``, whole or not at all."""

from __future__ import annotations

import os
from typing import Any

import numpy as onp

from .array import NDArray, core_tensor, default_kind, wrap

LISTED = "arr_"  # the names of a list's items, followed by their numbers


def write_arrays(path: Any, arrays: dict[str, onp.ndarray]) -> None:
    """Put named arrays into a file, which keeps its old content until all is written."""
    temporary = f"{os.fspath(path)}.{os.getpid()}.part"
    try:
        with open(temporary, "xb") as file:
            onp.savez(file, **arrays)
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def read_arrays(path: Any) -> dict[str, onp.ndarray]:
    """The named arrays of a file; ValueError if it is not one of these."""
    try:
        found = onp.load(os.fspath(path), allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise ValueError(f"{path} is no file of arrays: {error}") from error
    if not isinstance(found, onp.lib.npyio.NpzFile):
        raise ValueError(f"{path} is no file of named arrays")
    with found:
        return dict(found)


def save(fname: Any, data: Any) -> None:
    """Save an array, a list of arrays or a dict of them."""
    data = [data] if isinstance(data, NDArray) else data
    named = data if isinstance(data, dict) else {f"{LISTED}{i}": a for i, a in enumerate(data)}
    for name, array in named.items():
        if not isinstance(array, NDArray):
            raise TypeError(f"{name} is no NDArray, but of type {type(array).__name__}")
    write_arrays(fname, {name: array.asnumpy() for name, array in named.items()})


def load(fname: Any) -> Any:
    """What ``save`` has saved: a dict of arrays, or a list of them."""
    found = read_arrays(fname)
    kind = default_kind()
    arrays = {name: wrap(core_tensor(a), kind) for name, a in found.items()}
    listed = [f"{LISTED}{i}" for i in range(len(arrays))]
    return [arrays[name] for name in listed] if set(listed) == set(arrays) else arrays
