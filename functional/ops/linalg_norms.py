"""Norms of vectors and matrices, and condition numbers."""

from __future__ import annotations

import math
from typing import Any

from .. import dtypes
from ..tape.op import TENSOR, public
from ..tape.operands import is_number, no_form
from ..tape.out import out_of
from ..tensor import Tensor
from .arguments import dims_of
from .linalg_parts import check_kind, check_matrix
from .norms import check_norm_dtype, norm_order, vector_norm

INF = math.inf


def _cast(A: Tensor, dtype: Any, name: str) -> Tensor:
    if dtype is None:
        return A
    check_norm_dtype(A, dtype, name)
    return A.to(dtype)


def _shown(ord: float) -> str:
    return f"{ord:g}"


def _vector_norm(
    x: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    ord = norm_order(ord)
    check_kind(x, "linalg.vector_norm", half="")
    return vector_norm(_cast(x, dtype, "linalg.vector_norm"), ord, dim, keepdim)


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
        raise RuntimeError(f"{name}: dims must be different. Got ({first}, {second})")
    return first, second


def _last(A: Tensor, dims: tuple[int, int]) -> Tensor:
    """The two dimensions moved to the end."""
    order = [i for i in range(A.ndim) if i not in dims]
    return TENSOR.permute(A, (*order, *dims))


def _restore(z: Tensor, dims: tuple[int, int]) -> Tensor:
    """Of results with one last dimension of size 1: two of them, back in their places."""
    rest = [i for i in range(z.ndim + 1) if i not in dims]
    order = [*rest, *dims]
    return TENSOR.permute(TENSOR.unsqueeze(z, -1), tuple(map(order.index, range(len(order)))))


def _extreme(values: Tensor, ord: float, dim: int, keepdim: bool) -> Tensor:
    """The maximum for positive ord (0 where there is nothing), else the minimum."""
    if ord < 0:
        return TENSOR.amin(values, dim, keepdim)
    if values.shape[dim]:
        return TENSOR.amax(values, dim, keepdim)
    return TENSOR.sum(values.detach(), dim, keepdim)


def _check_order(ord: Any, name: str) -> None:
    if ord in ("fro", "nuc"):
        return
    if isinstance(ord, str) or abs(norm_order(ord, name)) not in (1, 2, INF):
        shown = ord if isinstance(ord, str) else _shown(ord)
        raise RuntimeError(f"{name}: Order {shown} not supported.")


def _matrix_norm(
    A: Tensor, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    name = "linalg.matrix_norm"
    _check_order(ord, name)
    check_matrix(A, name)
    check_kind(A, name, half="")
    dims = _two_dims(A, dim)
    if ord == "nuc" or abs(0 if ord == "fro" else ord) == 2:
        check_kind(A, name)
    A = _cast(A, dtype, name)
    if ord == "fro":
        return _vector_norm(A, 2, dims, keepdim)
    if ord == "nuc" or abs(ord) == 2:
        values = TENSOR.linalg_svdvals(_last(A, dims))
        if ord == "nuc":
            z = TENSOR.sum(values, -1, keepdim)
        else:
            z = _extreme(values, ord, -1, keepdim)
        return _restore(z, dims) if keepdim else z
    along, rest = dims if abs(ord) == 1 else dims[::-1]
    sums = _vector_norm(A, 1, along, keepdim)
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
    if dim is not None:
        dim = tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)
        if len(dim) not in (1, 2):
            raise RuntimeError(
                f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}"
            )
    elif ord is not None and A.ndim not in (1, 2):
        raise RuntimeError(
            "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. "
            f"Got {A.ndim}D."
        )
    if not (ord is None or isinstance(ord, (str, Tensor)) or is_number(ord)):
        raise no_form("linalg_norm", (A, ord))
    count = A.ndim if dim is None else len(dim)
    if isinstance(ord, str) or (ord is not None and count == 2):
        return _matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
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
