"""One layer of an LSTM, in one direction, over all steps, and the way back; see recurrence.py.

Inside, a step's gates lie in the order output, input, forget, new: the three sigmoids side by side.
They are kept for the way back as they are used, the gradients of their sums are in PyTorch's order.
"""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy import ndarray

from .half import narrow
from .recurrence import (
    Carry,
    State,
    in_order,
    kept_steps,
    part,
    projected,
    projections,
    slope,
    states_before,
    steps,
    tanh_slope,
    turned,
    wide,
)

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
    """Outputs (N, P), last hidden (B, P) and cell state (B, H); kept: gates (4H), cells (H)."""
    dtype, n = x.dtype, c0.shape[1]
    x, h0, c0, w_hr = wide(x, h0, c0, w_hr)
    spans, width, half = steps(sizes, reverse), h0.shape[1], x.dtype.type(0.5)
    weights = wide(w_ih, w_hh, b_ih, b_hh)
    joined = len(set(sizes)) == 1 and sizes[0] >= _ROWS and x.shape[1] <= 2 * width
    weight, known = (_joined if joined else _apart)(x, weights, spans)
    out = np.empty((len(x), h0.shape[1]), x.dtype)
    gates, cells = np.empty(4 * n * len(x), x.dtype), np.empty(n * len(x), x.dtype)
    hidden, cell = State(np.ascontiguousarray(h0.T)), State(np.ascontiguousarray(c0.T))
    views = kept_steps(gates, 4 * n, spans), kept_steps(cells, n, spans), turned(out, spans)
    for z, c, y, others in zip(*views, known, strict=True):
        rows = z.shape[1]
        if joined:
            others[:width] = hidden.of(rows)
            np.matmul(weight, others, out=z)
        else:
            np.matmul(weight, hidden.of(rows), out=z)
            z += others
        np.tanh(z, out=z)
        squashed = z[: 3 * n]
        squashed *= half
        squashed += half
        o, i, f, new = z.reshape(4, n, rows)
        np.multiply(f, cell.of(rows), out=c)
        c += i * new
        cell.now, h = c, np.tanh(c)
        h *= o
        hidden.now = h if w_hr is None else w_hr @ h
        y[...] = hidden.now
    results = (out, hidden.end(), cell.end(), gates, cells)
    return tuple(narrow(a, dtype) for a in results)


def _ordered(w: ndarray, z: ndarray) -> ndarray:
    """Weights (4H, ..) in the order of gates used here, written to z.

    Those of sigmoids are halved: sigmoid(x) = tanh(x / 2) / 2 + 1 / 2.
    """
    n = len(w) // 4
    np.multiply(w[3 * n :], 0.5, out=z[:n])
    np.multiply(w[: 2 * n], 0.5, out=z[n : 3 * n])
    z[3 * n :] = w[2 * n : 3 * n]
    return z


_ROWS = 8  # fewer are products with hardly more than a vector, which read the weights every time


def _apart(
    x: ndarray, weights: list[Any], spans: list[tuple[int, int]]
) -> tuple[ndarray, list[ndarray]]:
    """A step's gates as weight @ h + known, known for each step from one product for all."""
    ordered: list[Any] = [None if w is None else _ordered(w, np.empty_like(w)) for w in weights]
    w_ih, w_hh, b_ih, b_hh = ordered
    return w_hh, turned(projected(x, w_ih, b_ih, b_hh), spans)


def _joined(
    x: ndarray, weights: list[Any], spans: list[tuple[int, int]]
) -> tuple[ndarray, list[ndarray]]:
    """A step's gates as weight @ known, whose rows are those of h, to be filled in, of x, and ones.

    All steps have as many rows.
    """
    w_ih, w_hh, b_ih, b_hh = weights
    parts = [w_hh, w_ih, *(b[:, None] for b in (b_ih, b_hh) if b is not None)]
    widths = [0, *accumulate(w.shape[1] for w in parts)]
    weight = np.empty((len(w_hh), widths[-1]), x.dtype)
    for w, (first, last) in zip(parts, pairwise(widths), strict=True):
        _ordered(w, weight[:, first:last])
    known = np.empty((len(spans), widths[-1], len(x) // len(spans)), x.dtype)
    known[:, widths[1] : widths[2]] = x.reshape(len(spans), -1, x.shape[1]).transpose(0, 2, 1)
    known[:, widths[2] :] = 1
    return weight, in_order(known, spans)


def lstm_backward(
    g: list[Any], x: ndarray, h0: ndarray, c0: ndarray, w_ih: ndarray, w_hh: ndarray,
    w_hr: ndarray | None, out: ndarray, gates: ndarray, cells: ndarray,
    sizes: tuple[int, ...], reverse: bool,
) -> tuple[Any, ...]:  # fmt: skip
    """Gradients of x, h0, c0, both weights, both biases and the projection's weight."""
    dtype = x.dtype
    g_out, g_h, g_c, g_gates, g_cells = wide(*g)
    inputs, results = wide(x, h0, c0, w_ih, w_hh, w_hr), wide(out, gates, cells)
    if w_hr is None and g_gates is None and g_cells is None and len(set(sizes)) == 1:
        grads = _even_backward((g_out, g_h, g_c), inputs, results, len(sizes), reverse)
    else:
        g = [g_out, g_h, g_c, g_gates, g_cells]
        grads = _uneven_backward(g, inputs, results, steps(sizes, reverse))
    carry, cell, sums, g_hr = grads
    x, h0, w_ih, out = inputs[0], inputs[1], inputs[3], results[0]
    found = projections(sums, sums, x, states_before(h0, out, sizes, reverse), w_ih)
    states = np.ascontiguousarray(carry.T), np.ascontiguousarray(cell.T)
    made = (found[0], *states, *found[1:], g_hr)
    return tuple(None if a is None else narrow(a, dtype) for a in made)


def _even_backward(
    grads: Any, inputs: Any, results: Any, count: int, reverse: bool
) -> tuple[Any, ...]:
    """The way back where all steps have as many rows: what does not depend on the way at once.

    Returns the gradients of both states, of the gates' sums (4H, N), and None.
    """
    (g_out, g_h, g_c), (_, h0, c0, _, w_hh, _) = grads, inputs
    rows, n = c0.shape
    kept, cells = results[1].reshape(count, 4, n, rows), results[2].reshape(count, n, rows)
    z, by_hidden = _slopes(kept, cells, c0, reverse)
    carry, cell = Carry(h0, g_h).g, Carry(c0, g_c).g
    if g_out is not None:
        g_out = g_out.reshape(count, rows, n).transpose(0, 2, 1)
    w, spare = w_hh.T, np.empty_like(cell)
    for t in range(count) if reverse else range(count - 1, -1, -1):
        if g_out is not None:
            carry += g_out[t]
        cell += np.multiply(carry, by_hidden[t], out=spare)
        step = z[t]
        step[:3] *= cell
        step[3] *= carry
        cell *= kept[t, 2]
        np.matmul(w, step.reshape(4 * n, rows), out=carry)
    sums = np.ascontiguousarray(z.reshape(count, 4 * n, rows).transpose(1, 0, 2))
    return carry, cell, sums.reshape(4 * n, count * rows), None


_CACHED = 1 << 16  # elements of gates whose slopes are computed together


def _slopes(kept: ndarray, cells: ndarray, c0: ndarray, reverse: bool) -> tuple[ndarray, ndarray]:
    """For all steps: what the cell's gradient (first three gates) and the hidden state's (output
    gate) are multiplied by to give those of the gates' sums; and the cell's by the hidden state's.
    """
    count, _, n, rows = kept.shape
    z, by_hidden = np.empty_like(kept), np.empty_like(cells)
    first = np.ascontiguousarray(c0.T)[None]
    earlier = np.concatenate([cells[1:], first] if reverse else [first, cells[:-1]])
    some = max(1, _CACHED // max(1, 4 * n * rows))
    for t in range(0, count, some):
        at = slice(t, t + some)
        made, squashed = np.tanh(cells[at]), kept[at, :3]
        by_sum = slope(squashed)
        o, i, new = squashed[:, 0], squashed[:, 1], kept[at, 3]
        np.multiply(by_sum[:, 1], new, out=z[at, 0])
        np.multiply(by_sum[:, 2], earlier[at], out=z[at, 1])
        np.multiply(tanh_slope(new), i, out=z[at, 2])
        np.multiply(by_sum[:, 0], made, out=z[at, 3])
        np.multiply(tanh_slope(made), o, out=by_hidden[at])
    return z, by_hidden


def _uneven_backward(
    grads: Any, inputs: Any, results: Any, spans: list[tuple[int, int]]
) -> tuple[Any, ...]:
    """The way back in general: gradients of both states, of the gates' sums, of the projection."""
    (g_out, g_h, g_c, g_gates, g_cells), (x, h0, c0, _, w_hh, w_hr) = grads, inputs
    _, gates, cells = results
    n = c0.shape[1]
    carry, carry_c, w = Carry(h0, g_h), Carry(c0, g_c), np.ascontiguousarray(w_hh.T)
    sums = np.empty((4 * n, len(x)), x.dtype)
    g_hr = None if w_hr is None else np.zeros_like(w_hr)
    first_cells = np.ascontiguousarray(c0.T)
    for at in range(len(spans) - 1, -1, -1):
        start, end = spans[at]
        rows = end - start
        o, i, f, new = part(gates, 4 * n, start, end).reshape(4, n, rows)
        made = np.tanh(part(cells, n, start, end))
        h, c = carry.of(rows), carry_c.of(rows)
        if g_out is not None:
            h += g_out[start:end].T
        if g_hr is not None:
            g_hr += h @ (o * made).T
            h = w_hr.T @ h
        c += tanh_slope(made) * o * h
        if g_cells is not None:
            c += part(g_cells, n, start, end)
        known = _cells_before(cells, first_cells, spans, at, n)
        by_sum = np.stack([slope(i), slope(f), tanh_slope(new), slope(o)])
        z = np.stack(
            [by_sum[0] * new * c, by_sum[1] * known * c, by_sum[2] * i * c, by_sum[3] * made * h]
        )
        if g_gates is not None:
            extra = part(g_gates, 4 * n, start, end).reshape(4, n, rows)
            z += by_sum * extra[[1, 2, 3, 0]]
        c *= f
        flat = z.reshape(4 * n, rows)
        sums[:, start:end] = flat
        carry.of(rows)[...] = w @ flat
    return carry.g, carry_c.g, sums, g_hr


def _cells_before(
    cells: ndarray, first: ndarray, spans: list[tuple[int, int]], at: int, n: int
) -> ndarray:
    """The cells before step ``at``: the step before's, or the first ones."""
    rows = spans[at][1] - spans[at][0]
    if at == 0:
        return first[:, :rows]
    last = part(cells, n, *spans[at - 1])
    if last.shape[1] >= rows:
        return last[:, :rows]
    return np.concatenate([last, first[:, last.shape[1] : rows]], 1)
