"""copy, deepcopy and pickle of tensors, parameters and the library's other objects.

Each test runs on this library, and on PyTorch where it is installed: the assertions state what
PyTorch does.
"""

from __future__ import annotations

import copy
import pickle
import re
import warnings
from typing import Any

import numpy as np
import pytest

import torchlike

try:
    import torch
except ImportError:
    torch = None

LIBRARIES = [torchlike] if torch is None else [torchlike, torch]
DEEPCOPY = (
    "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol"
)


@pytest.fixture(params=LIBRARIES, ids=lambda library: library.__name__)
def t(request: pytest.FixtureRequest) -> Any:
    """The library under test."""
    return request.param


def through_pickle(value: Any, protocol: int = pickle.HIGHEST_PROTOCOL) -> Any:
    return pickle.loads(pickle.dumps(value, protocol))


def numbers(t: Any, *shape: int) -> Any:
    return t.arange(float(np.prod(shape))).reshape(shape)


class Wrapper(torchlike.Tensor):
    """A subclass that new_empty makes anew, so that deepcopy accepts it."""

    __torch_function__ = torchlike._C._disabled_torch_function_impl

    def new_empty(self, *sizes: Any, **kwargs: Any) -> Any:
        return super().new_empty(*sizes, **kwargs).as_subclass(type(self))


# --- deep copies ----------------------------------------------------------------------------------


def test_deepcopy_of_a_leaf(t: Any) -> None:
    x = t.tensor([1.0, 2.0], requires_grad=True)
    x.grad = t.tensor([3.0, 4.0])
    x.note = ["kept"]
    y = copy.deepcopy(x)
    assert y.tolist() == [1.0, 2.0] and y.requires_grad and y.is_leaf
    assert y.grad.tolist() == [3.0, 4.0] and y.grad is not x.grad
    assert y.note == ["kept"] and y.note is not x.note
    with t.no_grad():
        y += 10
        y.grad += 10
    assert x.tolist() == [1.0, 2.0] and x.grad.tolist() == [3.0, 4.0]


def test_deepcopy_trains_on_its_own(t: Any) -> None:
    x = t.tensor([1.0, 2.0], requires_grad=True)
    y = copy.deepcopy(x)
    (y * y).sum().backward()
    assert y.grad.tolist() == [2.0, 4.0] and x.grad is None


@pytest.mark.parametrize("recording", [True, False])
def test_deepcopy_refuses_results(t: Any, recording: bool) -> None:
    y = t.tensor([1.0], requires_grad=True) * 2
    with t.set_grad_enabled(recording), pytest.raises(RuntimeError, match=re.escape(DEEPCOPY)):
        copy.deepcopy([y])


def test_deepcopy_refuses_results_that_retain_their_gradient(t: Any) -> None:
    y = t.tensor([1.0], requires_grad=True) * 2
    y.retain_grad()
    with pytest.raises(RuntimeError, match=re.escape(DEEPCOPY)):
        copy.deepcopy(y)


def test_deepcopy_keeps_shared_memory(t: Any) -> None:
    base = numbers(t, 2, 3)
    first, row, column = copy.deepcopy([base, base[1], base[:, 2]])
    row[0] = 50
    column[0] = 60
    assert first.tolist() == [[0.0, 1.0, 60.0], [50.0, 4.0, 5.0]]
    assert base.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert row._base is None


def test_deepcopy_of_the_same_tensor_twice(t: Any) -> None:
    x = t.ones(2)
    memo: dict[int, Any] = {}
    a, b = copy.deepcopy((x, {"x": x}), memo)
    assert a is b["x"] and memo[id(x)] is a


def test_deepcopy_of_a_tensor_that_holds_itself(t: Any) -> None:
    x = t.ones(1)
    x.me = x
    y = copy.deepcopy(x)
    assert y.me is not x and y.me.data_ptr() == y.data_ptr() != x.data_ptr()


def test_deepcopy_keeps_strides(t: Any) -> None:
    x = numbers(t, 2, 3, 4)
    for view in (x.permute(2, 0, 1), x[:, 1], x[..., ::2], x[:, :1].expand(2, 5, 4), x[1, 1, 1]):
        y = copy.deepcopy(view)
        assert (y.stride(), y.storage_offset() * 0) == (view.stride(), 0)
        assert y.tolist() == view.tolist() and y.data_ptr() != view.data_ptr()


def test_deepcopy_of_a_parameter(t: Any) -> None:
    p = t.nn.Parameter(t.tensor([1.0, 2.0]))
    p.grad, p.note = t.ones(2), 5
    q = copy.deepcopy(p)
    assert type(q) is t.nn.Parameter and q.tolist() == [1.0, 2.0] and q.requires_grad
    assert q.grad is None and not hasattr(q, "note")
    frozen = t.nn.Parameter(t.ones(1), requires_grad=False)
    assert copy.deepcopy(frozen).requires_grad is False


def test_deepcopy_of_a_parameter_subclass(t: Any) -> None:
    class Weight(t.nn.Parameter):
        pass

    assert type(copy.deepcopy(Weight(t.ones(2)))) is Weight


def test_deepcopy_of_a_subclass(t: Any) -> None:
    class Plain(t.Tensor):
        pass

    with pytest.raises(RuntimeError, match="subclass types that implement new_empty"):
        copy.deepcopy(t.ones(2).as_subclass(Plain))


def test_deepcopy_of_a_subclass_with_new_empty() -> None:
    x = torchlike.tensor([1.0, 2.0]).as_subclass(Wrapper)
    x.note = "n"
    y = copy.deepcopy(x)
    assert type(y) is Wrapper and y.tolist() == [1.0, 2.0] and y.note == "n"
    assert y.data_ptr() != x.data_ptr()


def test_deepcopy_of_meta_tensors(t: Any) -> None:
    y = copy.deepcopy(t.zeros(2, 3, device="meta", requires_grad=True))
    assert y.is_meta and y.shape == (2, 3) and y.requires_grad


def test_deepcopy_in_inference_mode(t: Any) -> None:
    with t.inference_mode():
        x = t.ones(1)
        assert copy.deepcopy(x).is_inference()
    assert not copy.deepcopy(x).is_inference()


def test_hooks_stay_behind(t: Any) -> None:
    x = t.ones(1, requires_grad=True)
    x.register_hook(lambda g: g * 100)
    y = copy.deepcopy(x)
    y.sum().backward()
    assert y.grad.item() == 1


def test_deepcopy_of_memory_with_gaps() -> None:
    raw = np.frombuffer(np.arange(12, dtype=np.float32).tobytes(), np.float32)
    x = torchlike.as_tensor(np.array(raw)[::3])
    y = copy.deepcopy(x)
    assert y.tolist() == [0.0, 3.0, 6.0, 9.0] and y.data_ptr() != x.data_ptr()


# --- copy.copy ------------------------------------------------------------------------------------


def test_copy_shares_memory(t: Any) -> None:
    x = numbers(t, 2, 3)
    y = copy.copy(x[1])
    y[0] = 7
    assert x[1, 0].item() == 7


def test_copy_of_a_result_is_a_leaf(t: Any) -> None:
    x = t.tensor([1.0], requires_grad=True)
    x.grad, x.note = t.ones(1), "n"
    y, z = copy.copy(x * 2), copy.copy(x)
    assert y.is_leaf and y.requires_grad and y.item() == 2
    assert z is not x and z.grad is None and z.note == "n" and z.data_ptr() == x.data_ptr()


def test_copy_of_parameters(t: Any) -> None:
    class Weight(t.nn.Parameter):
        pass

    p = Weight(t.ones(2))
    p.note = 5
    q = copy.copy(p)
    assert type(q) is t.nn.Parameter and q.note == 5 and q.data_ptr() == p.data_ptr()


# --- pickle ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize(
    "dtype", "float32 float64 float16 bfloat16 int8 uint8 int64 bool complex64".split()
)
def test_pickled_dtypes(t: Any, dtype: str, protocol: int) -> None:
    x = t.tensor([[0, 1], [1, 0]]).to(getattr(t, dtype))
    y = through_pickle(x, protocol)
    assert y.dtype is x.dtype and y.tolist() == x.tolist()
    assert (y + 1).dtype == (x + 1).dtype


def test_pickled_geometry(t: Any) -> None:
    x = numbers(t, 2, 3, 4)
    for view in (x.permute(2, 0, 1), x[:, 1], x[:, :1].expand(2, 5, 4), x[1, 1, 1]):
        y = through_pickle(view)
        assert y.stride() == view.stride() and y.tolist() == view.tolist()
    assert through_pickle(t.zeros(2, 0, 3)).shape == (2, 0, 3)


def test_pickled_leaf(t: Any) -> None:
    x = t.tensor([1.0], requires_grad=True)
    x.grad, x.note = t.ones(1), {"n": 1}
    y = through_pickle(x)
    assert y.requires_grad and y.is_leaf and y.grad is None and y.note == {"n": 1}
    assert through_pickle(x * 2).is_leaf and through_pickle(x * 2).requires_grad


def test_pickled_parameter(t: Any) -> None:
    for flag in (True, False):
        p = t.nn.Parameter(t.ones(2), requires_grad=flag)
        p.note = 5
        q = through_pickle(p)
        assert type(q) is t.nn.Parameter and q.requires_grad is flag and q.note == 5
        assert q.tolist() == [1.0, 1.0]


def test_pickle_keeps_identity_but_not_shared_memory(t: Any) -> None:
    x = numbers(t, 4)
    a, b, view = through_pickle([x, x, x[:2]])
    view[0] = 9
    assert a is b and a[0].item() == 0


def test_pickled_meta_tensor(t: Any) -> None:
    y = through_pickle(t.zeros(2, 3, dtype=t.float64, device="meta"))
    assert y.is_meta and y.shape == (2, 3) and y.dtype is t.float64


def test_pickled_subclass() -> None:
    x = torchlike.tensor([1.0], requires_grad=True).as_subclass(Wrapper)
    x.note = "n"
    y = through_pickle(x)
    assert type(y) is Wrapper and y.note == "n" and y.requires_grad and y.tolist() == [1.0]


def test_pickle_warns_of_hooks(t: Any) -> None:
    x = t.ones(1, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pickle.dumps(x)
    x.register_hook(print)
    with pytest.warns(UserWarning, match="backward hook <built-in function print> on tensor"):
        pickle.dumps(x)


@pytest.mark.parametrize("copied", [through_pickle, copy.copy, copy.deepcopy])
def test_what_goes_by_name(t: Any, copied: Any) -> None:
    for name in "float32 bool int64 bfloat16 strided channels_last preserve_format".split():
        assert copied(getattr(t, name)) is getattr(t, name)
    assert copied(t.Size([2, 3])) == (2, 3) and type(copied(t.Size([1]))) is t.Size
    assert copied(t.device("cuda", 1)) == t.device("cuda:1")
    for function in (t.relu, t.add, t.matmul, t.zeros):
        assert copied(function) is function
    for kind in (t.Tensor, t.FloatTensor, t.nn.Parameter, t.Size, t.dtype, t.Generator):
        assert copied(kind) is kind


def test_nodes_do_not_pickle(t: Any) -> None:
    node = (t.ones(1, requires_grad=True) * 2).grad_fn
    for copied in (through_pickle, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot pickle 'MulBackward0' object"):
            copied(node)


def test_generators_copy_their_state(t: Any) -> None:
    g = t.Generator()
    g.manual_seed(3)
    t.randn(5, generator=g)
    for copied in (through_pickle, copy.deepcopy):
        h, expected = copied(g), copied(g)
        assert t.randn(3, generator=h).tolist() == t.randn(3, generator=expected).tolist()
        assert h.initial_seed() == 3


def test_dir_lists_attributes(t: Any) -> None:
    x = t.ones(1)
    x.note = 1
    listed = dir(x)
    assert {"note", "backward", "shape", "__add__"} <= set(listed) and "_edge" not in listed
    assert listed == sorted(listed)
