"""The convolution kernels against PyTorch where it is installed, and against plain loops always."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from compat_tests.kernel_values import (
    HALF,
    assert_same,
    from_torch,
    needs_torch,
    normal,
    scattered,
    to_torch,
    torch,
)
from functional.kernels import conv, threads


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


def test_convolution_is_the_same_on_any_number_of_threads():
    x, weight = normal(13, 3, 20, 18, dtype=np.float64), normal(8, 3, 3, 3, dtype=np.float64)
    settings = ((1, 1), (1, 1), (1, 1), False, (0, 0), 1)
    before = threads.workers()
    results = []
    try:
        for count in (1, 2, 5):
            threads.set_workers(count)
            y = conv.convolution(x, weight, None, *settings)
            gx = conv.convolution_input(y, weight, x.shape, *settings)
            results.append((y, gx, conv.convolution_weight(y, x, weight.shape, *settings)))
    finally:
        threads.set_workers(before)
    for other in results[1:]:
        for ours, expected in zip(other, results[0], strict=True):
            assert_same(ours, expected)
