"""The gradients of strided convolutions, by phases.

With stride s, the padded position s · i + r is position i of phase r. The phases are channels of an
image that is s times smaller, of which the strided convolution is one with stride 1 and a kernel
s times smaller. All samples of a chunk, padded, lie in one line per channel, so that a tap is a
shift of the line; what a shift takes from the next row or sample is margin, which is zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any

import numpy as np

from . import conv_core
from .conv_core import EVERY, chunks
from .conv_plan import WIDE, Plan, pointwise, single, steps, view
from .scratch import scratch

# Bytes of a chunk's lines and products; rows of a product from which taps are multiplied one by one
# where the alternative is to copy them.
CHUNK_BYTES, FEW_ROWS = 1 << 22, 32


@dataclass(frozen=True, slots=True)
class _Phases:
    """The geometry of a strided plan as one of stride 1."""

    count: tuple[int, ...]  # phases that the kernel has, along each dim
    taps: tuple[int, ...]
    full: tuple[int, ...]  # of one padded sample of a phase
    shifts: tuple[int, ...]  # of the taps in a line
    ends: int  # elements after a line's end that shifts read
    # of each phase: its number along every dim, where it lies in x, and where in ``full``
    places: tuple[tuple[tuple[int, ...], tuple[slice, ...], tuple[slice, ...]], ...]

    @property
    def rows(self) -> int:
        return prod(self.count)

    @property
    def all_taps(self) -> int:
        return prod(self.taps)


def by_phases(plan: Plan) -> bool:
    """Whether the plan has strides, and no dilation."""
    return max(plan.stride) > 1 and max(plan.dilation) == 1


@lru_cache(maxsize=512)
def _phases(plan: Plan) -> _Phases:
    settings = list(zip(plan.stride, plan.padding, plan.size, strict=True))
    count = tuple(min(s, k) for s, k in zip(plan.stride, plan.kernel, strict=True))
    taps = tuple(-(-k // s) for s, k in zip(plan.stride, plan.kernel, strict=True))
    full = tuple(
        max(o + t - 1, (p + n - 1) // s + 1)
        for o, t, (s, p, n) in zip(plan.out, taps, settings, strict=True)
    )
    walk = steps(full)
    shifts = tuple(sum(i * w for i, w in zip(tap, walk, strict=True)) for tap in np.ndindex(*taps))
    places = []
    for phase in product(*map(range, count)):
        first = [-(-(p - r) // s) for r, (s, p, _) in zip(phase, settings, strict=True)]
        start = [s * i + r - p for i, r, (s, p, _) in zip(first, phase, settings, strict=True)]
        own = tuple(slice(a, None, s) for a, s in zip(start, plan.stride, strict=True))
        many = [len(range(a, n, s)) for a, (s, _, n) in zip(start, settings, strict=True)]
        there = tuple(slice(i, i + m) for i, m in zip(first, many, strict=True))
        places.append((phase, own, there))
    return _Phases(count, taps, full, shifts, shifts[-1], tuple(places))


def _weight_by_phases(plan: Plan, phases: _Phases, weight: np.ndarray) -> np.ndarray:
    """The weight as (groups, O / groups, C / groups, *phases, *taps), zeros where it ends."""
    whole = tuple(c * t for c, t in zip(phases.count, phases.taps, strict=True))
    if whole != plan.kernel:
        larger = np.zeros(weight.shape[:2] + whole, weight.dtype)
        larger[EVERY + tuple(slice(k) for k in plan.kernel)] = weight
        weight = larger
    pairs = [n for pair in zip(phases.taps, phases.count, strict=True) for n in pair]
    split = weight.reshape((plan.groups, plan.each, plan.depth, *pairs))
    return split.transpose(0, 1, 2, *range(4, split.ndim, 2), *range(3, split.ndim, 2))


def _batch(plan: Plan, phases: _Phases, rows: int) -> int:
    """Samples of a chunk whose products have ``rows`` rows."""
    positions = prod(phases.full)
    fits = CHUNK_BYTES // (4 * rows * positions)
    most = min(plan.samples, max(1, fits, -(-WIDE // positions)))
    return -(-plan.samples // -(-plan.samples // most))


def _line_room(
    slot: str, channels: int, batch: int, phases: _Phases, ends: int, dtype: np.dtype
) -> tuple[np.ndarray, np.ndarray]:
    """Zeros: lines (channels, batch · positions + ends), and their samples (…, batch, *full)."""
    length = batch * prod(phases.full)
    lines = scratch(slot, (channels, length + ends), dtype)
    lines.fill(0)
    shape = (channels, batch) + phases.full
    return lines, view(lines, shape, (length + ends, prod(phases.full), *steps(phases.full)))


def strided_gradient_input(plan: Plan, g: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """g (N, O, *out) and the weight to (N, C, *size)."""
    phases = _phases(plan)
    split = _weight_by_phases(plan, phases, weight)
    backwards: Any = (..., *[slice(None, None, -1)] * len(plan.size))
    turned = split[backwards]
    rows, taps = plan.depth * phases.rows, phases.all_taps
    copied = plan.each <= rows  # taps of g are, and not those of the products
    shape = (plan.groups, plan.each, rows, taps)
    turned = np.ascontiguousarray(turned).reshape(shape)
    order = (0, 2, 3, 1) if copied else (0, 3, 2, 1)
    matrix = np.ascontiguousarray(turned.transpose(order))
    matrix = matrix.reshape((plan.groups, rows, -1) if copied else (plan.groups, -1, plan.each))
    batch = _batch(plan, phases, plan.channels * phases.rows * (1 if copied else taps))
    lines, samples = _line_room("lines", plan.outputs, batch, phases, phases.ends, g.dtype)
    inner = tuple(slice(t - 1, t - 1 + o) for t, o in zip(phases.taps, plan.out, strict=True))
    window = samples[(slice(None), slice(None)) + inner]
    full = all(s <= k for s, k in zip(plan.stride, plan.kernel, strict=True))
    result = (np.empty if full else np.zeros)((plan.samples, plan.channels) + plan.size, g.dtype)
    for start, stop in chunks(0, plan.samples, batch):
        window[:, : stop - start] = g[start:stop].swapaxes(0, 1)
        total = (_of_columns if copied else _of_products)(plan, phases, matrix, lines)
        parts = total.reshape((plan.channels, *phases.count, batch) + phases.full)
        for phase, own, there in phases.places:
            source: Any = (slice(None), *phase, slice(stop - start), *there)
            target: Any = (slice(start, stop), slice(None), *own)
            result[target] = parts[source].swapaxes(0, 1)
    return result


def _shifted(phases: _Phases, lines: np.ndarray) -> Iterator[np.ndarray]:
    """The lines (…, length + ends) as each tap sees them: (…, length)."""
    length = lines.shape[-1] - phases.ends
    for shift in phases.shifts:
        yield lines[..., shift : shift + length]


def _columns(groups: int, phases: _Phases, lines: np.ndarray) -> np.ndarray:
    """The taps of lines (channels, length + ends), copied: (groups, taps · channels, length)."""
    channels, length = lines.shape[0] // groups, lines.shape[1] - phases.ends
    if phases.all_taps == 1:
        return lines.reshape(groups, channels, length)
    columns = scratch("columns", (groups, phases.all_taps, channels, length), lines.dtype)
    parts = lines.reshape(groups, channels, -1)
    for tap, part in enumerate(_shifted(phases, parts)):
        columns[:, tap] = part
    return columns.reshape(groups, -1, length)


def _of_columns(plan: Plan, phases: _Phases, matrix: np.ndarray, lines: np.ndarray) -> np.ndarray:
    columns = _columns(plan.groups, phases, lines)
    room = scratch("products", (plan.groups, matrix.shape[1], columns.shape[2]), lines.dtype)
    return np.matmul(matrix, columns, out=room)


def _of_products(plan: Plan, phases: _Phases, matrix: np.ndarray, lines: np.ndarray) -> np.ndarray:
    parts = lines.reshape(plan.groups, plan.each, -1)
    room = scratch("products", (plan.groups, matrix.shape[1], parts.shape[2]), lines.dtype)
    np.matmul(matrix, parts, out=room)
    products = room.reshape(plan.groups, phases.all_taps, -1, parts.shape[2])
    total: np.ndarray | None = None
    for tap, part in enumerate(_shifted(phases, products)):
        total = part[:, 0] if total is None else np.add(total, part[:, tap], out=total)
    assert total is not None
    return total


def gradient_weight(plan: Plan, g: np.ndarray, x: np.ndarray) -> np.ndarray:
    """g (N, O, *out) and x (N, C, *size) to (O, C / groups, *kernel), for any plan."""
    if by_phases(plan) and not pointwise(plan) and not single(plan):
        return strided_gradient_weight(plan, g, x)
    return conv_core.gradient_weight(plan, g, x)


def strided_gradient_weight(plan: Plan, g: np.ndarray, x: np.ndarray) -> np.ndarray:
    """g (N, O, *out) and x (N, C, *size) to (O, C / groups, *kernel)."""
    phases = _phases(plan)
    batch = _batch(plan, phases, max(plan.channels * phases.rows, plan.outputs))
    lines, samples = _line_room(
        "padded", plan.channels * phases.rows, batch, phases, phases.ends, x.dtype
    )
    parts = samples.reshape((plan.channels, *phases.count) + samples.shape[1:])
    g_lines, g_samples = _line_room("lines", plan.outputs, batch, phases, 0, g.dtype)
    window = g_samples[EVERY + tuple(slice(o) for o in plan.out)]
    left = g_lines.reshape(plan.groups, plan.each, -1)
    total: np.ndarray | None = None
    for start, stop in chunks(0, plan.samples, batch):
        if stop - start < batch:
            g_lines.fill(0)
        window[:, : stop - start] = g[start:stop].swapaxes(0, 1)
        for phase, own, there in phases.places:
            source: Any = (slice(start, stop), slice(None), *own)
            target: Any = (slice(None), *phase, slice(stop - start), *there)
            parts[target] = x[source].swapaxes(0, 1)
        found = _weight_products(plan, phases, left, lines)
        total = found if total is None else np.add(total, found, out=total)
    assert total is not None
    whole = tuple(c * t for c, t in zip(phases.count, phases.taps, strict=True))
    split = total.reshape((plan.groups, *phases.taps, plan.each, plan.depth) + phases.count)
    dims = len(whole)
    pairs = [d for i in range(dims) for d in (1 + i, 3 + dims + i)]
    result = split.transpose(0, dims + 1, dims + 2, *pairs)
    result = result.reshape((plan.outputs, plan.depth) + whole)
    return np.ascontiguousarray(result[EVERY + tuple(slice(k) for k in plan.kernel)])


def _weight_products(
    plan: Plan, phases: _Phases, left: np.ndarray, lines: np.ndarray
) -> np.ndarray:
    """Sums over a line: (groups, taps, O / groups, channels of a group and their phases)."""
    rows = plan.depth * phases.rows
    if rows >= FEW_ROWS:
        parts = lines.reshape(plan.groups, rows, -1)
        found = [np.matmul(left, part.swapaxes(1, 2)) for part in _shifted(phases, parts)]
        return np.stack(found, 1)
    columns = _columns(plan.groups, phases, lines)
    found = np.matmul(left, columns.swapaxes(1, 2))
    split = found.reshape(plan.groups, plan.each, phases.all_taps, rows)
    return np.ascontiguousarray(split.swapaxes(1, 2))
