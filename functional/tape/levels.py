"""Transform levels: Batched, Dual and Taped tensors, and how each processes an operation.

A wrapper holds a tensor of the level below in ``_data``. The wrapper with the highest level among
an operation's arguments processes it, from the same declaration that eager code uses:

* ``Taped`` runs the operation below and records a node of its own level;
* ``Dual`` runs it below and computes the tangent from the derivative rule;
* ``Batched`` runs it once for the whole batch, whose dimension is always the first one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from .. import dtypes, errors
from ..modes import MODE, enable_grad, no_grad
from ..tensor import NO_EDGE, Tensor, same_memory
from . import batching, duals
from .level_views import note_views
from .node import Node, new_node
from .op import TENSOR, Op, call_rules
from .wrappers import Batched, Dual, Taped, Wrapped, is_batched, make, new_level, tape_leaf


def below(cls: Any, level: float, a: Any) -> Any:
    """``a`` seen from one level down."""
    if isinstance(a, cls) and a._level == level:
        return a._data
    if type(a) in (tuple, list) and a and any(isinstance(x, Tensor) for x in a):
        return [below(cls, level, x) for x in a]
    return a


def wrapped_in(args: Any) -> Iterator[Wrapped]:
    """The wrappers among the arguments."""
    for a in args:
        if isinstance(a, Wrapped):
            yield a
        elif type(a) in (tuple, list):
            yield from wrapped_in(a)


def refuse_out(op: Op, inputs: Any, out: Any) -> None:
    """PyTorch's error for ``out=`` of an operation on wrappers."""
    name = (op.title or op.name).partition(".")[0]
    if any(is_batched(a) for a in (*inputs, out)):
        raise RuntimeError(errors.NO_OUT_RULE.format(name))
    raise RuntimeError(
        f"{name}(): functions with out=... arguments don't support automatic differentiation, but "
        "one of the arguments requires grad."
    )


_ESCAPED = (
    "Either your tensor may have escaped from inside a function being vmapped and this is a user "
    "error (see https://pytorch.org/functorch/stable/ux_limitations.html), or there is an internal "
    "functorch error in `gen_vmap_plumbing` Please file an issue if it looks like the latter"
)


def process(op: Op, args: tuple[Any, ...]) -> Any:
    """Run an operation at the highest level among its arguments."""
    top = max(wrapped_in(args), key=lambda a: a._level)
    if type(top) is Batched and MODE.level < top._level:
        raise RuntimeError(_ESCAPED)
    if duals.FORWARD.level > top._level and any(map(duals.holds, args)):
        args = tuple(map(_lifted, args))
        top = max(wrapped_in(args), key=lambda a: a._level)
    before = MODE.transforms
    MODE.transforms = tuple([t for t in before if t.level < top._level])
    try:
        result = _HANDLERS[type(top)](op, args, top._level)
    finally:
        MODE.transforms = before
    if op.kind == "view":
        note_views(op, args, result)
    return result


def _several(result: Any) -> bool:
    return type(result) in (tuple, list)


def _lifted(a: Any) -> Any:
    """Dual tensors of eager code as wrappers, above the transforms around their level."""
    if type(a) is duals.PlainDual:
        dual = make(Dual, duals.FORWARD.level, duals.primal(a))
        dual.tangent = a._tangent
        return dual
    return [_lifted(x) for x in a] if duals.holds(a) else a


# --- Taped ----------------------------------------------------------------------------------------


_AS_IS = contextlib.nullcontext()


def _taped(op: Op, args: tuple[Any, ...], level: float) -> Any:
    values = tuple(below(Taped, level, a) for a in args)
    if MODE.saved_hooks:
        raise RuntimeError(errors.NO_SAVED_HOOKS)
    recording = MODE.grad
    with no_grad() if level in MODE.unrecorded else _AS_IS:
        result = op.call(*values)
    if op.node is None or not recording:
        return constant(Taped, level, result)
    edges = tuple(
        a._edge if type(a) is Taped and a._level == level else NO_EDGE for a in op.edge_inputs(args)
    )
    if all(edge is NO_EDGE for edge in edges):
        return constant(Taped, level, result)
    outs = list(result) if _several(result) else [result]
    shape: Any = tuple(outs[0].shape) if len(outs) == 1 else [tuple(z.shape) for z in outs]
    dtype: Any = outs[0].dtype.array
    if len(outs) > 1 and not op.holomorphic:  # real results beside complex ones
        dtype = [z.dtype.array for z in outs]
    node = new_node(op.node, edges, None, shape, dtype)
    kept = tuple(map(_geometry, values)) if op.kind == "view" else values
    node.saved = op.save(kept, edges, outs, at_level=True)
    flags = op.differentiable or (True,) * len(outs)
    wrapped = [
        recorded(level, z, node, nr) if flag else constant(Taped, level, z)
        for nr, (z, flag) in enumerate(zip(outs, flags, strict=False))
    ]
    return type(result)(wrapped) if _several(result) else wrapped[0]


def _geometry(a: Any) -> Any:
    """A tensor of which only shape and strides will be asked: it may be written to."""
    if type(a) is not Tensor:
        return a
    alias = same_memory(a)
    alias._ver = None
    return alias


def constant(cls: type[Wrapped], level: float, result: Any) -> Any:
    """Numbers without a derivative at a level, as tensors of that level all the same."""
    if _several(result):
        return type(result)(constant(cls, level, z) for z in result)
    counts = isinstance(result, Tensor) and result.dtype.category >= dtypes.FLOAT
    return make(cls, level, result) if counts else result


def recorded(level: float, value: Any, node: Node, nr: int) -> Taped:
    """A Taped tensor: output ``nr`` of ``node``."""
    t = make(Taped, level, value)
    t._edge = (node, nr)
    return t


# --- Dual -----------------------------------------------------------------------------------------


def _dual(op: Op, args: tuple[Any, ...], level: float) -> Any:
    values = tuple(below(Dual, level, a) for a in args)
    result = op.call(*values)
    if op.node is None or not MODE.tangents:
        return constant(Dual, level, result)
    tangents = [
        a.tangent if type(a) is Dual and a._level == level else None for a in op.edge_inputs(args)
    ]
    if all(t is None for t in tangents):
        return constant(Dual, level, result)
    outs = list(result) if _several(result) else [result]
    found = tangents_of(op, values, tangents, outs)
    duals = [
        constant(Dual, level, z)
        if t is None or z.dtype.category < dtypes.FLOAT
        else with_tangent(level, z, t)
        for z, t in zip(outs, found, strict=True)
    ]
    return type(result)(duals) if _several(result) else duals[0]


def with_tangent(level: float, value: Tensor, tangent: Tensor) -> Dual:
    """A Dual tensor; the tangent takes the dtype and the shape of the value."""
    t = make(Dual, level, value)
    if tangent.dtype is not value.dtype:
        tangent = TENSOR.to_dtype(tangent, value.dtype)
    t.tangent = tangent if tangent.shape == value.shape else TENSOR.expand(tangent, value.shape)
    return t


def tangents_of(op: Op, values: Any, tangents: list[Any], outs: list[Any]) -> list[Any]:
    """The tangents of the results ``outs`` of ``op(*values)``; None for zeros."""
    if op.jvp == "elementwise":
        return [_by_rules(op, values, tangents, outs)]
    if op.jvp == "linear":
        found = op.call(tangents[0], *values[1:])
        return list(found) if _several(found) else [found]
    if op.jvp == "multilinear":
        return [_by_parts(op, values, tangents)]
    if callable(op.jvp):
        return [op.jvp(TENSOR, tangents, *values)]
    return _by_transposing(op, values, tangents, outs)


def _by_rules(op: Op, values: Any, tangents: list[Any], outs: list[Any]) -> Any:
    """An elementwise derivative is the same number in both modes."""
    opened = op.values(values, outs)
    total = None
    for rule, wants, t in zip(op.rules, op.wants, tangents, strict=True):
        if t is None or rule is None:
            continue
        part = rule(TENSOR, t, *[opened[i] for i in wants])
        total = part if total is None else total + part
    return total


def _by_parts(op: Op, values: Any, tangents: list[Any]) -> Any:
    """The product rule: one factor at a time is replaced by its tangent."""
    total = None
    for at, t in zip(op.edge_at, tangents, strict=True):
        if t is not None:
            part = op.call(*values[:at], t, *values[at + 1 :])
            total = part if total is None else total + part
    return total


def _by_transposing(op: Op, values: Any, tangents: list[Any], outs: list[Any]) -> list[Any]:
    """The derivative of the vjp with respect to its cotangent, which it is linear in."""
    from . import engine

    flags = op.differentiable or (True,) * len(outs)
    conjugate = op.holomorphic and outs[0].dtype.is_complex
    create = MODE.grad
    with new_level() as level, enable_grad():  # this tape is ours
        seeds = [
            tape_leaf(level, TENSOR.zeros_like(z)) if flag else None
            for z, flag in zip(outs, flags, strict=False)
        ]
        g: Any = seeds if len(outs) > 1 else seeds[0]
        mask = [(None if t is None else 1, 0) for t in tangents]
        found = call_rules(op, TENSOR, g, mask, op.values(values, outs))
        roots, starts = [], []
        for v, t in zip(found, tangents, strict=True):
            if t is None or v is None or not isinstance(v, Taped) or v._edge is NO_EDGE:
                continue
            v = _reduced(v, t)
            roots.append(v._edge)
            starts.append(TENSOR.conj(t) if conjugate else t)
        edges = [None if s is None else s._edge for s in seeds]
        wanted = [e for e in edges if e is not None]
        parts = iter(engine.run(roots, starts, True, create, wanted, False) if roots else ())
    result = [None if e is None else next(parts, None) for e in edges]
    return [TENSOR.conj(r) if conjugate and r is not None else r for r in result]


def _reduced(v: Any, t: Any) -> Any:
    """What the engine would do to ``v``: fit the shape and dtype of its input."""
    if v.shape != t.shape:
        v = TENSOR.sum_to_size(v, tuple(t.shape))
    return v if v.dtype is t.dtype else TENSOR.to_dtype(v, t.dtype)


# --- Batched --------------------------------------------------------------------------------------


def _batched(op: Op, args: tuple[Any, ...], level: float) -> Any:
    def is_batched(a: Any) -> bool:
        return type(a) is Batched and a._level == level

    result = batching.run(op, args, is_batched)
    if _several(result):
        return type(result)(make(Batched, level, z) for z in result)
    return make(Batched, level, result)


_HANDLERS: dict[Any, Any] = {Batched: _batched, Dual: _dual, Taped: _taped}
