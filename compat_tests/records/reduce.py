"""Reductions, running sums, and everything that picks extremes."""

from __future__ import annotations

from typing import Any

from .base import REAL, A, In, Sample, record

DIMS: list[Any] = [1, (0, 2), -1, (0, 1, 2), ()]


def along(*dims: Any, **kw: Any) -> list[Sample]:
    """Shapes and layouts for ``f(x, dim, keepdim)``."""

    def a(*shape: int, lay: str = "c") -> In:
        return A(*shape, lay=lay, **kw)

    samples: list[Sample] = [(a(2, 3, 4), d, i % 2 == 1) for i, d in enumerate(dims)]
    samples += [(a(), dims[0] if dims[0] in (0, -1) else -1, False)]
    samples += [(a(3, 4, lay="t"), 0, False), (a(3, 4, lay="t"), 1, True)]
    samples += [(a(2, 3, 4, lay="p"), 1, False), (a(3, 4, lay="s"), -1, False)]
    samples += [(a(3, 4, lay="e"), 0, True), (a(2, 1, 3), 1, False), (a(2, 0, 3), 2, False)]
    return samples


WHOLE = [A(3, 4), A(), A(2, 3, 4, lay="p"), A(3, 4, lay="t"), A(3, 4, lay="s"), A(3, 4, lay="e")]
RANGE = [(A(2, 3), 2, False), (A(2, 3), (0, 0), False)]

record("sum", lambda T, x: T.sum(x), *WHOLE, A(0, 3), jax=lambda J, x: J.sum(x), covers="sum_all")
record(
    "sum.dim",
    lambda T, x, d, k: T.sum(x, d, k),
    *along(*DIMS),
    (A(2, 0, 3), 1, False),
    jax=lambda J, x, d, k: J.sum(x, d or None, keepdims=k),
    covers="sum_dims",
    out=True,
    bad=RANGE,
)
record("sum.dtype", lambda T, x: T.sum(x, dtype=T.float64), *WHOLE[:2], jax=lambda J, x: J.sum(x))
record(
    "mean", lambda T, x: T.mean(x), *WHOLE, A(0, 3), jax=lambda J, x: J.mean(x), covers="mean_all"
)
record(
    "mean.dim",
    lambda T, x, d, k: T.mean(x, d, k),
    *along(*DIMS),
    jax=lambda J, x, d, k: J.mean(x, d or None, keepdims=k),
    covers="mean_dims",
    out=True,
    bad=RANGE,
)
record(
    "var",
    lambda T, x, d, k: T.var(x, d, keepdim=k),
    *along(1, (0, 2), -1)[:3],
    *along(1)[2:-1],
    jax=lambda J, x, d, k: J.var(x, d, keepdims=k, ddof=1),
    covers="var_dims",
    out=True,
)
record(
    "var.whole",
    lambda T, x, c: T.var(x, correction=c),
    (A(3, 4), 0),
    (A(3, 4, lay="t"), 1),
    jax=lambda J, x, c: J.var(x, ddof=c),
)
record(
    "logsumexp",
    lambda T, x, d, k: T.logsumexp(x, d, k),
    *along(1, (0, 2), -1),
    jax=lambda J, x, d, k: J.nn.logsumexp(x, d, keepdims=k),
    covers="logsumexp_dims",
    out=True,
    bad=RANGE[:1],
)
record(
    "cumsum",
    lambda T, x, d: T.cumsum(x, d),
    (A(3, 4), 1),
    (A(), 0),
    (A(3, 4), 0),
    (A(3, 4, lay="t"), 1),
    (A(2, 3, 4, lay="p"), 1),
    (A(3, 4, lay="s"), 0),
    (A(0, 3), 0),
    (A(3, 4, lay="e"), -1),
    jax=lambda J, x, d: J.cumsum(x, d if x.ndim else None).reshape(x.shape),
    covers="cumsum_dim",
    in_place="cumsum_",
    out=True,
    bad=[(A(3), 1)],
)

# --- extremes; tied gradients are shared in amax and max() and not in max(dim) -------------------

APART: dict[str, Any] = {"distinct": True}
TIED = [A(3, 4, low=0.5, high=0.5, distinct=True)]

for _name in ("max", "min"):
    record(
        _name,
        lambda T, x, n=_name: getattr(T, n)(x),
        *[In(a.shape, a.layout, distinct=True) for a in WHOLE],
        *TIED,
        jax=lambda J, x, n=_name: getattr(J, n)(x),
        covers=f"{_name}_all",
        bad=[A(0, 3)],
    )
    record(
        f"{_name}.dim",
        lambda T, x, d, k, n=_name: getattr(T, n)(x, d, k),
        *along(1, -1, 0, **APART),
        jax=lambda J, x, d, k, n=_name: getattr(J, n)(x, d, keepdims=k),
        covers=f"{_name}_dim",
        bad=[*RANGE[:1], (A(2, 0), 1, False)],
    )
    record(
        f"{_name}.other",
        lambda T, x, y, n=_name: getattr(T, n)(x, y),
        (A(3, 4), A(4)),
        (A(), A()),
        jax=lambda J, x, y, n=_name: getattr(J, f"{n}imum")(x, y),
    )
    record(
        f"a{_name}",
        lambda T, x, d, k, n=f"a{_name}": getattr(T, n)(x, d, k),
        *along(1, (0, 2), -1, (), **APART),
        (TIED[0], 1, False),
        jax=lambda J, x, d, k, n=_name: getattr(J, n)(x, d or None, keepdims=k),
        covers=f"a{_name}_dims",
        out=True,
        bad=[*RANGE, (A(2, 0), 1, False)],
    )
    record(
        f"arg{_name}",
        lambda T, x, d, k, n=f"arg{_name}": getattr(T, n)(x, d, k),
        *along(1, -1, None, **APART),
        covers=f"arg{_name}_flat",
        differentiable=False,
        out=True,
        bad=[*RANGE[:1], (A(2, 0), 1, False), (A(0), None, False)],
    )

for _name in ("all", "any"):
    record(
        f"{_name}", lambda T, x, n=_name: getattr(T, n)(x), *WHOLE, A(0, 2), differentiable=False
    )
    record(
        f"{_name}.dim",
        lambda T, x, d, k, n=_name: getattr(T, n)(x, d, k),
        *along(1, (0, 2)),
        covers=f"{_name}_dims",
        differentiable=False,
        out=True,
        bad=RANGE[:1],
    )

record(
    "method.sum",
    lambda T, x: x.sum(1).sum() + x.mean() * x.max(),
    A(3, 4, distinct=True),
    jax=lambda J, x: x.sum() + x.mean() * x.max(),
    dtypes=REAL[:4],
)
