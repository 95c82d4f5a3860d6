"""Ordinary convolution and its gradient with respect to the weight, as matrix products.

Every function takes C-contiguous arrays of one computing dtype and a plan (conv_plan.py, which
explains the two layouts of columns).
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from .conv_plan import SMALL, Plan, pointwise, single, steps, view
from .scratch import scratch
from .threads import spread

# Columns of a product below which adding up its results costs about as much as the product.
SHORT_ROW = 128

EVERY = (slice(None), slice(None))


def inner(plan: Plan) -> tuple[slice, ...]:
    """Where x lies in the padded input; to index (any, any, *full)."""
    where = zip(plan.size, plan.padding, strict=True)
    return EVERY + tuple(slice(p, p + n) for n, p in where)


def chunks(first: int, last: int, batch: int) -> list[tuple[int, int]]:
    """(first, last) of every chunk of a range of samples."""
    return [(start, min(start + batch, last)) for start in range(first, last, batch)]


def by_group(plan: Plan, x: np.ndarray) -> np.ndarray:
    """(N, channels, *spatial) as (N, groups, channels / groups, positions)."""
    return x.reshape(x.shape[0], plan.groups, x.shape[1] // plan.groups, -1)


def samples_by_group(plan: Plan, x: np.ndarray) -> np.ndarray:
    """(N, channels, *spatial) as matrices (groups, N, channels / groups · positions)."""
    return x.reshape(x.shape[0], plan.groups, -1).swapaxes(0, 1)


def _source(plan: Plan, x: np.ndarray, batch: int) -> Callable[[int, int], tuple[np.ndarray, int]]:
    """A function (first, last) -> (contiguous buffer of padded samples, offset of the first)."""
    if plan.full == plan.size:
        return lambda first, last: (x, first * plan.channels * prod(plan.full))
    buffer = scratch("padded", (batch, plan.channels) + plan.full, x.dtype)
    buffer.fill(0)
    window = buffer[inner(plan)]

    def fill(first, last):
        window[: last - first] = x[first:last]
        return buffer, 0

    return fill


def _column_strides(plan: Plan) -> tuple[tuple[int, ...], tuple[int, ...], list[int]]:
    """The columns' shape before and after the samples' axis, and the strides into padded samples.

    whole: groups, C, *kernel | *out; tall: groups, rows, C, *(other taps) | *(other out dims).
    """
    walk, plane = steps(plan.full), prod(plan.full)
    taps = [d * w for d, w in zip(plan.dilation, walk, strict=True)]
    moves = [s * w for s, w in zip(plan.stride, walk, strict=True)]
    group, sample = plan.depth * plane, plan.channels * plane
    if not plan.tall:
        shape = (plan.groups, plan.depth, *plan.kernel)
        return shape, plan.out, [group, plane, *taps, sample, *moves]
    kernel, out = plan.kernel[:-2] + plan.kernel[-1:], plan.out[:-2] + plan.out[-1:]
    del taps[-2], moves[-2]
    shape = (plan.groups, plan.full[-2], plan.depth, *kernel)
    return shape, out, [group, walk[-2], plane, *taps, sample, *moves]


def _columns(plan: Plan, x: np.ndarray, first: int, last: int):
    """(first, last, columns) of every chunk of samples in a range.

    columns is (groups, products, depth of the product, columns of the product).
    """
    batch = min(plan.batch, last - first)
    source = _source(plan, x, batch)
    before, after, strides = _column_strides(plan)
    for start, stop in chunks(first, last, batch):
        count = stop - start
        room = scratch("columns", before + (count,) + after, x.dtype)
        matrix = _products_view(plan, room, count * prod(after))
        buffer, offset = source(start, stop)
        np.copyto(room, view(buffer, room.shape, strides, offset))
        yield start, stop, matrix


def _products_view(plan: Plan, room: np.ndarray, columns: int) -> np.ndarray:
    if not plan.tall:
        return room.reshape(plan.groups, 1, -1, columns)
    row = prod(room.shape[2:])
    shape = (plan.groups, plan.out[-2], plan.kernel[-2] * row // columns, columns)
    return view(room, shape, (plan.full[-2] * row, plan.stride[-2] * row, columns, 1))


def _weight_matrix(plan: Plan, weight: np.ndarray) -> np.ndarray:
    """The weight as (groups, 1, O / groups, depth of the product)."""
    if plan.tall:
        dims = weight.ndim
        order = (0, dims - 2, *range(1, dims - 2), dims - 1)
        weight = np.ascontiguousarray(weight.transpose(order))
    return weight.reshape(plan.groups, 1, plan.each, -1)


def forward(plan: Plan, x: np.ndarray, weight: np.ndarray, bias: np.ndarray | None) -> np.ndarray:
    """x (N, C, *size) to (N, O, *out)."""
    shape = (plan.samples, plan.outputs) + plan.out
    if pointwise(plan):
        matrix = weight.reshape(plan.groups, plan.each, plan.depth)
        result = np.matmul(matrix, by_group(plan, x)).reshape(shape)
        return result if bias is None else np.add(result, _upright(bias, plan), out=result)
    if single(plan):
        left, right = samples_by_group(plan, x), weight.reshape(plan.groups, plan.each, -1)
        result = np.matmul(left, right.swapaxes(1, 2)).swapaxes(0, 1).reshape(shape)
        return result if bias is None else np.add(result, _upright(bias, plan), out=result)
    result = np.empty(shape, x.dtype)
    matrix = _weight_matrix(plan, weight)

    def work(first: int, last: int) -> None:
        for start, stop, columns in _columns(plan, x, first, last):
            part = result[start:stop]
            lines = output_lines(plan, part)
            if lines is None:
                _through_room(plan, matrix, columns, bias, part)
            else:
                multiply(matrix, columns, lines, plan.pieces)
                if bias is not None:
                    np.add(part, _upright(bias, plan), out=part)

    spread(plan.samples, plan.parts, work)
    return result


def multiply(left: np.ndarray, right: np.ndarray, out: np.ndarray, pieces: int) -> None:
    """out = left @ right, the rows of the left matrices in equal pieces; all have four axes."""
    if pieces > 1:
        left = _in_pieces(left, pieces)
        right = right[:, :, None]
        out = _in_pieces(out, pieces)
    np.matmul(left, right, out=out)


def _in_pieces(out: np.ndarray, pieces: int) -> np.ndarray:
    """(a, b, rows, columns) as (a, b, pieces, rows / pieces, columns), always a view."""
    a, b, rows, columns = out.shape
    strides = out.strides[:2] + (out.strides[2] * (rows // pieces),) + out.strides[2:]
    return np.lib.stride_tricks.as_strided(out, (a, b, pieces, rows // pieces, columns), strides)


def _upright(bias: np.ndarray, plan: Plan) -> np.ndarray:
    """bias (O,) as (O, 1, ...) to add to (N, O, *out)."""
    return bias.reshape((-1,) + (1,) * len(plan.out))


def _through_room(plan, matrix, columns, bias, result) -> None:
    shape = columns.shape[:2] + (plan.each, columns.shape[3])
    product = scratch("products", shape, result.dtype)
    multiply(matrix, columns, product, plan.pieces)
    if bias is not None:
        np.add(product, bias.reshape(plan.groups, 1, plan.each, 1), out=product)
    target = product_order(plan, result)
    target[...] = product.reshape(target.shape)


def product_order(plan: Plan, result: np.ndarray) -> np.ndarray:
    """A chunk of results (n, O, *out) seen as products lie.

    whole: (groups, O / groups, n, *out); tall: (groups, rows, O / groups, n, *(other dims)).
    """
    split = result.reshape((len(result), plan.groups, plan.each) + plan.out)
    if not plan.tall:
        return split.transpose(1, 2, 0, *range(3, split.ndim))
    dims = split.ndim
    return split.transpose(1, dims - 2, 2, 0, *range(3, dims - 2), dims - 1)


def output_lines(plan: Plan, result: np.ndarray) -> np.ndarray | None:
    """The same as matrices (groups, products, O / groups, columns), if the memory allows a view."""
    if len(result) > 1:
        return None
    split = result.reshape((plan.groups, plan.each) + plan.out)
    if not plan.tall:
        return split.reshape(plan.groups, 1, plan.each, -1)
    return split.transpose(0, 2, 1, 3) if len(plan.out) == 2 else None


def gradient_weight(plan: Plan, g: np.ndarray, x: np.ndarray) -> np.ndarray:
    """g (N, O, *out) and x (N, C, *size) to (O, C / groups, *kernel)."""
    shape = (plan.outputs, plan.depth) + plan.kernel
    if pointwise(plan):
        products = np.matmul(by_group(plan, g), by_group(plan, x).swapaxes(2, 3))
        return np.add.reduce(products, axis=0).reshape(shape)
    if single(plan):
        left = samples_by_group(plan, g).swapaxes(1, 2)
        return np.matmul(left, samples_by_group(plan, x)).reshape(shape)

    products = _line_products if _long_lines(plan) else _weight_products

    def work(first: int, last: int) -> np.ndarray:
        total: Any = None
        for part in products(plan, g, x, first, last):
            total = part if total is None else np.add(total, part, out=total)
        return total

    totals = spread(plan.samples, plan.parts, work)
    total: np.ndarray = totals[0] if len(totals) == 1 else np.add.reduce(totals, axis=0)
    return _weight_from_matrix(plan, total)


def _weight_products(plan: Plan, g: np.ndarray, x: np.ndarray, first: int, last: int):
    """Products of columns with g, summed over the products of a chunk of samples.

    Yields (groups, pieces, depth of the product, outputs of a piece).
    """
    for start, stop, columns in _columns(plan, x, first, last):
        lines = _in_pieces(_gradient_lines(plan, g[start:stop]), plan.pieces).swapaxes(3, 4)
        shape = lines.shape[:3] + (columns.shape[2], lines.shape[4])
        products = scratch("products", shape, g.dtype)
        np.matmul(columns[:, :, None], lines, out=products)
        yield np.add.reduce(products, axis=1)


def _long_lines(plan: Plan) -> bool:
    """Whether products for single rows are so short that summing them would cost too much."""
    row = plan.out[-1] * plan.batch
    return plan.tall and len(plan.out) == 2 and plan.stride[-2] == 1 and row < SHORT_ROW


def _line_products(plan: Plan, g: np.ndarray, x: np.ndarray, first: int, last: int):
    """The same as _weight_products with all rows of a sample in one product for each tap.

    The columns lie with the rows inside: a tap along rows is then a shift of the whole plane.
    """
    before, _, walk = _column_strides(plan)
    rows, width, positions = plan.full[-2], plan.out[-1], prod(plan.out)
    shape = (before[0], *before[2:], rows, width)
    strides = (walk[0], *walk[2:4], walk[1], walk[5])
    taps = plan.depth * plan.kernel[-1]
    pieces = _line_pieces(taps, SMALL // (positions * plan.each))
    room = scratch("columns", shape, x.dtype)
    left = view(
        room,
        (plan.groups, plan.kernel[-2], taps, positions),
        (taps * rows * width, width, rows * width, 1),
    )
    source = _source(plan, x, 1)
    for sample in range(first, last):
        buffer, offset = source(sample, sample + 1)
        np.copyto(room, view(buffer, shape, strides, offset))
        right = g[sample].reshape(plan.groups, 1, plan.each, positions).swapaxes(2, 3)
        products = scratch("products", left.shape[:3] + (plan.each,), g.dtype)
        multiply(left, right, products, pieces)
        yield products.reshape(plan.groups, 1, -1, plan.each).copy()


def _line_pieces(rows: int, most: int) -> int:
    """The fewest equal pieces of at most `most` rows; all in one if that would take single rows."""
    fits = [p for p in range(1, rows // 4 + 1) if rows % p == 0 and rows // p <= most]
    return fits[0] if fits else 1


def _gradient_lines(plan: Plan, g: np.ndarray) -> np.ndarray:
    """A chunk of g (n, O, *out) as matrices (groups, products, O / groups, columns)."""
    lines = output_lines(plan, g)
    if lines is not None:
        return lines
    products = plan.out[-2] if plan.tall else 1
    parts = product_order(plan, g)
    lines = scratch("lines", parts.shape, g.dtype)
    lines[...] = parts
    return lines.reshape(plan.groups, products, plan.each, -1)


def _weight_from_matrix(plan: Plan, matrix: np.ndarray) -> np.ndarray:
    """The weight's shape from its gradient as (groups, pieces, depth of the product, outputs)."""
    kernel = plan.kernel
    matrix = np.ascontiguousarray(matrix.swapaxes(2, 3))
    if not plan.tall:
        return matrix.reshape((plan.outputs, plan.depth) + kernel)
    tall = matrix.reshape((plan.outputs, kernel[-2], plan.depth) + kernel[:-2] + kernel[-1:])
    dims = tall.ndim
    return np.ascontiguousarray(tall.transpose(0, *range(2, dims - 1), 1, dims - 1))
