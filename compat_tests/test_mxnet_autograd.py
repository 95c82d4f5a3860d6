"""MXNet's autograd: flags, what is recorded, how gradients are delivered, and the errors."""

from __future__ import annotations

import threading
from typing import Any

import numpy as onp
import pytest

from torchlike.mxnet import MXNetError, autograd, nd

X = [1.0, 2.0, 3.0]


def marked(*values: float, req: str = "write") -> Any:
    x = nd.array(values or X)
    x.attach_grad(req)
    return x


def equal(array: Any, expected: Any) -> bool:
    found = array.asnumpy()
    expected = onp.asarray(expected)
    return found.shape == expected.shape and bool((found == expected).all())


# --- flags ----------------------------------------------------------------------------------------


def flags() -> tuple[bool, bool]:
    return autograd.is_recording(), autograd.is_training()


def test_scopes_set_flags_and_restore_them() -> None:
    assert flags() == (False, False)
    with autograd.record():
        assert flags() == (True, True)
        with autograd.pause():
            assert flags() == (False, False)
            with autograd.train_mode():
                assert flags() == (False, True)
        with autograd.pause(train_mode=True):
            assert flags() == (False, True)
        with autograd.predict_mode():
            assert flags() == (True, False)
        assert flags() == (True, True)
    with autograd.record(train_mode=False):
        assert flags() == (True, False)
        with autograd.train_mode():
            assert flags() == (True, True)
    assert flags() == (False, False)


def test_train_mode_alone_records_nothing() -> None:
    x = marked()
    with autograd.train_mode():
        assert flags() == (False, True)
        y = x * 2
    with pytest.raises(MXNetError, match="not in a computational graph"):
        y.backward()


def test_flags_are_restored_after_an_error() -> None:
    with pytest.raises(KeyError), autograd.record():
        raise KeyError
    assert flags() == (False, False)


def test_setters_return_what_was() -> None:
    assert autograd.set_recording(True) is False
    assert autograd.set_training(True) is False
    assert flags() == (True, True)
    assert autograd.set_recording(False) is True
    assert autograd.set_training(False) is True
    assert flags() == (False, False)


def test_flags_belong_to_the_thread() -> None:
    seen = []
    with autograd.record():
        other = threading.Thread(target=lambda: seen.append(flags()))
        other.start()
        other.join()
    assert seen == [(False, False)]


def test_one_scope_object_serves_again_and_nested() -> None:
    scope = autograd.record()
    with scope:
        with scope:
            assert flags() == (True, True)
        assert flags() == (True, True)
    assert flags() == (False, False)


# --- marking --------------------------------------------------------------------------------------


def test_gradient_is_none_before_and_zeros_after_attaching() -> None:
    x = nd.array(X)
    assert x.grad is None
    x.attach_grad()
    assert equal(x.grad, [0, 0, 0])


def test_vector_head_differentiates_its_sum() -> None:
    x = marked()
    with autograd.record():
        y = x**2
    assert y.grad is None
    assert y.backward() is None
    assert equal(x.grad, [2, 4, 6])


def test_out_grad_multiplies() -> None:
    x = marked()
    with autograd.record():
        y = x * x
    y.backward(nd.array([1, 10, 100]))
    assert equal(x.grad, [2, 40, 600])


def test_write_overwrites_and_a_reused_variable_is_summed() -> None:
    x = marked()
    for _ in range(2):
        with autograd.record():
            y = x * 2 + x * 3
        y.backward()
        assert equal(x.grad, [5, 5, 5])


def test_add_accumulates_until_set_back() -> None:
    x = marked(req="add")
    for _ in range(3):
        with autograd.record():
            y = x * 2 + x
        y.backward()
    assert equal(x.grad, [9, 9, 9])
    x.grad[:] = 0
    with autograd.record():
        y = x * 2
    y.backward()
    assert equal(x.grad, [2, 2, 2])


def test_null_has_zeros_and_no_differentiation() -> None:
    x, w = marked(req="null"), marked()
    assert equal(x.grad, [0, 0, 0])
    with autograd.record():
        y = x * w
    y.backward()
    assert equal(x.grad, [0, 0, 0])
    assert equal(w.grad, X)


def test_only_null_variables_is_an_error() -> None:
    x = marked(req="null")
    with autograd.record():
        y = x * 2
    with pytest.raises(
        MXNetError, match="There are no inputs in computation graph that require gradients"
    ):
        y.backward()


def test_unknown_grad_req() -> None:
    with pytest.raises(ValueError, match="grad_req must be one of write, add, null, not 'sum'"):
        nd.array(X).attach_grad("sum")


def test_integers_have_no_gradients() -> None:
    with pytest.raises(MXNetError, match="floating dtype"):
        nd.array(X, dtype="int32").attach_grad()


def test_caller_owned_gradients() -> None:
    x, y, dx, dy = nd.array(X), nd.array(X), nd.ones(3), nd.ones(3)
    autograd.mark_variables([x, y], [dx, dy], ["write", "add"])
    with autograd.record():
        z = x * y
    z.backward()
    assert equal(dx, [1, 2, 3])
    assert equal(dy, [2, 3, 4])
    assert x.grad is dx


def test_mark_variables_refuses_what_does_not_fit() -> None:
    x = nd.array(X)
    with pytest.raises(MXNetError, match=r"variable 0 has shape \(3,\), its gradient \(2,\)"):
        autograd.mark_variables([x], [nd.zeros(2)])
    with pytest.raises(ValueError, match="1 variables, 2 gradients"):
        autograd.mark_variables([x], [nd.zeros(3), nd.zeros(3)])
    assert x.grad is None


def test_gradient_arrives_though_only_the_gradient_array_was_kept() -> None:
    x = marked()
    gradient = x.grad
    with autograd.record():
        y = x * 2
    del x
    y.backward()
    assert equal(gradient, [2, 2, 2])


def test_attaching_again_makes_a_new_variable() -> None:
    x = marked()
    old = x.grad
    with autograd.record():
        y = x * 2
    x.attach_grad("add")
    y.backward()
    assert equal(old, [2, 2, 2])
    assert equal(x.grad, [0, 0, 0])


# --- what is recorded -----------------------------------------------------------------------------


def test_nothing_outside_record() -> None:
    x = marked()
    y = x * 2
    with pytest.raises(MXNetError) as caught:
        y.backward()
    start = "Cannot differentiate node because it is not in a computational graph"
    assert str(caught.value).startswith(start)


def test_no_marked_variable() -> None:
    with autograd.record():
        y = nd.array(X) * 2
    with pytest.raises(MXNetError, match="not in a computational graph"):
        y.backward()


def test_second_backward_needs_retaining() -> None:
    x = marked(req="add")
    with autograd.record():
        y = x + 1  # nothing is saved for a sum, and yet its graph is used up
    y.backward(retain_graph=True)
    y.backward()
    assert equal(x.grad, [2, 2, 2])
    with pytest.raises(MXNetError, match="not in a computational graph"):
        y.backward()


def test_graph_above_a_used_up_one_is_an_error() -> None:
    x = marked()
    with autograd.record():
        u = x * x
        y, z = u * 2, u * 3
    y.backward()
    with pytest.raises(MXNetError, match="not in a computational graph"):
        z.backward()


def test_result_of_a_used_up_graph_is_a_constant() -> None:
    x = marked()
    with autograd.record():
        h = x * 2
    h.backward()
    with autograd.record():
        y = h * x
    y.backward()
    assert equal(x.grad, [2, 4, 6])
    h.attach_grad()
    with autograd.record():
        y = h * h
    y.backward()
    assert equal(h.grad, [4, 8, 12])


def test_pause_and_detach_make_constants() -> None:
    x = marked()
    with autograd.record():
        u = x * x
        with autograd.pause():
            v = x * 10
        y = u.detach() * x + v
    y.backward()
    assert equal(x.grad, [1, 4, 9])


def test_unused_variable_keeps_its_gradient() -> None:
    x, y = marked(), marked()
    with autograd.record():
        z = x * 2 + y
    z.backward()
    assert x._fresh_grad and y._fresh_grad
    y._fresh_grad = False
    y.grad[:] = 7
    with autograd.record():
        z = x * 3
    z.backward()
    assert equal(y.grad, [7, 7, 7])
    assert (x._fresh_grad, y._fresh_grad) == (True, False)


def test_several_heads_and_their_gradients() -> None:
    x = marked()
    with autograd.record():
        a, b = x * 2, x * x
    autograd.backward([a, b], [None, nd.array([1, 0, 2])])
    assert equal(x.grad, [4, 2, 14])


@pytest.mark.parametrize(
    ("heads", "error", "text"),
    [
        ([nd.ones(2)], ValueError, "2 heads and 1 head gradients"),
        ([nd.ones(3), nd.ones(2)], MXNetError, r"head 1 has shape \(3,\), its gradient \(2,\)"),
    ],
)
def test_head_gradients_that_do_not_fit(heads: Any, error: Any, text: str) -> None:
    x = marked()
    with autograd.record():
        a, b = x * 2, x * x
    with pytest.raises(error, match=text):
        autograd.backward([a, b], heads)
    assert equal(x.grad, [0, 0, 0])


def test_head_that_is_no_array() -> None:
    with pytest.raises(TypeError, match="heads are NDArrays, not float"):
        autograd.backward([1.0])
