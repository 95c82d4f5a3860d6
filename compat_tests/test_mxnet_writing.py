"""Writing into MXNet's arrays while recording, and gradients of intermediate results."""

from __future__ import annotations

from typing import Any

import numpy as onp
import pytest

from torchlike.mxnet import MXNetError, autograd, base, nd, np

X = [1.0, 2.0, 3.0]


def marked(*values: float) -> Any:
    x = nd.array(values or X)
    x.attach_grad()
    return x


def equal(array: Any, expected: Any) -> bool:
    found = array.asnumpy()
    expected = onp.asarray(expected)
    return found.shape == expected.shape and bool((found == expected).all())


# --- writing --------------------------------------------------------------------------------------


def test_recorded_arrays_must_not_be_written() -> None:
    x = marked()
    start = "Assigning to NDArrays that are already in a computational graph"
    with autograd.record():
        z = x * 2
        for array in (x, z):
            with pytest.raises(MXNetError, match=start):
                array += 1
            with pytest.raises(MXNetError, match=start):
                array[:] = 0
        with pytest.raises(MXNetError, match=start):
            nd.ones(3).copyto(z)
    assert equal(z, [2, 4, 6])
    assert base.ASSIGNED.startswith(start)


def test_variables_are_written_outside_of_record() -> None:
    w = marked()
    buffer = w.grad
    for _ in range(2):
        with autograd.record():
            y = (w * w).sum()
        y.backward()
        w -= 0.25 * w.grad
        assert w.grad is buffer
    assert equal(w, [0.25, 0.5, 0.75])


def test_written_array_enters_the_graph() -> None:
    x = marked()
    with autograd.record():
        total = nd.zeros(3)
        total += x * x
    total.backward()
    assert equal(x.grad, [2, 4, 6])


def test_written_part_carries_its_gradient() -> None:
    x = marked(2.0)
    with autograd.record():
        row = nd.ones(3)
        row[1:2] = x * x
        y = row * nd.array([1, 10, 100])
    y.backward()
    assert equal(x.grad, [40])


def test_slice_and_its_array_as_variables_of_one_memory() -> None:
    x = nd.arange(4)
    v, flat = x[0:2], x.reshape((2, 2))
    for array in (v, x, flat):
        array.attach_grad()
    x[:] = 3
    with autograd.record():
        y = (v * v).sum() + (flat * x.reshape((2, 2))).sum()
    y.backward()
    assert equal(v.grad, [6, 6])
    assert equal(flat.grad, [[3, 3], [3, 3]])
    assert equal(x.grad, [3, 3, 3, 3])


def test_writing_what_a_graph_still_needs() -> None:
    x = marked()
    with autograd.record():
        y = x * x
    x[:] = 0
    with pytest.raises(MXNetError, match="modified by an inplace operation"):
        y.backward()


# --- intermediates (2.0) --------------------------------------------------------------------------


def test_intermediate_stays_in_its_graph() -> None:
    x = marked()
    with autograd.record():
        u = x * 2
        z = u * x
    u.attach_grad()
    z.attach_grad()
    z.backward(nd.array([10, 10, 10]))
    assert equal(u.grad, [10, 20, 30])
    assert equal(z.grad, [10, 10, 10])
    assert equal(x.grad, [40, 80, 120])


def test_dropping_gradients() -> None:
    x, y = marked(), marked(4, 5, 6)
    with autograd.record():
        u = x * y
        z = u * x
    u.attach_grad()
    z.backward(retain_graph=True)
    assert equal(u.grad, X)
    u.drop_grad()
    y.drop_grad()
    z.backward(nd.array([2, 2, 2]))
    assert u.grad is None and y.grad is None
    assert equal(x.grad, [16, 40, 72])


def test_np_arrays_do_the_same() -> None:
    x = np.arange(4)
    x.attach_grad()
    with autograd.record():
        y = 2 * np.dot(x, x)
    assert y.shape == () and float(y) == 28
    y.backward()
    assert type(x.grad) is np.ndarray
    assert equal(x.grad, [0, 4, 8, 12])
