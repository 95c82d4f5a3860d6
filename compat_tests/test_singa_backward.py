"""SINGA's ``autograd.backward``: what is delivered, in which order."""

from __future__ import annotations

import gc
import subprocess
import sys
import types
import weakref

import numpy as np
import pytest

from compat_tests.singa_support import delivered, leaf, singa_mode, total
from torchlike.singa import autograd, tensor
from torchlike.singa.tensor import Tensor


@pytest.fixture(autouse=True)
def _mode():
    with singa_mode(training=True):
        yield


# --- which tensors ---


@pytest.mark.parametrize("requires", [True, False])
@pytest.mark.parametrize("stores", [True, False])
def test_flags_beside_a_tensor_that_requires(requires, stores):
    a = leaf([2.0], stores, requires, "a")
    b = leaf([5.0], True, True, "b")
    found = delivered(total(autograd.mul(a, b)))
    assert found == ({"a": [5.0], "b": [2.0]} if stores else {"b": [2.0]})


@pytest.mark.parametrize("requires", [True, False])
@pytest.mark.parametrize("stores", [True, False])
def test_flags_alone(requires, stores):
    a = leaf([2.0], stores, requires, "a")
    y = autograd.mul(a, a)
    assert y.requires_grad is requires
    assert delivered(total(y)) == ({"a": [4.0]} if requires and stores else {})


def test_a_part_of_the_graph_that_requires_nothing_delivers_nothing():
    a, b = leaf([2.0], True, False, "a"), leaf([3.0], name="b")
    constant = autograd.mul(a, a)
    assert delivered(total(autograd.mul(constant, b))) == {"b": [4.0]}
    # what such a part shares with the rest gets what comes through the rest
    y = autograd.add(autograd.mul(constant, b), autograd.mul(a, b))
    assert delivered(total(y)) == {"a": [3.0], "b": [6.0]}


def test_flags_count_when_the_operator_is_called():
    a, b = leaf([2.0], False, name="a"), leaf([3.0], name="b")
    y = autograd.mul(a, b)
    a.stores_grad = True
    assert delivered(total(y)) == {"b": [2.0]}


def test_a_shared_weight_comes_once_with_the_sum():
    w, x = leaf([[3.0]], name="w"), leaf([[2.0]], False)
    y = autograd.matmul(autograd.matmul(x, w), w)
    pairs = list(autograd.backward(y))
    assert [t is w for t, _ in pairs] == [True]
    assert tensor.to_numpy(pairs[0][1]).tolist() == [[12.0]]


@pytest.mark.parametrize("swapped", [False, True])
def test_gradients_do_not_share_memory(swapped):
    a, b = leaf([1.0, 2.0], name="a"), leaf([3.0, 4.0], name="b")
    inner = autograd.add(a, b)
    u = autograd.add(a, inner) if swapped else autograd.add(inner, a)
    assert delivered(total(u)) == {"a": [2.0, 2.0], "b": [1.0, 1.0]}
    pairs = autograd.gradients(total(u))
    pairs[id(a)] *= 10.0
    assert tensor.to_numpy(pairs[id(b)]).tolist() == [1.0, 1.0]


def test_an_intermediate_that_stores():
    x = leaf([1.0, 2.0], name="x")
    y = autograd.mul(x, x)
    y.stores_grad = True
    found = list(autograd.backward(total(autograd.mul(y, y))))
    assert [t is wanted for (t, _), wanted in zip(found, (y, x), strict=True)] == [True, True]
    assert tensor.to_numpy(found[0][1]).tolist() == [2.0, 8.0]
    assert tensor.to_numpy(found[1][1]).tolist() == [4.0, 32.0]
    assert found[0][1].name == y.creator.grad_name(0)


def test_ids_in_use_again():
    x, wanted = leaf([1.0], False), [f"w{i}" for i in range(200)]
    y = x
    for name in wanted:  # the tensor that held y goes, and the next one may get its id
        w = leaf([1.0], name=name)
        y = autograd.mul(y, w)
        del w
    assert sorted(delivered(y)) == sorted(wanted)


def test_nothing_flows_through_comparisons_or_integers():
    x, w = leaf([1.0, 2.0], name="x"), leaf([3.0, 4.0], name="w")
    words = Tensor(data=np.array([[1, 0]], np.int32), stores_grad=True, name="words")
    mask = autograd.less(x, w)
    table = autograd.embedding(words, leaf([[1.0], [2.0]], name="table"))
    y = autograd.add(total(autograd.mul(mask, w)), autograd.reshape(total(table), (1,)))
    assert delivered(y) == {"w": [1.0, 1.0], "table": [[1.0], [1.0]]}


# --- in which order, and when ---


def perceptron():
    params = {
        "w0": leaf(np.ones((2, 3)) / 2, name="w0"), "b0": leaf(np.zeros(3), name="b0"),
        "w1": leaf(np.ones((3, 2)) / 3, name="w1"), "b1": leaf(np.zeros(2), name="b1"),
    }  # fmt: skip
    x, t = leaf([[1.0, 2.0]], False), leaf([[0.0, 1.0]], False)
    h = autograd.relu(autograd.add_bias(autograd.matmul(x, params["w0"]), params["b0"]))
    y = autograd.add_bias(autograd.matmul(h, params["w1"]), params["b1"])
    return autograd.softmax_cross_entropy(y, t), params


def test_order():
    loss, _ = perceptron()
    assert list(delivered(loss)) == ["b1", "w1", "b0", "w0"]


def test_parameters_may_change_while_pairs_are_taken():
    loss, params = perceptron()
    wanted = delivered(loss)
    for t, g in autograd.backward(loss):
        assert tensor.to_numpy(g).tolist() == wanted[t.name]
        params[t.name].data += params[t.name].data
        t.set_value(7.0)


def test_backward_is_a_generator_that_starts_when_asked():
    calls = []

    class Noted(autograd.Operator):
        def forward(self, x):
            return x

        def backward(self, dy):
            calls.append(dy.shape())
            return dy

    pairs = autograd.backward(total(Noted()(leaf([1.0, 2.0]))[0]))
    assert isinstance(pairs, types.GeneratorType)
    assert calls == []
    assert len(list(pairs)) == 1
    assert calls == [(2,)]


def test_a_second_backward_gives_the_same():
    loss, _ = perceptron()
    assert delivered(loss) == delivered(loss)
    x, t = leaf([1.0, 3.0], name="x"), leaf([0.0, 0.0], False)
    loss = autograd.mse_loss(x, t)
    assert delivered(loss) == delivered(loss) == {"x": [1.0, 3.0]}


def test_a_factor():
    x = leaf([1.0, 3.0], name="x")
    loss = autograd.mse_loss(x, leaf([0.0, 0.0], False))
    assert delivered(loss, 2.0) == {"x": [2.0, 6.0]}
    assert delivered(loss, leaf([-1.0])) == {"x": [-1.0, -3.0]}
    both = autograd.add(loss, loss)
    assert delivered(both) == {"x": [2.0, 6.0]}


def test_roots():
    x = leaf([1.0, 2.0])
    with pytest.raises(AssertionError, match=r"one element, not of shape \(2,\)"):
        list(autograd.backward(autograd.relu(x)))
    with pytest.raises(AssertionError, match="takes a Tensor, not float"):
        list(autograd.backward(1.0))
    assert list(autograd.backward(leaf([1.0]))) == []
    loss = autograd.mse_loss(leaf([1.0], name="x"), leaf([0.0]))
    loss.stores_grad = True
    assert delivered(loss) == {"x": [2.0]}


def test_recording_does_not_depend_on_training():
    autograd.training = False
    x = leaf([-1.0, 2.0], name="x")
    y = autograd.relu(x)
    assert isinstance(y.creator, autograd.ReLU)
    assert delivered(total(y)) == {"x": [0.0, 1.0]}


def test_gradients_by_identity():
    x = leaf([1.0, 3.0])
    found = autograd.gradients(autograd.mse_loss(x, leaf([0.0, 0.0], False)))
    assert list(found) == [id(x)]
    assert tensor.to_numpy(found[id(x)]).tolist() == [1.0, 3.0]


def test_dependencies():
    a, b = leaf([1.0]), leaf([2.0])
    inner = autograd.add(a, b)
    outer = autograd.add(inner, a)
    operators, tensors = autograd.infer_dependency(outer.creator)
    assert tensors == {id(a): 2, id(b): 1, id(inner): 1}
    assert operators[inner.creator] == 1
    assert operators[a.creator] == 2
    assert operators[outer.creator] == 0


def test_graphs_go_without_the_garbage_collector():
    gc.disable()
    try:
        loss, _ = perceptron()
        gone = weakref.ref(loss.creator)
        list(autograd.backward(loss))
        del loss
        assert gone() is None
    finally:
        gc.enable()


# --- names ---


def test_names():
    x = leaf([1.0], name="x")
    y = autograd.tanh(x)
    number = int(y.creator.name.split("#")[1])
    assert y.creator.name == f"Tanh#{number}"
    assert autograd.tanh(x).creator.name == f"Tanh#{number + 1}"
    assert y.name == y.creator.output_name(0) == f"Tanh#{number}:0"
    assert y.creator.grad_name(0) == f"Tanh#{number}:0_g"
    assert y.creator.y_id2idx == {id(y): 0}
    assert y.creator.get_params() == []
    assert autograd.Operator("mine").name == "mine"
    ((_, g),) = autograd.backward(y)
    assert g.name == "x_g"


def test_the_creator_of_a_leaf():
    x = leaf([1.0], name="x")
    creator = x.creator
    assert isinstance(creator, autograd.Dummy)
    assert (creator.name, creator.src, creator.requires_grad) == ("x", [], False)
    assert creator.y_id2idx == {id(x): 0}
    assert creator.tensor is x
    assert creator.stores_grad is True
    x.stores_grad = False
    assert creator.stores_grad is False


def test_sources():
    x, w = leaf([[1.0]], False), leaf([[2.0]])
    op = autograd.matmul(x, w).creator
    assert op.src == [(x.creator, id(x), None, False), (w.creator, id(w), w, True)]
    assert op.requires_grad is True


# --- the module ---


def test_layers_are_here_too():
    assert autograd.Linear.__name__ == "Linear"
    assert autograd.Operation is autograd.Operator
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        autograd.nonsense


def test_importing_the_library_loads_no_surface():
    code = (
        "import sys, torchlike; sys.exit(any(m.startswith('torchlike.singa') for m in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    "module", "autograd operator singa_wrap tensor operators.making operators.handles".split()
)
def test_each_module_may_be_the_first(module):
    code = f"import torchlike.singa.{module}, torchlike.singa.autograd as a; a.relu, a.Linear"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_delivered_gradients_have_memory_of_their_own():
    a, b = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    loss = autograd.mse_loss(autograd.add(a, b), leaf([0.0, 0.0], False))
    (_, first), (_, second) = autograd.backward(loss)
    first *= 0.0
    assert tensor.to_numpy(second).tolist() == [4.0, 6.0]
