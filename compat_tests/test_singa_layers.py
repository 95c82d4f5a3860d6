"""SINGA's layers: parameters made at the first call, names, states, both ways to call them."""

from __future__ import annotations

import math
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import torchlike as torch
from compat_tests.singa_support import close, numbers, singa_mode
from torchlike.singa import autograd, layer, model, tensor
from torchlike.singa.tensor import Tensor, from_numpy, to_numpy

F = torch.nn.functional


@pytest.fixture(autouse=True)
def _mode():
    with singa_mode(training=False):
        yield


# --- names and states -----------------------------------------------------------------------------


class Block(layer.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.l1, self.l2 = layer.Linear(4), layer.Linear(2)

    def forward(self, x: Tensor) -> Tensor:
        return self.l2(self.l1(x))


class Net(model.Model):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.bn, self.block = layer.Conv2d(2, 2), layer.BatchNorm2d(), Block()

    def forward(self, x: Tensor) -> Tensor:
        return self.block(autograd.flatten(self.bn(self.conv(x))))


NAMES = ["conv.W", "conv.b", "bn.scale", "bn.bias", "block.l1.W", "block.l1.b", "block.l2.W",
         "block.l2.b"]  # fmt: skip


def test_names_are_dotted_paths_and_states_come_with_the_first_call():
    net = Net()
    assert net.get_params() == {} and net.get_states() == {}
    net(from_numpy(numbers(2, 2, 3, 3))) if not net.training else net.forward(
        from_numpy(numbers(2, 2, 3, 3))
    )
    assert list(net.get_params()) == NAMES
    assert set(net.get_states()) == {*NAMES, "bn.running_mean", "bn.running_var"}
    assert all(value.name == name for name, value in net.get_states().items())
    assert net.block.l2.name == "block.l2" and net.name is None


def test_a_layer_on_its_own_has_bare_names():
    linear = layer.Linear(3)
    linear(from_numpy(numbers(2, 4)))
    assert list(linear.get_params()) == ["W", "b"]


def test_parameters_made_before_a_layer_gets_its_place_are_renamed():
    linear = layer.Linear(3)
    linear(from_numpy(numbers(2, 4)))
    outer = Block()
    outer.l1 = linear
    assert list(outer.get_params()) == ["l1.W", "l1.b"]


def test_layers_in_lists_are_registered_by_class_and_index():
    class Tower(layer.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.floors = [layer.Linear(3), layer.ReLU(), layer.Linear(2)]
            self.register_layers(*self.floors)

        def forward(self, x: Tensor) -> Tensor:
            for floor in self.floors:
                x = floor(x)
            return x

    tower = Tower()
    tower(from_numpy(numbers(2, 4)))
    assert list(tower.get_params()) == ["Linear_0.W", "Linear_0.b", "Linear_2.W", "Linear_2.b"]
    named = layer.Layer()
    named.register_layers(OrderedDict(first=layer.ReLU(), second=layer.Sigmoid()))
    assert named.first.name == "first" and named.second.name == "second"
    with pytest.raises(TypeError, match="takes layers, not int"):
        named.register_layers(3)


def test_states_are_copied_in_from_tensors_and_arrays():
    net = Net()
    net.forward(from_numpy(numbers(2, 2, 3, 3)))
    values = {
        name: numbers(*t.shape, seed=i) for i, (name, t) in enumerate(net.get_states().items())
    }
    half = dict(list(values.items())[:4])
    net.set_states(values)
    for name, value in net.get_states().items():
        close(value, values[name])
    net.set_params({name: from_numpy(2 * values[name]) for name in NAMES})
    close(net.block.l1.W, 2 * values["block.l1.W"])
    close(net.bn.running_mean, values["bn.running_mean"])
    before = to_numpy(net.conv.W)
    with pytest.raises(KeyError, match=r"no state 'block.l1.W'"):
        net.set_states(half)
    bad = values | {"block.l2.b": np.zeros(3, np.float32)}
    with pytest.raises(ValueError, match=r"block.l2.b: shape \(3,\) does not fit \(2,\)"):
        net.set_states(bad)
    with pytest.raises(TypeError, match="a Tensor or an array, not list"):
        net.set_params(values | {"conv.b": [1.0, 2.0]})
    close(net.conv.W, before)  # nothing was written


def test_a_layer_that_overrides_set_params_is_asked():
    class Doubling(layer.Linear):
        def set_params(self, parameters: dict[str, Any]) -> None:
            super().set_params({name: 2 * to_numpy(v) for name, v in parameters.items()})

    class Outer(layer.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Doubling(1)

        def forward(self, x: Tensor) -> Tensor:
            return self.inner(x)

    outer = Outer()
    outer(from_numpy(numbers(1, 2)))
    outer.set_params({"inner.W": from_numpy(np.ones((2, 1), np.float32)),
                      "inner.b": from_numpy(np.ones(1, np.float32))})  # fmt: skip
    close(outer.inner.W, [[2.0], [2.0]])


def test_layers_say_what_is_wrong():
    class Forgetful(layer.Layer):
        def __init__(self) -> None:
            self.linear = layer.Linear(3)

    with pytest.raises(RuntimeError, match=r"call super\(\).__init__\(\)"):
        Forgetful()
    with pytest.raises(NotImplementedError, match="Layer has no forward"):
        layer.Layer()(from_numpy(numbers(1)))
    linear = layer.Linear(3)
    linear(from_numpy(numbers(2, 4)))
    with pytest.raises(AssertionError, match="made for 4 features, not for 5"):
        linear(from_numpy(numbers(2, 5)))
    with pytest.raises(ValueError, match=r"takes \(batch, features\), not \(4,\)"):
        layer.Linear(3)(from_numpy(numbers(4)))


# --- what they compute ----------------------------------------------------------------------------


def test_linear():
    x = numbers(5, 4)
    for made in (layer.Linear(3), layer.Linear(7, 3), layer.Linear(7, 3, True)):
        y = made(from_numpy(x))
        close(y, x @ to_numpy(made.W) + to_numpy(made.b))
    plain = layer.Linear(3, bias=False)
    close(plain(from_numpy(x)), x @ to_numpy(plain.W))
    assert layer.Linear(7, 3, False).bias is False and list(plain.get_params()) == ["W"]
    pictures = numbers(2, 1, 3, 3)
    flat = layer.Linear(2)
    close(flat(from_numpy(pictures)), pictures.reshape(2, 9) @ to_numpy(flat.W))


def test_linears_weights_are_normal_with_glorots_deviation():
    linear = layer.Linear(300)
    linear(from_numpy(numbers(1, 500)))
    assert abs(to_numpy(linear.W).std() - math.sqrt(2 / 800)) < 1e-3
    assert (to_numpy(linear.b) == 0).all()


@pytest.mark.parametrize("transposed", [True, False])
def test_gemm(transposed: bool):
    x = numbers(5, 4)
    gemm = layer.Gemm(3, alpha=0.5, beta=2.0, transB=transposed)
    y = gemm(from_numpy(x))
    gemm.b.set_value(1.0)
    w = to_numpy(gemm.W)
    close(y, 0.5 * x @ (w.T if transposed else w))
    close(gemm(from_numpy(x)), 0.5 * x @ (w.T if transposed else w) + 2.0)


@pytest.mark.parametrize(
    "made",
    [
        lambda: layer.Conv2d(6, 3, stride=2, padding=1),
        lambda: layer.Conv2d(4, 6, 3, 2, 1),
        lambda: layer.Conv2d(6, (3, 3), stride=(2, 2), padding=(1, 1, 1, 1)),
    ],
)
def test_conv2d_in_its_spellings(made: Any):
    x, conv = numbers(2, 4, 7, 7), made()
    y = conv(from_numpy(x))
    w, b = (torch.from_numpy(to_numpy(t)) for t in (conv.W, conv.b))
    assert conv.W.shape == (6, 4, 3, 3)
    close(y, F.conv2d(torch.from_numpy(x), w, b, stride=2, padding=1))


def test_conv2d_pads_one_side_and_by_mode_and_takes_groups():
    x = numbers(2, 4, 5, 5)
    core = torch.from_numpy(x)
    uneven = layer.Conv2d(3, 2, padding=(0, 1, 2, 1), bias=False)
    w = torch.from_numpy(to_numpy((uneven(from_numpy(x)), uneven.W)[1]))
    close(uneven(from_numpy(x)), F.conv2d(F.pad(core, (2, 1, 0, 1)), w))
    for mode, pad in (("SAME_UPPER", (0, 1, 0, 1)), ("SAME_LOWER", (1, 0, 1, 0))):
        same = layer.Conv2d(3, 2, pad_mode=mode, bias=False)
        y = same(from_numpy(x))
        assert y.shape == (2, 3, 5, 5)
        close(y, F.conv2d(F.pad(core, pad), torch.from_numpy(to_numpy(same.W))))
    grouped = layer.Conv2d(4, 3, group=2, activation="RELU")
    y = grouped(from_numpy(x))
    w, b = (torch.from_numpy(to_numpy(t)) for t in (grouped.W, grouped.b))
    close(y, F.relu(F.conv2d(core, w, b, groups=2)))


def test_layers_meet_batches_of_any_size():
    conv, bn, pool = layer.Conv2d(2, 3), layer.BatchNorm2d(), layer.MaxPool2d(2)
    for batch in (4, 2, 7):
        assert pool(bn(conv(from_numpy(numbers(batch, 1, 6, 6))))).shape == (batch, 2, 2, 2)


def test_convolutions_arguments_are_checked():
    for bad, message in (
        ({"kernel_size": "3"}, "kernel_size is an int or two"),
        ({"kernel_size": 3, "padding": (1, 2, 3)}, "padding is an int or two"),
        ({"kernel_size": 3, "speed": 1}, "no argument 'speed'"),
    ):
        with pytest.raises(TypeError, match=message):
            layer.Conv2d(2, **bad)
    for bad, message in (
        ({"dilation": 2}, "dilation is 1 only"),
        ({"pad_mode": "SAME"}, "pad_mode is one of"),
        ({"activation": "tanh"}, "activation is"),
        ({"stride": 0}, "are positive"),
    ):
        with pytest.raises(ValueError, match=message):
            layer.Conv2d(2, 3, **bad)
    with pytest.raises(ValueError, match="2 groups do not divide 3 channels"):
        layer.Conv2d(2, 3, group=2)(from_numpy(numbers(1, 3, 5, 5)))
    with pytest.raises(ValueError, match=r"takes \(batch, channels, h, w\)"):
        layer.MaxPool2d(2)(from_numpy(numbers(3, 5, 5)))


def test_separable_convolution():
    x, made = numbers(2, 3, 6, 6), layer.SeparableConv2d(5, 3, padding=1)
    y = made(from_numpy(x))
    deep, wide = (torch.from_numpy(to_numpy(c.W)) for c in (made.depthwise_conv, made.point_conv))
    close(y, F.conv2d(F.conv2d(torch.from_numpy(x), deep, padding=1, groups=3), wide))
    assert list(made.get_params()) == ["depthwise_conv.W", "point_conv.W"]


def test_batch_normalization_and_its_running_statistics():
    x, bn = numbers(4, 3, 5, 5), layer.BatchNorm2d(3)
    autograd.training = True
    y = bn(from_numpy(x))
    mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3))
    close(y, (x - mean[:, None, None]) / np.sqrt(var[:, None, None] + 1e-5), 1e-4)
    close(bn.running_mean, 0.9 * mean)  # momentum 0.9 weighs the new batch
    close(bn.running_var, 0.1 + 0.9 * x.var((0, 2, 3), ddof=1))
    autograd.training = False
    bn.set_states({"scale": np.full(3, 2, np.float32), "bias": np.ones(3, np.float32),
                   "running_mean": mean, "running_var": var})  # fmt: skip
    close(
        bn(from_numpy(x)),
        1 + 2 * (x - mean[:, None, None]) / np.sqrt(var[:, None, None] + 1e-5),
        1e-4,
    )
    close(bn.running_mean, mean)


def test_pooling():
    x = numbers(2, 3, 7, 7)
    core = torch.from_numpy(x)
    close(layer.MaxPool2d(3, 1, padding=1)(from_numpy(x)), F.max_pool2d(core, 3, 1, 1))
    close(layer.MaxPool2d(2)(from_numpy(x)), F.max_pool2d(core, 2))
    average = F.avg_pool2d(core, 3, 2, 1, count_include_pad=False)
    close(layer.AvgPool2d(3, 2, padding=1)(from_numpy(x)), average)
    row = numbers(2, 3, 1, 8)
    close(layer.MaxPool1d(2)(from_numpy(row)), F.max_pool2d(torch.from_numpy(row), (1, 2)))
    close(layer.AvgPool1d(2)(from_numpy(row)), F.avg_pool2d(torch.from_numpy(row), (1, 2)))
    same = layer.AvgPool2d(2, 1, pad_mode="SAME_UPPER")(
        from_numpy(np.ones((1, 1, 3, 3), np.float32))
    )
    close(same, np.ones((1, 1, 3, 3)))  # padding does not count


def test_embedding():
    rows = layer.Embedding(5, 3)
    ids = np.array([[0, 4], [4, 1]], np.int32)
    y = rows(from_numpy(ids))
    close(y, to_numpy(rows.W)[ids])
    loss = autograd.mse_loss(y, from_numpy(np.zeros((2, 2, 3), np.float32)))
    ((table, g),) = autograd.backward(loss)
    expected = np.zeros((5, 3), np.float32)
    np.add.at(expected, ids, to_numpy(y) / 6)
    assert table is rows.W
    close(g, expected)
    frozen = layer.Embedding(5, 3)
    frozen.from_pretrained(from_numpy(numbers(5, 3)))
    loss = autograd.mse_loss(frozen(from_numpy(ids)), from_numpy(np.zeros((2, 2, 3), np.float32)))
    assert list(autograd.backward(loss)) == []


def test_dropout_scales_what_it_keeps_and_draws_anew():
    x, drop = np.ones((100, 100), np.float32), layer.Dropout(0.25)
    close(drop(from_numpy(x)), x)
    autograd.training = True
    first, second = to_numpy(drop(from_numpy(x))), to_numpy(drop(from_numpy(x)))
    assert set(np.unique(first)) == {np.float32(0), np.float32(1 / 0.75)}
    assert abs((first == 0).mean() - 0.25) < 0.02 and (first != second).any()
    with pytest.raises(ValueError, match="from 0 to below 1"):
        layer.Dropout(1.5)


def test_small_layers():
    a, b = numbers(2, 3), numbers(2, 3, seed=1)
    ta, tb = from_numpy(a), from_numpy(b)
    close(layer.ReLU()(ta), np.maximum(a, 0))
    close(layer.Sigmoid()(ta), 1 / (1 + np.exp(-a)))
    close(layer.SoftMax()(ta), np.exp(a) / np.exp(a).sum(1, keepdims=True))
    close(layer.Add()(ta, tb), a + b)
    close(layer.Cat(1)([ta, tb]), np.concatenate([a, b], 1))
    close(layer.Flatten()(from_numpy(numbers(2, 3, 4))), numbers(2, 3, 4).reshape(2, 12))
    close(layer.Reshape()(ta, (3, 2)), a.reshape(3, 2))
    close(layer.MeanSquareError()(ta, tb), [((a - b) ** 2).mean()])
    p, t = np.array([[0.9, 0.1], [0.5, 0.5]], np.float32), np.array([[1, 0], [1, 1]], np.float32)
    close(layer.BinaryCrossEntropy()(from_numpy(p), from_numpy(t)), [0.79819655])
    close(layer.CrossEntropy()(from_numpy(p), from_numpy(t)), [0.39925388 + math.log(2) / 2])
    close(layer.SoftMaxCrossEntropy()(from_numpy(p), tensor.from_numpy(np.array([0, 1]))),
          [(math.log(1 + math.exp(-0.8)) + math.log(2)) / 2])  # fmt: skip
