"""Writes inside transforms: a wrapper gets a new value, and so do the views of its memory.

Wrappers share no memory. A view remembers the wrapper it was made of and how; a write to it is
carried back to that wrapper, and the wrapper's other views are made anew.
"""

from __future__ import annotations

import weakref
from typing import Any

from ..tensor import Tensor
from .op import TENSOR, Op


def note_views(op: Op | None, args: tuple[Any, ...], result: Any) -> None:
    """Remember that ``result`` shares the memory of the first argument (None: perhaps)."""
    from .levels import Wrapped

    base = args[0]
    single = type(result) not in (tuple, list)
    for v in (result,) if single else result:
        if isinstance(v, Wrapped) and isinstance(base, Wrapped):
            v.__dict__["view_of"] = base
            v.__dict__["made_by"] = (op if single else None, args[1:])
            base.__dict__.setdefault("views", weakref.WeakSet()).add(v)


def process_in_place(op: Op, args: tuple[Any, ...]) -> Any:
    """Run an in-place operation at the highest level among its arguments."""
    from .levels import Wrapped, process, wrapped_in

    target = args[0]
    top = max(wrapped_in(args), key=lambda a: a._level)
    if not isinstance(target, Wrapped) or target._level < top._level:
        raise RuntimeError(
            f"vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a "
            f"Tensor `other` in extra_args that has more elements than `self`: {op.name}_"
        )
    value = process(op, args)
    if tuple(value.shape) != tuple(target.shape):
        value = TENSOR.expand(value, tuple(target.shape))
    root = target
    while "view_of" in root.__dict__:
        root, value = root.__dict__["view_of"], _carried_back(op, root, value)
    _set(root, value)
    _refresh(root)
    return target


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
    from .levels import Dual, Wrapped, make

    if not isinstance(value, Wrapped) or value._level != target._level:
        value = make(type(target), target._level, value)
    target._data, target._edge = value._data, value._edge
    if isinstance(target, Dual):
        target.tangent = value.tangent


def _refresh(base: Any) -> None:
    """Make the views of a wrapper anew, and theirs."""
    from .levels import process

    for view in list(base.__dict__.get("views", ())):
        op, statics = view.__dict__["made_by"]
        if op is None:
            raise NotImplementedError(
                "in-place write to a tensor with several views in a transform"
            )
        _set(view, process(op, (base, *statics)))
        _refresh(view)
