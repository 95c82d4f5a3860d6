"""Reads pickles of trusted checkpoints: PyTorch's names are looked up here."""

from __future__ import annotations

import importlib
from typing import Any

from functional import dtypes

from . import storage


def find_class(module: str, name: str) -> Any:
    """What PyTorch has under that name, of this library; ImportError or AttributeError if none."""
    own = "torchlike" + module[len("torch") :]
    if module == "torch" and name in dtypes.NAMES:
        return dtypes.NAMES[name]
    if name in storage.BY_NAME:
        return storage.BY_NAME[name]
    if module == "torch._C" and name in ("_VariableFunctionsClass", "_VariableFunctions"):
        return importlib.import_module("torchlike")
    if module == "torch._C" and name == "TensorBase":
        return importlib.import_module("torchlike").Tensor
    found: Any = importlib.import_module(own)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def read_all(module: Any, file: Any, find: Any, options: dict[str, Any]) -> Any:
    """Read one pickle with the Unpickler of ``module``; everything it names may run."""

    class Unpickler(module.Unpickler):
        def find_class(self, name: str, wanted: str) -> Any:
            if name == "torch" or name.startswith("torch."):
                return find_class(name, wanted)
            return super().find_class(name, wanted)

        def persistent_load(self, pid: Any) -> Any:
            return find(pid)

    return Unpickler(file, **options).load()
