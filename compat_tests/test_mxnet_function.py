"""``autograd.grad``, derivatives of derivatives, and operations with a derivative of their own."""

from __future__ import annotations

from typing import Any

import numpy as onp
import pytest

from torchlike.mxnet import MXNetError, autograd, nd, np

E = 2.718281828459045


def marked(*values: float, req: str = "write") -> Any:
    x = nd.array(values)
    x.attach_grad(req)
    return x


# --- grad -----------------------------------------------------------------------------------------


def test_grad_gives_a_list_of_new_arrays() -> None:
    x, y = marked(1, 2), marked(3, 4)
    with autograd.record():
        z = x * y
    found = autograd.grad(z, x, retain_graph=True)
    assert isinstance(found, list) and len(found) == 1
    assert found[0].asnumpy().tolist() == [3, 4]
    dx, dy = autograd.grad(z, [x, y], head_grads=nd.array([1, 10]))
    assert (dx.asnumpy().tolist(), dy.asnumpy().tolist()) == ([3, 40], [1, 20])
    assert x.grad.asnumpy().tolist() == [0, 0]
    assert not x._fresh_grad


def test_grad_uses_the_graph_up() -> None:
    x = marked(1, 2)
    with autograd.record():
        z = x * x
    autograd.grad(z, x)
    with pytest.raises(MXNetError, match="not in a computational graph"):
        autograd.grad(z, x)


@pytest.mark.parametrize("req", [None, "null"])
def test_grad_wants_marked_variables(req: str | None) -> None:
    x, y = marked(1, 2), nd.array([1, 2])
    if req:
        y.attach_grad(req)
    with autograd.record():
        z = x * y
    with pytest.raises(MXNetError, match="variable 1 does not want a gradient"):
        autograd.grad(z, [x, y])


def test_grad_of_an_unused_variable_is_zeros() -> None:
    x, y = marked(1, 2), marked(5)
    with autograd.record():
        z = x * x
    assert autograd.grad(z, [y])[0].asnumpy().tolist() == [0]


def test_second_derivative_by_backward() -> None:
    x = marked(1)
    with autograd.record():
        z = nd.elemwise_add(nd.exp(x), x)
    (dx,) = autograd.grad(z, [x], create_graph=True)
    assert dx.asscalar() == onp.float32(E + 1)
    dx.backward()
    assert x.grad.asscalar() == onp.float32(E)


def test_third_derivative() -> None:
    x = marked(2)
    with autograd.record():
        y = x**4
        (first,) = autograd.grad(y, x, create_graph=True)
        (second,) = autograd.grad(first, x, create_graph=True)
    assert (first.asscalar(), second.asscalar()) == (32, 48)
    second.backward()
    assert x.grad.asscalar() == 48


def test_gradient_penalty() -> None:
    x, w = marked(1, 2), marked(3, -1)
    with autograd.record():
        y = (w * x * x).sum()
        (slope,) = autograd.grad(y, x, create_graph=True)  # 2 w x
        penalty = (slope * slope).sum()
    penalty.backward()
    assert w.grad.asnumpy().tolist() == [8 * 3 * 1, 8 * -1 * 4]


# --- Function -------------------------------------------------------------------------------------


class Both(autograd.Function):
    """x / y and x * y, with derivatives by hand."""

    def forward(self, x: Any, y: Any) -> Any:
        assert not autograd.is_recording()
        self.save_for_backward(x, y)
        return x / y, x * y

    def backward(self, dm: Any, dn: Any) -> Any:
        x, y = self.saved_tensors
        return dm / y + dn * y, dn * x - dm * x / y / y


class Twice(autograd.Function):
    """2 x, whose derivative is said to be 5."""

    def forward(self, x: Any) -> Any:
        return x * 2

    def backward(self, dy: Any) -> Any:
        return dy * 5


def test_function_of_two_arrays() -> None:
    x, y = marked(1, 6), marked(2, 4)
    with autograd.record():
        m, n = Both()(x, y)
    assert m.asnumpy().tolist() == [0.5, 1.5]
    assert n.asnumpy().tolist() == [2, 24]
    autograd.backward([m, n], [nd.array([1, 1]), nd.array([10, 1])])
    assert x.grad.asnumpy().tolist() == [20.5, 4.25]
    assert y.grad.asnumpy().tolist() == [9.75, 5.625]


def test_only_one_of_the_results_is_used() -> None:
    x, y = marked(1, 6), marked(2, 4)
    with autograd.record():
        m, _ = Both()(x, y)
    m.backward()
    assert x.grad.asnumpy().tolist() == [0.5, 0.25]


def test_own_derivative_is_believed() -> None:
    x = marked(1, 2)
    with autograd.record():
        y = Twice()(x * 3)
    assert y.asnumpy().tolist() == [6, 12]
    y.backward()
    assert x.grad.asnumpy().tolist() == [15, 15]


def test_function_outside_of_record_and_on_unmarked_arrays() -> None:
    y = Twice()(marked(1, 2))
    with pytest.raises(MXNetError, match="not in a computational graph"):
        y.backward()
    with autograd.record():
        x = nd.zeros((3, 4))
        for _ in range(3):
            x = Twice()(x + 1)
    assert x.shape == (3, 4)
    assert x.asnumpy()[0, 0] == 14


def test_function_adds_where_asked() -> None:
    x = marked(1, 2, req="add")
    for _ in range(2):
        with autograd.record():
            y = Twice()(x)
        y.backward()
    assert x.grad.asnumpy().tolist() == [10, 10]


def test_one_call_for_each_instance() -> None:
    f, x = Twice(), nd.ones(2)
    f(x)
    with pytest.raises(AssertionError, match="this Twice was called before"):
        f(x)


def test_one_gradient_for_each_input() -> None:
    class Short(autograd.Function):
        def forward(self, x: Any, y: Any) -> Any:
            return x + y

        def backward(self, dz: Any) -> Any:
            return dz

    x, y = marked(1), marked(2)
    with autograd.record():
        z = Short()(x, y)
    with pytest.raises(MXNetError, match=r"Short.backward gave 1 gradients for 2 inputs"):
        z.backward()


def test_function_is_differentiated_twice() -> None:
    class Cube(autograd.Function):
        def forward(self, x: Any) -> Any:
            self.save_for_backward(x)
            return x * x * x

        def backward(self, dy: Any) -> Any:
            (x,) = self.saved_tensors
            return dy * 3 * x * x

    x = marked(2)
    with autograd.record():
        y = Cube()(x)
        (slope,) = autograd.grad(y, x, create_graph=True)
    assert slope.asscalar() == 12
    slope.backward()
    assert x.grad.asscalar() == 12


@pytest.mark.parametrize("train_mode", [True, False])
def test_flags_inside_of_backward(train_mode: bool) -> None:
    seen = []

    class Look(autograd.Function):
        def forward(self, x: Any) -> Any:
            return x * 1

        def backward(self, dy: Any) -> Any:
            seen.append((autograd.is_recording(), autograd.is_training()))
            return dy

    x = marked(1)
    with autograd.record(train_mode=not train_mode):
        y = Look()(x)
        y.backward(retain_graph=True, train_mode=train_mode)
        autograd.grad(y, x, create_graph=True, train_mode=train_mode)
        assert autograd.is_recording() and autograd.is_training() is not train_mode
    assert seen == [(False, train_mode), (True, train_mode)]


def test_function_of_what_is_no_array() -> None:
    class Wrong(autograd.Function):
        def forward(self, x: Any) -> Any:
            return 5

    with autograd.record():
        with pytest.raises(TypeError, match="inputs of a Function are NDArrays, not float"):
            Twice()(1.0)
        with pytest.raises(TypeError, match="forward gives NDArrays, not int"):
            Wrong()(nd.ones(1))


def test_missing_methods() -> None:
    class Nothing(autograd.Function):
        pass

    with pytest.raises(NotImplementedError, match="Nothing has no forward"):
        Nothing()(nd.ones(1))


def test_np_arrays_stay_np_arrays() -> None:
    seen = []

    class Look(autograd.Function):
        def forward(self, x: Any) -> Any:
            return x.sum()

        def backward(self, dy: Any) -> Any:
            seen.append((type(dy), dy.shape))
            return dy * np.ones(2)

    x = np.array([1, 2])
    x.attach_grad()
    with autograd.record():
        y = Look()(x)
    assert (type(y), y.shape) == (np.ndarray, ())
    y.backward()
    assert seen == [(np.ndarray, ())]
    assert x.grad.asnumpy().tolist() == [1, 1]
