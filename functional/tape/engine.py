"""The engine: runs the rules of a graph in PyTorch's order and sums what arrives.

Dependency counts, then a ready heap on the negative sequence number. Rules run on arrays when the
result needs no graph of its own, else on Tensors: that is the only difference between first order
and ``create_graph``.
"""

from __future__ import annotations

import sys
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
from numpy import add, ndarray

from .. import dtypes, errors
from ..kernels import numpy as numpy_kernels
from ..modes import ANOMALY, MODE
from ..tensor import Tensor, counter, wrap
from .duals import FORWARD, primal
from .foreign import CROSSINGS
from .node import AccumulateGrad, Node
from .op import TENSOR
from .ownership import own
from .slow import EXACT
from .sparse import accumulated, added, as_array, copied

Edge = tuple[Any, int]
NOTHING: tuple[Any, ...] = ()


def run(
    roots: list[Edge],
    grads: list[Tensor],
    keep: bool,
    create: bool,
    inputs: list[Edge] | None = None,
    accumulate: bool = True,
) -> list[Tensor | None]:
    """Propagate ``grads`` from ``roots``.

    With ``inputs``, only paths to them are followed; their gradients are returned, and with
    ``accumulate`` also added to the leaves among them. Without, every leaf accumulates.
    """
    raw = not (create or CROSSINGS or FORWARD.level or MODE.level) and all(
        type(g) in EXACT and type(g._data) is ndarray for g in grads
    )
    before, MODE.grad = MODE.grad, create
    kind = _Run
    if ANOMALY.on:
        from .anomaly import AnomalyRun as kind
    task = kind(raw, keep, create, inputs, accumulate)
    task.outer, MODE.task = MODE.task, task
    try:
        with np.errstate(all="ignore"):
            found = task.go(roots, grads)
        while task.callbacks:
            task.callbacks.pop(0)()
        return found
    finally:
        MODE.grad, MODE.task = before, task.outer


class _Run:
    """One backward pass."""

    outer: _Run | None = None  # the one within which it runs
    reached: set[Node]  # every node that leads on from the roots

    def __init__(
        self, raw: bool, keep: bool, create: bool, inputs: list[Edge] | None, accumulate: bool
    ) -> None:
        self.F = numpy_kernels if raw else TENSOR
        self.raw, self.keep, self.create, self.accumulate = raw, keep, create, accumulate
        self.inputs = inputs
        self.wanted: set[Any] = {edge[0] for edge in inputs} if inputs is not None else set()
        self.captured: dict[Edge, Any] = {}
        self.needed: set[Node] | None = None
        self.owned: set[Node] = set()  # whose buffers this run allocated by adding
        self.buffers: dict[Node, Any] = {}
        self.callbacks: list[Any] = []  # to call in the end

    def go(self, roots: list[Edge], grads: list[Tensor]) -> list[Tensor | None]:
        counts = self._dependencies(roots)
        heap: list[tuple[int, Node]] = []
        seen: set[Node] = set()
        for (node, nr), g in zip(roots, grads, strict=True):
            if self.needed is not None and node not in self.needed:
                continue
            self._arrive(node, nr, g._data if self.raw else g)
            if node not in counts and node not in seen:
                seen.add(node)
                heap.append((-node.seq, node))
        heapify(heap)
        self._loop(heap, counts)
        if self.inputs is None:
            return []
        found = [self.captured.get(edge) for edge in self.inputs]
        return [wrap(x) if isinstance(x, (ndarray, np.generic)) else x for x in found]

    def _dependencies(self, roots: list[Edge]) -> dict[Node, int]:
        """How many edges lead to each node, where more than one does or it is a root too."""
        counts: dict[Node, int] = {}
        stack = list({node: None for node, _ in roots})
        once, starts = set(stack), set(stack)
        pop, push, meet, count = stack.pop, stack.append, once.add, counts.get
        while stack:
            for node, _ in pop().next_functions:
                if node is None:
                    continue
                if node in once:
                    counts[node] = count(node, 0 if node in starts else 1) + 1
                else:
                    meet(node)
                    push(node)
        self.reached = once
        if self.inputs is not None:
            self._restrict(once, counts)
        return counts

    def will_run(self, node: Node | None) -> bool:
        """Whether a gradient will arrive at ``node``, for use while the pass runs."""
        return node in (self.reached if self.needed is None else self.needed)

    def _restrict(self, seen: set[Node], counts: dict[Node, int]) -> None:
        """Keep only nodes on a path to an input. A node's edges are older than the node."""
        needed = {n for n in self.wanted if n in seen}
        for node in sorted(seen, key=lambda n: n.seq):
            if any(m in needed for m, _ in node.next_functions):
                needed.add(node)
        self.needed = needed
        counts.clear()
        for node in needed:
            for m, _ in node.next_functions:
                if m in needed:
                    counts[m] = counts.get(m, 0) + 1

    def _loop(self, heap: list[tuple[int, Node]], counts: dict[Node, int]) -> None:
        """Run ready nodes, latest recorded first; leaves before all, in the order they come."""
        F, raw, keep, needed = self.F, self.raw, self.keep, self.needed
        buffers, wanted, spread = self.buffers, self.wanted, self._spread
        ready: list[Node] = []  # leaves, and one node that needs no comparison
        while heap or ready:
            node = ready.pop(0) if ready else heappop(heap)[1]
            g = buffers.pop(node, None)
            if wanted and node in wanted:
                g = self._captured(node, g)
            elif node.extra is not None and g is not None:
                g = self._before(node, g, True)
            if type(node) is AccumulateGrad:
                if g is not None and (self.inputs is None or self.accumulate):
                    self._accumulate(node, g)
                    if node.extra is not None and node.extra.post:
                        self._after(node, (), g)
                continue
            if needed is not None and not any(m in needed for m, _ in node.next_functions):
                continue
            grads = node.apply(F, g, raw) if g is not None else NOTHING
            if not keep and node.frees:
                if node.frees == 2:
                    node.saved = None
                else:
                    node.release()
            if node.extra is not None and node.extra.post:
                grads = self._after(node, grads, g)
            g = None  # so that a leaf can tell whether it alone holds its gradient
            spread(node, grads, counts, heap, ready)
            grads = None

    def _spread(self, node: Node, grads: Any, counts: Any, heap: Any, ready: list[Node]) -> None:
        """Hand a node's gradients on, and find out who is ready."""
        raw, buffers, needed, owned = self.raw, self.buffers, self.needed, self.owned
        edges = node.next_functions
        if len(grads) < len(edges):
            grads = [*grads, *[None] * (len(edges) - len(grads))]
        following = None
        for (m, to), new in zip(edges, grads):
            if m is None or (needed is not None and m not in needed):
                continue
            leaf = type(m) is AccumulateGrad
            if new is not None:
                if leaf:
                    like = m.leaf()
                    like = m.data if like is None else like._data
                else:
                    like = m
                fits = (
                    raw
                    and type(new) is ndarray
                    and new.shape == like.shape
                    and new.dtype is like.dtype
                )
                if not fits:
                    new = self._fit(node, m, to, new)
                old: Any = buffers.get(m)
                if old is None and (fits or leaf or type(m.shape) is tuple):
                    buffers[m] = new
                elif fits and m in owned:
                    add(old, new, old)
                else:
                    self._arrive(m, to, new)
            left = counts.get(m, 1) - 1
            if left:
                counts[m] = left
            elif leaf:
                ready.append(m)
            elif following is None and not heap:
                following = m
            else:
                heappush(heap, (-m.seq, m))
        if following is not None:
            if heap:
                heappush(heap, (-following.seq, following))
            else:
                ready.append(following)

    # --- arrivals ---------------------------------------------------------------------------------

    def _fit(self, node: Node, m: Node, to: int, g: Any) -> Any:
        """A gradient in the shape and dtype of the edge it takes."""
        if self.raw and type(g) is not ndarray:  # a NumPy scalar
            g = as_array(g)
        shape, dtype = m.shape, m.dtype
        if type(shape) is list:
            shape = shape[to]
        if type(dtype) is list:
            dtype = dtype[to]
        if g.shape != shape:
            g = self._reduce(node, m, to, g, shape)
        if self.raw:
            if g.dtype is not dtype:
                g = numpy_kernels.to_dtype(g, dtype)
        elif g.dtype is not dtypes.FROM_ARRAY[dtype]:
            g = TENSOR.to_dtype(g, dtypes.FROM_ARRAY[dtype])
        return g

    def _reduce(self, node: Node, m: Node, to: int, g: Any, shape: tuple[int, ...]) -> Any:
        lead = len(g.shape) - len(shape)
        if lead < 0 or any([n not in (1, k) for n, k in zip(shape, g.shape[lead:])]):
            nr = node.next_functions.index((m, to))
            raise RuntimeError(
                f"Function {node.name()} returned an invalid gradient at index {nr} - got "
                f"{list(g.shape)} but expected shape compatible with {list(shape)}"
            )
        return self.F.sum_to_size(g, shape)

    def _arrive(self, node: Node, nr: int, g: Any) -> None:
        """Add a gradient to what a node has got. The first is borrowed, never written to."""
        buffers = self.buffers
        if type(node) is not AccumulateGrad and type(node.shape) is list:
            slots = buffers.setdefault(node, [None] * len(node.shape))
            slots[nr] = g if slots[nr] is None else self.F.add(slots[nr], g)
            return
        old = buffers.get(node)
        if old is None:
            buffers[node] = g
        elif node in self.owned:
            add(old, g, old)
        else:
            buffers[node] = old + g if self.raw else added(old, g)
            if self.raw and type(buffers[node]) is ndarray:
                self.owned.add(node)

    # --- hooks and captures -----------------------------------------------------------------------

    def _tensors(self, g: Any) -> list[Any]:
        parts = g if type(g) is list else [g]
        return [wrap(p) if isinstance(p, (ndarray, np.generic)) else p for p in parts]

    def _back(self, tensors: list[Any], like: Any) -> Any:
        parts = [t._data if self.raw and isinstance(t, Tensor) else t for t in tensors]
        return parts if type(like) is list else parts[0]

    def _before(self, node: Node, g: Any, runs: bool) -> Any:
        """Tensor hooks, retained gradients and, if the node runs, its pre-hooks."""
        extra = node.extra
        assert extra is not None
        tensors = self._tensors(g)
        for nr, hooks in extra.tensor_hooks.items():
            for hook in list(hooks.values()):
                tensors[nr] = _replaced(hook, hook(tensors[nr]), tensors[nr])
        for nr, ref in extra.retain.items():
            t = ref()
            if t is not None and tensors[nr] is not None:
                new = tensors[nr]
                t._grad = TENSOR.clone(new) if t._grad is None else added(t._grad, new)
        for hook in list(extra.pre.values()) if runs else ():
            tensors = list(_all_replaced(hook, hook(tuple(tensors)), tuple(tensors)))
        return self._back(tensors, g)

    def _after(self, node: Node, grads: Any, g: Any) -> Any:
        assert node.extra is not None
        inputs = tuple(self._tensors(list(grads) or [None] * len(node.next_functions)))
        for hook in list(node.extra.post.values()):
            inputs = _all_replaced(hook, hook(inputs, tuple(self._tensors(g))), inputs)
        return self._back(list(inputs), [])

    def _captured(self, node: Node, g: Any) -> Any:
        """Note a gradient that was asked for: before the hooks of a node that will run."""
        hooks = node.extra is not None and g is not None
        assert self.needed is not None
        runs = any(m in self.needed for m, _ in node.next_functions)
        runs = runs or self.accumulate
        after = self._before(node, g, runs) if hooks else g
        for nr, part in enumerate(g if type(g) is list else [g]):
            self.captured[node, nr] = part
        if not runs:
            for nr, part in enumerate(after if type(after) is list else [after]):
                self.captured[node, nr] = part
        return after

    # --- leaves -----------------------------------------------------------------------------------

    def _accumulate(self, node: AccumulateGrad, g: Any) -> None:
        leaf = node.variable
        old = leaf._grad
        if not self.raw:
            if old is None:
                leaf._grad = copied(g if self.create else primal(g), leaf)
            else:
                leaf._grad = added(old, g) if self.create else accumulated(old, g)
        elif old is None:
            references = sys.getrefcount(g)
            leaf._grad = wrap(own(g, leaf._data, references))
        elif type(old._data) is ndarray and old._data.flags.writeable:
            np.add(old._data, g, out=old._data, casting="unsafe")
            counter(old)[0] += 1
        else:
            leaf._grad = added(old, wrap(g))
        if node.extra is not None:
            for hook in list(node.extra.post_accumulate.values()):
                hook(leaf)


def _replaced(hook: Any, result: Any, before: Any) -> Any:
    """What a hook makes of one gradient; None keeps it."""
    if result is None or result is before:
        return before
    if before is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if not isinstance(result, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(result).__name__}'")
    name = getattr(hook, "__name__", "<unknown>")
    if result.dtype is not before.dtype:
        was, got = (f"torch.{t.dtype.legacy}Tensor" for t in (before, result))
        raise RuntimeError(f"hook '{name}' has changed the type of value (was {was} got {got})")
    if tuple(result.shape) != tuple(before.shape):
        raise RuntimeError(f"hook '{name}' has changed the size of value")
    return result


def _all_replaced(hook: Any, result: Any, before: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a node's hook makes of all gradients; None keeps them."""
    if result is None or result is before:
        return before
    if not isinstance(result, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(result).__name__}'")
    if len(result) != len(before):
        raise RuntimeError(
            f"hook '{getattr(hook, '__name__', '<unknown>')}' has returned an incorrect number of "
            f"values (got {len(result)}, but expected {len(before)})"
        )
    for new, old in zip(result, before, strict=True):
        _replaced(hook, new, old)
    return result


def check_roots(tensors: list[Any], edge_of: Any) -> list[Edge]:
    """The edges to start from; PyTorch's error where there is none."""
    edges = []
    for i, t in enumerate(tensors):
        edge = edge_of(t)
        if edge[0] is None:
            raise RuntimeError(errors.NO_GRAD_NEEDED.replace("element 0", f"element {i}"))
        edges.append(edge)
    return edges
