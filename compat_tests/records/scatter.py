"""scatter_add, index_add and their kin; masks; flat places; repeats and combinations."""

from __future__ import annotations

from typing import Any

from .base import REAL, A, D, M, N, record

WIDE = ("float64", "float32")

record(
    "scatter.reduced",
    lambda T, x, d, i, s, how: T.scatter(x, d, i, s, reduce=how),
    (D(3, 4), 1, N(3, 2, high=4), D(3, 2), "add"),
    (D(3, 4), 0, N(2, 4, high=3), 2.0, "multiply"),
    covers="scatter_with",
    differentiable=False,
    bad=[(D(3), 0, N(1, high=3), D(1), "mean")],
    dtypes=WIDE,
)
record(
    "scatter_add",
    lambda T, x, d, i, s: T.scatter_add(x, d, i, s),
    (A(3, 4), 1, N(3, 2, high=4), A(3, 2)),
    (A(), 0, N(high=1), A()),
    (A(3, 4, lay="t"), 0, N(5, 4, high=3), A(5, 4)),
    (A(3), 0, N(0, high=3), A(0)),
    covers="scatter_add_along",
    in_place="scatter_add_",
    out=True,
    bad=[
        (A(3, 4), 1, N(3, 2, low=4, high=6), A(3, 2)),
        (A(3), 0, N(3, high=2), A(2)),
        (A(3, 4), 0, N(3, high=2), A(3, 4)),
    ],
)
for _how in ("sum", "prod", "mean", "amax", "amin"):
    for _include in (True, False):
        record(
            f"scatter_reduce.{_how}{'' if _include else '.alone'}",
            lambda T, x, d, i, s, h=_how, inc=_include: T.scatter_reduce(
                x, d, i, s, h, include_self=inc
            ),
            (A(3, 4, distinct=True), 1, N(3, 6, high=4), A(3, 6, distinct=True, low=0.5)),
            (A(3, 4, distinct=True), 0, N(2, 4, high=3), A(2, 4, distinct=True, low=0.5)),
            covers="scatter_reduce_along",
            dtypes=WIDE,
            bad=[(A(3), 0, N(1, low=3, high=4), A(1))],
        )
        if _how != "sum":
            record(
                f"index_reduce.{_how}{'' if _include else '.alone'}",
                lambda T, x, d, i, s, h=_how, inc=_include: T.index_reduce(
                    x, d, i, s, h, include_self=inc
                ),
                (A(3, 4, distinct=True), 1, N(6, high=4), A(3, 6, distinct=True, low=0.5)),
                (A(3, 4, distinct=True), 0, N(2, high=3), A(2, 4, distinct=True, low=0.5)),
                covers="index_reduce_dim",
                dtypes=WIDE,
            )
record(
    "index_add",
    lambda T, x, d, i, s: T.index_add(x, d, i, s),
    (A(3, 4), 1, N(2, high=4), A(3, 2)),
    (A(3, 4), 0, N(5, high=3), A(5, 4)),
    (A(3, 4, lay="t"), 0, N(5, high=3), A(5, 4)),
    (A(3, 80), 0, N(5, high=3), A(5, 80)),
    covers="index_add_dim",
    in_place="index_add_",
    out=True,
    bad=[
        (A(3, 4), 0, N(2, high=3), A(3, 4)),
        (A(3, 4), 0, N(2, low=3, high=4), A(2, 4)),
        (A(3, 4), 0, N(1, 2, high=3), A(2, 4)),
    ],
)
record(
    "index_add.alpha",
    lambda T, x, d, i, s: T.index_add(x, d, i, s, alpha=2),
    (A(3, 4), 1, N(2, high=4), A(3, 2)),
    dtypes=WIDE,
)
record(
    "index_copy",
    lambda T, x, d, i, s: T.index_copy(x, d, i[:1], s),
    (A(3, 4), 1, N(2, high=4), A(3, 1)),
    (A(3, 4, lay="t"), 0, N(2, high=3), A(1, 4)),
    covers="index_copy_dim",
    out=True,
    bad=[(A(3, 4), 0, N(1, low=3, high=4), A(1, 4)), (A(3, 4), 0, N(1, high=3), A(2, 4))],
)
record(
    "index_copy_",
    lambda T, x, d, i, s: x.clone().index_copy_(d, i, s),
    (A(3, 4), 1, N(1, high=4), A(3, 1)),
)
record(
    "index_fill",
    lambda T, x, d, i, v: T.index_fill(x, d, i, v),
    (A(3, 4), 1, N(2, high=4), 1.0),
    (A(), 0, N(1, high=1), 2.0),
    (A(3, 4, lay="t"), 0, N(3, high=3), A()),
    (A(3, 4), 0, N(2, low=-3, high=3), 3),
    covers="index_fill_value index_fill_tensor",
    in_place="index_fill_",
    bad=[(A(3, 4), 0, N(1, low=3, high=4), 1.0), (A(3), 0, N(1, high=3), A(2))],
)

# --- masks and flat places ------------------------------------------------------------------------

record(
    "masked_select",
    lambda T, x, m: T.masked_select(x, m),
    (A(3, 4), M(3, 4)),
    (A(3, 4), M(4)),
    (A(4), M(3, 4)),
    (A(3, 4, lay="t"), M(3, 1)),
    covers="masked_select_of masked_select_backward",
    batchable=False,
    out=True,
    bad=[(A(3, 4), M(5)), (A(3), A(3))],
)
record(
    "masked_scatter",
    lambda T, x, m, s: T.masked_scatter(x, m, s),
    (A(3, 4), M(3, 4), A(12)),
    (A(3, 4), M(4), A(3, 5)),
    covers="masked_scatter_of masked_scatter_backward",
    in_place="masked_scatter_",
    batchable=False,
    bad=[(A(3), A(3), A(3)), (A(3, 4), M(3, 4), A(1))],
)
record(
    "take",
    lambda T, x, i: T.take(x, i),
    (A(3, 4), N(2, 3, high=12)),
    (A(), N(2, high=1)),
    (A(3, 4, lay="t"), N(5, low=-12, high=12)),
    covers="take_at take_backward",
    out=True,
    bad=[(A(3), N(1, low=3, high=4))],
)
record(
    "take_along_dim",
    lambda T, x, i, d: T.take_along_dim(x, i, d),
    (A(3, 4), N(3, 2, high=4), 1),
    (A(3, 4), N(1, 4, high=3), 0),
    (A(3, 4), N(5, high=12), None),
    out=True,
    bad=[(A(3, 4), N(3, high=2), 1)],
)
record(
    "put",
    lambda T, x, i, s, add: T.put(x, i, s, add),
    (A(3, 4), N(1, high=12), A(1), False),
    (A(3, 4), N(5, high=12), A(5), True),
    (A(3, 4, lay="t"), N(3, low=-12, high=12), A(3), True),
    covers="put_flat",
    in_place="put_",
    bad=[(A(3), N(1, low=3, high=4), A(1), False), (A(3), N(2, high=3), A(1), False)],
)
record(
    "fill",
    lambda T, x, v: T.fill(x, v),
    (A(3, 4), 1.5),
    (A(3, 4, lay="t"), 2),
    (A(3, 4), A()),
    covers="fill_number fill_with",
    bad=[(A(3), A(3))],
)

# --- into a view's place --------------------------------------------------------------------------

record(
    "select_scatter",
    lambda T, x, s, d, i: T.select_scatter(x, s, d, i),
    (A(3, 4), A(3), 1, 2),
    (A(3, 4, lay="t"), A(4), 0, -1),
    covers="select_scatter_at",
    dtypes=REAL,
    bad=[(A(3, 4), A(4), 1, 0), (A(3, 4), A(3), 1, 4)],
)
record(
    "slice_scatter",
    lambda T, x, s, *a: T.slice_scatter(x, s, *a),
    (A(3, 4), A(3, 2), 1, 1, 3),
    (A(3, 4), A(2, 4), 0, 0, 3, 2),
    (A(3, 4, lay="t"), A(3, 4)),
    covers="slice_scatter_at",
    dtypes=REAL,
    bad=[(A(3, 4), A(3, 4), 1, 1, 3)],
)
record(
    "diagonal_scatter",
    lambda T, x, s, *a: T.diagonal_scatter(x, s, *a),
    (A(3, 4), A(3)),
    (A(3, 4), A(2), 2),
    (A(2, 3, 4, lay="p"), A(3, 2), 0, 0, 2),
    covers="diagonal_scatter_at",
    bad=[(A(3, 4), A(4))],
)
record(
    "as_strided_scatter",
    lambda T, x, s, *a: T.as_strided_scatter(x, s, *a),
    (D(3, 4), A(2, 2), (2, 2), (4, 1), 1),
    (D(6), A(2), (2,), (3,)),
    covers="as_strided_scatter_at",
    bad=[(A(3), A(2), (3,), (1,))],
)

# --- repeats and combinations ---------------------------------------------------------------------

record(
    "repeat_interleave",
    lambda T, x, n, d: T.repeat_interleave(x, n, d),
    (A(3, 4), 2, 0),
    (A(3, 4), 2, None),
    (A(3, 4, lay="t"), N(4, high=3), 1),
    (A(3), N(1, low=2, high=3), 0),
    batchable=False,
    bad=[(A(3), -1, 0), (A(3), N(2, high=3), 0)],
)
record("repeat_interleave.counts", lambda T, n: T.repeat_interleave(n), N(4, high=3),
       differentiable=False, batchable=False)  # fmt: skip
record(
    "combinations",
    lambda T, x, r, again: T.combinations(x, r, again),
    (A(4), 2, False),
    (A(4), 3, True),
    (A(4), 1, False),
    batchable=False,
    bad=[(A(2, 2), 2, False), (A(3), -1, False)],
)
record("cartesian_prod", lambda T, x, y: T.cartesian_prod(x, y), (A(3), A(2)),
       bad=[(A(2, 2), A(2))])  # fmt: skip
record(
    "trace",
    lambda T, x: T.trace(x),
    A(3, 4),
    A(4, 3, lay="t"),
    jax=lambda J, x: J.trace(x),
    covers="trace_of",
    bad=[A(3), A(2, 2, 2)],
)

OFFSETS = {
    "lengths": [[1, 2, 0, 3], [3, 0, 3, 0]],
    "offsets": [[0, 1, 3, 3, 6], [0, 3, 3, 6, 6]],
}


def _segments(how: str, initial: Any = None) -> Any:
    def call(T: Any, x: Any, axis: int, name: str) -> Any:
        given = T.tensor(OFFSETS[name][0] if not axis else OFFSETS[name], device=x.device)
        return T.segment_reduce(x, how, axis=axis, unsafe=True, initial=initial, **{name: given})

    return call


for _how in ("sum", "mean", "max", "min", "prod"):
    record(
        f"segment_reduce.{_how}",
        _segments(_how, 0.5),
        (A(6, distinct=True), 0, "lengths"),
        (A(6, 2, distinct=True, low=0.6), 0, "offsets"),
        (A(2, 6, 2, distinct=True, low=0.6), 1, "lengths"),
        (A(2, 6, distinct=True), 1, "offsets"),
        covers="segment_reduce_of segment_owners",
        names="segment_reduce _segment_reduce",
        second=False,
        dtypes=WIDE,
    )
record(
    "segment_reduce.alone",
    lambda T, x, how: T.segment_reduce(x, how, lengths=T.tensor([4, 2], device=x.device)),
    (A(6, distinct=True), "max"),
    (A(6), "mean"),
    (A(6), "amin"),
    second=False,
    bad=[(A(5), "sum"), (A(6), "least"), (A(), "sum")],
    dtypes=WIDE,
)
