"""Models to and from ONNX: files are run by ONNX's own reference implementation as well."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from torchlike.singa import autograd, layer, model, opt, sonnx
from torchlike.singa.tensor import Tensor, from_numpy, to_numpy


@pytest.fixture(autouse=True)
def _not_training() -> Any:
    autograd.training = False
    yield
    autograd.training = False


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def reference(exported: Any, *arrays: np.ndarray) -> list[np.ndarray]:
    """What ONNX's reference implementation makes of a model."""
    exported = onnx.ModelProto.FromString(exported.SerializeToString())
    for node in exported.graph.node:
        for attribute in node.attribute:
            if node.op_type == "BatchNormalization" and attribute.name == "momentum":
                attribute.f = 1.0  # it lets the batch count in inference too
    inputs = {v.name: a for v, a in zip(exported.graph.input, arrays, strict=True)}
    return ReferenceEvaluator(exported).run(None, inputs)


def check(function: Any, *arrays: np.ndarray) -> Any:
    """Export, compare with the reference, import again, compare; returns the model."""
    xs = [from_numpy(a) for a in arrays]
    y = function(*xs)
    exported = sonnx.to_onnx(xs, [y])
    (expected,) = reference(exported, *arrays)
    assert expected.shape == y.shape
    np.testing.assert_allclose(to_numpy(y), expected, rtol=1e-4, atol=1e-5)
    (again,) = sonnx.prepare(exported).run(list(arrays))
    np.testing.assert_array_equal(to_numpy(again), to_numpy(y))
    return exported


A, B = numbers(2, 6), numbers(2, 6, seed=1)
POSITIVE = np.abs(A) + 0.5
BELOW_ONE = np.tanh(A)
PICTURES = numbers(2, 4, 6, 6)

ONE = {
    name: (getattr(autograd, name), A)
    for name in """abs ceil cos cosh erf exp floor negative relu rounde sigmoid sign sin sinh
    softplus softsign tan tanh atan asinh identity elu selu leakyrelu hardsigmoid softmax""".split()
}
ONE |= {name: (getattr(autograd, name), POSITIVE) for name in ("log", "sqrt", "reciprocal")}
ONE |= {name: (getattr(autograd, name), BELOW_ONE) for name in ("acos", "asin", "atanh")}
ONE |= {
    "acosh": (autograd.acosh, POSITIVE + 1),
    "not": (autograd._not, (A > 0).astype(np.float32)),
    "clip": (lambda x: autograd.clip(x, -0.5, 0.5), A),
    "clip below": (lambda x: autograd.clip(x, -0.5), A),
    "reshape": (lambda x: autograd.reshape(x, (3, -1)), A),
    "flatten": (autograd.flatten, PICTURES),
    "transpose": (lambda x: autograd.transpose(x, (0, 2, 3, 1)), PICTURES),
    "squeeze": (lambda x: autograd.squeeze(x, [1]), numbers(2, 1, 3)),
    "unsqueeze": (lambda x: autograd.unsqueeze(x, [0, 2]), A),
    "reduce_sum": (lambda x: autograd.reduce_sum(x, [1], 0), PICTURES),
    "reduce_mean": (lambda x: autograd.reduce_mean(x, [2, 3], 1), PICTURES),
    "slice": (lambda x: autograd.slice(x, [1, 0], [5, 4], [2, 3], [2, 1]), PICTURES),
    "split": (lambda x: autograd.split(x, 1, [2, 4])[1], A),
    "gather": (lambda x: autograd.gather(x, 1, [0, 2, 2]), A),
    "tile": (lambda x: autograd.tile(x, [2, 1]), A),
    "expand": (lambda x: autograd.expand(x, [3, 2, 6]), A),
    "pad": (lambda x: autograd.pad(x, "constant", [0, 1, 0, 2], 3.0), A),
    "upsample": (lambda x: autograd.upsample(x, "nearest", [1, 1, 2, 2]), PICTURES),
    "depth": (lambda x: autograd.depth_to_space(x, 2), PICTURES),
    "space": (lambda x: autograd.space_to_depth(x, 2), PICTURES),
    "global pool": (autograd.globalaveragepool, PICTURES),
    "dropout": (lambda x: autograd.dropout(x, ratio=0.3), A),
    "cast": (lambda x: autograd.cast(x, 2), 3 * A),
}
TWO = {
    name: (getattr(autograd, name), A, B)
    for name in "add sub mul div min max mean sum less greater equal".split()
}
TWO |= {
    "pow": (autograd.pow, POSITIVE, B),
    "matmul": (autograd.matmul, A, B.T.copy()),
    "cat": (lambda a, b: autograd.cat((a, b), 1), A, B),
    "gemm": (lambda a, b: autograd.gemm(a, b, None, 0.5, 1.0, 0, 1), A, B),
    "prelu": (autograd.prelu, A, B),
    "and": (autograd._and, (A > 0).astype(np.float32), (B > 0).astype(np.float32)),
    "xor": (autograd._xor, (A > 0).astype(np.float32), (B > 0).astype(np.float32)),
    "where": (lambda a, b: autograd.where(a, b, (A > 0).astype(np.float32)), A, B),
    "add_bias": (lambda x, b: autograd.add_bias(x, b), A, numbers(6)),
}


@pytest.mark.parametrize("name", ONE)
def test_operators_of_one_tensor(name: str):
    function, array = ONE[name]
    check(function, array)


@pytest.mark.parametrize("name", TWO)
def test_operators_of_two_tensors(name: str):
    function, first, second = TWO[name]
    check(function, first, second)


LAYERS = {
    "linear": (lambda: layer.Linear(3), A),
    "gemm": (lambda: layer.Gemm(3), A),
    "conv": (lambda: layer.Conv2d(3, 3, padding=(1, 0, 2, 1), stride=2), PICTURES),
    "separable": (lambda: layer.SeparableConv2d(3, 3, padding=1), PICTURES),
    "same": (lambda: layer.Conv2d(3, 2, pad_mode="SAME_UPPER"), PICTURES),
    "norm": (lambda: layer.BatchNorm2d(), PICTURES),
    "max pool": (lambda: layer.MaxPool2d(3, 2, padding=1), PICTURES),
    "average pool": (lambda: layer.AvgPool2d(3, 2, padding=1), PICTURES),
    "embedding": (lambda: layer.Embedding(7, 3), np.array([[0, 6], [3, 3]], np.int32)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name: str):
    make, array = LAYERS[name]
    check(make(), array)


class Net(model.Model):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.bn, self.pool = layer.Conv2d(4, 3), layer.BatchNorm2d(), layer.MaxPool2d(2)
        self.flat, self.linear = layer.Flatten(), layer.Linear(3)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(self.flat(self.pool(autograd.relu(self.bn(self.conv(x))))))


class Retrained(sonnx.SONNXModel):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x)[0]

    def train_one_batch(self, x: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
        out = self.forward(x)
        loss = autograd.softmax_cross_entropy(out, t)
        self.optimizer(loss)
        return out, loss


def test_a_network_goes_to_a_file_and_is_trained_on(tmp_path: Path):
    net, x = Net(), from_numpy(PICTURES)
    net.compile([x], is_train=False)
    exported = check(net, PICTURES)
    assert exported.opset_import[0].version == 11 and exported.ir_version == 6
    path = str(tmp_path / "net.onnx")
    sonnx.save(exported, path)
    again = Retrained(sonnx.load(path))
    again.set_optimizer(opt.SGD(0.1))
    again.compile([x], is_train=True)
    assert set(again.get_params()) == set(net.get_params())
    assert set(again.get_states()) == set(net.get_states())
    t = from_numpy(np.array([0, 2], np.int32))
    first, *_, last = (to_numpy(again(x, t)[1])[0] for _ in range(20))
    assert last < 0.2 * first
    values = {name: np.zeros(t.shape, np.float32) for name, t in again.get_states().items()}
    again.set_states(values)
    again.eval()
    assert (to_numpy(again(x)) == 0).all()
    with pytest.raises(KeyError, match="no parameter"):
        again.set_params({})


def test_parts_of_a_graph():
    x = from_numpy(A)
    exported = sonnx.to_onnx([x], [autograd.exp(autograd.negative(x))])
    ready = sonnx.prepare(exported)
    (inner,) = ready.run([A], last_layers=-1)
    np.testing.assert_array_equal(to_numpy(inner), -A)
    both = ready.run([A], aux_output=[exported.graph.node[0].output[0]])
    np.testing.assert_allclose(to_numpy(both[0]), np.exp(-A), rtol=1e-6)
    np.testing.assert_array_equal(to_numpy(both[1]), -A)
    with pytest.raises(ValueError, match="takes input0; 2 were given"):
        ready.run([A, B])


def test_a_node_on_its_own():
    node = helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2], strides=[2, 2])
    (y,) = sonnx.run_node(node, [PICTURES])
    np.testing.assert_array_equal(y, PICTURES.reshape(2, 4, 3, 2, 3, 2).max((3, 5)))
    node = helper.make_node("Constant", [], ["y"], value=numpy_helper.from_array(A))
    np.testing.assert_array_equal(sonnx.run_node(node, [])[0], A)


def test_what_has_no_match_is_named():
    x, t = from_numpy(A), from_numpy(np.array([0, 1], np.int32))
    with pytest.raises(NotImplementedError, match="SoftMaxCrossEntropy has no match"):
        sonnx.to_onnx([x], [autograd.softmax_cross_entropy(x, t)])
    with pytest.raises(ValueError, match="no result of an operator"):
        sonnx.to_onnx([x], [x])
    with pytest.raises(NotImplementedError, match="ONNX's LSTM is not supported"):
        sonnx.run_node(helper.make_node("LSTM", ["x"], ["y"]), [A])
