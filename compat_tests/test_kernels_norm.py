"""The softmax, loss and normalization kernels against formulas and, where installed, PyTorch."""

from __future__ import annotations

import itertools
from math import prod

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
from functional.kernels import norm, reduce, softmax


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
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
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


# Normalization -------------------------------------------------------------------------


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

    out, mean, rstd = norm.layer_norm(scattered(x), weight, bias, ndim, 1e-3)
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
    out, mean, rstd = norm.layer_norm(x, weight, bias, 1, 1e-5)
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
    out, mean, rstd = norm.layer_norm(x, None, None, 1, 1e-5)
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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["normal", "shifted", "sorted", "equal", "unlike its sample"])
def test_variance_of_many_numbers(dtype: type, kind: str) -> None:
    x = np.random.default_rng(0).normal(size=300_001)
    x = {
        "normal": x,
        "shifted": x + 1000,
        "sorted": np.sort(x),
        "equal": np.full_like(x, 3.3),
        "unlike its sample": np.where(np.arange(x.size) % (x.size // 4096) == 0, 100, x),
    }[kind].astype(dtype)
    exact = x.astype(np.longdouble).var(ddof=1)
    found = reduce.var(x, None, 1, False)
    np.testing.assert_allclose(found, exact, rtol=4 * np.finfo(dtype).eps, atol=1e-12)
