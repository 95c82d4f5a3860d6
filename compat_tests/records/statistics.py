"""Products, spread, norms, ranks, quantiles, counts, differences and integrals."""

from __future__ import annotations

from typing import Any

from .base import DTYPES, FLOATS, REAL, A, D, In, N, record
from .reduce import RANGE, WHOLE, along

WIDE = ("float64", "float32")
WIDE_C = ("float64", "float32", "complex128", "complex64")

record("prod", lambda T, x: T.prod(x), *WHOLE, A(0, 3), jax=lambda J, x: J.prod(x),
       covers="prod_all prod_rest")  # fmt: skip
record(
    "prod.dim",
    lambda T, x, d, k: T.prod(x, d, k),
    *along(1, -1, 0),
    jax=lambda J, x, d, k: J.prod(x, d, keepdims=k) if x.ndim else x,
    covers="prod_dim",
    out=True,
    bad=RANGE[:1],
)
record(
    "prod.zeros",
    lambda T, x: T.prod(x * T.tensor([0.0, 1.0, 1.0, 1.0], dtype=x.dtype)) + T.prod(x * 0, 0).sum(),
    A(4),
    A(3, 4),
    jax=lambda J, x: J.prod(x * J.array([0.0, 1.0, 1.0, 1.0])) + J.prod(x * 0, 0).sum(),
    dtypes=WIDE,
)
for _name in ("std", "var_mean", "std_mean"):
    record(
        _name,
        lambda T, x, d, k, n=_name: getattr(T, n)(x, d, keepdim=k),
        *along(1, (0, 2), -1)[:3],
        *[s for s in along(1)[2:-1] if s[0].layout != "e" or s[1]],
        covers=f"{_name}_dims",
        out=_name == "std",
        dtypes=DTYPES if _name == "std" else REAL,
    )
    record(
        f"{_name}.whole",
        lambda T, x, c, n=_name: getattr(T, n)(x, correction=c),
        (A(3, 4), 0),
        (A(3, 4, lay="t"), 1),
        dtypes=DTYPES if _name == "std" else REAL,
    )
for _name in ("nansum", "nanmean"):
    record(
        _name,
        lambda T, x, d, k, n=_name: getattr(T, n)(x, d, k),
        *along(1, (0, 2), -1),
        covers="nansum_dims",
        out=True,
        bad=RANGE[:1],
        dtypes=REAL if _name == "nansum" else FLOATS,
    )
record(
    "aminmax",
    lambda T, x, d, k: T.aminmax(x, dim=d, keepdim=k),
    *along(1, None, -1, distinct=True),
    covers="aminmax_dims",
    bad=[(A(0), None, False), (A(2, 0), 1, False)],
)
record(
    "count_nonzero",
    lambda T, x, d: T.count_nonzero(x, d),
    (A(3, 4), 1),
    (A(), None),
    (A(3, 4, lay="t"), (0, 1)),
    covers="count_nonzero_dims",
    differentiable=False,
)

# --- norms ----------------------------------------------------------------------------------------

_INF = float("inf")
record(
    "norm",
    lambda T, x, p, d, k: T.norm(x, p, d, k),
    (A(3, 4), 2, 1, False),
    (A(3, 4), 1, 0, True),
    (A(2, 3, 4), 3, (0, 2), False),
    (A(3, 4, lay="t"), "fro", None, False),
    (A(3, 4), _INF, 1, False),
    (A(3, 4), -_INF, 0, False),
    (A(3, 4), 0.5, 1, False),
    (A(3, 4), 1.5, None, False),
    (A(3, 4), 0, 1, False),
    jax=lambda J, x, p, d, k: (
        J.linalg.norm(
            x.ravel() if d is None or len(x.shape) == 3 else x,
            2 if p == "fro" else p,
            None if d is None or len(x.shape) == 3 else d,
            keepdims=k,
        )
        if len(x.shape) < 3
        else (abs(x) ** p).sum(d) ** (1 / p)
    ),
    covers="vector_norm_dims",
    out=True,
    dtypes=WIDE_C,
)


record(
    "frobenius_norm",
    lambda T, x, d, k: T.frobenius_norm(x, d, k),
    (A(3, 4), (0, 1), True),
    (A(3, 4), 1, False),
    (A(2, 3, 4), (), False),
    (A(2, 3, 4), (0, -1), False),
    jax=lambda J, x, d, k: (abs(x) ** 2).sum(d or None, keepdims=k) ** 0.5,
    covers="norm_over",
    out=True,
    dtypes=WIDE_C,
)
record(
    "nuclear_norm",
    lambda T, x: (T.nuclear_norm(x, True), T.nuclear_norm(x, (1, -3)), T.nuclear_norm(x)),
    A(2, 3, 4),
    dtypes=("float64", "complex128"),
)


def _gradient(T: Any, f: Any, *tensors: Any) -> Any:
    """The value and first derivatives, of what PyTorch cannot differentiate twice."""
    leaves = [t.detach().requires_grad_() for t in tensors]
    z = f(*leaves)
    return z.detach(), *[g.clone() for g in T.autograd.grad((z * z.detach().cos()).sum(), leaves)]


record("norm.zero", lambda T, x, p: _gradient(T, lambda x: T.norm(x, p), x * 0)[1],
       (D(3), 2), (D(3), 1), (D(3), 3), differentiable=False, batchable=False,
       dtypes=WIDE)  # fmt: skip
record(
    "dist",
    lambda T, x, y, p: T.dist(x, y, p),
    (A(3, 4), A(4), 2),
    (A(3, 4), A(3, 4), 1),
    (A(3, 4, lay="t"), A(), 3),
    covers="dist_of",
    dtypes=WIDE_C,
)
record(
    "renorm",
    lambda T, x, p, d, m: T.renorm(x, p, d, m),
    (A(3, 4), 2, 0, 1.5),
    (A(3, 4), 1, 1, 2.0),
    (A(2, 3, 4, lay="p"), 2, 1, 1.0),
    covers="renorm_dim",
    in_place="renorm_",
    out=True,
    bad=[(A(3), 2, 0, 1.0), (A(3, 4), 0, 0, 1.0), (A(3, 4), 2, 0, -1.0)],
    dtypes=WIDE,
)
record(
    "cdist",
    lambda T, x, y, p: _gradient(T, lambda x, y: T.cdist(x, y, p), x, y),
    (D(3, 4), D(5, 4), 2.0),
    (D(2, 3, 4), D(5, 4), 1.0),
    (D(3, 4, lay="t"), D(2, 4), 3.0),
    covers="cdist_rows",
    differentiable=False,
    batchable=False,
    bad=[(A(3), A(3), 2.0), (A(3, 4), A(3, 5), 2.0)],
    dtypes=WIDE,
)
record(
    "cdist.product",
    lambda T, x, y: T.cdist(x, y, compute_mode="use_mm_for_euclid_dist"),
    (A(3, 4), A(5, 4)),
    covers="euclidean_rows",
    dtypes=WIDE,
)
record(
    "pdist",
    lambda T, x, p: _gradient(T, lambda x: T.pdist(x, p), x),
    (D(4, 3), 2.0),
    (D(4, 3), 1.0),
    covers="pdist_rows",
    differentiable=False,
    batchable=False,
    bad=[(A(3), 2.0)],
    dtypes=WIDE,
)

# --- ranks ----------------------------------------------------------------------------------------

for _name in ("median", "nanmedian"):
    record(
        _name,
        lambda T, x, n=_name: getattr(T, n)(x),
        *[In(a.shape, a.layout, distinct=True) for a in WHOLE[:4]],
        covers=f"{_name}_all",
        dtypes=REAL[:4],
    )
for _name in ("median", "nanmedian", "mode"):
    record(
        f"{_name}.dim" if _name != "mode" else _name,
        lambda T, x, d, k, n=_name: getattr(T, n)(x, d, k),
        *[s for s in along(1, -1, 0, distinct=True) if s[0].layout != "e"],
        covers=f"{_name}_dim",
        bad=RANGE[:1],
        dtypes=REAL[:4],
    )
record(
    "kthvalue",
    lambda T, x, k, d: T.kthvalue(x, k, d),
    (A(3, 4, distinct=True), 2, 1),
    (A(distinct=True), 1, 0),
    (A(3, 4, lay="t", distinct=True), 3, 0),
    covers="kthvalue_dim",
    bad=[(A(3), 4, 0), (A(3), 0, 0)],
    dtypes=REAL[:4],
)
for _name in ("quantile", "nanquantile"):
    record(
        _name,
        lambda T, x, q, d, k, n=_name: getattr(T, n)(x, q, d, k),
        (A(3, 4, distinct=True), 0.3, None, False),
        (A(3, 4, distinct=True), 0.6, 0, True),
        (A(2, 3, 4, distinct=True), 0.25, -1, False),
        (A(3, 4, lay="t", distinct=True), D(2, low=0.1, high=0.9), 0, False),
        out=True,
        bad=[(A(3), 2.0, None, False), (A(0), 0.5, None, False)],
        dtypes=WIDE,
    )
    record(
        f"{_name}.ways",
        lambda T, x, way, n=_name: getattr(T, n)(x, 0.4, 1, interpolation=way),
        (A(3, 4, distinct=True), "lower"),
        (A(3, 4, distinct=True), "higher"),
        (A(3, 4, distinct=True), "nearest"),
        (A(3, 4, distinct=True), "midpoint"),
        bad=[(A(3, 4), "none")],
        dtypes=WIDE,
    )

# --- counts ---------------------------------------------------------------------------------------

record(
    "histc",
    lambda T, x, *a: T.histc(x, *a),
    (D(10), 4),
    (D(3, 4), 5, -1.0, 1.0),
    (D(0), 3),
    covers="histc_of",
    differentiable=False,
    bad=[(D(3), 0), (D(3), 3, 2.0, 1.0)],
    dtypes=WIDE,
)
record(
    "histogram",
    lambda T, x, bins: T.histogram(x, bins),
    (D(10), 4),
    (D(3, 4), 3),
    covers="histogram_of",
    differentiable=False,
    batchable=False,
    dtypes=WIDE,
)
record(
    "histogram.weighted",
    lambda T, x, w: T.histogram(x, 4, range=(-1.0, 1.5), weight=w, density=True),
    (D(10), D(10, low=0.1)),
    differentiable=False,
    batchable=False,
    dtypes=WIDE,
)
record(
    "histogramdd",
    lambda T, x, bins: T.histogramdd(x, bins),
    (D(10, 2), 3),
    (D(10, 2), [2, 3]),
    differentiable=False,
    batchable=False,
    dtypes=WIDE,
)
record(
    "bincount",
    lambda T, x, n: T.bincount(x, minlength=n),
    (N(10, high=5), 0),
    (N(10, high=5), 9),
    covers="bincount_plain",
    differentiable=False,
    batchable=False,
    bad=[(N(3, low=-2, high=-1), 0), (N(2, 2, high=3), 0), (A(3), 0), (N(3, high=3), -1)],
)
record(
    "bincount.weights",
    lambda T, x, w: T.bincount(x, w),
    (N(10, high=5), D(10)),
    covers="bincount_weighted",
    differentiable=False,
    batchable=False,
    bad=[(N(3, high=3), A(2))],
)

# --- differences, integrals, covariance -----------------------------------------------------------

record(
    "diff",
    lambda T, x, n, d: T.diff(x, n, d),
    (A(3, 4), 1, 1),
    (A(3, 4), 2, 0),
    (A(3, 4, lay="t"), 1, -1),
    (A(3), 4, 0),
    jax=lambda J, x, n, d: J.diff(x, n, d),
    out=True,
    bad=[(A(), 1, 0), (A(3), -1, 0)],
)
record("diff.joined", lambda T, x, y: T.diff(x, 1, 0, y, y), (A(3, 4), A(1, 4)))
record(
    "gradient",
    lambda T, x, step, d, order: T.gradient(x, spacing=step, dim=d, edge_order=order),
    (A(4, 5), 1, None, 1),
    (A(4, 5), 2.0, 0, 2),
    (A(4, 5, lay="t"), [0.5, 2.0], None, 1),
    bad=[(A(1), 1, None, 1), (A(4, 5), [1.0], None, 1), (A(3), 1, None, 3)],
    dtypes=WIDE,
)
record(
    "gradient.places",
    lambda T, x, a, b, order: T.gradient(x, spacing=(a, b), edge_order=order),
    (A(4, 5), D(4, low=1, high=5, distinct=True), D(5, low=1, high=6, distinct=True), 1),
    (A(4, 5), D(4, low=1, high=5, distinct=True), D(5, low=1, high=6, distinct=True), 2),
    dtypes=WIDE,
)
for _name in ("trapezoid", "cumulative_trapezoid"):
    record(
        _name,
        lambda T, y, dx, d, n=_name: getattr(T, n)(y, dx=dx, dim=d),
        (A(3, 4), 1, -1),
        (A(3, 4), 0.5, 0),
        (A(3, 4, lay="t"), 2, 1),
        names="trapz" if _name == "trapezoid" else "",
        dtypes=WIDE_C,
    )
    record(
        f"{_name}.points",
        lambda T, y, x, d, n=_name: getattr(T, n)(y, x, dim=d),
        (A(3, 4), A(4), -1),
        (A(3, 4), A(3, 4), 0),
        bad=[(A(3, 4), A(3), -1)],
        dtypes=WIDE,
    )
record(
    "cov",
    lambda T, x: T.cov(x),
    A(3, 4),
    A(5),
    A(3, 4, lay="t"),
    jax=lambda J, x: J.cov(x),
    bad=[A(2, 2, 2)],
    dtypes=WIDE,
)
record("cov.complex", lambda T, x: T.cov(x), A(3, 4), A(2, 5), dtypes=WIDE_C)
record(
    "cov.weights",
    lambda T, x, f, a: T.cov(x, fweights=f, aweights=a, correction=0),
    (A(3, 4), N(4, low=1, high=5), D(4, low=0.5)),
    dtypes=("float64",),
)
record("corrcoef", lambda T, x: T.corrcoef(x), A(3, 4), A(5), bad=[A(2, 2, 2)],
       dtypes=WIDE)  # fmt: skip
