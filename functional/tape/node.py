"""Nodes of the graph, their hooks, and the leaves' AccumulateGrad."""

from __future__ import annotations

import itertools
import re
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, ClassVar

from .. import dtypes
from ..modes import ANOMALY
from ..tensor import NO_EDGE, Tensor, new, wrap

next_seq = itertools.count(1).__next__
HAND_WRITTEN = {"AccumulateGrad", "CopyBackwards", "CopySlices"}
LEAF_SEQ = 1 << 62  # accumulation runs before every operation


def short_name(node: Node) -> str:
    """The name some messages use: ``Exp`` for an ``ExpBackward0``."""
    return re.sub(r"Backward0?(\d*)$", r"\1", node.name())


class RemovableHandle:
    """Returned by hook registration; ``remove()``, or leaving a ``with`` block, takes it away.

    ``extra_dict`` is a further dictionary, or several, that hold something under the same id.
    A copy of a handle, or one that was pickled, has dictionaries of its own.
    """

    next_id = 0

    def __init__(self, hooks_dict: Any, *, extra_dict: Any = None) -> None:
        self.hooks_dict_ref = weakref.ref(hooks_dict)
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        many = extra_dict if isinstance(extra_dict, (list, tuple)) else [extra_dict]
        self.extra_dict_ref = tuple(weakref.ref(d) for d in many if d is not None)

    def remove(self) -> None:
        for ref in (self.hooks_dict_ref, *self.extra_dict_ref):
            found = ref()
            if found is not None:
                found.pop(self.id, None)

    def __getstate__(self) -> Any:
        return self.hooks_dict_ref(), self.id, tuple(ref() for ref in self.extra_dict_ref)

    def __setstate__(self, state: Any) -> None:
        hooks, self.id, extra = (*state, ())[:3]
        self.hooks_dict_ref, *others = (
            weakref.ref(OrderedDict() if d is None else d) for d in (hooks, *extra)
        )
        self.extra_dict_ref = tuple(others)
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


class Extra:
    """The rarely needed parts of a node: hooks, retained gradients, metadata."""

    def __init__(self) -> None:
        self.tensor_hooks: dict[int, OrderedDict[int, Callable[..., Any]]] = {}
        self.retain: dict[int, weakref.ref[Tensor]] = {}
        self.pre: OrderedDict[int, Callable[..., Any]] = OrderedDict()
        self.post: OrderedDict[int, Callable[..., Any]] = OrderedDict()
        self.post_accumulate: OrderedDict[int, Callable[..., Any]] = OrderedDict()
        self.metadata: dict[Any, Any] = {}
        self.anomaly: str | None = None


class Node:
    """One recorded operation: where gradients go next, and what the rule needs."""

    __slots__ = ("__weakref__", "dtype", "extra", "next_functions", "saved", "seq", "shape")
    outputs: ClassVar[int] = 1
    saved_names: ClassVar[tuple[str, ...]] = ()
    frees: ClassVar[int] = 0  # is there anything to release? 1: ask `release`, 2: always
    next_functions: tuple[tuple[Any, int], ...]
    saved: Any
    shape: Any  # of the output; a list of shapes where there are several outputs
    dtype: Any
    seq: int
    extra: Extra | None

    def name(self) -> str:
        """The class name, as PyTorch gives it: its hand-written classes come with a path."""
        title = type(self).__name__
        return f"torch::autograd::{title}" if title in HAND_WRITTEN else title

    def apply(self, F: Any, g: Any, raw: bool) -> Any:
        """Gradients for every edge, from ``g``; arrays if ``raw``, else Tensors."""
        raise NotImplementedError

    def release(self) -> None:
        """Forget what was saved."""
        self.saved = None

    def more(self) -> Extra:
        if self.extra is None:
            self.extra = Extra()
        return self.extra

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dict for the user's own notes."""
        return self.more().metadata

    requires_grad = property(lambda self: True)

    def _sequence_nr(self) -> int:
        return self.seq

    def register_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(grad_inputs, grad_outputs)`` after this node has run."""
        return add_hook(self.more().post, hook)

    def register_prehook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(grad_outputs)`` before this node runs."""
        return add_hook(self.more().pre, hook)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {hex(id(self))}>"


def add_hook(hooks: dict[int, Any], hook: Callable[..., Any]) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


class Entry:
    """Something saved that knows itself how to become a Tensor again."""

    __slots__ = ()

    def open(self, node: Node) -> Tensor:
        raise NotImplementedError


class AccumulateGrad(Node):
    """Adds the gradient that arrives into a leaf's ``grad``. Holds the leaf weakly."""

    __slots__ = ("data", "leaf")

    def __init__(self, leaf: Tensor) -> None:
        self.leaf = weakref.ref(leaf)
        self.data = leaf._data
        self.next_functions = ()
        self.seq = LEAF_SEQ + next_seq()
        self.saved = self.extra = None

    # the leaf's array can be exchanged (`.double()`, `.data = `), so ask when used
    def like(self) -> Any:
        """The leaf's array."""
        leaf = self.leaf()
        return self.data if leaf is None else leaf._data

    @property
    def shape(self) -> Any:
        return self.like().shape

    @property
    def dtype(self) -> Any:
        return self.like().dtype

    @property
    def variable(self) -> Tensor:
        """The leaf; rebuilt over the same memory when its last name is gone."""
        leaf = self.leaf()
        if leaf is None:
            leaf = wrap(self.data)
            leaf._edge = (self, 0)
            self.leaf = weakref.ref(leaf)
        return leaf


def make_leaf(t: Tensor) -> None:
    """Start recording operations on ``t``."""
    t._edge = (AccumulateGrad(t), 0)


def is_leaf_edge(edge: tuple[Any, int]) -> bool:
    return edge is NO_EDGE or type(edge[0]) is AccumulateGrad


def new_node(cls: type[Node], edges: tuple[Any, ...], saved: Any, shape: Any, dtype: Any) -> Any:
    """A node of class ``cls`` with all slots written."""
    n = new(cls)
    n.next_functions = edges
    n.saved = saved
    n.shape = shape
    n.dtype = dtype
    n.seq = next_seq()
    n.extra = None
    if ANOMALY.on:
        n.more().anomaly = ANOMALY.forward()  # type: ignore[misc]
    return n


def is_complex(dtype: Any) -> bool:
    return dtype is dtypes.C64 or dtype is dtypes.C128
