"""Checking derivatives against differences of function values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy import ndarray

from functional.autograd import grad
from functional.blame import warn
from functional.dtypes import complex128, float64
from functional.random import Generator
from functional.tape.op import TENSOR
from functional.tensor import Tensor

from . import _jacobians, _projections
from ._jacobians import GradcheckError, Tolerance

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]

GradcheckError.__module__ = __name__  # as tracebacks show it


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

    The whole matrix of derivatives is compared, with ``fast_mode`` its product with a random
    direction of the input and a random factor of the output, which takes as little time for large
    tensors: |analytical - numerical| <= atol + rtol * |numerical|, with steps of ``eps``, for every
    input that requires a gradient; use float64 or complex128. Of complex outputs the real and the
    imaginary part are compared each for itself. ``check_backward_ad`` looks at backward passes,
    ``check_forward_ad`` at tangents, the checks of batched gradients at both inside ``vmap``, and
    ``check_undefined_grad`` at outputs whose gradient is missing. Of sparse inputs all elements
    are varied, with ``masked`` those that are stored. A mismatch raises GradcheckError, or returns
    False without ``raise_exception``; inputs and outputs that cannot be checked raise ValueError.
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
    given = _tuple(inputs)
    tolerance = Tolerance(eps, atol, rtol, nondet_tol)
    mode = _projections if fast_mode else _jacobians
    try:
        _check_inputs(given)
        given = tuple(x if masked else _filled(x) for x in given)
        outputs = _outputs_of(func, given)
        if not outputs:
            _jacobians.check_constant(func, given, eps)
            return True
        if check_backward_ad:
            compare = mode.compare_backward
            _jacobians.check_backward(func, given, tolerance, check_grad_dtypes, compare)
            if check_batched_grad:
                _jacobians.check_batched(outputs, given, tolerance)
            _jacobians.check_factor(outputs, given)
            if check_undefined_grad:
                _jacobians.check_undefined(func, given)
        if check_forward_ad:
            batched, compare = check_batched_forward_grad, mode.compare_tangents
            _jacobians.check_forward(func, given, tolerance, batched, compare)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _outputs_of(func: Callable[..., Any], inputs: tuple[Any, ...]) -> list[Tensor]:
    outputs = _differentiable(func(*inputs))
    if any(o.is_sparse for o in outputs):
        raise ValueError(
            "Sparse output is not supported at gradcheck yet. Please call "
            "to_dense(masked_grad=...) on the output of fn for gradcheck."
        )
    return outputs


def _filled(x: Any) -> Any:
    """A sparse input with all its elements stored, so that each can be varied."""
    if not _needs(x) or not x.is_sparse:
        return x
    every = TENSOR.ones(tuple(x.shape[: x.sparse_dim()]), dtype=x.dtype).to_sparse().indices()
    dense = x.detach().to_dense()
    values = dense.reshape(-1, *x.shape[x.sparse_dim() :])
    full = TENSOR.sparse_coo_tensor(every, values, tuple(x.shape))
    return full._coalesced_(True).requires_grad_()


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
        if x.dtype is not float64 and x.dtype is not complex128:
            warn(
                f"Input #{i} requires gradient and is not a double precision floating point or "
                "complex. This check will likely fail if all the inputs are not of double "
                "precision floating point or complex. ",
            )
        content = x._values() if x.is_sparse else x
        if not isinstance(content._data, ndarray):  # a compressed matrix
            continue
        if any(s == 0 and n > 1 for s, n in zip(content.stride(), content.shape, strict=True)):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs "
                "that are non-overlapping to be able to compute the numerical gradients "
                "correctly. You should call .contiguous on the input before passing it to "
                "gradcheck."
            )
