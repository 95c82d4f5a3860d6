"""Writes inside transforms: they reach the tensor below, and a wrapper's views are told.

A batch is written to where it lies, and so are its views. What a level differentiates has a history
of its own: a view remembers the wrapper it was made of and how; a write to it is carried back to
that wrapper, and the wrapper's other views are made anew.
"""

from __future__ import annotations

import weakref
from typing import Any

from .. import dtypes, errors
from ..modes import MODE
from ..tensor import NO_EDGE, Tensor, base_of
from .memory import check_shape
from .op import TENSOR, Op


def note_views(op: Op | None, args: tuple[Any, ...], result: Any) -> None:
    """Remember that ``result`` shares the memory of the first argument (None: perhaps)."""
    from .wrappers import Wrapped

    base = args[0]
    single = type(result) not in (tuple, list)
    for v in (result,) if single else result:
        if isinstance(v, Wrapped) and isinstance(base, Wrapped):
            v.__dict__["view_of"] = base
            v.__dict__["made_by"] = (op if single else None, args[1:])
            base.__dict__.setdefault("views", weakref.WeakSet()).add(v)


def process_in_place(op: Op, args: tuple[Any, ...]) -> Any:
    """Run an in-place operation at the highest level among its arguments."""
    from .levels import process, wrapped_in
    from .wrappers import Batched, Wrapped

    target = args[0]
    top = max(wrapped_in(args), key=lambda a: a._level)
    if not isinstance(target, Wrapped) or target._level < top._level:
        if type(top) is Batched:
            raise RuntimeError(errors.VMAP_INPLACE.format("arithmetic"))
        raise RuntimeError(errors.CAPTURED.format(_title(op)))
    _check_leaf(target)
    value = process(op, (_kept(op, args), *args[1:]))
    if not _levels(value, Batched) <= _levels(target, Batched):
        raise RuntimeError(errors.VMAP_INPLACE.format("arithmetic"))
    dtypes.check_cast(value.dtype, target.dtype)
    if value.dtype is not target.dtype:
        value = TENSOR.to_dtype(value, target.dtype)
    if tuple(value.shape) != tuple(target.shape):
        check_shape(target, value)
        value = TENSOR.expand(value, tuple(target.shape))
    while "view_of" in target.__dict__ and not _aliases(target):
        target, value = target.__dict__["view_of"], _carried_back(op, target, value)
    _set(target, value)
    _refresh(target)
    return args[0]


def _check_leaf(target: Any) -> None:
    """PyTorch's errors for writes to what a transform differentiates by."""
    from .wrappers import LevelLeaf, Taped

    if type(target) is not Taped or not MODE.grad:
        return
    if type(target._edge[0]) is LevelLeaf:
        raise RuntimeError(errors.LEAF_IN_PLACE)
    base = target
    while "view_of" in base.__dict__:
        if base.__dict__["made_by"][0] is None:
            raise RuntimeError(_OF_SEVERAL)
        base = base.__dict__["view_of"]
    if type(base._edge[0]) is LevelLeaf:
        raise RuntimeError(errors.VIEW_OF_LEAF_IN_PLACE)


_OF_SEVERAL = (
    "A view was created in no_grad mode and is being modified inplace with grad mode enabled. This "
    "view is the output of a function that returns multiple views. Such functions do not allow the "
    "output views to be modified inplace. You should replace the inplace operation by an "
    "out-of-place one."
)


def _kept(op: Op, args: tuple[Any, ...]) -> Any:
    """The target as the operation reads it: a copy, where a rule will ask for what it was."""
    from .wrappers import lowered, make

    target = args[0]
    cls = type(target)
    if op.node is None:
        return target
    edges = tuple([(1, 0) if isinstance(a, Tensor) else NO_EDGE for a in op.edge_inputs(args)])
    if not op.needs_input(0, edges):
        return target
    with lowered(0):
        old = make(cls, target._level, TENSOR.clone(target._data))
    old._edge = target._edge
    if hasattr(target, "tangent"):
        old.tangent = target.tangent
    return old


def _aliases(view: Any) -> bool:
    """Whether a batch lies in the memory of the batch that it is a view of."""
    from .wrappers import Batched

    if type(view) is not Batched:
        return False
    return _root(view._data) is _root(view.__dict__["view_of"]._data)


def _root(t: Any) -> Any:
    """The tensor whose memory a tensor shows."""
    base = base_of(t)
    if base is not None:
        return base
    while "view_of" in getattr(t, "__dict__", ()):
        t = t.__dict__["view_of"]
    return t


def view_in_place(op: Op, self: Any, statics: tuple[Any, ...]) -> Any:
    """Make a wrapper a view of what it was."""
    from .levels import process
    from .wrappers import make

    _check_leaf(self)
    old = make(type(self), self._level, self._data)
    old._edge = self._edge
    if hasattr(self, "tangent"):
        old.tangent = self.tangent
    old.__dict__.update(self.__dict__)
    if "view_of" in self.__dict__:
        others = self.__dict__["view_of"].__dict__["views"]
        others.discard(self)
        others.add(old)
    for view in self.__dict__.pop("views", ()):
        view.__dict__["view_of"] = old
    made = process(op, (old, *statics))
    self._data, self._edge = made._data, made._edge
    if hasattr(self, "tangent"):
        self.tangent = made.tangent
    note_views(op, (old, *statics), self)
    return self


def _title(op: Op) -> str:
    name = op.name.split(".")[0]
    return "copy_" if name == "overwrite" else f"{name}_"


def _levels(t: Any, kind: type | None = None) -> set[float]:
    """The levels of a tensor's wrappers (of one class)."""
    from .wrappers import Wrapped

    found = set()
    while isinstance(t, Wrapped):
        if kind is None or type(t) is kind:
            found.add(t._level)
        t = t._data
    return found


def _carried_back(written: Op, view: Any, value: Any) -> Any:
    """The value of a view's base after ``value`` has been written to the view."""
    base, (op, statics) = view.__dict__["view_of"], view.__dict__["made_by"]
    if op is None:
        raise NotImplementedError(f"{written.name}_: in-place write to a view inside a transform")
    saved = op.values((base, *statics), [view])
    rule = op.rules[0]
    ones = TENSOR.ones(tuple(view.shape), dtype=view.dtype)
    where = rule(TENSOR, ones, *saved) != 0
    return TENSOR.where(where, rule(TENSOR, value, *saved), base)


def _set(target: Any, value: Tensor) -> None:
    """Write a value over what a wrapper shows, which may be a program's own tensor."""
    from .wrappers import Dual, Wrapped, lowered, make

    if not isinstance(value, Wrapped) or value._level != target._level:
        value = make(type(target), target._level, value)
    if target.__dict__.get("given") or _levels(value._data) <= _levels(target._data):
        with lowered(target._level):
            target._data.copy_(value._data)
    else:  # the transform's own: it may take what has a history further out
        target._data = value._data
    target._edge = value._edge
    if isinstance(target, Dual):
        target.tangent = value.tangent


def _refresh(base: Any) -> None:
    """Make the views of a wrapper anew, and theirs."""
    from .levels import process
    from .wrappers import Batched, Dual

    for view in list(base.__dict__.get("views", ())):
        op, statics = view.__dict__["made_by"]
        if type(view) is not Batched or not _aliases(view):
            if op is None:
                raise NotImplementedError(
                    "in-place write to a tensor with several views in a transform"
                )
            made = process(op, (base, *statics))
            view._data, view._edge = made._data, made._edge
            if isinstance(view, Dual):
                view.tangent = made.tangent
        _refresh(view)
