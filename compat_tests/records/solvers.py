"""Systems of equations, pseudo-inverses, norms."""

from __future__ import annotations

from .base import A, record
from .linalg import EXACT, symmetric, well

# --- systems --------------------------------------------------------------------------------------

record(
    "linalg.solve",
    lambda T, x, b: T.linalg.solve(well(T, x), b),
    (A(3, 3), A(3, 2)),
    (A(2, 3, 3), A(2, 3, 2)),
    (A(3, 3), A(3)),
    (A(2, 3, 3), A(2, 3)),
    (A(3, 3), A(2, 3, 2)),
    dtypes=EXACT,
    bad=[(A(3, 3), A(2, 2)), (A(3, 3), A(4))],
)
record(
    "linalg.solve.right",
    lambda T, x, b: T.linalg.solve(well(T, x), b, left=False),
    (A(3, 3), A(2, 3)),
    (A(2, 3, 3), A(2, 2, 3)),
    dtypes=EXACT,
)
record(
    "linalg.solve_ex",
    lambda T, x, b: T.linalg.solve_ex(well(T, x), b),
    (A(3, 3), A(3, 2)),
    dtypes=EXACT,
)
for _upper, _left, _unit in ((True, True, False), (False, True, True), (True, False, False)):
    record(
        f"linalg.solve_triangular.{_upper}.{_left}.{_unit}",
        lambda T, x, b, u=_upper, a=_left, c=_unit: T.linalg.solve_triangular(
            well(T, x), b, upper=u, left=a, unitriangular=c
        ),
        (A(3, 3), A(3, 3)),
        (A(2, 3, 3), A(2, 3, 3)),
        dtypes=EXACT,
    )
for _turn in (False, True):
    record(
        f"triangular_solve.{_turn}",
        lambda T, b, x, t=_turn: T.triangular_solve(b, well(T, x), transpose=t),
        (A(3, 2), A(3, 3)),
        (A(2, 3, 2), A(2, 3, 3)),
        dtypes=EXACT,
        names="triangular_solve",
    )
for _left, _adjoint in ((True, False), (True, True), (False, False)):
    record(
        f"linalg.lu_solve.{_left}.{_adjoint}",
        lambda T, x, b, a=_left, c=_adjoint: T.linalg.lu_solve(
            *T.linalg.lu_factor(well(T, x)), b, left=a, adjoint=c
        ),
        (A(3, 3), A(3, 3)),
        (A(2, 3, 3), A(2, 3, 3)),
        dtypes=EXACT,
    )
record(
    "lu_solve",
    lambda T, b, x: T.lu_solve(b, *T.linalg.lu_factor(well(T, x))),
    (A(3, 2), A(3, 3)),
    dtypes=EXACT,
)
record(
    "linalg.lstsq",
    lambda T, x, b: T.linalg.lstsq(x, b),
    (A(4, 3), A(4, 2)),
    (A(2, 4, 3), A(2, 4, 2)),
    (A(3, 4), A(3, 2)),
    dtypes=EXACT[:2],
    batchable=False,
)
record(
    "linalg.pinv", lambda T, x: T.linalg.pinv(x), A(4, 3), A(2, 3, 4), A(3, 3), dtypes=EXACT[::2]
)
record("pinverse", lambda T, x: T.pinverse(x), A(4, 3), dtypes=EXACT)
record(
    "linalg.pinv.hermitian",
    lambda T, x: T.linalg.pinv(symmetric(T, x), hermitian=True),
    A(3, 3),
    dtypes=EXACT[:1],
)
record(
    "linalg.matrix_rank",
    lambda T, x: T.linalg.matrix_rank(x),
    A(4, 3),
    A(2, 3, 3),
    A(0, 3),
    dtypes=EXACT,
    differentiable=False,
    batchable=False,
)
record(
    "linalg.tensorsolve",
    lambda T, x, b: T.linalg.tensorsolve(T.reshape(well(T, x), (2, 2, 4)), b),
    (A(4, 4), A(2, 2)),
    dtypes=EXACT,
)

# --- norms ----------------------------------------------------------------------------------------

for _ord in ("fro", "nuc", 2, -2, 1, -1, float("inf"), -float("inf")):
    record(
        f"linalg.matrix_norm.{_ord}",
        lambda T, x, p=_ord: T.linalg.matrix_norm(x, p),
        A(4, 3),
        A(2, 3, 4),
        dtypes=EXACT,
    )
for _ord in (None, 2, 1, 0, 3, float("inf")):
    record(
        f"linalg.vector_norm.{_ord}",
        lambda T, x, p=_ord: T.linalg.vector_norm(x, 2 if p is None else p, dim=-1),
        A(4, 3),
        A(2, 3, 4),
        dtypes=EXACT,
    )
record(
    "linalg.norm",
    lambda T, x: (T.linalg.norm(x), T.linalg.norm(x, dim=0), T.linalg.norm(x, 1)),
    A(4, 3),
    dtypes=EXACT,
)
for _p in (None, "nuc", -2):
    record(
        f"linalg.cond.{_p}",
        lambda T, x, p=_p: T.linalg.cond(well(T, x), p),
        A(3, 3),
        A(2, 3, 3),
        dtypes=EXACT[:1],
    )
for _p in (1, "fro"):  # PyTorch writes over the inverse, which its derivative needs
    record(
        f"linalg.cond.{_p}",
        lambda T, x, p=_p: T.linalg.cond(well(T, x.detach()), p),
        A(3, 3),
        A(2, 3, 3),
        dtypes=EXACT[:1],
        differentiable=False,
        batchable=False,
    )
record(
    "svd_lowrank",
    lambda T, x: [t.abs() for t in (T.manual_seed(0), T.svd_lowrank(x, 2))[1]],
    A(5, 4),
    dtypes=EXACT[:1],
    batchable=False,
    differentiable=False,
)
record(
    "pca_lowrank",
    lambda T, x: [t.abs() for t in (T.manual_seed(0), T.pca_lowrank(x, 2))[1]],
    A(5, 4),
    dtypes=EXACT[:1],
    batchable=False,
    differentiable=False,
)
