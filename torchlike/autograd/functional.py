"""Products with Jacobians and Hessians of a function, and the whole matrices.

``func`` takes tensors and returns a tensor or a tuple of tensors; ``inputs`` is a tensor or a tuple
of them. With ``create_graph`` the results are recorded, without it they have no history. With
``strict`` a result that does not depend on an input raises RuntimeError; otherwise it is zeros.
"""

from __future__ import annotations

from typing import Any

from functional import transforms
from functional.modes import enable_grad
from functional.ops.create import like
from functional.ops.ranges import eye
from functional.tape.op import TENSOR
from functional.tensor import Tensor
from functional.transforms import jacobians

from ._products import (
    CONSTANT_HESSIAN,
    CONSTANT_JACOBIAN,
    FORWARD,
    HINT,
    LINEAR,
    LOOPED_FORWARD,
    NO_OUTPUT_GRADIENT,
    NO_SECOND_PASS,
    ONE_INPUT,
    ONE_OUTPUT,
    OUTPUTS,
    STRATEGY,
    STRICT,
    STRICT_VECTORIZED,
    TRICK,
    UNUSED,
    Function,
    Tensors,
    as_tuple,
    direction,
    evaluated,
    filled,
    finished,
    gradients,
    leaf,
    need_all,
    need_history,
    restored,
    single_number,
)

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


# --- products -------------------------------------------------------------------------------------


def vjp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """``func(*inputs)``, and ``v`` times its Jacobian: shaped like the inputs.

    ``v`` has the shapes of the outputs, and may be None for one output with one element. Raises
    RuntimeError for other shapes, TypeError where inputs, ``v`` or outputs are no tensors.
    """
    with enable_grad():
        xs = tuple(leaf(x, create_graph) for x in as_tuple(inputs, "inputs", "vjp"))
        out, outputs = evaluated(func, xs, "vjp", strict)
        is_tuple = isinstance(out, tuple)
        start = direction(v, create_graph, "vjp", outputs, is_tuple, ONE_OUTPUT)
        found = gradients(outputs, xs, start, create_graph)
        product = filled(found, xs, strict, create_graph, (UNUSED, CONSTANT_JACOBIAN))
    outputs, product = finished(outputs, create_graph), finished(product, create_graph)
    return restored(outputs, out), restored(product, inputs)


def jvp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """``func(*inputs)``, and its Jacobian times ``v``: shaped like the outputs.

    ``v`` has the shapes of the inputs, and may be None for one input with one element. The product
    is the gradient of a backward pass with respect to what that pass starts from. Raises as ``vjp``
    does.
    """
    with enable_grad():
        xs = tuple(leaf(x, create_graph) for x in as_tuple(inputs, "inputs", "jvp"))
        along = direction(v, create_graph, "jvp", xs, isinstance(inputs, tuple), ONE_INPUT)
        out, outputs = evaluated(func, xs, "jvp", strict)
        starts = tuple(like(0, o).requires_grad_() for o in outputs)
        back = gradients(outputs, xs, starts, True)
        if strict:
            need_all(back, UNUSED)
        found = gradients(back, starts, along, create_graph)
        texts = "The gradient with respect to the input" + TRICK, CONSTANT_JACOBIAN
        product = filled(found, outputs, strict, create_graph, texts)
    outputs, product = finished(outputs, create_graph), finished(product, create_graph)
    return restored(outputs, out), restored(product, out)


def _first(func: Function, xs: Tensors, name: str, strict: bool) -> tuple[Tensor, Any]:
    """A scalar function's value and recorded gradient."""
    out, outputs = evaluated(func, xs, name, strict)
    value = single_number(outputs, isinstance(out, tuple), name)
    slope = gradients(outputs, xs, None, True)
    if strict:
        need_all(slope, UNUSED)
        need_history(slope, LINEAR)  # type: ignore[arg-type]
    return value, slope


def vhp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """A scalar function's value, and ``v`` times its Hessian: both shaped like the inputs.

    ``v`` may be None for one input with one element. Raises as ``vjp`` does, and RuntimeError where
    the function returns more than one number.
    """
    with enable_grad():
        xs = tuple(leaf(x, create_graph) for x in as_tuple(inputs, "inputs", "vhp"))
        along = direction(v, create_graph, "vhp", xs, isinstance(inputs, tuple), ONE_INPUT)
        value, slope = _first(func, xs, "vhp", strict)
        found = gradients(slope, xs, along, create_graph)
        texts = CONSTANT_JACOBIAN + STRICT, CONSTANT_HESSIAN
        product = filled(found, xs, strict, create_graph, texts)
    (value,), product = finished((value,), create_graph), finished(product, create_graph)
    return value, restored(product, inputs)


def hvp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """A scalar function's value, and its Hessian times ``v``: as ``vhp``, with one more pass."""
    with enable_grad():
        xs = tuple(leaf(x, create_graph) for x in as_tuple(inputs, "inputs", "hvp"))
        along = direction(v, create_graph, "hvp", xs, isinstance(inputs, tuple), ONE_INPUT)
        value, slope = _first(func, xs, "hvp", strict)
        starts = tuple(like(0, x).requires_grad_() for x in xs)
        second = gradients(slope, xs, starts, True)
        found = gradients(second, starts, along, create_graph)
        texts = NO_SECOND_PASS, CONSTANT_HESSIAN
        product = filled(found, xs, strict, create_graph, texts)
    (value,), product = finished((value,), create_graph), finished(product, create_graph)
    return value, restored(product, inputs)


# --- whole matrices -------------------------------------------------------------------------------


def jacobian(
    func: Function,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian: for every output and every input, the output's shape and then the input's.

    Tuples of outputs and of inputs make it a tuple (of tuples). ``vectorize`` does all rows in one
    batched backward pass; ``strategy="forward-mode"``, which needs it, all columns in one pass of
    tangents, and gives lists where inputs are a tuple. Raises RuntimeError or NotImplementedError
    for what does not go together, otherwise as ``vjp`` does.
    """
    assert strategy in ("forward-mode", "reverse-mode"), STRATEGY + HINT
    forward = strategy == "forward-mode"
    if forward and create_graph:
        raise NotImplementedError(FORWARD.format("create_graph"))
    if forward and strict:
        raise RuntimeError(FORWARD.format("strict"))
    given = as_tuple(inputs, "inputs", "jacobian")
    if forward:
        if not vectorize:
            raise NotImplementedError(LOOPED_FORWARD)
        return _by_columns(func, given, isinstance(inputs, tuple))
    with enable_grad():
        xs = tuple(leaf(x, create_graph) for x in given)
        out, outputs = evaluated(func, xs, "jacobian", strict)
        if vectorize and strict:
            raise RuntimeError(STRICT_VECTORIZED)
        rows = _batch_of_rows if vectorize else _rows
        matrices = [rows(i, o, xs, create_graph, strict) for i, o in enumerate(outputs)]
    return restored([restored(finished(m, create_graph), inputs) for m in matrices], out)


def _rows(i: int, output: Tensor, xs: Tensors, create: bool, strict: bool) -> Tensors:
    """One backward pass for every element of output ``i``."""
    rows, flat = [], TENSOR.reshape(output, (-1,))
    unused = f"Output {i} of the user-provided function is independent of input {{}}." + STRICT
    constant = CONSTANT_JACOBIAN.format(i)
    for j in range(output.numel()):
        found = gradients((flat[j],), xs, None, create)
        rows.append(filled(found, xs, strict, create, (unused, constant)))
    shapes = [(*output.shape, *x.shape) for x in xs]
    columns = zip(*rows) if rows else [[] for _ in xs]
    stacks = [TENSOR.stack(list(column)) for column in columns]
    return tuple(TENSOR.reshape(m, shape) for m, shape in zip(stacks, shapes, strict=True))


def _batch_of_rows(i: int, output: Tensor, xs: Tensors, create: bool, strict: bool) -> Tensors:
    """The same in one batched pass."""
    used: list[bool] = []

    def row(start: Tensor) -> Any:
        found = gradients((output,), xs, (start,), create)
        used[:] = [g is not None for g in found]
        return tuple(g for g in found if g is not None)

    square = eye(output.numel(), dtype=output.dtype, device=output.device)
    found = iter(transforms.vmap(row)(TENSOR.reshape(square, (output.numel(), *output.shape))))
    shapes = [(*output.shape, *x.shape) for x in xs]
    return tuple(
        TENSOR.reshape(next(found), shape)
        if flag
        else TENSOR.zeros(shape, dtype=x.dtype, device=x.device)
        for x, shape, flag in zip(xs, shapes, used, strict=True)
    )


def _by_columns(func: Function, inputs: Tensors, is_tuple: bool) -> Any:
    """The Jacobian by forward mode."""
    assert inputs, "Expected at least one tensor"
    for x in inputs:
        if not (x.is_floating_point() or x.is_complex()):
            raise ValueError(f"Expected primal to be floating point or complex, but got: {x.dtype}")
    several = False

    def checked(*xs: Tensor) -> Tensors:
        nonlocal several
        out = func(*xs)
        several = isinstance(out, tuple)
        return as_tuple(out, "outputs", None)

    rows = jacobians.by_columns(checked, tuple(range(len(inputs))), False, "error")(*inputs)
    if not is_tuple:
        return tuple(row[0] for row in rows) if several else rows[0][0]
    return [list(row) for row in rows] if several else list(rows[0])


def hessian(
    func: Function,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The Hessian of a scalar function: for every pair of inputs, the shape of one and the other's.

    A tuple of inputs makes it a tuple of tuples. It is the Jacobian, by
    ``outer_jacobian_strategy``, of the gradient by reverse mode; see ``jacobian``.
    """
    given = as_tuple(inputs, "inputs", "hessian")
    assert outer_jacobian_strategy in ("forward-mode", "reverse-mode"), STRATEGY
    single = not isinstance(inputs, tuple)

    def scalar(*xs: Tensor) -> Tensor:
        out = func(*xs)
        outputs = as_tuple(out, OUTPUTS, "hessian")
        if strict:
            need_history(outputs, NO_OUTPUT_GRADIENT)
        return TENSOR.squeeze(single_number(outputs, isinstance(out, tuple), "hessian"))

    def slope(*xs: Tensor) -> Any:
        if outer_jacobian_strategy == "forward-mode":  # over tangents, which a tape cannot reach
            found = transforms.grad(scalar, tuple(range(len(xs))))(*xs)
        else:
            found = jacobian(scalar, xs, create_graph=True)
            if strict:
                need_history(found, LINEAR)
        return found[0] if single else found

    if outer_jacobian_strategy == "forward-mode":
        inputs = restored([x if x.requires_grad else leaf(x, False) for x in given], inputs)
    return jacobian(
        slope, inputs, create_graph, strict, vectorize, strategy=outer_jacobian_strategy
    )  # fmt: skip
