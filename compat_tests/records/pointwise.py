"""Pointwise operations of one tensor, and activations."""

from __future__ import annotations

from typing import Any

from .base import A, M, record, unary_samples


def unary(name: str, jax: str | None = "", **kw: Any) -> None:
    """A record of ``torch.NAME(x)``: the JAX twin has the same name if not given."""
    limits = {k: kw.pop(k) for k in ("low", "high", "away") if k in kw}
    twin = name if jax == "" else jax
    kw.setdefault("in_place", f"{name}_")
    kw.setdefault("out", True)
    record(
        name,
        lambda T, x: getattr(T, name)(x),
        *unary_samples(**limits),
        jax=None if twin is None else lambda J, x: getattr(J, twin)(x),
        covers=kw.pop("covers", name),
        **kw,
    )


POSITIVE = {"low": 0.2, "high": 3.0}

unary("neg", "negative", names="negative")
unary("reciprocal", low=-2, away=0.3)
unary("exp")
unary("expm1")
unary("log", **POSITIVE)
unary("log1p", low=-0.7)
unary("log2", **POSITIVE)
unary("log10", **POSITIVE)
unary("sqrt", **POSITIVE)
record(
    "rsqrt",
    lambda T, x: T.rsqrt(x),
    *unary_samples(**POSITIVE),
    covers="rsqrt",
    jax=lambda J, x: 1 / J.sqrt(x),
    in_place="rsqrt_",
    out=True,
)
unary("sin")
unary("cos")
unary("tan", low=-1, high=1)
unary("sinh")
unary("cosh")
unary("asin", "arcsin", names="arcsin", low=-0.9, high=0.9)
unary("acos", "arccos", names="arccos", low=-0.9, high=0.9)
unary("atan", "arctan", names="arctan")
unary("tanh", covers="tanh tanh_backward")
record(
    "sigmoid",
    lambda T, x: T.sigmoid(x),
    *unary_samples(),
    covers="sigmoid sigmoid_backward",
    jax=lambda J, x: J.nn.sigmoid(x),
    in_place="sigmoid_",
    out=True,
)
record(
    "relu",
    lambda T, x: T.relu(x),
    *unary_samples(away=0.1),
    covers="relu threshold_backward",
    jax=lambda J, x: J.nn.relu(x),
    in_place="relu_",
)
record(
    "nn.relu",
    lambda T, x: T.nn.functional.relu(x),
    *unary_samples(away=0.1),
    jax=lambda J, x: J.nn.relu(x),
)
unary("abs", names="absolute", away=0.2)
unary("sign", away=0.2)
unary("sgn", "sign", away=0.2)
unary("floor")
unary("ceil")
unary("trunc", names="fix")
unary("round")
record(
    "square",
    lambda T, x: T.square(x),
    *unary_samples(),
    jax=lambda J, x: J.square(x),
    in_place="square_",
    out=True,
)

for _name in ("isnan", "isinf", "isfinite"):
    unary(_name, None, in_place=None, out=False, differentiable=False)
unary("logical_not", None, differentiable=False)
unary("bitwise_not", None, differentiable=False)

record(
    "clamp",
    lambda T, x, low, high: T.clamp(x, low, high),
    (A(3, 4), -0.5, 1.25),
    (A(), None, 0.5),
    (A(3, 4, lay="t"), -1, None),
    (A(2, 3), 0, 1),
    (A(2, 3), 1.0, -1.0),
    (A(0, 2), 0.0, 1.0),
    (A(3, 4), A(4), A(3, 1, low=2.0, high=3.0)),
    (A(3, 4), A(3, 4), None),
    (A(3, 4), None, A(4)),
    jax=lambda J, x, low, high: J.clip(x, low, high),
    covers="clamp_scalar",
    names="clip",
    in_place="clamp_",
    out=True,
    bad=[(A(3), None, None)],
)
record(
    "leaky_relu",
    lambda T, x, slope: T.nn.functional.leaky_relu(x, slope),
    (A(3, 4), 0.01),
    (A(), 0.2),
    (A(3, 4, lay="t"), 0.1),
    jax=lambda J, x, slope: J.nn.leaky_relu(x, slope),
    covers="leaky_relu",
)
record(
    "masked_fill",
    lambda T, x, mask, value: T.masked_fill(x, mask, value),
    (A(3, 4), M(3, 4), 1.5),
    (A(), M(), 2),
    (A(3, 4), M(4), -1.0),
    (A(3, 1), M(4), 0),
    (A(3, 4, lay="t"), M(3, 1), 1),
    (A(3, 4), M(3, 4), A()),
    jax=lambda J, x, mask, value: J.where(mask, value, x),
    covers="masked_fill_value",
    in_place="masked_fill_",
    bad=[(A(3), A(3), 1.0), (A(3), M(2), 1.0), (A(3), M(3), A(3))],
)
