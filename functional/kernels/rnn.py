"""One layer of the plain recurrent network, the way back, and rows of packed sequences."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from .half import narrow
from .recurrence import (
    Carry,
    State,
    projected,
    projections,
    states_before,
    steps,
    tanh_slope,
    turned,
    wide,
)

__all__ = ["pack_rows", "rnn_backward", "rnn_layer", "unpack_rows"]


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
    out = projected(x, w_ih, b_ih, b_hh)
    state = State(np.ascontiguousarray(h0.T))
    for y in turned(out, steps(sizes, reverse)):
        z = w_hh @ state.of(y.shape[1])
        z += y
        state.now = np.maximum(z, 0, out=z) if relu else np.tanh(z, out=z)
        y[...] = z
    return narrow(out, dtype), narrow(state.end(), dtype)


def rnn_backward(
    g: list[Any], x: ndarray, h0: ndarray, w_ih: ndarray, w_hh: ndarray, out: ndarray,
    relu: bool, sizes: tuple[int, ...], reverse: bool,
) -> tuple[Any, ...]:  # fmt: skip
    """Gradients of x, h0, both weights and both biases."""
    dtype = x.dtype
    g_out, g_h = wide(*g)
    x, h0, w_ih, w_hh, out = wide(x, h0, w_ih, w_hh, out)
    carry, w = Carry(h0, g_h), np.ascontiguousarray(w_hh.T)
    sums = np.empty((h0.shape[1], len(x)), x.dtype)
    for start, end in reversed(steps(sizes, reverse)):
        h = carry.of(end - start)
        if g_out is not None:
            h += g_out[start:end].T
        squashed = out[start:end].T
        z = h * (squashed > 0) if relu else h * tanh_slope(squashed)
        sums[:, start:end] = z
        h[...] = w @ z
    grads = projections(sums, sums, x, states_before(h0, out, sizes, reverse), w_ih)
    return tuple(narrow(a, dtype) for a in (grads[0], carry.end(), *grads[1:]))


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
