"""SINGA's operators as users write and reuse them."""

from __future__ import annotations

import pytest

from compat_tests.singa_support import delivered, leaf, singa_mode, total
from torchlike.singa import autograd, singa_wrap, tensor


@pytest.fixture(autouse=True)
def _mode():
    with singa_mode(training=True):
        yield


class TwoResults(autograd.Operation):
    """x y and x + 1; nothing for y."""

    def forward(self, x, y):
        self.y = y
        return x * y, x + 1.0

    def backward(self, da, db):
        return da * self.y + db, None


def test_several_results_and_no_gradient_for_an_operand():
    x, y = leaf([2.0, 3.0], name="x"), leaf([5.0, 7.0], name="y")
    a, b = TwoResults()(x, y)
    assert (tensor.to_numpy(a).tolist(), tensor.to_numpy(b).tolist()) == ([10, 21], [3, 4])
    assert a.creator is b.creator
    assert delivered(total(autograd.mul(a, b))) == {"x": [25.0, 49.0]}
    assert delivered(total(b)) == {"x": [1.0, 1.0]}  # zeros for the result that is not used


def test_backward_gives_as_many_gradients_as_there_are_operands():
    class Wrong(autograd.Operator):
        def forward(self, x, y):
            return x * y

        def backward(self, dy):
            return dy

    y = total(Wrong()(leaf([1.0]), leaf([2.0]))[0])
    with pytest.raises(AssertionError, match="1 gradients for 2 operands"):
        list(autograd.backward(y))


def test_raw_results_only():
    class Numbers(autograd.Operator):
        def forward(self, x):
            return x.GetFloatValue()

    with pytest.raises(TypeError, match="return raw tensors, not list"):
        Numbers()(leaf([1.0]))
    with pytest.raises(NotImplementedError, match="Operator has no forward"):
        autograd.Operator()(leaf([1.0]))


def test_a_loss_of_ones_own():
    class Total(autograd.Operator):
        def __init__(self):  # without super().__init__()
            self.scale = 2.0

        def forward(self, x):
            self.sizes = x.shape()
            return singa_wrap.SumAll(x) * self.scale

        def backward(self, dy=1.0):
            dx = singa_wrap.Tensor(list(self.sizes))
            dx.SetFloatValue(self.scale)
            dx *= dy
            return dx

    x = leaf([1.0, 3.0], name="x")
    loss = Total()(autograd.mul(x, x))[0]
    assert loss.shape == (1,)
    assert tensor.to_numpy(loss).tolist() == [20.0]
    assert delivered(loss) == {"x": [4.0, 12.0]}
    assert delivered(loss, 0.5) == {"x": [2.0, 6.0]}


def test_a_result_that_is_the_operand():
    class Same(autograd.Operator):
        def forward(self, x):
            return x

        def backward(self, dy):
            return dy * 3.0

    x = leaf([1.0, 3.0], name="x")
    assert delivered(total(Same()(x)[0])) == {"x": [3.0, 3.0]}
    assert delivered(total(autograd.identity(x))) == {"x": [1.0, 1.0]}


def test_an_operator_that_is_called_again():
    relu = autograd.ReLU()
    a, b = leaf([[1.0, -2.0]]), leaf([[-3.0, 4.0]])
    first, second = relu(a)[0], relu(b)[0]
    assert first.creator is relu and second.creator is not relu
    assert first.creator.name != second.creator.name
    loss = autograd.mse_loss(autograd.add(first, second), leaf([[0.0, 0.0]], False))
    found = {id(p): tensor.to_numpy(g).tolist() for p, g in autograd.backward(loss)}
    assert found == {id(a): [[1.0, 0.0]], id(b): [[0.0, 4.0]]}
