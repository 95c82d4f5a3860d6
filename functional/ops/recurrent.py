"""Recurrent layers: one operation for all steps of a layer in one direction.

The way back is a kernel where numbers are plain arrays. As tensors (for second derivatives and
transforms) it is the same walk in differentiable operations, under the same name. What it needs of
the forward pass, the gates and cells of all steps, are results of the operation too, with gradients
of their own.
"""

from __future__ import annotations

from typing import Any

from ..tape.declare import general


def _listed(g: Any, count: int) -> list[Any]:
    return list(g) if type(g) is list else [g, *[None] * (count - 1)]


def _needed(grads: Any, need: Any) -> list[Any]:
    return [g if wanted else None for g, wanted in zip(grads, need, strict=True)]


# --- LSTM -----------------------------------------------------------------------------------------


def _lstm_vjp(
    F: Any, g: Any, need: Any, x: Any, h0: Any, c0: Any, w_ih: Any, w_hh: Any, w_hr: Any,
    sizes: Any, reverse: bool, result: Any, result3: Any, result4: Any,
) -> Any:  # fmt: skip
    saved = (x, h0, c0, w_ih, w_hh, w_hr, result, result3, result4)
    return _needed(F.lstm_backward(_listed(g, 5), *saved, sizes, reverse), need)


def _lstm_shape(
    x: Any, h0: Any, c0: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, w_hr: Any, *rest: Any
) -> Any:
    n, h = x.shape[0], c0.shape[1]
    shapes = ((n, h0.shape[1]), h0.shape, c0.shape, (4 * n * h,), (n, h))
    return [(shape, x.dtype) for shape in shapes]


lstm_layer = general(
    "lstm_layer",
    joint=_lstm_vjp,
    inputs=("x", "h0", "c0", "w_ih", "w_hh", "b_ih", "b_hh", "w_hr"),
    statics=("sizes", "reverse"),
    node="MkldnnRnnLayerBackward0",
    shape=_lstm_shape,
)

# --- GRU ------------------------------------------------------------------------------------------


def _gru_vjp(
    F: Any, g: Any, need: Any, x: Any, h0: Any, w_ih: Any, w_hh: Any,
    sizes: Any, reverse: bool, result: Any, result2: Any, result3: Any,
) -> Any:  # fmt: skip
    saved = (x, h0, w_ih, w_hh, result, result2, result3)
    return _needed(F.gru_backward(_listed(g, 4), *saved, sizes, reverse), need)


def _gru_shape(x: Any, h0: Any, *rest: Any) -> Any:
    n, h = x.shape[0], h0.shape[1]
    return [(shape, x.dtype) for shape in ((n, h), h0.shape, (3 * n * h,), (n, h))]


gru_layer = general(
    "gru_layer",
    joint=_gru_vjp,
    inputs=("x", "h0", "w_ih", "w_hh", "b_ih", "b_hh"),
    statics=("sizes", "reverse"),
    shape=_gru_shape,
)

# --- the plain network ----------------------------------------------------------------------------


def _rnn_vjp(
    F: Any, g: Any, need: Any, x: Any, h0: Any, w_ih: Any, w_hh: Any,
    relu: bool, sizes: Any, reverse: bool, result: Any,
) -> Any:  # fmt: skip
    saved = (x, h0, w_ih, w_hh, result)
    return _needed(F.rnn_backward(_listed(g, 2), *saved, relu, sizes, reverse), need)


rnn_layer = general(
    "rnn_layer",
    joint=_rnn_vjp,
    inputs=("x", "h0", "w_ih", "w_hh", "b_ih", "b_hh"),
    statics=("relu", "sizes", "reverse"),
    shape=lambda x, h0, *rest: [
        ((x.shape[0], h0.shape[1]), x.dtype),
        (h0.shape, x.dtype),
    ],
)

# --- packing --------------------------------------------------------------------------------------

pack_rows = general(
    "pack_rows",
    lambda F, g, self_shape, sizes: F.unpack_rows(g, self_shape, sizes),
    statics=("sizes",),
    node="PackPaddedSequenceBackward0",
    jvp="linear",
    shape=lambda x, sizes: ((sum(sizes), *x.shape[2:]), x.dtype),
)
general(
    "unpack_rows",
    lambda F, g, sizes: F.pack_rows(g, sizes),
    statics=("shape", "sizes"),
    jvp="linear",
    shape=lambda g, shape, sizes: (shape, g.dtype),
)
