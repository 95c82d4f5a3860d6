"""Times the neural network kernels against PyTorch eager, both on two threads, in one process.

    python benchmarks/kernels_nn.py [WORD ...]      only the lines whose name contains a WORD

Blocks of calls of the two sides alternate; each block's first calls are dropped (threads wake up).
Two figures each, in microseconds: the median of all blocks' medians, and the shortest call of all,
which other work on the machine disturbs least; with the ratios ours / PyTorch.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from functional.kernels import conv, norm, pool, softmax

torch.set_num_threads(2)
aten = torch.ops.aten
ROUNDS, BLOCK_SECONDS = 11, 0.02


def block(call) -> tuple[float, float]:
    """The median and the shortest time of one call in a block, after a warm-up."""
    start = time.perf_counter()
    call()
    call()
    repeats = max(3, int(BLOCK_SECONDS / max(1e-7, (time.perf_counter() - start) / 2)))
    times = []
    for _ in range(min(repeats, 2000)):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times), min(times)


def compare(ours, theirs) -> list[tuple[float, float]]:
    """(median of medians, shortest) of each side, over alternating blocks."""
    sides = zip(*[(block(ours), block(theirs)) for _ in range(ROUNDS)], strict=True)
    return [
        (statistics.median(median for median, _ in side), min(least for _, least in side))
        for side in sides
    ]


def normal(*shape) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32)


def tensors(*arrays) -> list[torch.Tensor]:
    return [torch.from_numpy(a) for a in arrays]


def convolution_lines(
    batch, channels, size, outputs, kernel, padding=0, stride=1, needs_input=True
):
    """Forward, and the backward a training step runs (weight, bias and, if needed, input)."""
    x, weight, bias = (
        normal(batch, channels, size, size),
        normal(outputs, channels, kernel, kernel),
        normal(outputs),
    )
    settings = ((stride, stride), (padding, padding), (1, 1), False, (0, 0), 1)
    g = normal(*conv.convolution_shape(x.shape, weight.shape, *settings))
    tx, tw, tb, tg = tensors(x, weight, bias, g)

    def backward():
        if needs_input:
            conv.convolution_input(g, weight, x.shape, *settings)
        conv.convolution_weight(g, x, weight.shape, *settings)
        np.add.reduce(np.add.reduce(g.reshape(batch, outputs, -1), axis=2), axis=0)

    mask = [needs_input, True, True]
    name = f"conv {batch}x{channels}x{size}x{size} -> {outputs}, {kernel}x{kernel}"
    name += f" pad {padding}" * bool(padding) + f" stride {stride}" * (stride > 1)
    yield (
        name + " forward",
        lambda: conv.convolution(x, weight, bias, *settings),
        lambda: torch.convolution(tx, tw, tb, *settings),
    )
    yield (
        name + " backward",
        backward,
        lambda: aten.convolution_backward(tg, tx, tw, [outputs], *settings, mask),
    )


def max_pool_lines(*shape):
    x = normal(*shape)
    settings = ((2, 2), (2, 2), (0, 0), (1, 1), False)
    g, indices = pool.max_pool(x, *settings)
    tx, tg, ti = tensors(x, g, indices)
    name = f"max pool {'x'.join(map(str, shape))}"
    yield (
        name + " forward",
        lambda: pool.max_pool(x, *settings),
        lambda: aten.max_pool2d_with_indices(tx, *settings),
    )
    yield (
        name + " backward",
        lambda: pool.max_pool_backward(g, indices, x.shape),
        lambda: aten.max_pool2d_with_indices_backward(tg, tx, *settings, ti),
    )


def avg_pool_lines(*shape):
    x = normal(*shape)
    settings = ((2, 2), (2, 2), (0, 0), False, True, None)
    g = pool.avg_pool(x, *settings)
    tx, tg = tensors(x, g)
    name = f"avg pool {'x'.join(map(str, shape))}"
    yield (
        name + " forward",
        lambda: pool.avg_pool(x, *settings),
        lambda: aten.avg_pool2d(tx, *settings),
    )
    yield (
        name + " backward",
        lambda: pool.avg_pool_backward(g, x.shape, *settings),
        lambda: aten.avg_pool2d_backward(tg, tx, *settings),
    )
    yield (
        f"adaptive avg pool to 1 {'x'.join(map(str, shape))} forward",
        lambda: pool.adaptive_avg_pool(x, (1, 1)),
        lambda: torch.nn.functional.adaptive_avg_pool2d(tx, 1),
    )


def loss_lines(*shape):
    x, target = normal(*shape), np.arange(shape[0]) % shape[1]
    log = softmax.log_softmax(x, 1)
    tx, tlog, ttarget = tensors(x, log, target)
    _, total = softmax.nll_loss(log, target, None, 1, -100)
    one, tone, ttotal = np.ones((), np.float32), torch.ones(()), torch.from_numpy(total)
    name = "x".join(map(str, shape))
    yield (
        f"log_softmax {name} forward",
        lambda: softmax.log_softmax(x, 1),
        lambda: aten._log_softmax(tx, 1, False),
    )
    yield (
        f"log_softmax {name} backward",
        lambda: softmax.log_softmax_backward(x, log, 1),
        lambda: aten._log_softmax_backward_data(tx, tlog, 1, torch.float32),
    )
    yield (
        f"nll_loss {name} forward",
        lambda: softmax.nll_loss(log, target, None, 1, -100),
        lambda: aten.nll_loss_forward(tlog, ttarget, None, 1, -100),
    )
    yield (
        f"nll_loss {name} backward",
        lambda: softmax.nll_loss_backward(one, shape, x.dtype, target, None, 1, -100, total),
        lambda: aten.nll_loss_backward(tone, tlog, ttarget, None, 1, -100, ttotal),
    )


def norm_lines(*shape):
    x, g, weight, bias = normal(*shape), normal(*shape), normal(shape[1]), normal(shape[1])
    mean, var = np.zeros(shape[1], np.float32), np.ones(shape[1], np.float32)
    tx, tg, tw, tb, tm, tv = tensors(x, g, weight, bias, mean, var)
    _, m, invstd = norm.batch_norm(x, weight, bias, mean, var, True, 0.1, 1e-5)
    tsm, tsi = tensors(m, invstd)
    name = f"batch_norm {'x'.join(map(str, shape))}"
    yield (
        name + " forward",
        lambda: norm.batch_norm(x, weight, bias, mean, var, True, 0.1, 1e-5),
        lambda: aten.native_batch_norm(tx, tw, tb, tm, tv, True, 0.1, 1e-5),
    )
    back = (tm, tv, tsm, tsi, True, 1e-5, [True, True, True])
    yield (
        name + " backward",
        lambda: norm.batch_norm_backward(g, x, weight, m, invstd, True),
        lambda: aten.native_batch_norm_backward(tg, tx, tw, *back),
    )


def layer_norm_lines(*shape):
    x, g, weight, bias = normal(*shape), normal(*shape), normal(shape[-1]), normal(shape[-1])
    tx, tg, tw, tb = tensors(x, g, weight, bias)
    _, mean, rstd = norm.layer_norm(x, weight, bias, 1, 1e-5)
    tm, tr = tensors(mean, rstd)
    size = [shape[-1]]
    name = f"layer_norm {'x'.join(map(str, shape))}"
    yield (
        name + " forward",
        lambda: norm.layer_norm(x, weight, bias, 1, 1e-5),
        lambda: aten.native_layer_norm(tx, size, tw, tb, 1e-5),
    )
    yield (
        name + " backward",
        lambda: norm.layer_norm_backward(g, x, mean, rstd, weight, 1),
        lambda: aten.native_layer_norm_backward(tg, tx, size, tm, tr, tw, tb, [True] * 3),
    )


def lenet_lines(batch):
    """LeNet's kernels in the order of one training step, without the linear part and the ReLUs."""
    first = list(convolution_lines(batch, 1, 28, 6, 5, padding=2, needs_input=False))
    second = list(convolution_lines(batch, 6, 14, 16, 5))
    pools = [*max_pool_lines(batch, 6, 28, 28), *max_pool_lines(batch, 16, 10, 10)]
    lines = [*first, *second, *pools, *loss_lines(batch, 10)]
    yield from lines
    # The two sides' steps: every kernel once.
    yield (
        f"LeNet batch {batch}: all of these",
        lambda: [ours() for _, ours, _ in lines],
        lambda: [theirs() for _, _, theirs in lines],
    )


def lines():
    """(name, our call, PyTorch's call) of everything timed."""
    yield from lenet_lines(1)
    yield from lenet_lines(64)
    yield from convolution_lines(64, 32, 26, 64, 3)
    yield from convolution_lines(16, 64, 28, 64, 3, padding=1)
    yield from convolution_lines(8, 3, 64, 32, 3, padding=1, stride=2)
    yield from convolution_lines(8, 128, 14, 256, 1)
    yield from avg_pool_lines(32, 16, 28, 28)
    yield from max_pool_lines(16, 64, 24, 24)
    yield from norm_lines(32, 32, 14, 14)
    yield from layer_norm_lines(32, 64, 256)
    yield from loss_lines(256, 1000)


def main(words: list[str]) -> None:
    print(
        f"{'':58}{'ours':>10}{'PyTorch':>10}{'ratio':>7}{'least:':>10}{'PyTorch':>10}{'ratio':>7}"
    )
    for name, ours, theirs in lines():
        if words and not any(word in name for word in words):
            continue
        with torch.no_grad():
            (mine, least), (other, other_least) = compare(ours, theirs)
        usual = f"{mine * 1e6:10.1f}{other * 1e6:10.1f}{mine / other:7.2f}"
        best = f"{least * 1e6:10.1f}{other_least * 1e6:10.1f}{least / other_least:7.2f}"
        print(f"{name:58}{usual}{best}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
