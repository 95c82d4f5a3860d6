"""What an equation of einsum says about its operands, and PyTorch's errors where it says nothing.

Labels are letters; the dimensions of an ellipsis are numbers, counted from the first of the widest.
"""

from __future__ import annotations

from typing import Any

from ..errors import type_name
from ..tensor import Tensor
from .arguments import check_tensors

_ELLIPSIS = "."
_NOTHING = (
    "einsum(): must specify the equation string and at least one operand, or at least one operand "
    "and its subscripts list"
)


def arguments(args: tuple[Any, ...]) -> tuple[str, list[Tensor]]:
    """The equation and the operands of a call in either form.

    Raises ValueError where something is missing, TypeError for what is no tensor or no equation.
    """
    if len(args) < 2:
        raise ValueError(_NOTHING)
    if isinstance(args[0], Tensor):
        equation, operands = _from_sublists(args)
    else:
        equation, operands = args[0], list(args[1:])
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = list(operands[0])
        if not operands:
            raise ValueError(_NOTHING)
    if not isinstance(equation, str):
        raise TypeError(
            f"einsum(): argument 'equation' (position 1) must be str, not {type_name(equation)}"
        )
    check_tensors(operands, 1)
    return equation, operands


def _from_sublists(args: tuple[Any, ...]) -> tuple[str, list[Any]]:
    """The equation of operands that alternate with lists of subscripts."""
    lists = [",".join("".join(map(_letter, one)) for one in args[1::2])]
    if len(args) % 2:
        lists.append("".join(map(_letter, args[-1])))
    return "->".join(lists), list(args[: len(args) // 2 * 2 : 2])


def _letter(subscript: Any) -> str:
    """The letter of a number in a list of subscripts: capitals first."""
    if subscript is Ellipsis:
        return "..."
    if subscript >= 0 and subscript < 26:
        return chr(ord("A") + subscript)
    if subscript >= 26 and subscript < 52:
        return chr(ord("a") + subscript - 26)
    raise ValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")


def _check_letter(c: str, at: int) -> None:
    if not (c.isalpha() and c.isascii()):
        raise RuntimeError(
            f"einsum(): invalid subscript given at index {at} in the equation string, subscripts "
            "must be in [a-zA-Z]"
        )


def labels_of(equation: str, operands: list[Tensor]) -> tuple[list[list[Any]], int]:
    """The labels of every operand, one for each dimension, and the width of the ellipsis."""
    end = equation.find("->")
    found = _parsed(equation[: end if end >= 0 else None], len(operands))
    pairs = zip(found, operands, strict=True)
    widths = [_width(labels, t, at) for at, (labels, t) in enumerate(pairs)]
    most = max(widths)
    spread = [
        [d for c in labels for d in (range(most - n, most) if c == _ELLIPSIS else (c,))]
        for labels, n in zip(found, widths, strict=True)
    ]
    return spread, most


def _parsed(text: str, count: int) -> list[str]:
    """The subscripts of ``count`` operands, an ellipsis as one character."""
    found, at = [""], 0
    while at < len(text):
        c, operand = text[at], len(found) - 1
        if c == ".":
            if _ELLIPSIS in found[-1]:
                raise RuntimeError(
                    f"einsum(): found '.' for operand {operand} for which an ellipsis was "
                    "already found"
                )
            if text[at : at + 3] != "...":
                raise RuntimeError(
                    f"einsum(): found '.' for operand {operand} that is not part of any ellipsis"
                )
            at += 2
            found[-1] += _ELLIPSIS
        elif c == ",":
            found.append("")
            if len(found) > count:
                raise RuntimeError(
                    "einsum(): fewer operands were provided than specified in the equation"
                )
        elif c != " ":
            _check_letter(c, at)
            found[-1] += c
        at += 1
    if len(found) < count:
        raise RuntimeError("einsum(): more operands were provided than specified in the equation")
    return found


def _width(labels: str, t: Tensor, at: int) -> int:
    """How many dimensions the ellipsis stands for."""
    dotted = _ELLIPSIS in labels
    named = len(labels) - dotted
    if named > t.ndim if dotted else named != t.ndim:
        relation = "is more than" if dotted else "does not match"
        end = "" if dotted else " and no ellipsis was given"
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({named}) {relation} the number "
            f"of dimensions ({t.ndim}) for operand {at}{end}"
        )
    return t.ndim - named


def output_of(equation: str, labels: list[list[Any]], most: int) -> list[Any]:
    """The labels of the result: those behind the arrow, or those that occur once, in order."""
    every = [c for dims in labels for c in dims if isinstance(c, str)]
    arrow = equation.find("->")
    if arrow < 0:
        return [*range(most), *sorted(c for c in set(every) if every.count(c) == 1)]
    out: list[Any] = []
    dotted, at = False, arrow + 2
    while at < len(equation):
        c = equation[at]
        if c == ".":
            if dotted:
                raise RuntimeError(
                    "einsum(): found '.' for output but an ellipsis (...) was already found"
                )
            if equation[at : at + 3] != "...":
                raise RuntimeError(
                    "einsum(): found '.' for output that is not part of any ellipsis (...)"
                )
            at += 2
            dotted = True
            out += range(most)
        elif c != " ":
            _check_letter(c, at)
            out.append(_checked(c, out, every))
        at += 1
    return out


def _checked(c: str, out: list[Any], every: list[str]) -> str:
    if c in out:
        raise RuntimeError(f"einsum(): output subscript {c} appears more than once in the output")
    if c not in every:
        raise RuntimeError(
            f"einsum(): output subscript {c} does not appear in the equation for any input operand"
        )
    return c


def check_sizes(labels: list[list[Any]], operands: list[Tensor]) -> None:
    """Raise RuntimeError where dimensions of one label have sizes that do not broadcast."""
    sizes: dict[Any, int] = {}
    for at, (dims, t) in enumerate(zip(labels, operands, strict=True)):
        own: dict[Any, int] = {}
        for d, (c, n) in enumerate(zip(dims, t.shape, strict=True)):
            if c in own:
                if own[c] != n:
                    raise RuntimeError(
                        f"einsum(): subscript {c} is repeated for operand {at} but the sizes "
                        f"don't match, {n} != {own[c]}"
                    )
                continue
            own[c] = n
            seen = sizes.get(c, 1)
            if seen != 1 and n not in (1, seen):
                raise RuntimeError(_no_broadcast(c, d, at, n, seen))
            sizes[c] = n if seen == 1 else seen


def _no_broadcast(c: Any, d: int, at: int, n: int, seen: int) -> str:
    if isinstance(c, str):
        return (
            f"einsum(): subscript {c} has size {n} for operand {at} which does not broadcast with "
            f"previously seen size {seen}"
        )
    return (
        f"einsum(): dimension {d} covered by ellipsis in operand {at}has size {n} which does not "
        f"broadcast with previously seen ellipsis with size {seen} for the respective dimension"
    )
