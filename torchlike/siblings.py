"""A program's own ``functional.py`` beside ours.

Our core is a package named ``functional``, and a program may have a module of that name. Then the
name means the program's own module wherever the program imports it, and our core wherever
``torchlike`` imports it. What is supported:

* ``functional.py`` or ``functional/`` in the program's directory (or anywhere that
  ``sys.path`` finds it before ours) when ``torchlike`` is imported, when the program has already
  imported it, and when ``python -m torchlike`` starts a program that has one;
* the program cannot import our core by the name ``functional`` then: it is
  ``torchlike._functional``.

Not supported: making such a module importable later (by changing ``sys.path``); and a program's
own ``torchlike.py``, whose name is ours once we are imported. It does us no harm: ``import
torch`` and every import inside our packages go on working.

Without a conflict nothing here does anything, and ``functional`` is imported as usual.
"""

from __future__ import annotations

import builtins
import importlib
import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType
from typing import Any

from .loading import PRIVATE, borrowed, find_elsewhere

CORE = "functional"
_HOME = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), CORE)


def _is_core(spec: Any) -> bool:
    places = getattr(spec, "submodule_search_locations", None) or ()
    return any(os.path.realpath(p) == os.path.realpath(_HOME) for p in places)


def _conflict(path: list[str] | None) -> bool:
    if not os.path.isdir(_HOME):
        return False  # we lie in an archive: nobody's directory
    spec = PathFinder.find_spec(CORE, path)
    # a directory without __init__.py is found as well, but a real package after it wins
    return spec is not None and spec.origin is not None and not _is_core(spec)


def secure() -> None:
    """See to it that ``torchlike`` gets our core; called before its first import of it."""
    present = sys.modules.get(CORE)
    if present is not None and _is_core(present.__spec__):
        return
    if present is None and not _conflict(None):
        return
    if PRIVATE not in sys.modules:
        _load_privately()
    _hook()


def make_room(directory: str) -> None:
    """Free the name ``functional`` if a program in ``directory`` has a module of that name."""
    if CORE in sys.modules and _is_core(sys.modules[CORE].__spec__) and _conflict([directory]):
        _rename()
        _hook()


# --- the core under its private name --------------------------------------------------------------


def _load_privately() -> None:
    start = os.path.join(_HOME, "__init__.py")
    spec = spec_from_file_location(PRIVATE, start, submodule_search_locations=[_HOME])
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[PRIVATE] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[PRIVATE]
        raise
    _bind()


def _rename() -> None:
    """Move the loaded core to its private name."""
    for name in [n for n in sys.modules if n == CORE or n.startswith(CORE + ".")]:
        module = sys.modules.pop(name)
        new = _private(name)
        sys.modules[new] = module
        module.__name__ = new
        spec = module.__spec__
        if spec is not None:
            spec.name = new
            module.__package__ = spec.parent
            if hasattr(spec.loader, "name"):
                spec.loader.name = new  # loaders refuse to work under another name
    _bind()


def _private(name: str) -> str:
    return PRIVATE + name[len(CORE) :]


def _bind() -> None:
    parent = sys.modules.get("torchlike")
    if parent is not None:
        parent._functional = sys.modules[PRIVATE]  # type: ignore[attr-defined]


# --- who imports ----------------------------------------------------------------------------------


def _hook() -> None:
    """From now on, what ``functional`` means depends on who imports it.

    ``sys.modules`` is asked before any finder, and a finder is not told who asks. So it has to be
    the ``import`` statement itself; it costs a function call per import, only in programs with
    such a conflict.
    """
    original = builtins.__import__
    if getattr(original, "for_torchlike", False):
        return

    def import_(
        name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
    ) -> ModuleType:
        if level == 0 and globals is not None and name.partition(".")[0] == CORE:
            package = globals.get("__package__") or ""
            if package.partition(".")[0] == "torchlike":
                return _import_core(original, _private(name), globals, locals, fromlist)
        return original(name, globals, locals, fromlist, level)

    import_.for_torchlike = True  # type: ignore[attr-defined]
    builtins.__import__ = import_
    sys.meta_path.insert(0, _SameCore())  # type: ignore[arg-type]


def _import_core(original: Any, name: str, globals: Any, locals: Any, fromlist: Any) -> ModuleType:
    module = original(name, globals, locals, fromlist, 0)
    return module if fromlist else sys.modules[PRIVATE]


class _SameCore:
    """Where the program's ``functional`` turns out to be ours, it is the one we have loaded."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """A spec of the loaded core; None for every other module."""
        if name.partition(".")[0] != CORE:
            return None
        if path is None:
            if not _is_core(find_elsewhere(name, path, target, (_SameCore,))):
                return None
        elif sys.modules.get(CORE) is not sys.modules[PRIVATE]:
            return None
        try:
            return borrowed(name, importlib.import_module(_private(name)))
        except ModuleNotFoundError as error:
            if error.name != _private(name):
                raise
            return None
