"""One layer of a recurrent network, in one direction, over all steps.

Rows are packed: step after step, ``sizes[t]`` rows each, as in PyTorch's packed sequences;
sequences of equal length are the case where all sizes are equal. Sizes never grow. A state has a
row for every sequence; each step uses and renews the first ``sizes[t]``. Backwards in time
(``reverse``) longer sequences come first, and a shorter one joins at its own last step.

Gates lie side by side in PyTorch's order: input, forget, cell, output (LSTM); reset, update, new
(GRU). Inside, everything is feature-major, a step's gates being (gates, rows): products then have
their long side first, which the BLAS shares among threads, and every gate is contiguous. What the
backward pass needs of all steps is kept so, one step after the other in flat memory (``Kept``).
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


def wide(*arrays: Any) -> list[Any]:
    """All arrays in a type to compute in."""
    return [None if a is None else widen(a) for a in arrays]


def part(kept: ndarray, width: int, start: int, end: int) -> ndarray:
    """What is kept of the step with rows ``start`` to ``end``: (width, rows)."""
    return kept[width * start : width * end].reshape(width, end - start)


def _projected(x: ndarray, weight: ndarray, *biases: ndarray | None) -> ndarray:
    """What the inputs of all steps add to the gates, in one product."""
    z = x @ weight.T
    known = [bias for bias in biases if bias is not None]
    if known:
        z += sum(known)
    return z


def _halved(weights: list[Any], first: int, last: int) -> list[Any]:
    """Weights whose sigmoid gates are halved: sigmoid(x) = tanh(x / 2) / 2 + 1 / 2."""
    made = []
    for w in weights:
        if w is not None:
            w = w.copy()
            w[:first] *= 0.5
            w[last:] *= 0.5
        made.append(w)
    return made


class _State:
    """The states of all sequences; those of the running ones are views of the last step's."""

    def __init__(self, first: ndarray) -> None:
        self.first, self.now = first, first[:, :0]
        self.last = first.copy()

    def of(self, rows: int) -> ndarray:
        """The states of the first ``rows`` sequences before a step."""
        known = self.now.shape[1]
        if rows < known:
            self.last[:, rows:known] = self.now[:, rows:]
            return self.now[:, :rows]
        if rows > known:
            return np.concatenate([self.now, self.first[:, known:rows]], 1)
        return self.now

    def end(self) -> ndarray:
        """The last states of all sequences, a row each."""
        self.last[:, : self.now.shape[1]] = self.now
        return np.ascontiguousarray(self.last.T)


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
    """Outputs (N, P), last hidden (B, P) and cell state (B, H); kept: gates (4H), cells (H).

    The gates that are sigmoids are kept as the tanh they are made of.
    """
    dtype, n = x.dtype, c0.shape[1]
    x, h0, c0, w_hr = wide(x, h0, c0, w_hr)
    w_ih, w_hh, b_ih, b_hh = _halved(wide(w_ih, w_hh, b_ih, b_hh), 2 * n, 3 * n)
    sums = _projected(x, w_ih, b_ih, b_hh)
    out = np.empty((len(x), h0.shape[1]), x.dtype)
    gates, cells = np.empty(4 * n * len(x), x.dtype), np.empty(n * len(x), x.dtype)
    hidden, cell = _State(np.ascontiguousarray(h0.T)), _State(np.ascontiguousarray(c0.T))
    spare = np.empty((n, len(h0)), x.dtype)
    for start, end in steps(sizes, reverse):
        rows = end - start
        z = np.matmul(w_hh, hidden.of(rows), out=part(gates, 4 * n, start, end))
        z += sums[start:end].T
        np.tanh(z, out=z)
        i, f, new, o = z.reshape(4, n, rows)
        before, c = cell.of(rows), part(cells, n, start, end)
        # f c + i new, with f and i still as tanh: half of (f c + c + i new + new)
        np.multiply(f, before, out=c)
        c += before
        made = np.multiply(i, new, out=spare[:, :rows])
        made += new
        c += made
        c *= 0.5
        cell.now = c
        made = np.tanh(c)
        h = o * made
        h += made
        h *= 0.5
        hidden.now = h if w_hr is None else w_hr @ h
        out[start:end] = hidden.now.T
    results = (out, hidden.end(), cell.end(), gates, cells)
    return tuple(narrow(a, dtype) for a in results)


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
    """Outputs (N, H), last state (B, H); kept: gates (3H), the state's part of the new gate (H)."""
    dtype, n = x.dtype, h0.shape[1]
    x, h0, b_new = wide(x, h0, None if b_hh is None else b_hh[2 * n :, None])
    w_ih, w_hh, b_ih, b_hh = _halved(wide(w_ih, w_hh, b_ih, b_hh), 2 * n, 3 * n)
    sums = _projected(x, w_ih, b_ih)
    if b_hh is not None:
        sums[:, : 2 * n] += b_hh[: 2 * n]
    out = np.empty((len(x), n), x.dtype)
    gates, parts = np.empty(3 * n * len(x), x.dtype), np.empty(n * len(x), x.dtype)
    state = _State(np.ascontiguousarray(h0.T))
    for start, end in steps(sizes, reverse):
        h = state.of(end - start)
        z, own = part(gates, 3 * n, start, end), part(parts, n, start, end)
        np.matmul(w_hh[: 2 * n], h, out=z[: 2 * n])
        z[: 2 * n] += sums[start:end, : 2 * n].T
        squashed = np.tanh(z[: 2 * n], out=z[: 2 * n])
        squashed *= 0.5
        squashed += 0.5
        np.matmul(w_hh[2 * n :], h, out=own)
        if b_new is not None:
            own += b_new
        new = np.multiply(z[:n], own, out=z[2 * n :])
        new += sums[start:end, 2 * n :].T
        np.tanh(new, out=new)
        state.now = h - new
        state.now *= z[n : 2 * n]
        state.now += new
        out[start:end] = state.now.T
    return tuple(narrow(a, dtype) for a in (out, state.end(), gates, parts))


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
    x, h0, w_ih, w_hh, b_ih, b_hh = wide(x, h0, w_ih, w_hh, b_ih, b_hh)
    out = _projected(x, w_ih, b_ih, b_hh)
    state = _State(np.ascontiguousarray(h0.T))
    for start, end in steps(sizes, reverse):
        z = w_hh @ state.of(end - start)
        z += out[start:end].T
        state.now = np.maximum(z, 0, out=z) if relu else np.tanh(z, out=z)
        out[start:end] = z.T
    return narrow(out, dtype), narrow(state.end(), dtype)


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
