"""Which arrays are in a graph, where gradients are wanted in it, and which graphs are used up.

Both are notes on the core's nodes, so that they live exactly as long as the graph: a variable's
gradient is delivered even if the program kept only the gradient array.
"""

from __future__ import annotations

from typing import Any

from functional.autograd import GradientEdge
from functional.tape.node import AccumulateGrad
from functional.tape.views import edge_of

from .base import NO_INPUTS, NOT_IN_GRAPH, MXNetError
from .state import FLAGS

GRAD_REQS = ("write", "add", "null")
_MARKS, _CLEARED = "mxnet marks", "mxnet cleared"  # keys in a node's metadata


class Mark:
    """One variable's gradient array, and how gradients get into it (``write``, ``add``, ``null``).

    ``fresh`` says whether a backward pass has written it since a Trainer last used it.
    """

    __slots__ = ("fresh", "grad", "req")

    def __init__(self, grad: Any, req: str) -> None:
        if req not in GRAD_REQS:
            raise ValueError(f"grad_req must be one of {', '.join(GRAD_REQS)}, not {req!r}")
        self.grad, self.req, self.fresh = grad, req, False


def _note(node: Any, key: str) -> Any:
    return None if node.extra is None else node.extra.metadata.get(key)


def in_graph(tensor: Any) -> bool:
    """Whether the tensor is marked, or computed from a marked one in a graph not used up yet."""
    node = edge_of(tensor)[0]
    return node is not None and not _note(node, _CLEARED)


def live(tensor: Any) -> Any:
    """The tensor as an operand: a constant outside of recording and once its graph is used up."""
    node = tensor._edge[0]
    if node is None or (FLAGS.recording and (node.extra is None or in_graph(tensor))):
        return tensor
    return tensor.detach()


def sharing(view: Any) -> Any:
    """A view to give away: outside of recording it must not care what its base will become."""
    return view if FLAGS.recording else view.detach()


def mark(tensor: Any, note: Mark) -> Any:
    """Want the tensor's gradient; returns the tensor that now is the variable.

    Inside a graph it stays there (MXNet 2.0), else it becomes a leaf: a new one if it was one
    already, so that what was recorded before keeps its own gradient array.
    """
    node, output = edge_of(tensor)
    if not in_graph(tensor) or isinstance(node, AccumulateGrad):
        if not tensor.dtype.is_floating_point:
            raise MXNetError(f"gradients need a floating dtype, not {tensor.dtype}")
        if node is not None:
            tensor = tensor.detach()
        node, output = edge_of(tensor.requires_grad_())
    node.metadata.setdefault(_MARKS, {})[output] = note
    return tensor


def mark_of(tensor: Any) -> Mark | None:
    """The tensor's own mark."""
    node, output = edge_of(tensor)
    marks = None if node is None else _note(node, _MARKS)
    return marks.get(output) if marks else None


def unmark(tensor: Any) -> None:
    """Give up the tensor's gradient array; the graphs it is in stay whole."""
    note = mark_of(tensor)
    if note is not None:
        note.grad, note.req, note.fresh = None, "null", False


def _reached(heads: list[Any]) -> list[Any]:
    """All nodes below the heads, each once; a used-up one is an error."""
    waiting = [edge_of(head)[0] for head in heads]
    if not all(map(in_graph, heads)):
        raise MXNetError(NOT_IN_GRAPH)
    seen = dict.fromkeys(waiting)
    while waiting:
        for node, _ in waiting.pop().next_functions:
            if node is not None and node not in seen:
                if _note(node, _CLEARED):
                    raise MXNetError(NOT_IN_GRAPH)
                seen[node] = None
                waiting.append(node)
    return list(seen)


def wanted(heads: list[Any]) -> tuple[list[Any], list[Any], list[Mark]]:
    """All nodes below the heads; edges and marks of the variables that want a gradient.

    Raises MXNetError where a head is in no graph, or nothing below the heads wants a gradient.
    """
    nodes = _reached(heads)
    found = [
        (GradientEdge(node, output), note)
        for node in nodes
        for output, note in (_note(node, _MARKS) or {}).items()
        if note.req != "null"
    ]
    if not found:
        raise MXNetError(NO_INPUTS)
    return nodes, [edge for edge, _ in found], [note for _, note in found]


def clear(nodes: list[Any]) -> None:
    """Say that a backward pass has used these nodes up; variables stay variables."""
    for node in nodes:
        if not isinstance(node, AccumulateGrad):
            node.metadata[_CLEARED] = True
