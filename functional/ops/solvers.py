"""Systems of linear equations, least squares and pseudo-inverses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import errors
from ..kernels.meta import contiguous_strides, has_numbers
from ..tape.declare import general
from ..tape.op import TENSOR, public
from ..tape.slow import size_mismatch
from ..tensor import Tensor
from .cast import host
from .deprecated import deprecated
from .linalg import with_out, write_all
from .linalg_parts import (
    add,
    batch_element,
    check_kind,
    check_matrix,
    check_solved,
    check_square,
    failed,
    mH,
    not_holomorphic,
    pieces,
    probed,
    singular,
)
from .results import return_type

# --- rules ----------------------------------------------------------------------------------------


def _solve_joint(F: Any, g: Any, need: Any, A: Any, left: bool, result0: Any) -> Any:
    g, x = pieces(g, 2)[0], result0
    gb = F.solve_of(mH(F, A), g, left)[0]
    if not need[0]:
        return None, gb
    ga = -F.matmul(gb, mH(F, x)) if left else -F.matmul(mH(F, x), gb)
    return ga, gb if need[1] else None


def _triangular_joint(
    F: Any, g: Any, need: Any, A: Any, upper: bool, left: bool, unit: bool, result: Any
) -> Any:
    gb = F.triangular_of(mH(F, A), g, not upper, left, unit)
    if not need[0]:
        return None, gb
    ga = -F.matmul(gb, mH(F, result)) if left else -F.matmul(mH(F, result), gb)
    ga = F.triu(ga, int(unit)) if upper else F.tril(ga, -int(unit))
    return ga, gb if need[1] else None


def _old_triangular_joint(
    F: Any, g: Any, need: Any, self: Any, A: Any, upper: bool, transpose: bool, unit: bool,
    result0: Any,
) -> Any:  # fmt: skip
    g, g_clone = pieces(g, 2)
    if g is None:
        return None, g_clone if need[1] else None
    h = F.conj(A) if transpose else mH(F, A)
    gb = F.triangular_of(h, g, upper if transpose else not upper, True, unit)
    ga = None
    if need[1]:
        x = result0
        ga = -F.matmul(F.conj(x), F.transpose(gb, -2, -1)) if transpose else -F.matmul(gb, mH(F, x))
        ga = F.triu(ga, int(unit)) if upper else F.tril(ga, -int(unit))
        ga = add(ga, g_clone)
    return gb if need[0] else None, ga


def _cholesky_solve_joint(
    F: Any, g: Any, need: Any, self: Any, factor: Any, upper: bool, result: Any
) -> Any:
    gb = F.cholesky_solve_of(g, factor, upper)
    gf = None
    if need[1]:
        common = F.matmul(gb, mH(F, result))
        common = common + mH(F, common)
        gf = -F.matmul(factor, common) if upper else -F.matmul(common, factor)
    return gb if need[0] else None, gf


def _cholesky_inverse_vjp(F: Any, g: Any, self: Any, result: Any, upper: bool) -> Any:
    common = F.matmul(F.matmul(result, g + mH(F, g)), result)
    return -F.matmul(self, common) if upper else -F.matmul(common, self)


# --- primitives -----------------------------------------------------------------------------------


solve_ = not_holomorphic(
    general(
        "solve_of",
        inputs=("A", "B"),
        statics=("left",),
        joint=_solve_joint,
        node="LinalgSolveExBackward0",
        differentiable=(True, False),
        shape=probed("solve_of", 2, 2, rows=lambda left: not left),
    )
)
triangular_ = not_holomorphic(
    general(
        "triangular_of",
        inputs=("A", "B"),
        statics=("upper", "left", "unit"),
        joint=_triangular_joint,
        node="LinalgSolveTriangularBackward0",
        shape=probed("triangular_of", 2, 2),
    )
)
old_triangular = not_holomorphic(
    general(
        "old_triangular",
        inputs=("self", "A"),
        statics=("upper", "transpose", "unit"),
        joint=_old_triangular_joint,
        node="TriangularSolveBackward0",
        shape=probed("old_triangular", 2, 2),
    )
)
cholesky_solve_ = not_holomorphic(
    general(
        "cholesky_solve_of",
        inputs=("self", "factor"),
        statics=("upper",),
        joint=_cholesky_solve_joint,
        node="CholeskySolveBackward0",
        shape=probed("cholesky_solve_of", 2, 2),
    )
)
cholesky_inverse_ = not_holomorphic(
    general(
        "cholesky_inverse_of",
        _cholesky_inverse_vjp,
        statics=("upper",),
        node="CholeskyInverseBackward0",
        vmap="lead",
        shape=probed("cholesky_inverse_of"),
    )
)
# --- solve ----------------------------------------------------------------------------------------


def is_vector(A: Tensor, B: Tensor) -> bool:
    return B.ndim == 1 or (A.ndim - 1 == B.ndim and tuple(B.shape) == tuple(A.shape[:-1]))


def _check_solve(A: Tensor, B: Tensor, name: str, left: bool) -> None:
    """Whether B has as many rows (columns) as A, and batches that broadcast."""
    check_matrix(A, name)
    check_matrix(B, name, "B")
    check_square(A, name)
    if A.shape[-2] != B.shape[-2 if left else -1]:
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation "
            f"{'AX = B' if left else 'XA = B'} ({A.shape[-2]}x{A.shape[-1]} and "
            f"{B.shape[-2]}x{B.shape[-1]})"
        )
    try:
        np.broadcast_shapes(tuple(A.shape[:-2]), tuple(B.shape[:-2]))
    except ValueError:
        raise size_mismatch(tuple(A.shape[:-2]), tuple(B.shape[:-2])) from None


def _same_dtype(name: str, A: Tensor, B: Tensor) -> None:
    if A.dtype is not B.dtype:
        raise RuntimeError(
            f"{name}: Expected A and B to have the same dtype, but found A of type "
            f"{A.dtype.legacy} and B of type {B.dtype.legacy} instead"
        )


def _solve(A: Tensor, B: Tensor, left: bool) -> tuple[Tensor, Tensor]:
    name = "linalg.solve"
    check_kind(A, name, half="")
    _same_dtype(name, A, B)
    check_kind(A, name, half="lu_cpu")
    check_matrix(A, name)
    check_square(A, name)
    vector = is_vector(A, B)
    if vector and not left:
        raise RuntimeError(
            "linalg.solve: Vector broadcasting of the left hand side is not supported for "
            "left=False. In this case linalg.solve is equivalent to B / A.squeeze(-1)"
        )
    if not vector:
        _check_solve(A, B, name, left)
        return solve_(A, B, left)
    if B.ndim == 1 and A.shape[-1] != B.shape[0]:
        _check_solve(A, TENSOR.unsqueeze(B, -1), name, left)
    x, info = solve_vector(A, B, left)
    return x, info


def _vector_shape(a: Any, b: Any, left: bool) -> Any:
    shape = np.broadcast_shapes(a.shape[:-1], b.shape)
    strides = contiguous_strides((*shape[:-2], *shape[:-3:-1]), b.dtype.itemsize)
    if len(b.shape) > 1:  # the vectors are columns of a matrix
        strides = (*strides[:-2], strides[-1], strides[-2])
    return [(shape, b.dtype, strides), (shape[:-1], np.dtype(np.int32))]


solve_vector = not_holomorphic(
    general(
        "solve_vector",
        inputs=("A", "B"),
        statics=("left",),
        joint=lambda F, g, need, A, result0: _vector_joint(F, g, need, A, result0),
        node="LinalgSolveExBackward0",
        differentiable=(True, False),
        shape=_vector_shape,
    )
)


def _vector_joint(F: Any, g: Any, need: Any, A: Any, x: Any) -> Any:
    gb = F.solve_vector(mH(F, A), pieces(g, 2)[0], True)[0]
    if not need[0]:
        return None, gb
    ga = -F.unsqueeze(gb, gb.ndim) * F.unsqueeze(F.conj(x), x.ndim - 1)
    return ga, gb if need[1] else None


_SolveEx = return_type("linalg_solve_ex", ("result", "info"))


@public
def linalg_solve_ex(
    A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False, out: Any = None
) -> Any:
    """(X with A X = B, or X A = B; info: the first pivot that is zero, or 0)."""
    x, info = _solve(A, B, left)
    if check_errors:
        _solvable("torch.linalg.solve_ex", info)
    return write_all(_SolveEx((x, info)), out, "linalg_solve_ex")


def _solvable(name: str, info: Tensor) -> None:
    if failed(info):
        where = batch_element(info)[1]
        raise errors.LinAlgError(
            f"{name}: {where}The solver failed because the input matrix is singular."
        )


def _linalg_solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """X with A X = B (or X A = B); LinAlgError if A is singular."""
    x, info = _solve(A, B, left)
    _solvable("torch.linalg.solve", info)
    return x


linalg_solve = with_out(_linalg_solve, "linalg_solve")


def _solve_triangular(
    A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """X with A X = B (or X A = B) for triangular A."""
    name = "linalg.solve_triangular"
    check_matrix(A, name)
    check_square(A, name)
    _check_solve(A, B, name, left)
    check_kind(A, name, "triangular_solve_cpu", "triangular_solve_cpu")
    if A.dtype is not B.dtype:  # PyTorch solves in place, in a copy of A's dtype
        B = TENSOR.to_dtype(B, A.dtype)
    return triangular_(A, B, upper, left, unitriangular)


linalg_solve_triangular = with_out(_solve_triangular, "linalg_solve_triangular")
_OldTriangular = return_type("triangular_solve", ("solution", "cloned_coefficient"))


@public
def triangular_solve(
    self: Tensor,
    A: Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
    *,
    out: Any = None,
) -> Any:
    """(X with A X = self for triangular A (Aᵀ if ``transpose``), a copy of A)."""
    deprecated("triangular_solve")
    for name, x in (("b", self), ("A", A)):
        if x.ndim < 2:
            raise RuntimeError(
                f"torch.triangular_solve: Expected {name} to have at least 2 dimensions, but it "
                f"has {x.ndim} dimensions instead"
            )
    check_solved(self, A, "triangular_solve")
    check_kind(A, "", "triangular_solve_cpu", "triangular_solve_cpu")
    found = old_triangular(self, A, upper, transpose, unitriangular)
    return write_all(_OldTriangular(found), out, "triangular_solve")


def _cholesky_solve(self: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
    """X with L Lᴴ X = self (Uᴴ U X)."""
    for name, x in (("b", self), ("u", input2)):
        if x.ndim < 2:
            raise RuntimeError(
                f"{name} should have at least 2 dimensions, but has {x.ndim} dimensions instead"
            )
    check_solved(self, input2, "cholesky_solve")
    check_kind(self, "", "cholesky_solve_cpu", "cholesky_solve_cpu")
    return cholesky_solve_(self, input2, upper)


cholesky_solve = with_out(_cholesky_solve, "cholesky_solve")


def _cholesky_inverse(self: Tensor, upper: bool = False) -> Tensor:
    """The inverse of the matrix with this Cholesky factor."""
    check_square(self, "cholesky_inverse")
    check_kind(self, "", "cholesky_inverse_out_cpu", "cholesky_inverse_out_cpu")
    if has_numbers(self._data):
        zero = np.diagonal(host(self._data), 0, -2, -1) == 0
        info = np.where(zero.any(-1), zero.argmax(-1) + 1, 0) if zero.shape[-1] else np.zeros(())
        if info.any():
            singular("cholesky_inverse", TENSOR.from_numpy(np.asarray(info)))
    return cholesky_inverse_(self, upper)


cholesky_inverse = with_out(_cholesky_inverse, "cholesky_inverse")


def _tensorsolve(A: Tensor, B: Tensor, dims: Any = None) -> Tensor:
    """X with A X = B, A seen as a square matrix."""
    from .linalg import check_reshape

    if dims is not None:
        order = [i for i in range(A.ndim) if i not in [d % A.ndim for d in dims]]
        A = TENSOR.permute(A, (*order, *[d % A.ndim for d in dims]))
    shape = tuple(A.shape[B.ndim :])
    n, m = math.prod(shape), math.prod(A.shape[: B.ndim])
    check_reshape(n, m)
    x = _linalg_solve(TENSOR.reshape(A, (n, n)), TENSOR.flatten(B))
    return TENSOR.reshape(x, shape)


linalg_tensorsolve = with_out(_tensorsolve, "linalg_tensorsolve")
