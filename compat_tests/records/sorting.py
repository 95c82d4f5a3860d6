"""Sorting, the largest elements, distinct values, binary search, and indices of what was found."""

from __future__ import annotations

from typing import Any

from .base import REAL, A, D, In, M, N, record

LINES: list[Any] = [
    (In(s, lay, distinct=True), d)
    for s, lay, d in [
        ((3, 4), "c", 1), ((), "c", 0), ((3, 4), "t", 0), ((2, 3, 4), "p", 1),
        ((3, 4), "s", -1), ((0, 3), "c", 1),
    ]
]  # fmt: skip
BAD: list[Any] = [(A(3), 1)]

record(
    "sort",
    lambda T, x, d: T.sort(x, d),
    *LINES,
    covers="sort_dim",
    bad=BAD,
)
record(
    "sort.stable",
    lambda T, x, d, down: T.sort(x, dim=d, descending=down, stable=True),
    *[(x, d, i % 2 == 0) for i, (x, d) in enumerate(LINES)],
    covers="sort_stable",
)
record("msort", lambda T, x: T.msort(x), A(3, 4, distinct=True), A(4, distinct=True),
       jax=lambda J, x: J.sort(x, 0), out=True)  # fmt: skip
record("argsort", lambda T, x, d: T.argsort(x, dim=d, stable=True), *LINES, differentiable=False,
       bad=BAD)  # fmt: skip
record(
    "topk",
    lambda T, x, k, d, most: T.topk(x, k, d, most),
    (A(3, 4, distinct=True), 2, 1, True),
    (A(distinct=True), 1, 0, True),
    (A(3, 4, lay="t", distinct=True), 3, 0, False),
    (A(2, 3, 4, lay="p", distinct=True), 1, 1, True),
    covers="topk_dim",
    bad=[(A(3), 4, 0, True), (A(3), 1, 1, True)],
    dtypes=REAL[:4],
)
record(
    "unique",
    lambda T, x: T.unique(x, return_inverse=True, return_counts=True),
    D(3, 4),
    D(),
    D(3, 4, lay="t"),
    covers="unique",
    differentiable=False,
    batchable=False,
)
record(
    "unique.dim",
    lambda T, x, d: T.unique(x, dim=d, return_inverse=True, return_counts=True),
    (N(5, 2, high=2), 0),
    (N(2, 6, high=2), 1),
    covers="unique_dim",
    differentiable=False,
    batchable=False,
)
record(
    "unique_consecutive",
    lambda T, x, d: T.unique_consecutive(x, True, True, d),
    (N(9, high=2), None),
    (N(3, 4, high=2), None),
    (N(6, 2, high=2), 0),
    covers="unique_consecutive",
    differentiable=False,
    batchable=False,
)
record(
    "searchsorted",
    lambda T, x, v, right: T.searchsorted(x.sort(-1)[0], v, right=right),
    (D(5), D(3, 4), False),
    (D(3, 5), D(3, 2), True),
    covers="searchsorted",
    differentiable=False,
    batchable=False,
    bad=[(D(3, 5), D(2), False)],
    dtypes=("float64", "float32", "int64", "int32", "uint8"),
)
record(
    "searchsorted.forms",
    lambda T, x, v: T.searchsorted(x, v, sorter=T.argsort(x), side="right", out_int32=True),
    (D(5, distinct=True), D(3)),
    differentiable=False,
    batchable=False,
    dtypes=("float64", "float32"),
)
record(
    "bucketize",
    lambda T, v, x: T.bucketize(v, x),
    (D(3, 4), N(4, low=-1, high=1)),
    (D(4), N(1, high=2)),
    differentiable=False,
    batchable=False,
    bad=[(D(3), D(2, 2))],
    dtypes=("float64", "float32", "int64"),
)
record(
    "isin",
    lambda T, x, y: (T.isin(x, y), T.isin(x, y, invert=True), T.isin(x, 1)),
    (N(3, 4, high=9), N(4, high=9)),
    (N(high=3), N(2, high=3)),
    covers="isin_of",
    differentiable=False,
)
record(
    "nonzero_static",
    lambda T, x, n: T.nonzero_static(x, size=n, fill_value=-2),
    (M(3, 4), 3),
    (M(3), 7),
    differentiable=False,
    batchable=False,
)
record("argwhere", lambda T, x: T.argwhere(x), M(3, 4), M(), differentiable=False,
       batchable=False)  # fmt: skip
record(
    "unravel_index",
    lambda T, i, shape: T.unravel_index(i, shape),
    (N(2, 3, high=12), (3, 4)),
    (N(high=6), 6),
    differentiable=False,
    batchable=False,
    bad=[(A(2), (3, 4)), (N(2, high=3), (3, -4))],
)
record(
    "nn.one_hot",
    lambda T, i, n: T.nn.functional.one_hot(i, n),
    (N(2, 3, high=4), 5),
    (N(high=4), 4),
    covers="one_hot_of",
    differentiable=False,
    bad=[(N(2, low=4, high=6), 3), (N(2, low=-3, high=-1), 3), (A(2), 3)],
)
