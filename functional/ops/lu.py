"""LU and LDL factorizations, and what is solved with them."""

from __future__ import annotations

from typing import Any

from numpy import ndarray

from .. import dtypes
from ..errors import not_implemented
from ..tape.declare import general
from ..tape.op import TENSOR, public
from ..tensor import Tensor
from .deprecated import deprecated
from .linalg import with_out, write_all
from .linalg_parts import (
    add,
    batch_element,
    check_kind,
    check_matrix,
    check_square,
    cut,
    failed,
    mH,
    not_holomorphic,
    pieces,
    probed,
    unless_empty,
)
from .results import return_type

# --- rules ----------------------------------------------------------------------------------------


def _lu_rule(F: Any, gl: Any, gu: Any, p: Any, lower: Any, upper: Any) -> Any:
    """The gradient of P L U; g_L below the diagonal, g_U on and above it; either may be None."""
    m, n = lower.shape[-2], upper.shape[-1]
    k = min(m, n)
    l1, u1 = cut(F, lower, -2, 0, k), cut(F, upper, -1, 0, k)
    phi_l = None if gl is None else F.matmul(mH(F, l1), cut(F, gl, -2, 0, k))
    phi_u = None if gu is None else F.matmul(cut(F, gu, -1, 0, k), mH(F, u1))
    if n > k and gu is not None:
        outer = F.matmul(cut(F, gu, -1, k, n), mH(F, cut(F, upper, -1, k, n)))
        phi_l = add(phi_l, -outer)
    if m > k and gl is not None:
        inner = F.matmul(mH(F, cut(F, lower, -2, k, m)), cut(F, gl, -2, k, m))
        phi_u = add(phi_u, -inner)
    phi = add(
        None if phi_l is None else F.tril(phi_l, -1), None if phi_u is None else F.triu(phi_u, 0)
    )
    lh, uh = mH(F, l1), mH(F, u1)
    z = F.triangular_of(lh, F.triangular_of(uh, phi, False, False, False), True, True, True)
    if n > k:
        right = F.zeros_like(cut(F, upper, -1, k, n)) if gu is None else F.triangular_of(
            lh, cut(F, gu, -1, k, n), True, True, True
        )  # fmt: skip
        z = F.cat([z, right], z.ndim - 1)
    if m > k:
        low = F.zeros_like(cut(F, lower, -2, k, m)) if gl is None else F.triangular_of(
            uh, cut(F, gl, -2, k, m), False, False, False
        )  # fmt: skip
        z = F.cat([z, low], z.ndim - 2)
    return F.matmul(p, z)


def _lu_vjp(F: Any, g: Any, result0: Any, result1: Any, result2: Any) -> Any:
    gl, gu, _ = pieces(g, 3)
    return _lu_rule(F, gl, gu, result2, result0, result1)


def _factor_vjp(F: Any, g: Any, result0: Any, result1: Any) -> Any:
    g = pieces(g, 3)[0]
    lower, upper, p = F.lu_unpack_of(result0, result1, True, True)
    k = min(result0.shape[-2:])
    return _lu_rule(F, cut(F, g, -1, 0, k), cut(F, g, -2, 0, k), p, lower, upper)


def _unpack_vjp(F: Any, g: Any, self_shape: Any) -> Any:
    gl, gu, _ = pieces(g, 3)
    m, n = self_shape[-2:]
    k = min(m, n)
    low = None if gl is None else F.tril(gl, -1)
    up = None if gu is None else F.triu(gu, 0)
    if low is not None and n > k:
        tail = F.zeros_like(
            F.expand(F.slice_(low, low.ndim - 1, 0, 1, 1), (*low.shape[:-1], n - k))
        )
        low = F.cat([low, tail], low.ndim - 1)
    if up is not None and m > k:
        tail = F.zeros_like(
            F.expand(F.slice_(up, up.ndim - 2, 0, 1, 1), (*up.shape[:-2], m - k, n))
        )
        up = F.cat([up, tail], up.ndim - 2)
    return add(low, up)


def _solve_vjp(F: Any, g: Any, lu: Any, pivots: Any, left: bool, adjoint: bool, result: Any) -> Any:
    """Of A x = b: g_b = A⁻ᴴ g, g_A = -g_b xᴴ, which passes on to L and U."""
    gb = F.lu_solve_of(lu, pivots, g, left, not adjoint)
    ga = -F.matmul(gb, mH(F, result)) if left else -F.matmul(mH(F, result), gb)
    ga = mH(F, ga) if adjoint else ga
    lower, upper, p = F.lu_unpack_of(lu, pivots, True, True)
    inner = F.matmul(mH(F, p), ga)  # the gradient of L U
    gl = F.tril(F.matmul(inner, mH(F, upper)), -1)
    gu = F.triu(F.matmul(mH(F, lower), inner), 0)
    return gl + gu


# --- primitives -----------------------------------------------------------------------------------

lu_ = not_holomorphic(
    general(
        "lu_of",
        _lu_vjp,
        node="LinalgLuBackward0",
        vmap="lead",
        differentiable=(True, True, False),
        shape=probed("lu_of", rows=lambda: True),
    )
)
lu_factor_ = not_holomorphic(
    general(
        "lu_factor_of",
        _factor_vjp,
        node="LinalgLuFactorExBackward0",
        vmap="lead",
        differentiable=(True, False, False),
        shape=probed("lu_factor_of"),
    )
)
lu_unpack_ = not_holomorphic(
    general(
        "lu_unpack_of",
        _unpack_vjp,
        inputs=("self", "pivots"),
        statics=("data", "exchanges"),
        node="LuUnpackBackward0",
        differentiable=(True, True, False),
        shape=probed("lu_unpack_of", 2, 1, rows=lambda data: True),
    )
)
lu_solve_ = not_holomorphic(
    general(
        "lu_solve_of",
        _solve_vjp,
        None,
        lambda F, g, lu, pivots, left, adjoint: F.lu_solve_of(lu, pivots, g, left, not adjoint),
        inputs=("lu", "pivots", "b"),
        statics=("left", "adjoint"),
        node="LinalgLuSolveBackward0",
        shape=probed("lu_solve_of", 2, 1, 2, rows=lambda left: not left),
    )
)

# --- public forms ---------------------------------------------------------------------------------

_LU = return_type("linalg_lu", ("P", "L", "U"))
_Factor = return_type("linalg_lu_factor", ("LU", "pivots"))
_FactorEx = return_type("linalg_lu_factor_ex", ("LU", "pivots", "info"))
_Infos = return_type("_lu_with_info", ("LU", "pivots", "info"))
_Unpacked = return_type("lu_unpack", ("P", "L", "U"))


def _check_lu(A: Tensor, name: str, pivot: bool) -> None:
    if A.ndim < 2:
        raise RuntimeError(
            f"{name}: Expected tensor with 2 or more dimensions. Got size: {list(A.shape)} instead"
        )
    if not pivot:
        raise RuntimeError(
            f"{name.replace('torch.', 'linalg.')}: LU without pivoting is not implemented on "
            "the CPU"
        )


def _p_first(found: Any) -> Any:
    return found[2], found[0], found[1]


@public
def linalg_lu(A: Tensor, *, pivot: bool = True, out: Any = None) -> Any:
    """(P, L, U) with A = P L U."""
    _check_lu(A, "linalg.lu", pivot)
    return write_all(_LU(_p_first(unless_empty("lu_cpu", lu_, A))), out, "linalg_lu")


def _no_zero_pivot(info: Tensor) -> None:
    if failed(info):
        code, where = batch_element(info)
        raise RuntimeError(
            f"torch.linalg.lu_factor: {where}U[{code},{code}] is zero and using it on lu_solve "
            "would result in a division by zero. If you still want to perform the factorization, "
            "consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
        )


@public
def linalg_lu_factor_ex(
    A: Tensor, *, pivot: bool = True, check_errors: bool = False, out: Any = None
) -> Any:
    """(L and U in one matrix, row exchanges, the first zero pivot or 0)."""
    _check_lu(A, "torch.lu_factor", pivot)
    found = unless_empty("lu_cpu", lu_factor_, A)
    if check_errors:
        _no_zero_pivot(found[2])
    return write_all(_FactorEx(found), out, "linalg_lu_factor_ex")


@public
def linalg_lu_factor(A: Tensor, *, pivot: bool = True, out: Any = None) -> Any:
    """(L and U in one matrix, row exchanges)."""
    found = linalg_lu_factor_ex(A, pivot=pivot)
    _no_zero_pivot(found[2])
    return write_all(_Factor(found[:2]), out, "linalg_lu_factor")


@public
def lu(self: Tensor, pivot: bool = True, get_infos: bool = False, out: Any = None) -> Any:
    """(L and U in one matrix, row exchanges[, info])."""
    deprecated("lu")
    found = linalg_lu_factor_ex(self, pivot=pivot)
    if get_infos:
        return write_all(_Infos(found), out, "lu")
    _no_zero_pivot(found[2])
    return write_all(tuple(found[:2]), out, "lu")


def _within(pivots: Tensor, rows: int) -> tuple[bool, bool]:
    """Whether all pivots are 1 at least, and whether all are ``rows`` at most.

    Inside transforms and on devices that would have to wait nobody looks.
    """
    x = pivots._data
    if type(pivots) is not Tensor or type(x) is not ndarray or not x.size:
        return True, True
    return bool(x.min() >= 1), bool(x.max() <= rows)


@public
def lu_unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True,
    *, out: Any = None,
) -> Any:  # fmt: skip
    """(P, L, U) from a factorization in one matrix and its row exchanges."""
    if LU_data.ndim < 2:
        raise RuntimeError(
            "torch.lu_unpack: Expected tensor with 2 or more dimensions. Got size: "
            f"{list(LU_data.shape)} instead"
        )
    if unpack_pivots and LU_pivots.dtype is not dtypes.int32:
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 "
            "dtype.\nNote: this function is intended to be used with the output produced by "
            "torch.linalg.lu_factor"
        )
    if unpack_pivots and not _within(LU_pivots, LU_data.shape[-2]) == (True, True):
        raise RuntimeError(
            "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive.Did you "
            "properly pass the result of lu_factor?"
        )
    found = lu_unpack_(LU_data, LU_pivots, unpack_data, unpack_pivots)
    return write_all(_Unpacked(_p_first(found)), out, "lu_unpack")


def _lu_solve(
    LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False
) -> Tensor:
    """X with A X = B (X A = B), A given by ``lu_factor``."""
    name = "torch.linalg.lu_solve"
    check_kind(LU, name, half="")
    check_square(LU, name)
    if LU.dtype is not B.dtype:
        raise RuntimeError(
            f"linalg.lu_solve: Expected LU and B to have the same dtype, but found LU of type "
            f"{LU.dtype.legacy} and B of type {B.dtype.legacy} instead"
        )
    if pivots.dtype is not dtypes.int32:
        raise RuntimeError("linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32")
    if LU.shape[-1] != pivots.shape[-1]:
        raise RuntimeError(
            "linalg.lu_solve: Number of pivots per batch should be same as the dimension of the "
            "matrix"
        )
    if tuple(LU.shape[:-1]) != tuple(pivots.shape):
        raise RuntimeError(
            "linalg.lu_solve: Expected LU.shape[:-1] and pivots.shape to be the same, but got "
            f"pivots with shape {list(pivots.shape)} instead"
        )
    if LU.dtype.array in dtypes.HALF:
        raise not_implemented("linalg.lu_solve_cpu", LU.dtype)
    check_matrix(B, "linalg.lu_solve", "B")
    for fits, bound in zip(
        _within(pivots, LU.shape[-2]), ("greater or equal to 1", "smaller or equal to LU.size(-2)")
    ):
        if not fits:
            raise RuntimeError(
                f"Pivots given to lu_solve must all be {bound}. Did you properly pass the result "
                "of lu_factor?"
            )
    return lu_solve_(LU, pivots, B, left, adjoint)


linalg_lu_solve = with_out(_lu_solve, "linalg_lu_solve")


def _old_lu_solve(self: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """X with A X = self, A given by ``lu_factor``."""
    deprecated("lu_solve")
    return _lu_solve(LU_data, LU_pivots, self)


lu_solve = with_out(_old_lu_solve, "lu_solve", "lu_solve")
TENSOR.lu_solve = lu_solve
