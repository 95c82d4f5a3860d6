"""Matrices of derivatives, by differences, backward passes and tangents, and their comparison.

A matrix has a row for every element of an input and a column for every element of an output. All
of them belong to real outputs: a complex output stands for two. For a complex input z = x + iy the
entry is ds/dx + i ds/dy, which is what a backward pass computes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from functional.autograd import grad
from functional.function import Function
from functional.tape.op import TENSOR
from functional.tensor import Tensor, wrap
from functional.transforms import vmap

Func = Callable[..., Any]


class GradcheckError(RuntimeError):
    """Raised by ``gradcheck`` and ``gradgradcheck`` where derivatives are wrong."""


class Tolerance(NamedTuple):
    """The step of differences, and how far values may be apart."""

    eps: float
    atol: float
    rtol: float
    nondet: float

    def close(self, a: ndarray, b: ndarray) -> bool:
        """Whether ``a`` is as near to ``b`` as asked."""
        return a.shape == b.shape and bool(np.allclose(a, b, self.rtol, self.atol))


def outputs_of(func: Func, inputs: tuple[Any, ...]) -> list[Tensor]:
    """The outputs that have a gradient."""
    result = func(*inputs)
    result = result if isinstance(result, (tuple, list)) else (result,)
    return [o for o in result if isinstance(o, Tensor) and o.requires_grad]


def places(inputs: tuple[Any, ...]) -> list[int]:
    """Where the inputs are that require a gradient."""
    return [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]


def _parts(func: Func, inputs: tuple[Any, ...]) -> Iterator[tuple[str, Func]]:
    """(what is looked at, the function with real outputs)."""
    if not any(o.dtype.is_complex for o in outputs_of(func, inputs)):
        yield "", func
        return
    for name, part in (("imaginary", TENSOR.imag), ("real", TENSOR.real)):

        def one(*args: Any, part: Any = part, name: str = name) -> tuple[Tensor, ...]:
            found = outputs_of(func, args)
            return tuple(
                part(o) if o.dtype.is_complex else o
                for o in found
                if o.dtype.is_complex or name == "real"
            )

        yield f"While considering the {name} part of complex outputs only, ", one


# --- differences ----------------------------------------------------------------------------------


def stored(x: Tensor) -> ndarray:
    """The array whose elements can be varied: of a sparse tensor its values."""
    return x._data if isinstance(x._data, ndarray) else x._values()._data


def positions(x: Tensor) -> tuple[ndarray, int]:
    """(the position in the dense tensor of every element that is stored, how many it has)."""
    data = stored(x)
    if data is x._data:
        return np.arange(x.numel()), x.numel()
    sizes = tuple(x.shape[: x.sparse_dim()])
    rest = int(np.prod(x.shape[x.sparse_dim() :], dtype=int))
    at = np.ravel_multi_index(tuple(x._indices()._data), sizes)
    return (at[:, None] * rest + np.arange(rest)).ravel(), x.numel()


def values(func: Func, inputs: tuple[Any, ...]) -> list[Tensor]:
    return [o.detach().clone() for o in func(*inputs)]  # an output may be an input


def _all_outputs(func: Func) -> Func:
    def run(*args: Any) -> list[Tensor]:
        result = func(*args)
        result = result if isinstance(result, (tuple, list)) else (result,)
        return [o for o in result if isinstance(o, Tensor)]

    return run


def differences(func: Func, inputs: tuple[Any, ...], x: Tensor, eps: float) -> list[ndarray]:
    """One matrix per output of ``func`` for the input ``x``."""
    data, (rows, total) = stored(x), positions(x)
    like = values(func, inputs)
    found = [np.zeros((total, o.numel()), np.result_type(o._data, x.dtype.array)) for o in like]
    steps = (1, 1j) if x.dtype.is_complex else (1,)
    for row, at in zip(rows, np.ndindex(data.shape), strict=True):
        kept = data[at].copy()
        for step in steps:
            sides = []
            for sign in (-eps, eps):
                data[at] = kept + sign * step
                sides.append(values(func, inputs))
                same_kind(like, sides[-1], eps)
            data[at] = kept
            for matrix, low, high in zip(found, *sides, strict=True):
                matrix[row] += step * ((high._data - low._data).ravel() / (2 * eps))
    return found


def same_kind(before: list[Tensor], after: list[Tensor], eps: float) -> None:
    for i, (a, b) in enumerate(zip(before, after, strict=True)):
        for what, was, now in (("shape", a.shape, b.shape), ("dtype", a.dtype, b.dtype)):
            if was != now:
                where = f" at index {i}" if i else ""
                raise AssertionError(
                    f"Expected `func` to return outputs with the same {what} when inputs are "
                    f"perturbed on the order of {eps}, but got {what}s {was} and {now}{where}."
                )


def check_constant(func: Func, inputs: tuple[Any, ...], eps: float) -> None:
    """Outputs that say they depend on nothing must not change."""
    for i in places(inputs):
        for matrix in differences(_all_outputs(func), inputs, inputs[i], eps):
            if np.abs(matrix).max(initial=0) > 0:
                raise GradcheckError("Numerical gradient for function expected to be zero")


# --- backward passes ------------------------------------------------------------------------------


def compare_backward(
    about: str, run: Func, inputs: tuple[Any, ...], i: int, tol: Tolerance, dtypes: bool
) -> None:
    """Compare the whole matrices of one input."""
    numerical = differences(run, inputs, inputs[i], tol.eps)
    for j, output in enumerate(run(*inputs)):
        found = analytical(output, inputs[i], dtypes)
        if not tol.close(found, numerical[j]):
            raise mismatch(about, j, i, numerical[j], found)
        check_same(found, analytical(output, inputs[i], dtypes), tol)


def check_same(found: Any, again: Any, tol: Tolerance) -> None:
    """Two backward passes have to find the same."""
    if np.abs(found - again).max(initial=0) > tol.nondet:
        raise GradcheckError(
            "Backward is not reentrant, i.e., running backward with same input and grad_output "
            "multiple times gives different values, although analytical gradient matches "
            f"numerical gradient.The tolerance for nondeterminism was {tol.nondet}."
        )


def check_backward(
    func: Func,
    inputs: tuple[Any, ...],
    tol: Tolerance,
    dtypes: bool,
    compare: Func,
) -> None:
    """Compare backward passes with differences."""
    for about, part in _parts(func, inputs):

        def run(*args: Any, part: Func = part) -> list[Tensor]:
            return outputs_of(part, args)

        for i in places(inputs):
            compare(about, run, inputs, i, tol, dtypes)


def analytical(output: Tensor, x: Tensor, dtypes: bool = False) -> ndarray:
    found = np.zeros((x.numel(), output.numel()), x.dtype.array)
    for k in range(output.numel()):
        (g,) = grad([output], [x], [_unit(output, k)], retain_graph=True, allow_unused=True)
        found[:, k] = flat(g, x, dtypes)
    return found


def _unit(like: Tensor, k: int, value: complex = 1) -> Tensor:
    seed = np.zeros(like.numel(), like.dtype.array)
    seed[k] = value
    return wrap(seed.reshape(tuple(like.shape)))


def flat(g: Any, x: Tensor, dtypes: bool = False) -> Any:
    if g is None:
        return 0
    if g.shape != x.shape:
        raise GradcheckError("Analytical gradient has incorrect size")
    if dtypes and g.dtype is not x.dtype:
        raise GradcheckError("Analytical gradient has incorrect type")
    dense = g if isinstance(g._data, ndarray) else g.to_dense()
    return dense._data.ravel()


def check_factor(outputs: list[Tensor], inputs: tuple[Any, ...]) -> None:
    """Gradients have to be proportional to what comes in, and like their inputs."""
    wanted = [inputs[i] for i in places(inputs)]
    zeros = [TENSOR.zeros_like(o) for o in outputs]
    for g, x in zip(
        grad(outputs, wanted, zeros, retain_graph=True, allow_unused=True), wanted, strict=True
    ):
        if g is None:
            continue
        if g.layout is not x.layout and not x.is_sparse:
            raise GradcheckError(f"grad is incorrect layout ({g.layout} is not {x.layout})")
        if g.is_sparse and x.is_sparse:
            for kind in ("sparse_dim", "dense_dim"):
                if getattr(g, kind)() != getattr(x, kind)():
                    raise GradcheckError(f"grad is sparse tensor, but has incorrect {kind}")
        if np.any(flat(g, x)):
            raise GradcheckError("backward not multiplied by grad_output")


class _Undefined(Function):
    """Lets values through and no gradient."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, *g: Any) -> None:
        return None


def check_undefined(func: Func, inputs: tuple[Any, ...]) -> None:
    """Backward passes have to get along without the gradients of some or all outputs."""
    wanted = [inputs[i] for i in places(inputs)]
    count = len(outputs_of(func, inputs))
    for missing in [range(count), *([i] for i in range(count) if count > 1)]:
        outputs = outputs_of(func, inputs)
        ends = [_Undefined.apply(o) if i in missing else o for i, o in enumerate(outputs)]
        zeros = [TENSOR.zeros_like(o) for o in outputs]
        try:
            found = grad(ends, wanted, zeros, allow_unused=True)
        except RuntimeError as error:
            raise GradcheckError(
                "Expected backward function to handle undefined output grads. Please look at "
                '"Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
            ) from error
        if any(g is not None and np.any(flat(g, x)) for g, x in zip(found, wanted, strict=True)):
            raise GradcheckError(
                "Expected all input grads to be undefined or zero when all output grads are "
                'undefined or zero. Please look at "Notes about undefined output gradients" in '
                '"tools/autograd/derivatives.yaml"'
            )


def check_batched(outputs: list[Tensor], inputs: tuple[Any, ...], tol: Tolerance) -> None:
    """Backward passes inside ``vmap`` have to find what they find one by one."""
    wanted = [inputs[i] for i in places(inputs)]
    for output in outputs:
        seeds = [TENSOR.randn_like(output) for _ in range(2)]

        def back(g: Tensor, output: Tensor = output) -> Any:
            found = grad([output], wanted, [g], retain_graph=True, allow_unused=True)
            return tuple(_zeros(x) if g is None else g for g, x in zip(found, wanted, strict=True))

        try:
            together = vmap(back)(TENSOR.stack(seeds))
        except RuntimeError as error:
            raise _batched(error) from error
        alone = zip(*map(back, seeds), strict=True)
        _compare_batched(together, [TENSOR.stack(list(one)) for one in alone], tol)


def _zeros(x: Tensor) -> Tensor:
    return TENSOR.zeros(tuple(x.shape), dtype=x.dtype)


def _compare_batched(together: Any, alone: list[Tensor], tol: Tolerance) -> None:
    for a, b in zip(together, alone, strict=True):
        if not tol.close(a.detach()._data, b.detach()._data):
            raise _batched("got different values with and without vmap")


def _batched(why: Any) -> GradcheckError:
    return GradcheckError(
        f"While computing batched gradients, got: {why}\n\ngradcheck or gradgradcheck failed while "
        "testing batched gradient computation."
    )


# --- tangents -------------------------------------------------------------------------------------


def check_forward(
    func: Func, inputs: tuple[Any, ...], tol: Tolerance, batched: bool, compare: Func
) -> None:
    """Compare tangents with differences, for the real and imaginary parts of inputs in turn."""
    kinds = [("", 1 + 0j)]
    if any(inputs[i].dtype.is_complex for i in places(inputs)):
        kinds = [("imaginary", 1j), ("real", 1 + 0j)]
    for about, part in _parts(func, inputs):
        for kind, step in kinds:
            where = f"{about}While considering the {kind} part of complex inputs only, "
            for i in places(inputs):
                if step == 1j and not inputs[i].dtype.is_complex:
                    continue
                compare(where if kind else about, part, inputs, i, step, tol)
                if batched:
                    _check_batched_tangents(part, inputs, i, tol)


def compare_tangents(
    about: str, func: Func, inputs: tuple[Any, ...], i: int, step: complex, tol: Tolerance
) -> None:
    """Compare the whole matrices of one input, or those of its real or imaginary part."""
    pairs = tangent_matrices(func, inputs, i, step, tol.eps)
    for j, (numerical, found) in enumerate(pairs):
        if not tol.close(found, numerical):
            raise mismatch(about, j, i, numerical, found, "computed with forward mode ")


def tangent_matrices(
    func: Func, inputs: tuple[Any, ...], i: int, step: complex, eps: float
) -> list[tuple[ndarray, ndarray]]:
    """For every output the matrix by differences and that of tangents along ``step``."""
    x = inputs[i]
    value = step if x.dtype.is_complex else 1

    def run(*args: Any) -> list[Tensor]:
        return outputs_of(func, args)

    numerical = [
        matrix if not x.dtype.is_complex else (matrix.imag if step == 1j else matrix.real)
        for matrix in differences(run, inputs, x, eps)
    ]
    found = [np.zeros((x.numel(), o.numel()), o.dtype.array) for o in run(*inputs)]
    for k in range(x.numel()):
        columns = tangents(func, inputs, i, _unit(x, k, value))
        for matrix, tangent in zip(found, columns, strict=True):
            matrix[k] = 0 if tangent is None else tangent._data.ravel()
    return list(zip(numerical, found, strict=True))


def tangents(func: Func, inputs: tuple[Any, ...], i: int, direction: Tensor) -> list[Any]:
    from .forward_ad import dual_level, make_dual, unpack_dual

    with dual_level():
        dual = make_dual(inputs[i], direction)
        outputs = outputs_of(func, (*inputs[:i], dual, *inputs[i + 1 :]))
        return [unpack_dual(o).tangent for o in outputs]


def _check_batched_tangents(func: Func, inputs: tuple[Any, ...], i: int, tol: Tolerance) -> None:
    directions = [TENSOR.randn_like(inputs[i]) for _ in range(2)]

    def forward(direction: Tensor) -> Any:
        found = tangents(func, inputs, i, direction)
        return tuple(t for t in found if t is not None)

    try:
        together = vmap(forward)(TENSOR.stack([d.detach() for d in directions]))
    except RuntimeError as error:
        raise _batched(error) from error
    alone = zip(*map(forward, directions), strict=True)
    _compare_batched(together, [TENSOR.stack(list(one)) for one in alone], tol)


def mismatch(
    about: str, output: int, input: int, numerical: ndarray, analytical: ndarray, how: str = ""
) -> GradcheckError:
    return GradcheckError(
        f"{about}Jacobian {how}mismatch for output {output} with respect to input {input},\n"
        f"numerical:{wrap(numerical)}\nanalytical:{wrap(analytical)}\n"
    )
