"""The way back through one layer of a recurrent network; see rnn.py for the layout.

Gradients of results come in the order of the layer's results, None where there is none; among them
are those of what the forward pass kept, which second derivatives need.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from .half import narrow
from .rnn import part, steps, wide

__all__ = ["gru_backward", "lstm_backward", "rnn_backward"]


class _Carry:
    """The gradient of a state on its way back through the steps."""

    def __init__(self, like: ndarray, g: ndarray | None) -> None:
        self.g = np.zeros(like.shape[::-1], like.dtype) if g is None else g.T.copy()

    def of(self, rows: int) -> ndarray:
        return self.g[:, :rows]

    def end(self) -> ndarray:
        return np.ascontiguousarray(self.g.T)


def _before(first: ndarray, out: ndarray, sizes: tuple[int, ...], reverse: bool) -> ndarray:
    """For every row the state before its step."""
    z, last = np.empty((len(out), first.shape[1]), out.dtype), (0, 0)
    for start, end in steps(sizes, reverse):
        known = min(end - start, last[1] - last[0])
        z[start : start + known] = out[last[0] : last[0] + known]
        z[start + known : end] = first[known : end - start]
        last = start, end
    return z


def _projections(
    g: ndarray, g_state: ndarray, x: ndarray, before: ndarray, w_ih: ndarray
) -> tuple[ndarray, ...]:
    """Gradients of input, weights and biases from those of the gates' sums, (gates, N)."""
    bias = np.add.reduce(g, 1)
    state_bias = bias.copy() if g_state is g else np.add.reduce(g_state, 1)
    return g.T @ w_ih, g @ x, g_state @ before, bias, state_bias


def _slope(squashed: ndarray) -> ndarray:
    """The derivative of a sigmoid by its value."""
    z = 1 - squashed
    z *= squashed
    return z


def _tanh_slope(squashed: ndarray) -> ndarray:
    z = squashed * squashed
    return np.subtract(1, z, out=z)


def lstm_backward(
    g: list[Any], x: ndarray, h0: ndarray, c0: ndarray, w_ih: ndarray, w_hh: ndarray,
    w_hr: ndarray | None, out: ndarray, gates: ndarray, cells: ndarray,
    sizes: tuple[int, ...], reverse: bool,
) -> tuple[Any, ...]:  # fmt: skip
    """Gradients of x, h0, c0, both weights, both biases and the projection's weight."""
    dtype, n = x.dtype, c0.shape[1]
    g_out, g_h, g_c, g_gates, g_cells = wide(*g)
    x, h0, c0, w_ih, w_hh, w_hr = wide(x, h0, c0, w_ih, w_hh, w_hr)
    out, gates, cells = wide(out, gates, cells)
    if w_hr is None and g_gates is None and g_cells is None and len(set(sizes)) == 1:
        grads = _even_lstm_backward(
            (g_out, g_h, g_c), (x, h0, c0, w_ih, w_hh), (out, gates, cells), len(sizes), reverse
        )
        return tuple(None if a is None else narrow(a, dtype) for a in (*grads, None))
    carry, carry_c, w = _Carry(h0, g_h), _Carry(c0, g_c), np.ascontiguousarray(w_hh.T)
    spans = steps(sizes, reverse)
    sums = np.empty((4 * n, len(x)), x.dtype)
    g_hr = None if w_hr is None else np.zeros_like(w_hr)
    first_cells = np.ascontiguousarray(c0.T)
    for at in range(len(spans) - 1, -1, -1):
        start, end = spans[at]
        rows = end - start
        i, f, new, o = _opened(part(gates, 4 * n, start, end).reshape(4, n, rows))
        made = np.tanh(part(cells, n, start, end))
        h, c = carry.of(rows), carry_c.of(rows)
        if g_out is not None:
            h += g_out[start:end].T
        if w_hr is not None and g_hr is not None:
            g_hr += h @ (o * made).T
            h = w_hr.T @ h
        z = np.empty((4, n, rows), x.dtype)
        slope = _tanh_slope(made)
        slope *= o
        slope *= h
        c += slope
        if g_cells is not None:
            c += part(g_cells, n, start, end)
        _lstm_gates(z, c, h, made, (i, f, new, o))
        np.multiply(z[1], _cells_before(cells, first_cells, spans, at, n), out=z[1])
        if g_gates is not None:
            extra = part(g_gates, 4 * n, start, end).reshape(4, n, rows)
            # a sigmoid is kept as t = 2 sigmoid - 1
            slopes = (2 * _slope(i), 2 * _slope(f), _tanh_slope(new), 2 * _slope(o))
            for k, by_sum in enumerate(slopes):
                z[k] += extra[k] * by_sum
        c *= f
        flat = z.reshape(4 * n, rows)
        sums[:, start:end] = flat
        carry.of(rows)[...] = w @ flat
    grads = _projections(sums, sums, x, _before(h0, out, sizes, reverse), w_ih)
    results = (grads[0], carry.end(), carry_c.end(), *grads[1:], g_hr)
    return tuple(None if a is None else narrow(a, dtype) for a in results)


def _opened(kept: ndarray) -> tuple[ndarray, ...]:
    """Gates (4, H, rows) from what is kept of them: sigmoids from their tanh."""
    i, f, new, o = kept
    return (i + 1) * 0.5, (f + 1) * 0.5, new, (o + 1) * 0.5


def _even_lstm_backward(
    grads: Any, inputs: Any, results: Any, count: int, reverse: bool
) -> tuple[ndarray, ...]:
    """The way back where all steps have as many rows: what does not depend on the way at once."""
    (g_out, g_h, g_c), (x, h0, c0, w_ih, w_hh) = grads, inputs
    out, gates, cells = results
    rows, n = c0.shape
    kept, c = gates.reshape(count, 4, n, rows), cells.reshape(count, n, rows)
    z, by_hidden, forget = _even_slopes(kept, c, c0, reverse)
    carry, cell = (
        np.zeros((like.shape[1], rows), x.dtype) if g is None else g.T.copy()
        for like, g in ((h0, g_h), (c0, g_c))
    )
    if g_out is not None:
        g_out = np.ascontiguousarray(g_out.reshape(count, rows, n).transpose(0, 2, 1))
    w, spare = np.ascontiguousarray(w_hh.T), np.empty_like(cell)
    for t in range(count) if reverse else range(count - 1, -1, -1):
        if g_out is not None:
            carry += g_out[t]
        np.multiply(carry, by_hidden[t], out=spare)
        cell += spare
        step = z[t]
        step[:3] *= cell
        step[3] *= carry
        cell *= forget[t]
        np.matmul(w, step.reshape(4 * n, rows), out=carry)
    sums = np.ascontiguousarray(z.reshape(count, 4 * n, rows).transpose(1, 0, 2))
    sums = sums.reshape(4 * n, count * rows)
    before = np.concatenate([out[rows:], h0] if reverse else [h0, out[:-rows]])
    found = _projections(sums, sums, x, before, w_ih)
    states = np.ascontiguousarray(carry.T), np.ascontiguousarray(cell.T)
    return (found[0], *states, *found[1:])


def _even_slopes(
    kept: ndarray, cells: ndarray, c0: ndarray, reverse: bool
) -> tuple[ndarray, ndarray, ndarray]:
    """For all steps: what the cell's gradient (first three gates) and the hidden state's (output
    gate) are multiplied by to give those of the gates' sums; the cell's by the hidden state's; and
    the forget gate."""
    first = np.ascontiguousarray(c0.T)[None]
    before = np.concatenate([cells[1:], first] if reverse else [first, cells[:-1]])
    made = np.tanh(cells)
    i, f, new, o = (kept[:, k] for k in range(4))
    z = kept * kept
    np.subtract(1, z, out=z)  # 4 sigmoid (1 - sigmoid), and 1 - tanh²
    z[:, 0] *= new * z.dtype.type(0.25)
    before *= 0.25
    z[:, 1] *= before
    z[:, 2] *= (i + 1) * z.dtype.type(0.5)
    z[:, 3] *= made * z.dtype.type(0.25)
    by_hidden = _tanh_slope(made)
    by_hidden *= (o + 1) * z.dtype.type(0.5)
    return z, by_hidden, (f + 1) * z.dtype.type(0.5)


def _lstm_gates(z: ndarray, c: ndarray, h: ndarray, made: ndarray, gates: Any) -> None:
    """Gradients of the gates' sums; the forget gate's still without the cell before."""
    i, f, new, o = gates
    np.multiply(_slope(i), new, out=z[0])
    np.multiply(_tanh_slope(new), i, out=z[2])
    z[0] *= c
    z[2] *= c
    np.multiply(_slope(f), c, out=z[1])
    np.multiply(_slope(o), made, out=z[3])
    z[3] *= h


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


def gru_backward(
    g: list[Any], x: ndarray, h0: ndarray, w_ih: ndarray, w_hh: ndarray, out: ndarray,
    gates: ndarray, parts: ndarray, sizes: tuple[int, ...], reverse: bool,
) -> tuple[Any, ...]:  # fmt: skip
    """Gradients of x, h0, both weights and both biases."""
    dtype, n = x.dtype, h0.shape[1]
    g_out, g_h, g_gates, g_parts = wide(*g)
    x, h0, w_ih, w_hh, out, gates, parts = wide(x, h0, w_ih, w_hh, out, gates, parts)
    carry, w, spans = _Carry(h0, g_h), np.ascontiguousarray(w_hh.T), steps(sizes, reverse)
    before = _before(h0, out, sizes, reverse)
    sums, states = np.empty((3 * n, len(x)), x.dtype), np.empty((3 * n, len(x)), x.dtype)
    for start, end in reversed(spans):
        rows = end - start
        r, u, new = part(gates, 3 * n, start, end).reshape(3, n, rows)
        h, z = carry.of(rows), np.empty((3, n, rows), x.dtype)
        if g_out is not None:
            h += g_out[start:end].T
        np.multiply(_tanh_slope(new), 1 - u, out=z[2])
        z[2] *= h
        np.subtract(before[start:end].T, new, out=z[1])
        z[1] *= _slope(u)
        z[1] *= h
        if g_gates is not None:
            extra = part(g_gates, 3 * n, start, end).reshape(3, n, rows)
            z[1] += extra[1] * _slope(u)
            z[2] += extra[2] * _tanh_slope(new)
        np.multiply(z[2], part(parts, n, start, end), out=z[0])
        z[0] *= _slope(r)
        if g_gates is not None:
            z[0] += extra[0] * _slope(r)
        sums[:, start:end] = z.reshape(3 * n, rows)
        z[2] *= r
        if g_parts is not None:
            z[2] += part(g_parts, n, start, end)
        flat = z.reshape(3 * n, rows)
        states[:, start:end] = flat
        h *= u
        h += w @ flat
    grads = _projections(sums, states, x, before, w_ih)
    return tuple(narrow(a, dtype) for a in (grads[0], carry.end(), *grads[1:]))


def rnn_backward(
    g: list[Any], x: ndarray, h0: ndarray, w_ih: ndarray, w_hh: ndarray, out: ndarray,
    relu: bool, sizes: tuple[int, ...], reverse: bool,
) -> tuple[Any, ...]:  # fmt: skip
    """Gradients of x, h0, both weights and both biases."""
    dtype = x.dtype
    g_out, g_h = wide(*g)
    x, h0, w_ih, w_hh, out = wide(x, h0, w_ih, w_hh, out)
    carry, w = _Carry(h0, g_h), np.ascontiguousarray(w_hh.T)
    sums = np.empty((h0.shape[1], len(x)), x.dtype)
    for start, end in reversed(steps(sizes, reverse)):
        h = carry.of(end - start)
        if g_out is not None:
            h += g_out[start:end].T
        squashed = out[start:end].T
        z = h * (squashed > 0) if relu else h * _tanh_slope(squashed)
        sums[:, start:end] = z
        h[...] = w @ z
    grads = _projections(sums, sums, x, _before(h0, out, sizes, reverse), w_ih)
    return tuple(narrow(a, dtype) for a in (grads[0], carry.end(), *grads[1:]))
