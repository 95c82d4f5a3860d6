"""The names ``torch`` (with ``functorch``), ``singa`` and ``mxnet``: served, and given back again.

While an alias is on, ``torch.nn`` and ``torchlike.nn`` are one module under two names, in whatever
order they are imported; and while ``torch`` is served, classes call themselves PyTorch's.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from . import labels, loading
from .loading import SURFACES, name_in, within

MODES = ("force", "absent", "never")


class _Finder:
    """Answers imports of ``torch.x.y`` with the one module object of ``torchlike.x.y``."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """A spec of our module; None where we have none, or the name is not ours to give."""
        root = name.partition(".")[0]
        if root not in _served:
            return None
        own = SURFACES[root] + name[len(root) :]
        if name_in(root, own) is None:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        try:
            return loading.borrowed(name, importlib.import_module(own))
        except ModuleNotFoundError as error:
            if error.name is not None and within(own, error.name):
                return None
            raise

    def find_distributions(self, context: Any = None) -> Iterator[Any]:
        """What ``importlib.metadata`` should know about the distribution ``torch``."""
        wanted = getattr(context, "name", None)
        if "torch" in _served and (wanted is None or wanted.lower() == "torch"):
            from ._distribution import Torch

            yield Torch()


_FINDER = _Finder()
_served: list[str] = []
_set_aside: dict[str, ModuleType] = {}


def is_installed(name: str = "torch") -> bool:
    """Whether this name is served."""
    return name in _served


def install(name: str = "torch", mode: str = "force") -> bool:
    """Serve ``import NAME`` (a key of SURFACES) from this library; returns whether it is on.

    ``mode`` says when: ``force`` always, also where the real package is installed or even imported
    (it is set aside, and comes back with ``uninstall``); ``absent`` only where it is absent;
    ``never`` not at all. ``install(mode)`` is short for ``install("torch", mode)``. Raises
    ValueError for another name or mode.
    """
    if name in MODES:
        name, mode = "torch", name
    if mode not in MODES:
        raise ValueError(f"mode must be one of {', '.join(map(repr, MODES))}, not {mode!r}")
    if name not in SURFACES:
        known = ", ".join(map(repr, SURFACES))
        raise ValueError(f"mode must be one of {', '.join(map(repr, MODES))}, or a name that is "
                         f"served, one of {known}; not {name!r}")  # fmt: skip
    if name in _served or mode == "never" or (mode == "absent" and _is_there(name)):
        return name in _served
    for module in [n for n in sys.modules if within(n, name)]:
        _set_aside[module] = sys.modules.pop(module)
    if not _served:
        sys.meta_path.insert(0, _FINDER)  # type: ignore[arg-type]
    _served.append(name)
    loading.watch(adopt)
    if name == "torch":
        labels.switch(labels.PYTORCH)
        install("functorch")
    return True


def uninstall(name: str | None = None) -> None:
    """Give a name back, or all: to the real package if it was imported before, else to whoever."""
    gone = SURFACES if name is None else ("torch", "functorch") if name == "torch" else (name,)
    for served in [n for n in _served if n in gone]:
        _served.remove(served)
        for module in [n for n in sys.modules if within(n, served)]:
            del sys.modules[module]
        for module in [n for n in _set_aside if within(n, served)]:
            sys.modules[module] = _set_aside.pop(module)
        if served == "torch":
            labels.switch(labels.OWN)
        if not _served:
            sys.meta_path.remove(_FINDER)  # type: ignore[arg-type]
            loading.after.remove(adopt)


def _is_there(name: str) -> bool:
    return name in sys.modules or loading.find_elsewhere(name, None) is not None


def adopt(module: ModuleType) -> None:
    """Enter one of our modules under its other name as well."""
    spec = module.__spec__
    own = module.__name__ if spec is None else spec.name
    for surface in _served:
        name = name_in(surface, own)
        if name is not None:
            sys.modules[name] = module
