"""Scans: running products, extremes and log-sum-exp."""

from __future__ import annotations

from typing import Any

from .base import REAL, A, In, record

LINES: list[Any] = [
    (A(3, 4), 1),
    (A(), 0),
    (A(3, 4, lay="t"), 1),
    (A(2, 3, 4, lay="p"), 2),
    (A(3, 4, lay="s"), 0),
    (A(0, 3), 0),
]
APART: list[Any] = [(In(a.shape, a.layout, distinct=True), d) for a, d in LINES if 0 not in a.shape]
BAD: list[Any] = [(A(3), 1)]

record(
    "cumprod",
    lambda T, x, d: T.cumprod(x, d),
    *LINES,
    jax=lambda J, x, d: J.cumprod(x, d if x.ndim else None).reshape(x.shape),
    covers="cumprod_dim recurrence shift",
    in_place="cumprod_",
    out=True,
    bad=BAD,
)
record(
    "cumprod.zeros",
    lambda T, x, d: T.cumprod(x * T.tensor([0.0, 1.0, 0.0, 1.0], dtype=x.dtype), d),
    (A(4), 0),
    (A(3, 4), 1),
    jax=lambda J, x, d: J.cumprod(x * J.array([0.0, 1.0, 0.0, 1.0]), d),
)
for _name in ("cummax", "cummin"):
    record(
        _name,
        lambda T, x, d, n=_name: getattr(T, n)(x, d),
        *APART,
        covers=f"{_name}_dim",
        bad=BAD,
        dtypes=REAL,
    )
record(
    "logcumsumexp",
    lambda T, x, d: T.logcumsumexp(x, d),
    *LINES[:-1],
    jax=lambda J, x, d: J.logaddexp.accumulate(x, d) if x.ndim else x,
    covers="logcumsumexp_dim",
    out=True,
    bad=BAD,
)
