"""Lets ``__torch_function__`` see calls of the public functions as the program wrote them.

Functions that are built of others get a wrapper in the torch namespace that looks at the types of
its arguments; those that are one operation look themselves, off their fast path. Tensor's methods
are only replaced when the first class or mode appears that wants to see them, so that programs
without one pay nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from functional.modes import MODE
from functional.tape import overrides
from functional.tensor import Parameter, Tensor

from .keywords import FIRST, parameters, renamed

Function = Callable[..., Any]
_PLAIN = {Tensor, Parameter, int, float, bool, str, type(None)}
_LISTS = (list, tuple)
_wrappers: dict[Any, Function] = {}

# operators whose calls have names of their own
_OPERATORS = """__getitem__ __setitem__ __rsub__ __rtruediv__ __rpow__ __rmatmul__ __rfloordiv__
__rmod__ __invert__ __pos__""".split()


def relevant(args: Any, named: Any) -> list[Any]:
    """The arguments whose class may have a say, also those inside lists."""
    return [a for a in _flat((*args, *named.values())) if hasattr(type(a), "__torch_function__")]


def _flat(values: Any) -> Iterator[Any]:
    for a in values:
        kind = type(a)
        if kind is tuple or kind is list:
            yield from (x for x in a if type(x) not in _PLAIN)
        elif kind not in _PLAIN:
            yield a


def intercepted(function: Function, name: str | None = None) -> Function:
    """``function``, offered to modes and to the classes of its arguments first."""
    if function in _wrappers:
        return _wrappers[function]

    own = set(parameters(function)) if hasattr(function, "__code__") else set()

    @functools.wraps(function)
    def wrapper(*args: Any, **named: Any) -> Any:
        for a in args:
            kind = type(a)
            if kind not in _PLAIN and not (kind in _LISTS and _PLAIN.issuperset(map(type, a))):
                break
        else:  # the common case
            if not MODE.functions and (not named or _PLAIN.issuperset(map(type, named.values()))):
                if not named.keys() <= own:
                    args, named = renamed(function, args, named)
                return function(*args, **named)
        found = relevant(args, named)
        if found or MODE.functions:
            handled, result = overrides.call(wrapper, found, args, named)
            if handled:
                return result
        args, named = renamed(function, args, named)
        return function(*args, **named)

    wrapper.__name__ = name or function.__name__
    _wrappers[function] = _wrappers[wrapper] = wrapper
    return wrapper


def is_wrapper(function: Function) -> bool:
    """Whether the function offers its calls to modes and classes."""
    return _wrappers.get(function) is function


def public(function: Function) -> Function:
    """What stands in the torch namespace for a function of the core."""
    is_closure = hasattr(function, "op") and function.__name__ not in FIRST
    return function if is_closure else intercepted(function)


def watch(attached: dict[str, Function]) -> None:
    """Replace ``attached``, Tensor's methods, once a class or mode wants to see them."""
    done: list[bool] = []

    def arm() -> None:
        if done:
            return
        done.append(True)
        for name, function in attached.items():
            if not hasattr(function, "op"):
                setattr(Tensor, name, intercepted(function))
        for name in _OPERATORS:
            setattr(Tensor, name, intercepted(getattr(Tensor, name), name))

    def made(cls: type) -> None:
        own = any("__torch_function__" in vars(base) for base in cls.__mro__ if base is not Tensor)
        ours = cls.__module__.partition(".")[0] in ("torchlike", "functional")
        if not ours and (own or not issubclass(cls, Parameter)):
            arm()

    Tensor.subclass_made.append(made)
    overrides.mode_entered.append(arm)
