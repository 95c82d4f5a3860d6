"""Records of losses."""

from __future__ import annotations

from typing import Any

from .base import FLOATS, A, D, In, N, record

WIDE = FLOATS[:2]
P = {"low": 0.1, "high": 0.9}  # probabilities


def _distance(J: Any, x: Any, y: Any, b: float, r: str, huber: bool) -> Any:
    d = J.abs(x - y)
    z = J.where(d < b, 0.5 * d * d / (1 if huber else b), (d - b / 2) * (b if huber else 1))
    return _reduced(J, z, r)


def _reduced(J: Any, z: Any, r: str) -> Any:
    return z if r == "none" else J.mean(z) if r == "mean" else J.sum(z)


record(
    "l1_loss",
    lambda T, x, y, r: T.nn.functional.l1_loss(x, y, reduction=r),
    (A(3, 4), A(3, 4), "mean"),
    (A(3, 4, lay="t"), A(3, 4), "none"),
    (A(), A(), "sum"),
    jax=lambda J, x, y, r: _reduced(J, J.abs(x - y), r),
    bad=[(A(3), A(3), "most")],
)
record(
    "l1_loss.weight",
    lambda T, x, y, w, r: T.nn.functional.l1_loss(x, y, reduction=r, weight=w),
    (A(3, 4), A(3, 4), D(3, 4, low=0.1), "mean"),
    (A(3, 4), A(3, 4), D(3, 4, low=0.1), "none"),
    bad=[(A(3), A(3), D(2), "mean")],
)
record(
    "mse_loss.weight",
    lambda T, x, y, w, r: T.nn.functional.mse_loss(x, y, reduction=r, weight=w),
    (A(3, 4), A(3, 4), D(3, 4, low=0.1), "mean"),
    (A(3, 4), A(3, 4), D(3, 4, low=0.1), "sum"),
)
for _name, _option in (("smooth_l1_loss", "beta"), ("huber_loss", "delta")):
    record(
        _name,
        lambda T, x, y, r, b, n=_name, o=_option: getattr(T.nn.functional, n)(
            x, y, reduction=r, **{o: b}
        ),
        (A(3, 4), A(3, 4), "mean", 1.0),
        (A(3, 4), A(3, 4), "none", 0.7),
        (A(), A(), "sum", 1.0),
        (A(3, 4, lay="t"), A(3, 4), "none", 1.0),
        (A(3, 4), D(3, 4), "mean", 2.0),
        (A(0, 3), A(0, 3), "mean", 1.0),
        jax=lambda J, x, y, r, b, n=_name: _distance(J, x, y, b, r, n == "huber_loss"),
        covers=f"{_name}_reduced",
        bad=[(A(3), A(3), "mean", -1.0)],
    )
record(
    "smooth_l1_loss.zero",
    lambda T, x, y: T.nn.functional.smooth_l1_loss(x, y, beta=0.0),
    (A(3, 4), A(3, 4)),
)
record(
    "huber_loss.weight",
    lambda T, x, y, w: T.nn.functional.huber_loss(x, y, weight=w),
    (A(3, 4), A(3, 4), D(3, 4, low=0.1)),
)


def _bce_jax(J: Any, x: Any, y: Any, w: Any, r: str) -> Any:
    z = -(y * J.log(x) + (1 - y) * J.log1p(-x))
    return _reduced(J, z if w is None else z * w, r)


record(
    "binary_cross_entropy",
    lambda T, x, y, w, r: T.nn.functional.binary_cross_entropy(x, y, w, reduction=r),
    (A(3, 4, **P), D(3, 4, **P), None, "mean"),
    (A(3, 4, **P), A(3, 4, **P), D(4, **P), "none"),
    (A(**P), A(**P), None, "sum"),
    (A(3, 4, lay="t", **P), D(3, 4, **P), None, "none"),
    jax=_bce_jax,
    covers="binary_cross_entropy_reduced",
    second=False,  # PyTorch's second derivative adds a small number to the denominator
    bad=[(A(3, low=2.0, high=3.0), A(3, **P), None, "mean"), (A(3, **P), A(4, **P), None, "mean")],
    dtypes=tuple(d for d in (*FLOATS, "complex64", "int64", "bool")),
)


def _logits_jax(J: Any, x: Any, y: Any, w: Any, p: Any, r: str) -> Any:
    soft = J.logaddexp(0, -x)
    z = (1 - y) * x + (soft if p is None else ((p - 1) * y + 1) * soft)
    return _reduced(J, z if w is None else z * w, r)


record(
    "nn.binary_cross_entropy_with_logits",
    lambda T, x, y, w, p, r: T.nn.functional.binary_cross_entropy_with_logits(
        x, y, w, pos_weight=p, reduction=r
    ),
    (A(3, 4), A(3, 4, **P), None, None, "mean"),
    (A(), A(**P), None, None, "sum"),
    (A(3, 4), A(3, 4, **P), D(4, **P), D(4, **P), "none"),
    (A(3, 4, lay="t"), D(3, 4, **P), None, None, "none"),
    jax=_logits_jax,
    covers="bce_with_logits",
    bad=[(A(3), A(4), None, None, "mean")],
)
record(
    "binary_cross_entropy_with_logits",
    lambda T, x, y: T.binary_cross_entropy_with_logits(x, y),
    (A(3, 4), A(3, 4, **P)),
    jax=lambda J, x, y: _logits_jax(J, x, y, None, None, "none"),
)
record(
    "kl_div",
    lambda T, x, y, r, log: T.kl_div(x, y, r, log_target=log),
    (A(3, 4), A(3, 4, **P), 0, False),
    (A(3, 4), A(3, 4), 1, True),
    (A(3, 4), D(3, 4, **P), 2, False),
)
record(
    "nn.kl_div",
    lambda T, x, y: T.nn.functional.kl_div(x, y, reduction="batchmean"),
    (A(3, 4), A(3, 4, **P)),
    dtypes=FLOATS[:3],
)
record(
    "nn.gaussian_nll_loss",
    lambda T, x, y, v, full: T.nn.functional.gaussian_nll_loss(x, y, v, full),
    (A(3, 4), A(3, 4), A(3, 4, low=0.2), True),
    (A(3, 4), A(3, 4), A(3, low=0.2), False),
    bad=[(A(3, 4), A(3, 4), A(5, low=0.2), False)],
    batchable=False,
    dtypes=FLOATS,
)
record(
    "poisson_nll_loss",
    lambda T, x, y, log, full: T.poisson_nll_loss(x, y, log, full, 1e-8, 1),
    (A(3, 4), A(3, 4, low=0.5, high=4.0), True, True),
    (A(3, 4, low=0.2), A(3, 4, low=0.5), False, False),
)
record(
    "nn.poisson_nll_loss",
    lambda T, x, y, r: T.nn.functional.poisson_nll_loss(x, y, reduction=r),
    (A(3, 4), A(3, 4, low=0.5, high=4.0), "sum"),
    bad=[(A(3), A(3), "most")],
)

# --- margins --------------------------------------------------------------------------------------

for _prefix in ("", "nn."):
    record(
        f"{_prefix}hinge_embedding_loss",
        lambda T, x, i, p=_prefix: (T.nn.functional if p else T).hinge_embedding_loss(
            x, 2 * (i % 2) - 1, 0.9
        ),
        (A(3, 4), N(3, 4, high=5)),
        (A(5), N(5, high=5)),
    )
    record(
        f"{_prefix}margin_ranking_loss",
        lambda T, x, y, i, p=_prefix: (T.nn.functional if p else T).margin_ranking_loss(
            x, y, 2 * (i % 2) - 1, 0.3
        ),
        (A(3, 4), A(3, 4), N(3, 4, high=5)),
    )
    record(
        f"{_prefix}cosine_embedding_loss",
        lambda T, x, y, i, p=_prefix: (T.nn.functional if p else T).cosine_embedding_loss(
            x, y, 2 * (i % 2) - 1, 0.1
        ),
        (A(3, 4), A(3, 4), N(3, high=5)),
        (A(4), A(4), N(high=5)),
        bad=[(A(3, 4), A(3, 4), N(3, 1, high=5))],
        dtypes=FLOATS,
    )
    record(
        f"{_prefix}triplet_margin_loss",
        lambda T, x, y, z, s, p=_prefix: (T.nn.functional if p else T).triplet_margin_loss(
            x, y, z, swap=s
        ),
        (A(3, 4), A(3, 4), A(3, 4), False),
        (A(3, 4), A(3, 4), A(3, 4), True),
        bad=[(A(3, 4), A(3, 4), A(4), False)],
        dtypes=FLOATS,
    )
record(
    "nn.triplet_margin_with_distance_loss",
    lambda T, x, y, z: T.nn.functional.triplet_margin_with_distance_loss(x, y, z, swap=True),
    (A(3, 4), A(3, 4), A(3, 4)),
    dtypes=FLOATS,
)
record(
    "nn.soft_margin_loss",
    lambda T, x, y, r: T.nn.functional.soft_margin_loss(x, y, reduction=r),
    (A(3, 4), D(3, 4), "mean"),
    (A(3, 4, lay="t"), D(3, 4), "none"),
    jax=lambda J, x, y, r: _reduced(J, J.log1p(J.exp(-x * y)), r),
    covers="soft_margin_loss_reduced",
    dtypes=tuple(d for d in (*FLOATS, "int64", "bool")),
)


def _multi_margin_jax(J: Any, x: Any, i: Any, w: Any, p: int, r: str) -> Any:
    rows, index = x.reshape(-1, x.shape[-1]), i.reshape(-1)
    own = J.take_along_axis(rows, index[:, None], 1)
    z = J.maximum(0, 1 - own + rows) ** p
    z = z if w is None else z * w[index][:, None]
    hot = index[:, None] == J.arange(rows.shape[1])
    z = J.where(hot, 0, z).sum(1) / rows.shape[1]
    return _reduced(J, z.reshape(i.shape), r)


record(
    "nn.multi_margin_loss",
    lambda T, x, i, w, p, r: T.nn.functional.multi_margin_loss(x, i, p, weight=w, reduction=r),
    (A(3, 5), N(3, high=5), None, 1, "mean"),
    (A(3, 5), N(3, high=5), D(5, **P), 2, "none"),
    (A(5), N(high=5), None, 2, "sum"),
    jax=_multi_margin_jax,
    covers="multi_margin_loss_reduced",
    second=False,
    bad=[(A(3, 5), N(2, high=5), None, 1, "mean"), (A(3, 5), N(3, high=5), D(4), 1, "mean")],
    dtypes=FLOATS,
)
_LABELS = In((3, 5), kind="index", low=-1, high=5)
record(
    "nn.multilabel_margin_loss",
    lambda T, x, i, r: T.nn.functional.multilabel_margin_loss(x, i, reduction=r),
    (A(3, 5), _LABELS, "mean"),
    (A(3, 5), _LABELS, "none"),
    (A(5), N(5, high=5), "sum"),
    covers="multilabel_margin_loss_reduced",
    second=False,
    bad=[(A(3, 5), N(3, high=5), "mean")],
    dtypes=FLOATS,
)
record(
    "nn.multilabel_soft_margin_loss",
    lambda T, x, y, w: T.nn.functional.multilabel_soft_margin_loss(x, y, w),
    (A(3, 4), A(3, 4, **P), None),
    (A(3, 4), D(3, 4, **P), D(4, **P)),
    dtypes=FLOATS,
)

# --- classes --------------------------------------------------------------------------------------

record(
    "cross_entropy.weighted_soft",
    lambda T, x, y, w, s, r: T.nn.functional.cross_entropy(x, y, w, label_smoothing=s, reduction=r),
    (A(3, 5), A(3, 5, **P), D(5, low=0.1), 0.0, "mean"),
    (A(2, 5, 3), A(2, 5, 3, **P), D(5, low=0.1), 0.2, "none"),
    bad=[(A(3, 5), A(3, 5), D(4), 0.0, "mean"), (A(3, 5), N(3, high=5), None, 2.0, "mean")],
    dtypes=FLOATS,
)
record(
    "nn.linear_cross_entropy",
    lambda T, x, w, i, b: T.nn.functional.linear_cross_entropy(x, w, i, linear_bias=b),
    (A(3, 4), A(5, 4), N(3, high=5), None),
    (A(3, 4), A(5, 4), N(3, high=5), A(5)),
    dtypes=FLOATS,
)


def _ctc(T: Any, x: Any, labels: Any, given: Any, wanted: Any, code: int, zero: bool) -> Any:
    return T.ctc_loss(T.log_softmax(x, -1), labels, given, wanted, 0, code, zero)


record(
    "ctc_loss",
    _ctc,
    (A(6, 2, 4), N(2, 3, low=1, high=4), [6, 5], [3, 2], 0, False),
    (A(6, 2, 4), N(5, low=1, high=4), [6, 4], [3, 2], 1, False),
    (A(3, 2, 4), N(2, 3, low=1, high=4), [3, 1], [1, 3], 2, True),
    (A(6, 4), N(2, low=1, high=4), [6], [2], 0, False),
    covers="ctc_loss_of",
    bad=[(A(6, 2, 4), N(2, 3, low=1, high=4), [6, 5, 1], [3, 2], 0, False)],
    differentiable=False,
    second=False,
    batchable=False,
    dtypes=WIDE,
)
record(
    "nn.ctc_loss",
    lambda T, x, labels: T.nn.functional.ctc_loss(
        T.log_softmax(x, -1), labels, T.tensor([6, 6]), T.tensor([3, 3])
    ),
    (A(6, 2, 4), N(2, 3, low=1, high=4)),
    differentiable=False,
    second=False,
    batchable=False,
    dtypes=WIDE,
)
