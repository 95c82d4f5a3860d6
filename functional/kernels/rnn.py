"""One layer of the plain recurrent network, the way back, and rows of packed sequences."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from .half import narrow
from .recurrence import (
    GateProduct,
    State,
    Steps,
    gradient_of,
    projected,
    projections,
    states_before,
    tanh_slope,
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
    [out] = projected(x, w_ih, b_ih if b_hh is None else b_ih + b_hh, 1)
    state, product = State(h0), GateProduct(w_hh.T, sizes[0])
    for y in Steps(sizes, reverse).of(out):
        y += product(state.of(len(y)))
        state.now = np.maximum(y, 0, out=y) if relu else np.tanh(y, out=y)
    return narrow(out, dtype), narrow(state.end(), dtype)


def rnn_backward(
    g: list[Any], x: ndarray, h0: ndarray, w_ih: ndarray, w_hh: ndarray, out: ndarray,
    relu: bool, sizes: tuple[int, ...], reverse: bool,
) -> tuple[Any, ...]:  # fmt: skip
    """Gradients of x, h0, both weights and both biases."""
    dtype, steps = x.dtype, Steps(sizes, not reverse)
    g_out, g_h = wide(*g)
    x, h0, w_ih, w_hh, out = wide(x, h0, w_ih, w_hh, out)
    h = gradient_of(h0, g_h)
    product = GateProduct(w_hh, len(h), result=h)
    sums = np.asarray(out > 0).astype(x.dtype) if relu else tanh_slope(out)
    nothing = [None] * len(sizes)
    outside = nothing if g_out is None else steps.of(g_out)
    for z, new in zip(steps.of(sums), outside, strict=True):
        hidden = h if len(z) == len(h) else h[: len(z)]
        if new is not None:
            hidden += new
        z *= hidden
        product(z)
    grads = projections(sums, sums, x, states_before(h0, out, sizes, reverse), w_ih)
    return tuple(narrow(a, dtype) for a in (grads[0], h, *grads[1:]))


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
