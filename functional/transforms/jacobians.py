"""Jacobians: ``jacrev`` maps `vjp` over a basis of the outputs, ``jacfwd`` `jvp` of the inputs."""

from __future__ import annotations

import functools
from typing import Any

from .. import pytree
from ..ops.ranges import eye
from ..tape.op import TENSOR
from ..tensor import Tensor
from .arguments import Function, positions, replaced, selected
from .batch import vmap
from .forward import jvp
from .reverse import vjp


def _basis(tensors: list[Tensor], start: int, stop: int) -> list[Tensor]:
    """Rows ``start`` to ``stop`` of the unit vectors of all elements, tensor by tensor."""
    found, before = [], 0
    for t in tensors:
        count = t.numel()
        square = eye(count, dtype=t.dtype, device=t.device)
        low, high = (min(max(i - before, 0), count) for i in (start, stop))
        rows = square[low:high]
        above = min(max(before - start, 0), stop - start)
        pad = (0, 0, above, stop - start - above - (high - low))
        full = TENSOR.constant_pad_nd(rows, pad, 0)
        found.append(TENSOR.reshape(full, (stop - start, *t.shape)))
        before += count
    return found


def _split(rows: Tensor, tensors: list[Tensor], dim: int) -> Any:
    return TENSOR.split(rows, [t.numel() for t in tensors], dim)


def _need_real(name: str, what: str, tensors: list[Any]) -> None:
    for i, t in enumerate(tensors):
        if isinstance(t, Tensor) and t.dtype.is_complex:
            raise RuntimeError(
                f"{name}: Expected all {what} to be real but received complex tensor at flattened "
                f"input idx: {i}"
            )


def _chosen(func: Function, args: tuple[Any, ...], at: Any) -> tuple[tuple[Any, ...], Function]:
    """The arguments at these positions, and ``func`` as a function of them alone."""
    several = (at,) if isinstance(at, int) else at

    def chosen(*values: Any) -> Any:
        return func(*replaced(args, several, values))

    return selected(args, several), chosen


def jacrev(
    func: Function,
    argnums: Any = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Function:
    """The Jacobian by reverse mode: output shape followed by input shape.

    Outputs and inputs may be trees: the result is a tree of outputs, each of the shape of the
    inputs at ``argnums``. ``chunk_size`` rows are computed at a time. ValueError if it is not
    positive.
    """
    if chunk_size is not None and not chunk_size > 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def wrapped(*args: Any) -> Any:
        at = positions(argnums, len(args))
        inputs = selected(args, at)

        primals, chosen = _chosen(func, args, at)
        _need_real("jacrev", "inputs", pytree.flatten(inputs))
        found = vjp(chosen, *primals, has_aux=has_aux)
        output, pull = found[0], found[1]
        outs, ins = pytree.flatten(output), pytree.flatten(inputs)
        _need_real("jacrev", "outputs", outs)
        flat = _rows(outs, ins, lambda g: pytree.flatten(pull(pytree.unflatten(output, g))),
                     chunk_size)  # fmt: skip
        columns = [_split(rows, outs, 0) for rows in flat]
        blocks = [
            [TENSOR.reshape(columns[j][i], (*out.shape, *x.shape)) for j, x in enumerate(ins)]
            for i, out in enumerate(outs)
        ]
        result = _nested(output, [pytree.unflatten(inputs, block) for block in blocks])
        return (result, found[2]) if has_aux else result

    return wrapped


def _nested(tree: Any, values: list[Any]) -> Any:
    """``tree`` with a tree in the place of each leaf."""
    it = iter(values)
    return pytree.map_tree(lambda _: next(it), tree)


def _rows(outs: list[Tensor], ins: list[Tensor], pull: Any, chunk_size: int | None) -> list[Tensor]:
    """For each input, the gradients of all elements of the outputs, (elements, *shape)."""
    total = sum(t.numel() for t in outs)
    step = chunk_size or max(total, 1)
    parts = []
    for start in range(0, total, step):
        basis = _basis(outs, start, min(start + step, total))
        if step == 1 and chunk_size is not None:  # without vmap, for what does not work in it
            found = [TENSOR.unsqueeze(g, 0) for g in pull([b[0] for b in basis])]
        else:
            found = vmap(pull)(basis)
        parts.append(found)
    if not parts:
        return [TENSOR.zeros((0, *x.shape), dtype=x.dtype, device=x.device) for x in ins]
    return list(parts[0]) if len(parts) == 1 else [TENSOR.cat(list(c)) for c in zip(*parts)]


def jacfwd(
    func: Function, argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Function:
    """The Jacobian by forward mode: output shape followed by input shape.

    Outputs and inputs may be trees, as for `jacrev`. ``randomness`` is that of `vmap`.
    """
    return by_columns(func, argnums, has_aux, randomness, _need_real)


def by_columns(
    func: Function, argnums: Any, has_aux: bool, randomness: str, check: Any = None
) -> Function:
    """`jacfwd`, with ``check(name, what, tensors)`` for the inputs and the outputs (None: none)."""
    check = check or (lambda *what: None)

    @functools.wraps(func)
    def wrapped(*args: Any) -> Any:
        at = positions(argnums, len(args))
        inputs = selected(args, at)
        ins = pytree.flatten(inputs)
        check("jacfwd", "inputs", ins)
        primals, chosen = _chosen(func, args, at)

        def push(directions: Any) -> Any:
            found = jvp(chosen, primals, pytree.unflatten(primals, directions), has_aux=has_aux)
            return (found[1], found[2]) if has_aux else found[1]

        basis = _basis(ins, 0, sum(t.numel() for t in ins))
        found = vmap(push, randomness=randomness)(basis)
        tangents, aux = found if has_aux else (found, None)
        check("jacfwd", "outputs", pytree.flatten(tangents))
        blocks = [_columns(rows, ins) for rows in pytree.flatten(tangents)]
        result = _nested(tangents, [pytree.unflatten(inputs, block) for block in blocks])
        return (result, pytree.map_tree(lambda a: a[0], aux)) if has_aux else result

    return wrapped


def _columns(rows: Tensor, ins: list[Tensor]) -> list[Tensor]:
    """The blocks of one output: (elements of the inputs, *shape) comes apart."""
    last = TENSOR.movedim(rows, 0, -1)
    parts = _split(last, ins, -1)
    return [
        TENSOR.reshape(part, (*rows.shape[1:], *x.shape))
        for part, x in zip(parts, ins, strict=True)
    ]


def hessian(func: Function, argnums: Any = 0) -> Function:
    """The Hessian of a scalar function: forward over reverse mode."""
    return jacfwd(jacrev(func, argnums), argnums)
