"""Wrappers of the listed functions that no mode sees, in place while autocast is on in any thread.

They are functions that are built of other operations: ``F.mse_loss``, ``F.linear``. Outside of
regions every module of ours has the functions themselves, which therefore cost what they always do.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from functional.modes import MODE
from functional.tape.op import TENSOR
from functional.tensor import Tensor

from .. import intercept, loading
from ._lists import POLICIES

Function = Callable[..., Any]
_wrappers: dict[Function, Function] = {}  # by function
_functions: dict[Function, Function] = {}  # by wrapper
# where functions are: (members of a module, name, function, wrapper), and methods of Tensor
_places: list[tuple[dict[str, Any], str, Function, Function]] = []
_methods: list[tuple[str, Function, Function]] = []
_lock = threading.RLock()  # modules are loaded, and seen, while it is held
_active = 0


def enter(beneath: Any) -> None:
    """Autocast is on in one thread more; ``beneath`` handles calls in threads where it is."""
    global _active
    with _lock:
        _active += 1
        if _active > 1:
            return
        if not _wrappers:
            _gather(beneath)
        for members, name, function, wrapper in _places:
            if members.get(name) is function:
                members[name] = wrapper
        for name, function, wrapper in _methods:
            if vars(Tensor).get(name) is function:
                setattr(Tensor, name, wrapper)


def leave() -> None:
    """Autocast is on in one thread less."""
    global _active
    with _lock:
        _active -= 1
        if _active:
            return
        for members, name, function, wrapper in _places:
            if members.get(name) is wrapper:  # nobody else has replaced it
                members[name] = function
        for name, function, wrapper in _methods:
            if vars(Tensor).get(name) is wrapper:
                setattr(Tensor, name, function)


def _wrapped(function: Function, beneath: Any) -> Function:
    @functools.wraps(function)
    def wrapper(*args: Any, **named: Any) -> Any:
        stack = MODE.functions
        if stack and stack[0] is beneath:
            handled, result = beneath.handle(function, args, named)
            if handled:
                return result
        return function(*args, **named)

    return wrapper


def _is_composite(f: Any) -> bool:
    """Whether no mode is offered a call of the function; single operations are, off their path."""
    return type(f) is FunctionType and not hasattr(f, "op") and not intercept.is_wrapper(f)


def _gather(beneath: Any) -> None:
    """Make the wrappers, and find where their functions are."""
    from .. import linalg  # noqa: F401 - it is to wrap the functions, not their wrappers
    from ..nn import functional as F

    def wrap(found: Any) -> bool:
        if _is_composite(found) and found not in _wrappers:
            _wrappers[found] = wrapper = _wrapped(found, beneath)
            _functions[wrapper] = found
        return type(found) is FunctionType and found in _wrappers

    for name in {name for names in POLICIES.values() for name in names}:
        wrap(vars(F).get(name))
        wrap(vars(TENSOR).get(name))
        inner, method = vars(TENSOR).get("linalg_" + name), vars(Tensor).get(name)
        if wrap(inner):
            _places.append((vars(TENSOR), "linalg_" + name, inner, _wrappers[inner]))
        if wrap(method):
            _methods.append((name, method, _wrappers[method]))
    loading.watch(_find)


def _find(module: ModuleType) -> None:
    """Note where a module of ours has the functions, or wrappers, if it is loaded in a region."""
    if module.__name__ == __name__:
        return
    with _lock:
        members = vars(module)
        for name, value in list(members.items()):
            if type(value) is FunctionType and (value in _wrappers or value in _functions):
                function = _functions.get(value, value)
                _places.append((members, name, function, _wrappers[function]))
                if _active:
                    members[name] = _wrappers[function]
