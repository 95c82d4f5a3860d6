"""Gluon's parameters and blocks: beginnings, names, sharing, hooks, files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as onp
import pytest

import torchlike.mxnet as mx
from torchlike.mxnet import MXNetError, autograd, gluon, init, nd
from torchlike.mxnet.gluon import DeferredInitializationError, Parameter, nn


def values(array: Any) -> Any:
    return array.asnumpy().tolist()


def small() -> Any:
    net = nn.HybridSequential()
    net.add(nn.Dense(3, activation="relu"), nn.Dense(2))
    return net


# --- parameters -----------------------------------------------------------------------------------


def test_parameter() -> None:
    p = Parameter("weight", shape=(2, 3))
    with pytest.raises(RuntimeError, match="Parameter weight has not been initialized"):
        p.data()
    p.initialize(init="ones")
    assert values(p.data()) == [[1, 1, 1], [1, 1, 1]]
    assert values(p.grad()) == [[0, 0, 0], [0, 0, 0]]
    assert (p.list_data(), p.list_grad(), p.list_ctx()) == ([p.data()], [p.grad()], [mx.cpu()])
    with autograd.record():
        y = p.data() * 2
    y.backward()
    assert values(p.grad()) == [[2, 2, 2], [2, 2, 2]]
    p.zero_grad()
    assert values(p.grad()) == [[0, 0, 0], [0, 0, 0]]


def test_initialize_again_only_by_force() -> None:
    p = Parameter(shape=(2,), init="zeros")
    p.initialize()
    p.set_data(nd.array([5, 6]))
    p.initialize(init="ones")
    assert values(p.data()) == [5, 6]
    p.initialize(init="ones", force_reinit=True)
    assert values(p.data()) == [1, 1]


def test_set_data_keeps_the_array_and_checks_the_shape() -> None:
    p = Parameter(shape=(2,), init="zeros")
    p.initialize()
    data = p.data()
    p.set_data(nd.array([1, 2]))
    assert values(data) == [1, 2]
    with pytest.raises(ValueError, match=r"weight has shape \(2,\), the new data \(3,\)"):
        p.set_data(nd.ones(3))


def test_grad_req_of_parameters() -> None:
    p = Parameter(shape=(2,), init="ones", grad_req="null")
    p.initialize()
    with pytest.raises(RuntimeError, match="has no gradient: its grad_req is 'null'"):
        p.grad()
    p.grad_req = "add"
    for _ in range(2):
        with autograd.record():
            y = p.data() * 3
        y.backward()
    assert values(p.grad()) == [6, 6]
    p.grad_req = "null"
    with pytest.raises(RuntimeError, match="has no gradient"):
        p.grad()
    fixed = Parameter(shape=(2,), differentiable=False)
    fixed.grad_req = "write"
    assert fixed.grad_req == "null"
    with pytest.raises(ValueError, match="grad_req must be one of write, add, null, not 'x'"):
        p.grad_req = "x"


def test_shapes_become_known_and_do_not_change() -> None:
    p = Parameter("w", shape=(2, 0), allow_deferred_init=True)
    p.initialize()
    with pytest.raises(DeferredInitializationError, match="w has no values before the first call"):
        p.data()
    with pytest.raises(ValueError, match=r"w has shape \(2, 0\), which \(3, 3\) contradicts"):
        p.shape = (3, 3)
    p.shape = (2, 4)
    assert p.shape == (2, 4)
    assert issubclass(DeferredInitializationError, MXNetError)
    with pytest.raises(ValueError, match="cannot begin"):
        Parameter("v", shape=(0,)).initialize()


def test_cast_and_constant() -> None:
    p = Parameter(shape=(2,), init="ones")
    p.initialize()
    p.cast("float64")
    assert (p.data().dtype, p.grad().dtype) == (onp.float64, onp.float64)
    c = gluon.Constant([[1, 2]])
    c.initialize()
    assert (values(c.data()), c.grad_req) == ([[1, 2]], "null")


# --- blocks ---------------------------------------------------------------------------------------


def test_names_are_structural() -> None:
    net = small()
    net.initialize()
    with pytest.raises(DeferredInitializationError):
        net[0].weight.data()
    net(nd.ones((1, 4)))
    found = {name: p.shape for name, p in net.collect_params().items()}
    assert found == {
        "0.weight": (3, 4), "0.bias": (3,), "1.weight": (2, 3), "1.bias": (2,),
    }  # fmt: skip
    assert list(net.collect_params(".*bias")) == ["0.bias", "1.bias"]
    assert list(net[0].params) == ["weight", "bias"]


def test_forward_before_initialize() -> None:
    with pytest.raises(RuntimeError, match="Parameter weight has not been initialized"):
        nn.Dense(2, in_units=3)(nd.ones((1, 3)))
    with pytest.raises(RuntimeError, match="Parameter weight has not been initialized"):
        nn.Dense(2)(nd.ones((1, 3)))


class Net(gluon.Block):
    """A block with a parameter and a child of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = Parameter("scale", shape=(1,), init=init.Constant(3))
        self.body = nn.Dense(2, use_bias=False, in_units=2, weight_initializer="ones")

    def forward(self, x: Any) -> Any:
        return self.body(x) * self.scale.data()


def test_own_blocks_register_by_assignment() -> None:
    net = Net()
    net.initialize()
    assert list(net.collect_params()) == ["scale", "body.weight"]
    with autograd.record():
        y = net(nd.array([[1, 2]]))
    y.backward()
    assert values(y) == [[9, 9]]
    assert values(net.scale.grad()) == [6]
    assert values(net.body.weight.grad()) == [[3, 6], [3, 6]]
    net.zero_grad()
    assert values(net.scale.grad()) == [0]
    with pytest.raises(TypeError, match="body of Net is a Block and cannot become a int"):
        net.body = 5
    with pytest.raises(TypeError, match="scale of Net is a Parameter and cannot become a Dense"):
        net.scale = nn.Dense(1)


def test_parameters_asked_for_by_name() -> None:
    class Old(gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.weight = self.params.get("weight", shape=(2, 1), init="ones")
            self.fixed = self.params.get_constant("fixed", [[5]])

        def forward(self, x: Any) -> Any:
            return nd.dot(x, self.weight.data()) + self.fixed.data()

    net = Old()
    net.initialize()
    assert values(net(nd.array([[1, 2]]))) == [[8]]
    assert net.params.get("weight", shape=(9,)) is net.weight
    assert net.params.get("other") is None
    assert list(net.collect_params()) == ["weight", "fixed"]


def test_assignment_needs_super_init() -> None:
    class Bad(gluon.Block):
        def __init__(self) -> None:
            self.body = nn.Dense(1)

    with pytest.raises(RuntimeError, match=r"must call super\(\).__init__\(\) first"):
        Bad()


def test_sequential() -> None:
    net = nn.Sequential()
    net.add(nn.Flatten(), nn.Dense(1, in_units=1), nn.Lambda(lambda x: x + 1))
    assert (len(net), type(net[0]), type(net[-1])) == (3, nn.Flatten, nn.Lambda)
    part = net[1:]
    assert (len(part), part[0] is net[1]) == (2, True)
    assert [type(b) for b in net] == [nn.Flatten, nn.Dense, nn.Lambda]
    with pytest.raises(TypeError, match="a child is a Block, not function"):
        net.add(lambda x: x)
    assert repr(nn.Sequential(nn.Flatten())) == "Sequential(\n  (0): Flatten\n)"


def test_hybridize_changes_nothing() -> None:
    net = small()
    net.initialize()
    x = nd.ones((2, 4))
    before = values(net(x))
    net.hybridize()
    assert values(net(x)) == before


def test_shared_parameters() -> None:
    first, second = nn.Dense(2, in_units=2), nn.Dense(2, in_units=2)
    second.share_parameters(first.collect_params())
    net = nn.Sequential(first, second)
    net.initialize(init.One())
    assert second.weight is first.weight
    with autograd.record():
        y = net(nd.ones((1, 2)))
    y.backward()
    assert values(first.weight.grad()) == [[4, 4], [4, 4]]  # 2 for the inputs' use, 2 for each h


def test_setattr_and_apply_and_hooks() -> None:
    net = small()
    net.initialize()
    net.collect_params(".*bias").setattr("wd_mult", 0)
    assert [p.wd_mult for p in net.collect_params().values()] == [1, 0, 1, 0]
    net.setattr("grad_req", "null")
    assert {p.grad_req for p in net.collect_params().values()} == {"null"}
    seen: list[Any] = []
    assert net.apply(lambda block: seen.append(type(block).__name__)) is net
    assert seen == ["Activation", "Dense", "Dense", "HybridSequential"]
    shapes: list[Any] = []
    before = net.register_forward_pre_hook(lambda b, inputs: shapes.append(inputs[0].shape))
    after = net.register_forward_hook(lambda b, inputs, out: shapes.append(out.shape))
    net(nd.ones((5, 4)))
    before.detach()
    after.detach()
    net(nd.ones((6, 4)))
    assert shapes == [(5, 4), (5, 2)]


def test_summary(capsys: pytest.CaptureFixture[str]) -> None:
    net = small()
    net.initialize()
    net.summary(nd.ones((5, 4)))
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[1] == ["Activation", "(5,", "3)", "0"]
    assert lines[2] == ["Dense", "(5,", "3)", "15"]
    assert lines[-1] == ["in", "all", "23"]


def test_cast_a_net() -> None:
    net = small()
    net.initialize()
    net.cast("float64")
    assert net(nd.ones((1, 4), dtype="float64")).dtype == onp.float64


# --- initializers ---------------------------------------------------------------------------------


def begin(chosen: Any, shape: Any = (200, 100)) -> Any:
    p = Parameter(shape=shape)
    p.initialize(init=chosen)
    return p.data().asnumpy()


def test_initializers() -> None:
    mx.random.seed(0)
    assert set(begin(init.Zero()).ravel()) == {0}
    assert set(begin("one").ravel()) == {1}
    assert begin(init.Constant(nd.array([1, 2])), (2,)).tolist() == [1, 2]
    assert abs(begin(init.Normal(0.5)).std() - 0.5) < 0.01
    assert 0.199 < begin(init.Uniform(0.2)).max() < 0.2
    bound = (3 / 150) ** 0.5
    assert 0.99 * bound < begin(init.Xavier()).max() <= bound
    assert abs(begin(init.Xavier("gaussian", "in", 2)).std() - (2 / 100) ** 0.5) < 0.003
    field = begin(init.Xavier(factor_type="out"), (10, 4, 5, 5))
    assert 0.9 * (3 / 250) ** 0.5 < field.max() <= (3 / 250) ** 0.5
    rows = begin(init.Orthogonal(1), (3, 5))
    onp.testing.assert_allclose(rows @ rows.T, onp.eye(3), atol=1e-6)


def test_own_initializer_serves_weights_only() -> None:
    class Fives(init.Initializer):
        def _init_weight(self, name: str, arr: Any) -> None:
            arr[:] = 5

    net = nn.Sequential(nn.Dense(1, in_units=1), nn.BatchNorm(in_channels=1))
    net.initialize(Fives())
    found = {name: values(p.data()) for name, p in net.collect_params().items()}
    assert found == {
        "0.weight": [[5]], "0.bias": [0], "1.gamma": [1], "1.beta": [0],
        "1.running_mean": [0], "1.running_var": [1],
    }  # fmt: skip


def test_unknown_initializers() -> None:
    with pytest.raises(ValueError, match="there is no initializer 'mine'"):
        nn.Dense(1).initialize("mine")
    with pytest.raises(ValueError, match="Xavier wants two dimensions or more"):
        begin(init.Xavier(), (3,))
    with pytest.raises(ValueError, match="factor_type must be"):
        init.Xavier(factor_type="all")


# --- files ----------------------------------------------------------------------------------------


def test_parameters_in_files(tmp_path: Path) -> None:
    path = tmp_path / "net.params"
    net, x = small(), nd.ones((2, 4))
    net.initialize()
    expected = values(net(x))
    net.save_parameters(path)
    assert set(onp.load(path)) == {"0.weight", "0.bias", "1.weight", "1.bias"}
    fresh = small()
    fresh.load_parameters(path)
    assert values(fresh(x)) == expected
    begun = small()
    begun.initialize()
    begun.load_parameters(path, ctx=mx.cpu())
    assert values(begun(x)) == expected
    assert begun[0].weight.grad().shape == (3, 4)


def test_files_that_do_not_fit_change_nothing(tmp_path: Path) -> None:
    path = tmp_path / "net.params"
    net = small()
    net.initialize()
    net(nd.ones((2, 4)))
    net.save_parameters(path)
    other = nn.Sequential(nn.Dense(3, in_units=4), nn.Dense(5, in_units=3))
    other.initialize()
    before = values(other[0].weight.data())
    with pytest.raises(ValueError, match=r"1.weight has shape \(5, 3\), in the file \(2, 3\)"):
        other.load_parameters(path)
    assert values(other[0].weight.data()) == before
    longer = nn.Sequential(nn.Dense(3), nn.Dense(2), nn.Dense(1))
    with pytest.raises(ValueError, match=r"has no 2\.weight, 2\.bias"):
        longer.load_parameters(path)
    longer.load_parameters(path, allow_missing=True)
    assert values(longer[0].weight.data()) == values(net[0].weight.data())
    shorter = nn.Sequential(nn.Dense(3))
    with pytest.raises(ValueError, match=r"has 1\.weight, 1\.bias, which the block has not"):
        shorter.load_parameters(path)
    shorter.load_parameters(path, ignore_extra=True)
    doubles = small()
    doubles.cast("float64")
    with pytest.raises(ValueError, match="has dtype float64, in the file float32"):
        doubles.load_parameters(path)
    doubles.load_parameters(path, cast_dtype=True)
    assert doubles[0].weight.data().dtype == onp.float64


def test_shared_parameters_saved_once(tmp_path: Path) -> None:
    path = tmp_path / "net.params"

    def tied() -> Any:
        first, second = nn.Dense(2, in_units=2), nn.Dense(2, in_units=2)
        second.share_parameters(first.collect_params())
        return nn.Sequential(first, second)

    net = tied()
    net.initialize()
    net.save_parameters(path, deduplicate=True)
    assert set(onp.load(path)) == {"0.weight", "0.bias"}
    again = tied()
    again.load_parameters(path)
    assert values(again[1].weight.data()) == values(net[0].weight.data())
