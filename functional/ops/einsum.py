"""einsum: sums of products by index, composed of permutations, sums and batched products."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from ..kernels.products import contraction
from ..tape.op import TENSOR, public
from ..tensor import Tensor, wrap
from .arguments import unrecorded

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ELLIPSIS = "."


def _from_sublists(args: tuple[Any, ...]) -> tuple[str, list[Tensor]]:
    """The equation of operands that alternate with lists of indices."""

    def letters(indices: Any) -> str:
        found = []
        for i in indices:
            if i is Ellipsis:
                found.append("...")
            elif not isinstance(i, int) or not 0 <= i < 52:
                raise ValueError(f"einsum(): expected subscript {i} to be within the range [0, 52)")
            else:
                found.append(_number(i))
        return "".join(found)

    if len(args) < 3 and len(args) != 2:
        raise ValueError("einsum(): missing operands or subscripts list")
    operands = list(args[0::2])
    lists = list(args[1::2])
    if len(args) % 2:
        operands.pop()
        return ",".join(map(letters, lists)) + "->" + letters(args[-1]), operands
    return ",".join(map(letters, lists)), operands


def _number(i: int) -> str:
    """PyTorch's order of letters in the form with lists: capitals first."""
    return (_LETTERS[26:] + _LETTERS[:26])[i]


def _labels(text: str, at: int) -> str:
    """One operand's subscripts, with the ellipsis as one character."""
    plain = text.replace("...", _ELLIPSIS)
    if plain.count(_ELLIPSIS) > 1 or "." in text.replace("...", ""):
        if "..." in text and plain.count(_ELLIPSIS) > 1 and "." not in text.replace("...", ""):
            raise RuntimeError(
                f"einsum(): found '.' for operand {at} for which an ellipsis was already found"
            )
        raise RuntimeError(f"einsum(): found '.' for operand {at} that is not part of any ellipsis")
    for c in plain:
        if c != _ELLIPSIS and c not in _LETTERS:
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {text.index(c)} in the equation "
                "string, subscripts must be in [a-zA-Z]"
            )
    return plain


def _parsed(equation: str, operands: list[Tensor]) -> tuple[list[str], str | None]:
    left, arrow, right = equation.replace(" ", "").partition("->")
    inputs = [_labels(part, at) for at, part in enumerate(left.split(","))]
    if len(inputs) < len(operands):
        raise RuntimeError("einsum(): more operands were provided than specified in the equation")
    if len(inputs) > len(operands):
        raise RuntimeError("einsum(): fewer operands were provided than specified in the equation")
    return inputs, _labels(right, 0) if arrow else None


def _expanded(inputs: list[str], operands: list[Tensor]) -> tuple[list[list[Any]], int]:
    """Labels, one per dimension; the ellipsis becomes numbers, counted from the last."""
    ranks = []
    for at, (labels, t) in enumerate(zip(inputs, operands, strict=True)):
        named = len(labels) - labels.count(_ELLIPSIS)
        if (_ELLIPSIS in labels and named > t.ndim) or (
            _ELLIPSIS not in labels and named != t.ndim
        ):
            raise RuntimeError(
                "einsum(): the number of subscripts in the equation "
                f"({named}) {'is more than the number of dimensions' if _ELLIPSIS in labels else 'does not match the number of dimensions'} "  # noqa: E501
                f"({t.ndim}) for operand {at}"
                + (" and no ellipsis was given" if _ELLIPSIS not in labels else "")
            )
        ranks.append(t.ndim - named if _ELLIPSIS in labels else 0)
    most = max(ranks)
    found = []
    for labels, rank in zip(inputs, ranks, strict=True):
        dims: list[Any] = []
        for c in labels:
            dims += range(most - rank, most) if c == _ELLIPSIS else [c]
        found.append(dims)
    return found, most


def _output(labels: list[list[Any]], right: str | None, most: int) -> list[Any]:
    if right is None:
        every = [c for dims in labels for c in dims if isinstance(c, str)]
        return [*range(most), *sorted(c for c in set(every) if every.count(c) == 1)]
    known = {c for dims in labels for c in dims}
    out: list[Any] = []
    for c in right:
        if c == _ELLIPSIS:
            out += range(most)
            continue
        if c in out:
            raise RuntimeError(
                f"einsum(): output subscript {c} appears more than once in the output"
            )
        if c not in known:
            raise RuntimeError(
                f"einsum(): output subscript {c} does not appear in the equation for any input "
                "operand"
            )
        out.append(c)
    return out


def _diagonals(t: Tensor, dims: list[Any], at: int) -> tuple[Tensor, list[Any]]:
    """One dimension for each label: repeated ones become a diagonal."""
    dims = list(dims)
    for c in [c for i, c in enumerate(dims) if c in dims[:i]]:
        first = dims.index(c)
        second = dims.index(c, first + 1)
        if t.shape[first] != t.shape[second]:
            raise RuntimeError(
                f"einsum(): subscript {c} is repeated for operand {at} but the sizes don't "
                f"match, {t.shape[second]} != {t.shape[first]}"
            )
        t = TENSOR.movedim(TENSOR.diagonal(t, 0, first, second), -1, first)
        del dims[second]
    return t, dims


def _aligned(t: Tensor, dims: list[Any], order: list[Any]) -> Tensor:
    """The dimensions in the common order, of size 1 where a label is missing."""
    missing = len(order) - len(dims)
    for _ in range(missing):
        t = TENSOR.unsqueeze(t, t.ndim)
    places, spare = [], iter(range(len(dims), len(order)))
    for c in order:
        places.append(dims.index(c) if c in dims else next(spare))
    return TENSOR.permute(t, tuple(places))


def _sizes(labels: list[list[Any]], operands: list[Tensor]) -> dict[Any, int]:
    sizes: dict[Any, int] = {}
    for dims, t in zip(labels, operands, strict=True):
        for c, n in zip(dims, t.shape, strict=True):
            if sizes.get(c, 1) != 1 and n not in (1, sizes[c]):
                raise RuntimeError(
                    f"einsum(): operands do not broadcast with remapped shapes "
                    f"[original->remapped]: {_shown(operands, labels)}"
                )
            sizes[c] = n if sizes.get(c, 1) == 1 else sizes[c]
    return sizes


def _shown(operands: list[Tensor], labels: list[list[Any]]) -> str:
    order: list[Any] = []
    for dims in labels:
        order += [c for c in dims if c not in order]
    parts = []
    for t, dims in zip(operands, labels, strict=True):
        full = [t.shape[dims.index(c)] if c in dims else 1 for c in order]
        parts.append(f"{list(t.shape)}->{full}")
    return " ".join(parts)


def _pair(a: Tensor, b: Tensor, gone: list[int]) -> Tensor:
    """Σ a · b over dimensions ``gone``, which keep size 1, as one batched product of matrices.

    Both have all dimensions. Those of both are the batch; those of one are rows or columns.
    """
    if not gone:
        return a * b
    batch, rows, columns, inner = [], [], [], []
    for d in range(a.ndim):
        one, two = a.shape[d] != 1, b.shape[d] != 1
        if d in gone:
            if one and two:
                inner.append(d)
            elif one:
                a = TENSOR.sum(a, d, True)
            elif two:
                b = TENSOR.sum(b, d, True)
        elif one and two:
            batch.append(d)
        elif one:
            rows.append(d)
        else:
            columns.append(d)
    size = lambda t, dims: math.prod([t.shape[d] for d in dims])
    if not inner:
        return a * b
    count, m, k, n = size(a, batch), size(a, rows), size(a, inner), size(b, columns)
    rest = [d for d in range(a.ndim) if d not in batch + rows + columns + inner]
    left = TENSOR.permute(a, (*batch, *rows, *inner, *columns, *rest))
    right = TENSOR.permute(b, (*batch, *inner, *columns, *rows, *rest))
    z = TENSOR.bmm(TENSOR.reshape(left, (count, m, k)), TENSOR.reshape(right, (count, k, n)))
    ones = [d for d in range(a.ndim) if d not in batch + rows + columns]
    order = [*batch, *rows, *columns, *ones]
    shape = [a.shape[d] for d in batch + rows] + [b.shape[d] for d in columns] + [1] * len(ones)
    z = TENSOR.view(z, tuple(shape))
    return TENSOR.permute(z, tuple(order.index(d) for d in range(a.ndim)))


def _contract(operands: list[Tensor], kept: int) -> Tensor:
    """Multiply aligned operands from the left; sum a dimension with its last operand."""
    rank = operands[0].ndim
    last = [
        max((i for i, t in enumerate(operands) if t.shape[d] != 1), default=0) for d in range(rank)
    ]
    z = operands[0]
    for at, t in enumerate(operands[1:], 1):
        gone = [d for d in range(kept, rank) if last[d] == at]
        early = [d for d in range(kept, rank) if last[d] < at and z.shape[d] != 1]
        if early:
            z = TENSOR.sum(z, tuple(early), True)
        z = _pair(z, t, gone)
    if rank == kept:
        return z
    left = tuple(range(kept, rank))
    if len(operands) == 1:
        return TENSOR.sum(z, left)
    if any(z.shape[d] != 1 for d in left):
        return TENSOR.sum(z, left)
    return TENSOR.reshape(z, tuple(z.shape[:kept]))


@lru_cache(maxsize=512)
def _simple(equation: str, shape: tuple[int, ...], other: tuple[int, ...]) -> Any:
    """What ``contraction`` needs for a product of two operands whose result needs no permutation.

    None for other equations, and for sizes that do not fit or would have to be broadcast.
    """
    left, arrow, out = equation.replace(" ", "").partition("->")
    one, _, two = left.partition(",")
    if not arrow or not (one + two + out).isalpha() or not (one + two).isascii():
        return None
    if any(len(set(part)) != len(part) for part in (one, two, out)):
        return None
    if len(one) != len(shape) or len(two) != len(other) or 0 in shape + other:
        return None
    sizes = dict(zip(one, shape, strict=True))
    if any(sizes.get(c, n) != n for c, n in zip(two, other, strict=True)):
        return None
    batch = [c for c in out if c in one and c in two]
    rows, columns = [c for c in out if c not in two], [c for c in out if c not in one]
    summed = [c for c in one if c in two and c not in out]
    if out != "".join(batch + rows + columns) or not summed:
        return None
    if len(batch + rows + summed) != len(one) or len(batch + columns + summed) != len(two):
        return None
    order = (
        tuple(map(one.index, batch + rows + summed)),
        tuple(map(two.index, batch + columns + summed)),
    )
    return order, (len(batch), len(rows), len(columns), len(summed))


def _at_once(equation: Any, operands: tuple[Any, ...]) -> Tensor | None:
    """A simple product of two operands without a graph; None for everything else."""
    if type(equation) is not str or len(operands) != 2 or not unrecorded(*operands):
        return None
    x, y = operands[0]._data, operands[1]._data
    found = _simple(equation, x.shape, y.shape)
    return None if found is None else wrap(contraction(x, y, *found))


@public
def einsum(*args: Any) -> Tensor:
    """Σ of products, as an equation like ``bij,bjk->bik`` says."""
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least "
            "one operand and its subscripts list"
        )
    found = _at_once(args[0], args[1:])
    if found is not None:
        return found
    if isinstance(args[0], Tensor):
        equation, operands = _from_sublists(args)
    else:
        equation, operands = args[0], list(args[1:])
        if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
            operands = list(operands[0])
    inputs, right = _parsed(equation, operands)
    labels, most = _expanded(inputs, operands)
    out = _output(labels, right, most)
    single = [_diagonals(t, d, at) for at, (t, d) in enumerate(zip(operands, labels, strict=True))]
    tensors, dims = [t for t, _ in single], [d for _, d in single]
    _sizes(dims, tensors)
    order = list(out)
    for one in dims:
        order += sorted((c for c in one if c not in order), key=str)
    aligned = [_aligned(t, d, order) for t, d in zip(tensors, dims, strict=True)]
    return _contract(aligned, len(out))
