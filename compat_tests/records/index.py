"""Indexing: Python's ``x[...]``, gather and scatter, triangles."""

from __future__ import annotations

from typing import Any

from .base import A, M, N, record

LAYOUTS = [A(3, 4), A(3, 4, lay="t"), A(3, 4, lay="s"), A(3, 4, lay="e")]


def _set(T: Any, x: Any, key: Any, value: Any) -> Any:
    y = x.clone()
    y[key] = value
    return y


for _i, _key in enumerate(
    [
        0,
        -1,
        slice(1, 3),
        slice(None, None, 2),
        (slice(None), 1),
        (..., None),
        (None, 2, ...),
        (1, 2),
        (slice(3, 1), 0),
        (slice(-2, 10), slice(1, -1)),
        (),
    ]
):
    record(f"getitem.view{_i}", lambda T, x, k=_key: x[k], *LAYOUTS, jax=lambda J, x, k=_key: x[k])
    record(
        f"setitem.view{_i}",
        lambda T, x, v, k=_key: _set(T, x, k, v),
        (A(3, 4), 1.5),
        (A(3, 4), A()),
        (A(3, 4, lay="t"), A()),
        jax=lambda J, x, v, k=_key: J.asarray(x).at[k].set(v),
    )

record("getitem.alias", lambda T, x: x[...], *LAYOUTS, A(), jax=lambda J, x: x[...], covers="alias")
record(
    "getitem.list",
    lambda T, x: x[[0, 2, 0]],
    *LAYOUTS,
    jax=lambda J, x: x[J.array([0, 2, 0])],
    covers="index_at_1 index_back_1",
)
record(
    "getitem.index",
    lambda T, x, i: x[i],
    (A(3, 4), N(2, high=3)),
    (A(3, 4), N(2, 2, high=3, low=-3)),
    (A(3, 4), N(high=3)),
    (A(4), N(0, high=4)),
    (A(3, 4, lay="t"), N(2, high=3)),
    (A(2, 3, 4, lay="p"), N(5, high=2)),
    jax=lambda J, x, i: x[i],
)
record(
    "getitem.pair",
    lambda T, x, i, j: x[i, j],
    (A(3, 4), N(2, high=3), N(2, high=4)),
    (A(3, 4, 2), N(2, 1, high=3), N(3, high=4)),
    jax=lambda J, x, i, j: x[i, j],
    covers="index_at_2 index_back_2",
)
record(
    "getitem.three",
    lambda T, x, i, j, k: x[i, j, k],
    (A(3, 4, 2), N(2, high=3), N(2, high=4), N(2, high=2)),
    jax=lambda J, x, i, j, k: x[i, j, k],
    covers="index_at_3 index_back_3",
)
record(
    "setitem.pair",
    lambda T, x, i, j, v: _set(T, x, (i, j), v),
    (A(3, 4), [0, 2], [1, 1], A(2)),
    (A(3, 4), [0, 2], [[3], [1]], A()),
    jax=lambda J, x, i, j, v: x.at[J.array(i), J.array(j)].set(v),
    covers="put_in_2",
)
record(
    "setitem.three",
    lambda T, x, i, j, k, v: _set(T, x, (i, j, k), v),
    (A(3, 4, 2), [0, 2], [1, 1], [1, 0], A(2)),
    jax=lambda J, x, i, j, k, v: x.at[J.array(i), J.array(j), J.array(k)].set(v),
    covers="put_in_3",
)
record(
    "getitem.apart",
    lambda T, x, i, j: x[i, :, j],
    (A(3, 4, 2), N(2, high=3), N(2, high=2)),
    (A(3, 4, 2), N(2, 2, high=3), N(2, high=2)),
    jax=lambda J, x, i, j: x[i, :, j],
)
record(
    "getitem.last",
    lambda T, x, i: x[..., i],
    (A(3, 4), N(2, high=4)),
    (A(3, 4, lay="t"), N(2, 3, high=4)),
    jax=lambda J, x, i: x[..., i],
)
record(
    "getitem.mixed",
    lambda T, x, i: x[1:, i, None],
    (A(3, 4, 2), N(2, high=4)),
    jax=lambda J, x, i: x[1:, i, None],
)
record(
    "getitem.int_and_index",
    lambda T, x, i: x[1, :, i],
    (A(3, 4, 2), N(3, high=2)),
    jax=lambda J, x, i: x[1][:, i],
)
record(
    "getitem.mask",
    lambda T, x, m: x[m],
    (A(3, 4), M(3, 4)),
    (A(3, 4), M(3)),
    (A(3, 4, lay="t"), M(3, 4, lay="t")),
    (A(), M()),
    jax=lambda J, x, m: x[m],
    batchable=False,
    bad=[(A(3, 4), M(4)), (A(3, 4), M(3, 3))],
)
record(
    "getitem.bad",
    lambda T, x, k: x[k],
    (A(3, 4), 0),
    jax=lambda J, x, k: x[k],
    bad=[
        (A(3, 4), 3),
        (A(3, 4), (0, 4)),
        (A(3, 4), (0, 0, 0)),
        (A(), 0),
        (A(3), "a"),
        (A(3), 1.5),
        (A(3), slice(None, None, -1)),
        (A(3), [5]),
        (A(3), N(2, high=9, low=8)),
        (A(3), A(2)),
        (A(3), slice(0.5, 2)),
    ],
)

record(
    "setitem.index",
    lambda T, x, i, v: _set(T, x, i, v),
    (A(3, 4), N(2, high=3), 1.0),
    (A(3, 4), [0, 2], A(2, 4)),
    (A(3, 4), [2, 1], A(4)),
    (A(3, 4, lay="t"), [1], A()),
    jax=lambda J, x, i, v: _at(J, x, i).set(v),
    covers="put_in_1",
    bad=[(A(3, 4), [0, 1], A(3)), (A(3, 4), [5], 1.0)],
)
record(
    "setitem.mask",
    lambda T, x, m, v: _set(T, x, m, v),
    (A(3, 4), M(3, 4), 1.0),
    (A(3, 4), M(3, 4), A()),
    (A(3, 4), M(3), A(4)),
    jax=lambda J, x, m, v: J.where(m if m.ndim == 2 else m[:, None], v, x),
    batchable=False,
)
record(
    "setitem.bad",
    lambda T, x, k, v: _set(T, x, k, v),
    (A(3, 4), 0, 1.0),
    jax=lambda J, x, k, v: x.at[k].set(v),
    bad=[(A(3, 4), 0, A(3)), (A(3, 4), slice(0, 2), A(3, 4)), (A(3, 4), 5, 1.0), (A(3), 0, "a")],
)
record(
    "index_put",
    lambda T, x, i, v: T.index_put(x, (i,), v),
    (A(3, 4), N(2, high=3), A(4)),
    (A(3), N(2, high=3), A()),
    jax=lambda J, x, i, v: x.at[i].set(v),
)
record(
    "index_put.accumulate",
    lambda T, x, i, v: T.index_put(x, (i,), v, accumulate=True),
    (A(3, 4), N(5, high=3), A(4)),
    (A(3), N(5, high=3), A(5)),
    jax=lambda J, x, i, v: x.at[i].add(v),
)
record(
    "index_put_",
    lambda T, x, i, v: x.clone().index_put_((i,), v),
    (A(3, 4), N(2, high=3), A(4)),
    jax=lambda J, x, i, v: x.at[i].set(v),
)

record(
    "gather",
    lambda T, x, d, i: T.gather(x, d, i),
    (A(3, 4), 1, N(3, 2, high=4)),
    (A(), 0, N(high=1)),
    (A(3, 4), 0, N(2, 4, high=3)),
    (A(3, 4, lay="t"), 1, N(2, 5, high=4)),
    (A(3), 0, N(high=3)),
    (A(3, 4), 1, N(0, 2, high=4)),
    jax=lambda J, x, d, i: _gather(J, x, d, i),
    covers="gather_along gather_backward",
    out=True,
    bad=[
        (A(3, 4), 1, N(3, 2, low=5, high=6)),
        (A(3, 4), 1, N(2, high=3)),
        (A(3, 4), 2, N(1, 1, high=1)),
        (A(3), 0, A(3)),
        (A(3, 4), 0, N(2, 5, high=2)),
    ],
)
record(
    "scatter",
    lambda T, x, i, s: T.scatter(x, 0, i, s),
    (A(3), N(1, high=3), A(1)),
    (A(3, 4), N(1, 4, high=3), A(1, 4)),
    (A(3, 4, lay="t"), N(1, 2, high=3), A(1, 2)),
    jax=lambda J, x, i, s: _scatter(J, x, i, s),
    covers="scatter_along",
    bad=[(A(3), N(1, low=3, high=4), A(1)), (A(3), A(1), A(1)), (A(3), N(2, high=3), A(1))],
)
record(
    "scatter.part",
    lambda T, x, i, s: T.scatter(x, 0, i, s),
    (A(3, 4), N(1, 2, high=3), A(2, 4)),
    differentiable=False,
)
record(
    "scatter_",
    lambda T, x, i, s: x.clone().scatter_(0, i, s),
    (A(3, 4), N(1, 4, high=3), A(1, 4)),
    (A(3, 4), N(1, 4, high=3), 2.0),
    jax=lambda J, x, i, s: _scatter(J, x, i, s),
)
record(
    "scatter.value",
    lambda T, x, i, v: T.scatter(x, 1, i, v),
    (A(3, 4), N(3, 2, high=4), 1.5),
    (A(3, 4), N(2, 1, high=4), 2),
    jax=lambda J, x, i, v: x.at[J.arange(i.shape[0])[:, None], i].set(v),
)
record(
    "index_select",
    lambda T, x, d, i: T.index_select(x, d, i),
    (A(3, 4), 0, N(2, high=3)),
    (A(3), 0, N(high=3)),
    (A(3, 4), 1, N(5, high=4)),
    (A(3, 4, lay="t"), 1, N(2, high=4)),
    (A(3, 4), 0, N(0, high=3)),
    jax=lambda J, x, d, i: J.take(x, J.atleast_1d(i), d),
    covers="index_select_dim index_select_backward",
    out=True,
    bad=[
        (A(3, 4), 0, N(1, low=3, high=4)),
        (A(3, 4), 0, N(1, 1, high=2)),
        (A(3, 4), 2, N(1, high=2)),
        (A(3), 0, A(2)),
    ],
)
record(
    "nonzero",
    lambda T, x: T.nonzero(x),
    M(3, 4),
    M(),
    M(2, 3, lay="t"),
    covers="nonzero_rows",
    differentiable=False,
    batchable=False,
    out=True,
)
record(
    "nonzero.tuple",
    lambda T, x: T.nonzero(x, as_tuple=True),
    M(3, 4),
    M(1),
    M(4),
    differentiable=False,
    batchable=False,
)
record(
    "where.single", lambda T, x: T.where(x), M(3, 4), M(4), differentiable=False, batchable=False
)
for _name in ("tril", "triu"):
    record(
        _name,
        lambda T, x, k, n=_name: getattr(T, n)(x, k),
        (A(3, 4), 0),
        (A(4, 3), 1),
        (A(2, 3, 3), -1),
        (A(3, 4, lay="t"), 0),
        (A(2, 3, 4, lay="p"), 1),
        (A(0, 3), 0),
        jax=lambda J, x, k, n=_name: getattr(J, n)(x, k),
        covers=f"{_name}_of",
        in_place=f"{_name}_",
        out=True,
        bad=[(A(3), 0), (A(), 0)],
    )


def _at(J: Any, x: Any, i: Any) -> Any:
    return J.asarray(x).at[J.asarray(i)]


def _gather(J: Any, x: Any, d: int, i: Any) -> Any:
    if not x.ndim or not i.ndim:
        return J.ravel(x)[i]
    rows = x[tuple(slice(n) if k != d else slice(None) for k, n in enumerate(i.shape))]
    return J.take_along_axis(rows, i, d)


def _scatter(J: Any, x: Any, i: Any, source: Any) -> Any:
    if not isinstance(source, float):
        source = source[tuple(slice(n) for n in i.shape)]
    return x.at[i].set(source) if x.ndim == 1 else x.at[i, J.arange(i.shape[1])].set(source)
