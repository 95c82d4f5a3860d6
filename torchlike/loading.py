"""What happens whenever a module of this library is loaded, and how one module gets two names.

A finder stands first on ``sys.meta_path``. It lets the ordinary finders find our modules, and
tells ``after`` functions when one has been executed (also by ``importlib.reload``), so that
missing names and class names are right in modules that are imported late.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

OURS = ("torchlike", "functional")
PRIVATE = "torchlike._functional"  # the core's name while a program's own module has `functional`
# the name programs import: the module that serves it
SURFACES = {
    "torch": "torchlike",
    "singa": "torchlike.singa",
    "mxnet": "torchlike.mxnet",
    "functorch": "torchlike.functorch",  # comes and goes with torch
}
after: list[Callable[[ModuleType], None]] = []  # called with each module once it is loaded


def within(name: str, root: str) -> bool:
    """Whether a module is ``root`` or lies within it."""
    return name == root or name.startswith(root + ".")


def name_in(surface: str, own: str) -> str | None:
    """What one of our modules is called in a surface; None where it is no part of it."""
    root = SURFACES[surface]
    inner = (r for r in SURFACES.values() if len(r) > len(root))
    if not within(own, root) or any(within(own, r) for r in inner):
        return None
    return surface + own[len(root) :]


def is_ours(name: str) -> bool:
    """Whether this is the full name of one of our modules."""
    return name.partition(".")[0] in OURS


def find_elsewhere(name: str, path: Any, target: Any = None, skip: tuple[Any, ...] = ()) -> Any:
    """What the other finders on ``sys.meta_path`` find."""
    for finder in list(sys.meta_path):
        find = getattr(finder, "find_spec", None)
        if find is None or isinstance(finder, (Watcher, *skip)):
            continue
        spec = find(name, path, target)
        if spec is not None:
            return spec
    return None


class Watcher:
    """Finds our modules through the other finders, and has us told when they are loaded."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The ordinary spec of one of our modules; None for every other name."""
        if path is None or not is_ours(name):
            return None
        spec = find_elsewhere(name, path, target)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            _watch(spec.loader)
        return spec


def _watch(loader: Any) -> None:
    # A finder makes a loader for each module, so the method of this one may be replaced: its
    # class, which inspect and pickle look at, stays what it is.
    execute = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        execute(module)
        for function in after:
            function(module)

    loader.exec_module = exec_module


def loaded_modules() -> list[ModuleType]:
    """Our modules that are in ``sys.modules`` now."""
    found = [m for name, m in list(sys.modules.items()) if is_ours(name)]
    return [m for m in found if isinstance(m, ModuleType)]


class _Borrower:
    """A loader that gives a module that exists already."""

    def __init__(self, module: ModuleType) -> None:
        self.module, self.spec = module, module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec  # the import system has just written the other name's


def borrowed(name: str, module: ModuleType) -> ModuleSpec:
    """The spec by which importing ``name`` gives ``module``."""
    return ModuleSpec(name, _Borrower(module), is_package=hasattr(module, "__path__"))  # type: ignore[arg-type]


def start() -> None:
    """Put the finder in place, once."""
    if not any(isinstance(f, Watcher) for f in sys.meta_path):
        sys.meta_path.insert(0, Watcher())  # type: ignore[arg-type]


def watch(*functions: Callable[[ModuleType], None]) -> None:
    """Call the functions with every module of ours: those loaded now, and the later ones."""
    for function in functions:
        if function not in after:
            after.append(function)
        for module in loaded_modules():
            function(module)
