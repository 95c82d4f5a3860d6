"""One layer of gated recurrent units, and the way back; see recurrence.py for the layout."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from .half import narrow
from .recurrence import (
    Carry,
    State,
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

__all__ = ["gru_backward", "gru_layer"]


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
    w_ih, w_hh, b_ih, b_hh = (_halved(w, 2 * n) for w in wide(w_ih, w_hh, b_ih, b_hh))
    sums = projected(x, w_ih, b_ih)
    if b_hh is not None:
        sums[:, : 2 * n] += b_hh[: 2 * n]
    out = np.empty((len(x), n), x.dtype)
    gates, parts = np.empty(3 * n * len(x), x.dtype), np.empty(n * len(x), x.dtype)
    state = State(np.ascontiguousarray(h0.T))
    spans = steps(sizes, reverse)
    views = kept_steps(gates, 3 * n, spans), kept_steps(parts, n, spans)
    for z, own, known, y in zip(*views, turned(sums, spans), turned(out, spans), strict=True):
        h = state.of(z.shape[1])
        np.matmul(w_hh[: 2 * n], h, out=z[: 2 * n])
        z[: 2 * n] += known[: 2 * n]
        squashed = np.tanh(z[: 2 * n], out=z[: 2 * n])
        squashed *= 0.5
        squashed += 0.5
        np.matmul(w_hh[2 * n :], h, out=own)
        if b_new is not None:
            own += b_new
        new = np.multiply(z[:n], own, out=z[2 * n :])
        new += known[2 * n :]
        np.tanh(new, out=new)
        state.now = h - new
        state.now *= z[n : 2 * n]
        state.now += new
        y[...] = state.now
    return tuple(narrow(a, dtype) for a in (out, state.end(), gates, parts))


def _halved(w: Any, count: int) -> Any:
    """A copy of weights with the first ``count`` rows, a sigmoid's, halved; None for None.

    sigmoid(x) = tanh(x / 2) / 2 + 1 / 2.
    """
    if w is None:
        return None
    w = w.copy()
    w[:count] *= 0.5
    return w


def gru_backward(
    g: list[Any], x: ndarray, h0: ndarray, w_ih: ndarray, w_hh: ndarray, out: ndarray,
    gates: ndarray, parts: ndarray, sizes: tuple[int, ...], reverse: bool,
) -> tuple[Any, ...]:  # fmt: skip
    """Gradients of x, h0, both weights and both biases."""
    dtype, n = x.dtype, h0.shape[1]
    g_out, g_h, g_gates, g_parts = wide(*g)
    x, h0, w_ih, w_hh, out, gates, parts = wide(x, h0, w_ih, w_hh, out, gates, parts)
    carry, w, spans = Carry(h0, g_h), np.ascontiguousarray(w_hh.T), steps(sizes, reverse)
    earlier = states_before(h0, out, sizes, reverse)
    sums, states = np.empty((3 * n, len(x)), x.dtype), np.empty((3 * n, len(x)), x.dtype)
    for start, end in reversed(spans):
        rows = end - start
        r, u, new = part(gates, 3 * n, start, end).reshape(3, n, rows)
        h, z = carry.of(rows), np.empty((3, n, rows), x.dtype)
        if g_out is not None:
            h += g_out[start:end].T
        np.multiply(tanh_slope(new), 1 - u, out=z[2])
        z[2] *= h
        np.subtract(earlier[start:end].T, new, out=z[1])
        z[1] *= slope(u)
        z[1] *= h
        if g_gates is not None:
            extra = part(g_gates, 3 * n, start, end).reshape(3, n, rows)
            z[1] += extra[1] * slope(u)
            z[2] += extra[2] * tanh_slope(new)
        np.multiply(z[2], part(parts, n, start, end), out=z[0])
        z[0] *= slope(r)
        if g_gates is not None:
            z[0] += extra[0] * slope(r)
        sums[:, start:end] = z.reshape(3 * n, rows)
        z[2] *= r
        if g_parts is not None:
            z[2] += part(g_parts, n, start, end)
        flat = z.reshape(3 * n, rows)
        states[:, start:end] = flat
        h *= u
        h += w @ flat
    grads = projections(sums, states, x, earlier, w_ih)
    return tuple(narrow(a, dtype) for a in (grads[0], carry.end(), *grads[1:]))
