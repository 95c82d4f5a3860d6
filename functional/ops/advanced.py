"""Indexing with tensors as operations: the indices are inputs, so they are saved and batched.

There is one operation for every number of indices. ``pattern`` says for every dimension which
index it has: a position among the indices, or None for the whole dimension.
"""

from __future__ import annotations

import functools
from typing import Any

from ..kernels.index import index_shape, index_strides
from ..kernels.layout import kept_strides
from ..tape.batching import stack_rows
from ..tape.declare import general
from ..tape.op import TENSOR

Pattern = tuple[int | None, ...]


def _names(n: int) -> tuple[str, ...]:
    return tuple(f"index{i}" for i in range(n))


def _apart(pattern: Pattern) -> bool:
    """Whether whole dimensions lie between the indexed ones: the indices' then come first."""
    at = [i for i, p in enumerate(pattern) if p is not None]
    return at[-1] - at[0] + 1 != len(at)


def _ask(rule: Any, *names: str) -> Any:
    rule.names = ("F", "g", *names)
    return rule


def _looped(op: Any, flags: Any, values: Any, statics: Any) -> Any:
    """One row after the other."""
    size = next(v.shape[0] for v, flag in zip(values, flags, strict=True) if flag)
    rows = [
        op(
            *[TENSOR.select(v, 0, i) if f else v for v, f in zip(values, flags, strict=True)],
            *statics,
        )
        for i in range(size)
    ]
    return stack_rows(rows)


@functools.cache
def index_op(n: int) -> Any:
    """``self[...]`` at ``n`` index tensors."""

    def batched(F: Any, flags: Any, x: Any, *rest: Any) -> Any:
        indices, pattern = rest[:n], rest[n]
        if any(flags[1:]):
            return _looped(index_op(n), flags, (x, *indices), (pattern,))
        z = F.index_at(x, *indices, (None, *pattern))
        rank = max(1 if i.dtype.category == 0 else i.ndim for i in indices)
        return F.movedim(z, rank, 0) if _apart(pattern) else z

    def shape(x: Any, *rest: Any) -> Any:
        found = index_shape(x.shape, rest[:n], rest[n])
        return found, x.dtype, index_strides(x, found, rest[:n], rest[n])

    return general(
        f"index_at_{n}",
        _ask(
            lambda F, g, *rest: F.index_back(g, *rest[1:-1], rest[0], rest[-1]),
            "self_shape",
            *_names(n),
            "pattern",
        ),
        inputs=("self", *_names(n)),
        statics=("pattern",),
        kernel="index_at",
        node="IndexBackward0",
        jvp=lambda F, tangents, self, *rest: F.index_at(tangents[0], *rest),
        vmap=batched,
        shape=shape,
    )


@functools.cache
def back_op(n: int) -> Any:
    """Zeros with a gradient added at ``n`` index tensors."""
    return general(
        f"index_back_{n}",
        _ask(lambda F, g, *rest: F.index_at(g, *rest), *_names(n), "pattern"),
        inputs=("self", *_names(n)),
        statics=("shape", "pattern"),
        kernel="index_back",
        node="IndexBackwardBackward0",
        jvp=lambda F, tangents, self, *rest: F.index_back(tangents[0], *rest),
        shape=lambda g, *rest: (rest[-2], g.dtype),
    )


def _put_vjp_self(F: Any, g: Any, *rest: Any) -> Any:
    if rest[-1]:
        return g
    return F.put_in(g, F.zeros_like(F.index_at(g, *rest[:-1])), *rest)


@functools.cache
def put_op(n: int) -> Any:
    """``self`` with values written (or added) at ``n`` index tensors."""
    closure = general(
        f"put_in_{n}",
        _ask(_put_vjp_self, *_names(n), "pattern", "accumulate"),
        _ask(lambda F, g, *rest: F.index_at(g, *rest), *_names(n), "pattern"),
        inputs=("self", "values", *_names(n)),
        statics=("pattern", "accumulate"),
        kernel="put_in",
        node="IndexPutBackward0",
        shape=lambda x, *rest: (x.shape, x.dtype, kept_strides(x)),
    )
    closure.op.rewrites, closure.op.mixes = "index_put_", True
    closure.op.apart = ("values", *_names(n))
    return closure


TENSOR.index_at = lambda x, *rest: index_op(len(rest) - 1)(x, *rest)
TENSOR.index_back = lambda g, *rest: back_op(len(rest) - 2)(g, *rest)
TENSOR.put_in = lambda x, values, *rest: put_op(len(rest) - 2)(x, values, *rest)
for _n in (1, 2, 3):  # the usual numbers
    index_op(_n), back_op(_n), put_op(_n)
