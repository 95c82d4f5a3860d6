"""What a node keeps for its rule, and how it is opened again.

An entry is one of
    (tensor, version)            an input
    (array, counter, version)    a result: rebuilt with its node when a Tensor is asked for
    (array, counter, version, n) the same for output n of several
    Packed                       what a saved-tensor hook made of either
    a number                     an input that was no tensor
Static arguments are kept beside them as they are; the operation knows which entries they are.
"""

from __future__ import annotations

import contextlib
from typing import Any

from .. import dtypes, errors
from ..modes import ANOMALY, MODE
from ..tensor import NO_EDGE, Tensor, counter, same_memory, wrap
from .node import AccumulateGrad, Entry, Node, short_name


class Packed(Entry):
    """An entry that went through the user's saved-tensor hooks."""

    __slots__ = ("edge", "nr", "packed", "unpack")

    def __init__(self, tensor: Tensor, edge: Any, nr: int = 0, pair: Any = None) -> None:
        pack, self.unpack = MODE.saved_hooks[-1] if pair is None else pair
        self.edge, self.nr = edge, nr  # the edge of an input; None for a result (no cycle)
        hooks, MODE.saved_hooks = MODE.saved_hooks, ()
        grad, MODE.grad = MODE.grad, False
        try:
            version = counter(tensor)[0]
            self.packed = pack(tensor)
            if counter(tensor)[0] != version:
                raise RuntimeError(errors.PACK_IN_PLACE)
        finally:
            MODE.saved_hooks, MODE.grad = hooks, grad

    def open(self, node: Node) -> Tensor:
        tensor = self.unpack(self.packed)
        if not isinstance(tensor, Tensor):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of "
                f"type {type(tensor).__name__}"
            )
        edge = (node, self.nr) if self.edge is None else self.edge
        if tensor._edge == edge:
            return tensor
        tensor = wrap(tensor._data)
        tensor._edge = edge
        return tensor


def save_input(t: Tensor) -> Any:
    """The entry of an input."""
    place = t._place
    if place is not None and place.inference:
        raise RuntimeError(errors.INFERENCE_SAVED)
    if MODE.saved_hooks:
        return Packed(t, t._edge)
    ver = t._ver
    return (t, 0 if ver is None else ver[0])


def save_result(t: Tensor, nr: int = 0) -> Any:
    """The entry of a result."""
    place, ver = t._place, t._ver
    if place is not None and place.inference:
        raise RuntimeError(errors.INFERENCE_SAVED)
    if MODE.saved_hooks:
        return Packed(same_memory(t), None, nr)
    if ver is None:
        ver = t._ver = [0]
    if nr:
        return (t._data, ver, ver[0], nr)
    return (t._data, ver, ver[0])


def open_raw(entry: Any, node: Node) -> Any:
    """The entry as an array (or the static value itself)."""
    if type(entry) is tuple:
        if len(entry) == 2:
            t, version = entry
            ver = t._ver
            if ver is not None and ver[0] != version:
                raise changed(t, t._edge, ver[0], version)
            return t._data
        if entry[1][0] != entry[2]:
            nr = entry[3] if len(entry) > 3 else 0
            flags = getattr(node.op, "differentiable", None)  # type: ignore[attr-defined]
            edge = NO_EDGE if flags and not flags[nr] else (node, nr)
            raise changed(wrap(entry[0]), edge, entry[1][0], entry[2])
        return entry[0]
    if isinstance(entry, Entry):
        return entry.open(node)._data
    return entry


def open_tensor(entry: Any, node: Node) -> Any:
    """The entry as a Tensor with its history (or the static value itself)."""
    if type(entry) is tuple:
        if len(entry) == 2:
            open_raw(entry, node)
            return entry[0]
        t = wrap(open_raw(entry, node))
        t._ver = entry[1]
        t._edge = (node, entry[3] if len(entry) > 3 else 0)
        return t
    if isinstance(entry, Entry):
        return entry.open(node)
    return entry


class SavedTensor:
    """What a node keeps of one tensor, so that hooks can be set for it alone."""

    def __init__(self, *args: Any) -> None:
        raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")

    @classmethod
    def of(cls, node: Node, at: int) -> SavedTensor:
        """The place ``at`` among what ``node`` has saved."""
        self = object.__new__(cls)
        self.node, self.at = node, at
        return self

    node: Node
    at: int

    def register_hooks(self, pack_hook: Any, unpack_hook: Any) -> None:
        """Pack the tensor now, and unpack it whenever it is needed. Raises where that was done."""
        if self.node.saved is None:
            raise RuntimeError(errors.HOOKS_FREED)
        entry = self.node.saved[self.at]
        if entry is None:
            raise RuntimeError(errors.HOOKS_NONE)
        if isinstance(entry, Packed):
            raise RuntimeError(errors.HOOKS_TWICE)
        pair = (pack_hook, unpack_hook)
        if len(entry) == 2:
            packed = Packed(entry[0], entry[0]._edge, pair=pair)
        else:
            packed = Packed(wrap(entry[0]), None, entry[3] if len(entry) > 3 else 0, pair)
        saved = list(self.node.saved)
        saved[self.at] = packed
        self.node.saved = tuple(saved)


class Detached(list[int]):
    """The counter of a tensor that was detached in place: one ahead, so that checks fail."""


def changed(t: Tensor, edge: Any, now: int, version: int) -> RuntimeError:
    """The error for a saved tensor that was written to since."""
    from .views import edge_of

    if type(t._ver) is Detached and now == version + 1:
        return RuntimeError(errors.DETACHED)
    legacy = dtypes.FROM_ARRAY[t._data.dtype].legacy
    named = not legacy.startswith(("B", "Complex")) or legacy == "Byte"
    kind = f"torch.{legacy}Tensor" if named else f"CPU{legacy}Type"
    with contextlib.suppress(RuntimeError):  # a view may not follow its base
        edge = edge_of(t) if t._edge is edge else edge
    node = edge[0]
    origin = ""
    if node is not None and not isinstance(node, AccumulateGrad):
        origin = f", which is output {edge[1]} of {short_name(node)},"
    sizes = list(t._data.shape)
    hint = errors.ANOMALY_HINT if ANOMALY.on else errors.CHANGED_HINT
    return RuntimeError(
        errors.CHANGED.format(
            kind=kind, sizes=sizes, origin=origin, now=now, saved=version, hint=hint
        )
    )
