"""What the layers of recurrent networks share; each runs over all steps in one direction.

Rows are packed: step after step, ``sizes[t]`` rows each, as in PyTorch's packed sequences;
sequences of equal length are the case where all sizes are equal. Sizes never grow. A state has a
row for every sequence; each step uses and renews the first ``sizes[t]``. Backwards in time
(``reverse``) longer sequences come first, and a shorter one joins at its own last step.

Gates lie side by side in PyTorch's order: input, forget, cell, output (LSTM); reset, update, new
(GRU). Inside, everything is feature-major, a step's gates being (gates, rows): products then have
their long side first, which the BLAS shares among threads, and every gate is contiguous. What the
backward pass needs of all steps is kept so, one step after the other in flat memory.

On the way back gradients of results come in the order of the layer's results, None where there is
none; among them are those of what was kept, which second derivatives need.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np
from numpy import ndarray

from .half import widen
from .reduce import row_sums


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


def kept_steps(kept: ndarray, width: int, spans: list[tuple[int, int]]) -> list[ndarray]:
    """``part`` of every step, in the order the steps are taken."""
    rows = _rows_of_all(spans)
    if rows is None:
        return [part(kept, width, start, end) for start, end in spans]
    return in_order(kept.reshape(len(spans), width, rows), spans)


def turned(x: ndarray, spans: list[tuple[int, int]]) -> list[ndarray]:
    """The rows of every step as (features, rows), in the order the steps are taken."""
    rows = _rows_of_all(spans)
    if rows is None:
        return [x[start:end].T for start, end in spans]
    return in_order(x.reshape(len(spans), rows, x.shape[1]).transpose(0, 2, 1), spans)


def _rows_of_all(spans: list[tuple[int, int]]) -> int | None:
    """How many rows each step has, None where they differ."""
    counts = {end - start for start, end in spans}
    return counts.pop() if len(counts) == 1 else None


def in_order(in_time: ndarray, spans: list[tuple[int, int]]) -> list[ndarray]:
    """The items of an array, one for each step: last first where the steps go back in time."""
    return list(in_time[::-1] if spans[0][0] else in_time)


def projected(x: ndarray, weight: Any, *biases: Any) -> ndarray:
    """What the inputs of all steps add to the gates, in one product."""
    z = x @ weight.T
    known = [bias for bias in biases if bias is not None]
    if known:
        z += sum(known)
    return z


class State:
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


class Carry:
    """The gradient of a state on its way back through the steps."""

    def __init__(self, like: ndarray, g: ndarray | None) -> None:
        self.g = np.zeros(like.shape[::-1], like.dtype) if g is None else g.T.copy()

    def of(self, rows: int) -> ndarray:
        return self.g[:, :rows]

    def end(self) -> ndarray:
        return np.ascontiguousarray(self.g.T)


def states_before(first: ndarray, out: ndarray, sizes: tuple[int, ...], reverse: bool) -> ndarray:
    """For every row the state before its step."""
    if len(set(sizes)) == 1:
        rows = sizes[0]
        return np.concatenate([out[rows:], first] if reverse else [first, out[:-rows]])
    z, last = np.empty((len(out), first.shape[1]), out.dtype), (0, 0)
    for start, end in steps(sizes, reverse):
        known = min(end - start, last[1] - last[0])
        z[start : start + known] = out[last[0] : last[0] + known]
        z[start + known : end] = first[known : end - start]
        last = start, end
    return z


def projections(
    g: ndarray, g_state: ndarray, x: ndarray, earlier: ndarray, w_ih: ndarray
) -> tuple[ndarray, ...]:
    """Gradients of input, weights and biases from those of the gates' sums, (gates, N)."""
    bias = row_sums(g)
    state_bias = bias.copy() if g_state is g else row_sums(g_state)
    return g.T @ w_ih, g @ x, g_state @ earlier, bias, state_bias


def slope(squashed: ndarray) -> ndarray:
    """The derivative of a sigmoid by its value."""
    z = 1 - squashed
    z *= squashed
    return z


def tanh_slope(squashed: ndarray) -> ndarray:
    z = squashed * squashed
    return np.subtract(1, z, out=z)
