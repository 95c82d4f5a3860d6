"""Least squares, pseudo-inverses, ranks and LDL factorizations."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..errors import not_implemented
from ..kernels.meta import contiguous_strides
from ..tape.declare import general
from ..tape.op import TENSOR, public
from ..tensor import Tensor
from .arguments import one_dim
from .cast import host
from .decompositions import svd_
from .linalg import with_out, write_all
from .linalg_parts import (
    add,
    check_kind,
    check_matrix,
    check_solved,
    check_square,
    mH,
    not_holomorphic,
    pieces,
    probed,
    unless_empty,
)
from .results import return_type
from .solvers import is_vector

# --- rules ----------------------------------------------------------------------------------------


def _pinv_vjp(F: Any, g: Any, self: Any, result: Any) -> Any:
    """Golub and Pereyra (1973), eq. 4.12, transposed."""
    a, p = self, result
    ah, ph, gh = mH(F, a), mH(F, p), mH(F, g)
    z = -F.matmul(ph, F.matmul(g, ph))
    # the parts of da outside the ranges of a: (1 - a p) daᴴ phᴴ… and its mirror image
    right = F.matmul(F.matmul(ph, p), gh)
    z = z + right - F.matmul(F.matmul(right, ah), ph)
    left = F.matmul(F.matmul(gh, p), ph)
    return z + left - F.matmul(ph, F.matmul(ah, left))


def _lstsq_joint(F: Any, g: Any, need: Any, self: Any, b: Any, result0: Any) -> Any:
    gx, gr, _, _ = (*pieces(g, 4), None, None, None)[:4]
    ga = gb = None
    if gx is not None:
        p = F.pinv_of(self, 0.0, float(_eps(self)), False)
        gb = F.matmul(mH(F, p), gx)
        ga = _pinv_vjp(F, F.matmul(gx, mH(F, b)), self, p) if need[0] else None
    shape = tuple(result0.shape)
    if gr is not None and tuple(gr.shape) == (*shape[:-2], shape[-1]):
        twice = 2 * F.unsqueeze(gr, gr.ndim - 1) * (F.matmul(self, result0) - b)
        ga = add(ga, F.matmul(twice, mH(F, result0))) if need[0] else None
        gb = add(gb, -twice)
    return ga, gb if need[1] else None


def _eps(x: Any) -> float:
    kind = np.dtype(getattr(x.dtype, "array", x.dtype))
    return float(np.finfo(kind).eps) * max(x.shape[-2:])


def _refuse(name: str, *asks: str) -> Any:
    def rule(F: Any, g: Any) -> Any:
        raise RuntimeError(f"derivative for aten::{name} is not implemented")

    return rule


# --- primitives -----------------------------------------------------------------------------------

pinv_ = not_holomorphic(
    general(
        "pinv_of",
        _pinv_vjp,
        statics=("atol", "rtol", "hermitian"),
        node="LinalgPinvBackward0",
        shape=lambda x, atol, rtol, hermitian: (
            (*x.shape[:-2], x.shape[-1], x.shape[-2]),
            x.dtype,
        ),
    )
)


def _lstsq_shape(a: Any, b: Any, rcond: Any, driver: str) -> Any:
    """The solution is cut out of room for the larger of it and the right side."""
    found = probed("lstsq_of", 2, 2)(a, b, rcond, driver)
    (*batch, n, k), item = found[0][0], b.dtype.itemsize
    room = max(a.shape[-2:]) * item
    outer = contiguous_strides((*batch, k, max(a.shape[-2:])), item)[: len(batch)]
    return [((*batch, n, k), b.dtype, (*outer, item, room)), *found[1:]]


lstsq_ = not_holomorphic(
    general(
        "lstsq_of",
        inputs=("self", "b"),
        statics=("rcond", "driver"),
        joint=_lstsq_joint,
        node="LinalgLstsqBackward0",
        differentiable=(True, True, False, False),
        shape=_lstsq_shape,
    )
)
ldl_factor_ = general(
    "ldl_factor_of",
    _refuse("linalg_ldl_factor_ex"),
    statics=("hermitian",),
    node="torch::autograd::NotImplemented",
    vmap="lead",
    differentiable=(True, False, False),
    shape=probed("ldl_factor_of"),
)
ldl_solve_ = general(
    "ldl_solve_of",
    _refuse("linalg_ldl_solve"),
    None,
    _refuse("linalg_ldl_solve"),
    inputs=("self", "pivots", "b"),
    statics=("hermitian",),
    node="torch::autograd::NotImplemented",
    shape=probed("ldl_solve_of", 2, 1, 2),
)

# --- least squares and pseudo-inverses ------------------------------------------------------------

_Lstsq = return_type("linalg_lstsq", ("solution", "residuals", "rank", "singular_values"))


def _check_lstsq(A: Tensor, B: Tensor) -> bool:
    """PyTorch's errors; whether B is a vector."""
    name = "torch.linalg.lstsq"
    if A.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if B.ndim < 1:
        raise RuntimeError(f"{name}: other must have at least 1 dimension.")
    if A.dtype is not B.dtype:
        raise RuntimeError(
            f"{name}: Expected input and other to have the same dtype, but got "
            f"input's dtype {A.dtype.legacy} and other's dtype {B.dtype.legacy}"
        )
    if not 0 <= A.ndim - B.ndim <= 1:
        raise RuntimeError(
            f"{name}: input.dim() must be greater or equal to other.dim() and "
            "(input.dim() - other.dim()) <= 1"
        )
    vector = is_vector(A, B)
    rows = B.shape[-1] if vector else B.shape[-2]
    if A.shape[-2] != rows:
        raise RuntimeError(
            f"{name}: input.size(-2) should match other.size({-1 if vector else -2})"
        )
    if A.dtype.category < dtypes.FLOAT or A.dtype.array in dtypes.HALF:
        raise RuntimeError("This function doesn't handle types other than float and double")
    return vector


@public
def linalg_lstsq(
    A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None, out: Any = None
) -> Any:
    """(X that minimizes ‖A X - B‖, residuals, rank, singular values)."""
    vector = _check_lstsq(A, B)
    driver = "gelsy" if driver is None else driver
    if driver not in ("gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError(
            "torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)"
        )
    floor = _eps(A) if rcond is None else float(rcond)
    b = TENSOR.unsqueeze(B, -1) if vector else B
    found = list(lstsq_(A, b, floor, driver))
    if vector:
        found[0] = TENSOR.squeeze(found[0], -1)
    return write_all(_Lstsq(found), out, "linalg_lstsq")


def _as_tolerance(value: Any) -> Any:
    if isinstance(value, Tensor):
        return np.asarray(host(value.detach()._data))
    return 0.0 if value is None else float(value)


def _check_tolerances(name: str, **given: Any) -> None:
    for which, value in given.items():
        if isinstance(value, Tensor) and value.dtype.is_complex:
            raise RuntimeError(
                f"torch.linalg.{name}: {which} tensor of complex type is not supported. Got "
                f"{value.dtype.legacy}"
            )


def tolerances(A: Tensor, atol: Any, rtol: Any) -> tuple[Any, Any]:
    """(atol, rtol) with PyTorch's defaults: rtol is eps · max(m, n) unless atol is given."""
    relative = _as_tolerance(rtol)
    if rtol is None:
        relative = _eps(A)
        if atol is not None:
            given = np.asarray(_as_tolerance(atol))
            relative = np.where(given > 0, 0.0, relative)
    return _as_tolerance(atol), relative


def _pinv(
    A: Tensor, *, rcond: Any = None, atol: Any = None, rtol: Any = None, hermitian: bool = False
) -> Tensor:
    """The Moore-Penrose inverse; small singular values count as 0."""
    _check_tolerances("pinv", rcond=rcond, atol=atol, rtol=rtol)
    rtol = rcond if rtol is None else rtol
    if A.ndim < 2 or A.dtype.category < dtypes.FLOAT or A.dtype.array in dtypes.HALF:
        raise RuntimeError(
            f"linalg.pinv({A.dtype.legacy}{{{list(A.shape)}}}): expected a tensor with 2 or more "
            "dimensions of float, double, cfloat or cdouble types"
        )
    if hermitian:
        check_square(A, "linalg.pinv")
    return pinv_(A, *tolerances(A, atol, rtol), hermitian)


linalg_pinv = with_out(_pinv, "linalg_pinv")
TENSOR.linalg_pinv = linalg_pinv


@public
def pinverse(self: Tensor, rcond: float = 1e-15) -> Tensor:
    """The Moore-Penrose inverse."""
    return _pinv(self, rtol=rcond)


def _matrix_rank(
    A: Tensor, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None
) -> Tensor:
    """How many singular values exceed max(atol, rtol · the largest)."""
    if tol is not None:
        atol, rtol = tol, 0.0
    _check_tolerances("matrix_rank", atol=atol, rtol=rtol)
    check_matrix(A, "torch.linalg.matrix_rank", "input")
    if A.dtype.category < dtypes.FLOAT or A.dtype.array in dtypes.HALF:
        raise RuntimeError("This function doesn't handle types other than float and double")
    if not A.numel():
        return TENSOR.zeros(tuple(A.shape[:-2]), dtype=dtypes.int64)
    absolute, relative = tolerances(A, atol, rtol)
    if hermitian:
        values = TENSOR.abs(TENSOR.linalg_eigvalsh(A.detach()))
    else:
        values = svd_(A.detach(), False, False)[1]
    largest = TENSOR.amax(values, -1, True)
    floor = largest * _tail(relative, values)
    return TENSOR.sum(values > TENSOR.maximum(floor, floor * 0 + _tail(absolute, values)), -1)


def _tail(value: Any, like: Tensor) -> Any:
    """A tolerance that broadcasts against singular values."""
    if not isinstance(value, np.ndarray) or not value.ndim:
        return float(value)
    found = TENSOR.from_numpy(np.array(value)).to(like.device, like.dtype)
    return TENSOR.unsqueeze(found, -1)


linalg_matrix_rank = with_out(_matrix_rank, "linalg_matrix_rank")

# --- LDL ------------------------------------------------------------------------------------------

_LDLEx = return_type("linalg_ldl_factor_ex", ("LD", "pivots", "info"))
_LDL = return_type("linalg_ldl_factor", ("LD", "pivots"))


@public
def linalg_ldl_factor_ex(
    A: Tensor, *, hermitian: bool = False, check_errors: bool = False, out: Any = None
) -> Any:
    """(LAPACK's L and D in one matrix, row exchanges, info) of symmetric matrices."""
    name = "torch.linalg.ldl_factor_ex"
    check_square(A, name)
    check_kind(A, name, half="")
    found = unless_empty("ldl_factor_kernel_cpu", ldl_factor_, A, hermitian)
    return write_all(_LDLEx(found), out, "linalg_ldl_factor_ex")


@public
def linalg_ldl_factor(A: Tensor, *, hermitian: bool = False, out: Any = None) -> Any:
    """(LAPACK's L and D in one matrix, row exchanges) of symmetric matrices."""
    found = linalg_ldl_factor_ex(A, hermitian=hermitian)
    return write_all(_LDL(found[:2]), out, "linalg_ldl_factor")


def _ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False) -> Tensor:
    """X with A X = B, A given by ``ldl_factor``."""
    name = "torch.linalg.ldl_solve"
    check_square(LD, name)
    check_kind(LD, name, half="")
    one_dim(B, -2)  # PyTorch's error for a vector
    check_solved(B, LD, name)
    if tuple(LD.shape[:-1]) != tuple(pivots.shape):
        raise RuntimeError(
            f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with "
            f"shape {list(pivots.shape)} instead"
        )
    if pivots.dtype.category != dtypes.INT:
        raise RuntimeError(f"{name}: Expected pivots to be integers. Got {pivots.dtype.legacy}")
    if LD.dtype.array in dtypes.HALF:
        raise not_implemented("ldl_solve_kernel_cpu", LD.dtype)
    return ldl_solve_(LD, pivots, B, hermitian)


linalg_ldl_solve = with_out(_ldl_solve, "linalg_ldl_solve")
