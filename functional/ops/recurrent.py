"""Recurrent layers: one operation for all steps of a layer in one direction.

The rules run the layer backwards in time with operations that both namespaces have, so that they
serve arrays (first order) and tensors (second order) alike. What they need of the forward pass,
the gates and cells of all steps, are results of the operation too, with gradients of their own.
"""

from __future__ import annotations

from typing import Any

from ..kernels.rnn import steps
from ..tape.declare import general

# --- rows of steps --------------------------------------------------------------------------------


def _before(F: Any, first: Any, rows: Any, sizes: tuple[int, ...], reverse: bool) -> Any:
    """For every row the state before its step: the step before's, or the initial state's."""
    spans, pieces = steps(sizes, reverse), []
    last: tuple[int, int] | None = None
    for start, end in spans:
        n = end - start
        if last is None:
            pieces.append(first[:n])
        else:
            known = min(n, last[1] - last[0])
            pieces.append(rows[last[0] : last[0] + known])
            if known < n:
                pieces.append(first[known:n])
        last = start, end
    if not reverse:
        return F.cat(pieces, 0)
    return _in_time(F, pieces, spans)


def _in_time(F: Any, pieces: list[Any], spans: list[tuple[int, int]]) -> Any:
    """Rows made in the order of ``spans`` (some in two pieces) in the order of time."""
    steps_, i = [], 0
    for start, end in spans:
        whole = [pieces[i]]
        while sum(p.shape[0] for p in whole) < end - start:
            i += 1
            whole.append(pieces[i])
        i += 1
        steps_.append(whole)
    order = sorted(range(len(spans)), key=lambda k: spans[k])
    return F.cat([piece for k in order for piece in steps_[k]], 0)


def _kept(F: Any, new: Any, old: Any) -> Any:
    """``old`` with its first rows replaced by ``new``."""
    n = new.shape[0]
    return new if n == old.shape[0] else F.cat([new, old[n:]], 0)


def _plus(a: Any, b: Any) -> Any:
    return b if a is None else a if b is None else a + b


def _listed(g: Any, count: int) -> list[Any]:
    return list(g) if type(g) is list else [g, *[None] * (count - 1)]


def _projections(
    F: Any, need: Any, g: Any, g_state: Any, x: Any, w_ih: Any, before: Any
) -> tuple[Any, ...]:
    """Gradients of input, both weights and both biases from those of the gates' sums."""
    return (
        g @ w_ih if need[0] else None,
        F.t(g) @ x if need[1] else None,
        F.t(g_state) @ before if need[2] else None,
        F.sum(g, (0,), False) if need[3] else None,
        F.sum(g_state, (0,), False) if need[4] else None,
    )


# --- LSTM -----------------------------------------------------------------------------------------


def _lstm_vjp(
    F: Any, g: Any, need: Any, x: Any, h0: Any, c0: Any, w_ih: Any, w_hh: Any, w_hr: Any,
    sizes: Any, reverse: bool, result: Any, result3: Any, result4: Any,
) -> Any:  # fmt: skip
    g_out, g_h, g_c, g_gates, g_cells = _listed(g, 5)
    n = c0.shape[1]
    i, f, new, o = (result3[:, k * n : (k + 1) * n] for k in range(4))
    c_before = _before(F, c0, result4, sizes, reverse)
    squashed = F.tanh(result4)
    # d cell / d sums of input, forget and new gate; d made / d sum of the output gate and d cell
    by_cell = F.cat([new * i * (1 - i), c_before * f * (1 - f), i * (1 - new * new)], 1)
    by_made, cell_by_made = squashed * o * (1 - o), o * (1 - squashed * squashed)
    extra = None
    if g_gates is not None:
        slopes = [i * (1 - i), f * (1 - f), 1 - new * new, o * (1 - o)]
        extra = g_gates * F.cat(slopes, 1)
    g_h = F.zeros_like(h0) if g_h is None else g_h
    g_c = F.zeros_like(c0) if g_c is None else g_c
    spans, sums, made = steps(sizes, reverse), [], []
    for start, end in reversed(spans):
        rows = end - start
        h = g_h[:rows] if g_out is None else g_h[:rows] + g_out[start:end]
        made.append(h)
        h = h if w_hr is None else h @ w_hr
        c = g_c[:rows] + h * cell_by_made[start:end]
        c = c if g_cells is None else c + g_cells[start:end]
        z = F.cat([F.repeat(c, (1, 3)) * by_cell[start:end], h * by_made[start:end]], 1)
        z = z if extra is None else z + extra[start:end]
        sums.append(z)
        g_h = _kept(F, z @ w_hh, g_h)
        g_c = _kept(F, c * f[start:end], g_c)
    g_sums = _in_time(F, sums, spans[::-1])
    h_before = _before(F, h0, result, sizes, reverse)
    projected = _projections(
        F, [need[k] for k in (0, 3, 4, 5, 6)], g_sums, g_sums, x, w_ih, h_before
    )
    g_hr = None
    if w_hr is not None and need[7]:
        g_hr = F.t(_in_time(F, made, spans[::-1])) @ (o * squashed)
    return (projected[0], g_h, g_c, *projected[1:], g_hr)


def _lstm_shape(
    x: Any, h0: Any, c0: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, w_hr: Any, *rest: Any
) -> Any:
    n, h = x.shape[0], c0.shape[1]
    shapes = ((n, h0.shape[1]), h0.shape, c0.shape, (n, 4 * h), (n, h))
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
    g_out, g_h, g_gates, g_part = _listed(g, 4)
    n = h0.shape[1]
    r, u, new = (result2[:, k * n : (k + 1) * n] for k in range(3))
    h_before = _before(F, h0, result, sizes, reverse)
    by_new = (1 - u) * (1 - new * new)
    by_update = (h_before - new) * u * (1 - u)
    by_reset = result3 * r * (1 - r)
    extra = (
        None if g_gates is None else g_gates * F.cat([r * (1 - r), u * (1 - u), 1 - new * new], 1)
    )
    g_h = F.zeros_like(h0) if g_h is None else g_h
    spans, sums, states = steps(sizes, reverse), [], []
    for start, end in reversed(spans):
        rows = end - start
        h = g_h[:rows] if g_out is None else g_h[:rows] + g_out[start:end]
        g_update, g_new = h * by_update[start:end], h * by_new[start:end]
        if extra is not None:
            g_update = g_update + extra[start:end, n : 2 * n]
            g_new = g_new + extra[start:end, 2 * n :]
        g_reset = g_new * by_reset[start:end]
        if extra is not None:
            g_reset = g_reset + extra[start:end, :n]
        part = g_new * r[start:end]
        part = part if g_part is None else part + g_part[start:end]
        sums.append(F.cat([g_reset, g_update, g_new], 1))
        states.append(F.cat([g_reset, g_update, part], 1))
        g_h = _kept(F, h * u[start:end] + states[-1] @ w_hh, g_h)
    g_sums, g_states = (_in_time(F, rows, spans[::-1]) for rows in (sums, states))
    which = [need[k] for k in (0, 2, 3, 4, 5)]
    projected = _projections(F, which, g_sums, g_states, x, w_ih, h_before)
    return (projected[0], g_h, *projected[1:])


gru_layer = general(
    "gru_layer",
    joint=_gru_vjp,
    inputs=("x", "h0", "w_ih", "w_hh", "b_ih", "b_hh"),
    statics=("sizes", "reverse"),
    shape=lambda x, h0, *rest: [
        ((x.shape[0], width), x.dtype) if width else (h0.shape, x.dtype)
        for width in (h0.shape[1], 0, 3 * h0.shape[1], h0.shape[1])
    ],
)

# --- the plain network ----------------------------------------------------------------------------


def _rnn_vjp(
    F: Any, g: Any, need: Any, x: Any, h0: Any, w_ih: Any, w_hh: Any,
    relu: bool, sizes: Any, reverse: bool, result: Any,
) -> Any:  # fmt: skip
    g_out, g_h = _listed(g, 2)
    slope = (result > 0) * 1 if relu else 1 - result * result
    g_h = F.zeros_like(h0) if g_h is None else g_h
    spans, sums = steps(sizes, reverse), []
    for start, end in reversed(spans):
        h = g_h[: end - start] if g_out is None else g_h[: end - start] + g_out[start:end]
        sums.append(h * slope[start:end])
        g_h = _kept(F, sums[-1] @ w_hh, g_h)
    g_sums = _in_time(F, sums, spans[::-1])
    which = [need[k] for k in (0, 2, 3, 4, 5)]
    h_before = _before(F, h0, result, sizes, reverse)
    projected = _projections(F, which, g_sums, g_sums, x, w_ih, h_before)
    return (projected[0], g_h, *projected[1:])


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
