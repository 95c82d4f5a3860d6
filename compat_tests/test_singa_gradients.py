"""SINGA's operators: every derivative against central differences in float64."""

from __future__ import annotations

import numpy as np
import pytest

import torchlike as torch
from torchlike.singa import autograd, singa_wrap, tensor
from torchlike.singa.operator import Operator
from torchlike.singa.operators.making import NAMES

STEP = 1e-6


@pytest.fixture(autouse=True)
def training():
    autograd.training = True
    yield
    autograd.training = False


def random(*shape, low=-2.0, high=2.0, seed=0):
    return np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32)


def target(*shape, low=0.1, high=0.9):
    return tensor.from_numpy(random(*shape, low=low, high=high, seed=9))


def values_of(op, arrays):
    made = op.compute(*(torch.from_numpy(a) for a in arrays))
    made = made if isinstance(made, tuple) else (made,)
    return [y.detach().numpy() for y in made]


def differences(op, arrays, weights):
    """d sum(weights · results) / d operands, from values alone."""
    arrays = [a.astype(np.float64) if a.dtype.kind == "f" else a for a in arrays]

    def total():
        return sum((w * y).sum() for w, y in zip(weights, values_of(op, arrays), strict=True))

    found = []
    for array in arrays:
        if array.dtype.kind != "f":
            found.append(None)
            continue
        slopes = np.zeros_like(array)
        for place in np.ndindex(*array.shape):
            kept = array[place]
            array[place] = kept + STEP
            above = total()
            array[place] = kept - STEP
            slopes[place] = (above - total()) / (2 * STEP)
            array[place] = kept
        found.append(slopes)
    return found


def check(op, *arrays):
    """``backward`` of the creator, on raw gradients, against the differences."""
    results = op(*(tensor.from_numpy(a) for a in arrays))
    weights = [random(*y.shape, seed=5) for y in results]
    raw = [tensor.from_numpy(w).data for w in weights]
    found = results[0].creator.backward(*raw)
    found = found if isinstance(found, tuple) else (found,)
    wanted = differences(op, arrays, [w.astype(np.float64) for w in weights])
    assert len(found) == len(arrays)
    for raw, slopes, array in zip(found, wanted, arrays, strict=True):
        if slopes is not None:
            assert raw.shape() == array.shape
            np.testing.assert_allclose(raw.numpy(), slopes, rtol=2e-4, atol=2e-5)


X, Y = random(3, 4), random(3, 4, seed=1)
POSITIVE = random(3, 4, low=0.3, high=2.5)
INSIDE = random(3, 4, low=-0.9, high=0.9)
BEYOND = random(3, 4, low=1.2, high=3.0)
IMAGES = random(2, 4, 5, 6)
WORDS = np.array([[0, 3, 3], [4, 0, 1]], np.int32)
PLACES = np.array([[1, 0, -1, 2], [0, 2, 1, 1]], np.int32)

# class: options, operands
CASES = {
    "Abs": ((), X), "Exp": ((), X), "Sign": ((), X), "Ceil": ((), X), "Floor": ((), X),
    "Round": ((), X), "Rounde": ((), X), "Identity": ((), X), "Negative": ((), X),
    "ReLU": ((), X), "Sigmoid": ((), X), "Tanh": ((), X), "Cos": ((), X), "Sin": ((), X),
    "Tan": ((), INSIDE), "Cosh": ((), X), "Sinh": ((), X), "Acos": ((), INSIDE),
    "Asin": ((), INSIDE), "Atan": ((), X), "Asinh": ((), X), "Acosh": ((), BEYOND),
    "Atanh": ((), INSIDE), "SoftSign": ((), X), "SoftPlus": ((), X), "Sqrt": ((), POSITIVE),
    "Log": ((), POSITIVE), "Reciprocal": ((), POSITIVE), "Erf": ((), X),
    "Clip": ((-1.0, 0.7), X), "Elu": ((0.7,), X), "SeLU": ((), X), "LeakyRelu": ((0.1,), X),
    "HardSigmoid": ((0.4, 0.5), X), "Cast": ((singa_wrap.kDouble,), X), "SoftMax": ((1,), X),
    "PRelu": ((), X, random(4, seed=2)), "Dropout": ((0, 0.4), X),
    "Add": ((), X, random(4)), "Sub": ((), X, random(3, 1)), "Mul": ((), random(1, 4), Y),
    "Div": ((), X, POSITIVE[:, :1]), "Pow": ((), POSITIVE, random(4)), "Sum": ((), X, Y, X),
    "Mean": ((), X, Y, X), "Min": ((), X, Y, INSIDE), "Max": ((), X, Y, INSIDE),
    "Matmul": ((), random(2, 3, 4), random(2, 4, 5)), "AddBias": ((1,), X, random(3)),
    "Gemm": ((0.3, 0.7, 1, 1), X, random(5, 3), random(1, 5)),
    "MeanSquareError": ((target(3, 4),), X), "CrossEntropy": ((target(3, 4),), POSITIVE),
    "BinaryCrossEntropy": ((target(3, 4),), random(3, 4, low=0.1, high=0.9)),
    "RankingLoss": ((0.2,), X, Y), "SoftMaxCrossEntropy": ((target(3, 4),), X),
    "Flatten": ((2,), IMAGES), "Reshape": (((2, -1),), X), "Squeeze": (([1],), random(3, 1, 2)),
    "Unsqueeze": (([0, 2],), X), "Transpose": (((2, 0, 1),), random(2, 3, 4)),
    "Expand": (((2, 3, 4),), X), "Tile": (([2, 3],), X), "Concat": ((1,), X, random(3, 2)),
    "Split": ((1, (1, 3)), X), "Slice": (([0, 3], [3, 0], [0, 1], [2, -2]), X),
    "Gather": ((1, [[0, 2], [2, -1]]), X), "Where": (([[True, False, True, True]],), X, Y),
    "ScatterElements": ((tensor.from_numpy(PLACES), target(2, 4)), random(4, 4)),
    "Embedding": ((), WORDS, random(5, 2)), "CosSim": ((), X, Y),
    "ReduceSum": (([0], 0), X), "ReduceMean": (([-1], 1), X),
    "GlobalAveragePool": ((), IMAGES), "UpSample": (("nearest", [1, 1, 2, 3]), IMAGES[:1, :2]),
    "Pad": (("reflect", [0, 0, 1, 2, 0, 0, 2, 1]), IMAGES[:1, :1]),
    "DepthToSpace": ((2, "CRD"), IMAGES), "SpaceToDepth": ((3, "DCR"), random(1, 2, 3, 6)),
    "_Conv2d": ((singa_wrap.ConvHandle(None, (2, 3), (2, 1), (1, 0), 4, 2, True, 2), (0, 1, 1, 0)),
                IMAGES, random(2, 2, 2, 3), random(2)),
    "_Pooling2d": ((singa_wrap.PoolingHandle(None, 2, 2, 1, False), (1, 0, 0, 1)), IMAGES),
    "_BatchNorm2d": ((singa_wrap.BatchNormHandle(0.9), target(4), target(4)),
                     IMAGES, random(4), random(4)),
}  # fmt: skip
WITHOUT = set("Less Greater Equal And Or Not Xor NonZero OneHot ConstantOfShape Shape _RNN".split())


def test_every_operator_is_in_the_table():
    classes = {name for name, thing in NAMES.items() if isinstance(thing, type)}
    assert classes == set(CASES) | WITHOUT


@pytest.mark.parametrize("name", CASES)
def test_gradient(name):
    options, *arrays = CASES[name]
    check(getattr(autograd, name)(*options), *arrays)


@pytest.mark.parametrize(
    ("name", "case"),
    [
        ("SoftMax", ((0,), X)), ("SoftMax", ((-2,), random(2, 3, 2))), ("AddBias", ((0,), X, Y[0])),
        ("Gemm", ((0.5, 2.0), X, random(4, 2))), ("Flatten", ((0,), X)), ("Squeeze", ((), Y[:1])),
        ("Unsqueeze", ((-1,), X)), ("Expand", (((3, 8),), X)), ("Tile", ((3,), X)),
        ("Split", ((0, None, 3), X)), ("Gather", ((0, [2, 2, 0]), X)), ("Max", ((), X)),
        ("ReduceSum", ((None, 0), X)), ("ReduceSum", (([0, 1], 1), X)), ("ReduceMean", ((), X)),
        ("GlobalAveragePool", (("channels_last",), IMAGES)), ("Pow", ((), POSITIVE, BEYOND)),
        ("Pad", (("edge", [1, 0, 2, 1]), X)), ("Pad", (("constant", [1, 0, 2, 1], 3.0), X)),
        ("DepthToSpace", ((2, "DCR"), IMAGES)), ("SpaceToDepth", ((3, "CRD"), random(1, 2, 3, 6))),
        ("_Conv2d", ((singa_wrap.ConvHandle(None, 3, 1, 1, 4, 3, False),),
                     IMAGES, random(3, 4, 3, 3))),
        ("_Pooling2d", ((singa_wrap.PoolingHandle(None, (3, 2), (2, 1), 0),), IMAGES)),
        ("_Pooling2d", ((singa_wrap.PoolingHandle(None, 3, 2, 1), (0, 1, 0, 1)), IMAGES)),
        ("_Pooling2d", ((singa_wrap.PoolingHandle(None, 3, 2, 1, False),), IMAGES)),
        ("_BatchNorm2d", ((singa_wrap.BatchNormHandle(0.9), target(4), target(4)),
                          IMAGES[:, :, 0, 0], random(4), random(4))),
    ],
)  # fmt: skip
def test_gradient_of_other_options(name, case):
    options, *arrays = case
    check(getattr(autograd, name)(*options), *arrays)


def test_gradient_of_indices_as_targets():
    t = tensor.from_numpy(np.array([3, 0, 1], np.int32))
    check(autograd.SoftMaxCrossEntropy(t), X)


def test_batch_norm_outside_training():
    autograd.training = False
    handle = singa_wrap.BatchNormHandle(0.9)
    check(autograd._BatchNorm2d(handle, target(4), target(4)), IMAGES, random(4), random(4))


@pytest.mark.parametrize("mode", range(4))
@pytest.mark.parametrize("sequences", [True, False])
@pytest.mark.parametrize("lengths", [None, [3, 1]])
def test_recurrent(mode, sequences, lengths):
    x = random(3, 2, 2)
    handle = singa_wrap.CudnnRNNHandle(
        tensor.from_numpy(x).data, 2, mode, num_layers=2, dropout=0.0, bidirectional=1
    )
    known = None if lengths is None else tensor.from_numpy(np.array(lengths, np.int32))
    op = autograd._RNN(handle, sequences, lengths is not None, known)
    states = [random(4, 2, 2, seed=s) for s in (3, 4)]
    weights = random(handle.weights_size, low=-0.7, high=0.7)
    if mode == 2:
        check(op, x, *states, weights)
    else:
        tensors = [tensor.from_numpy(a) for a in (x, *states, weights)]
        y = op(*tensors)[0]
        dy = random(*y.shape, seed=5)
        dx, dhx, dcx, dw = op.backward(tensor.from_numpy(dy).data)
        assert dcx is None
        wanted = differences(op, [x, *states, weights], [dy.astype(np.float64)])
        for raw, slopes in ((dx, wanted[0]), (dhx, wanted[1]), (dw, wanted[3])):
            np.testing.assert_allclose(raw.numpy(), slopes, rtol=1e-3, atol=2e-5)


# --- what backward on raw tensors promises beyond that ---


@pytest.mark.parametrize("name", [*CASES])
def test_gradients_also_of_operands_that_require_none(name):
    options, *arrays = CASES[name]
    op = getattr(autograd, name)(*options)
    tensors = [tensor.from_numpy(a) for a in arrays]
    for t in tensors:
        t.requires_grad = False
    results = op(*tensors)
    weights = [random(*y.shape, seed=5) for y in results]
    found = op.backward(*(tensor.from_numpy(w).data for w in weights))
    found = found if isinstance(found, tuple) else (found,)
    wanted = differences(op, arrays, [w.astype(np.float64) for w in weights])
    for raw, slopes in zip(found, wanted, strict=True):
        if slopes is not None:
            np.testing.assert_allclose(raw.numpy(), slopes, rtol=2e-4, atol=2e-5)


def test_forward_on_raw_tensors():
    op = autograd.Mul()
    y = op.forward(tensor.from_numpy(X).data, tensor.from_numpy(Y).data)
    np.testing.assert_allclose(y.numpy(), X * Y, rtol=1e-6)
    dx, dy = op.backward(tensor.from_numpy(POSITIVE).data)
    np.testing.assert_allclose(dx.numpy(), POSITIVE * Y, rtol=1e-6)
    np.testing.assert_allclose(dy.numpy(), POSITIVE * X, rtol=1e-6)


@pytest.mark.parametrize("name", sorted(WITHOUT - {"Shape", "_RNN", "OneHot", "ConstantOfShape"}))
def test_no_gradient(name):
    op: Operator = getattr(autograd, name)()
    one = name in ("Not", "NonZero")
    y = op(*(tensor.from_numpy(a) for a in ([X] if one else [X, Y])))[0]
    with pytest.raises(AssertionError, match=f"{name} has no gradient"):
        op.backward(y.data)


def test_embedding_gives_zeros_for_the_indices():
    y = autograd.embedding(tensor.from_numpy(WORDS), tensor.from_numpy(random(5, 2)))
    dx, dw = y.creator.backward(tensor.from_numpy(np.ones((2, 3, 2), np.float32)).data)
    np.testing.assert_array_equal(dx.numpy(), np.zeros((2, 3)))
    np.testing.assert_array_equal(dw.numpy(), [[2, 2], [1, 1], [0, 0], [2, 2], [1, 1]])


def test_shape_gives_a_list():
    y = autograd.shape(tensor.from_numpy(IMAGES))
    assert y.creator.backward(tensor.from_numpy(X).data) == [3, 4]
