"""SINGA's operators: values, by NumPy or by hand."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest

from compat_tests.singa_support import constant as T
from compat_tests.singa_support import singa_mode
from torchlike.singa import autograd, singa_wrap, tensor
from torchlike.singa.operators.making import NAMES


@pytest.fixture(autouse=True)
def _mode():
    with singa_mode(training=True):
        yield


def close(y, wanted, shape=None):
    found = tensor.to_numpy(y)
    wanted = np.asarray(wanted)
    assert found.shape == (wanted.shape if shape is None else shape)
    np.testing.assert_allclose(found, wanted, rtol=2e-6, atol=1e-6)


A = np.array([[-2.5, -0.5, 0.0], [0.5, 1.5, 3.0]], np.float32)
B = np.array([[1.0, -2.0, 0.0], [0.5, 4.0, 3.0]], np.float32)
ROW = np.array([1.0, 2.0, -1.0], np.float32)
SMALL = A / 4
LARGE = np.abs(A) + 1.1

UNARY = [
    ("abs", A, np.abs(A)), ("exp", A, np.exp(A)), ("sign", A, [[-1, -1, 0], [1, 1, 1]]),
    ("ceil", A, [[-2, 0, 0], [1, 2, 3]]), ("floor", A, [[-3, -1, 0], [0, 1, 3]]),
    ("round", A, [[-3, -1, 0], [1, 2, 3]]), ("rounde", A, [[-2, 0, 0], [0, 2, 3]]),
    ("identity", A, A), ("negative", A, -A), ("relu", A, [[0, 0, 0], [0.5, 1.5, 3]]),
    ("sigmoid", A, 1 / (1 + np.exp(-A))), ("tanh", A, np.tanh(A)), ("cos", A, np.cos(A)),
    ("sin", A, np.sin(A)), ("tan", A, np.tan(A)), ("cosh", A, np.cosh(A)),
    ("sinh", A, np.sinh(A)), ("acos", SMALL, np.arccos(SMALL)), ("asin", SMALL, np.arcsin(SMALL)),
    ("atan", A, np.arctan(A)), ("acosh", LARGE, np.arccosh(LARGE)),
    ("asinh", A, np.arcsinh(A)), ("atanh", SMALL, np.arctanh(SMALL)),
    ("softsign", A, A / (1 + np.abs(A))), ("softplus", A, np.log1p(np.exp(A))),
    ("sqrt", LARGE, np.sqrt(LARGE)), ("log", LARGE, np.log(LARGE)),
    ("reciprocal", LARGE, 1 / LARGE), ("erf", A, np.vectorize(math.erf)(A)),
    ("elu", A, np.where(A > 0, A, np.expm1(A))), ("leakyrelu", A, np.where(A > 0, A, 0.01 * A)),
    ("selu", A, 1.0507 * np.where(A > 0, A, 1.67326 * np.expm1(A))),
    ("hardsigmoid", A, [[0, 0.4, 0.5], [0.6, 0.8, 1]]), ("clip", A, A),
    ("_not", A, [[0, 0, 1], [0, 0, 0]]), ("nonzero", A, [[0, 0, 1, 1, 1], [0, 1, 0, 1, 2]]),
    ("shape", A, [2, 3]), ("flatten", A.reshape(2, 1, 3), A), ("squeeze", A.reshape(1, 2, 3), A),
    ("unsqueeze", A, A[:, :, None]), ("reduce_sum", A, [[2.0]]), ("reduce_mean", A, [[1 / 3]]),
    ("globalaveragepool", A.reshape(1, 2, 3, 1), [[[[-1.0]], [[5 / 3]]]]),
]  # fmt: skip
BINARY = [
    ("add", A + B), ("sub", A - B), ("mul", A * B), ("less", A < B), ("greater", A > B),
    ("equal", A == B), ("min", np.minimum(A, B)), ("max", np.maximum(A, B)), ("sum", A + B),
    ("mean", (A + B) / 2), ("add_all", A + B), ("_and", [[1, 1, 0], [1, 1, 1]]),
    ("_or", [[1, 1, 0], [1, 1, 1]]), ("_xor", [[0, 0, 0], [0, 0, 0]]),
    ("prelu", np.where(A > 0, A, A * B)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "x", "wanted"), UNARY, ids=[row[0] for row in UNARY])
def test_unary(name, x, wanted):
    close(getattr(autograd, name)(tensor.from_numpy(x)), wanted)


@pytest.mark.parametrize(("name", "wanted"), BINARY, ids=[row[0] for row in BINARY])
def test_binary(name, wanted):
    close(getattr(autograd, name)(T(A), T(B)), wanted)


def test_operands_broadcast():
    close(autograd.mul(T(A), T(ROW)), A * ROW)
    close(autograd.div(T(A), T(ROW)), A / ROW)
    close(autograd.pow(T(LARGE), T(ROW)), LARGE**ROW)
    close(autograd.less(T(A), T(ROW)), A < ROW)
    close(autograd.prelu(T(A), T(ROW)), np.where(A > 0, A, A * ROW))


def test_several_tensors():
    three = [T([1, 5, 3]), T([4, 2, 3]), T([0, 0, 9])]
    close(autograd.sum(*three), [5, 7, 15])
    close(autograd.mean(*three), [5 / 3, 7 / 3, 5])
    close(autograd.min(*three), [0, 0, 3])
    close(autograd.max(*three), [4, 5, 9])
    close(autograd.add_all(*three), [5, 7, 15])
    close(autograd.max(three[0]), [1, 5, 3])


def test_integers_stay_integers():
    x, y = T([[7, -7]], np.int32), T([[2, 2]], np.int32)
    for name, wanted in (("add", [9, -5]), ("sub", [5, -9]), ("mul", [14, -14]), ("div", [3, -3])):
        z = getattr(autograd, name)(x, y)
        assert z.dtype == tensor.int32
        close(z, [wanted])
    assert autograd.mul(x, T([[0.5]])).dtype == tensor.float32
    close(autograd.reduce_sum(x), [[0]])
    assert autograd.reduce_sum(x).dtype == tensor.int32
    close(autograd.reduce_mean(y, [1], 0), [2.0])


def test_options():
    close(autograd.clip(T(A), -1, 1), np.clip(A, -1, 1))
    close(autograd.clip(T(A), max=1.0), np.minimum(A, 1))
    close(autograd.elu(T(A), 2.0), np.where(A > 0, A, 2 * np.expm1(A)))
    close(autograd.selu(T(A), 0.5, 2.0), 2 * np.where(A > 0, A, 0.5 * np.expm1(A)))
    close(autograd.leakyrelu(T(A), a=0.5), np.where(A > 0, A, 0.5 * A))
    close(autograd.hardsigmoid(T(A), 0.5, 0.25), np.clip(0.5 * A + 0.25, 0, 1))
    assert autograd.cast(T(A), tensor.int32).dtype == tensor.int32
    close(autograd.cast(T(A), tensor.int32), [[-2, 0, 0], [0, 1, 3]])


def test_softmax_over_all_that_follows_the_axis():
    def over(x):
        return np.exp(x) / np.exp(x).sum()

    close(autograd.softmax(T(A)), [over(A[0]), over(A[1])])
    close(autograd.softmax(T(A), 0), over(A))
    cube = np.arange(12, dtype=np.float32).reshape(2, 3, 2) / 5
    close(autograd.softmax(T(cube), 1), [over(cube[0]), over(cube[1])])
    last = np.exp(cube) / np.exp(cube).sum(-1, keepdims=True)
    close(autograd.softmax(T(cube), -1), last)


def test_matrices():
    close(autograd.matmul(T(A), T(B.T)), A @ B.T)
    batch = np.stack([A, B])
    close(autograd.matmul(T(batch), T(B.T)), batch @ B.T)
    close(autograd.gemm(T(A), T(B), T(ROW), 0.5, 2.0, transA=1), 0.5 * A.T @ B + 2 * ROW)
    close(autograd.gemm(T(A), T(B), alpha=2.0, transB=1), 2 * A @ B.T)


def test_add_bias_leaves_its_operand():
    x = T(A)
    close(autograd.add_bias(x, T(ROW)), A + ROW)
    close(autograd.add_bias(x, T([ROW])), A + ROW)
    close(autograd.add_bias(x, T([1, 2]), 1), A + [[1], [2]])
    close(x, A)


# --- shapes ---


def test_shapes():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    close(autograd.reshape(T(x), (4, -1)), x.reshape(4, 6))
    close(autograd.reshape(T(x), [0, 0, 2, 2]), x.reshape(2, 3, 2, 2))
    close(autograd.flatten(T(x)), x.reshape(2, 12))
    close(autograd.flatten(T(x), 2), x.reshape(6, 4))
    close(autograd.flatten(T(x), 0), x.reshape(1, 24))
    close(autograd.transpose(T(x), (2, 0, 1)), x.transpose(2, 0, 1))
    close(autograd.unsqueeze(T(x), [0, 4]), x.reshape(1, 2, 3, 4, 1))
    close(autograd.unsqueeze(T(x), 1), x[:, None])
    close(autograd.squeeze(T(x[:1, :1]), [0, 1]), x[0, 0])
    close(autograd.squeeze(T(x[:1, :1]), 1), x[:1, 0])
    close(autograd.squeeze(T([[[5]]])), [5])
    close(autograd.expand(T(ROW), (2, 3)), [ROW, ROW])
    close(autograd.expand(T([[1], [2]]), (2, 1, 3)), [[[1] * 3, [2] * 3]] * 2)
    close(autograd.expand(T([[1, 2]]), (2, 4)), [[1, 2, 1, 2]] * 2)
    close(autograd.tile(T(ROW), 2), np.tile(ROW, 2))
    close(autograd.tile(T(A), [2, 1, 2]), np.tile(A, [2, 1, 2]))
    y = autograd.constant_of_shape(T([2, 3], np.int32), 7)
    close(y, np.full((2, 3), 7))
    assert y.dtype == tensor.float32


def test_joining_and_splitting():
    close(autograd.cat([T(A), T(B)]), np.concatenate([A, B]))
    close(autograd.cat((T(A), T(B)), -1), np.concatenate([A, B], 1))
    parts = autograd.split(T(A), 1, (1, 2))
    assert isinstance(parts, tuple)
    close(parts[0], A[:, :1])
    close(parts[1], A[:, 1:])
    assert [p.shape for p in autograd.split(T(A), -1, None, 3)] == [(2, 1)] * 3


def test_slices():
    x = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
    close(autograd.slice(T(x), [1], [1000]), x[1:])
    close(autograd.slice(T(x), [0, -1], [-1, -9], [0, 2], [1, -2]), x[:-1, :, -1:-9:-2])
    close(autograd.slice(T(x), [3, 0], [0, 4], [-2, 0], [-1, 2]), x[0:4:2, 3:0:-1])


def test_indices():
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    close(autograd.gather(T(x), 0, [2, 0, -1]), x[[2, 0, 3]])
    close(autograd.gather(T(x), 1, [[0, 1], [1, 2]]), x[:, [[0, 1], [1, 2]]])
    close(autograd.gather(T(x), 0, T([1, 1], np.int32)), x[[1, 1]])
    close(autograd.embedding(T([[0, 3], [3, 1]], np.int32), T(x)), x[[[0, 3], [3, 1]]])
    close(autograd.where(T(A), T(B), [[True, False, True]]), np.where([1, 0, 1], A, B))
    close(autograd.where(T(A), T(B), T([[0], [1]])), [B[0], A[1]])
    new = autograd.scatter_elements(T(x), T([[1, 0, -1]], np.int32), T([[10, 20, 30]]))
    wanted = x.copy()
    wanted[[1, 0, 3], [0, 1, 2]] = 10, 20, 30
    close(new, wanted)
    close(autograd.onehot(-1, T([1, 0, -1], np.int32), 3, [0, 1]), np.eye(3)[[1, 0, 2]])
    close(autograd.onehot(0, T([2.0, 0]), np.array([3]), np.array([1, 5])),
          [[1, 5], [1, 1], [5, 1]])  # fmt: skip


# --- reductions ---


def test_reductions():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    close(autograd.reduce_sum(T(x)), x.sum(keepdims=True))
    close(autograd.reduce_sum(T(x), [1, -1]), x.sum((1, 2), keepdims=True))
    close(autograd.reduce_sum(T(x), [0, 2], 0), x.sum((0, 2)))
    close(autograd.reduce_sum(T(x), keepdims=0), [[276.0]])
    close(autograd.reduce_mean(T(x), [1], 0), x.mean(1))
    close(autograd.reduce_mean(T(x), None, 0), [[11.5]])
    image = T(x.reshape(1, 2, 3, 4))
    close(autograd.globalaveragepool(image), x.mean((1, 2)).reshape(1, 2, 1, 1))
    close(autograd.globalaveragepool(image, "channels_last"), [[[x.mean((0, 1))]]])
    lengths = np.linalg.norm(A, axis=1) * np.linalg.norm(B, axis=1)
    close(autograd.cossim(T(A), T(B)), (A * B).sum(1) / lengths)


# --- dropout ---


def test_dropout_scales_and_draws_anew():
    ones = T(np.ones((200, 100)))
    first = autograd.dropout(ones, 0, 0.2)
    values = tensor.to_numpy(first)
    assert set(np.unique(values)) == {np.float32(0), np.float32(1.25)}
    assert 0.17 < (values == 0).mean() < 0.23  # of 20000: 10 standard deviations
    assert (values != tensor.to_numpy(autograd.dropout(ones, 0, 0.2))).any()
    np.testing.assert_array_equal(first.creator.backward(ones.data).numpy(), values)
    close(autograd.dropout(ones, ratio=0), np.ones((200, 100)))
    close(autograd.dropout(T(A), 7, 1.0), np.zeros((2, 3)))
    autograd.training = False
    close(autograd.dropout(ones, 0, 0.2), np.ones((200, 100)))


# --- names ---


@pytest.mark.parametrize("name", [n for n, thing in NAMES.items() if inspect.isfunction(thing)])
def test_functions_tell_their_names(name):
    function = getattr(autograd, name)
    assert function.__name__ == name
    assert function.__doc__
    assert inspect.signature(function).parameters


def test_keywords():
    close(autograd.add(b=T(B), a=T(A)), A + B)
    close(autograd.gather(T(A), indices=[1], axis=0), A[1:])
    with pytest.raises(TypeError, match="missing a required argument: 'b'"):
        autograd.add(T(A))
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        autograd.relu(T(A), nonsense=1)


def test_classes_take_options_and_give_tuples():
    (y,) = autograd.ReduceSum([0], keepdims=0)(T(A))
    close(y, A.sum(0))
    (y,) = autograd.Transpose(perm=(1, 0))(T(A))
    close(y, A.T)
    op = autograd.Elu(0.5)
    assert op.alpha == 0.5
    assert type(op(T(A))) is tuple
    with pytest.raises(TypeError, match="missing a required argument: 'shape'"):
        autograd.Reshape()


def test_helpers_on_raw_tensors():
    assert autograd.axis_helper((3, 4, 5), (4, 1)) == (0, 2)
    assert autograd.axis_helper((3, 4), (3, 4)) == ()
    raw = autograd.back_broadcast((2, 3), (3,), T(A).data)
    np.testing.assert_allclose(raw.numpy(), A.sum(0))
    np.testing.assert_array_equal(autograd.ctensor2numpy(T(A).data), A)
    assert singa_wrap.CudnnConvHandle is not singa_wrap.ConvHandle
