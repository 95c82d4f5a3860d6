"""One layer of gated recurrent units, and the way back; see recurrence.py."""

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
    projected,
    projections,
    slope,
    states_before,
    tanh_slope,
    wide,
)
from .scratch import aligned

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
    """Outputs (N, H), last state (B, H).

    Kept: gates (3 N H), the state's part of the new gate (N, H).
    """
    dtype, n = x.dtype, h0.shape[1]
    x, h0, b_new = wide(x, h0, None if b_hh is None else b_hh[2 * n :])
    w_ih, w_hh, b_ih, b_hh = (_halved(w, 2 * n) for w in wide(w_ih, w_hh, b_ih, b_hh))
    steps, half = Steps(sizes, reverse), x.dtype.type(0.5)
    if b_hh is not None:
        b_ih[: 2 * n] += b_hh[: 2 * n]
    known = projected(x, w_ih, b_ih, 3)
    gates, parts = aligned((3 * n * len(x),), x.dtype), aligned((len(x), n), x.dtype)
    out = np.empty((len(x), n), x.dtype)
    product, state = GateProduct(w_hh.T, sizes[0], 3), State(h0)
    rows_of = (steps.of(rows) for rows in (known, parts, out))
    for z, k, own, y in zip(steps.kept(gates, 3, n), *rows_of, strict=True):
        h = state.of(len(own))
        fresh, squashed = product(h), z[:2]
        np.add(fresh[:2], k[:2], out=squashed)
        np.tanh(squashed, out=squashed)
        squashed *= half
        squashed += half
        if b_new is None:
            own[...] = fresh[2]
        else:
            np.add(fresh[2], b_new, out=own)
        reset, update, new = z
        np.multiply(reset, own, out=new)
        new += k[2]
        np.tanh(new, out=new)
        np.subtract(h, new, out=y)
        y *= update
        y += new
        state.now = y
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
    dtype, steps = x.dtype, Steps(sizes, not reverse)
    g_out, g_h, g_gates, g_parts = wide(*g)
    x, h0, w_ih, w_hh, out, gates, parts = wide(x, h0, w_ih, w_hh, out, gates, parts)
    h_grad, earlier = gradient_of(h0, g_h), states_before(h0, out, sizes, reverse)
    reset, update, new = kept_by_gate(gates, 3, h0.shape[1], sizes)
    # by the hidden state's gradient: those of the sums of update and new gate; by the latter's,
    # that of the sum of the reset gate
    by_update = slope(update) * (earlier - new)
    by_new = tanh_slope(new) * (1 - update)
    by_reset = slope(reset) * parts
    extra = None
    if g_gates is not None:
        slopes = np.stack([slope(reset), slope(update), tanh_slope(new)])
        extra = kept_by_gate(g_gates, 3, h0.shape[1], sizes) * slopes
    sums, states = (aligned((len(x), 3 * h0.shape[1]), x.dtype) for _ in range(2))
    product = GateProduct(w_hh, sizes[0])
    views = (
        states, by_gate(sums, 3), by_gate(states, 3), by_update, by_new, by_reset, reset, update,
        g_out, g_parts, extra,
    )  # fmt: skip
    nothing = [None] * len(sizes)
    rows_of_all = (nothing if a is None else steps.of(a) for a in views)
    for flat, z, own, by_u, by_n, by_r, r, u, new_h, new_part, new_z in zip(
        *rows_of_all, strict=True
    ):
        h = h_grad[: len(flat)]
        if new_h is not None:
            h += new_h
        np.multiply(h, by_u, out=z[1])
        np.multiply(h, by_n, out=z[2])
        if new_z is not None:
            z[1:] += new_z[1:]
        np.multiply(z[2], by_r, out=z[0])
        if new_z is not None:
            z[0] += new_z[0]
        own[:2] = z[:2]
        np.multiply(z[2], r, out=own[2])
        if new_part is not None:
            own[2] += new_part
        h *= u
        h += product(flat)
    grads = projections(sums, states, x, earlier, w_ih)
    return tuple(narrow(a, dtype) for a in (grads[0], h_grad, *grads[1:]))
