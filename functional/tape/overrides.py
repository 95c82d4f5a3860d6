"""Subclasses of Tensor: ``__torch_function__``, function modes, and what results turn into."""

from __future__ import annotations

from typing import Any

from ..modes import MODE, enter_slow, leave_slow
from ..tensor import Parameter, Tensor, new
from . import duals, wrappers
from .op import TENSOR, Op

EXACT = (Tensor, Parameter)
INNER = (wrappers.Wrapped, duals.PlainDual)  # what the engine itself makes subclasses for


class DisableTorchFunction:
    """While on, no ``__torch_function__`` is called and results are not wrapped."""

    def __enter__(self) -> None:
        self.before = MODE.functions_off
        MODE.functions_off = True

    def __exit__(self, *exc: object) -> None:
        MODE.functions_off = self.before


def default_torch_function(
    cls: type, func: Any, types: Any, args: Any = (), kwargs: Any = None
) -> Any:
    """Run ``func`` and turn plain Tensor results into ``cls``."""
    if not all(issubclass(cls, t) for t in types):
        return NotImplemented
    with DisableTorchFunction():
        result = func(*args, **(kwargs or {}))
    return result if func in KEEP_PLAIN else convert(result, cls)


KEEP_PLAIN: set[Any] = set()  # functions whose results are never wrapped


def convert(result: Any, cls: type) -> Any:
    """Tensors in ``result`` as instances of ``cls``."""
    if cls is Tensor:
        return result
    if isinstance(result, Tensor) and not isinstance(result, cls):
        return as_subclass(TENSOR.alias(result), cls)
    if isinstance(result, (tuple, list)):
        items = [convert(r, cls) for r in result]
        return type(result)(*items) if hasattr(result, "_fields") else type(result)(items)
    return result


def keeping_class(t: Tensor, result: Tensor) -> Tensor:
    """A result that no operation made, in the class of ``t`` if operations would keep it."""
    cls = type(t)
    if cls in EXACT or isinstance(t, INNER) or MODE.functions_off:
        return result
    if getattr(cls, "__torch_function__", None) is disabled:
        return result
    return as_subclass(result, cls)


def as_subclass(t: Tensor, cls: type) -> Any:
    """The same data and history as an instance of ``cls``."""
    out: Any = new(cls)
    out._data, out._edge, out._place = t._data, t._edge, t._place
    out._ver, out._grad = t._ver, None
    return out


def overriding(values: Any) -> list[Any]:
    """Arguments whose type has a say, subclasses before their bases, leftmost first."""
    found: list[Any] = []
    for value in values:
        kind = type(value)
        if kind in EXACT or not hasattr(kind, "__torch_function__"):
            continue
        if isinstance(value, INNER) or any(type(f) is kind for f in found):
            continue
        if getattr(kind, "__torch_function__", None) is disabled:
            continue
        at = next((i for i, f in enumerate(found) if issubclass(kind, type(f))), len(found))
        found.insert(at, value)
    return found


def disabled(func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """The ``__torch_function__`` of classes whose results are plain Tensors."""
    with DisableTorchFunction():
        return func(*args, **(kwargs or {}))


def dispatch(op: Op, args: Any, inputs: Any, out: Any = None) -> tuple[bool, Any]:
    """Offer a primitive operation to modes and subclasses."""
    kwargs = {} if out is None else {"out": out}
    return call(getattr(op, "public", op.call), inputs, args, kwargs)


class Beneath:
    """What sees calls after all modes and classes; while on, the first in ``MODE.functions``."""

    def handle(self, func: Any, args: Any, kwargs: Any) -> tuple[bool, Any]:
        """``(True, result)`` if it ran the call."""
        raise NotImplementedError


def call(func: Any, relevant: Any, args: Any, kwargs: Any) -> tuple[bool, Any]:
    """``(True, result)`` if a mode or a subclass handled the call."""
    stack = MODE.functions
    last = stack[0] if stack and isinstance(stack[0], Beneath) else None
    if not MODE.functions_off:
        handled, result = _offered(func, relevant, args, kwargs, len(stack) > (last is not None))
        if handled:
            return True, result
    return (False, None) if last is None else last.handle(func, args, kwargs)


def modes_on() -> bool:
    """Whether a function mode is on."""
    stack = MODE.functions
    return len(stack) > 1 or (len(stack) == 1 and not isinstance(stack[0], Beneath))


def _offered(func: Any, relevant: Any, args: Any, kwargs: Any, modes: bool) -> tuple[bool, Any]:
    values = overriding(relevant)
    types = tuple(type(v) for v in values)
    if modes:
        return True, _through_mode(func, types, args, kwargs)
    if not values:
        return False, None
    for value in values:
        result = type(value).__torch_function__(func, types, args, kwargs)
        if result is not NotImplemented:
            return True, result
    name = getattr(func, "__name__", str(func))
    if any(isinstance(v, Tensor) for v in values) and name in _OPERATORS:
        raise TypeError(
            f"unsupported operand type(s) for {_OPERATORS[name]}: "
            + " and ".join(f"'{type(v).__name__}'" for v in relevant)
        )
    raise TypeError(
        f"Multiple dispatch failed for 'torch.{name}'; all __torch_function__ handlers returned "
        f"NotImplemented:\n\n"
        + "".join(f"  - tensor subclass {t!r}\n" for t in types)
        + "\nFor more information, try re-running with TORCH_LOGS=not_implemented"
    )


_OPERATORS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "matmul": "@", "remainder": "%"}


def _through_mode(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    stack = MODE.functions
    MODE.functions = stack[:-1]
    try:
        return stack[-1].__torch_function__(func, types, args, kwargs)
    finally:
        MODE.functions = stack


mode_entered: list[Any] = []  # functions to call when a mode begins


class TorchFunctionMode:
    """A context manager whose ``__torch_function__`` sees every call made inside."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError

    def __enter__(self) -> Any:
        for told in mode_entered:
            told()
        enter_slow()
        MODE.functions = (*MODE.functions, self)
        return self

    def __exit__(self, *exc: object) -> None:
        MODE.functions = MODE.functions[:-1]
        leave_slow()
