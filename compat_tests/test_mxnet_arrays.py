"""MXNet's arrays: what is made, the two kinds, indexing, values of functions, errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as onp
import pytest

import torchlike.mxnet as mx
from torchlike.mxnet import MXNetError, autograd, nd, np, npx

F32, I32, I64 = onp.float32, onp.int32, onp.int64
M = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


def values(array: Any) -> Any:
    return array.asnumpy().tolist()


# --- making ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "shape", "dtype"),
    [
        (lambda: nd.array([1, 2]), (2,), F32),
        (lambda: nd.array(onp.zeros(2)), (2,), F32),
        (lambda: nd.array(onp.zeros(2, "int64")), (2,), F32),
        (lambda: nd.array([1, 2], dtype="int32"), (2,), I32),
        (lambda: nd.array(nd.ones(2, dtype="float64")), (2,), onp.float64),
        (lambda: nd.array(5), (1,), F32),
        (lambda: np.array([1, 2]), (2,), F32),
        (lambda: np.array(5), (), F32),
        (lambda: np.array(onp.zeros(2)), (2,), F32),
        (lambda: np.array(onp.zeros(2, "int64")), (2,), I64),
        (lambda: nd.zeros((2, 3)), (2, 3), F32),
        (lambda: nd.ones(3, dtype="int32"), (3,), I32),
        (lambda: nd.zeros_like(nd.ones((2, 2), dtype="int32")), (2, 2), I32),
        (lambda: np.zeros((2, 3), "float64"), (2, 3), onp.float64),
        (lambda: nd.random.uniform(shape=(2, 3)), (2, 3), F32),
        (lambda: nd.random.randint(0, 5, shape=4), (4,), I32),
        (lambda: np.random.normal(0, 1, size=(3, 4)), (3, 4), F32),
        (lambda: np.random.uniform(), (), F32),
        (lambda: np.random.randint(3, size=5), (5,), I64),
    ],
)
def test_shapes_and_dtypes(made: Any, shape: Any, dtype: Any) -> None:
    array = made()
    assert (array.shape, array.dtype) == (shape, dtype)
    assert isinstance(array, nd.NDArray)


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (nd.arange(3), [0, 1, 2]),
        (nd.arange(1, 6, 2), [1, 3, 5]),
        (nd.arange(2, repeat=2), [0, 0, 1, 1]),
        (np.arange(1, 2, 0.5), [1, 1.5]),
        (nd.full((2,), 7), [7, 7]),
        (np.full((2,), 7, dtype="int32"), [7, 7]),
        (np.full_like(np.zeros(2), 3), [3, 3]),
        (np.linspace(0, 1, 3), [0, 0.5, 1]),
        (np.linspace(0, 1, 2, endpoint=False), [0, 0.5]),
        (np.eye(2), [[1, 0], [0, 1]]),
        (nd.eye(2, 3, 1), [[0, 1, 0], [0, 0, 1]]),
    ],
)
def test_filled_arrays(array: Any, expected: Any) -> None:
    assert values(array) == expected


def test_seed_repeats_random_numbers() -> None:
    mx.random.seed(3)
    first = values(nd.random.normal(2, 0.5, shape=5)), values(np.random.permutation(6))
    npx.seed(3)
    again = values(nd.random.normal(2, 0.5, shape=5)), values(np.random.permutation(6))
    assert first == again
    assert sorted(first[1]) == [0, 1, 2, 3, 4, 5]


def test_random_numbers_lie_where_asked() -> None:
    mx.random.seed(0)
    x = nd.random.uniform(-2, 3, shape=10000).asnumpy()
    assert x.min() >= -2 and x.max() < 3
    assert abs(x.mean() - 0.5) < 0.06  # four standard errors of 5 / sqrt(12 * 10000)
    y = np.random.normal(4, 2, size=10000).asnumpy()
    assert abs(y.mean() - 4) < 0.08
    assert abs(y.std() - 2) < 0.06
    assert set(np.random.choice(3, 100).asnumpy().tolist()) == {0, 1, 2}
    assert values(np.random.choice(3, 2, p=[0, 1, 0])) == [1, 1]
    rows = np.arange(6).reshape(3, 2)
    np.random.shuffle(rows)
    assert sorted(values(rows)) == [[0, 1], [2, 3], [4, 5]]


# --- the two kinds --------------------------------------------------------------------------------


def test_reductions_to_one_number() -> None:
    a, b = nd.array(M), np.array(M)
    assert (a.sum().shape, b.sum().shape) == ((1,), ())
    assert (a.mean().asscalar(), b.mean().item()) == (3.5, 3.5)
    assert (nd.array([1, 2])[0].shape, np.array([1, 2])[0].shape) == ((1,), ())
    with mx.np_shape():
        assert a.sum().shape == ()
    assert a.sum().shape == (1,)


def test_comparisons() -> None:
    a, b = nd.array([1, 2, 3]), np.array([1, 2, 3])
    assert ((a > 1).dtype, values(a > 1)) == (F32, [0, 1, 1])
    assert ((b > 1).dtype, values(b > 1)) == (onp.bool_, [False, True, True])
    assert values(b == np.array([1, 0, 3])) == [True, False, True]
    assert values(b[b > 1]) == [2, 3]
    assert ((b == b).all(), bool((b != b).any())) == (True, False)


def test_np_wins_where_kinds_meet_and_one_becomes_the_other() -> None:
    a, b = nd.ones(2), np.ones(2)
    assert type(a + b) is type(b + a) is np.ndarray
    assert type(b.as_nd_ndarray()) is nd.NDArray
    view = a.as_np_ndarray()
    view[:] = 5
    assert values(a) == [5, 5]


def test_set_np_decides_what_gluon_makes() -> None:
    net = mx.gluon.nn.Dense(1, in_units=1)
    assert not npx.is_np_array()
    npx.set_np()
    try:
        assert npx.is_np_array() and npx.is_np_shape()
        net.initialize()
        assert type(net.weight.data()) is np.ndarray
    finally:
        npx.reset_np()
    net.initialize(force_reinit=True)
    assert type(net.weight.data()) is nd.NDArray
    with pytest.raises(ValueError, match="NumPy arrays need NumPy shapes"):
        npx.set_np(shape=False)

    @mx.util.use_np
    def inside() -> bool:
        return npx.is_np_array()

    assert (inside(), npx.is_np_array()) == (True, False)


def test_argmax() -> None:
    a, b = nd.array(M), np.array(M)
    assert ((a.argmax(axis=1)).dtype, values(a.argmax(axis=1))) == (F32, [2, 2])
    assert (b.argmax(axis=1).dtype, values(b.argmax(axis=1))) == (I64, [2, 2])
    assert (values(nd.argmin(a, axis=0)), b.argmin().item()) == ([0, 0, 0], 0)


# --- operators and indexing -----------------------------------------------------------------------


def test_operators() -> None:
    a = nd.array([1.0, 4.0])
    assert values(2 - a) == [1, -2]
    assert values(8 / a) == [8, 2]
    assert values(a**2) == [1, 16]
    assert values(2**a) == [2, 16]
    assert values(a % 3) == [1, 1]
    assert values(-a + onp.array([10, 20])) == [9, 16]
    assert values(abs(nd.array([-1, 2]))) == [1, 2]
    assert values(np.array(M) @ np.ones(3)) == [6, 15]
    a *= 3
    a -= nd.array([1, 2])
    a /= 2
    assert values(a) == [1, 5]
    with pytest.raises(TypeError):
        a + "x"


def test_indexing_reads_and_writes() -> None:
    a = nd.array(M)
    assert values(a[1]) == [4, 5, 6]
    assert values(a[:, 1:]) == [[2, 3], [5, 6]]
    assert values(a[nd.array([1, 0]), nd.array([2, 0])]) == [6, 1]
    assert values(np.array(M)[range(2), np.array([0, 2], "int32")]) == [1, 6]
    a[0, 1] = 9
    a[1] = [7, 8, 9]
    a[:, 2:] = nd.zeros((2, 1))
    assert values(a) == [[1, 9, 0], [7, 8, 0]]
    a[:] = 1
    assert values(a) == [[1, 1, 1], [1, 1, 1]]
    with pytest.raises(IndexError):
        a[5]


def test_slices_share_memory_and_transposes_do_not() -> None:
    a = nd.array(M)
    a[0:1][:] = 0
    a.reshape((-1,))[5] = 60
    a.T[0, 0] = 100
    assert values(a) == [[0, 0, 0], [4, 5, 60]]
    b = a.copy()
    b[:] = 1
    a.asnumpy()[:] = 2
    assert values(a) == [[0, 0, 0], [4, 5, 60]]


def test_leaving_for_python_and_numpy() -> None:
    a = nd.array([2.5])
    assert (a.asscalar(), float(a), int(a), bool(a), a.item()) == (2.5, 2.5, 2, True, 2.5)
    assert onp.asarray(nd.array(M)).tolist() == M
    assert [x.asscalar() for x in nd.array([1, 2])] == [1, 2]
    assert (len(nd.array(M)), nd.array(M).size, nd.array(M).ndim) == (2, 6, 2)
    with pytest.raises(ValueError, match=r"shape \(2, 3\) is not a scalar"):
        nd.array(M).asscalar()
    with pytest.raises(ValueError, match="neither true nor false"):
        bool(nd.array(M))
    assert len({a, nd.array([2.5])}) == 2


def test_printing() -> None:
    assert repr(nd.array([1, 2])) == "\n[1. 2.]\n<NDArray 2 @cpu(0)>"
    assert repr(np.array([1, 2])) == "array([1., 2.])"
    assert (str(np.array([1, 2])), f"{np.array(1.5):.2f}") == ("[1. 2.]", "1.50")


# --- contexts, files, errors ----------------------------------------------------------------------


def test_contexts() -> None:
    assert (mx.cpu(), str(mx.gpu(1))) == (mx.Context("cpu", 0), "gpu(1)")
    a = nd.ones(2, ctx=mx.cpu())
    assert a.context == a.ctx == mx.cpu()
    assert a.as_in_context(mx.cpu()) is a
    assert mx.num_gpus() == npx.num_gpus() == 0
    with mx.gpu(0):
        assert mx.current_context() == mx.gpu(0)
        with pytest.raises(MXNetError, match=r"gpu\(0\): there are 0 GPUs"):
            nd.ones(2)
    with pytest.raises(ValueError, match="device_type must be 'cpu' or 'gpu', not 'tpu'"):
        mx.Context("tpu")


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "arrays"
    nd.save(path, {"a": nd.array(M), "b": nd.ones(1, dtype="int32")})
    found = nd.load(path)
    assert values(found["a"]) == M
    assert found["b"].dtype == I32
    nd.save(path, [nd.zeros(1), nd.ones(2)])
    assert [values(a) for a in nd.load(path)] == [[0], [1, 1]]
    with pytest.raises(TypeError, match="c is no NDArray"):
        nd.save(path, {"c": 1})
    assert len(nd.load(path)) == 2
    assert [p.name for p in tmp_path.iterdir()] == ["arrays"]
    path.write_text("nothing")
    with pytest.raises(ValueError, match="is no file of arrays"):
        nd.load(path)


@pytest.mark.parametrize(
    ("do", "error", "text"),
    [
        (lambda: nd.ones(2) + nd.ones(3), MXNetError, "size"),
        (lambda: nd.exp(1.0), TypeError, "an NDArray is wanted"),
        (lambda: nd.add(1, 2), TypeError, "an NDArray is wanted"),
        (lambda: nd.sum(nd.ones(2), axis=1), ValueError, "axis 1 is out of range"),
        (lambda: nd.zeros(2).tostype("csr"), MXNetError, "storage type 'csr'"),
        (lambda: nd.array([1], dtype="float999"), TypeError, "float999"),
        (lambda: nd.array(M).reshape((0, 0, 0)), ValueError, "more dimensions"),
        (lambda: nd.take(nd.ones(2), nd.ones(1), mode="x"), ValueError, "mode must be"),
        (lambda: nd.random.normal(0, -1, shape=2), ValueError, "scale must not be negative"),
        (lambda: nd.NDArray([1]), TypeError, "has no constructor"),
        (lambda: nd.concat(), ValueError, "at least one array"),
        (lambda: nd.Dropout(nd.ones(2), p=1.5), ValueError, "p must be"),
    ],
)
def test_errors(do: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        do()


def test_functions_write_into_out() -> None:
    out = nd.zeros(2)
    assert nd.exp(nd.zeros(2), out=out) is out
    assert values(out) == [1, 1]
    nd.add(out, 2, out=out)
    assert values(out) == [3, 3]


def test_numbers_outside_of_record_leave_the_graph() -> None:
    x = nd.array([1.0, 2.0])
    x.attach_grad()
    view = x[0:1]
    view[:] = 5
    assert values(x) == [5, 2]
    with autograd.record():
        y = x * view
    y.backward()
    assert values(x.grad) == [5, 5]
