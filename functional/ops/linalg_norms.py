"""Norms of vectors and matrices, and condition numbers."""

from __future__ import annotations

import math
from typing import Any

from .. import dtypes
from ..tape.op import TENSOR, public
from ..tape.out import out_of
from ..tensor import Tensor
from .arguments import dims_of
from .linalg_parts import check_kind, check_matrix, is_complex
from .norms import vector_norm

INF = math.inf


def _cast(A: Tensor, dtype: Any, name: str) -> Tensor:
    if dtype is None or dtype is A.dtype:
        return A
    if is_complex(A) != dtype.is_complex:
        kind = "complex" if is_complex(A) else "real"
        raise RuntimeError(f"{name}: dtype should be {kind} for {kind} inputs, but got "
                           f"{dtype.legacy}")  # fmt: skip
    if dtype.category < dtypes.FLOAT:
        raise RuntimeError(f"{name}: dtype should be floating point or complex. "
                           f"Got {dtype.legacy}")  # fmt: skip
    if dtypes.promote_types(A.dtype, dtype) is not dtype:
        raise RuntimeError(
            f"{name}: the dtype of the input ({A.dtype.legacy}) should be convertible without "
            f"narrowing to the specified dtype ({dtype.legacy})"
        )
    return A.to(dtype)


def _shown(ord: float) -> str:
    return f"{ord:g}"


def _vector_norm(
    x: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    check_kind(x, "linalg.vector_norm", half="")
    if isinstance(ord, complex):
        raise RuntimeError(
            "linalg.vector_norm: Expected a non-complex scalar as the order of norm."
        )
    x = _cast(x, dtype, "linalg.vector_norm")
    return vector_norm(x, float(ord), dim, keepdim)


@public
def linalg_vector_norm(
    x: Tensor,
    ord: Any = 2,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
    out: Any = None,
) -> Tensor:
    """(Σ |x|^ord)^(1/ord) over ``dim``, of all elements if it is None."""
    if out is not None:
        call = lambda x: _vector_norm(x, ord, dim, keepdim, dtype=dtype)
        return out_of(call, out, x, name="linalg_vector_norm")
    return _vector_norm(x, ord, dim, keepdim, dtype=dtype)


# --- matrices -------------------------------------------------------------------------------------


def _two_dims(A: Tensor, dim: Any) -> tuple[int, int]:
    name = "linalg.matrix_norm"
    dims = tuple(dim)
    if len(dims) != 2:
        raise RuntimeError(f"{name}: dim must be a 2-tuple. Got {' '.join(map(str, dims))}")
    first, second = (dims_of(A, d)[0] for d in dims)
    if first == second:
        raise RuntimeError(f"{name}: dims must be different. Got ({dims[0]}, {dims[1]})")
    return first, second


def _last(A: Tensor, dims: tuple[int, int]) -> Tensor:
    """The two dimensions moved to the end."""
    order = [i for i in range(A.ndim) if i not in dims]
    return TENSOR.permute(A, (*order, *dims))


def _restore(z: Tensor, dims: tuple[int, int], keepdim: bool) -> Tensor:
    for d in sorted(dims) if keepdim else ():
        z = TENSOR.unsqueeze(z, d)
    return z


def _extreme(values: Tensor, ord: float, dim: int, keepdim: bool) -> Tensor:
    """The maximum for positive ord (0 where there is nothing), else the minimum."""
    if ord < 0:
        return TENSOR.amin(values, dim, keepdim)
    if values.shape[dim]:
        return TENSOR.amax(values, dim, keepdim)
    return TENSOR.sum(values.detach(), dim, keepdim)


def _matrix_norm(
    A: Tensor, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    name = "linalg.matrix_norm"
    check_matrix(A, name)
    check_kind(A, name, half="")
    dims = _two_dims(A, dim)
    if ord == "fro":
        return _vector_norm(A, 2, dims, keepdim, dtype=dtype)
    if isinstance(ord, str) and ord != "nuc":
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    if ord != "nuc" and abs(ord) not in (1, 2, INF):
        raise RuntimeError(f"linalg.matrix_norm: Order {_shown(ord)} not supported.")
    if ord == "nuc" or abs(ord) == 2:
        check_kind(A, name)
        values = TENSOR.linalg_svdvals(_last(_cast(A, dtype, name), dims))
        if ord == "nuc":
            return _restore(TENSOR.sum(values, -1), dims, keepdim)
        return _restore(_extreme(values, ord, -1, False), dims, keepdim)
    along, rest = dims if abs(ord) == 1 else dims[::-1]
    sums = _vector_norm(A, 1, along, keepdim, dtype=dtype)
    rest -= rest > along and not keepdim
    return _extreme(sums, ord, rest, keepdim)


@public
def linalg_matrix_norm(
    A: Tensor,
    ord: Any = "fro",
    dim: Any = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: Any = None,
    out: Any = None,
) -> Tensor:
    """A matrix norm: ``fro``, ``nuc``, ±1, ±2 or ±∞."""
    if out is not None:
        call = lambda x: _matrix_norm(x, ord, dim, keepdim, dtype=dtype)
        return out_of(call, out, A, name="linalg_matrix_norm")
    return _matrix_norm(A, ord, dim, keepdim, dtype=dtype)


def _norm(A: Tensor, ord: Any, dim: Any, keepdim: bool, dtype: Any) -> Tensor:
    count = 1 if isinstance(dim, int) else None if dim is None else len(dim)
    if isinstance(ord, str) or (
        ord is not None and (count == 2 or (count is None and A.ndim == 2))
    ):
        if count is None and A.ndim != 2:
            raise RuntimeError(
                "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. "
                f"Got {A.ndim}D."
            )
        return _matrix_norm(A, ord, (0, 1) if dim is None else dim, keepdim, dtype=dtype)
    if ord is not None and count is None and A.ndim > 2:
        raise RuntimeError(
            "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. "
            f"Got {A.ndim}D."
        )
    return _vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


@public
def linalg_norm(
    A: Tensor,
    ord: Any = None,
    dim: Any = None,
    keepdim: bool = False,
    *,
    out: Any = None,
    dtype: Any = None,
) -> Tensor:
    """A vector norm or, over two dimensions and with ``ord``, a matrix norm."""
    if out is not None:
        return out_of(lambda x: _norm(x, ord, dim, keepdim, dtype), out, A, name="linalg_norm")
    return _norm(A, ord, dim, keepdim, dtype)


def _cond(A: Tensor, p: Any = None) -> Tensor:
    """‖A‖ · ‖A⁻¹‖; ∞ for singular matrices."""
    if A.ndim < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if p is None or p in (2, -2):
        s = TENSOR.linalg_svdvals(A)
        if not A.numel():
            return TENSOR.zeros(tuple(s.shape[:-1]), dtype=s.dtype)
        most, least = TENSOR.narrow(s, -1, 0, 1), TENSOR.narrow(s, -1, s.shape[-1] - 1, 1)
        ratio = least / most if p == -2 else most / least
        return TENSOR.squeeze(ratio, -1)
    m, n = A.shape[-2:]
    if m != n:
        raise RuntimeError(
            f"linalg.cond: A must be batches of square matrices, but they are {m} by {n} matrices"
        )
    if not A.numel():
        kind = dtypes.float32 if A.dtype is dtypes.complex64 else A.dtype
        kind = dtypes.float64 if A.dtype is dtypes.complex128 else kind
        return TENSOR.zeros(tuple(A.shape[:-2]), dtype=kind)
    if p == "nuc":
        s = TENSOR.linalg_svdvals(A)
        return TENSOR.sum(s, -1) * TENSOR.sum(TENSOR.reciprocal(s), -1)
    inverse, info = TENSOR.linalg_inv_ex(A)
    bad = TENSOR.unsqueeze(TENSOR.unsqueeze(info > 0, -1), -1)
    inverse.masked_fill_(bad, INF)
    return _no_nan(_matrix_norm(A, p) * _matrix_norm(inverse, p))


def _no_nan(x: Tensor) -> Tensor:
    return TENSOR.nan_to_num(x, INF, INF, -INF)


@public
def linalg_cond(A: Tensor, p: Any = None, *, out: Any = None) -> Tensor:
    """The condition number of matrices in the norm ``p`` (the 2-norm if None)."""
    return _cond(A, p) if out is None else out_of(_cond, out, A, p, name="linalg_cond")
