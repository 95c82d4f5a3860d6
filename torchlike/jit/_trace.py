"""``trace``: what is given is called once with the examples, and then runs as it is."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from functional.tensor import Tensor

from ..nn import Module
from ._script import ScriptFunction, deprecated


class TracerWarning(Warning):
    """What a trace may get wrong; nothing here does."""


class _State(threading.local):
    on = False


_STATE = _State()


def is_tracing() -> bool:
    """Whether ``trace`` is calling a function right now."""
    return _STATE.on


def _run(function: Callable[..., Any], args: Any, kwargs: Any) -> None:
    before, _STATE.on = _STATE.on, True
    try:
        function(*args, **kwargs)
    finally:
        _STATE.on = before


def trace(
    func: Any,
    example_inputs: Any = None,
    optimize: None = None,
    check_trace: bool = True,
    check_inputs: Any = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    _force_outplace: bool = False,
    _module_class: Any = None,
    _compilation_unit: Any = None,
    example_kwarg_inputs: dict[str, Any] | None = None,
    _store_inputs: bool = True,
) -> Any:
    """Call ``func`` once with the examples. The result does what ``func`` does, as it is.

    That is the module itself for a module, and a ``ScriptFunction`` for a function. Unlike a
    trace it follows what the program decides anew in every call.
    """
    deprecated("trace")
    if not callable(func):
        raise RuntimeError("Could not get name of python class object")
    if example_kwarg_inputs is not None:
        _run(func, (), dict(example_kwarg_inputs))
    else:
        single = isinstance(example_inputs, (Tensor, dict))
        _run(func, (example_inputs,) if single else tuple(example_inputs), {})
    return func if isinstance(func, (Module, ScriptFunction)) else ScriptFunction(func)


def trace_module(
    mod: Any,
    inputs: dict[str, Any],
    optimize: None = None,
    check_trace: bool = True,
    check_inputs: Any = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    _force_outplace: bool = False,
    _module_class: Any = None,
    _compilation_unit: Any = None,
    example_inputs_is_kwarg: bool = False,
    _store_inputs: bool = True,
) -> Any:
    """Call the named methods of a module once with their examples; the module itself."""
    if not isinstance(mod, Module):
        raise AttributeError("expected torch.nn.Module as the first argument")
    if not isinstance(inputs, dict):
        raise AttributeError("expected a dictionary of (method_name, input) pairs")
    for name, example in inputs.items():
        function = mod if name == "forward" else getattr(mod, name)
        if example_inputs_is_kwarg:
            _run(function, (), example)
        else:
            _run(function, (example,) if isinstance(example, Tensor) else tuple(example), {})
    return mod
