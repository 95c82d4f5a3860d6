"""Kernel modules run a second time, with CuPy where they import NumPy.

A kernel that is added for NumPy is a kernel for CuPy too, as long as it asks for nothing that CuPy
lacks; the tests run every operation on a stand-in for CuPy that refuses what CuPy refuses.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import importlib.util
import sys
from types import ModuleType
from typing import Any

import cupy

from . import names

PACKAGE = __name__.rsplit(".", 2)[0]  # functional.kernels
# they hold no arrays, or serve both libraries
SHARED = ("memory", "meta", "transfer")
REPLACED = ("scipy_part", "scratch", "threads")  # whose twin is the module on_NAME alone
_FOUND: dict[str, ModuleType] = {}


def twin(name: str) -> ModuleType:
    """The CuPy twin of the kernel module ``name``."""
    found = _FOUND.get(name)
    if found is None:
        if name in SHARED:
            found = importlib.import_module(f"{PACKAGE}.{name}")
        elif name in REPLACED:
            found = importlib.import_module(f"{__package__}.on_{name}")
        else:
            return _run(name)
        _FOUND[name] = found
    return found


def _run(name: str) -> ModuleType:
    """Execute the source of a kernel module with this module's imports."""
    spec = importlib.util.find_spec(f"{PACKAGE}.{name}")
    assert spec is not None and spec.loader is not None
    module = _FOUND[name] = ModuleType(f"{__package__}.{name}", spec.loader.__doc__)
    module.__package__, module.__file__ = PACKAGE, spec.origin
    module.__dict__["__builtins__"] = {**vars(builtins), "__import__": _import}
    sys.modules[module.__name__] = module  # dataclasses look their module up
    code = spec.loader.get_code(spec.name)  # type: ignore[attr-defined]
    exec(code, module.__dict__)
    own = f"{__package__}.on_{name}"
    if importlib.util.find_spec(own) is not None:
        replaced = importlib.import_module(own)
        module.__dict__.update({n: getattr(replaced, n) for n in replaced.__all__})
    return module


class _Siblings:
    """What ``from . import NAME`` takes its names from."""

    def __getattr__(self, name: str) -> ModuleType:
        return twin(name)


def _import(
    name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
) -> Any:
    """``__import__`` inside a twin: NumPy is CuPy, and its siblings are twins too."""
    if level == 1:
        return twin(name) if name else _Siblings()
    if level == 0 and name.split(".")[0] == "numpy":
        found: Any = names
        for part in name.split(".")[1:] if fromlist else ():
            found = getattr(found, part)
        return found
    if level == 0 and name.split(".")[0] == "scipy":
        raise ImportError(f"{name} takes NumPy's arrays only")
    if level == 0 and name == "functools":
        return _FUNCTOOLS
    return builtins.__import__(name, globals, locals, fromlist, level)


def _per_device(function: Any = None, maxsize: int | None = 128) -> Any:
    """``lru_cache`` for functions that give arrays: every GPU has its own."""
    if function is None:
        return lambda f: _per_device(f, maxsize)
    remembered = functools.lru_cache(maxsize)(lambda device, *args, **kw: function(*args, **kw))

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return remembered(cupy.cuda.get_device_id(), *args, **kwargs)

    return call


class _Functools:
    """``functools`` with caches that ask for the current GPU."""

    lru_cache = cache = staticmethod(_per_device)

    def __getattr__(self, name: str) -> Any:
        return getattr(functools, name)


_FUNCTOOLS = _Functools()
