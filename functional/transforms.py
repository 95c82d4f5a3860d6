"""Function transforms: grad, vjp, jvp, vmap, and Jacobians built of them."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

from . import pytree
from .autograd import _as_list
from .modes import MODE, enable_grad
from .ops.create import like
from .ops.ranges import eye
from .tape import engine
from .tape.levels import Batched, Dual, Taped, Wrapped, make, new_level, tape_leaf
from .tape.op import TENSOR, public
from .tensor import NO_EDGE, Tensor

Function = Callable[..., Any]
__all__ = [
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "vjp",
    "vmap",
]


def _unwrap(cls: type[Wrapped], level: int, x: Any) -> Any:
    return x._data if type(x) is cls and x._level == level else x


def _need_tensors(name: str, tree: Any) -> None:
    for leaf in pytree.flatten(tree):
        if not isinstance(leaf, Tensor):
            raise ValueError(
                f"{name}: Expected all inputs to be Tensors, got {type(leaf).__name__}"
            )


# --- reverse mode ---------------------------------------------------------------------------------


@contextlib.contextmanager
def _tape_level() -> Iterator[int]:
    """A level that records also within ``no_grad``, which stays in force below it."""
    with new_level() as level:
        if MODE.grad:
            yield level
            return
        before, MODE.unrecorded = MODE.unrecorded, (*MODE.unrecorded, level)
        try:
            with enable_grad():
                yield level
        finally:
            MODE.unrecorded = before


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
    """
    _need_tensors("vjp", primals)
    with _tape_level() as level:
        leaves = pytree.map_tree(lambda x: tape_leaf(level, x), tuple(primals))
        output = func(*leaves)
        aux = None
        if has_aux:
            output, aux = output
            aux = pytree.map_tree(lambda x: _unwrap(Taped, level, x), aux)
    flat = pytree.flatten(output)
    flat_leaves = pytree.flatten(leaves)

    def pull(*cotangents: Any, **kwargs: Any) -> Any:
        tree = cotangents[0] if len(cotangents) == 1 else cotangents
        grads = _pull(flat, _matching(flat, pytree.flatten(tree)), flat_leaves, level)
        result = pytree.unflatten(leaves, grads)
        return result

    values = pytree.map_tree(lambda x: _unwrap(Taped, level, x), output)
    return (values, pull, aux) if has_aux else (values, pull)


def _matching(outputs: list[Any], cotangents: list[Any]) -> list[Any]:
    if len(outputs) != len(cotangents):
        raise RuntimeError(
            f"Expected pytree structure of cotangents to be the same as pytree structure of "
            f"outputs to the function: {len(outputs)} outputs, {len(cotangents)} cotangents"
        )
    return cotangents


def _select(args: tuple[Any, ...], argnums: Any) -> Any:
    return args[argnums] if isinstance(argnums, int) else tuple(args[i] for i in argnums)


def _replaced(args: tuple[Any, ...], argnums: Any, values: Any) -> list[Any]:
    full = list(args)
    if isinstance(argnums, int):
        full[argnums] = values
    else:
        for i, value in zip(argnums, values, strict=True):
            full[i] = value
    return full


def _scalar(output: Any) -> Tensor:
    if not isinstance(output, Tensor):
        raise RuntimeError(
            f"grad_and_value(f)(*args): Expected f(*args) to return a tensor, got {type(output)}"
        )
    if output.ndim:
        raise RuntimeError(
            "grad_and_value(f)(*args): Expected f(*args) to return a scalar tensor, got tensor "
            f"with {output.ndim} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
        )
    return output


def grad_and_value(func: Function, argnums: Any = 0, has_aux: bool = False) -> Function:
    """A function that returns ``(gradient, value)`` of a scalar ``func``."""

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        with _tape_level() as level:
            leaves = pytree.map_tree(lambda x: tape_leaf(level, x), _select(args, argnums))
            output = func(*_replaced(args, argnums, leaves), **kwargs)
            aux = None
            if has_aux:
                output, aux = output
            value = _unwrap(Taped, level, _scalar(output))
        grads = _pull([output], [like(1, value)], pytree.flatten(leaves), level)
        result = pytree.unflatten(leaves, grads)
        if not has_aux:
            return result, value
        return result, (value, pytree.map_tree(lambda x: _unwrap(Taped, level, x), aux))

    return wrapped


def grad(func: Function, argnums: Any = 0, has_aux: bool = False) -> Function:
    """The gradient function of a scalar ``func`` with respect to the arguments ``argnums``."""
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        gradient, value = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return wrapped


# --- forward mode ---------------------------------------------------------------------------------


def _dual_leaf(level: int, primal: Tensor, tangent: Tensor) -> Dual:
    dual = make(Dual, level, primal)
    dual.tangent = tangent
    return dual


def jvp(func: Function, primals: Any, tangents: Any, *, has_aux: bool = False) -> Any:
    """``func(*primals)`` and its directional derivative along ``tangents``."""
    if not isinstance(primals, tuple) or not isinstance(tangents, tuple):
        raise RuntimeError("jvp(f, primals, tangents): Expected primals and tangents to be tuples")
    _need_tensors("jvp", primals)
    with new_level() as level:
        duals = pytree.map_tree(lambda p, t: _dual_leaf(level, p, t), primals, tangents)
        output = func(*duals)
        aux = None
        if has_aux:
            output, aux = output
            aux = pytree.map_tree(lambda x: _unwrap(Dual, level, x), aux)
        values = pytree.map_tree(lambda x: _unwrap(Dual, level, x), output)
        found = pytree.map_tree(lambda x: _tangent_of(level, x), output)
    return (values, found, aux) if has_aux else (values, found)


def _tangent_of(level: int, x: Any) -> Any:
    if type(x) is Dual and x._level == level and x.tangent is not None:
        return x.tangent
    return like(0, _unwrap(Dual, level, x))


def linearize(func: Function, *primals: Any) -> Any:
    """``func(*primals)`` and the linear map of tangents at that point."""
    value = func(*primals)

    def push(*tangents: Any) -> Any:
        return jvp(func, primals, tangents)[1]

    return value, push


# --- vmap -----------------------------------------------------------------------------------------


def _batch_size(leaves: list[Any], dims: list[Any]) -> int:
    sizes = {leaf.shape[d] for leaf, d in zip(leaves, dims, strict=True) if d is not None}
    if not sizes:
        raise ValueError(
            "vmap: at least one input must have a non-None in_dim; there is nothing to map over"
        )
    if len(sizes) > 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sorted(sizes)} for the mapped dimension"
        )
    return sizes.pop()


def _enter(level: int, x: Any, dim: int | None) -> Any:
    if dim is None:
        return x
    if not isinstance(x, Tensor):
        raise ValueError(f"vmap: in_dim {dim} for an input that is no Tensor: {type(x).__name__}")
    return make(Batched, level, TENSOR.movedim(x, dim, 0) if dim % max(x.ndim, 1) else x)


def _leave(level: int, x: Any, dim: int | None, size: int) -> Any:
    if not isinstance(x, Tensor):
        raise ValueError(
            f"vmap: returned a {type(x).__name__}: a mapped function must return only Tensors"
        )
    if type(x) is not Batched or x._level != level:
        if dim is None:
            return x
        x = TENSOR.expand(x, (size, *x.shape))
    else:
        x = x._data
        if dim is None:
            raise ValueError("vmap: out_dims is None for an output that is batched")
    return TENSOR.movedim(x, 0, dim) if dim % x.ndim else x


@public
def vmap(
    func: Function,
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Function:
    """``func`` for whole batches: over dimension ``in_dims`` of every input (None: the same)."""

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        dims = pytree.broadcast_prefix(
            in_dims if isinstance(in_dims, int) else tuple(in_dims), args
        )
        leaves = pytree.flatten(args)
        size = _batch_size(leaves, dims)
        with new_level() as level:
            inputs = [_enter(level, x, d) for x, d in zip(leaves, dims, strict=True)]
            output = func(*pytree.unflatten(args, inputs), **kwargs)
            outs = pytree.flatten(output)
            to = pytree.broadcast_prefix(out_dims, output)
            found = [_leave(level, x, d, size) for x, d in zip(outs, to, strict=True)]
        return pytree.unflatten(output, found)

    return wrapped


# --- Jacobians ------------------------------------------------------------------------------------


def jacrev(
    func: Function, argnums: Any = 0, *, has_aux: bool = False, chunk_size: Any = None
) -> Function:
    """The Jacobian by reverse mode: output shape followed by input shape."""

    @functools.wraps(func)
    def wrapped(*args: Any) -> Any:
        def chosen(*values: Any) -> Any:
            picked = values[0] if isinstance(argnums, int) else values
            return func(*_replaced(args, argnums, picked))

        inputs = _as_list(_select(args, argnums))
        found = vjp(chosen, *inputs, has_aux=has_aux)
        output, pull = found[0], found[1]
        jacobians = pytree.map_tree(lambda o: None, output)
        outs = pytree.flatten(output)
        rows = []
        for k, out in enumerate(outs):
            square = eye(out.numel(), dtype=out.dtype, device=out.device)
            basis = TENSOR.reshape(square, (out.numel(), *out.shape))
            zeros = [like(0, o) for o in outs]

            def row(g: Any, k: int = k, zeros: list[Any] = zeros) -> Any:
                cotangents = [*zeros[:k], g, *zeros[k + 1 :]]
                return pull(pytree.unflatten(output, cotangents))

            grads = vmap(row)(basis)
            shaped = [
                pytree.map_tree(lambda j, o=out: TENSOR.reshape(j, (*o.shape, *j.shape[1:])), j)
                for j in grads
            ]
            rows.append(shaped[0] if isinstance(argnums, int) else tuple(shaped))
        result = pytree.unflatten(jacobians, rows)
        return (result, found[2]) if has_aux else result

    return wrapped


def jacfwd(
    func: Function, argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Function:
    """The Jacobian by forward mode: output shape followed by input shape."""

    @functools.wraps(func)
    def wrapped(*args: Any) -> Any:
        inputs = _as_list(_select(args, argnums))
        columns = []
        for k, x in enumerate(inputs):

            def along(direction: Any, k: int = k) -> Any:
                tangents = tuple(direction if i == k else like(0, v) for i, v in enumerate(inputs))

                def chosen(*values: Any) -> Any:
                    picked = values[0] if isinstance(argnums, int) else values
                    out = func(*_replaced(args, argnums, picked))
                    return out[0] if has_aux else out

                return jvp(chosen, tuple(inputs), tangents)[1]

            square = eye(x.numel(), dtype=x.dtype, device=x.device)
            basis = TENSOR.reshape(square, (x.numel(), *x.shape))
            found = vmap(along, out_dims=-1)(basis)
            columns.append(
                pytree.map_tree(lambda j, x=x: TENSOR.reshape(j, (*j.shape[:-1], *x.shape)), found)
            )
        result = columns[0] if isinstance(argnums, int) else tuple(columns)
        return (result, func(*args)[1]) if has_aux else result

    return wrapped


def hessian(func: Function, argnums: Any = 0) -> Function:
    """The Hessian of a scalar function: forward over reverse mode."""
    return jacfwd(jacrev(func, argnums), argnums)
