"""The way back through recurrent layers in differentiable operations.

The same formulas as the kernels of `kernels/lstm.py`, `gru.py` and `rnn.py`, under the same names,
for second derivatives and transforms.
"""

from __future__ import annotations

from typing import Any

from ..kernels.recurrence import steps
from ..tape.op import TENSOR as F
from ..tape.op import public
from ..tensor import Tensor

# --- rows of steps --------------------------------------------------------------------------------


def _gates(kept: Any, count: int, sizes: tuple[int, ...]) -> Any:
    """What was kept, step after step as (gates, rows, H): a tensor of rows (N, H) for each gate."""
    width = kept.shape[0] // sum(sizes)
    parts = (kept[width * start : width * end] for start, end in steps(sizes, False))
    by_step = [F.view(part, (count, n, -1)) for part, n in zip(parts, sizes, strict=True)]
    return [F.cat([part[k] for part in by_step], 0) for k in range(count)]


def _before(first: Any, rows: Any, sizes: tuple[int, ...], reverse: bool) -> Any:
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
    return _in_time(pieces, spans)


def _in_time(pieces: list[Any], spans: list[tuple[int, int]]) -> Any:
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


def _kept(new: Any, old: Any) -> Any:
    """``old`` with its first rows replaced by ``new``."""
    n = new.shape[0]
    return new if n == old.shape[0] else F.cat([new, old[n:]], 0)


def _projections(g: Any, g_state: Any, x: Any, w_ih: Any, before: Any) -> tuple[Any, ...]:
    """Gradients of input, both weights and both biases from those of the gates' sums."""
    sums = F.sum(g, (0,), False), F.sum(g_state, (0,), False)
    return g @ w_ih, F.t(g) @ x, F.t(g_state) @ before, *sums


# --- the layers -----------------------------------------------------------------------------------


@public
def lstm_backward(
    g: list[Any], x: Tensor, h0: Tensor, c0: Tensor, w_ih: Tensor, w_hh: Any, w_hr: Any,
    out: Tensor, gates: Tensor, cells: Tensor, sizes: tuple[int, ...], reverse: bool,
) -> tuple[Any, ...]:  # fmt: skip
    """Gradients of an LSTM layer's inputs from those of its results."""
    g_out, g_h, g_c, g_gates, g_cells = g
    o, i, f, new = _gates(gates, 4, sizes)
    c_before = _before(c0, cells, sizes, reverse)
    squashed = F.tanh(cells)
    # d cell / d sums of input, forget and new gate; d made / d sum of the output gate and d cell
    by_cell = F.cat([new * i * (1 - i), c_before * f * (1 - f), i * (1 - new * new)], 1)
    by_made, cell_by_made = squashed * o * (1 - o), o * (1 - squashed * squashed)
    extra = None
    if g_gates is not None:
        slopes = [i * (1 - i), f * (1 - f), 1 - new * new, o * (1 - o)]
        of_gates = _gates(g_gates, 4, sizes)
        extra = F.cat([of_gates[k] * slopes[k - 1] for k in (1, 2, 3, 0)], 1)
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
        g_h = _kept(z @ w_hh, g_h)
        g_c = _kept(c * f[start:end], g_c)
    g_sums = _in_time(sums, spans[::-1])
    h_before = _before(h0, out, sizes, reverse)
    grads = _projections(g_sums, g_sums, x, w_ih, h_before)
    g_hr = None
    if w_hr is not None:
        g_hr = F.matmul(F.t(_in_time(made, spans[::-1])), o * squashed)
    return (grads[0], g_h, g_c, *grads[1:], g_hr)


@public
def gru_backward(
    g: list[Any], x: Tensor, h0: Tensor, w_ih: Tensor, w_hh: Any, out: Tensor, gates: Tensor,
    parts: Tensor, sizes: tuple[int, ...], reverse: bool,
) -> tuple[Any, ...]:  # fmt: skip
    """Gradients of a GRU layer's inputs from those of its results."""
    g_out, g_h, g_gates, g_part = g
    n = h0.shape[1]
    r, u, new = _gates(gates, 3, sizes)
    h_before = _before(h0, out, sizes, reverse)
    by_new = (1 - u) * (1 - new * new)
    by_update = (h_before - new) * u * (1 - u)
    by_reset = parts * r * (1 - r)
    extra = None
    if g_gates is not None:
        slopes = [r * (1 - r), u * (1 - u), 1 - new * new]
        of_gates = _gates(g_gates, 3, sizes)
        extra = F.cat([of_gates[k] * slopes[k] for k in range(3)], 1)
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
        g_h = _kept(h * u[start:end] + states[-1] @ w_hh, g_h)
    g_sums, g_states = (_in_time(rows, spans[::-1]) for rows in (sums, states))
    grads = _projections(g_sums, g_states, x, w_ih, h_before)
    return (grads[0], g_h, *grads[1:])


@public
def rnn_backward(
    g: list[Any], x: Tensor, h0: Tensor, w_ih: Tensor, w_hh: Any, out: Any, relu: bool,
    sizes: tuple[int, ...], reverse: bool,
) -> tuple[Any, ...]:  # fmt: skip
    """Gradients of a plain layer's inputs from those of its results."""
    g_out, g_h = g
    slope = (out > 0) * 1 if relu else 1 - out * out
    g_h = F.zeros_like(h0) if g_h is None else g_h
    spans, sums = steps(sizes, reverse), []
    for start, end in reversed(spans):
        h = g_h[: end - start] if g_out is None else g_h[: end - start] + g_out[start:end]
        sums.append(h * slope[start:end])
        g_h = _kept(sums[-1] @ w_hh, g_h)
    g_sums = _in_time(sums, spans[::-1])
    h_before = _before(h0, out, sizes, reverse)
    grads = _projections(g_sums, g_sums, x, w_ih, h_before)
    return (grads[0], g_h, *grads[1:])
