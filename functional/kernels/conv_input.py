"""The gradient of an ordinary convolution with respect to its input.

With stride 1 it is either a convolution of g with the mirrored weight, or a product of the weight
with g whose taps are shifted back and summed: whichever handles fewer channels tap by tap. With
strides, by phases (conv_strided.py), or with dilation as well, one strided addition per tap.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import prod

import numpy as np

from .conv_core import EVERY, by_group, chunks, forward, inner, multiply, samples_by_group
from .conv_plan import (
    COPY,
    FEW,
    MANY_OUTPUTS,
    Plan,
    fits_pieces,
    make_plan,
    pointwise,
    share,
    single,
    steps,
    view,
)
from .conv_strided import by_phases, strided_gradient_input
from .scratch import scratch
from .threads import spread


def gradient_input(plan: Plan, g: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """g (N, O, *out) and the weight to (N, C, *size)."""
    shape = (plan.samples, plan.channels) + plan.size
    if pointwise(plan):
        matrix = weight.reshape(plan.groups, plan.each, plan.depth).swapaxes(1, 2)
        return np.matmul(matrix, by_group(plan, g)).reshape(shape)
    if single(plan):
        right = weight.reshape(plan.groups, plan.each, -1)
        return np.matmul(samples_by_group(plan, g), right).swapaxes(0, 1).reshape(shape)
    if by_phases(plan):
        return strided_gradient_input(plan, g, weight)
    mirror = _mirror(plan)
    if mirror is not None:
        return forward(mirror, g, _mirrored_weight(plan, weight), None)
    result = np.empty(shape, g.dtype)
    if all(s == 1 for s in plan.stride):
        _shifted_sums(plan, g, weight, result)
    else:
        _tap_sums(plan, g, weight, result)
    return result


@lru_cache(maxsize=512)
def _mirror(plan: Plan) -> Plan | None:
    """The plan of the convolution that turns g into the gradient, where it exists and is better."""
    settings = list(zip(plan.kernel, plan.padding, plan.dilation, strict=True))
    padding = tuple(d * (k - 1) - p for k, p, d in settings)
    if plan.each > plan.depth or any(s != 1 for s in plan.stride) or min(padding) < 0:
        return None
    x_shape = (plan.samples, plan.outputs) + plan.out
    weight_shape = (plan.channels, plan.each) + plan.kernel
    return make_plan(
        x_shape,
        weight_shape,
        plan.size,
        plan.stride,
        padding,
        plan.dilation,
        plan.groups,
        plan.threads,
    )


def _mirrored_weight(plan: Plan, weight: np.ndarray) -> np.ndarray:
    """The weight (O, C / groups, *kernel), taps reversed, as (C, O / groups, *kernel)."""
    turned = weight[EVERY + (slice(None, None, -1),) * len(plan.kernel)]
    turned = turned.reshape((plan.groups, plan.each, plan.depth) + plan.kernel).swapaxes(1, 2)
    return np.ascontiguousarray(turned).reshape((plan.channels, plan.each) + plan.kernel)


@dataclass(frozen=True, slots=True)
class _Sums:
    """How the shifted sums of a plan are laid out.

    Lines run over samples and padded positions without end; g is spread over them so that a tap is
    one shift, and what a shift reads from before its line's start is margin, which is zero. tall: a
    line holds one row of the input only, the products take the taps along rows together.
    """

    tall: bool
    batch: int
    parts: int
    pieces: int
    kernel: tuple[int, ...]  # of the shifted taps
    full: tuple[int, ...]  # of one sample's part of a line
    shifts: tuple[int, ...]
    rows: int  # lines of g: input rows and the kernel's reach, or 1
    first: int  # the row of g that the first line holds; may be negative


@lru_cache(maxsize=512)
def _sums(plan: Plan) -> _Sums:
    kernel, full, dilation = plan.kernel, plan.full, plan.dilation
    inner = plan.each * plan.depth * prod(kernel)
    work = inner * plan.groups * prod(full) + COPY * plan.channels * prod(kernel) * prod(full)
    rows_each = plan.depth * prod(kernel) // kernel[-2]
    tall = (
        kernel[-2] > 1
        and dilation[-2] == 1
        and plan.samples * work > FEW
        and (
            plan.each < MANY_OUTPUTS
            or fits_pieces(rows_each, plan.each * kernel[-2] * prod(full) // full[-2])
        )
    )
    rows, first, products = 1, 0, 1
    if tall:
        rows, first = plan.size[-2] + kernel[-2] - 1, plan.padding[-2] - kernel[-2] + 1
        products = plan.size[-2]
        kernel, full, dilation = (t[:-2] + t[-1:] for t in (kernel, full, dilation))
    columns = prod(full)
    stored = plan.channels * prod(kernel) * columns * products
    rows_each = plan.depth * prod(kernel)
    batch, parts, pieces = share(
        plan.threads, plan.samples, work, rows_each, inner // rows_each, columns, stored * 4
    )
    shifts = tuple(d * w for d, w in zip(dilation, steps(full), strict=True))
    return _Sums(tall, batch, parts, pieces, kernel, full, shifts, rows, first)


def _sums_matrix(plan: Plan, sums: _Sums, weight: np.ndarray) -> np.ndarray:
    """The weight as (groups, 1, rows of products, O / groups [* taps along rows]).

    Rows are (C / groups, *taps), or for tall sums (*taps, C / groups): then one shift's products of
    all channels make one long line.
    """
    weight = weight.reshape((plan.groups, plan.each, plan.depth) + plan.kernel)
    if not sums.tall:
        return weight.reshape(plan.groups, 1, plan.each, -1).swapaxes(2, 3)
    # Rows of g come from the top, so the taps along rows from the bottom.
    dims = weight.ndim
    order = (0, *range(3, dims - 2), dims - 1, 2, dims - 2, 1)
    turned = np.ascontiguousarray(weight[..., ::-1, :].transpose(order))
    return turned.reshape(plan.groups, 1, plan.depth * prod(sums.kernel), -1)


def _shifted_sums(plan: Plan, g: np.ndarray, weight: np.ndarray, result: np.ndarray) -> None:
    sums = _sums(plan)
    matrix = _sums_matrix(plan, sums, weight)

    def work(first: int, last: int) -> None:
        batch = min(sums.batch, last - first)
        window, lines = _gradient_room(plan, sums, batch, g.dtype)
        products, shifted, total = _sum_rooms(plan, sums, batch, g.dtype)
        axes = tuple(range(len(sums.kernel)))
        for start, stop in chunks(first, last, batch):
            _spread_gradient(plan, sums, g[start:stop], window)
            multiply(matrix, lines, products, sums.pieces)
            np.add.reduce(shifted, axis=axes, out=total)
            _collect(plan, sums, total, batch, result[start:stop])

    spread(plan.samples, sums.parts, work)


def _gradient_room(plan: Plan, sums: _Sums, batch: int, dtype):
    """Zeros for g (groups, rows, O / groups, batch, *full): its part for g, and it as matrices."""
    room = scratch("lines", (plan.groups, sums.rows, plan.each, batch) + sums.full, dtype)
    room.fill(0)
    length = batch * prod(sums.full)
    if not sums.tall:
        window = room[(slice(None),) * 4 + tuple(slice(o) for o in plan.out)]
        return window, room.reshape(plan.groups, 1, plan.each, length)
    out = plan.out[:-2] + plan.out[-1:]
    window = room[(slice(None),) * 4 + tuple(slice(o) for o in out)]
    row = plan.each * length
    shape = (plan.groups, plan.size[-2], plan.kernel[-2] * plan.each, length)
    return window, view(room, shape, (sums.rows * row, row, length, 1))


def _spread_gradient(plan: Plan, sums: _Sums, g: np.ndarray, window: np.ndarray) -> None:
    """Writes a chunk of g (n, O, *out) into its room; margins stay zero."""
    parts = g.reshape((len(g), plan.groups, plan.each) + plan.out)
    dims = parts.ndim
    if not sums.tall:
        window[:, 0, :, : len(g)] = parts.transpose(1, 2, 0, *range(3, dims))
        return
    top = max(0, sums.first)
    under = max(0, -sums.first)
    count = min(plan.out[-2] - top, sums.rows - under)
    order = (1, dims - 2, 2, 0, *range(3, dims - 2), dims - 1)
    window[:, under : under + count, :, : len(g)] = parts.transpose(order)[:, top : top + count]


def _sum_rooms(plan: Plan, sums: _Sums, batch: int, dtype):
    """Room for the products, the view of it in which taps are shifted back, room for their sum.

    The view is (*taps, groups, rows, C / groups, length), the sum the same without taps.
    """
    length, rows = batch * prod(sums.full), plan.size[-2] if sums.tall else 1
    inner = sums.kernel + (plan.depth,) if sums.tall else (plan.depth,) + sums.kernel
    shape = (plan.groups, rows, *inner, length)
    reach = sum((k - 1) * s for k, s in zip(sums.kernel, sums.shifts, strict=True))
    memory = scratch("products", (reach + prod(shape),), dtype)
    memory[:reach] = 0
    walk = steps(shape)
    channel = walk[-2] if sums.tall else walk[2]
    own = walk[2:-2] if sums.tall else walk[3:-1]
    taps = [w - s for w, s in zip(own, sums.shifts, strict=True)]
    total = scratch("sums", (plan.groups, rows, plan.depth, length), dtype)
    shifted = view(memory, sums.kernel + total.shape, (*taps, *walk[:2], channel, 1), reach)
    products = memory[reach:].reshape(plan.groups, rows, -1, length)
    return products, shifted, total


def _collect(plan: Plan, sums: _Sums, total: np.ndarray, batch: int, result: np.ndarray) -> None:
    """Takes x's part of the sums (groups, rows, C / groups, length): to a chunk (n, C, *size)."""
    total = total.reshape(total.shape[:3] + (batch,) + sums.full)
    target = result.reshape((len(result), plan.groups, plan.depth) + plan.size)
    dims = target.ndim
    size, padding = plan.size, plan.padding
    order: tuple[int, ...] = (1, 2, 0, *range(3, dims))
    if sums.tall:
        size, padding = size[:-2] + size[-1:], padding[:-2] + padding[-1:]
        order = (1, dims - 2, 2, 0, *range(3, dims - 2), dims - 1)
    where = tuple(slice(p, p + n) for p, n in zip(padding, size, strict=True))
    part = total[(slice(None),) * 3 + (slice(len(result)),) + where]
    target.transpose(order)[...] = part if sums.tall else part[:, 0]


def _tap_sums(plan: Plan, g: np.ndarray, weight: np.ndarray, result: np.ndarray) -> None:
    matrix = weight.reshape(plan.groups, plan.each, -1).swapaxes(1, 2)

    def work(first: int, last: int) -> None:
        for start, stop in chunks(first, last, plan.batch):
            lines = np.ascontiguousarray(g[start:stop].swapaxes(0, 1))
            products = np.matmul(matrix, lines.reshape(plan.groups, plan.each, -1))
            count = stop - start
            products = products.reshape((plan.channels,) + plan.kernel + (count,) + plan.out)
            total = np.zeros((plan.channels, count) + plan.full, g.dtype)
            for tap in np.ndindex(*plan.kernel):
                part = total[EVERY + _tap_slices(plan, tap)]
                np.add(part, products[(slice(None),) + tap], out=part)
            result[start:stop] = total[inner(plan)].swapaxes(0, 1)

    spread(plan.samples, plan.parts, work)


def _tap_slices(plan: Plan, tap: tuple[int, ...]) -> tuple[slice, ...]:
    settings = zip(tap, plan.out, plan.stride, plan.dilation, strict=True)
    return tuple(slice(t * d, t * d + (o - 1) * s + 1, s) for t, o, s, d in settings)
