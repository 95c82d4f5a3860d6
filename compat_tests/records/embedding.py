"""Records of rows of tables."""

from __future__ import annotations

from typing import Any

from .base import FLOATS, REAL, A, D, N, record

record(
    "embedding",
    lambda T, w, i: T.embedding(w, i),
    (A(5, 3), N(2, 4, high=5)),
    (A(5, 3, lay="t"), N(high=5)),
    jax=lambda J, w, i: w[i],
    covers="embedding_rows embedding_dense_backward embedding_double_backward",
    dtypes=REAL,
    bad=[(A(5), N(2, high=5)), (A(5, 3), A(2))],
)
record(  # gradients that are not those of the values
    "nn.embedding",
    lambda T, w, i: T.nn.functional.embedding(i, w, padding_idx=-2, scale_grad_by_freq=True),
    (A(5, 3), N(2, 4, high=5)),
    second=False,
    differentiable=False,
    dtypes=FLOATS,
)
record(
    "embedding_renorm_",
    lambda T, w, i: T.embedding_renorm_(w.clone(), i, 0.7, 2.0),
    (D(5, 3), N(2, 4, high=5)),
    differentiable=False,
    batchable=False,
    dtypes=FLOATS[:2],
)


def _bags(mode: str) -> Any:
    def call(T: Any, w: Any, i: Any, *weights: Any) -> Any:
        given = {"per_sample_weights": weights[0]} if weights else {}
        return T.nn.functional.embedding_bag(i, w, mode=mode, **given)

    return call


for _mode in ("sum", "mean", "max"):
    record(
        f"nn.embedding_bag.{_mode}",
        _bags(_mode),
        (A(5, 3, distinct=True), N(2, 4, high=5)),
        (A(5, 3, distinct=True), N(1, 2, high=5)),
        jax=lambda J, w, i, m=_mode: getattr(J, m)(w[i], 1),
        covers="embedding_bag_of",
        dtypes=FLOATS,
        second=False,
        batchable=False,
    )
record(
    "nn.embedding_bag.weights",
    _bags("sum"),
    (A(5, 3), N(2, 4, high=5), A(2, 4)),
    jax=lambda J, w, i, p: J.sum(w[i] * p[..., None], 1),
    dtypes=FLOATS,
    second=False,
    batchable=False,
)
record(
    "embedding_bag",
    lambda T, w, i, o: T.embedding_bag(w, i, o, False, 1)[0],
    (A(5, 3), N(6, high=5), N(2, high=1)),
    bad=[(A(5, 3), N(6, high=5), N(2, low=2, high=3))],
    dtypes=FLOATS,
    second=False,
    batchable=False,
)
