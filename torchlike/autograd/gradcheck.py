"""Checking derivatives against differences of function values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from functional.autograd import grad
from functional.blame import warn
from functional.dtypes import float64
from functional.modes import no_grad
from functional.random import Generator
from functional.tensor import Tensor, wrap

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class GradcheckError(RuntimeError):
    """Raised by ``gradcheck`` and ``gradgradcheck`` where derivatives are wrong."""


def _tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _needs(t: Any) -> bool:
    return isinstance(t, Tensor) and t.requires_grad


def _differentiable(outputs: Any) -> list[Tensor]:
    return [o for o in _tuple(outputs) if o.requires_grad]


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Whether the derivatives of ``func(*inputs)`` agree with central differences.

    The whole matrix of derivatives is compared (``fast_mode`` is accepted and changes nothing):
    |analytical - numerical| <= atol + rtol * |numerical|, with steps of ``eps``, for every input
    that requires a gradient; use float64. ``check_backward_ad`` looks at backward passes,
    ``check_forward_ad`` at tangents. A mismatch raises GradcheckError, or returns False without
    ``raise_exception``. Undefined gradients are not checked. Raises NotImplementedError for
    complex inputs and for the checks of batched gradients.
    """
    assert check_forward_ad or check_backward_ad, (
        "Expected at least one of check_forward_ad or check_backward_ad to be True"
    )
    assert check_backward_ad or not check_batched_grad, (
        "Setting check_batched_grad=True requires check_backward_ad to be True"
    )
    assert check_forward_ad or not check_batched_forward_grad, (
        "Setting check_batched_forward_grad=True requires check_forward_ad to be True"
    )
    for name, wanted in (
        ("check_batched_grad", check_batched_grad),
        ("check_batched_forward_grad", check_batched_forward_grad),
    ):
        if wanted:
            raise NotImplementedError(f"torch.autograd.gradcheck with {name}=True")
    given = _tuple(inputs)
    try:
        _check_inputs(given)
        if check_backward_ad:
            _check(func, given, eps, atol, rtol, nondet_tol, check_grad_dtypes)
        if check_forward_ad:
            _check_forward(func, given, eps, atol, rtol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """``gradcheck`` of the gradients: whether second derivatives are right.

    ``grad_outputs`` are what the first derivatives are multiplied with (random ones if None).
    ``check_rev_over_rev`` looks at backward passes over the gradients, ``check_fwd_over_rev`` at
    their tangents.
    """
    assert check_fwd_over_rev or check_rev_over_rev, (
        "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True"
    )
    assert check_rev_over_rev or not check_undefined_grad, (
        "Setting check_undefined_grad=True requires check_rev_over_rev to be True"
    )
    given = _tuple(inputs)
    if grad_outputs is None:
        outputs = _differentiable(func(*given))
        factors = _random_like(outputs, gen_non_contig_grad_outputs)
    else:
        factors = _tuple(grad_outputs)
    n = len(given)

    def first(*args: Any) -> tuple[Tensor, ...]:
        outputs = _differentiable(func(*args[:n]))
        wanted = [x for x in args[:n] if _needs(x)]
        found = grad(outputs, wanted, args[n:], create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None and g.requires_grad)

    return gradcheck(
        first, (*given, *factors), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception,
        nondet_tol=nondet_tol, check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes, check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev, check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
    )  # fmt: skip


def _random_like(outputs: list[Tensor], strided: bool) -> tuple[Tensor, ...]:
    """Factors from a generator of their own, so that the caller's random numbers stay."""
    from functional.ops.random import randn

    generator = Generator().manual_seed(0)
    found = []
    for o in outputs:
        shape = (*o.shape, 2) if strided and o.ndim else tuple(o.shape)
        t = randn(shape, dtype=o.dtype, generator=generator)
        t = t.select(-1, 0) if strided and o.ndim else t
        found.append(t.detach().requires_grad_())
    return tuple(found)


def _check_inputs(inputs: tuple[Any, ...]) -> None:
    if not any(map(_needs, inputs)):
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them "
            "have requires_grad=True."
        )
    for i, x in enumerate(inputs):
        if not _needs(x):
            continue
        if x.dtype.is_complex:
            raise NotImplementedError("torch.autograd.gradcheck of complex inputs")
        if x.dtype is not float64:
            warn(
                f"Input #{i} requires gradient and is not a double precision floating point or "
                "complex. This check will likely fail if all the inputs are not of double "
                "precision floating point or complex. ",
            )
        if any(s == 0 and n > 1 for s, n in zip(x.stride(), x.shape, strict=True)):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs "
                "that are non-overlapping to be able to compute the numerical gradients "
                "correctly. You should call .contiguous on the input before passing it to "
                "gradcheck."
            )


def _check(
    func: Callable[..., Any],
    inputs: tuple[Any, ...],
    eps: float,
    atol: float,
    rtol: float,
    nondet_tol: float,
    check_dtypes: bool,
) -> None:
    outputs = _differentiable(func(*inputs))
    where = [i for i, x in enumerate(inputs) if _needs(x)]
    if not outputs:
        _check_constant(func, inputs, where, eps)
        return
    for i in where:
        numerical = _numerical(func, inputs, inputs[i], eps)
        for j, output in enumerate(outputs):
            found = _analytical(output, inputs[i], check_dtypes)
            again = _analytical(output, inputs[i], check_dtypes)
            if not np.allclose(found, numerical[j], rtol, atol):
                raise _mismatch(j, i, numerical[j], found)
            if np.abs(found - again).max(initial=0) > nondet_tol:
                raise GradcheckError(
                    "Backward is not reentrant, i.e., running backward with same input and "
                    "grad_output multiple times gives different values, although analytical "
                    "gradient matches numerical gradient. The tolerance for nondeterminism was "
                    f"{nondet_tol}."
                )


def _check_constant(func: Any, inputs: Any, where: list[int], eps: float) -> None:
    """Outputs that say they depend on nothing must not change."""
    for i in where:
        for jacobian in _numerical(func, inputs, inputs[i], eps, all_outputs=True):
            if np.abs(jacobian).max(initial=0) > 0:
                raise GradcheckError("Numerical gradient for function expected to be zero")


def _check_forward(
    func: Callable[..., Any], inputs: tuple[Any, ...], eps: float, atol: float, rtol: float
) -> None:
    """The same comparison for tangents."""
    where = [i for i, x in enumerate(inputs) if _needs(x)]
    outputs = _differentiable(func(*inputs))
    if not outputs:
        _check_constant(func, inputs, where, eps)
    for i in where if outputs else ():
        numerical = _numerical(func, inputs, inputs[i], eps)
        for j, found in enumerate(_tangents(func, inputs, i, outputs)):
            if not np.allclose(found, numerical[j], rtol, atol):
                raise _mismatch(j, i, numerical[j], found, "computed with forward mode ")


def _tangents(func: Any, inputs: tuple[Any, ...], i: int, outputs: list[Tensor]) -> list[ndarray]:
    """One matrix per output from forward passes, one per element of input ``i``."""
    from .forward_ad import dual_level, make_dual, unpack_dual

    x = inputs[i]
    rows: list[list[ndarray]] = [[] for _ in outputs]
    for k in range(x.numel()):
        direction = np.zeros(x.numel(), x._data.dtype)
        direction[k] = 1
        with dual_level():
            dual = make_dual(x, wrap(direction.reshape(tuple(x.shape))))
            found = _differentiable(func(*inputs[:i], dual, *inputs[i + 1 :]))
            for row, output in zip(rows, found, strict=True):
                row.append(_flat_gradient(unpack_dual(output).tangent, output, False))
    shapes = [(x.numel(), o.numel()) for o in outputs]
    return [np.array(row).reshape(shape) for row, shape in zip(rows, shapes, strict=True)]


def _mismatch(
    output: int, input: int, numerical: ndarray, analytical: ndarray, how: str = ""
) -> GradcheckError:
    return GradcheckError(
        f"Jacobian {how}mismatch for output {output} with respect to input {input},\n"
        f"numerical:{wrap(numerical)}\nanalytical:{wrap(analytical)}\n"
    )


def _values(outputs: list[Tensor]) -> list[ndarray]:
    return [np.array(o.detach()._data, copy=True).ravel() for o in outputs]


def _numerical(
    func: Callable[..., Any], inputs: Any, x: Tensor, eps: float, all_outputs: bool = False
) -> list[ndarray]:
    """One matrix per output: rows for the elements of ``x``, columns for the output's."""
    pick = _tuple if all_outputs else _differentiable
    data, rows = x._data, []
    for at in np.ndindex(data.shape):
        kept, sides = data[at].copy(), []
        for step in (-eps, eps):
            data[at] = kept + step
            sides.append(_values(list(pick(func(*inputs)))))
        data[at] = kept
        low, high = sides
        rows.append([(b - a) / (2 * eps) for a, b in zip(low, high, strict=True)])
    if not rows:
        outputs = list(pick(func(*inputs)))
        return [np.zeros((0, o.numel()), data.dtype) for o in outputs]
    return [np.stack(column) for column in zip(*rows, strict=True)]


def _analytical(output: Tensor, x: Tensor, check_dtypes: bool) -> ndarray:
    """The same matrix from backward passes, one per element of the output."""
    with no_grad():
        columns = []
        for k in range(output.numel()):
            seed = np.zeros(output.numel(), output._data.dtype)
            seed[k] = 1
            start = wrap(seed.reshape(tuple(output.shape)))
            (g,) = grad([output], [x], [start], retain_graph=True, allow_unused=True)
            columns.append(_flat_gradient(g, x, check_dtypes))
    if not columns:
        return np.zeros((x.numel(), 0), x._data.dtype)
    return np.stack(columns, 1)


def _flat_gradient(g: Any, x: Tensor, check_dtypes: bool) -> ndarray:
    if g is None:
        return np.zeros(x.numel(), x._data.dtype)
    if g.shape != x.shape:
        raise GradcheckError("Analytical gradient has incorrect size")
    if check_dtypes and g.dtype is not x.dtype:
        raise GradcheckError("Analytical gradient has incorrect type")
    return np.array(g._data, copy=True).ravel()
