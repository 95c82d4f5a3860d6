"""Reverse mode: ``grad``, ``grad_and_value`` and ``vjp``."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

from .. import dtypes, errors, pytree
from ..modes import MODE, enable_grad
from ..ops.create import like
from ..tape import engine
from ..tape.wrappers import Taped, new_level, tape_leaf
from ..tensor import NO_EDGE, Tensor
from .arguments import (
    Function,
    check_outputs,
    lowered_tree,
    out_of,
    positions,
    replaced,
    selected,
    with_aux,
)

_VJP = "vjp(f, *primals)"
_GRAD = "grad_and_value(f)(*args)"


@contextlib.contextmanager
def tape_level() -> Iterator[int]:
    """A level that records also within ``no_grad``, which stays in force below it."""
    if MODE.saved_hooks:
        raise RuntimeError(errors.NO_SAVED_HOOKS)
    with new_level(Taped) as level:
        if MODE.grad:
            yield level
            return
        before, MODE.unrecorded = MODE.unrecorded, (*MODE.unrecorded, level)
        try:
            with enable_grad():
                yield level
        finally:
            MODE.unrecorded = before


def _leaf(level: int, x: Any) -> Taped:
    if not isinstance(x, Tensor):
        raise ValueError(f"Thing passed to transform API must be Tensor, got {type(x)}")
    if x.dtype.category < dtypes.FLOAT:
        raise RuntimeError(errors.FLOATS_ONLY)
    return tape_leaf(level, x)


def _leaves(level: int, tree: Any) -> Any:
    return pytree.map_tree(lambda x: _leaf(level, x), tree)


def _pull(outputs: list[Any], cotangents: list[Any], leaves: list[Any], level: int) -> list[Any]:
    """Gradients of Taped outputs with respect to Taped leaves; zeros where unused."""
    roots, starts = [], []
    for out, g in zip(outputs, cotangents, strict=True):
        if type(out) is Taped and out._level == level and out._edge is not NO_EDGE:
            roots.append(out._edge)
            starts.append(g)
    edges = [leaf._edge for leaf in leaves]
    found: list[Any] = [None] * len(edges)
    if roots:
        before, MODE.pulling = MODE.pulling, True
        try:
            found = engine.run(roots, starts, True, MODE.grad, edges, False)
        finally:
            MODE.pulling = before
    return [like(0, leaf._data) if g is None else g for g, leaf in zip(found, leaves, strict=True)]


def vjp(func: Function, *primals: Any, has_aux: bool = False) -> Any:
    """``func(*primals)`` and a function from cotangents to the gradients of the primals.

    With ``has_aux`` the function returns ``(output, aux)`` and so does this, as a third value.
    Raises RuntimeError for integer primals, and for outputs that are no floating point tensors.
    """
    with tape_level() as level:
        leaves = _leaves(level, tuple(primals))
        output = func(*leaves)
        aux = None
        if has_aux:
            output, aux = with_aux(_VJP, output)
            aux = lowered_tree(Taped, level, aux)
        flat = pytree.flatten(output)
        check_outputs(_VJP, flat)
    for x in flat:
        if x.dtype.category < dtypes.FLOAT:
            raise RuntimeError(
                "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got "
                f"Tensor with dtype {x.dtype}"
            )
    flat_leaves = pytree.flatten(leaves)
    values = lowered_tree(Taped, level, output)

    def pull(cotangents: Any, retain_graph: bool = True, create_graph: Any = None) -> Any:
        starts = _cotangents(values, cotangents)
        return pytree.unflatten(leaves, _pull(flat, starts, flat_leaves, level))

    return (values, pull, aux) if has_aux else (values, pull)


def _cotangents(outputs: Any, cotangents: Any) -> list[Any]:
    """One cotangent for each output; PyTorch's errors."""
    if not pytree.same_structure(outputs, cotangents):
        raise RuntimeError(
            "Expected pytree structure of cotangents to be the same as pytree structure of "
            f"outputs to the function. cotangents: {pytree.stars(cotangents)}, primal output: "
            f"{pytree.stars(outputs)}"
        )
    pairs = zip(pytree.flatten(outputs), pytree.flatten(cotangents), strict=True)
    return [_cotangent(i, out, g) for i, (out, g) in enumerate(pairs)]


def _cotangent(i: int, out: Tensor, g: Any) -> Tensor:
    if g is None:
        if out.numel() != 1:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        return like(1, out)
    if not isinstance(g, Tensor):
        kind = type(g).__name__
        raise TypeError(f"gradients can be either Tensors or None, but got {kind}")
    if g.shape != out.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{i}] has a shape of {g.shape} and output[{i}] has a "
            f"shape of {out.shape}."
        )
    return g


def _scalar(output: Any) -> Tensor:
    if not isinstance(output, Tensor):
        raise RuntimeError(f"{_GRAD}: Expected f(*args) to return a Tensor, got {type(output)}")
    if output.ndim:
        raise RuntimeError(
            f"{_GRAD}: Expected f(*args) to return a scalar Tensor, got tensor with "
            f"{output.ndim} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
        )
    return output


def grad_and_value(func: Function, argnums: Any = 0, has_aux: bool = False) -> Function:
    """A function that returns ``(gradient, value)`` of a scalar ``func``.

    The gradient is that of the argument at ``argnums``, or a tuple for several. With ``has_aux``
    ``func`` returns (scalar, aux), and the function ``(gradient, (value, aux))``. RuntimeError for
    positions that are not there, and for outputs that are no scalar tensor.
    """

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        with tape_level() as level:
            at = positions(argnums, len(args))
            leaves = _leaves(level, selected(args, at))
            output = func(*replaced(args, at, leaves), **kwargs)
            aux = None
            if has_aux:
                output, aux = with_aux(_GRAD, output)
                aux = lowered_tree(Taped, level, aux)
            value = out_of(Taped, level, _scalar(output))
        if value.dtype.is_complex:
            raise RuntimeError(
                f"grad can be implicitly created only for real scalar outputs but got {value.dtype}"
            )
        grads = _pull([output], [like(1, value)], pytree.flatten(leaves), level)
        result = pytree.unflatten(leaves, grads)
        return result, (value, aux) if has_aux else value

    return wrapped


def grad(func: Function, argnums: Any = 0, has_aux: bool = False) -> Function:
    """The gradient function of a scalar ``func``: `grad_and_value` without the value."""
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        gradient, value = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return wrapped
