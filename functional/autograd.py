"""backward and grad: gradients of what has been recorded."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import errors
from .history import retain_grad
from .modes import MODE, PLAIN
from .ops.create import like
from .tape import engine
from .tape.node import AccumulateGrad, Node
from .tape.op import TENSOR, OpNode
from .tape.views import edge_of
from .tape.wrappers import refuse_graph
from .tensor import (
    NO_EDGE,
    Tensor,
    wrap,
)


class GradientEdge(NamedTuple):
    """Where a tensor's gradient arrives: an output of a node. Stands for the tensor in ``grad``."""

    node: Any
    output_nr: int
    ownership_token: Any = None


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (tuple, list)) else [value]


def _listed(value: Any) -> list[Any]:
    """One tensor (or edge), or any iterable of them."""
    return [value] if isinstance(value, (Tensor, GradientEdge)) else list(value)


def _edges(tensors: list[Any]) -> list[Any]:
    for t in tensors:
        if not isinstance(t, (Tensor, GradientEdge)):
            raise RuntimeError(
                f"all inputs have to be Tensors or GradientEdges, but got {type(t).__name__}"
            )
    return [edge_of(t) if isinstance(t, Tensor) else (t.node, t.output_nr) for t in tensors]


def _gradient_for(i: int, output: Tensor, g: Any) -> Tensor:
    """The gradient to start from: ones for a scalar, checked otherwise."""
    if g is None:
        if output.numel() != 1:
            raise RuntimeError(errors.GRAD_OUTPUTS)
        return like(1, output)
    if not isinstance(g, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
    if tuple(g.shape) != tuple(output.shape):
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{i}] has a shape of {g.shape} and output[{i}] has a "
            f"shape of {output.shape}."
        )
    if g.dtype.is_complex != output.dtype.is_complex:
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same "
            f"dtype. Mismatch in dtype: grad_output[{i}] has a dtype of {g.dtype} and output[{i}] "
            f"has a dtype of {output.dtype}."
        )
    return g


def _start(outputs: list[Tensor], grads: Any) -> tuple[list[Any], list[Tensor]]:
    if grads is None and len(outputs) == 1 and type(outputs[0]) in PLAIN:  # loss.backward()
        (t,) = outputs
        x, edge = t._data, edge_of(t)
        if type(x) is np.ndarray and x.size == 1 and edge[0] is not None:
            return [edge], [wrap(np.ones(x.shape, x.dtype))]
    given = [None] * len(outputs) if grads is None else _listed(grads)
    if len(given) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(given)} gradients")
    starts = []
    for i, (t, g) in enumerate(zip(outputs, given, strict=True)):
        if g is None and not t.requires_grad:
            starts.append(like(1, t))
        else:
            starts.append(_gradient_for(i, t, g))
    return engine.check_roots(outputs, edge_of), starts


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add the gradients of ``tensors`` to the ``grad`` of the leaves they depend on.

    ``grad_tensors`` are the gradients to start from (needed where a tensor is not a scalar);
    with ``inputs`` only those leaves accumulate.
    """
    if MODE.transforms:
        raise RuntimeError(errors.NO_BACKWARD)
    outputs = _listed(tensors)
    edges = None
    if inputs is not None:
        wanted = _listed(inputs)
        if not wanted:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
        edges = _edges(wanted)
        for t in wanted:
            retain_grad(t)
    roots, starts = _start(outputs, grad_tensors)
    keep = create_graph if retain_graph is None else retain_graph
    engine.run(roots, starts, keep, create_graph, edges)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """The gradients of ``outputs`` with respect to ``inputs``, as a tuple.

    An input the outputs do not depend on raises, unless ``allow_unused`` (None) or
    ``materialize_grads`` (zeros).
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
            "allow_unused=False."
        )
    if is_grads_batched:
        _check_batches(_listed(outputs), grad_outputs)
        rest = (create_graph, allow_unused or materialize_grads)
        found = _batched(outputs, inputs, grad_outputs, *rest)
        return _materialized(found, _listed(inputs), create_graph) if materialize_grads else found
    wanted = _listed(inputs)
    if not wanted:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    edges = _edges(wanted)
    if create_graph and MODE.transforms:
        refuse_graph(_listed(outputs))
    roots, starts = _start(_listed(outputs), grad_outputs)
    for edge in edges:
        if edge is NO_EDGE:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
    keep = create_graph if retain_graph is None else retain_graph
    found = engine.run(roots, starts, keep, create_graph, edges, accumulate=False)
    for i, g in enumerate(found):
        if g is None and not (allow_unused or materialize_grads):
            raise RuntimeError(errors.UNUSED.format(index=i))
    return _materialized(found, wanted, create_graph) if materialize_grads else tuple(found)


def _materialized(found: Any, wanted: list[Tensor], create_graph: bool) -> tuple[Tensor, ...]:
    """Gradients, with zeros for those that are missing."""

    def zeros(x: Tensor) -> Tensor:
        made = like(0, x)
        return made.requires_grad_() if create_graph else made

    return tuple(zeros(x) if g is None else g for g, x in zip(found, wanted, strict=True))


def _batched(outputs: Any, inputs: Any, factors: Any, create: bool, unused: bool | None) -> Any:
    """Gradients for a batch of factors; None where an output does not depend on an input."""
    missing: list[bool] = []

    def one(g: Any) -> tuple[Tensor, ...]:
        found = grad(outputs, inputs, g, True, create, allow_unused=unused)
        missing[:] = [g is None for g in found]
        return tuple(TENSOR.zeros(()) if g is None else g for g in found)

    found = TENSOR.vmap(one)(factors)
    return tuple(None if gone else g for g, gone in zip(found, missing, strict=True))


def _check_batches(outputs: list[Tensor], grads: Any) -> None:
    for i, (output, g) in enumerate(zip(outputs, _listed(grads), strict=False)):
        if g is not None and tuple(g.shape[1:]) != tuple(output.shape):
            raise RuntimeError(
                "If `is_grads_batched=True`, we interpret the first dimension of each grad_output "
                "as the batch dimension. The sizes of the remaining dimensions are expected to "
                "match the shape of corresponding output, but a mismatch was detected: "
                f"grad_output[{i}] has a shape of {g.shape[2:]} and output[{i}] has a shape of "
                f"{output.shape}. If you only want some tensors in `grad_output` to be considered "
                "batched, consider using vmap."
            )


def call_node(node: Node, *grads: Tensor | None) -> Any:
    """What the backward pass of one node makes of the gradients of its outputs.

    A tensor, or a tuple with one for every input. The node keeps what it has saved.
    """
    accumulates = isinstance(node, AccumulateGrad)
    several = not accumulates and type(node.shape) is list
    wanted = len(node.shape) if several else 1
    if len(grads) != wanted:
        raise TypeError(f"expected {wanted} arguments, got {len(grads)} instead")
    for i, g in enumerate(grads):
        if g is not None and not isinstance(g, Tensor):
            raise TypeError(f"argument {i} is not a Variable")
    if isinstance(node, AccumulateGrad):
        if grads[0] is not None:
            engine.run([(node, 0)], [grads[0]], True, MODE.grad)
        return ()
    empty = all(g is None for g in grads)
    found = () if empty else node.apply(TENSOR, list(grads) if several else grads[0], False)
    count = len(node.next_functions)
    result = (*found, *[None] * (count - len(found)))
    return result[0] if count == 1 else result


OpNode.__call__ = AccumulateGrad.__call__ = call_node  # type: ignore[method-assign]
