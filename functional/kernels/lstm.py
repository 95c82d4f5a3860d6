"""One layer of an LSTM, in one direction, over all steps, and the way back; see recurrence.py.

Inside, a step's gates lie in the order output, input, forget, new: the three sigmoids side by side.
They are kept for the way back as they are used, the gradients of their sums are in PyTorch's order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from .half import narrow
from .recurrence import (
    GateProduct,
    State,
    Steps,
    by_gate,
    gradient_of,
    kept_by_gate,
    kept_of_run,
    projected,
    projections,
    rows_of_run,
    runs,
    slope,
    states_before,
    tanh_slope,
    wide,
)
from .scratch import aligned

__all__ = ["lstm_backward", "lstm_layer"]


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
    """Outputs (N, P), last hidden (B, P) and cell state (B, H).

    Kept: gates (4 N H), cells (N, H).
    """
    dtype, n = x.dtype, c0.shape[1]
    x, h0, c0, w_hr = wide(x, h0, c0, w_hr)
    w_ih, w_hh, b_ih, b_hh = wide(w_ih, w_hh, b_ih, b_hh)
    bias = None if b_ih is None else _ordered(b_ih + b_hh)
    known = projected(x, _ordered(w_ih), bias, 4)
    steps, half = Steps(sizes, reverse), x.dtype.type(0.5)
    gates, cells = aligned((4 * n * len(x),), x.dtype), aligned((len(x), n), x.dtype)
    out = np.empty((len(x), h0.shape[1]), x.dtype)
    product, hidden, cell = GateProduct(_ordered(w_hh).T, sizes[0], 4), State(h0), State(c0)
    rows_of = (steps.of(rows) for rows in (known, cells, out))
    for z, given, c, y in zip(steps.kept(gates, 4, n), *rows_of, strict=True):
        rows = len(c)
        np.add(given, product(hidden.of(rows)), out=z)
        np.tanh(z, out=z)
        squashed = z[:3]
        squashed *= half
        squashed += half
        o, i, f, new = z
        np.multiply(f, cell.of(rows), out=c)
        c += i * new
        if w_hr is None:
            np.tanh(c, out=y)
            y *= o
        else:
            np.matmul(np.tanh(c) * o, w_hr.T, out=y)
        hidden.now, cell.now = y, c
    return tuple(narrow(a, dtype) for a in (out, hidden.end(), cell.end(), gates, cells))


def _ordered(w: ndarray) -> ndarray:
    """Weights (4H, ..) in the order of gates used here, those of sigmoids halved.

    sigmoid(x) = tanh(x / 2) / 2 + 1 / 2.
    """
    n, z = len(w) // 4, np.empty_like(w)
    np.multiply(w[3 * n :], 0.5, out=z[:n])
    np.multiply(w[: 2 * n], 0.5, out=z[n : 3 * n])
    z[3 * n :] = w[2 * n : 3 * n]
    return z


def lstm_backward(
    g: list[Any], x: ndarray, h0: ndarray, c0: ndarray, w_ih: ndarray, w_hh: ndarray,
    w_hr: ndarray | None, out: ndarray, gates: ndarray, cells: ndarray,
    sizes: tuple[int, ...], reverse: bool,
) -> tuple[Any, ...]:  # fmt: skip
    """Gradients of x, h0, c0, both weights, both biases and the projection's weight."""
    dtype, steps = x.dtype, Steps(sizes, not reverse)
    g_out, g_h, g_c, g_gates, g_cells = wide(*g)
    x, h0, c0, w_ih, w_hh, w_hr = wide(x, h0, c0, w_ih, w_hh, w_hr)
    out, gates, cells = wide(out, gates, cells)
    h, c = gradient_of(h0, g_h), gradient_of(c0, g_c)
    slopes, by_hidden = _slopes(gates, cells, states_before(c0, cells, sizes, reverse), sizes)
    g_outs = None if w_hr is None else np.empty_like(out)  # all the gradients of outputs
    sums = aligned((len(x), 4 * c.shape[1]), x.dtype)
    product = GateProduct(w_hh, len(h), result=h)
    nothing = [None] * len(sizes)
    by_row = sums, by_gate(sums, 4), by_hidden, g_out, g_outs, g_cells
    by_kept = slopes, gates, g_gates
    of_steps = [nothing if a is None else steps.of(a) for a in by_row]
    of_steps += [nothing if a is None else steps.kept(a, 4, c.shape[1]) for a in by_kept]
    for flat, z, made, new_h, whole_h, new_c, by_sum, kept, new_z in zip(*of_steps, strict=True):
        rows = len(flat)
        hidden, cell = (h, c) if rows == len(h) else (h[:rows], c[:rows])
        if new_h is not None:
            hidden += new_h
        squashed = hidden
        if whole_h is not None:
            whole_h[...] = hidden
            squashed = hidden @ w_hr
        cell += squashed * made
        if new_c is not None:
            cell += new_c
        np.multiply(by_sum[:3], cell, out=z[:3])
        np.multiply(by_sum[3], squashed, out=z[3])
        if new_z is not None:
            z += _past_gates(new_z, kept)
        cell *= kept[2]
        product(flat)
    found = projections(sums, sums, x, states_before(h0, out, sizes, reverse), w_ih)
    g_hr = None
    if g_outs is not None:
        g_hr = g_outs.T @ (kept_by_gate(gates, 4, c.shape[1], sizes)[0] * np.tanh(cells))
    made = (found[0], h, c, *found[1:], g_hr)
    return tuple(None if a is None else narrow(a, dtype) for a in made)


_CACHED = 1 << 14  # elements of a gate whose slopes are computed together


def _slopes(
    gates: ndarray, cells: ndarray, earlier: ndarray, sizes: tuple[int, ...]
) -> tuple[ndarray, ndarray]:
    """For all steps: what the cell's gradient (first three gates) and the hidden state's (output
    gate) are multiplied by to give those of the gates' sums; and the cell's by the hidden state's.
    """
    z, by_hidden = aligned(gates.shape, gates.dtype), aligned(cells.shape, cells.dtype)
    n = cells.shape[1]
    for run in runs(sizes, _CACHED // max(1, n)):
        (o, i, f, new), to = (kept_of_run(a, 4, n, run) for a in (gates, z))
        made, by_made = np.tanh(rows_of_run(cells, run)), rows_of_run(by_hidden, run)
        np.multiply(slope(i, to[0]), new, out=to[0])
        np.multiply(slope(f, to[1]), rows_of_run(earlier, run), out=to[1])
        np.multiply(tanh_slope(new, to[2]), i, out=to[2])
        np.multiply(slope(o, to[3]), made, out=to[3])
        np.multiply(tanh_slope(made, by_made), o, out=by_made)
    return z, by_hidden


def _past_gates(g: ndarray, gates: ndarray) -> ndarray:
    """Gradients of a step's sums, in PyTorch's order, from those of its gates."""
    o, i, f, new = gates
    return np.stack([slope(i) * g[1], slope(f) * g[2], tanh_slope(new) * g[3], slope(o) * g[0]])
