"""Determinants, inverses, powers and exponentials of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..tape.declare import general
from ..tape.op import TENSOR, public
from ..tape.out import out_of
from ..tensor import Tensor
from .arguments import need_tensor
from .linalg_parts import (
    add,
    check_kind,
    check_square,
    column,
    is_complex,
    mH,
    not_holomorphic,
    pieces,
    probed,
    singular,
    unless_empty,
)
from .results import check_outs, return_type, write_outs

# --- primitives -----------------------------------------------------------------------------------


def _det_vjp(F: Any, g: Any, self: Any, result: Any) -> Any:  # PyTorch keeps the result too
    if not self.shape[-1]:
        return F.zeros_like(self)
    return column(F, column(F, g)) * F.cofactors(self)


def _cofactors_vjp(F: Any, g: Any, self: Any, result: Any) -> Any:
    """Of C = det* x⁻ᴴ, where x has an inverse."""
    h = mH(F, F.inv_of(self)[0])
    inner = F.sum(F.conj(g) * result, (g.ndim - 2, g.ndim - 1), True)
    return inner * h - F.matmul(F.matmul(h, mH(F, g)), result)


cofactors = not_holomorphic(
    general("cofactors", _cofactors_vjp, vmap="lead", shape=lambda x: (x.shape, x.dtype))
)
det_ = not_holomorphic(
    general("det_of", _det_vjp, node="LinalgDetBackward0", vmap="lead", shape=probed("det_of"))
)


def _slogdet_vjp(F: Any, g: Any, self: Any, result0: Any) -> Any:
    sign, log = pieces(g, 2)
    factor = log
    if sign is not None and is_complex(self):
        turn = F.conj(result0) * sign
        factor = add(factor, (turn - F.conj(turn)) / 2)
    if factor is None:
        return F.zeros_like(self)
    return column(F, column(F, factor)) * mH(F, F.inv_of(self)[0])


slogdet_ = not_holomorphic(
    general(
        "slogdet_of",
        _slogdet_vjp,
        node="LinalgSlogdetBackward0",
        vmap="lead",
        shape=probed("slogdet_of"),
    )
)


def _inv_vjp(F: Any, g: Any, result0: Any) -> Any:
    g, h = pieces(g, 2)[0], mH(F, result0)
    return -F.matmul(h, F.matmul(g, h))


inv_ = not_holomorphic(
    general(
        "inv_of",
        _inv_vjp,
        node="LinalgInvExBackward0",
        vmap="lead",
        differentiable=(True, False),
        shape=probed("inv_of"),
    )
)


def _exp_vjp(F: Any, g: Any, self: Any) -> Any:
    """The derivative at xᴴ in the direction g, from the exponential of a block matrix."""
    h, n = mH(F, self), self.ndim
    top = F.cat([h, g], n - 1)
    low = F.cat([F.zeros_like(h), h], n - 1)
    both = F.matrix_exp_of(F.cat([top, low], n - 2))
    size = self.shape[-1]
    return F.slice_(F.slice_(both, n - 2, 0, size, 1), n - 1, size, 2 * size, 1)


matrix_exp_ = not_holomorphic(
    general(
        "matrix_exp_of",
        _exp_vjp,
        node="LinalgMatrixExpBackward0",
        vmap="lead",
        shape=lambda x: (x.shape, x.dtype),
    )
)

# --- public forms ---------------------------------------------------------------------------------


def with_out(function: Any, name: str, title: str | None = None) -> Any:
    """Enter ``function`` under ``name``, with ``out=``."""

    def wrapper(self: Tensor, *args: Any, out: Any = None, **named: Any) -> Tensor:
        if out is None:
            return function(self, *args, **named)
        return out_of(lambda x: function(x, *args, **named), out, self, name=title or name)

    wrapper.__name__ = wrapper.__qualname__ = name
    wrapper.__doc__ = function.__doc__
    return public(wrapper)


def _det(A: Tensor) -> Tensor:
    """The determinant of square matrices."""
    check_square(A, "linalg.det")
    check_kind(A, "linalg.det", half="")
    return unless_empty("lu_cpu", det_, A)


linalg_det = with_out(_det, "linalg_det")


@public
def det(self: Tensor) -> Tensor:
    """The determinant of square matrices."""
    return _det(self)


_Slogdet = return_type("linalg_slogdet", ("sign", "logabsdet"))
_OldSlogdet = return_type("slogdet", ("sign", "logabsdet"))


@public
def linalg_slogdet(A: Tensor, *, out: Any = None) -> Any:
    """(sign, log |det|) of square matrices."""
    check_square(A, "linalg.slogdet")
    check_kind(A, "linalg.slogdet")
    return write_all(_Slogdet(slogdet_(A)), out, "linalg_slogdet")


def write_all(results: Any, out: Any, name: str) -> Any:
    """Named results, or ``out`` with their values."""
    if out is None:
        return results
    return type(results).out(write_outs(name, results, check_outs(name, results, out)))


@public
def slogdet(self: Tensor, *, out: Any = None) -> Any:
    """(sign, log |det|) of square matrices."""
    return write_all(_OldSlogdet(linalg_slogdet(self)), out, "slogdet")


@public
def logdet(self: Tensor) -> Tensor:
    """log det; NaN where the determinant is negative."""
    check_square(self, "logdet")
    check_kind(self, "logdet")
    sign, log = slogdet_(self)
    if is_complex(self):
        return TENSOR.log(sign) + log
    nan = TENSOR.tensor(float("nan"), dtype=self.dtype, device=self.device)
    return TENSOR.where(sign == -1, nan, log)


_InvEx = return_type("linalg_inv_ex", ("inverse", "info"))


@public
def linalg_inv_ex(A: Tensor, *, check_errors: bool = False, out: Any = None) -> Any:
    """(inverse, info): info is the first pivot that is zero (from 1), or 0."""
    check_square(A, "linalg.inv")
    check_kind(A, "linalg.inv")
    inverse, info = inv_(A)
    if check_errors:
        singular("linalg.inv_ex", info)
    return write_all(_InvEx((inverse, info)), out, "linalg_inv_ex")


def _inv(A: Tensor) -> Tensor:
    """The inverse of square matrices; LinAlgError if one is singular."""
    check_square(A, "linalg.inv")
    check_kind(A, "linalg.inv")
    inverse, info = inv_(A)
    singular("linalg.inv", info)
    return inverse


linalg_inv = with_out(_inv, "linalg_inv")
inverse = with_out(_inv, "inverse", "linalg_inv")


def _matrix_exp(A: Tensor) -> Tensor:
    """The exponential of square matrices."""
    check_square(A, "linalg.matrix_exp")
    check_kind(A, "linalg.matrix_exp", half="")
    return matrix_exp_(A)


@public
def matrix_exp(self: Tensor) -> Tensor:
    """The exponential of square matrices."""
    return _matrix_exp(self)


@public
def linalg_matrix_exp(A: Tensor) -> Tensor:
    """The exponential of square matrices."""
    return _matrix_exp(A)


def _matrix_power(A: Tensor, n: int) -> Tensor:
    """Aⁿ by repeated squaring; of the inverse for negative n."""
    check_square(A, "linalg.matrix_power")
    if n == 0:
        z = TENSOR.clone(A)
        eye = TENSOR.eye(A.shape[-1], dtype=A.dtype, device=A.device)
        return z.copy_(TENSOR.expand(eye, tuple(z.shape)))
    if n < 0:
        return _matrix_power(_inv(A), -n)
    if n == 1:
        return TENSOR.clone(A)
    if n == 3:
        return TENSOR.matmul(TENSOR.matmul(A, A), A)
    return _by_squaring(A, n)


def _by_squaring(A: Tensor, n: int) -> Tensor:
    result, square = None, A
    while True:
        if n & 1:
            result = square if result is None else TENSOR.matmul(result, square)
        n >>= 1
        if not n:
            return result  # type: ignore[return-value]
        square = TENSOR.matmul(square, square)


linalg_matrix_power = with_out(_matrix_power, "linalg_matrix_power")
matrix_power = with_out(_matrix_power, "matrix_power", "linalg_matrix_power")


@public
def linalg_diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The diagonals of matrices, as a view."""
    return TENSOR.diagonal(A, offset, dim1, dim2)


def _vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """Σ x* · y along a dimension."""
    check_kind(x, "linalg.vecdot", half="")
    if x.dtype is not y.dtype:
        raise RuntimeError(
            "linalg.vecdot: Expected x and y to have the same dtype, but found x of type "
            f"{x.dtype.legacy} and y of type {y.dtype.legacy} instead"
        )
    if dim in (-1, x.ndim - 1) and x.ndim == y.ndim == 1:
        return TENSOR.vdot(x, y)
    x = TENSOR.conj(x) if is_complex(x) else x
    return TENSOR.sum(x * y, dim)


@public
def linalg_vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Any = None) -> Tensor:
    """Σ x* · y along a dimension."""
    if out is not None:
        call = lambda a, b: _vecdot(a, b, dim=dim)
        return out_of(call, out, x, y, name="linalg_vecdot")
    return _vecdot(x, y, dim=dim)


def _check_vander(x: Tensor) -> None:
    if x.dtype is dtypes.bool_ or x.dtype.array in dtypes.HALF:
        raise RuntimeError(
            "linalg.vander supports floating point, complex, and integer tensors, but got "
            + x.dtype.legacy
        )


@public
def linalg_vander(x: Tensor, *, N: int | None = None) -> Tensor:
    """Rows of powers of the elements: 1, x, …, x^(N-1)."""
    _check_vander(x)
    x = x if x.ndim else TENSOR.unsqueeze(x, 0)
    n = x.shape[-1] if N is None else N
    if n <= 1:
        raise RuntimeError("N must be greater than 1.")
    shape = tuple(x.shape)
    wide = TENSOR.expand(TENSOR.unsqueeze(x, -1), (*shape, n - 1))
    ones = TENSOR.ones((*shape, 1), dtype=wide.dtype, device=x.device)
    powers = TENSOR.cumprod(wide, -1)
    return TENSOR.cat([ones.to(powers.dtype), powers], -1)


@public
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """Rows of powers of a 1-D tensor's elements: x^(N-1), …, x, 1, or the other way round."""
    need_tensor(x, "vander.x.1")
    if x.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    n = x.shape[0] if N is None else N
    if n < 0:
        raise RuntimeError("N must be non-negative.")
    wide = dtypes.int64 if x.dtype.category < dtypes.FLOAT else x.dtype
    shape = (x.shape[0], n)
    powers = TENSOR.ones(shape, dtype=wide, device=x.device)
    if n > 1:
        rest = TENSOR.expand(TENSOR.unsqueeze(x.to(wide), -1), (shape[0], n - 1))
        powers = TENSOR.cat([powers[:, :1], TENSOR.cumprod(rest, -1)], -1)
    return powers if increasing else TENSOR.flip(powers, (1,))


def check_reshape(n: int, m: int) -> None:
    if n != m:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
            f"prod(self.shape[:ind]), but got {m} != {n}"
        )


def _tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """The inverse of a tensor seen as a matrix of its first ``ind`` dimensions by the others."""
    if ind <= 0:
        raise RuntimeError("Expected a strictly positive integer for 'ind'")
    lead, tail = tuple(A.shape[:ind]), tuple(A.shape[ind:])
    n, m = int(np.prod(lead)), int(np.prod(tail))
    check_reshape(n, m)
    return TENSOR.reshape(_inv(TENSOR.reshape(A, (n, m))), (*tail, *lead))


linalg_tensorinv = with_out(_tensorinv, "linalg_tensorinv")
