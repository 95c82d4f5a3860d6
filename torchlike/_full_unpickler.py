"""Reads pickles of trusted checkpoints: PyTorch's names are looked up here."""

from __future__ import annotations

import importlib
from typing import Any

from functional import dtypes
from functional.ops.results import RETURN_TYPES

from . import storage


class _Functions:
    """What has PyTorch's functions in C as attributes."""

    def __getattr__(self, name: str) -> Any:
        return find_class("torch", name)


def find_class(module: str, name: str) -> Any:
    """What PyTorch has under that name, of this library; AttributeError if there is nothing."""
    if module == "torch" and name in dtypes.NAMES:
        return dtypes.NAMES[name]
    if module == "torch.return_types":  # called with a tuple, and a dict of unnamed parts
        kind = RETURN_TYPES[name]
        return lambda values, unnamed=None: kind(values)
    if name in storage.BY_NAME:
        return storage.BY_NAME[name]
    if module == "torch._C" and name in ("_VariableFunctionsClass", "_VariableFunctions"):
        return _Functions()
    for place, known in _places(module, name):
        try:
            found: Any = importlib.import_module(place)
            for part in known.split("."):
                found = getattr(found, part)
            return found
        except (ModuleNotFoundError, AttributeError):
            continue
    raise AttributeError(f"a checkpoint names {module}.{name}, which torchlike does not provide")


def _places(module: str, name: str) -> list[tuple[str, str]]:
    """Where to look, in order. PyTorch's functions in C have modules that are only its own."""
    own = "torchlike" + module[len("torch") :]
    places = [(own, name)]
    if module == "torch._C":
        places.append(("torchlike", "Tensor" if name == "TensorBase" else name))
    if module.startswith("torch._C._"):
        group = module.rpartition("_")[2]
        places.append((f"torchlike.{group}", name.removeprefix(f"{group}_")))
    if module == "torch" or module.startswith("torch._C"):
        places += [("torchlike.nn.functional", name), ("torchlike", name)]
    return places


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
