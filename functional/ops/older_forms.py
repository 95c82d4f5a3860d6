"""Deprecated forms of the fused sums, whose factors stand before what they multiply."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..blame import warn_once
from ..tape.operands import is_number, no_form
from ..tensor import Tensor

_TEXT = (
    "This overload of {0} is deprecated:\n\t{0}({1})\nConsider using one of the following "
    "signatures instead:\n\t{0}({2})"
)
_FACTORS = {1: ("beta",), 2: ("beta", "alpha")}


def with_factors(
    function: Callable[..., Any], parts: tuple[str, str], args: tuple[Any, ...], **named: Any
) -> Any:
    """``function(beta, input, alpha, first, second)``, or without alpha.

    As a method, input comes first. Raises TypeError for arguments that fit no form.
    """
    return _call(function, parts, args, (((0,), (1,)), ((0, 2), (1, 2))), named)


def with_value(
    function: Callable[..., Any], parts: tuple[str, str], args: tuple[Any, ...], **named: Any
) -> Any:
    """``function(input, value, first, second)``, likewise."""
    return _call(function, parts, args, (((1,),),), named, ("value",))


def _call(
    function: Callable[..., Any],
    parts: tuple[str, str],
    args: tuple[Any, ...],
    forms: Any,
    named: dict[str, Any],
    names: tuple[str, ...] | None = None,
) -> Any:
    places = tuple(i for i, a in enumerate(args) if not isinstance(a, Tensor))
    fits = len(args) - len(places) == 3 and any(places in form for form in forms)
    if not fits or not all(is_number(args[i]) for i in places):
        raise no_form(function.__name__, args)
    names = names or _FACTORS[len(places)]
    _warn(function.__name__, parts, names, places[0] == 0)
    tensors = [a for a in args if isinstance(a, Tensor)]
    factors = {name: args[i] for name, i in zip(names, places, strict=True)}
    return function(*tensors, **factors, **{k: v for k, v in named.items() if v is not None})


def _warn(name: str, parts: tuple[str, str], names: tuple[str, ...], first: bool) -> None:
    method = name[-1] == "_" or (not first and names[0] != "value")
    tensors, rest = [f"Tensor {part}" for part in parts], ["*"]
    numbers = [f"Number {n}" for n in names]
    if not method:
        numbers.insert(1 if first else 0, "Tensor input")
    new = tensors if method else ["Tensor input", *tensors]
    out = [] if method else ["*", "Tensor out = None"]
    rest += [f"Number {n} = 1" for n in (("value",) if names[0] == "value" else _FACTORS[2])]
    old = ", ".join([*numbers, *tensors, *out])
    warn_once(_TEXT.format(name, old, ", ".join([*new, *rest, *out[1:]])), "overload")
