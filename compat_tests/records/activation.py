"""Activations of neural networks."""

from __future__ import annotations

from typing import Any

from .base import REAL, A, D, record
from .special import of_one


def function(name: str, jax: Any, *statics: Any, covers: str = "", **kw: Any) -> None:
    """A record of ``torch.nn.functional.NAME(x, ...)``."""
    limits = {k: kw.pop(k) for k in ("low", "high", "away") if k in kw}
    record(
        f"nn.{name}",
        lambda T, x, *rest: getattr(T.nn.functional, name)(x, *rest),
        *[(*sample, *statics) for sample in of_one(**limits)],
        jax=jax,
        covers=covers or f"{name}_of",
        **kw,
    )


def written(name: str, jax: Any, *statics: Any, covers: str = "", **kw: Any) -> None:
    """A record of the function written over a copy of its input."""
    limits = {k: kw.pop(k) for k in ("low", "high", "away") if k in kw}
    record(
        f"nn.{name}.inplace",
        lambda T, x, *rest: getattr(T.nn.functional, name)(x.clone(), *rest, inplace=True),
        *[(*sample, *statics) for sample in of_one(**limits)],
        jax=jax,
        covers=covers,
        **kw,
    )


def _elu(J: Any, x: Any, alpha: float) -> Any:
    return J.where(x > 0, x, alpha * J.expm1(J.minimum(x, 0)))


def _celu(J: Any, x: Any, alpha: float) -> Any:
    return J.where(x > 0, x, alpha * J.expm1(J.minimum(x, 0) / alpha))


def _selu(J: Any, x: Any) -> Any:
    return J.nn.selu(x)


def _softplus(J: Any, x: Any, beta: float, threshold: float) -> Any:
    return J.where(x * beta > threshold, x, J.logaddexp(x * beta, 0) / beta)


def _hardshrink(J: Any, x: Any, lambd: float) -> Any:
    return J.where(J.abs(x) <= lambd, 0.0, x)


def _softshrink(J: Any, x: Any, lambd: float) -> Any:
    return J.where(J.abs(x) <= lambd, 0.0, x - J.sign(x) * lambd)


def _threshold(J: Any, x: Any, threshold: float, value: float) -> Any:
    return J.where(x <= threshold, value, x)


def _leaky(J: Any, x: Any, slope: float) -> Any:
    return J.where(x > 0, x, slope * x)


def _clip(J: Any, x: Any, low: float, high: float) -> Any:
    return J.clip(x, low, high)


def _rrelu(J: Any, x: Any, lower: float, upper: float) -> Any:
    return J.where(x > 0, x, x * (lower + upper) / 2)


AWAY: dict[str, Any] = {"away": 0.1}

for _make, _over in ((function, False), (written, True)):
    _last = "over" if _over else "of"
    _make("elu", _elu, 0.7, covers=f"elu_{_last}", **AWAY)
    _make("celu", _celu, 0.75, covers=f"celu_{_last}", **AWAY)
    _make("selu", _selu, covers=f"elu_{_last}", **AWAY)
    _make("hardtanh", _clip, -0.5, 1.5, covers="hardtanh_of")
    _make("relu6", lambda J, x: J.clip(x, 0, 6), covers="hardtanh_of", **AWAY)
    _make("threshold", _threshold, 0.5, 2.0, covers=f"threshold_{_last}")
    _make("silu", lambda J, x: J.nn.silu(x), covers="silu silu_backward", dtypes=REAL)
    _make("mish", lambda J, x: J.nn.mish(x), covers="mish_of")
    _make("hardswish", lambda J, x: x * J.clip(x + 3, 0, 6) / 6, covers="hardswish_of", low=-4)
written("leaky_relu", _leaky, 0.1, covers="leaky_relu_over", **AWAY)
function("softshrink", _softshrink, 0.5)
function("softplus", _softplus, 2.0, 3.0, covers="softplus")
function("logsigmoid", lambda J, x: J.nn.log_sigmoid(x), covers="log_sigmoid")
function("tanhshrink", lambda J, x: x - J.tanh(x), covers="tanh")
function("softsign", lambda J, x: x / (1 + J.abs(x)), covers="abs", **AWAY)
record(
    "nn.silu.complex",  # PyTorch computes it without a gradient only
    lambda T, x: T.nn.functional.silu(x),
    D(3, 4),
    differentiable=False,
    dtypes=("complex128", "complex64"),
)
for _inplace in (False, True):  # PyTorch has no second derivative
    record(
        f"nn.hardsigmoid.{_inplace}",
        lambda T, x, over=_inplace: T.nn.functional.hardsigmoid(x.clone() if over else x, over),
        D(3, 4, low=-4, high=4),
        D(low=-4, high=4),
        D(3, 4, lay="t", low=-4, high=4),
        covers="hardsigmoid_of",
        differentiable=False,
    )
record(
    "hardshrink",
    lambda T, x, lambd: T.hardshrink(x, lambd),
    (A(3, 4), 0.5),
    (A(), 0.2),
    (A(3, 4, lay="t"), 0.5),
    jax=_hardshrink,
    covers="hardshrink_of",
    out=True,
)
for _name, _twin in (("celu", lambda J, x: J.nn.celu(x)), ("selu", _selu)):
    record(
        _name,
        lambda T, x, name=_name: getattr(T, name)(x),
        *of_one(**AWAY),
        jax=_twin,
    )
record(
    "threshold",
    lambda T, x, t, value: T.threshold(x, t, value),
    (A(3, 4), 0.5, 2),
    (A(), 0.2, 1),
    jax=_threshold,
)
record(
    "rrelu",
    lambda T, x, lower, upper: T.rrelu(x, lower, upper),
    (A(3, 4, away=0.1), 0.1, 0.4),
    (A(away=0.1), 0.2, 0.2),
    (A(3, 4, lay="t", away=0.1), 0.1, 0.4),
    jax=_rrelu,
    covers="rrelu_with_noise",
    batchable=False,
    bad=[(A(3), 0.5, 0.1)],
)
record(
    "rrelu_",
    lambda T, x, lower, upper: T.rrelu_(x.clone(), lower, upper),
    (A(3, 4, away=0.1), 0.1, 0.4),
    (A(3, 4, lay="t", away=0.1), 0.1, 0.4),
    jax=_rrelu,
    covers="rrelu_over",
    batchable=False,
)


def _seeded(T: Any, x: Any, inplace: bool) -> Any:
    T.manual_seed(5)
    x = x.clone() if inplace else x
    return T.nn.functional.rrelu(x, 0.1, 0.4, True, inplace)


record(
    "nn.rrelu.training",
    _seeded,
    (A(3, 4, away=0.1), False),
    (A(3, 4, away=0.1), True),
    (A(3, 4, lay="t", away=0.1), False),
    differentiable=False,
    batchable=False,
)
record(
    "prelu",
    lambda T, x, w: T.prelu(x, w),
    (A(2, 3, 4, away=0.1), A(3)),
    (A(3, 4, away=0.1), A(1)),
    (A(away=0.1), A()),
    (A(3, 4, lay="t", away=0.1), A(4)),
    jax=lambda J, x, w: J.where(
        x > 0, x, x * (w.reshape(1, -1, *(1,) * (x.ndim - 2)) if x.ndim > 1 else w.reshape(x.shape))
    ),
    covers="prelu_kernel",
    bad=[(A(3, 4), A(3)), (A(3, 4), A(2, 2))],
)


def _glu(J: Any, x: Any, dim: int) -> Any:
    first, second = J.split(x, 2, dim)
    return first * J.nn.sigmoid(second)


record(
    "nn.glu",
    lambda T, x, dim: T.nn.functional.glu(x, dim),
    (A(3, 4), -1),
    (A(4, 3), 0),
    (A(3, 4, lay="t"), 1),
    (A(2, 4, 3, lay="p"), 1),
    jax=_glu,
    covers="glu_dim",
    bad=[(A(3), 0), (A(), 0)],
)
record(
    "nn.softmin",
    lambda T, x, dim: T.nn.functional.softmin(x, dim=dim),
    (A(3, 4), 1),
    (A(3, 4, lay="t"), 1),
    jax=lambda J, x, dim: J.nn.softmax(-x, dim),
)


def _gumbel(T: Any, x: Any, hard: bool) -> Any:
    T.manual_seed(5)
    return T.nn.functional.gumbel_softmax(x, 0.7, hard)


record(
    "nn.gumbel_softmax",
    _gumbel,
    (A(3, 4), False),
    (A(3, 4), True),
    differentiable=False,
    batchable=False,
)


def _normalize(J: Any, x: Any, p: float, dim: int) -> Any:
    size = (J.abs(x) ** p).sum(dim, keepdims=True) ** (1 / p)
    return x / J.maximum(size, 1e-12)


record(
    "nn.normalize",
    lambda T, x, p, dim: T.nn.functional.normalize(x, p, dim),
    (A(3, 4, away=0.1), 2.0, 1),
    (A(3, 4, away=0.1), 3.0, 0),
    (A(3, 4, lay="t", away=0.1), 2.0, -1),
    jax=_normalize,
)


def _cosine(J: Any, x: Any, y: Any, dim: int) -> Any:
    sizes = J.sqrt((x * x).sum(dim)) * J.sqrt((y * y).sum(dim))
    return (x * y).sum(dim) / sizes


record(
    "cosine_similarity",
    lambda T, x, y, dim: T.cosine_similarity(x, y, dim),
    (A(3, 4), A(3, 4), 1),
    (A(3, 4), A(3, 4), 0),
    (A(3, 4, lay="t"), A(1, 4), 1),
    jax=_cosine,
    bad=[(A(3, 4), A(3), 0)],
)
record(
    "pairwise_distance",
    lambda T, x, y, p: T.pairwise_distance(x, y, p),
    (A(3, 4), A(3, 4), 2.0),
    (A(3, 4), A(4), 3.0),
    (A(4), A(4), 1.0),
    jax=lambda J, x, y, p: (J.abs(x - y + 1e-6) ** p).sum(-1) ** (1 / p),
    covers="norm_of_rows",
)
