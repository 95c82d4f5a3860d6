"""How operators are declared: by functions of our tensors, which become those of Tensors."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ..operator import Recorded
from ..singa_wrap import Tensor as CTensor
from ..tensor import Tensor

NAMES: dict[str, Any] = {}  # what ``singa.autograd`` offers of this package


def public(thing: Any) -> Any:
    """Offer a class or a function in ``singa.autograd`` under its own name."""
    NAMES[thing.__name__] = thing
    return thing


class Loss(Recorded):
    """An operator of one number, whose ``backward`` starts from 1 unless told otherwise."""

    def backward(self, dy: Any = 1.0) -> Any:
        return super().backward(dy)


class Unsloped(Recorded):
    """An operator without a derivative: its ``backward`` raises AssertionError."""

    def backward(self, *dys: Any) -> Any:
        raise AssertionError(f"{type(self).__name__} has no gradient")


def operation(
    cls: str, operands: int | None = 1, base: type[Recorded] = Recorded, name: str | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare an operator by what it computes with our tensors.

    The first ``operands`` parameters of the function are Tensors, all of them if None; the class
    ``cls`` takes the others. The function that replaces it is called ``name``, else as it was.
    """

    def declare(compute: Callable[..., Any]) -> Callable[..., Any]:
        kind = _class(cls, compute, operands, base)
        function = _function(name or compute.__name__, compute, kind, operands)
        NAMES[cls] = kind
        return public(function)

    return declare


def _class(
    cls: str, compute: Callable[..., Any], operands: int | None, base: type[Recorded]
) -> type[Recorded]:
    options = list(inspect.signature(compute).parameters.values())[operands:] if operands else []
    signature = inspect.Signature(options)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        base.__init__(self)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        self.__dict__.update(bound.arguments)
        self._options = bound.args

    def run(self: Any, *xs: Any) -> Any:
        return compute(*xs, *self._options)

    body = {"compute": run, "__doc__": compute.__doc__, "__module__": compute.__module__}
    if options:
        body["__init__"] = __init__
    else:
        body["_options"] = ()
    return type(cls, (base,), body)


def _function(
    name: str, compute: Callable[..., Any], kind: type[Recorded], operands: int | None
) -> Callable[..., Any]:
    signature = inspect.signature(compute)

    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs or operands is None or len(args) < operands:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            args = bound.args
        count = len(args) if operands is None else operands
        return kind(*args[count:])(*args[:count])[0]

    call.__name__ = call.__qualname__ = name
    call.__doc__, call.__module__ = compute.__doc__, compute.__module__
    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


# --- options ---


def array_of(values: Any) -> np.ndarray:
    """An array of a Tensor's, a raw tensor's or a list's values."""
    core = values.core if isinstance(values, (Tensor, CTensor)) else None
    return np.asarray(values if core is None else core.detach().cpu().numpy())


def ints(values: Any) -> list[int]:
    """A flat list of integers from one, from a list or from a tensor."""
    return [int(value) for value in array_of(values).reshape(-1)]


def target_of(t: Any, who: str) -> Any:
    """Our tensor of a target's values; AssertionError where it is no tensor."""
    if not isinstance(t, (Tensor, CTensor)):
        raise AssertionError(f"{who}: the target must be a Tensor, not {type(t).__name__}")
    return t.core.detach()


def position(axis: int, rank: int, who: str) -> int:
    """An axis counted from the front; AssertionError where there is none of that number."""
    if not -rank <= axis < rank:
        raise AssertionError(f"{who}: axis {axis} is not one of the {rank} of the tensor")
    return axis % rank
