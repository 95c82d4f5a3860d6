"""Dual tensors of eager code: plain tensors that carry a tangent while a dual level is open.

A transform wraps its inputs; here the tensor itself changes class, so that it keeps its memory, its
views and its place on the tape. An operation runs as it would without tangents, on the general
path, and the results are given theirs from the same derivative rules that ``wrappers.Dual`` uses.
When the level closes, every dual tensor that is still alive becomes a plain tensor again.
"""

from __future__ import annotations

import copy
import gc
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..modes import MODE
from ..tensor import NO_EDGE, ODD, Tensor, base_of, counter, new, wrap
from .node import Entry, Node, new_node
from .op import RESULT, TENSOR, Op
from .saved import open_tensor
from .views import edge_of, geometry


class PlainDual(Tensor):
    """A plain tensor with a tangent, until the level closes."""

    __slots__ = ()
    _tangent: Tensor


PlainDual.__name__ = PlainDual.__qualname__ = "Tensor"  # PyTorch's dual tensors have no other class


class _Forward:
    """The open dual level, one for all threads; ``level`` is 0 where there is none.

    The level lies between those of the transforms around it and of the transforms inside.
    """

    def __init__(self) -> None:
        self.level = 0.0
        self.duals: Any = weakref.WeakValueDictionary()  # by id: tensors compare by their elements
        self.saved: Any = weakref.WeakSet()


FORWARD = _Forward()


def open_level() -> None:
    """Let tensors carry tangents from here on; RuntimeError inside another level."""
    if FORWARD.level:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    FORWARD.level = MODE.level + 0.5


def close_level() -> None:
    """Take all tangents away."""
    FORWARD.level = 0.0
    for t in list(FORWARD.duals.values()):
        t.__class__ = Tensor
        del t._tangent
    for entry in list(FORWARD.saved):
        entry.tangent = None
    FORWARD.duals.clear()
    FORWARD.saved.clear()


def enabled() -> bool:
    """Whether operations compute tangents."""
    return MODE.tangents and not MODE.inference and FORWARD.level > 0


def give(t: Tensor, tangent: Tensor) -> None:
    """Make ``t`` a dual tensor."""
    if type(t) is Tensor:
        t.__class__ = PlainDual
    elif type(t) is not PlainDual:
        raise NotImplementedError(f"forward-mode AD: a tangent of a {type(t).__name__}")
    t._tangent = tangent  # type: ignore[attr-defined]
    FORWARD.duals[id(t)] = t


def primal(a: Any) -> Any:
    """The same tensor (or those of a list) without tangent, history included."""
    if type(a) is PlainDual:
        t: Any = new(Tensor)
        t._edge, t._ver, t._data, t._grad = edge_of(a), counter(a), a._data, None
        place = a._place
        t._place = place if place is None or place is ODD else copy.copy(place)
        return t
    if type(a) in (tuple, list) and a and any(type(x) is PlainDual for x in a):
        return [primal(x) for x in a]
    return a


def tangent_of(a: Any) -> Tensor | None:
    """The tangent of a dual tensor; None for anything else."""
    return a._tangent if type(a) is PlainDual else None


def holds(a: Any) -> bool:
    """Whether an argument is a dual tensor, or a list with one."""
    return type(a) is PlainDual or (type(a) in (tuple, list) and any(map(holds, a)))


def laid_out(tangent: Any, like: Tensor) -> Any:
    """``tangent``, or a copy of it, in the memory order of ``like``, so that views fit both."""
    if getattr(tangent._data, "strides", None) is None or like.numel() < 2:
        return tangent
    if tangent.shape == like.shape and tangent.stride() == like.stride():
        return tangent
    room = TENSOR.empty_like(like, dtype=tangent.dtype)
    if room.stride() != like.stride():  # there are gaps between the elements of ``like``
        reach = sum((n - 1) * s for n, s in zip(like.shape, like.stride(), strict=True))
        flat = TENSOR.zeros(reach + 1, dtype=tangent.dtype, device=tangent.device)
        room = TENSOR.as_strided(flat, tuple(like.shape), like.stride())
    return room.copy_(tangent)


def check_size(t: Tensor, tangent: Tensor) -> None:
    """PyTorch's error for a tangent of another shape."""
    if tangent.shape != t.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original "
            f"Tensor, this is not supported. Tensor is of size {list(t.shape)} while the given "
            f"forward gradient is of size {list(tangent.shape)}."
        )


# --- operations -----------------------------------------------------------------------------------


def extend(op: Op, args: tuple[Any, ...], result: Any) -> Any:
    """Give the results of ``op`` their tangents."""
    tangents = [tangent_of(a) for a in op.edge_inputs(args)]
    if op.node is None or not enabled() or all(t is None for t in tangents):
        return result
    outs = list(result) if type(result) in (tuple, list) else [result]
    values = tuple(map(primal, args))
    found = _tangents(op, values, tangents, [_alias(z) for z in outs])
    view = op.kind == "view"
    narrow = all(t is None or t.dtype is a.dtype for t, a in _pairs(op, args, tangents))
    for z, t in zip(outs, found, strict=True):
        if t is not None and z.dtype.category >= dtypes.FLOAT:
            t = _same_view(t, z, args[0]) if view else _fitted(t, z, tangents, narrow)
            give(z, t if view or op.jvp == "linear" else _recorded(t, op, values))
    _keep_tangents(op, outs[0], outs)
    return result


def _alias(z: Tensor) -> Tensor:
    """A result as the rules see it: it stays plain when the result itself becomes dual."""
    t: Any = new(Tensor)
    t._data, t._edge, t._place, t._grad = z._data, z._edge, z._place, None
    t._ver = counter(z)
    return t


def _tangents(op: Op, values: Any, tangents: Any, outs: Any) -> list[Any]:
    from .levels import tangents_of

    return tangents_of(op, values, tangents, outs)


def _pairs(op: Op, args: tuple[Any, ...], tangents: Any) -> Any:
    return zip(tangents, op.edge_inputs(args), strict=True)


def _fitted(t: Tensor, z: Tensor, given: list[Any], narrow: bool) -> Tensor:
    """A tangent in the shape, dtype and order of its result, in memory of its own.

    A tangent that came with another dtype than its primal keeps it.
    """
    if narrow and t.dtype is not z.dtype:
        t = TENSOR.to_dtype(t, z.dtype)
    if t.shape != z.shape:
        t = TENSOR.expand(t, tuple(z.shape))
    if any(t is g for g in given) or base_of(t) is not None:
        t = TENSOR.clone(t)
    return laid_out(t, z)


class ConstantTangentBackward(Node):
    """Behind a tangent that happens not to depend on its operation's inputs: gradients of zero."""

    __slots__ = ()

    def apply(self, F: Any, g: Any, raw: bool) -> Any:
        return [F.zeros_like(x._data if raw else x) for x in self.saved]


def _recorded(t: Tensor, op: Op, values: tuple[Any, ...]) -> Tensor:
    """``t`` with a history wherever the general formula of the tangent would have one."""
    if not MODE.grad or t._edge is not NO_EDGE or base_of(t) is not None:
        return t
    asked = [v for v, name in zip(values, op.inputs) if name in op.saved_names]
    recorded = [v for v in asked if isinstance(v, Tensor) and v._edge is not NO_EDGE]
    if recorded:
        edges = tuple(v._edge for v in recorded)
        node = new_node(ConstantTangentBackward, edges, recorded, tuple(t.shape), t.dtype.array)
        t._edge = (node, 0)
    return t


def _same_view(t: Tensor, z: Tensor, of: Tensor) -> Tensor:
    """The tangent of a view, as a view of the tangent of what it was made of."""
    if base_of(t) is not None or z.dtype is not of.dtype:
        return t
    where, whole = geometry(z, of), of._tangent
    start = whole.storage_offset() + where.offset
    return TENSOR.as_strided(whole, where.shape, where.strides, start)


class SavedDual(Entry):
    """A saved result with its tangent, so that gradients get tangents too."""

    __slots__ = ("__weakref__", "entry", "tangent")

    def __init__(self, entry: Any, tangent: Tensor) -> None:
        self.entry, self.tangent = entry, tangent
        FORWARD.saved.add(self)

    def open(self, node: Node) -> Tensor:
        t = open_tensor(self.entry, node)
        if self.tangent is not None and enabled():
            give(t, self.tangent)
        return t


def _keep_tangents(op: Op, whole: Tensor, outs: list[Tensor]) -> None:
    """Save the tangents of results beside the results in the node of ``op``, behind ``whole``."""
    node = next((z._edge[0] for z in (whole, *outs) if z._edge[0] is not None), None)
    node = getattr(node, "fn", node)  # inside a CopySlices
    if node is None or getattr(node, "op", None) is not op or not node.saved:
        return
    for at, (kind, i, _) in enumerate(op.plan):
        if kind == RESULT and type(outs[i]) is PlainDual:
            node.saved[at] = SavedDual(node.saved[at], outs[i]._tangent)


# --- writes ---------------------------------------------------------------------------------------


def written(op: Op, args: tuple[Any, ...], write: Callable[..., Tensor]) -> Tensor:
    """Run the in-place operation ``write(op, args)``, and write the tangent in place as well."""
    target = args[0]
    if not enabled() or target.dtype.category < dtypes.FLOAT:
        return write(op, args)
    tangents = [_kept(tangent_of(a), a, target) for a in op.edge_inputs(args)]
    values = tuple([_kept(primal(a), a, target) for a in args])
    write(op, args)
    if op.node is None or all(t is None for t in tangents):
        _put(target, None)
        return target
    (found,) = _tangents(op, values, tangents, [primal(_undual(target))])
    _put(target, found)
    base = base_of(target)
    _keep_tangents(op, target if base is None else base, [target])
    return target


def _kept(value: Any, a: Any, target: Tensor) -> Any:
    """What the rules ask of argument ``a``: a copy where the write to ``target`` changes it."""
    if value is None or not isinstance(a, Tensor):
        return value
    shared = a is target or (a._ver is not None and a._ver is target._ver)
    return TENSOR.clone(value) if shared else value


def _undual(target: Tensor) -> Tensor:
    return _alias(target) if type(target) is not PlainDual else target


def _put(target: Tensor, tangent: Tensor | None) -> None:
    """Write a tangent over that of ``target``, whose views and base share its memory."""
    if type(target) is not PlainDual:
        if tangent is None:
            return
        _start_tangent(target)
    mine = tangent_of(target)
    assert mine is not None
    if tangent is None:
        mine.zero_()
    elif tangent is not mine:
        mine.copy_(tangent if base_of(tangent) is None else TENSOR.clone(tangent))


def _start_tangent(target: Tensor) -> None:
    """Zeros for a tensor that had no tangent: of a view, as a view of its base's."""
    base = base_of(target)
    base = target if base is None else base
    if type(base) is not PlainDual:
        give(base, TENSOR.zeros_like(base))
    for view in _views_of(base, target):
        if type(view) is Tensor:
            where = geometry(view, base)
            part = TENSOR.as_strided(base._tangent, where.shape, where.strides, where.offset)
            give(view, part)


def _views_of(base: Any, target: Any) -> list[Tensor]:
    """The live views of ``base``, of which ``target`` is one or ``base`` itself.

    They share its version counter. The search for them takes milliseconds, and is seldom needed.
    """
    known = [] if target is base else [target]
    if _holders(base) <= _ALONE + len(known):
        return known
    found = gc.get_referrers(counter(base))
    return [t for t in found if isinstance(t, Tensor) and base_of(t) is base]


def _holders(t: Tensor) -> int:
    """How many references there are to the version counter, and to what looks at it here."""
    shared = counter(t)
    return sys.getrefcount(shared)


_ALONE = _holders(wrap(np.zeros(())))


def overwritten(target: Tensor) -> None:
    """Zeros for the tangent of a tensor whose elements have all been replaced by constants."""
    if type(target) is PlainDual and enabled():
        _put(target, None)


def view_written(op: Op, target: Tensor, statics: tuple[Any, ...]) -> None:
    """Give the tangent of ``target`` the geometry that ``target`` gets."""
    if type(target) is PlainDual:
        target._tangent = op.call(target._tangent, *statics)


def keep(target: Tensor, old: Tensor) -> None:
    """Give a copy of ``target`` from before a write the tangent that ``target`` had."""
    if type(target) is PlainDual and enabled():
        give(old, laid_out(TENSOR.clone(target._tangent), old))
