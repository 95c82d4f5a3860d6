"""Views: whose memory they share, how their edge follows in-place writes to it.

A view remembers its base and, lazily, its geometry in the base's memory. When the base's version
counter has moved since the view's edge was right, the edge is derived anew as an
``AsStridedBackward0`` of the base's. An in-place write to a view makes the base's edge a
``CopySlices``.
"""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

from .. import errors
from ..modes import MODE
from ..tensor import (
    NO_EDGE,
    Place,
    Shared,
    Tensor,
    address,
    counter,
    is_inference,
    new,
    storage_array,
    wrap,
)
from .node import Entry, Node, is_leaf_edge, new_node, short_name
from .saved import Packed, changed, open_tensor


class Geometry(NamedTuple):
    """Where a view lies in its base: strides and offset count elements of the base's memory."""

    base_shape: tuple[int, ...]
    base_strides: tuple[int, ...]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int

    @property
    def view_shape(self) -> tuple[int, ...]:
        """The view's own shape."""
        return self.shape

    def take(self, F: Any, g: Any) -> Any:
        """The view's part of an array like the base."""
        return F.strided_take(g, self)

    def put(self, F: Any, g: Any) -> Any:
        """An array like the base: the view's elements in place, zeros elsewhere."""
        return F.strided_put(g, self)

    def replace(self, F: Any, g: Any, source: Any) -> Any:
        """An array like the base with the view's part replaced."""
        return F.strided_replace(g, source, self)


class GeometryOfParts(Geometry):
    """The same where one is complex and the other real: strides and offset count real numbers.

    What is complex has one dimension more, of size 2.
    """

    base_is_complex: bool

    @property
    def view_shape(self) -> tuple[int, ...]:
        return self.shape if self.base_is_complex else self.shape[:-1]

    def take(self, F: Any, g: Any) -> Any:
        if self.base_is_complex:
            return F.strided_take(F.view_as_real(g), self)
        return _joined(F, F.strided_take(g, self))

    def put(self, F: Any, g: Any) -> Any:
        if self.base_is_complex:
            return _joined(F, F.strided_put(g, self))
        return F.strided_put(F.view_as_real(g), self)

    def replace(self, F: Any, g: Any, source: Any) -> Any:
        if self.base_is_complex:
            return _joined(F, F.strided_replace(F.view_as_real(g), source, self))
        return F.strided_replace(g, F.view_as_real(source), self)


def _joined(F: Any, parts: Any) -> Any:
    """Pairs along the last dimension as complex numbers."""
    last = len(parts.shape) - 1
    return F.complex(F.select(parts, last, 0), F.select(parts, last, 1))


def _geometry_of_parts(x: Any, y: Any) -> Geometry:
    base_is_complex = y.dtype.kind == "c"
    item = min(x.dtype.itemsize, y.dtype.itemsize)
    shapes: Any = []
    for z, is_complex in ((y, base_is_complex), (x, not base_is_complex)):
        pair, step = ((2,), (1,)) if is_complex else ((), ())
        shapes += [(*z.shape, *pair), (*(s // item for s in z.strides), *step)]
    base_shape, base_strides, shape, strides = shapes
    offset = (address(x) - address(y)) // item
    where = GeometryOfParts(base_shape, base_strides, shape, strides, offset)
    where.base_is_complex = base_is_complex
    return where


def geometry(view: Tensor, base: Tensor) -> Geometry:
    """The geometry of ``view`` inside ``base``."""
    x, y = view._data, base._data
    item = y.dtype.itemsize
    if x.dtype != y.dtype:
        return _geometry_of_parts(x, y)
    return Geometry(
        y.shape,
        tuple(s // item for s in y.strides),
        x.shape,
        tuple(s // item for s in x.strides),
        (address(x) - address(y)) // item,
    )


class AsStridedBackward0(Node):
    """The edge of a view whose base has been written to."""

    __slots__ = ()

    def apply(self, F: Any, g: Any, raw: bool) -> Any:
        return [self.saved.put(F, g)]


class CopySlices(Node):
    """The history of a base after an in-place operation on one of its views."""

    __slots__ = ("fn",)
    fn: Node
    frees = 1

    def apply(self, F: Any, g: Any, raw: bool) -> Any:
        place, fn = self.saved, self.fn
        inner = place.take(F, g)
        if raw:
            inner = inner.copy()
        grads = fn.apply(F, inner, raw)
        first, rest = grads[0], grads[1:]
        if self.next_functions[0][0] is not None:
            if first is None:
                first = F.zeros_like(inner)
            elif tuple(first.shape) != place.view_shape:
                first = F.sum_to_size(first, place.view_shape)
            first = place.replace(F, g, first)
        return [first, *rest]

    def release(self) -> None:
        self.fn.release()


def edge_of(t: Tensor) -> tuple[Any, int]:
    """The edge of a tensor, derived anew for a view whose base has moved on."""
    place = t._place
    if place is None or place.base is None:
        return t._edge
    base = place.base
    assert t._ver is not None
    if place.version != t._ver[0] and base._edge is not NO_EDGE:
        if place.made is not None:
            raise _refused(t, place, indirect=True)
        where = geometry(t, base)
        node = new_node(AsStridedBackward0, (base._edge,), where, t._data.shape, t._data.dtype)
        set_edge(t, node)
        place.version = t._ver[0]
    return t._edge


def set_edge(t: Tensor, node: Node) -> None:
    """Make ``node`` the history of ``t``; a retained gradient moves there with it."""
    old, nr = t._edge
    t._edge = (node, 0)
    if old is not None and old.extra is not None and nr in old.extra.retain:
        node.more().retain[0] = old.extra.retain.pop(nr)


def requires_grad(t: Tensor) -> bool:
    """Whether operations on ``t`` are recorded; a view asks its base too."""
    if t._edge is not NO_EDGE:
        return True
    place = t._place
    return place is not None and place.base is not None and place.base._edge is not NO_EDGE


def as_view(data: Any, of: Tensor, made: str | None = None) -> Tensor:
    """A Tensor without history over ``data``, which shares the memory of ``of``."""
    return as_views([data], of, made)[0]


def as_views(datas: Any, of: Tensor, made: str | None = None) -> list[Tensor]:
    """Tensors without history over arrays that share the memory of ``of``."""
    inference = is_inference(of)
    if MODE.inference:
        made = "inference"
    elif not MODE.grad:
        made = "no_grad"
    ver = counter(of)
    base = None if of._place is None else of._place.base
    parent = of._place.made if base is not None and of._place is not None else None
    made, base = made or parent, of if base is None else base
    views = []
    for data in datas:
        t = new(Tensor)
        t._data = data
        t._edge = NO_EDGE
        t._ver, t._grad = ver, None
        if inference:
            t._place = Shared(storage_array(of), inference=True)
        else:
            t._place = Place(base, ver[0], made)
        views.append(t)
    return views


def _refused(t: Tensor, place: Place, indirect: bool) -> RuntimeError:
    """The error for a write that the way the view was made does not allow."""
    node, nr = t._edge
    made = place.made
    what = "its base or another view of its base has been" if indirect else "is being"
    origin = "" if node is None else f"Output {nr} of {short_name(node)} is a view"
    if made in ("no_grad", "inference") or node is None:
        mode, then = "no_grad", "with grad mode enabled"
        if made == "inference":
            mode, then = "inference", "in normal mode"
        start = f"{origin} of a view which was" if origin else "A view was"
        text = f"{start} created in {mode} mode and {what} modified inplace {then}."
    else:
        text = f"{origin} and {what} modified inplace."
    return RuntimeError(text + _MADE[made or ""])


_MADE = {
    "no_grad": errors.VIEW_IN_MODE.format(block="no_grad"),
    "inference": errors.VIEW_IN_MODE.format(block="inference_mode"),
    "multi": errors.MULTI_OUTPUT,
    "custom": errors.CUSTOM_VIEW,
}


def check_in_place(t: Tensor, recording: bool) -> None:
    """Raise PyTorch's error if ``t`` may not be written to now."""
    place = t._place
    if recording and MODE.grad:
        if place is not None and place.base is not None:
            if place.made is not None:
                raise _refused(t, place, indirect=False)
            if requires_grad(t) and is_leaf_edge(place.base._edge):
                raise RuntimeError(errors.VIEW_OF_LEAF_IN_PLACE)
        elif t._edge is not NO_EDGE and is_leaf_edge(t._edge):
            raise RuntimeError(errors.LEAF_IN_PLACE)
    if place is not None and place.inference and not MODE.inference:
        raise RuntimeError(errors.INFERENCE_IN_PLACE)
    if MODE.writing is not None:
        MODE.writing(t)


def bump(t: Tensor) -> None:
    """Count an in-place write."""
    counter(t)[0] += 1


def rebase(t: Tensor, node: Node) -> None:
    """Make ``node`` the history of ``t``, which an in-place operation has just rewritten."""
    place = t._place
    if place is None or place.base is None:
        set_edge(t, node)
        return
    base = place.base
    edges = (edge_of(base), *node.next_functions[1:])
    where = geometry(t, base)
    slices = new_node(CopySlices, edges, where, base._data.shape, base._data.dtype)
    slices.fn = node
    set_edge(base, slices)
    if node.saved is not None:
        op = getattr(node, "op", None)
        static = [False] * len(node.saved) if op is None else op.static
        found = [
            not fixed and _is_result(entry) for entry, fixed in zip(node.saved, static, strict=True)
        ]
        if any(found):
            view = edge_of(t)[0]
            node.saved = [
                SavedView(entry, slices, view) if result else entry
                for entry, result in zip(node.saved, found, strict=True)
            ]


def _is_result(entry: Any) -> bool:
    if isinstance(entry, Packed):
        return entry.edge is None
    return type(entry) is tuple and len(entry) > 2


class SavedView(Entry):
    """A saved result of an in-place operation on a view: its history goes through the base.

    The node is inside the CopySlices, which is therefore held weakly, as is the view's own edge.
    """

    __slots__ = ("entry", "slices", "view")

    def __init__(self, entry: Any, slices: CopySlices, view: Node) -> None:
        self.entry, self.slices, self.view = entry, weakref.ref(slices), weakref.ref(view)

    def open(self, node: Node) -> Tensor:
        entry, slices, view = self.entry, self.slices(), self.view()
        if type(entry) is tuple and entry[1][0] != entry[2]:
            raise changed(wrap(entry[0]), (view or node, 0), entry[1][0], entry[2])
        t = open_tensor(entry, node)
        if view is None and slices is not None:
            edges, where = ((slices, 0),), slices.saved
            view = new_node(AsStridedBackward0, edges, where, where.view_shape, slices.dtype)
        if view is not None:
            t._edge = (view, 0)
        return t
