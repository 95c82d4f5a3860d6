"""The neural network kernels against PyTorch where it is installed, and against plain loops always.

Values agree to TOLERANCE of the largest reference value (float64 is held to 1e-10, half types to one
unit in their last place); indices, shapes and dtypes agree exactly.
"""

from __future__ import annotations

import itertools
from math import prod

import ml_dtypes
import numpy as np
import pytest

from functional.kernels import conv, norm, pool, softmax

try:
    import torch
except ImportError:
    torch = None

needs_torch = pytest.mark.skipif(torch is None, reason="torch is not installed")
bfloat16 = np.dtype(ml_dtypes.bfloat16)
HALF = [np.dtype(np.float16), bfloat16]
TOLERANCE = {np.dtype(np.float64): 1e-10, np.dtype(np.float16): 1e-3, bfloat16: 8e-3}


def assert_same(ours, theirs, what=""):
    theirs = from_torch(theirs)
    assert ours.shape == theirs.shape, what
    assert ours.dtype == theirs.dtype, what
    wide = np.complex128 if ours.dtype.kind == "c" else np.float64
    a, b = ours.astype(wide), theirs.astype(wide)
    scale = np.abs(b[np.isfinite(b)]).max(initial=1.0)
    rtol = TOLERANCE.get(ours.dtype, 2e-5)
    np.testing.assert_allclose(a, b, atol=rtol * scale, rtol=rtol, err_msg=str(what))


def from_torch(x):
    if torch is None or not isinstance(x, torch.Tensor):
        return np.asarray(x)
    x = x.detach()
    return x.float().numpy().astype(bfloat16) if x.dtype == torch.bfloat16 else x.numpy()


def to_torch(x):
    if x is None:
        return None
    if x.dtype == bfloat16:
        return torch.from_numpy(x.astype(np.float32)).to(torch.bfloat16)
    return torch.from_numpy(x.copy())


def normal(*shape, dtype=np.float32, seed=0):
    rng = np.random.default_rng([seed, *shape])
    if np.dtype(dtype).kind == "c":
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


def scattered(x):
    """The same values, not contiguous: every second element of an array in reverse axis order."""
    room = np.zeros(tuple(2 * n for n in reversed(x.shape)), x.dtype)
    view = room[(slice(None, None, 2),) * x.ndim + (...,)].T
    view[...] = x
    return view


# Convolution ------------------------------------------------------------------------------------


def windows(out, kernel, stride, dilation):
    """(position, index of the padded input) of every window."""
    for position in np.ndindex(*out):
        yield (
            position,
            tuple(
                slice(q * s, q * s + (k - 1) * d + 1, d)
                for q, k, s, d in zip(position, kernel, stride, dilation, strict=True)
            ),
        )


def loop_convolution(x, weight, stride, padding, dilation, groups, g=None):
    """The result, or the gradients (gx, gweight) when g is given, one window at a time."""
    kernel = weight.shape[2:]
    pads = [(0, 0), (0, 0)] + [(p, p) for p in padding]
    padded = np.pad(x, pads)
    settings = zip(padded.shape[2:], kernel, stride, dilation, strict=True)
    out = tuple((n - d * (k - 1) - 1) // s + 1 for n, k, s, d in settings)
    each, depth = weight.shape[0] // groups, weight.shape[1]
    summed = tuple(range(1, x.ndim))
    result = np.zeros((len(x), len(weight)) + out, x.dtype)
    gx, gweight = np.zeros_like(padded), np.zeros_like(weight)
    for o, (position, window) in itertools.product(
        range(len(weight)), windows(out, kernel, stride, dilation)
    ):
        first = o // each * depth
        where = (slice(None), slice(first, first + depth)) + window
        result[(slice(None), o) + position] = (padded[where] * weight[o]).sum(summed)
        if g is not None:
            here = g[(slice(None), o) + position].reshape((-1,) + (1,) * (x.ndim - 1))
            gx[where] += here * weight[o]
            gweight[o] += (here * padded[where]).sum(0)
    inner = tuple(slice(p, p + n) for p, n in zip(padding, x.shape[2:], strict=True))
    return result if g is None else (gx[(slice(None), slice(None)) + inner], gweight)


def torch_convolution(x, weight, bias, *settings):
    tensors = [to_torch(a) for a in (x, weight, bias)]
    if x.dtype.kind != "c":
        return torch.convolution(*tensors, *settings)
    stride, padding, dilation, transposed, output_padding, groups = settings
    if transposed:
        run, last = torch.conv_transpose2d, (output_padding, groups, dilation)
        return run(*tensors, stride, padding, *last)
    return torch.conv2d(*tensors, stride, padding, dilation, groups)


def torch_convolution_backward(g, x, weight, *settings):
    tensors = [to_torch(a) for a in (g, x, weight)]
    backward = torch.ops.aten.convolution_backward
    return backward(*tensors, None, *settings, [True, True, False])[:2]


# kernel, stride, padding, dilation, groups; channels per group, outputs per group; batch, size
CONVOLUTIONS = [
    ((5, 5), (1, 1), (2, 2), (1, 1), 1, 1, 6, 3, (9, 8)),
    ((5, 5), (1, 1), (0, 0), (1, 1), 1, 6, 4, 7, (8, 9)),
    ((3, 3), (1, 1), (0, 0), (1, 1), 1, 3, 2, 1, (6, 6)),
    ((3, 3), (2, 2), (1, 1), (1, 1), 1, 2, 3, 2, (7, 6)),
    ((3, 2), (2, 1), (1, 0), (1, 2), 2, 2, 2, 2, (7, 6)),
    ((3, 3), (1, 1), (1, 1), (1, 1), 4, 1, 1, 2, (5, 5)),
    ((3, 3), (1, 1), (1, 1), (1, 1), 3, 1, 2, 2, (4, 5)),
    ((3, 3), (1, 1), (2, 2), (2, 2), 1, 2, 2, 2, (5, 6)),
    ((1, 1), (1, 1), (0, 0), (1, 1), 1, 3, 4, 2, (3, 4)),
    ((1, 1), (2, 2), (0, 0), (1, 1), 2, 2, 2, 2, (5, 4)),
    ((1, 1), (1, 1), (1, 1), (1, 1), 1, 2, 2, 2, (3, 3)),
    ((2, 2), (3, 3), (0, 0), (1, 1), 1, 2, 2, 2, (8, 7)),
    ((4, 4), (1, 1), (0, 0), (1, 1), 1, 2, 3, 3, (4, 4)),
    ((7, 7), (2, 2), (3, 3), (1, 1), 1, 3, 2, 1, (8, 8)),
    ((3,), (1,), (1,), (1,), 1, 2, 3, 2, (9,)),
    ((3,), (2,), (0,), (2,), 2, 2, 1, 3, (11,)),
    ((1,), (1,), (0,), (1,), 1, 2, 3, 1, (5,)),
    ((2, 3, 2), (1, 1, 1), (1, 0, 1), (1, 1, 1), 1, 2, 2, 2, (3, 4, 4)),
    ((2, 2, 2), (2, 1, 2), (0, 1, 0), (1, 2, 1), 2, 1, 2, 2, (4, 4, 5)),
    ((3, 3), (1, 1), (1, 1), (1, 1), 1, 2, 3, 0, (5, 5)),
]


def convolution_case(case, transposed=False, dtype=np.float64):
    kernel, stride, padding, dilation, groups, depth, each, batch, size = case
    x = normal(batch, groups * (each if transposed else depth), *size, dtype=dtype)
    weight = normal(groups * each, depth, *kernel, dtype=dtype, seed=1)
    bias = normal(groups * (depth if transposed else each), dtype=dtype, seed=2)
    extra = tuple(max(s, d) - 1 for s, d in zip(stride, dilation, strict=True))
    output_padding = extra if transposed else (0,) * len(kernel)
    return x, weight, bias, (stride, padding, dilation, transposed, output_padding, groups)


@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_convolution_is_the_loop(case):
    x, weight, bias, settings = convolution_case(case)
    plain = settings[:3] + settings[-1:]
    expected = loop_convolution(x, weight, *plain)
    assert conv.convolution_shape(x.shape, weight.shape, *settings) == expected.shape
    assert_same(conv.convolution(x, weight, None, *settings), expected)
    shift = bias.reshape((-1,) + (1,) * (x.ndim - 2))
    assert_same(conv.convolution(scattered(x), weight, bias, *settings), expected + shift)
    g = normal(*expected.shape, dtype=np.float64, seed=3)
    gx, gweight = loop_convolution(x, weight, *plain, g=g)
    assert_same(conv.convolution_input(g, weight, x.shape, *settings), gx)
    assert_same(conv.convolution_weight(g, x, weight.shape, *settings), gweight)


@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_transposed_convolution_is_the_loops_gradient(case):
    x, weight, bias, settings = convolution_case(case, transposed=True)
    plain = settings[:3] + settings[-1:]
    shape = conv.convolution_shape(x.shape, weight.shape, *settings)
    # The ordinary convolution of a result may have more positions than x: the rest counts zero.
    ordinary = loop_convolution(np.zeros(shape), weight, *plain)
    g = np.zeros(ordinary.shape)
    g[tuple(slice(n) for n in x.shape)] = x
    expected, _ = loop_convolution(np.zeros(shape), weight, *plain, g=g)
    shift = bias.reshape((-1,) + (1,) * (x.ndim - 2))
    assert_same(conv.convolution(x, weight, bias, *settings), expected + shift)


@needs_torch
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("case", CONVOLUTIONS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_convolution_is_torchs(case, transposed, dtype):
    x, weight, bias, settings = convolution_case(case, transposed, dtype)
    expected = torch_convolution(x, weight, bias, *settings)
    assert_same(conv.convolution(x, weight, bias, *settings), expected)
    g = normal(*expected.shape, dtype=dtype, seed=3)
    gx, gweight = torch_convolution_backward(g, x, weight, *settings)
    assert_same(conv.convolution_input(scattered(g), weight, x.shape, *settings), gx)
    assert_same(conv.convolution_weight(g, scattered(x), weight.shape, *settings), gweight)


@needs_torch
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("dtype", [*HALF, np.dtype(np.complex64), np.dtype(np.int64)])
def test_convolution_of_other_dtypes_is_torchs(transposed, dtype):
    case = CONVOLUTIONS[3]
    x, weight, bias, settings = convolution_case(case, transposed, dtype)
    if dtype.kind == "i":
        x, weight, bias = (np.rint(normal(*a.shape) * 9).astype(dtype) for a in (x, weight, bias))
        if transposed:
            return assert_integers_transposed(x, weight, settings)
    if dtype in HALF:
        wide = torch_convolution(*(a.astype(np.float32) for a in (x, weight, bias)), *settings)
        expected = from_torch(wide).astype(dtype)
    else:
        expected = torch_convolution(x, weight, bias, *settings)
    assert_same(conv.convolution(x, weight, bias, *settings), expected)
    return None


def assert_integers_transposed(x, weight, settings):
    exact = conv.convolution(x.astype(np.float64), weight.astype(np.float64), None, *settings)
    ours = conv.convolution(x, weight, None, *settings)
    np.testing.assert_array_equal(ours, exact.astype(np.int64))


@needs_torch
@pytest.mark.parametrize(
    ("batch", "channels", "outputs", "size", "kernel", "padding"),
    [(64, 1, 6, 28, 5, 2), (64, 6, 16, 14, 5, 0), (19, 32, 64, 26, 3, 0), (33, 32, 24, 12, 3, 1)],
)
def test_convolution_in_chunks_is_torchs(batch, channels, outputs, size, kernel, padding):
    """Batches large enough to be handled some samples at a time, a shorter last chunk included."""
    x, weight = normal(batch, channels, size, size), normal(outputs, channels, kernel, kernel)
    settings = ((1, 1), (padding, padding), (1, 1), False, (0, 0), 1)
    expected = torch_convolution(x, weight, None, *settings)
    assert_same(conv.convolution(x, weight, None, *settings), expected)
    g = normal(*expected.shape, seed=3)
    gx, gweight = torch_convolution_backward(g, x, weight, *settings)
    assert_same(conv.convolution_input(g, weight, x.shape, *settings), gx)
    assert_same(conv.convolution_weight(g, x, weight.shape, *settings), gweight)


# Max pooling ------------------------------------------------------------------------------------

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
        ends = [
            min(a + k, n + p) for a, k, n, p in zip(starts, kernel, size, padding, strict=True)
        ]
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


# Softmax and the negative log-likelihood -----------------------------------------------------------


def exact_log_softmax(x, dim):
    shifted = x - x.max(axis=dim, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=dim, keepdims=True))


@pytest.mark.parametrize("shape", [(5,), (4, 10), (3, 4, 5), (2, 3, 4, 5), (1, 1), ()])
def test_softmax_is_the_formula(shape):
    x, g = (np.asarray(normal(*shape, dtype=np.float64, seed=s) * 30) for s in (0, 1))
    line, gline = (x, g) if shape else (x.reshape(1), g.reshape(1))
    for dim in range(-len(shape), len(shape)) if shape else (0, -1):
        log = exact_log_softmax(line, dim)
        soft = np.exp(log)
        expected = soft * (gline - (gline * soft).sum(axis=dim, keepdims=True))
        log_expected = gline - soft * gline.sum(axis=dim, keepdims=True)
        log, soft = np.asarray(log.reshape(shape)), np.asarray(soft.reshape(shape))
        for ours, exact in [
            (softmax.softmax(scattered(x), dim), soft),
            (softmax.log_softmax(scattered(x), dim), log),
            (softmax.softmax_backward(scattered(g), soft, dim), expected.reshape(shape)),
            (softmax.log_softmax_backward(g, scattered(log), dim), log_expected.reshape(shape)),
        ]:
            assert_same(ours, exact)
            assert ours.flags.c_contiguous


@needs_torch
@pytest.mark.parametrize("dtype", [np.dtype(np.float32), *HALF])
def test_softmax_is_torchs(dtype):
    x = (normal(3, 4, 5) * 5).astype(dtype)
    x[0, :2, 1], x[1, :, 2], x[2, 0, 0] = -np.inf, -np.inf, np.nan
    g = normal(3, 4, 5, seed=1).astype(dtype)
    for name, dim in itertools.product(["softmax", "log_softmax"], [0, 1, 2]):
        expected = getattr(torch, name)(to_torch(x), dim)
        assert_same(getattr(softmax, name)(x, dim), expected)
        back = getattr(torch.ops.aten, f"_{name}_backward_data")
        theirs = back(to_torch(g), expected, dim, expected.dtype)
        ours = getattr(softmax, f"{name}_backward")(g, from_torch(expected), dim)
        assert_same(ours, theirs)


def loop_nll(x, target, weight, ignore_index):
    """Losses and weights per sample, one sample at a time."""
    lines = np.moveaxis(x.reshape((1, *x.shape) if x.ndim == 1 else x.shape), 1, -1)
    losses, weights = np.zeros(target.shape), np.zeros(target.shape)
    for where in np.ndindex(*target.shape):
        label = target[where]
        if label != ignore_index:
            weights[where] = 1 if weight is None else weight[label]
            losses[where] = -weights[where] * lines[where if x.ndim > 1 else 0][label]
    return losses, weights


NLL = [((4, 5), (4,)), ((5,), ()), ((3, 5, 4), (3, 4)), ((2, 5, 3, 2), (2, 3, 2))]


def nll_cases(shape, target_shape):
    rng = np.random.default_rng(0)
    x = exact_log_softmax(normal(*shape, dtype=np.float64), 0 if len(shape) == 1 else 1)
    target = rng.integers(0, 5, target_shape)
    ignoring = np.where(rng.random(target_shape) < 0.3, -100, target)
    weight = np.abs(normal(5, dtype=np.float64)) + 0.1
    for labels, ignore, w in itertools.product(
        [target, np.asarray(ignoring)], [-100, 2], [None, weight]
    ):
        if ignore == -100 or (labels >= 0).all():
            yield x, labels, w, ignore


@pytest.mark.parametrize(("shape", "target_shape"), NLL)
def test_nll_loss_is_the_loop(shape, target_shape):
    for x, target, weight, ignore in nll_cases(shape, target_shape):
        losses, weights = loop_nll(x, target, weight, ignore)
        loss, total = softmax.nll_loss(x, target, weight, 0, ignore)
        assert_same(loss, losses)
        assert total == 0
        loss, total = softmax.nll_loss(x, target, weight, 2, ignore)
        assert_same(loss, np.asarray(losses.sum()))
        assert_same(total, np.asarray(weights.sum()))
        loss, _ = softmax.nll_loss(x, target, weight, 1, ignore)
        with np.errstate(invalid="ignore"):
            assert_same(loss, np.asarray(losses.sum() / weights.sum()))


@needs_torch
@pytest.mark.parametrize(("shape", "target_shape"), NLL)
@pytest.mark.parametrize("dtype", [np.dtype(np.float32), *HALF])
def test_nll_loss_is_torchs(shape, target_shape, dtype):
    for (x, target, weight, ignore), reduction in itertools.product(
        nll_cases(shape, target_shape), [0, 1, 2]
    ):
        x = x.astype(dtype)
        weight = None if weight is None else weight.astype(dtype)
        leaf = to_torch(x).requires_grad_()
        name = ("none", "mean", "sum")[reduction]
        theirs = torch.nn.functional.nll_loss(
            leaf, to_torch(target), to_torch(weight), ignore_index=ignore, reduction=name
        )
        loss, total = softmax.nll_loss(x, target, weight, reduction, ignore)
        assert_same(loss, theirs)
        g = normal(*theirs.shape, seed=4).astype(dtype)
        theirs.backward(to_torch(g))
        if reduction == 1 and total == 0:
            continue
        back = (g, x.shape, x.dtype, target, weight, reduction, ignore, total)
        assert_same(softmax.nll_loss_backward(*back), leaf.grad)


def test_nll_loss_at_the_edges():
    x = np.zeros((2, 3), np.float32)
    for target in ([0, 3], [-1, 0]):
        with pytest.raises(IndexError, match="is out of bounds"):
            softmax.nll_loss(x, np.array(target), None, 1, -100)
    loss, total = softmax.nll_loss(x, np.array([-100, -100]), None, 1, -100)
    assert np.isnan(loss)
    assert total == 0
    loss, total = softmax.nll_loss(x[:0], np.zeros(0, np.int64), None, 1, -100)
    assert np.isnan(loss)
    assert total == 0
    loss, total = softmax.nll_loss(x[0], np.array([1]), None, 0, -100)
    assert loss.shape == ()  # as in PyTorch, though the target is a vector
    x[0, 1] = -np.inf
    loss, total = softmax.nll_loss(x, np.array([1, 0]), None, 2, 1)
    assert loss == 0
    assert total == 1


# Normalization -------------------------------------------------------------------------------------


def exact_batch_norm(x, weight, bias, mean, var, eps):
    lines = (1, -1) + (1,) * (x.ndim - 2)
    xhat = (x - mean.reshape(lines)) / np.sqrt(var.reshape(lines) + eps)
    return xhat * weight.reshape(lines) + bias.reshape(lines)


def slope(function, x, g, step=1e-6):
    """The gradient of sum(g * function(x)) by central differences, one element at a time."""
    result = np.zeros_like(x)
    for where in np.ndindex(*x.shape):
        up, down = x.copy(), x.copy()
        up[where] += step
        down[where] -= step
        result[where] = ((function(up) - function(down)) * g).sum() / (2 * step)
    return result


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("shape", [(4, 3), (3, 2, 4), (2, 3, 3, 4), (1, 2, 2, 2, 3)])
def test_batch_norm_is_the_formula(shape, training):
    channels = shape[1]
    x, g = normal(*shape, dtype=np.float64), normal(*shape, dtype=np.float64, seed=1)
    weight, bias = normal(channels, dtype=np.float64, seed=2), normal(channels, dtype=np.float64)
    axes = (0, *range(2, len(shape)))
    mean, var = np.full(channels, 0.3), np.full(channels, 1.7)
    before, count = (mean.copy(), var.copy()), prod(shape) // channels

    def run(x, weight=weight, bias=bias):
        batch = (x.mean(axes), x.var(axes)) if training else before
        return exact_batch_norm(x, weight, bias, *batch, 1e-3)

    out, m, invstd = norm.batch_norm(scattered(x), weight, bias, mean, var, training, 0.1, 1e-3)
    assert_same(out, run(x))
    if training:
        assert_same(mean, 0.9 * before[0] + 0.1 * x.mean(axes))
        assert_same(var, 0.9 * before[1] + 0.1 * x.var(axes) * count / (count - 1))
    gx, gweight, gbias = norm.batch_norm_backward(scattered(g), x, weight, m, invstd, training)
    np.testing.assert_allclose(gx, slope(run, x, g), atol=1e-6)
    np.testing.assert_allclose(gweight, slope(lambda w: run(x, w), weight, g), atol=1e-6)
    np.testing.assert_allclose(gbias, slope(lambda b: run(x, weight, b), bias, g), atol=1e-6)


@needs_torch
@pytest.mark.parametrize("dtype", [np.dtype(np.float32), *HALF])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("affine", [True, False])
def test_batch_norm_is_torchs(dtype, training, affine):
    x, g = (normal(4, 3, 5, 6) * 3 + 10).astype(dtype), normal(4, 3, 5, 6, seed=1).astype(dtype)
    weight, bias = (normal(3, seed=s).astype(dtype) if affine else None for s in (2, 3))
    mean, var = np.zeros(3, dtype), np.ones(3, dtype)
    theirs = [to_torch(a) for a in (x, weight, bias, mean, var)]
    theirs[0].requires_grad_()
    if affine:
        theirs[1].requires_grad_()
        theirs[2].requires_grad_()
    expected = torch.nn.functional.batch_norm(
        theirs[0], theirs[3], theirs[4], theirs[1], theirs[2], training, 0.1, 1e-5
    )
    out, m, invstd = norm.batch_norm(x, weight, bias, mean, var, training, 0.1, 1e-5)
    assert_same(out, expected)
    assert_same(mean, theirs[3])
    assert_same(var, theirs[4])
    ours = norm.batch_norm_backward(g, x, weight, m, invstd, training)
    if dtype in HALF:
        # PyTorch rounds the statistics between its two passes; ours are those of the exact ones.
        theirs = [None if t is None else t.detach().float() for t in theirs]
        theirs[:3] = [None if t is None else t.requires_grad_() for t in theirs[:3]]
        theirs[3:] = [torch.zeros(3), torch.ones(3)]
        expected = torch.nn.functional.batch_norm(
            theirs[0], theirs[3], theirs[4], theirs[1], theirs[2], training, 0.1, 1e-5
        )
    expected.backward(to_torch(g).to(expected.dtype))
    for mine, leaf in zip(ours, theirs[: 3 if affine else 1], strict=False):
        assert_same(mine, from_torch(leaf.grad).astype(dtype))


@pytest.mark.parametrize(("shape", "ndim"), [((4, 6), 1), ((2, 3, 4), 2), ((5,), 1), ((2, 3), 2)])
def test_layer_norm_is_the_formula(shape, ndim):
    x, g = normal(*shape, dtype=np.float64), normal(*shape, dtype=np.float64, seed=1)
    weight, bias = (normal(*shape[-ndim:], dtype=np.float64, seed=s) for s in (2, 3))
    axes = tuple(range(len(shape) - ndim, len(shape)))

    def run(x, weight=weight, bias=bias):
        mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
        return (x - mean) / np.sqrt(var + 1e-3) * weight + bias

    out, mean, rstd = norm.layer_norm(scattered(x), ndim, weight, bias, 1e-3)
    assert_same(out, run(x))
    assert_same(mean, x.mean(axes, keepdims=True))
    gx, gweight, gbias = norm.layer_norm_backward(scattered(g), x, mean, rstd, weight, ndim)
    np.testing.assert_allclose(gx, slope(run, x, g), atol=1e-6)
    np.testing.assert_allclose(gweight, slope(lambda w: run(x, w), weight, g), atol=1e-6)
    np.testing.assert_allclose(gbias, slope(lambda b: run(x, weight, b), bias, g), atol=1e-6)


@needs_torch
@pytest.mark.parametrize("dtype", [np.dtype(np.float32), *HALF])
@pytest.mark.parametrize("affine", [True, False])
def test_layer_norm_is_torchs(dtype, affine):
    x, g = (normal(4, 3, 8) * 3 + 10).astype(dtype), normal(4, 3, 8, seed=1).astype(dtype)
    weight, bias = (normal(8, seed=s).astype(dtype) if affine else None for s in (2, 3))
    theirs = [to_torch(a) for a in (x, weight, bias)]
    expected = torch.ops.aten.native_layer_norm(theirs[0], [8], theirs[1], theirs[2], 1e-5)
    out, mean, rstd = norm.layer_norm(x, 1, weight, bias, 1e-5)
    assert_same(out, expected[0])
    assert mean.shape == rstd.shape == tuple(expected[1].shape)
    back = torch.ops.aten.native_layer_norm_backward
    # PyTorch rounds half statistics between its two passes; ours are those of the exact ones.
    theirs = [None if t is None else t.float() for t in theirs]
    stats = torch.ops.aten.native_layer_norm(theirs[0], [8], theirs[1], theirs[2], 1e-5)[1:]
    grads = back(to_torch(g).float(), theirs[0], [8], *stats, *theirs[1:], [True, affine, affine])
    ours = norm.layer_norm_backward(g, x, mean, rstd, weight, 1)
    for mine, expect in zip(ours, grads[: 3 if affine else 1], strict=False):
        assert_same(mine, from_torch(expect).astype(dtype))


def test_norms_of_nothing():
    x = np.zeros((0, 3, 4), np.float32)
    out, mean, rstd = norm.layer_norm(x, 1, None, None, 1e-5)
    assert out.shape == x.shape
    assert mean.shape == rstd.shape == (0, 3, 1)
    gx, gweight, gbias = norm.layer_norm_backward(x, x, mean, rstd, np.ones(4, np.float32), 1)
    assert gx.shape == x.shape
    assert not gweight.any()
    assert not gbias.any()
    running = np.zeros(3, np.float32), np.ones(3, np.float32)
    out, mean, invstd = norm.batch_norm(x, None, None, *running, False, 0.1, 1e-5)
    assert out.shape == x.shape
    gx, gweight, gbias = norm.batch_norm_backward(x, x, None, mean, invstd, False)
    assert gx.shape == x.shape
    assert gweight.shape == gbias.shape == (3,)
