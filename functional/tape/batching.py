"""vmap's side of the declarations: run an operation once for a whole batch.

The batch is the first dimension of every batched value. An operation says ``elementwise``,
``lead`` (more dimensions in front do
not matter), ``loop`` (one row after the other: right for everything, slow), or gives a rule
``rule(F, flags, *values)`` on values of which ``flags`` says whether each is batched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import dtypes, errors
from ..tensor import Tensor
from .op import TENSOR, Op


def run(op: Op, args: tuple[Any, ...], is_batched: Callable[[Any], bool]) -> Any:
    """The result of ``op``, one level down, with the batch as first dimension."""
    if op.vmap == "elementwise":
        return _elementwise(op, args, is_batched)
    if op.vmap == "lead":  # the operation does not mind a dimension in front
        return op.call(*[a._data if is_batched(a) else a for a in args])
    if callable(op.vmap):
        inputs = args[0] if op.sequence else args[: len(op.inputs)]
        flags = [is_batched(a) for a in inputs]
        values = [a._data if flag else a for a, flag in zip(inputs, flags, strict=True)]
        statics = args[1:] if op.sequence else args[len(op.inputs) :]
        if op.sequence:
            return op.vmap(TENSOR, flags, values, *statics)
        return op.vmap(TENSOR, flags, *values, *statics)
    return _loop(op, args, is_batched)


def _elementwise(op: Op, args: tuple[Any, ...], is_batched: Callable[[Any], bool]) -> Any:
    inputs = args[: len(op.inputs)]
    tensors = [a for a in inputs if isinstance(a, Tensor)]
    rank = max(t.ndim for t in tensors)
    kinds = {
        t.dtype for t, n in zip(inputs, op.inputs, strict=True)
        if isinstance(t, Tensor) and n not in op.fixed
    }  # fmt: skip
    common = None
    if len(kinds) > 1:  # ranks must be judged without the batch dimension
        common = dtypes.result_type(
            (a.dtype, a.ndim) if isinstance(a, Tensor) else a for a in inputs
        )
    values = []
    for a, name in zip(inputs, op.inputs, strict=True):
        v = a
        if is_batched(a):
            v = aligned(a._data, a.ndim, rank)
        if common is not None and isinstance(v, Tensor) and name not in op.fixed:
            v = v if v.dtype is common else TENSOR.to_dtype(v, common)
        values.append(v)
    return op.call(*values, *args[len(op.inputs) :])


def aligned(value: Tensor, ndim: int, rank: int) -> Tensor:
    """A batched value with 1s after the batch dimension, so that it has ``rank`` more."""
    if ndim == rank:
        return value
    shape = tuple(value.shape)
    return TENSOR.reshape(value, (shape[0], *(1,) * (rank - ndim), *shape[1:]))


def _row(a: Any, i: int, is_batched: Callable[[Any], bool]) -> Any:
    if is_batched(a):
        return TENSOR.select(a._data, 0, i)
    if type(a) in (tuple, list) and any(isinstance(x, Tensor) for x in a):
        return [_row(x, i, is_batched) for x in a]
    return a


def _flat(args: Any) -> Any:
    for a in args:
        if type(a) in (tuple, list):
            yield from _flat(a)
        else:
            yield a


def _loop(op: Op, args: tuple[Any, ...], is_batched: Callable[[Any], bool]) -> Any:
    size = next(a._data.shape[0] for a in _flat(args) if is_batched(a))
    rows = [op.call(*[_row(a, i, is_batched) for a in args]) for i in range(size)]
    return stack_rows(rows)


def stack_rows(rows: list[Any]) -> Any:
    """The results of single rows as one batch."""
    if type(rows[0]) in (tuple, list):
        return type(rows[0])(TENSOR.stack(list(part)) for part in zip(*rows, strict=True))
    return TENSOR.stack(rows)


# --- ready-made rules -----------------------------------------------------------------------------


def expanded(values: Any, flags: list[bool]) -> list[Any]:
    """All values with the batch dimension, broadcast where one has none."""
    size = next(v.shape[0] for v, flag in zip(values, flags, strict=True) if flag)
    return [
        v if flag or v is None else TENSOR.expand(v, (size, *v.shape))
        for v, flag in zip(values, flags, strict=True)
    ]


def shifted(call: Callable[..., Any], *which: int) -> Callable[..., Any]:
    """A rule for one tensor whose static arguments ``which`` are dimensions (or tuples of them)."""

    def rule(F: Any, flags: Any, x: Any, *statics: Any) -> Any:
        moved = list(statics)
        for i in which:
            moved[i] = _shift(statics[i], x.ndim)
        return call(F)(x, *moved)

    return rule


def refused(name: str) -> Callable[..., Any]:
    """The rule of an operation whose result has another shape for each example."""

    def rule(F: Any, flags: Any, *args: Any) -> Any:
        raise RuntimeError(errors.VMAP_SHAPE.format(name))

    return rule


def over_scalars(rule: Callable[..., Any]) -> Callable[..., Any]:
    """The rule of an operation along a dimension that also takes single numbers.

    They become rows of one element, and what keeps that dimension loses it again.
    """

    def wrapped(F: Any, flags: Any, *args: Any) -> Any:
        rank = max(x.ndim - flag for x, flag in zip(args, flags, strict=False) if x is not None)
        if rank:
            return rule(F, flags, *args)
        rows = [F.unsqueeze(x, x.ndim) for x in args[: len(flags)]]
        result = rule(F, flags, *rows, *args[len(flags) :])
        if type(result) in (tuple, list):
            return type(result)(F.reshape(z, (z.shape[0],)) for z in result)
        return F.reshape(result, (result.shape[0],))

    return wrapped


def _shift(dim: Any, ndim: int) -> Any:
    if dim is None:
        return tuple(range(1, ndim))
    return tuple(d + 1 for d in dim) if isinstance(dim, tuple) else dim + 1


def shaped(call: Callable[..., Any], which: int = 0) -> Callable[..., Any]:
    """A rule for one tensor whose static argument ``which`` is the result's shape."""

    def rule(F: Any, flags: Any, x: Any, *statics: Any) -> Any:
        full = list(statics)
        full[which] = (x.shape[0], *statics[which])
        return call(F)(x, *full)

    return rule
