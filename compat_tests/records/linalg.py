"""Linear algebra."""

from __future__ import annotations

from typing import Any

from .base import FLOATS, A, record

EXACT = ("float64", "float32", "complex128", "complex64")
BAD = [(A(3),), (A(3, 4),)]


def well(T: Any, x: Any) -> Any:
    """A matrix that is far from singular."""
    return x + 4 * T.eye(x.shape[-1], dtype=x.dtype, device=x.device)


def positive(T: Any, x: Any) -> Any:
    """A Hermitian positive definite matrix."""
    one = T.eye(x.shape[-1], dtype=x.dtype, device=x.device)
    x = x * 1
    return x @ x.transpose(-2, -1).conj() + one


def symmetric(T: Any, x: Any) -> Any:
    """A symmetric (Hermitian) matrix with eigenvalues far apart."""
    steps = T.arange(x.shape[-1], device=x.device).to(x.dtype)
    return x + x.transpose(-2, -1).conj() + T.diag(steps) * 9


SQUARES = [A(3, 3), A(2, 3, 3), A(3, 3, lay="t"), A(0, 0), A(0, 2, 2)]

# --- one matrix -----------------------------------------------------------------------------------

for _name, _call in {
    "det": lambda T, x: T.linalg.det(x),
    "logdet": lambda T, x: T.logdet(positive(T, x)),
    "inv": lambda T, x: T.linalg.inv(well(T, x)),
    "inverse": lambda T, x: T.inverse(well(T, x)),
    "inv_ex": lambda T, x: T.linalg.inv_ex(well(T, x)),
    "slogdet": lambda T, x: T.linalg.slogdet(x),
    "matrix_exp": lambda T, x: T.linalg.matrix_exp(x),
}.items():
    record(
        f"linalg.{_name}",
        _call,
        *SQUARES[:4],
        bad=BAD,
        dtypes=EXACT,
        jax={
            "det": lambda J, x: J.linalg.det(x),
            "inv": lambda J, x: J.linalg.inv(x + 4 * J.eye(x.shape[-1])),
        }.get(_name),
    )
record(
    "linalg.errors",
    lambda T, x, name: getattr(T.linalg, name)(x),
    (A(3, 3), "det"),
    (A(3, 3), "slogdet"),
    (A(2, 2), "svdvals"),
    names="det slogdet logdet inverse matrix_exp",
    bad=[(A(3, 3, low=0, high=0), n) for n in ("inv", "cholesky", "lu_factor")]
    + [(A(2, 3, 3, low=0, high=0), n) for n in ("inv", "cholesky", "lu_factor")]
    + [(A(3), n) for n in ("qr", "svd", "eigh", "eig", "cond", "matrix_rank", "pinv", "lu")]
    + [(A(3, 4), n) for n in ("eigh", "eig", "eigvals", "cholesky", "eigvalsh")],
)
record(
    "det",
    lambda T, x: (
        T.det(x),
        T.slogdet(x),
        T.logdet(x.abs() + T.eye(3, device=x.device) * 9),
        x.det(),
    ),
    A(3, 3),
    dtypes=EXACT[:2],
)
record(
    "matrix_exp.small", lambda T, x: T.matrix_exp(x * 0.1), A(3, 3), A(2, 2, 2), dtypes=FLOATS[:2]
)
for _n in (0, 1, 2, 3, 5, -2):
    record(
        f"matrix_power.{_n}",
        lambda T, x, n=_n: T.matrix_power(well(T, x), n),
        A(3, 3),
        A(2, 3, 3),
        dtypes=EXACT,
        names="matrix_power",
        out=False,
    )
record(
    "linalg.vecdot",
    lambda T, x, y, dim: T.linalg.vecdot(x, y, dim=dim),
    (A(2, 3), A(2, 3), -1),
    (A(3), A(3), -1),
    (A(2, 3), A(2, 3), 0),
)
record(
    "linalg.vander",
    lambda T, x, n: T.linalg.vander(x, N=n),
    (A(3), None),
    (A(2, 3), 4),
    bad=[(A(3), 1)],
)
record(
    "vander",
    lambda T, x, n, increasing: T.vander(x.detach(), n, increasing),  # PyTorch writes in place
    (A(3), None, False),
    (A(4), 2, True),
    (A(2), 0, False),
    bad=[(A(2, 2), 3, False), (A(2), -1, False)],
    differentiable=False,
)
record("linalg.diagonal", lambda T, x: T.linalg.diagonal(x), A(3, 3), A(2, 3, 4))
record(
    "linalg.tensorinv",
    lambda T, x: T.linalg.tensorinv(T.reshape(well(T, x), (2, 2, 4)), ind=2),
    A(4, 4),
    dtypes=EXACT,
)

# --- factorizations -------------------------------------------------------------------------------

for _upper in (False, True):
    record(
        f"linalg.cholesky.{_upper}",
        lambda T, x, u=_upper: T.linalg.cholesky(positive(T, x), upper=u),
        A(3, 3),
        A(2, 3, 3),
        A(3, 3, lay="t"),
        dtypes=EXACT,
    )
    record(
        f"cholesky.{_upper}",
        lambda T, x, u=_upper: T.cholesky(positive(T, x), u),
        A(3, 3),
        A(2, 3, 3),
        dtypes=EXACT,
        names="cholesky",
    )
    record(
        f"cholesky_inverse.{_upper}",
        lambda T, x, u=_upper: T.cholesky_inverse(T.linalg.cholesky(positive(T, x), upper=u), u),
        A(3, 3),
        A(2, 3, 3),
        dtypes=EXACT,
        names="cholesky_inverse",
    )
    record(
        f"cholesky_solve.{_upper}",
        lambda T, b, x, u=_upper: T.cholesky_solve(
            b, T.linalg.cholesky(positive(T, x), upper=u), u
        ),
        (A(3, 2), A(3, 3)),
        (A(2, 3, 2), A(2, 3, 3)),
        dtypes=EXACT,
        names="cholesky_solve",
    )
record(
    "linalg.cholesky_ex", lambda T, x: T.linalg.cholesky_ex(positive(T, x)), A(3, 3), dtypes=EXACT
)
record("linalg.qr", lambda T, x: T.linalg.qr(x), A(4, 3), A(3, 3), A(2, 3, 4), dtypes=EXACT[:2])
record(
    "linalg.qr.complete",
    lambda T, x: T.linalg.qr(x, "complete"),
    A(3, 3),
    A(3, 4),
    dtypes=EXACT[:2],
)
record(
    "linalg.qr.r",
    lambda T, x: T.linalg.qr(x.detach(), "r"),
    A(4, 3),
    dtypes=EXACT[:2],
    differentiable=False,
)
record("qr", lambda T, x: T.qr(x), A(4, 3), dtypes=EXACT[:2])
record(
    "geqrf",
    lambda T, x: T.geqrf(x.detach()),
    A(4, 3),
    A(2, 3, 4),
    dtypes=EXACT[:2],
    differentiable=False,
)
record("svd", lambda T, x: [t.abs() for t in T.svd(x)], A(4, 3), A(2, 3, 4), dtypes=EXACT[:2])
for _full in (False, True):
    record(
        f"linalg.svd.{_full}",
        lambda T, x, f=_full: [t.abs() for t in T.linalg.svd(x, full_matrices=f)],
        A(3, 3),
        *([] if _full else [A(4, 3), A(2, 3, 4)]),
        dtypes=EXACT[:2],
    )
record(
    "linalg.svdvals", lambda T, x: T.linalg.svdvals(x), A(4, 3), A(2, 3, 4), A(0, 3), dtypes=EXACT
)
record(
    "linalg.eigh",
    lambda T, x: [t.abs() for t in T.linalg.eigh(symmetric(T, x))],
    A(3, 3),
    A(2, 3, 3),
    dtypes=EXACT[:2],
)
record(
    "linalg.eigvalsh",
    lambda T, x: T.linalg.eigvalsh(symmetric(T, x)),
    A(3, 3),
    A(2, 3, 3),
    dtypes=EXACT,
)
record(
    "linalg.eig",
    lambda T, x: [t.abs() for t in T.linalg.eig(symmetric(T, x) + x)],
    A(3, 3),
    dtypes=EXACT[:2],
    batchable=False,
)
record(
    "linalg.eigvals",
    lambda T, x: T.linalg.eigvals(symmetric(T, x) + x).abs(),
    A(3, 3),
    dtypes=EXACT[:2],
    batchable=False,
)
record(
    "linalg.lu", lambda T, x: T.linalg.lu(x), A(3, 3), A(2, 3, 3), A(3, 5), A(5, 3), dtypes=EXACT
)
record(
    "linalg.lu_factor",
    lambda T, x: T.linalg.lu_factor(x),
    A(3, 3),
    A(2, 3, 3),
    A(3, 5),
    A(5, 3),
    dtypes=EXACT,
)
record("linalg.lu_factor_ex", lambda T, x: T.linalg.lu_factor_ex(x), A(3, 3), dtypes=EXACT)
record("lu", lambda T, x: x.lu(), A(3, 3), dtypes=EXACT)
record(
    "lu_unpack",
    lambda T, x: T.lu_unpack(*T.linalg.lu_factor(x)),
    A(3, 3),
    A(3, 5),
    A(5, 3),
    dtypes=EXACT,
)
record(
    "linalg.ldl_factor",
    lambda T, x: T.linalg.ldl_factor(symmetric(T, x).detach()),
    A(3, 3),
    A(2, 3, 3),
    dtypes=EXACT,
    differentiable=False,
)
record(
    "linalg.ldl_factor_ex",
    lambda T, x: T.linalg.ldl_factor_ex(symmetric(T, x).detach()),
    A(3, 3),
    dtypes=EXACT,
    differentiable=False,
)
record(
    "linalg.ldl_solve",
    lambda T, x, b: T.linalg.ldl_solve(*T.linalg.ldl_factor(symmetric(T, x).detach()), b.detach()),
    (A(3, 3), A(3, 2)),
    dtypes=EXACT,
    differentiable=False,
)
record(
    "linalg.householder_product",
    lambda T, x, t: T.linalg.householder_product(x, t),
    (A(4, 3), A(3)),
    (A(2, 4, 3), A(2, 2)),
    dtypes=EXACT[::2],
    names="orgqr",
)
for _left, _adjoint in ((True, False), (True, True), (False, False)):
    record(
        f"ormqr.{_left}.{_adjoint}",
        lambda T, x, t, y, a=_left, b=_adjoint: T.ormqr(x, t, y, a, b),
        (A(4, 3), A(3), A(4, 2) if _left else A(2, 4)),
        dtypes=EXACT[::2],
        names="ormqr",
    )
