"""Views: whose memory they share, how their edge follows in-place writes to it.

A view remembers its base and, lazily, its geometry in the base's memory. When the base's version
counter has moved since the view's edge was right, the edge is derived anew as an
``AsStridedBackward0`` of the base's. An in-place write to a view makes the base's edge a
``CopySlices``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import errors
from ..modes import MODE
from ..tensor import NO_EDGE, Place, Tensor, counter, is_inference, wrap
from .node import AccumulateGrad, Node, is_leaf_edge, new_node
from .saved import Static


class Geometry(NamedTuple):
    """Where a view lies in its base: strides and offset count elements of the base's memory."""

    base_shape: tuple[int, ...]
    base_strides: tuple[int, ...]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int


def geometry(view: Tensor, base: Tensor) -> Geometry:
    """The geometry of ``view`` inside ``base``."""
    x, y = view._data, base._data
    item = y.dtype.itemsize
    if hasattr(x, "__array_interface__"):
        offset = x.__array_interface__["data"][0] - y.__array_interface__["data"][0]
    else:
        offset = 0
    return Geometry(
        y.shape,
        tuple(s // item for s in y.strides),
        x.shape,
        tuple(s // item for s in x.strides),
        offset // item,
    )


class AsStridedBackward0(Node):
    """The edge of a view whose base has been written to."""

    __slots__ = ()

    def apply(self, F: Any, g: Any, raw: bool) -> Any:
        return [F.strided_put(g, tuple(self.saved[0]))]


class CopySlices(Node):
    """The history of a base after an in-place operation on one of its views."""

    __slots__ = ("fn",)
    fn: Node

    def apply(self, F: Any, g: Any, raw: bool) -> Any:
        place, fn = tuple(self.saved[0]), self.fn
        inner = F.strided_take(g, place)
        if raw:
            inner = inner.copy()
        grads = fn.apply(F, inner, raw)
        first, rest = grads[0], grads[1:]
        if self.next_functions[0][0] is not None:
            if first is None:
                first = F.zeros_like(inner)
            elif tuple(first.shape) != place[2]:
                first = F.sum_to_size(first, place[2])
            first = F.strided_replace(g, first, place)
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
        where = Static(geometry(t, base))
        node = new_node(AsStridedBackward0, (base._edge,), (where,), t._data.shape, t._data.dtype)
        t._edge = (node, 0)
        place.version = t._ver[0]
    return t._edge


def requires_grad(t: Tensor) -> bool:
    """Whether operations on ``t`` are recorded; a view asks its base too."""
    if t._edge is not NO_EDGE:
        return True
    place = t._place
    return place is not None and place.base is not None and place.base._edge is not NO_EDGE


def as_view(data: Any, of: Tensor, made: str | None = None) -> Tensor:
    """A Tensor without history over ``data``, which shares the memory of ``of``."""
    t = wrap(data)
    inference = is_inference(of)
    if MODE.inference:
        made = "inference"
    elif not MODE.grad and made is None:
        made = "no_grad"
    t._ver = ver = counter(of)
    base = None if of._place is None else of._place.base
    parent = of._place.made if base is not None and of._place is not None else None
    t._place = Place(of if base is None else base, ver[0], made or parent, inference)
    return t


def _check_made(t: Tensor, place: Place) -> None:
    if place.made == "no_grad":
        then = "is being modified inplace with grad mode enabled"
        raise RuntimeError(errors.VIEW_MADE.format(mode="no_grad mode", then=then, block="no_grad"))
    if place.made == "inference":
        text = errors.VIEW_MADE.format(
            mode="inference mode",
            then="is being modified inplace in normal mode",
            block="inference_mode",
        )
        raise RuntimeError(text)
    if place.made in ("multi", "custom"):
        node, nr = t._edge
        name = "" if node is None else node.name().removesuffix("Backward").split("Backward0")[0]
        text = errors.MULTI_OUTPUT if place.made == "multi" else errors.CUSTOM_VIEW
        raise RuntimeError(text.format(nr=nr, name=name))


def check_in_place(t: Tensor, recording: bool) -> None:
    """Raise PyTorch's error if ``t`` may not be written to now."""
    place = t._place
    if place is not None and place.inference and not MODE.inference:
        raise RuntimeError(errors.INFERENCE_IN_PLACE)
    if not recording or not MODE.grad:
        return
    if place is not None and place.base is not None:
        _check_made(t, place)
        base = place.base
        if base._edge is not NO_EDGE and type(base._edge[0]) is AccumulateGrad:
            raise RuntimeError(errors.VIEW_OF_LEAF_IN_PLACE)
    elif t._edge is not NO_EDGE and is_leaf_edge(t._edge):
        raise RuntimeError(errors.LEAF_IN_PLACE)


def bump(t: Tensor) -> None:
    """Count an in-place write."""
    counter(t)[0] += 1


def rebase(t: Tensor, node: Node) -> None:
    """Make ``node`` the history of ``t``, which an in-place operation has just rewritten."""
    place = t._place
    if place is None or place.base is None:
        t._edge = (node, 0)
        return
    base = place.base
    edges = (edge_of(base), *node.next_functions[1:])
    where = Static(geometry(t, base))
    slices = new_node(CopySlices, edges, (where,), base._data.shape, base._data.dtype)
    slices.fn = node
    base._edge = (slices, 0)
