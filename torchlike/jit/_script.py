"""``script``: what is given runs as it is."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

from ..nn import Module

_OLD = "`torch.jit.{}` is deprecated. Please switch to `torch.compile` or `torch.export`."


class Error(Exception):
    """An error that TorchScript's interpreter raises; nothing here does."""


class ScriptWarning(Warning):
    """What TorchScript warns of."""


def refused(what: str) -> NotImplementedError:
    """The error of what needs a compiled form."""
    return NotImplementedError(
        f"torch.jit.{what} needs TorchScript, which is not there: functions and modules run as "
        "they are"
    )


def deprecated(name: str) -> None:
    """PyTorch's warning about a function's future; called by that function."""
    warnings.warn(_OLD.format(name), DeprecationWarning, stacklevel=3)


class _Compiled:
    """What compiled forms have, and these have not."""

    @property
    def graph(self) -> Any:
        """Refused: there is none."""
        raise refused(f"{type(self).__name__}.graph")

    @property
    def inlined_graph(self) -> Any:
        """Refused: there is none."""
        raise refused(f"{type(self).__name__}.inlined_graph")

    @property
    def code(self) -> Any:
        """Refused: there is none."""
        raise refused(f"{type(self).__name__}.code")

    def save(self, f: Any, **kwargs: Any) -> None:
        """Refused: there is no compiled form to save."""
        raise refused(f"{type(self).__name__}.save")

    def save_to_buffer(self, **kwargs: Any) -> bytes:
        """Refused: there is no compiled form to save."""
        raise refused(f"{type(self).__name__}.save_to_buffer")


class ScriptFunction(_Compiled):
    """A function that has been traced; it calls the original."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.__wrapped__ = function
        self.__name__ = self.name = getattr(function, "__name__", "forward")
        self.__doc__ = function.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__wrapped__(*args, **kwargs)


class ScriptModule(_Compiled, Module):
    """A module whose methods would be compiled; they run as they are."""


class RecursiveScriptModule(ScriptModule):
    """What ``script`` of a module would be."""


class CompilationUnit:
    """Refused: source of TorchScript is not compiled."""

    def __init__(self, lang: Any = None, _frames_up: int = 0) -> None:
        raise refused("CompilationUnit")


def is_scripting() -> bool:
    """False."""
    return False


def script(
    obj: Any,
    optimize: None = None,
    _frames_up: int = 0,
    _rcb: Any = None,
    example_inputs: Any = None,
) -> Any:
    """``obj`` itself: a function, a class or a module, which runs as it is.

    Raises TypeError for anything else.
    """
    if not (isinstance(obj, (Module, ScriptFunction, type)) or inspect.isroutine(obj)):
        raise TypeError(f"{type(obj)} is a built-in class")
    deprecated("script")
    return obj


def script_method(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The method itself."""
    return fn


def script_if_tracing(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself."""
    return fn
