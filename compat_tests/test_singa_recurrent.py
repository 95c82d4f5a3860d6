"""SINGA's recurrent layers: step by step, and whole networks."""

from __future__ import annotations

import numpy as np
import pytest

import torchlike as torch
from compat_tests.singa_support import close, numbers, singa_mode
from torchlike.singa import autograd, layer
from torchlike.singa.tensor import from_numpy, to_numpy


@pytest.fixture(autouse=True)
def _mode():
    with singa_mode(training=False):
        yield


def test_rnn_steps():
    xs, h0 = [numbers(2, 3, seed=i) for i in range(3)], np.zeros((2, 4), np.float32)
    rnn = layer.RNN(3, 4)
    outputs, last = rnn([from_numpy(x) for x in xs], from_numpy(h0))
    wx, wh, b = (to_numpy(rnn.get_params()[name]) for name in ("Wx", "Wh", "b"))
    h = h0
    for x, y in zip(xs, outputs, strict=True):
        h = np.tanh(x @ wx + h @ wh + b)
        close(y, h)
    close(last, h)
    with pytest.raises(NotImplementedError, match="no num_layers=2"):
        layer.RNN(3, 4, 2)


def test_lstm_steps():
    xs, zero = [numbers(2, 3, seed=i) for i in range(3)], np.zeros((2, 4), np.float32)
    lstm = layer.LSTM(3, 4)
    lstm([from_numpy(xs[0])], (from_numpy(zero), from_numpy(zero)))
    for i, p in enumerate(lstm.get_params().values()):
        p.copy_from_numpy(numbers(*p.shape, seed=i))
    outputs, h, c = lstm([from_numpy(x) for x in xs], (from_numpy(zero), from_numpy(zero)))
    core = torch.nn.LSTM(3, 4)
    order = "ifgo"  # ours, in which SINGA's are i, f, o, g
    with torch.no_grad():
        for ours, kind in (("weight_ih_l0", "Wx"), ("weight_hh_l0", "Wh")):
            parts = [to_numpy(getattr(lstm, f"{kind}_{gate}")).T for gate in order]
            getattr(core, ours).copy_(torch.from_numpy(np.concatenate(parts)))
        for ours, kind in (("bias_ih_l0", "Bx"), ("bias_hh_l0", "Bh")):
            parts = [to_numpy(getattr(lstm, f"{kind}_{gate}")) for gate in order]
            getattr(core, ours).copy_(torch.from_numpy(np.concatenate(parts)))
    expected, (hn, cn) = core(torch.from_numpy(np.stack(xs)))
    close(np.stack([to_numpy(y) for y in outputs]), expected.detach())
    close(h, hn[0].detach())
    close(c, cn[0].detach())
    assert len(lstm.get_params()) == 16


@pytest.mark.parametrize("mode", ["lstm", "gru", "vanilla", "relu"])
@pytest.mark.parametrize("both_ways", [False, True])
def test_whole_recurrent_networks(mode: str, both_ways: bool):
    x = numbers(3, 5, 2)
    net = layer.CudnnRNN(4, num_layers=2, bidirectional=both_ways, rnn_mode=mode)
    y = net(from_numpy(x))
    kinds = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}
    options = {"num_layers": 2, "bidirectional": both_ways, "batch_first": True}
    if mode in kinds:
        core = kinds[mode](2, 4, **options)
    else:
        core = torch.nn.RNN(2, 4, nonlinearity="relu" if mode == "relu" else "tanh", **options)
    with torch.no_grad():
        for ours, weight in zip(core.parameters(), net.handle.unpacked(net.W.values), strict=True):
            ours.copy_(weight)
    expected = core(torch.from_numpy(x))[0].detach()
    close(y, expected)
    last = layer.CudnnRNN(4, num_layers=2, bidirectional=both_ways, rnn_mode=mode,
                          return_sequences=False)  # fmt: skip
    last(from_numpy(x))
    last.W.copy_from_numpy(to_numpy(net.W))
    close(last(from_numpy(x)), expected[:, -1])


def test_sequences_of_several_lengths():
    x = numbers(2, 3, 2)
    net = layer.CudnnRNN(4, use_mask=True)
    lengths = from_numpy(np.array([2, 3], np.int32))
    y = to_numpy(net(from_numpy(x), seq_lengths=lengths))
    alone = to_numpy(net(from_numpy(x[:1, :2]), seq_lengths=from_numpy(np.array([2], np.int32))))
    close(y[0, :2], alone[0])
    assert (y[0, 2] == 0).all() and (y[1, 2] != 0).all()
    with pytest.raises(AssertionError, match="seq_lengths says"):
        net(from_numpy(x))


def test_networks_weights_get_gradients():
    net = layer.CudnnRNN(3, return_sequences=False)
    out = net(from_numpy(numbers(2, 4, 3)))
    loss = autograd.mse_loss(out, from_numpy(np.zeros((2, 3), np.float32)))
    ((p, g),) = autograd.backward(loss)
    assert p is net.W and g.shape == net.W.shape and np.abs(to_numpy(g)).max() > 0
