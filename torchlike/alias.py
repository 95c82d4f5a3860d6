"""The names ``torch`` and ``torch.*`` served by this library, and given back again.

While the alias is on, ``torch.nn`` and ``torchlike.nn`` are one module under two names, in
whatever order they are imported, and classes call themselves PyTorch's.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from . import labels, loading

SURFACES = {"torch": "torchlike"}  # the name programs import: the module that serves it
MODES = ("force", "absent", "never")


def _within(name: str, root: str) -> bool:
    return name == root or name.startswith(root + ".")


class _Finder:
    """Answers imports of ``torch.x.y`` with the one module object of ``torchlike.x.y``."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """A spec of our module; None where we have none, or the name is not ours to give."""
        root = name.partition(".")[0]
        if root not in SURFACES:
            return None
        own = SURFACES[root] + name[len(root) :]
        try:
            return loading.borrowed(name, importlib.import_module(own))
        except ModuleNotFoundError as error:
            if error.name is not None and _within(own, error.name):
                return None
            raise

    def find_distributions(self, context: Any = None) -> Iterator[Any]:
        """What ``importlib.metadata`` should know about the distribution ``torch``."""
        wanted = getattr(context, "name", None)
        if wanted is None or wanted.lower() in SURFACES:
            from ._distribution import Torch

            yield Torch()


_FINDER = _Finder()
_set_aside: dict[str, ModuleType] = {}


def is_installed() -> bool:
    """Whether the alias is on."""
    return _FINDER in sys.meta_path


def install(mode: str = "force") -> bool:
    """Serve ``import torch`` from this library; returns whether the alias is on.

    ``mode`` says when: ``force`` always, also where PyTorch is installed or even imported (it is
    set aside, and comes back with ``uninstall``); ``absent`` only where PyTorch is absent;
    ``never`` not at all. Raises ValueError for another mode.
    """
    if mode not in MODES:
        raise ValueError(f"mode must be one of {', '.join(map(repr, MODES))}, not {mode!r}")
    if is_installed() or mode == "never" or (mode == "absent" and _pytorch_is_there()):
        return is_installed()
    for name in [n for n in sys.modules if n.partition(".")[0] in SURFACES]:
        _set_aside[name] = sys.modules.pop(name)
    loading.watch(adopt)
    sys.meta_path.insert(0, _FINDER)  # type: ignore[arg-type]
    labels.switch(labels.PYTORCH)
    return True


def uninstall() -> None:
    """Give the names back: to PyTorch if it was imported before, else to whoever comes."""
    if not is_installed():
        return
    sys.meta_path.remove(_FINDER)  # type: ignore[arg-type]
    loading.after.remove(adopt)
    for name in [n for n in sys.modules if n.partition(".")[0] in SURFACES]:
        del sys.modules[name]
    sys.modules.update(_set_aside)
    _set_aside.clear()
    labels.switch(labels.OWN)


def _pytorch_is_there() -> bool:
    return "torch" in sys.modules or loading.find_elsewhere("torch", None) is not None


def adopt(module: ModuleType) -> None:
    """Enter one of our modules under its other name as well."""
    spec = module.__spec__
    name = module.__name__ if spec is None else spec.name
    for outer, own in SURFACES.items():
        if _within(name, own):
            sys.modules[outer + name[len(own) :]] = module
