"""NumPy semantics on and off: ``set_np``, ``reset_np``, ``use_np`` and the scopes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .state import NUMPY


def set_np(shape: bool = True, array: bool = True, dtype: bool = False) -> None:
    """Let Gluon make NumPy-like arrays, and reductions of ``nd`` arrays be 0-d.

    ValueError for arrays without shapes; ``dtype=True`` (float64 defaults) is not supported.
    """
    if dtype:
        raise ValueError("set_np(dtype=True) is not supported: new arrays are float32")
    if array and not shape:
        raise ValueError("NumPy arrays need NumPy shapes: shape=False goes with array=False only")
    NUMPY.shape, NUMPY.array = bool(shape), bool(array)


def reset_np() -> None:
    """Back to the semantics of ``nd``."""
    set_np(shape=False, array=False)


def is_np_array() -> bool:
    """Whether Gluon makes NumPy-like arrays."""
    return NUMPY.array


def is_np_shape() -> bool:
    """Whether results of ``nd`` may have no dimensions."""
    return NUMPY.shape


@contextmanager
def _semantics(shape: bool, array: bool) -> Iterator[None]:
    before = NUMPY.shape, NUMPY.array
    set_np(shape, array)
    try:
        yield
    finally:
        NUMPY.shape, NUMPY.array = before


def np_shape(active: bool = True) -> Any:
    """A context manager: results of ``nd`` may have no dimensions."""
    return _semantics(active, active and NUMPY.array)


def np_array(active: bool = True) -> Any:
    """A context manager: Gluon makes NumPy-like arrays."""
    return _semantics(active or NUMPY.shape, active)


def use_np(target: Any) -> Any:
    """Decorate a function to run with NumPy semantics; a class, for its ``__init__`` and calls."""
    if isinstance(target, type):
        for name in ("__init__", "forward"):
            if name in vars(target):
                setattr(target, name, use_np(vars(target)[name]))
        return target
    return _within(target)


def _within(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapped(*args: Any, **named: Any) -> Any:
        with _semantics(True, True):
            return function(*args, **named)

    return wrapped
