"""The pooling kernels against PyTorch where it is installed, and against plain loops always.

Indices agree exactly.
"""

from __future__ import annotations

import itertools
from math import prod

import numpy as np
import pytest

from compat_tests.kernel_values import (
    HALF,
    assert_same,
    bfloat16,
    needs_torch,
    normal,
    scattered,
    to_torch,
    torch,
)
from functional.kernels import pool

# kernel, stride, padding, dilation, ceil_mode, size
MAX_POOLS = [
    ((2, 2), (2, 2), (0, 0), (1, 1), False, (6, 8)),
    ((2, 2), (2, 2), (0, 0), (1, 1), False, (4, 300)),
    ((2, 2), (2, 2), (0, 0), (1, 1), False, (7, 5)),
    ((2, 2), (2, 2), (0, 0), (1, 1), True, (7, 5)),
    ((2, 2), (2, 2), (1, 1), (1, 1), False, (6, 6)),
    ((3, 3), (2, 2), (1, 1), (1, 1), False, (8, 7)),
    ((3, 3), (2, 2), (0, 0), (1, 1), False, (9, 7)),
    ((3, 3), (2, 2), (1, 1), (1, 1), True, (8, 6)),
    ((3, 2), (1, 3), (1, 0), (2, 1), False, (8, 9)),
    ((3, 2), (1, 3), (1, 1), (2, 3), True, (8, 9)),
    ((3,), (3,), (1,), (1,), False, (10,)),
    ((2,), (2,), (0,), (1,), True, (7,)),
    ((2, 2, 2), (2, 2, 2), (0, 0, 0), (1, 1, 1), False, (4, 4, 6)),
    ((2, 3, 2), (2, 1, 2), (1, 1, 0), (1, 1, 2), True, (4, 5, 6)),
]


def loop_max_pool(x, kernel, stride, padding, dilation, ceil_mode):
    out = pool.pool_shape(x.shape[2:], kernel, stride, padding, dilation, ceil_mode)
    values, indices = np.empty(x.shape[:2] + out, x.dtype), np.empty(x.shape[:2] + out, np.int64)
    numbers = np.arange(prod(x.shape[2:])).reshape(x.shape[2:])
    for plane in np.ndindex(*x.shape[:2]):
        for position in np.ndindex(*out):
            taps = [
                [i for i in range(q * s - p, q * s - p + k * d, d) if 0 <= i < n]
                for q, k, s, p, d, n in zip(
                    position, kernel, stride, padding, dilation, x.shape[2:], strict=True
                )
            ]
            best = None
            for tap in itertools.product(*taps):
                value = x[plane + tap]
                if best is None or value > best[0] or np.isnan(value):
                    best = (value, numbers[tap])
            values[plane + position], indices[plane + position] = best
    return values, indices


def pool_inputs(size, dtype=np.float32):
    """Values with many ties, and the same with NaN and -inf here and there."""
    x = np.rint(normal(2, 3, *size) * 2).astype(dtype)
    yield x
    if np.dtype(dtype).kind == "f":
        odd = x.copy()
        odd.reshape(-1)[::5] = np.nan
        odd[1, 1:] = -np.inf
        yield odd


@pytest.mark.parametrize("case", MAX_POOLS)
def test_max_pool_is_the_loop(case):
    *settings, size = case
    for x in pool_inputs(size):
        values, indices = pool.max_pool(x, *settings)
        expected, where = loop_max_pool(x, *settings)
        np.testing.assert_array_equal(values, expected)
        np.testing.assert_array_equal(indices, where)
        assert indices.dtype == np.int64
        np.testing.assert_array_equal(pool.max_pool_gather(scattered(x), indices), values)
        g = normal(*values.shape)
        scatter = np.zeros((6, prod(size)))
        for plane, index, value in zip(
            itertools.count(), indices.reshape(6, -1), g.reshape(6, -1), strict=False
        ):
            if plane < 6:
                np.add.at(scatter[plane], index, value)
        ours = pool.max_pool_backward(g, indices, x.shape)
        assert_same(ours, scatter.reshape(x.shape).astype(np.float32))


@needs_torch
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int64, np.uint8])
@pytest.mark.parametrize("case", MAX_POOLS)
def test_max_pool_is_torchs(case, dtype):
    kernel, stride, padding, dilation, ceil_mode, size = case
    run = getattr(torch.nn.functional, f"max_pool{len(size)}d")
    settings = (kernel, stride, padding, dilation, ceil_mode)
    for x in pool_inputs(size, dtype):
        if dtype == np.uint8:
            x = np.abs(x.astype(np.int8)).astype(dtype)
        if len(size) == 3 and np.dtype(dtype).kind in "iu":
            continue
        ours, indices = pool.max_pool(scattered(x), *settings)
        values, where = run(to_torch(x), *settings, return_indices=True)
        np.testing.assert_array_equal(ours, values.numpy())
        np.testing.assert_array_equal(indices, where.numpy())


def test_max_pool_of_bfloat16_and_of_nothing():
    x = normal(2, 3, 4, 6).astype(bfloat16)
    settings = ((2, 2), (2, 2), (0, 0), (1, 1), False)
    values, indices = pool.max_pool(x, *settings)
    wide, where = pool.max_pool(x.astype(np.float32), *settings)
    np.testing.assert_array_equal(values.astype(np.float32), wide)
    np.testing.assert_array_equal(indices, where)
    assert pool.max_pool_backward(values, indices, x.shape).dtype == bfloat16
    values, indices = pool.max_pool(x[:0], *settings)
    assert values.shape == indices.shape == (0, 3, 2, 3)
    assert pool.max_pool_backward(values, indices, (0, 3, 4, 6)).shape == (0, 3, 4, 6)
    assert pool.max_pool_gather(x[:0], indices).shape == (0, 3, 2, 3)


# Average pooling --------------------------------------------------------------------------------

# kernel, stride, padding, ceil_mode, size
AVG_POOLS = [
    ((2, 2), (2, 2), (0, 0), False, (6, 8)),
    ((3, 3), (2, 2), (1, 1), False, (8, 7)),
    ((3, 2), (2, 3), (1, 1), True, (8, 9)),
    ((3, 3), (1, 2), (0, 1), True, (6, 6)),
    ((2, 2), (3, 3), (0, 0), True, (8, 7)),
    ((3,), (2,), (1,), True, (8,)),
    ((2, 2, 3), (2, 1, 2), (1, 0, 1), True, (4, 5, 6)),
]


def loop_avg_pool(x, kernel, stride, padding, ceil_mode, count_include_pad, divisor, g=None):
    size = x.shape[2:]
    out = pool.pool_shape(size, kernel, stride, padding, (1,) * len(size), ceil_mode)
    result, gx = np.zeros(x.shape[:2] + out), np.zeros(x.shape)
    for position in np.ndindex(*out):
        starts = [q * s - p for q, s, p in zip(position, stride, padding, strict=True)]
        ends = [min(a + k, n + p) for a, k, n, p in zip(starts, kernel, size, padding, strict=True)]
        inner = [(max(a, 0), min(b, n)) for a, b, n in zip(starts, ends, size, strict=True)]
        counted = zip(starts, ends, strict=True) if count_include_pad else inner
        count = divisor or prod(b - a for a, b in counted)
        where = (slice(None), slice(None)) + tuple(slice(a, b) for a, b in inner)
        here = (slice(None), slice(None)) + position
        result[here] = x[where].reshape(*x.shape[:2], -1).sum(-1) / count
        if g is not None:
            gx[where] += (g[here] / count).reshape(x.shape[:2] + (1,) * len(size))
    return result if g is None else gx


@pytest.mark.parametrize("divisor", [None, 5])
@pytest.mark.parametrize("count_include_pad", [True, False])
@pytest.mark.parametrize("case", AVG_POOLS)
def test_avg_pool_is_the_loop(case, count_include_pad, divisor):
    *head, size = case
    settings = (*head, count_include_pad, divisor)
    x = normal(2, 3, *size, dtype=np.float64)
    expected = loop_avg_pool(x, *settings)
    assert_same(pool.avg_pool(scattered(x), *settings), expected)
    g = normal(*expected.shape, dtype=np.float64)
    ours = pool.avg_pool_backward(scattered(g), x.shape, *settings)
    assert_same(ours, loop_avg_pool(x, *settings, g=g))


@needs_torch
@pytest.mark.parametrize("dtype", [np.dtype(np.float32), *HALF, np.dtype(np.int64)])
@pytest.mark.parametrize("case", AVG_POOLS)
def test_avg_pool_is_torchs(case, dtype):
    kernel, stride, padding, ceil_mode, size = case
    if len(size) == 3 and dtype in HALF:
        dtype = np.dtype(np.float64)  # PyTorch has no half types here
    x = (normal(2, 3, *size) * 9).astype(dtype)
    for count_include_pad, divisor in itertools.product([True, False], [None, 5]):
        if len(size) == 1:
            if divisor:
                continue
            settings = (kernel, stride, padding, ceil_mode, count_include_pad)
            expected = torch.nn.functional.avg_pool1d(to_torch(x), *settings)
        else:
            settings = (kernel, stride, padding, ceil_mode, count_include_pad, divisor)
            run = getattr(torch.nn.functional, f"avg_pool{len(size)}d")
            expected = run(to_torch(x), *settings)
        ours = pool.avg_pool(x, kernel, stride, padding, ceil_mode, count_include_pad, divisor)
        assert_same(ours, expected)


@pytest.mark.parametrize(
    ("size", "out"),
    [((6, 8), (3, 2)), ((7, 5), (3, 4)), ((7, 5), (1, 1)), ((3, 2), (5, 4)), ((9,), (4,))]
    + [((4, 5, 6), (2, 3, 6)), ((6, 6), (2, 4))],
)
def test_adaptive_avg_pool_is_the_loop_and_torchs(size, out):
    x = normal(2, 3, *size, dtype=np.float64)
    expected, gx = np.zeros(x.shape[:2] + out), np.zeros(x.shape)
    g = normal(*expected.shape, dtype=np.float64)
    for position in np.ndindex(*out):
        bounds = zip(position, size, out, strict=True)
        where = tuple(slice(q * n // o, -(-(q + 1) * n // o)) for q, n, o in bounds)
        part = x[(slice(None), slice(None)) + where].reshape(2, 3, -1)
        expected[(slice(None), slice(None)) + position] = part.mean(-1)
        here = g[(slice(None), slice(None)) + position] / part.shape[-1]
        gx[(slice(None), slice(None)) + where] += here.reshape((2, 3) + (1,) * len(size))
    assert_same(pool.adaptive_avg_pool(scattered(x), out), expected)
    assert_same(pool.adaptive_avg_pool_backward(scattered(g), x.shape), gx)
    if torch is not None:
        run = getattr(torch.nn.functional, f"adaptive_avg_pool{len(size)}d")
        narrow = x.astype(bfloat16)
        assert_same(pool.adaptive_avg_pool(narrow, out), run(to_torch(narrow), out))


def test_avg_pools_of_nothing():
    x = np.zeros((0, 3, 4, 4), np.float32)
    settings = ((2, 2), (2, 2), (0, 0), False, True, None)
    assert pool.avg_pool(x, *settings).shape == (0, 3, 2, 2)
    assert pool.avg_pool_backward(x[:, :, :2, :2], x.shape, *settings).shape == x.shape
    assert pool.adaptive_avg_pool(x, (3, 3)).shape == (0, 3, 3, 3)
    assert pool.adaptive_avg_pool_backward(x[:, :, :3, :3], x.shape).shape == x.shape
