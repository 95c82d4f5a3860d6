"""Ordinary convolution and its two gradients, chunk by chunk, as matrix products.

Every function takes C-contiguous arrays of one computing dtype and a plan (see conv_plan.py).
"""

from __future__ import annotations

from math import prod

import numpy as np

from .conv_plan import Plan, tap_strides, view


def _chunks(plan: Plan):
    """(first, last) of every chunk of samples."""
    for start in range(0, plan.samples, plan.batch):
        yield start, min(start + plan.batch, plan.samples)


def _channel_major(plan: Plan, count: int, dtype) -> np.ndarray:
    return np.zeros((plan.channels, count) + plan.full, dtype)


def _swap(x: np.ndarray) -> np.ndarray:
    return x.swapaxes(0, 1)


def _columns_flat(plan: Plan, x: np.ndarray):
    """Yields (first, last, columns): columns (groups, depth, positions), the last `reach` cut off."""
    plane = prod(plan.full)
    buffer = None if plan.direct else _channel_major(plan, plan.batch, x.dtype)
    length = plan.batch * plane - plan.reach
    columns = np.empty((plan.channels,) + plan.kernel + (length,), x.dtype)
    strides = (plan.batch * plane,) + tap_strides(plan) + (1,)
    for first, last in _chunks(plan):
        if buffer is None:
            source = view(x, columns.shape, strides, first * plan.channels * plane)
        else:
            inner = buffer[(slice(None), slice(last - first)) + plan.inner]
            inner[...] = _swap(x[first:last])
            source = view(buffer, columns.shape, strides)
        columns[...] = source
        yield first, last, columns.reshape(plan.groups, plan.depth, length)


def _padded(plan: Plan, x: np.ndarray) -> np.ndarray:
    if plan.direct:
        return x
    buffer = np.zeros(x.shape[:2] + plan.full, x.dtype)
    buffer[(slice(None), slice(None)) + plan.inner] = x
    return buffer


def _columns_rows(plan: Plan, x: np.ndarray):
    """Yields (first, last, columns): columns (groups, depth, samples * positions)."""
    plane = prod(plan.full)
    buffer = _padded(plan, x)
    walk = tuple(s * t for s, t in zip(plan.stride, plan.steps, strict=True))
    strides = (plane,) + tap_strides(plan) + (plan.channels * plane,) + walk
    for first, last in _chunks(plan):
        shape = (plan.channels,) + plan.kernel + (last - first,) + plan.out
        source = view(buffer, shape, strides, first * plan.channels * plane)
        columns = np.empty(shape, x.dtype)
        columns[...] = source
        yield first, last, columns.reshape(plan.groups, plan.depth, -1)


def _pointwise(plan: Plan) -> bool:
    """A kernel of one tap over all of x: no columns are needed, x is the matrix."""
    return prod(plan.kernel) == 1 and plan.out == plan.size and not any(plan.padding)


def forward(
    plan: Plan, x: np.ndarray, weight: np.ndarray, bias: np.ndarray | None
) -> np.ndarray:
    """x (N, C, *size) to (N, O, *out)."""
    matrix = weight.reshape(plan.groups, plan.outputs // plan.groups, plan.depth)
    shape = (plan.samples, plan.outputs) + plan.out
    if _pointwise(plan):
        lines = x.reshape(plan.samples, plan.groups, plan.depth, -1)
        result = np.matmul(matrix, lines).reshape(shape)
        return result if bias is None else np.add(result, spread(bias, plan), out=result)
    result = np.empty(shape, x.dtype)
    run = _forward_flat if plan.flat else _forward_rows
    run(plan, x, matrix, 0 if bias is None else spread(bias, plan), result)
    return result


def spread(bias: np.ndarray, plan: Plan) -> np.ndarray:
    """bias (O,) as (O, 1, ...) to add to (N, O, *out)."""
    return bias.reshape((-1,) + (1,) * len(plan.out))


def _forward_flat(plan, x, matrix, bias, result) -> None:
    room = np.empty((plan.outputs, plan.batch) + plan.full, x.dtype)
    lines = room.reshape(plan.groups, plan.outputs // plan.groups, -1)
    kept = _swap(room[(slice(None), slice(None)) + tuple(slice(o) for o in plan.out)])
    for first, last, columns in _columns_flat(plan, x):
        np.matmul(matrix, columns, out=lines[:, :, : columns.shape[2]])
        np.add(kept[: last - first], bias, out=result[first:last])


def _forward_rows(plan, x, matrix, bias, result) -> None:
    for first, last, columns in _columns_rows(plan, x):
        product = np.matmul(matrix, columns)
        product = product.reshape((plan.outputs, last - first) + plan.out)
        np.add(_swap(product), bias, out=result[first:last])


def _wide_gradient(plan: Plan, dtype) -> tuple[np.ndarray, np.ndarray]:
    """Room for a chunk of g, channel-major, spread like the padded input; and its window."""
    room = np.zeros((plan.outputs, plan.batch) + plan.full, dtype)
    window = room[(slice(None), slice(None)) + tuple(slice(o) for o in plan.out)]
    return room.reshape(plan.groups, plan.outputs // plan.groups, -1), _swap(window)


def _fill(window: np.ndarray, g: np.ndarray) -> None:
    """Writes a chunk; a shorter last chunk leaves nothing behind of the one before."""
    window[: len(g)] = g
    if len(g) < len(window):
        window[len(g) :] = 0


def gradient_weight(plan: Plan, g: np.ndarray, x: np.ndarray) -> np.ndarray:
    """g (N, O, *out) and x (N, C, *size) to (O, C / groups, *kernel)."""
    each = plan.outputs // plan.groups
    shape = (plan.outputs, plan.channels // plan.groups) + plan.kernel
    if _pointwise(plan):
        left = g.reshape(plan.samples, plan.groups, each, -1)
        lines = x.reshape(plan.samples, plan.groups, plan.depth, -1)
        products = np.matmul(left, lines.swapaxes(2, 3))
        return np.add.reduce(products, axis=0).reshape(shape)
    run = _weight_flat if plan.flat else _weight_rows
    total = np.zeros((plan.groups, plan.depth, each), x.dtype)
    for product in run(plan, g, x):
        total += product
    return np.ascontiguousarray(total.swapaxes(1, 2)).reshape(shape)


def _weight_flat(plan, g, x):
    lines, window = _wide_gradient(plan, g.dtype)
    for first, last, columns in _columns_flat(plan, x):
        _fill(window, g[first:last])
        yield np.matmul(columns, lines[:, :, : columns.shape[2]].swapaxes(1, 2))


def _channel_lines(plan: Plan, g: np.ndarray) -> np.ndarray:
    """A chunk of g (n, O, *out) as (groups, O / groups, n * positions)."""
    lines = np.ascontiguousarray(_swap(g))
    return lines.reshape(plan.groups, plan.outputs // plan.groups, -1)


def _weight_rows(plan, g, x):
    for first, last, columns in _columns_rows(plan, x):
        yield np.matmul(columns, _channel_lines(plan, g[first:last]).swapaxes(1, 2))


def gradient_input(plan: Plan, g: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """g (N, O, *out) and the weight to (N, C, *size)."""
    each = plan.outputs // plan.groups
    matrix = weight.reshape(plan.groups, each, plan.depth).swapaxes(1, 2)
    shape = (plan.samples, plan.channels) + plan.size
    if _pointwise(plan):
        return np.matmul(matrix, g.reshape(plan.samples, plan.groups, each, -1)).reshape(shape)
    result = np.empty(shape, g.dtype)
    (_input_flat if plan.flat else _input_rows)(plan, g, matrix, result)
    return result


def _input_flat(plan, g, matrix, result) -> None:
    """Each tap's product is shifted back by the tap's offset; one reduction adds the shifts."""
    plane = prod(plan.full)
    length = plan.batch * plane
    line = plan.reach + length  # `reach` zeros in front: what a shifted line reads before its start
    products = np.zeros((plan.channels,) + plan.kernel + (line,), g.dtype)
    target = products.reshape(plan.groups, plan.depth, line)[:, :, plan.reach :]
    taps = prod(plan.kernel)
    # Axes (taps..., channels, positions): position p of tap t is p - shift(t).
    own = [line * n for n in _tap_numbers(plan)]
    strides = [o - t for o, t in zip(own, tap_strides(plan), strict=True)] + [taps * line, 1]
    shifted = view(products, plan.kernel + (plan.channels, length), strides, plan.reach)
    axes = tuple(range(len(plan.kernel)))
    total = np.empty((plan.channels, plan.batch) + plan.full, g.dtype)
    inner = _swap(total[(slice(None), slice(None)) + plan.inner])
    lines, window = _wide_gradient(plan, g.dtype)
    for first, last in _chunks(plan):
        _fill(window, g[first:last])
        np.matmul(matrix, lines, out=target)
        np.add.reduce(shifted, axis=axes, out=total.reshape(plan.channels, length))
        result[first:last] = inner[: last - first]


def _tap_numbers(plan: Plan) -> list[int]:
    """How many taps lie between neighbours along each kernel dim."""
    return [prod(plan.kernel[dim + 1 :]) for dim in range(len(plan.kernel))]


def _input_rows(plan, g, matrix, result) -> None:
    """One strided addition per tap."""
    room = np.empty((plan.channels, plan.batch) + plan.full, g.dtype)
    for first, last in _chunks(plan):
        count = last - first
        products = np.matmul(matrix, _channel_lines(plan, g[first:last]))
        products = products.reshape((plan.channels,) + plan.kernel + (count,) + plan.out)
        total = room[:, :count]
        total[...] = 0
        for tap in np.ndindex(*plan.kernel):
            part = total[(slice(None), slice(None)) + _tap_slices(plan, tap)]
            np.add(part, products[(slice(None),) + tap], out=part)
        result[first:last] = _swap(total[(slice(None), slice(None)) + plan.inner])


def _tap_slices(plan: Plan, tap: tuple[int, ...]) -> tuple[slice, ...]:
    settings = zip(tap, plan.out, plan.stride, plan.dilation, strict=True)
    return tuple(slice(t * d, t * d + (o - 1) * s + 1, s) for t, o, s, d in settings)
