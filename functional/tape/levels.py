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

from .. import devices, dtypes
from ..modes import MODE, enable_grad, no_grad
from ..size import Size
from ..tensor import NO_EDGE, Tensor, new
from . import batching, duals, function_duals
from .level_views import note_views
from .node import Node, new_node
from .op import TENSOR, Op, call_rules


class Wrapped(Tensor):
    """A tensor of one transform level over a tensor of the level below."""

    __slots__ = ("_level",)
    _level: float

    @property
    def shape(self) -> Size:
        return self._data.shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> dtypes.dtype:
        return self._data.dtype

    @property
    def device(self) -> devices.device:
        return self._data.device

    def detach_level(self) -> Any:
        """This level's history dropped; lower levels keep theirs."""
        return make(type(self), self._level, self._data)


class Batched(Wrapped):
    """A batch of tensors that the program sees as one: the first dimension is hidden."""

    __slots__ = ()

    @property
    def shape(self) -> Size:
        return self._data.shape[1:]


class Dual(Wrapped):
    """A value and its tangent (None: zero)."""

    __slots__ = ("tangent",)
    tangent: Any


class Taped(Wrapped):
    """A value recorded on the tape of its level."""

    __slots__ = ()


class LevelLeaf(Node):
    """Where gradients of one level arrive."""

    __slots__ = ()

    def apply(self, F: Any, g: Any, raw: bool) -> Any:
        return ()


def make(cls: Any, level: float, value: Any) -> Any:
    """A wrapper without history."""
    t: Any = new(cls)
    t._data, t._level = value, level
    t._edge = NO_EDGE
    t._place = t._ver = t._grad = None
    if cls is Dual:
        t.tangent = None
    return t


def tape_leaf(level: float, value: Tensor) -> Taped:
    """A Taped tensor whose gradient will be asked for."""
    t = make(Taped, level, value)
    shape, dtype = tuple(value.shape), value.dtype.array
    t._edge = (new_node(LevelLeaf, (), (), shape, dtype), 0)
    return t


@contextlib.contextmanager
def new_level() -> Iterator[int]:
    """Enter one more transform level."""
    MODE.level += 1
    try:
        yield MODE.level
    finally:
        MODE.level -= 1


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


def process(op: Op, args: tuple[Any, ...]) -> Any:
    """Run an operation at the highest level among its arguments."""
    top = max(wrapped_in(args), key=lambda a: a._level)
    if duals.FORWARD.level > top._level and any(map(duals.holds, args)):
        args = tuple(map(_lifted, args))
        top = max(wrapped_in(args), key=lambda a: a._level)
    handler = {Batched: _batched, Dual: _dual, Taped: _taped}[type(top)]
    result = handler(op, args, top._level)
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
    recording = MODE.grad
    with no_grad() if level in MODE.unrecorded else _AS_IS:
        result = op.call(*values)
    if op.node is None or not recording:
        return result
    edges = tuple(
        a._edge if type(a) is Taped and a._level == level else NO_EDGE for a in op.edge_inputs(args)
    )
    if all(edge is NO_EDGE for edge in edges):
        return result
    outs = list(result) if _several(result) else [result]
    shape: Any = tuple(outs[0].shape) if len(outs) == 1 else [tuple(z.shape) for z in outs]
    dtype: Any = outs[0].dtype.array
    if len(outs) > 1 and not op.holomorphic:  # real results beside complex ones
        dtype = [z.dtype.array for z in outs]
    node = new_node(op.node, edges, None, shape, dtype)
    node.saved = op.save(values, edges, outs, at_level=True)
    flags = op.differentiable or (True,) * len(outs)
    wrapped = [
        _recorded(level, z, node, nr) if flag else z
        for nr, (z, flag) in enumerate(zip(outs, flags, strict=False))
    ]
    return type(result)(wrapped) if _several(result) else wrapped[0]


def _recorded(level: float, value: Any, node: Node, nr: int) -> Taped:
    t = make(Taped, level, value)
    t._edge = (node, nr)
    return t


# --- Dual -----------------------------------------------------------------------------------------


def _dual(op: Op, args: tuple[Any, ...], level: float) -> Any:
    values = tuple(below(Dual, level, a) for a in args)
    result = op.call(*values)
    if op.node is None or not MODE.tangents:
        return result
    tangents = [
        a.tangent if type(a) is Dual and a._level == level else None for a in op.edge_inputs(args)
    ]
    if all(t is None for t in tangents):
        return result
    outs = list(result) if _several(result) else [result]
    found = tangents_of(op, values, tangents, outs)
    duals = [
        z if t is None or z.dtype.category < dtypes.FLOAT else _with_tangent(level, z, t)
        for z, t in zip(outs, found, strict=True)
    ]
    return type(result)(duals) if _several(result) else duals[0]


def _with_tangent(level: float, value: Tensor, tangent: Tensor) -> Dual:
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


# --- autograd.Function ----------------------------------------------------------------------------

NEEDS_SETUP = (
    "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, "
    "...), it must override the setup_context staticmethod. For more details, please see "
    "https://pytorch.org/docs/main/notes/extending.func.html"
)


def process_function(cls: Any, args: tuple[Any, ...]) -> Any:
    """A user-written operation at the highest level among its arguments."""
    if cls.setup_context is None:
        raise RuntimeError(NEEDS_SETUP)
    top = max(wrapped_in(args), key=lambda a: a._level)
    level = top._level
    if type(top) is Batched:
        return _function_batched(cls, args, level)
    values = tuple(below(type(top), level, a) for a in args)
    result = cls.apply(*values)
    finish = _function_taped if type(top) is Taped else _function_dual
    return finish(cls, args, values, result, level)


def _function_taped(cls: Any, args: Any, values: Any, result: Any, level: float) -> Any:
    edges = [
        a._edge if type(a) is Taped and a._level == level else NO_EDGE
        for a in args
        if isinstance(a, Tensor)
    ]
    ctx = cls.new_context(args, edges)
    cls.setup_context(ctx, values, result)
    outs = list(result) if _several(result) else [result]
    tensors = [o for o in outs if isinstance(o, Tensor)]
    ctx.outputs_info = [(tuple(t.shape), t.dtype) for t in tensors]
    shapes = [tuple(t.shape) for t in tensors]
    ctx.shape = shapes[0] if len(shapes) == 1 else shapes
    ctx.dtype = tensors[0].dtype.array
    wrapped = [_recorded(level, z, ctx, nr) for nr, z in enumerate(outs)]
    return type(result)(wrapped) if _several(result) else wrapped[0]


def _function_dual(cls: Any, args: Any, values: Any, result: Any, level: float) -> Any:
    if not hasattr(cls, "jvp"):
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with "
            "forward mode AD."
        )
    ctx = cls.new_context(args, [NO_EDGE for a in args if isinstance(a, Tensor)])
    cls.setup_context(ctx, values, result)
    tangents = [a.tangent if type(a) is Dual and a._level == level else None for a in args]
    found = function_duals.call_jvp(cls, ctx, values, tangents)
    outs = list(result) if _several(result) else [result]
    pairs = zip(outs, found if _several(found) else [found], strict=True)
    duals = [z if t is None else _with_tangent(level, z, t) for z, t in pairs]
    return type(result)(duals) if _several(result) else duals[0]


def _function_batched(cls: Any, args: Any, level: float) -> Any:
    values = [below(Batched, level, a) for a in args]
    flags = [type(a) is Batched and a._level == level for a in args]
    size = next(v.shape[0] for v, flag in zip(values, flags, strict=True) if flag)
    if hasattr(cls, "vmap"):
        in_dims = tuple(0 if flag else None for flag in flags)
        info = type("VmapInfo", (), {"batch_size": size, "randomness": "error"})
        result, out_dims = cls.vmap(info, in_dims, *values)
        return _rewrap(result, out_dims, level)
    if not cls.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please "
            "override and implement the vmap staticmethod or set generate_vmap_rule=True."
        )
    rows = [
        cls.apply(*[v[i] if flag else v for v, flag in zip(values, flags, strict=True)])
        for i in range(size)
    ]
    return _rewrap(batching.stack_rows(rows), 0, level)


def _rewrap(result: Any, out_dims: Any, level: float) -> Any:
    if _several(result):
        dims = out_dims if _several(out_dims) else [out_dims] * len(result)
        return type(result)(_rewrap(r, d, level) for r, d in zip(result, dims, strict=True))
    if out_dims is None:
        return result
    return make(Batched, level, TENSOR.movedim(result, out_dims, 0) if out_dims else result)
