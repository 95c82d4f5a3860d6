"""One layer of a recurrent network, in one direction, over all steps.

Rows are packed: step after step, ``sizes[t]`` rows each, as in PyTorch's packed sequences;
sequences of equal length are the case where all sizes are equal. Sizes never grow. A state has a
row for every sequence; each step uses and renews the first ``sizes[t]``. Backwards in time
(``reverse``) longer sequences come first, and a shorter one joins at its own last step.

Gates lie side by side in PyTorch's order: input, forget, cell, output (LSTM); reset, update, new
(GRU).
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np
from numpy import ndarray

from .half import narrow, widen

__all__ = ["gru_layer", "lstm_layer", "pack_rows", "rnn_layer", "unpack_rows"]


def steps(sizes: tuple[int, ...], reverse: bool) -> list[tuple[int, int]]:
    """First and last row of each step, in the order the steps are taken."""
    ends = list(accumulate(sizes))
    spans = [(end - n, end) for end, n in zip(ends, sizes, strict=True)]
    return spans[::-1] if reverse else spans


def _wide(*arrays: Any) -> list[Any]:
    return [None if a is None else widen(a) for a in arrays]


def _projected(x: ndarray, weight: ndarray, *biases: ndarray | None) -> ndarray:
    """What the inputs of all steps add to the gates, in one product."""
    z = x @ weight.T
    for bias in biases:
        if bias is not None:
            z += bias
    return z


def _gate_scales(hidden: int, parts: int, at: int, dtype: Any) -> tuple[ndarray, ndarray]:
    """Factors and offsets that make a sigmoid of a tanh for all parts but the one at ``at``.

    sigmoid(x) = tanh(x / 2) / 2 + 1 / 2, so one call of tanh serves all gates.
    """
    scale = np.full(parts * hidden, 0.5, dtype)
    offset = np.full(parts * hidden, 0.5, dtype)
    scale[at * hidden : (at + 1) * hidden] = 1
    offset[at * hidden : (at + 1) * hidden] = 0
    return scale, offset


def _squash(z: ndarray, scale: ndarray, offset: ndarray) -> None:
    """Gates from their sums, in place."""
    z *= scale
    np.tanh(z, out=z)
    z *= scale
    z += offset


def lstm_layer(
    x: ndarray,
    h0: ndarray,
    c0: ndarray,
    w_ih: ndarray,
    w_hh: ndarray,
    b_ih: ndarray | None,
    b_hh: ndarray | None,
    w_hr: ndarray | None,
    sizes: tuple[int, ...],
    reverse: bool,
) -> tuple[ndarray, ...]:
    """Outputs (N, P), last hidden (B, P) and cell state (B, H), gates (N, 4H), cells (N, H)."""
    dtype = x.dtype
    x, h0, c0, w_ih, w_hh, b_ih, b_hh, w_hr = _wide(x, h0, c0, w_ih, w_hh, b_ih, b_hh, w_hr)
    n = c0.shape[1]
    gates = _projected(x, w_ih, b_ih, b_hh)
    out, cells = np.empty((len(x), h0.shape[1]), x.dtype), np.empty((len(x), n), x.dtype)
    h, c, w = h0.copy(), c0.copy(), np.ascontiguousarray(w_hh.T)
    squash = _gate_scales(n, 4, 2, x.dtype)
    for start, end in steps(sizes, reverse):
        z, rows = gates[start:end], end - start
        state, cell = h[:rows], c[:rows]
        z += state @ w
        _squash(z, *squash)
        cell *= z[:, n : 2 * n]
        cell += z[:, :n] * z[:, 2 * n : 3 * n]
        cells[start:end] = cell
        made = np.tanh(cell)
        made *= z[:, 3 * n :]
        state[...] = made if w_hr is None else made @ w_hr.T
        out[start:end] = state
    return tuple(narrow(a, dtype) for a in (out, h, c, gates, cells))


def gru_layer(
    x: ndarray,
    h0: ndarray,
    w_ih: ndarray,
    w_hh: ndarray,
    b_ih: ndarray | None,
    b_hh: ndarray | None,
    sizes: tuple[int, ...],
    reverse: bool,
) -> tuple[ndarray, ...]:
    """Outputs (N, H), last state (B, H), gates (N, 3H), and the state's part of the new gate."""
    dtype = x.dtype
    x, h0, w_ih, w_hh, b_ih, b_hh = _wide(x, h0, w_ih, w_hh, b_ih, b_hh)
    n = h0.shape[1]
    gates = _projected(x, w_ih, b_ih)
    out, part = (np.empty((len(x), n), x.dtype) for _ in range(2))
    h, w = h0.copy(), np.ascontiguousarray(w_hh.T)
    squash = _gate_scales(2 * n, 1, 1, x.dtype)
    for start, end in steps(sizes, reverse):
        z, state = gates[start:end], h[: end - start]
        recurrent = state @ w
        if b_hh is not None:
            recurrent += b_hh
        z[:, : 2 * n] += recurrent[:, : 2 * n]
        _squash(z[:, : 2 * n], *squash)
        part[start:end] = recurrent[:, 2 * n :]
        new = z[:, 2 * n :]
        new += z[:, :n] * part[start:end]
        np.tanh(new, out=new)
        state -= new
        state *= z[:, n : 2 * n]
        state += new
        out[start:end] = state
    return tuple(narrow(a, dtype) for a in (out, h, gates, part))


def rnn_layer(
    x: ndarray,
    h0: ndarray,
    w_ih: ndarray,
    w_hh: ndarray,
    b_ih: ndarray | None,
    b_hh: ndarray | None,
    relu: bool,
    sizes: tuple[int, ...],
    reverse: bool,
) -> tuple[ndarray, ...]:
    """Outputs (N, H) and last state (B, H) of the plain network, with tanh or relu."""
    dtype = x.dtype
    x, h0, w_ih, w_hh, b_ih, b_hh = _wide(x, h0, w_ih, w_hh, b_ih, b_hh)
    out = _projected(x, w_ih, b_ih, b_hh)
    h, w = h0.copy(), np.ascontiguousarray(w_hh.T)
    for start, end in steps(sizes, reverse):
        z, state = out[start:end], h[: end - start]
        z += state @ w
        if relu:
            np.maximum(z, 0, out=z)
        else:
            np.tanh(z, out=z)
        state[...] = z
    return narrow(out, dtype), narrow(h, dtype)


def pack_rows(x: ndarray, sizes: tuple[int, ...]) -> ndarray:
    """The first ``sizes[t]`` rows of each ``x[t]``, one step after the other."""
    return np.concatenate([step[:n] for step, n in zip(x, sizes, strict=False)])


def unpack_rows(g: ndarray, shape: tuple[int, ...], sizes: tuple[int, ...]) -> ndarray:
    """Packed rows back in their places in an array of zeros; the derivative of ``pack_rows``."""
    z, at = np.zeros(shape, g.dtype), 0
    for step, n in zip(z, sizes, strict=False):
        step[:n] = g[at : at + n]
        at += n
    return z
