"""``torch.func.rearrange``: dimensions named, joined and taken apart by a pattern, as in einops.

``"b (h p) w c -> (b h) w (p c)"`` names the dimensions of the tensor on the left; parentheses join
several, the last of which is innermost; ``...`` stands for any number, and ``1`` or ``()`` for a
dimension of size 1.
"""

from __future__ import annotations

import math
from typing import Any

from functional.tape.op import TENSOR
from functional.tensor import Tensor

ELLIPSIS = "…"
_DOTS = "Expression may contain dots only inside ellipsis (...)"
Groups = list[Any]  # the names of each dimension: a list, or a tuple of joined ones


class DimensionBindError(Exception):
    """Sizes that do not fit the dimensions of a tensor."""


def rearrange(tensor: Any, pattern: str, **axes_lengths: int) -> Any:
    """``tensor``, or a sequence of tensors stacked, with its dimensions as ``pattern`` says.

    ``axes_lengths`` are the sizes of names that are joined on the left; one in each pair of
    parentheses may be left out. Raises ValueError for patterns that are wrong or do not fit, and
    DimensionBindError for sizes.
    """
    left, right = _parsed(pattern)
    if not isinstance(tensor, Tensor):
        tensor = TENSOR.stack(tensor)
    _check(pattern, left, right, axes_lengths)
    left, right = _without_ellipsis(left, right, tensor.ndim)
    sizes = _sizes(left, tuple(tensor.shape), axes_lengths)
    names = [name for group in left for name in group]
    order = [names.index(name) for group in right for name in group]
    apart = TENSOR.reshape(tensor, [sizes[name] for name in names])
    ones = [i for i in range(len(names)) if i not in order]
    moved = TENSOR.permute(apart, (*order, *ones))
    return TENSOR.reshape(moved, [math.prod(sizes[n] for n in group) for group in right])


# --- patterns -------------------------------------------------------------------------------------


def _parsed(pattern: str) -> tuple[Groups, Groups]:
    parts = pattern.split("->")
    if len(parts) != 2:
        raise ValueError("Pattern must contain a single '->' separator")
    return _groups(parts[0]), _groups(parts[1])


def _groups(text: str) -> Groups:
    """The names of one side of a pattern."""
    _check_dots(text)
    found: Groups = []
    joined: list[str] | None = None
    for token in _tokens(text.replace("...", ELLIPSIS)):
        if token == "(":
            if joined is not None:
                raise ValueError(
                    "Axis composition is one-level (brackets inside brackets not allowed)"
                )
            joined = []
        elif token == ")":
            if joined is None:
                raise ValueError("Brackets are not balanced")
            found.append(tuple(joined))
            joined = None
        elif token == "1":  # a size of 1 has no name
            if joined is None:
                found.append([])
        elif joined is not None:
            joined.append(token)
        else:
            found.append([token])
    if joined is not None:
        raise ValueError(f"Imbalanced parentheses in expression: {text!r}")
    _check_names(found)
    return found


def _check_dots(text: str) -> None:
    if "." not in text:
        return
    if "..." not in text:
        raise ValueError(_DOTS)
    if text.count("...") != 1 or text.count(".") != 3:
        raise ValueError(f"{_DOTS}; only one ellipsis for tensor ")


def _tokens(text: str) -> list[str]:
    for char in text:
        if not (char.isalnum() or char in f"_() {ELLIPSIS}"):
            raise ValueError(f"Unknown character '{char}'")
    for char in f"(){ELLIPSIS}":
        text = text.replace(char, f" {char} ")
    return text.split()


def _check_names(groups: Groups) -> None:
    names = [name for group in groups for name in group]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise ValueError(f"Indexing expression contains duplicate dimension '{name}'")
        if name == ELLIPSIS:
            continue
        if name.isdecimal():
            raise ValueError("rearrange only supports unnamed axes of size 1")
        reason = None
        if not name.isidentifier():
            reason = "not a valid python identifier"
        elif name[0] == "_" or name[-1] == "_":
            reason = "axis name should should not start or end with underscore"
        if reason is not None:
            raise ValueError(f"Invalid axis identifier: {name}\n{reason}")


def _check(pattern: str, left: Groups, right: Groups, lengths: dict[str, Any]) -> None:
    """PyTorch's errors for sides that do not belong together, and for ``axes_lengths``."""
    mine, theirs = ({name for group in side for name in group} for side in (left, right))
    if ELLIPSIS in theirs - mine:
        raise ValueError(f"Ellipsis found in right side, but not left side of a pattern {pattern}")
    if ELLIPSIS in mine and [ELLIPSIS] not in left:
        raise ValueError(f"Ellipsis is parenthesis in the left side is not allowed: {pattern}")
    for value in lengths.values():
        if not isinstance(value, int):
            raise TypeError(f"rearrange axis lengths must be integers, got: {type(value)}")
    if mine != theirs:
        raise ValueError(
            "Identifiers only on one side of rearrange expression (should be on both): "
            f"{mine ^ theirs}"
        )
    unknown = lengths.keys() - mine
    if unknown:
        raise ValueError(f"Identifiers not found in rearrange expression: {set(unknown)}")


def _without_ellipsis(left: Groups, right: Groups, ndim: int) -> tuple[Groups, Groups]:
    """Both sides with names for the dimensions that ``...`` stands for."""
    count = len(left)
    if [ELLIPSIS] not in left:
        if count != ndim:
            raise ValueError(
                f"Number of dimensions in pattern ({count}) must be equal to the number of "
                f"dimensions in the tensor ({ndim})"
            )
        return left, right
    if count - 1 > ndim:
        raise ValueError(
            f"Number of dimensions in pattern ({count - 1}) must be less than or equal to the "
            f"number of dimensions in the tensor ({ndim})"
        )
    names = [f"{ELLIPSIS}{i}" for i in range(ndim - count + 1)]
    return _filled(left, names), _filled(right, names)


def _filled(groups: Groups, names: list[str]) -> Groups:
    found: Groups = []
    for group in groups:
        if group == [ELLIPSIS]:
            found += [[name] for name in names]
        else:
            found.append([n for g in group for n in (names if g == ELLIPSIS else [g])])
    return found


# --- sizes ----------------------------------------------------------------------------------------


def _sizes(groups: Groups, shape: tuple[int, ...], lengths: dict[str, int]) -> dict[str, int]:
    """The size of each name."""
    places = {name: f"d{i}" for i, name in enumerate(n for group in groups for n in group)}
    sizes = dict(lengths)
    for group, n in zip(groups, shape, strict=True):
        known = [lengths[name] for name in group if lengths.get(name, -1) >= 0]
        missing = [name for name in group if lengths.get(name, -1) < 0]
        if len(missing) > 1:
            a, b = (places[name] for name in missing[:2])
            raise DimensionBindError(
                f"cannot infer the sizes of two dimensions at once {a} and {b}"
            )
        product = math.prod(known)
        if not missing:
            if product != n:
                pack = f"({', '.join(places[name] for name in group)}{',' * (len(group) == 1)})"
                raise DimensionBindError(
                    f"Dimension sizes to do not match ({n} != {product}) when matching dimension "
                    f"pack {pack}"
                )
        elif n % product:
            parts = tuple(lengths.get(name, "?") for name in group)
            raise DimensionBindError(
                f"inferred dimension does not evenly fit into larger dimension: {n} vs {parts}"
            )
        else:
            sizes[missing[0]] = n // product
    return sizes
