"""Gluon's layers and losses: values by hand, shapes, training against prediction, errors."""

from __future__ import annotations

import math
from typing import Any

import numpy as onp
import pytest

import torchlike.mxnet as mx
from torchlike.mxnet import MXNetError, autograd, gluon, nd, np
from torchlike.mxnet.gluon import loss, nn


def values(array: Any) -> Any:
    return array.asnumpy().tolist()


def started(block: Any, **arrays: Any) -> Any:
    """The block with its parameters set."""
    block.initialize()
    for name, data in arrays.items():
        getattr(block, name).set_data(nd.array(data))
    return block


# --- layers ---------------------------------------------------------------------------------------


def test_dense() -> None:
    dense = started(nn.Dense(2, in_units=3), weight=[[1, 0, 2], [0, 1, 0]], bias=[10, 20])
    assert values(dense(nd.array([[1, 2, 3]]))) == [[17, 22]]
    assert repr(dense) == "Dense(3 -> 2, linear)"
    relu = started(nn.Dense(1, "relu", use_bias=False, in_units=1), weight=[[-1]])
    assert values(relu(nd.array([[2], [-3]]))) == [[0], [3]]
    assert relu.bias is None


def test_dense_flattens_or_takes_the_last_dimension() -> None:
    flat, last = nn.Dense(2), nn.Dense(2, flatten=False)
    for block in (flat, last):
        block.initialize()
    x = nd.ones((4, 3, 5))
    assert (flat(x).shape, flat.weight.shape) == ((4, 2), (2, 15))
    assert (last(x).shape, last.weight.shape) == ((4, 3, 2), (2, 5))


def test_default_weights_are_uniform_and_biases_zeros() -> None:
    mx.random.seed(0)
    dense = started(nn.Dense(100, in_units=100))
    weight = dense.weight.data().asnumpy()
    assert abs(weight).max() <= 0.07
    assert abs(weight).max() > 0.069
    assert abs(weight.std() - 0.07 / math.sqrt(3)) < 0.001
    assert values(dense.bias.data()) == [0] * 100


@pytest.mark.parametrize(
    ("block", "shape", "result"),
    [
        (lambda: nn.Conv2D(4, 3), (2, 3, 8, 6), (2, 4, 6, 4)),
        (lambda: nn.Conv2D(4, (3, 1), (2, 1), (1, 0)), (2, 3, 8, 6), (2, 4, 4, 6)),
        (lambda: nn.Conv2D(4, 3, groups=2, dilation=2), (2, 6, 8, 6), (2, 4, 4, 2)),
        (lambda: nn.Conv1D(4, 3, activation="relu"), (2, 3, 8), (2, 4, 6)),
        (lambda: nn.Conv3D(2, 2), (1, 1, 3, 3, 3), (1, 2, 2, 2, 2)),
        (lambda: nn.MaxPool2D(), (2, 3, 8, 6), (2, 3, 4, 3)),
        (lambda: nn.MaxPool2D(3, 2), (2, 3, 8, 6), (2, 3, 3, 2)),
        (lambda: nn.MaxPool2D(3, 2, ceil_mode=True), (2, 3, 8, 6), (2, 3, 4, 3)),
        (lambda: nn.AvgPool2D((2, 1), padding=(1, 0)), (2, 3, 8, 6), (2, 3, 5, 6)),
        (lambda: nn.GlobalAvgPool2D(), (2, 3, 8, 6), (2, 3, 1, 1)),
        (lambda: nn.Flatten(), (2, 3, 8, 6), (2, 144)),
        (lambda: nn.Embedding(10, 5), (2, 3), (2, 3, 5)),
        (lambda: nn.BatchNorm(), (2, 3, 8, 6), (2, 3, 8, 6)),
        (lambda: nn.BatchNorm(axis=-1), (2, 3, 8, 6), (2, 3, 8, 6)),
        (lambda: nn.LayerNorm(), (2, 3, 8, 6), (2, 3, 8, 6)),
        (lambda: nn.Activation("softsign"), (2, 3), (2, 3)),
        (lambda: nn.LeakyReLU(0.1), (2, 3), (2, 3)),
        (lambda: nn.Identity(), (2, 3), (2, 3)),
    ],
)
def test_shapes(block: Any, shape: Any, result: Any) -> None:
    layer = block()
    layer.initialize()
    x = nd.zeros(shape)
    x.attach_grad()
    with autograd.record():
        out = layer(x)
    out.backward()
    assert out.shape == result
    assert isinstance(repr(layer), str)


def test_convolution_and_pooling_values() -> None:
    x = nd.arange(9).reshape((1, 1, 3, 3))
    conv = started(nn.Conv2D(1, 2), weight=[[[[1, 0], [0, 10]]]], bias=[0.5])
    assert values(conv(x)) == [[[[40.5, 51.5], [73.5, 84.5]]]]
    assert values(nn.MaxPool2D(2, 1)(x)) == [[[[4, 5], [7, 8]]]]
    assert values(nn.AvgPool2D(2, 1)(x)) == [[[[2, 3], [5, 6]]]]
    ones = nd.ones((1, 1, 2, 2))
    assert values(nn.AvgPool2D(2, padding=1)(ones)) == [[[[0.25, 0.25], [0.25, 0.25]]]]
    excluded = nn.AvgPool2D(2, padding=1, count_include_pad=False)
    assert values(excluded(ones)) == [[[[1, 1], [1, 1]]]]


def test_dropout_scales_in_training_only() -> None:
    mx.random.seed(0)
    layer, x = nn.Dropout(0.75), nd.ones((50, 50))
    with autograd.record():
        y = layer(x).asnumpy()
        with autograd.predict_mode():
            assert (layer(x).asnumpy() == 1).all()
    assert set(onp.unique(y)) == {0, 4}
    assert abs((y == 0).mean() - 0.75) < 0.04
    assert (layer(x).asnumpy() == 1).all()
    with autograd.train_mode():
        rows = nn.Dropout(0.5, axes=(1,))(x).asnumpy()
    assert all(len(set(row)) == 1 for row in rows)
    assert len({row[0] for row in rows}) == 2


def test_batch_norm_moves_its_statistics_in_the_backward_pass() -> None:
    norm = started(nn.BatchNorm(in_channels=1))
    x = nd.array([[1.0], [3.0]])  # mean 2, biased variance 1
    with autograd.record():
        y = norm(x)
    onp.testing.assert_allclose(y.asnumpy(), [[-1], [1]], atol=1e-5)
    assert (values(norm.running_mean.data()), values(norm.running_var.data())) == ([0], [1])
    x[:] = [[3.0], [9.0]]  # mean 6, biased variance 9
    with autograd.record():
        y = norm(x)
    y.backward()
    onp.testing.assert_allclose(values(norm.running_mean.data()), [0.6], rtol=1e-6)
    onp.testing.assert_allclose(values(norm.running_var.data()), [0.9 + 0.9], rtol=1e-6)


@pytest.mark.parametrize(("axis", "shape"), [(1, (4, 2, 3)), (-1, (4, 3, 2))])
def test_batch_norm_keeps_statistics_of_each_channel(axis: int, shape: Any) -> None:
    x = onp.random.default_rng(0).normal(2, 3, shape)
    norm = started(nn.BatchNorm(axis, momentum=0.75))
    with autograd.record():
        y = norm(nd.array(x))
    y.backward(retain_graph=True)
    y.backward()  # another pass moves them once more
    others = (0, 2) if axis == 1 else (0, 1)
    mean, variance = x.mean(others), x.var(others)
    kept = 0.75**2
    near(norm.running_mean.data(), (1 - kept) * mean)
    near(norm.running_var.data(), kept + (1 - kept) * variance)


def test_batch_norm_in_prediction_uses_what_it_has_seen() -> None:
    norm = started(nn.BatchNorm(epsilon=0, in_channels=1), running_mean=[1], running_var=[4])
    assert values(norm(nd.array([[5.0]]))) == [[2]]
    with autograd.train_mode():
        fixed = started(nn.BatchNorm(epsilon=0, use_global_stats=True, in_channels=1))
        assert values(fixed(nd.array([[5.0]]))) == [[5]]
    assert values(norm.running_mean.data()) == [1]


def test_batch_norm_without_scale_and_center() -> None:
    norm = started(nn.BatchNorm(scale=False, center=False, in_channels=2))
    assert (norm.gamma.grad_req, norm.beta.grad_req) == ("null", "null")
    assert norm.running_mean.grad_req == "null"
    norm.gamma.set_data(nd.array([5, 5]))
    onp.testing.assert_allclose(norm(nd.array([[1.0, 2.0]])).asnumpy(), [[1, 2]], rtol=1e-5)


def test_layer_norm() -> None:
    norm = started(nn.LayerNorm(epsilon=0, in_channels=2), gamma=[1, 10], beta=[0, 5])
    assert values(norm(nd.array([[1.0, 3.0]]))) == [[-1, 15]]


def test_embedding_gradient_counts_uses() -> None:
    table = started(nn.Embedding(3, 2), weight=[[1, 2], [3, 4], [5, 6]])
    with autograd.record():
        y = table(nd.array([2, 0, 2]))
    assert values(y) == [[5, 6], [1, 2], [5, 6]]
    y.backward()
    assert values(table.weight.grad()) == [[1, 1], [0, 0], [2, 2]]


def test_lambda_and_activation() -> None:
    x = nd.array([-1.0, 2.0])
    assert values(nn.Lambda("relu")(x)) == [0, 2]
    assert values(nn.HybridLambda(lambda v: v * 3)(x)) == [-3, 6]
    assert values(nn.LeakyReLU(0.5)(x)) == [-0.5, 2]
    softplus = [math.log1p(math.exp(v)) for v in (-1, 2)]
    near(nn.Activation("softrelu")(x), softplus)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: nn.Dense(0), ValueError, "units must be a positive whole number, not 0"),
        (lambda: nn.Dense(2, "swoosh"), ValueError, "activation must be one of relu"),
        (lambda: nn.Conv2D(2, (3, 3, 3)), ValueError, "2 sizes are wanted"),
        (lambda: nn.Conv2D(2, 3, layout="NHWC"), ValueError, "layout must be 'NCHW'"),
        (lambda: nn.Conv2D(2, 3, groups=2, in_channels=3), ValueError, "3 channels do not divide"),
        (lambda: nn.Dropout(1), ValueError, "rate must be"),
        (lambda: nn.Lambda("no_such"), ValueError, "there is no function 'no_such'"),
        (lambda: nd.FullyConnected(nd.ones((1, 2)), nd.ones((3, 2)), num_hidden=4),
         ValueError, "num_hidden is 4"),
        (lambda: nd.FullyConnected(nd.ones((1, 2)), nd.ones((3, 5))), MXNetError, "multiplied"),
        (lambda: nd.Convolution(nd.ones((1, 1, 3, 3)), nd.ones((1, 1, 2, 2)), kernel=(3, 3)),
         ValueError, r"kernel is \(3, 3\)"),
        (lambda: nd.Pooling(nd.ones((1, 1, 3, 3)), 2, "lp"), ValueError, "pool_type must be"),
        (lambda: nd.Activation(nd.ones(1), "x"), ValueError, "act_type must be one of"),
    ],
)  # fmt: skip
def test_errors(make: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        make()


# --- losses ---------------------------------------------------------------------------------------


def near(array: Any, expected: Any) -> None:
    assert array.shape == onp.shape(expected)
    onp.testing.assert_allclose(array.asnumpy(), expected, rtol=1e-6)


def test_l2_and_l1() -> None:
    near(loss.L2Loss()(nd.array([3]), nd.array([1])), [2])
    pred, label = nd.array([[1, 2], [3, 4]]), nd.array([[1, 0], [0, 0]])
    near(loss.L2Loss()(pred, label), [1, 6.25])
    near(loss.L1Loss()(pred, label), [1, 3.5])
    near(loss.L2Loss(weight=2)(pred, label, nd.array([[1], [10]])), [2, 125])
    near(loss.L1Loss(batch_axis=1)(pred, label), [1.5, 3])
    near(loss.L2Loss()(nd.array([[1], [2]]), nd.array([0, 0])), [0.5, 2])
    with pytest.raises(ValueError, match=r"the prediction has shape \(2, 2\), the label \(3,\)"):
        loss.L2Loss()(pred, nd.ones(3))


def test_softmax_cross_entropy() -> None:
    logits = nd.array([[1, 2, 0.5]])
    entropy = math.log(math.exp(-1) + 1 + math.exp(-1.5))
    assert entropy == pytest.approx(0.46436638, rel=6e-6)  # MXNet's result, in float32
    near(loss.SoftmaxCrossEntropyLoss()(logits, nd.array([1])), [entropy])
    assert loss.SoftmaxCELoss is loss.SoftmaxCrossEntropyLoss
    dense = loss.SoftmaxCELoss(sparse_label=False)
    near(dense(logits, nd.array([[0, 1, 0]])), [entropy])
    logs = loss.SoftmaxCELoss(from_logits=True)
    near(logs(nd.array([[-1, -2]]), nd.array([1])), [2])
    near(loss.SoftmaxCELoss(axis=1)(nd.zeros((2, 3, 4)), nd.zeros((2, 4))), [math.log(3)] * 2)
    classes = np.array(onp.array([0, 2]))
    near(loss.SoftmaxCELoss()(np.zeros((2, 3)), classes), [math.log(3)] * 2)


def test_softmax_cross_entropy_gradient() -> None:
    logits = nd.zeros((2, 4))
    logits.attach_grad()
    with autograd.record():
        out = loss.SoftmaxCELoss()(logits, nd.array([0, 3]))
    out.backward()
    assert values(logits.grad) == [[-0.75, 0.25, 0.25, 0.25], [0.25, 0.25, 0.25, -0.75]]


def test_sigmoid_binary_cross_entropy() -> None:
    assert loss.SigmoidBCELoss is loss.SigmoidBinaryCrossEntropyLoss
    near(loss.SigmoidBCELoss()(nd.array([0]), nd.array([1])), [0.69314724])
    two = loss.SigmoidBCELoss()(nd.array([[100, -2]]), nd.array([[1, 0]]))
    near(two, [math.log1p(math.exp(-2)) / 2])
    near(loss.SigmoidBCELoss(from_sigmoid=True)(nd.array([0.25]), nd.array([1])), [math.log(4)])
    weighted = loss.SigmoidBCELoss()(nd.array([0]), nd.array([1]), None, nd.array([3]))
    near(weighted, [3 * math.log(2)])


def test_further_losses() -> None:
    near(loss.HuberLoss(rho=2)(nd.array([1, 5]), nd.array([0, 0])), [0.25, 4])
    pred = nd.log(nd.array([[0.5, 0.5]]))
    label = nd.array([[0.25, 0.75]])
    expected = (0.25 * math.log(0.5) + 0.75 * math.log(1.5)) / 2
    near(loss.KLDivLoss()(pred, label), [expected])
    near(loss.KLDivLoss(from_logits=False)(nd.zeros((1, 2)), label), [expected])


def test_batch_is_the_only_dimension_left() -> None:
    for made in (loss.L2Loss(), loss.L1Loss(), loss.SigmoidBCELoss(), gluon.loss.HuberLoss()):
        assert made(nd.ones((4, 3, 2)), nd.zeros((4, 3, 2))).shape == (4,)
