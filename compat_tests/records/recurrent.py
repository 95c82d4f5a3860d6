"""Recurrent layers as operations; PyTorch composes them differently, so only values compare."""

from __future__ import annotations

from typing import Any

from .base import A, In
from .internal import internal

EVEN, RAGGED = (2, 2, 2), (3, 2, 1)


def layers(gates: int, states: int, extra: tuple[Any, ...] = ()) -> list[Any]:
    """Samples (x, states, weights, biases): input 2, state 3, in both directions, packed too."""
    made = []
    for sizes, reverse, biases in ((EVEN, False, True), (RAGGED, True, True), (EVEN, True, False)):
        x, batch = A(sum(sizes), 2), sizes[0]
        weights = [A(gates * 3, 2, high=0.7, low=-0.7), A(gates * 3, 3, high=0.7, low=-0.7)]
        both: list[In | None] = [A(gates * 3), A(gates * 3)] if biases else [None, None]
        made.append((x, *[A(batch, 3)] * states, *weights, *both, *extra, sizes, reverse))
    return made


internal(
    "lstm_layer",
    lambda F, *a: F.lstm_layer(*a[:7], None, *a[7:]),
    *layers(4, 2),
    names="lstm lstm_cell",
    dtypes=("float64", "float32", "bfloat16"),
)
internal(
    "lstm_layer.projected",
    lambda F, x, h, *a: F.lstm_layer(x, h[:, :2], *a),
    *[(*s[:4], A(12, 2), *s[5:7], A(2, 3), *s[7:]) for s in layers(4, 2)],
    covers="lstm_layer",
    dtypes=("float64", "float32"),
)
internal(
    "gru_layer",
    lambda F, *a: F.gru_layer(*a),
    *layers(3, 1),
    names="gru gru_cell",
    dtypes=("float64", "float32", "bfloat16"),
)
for _relu in (False, True):
    internal(
        f"rnn_layer.{'relu' if _relu else 'tanh'}",
        lambda F, *a, relu=_relu: F.rnn_layer(*a[:6], relu, *a[6:]),
        *layers(1, 1),
        covers="rnn_layer",
        names=f"rnn_{'relu' if _relu else 'tanh'} rnn_{'relu' if _relu else 'tanh'}_cell",
        dtypes=("float64", "float32", "bfloat16"),
    )
internal("pack_rows", lambda F, x: F.pack_rows(x, RAGGED), A(3, 3, 2), A(3, 4, 2))
internal("unpack_rows", lambda F, g: F.unpack_rows(g, (3, 3, 2), RAGGED), A(6, 2))
