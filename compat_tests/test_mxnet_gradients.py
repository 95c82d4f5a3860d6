"""Gradients of ``nd``'s and ``np``'s functions against central differences, in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as onp
import pytest

from torchlike.mxnet import autograd, nd, np, npx

STEP = 1e-6
GENERATOR = onp.random.default_rng(5)
A = GENERATOR.uniform(0.2, 0.9, (3, 4))
B = GENERATOR.uniform(0.3, 0.8, (3, 4))
SIGNED = GENERATOR.normal(size=(3, 4))
VECTOR = GENERATOR.normal(size=4)
IMAGE = GENERATOR.normal(size=(2, 2, 5, 5))
KERNEL = GENERATOR.normal(size=(3, 2, 3, 3))
THREE = GENERATOR.normal(size=3)

UNARY = (
    "exp log log2 log10 log1p expm1 sqrt rsqrt cbrt rcbrt square abs reciprocal negative sin cos "
    "tan sinh cosh tanh arcsin arccos arctan arcsinh arctanh sigmoid relu softsign erf erfinv "
    "gamma gammaln degrees radians"
).split()
ONE: dict[str, Callable[[Any], Any]] = {name: getattr(nd, name) for name in UNARY} | {
    "power of a number": lambda x: 2.5**x,
    "reflected division": lambda x: 3 / x,
    "reflected difference": lambda x: 3 - x,
    "softmax": lambda x: nd.softmax(x, axis=0),
    "softmax temperature": lambda x: nd.softmax(x, temperature=2.5),
    "log_softmax": nd.log_softmax,
    "clip": lambda x: nd.clip(x, 0.4, 0.7),
    "maximum of a number": lambda x: nd.maximum(x, 0.5),
    "sum": lambda x: x.sum(),
    "sum exclude": lambda x: nd.sum(x, axis=1, exclude=True),
    "mean": lambda x: x.mean(axis=0),
    "prod": lambda x: nd.prod(x, axis=1),
    "max": lambda x: x.max(axis=1),
    "min": lambda x: nd.min(x),
    "norm": lambda x: nd.norm(x, axis=1),
    "norm 1": lambda x: nd.norm(x, ord=1),
    "sort": nd.sort,
    "reshape": lambda x: x.reshape((4, -1)) ** 2,
    "transpose": lambda x: x.T[1:],
    "swapaxes": lambda x: nd.swapaxes(x, 0, 1),
    "expand_dims": lambda x: nd.expand_dims(x, 1),
    "index": lambda x: x[1:, ::2],
    "index with arrays": lambda x: x[nd.array([0, 2, 0]), nd.array([1, 1, 1])],
    "iterate": lambda x: sum(row * i for i, row in enumerate(x)),
    "split": lambda x: nd.split(x, 2, axis=1)[1],
    "tile": lambda x: nd.tile(x, (2, 1)) ** 2,
    "repeat": lambda x: nd.repeat(x, 3, axis=1),
    "flip": lambda x: nd.flip(x, axis=0),
    "broadcast_to": lambda x: nd.broadcast_to(nd.expand_dims(x, 0), (5, 3, 4)),
    "slice_axis": lambda x: nd.slice_axis(x, axis=1, begin=1, end=3),
    "slice": lambda x: nd.slice(x, begin=(1,), end=(3,)),
    "take": lambda x: nd.take(x, nd.array([0, 2, 2])),
    "pick": lambda x: nd.pick(x, nd.array([3, 0, 1])),
    "astype": lambda x: x.astype("float64") * 2,
    "copy": lambda x: x.copy() * x,
    "L2Normalization": nd.L2Normalization,
    "np.std": lambda x: np.std(x.as_np_ndarray(), axis=0),
    "np.cumsum": lambda x: np.cumsum(x.as_np_ndarray(), axis=1),
    "np.einsum": lambda x: np.einsum("ij,ij->i", x.as_np_ndarray(), x.as_np_ndarray()),
    "np.triu": lambda x: np.triu(x.as_np_ndarray()),
    "np.linalg.det": lambda x: np.linalg.det(x.as_np_ndarray()[:, :3]),
}  # fmt: skip
TWO: dict[str, Callable[[Any, Any], Any]] = {
    "add": nd.add,
    "subtract": nd.subtract,
    "multiply": nd.multiply,
    "divide": nd.divide,
    "power": nd.power,
    "maximum": nd.maximum,
    "minimum": nd.minimum,
    "hypot": nd.hypot,
    "arctan2": nd.arctan2,
    "elemwise_sub": nd.elemwise_sub,
    "broadcast_div": lambda x, y: nd.broadcast_div(x, y[0:1]),
    "where": lambda x, y: nd.where(nd.array(SIGNED), x, y),
    "concat": lambda x, y: nd.concat(x, y**2),
    "stack": lambda x, y: nd.stack(x, y**2, axis=1),
    "dot": lambda x, y: nd.dot(x, y.T),
    "dot transposed": lambda x, y: nd.dot(x, y, transpose_a=True),
    "batch_dot": lambda x, y: nd.batch_dot(x.reshape((3, 2, 2)), y.reshape((3, 2, 2))),
    "np.dot": lambda x, y: np.dot(x.as_np_ndarray(), y.as_np_ndarray()[0]),
    "np.tensordot": lambda x, y: np.tensordot(x.as_np_ndarray(), y.as_np_ndarray(), 2),
    "matmul": lambda x, y: x.as_np_ndarray() @ y.as_np_ndarray().T,
    "np.outer": lambda x, y: np.outer(x.as_np_ndarray(), y.as_np_ndarray()),
}
LAYERS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "FullyConnected": (nd.FullyConnected, (SIGNED, GENERATOR.normal(size=(3, 4)), THREE)),
    "FullyConnected of images": (nd.FullyConnected, (IMAGE, GENERATOR.normal(size=(2, 50)))),
    "FullyConnected of the last dimension": (
        lambda x, w: nd.FullyConnected(x, w, flatten=False),
        (IMAGE, GENERATOR.normal(size=(2, 5))),
    ),
    "Convolution": (
        lambda x, w, b: nd.Convolution(x, w, b, stride=(2, 1), pad=(1, 0)),
        (IMAGE, KERNEL, THREE),
    ),
    "Convolution in groups": (
        lambda x, w: nd.Convolution(x, w, num_group=2, dilate=(1, 2)),
        (IMAGE, GENERATOR.normal(size=(4, 1, 2, 2))),
    ),
    "Pooling max": (lambda x: nd.Pooling(x, (2, 2), "max", (2, 2)), (IMAGE,)),
    "Pooling avg": (lambda x: nd.Pooling(x, (3, 3), "avg", (2, 2), (1, 1)), (IMAGE,)),
    "Pooling everything": (lambda x: nd.Pooling(x, pool_type="avg", global_pool=True), (IMAGE,)),
    "Embedding": (lambda w: nd.Embedding(nd.array([[0, 2], [2, 2]]), w), (A,)),
    "LayerNorm": (nd.LayerNorm, (SIGNED, VECTOR, VECTOR + 1)),
    "LayerNorm of the first axis": (
        lambda x, g, b: nd.LayerNorm(x, g, b, axis=0),
        (SIGNED, THREE, THREE),
    ),
    "npx.activation": (lambda x: npx.activation(x, "softrelu"), (SIGNED,)),
}


def check(function: Callable[..., Any], inputs: tuple[Any, ...]) -> None:
    """The gradients of a weighted sum of the result, against differences of it."""
    arrays = [nd.array(x, dtype="float64") for x in inputs]
    for x in arrays:
        x.attach_grad()
    with autograd.record():
        out = function(*arrays)
    assert out.dtype == onp.float64
    weights = onp.random.default_rng(1).normal(size=out.shape)
    out.backward(_like(out, weights))

    def value(changed: list[Any]) -> float:
        found = function(*(nd.array(x, dtype="float64") for x in changed))
        return float((found.asnumpy() * weights).sum())

    for i, x in enumerate(inputs):
        expected = onp.empty(x.shape)
        for place in onp.ndindex(x.shape):
            ends = []
            for sign in (1, -1):
                moved = x.copy()
                moved[place] += sign * STEP
                ends.append(value([*inputs[:i], moved, *inputs[i + 1 :]]))
            expected[place] = (ends[0] - ends[1]) / (2 * STEP)
        onp.testing.assert_allclose(arrays[i].grad.asnumpy(), expected, rtol=2e-6, atol=2e-8)


def _like(out: Any, weights: Any) -> Any:
    return (np if isinstance(out, np.ndarray) else nd).array(weights, dtype="float64")


@pytest.mark.parametrize("name", ONE)
def test_one_input(name: str) -> None:
    check(ONE[name], (A,))


@pytest.mark.parametrize("name", TWO)
def test_two_inputs(name: str) -> None:
    check(TWO[name], (A, B))


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name: str) -> None:
    check(*LAYERS[name])


def test_batch_norm() -> None:
    def normalize(x: Any, gamma: Any, beta: Any) -> Any:
        statistics = (nd.zeros(4, dtype="float64"), nd.ones(4, dtype="float64"))
        with autograd.train_mode():
            return nd.BatchNorm(x, gamma, beta, *statistics, fix_gamma=False)

    check(normalize, (SIGNED, VECTOR, VECTOR))


def test_gradients_of_gradients() -> None:
    for name in ("exp", "log", "sin", "tanh", "sigmoid", "sqrt", "square"):
        function = getattr(nd, name)

        def slope(x: Any, function: Any = function) -> Any:
            x = x.copy() if autograd.is_recording() else x
            x.attach_grad()
            with autograd.record():
                y = function(x)
                return autograd.grad(y, x, create_graph=True)[0]

        check(slope, (A[0],))
