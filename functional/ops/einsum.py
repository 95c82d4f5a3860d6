"""einsum: sums of products by index, composed of permutations, sums and batched products."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from ..kernels.products import contraction
from ..tape.op import TENSOR, public
from ..tensor import Tensor, wrap
from .arguments import unrecorded
from .einsum_equation import arguments, check_sizes, labels_of, output_of


def _diagonals(t: Tensor, dims: list[Any]) -> tuple[Tensor, list[Any]]:
    """One dimension for each label: repeated ones become a diagonal."""
    dims = list(dims)
    for c in [c for i, c in enumerate(dims) if c in dims[:i]]:
        first = dims.index(c)
        second = dims.index(c, first + 1)
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
    left, arrow, out = (part.replace(" ", "") for part in equation.partition("->"))
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


def _at_once(equation: Any, *operands: Any) -> Tensor | None:
    """A simple product of two operands without a graph; None for everything else."""
    if type(equation) is not str or not unrecorded(*operands):
        return None
    x, y = operands[0]._data, operands[1]._data
    found = _simple(equation, x.shape, y.shape)
    return None if found is None else wrap(contraction(x, y, *found))


@public
def einsum(*args: Any) -> Tensor:
    """Σ of products, as an equation like ``bij,bjk->bik`` says."""
    found = _at_once(*args) if len(args) == 3 else None
    if found is not None:
        return found
    equation, operands = arguments(args)
    labels, most = labels_of(equation, operands)
    out = output_of(equation, labels, most)
    check_sizes(labels, operands)
    single = [_diagonals(t, d) for t, d in zip(operands, labels, strict=True)]
    order = list(out)
    for _, dims in single:
        order += sorted((c for c in dims if c not in order), key=str)
    aligned = [_aligned(t, d, order) for t, d in single]
    return _contract(aligned, len(out))
