"""SINGA's Model: compiling, training steps, modes, checkpoints; and the programs of its guide."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compat_tests.singa_support import numbers, singa_mode
from torchlike.singa import autograd, layer, model, opt, tensor
from torchlike.singa.tensor import Tensor, from_numpy, to_numpy


@pytest.fixture(autouse=True)
def _mode():
    with singa_mode(training=False):
        yield


class Net(model.Model):
    def __init__(self, hidden: int = 5) -> None:
        super().__init__()
        self.linear1, self.relu = layer.Linear(hidden), layer.ReLU()
        self.linear2, self.loss = layer.Linear(3), layer.SoftMaxCrossEntropy()

    def forward(self, x: Tensor) -> Tensor:
        return self.linear2(self.relu(self.linear1(x)))

    def train_one_batch(self, x: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
        out = self.forward(x)
        loss = self.loss(out, t)
        self.optimizer(loss)
        return out, loss


def compiled(**modes: Any) -> tuple[Net, Tensor, Tensor]:
    net, x = Net(), from_numpy(numbers(6, 4))
    net.set_optimizer(opt.SGD(0.1))
    net.compile([x], **modes)
    return net, x, from_numpy(np.array([0, 1, 2, 0, 1, 2], np.int32))


def by_hand(net: Net, x: np.ndarray, t: np.ndarray, lr: float) -> tuple[dict[str, Any], float]:
    """The parameters after a step of gradient descent, and the loss before it."""
    w1, b1, w2, b2 = (to_numpy(p) for p in net.get_params().values())
    h = np.maximum(x @ w1 + b1, 0)
    z = h @ w2 + b2
    p = np.exp(z - z.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    loss = -np.log(p[np.arange(len(t)), t]).mean()
    dz = (p - np.eye(3)[t]) / len(t)
    dh = dz @ w2.T * (h > 0)
    steps = [x.T @ dh, dh.sum(0), h.T @ dz, dz.sum(0)]
    new = [p - lr * d for p, d in zip((w1, b1, w2, b2), steps, strict=True)]
    return dict(zip(net.get_params(), new, strict=True)), float(loss)


@pytest.mark.parametrize("use_graph", [False, True])
def test_a_step_of_training(use_graph: bool):
    net, x, t = compiled(use_graph=use_graph)
    for _ in range(3):
        expected, loss = by_hand(net, to_numpy(x), to_numpy(t), 0.1)
        _, found = net(x, t)
        assert found.shape == (1,) and abs(to_numpy(found)[0] - loss) < 1e-5
        for name, value in net.get_params().items():
            np.testing.assert_allclose(to_numpy(value), expected[name], atol=1e-6)


def test_modes():
    net, x, t = compiled(is_train=False)
    assert net.training is False and autograd.training is False
    assert isinstance(net(x), Tensor)
    assert net.train() is None and net.training and autograd.training
    assert len(net(x, t)) == 2
    assert net.eval() is None and not autograd.training
    net.graph(True, True)
    assert net.graph_mode and net.sequential


def test_steps_honour_their_arguments_and_return_fresh_tensors():
    net, x, t = compiled(use_graph=True)
    other = from_numpy(numbers(6, 4, seed=1))
    out1, _ = net(x, t)
    out2, _ = net(other, t)
    assert out1 is not out2 and (to_numpy(out1) != to_numpy(out2)).any()


def test_graph_mode_wants_the_same_shapes_at_each_step():
    net, x, t = compiled(use_graph=True)
    net(x, t)
    short = from_numpy(numbers(2, 4)), from_numpy(np.array([0, 1], np.int32))
    with pytest.raises(ValueError, match="same shapes"):
        net(*short)
    with pytest.raises(ValueError, match="first argument of a step"):
        net.train_one_batch(3, t)
    net.eval()
    assert net(short[0]).shape == (2, 3)
    net.graph(False)
    net.train()
    net(*short)


def test_compiling_makes_parameters_and_nothing_else():
    class Normed(Net):
        def __init__(self) -> None:
            super().__init__()
            self.bn = layer.BatchNorm2d()

        def forward(self, x: Tensor) -> Tensor:
            return super().forward(self.bn(x))

    net, x = Normed(), from_numpy(numbers(6, 4, 1, 1))
    net.compile([x], is_train=True)
    assert (to_numpy(net.bn.running_mean) == 0).all() and (to_numpy(net.bn.running_var) == 1).all()
    assert autograd.training


def test_compile_says_what_is_wrong():
    for bad in ([], None, numbers(2, 4), [numbers(2, 4)]):
        with pytest.raises(AssertionError):
            Net().compile(bad)
    with pytest.raises(NotImplementedError, match="has no train_one_batch"):
        model.Model().train_one_batch()
    with pytest.raises(NotImplementedError, match="has no forward"):
        model.Model().forward()


def test_training_without_compiling():
    net = Net()
    net.set_optimizer(opt.SGD(0.1))
    x, t = from_numpy(numbers(6, 4)), from_numpy(np.array([0, 1, 2, 0, 1, 2], np.int32))
    losses = [to_numpy(net(x, t)[1])[0] for _ in range(30)]
    assert losses[-1] < 0.8 * losses[0]


# --- checkpoints ----------------------------------------------------------------------------------


def test_a_checkpoint_has_singas_layout(tmp_path: Path):
    net, _, _ = compiled()
    path = str(tmp_path / "states")
    net.save_states(path, {"steps": from_numpy(np.array([3], np.int32))})
    with zipfile.ZipFile(path) as file:
        assert file.namelist() == ["tensor_dict.npz", "states_attr.json"]
        assert all(i.compress_type == zipfile.ZIP_DEFLATED for i in file.infolist())
        attributes = json.loads(file.read("states_attr.json"))
        with zipfile.ZipFile(file.open("tensor_dict.npz")) as arrays:
            names = arrays.namelist()
    assert names == ["linear1.W.npy", "linear1.b.npy", "linear2.W.npy", "linear2.b.npy",
                     "steps.npy"]  # fmt: skip
    assert attributes["linear1.W"] == {"state_type": 0, "shape": [4, 5], "dtype": 0}
    assert attributes["steps"] == {"state_type": 1, "shape": [1], "dtype": 2}
    assert list(tmp_path.iterdir()) == [tmp_path / "states"]


def test_states_come_back(tmp_path: Path):
    net, x, t = compiled()
    path = str(tmp_path / "states.zip")
    saved = {name: to_numpy(value) for name, value in net.get_states().items()}
    net.save_states(path, {"moment": from_numpy(numbers(2, 2))})
    net(x, t)
    assert (to_numpy(net.linear2.W) != saved["linear2.W"]).any()
    auxiliary = net.load_states(path)
    for name, value in net.get_states().items():
        np.testing.assert_array_equal(to_numpy(value), saved[name])
    assert list(auxiliary) == ["moment"]
    np.testing.assert_array_equal(to_numpy(auxiliary["moment"]), numbers(2, 2))
    other = Net()
    with pytest.raises(RuntimeError, match="compile it before loading"):
        other.load_states(path)
    other.compile([x])
    other.load_states(path)
    np.testing.assert_array_equal(to_numpy(other.linear1.W), saved["linear1.W"])


def test_nothing_is_overwritten_or_half_loaded(tmp_path: Path):
    net, x, _ = compiled()
    path = tmp_path / "states.zip"
    with pytest.raises(AssertionError, match="a Tensor, not float"):
        net.save_states(str(path), {"lr": 0.1})
    with pytest.raises(AssertionError, match="is the name of a state"):
        net.save_states(str(path), {"linear1.W": net.linear1.W})
    assert not path.exists()
    with pytest.raises(RuntimeError, match="no states yet"):
        Net().save_states(str(path))
    net.save_states(str(path))
    content = path.read_bytes()
    with pytest.raises(AssertionError, match="is not overwritten"):
        net.save_states(str(path))
    assert path.read_bytes() == content
    with pytest.raises(AssertionError, match="is not a file"):
        net.load_states(str(tmp_path / "none.zip"))
    larger = Net(hidden=7)
    larger.compile([x])
    before = to_numpy(larger.linear2.b)
    with pytest.raises(ValueError, match=r"linear1.W: shape \(4, 5\) does not fit \(4, 7\)"):
        larger.load_states(str(path))
    np.testing.assert_array_equal(to_numpy(larger.linear2.b), before)
    for damage in (content[: len(content) // 2], b"not a zip file", b""):
        path.write_bytes(damage)
        with pytest.raises(ValueError, match="no checkpoint of save_states"):
            net.load_states(str(path))


# --- the programs of SINGA's guide ----------------------------------------------------------------


def test_a_perceptron_of_operations_only():
    x = numbers(10, 2)
    inputs, target = Tensor(data=x), Tensor(data=(x.sum(1) > 0).astype(np.int32))
    w0, b0, w1, b1 = (
        Tensor(shape=shape, requires_grad=True, stores_grad=True)
        for shape in ((2, 3), (1, 3), (3, 2), (1, 2))
    )
    for w in (w0, w1):
        w.gaussian(0.0, 0.1)
    for b in (b0, b1):
        b.set_value(0.0)
    sgd, losses = opt.SGD(0.5), []
    autograd.training = True
    for _ in range(200):
        y = autograd.relu(autograd.add_bias(autograd.matmul(inputs, w0), b0))
        loss = autograd.softmax_cross_entropy(autograd.add_bias(autograd.matmul(y, w1), b1), target)
        delivered = []
        for p, g in autograd.backward(loss):
            delivered.append(p)
            with pytest.warns(DeprecationWarning):
                sgd.update(p, g)
        losses.append(to_numpy(loss)[0])
    assert [id(p) for p in delivered] == [id(p) for p in (b1, w1, b0, w0)]
    assert abs(losses[0] - np.log(2)) < 0.02 and losses[-1] < 0.1


def test_a_convolutional_network_of_layers_side_by_side():
    conv1 = autograd.Conv2d(1, 8, 3, padding=1, bias=False)
    bn1, bn2 = autograd.BatchNorm2d(8), autograd.BatchNorm2d(8)
    pool1, pool2 = autograd.MaxPool2d(3, 1, padding=1), autograd.AvgPool2d(3, 1, padding=1)
    left, right = (autograd.Conv2d(8, 4, 3, padding=1) for _ in range(2))
    linear = autograd.Linear(8 * 6 * 6, 3)
    x = tensor.Tensor(data=numbers(6, 1, 6, 6), stores_grad=False)
    t = tensor.Tensor(data=np.array([0, 1, 2, 0, 1, 2], np.int32), requires_grad=False)
    sgd, losses = opt.SGD(0.05), []
    autograd.training = True
    for _ in range(15):
        y = pool1(bn1(autograd.relu(conv1(x))))
        y = autograd.relu(autograd.cat((left(y), right(y)), 1))
        loss = autograd.softmax_cross_entropy(linear(autograd.flatten(pool2(bn2(y)))), t)
        pairs = list(autograd.backward(loss))
        for p, g in pairs:
            assert p.shape == g.shape
            sgd.apply(p.name, p, g)
        losses.append(to_numpy(loss)[0])
    assert len(pairs) == 11  # weights of 4 layers, 3 biases, 2 scales and shifts
    assert losses[-1] < 0.3 * losses[0]


def test_a_model_behind_placeholders_of_pictures():
    net = Net()
    net.set_optimizer(opt.SGD(lr=0.05, momentum=0.9, weight_decay=1e-5))
    tx = tensor.Tensor((6, 1, 4, 4), dtype=tensor.float32)
    ty = tensor.Tensor((6, 3), dtype=tensor.int32)
    net.compile([tx], is_train=True, use_graph=True, sequential=False)
    losses = []
    for _ in range(40):
        tx.copy_from_numpy(numbers(6, 1, 4, 4))
        ty.copy_from_numpy(np.eye(3, dtype=np.int32)[[0, 1, 2, 0, 1, 2]])
        out, loss = net(tx, ty)
        losses.append(to_numpy(loss)[0])
    assert out.shape == (6, 3) and losses[-1] < 0.3 * losses[0]
