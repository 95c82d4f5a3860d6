"""Values of the functions of MXNet's ``nd`` and ``np``, and their shapes."""

from __future__ import annotations

from typing import Any

import numpy as onp
import pytest

from torchlike.mxnet import nd, np

M = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


def values(array: Any) -> Any:
    return array.asnumpy().tolist()


V = nd.array([-1.0, 0.0, 2.0])
TABLE: dict[str, tuple[Any, Any]] = {
    "exp": (lambda: nd.exp(V), [onp.exp(-1), 1, onp.exp(2)]),
    "log": (lambda: nd.log(nd.array([1, 10])), [0, onp.log(10)]),
    "relu": (lambda: nd.relu(V), [0, 0, 2]),
    "sigmoid": (lambda: nd.sigmoid(V), [1 / (1 + onp.e), 0.5, 1 / (1 + onp.exp(-2))]),
    "tanh": (lambda: nd.tanh(V), [onp.tanh(-1), 0, onp.tanh(2)]),
    "sqrt": (lambda: nd.sqrt(nd.array([4, 9])), [2, 3]),
    "square": (lambda: nd.square(V), [1, 0, 4]),
    "abs": (lambda: nd.abs(V), [1, 0, 2]),
    "cbrt": (lambda: nd.cbrt(nd.array([-8, 27])), [-2, 3]),
    "gamma": (lambda: nd.gamma(nd.array([1, 5])), [1, 24]),
    "softsign": (lambda: nd.softsign(V), [-0.5, 0, 2 / 3]),
    "softmax": (lambda: nd.softmax(nd.array([0, onp.log(3)])), [0.25, 0.75]),
    "softmax temperature": (
        lambda: nd.softmax(nd.array([0, 2 * onp.log(3)]), temperature=2),
        [0.25, 0.75],
    ),
    "log_softmax": (lambda: nd.log_softmax(nd.array([0, 0])), [-onp.log(2)] * 2),
    "maximum": (lambda: nd.maximum(V, 1), [1, 1, 2]),
    "minimum": (lambda: np.minimum(0.5, V), [-1, 0, 0.5]),
    "clip": (lambda: nd.clip(V, -0.5, 1), [-0.5, 0, 1]),
    "where": (lambda: nd.where(V > 0, V, V * 10), [-10, 0, 2]),
    "elemwise_add": (lambda: nd.elemwise_add(V, V), [-2, 0, 4]),
    "broadcast_mul": (lambda: nd.broadcast_mul(V, nd.array([3])), [-3, 0, 6]),
    "sum axis": (lambda: nd.sum(nd.array(M), axis=0), [5, 7, 9]),
    "sum exclude": (lambda: nd.sum(nd.array(M), axis=0, exclude=True), [6, 15]),
    "sum keepdims": (lambda: nd.array(M).sum(1, True), [[6], [15]]),
    "np.sum": (lambda: np.array(M).sum(axis=1, keepdims=True), [[6], [15]]),
    "mean of integers": (lambda: nd.array([1, 2], dtype="int32").mean(), [1.5]),
    "prod": (lambda: nd.prod(nd.array(M), axis=(0, 1)), [720]),
    "max": (lambda: nd.max(nd.array(M), axis=1), [3, 6]),
    "np.min": (lambda: np.min(np.array(M)), 1),
    "std": (lambda: np.std(np.array([1, 3])), 1),
    "var ddof": (lambda: np.var(np.array([1, 3]), ddof=1), 2),
    "cumsum": (lambda: np.cumsum(np.array(M), axis=0), [[1, 2, 3], [5, 7, 9]]),
    "norm": (lambda: nd.norm(nd.array([3, 4])), [5]),
    "np.linalg.norm": (lambda: np.linalg.norm(np.array([3, 4])), 5),
    "sort": (lambda: nd.sort(V, is_ascend=False), [2, 0, -1]),
    "argsort": (lambda: nd.argsort(nd.array([3, 1, 2])), [1, 2, 0]),
    "dot": (lambda: nd.dot(nd.array(M), nd.array([1, 0, 2])), [7, 16]),
    "dot of vectors": (lambda: nd.dot(V, V), [5]),
    "dot transposed": (
        lambda: nd.dot(nd.array(M), nd.array(M), transpose_b=True),
        [[14, 32], [32, 77]],
    ),
    "np.dot": (lambda: np.dot(np.array(M), np.ones((3, 1))), [[6], [15]]),
    "np.outer": (lambda: np.outer(np.array([1, 2]), np.array([3, 4])), [[3, 4], [6, 8]]),
    "batch_dot": (lambda: nd.batch_dot(nd.ones((2, 1, 3)), nd.ones((2, 3, 1))), [[[3]], [[3]]]),
    "concat": (lambda: nd.concat(nd.array(M), nd.zeros((2, 1))), [[1, 2, 3, 0], [4, 5, 6, 0]]),
    "np.concatenate": (lambda: np.concatenate([np.ones(1), np.zeros(2)]), [1, 0, 0]),
    "stack": (lambda: nd.stack(V, V, axis=1), [[-1, -1], [0, 0], [2, 2]]),
    "np.stack": (lambda: np.stack([V, V]), [[-1, 0, 2]] * 2),
    "transpose": (lambda: nd.transpose(nd.array(M)), [[1, 4], [2, 5], [3, 6]]),
    "T": (lambda: nd.array(M).T, [[1, 4], [2, 5], [3, 6]]),
    "expand_dims": (lambda: nd.expand_dims(V, 1), [[-1], [0], [2]]),
    "squeeze": (lambda: nd.zeros((1, 2, 1)).squeeze(), [0, 0]),
    "flatten": (lambda: nd.flatten(nd.zeros((2, 1, 2))), [[0, 0], [0, 0]]),
    "np flatten": (lambda: np.array(M).flatten(), [1, 2, 3, 4, 5, 6]),
    "tile": (lambda: nd.tile(nd.array([1, 2]), 2), [1, 2, 1, 2]),
    "repeat": (lambda: nd.repeat(nd.array([1, 2]), 2), [1, 1, 2, 2]),
    "flip": (lambda: nd.flip(nd.array(M), axis=1), [[3, 2, 1], [6, 5, 4]]),
    "broadcast_to": (lambda: nd.broadcast_to(nd.array([[1], [2]]), (0, 2)), [[1, 1], [2, 2]]),
    "slice": (lambda: nd.slice(nd.array(M), (0, 1), (2, 3)), [[2, 3], [5, 6]]),
    "slice_axis": (lambda: nd.array(M).slice_axis(1, 0, -1), [[1, 2], [4, 5]]),
    "take": (lambda: nd.take(nd.array(M), nd.array([1, 9])), [[4, 5, 6], [4, 5, 6]]),
    "np.take": (lambda: np.take(np.array(M), np.array([5, 0])), [6, 1]),
    "pick": (lambda: nd.pick(nd.array(M), nd.array([2, 0])), [3, 4]),
    "one_hot": (lambda: nd.one_hot(nd.array([1, 7]), 3), [[0, 1, 0], [0, 0, 0]]),
    "np.einsum": (lambda: np.einsum("ij->j", np.array(M)), [5, 7, 9]),
    "np.triu": (lambda: np.triu(np.ones((2, 2))), [[1, 1], [0, 1]]),
    "np.vstack": (lambda: np.vstack([np.ones(2), np.zeros(2)]), [[1, 1], [0, 0]]),
}


@pytest.mark.parametrize("name", TABLE)
def test_values(name: str) -> None:
    compute, expected = TABLE[name]
    found = compute().asnumpy()
    assert found.shape == onp.shape(expected)
    onp.testing.assert_allclose(found, expected, rtol=2e-6, atol=1e-7)


def test_split() -> None:
    a, _ = nd.split(nd.array(M), 2, axis=0)
    assert (values(a), a.shape) == ([[1, 2, 3]], (1, 3))
    _, _, c = nd.split(nd.array(M), num_outputs=3, axis=1, squeeze_axis=True)
    assert values(c) == [3, 6]
    assert [values(x) for x in np.split(np.arange(4), [1, 3])] == [[0], [1, 2], [3]]
    with pytest.raises(ValueError, match="a dimension of 3 does not split into 2 equal parts"):
        nd.split(nd.array(M), 2)


@pytest.mark.parametrize(
    ("old", "codes", "new"),
    [
        ((2, 3, 4), (4, 0, 2), (4, 3, 2)),
        ((2, 3, 4), (6, 1, -1), (6, 1, 4)),
        ((2, 3, 4), (-2,), (2, 3, 4)),
        ((2, 3, 4), (2, -2), (2, 3, 4)),
        ((2, 3, 4), (-3, 4), (6, 4)),
        ((2, 3, 4), (0, -3), (2, 12)),
        ((2, 3, 4), (-4, 1, 2, -2), (1, 2, 3, 4)),
        ((2, 3, 4), (2, -4, -1, 3, -2), (2, 1, 3, 4)),
    ],
)
def test_codes_of_reshape(old: Any, codes: Any, new: Any) -> None:
    assert nd.zeros(old).reshape(codes).shape == new
    assert nd.reshape(nd.zeros(old), shape=codes).shape == new
