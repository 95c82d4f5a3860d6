"""SINGA's operators: images, their handles, losses, recurrent networks, and bad input."""

from __future__ import annotations

import numpy as np
import pytest

from compat_tests.singa_support import close, numbers, singa_mode
from compat_tests.singa_support import constant as T
from torchlike.singa import autograd, singa_wrap, tensor


@pytest.fixture(autouse=True)
def _mode():
    with singa_mode(training=True):
        yield


# --- images ---


def correlated(x, w, stride, groups=1):
    """Cross-correlation by its definition; x has its margins."""
    n, c = x.shape[:2]
    filters, depth, kh, kw = w.shape
    rows, columns = (x.shape[2] - kh) // stride[0] + 1, (x.shape[3] - kw) // stride[1] + 1
    y = np.zeros((n, filters, rows, columns))
    for f in range(filters):
        first = f // (filters // groups) * (c // groups)
        for i in range(rows):
            for j in range(columns):
                top, left = i * stride[0], j * stride[1]
                part = x[:, first : first + depth, top : top + kh, left : left + kw]
                y[:, f, i, j] = (part * w[f]).sum((1, 2, 3))
    return y


def test_convolution():
    x, w, b = numbers(2, 4, 5, 6), numbers(6, 2, 3, 2), numbers(6)
    handle = singa_wrap.ConvHandle(T(x).data, (3, 2), (2, 1), (1, 0), 4, 6, True, 2)
    y = autograd.conv2d(handle, T(x), T(w), T(b), (0, 1, 2, 0))
    padded = np.pad(x, ((0, 0), (0, 0), (1, 2), (2, 0)))
    close(y, correlated(padded, w, (2, 1), 2) + b[:, None, None], 1e-5)
    one = np.pad(x[:1], ((0, 0), (0, 0), (1, 1), (0, 0)))
    # another number of images, without biases
    close(autograd.conv2d(handle, T(x[:1]), T(w)), correlated(one, w, (2, 1), 2), 1e-5)


def test_margins_of_four_numbers():
    x, w = numbers(1, 1, 4, 4), numbers(1, 1, 2, 2)
    handle = singa_wrap.CudnnConvHandle(None, 2, 1, (0, 1, 2, 0), 1, 1, False)
    assert (handle.pad_h, handle.pad_w, handle.odd_padding) == (0, 0, (0, 1, 2, 0))
    padded = np.pad(x, ((0, 0), (0, 0), (0, 1), (2, 0)))
    close(autograd.conv2d(handle, T(x), T(w)), correlated(padded, w, (1, 1)), 1e-5)


def test_handles_tell_their_sizes():
    raw = T(numbers(3, 4, 7, 8)).data
    conv = singa_wrap.CudnnConvHandle(raw, [3, 2], [2, 1], [1, 0], 4, 6, True, 2, 1024, "fastest")
    assert (conv.batchsize, conv.channels, conv.num_filters, conv.group) == (3, 4, 6, 2)
    assert (conv.kernel_h, conv.kernel_w, conv.stride_h, conv.stride_w) == (3, 2, 2, 1)
    pool = singa_wrap.PoolingHandle(raw, (3, 2), (2, 1), (1, 0))
    assert (pool.pooled_height, pool.pooled_width, pool.is_max_pooling) == (4, 7, True)
    norm = singa_wrap.CudnnBatchNormHandle(0.9, raw)
    assert (norm.momentum, norm.batchsize, norm.channels) == (0.9, 3, 4)
    rnn = singa_wrap.CudnnRNNHandle(T(numbers(5, 6, 3)).data, 7, 2, num_layers=2, bidirectional=1)
    assert (rnn.seq_length, rnn.batch_size, rnn.feature_size) == (5, 6, 3)
    assert rnn.weights_size == 2 * (28 * 3 + 28 * 7 + 56) + 2 * (28 * 14 + 28 * 7 + 56)


IMAGE = np.array([[[[1, 2, 3], [4, -5, 6], [7, 8, 9]]]], np.float32)


def pooled(padding, is_max, odd=(0, 0, 0, 0), kernel=2, stride=2):
    handle = singa_wrap.PoolingHandle(None, kernel, stride, padding, is_max)
    return autograd.pooling_2d(handle, T(IMAGE), odd)


def test_pooling():
    close(pooled(0, True), [[[[4]]]])
    close(pooled(1, True), [[[[1, 3], [7, 9]]]])
    close(pooled(0, False), [[[[0.5]]]])
    close(pooled(1, False), [[[[1, 2.5], [5.5, 4.5]]]])  # margins do not count
    close(pooled(0, True, (0, 1, 0, 1)), [[[[4, 6], [8, 9]]]])
    close(pooled(0, False, (0, 1, 0, 1)), [[[[0.5, 4.5], [7.5, 9]]]])
    # a window of margins alone has the mean 0
    close(pooled((2, 0), False), [[[[0], [0.5], [7.5]]]])


def test_pooling_of_negative_numbers():
    handle = singa_wrap.PoolingHandle(None, 3, 1, 1)
    close(autograd.pooling_2d(handle, T([[[[-4.0]]]])), [[[[-4]]]])
    wide = singa_wrap.PoolingHandle(None, 2, 2, (2, 0))
    found = autograd.pooling_2d(wide, T([[[[-4.0, -3.0], [-2.0, -1.0]]]]))
    close(found, [[[[-np.inf], [-1], [-np.inf]]]])


def test_batch_normalization():
    x, scale, bias = numbers(4, 3, 2, 5), T([1, 2, 0.5]), T([0, 1, -1])
    mean, var = T(np.zeros(3)), T(np.ones(3))
    handle = singa_wrap.BatchNormHandle(0.9, T(x).data)
    y = autograd.batchnorm_2d(handle, T(x), scale, bias, mean, var)
    m, v = x.mean((0, 2, 3)), x.var((0, 2, 3))

    def normalized(m, v):
        shape = (3, 1, 1)
        y = (x - m.reshape(shape)) / np.sqrt(v.reshape(shape) + 1e-5)
        return y * [[[1]], [[2]], [[0.5]]] + [[[0]], [[1]], [[-1]]]

    close(y, normalized(m, v), 1e-4)
    m, v = 0.9 * m, 0.1 + 0.9 * v * 40 / 39
    close(mean, m, 1e-5)
    close(var, v, 1e-5)
    y.creator.backward(y.data)
    close(mean, m, 1e-5)  # backward does not move them
    autograd.training = False
    close(autograd.batchnorm_2d(handle, T(x), scale, bias, mean, var), normalized(m, v), 1e-4)
    close(mean, m, 1e-5)


def test_statistics_move_once_even_if_backward_computes_again():
    x, mean, var = T(numbers(4, 3)), T(np.zeros(3)), T(np.ones(3))
    x.requires_grad = False
    op = autograd._BatchNorm2d(singa_wrap.BatchNormHandle(0.5), mean, var)
    (y,) = op(x, T(np.ones(3)), T(np.zeros(3)))
    before = tensor.to_numpy(mean)
    op.backward(y.data)
    np.testing.assert_array_equal(tensor.to_numpy(mean), before)


def test_grids():
    x = np.arange(8, dtype=np.float32).reshape(1, 8, 1, 1)
    close(autograd.depth_to_space(T(x), 2), [[[[0, 2], [4, 6]], [[1, 3], [5, 7]]]])
    close(autograd.depth_to_space(T(x), 2, "CRD"), [[[[0, 1], [2, 3]], [[4, 5], [6, 7]]]])
    for mode in ("DCR", "CRD"):
        y = autograd.depth_to_space(T(x), 2, mode)
        close(autograd.space_to_depth(y, 2, mode), x)


def test_margins_and_repetition():
    x = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
    pads = [0, 2, 1, 1]
    for mode in ("constant", "reflect", "edge"):
        close(autograd.pad(T(x), mode, pads), np.pad(x, ((0, 1), (2, 1)), mode=mode))
    close(autograd.pad(T(x), "constant", pads, 7), np.pad(x, ((0, 1), (2, 1)), constant_values=7))
    close(autograd.upsample(T(x), "nearest", np.array([1.0, 2.0])), x.repeat(2, 1))


# --- losses ---

LOGITS = np.array([[1.0, 2.0, 0.5], [0.0, -1.0, 3.0]], np.float32)
LOGP = LOGITS - np.log(np.exp(LOGITS).sum(1, keepdims=True))


def test_softmax_cross_entropy():
    wanted = [-(LOGP[0, 1] + LOGP[1, 2]) / 2]
    for t in ([1, 2], [[1], [2]]):
        close(autograd.softmax_cross_entropy(T(LOGITS), T(t, np.int32)), wanted)
    close(autograd.softmax_cross_entropy(T(LOGITS), T([[0, 1, 0], [0, 0, 1]])), wanted)
    # weights of a row count relative to their sum; a row of zeros has no loss
    close(autograd.softmax_cross_entropy(T(LOGITS), T([[0, 1, 1], [0, 0, 0]])),
          [-(LOGP[0, 1] + LOGP[0, 2]) / 4])  # fmt: skip
    soft = autograd.softmax_cross_entropy(T([[1.0, 2.0]]), T([[0.25, 0.75]]))
    close(soft, [np.log(np.exp(1) + np.exp(2)) - 1.75])
    # float32's smallest number is 2**-126
    close(autograd.softmax_cross_entropy(T([[0, 500]]), T([[1, 0]])), [126 * np.log(2)])


def test_losses():
    x, t = T([[0.9, 0.1], [0.5, 0.5]]), T([[1, 0], [1, 1]])
    close(autograd.binary_cross_entropy(x, t), [0.79819655])
    close(autograd.cross_entropy(x, T([[1, 0], [0, 1]])), [0.39925388])
    close(autograd.cross_entropy(T([[0.0, 1.0]]), T([[0, 1]])), [0])
    close(autograd.mse_loss(x, t), [(0.01 + 0.01 + 0.25 + 0.25) / 4])
    close(autograd.ranking_loss(T([1, 2, 3]), T([0, 2, 4])), [(0 + 0.2 + 1.2) / 3])
    close(autograd.ranking_loss(T([1, 2, 3]), T([0, 2, 4]), 2.0), [(1 + 2 + 3) / 3])


def test_losses_start_from_one():
    x, t = T([[0.9, 0.1], [0.5, 0.5]]), T([[1, 0], [1, 1]])
    loss = autograd.mse_loss(x, t)
    by_one = loss.creator.backward()
    np.testing.assert_allclose(by_one.numpy(), [[-0.05, 0.05], [-0.25, -0.25]], rtol=1e-5)
    np.testing.assert_allclose(loss.creator.backward(2.0).numpy(), 2 * by_one.numpy())
    np.testing.assert_allclose(loss.creator.backward(T([3]).data).numpy(), 3 * by_one.numpy())


# --- recurrent networks ---


def test_recurrent_network_by_hand():
    x, h = numbers(3, 2, 4), numbers(1, 2, 5, seed=1)
    for mode, function in ((0, lambda a: np.maximum(a, 0)), (1, np.tanh)):
        handle = singa_wrap.CudnnRNNHandle(T(x).data, 5, mode)
        w = numbers(handle.weights_size, seed=2) / 3
        wx, wh = w[:20].reshape(5, 4), w[20:45].reshape(5, 5)
        state, steps = h[0], []
        for step in x:
            state = function(step @ wx.T + state @ wh.T + w[45:50] + w[50:])
            steps.append(state)
        operands = T(x), T(h), T(h), T(w)
        close(autograd._RNN(handle, return_sequences=True)(*operands)[0], steps, 1e-5)
        close(autograd._RNN(handle)(*operands)[0], state, 1e-5)
        masked = autograd._RNN(handle, True, True, T([1, 3], np.int32))(*operands)[0]
        wanted = np.array(steps)
        wanted[1:, 0] = 0
        close(masked, wanted, 1e-5)
        last = autograd._RNN(handle, False, True, T([1, 3], np.int32))(*operands)[0]
        close(last, [steps[0][0], steps[2][1]], 1e-5)


# --- bad input ---

M, V, C = T(np.ones((2, 3))), T(np.ones(3)), T(np.ones((2, 3, 4)))
CONV = singa_wrap.ConvHandle(None, 2, 1, 0, 3, 1, False)
BAD = [
    (lambda: autograd.softmax_cross_entropy(M, C), r"target of shape \(2, 3, 4\)"),
    (lambda: autograd.softmax_cross_entropy(V, V), r"\(batch, classes\), not \(3,\)"),
    (lambda: autograd.softmax_cross_entropy(M, T([0, 3], np.int32)), "one of 3 classes"),
    (lambda: autograd.mse_loss(M, C), r"\(2, 3\) and \(2, 3, 4\) differ"),
    (lambda: autograd.mse_loss(M, np.ones((2, 3))), "must be a Tensor, not ndarray"),
    (lambda: autograd.binary_cross_entropy(M, V), "differ"),
    (lambda: autograd.cross_entropy(M, V), "differ"),
    (lambda: autograd.ranking_loss(M, V), "differ"),
    (lambda: autograd.add_bias(M, V, 3), "axis is 0 or 1, not 3"),
    (lambda: autograd.add_bias(M, V, 1), r"\(3,\) does not fit \(2, 3\)"),
    (lambda: autograd.add_bias(C, V), "does not fit"),
    (lambda: autograd.add(M, 1.0), "Add takes Tensors, not float"),
    (lambda: autograd.matmul(V, M), "two dimensions or more"),
    (lambda: autograd.gemm(C, M), "takes matrices"),
    (lambda: autograd.sum(), "one tensor or more"),
    (lambda: autograd.cat([]), "one tensor or more"),
    (lambda: autograd.softmax(M, 2), "axis 2 is not one of the 2"),
    (lambda: autograd.squeeze(M, [0]), "axis 0 has 2 elements"),
    (lambda: autograd.unsqueeze(M, [0, 0]), "names an axis twice"),
    (lambda: autograd.reshape(M, (2, 3, 0)), "keeps an axis"),
    (lambda: autograd.flatten(M, 3), "does not split"),
    (lambda: autograd.transpose(M, (0, 0)), "does not order 2 axes"),
    (lambda: autograd.expand(M, (2, 4)), "does not fill"),
    (lambda: autograd.split(M, 1, (1, 1)), "do not make 3 along axis 1"),
    (lambda: autograd.slice(M, [0], [1, 2]), "differ in number"),
    (lambda: autograd.gather(M, 1, [3]), "beyond the 3 elements"),
    (lambda: autograd.embedding(T([[5]], np.int32), M), "beyond the 2 elements"),
    (lambda: autograd.scatter_elements(M, V, V), "do not fit"),
    (lambda: autograd.cossim(M, C), "two matrices of one shape"),
    (lambda: autograd.dropout(M, 0, 1.5), "a probability, not 1.5"),
    (lambda: autograd.conv2d(CONV, M, M), r"\(batch, channels, height, width\), not \(2, 3\)"),
    (lambda: autograd.pad(M, "wrap", [0] * 4), "'wrap'"),
    (lambda: autograd.depth_to_space(T(np.ones((1, 3, 2, 2))), 2), "no multiple of 4"),
    (lambda: autograd.space_to_depth(T(np.ones((1, 3, 3, 2))), 2), "do not fill"),
    (lambda: autograd.depth_to_space(T(np.ones((1, 4, 2, 2))), 2, "X"), "DCR or CRD"),
    (lambda: autograd.constant_of_shape(T([-1], np.int32)), "negative"),
    (lambda: singa_wrap.ConvHandle(None, 3, 1, 0, 3, 4, False, 2), "do not form 2 groups"),
    (lambda: singa_wrap.PoolingHandle(None, 0, 1, 0), "at least 1"),
    (lambda: singa_wrap.PoolingHandle(None, 2, 1, (1, 2, 3)), "one number, two or four"),
    (lambda: singa_wrap.CudnnRNNHandle(C.data, 2, 4), "mode is"),
]


@pytest.mark.parametrize(("call", "message"), BAD)
def test_bad_input(call, message):
    with pytest.raises(AssertionError, match=message):
        call()


def test_other_modes_of_upsampling():
    with pytest.raises(NotImplementedError, match="nearest, not 'linear'"):
        autograd.upsample(M, "linear", [1, 2])
