"""Calls that a class or a mode takes over: ``__torch_function__``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from functional.modes import MODE
from functional.tape import overrides
from functional.tape.overrides import TorchFunctionMode
from functional.tensor import Parameter, Tensor

__all__ = [
    "BaseTorchFunctionMode",
    "TorchFunctionMode",
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
    "is_tensor_like",
    "resolve_name",
    "wrap_torch_function",
]


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that changes nothing."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def _has_a_say(value: Any) -> bool:
    kind = type(value)
    if kind is Tensor or kind is Parameter or not hasattr(kind, "__torch_function__"):
        return False
    if issubclass(kind, overrides.INNER):
        return False
    return getattr(kind, "__torch_function__", None) is not overrides.disabled


def has_torch_function(relevant_args: Any) -> bool:
    """Whether a mode is on, or the class of an argument overrides ``__torch_function__``."""
    if MODE.functions_off:
        return False
    return overrides.modes_on() or any(_has_a_say(a) for a in relevant_args)


def has_torch_function_variadic(*args: Any) -> bool:
    """``has_torch_function`` of the arguments given."""
    return has_torch_function(args)


def has_torch_function_unary(arg: Any) -> bool:
    """``has_torch_function`` of one argument."""
    return has_torch_function((arg,))


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Any, *args: Any, **kwargs: Any
) -> Any:
    """Let modes and the classes of ``relevant_args`` handle a call of ``public_api``."""
    handled, result = overrides.call(public_api, relevant_args, args, kwargs)
    return result if handled else public_api(*args, **kwargs)


def wrap_torch_function(dispatcher: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function overridable; ``dispatcher`` returns the arguments that have a say."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return wrapped

    return decorate


def is_tensor_like(inp: Any) -> bool:
    """Whether the object is a Tensor or has a ``__torch_function__``."""
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def resolve_name(f: Callable[..., Any]) -> str | None:
    """The name under which a function is known: ``torch.add``, ``torch.Tensor.add``."""
    import torchlike

    name = getattr(f, "__name__", None)
    if name is None:
        return None
    if getattr(torchlike, name, None) is f:
        return f"torch.{name}"
    return f"torch.Tensor.{name}" if getattr(Tensor, name, None) is f else None
