"""Records of dropout."""

from __future__ import annotations

from typing import Any

from .base import FLOATS, A, M, record


def _seeded(name: str, *where: str) -> Any:
    def call(T: Any, x: Any, p: float, train: bool) -> Any:
        T.manual_seed(5)
        home = T.nn.functional if where else T
        return getattr(home, name)(x, p, train)

    return call


for _name in ("feature_dropout", "alpha_dropout", "feature_alpha_dropout"):
    record(
        _name,
        _seeded(_name),
        (A(3, 4, 2), 0.5, True),
        (A(3, 4), 0.25, True),
        (A(3, 4), 1.0, True),
        (A(3, 4), 0.5, False),
        differentiable=False,
        batchable=False,
        bad=[(A(3, 4), 1.5, True)],
        dtypes=FLOATS,
    )
for _name, _x in (
    ("dropout1d", A(3, 4)), ("dropout2d", A(2, 3, 2, 2)), ("dropout3d", A(2, 3, 2, 2)),
    ("alpha_dropout", A(3, 4)), ("feature_alpha_dropout", A(2, 3, 2)),
):  # fmt: skip
    record(
        f"nn.{_name}",
        _seeded(_name, "nn"),
        (_x, 0.5, True),
        (_x, 0.25, False),
        differentiable=False,
        batchable=False,
        bad=[(_x, 1.5, True)],
        dtypes=FLOATS,
    )
record(
    "native_dropout",
    _seeded("native_dropout"),
    (A(3, 4), 0.5, True),
    (A(3, 4), 0.5, False),
    (A(3, 4), 1.0, True),
    covers="native_dropout_of",
    differentiable=False,
    batchable=False,
    dtypes=FLOATS,
)
record(
    "internal.native_dropout_backward",
    lambda T, g, m: T.native_dropout_backward(g, m, 2.0),
    (A(3, 4), M(3, 4)),
    jax=lambda J, g, m: J.where(m, g * 2, 0.0),
    names="native_dropout_backward",
    internal=True,
)
