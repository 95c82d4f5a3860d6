"""What the layers of recurrent networks share; each runs over all steps in one direction.

Rows are packed: step after step, ``sizes[t]`` rows each, as in PyTorch's packed sequences;
sequences of equal length are the case where all sizes are equal. Sizes never grow. A state has a
row for every sequence; each step uses and renews the first ``sizes[t]``. Backwards in time
(``reverse``) longer sequences come first, and a shorter one joins at its own last step.

Gates come in PyTorch's order: input, forget, cell, output (LSTM); reset, update, new (GRU). They
are kept for the way back in flat memory, one step after the other as (gates, rows, H): all that a
step computes, and each gate, is contiguous.

On the way back gradients of results come in the order of the layer's results, None where there is
none; among them are those of what was kept, which second derivatives need.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, groupby
from typing import Any

import numpy as np
from numpy import ndarray

from .half import widen
from .reduce import column_sums
from .scratch import aligned


def steps(sizes: tuple[int, ...], reverse: bool) -> list[tuple[int, int]]:
    """First and last row of each step, in the order the steps are taken."""
    ends = list(accumulate(sizes))
    spans = [(end - n, end) for end, n in zip(ends, sizes, strict=True)]
    return spans[::-1] if reverse else spans


def _even(sizes: tuple[int, ...]) -> bool:
    """Whether all steps have as many rows: sizes never grow."""
    return sizes[0] == sizes[-1]


class Steps:
    """Views of every step's part of arrays, in the order the steps are taken."""

    def __init__(self, sizes: tuple[int, ...], reverse: bool) -> None:
        self._sizes, self._reverse = sizes, reverse
        self._even = _even(sizes)

    def of(self, x: ndarray) -> list[ndarray]:
        """The rows of x, (..., N, H)."""
        if not self._even:
            return [x[..., start:end, :] for start, end in steps(self._sizes, self._reverse)]
        in_time = x.reshape(*x.shape[:-2], len(self._sizes), self._sizes[0], x.shape[-1])
        return self._in_order(in_time if x.ndim == 2 else in_time.swapaxes(0, 1))

    def kept(self, x: ndarray, gates: int, width: int) -> list[ndarray]:
        """What was kept of gates of this width, (gates, rows, width) each."""
        if self._even:
            return self._in_order(x.reshape(len(self._sizes), gates, self._sizes[0], width))
        both = gates * width
        return [
            x[both * start : both * end].reshape(gates, end - start, width)
            for start, end in steps(self._sizes, self._reverse)
        ]

    def _in_order(self, in_time: ndarray) -> list[ndarray]:
        return list(in_time[::-1] if self._reverse else in_time)


def wide(*arrays: Any) -> list[Any]:
    """All arrays in a type to compute in."""
    return [None if a is None else widen(a) for a in arrays]


def kept_by_gate(kept: ndarray, gates: int, width: int, sizes: tuple[int, ...]) -> ndarray:
    """What was kept of every gate of this width, (gates, N, width): a copy."""
    return np.concatenate(Steps(sizes, False).kept(kept, gates, width), 1)


Run = tuple[int, int, int]  # of steps with as many rows: its first row, its last, those of a step


def runs(sizes: tuple[int, ...], most: int) -> Iterator[Run]:
    """All steps in runs of some ``most`` rows."""
    start = 0
    for rows, same in groupby(sizes):
        end = start + rows * len(list(same))
        some = rows * max(1, most // max(1, rows)) or 1
        for first in range(start, end, some):
            yield first, min(first + some, end), rows
        start = end


def rows_of_run(x: ndarray, run: Run) -> ndarray:
    """A view of rows (N, H) as (steps, rows, H)."""
    start, end, rows = run
    return x[start:end].reshape((end - start) // (rows or 1), rows, x.shape[1])


def kept_of_run(kept: ndarray, gates: int, width: int, run: Run) -> ndarray:
    """A view of what was kept of gates of this width: (gates, steps, rows, H)."""
    start, end, rows = run
    part = kept[gates * width * start : gates * width * end]
    return part.reshape((end - start) // (rows or 1), gates, rows, width).swapaxes(0, 1)


def by_gate(x: ndarray, gates: int) -> ndarray:
    """A view of rows (N, gates H) as (gates, N, H)."""
    return x.reshape(len(x), gates, x.shape[1] // gates).swapaxes(0, 1)


_WIDTH = 64  # columns, four registers of AVX-512
_SMALL = 1 << 20  # numbers of products up to which OpenBLAS multiplies in place, in one thread
_FEW = 1 << 22  # numbers of products that one thread does as quickly as several


class GateProduct:
    """The product with weights (K, gates H), done again and again for the few rows of a step.

    A BLAS that works in several threads copies the weights every time, and hands numbers from core
    to core. Blocks of columns are small enough to be multiplied in place, each of them lying in one
    piece that begins where a line of the cache does.
    """

    def __init__(
        self, weight: ndarray, rows: int, gates: int = 1, result: ndarray | None = None
    ) -> None:
        depth, columns = weight.shape
        width = columns // gates
        small = rows * depth * _WIDTH <= _SMALL and rows * depth * columns <= _FEW
        if small and width % _WIDTH == 0:
            result = aligned((gates, rows, width), weight.dtype) if result is None else result[None]
            columns_of = weight.reshape(depth, gates, -1, _WIDTH).transpose(1, 2, 0, 3)
            self._blocks = aligned(columns_of.shape, weight.dtype)
            self._blocks[...] = columns_of
            self._to = result.reshape(gates, rows, -1, _WIDTH).swapaxes(1, 2)
        else:
            flat = aligned((rows, columns), weight.dtype) if result is None else result
            result, self._blocks, self._to = by_gate(flat, gates), weight, flat
        self._rows, self._result = rows, result if gates > 1 else result[0]

    def __call__(self, x: ndarray) -> ndarray:
        """x @ weight, (rows of x, H) or (gates, rows of x, H), written to the same result again."""
        n = len(x)
        if n == self._rows:
            np.matmul(x, self._blocks, out=self._to)
            return self._result
        np.matmul(x, self._blocks, out=self._to[..., :n, :])
        return self._result[..., :n, :]


def projected(x: ndarray, weight: ndarray, bias: Any, gates: int) -> ndarray:
    """What the inputs of all steps add to the gates' sums: (gates, N, H)."""
    z = x @ weight.T
    if bias is not None:
        z += bias
    return by_gate(z, gates)


class State:
    """The states of all sequences; those of the running ones are views of the last step's."""

    def __init__(self, first: ndarray) -> None:
        self.first, self.now = first, first[:0]
        self.last = first.copy()

    def of(self, rows: int) -> ndarray:
        """The states of the first ``rows`` sequences before a step."""
        known = len(self.now)
        if rows < known:
            self.last[rows:known] = self.now[rows:]
            return self.now[:rows]
        if rows > known:
            return np.concatenate([self.now, self.first[known:rows]])
        return self.now

    def end(self) -> ndarray:
        """The last states of all sequences."""
        self.last[: len(self.now)] = self.now
        return self.last


def gradient_of(state: ndarray, g: ndarray | None) -> ndarray:
    """The gradient of a state before its way back through the steps: contiguous, to write to."""
    return np.zeros(state.shape, state.dtype) if g is None else g.copy()


def states_before(first: ndarray, out: ndarray, sizes: tuple[int, ...], reverse: bool) -> ndarray:
    """For every row the state before its step."""
    if _even(sizes):
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
    """Gradients of input, weights and biases from those of the gates' sums, (N, gates H)."""
    bias = column_sums(g)
    state_bias = bias.copy() if g_state is g else column_sums(g_state)
    return g @ w_ih, g.T @ x, g_state.T @ earlier, bias, state_bias


def slope(squashed: ndarray, out: ndarray | None = None) -> ndarray:
    """The derivative of a sigmoid by its value."""
    z = np.subtract(1, squashed, out=out)
    z *= squashed
    return z


def tanh_slope(squashed: ndarray, out: ndarray | None = None) -> ndarray:
    """The derivative of tanh by its value."""
    z = np.multiply(squashed, squashed, out=out)
    return np.subtract(1, z, out=z)
