"""What programs reach of the compiler's front end; nothing is compiled here."""

from __future__ import annotations

from typing import Any

from . import config, exc
from .eval_frame import OptimizedModule, disable, list_backends, optimize

__all__ = [
    "OptimizedModule", "allow_in_graph", "assume_constant_result", "config", "disable",
    "disallow_in_graph", "forbid_in_graph", "graph_break", "is_compiling", "list_backends",
    "mark_dynamic", "mark_static", "mark_static_address", "maybe_mark_dynamic", "optimize",
    "reset", "run",
]  # fmt: skip


def is_compiling() -> bool:
    """False."""
    return False


def reset() -> None:
    """Forget what has been compiled: nothing has."""


def graph_break(msg: str = "") -> None:
    """End a graph: there is none."""


def run(fn: Any = None) -> Any:
    """A function as it is."""
    return (lambda f: f) if fn is None else fn


def _need_callable(fn: Any, text: str) -> None:
    if not callable(fn):
        raise AssertionError(text)


def allow_in_graph(fn: Any) -> Any:
    """A function, or a list of functions, as it is."""
    for one in fn if isinstance(fn, (list, tuple)) else (fn,):
        _need_callable(one, "allow_in_graph expects a callable")
    return list(fn) if isinstance(fn, (list, tuple)) else fn


def disallow_in_graph(fn: Any) -> Any:
    """A function, or a list of functions, as it is."""
    return list(fn) if isinstance(fn, (list, tuple)) else fn


def forbid_in_graph(fn: Any) -> Any:
    """A function, or a list of functions, as it is."""
    return disallow_in_graph(fn)


def assume_constant_result(fn: Any) -> Any:
    """A function as it is: it is called every time."""
    fn._dynamo_marked_constant = True
    return fn


def mark_dynamic(t: Any, index: Any, **limits: Any) -> None:
    """Say that a size changes between calls; it makes no difference."""


def maybe_mark_dynamic(t: Any, index: Any) -> None:
    """Say that a size may change between calls; it makes no difference."""


def mark_static(t: Any, index: Any = None) -> None:
    """Say that a size never changes; it makes no difference."""


def mark_static_address(t: Any, guard: bool = False) -> None:
    """Say that a tensor stays where it is; it makes no difference."""
