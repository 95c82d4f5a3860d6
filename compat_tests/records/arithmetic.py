"""Arithmetic, powers, comparison, logic and selection: operations of several tensors."""

from __future__ import annotations

from typing import Any

from .base import A, M, binary_samples, record

WRONG = [(A(3), A(4)), (A(2, 3), A(2, 2))]


def binary(name: str, jax: str | None = "", **kw: Any) -> None:
    """A record of ``torch.NAME(x, y)``: the JAX twin has the same name if not given."""
    limits = {k: kw.pop(k) for k in ("low", "high", "away") if k in kw}
    twin = name if jax == "" else jax
    kw.setdefault("in_place", f"{name}_")
    kw.setdefault("out", True)
    only = kw.pop("only", None)
    samples = [s for s in binary_samples(**limits) if only is None or only(s)]
    record(
        name,
        lambda T, x, y: getattr(T, name)(x, y),
        *samples,
        jax=None if twin is None else lambda J, x, y: getattr(J, twin)(x, y),
        covers=name,
        bad=kw.pop("bad", WRONG),
        **kw,
    )


def tensors(sample: Any) -> bool:
    """For operations that take no numbers."""
    return not isinstance(sample[1], (int, float))


binary("add", bad=[*WRONG, ("a", A(3)), (A(3), None)])
binary("sub", "subtract", names="subtract")
binary("mul", "multiply", names="multiply")
binary("div", "divide", names="divide true_divide", away=0.3)
binary("floor_divide", None, differentiable=False, away=0.3)
binary("remainder", low=0.3, high=3)
binary("fmod", low=0.3, high=3)
binary("maximum", only=tensors, in_place=None)
binary("minimum", only=tensors, in_place=None)
binary("atan2", "arctan2", names="arctan2", only=tensors, away=0.2)

record(
    "add.alpha",
    lambda T, x, y, a: T.add(x, y, alpha=a),
    (A(3, 4), A(4), 2),
    (A(), A(), 3),
    (A(2, 3), 1.5, 2),
    (A(2, 3, lay="t"), A(2, 3), 0.5),
    jax=lambda J, x, y, a: x + a * y,
    covers="add_scaled",
    out=True,
)
record(
    "sub.alpha",
    lambda T, x, y, a: T.sub(x, y, alpha=a),
    (A(3, 4), A(4), 2),
    (A(), A(), 3),
    (A(2, 3), 1.5, 2),
    (A(2, 3, lay="t"), A(2, 3), 0.5),
    jax=lambda J, x, y, a: x - a * y,
    covers="sub_scaled",
    out=True,
)
record(
    "rsub",
    lambda T, x, n: n - x,
    (A(3, 4), 1.5),
    (A(), 2),
    (A(2, 3, lay="t"), 1),
    jax=lambda J, x, n: n - x,
    covers="rsub",
)
record(
    "rdiv",
    lambda T, x, n: n / x,
    (A(3, 4, away=0.3), 1.5),
    (A(away=0.3), 2),
    (A(2, 3, lay="t", away=0.3), 1),
    jax=lambda J, x, n: n / x,
)
record("radd", lambda T, x, n: n + x, (A(3, 4), 1.5), (A(), 2), jax=lambda J, x, n: n + x)
record("rmul", lambda T, x, n: n * x, (A(3, 4), 1.5), (A(), 2), jax=lambda J, x, n: n * x)
record(
    "operators",
    lambda T, x, y: (-x + y * 2 - x / 3) * (x @ y.T @ x),
    (A(3, 4), A(3, 4)),
    jax=lambda J, x, y: (-x + y * 2 - x / 3) * (x @ y.T @ x),
)

# --- powers ---------------------------------------------------------------------------------------

record(
    "pow.scalar",
    lambda T, x, n: T.pow(x, n),
    *[(A(3, 4, low=0.2), n) for n in (2, 3, 0.5, -1, 2.5, 0, 1, -2, 4, -0.5)],
    (A(low=0.2), 3),
    (A(low=0.2), 2.5),
    (A(3, 4, lay="t", low=0.2), 2),
    (A(3, 4, lay="s", low=0.2), 1.5),
    (A(0, 2), 2),
    jax=lambda J, x, n: J.power(x, n),
    covers="pow_scalar",
    names="pow",
    in_place="pow_",
)
record(
    "pow.tensor",
    lambda T, x, y: T.pow(x, y),
    *[s for s in binary_samples(low=0.2, high=2.5) if tensors(s)],
    jax=lambda J, x, y: J.power(x, y),
    covers="pow_tensor",
    in_place="pow_",
    bad=WRONG,
)
record(
    "pow.of_scalar",
    lambda T, y, x: T.pow(x, y),
    (A(3, 4), 2.5),
    (A(), 2),
    (A(3, 4, lay="t"), 3),
    (A(2, 2), 1),
    jax=lambda J, y, x: J.power(x, y),
    covers="pow_of_scalar",
)
record("rpow", lambda T, y, x: x**y, (A(3, 4), 2.5), (A(), 2), jax=lambda J, y, x: x**y)

# --- comparison and logic -------------------------------------------------------------------------

for _name, _alias in (
    ("eq", ""),
    ("ne", "not_equal"),
    ("lt", "less"),
    ("le", "less_equal"),
    ("gt", "greater"),
    ("ge", "greater_equal"),
):
    binary(_name, None, names=_alias, differentiable=False)
for _name in ("logical_and", "logical_or", "logical_xor"):
    binary(_name, None, differentiable=False, only=tensors)
WHOLE = ("int64", "uint8", "bool", "int8", "float32", "complex64")
for _name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    binary(_name, None, differentiable=False, low=0, high=3, dtypes=WHOLE)

# --- selection ------------------------------------------------------------------------------------

record(
    "where",
    lambda T, c, x, y: T.where(c, x, y),
    (M(3, 4), A(3, 4), A(3, 4)),
    (M(), A(), A()),
    (M(3, 1), A(4), A(3, 4)),
    (M(3, 4), A(3, 4), 1.5),
    (M(3, 4), 2, A(3, 4)),
    (M(2, 3, 4), A(4), A(2, 3, 4, lay="p")),
    (M(3, 4), A(3, 4, lay="t"), A(3, 4, lay="t")),
    (M(3, 4, lay="t"), A(3, 4, lay="t"), A()),
    (M(0, 4), A(4), A(1, 4)),
    jax=lambda J, c, x, y: J.where(c, x, y),
    covers="where_select",
    bad=[(M(3), A(4), A(4)), (A(3), A(3), A(3))],
)
