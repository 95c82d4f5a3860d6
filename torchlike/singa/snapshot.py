"""Parameters in a file, one after the other."""

from __future__ import annotations

import os
import zipfile
from typing import Any

import numpy as np

from .tensor import Tensor, from_numpy, to_numpy


class Snapshot:
    """A file of named Tensors: ``mode`` True to write it, False to read it.

    The file is NumPy's npz, with ".npz" added to the name ``f`` if it has no such ending. Each
    ``write`` leaves a whole file behind; ``buffer_size`` is not used.
    """

    def __init__(self, f: str, mode: bool, buffer_size: int = 10) -> None:
        self.path = f if f.endswith(".npz") else f"{f}.npz"
        self.mode = bool(mode)
        if self.mode:
            zipfile.ZipFile(self.path, "w").close()
        elif not os.path.isfile(self.path):
            raise FileNotFoundError(f"no snapshot {self.path}")

    def write(self, param_name: str, param_val: Tensor) -> None:
        """Add a Tensor; ValueError for a name that is there, and of a snapshot that is read."""
        if not self.mode:
            raise ValueError(f"{self.path} was opened to read: give mode True to write")
        if not isinstance(param_val, Tensor):
            raise TypeError(f"write takes a Tensor, not {type(param_val).__name__}")
        member = f"{param_name}.npy"
        with zipfile.ZipFile(self.path, "a") as archive:
            if member in archive.namelist():
                raise ValueError(f"{self.path} has a {param_name!r} already")
            with archive.open(member, "w") as file:
                np.lib.format.write_array(file, to_numpy(param_val), allow_pickle=False)

    def read(self) -> dict[str, Any]:
        """All Tensors by name, in the order in which they were written."""
        with np.load(self.path, allow_pickle=False) as stored:
            return {name: from_numpy(stored[name]) for name in stored.files}
