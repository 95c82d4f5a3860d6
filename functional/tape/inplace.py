"""In-place twins: ``add_`` from ``add``, and the operators ``+=``, ``*=``, ..."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy import ufunc

from ..blame import warn_once
from ..dtypes import F32, F64
from ..modes import MODE, PLAIN
from ..tensor import NO_EDGE, Tensor
from .dispatch import LEAVE, ONE
from .op import Op
from .operands import factor
from .slow import in_place

_NONE = object()  # no operand
_OLD_OVERLOAD = (
    "This overload of {0} is deprecated:\n\t{0}(Number alpha, Tensor other)\nConsider using one of "
    "the following signatures instead:\n\t{0}(Tensor other, *, Number alpha = 1)"
)


def elementwise_twin(op: Op) -> Callable[..., Tensor]:
    """``op_(input, ...)``: the result is written over ``input``."""
    kernel = op.kernel
    writes = isinstance(kernel, ufunc) and kernel.nin == 2  # kernel(x, y, out)

    def twin(input: Any, other: Any = _NONE, *rest: Any, alpha: Any = 1) -> Tensor:
        if (
            not writes
            or type(input) not in PLAIN
            or input._place is not None
            or (MODE.grad and input._edge is not NO_EDGE)
            or rest
            or alpha is not ONE
        ):
            return _general(op, input, () if other is _NONE else (other, *rest), alpha)
        x, kind = input._data, type(other)
        dt = x.dtype
        if dt is not F32 and dt is not F64:
            return in_place(op, (input, other))
        if kind in PLAIN:
            # a view may share memory with input
            if other._place is not None or (MODE.grad and other._edge is not NO_EDGE):
                return in_place(op, (input, other))
            y = other._data
            if y.dtype is not dt or y.shape != x.shape:
                return in_place(op, (input, other))
        elif kind is float or kind is int:
            y = other
        else:
            return in_place(op, (input, other))
        try:
            kernel(x, y, x)
        except LEAVE:
            return in_place(op, (input, other))
        if input._ver is None:
            input._ver = [1]
        else:
            input._ver[0] += 1
        return input

    return named_twin(twin, op)


def _general(op: Op, self: Any, args: tuple[Any, ...], alpha: Any) -> Tensor:
    if len(args) == 2 and op.scaled is not None:  # the deprecated add_(alpha, other)
        name = op.name.split(".")[0] + "_"
        warn_once(_OLD_OVERLOAD.format(name), "overload")
        alpha, args = args[0], args[1:]
    if type(alpha) is int and alpha == 1:
        return in_place(_form(op, args), (self, *args))
    if op.scaled is None:
        raise TypeError(f"{op.name}_() got an unexpected keyword argument 'alpha'")
    alpha = factor(f"{op.name}_", "alpha", alpha)
    return in_place(op.scaled, (self, *args, alpha))


def _form(op: Op, args: tuple[Any, ...]) -> Op:
    return op if op.number is None or isinstance(args[0], Tensor) else op.number


def twin_of(name: str, op: Op, number: Op) -> Callable[..., Tensor]:
    """An in-place operation of its own, in two forms: for a tensor and for a number."""

    def twin(self: Any, other: Any) -> Tensor:
        return in_place(op if isinstance(other, Tensor) else number, (self, other))

    twin.__name__ = twin.__qualname__ = name
    twin.op = op  # type: ignore[attr-defined]
    return twin


def general_twin(op: Op) -> Callable[..., Tensor]:
    """The same for operations whose kernel is not a binary ufunc."""

    def twin(*args: Any) -> Tensor:
        return in_place(op, args)

    return named_twin(twin, op)


def named_twin(twin: Any, op: Op) -> Any:
    twin.__name__ = twin.__qualname__ = op.name.split(".")[0] + "_"
    twin.op = op
    return twin
