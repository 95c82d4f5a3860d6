"""Recurrent layers against PyTorch: outputs, states, gradients, packed sequences, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from functional.kernels.scratch import aligned

from .observe import library
from .scenarios import Cases, error

CASES = Cases("recurrent")
OURS = library("torchlike")
KINDS = ("RNN", "LSTM", "GRU")


def states(h: Any) -> list[Any]:
    return list(h) if isinstance(h, tuple) else [h]


def everything(torch: Any, net: Any, x: Any, *hx: Any) -> list[Any]:
    """Outputs, last states, and gradients of the input and all parameters, in few digits."""
    out, h = net(x, *hx)
    data = out.data if hasattr(out, "batch_sizes") else out
    loss = (data * data).sum() + sum((s * s * s).sum() for s in states(h))
    leaf = x.data if hasattr(x, "batch_sizes") else x
    inputs = [*([leaf] if leaf.requires_grad else []), *net.parameters()]
    grads = torch.autograd.grad(loss, inputs)
    return [t.detach().double() for t in (data, *states(h), *grads)]


def small(torch: Any, kind: str, **options: Any) -> Any:
    torch.manual_seed(1)
    return getattr(torch.nn, kind)(3, 4, dtype=torch.float64, **options)


def numbers(torch: Any, *shape: int) -> Any:
    torch.manual_seed(2)
    return torch.randn(*shape, dtype=torch.float64)


@CASES.add
def plain_layers(torch: Any) -> Any:
    return [everything(torch, small(torch, k), numbers(torch, 5, 2, 3)) for k in KINDS]


@CASES.add
def several_layers_in_both_directions(torch: Any) -> Any:
    options = {"num_layers": 2, "bidirectional": True, "batch_first": True}
    return [everything(torch, small(torch, k, **options), numbers(torch, 2, 4, 3)) for k in KINDS]


@CASES.add
def dropout_between_layers(torch: Any) -> Any:
    options = {"num_layers": 3, "dropout": 0.5}
    return [everything(torch, small(torch, k, **options), numbers(torch, 4, 2, 3)) for k in KINDS]


@CASES.add
def without_a_batch_and_without_bias(torch: Any) -> Any:
    return [everything(torch, small(torch, k, bias=False), numbers(torch, 4, 3)) for k in KINDS]


@CASES.add
def relu_and_projections(torch: Any) -> Any:
    return [
        everything(torch, small(torch, "RNN", nonlinearity="relu"), numbers(torch, 3, 2, 3)),
        everything(torch, small(torch, "LSTM", proj_size=2, num_layers=2), numbers(torch, 3, 2, 3)),
    ]


@CASES.add
def given_states(torch: Any) -> Any:
    found = []
    for kind in KINDS:
        h = numbers(torch, 2, 2, 4)
        hx = (h, h.cos()) if kind == "LSTM" else h
        net = small(torch, kind, bidirectional=True)
        found.append(everything(torch, net, numbers(torch, 3, 2, 3), hx))
    return found


@CASES.add
def packed_sequences(torch: Any) -> Any:
    pack = torch.nn.utils.rnn.pack_padded_sequence
    found = []
    for kind in KINDS:
        for lengths, ordered in (([4, 2, 1], True), ([1, 4, 2], False)):
            packed = pack(numbers(torch, 4, 3, 3), lengths, enforce_sorted=ordered)
            net = small(torch, kind, bidirectional=True, num_layers=2)
            found.append(everything(torch, net, packed))
    return found


@CASES.add
def packing_and_padding(torch: Any) -> Any:
    rnn = torch.nn.utils.rnn
    x = numbers(torch, 4, 3, 2).requires_grad_()
    packed = rnn.pack_padded_sequence(x, [2, 4, 1], enforce_sorted=False)
    padded, lengths = rnn.pad_packed_sequence(packed, padding_value=-1.0, total_length=5)
    (grad,) = torch.autograd.grad((padded * padded).sum(), x)
    apart = [torch.ones(2, 3), torch.ones(4, 3), torch.ones(1, 3)]
    return [
        packed.data, packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices,
        padded, lengths, grad, packed.data.grad_fn.name(),
        rnn.pad_sequence(apart, True, 7.0, "left"),
        rnn.pack_sequence(apart, enforce_sorted=False).batch_sizes,
        rnn.unpad_sequence(rnn.pad_sequence(apart), torch.tensor([2, 4, 1])),
        rnn.unpack_sequence(rnn.pack_sequence(apart, enforce_sorted=False)),
        rnn.invert_permutation(torch.tensor([2, 0, 1])),
    ]  # fmt: skip


@CASES.add
def errors_of_packing(torch: Any) -> Any:
    rnn, x = torch.nn.utils.rnn, torch.zeros(4, 3, 2)
    packed = rnn.pack_padded_sequence(x, [4, 2, 1])
    return [
        error(lambda: rnn.pack_padded_sequence(x, [1, 4, 2])),
        error(lambda: rnn.pack_padded_sequence(x, [4, 2])),
        error(lambda: rnn.pack_padded_sequence(x, [4, 2, 0])),
        error(lambda: rnn.pack_padded_sequence(x[:0], [4, 2, 0])),
        error(lambda: rnn.pad_packed_sequence(packed, total_length=3)),
        error(lambda: rnn.pad_sequence(5)),
        error(lambda: rnn.pad_sequence([x], padding_side="up")),
    ]


@CASES.add
def cells(torch: Any) -> Any:
    found = []
    for kind in KINDS:
        net = small(torch, f"{kind}Cell")
        x = numbers(torch, 2, 3).requires_grad_()
        h = numbers(torch, 2, 4)
        out = states(net(x, (h, h.cos()) if kind == "LSTM" else h))
        grads = torch.autograd.grad(sum((t * t).sum() for t in out), [x, *net.parameters()])
        found.append([*out, *grads, *states(net(x[0])), out[0].grad_fn.name()])
    return found


@CASES.add
def second_derivatives(torch: Any) -> Any:
    found = []
    for kind in KINDS:
        net, x = small(torch, kind), numbers(torch, 3, 2, 3).requires_grad_()
        out, h = net(x)
        loss = (out * out).sum() + sum((s * s * s).sum() for s in states(h))
        (first,) = torch.autograd.grad(loss, x, create_graph=True)
        found.append(list(torch.autograd.grad((first * first).sum(), [x, *net.parameters()])))
    return found


@CASES.add
def errors_of_construction(torch: Any) -> Any:
    nn = torch.nn
    return [
        error(lambda: nn.RNN(3, 4, nonlinearity="q")),
        error(lambda: nn.LSTM(3, 4, dropout=2)),
        error(lambda: nn.LSTM(3, 0)),
        error(lambda: nn.LSTM(3, 4, num_layers=0)),
        error(lambda: nn.LSTM(3, 4, proj_size=5)),
        error(lambda: nn.LSTM(3, 4, proj_size=-1)),
        error(lambda: nn.GRU(3, 4, proj_size=2)),
        error(lambda: nn.LSTM(3.5, 4)),
    ]


@CASES.add
def errors_of_calls(torch: Any) -> Any:
    lstm, gru, x = torch.nn.LSTM(3, 4), torch.nn.GRU(3, 4), torch.zeros(5, 2, 3)
    h, cell = torch.zeros(1, 2, 4), torch.nn.LSTMCell(3, 4)
    return [
        error(lambda: lstm(torch.zeros(5, 2, 4))),
        error(lambda: lstm(torch.zeros(5))),
        error(lambda: lstm(x, (torch.zeros(1, 3, 4), h))),
        error(lambda: lstm(x, (h, torch.zeros(1, 2, 5)))),
        error(lambda: lstm(x[:, 0], (h, h))),
        error(lambda: gru(x, torch.zeros(1, 3, 4))),
        error(lambda: gru(x, torch.zeros(2, 4))),
        error(lambda: gru(x.double())),
        error(lambda: gru(x[:, 0], h)),
        error(lambda: cell(x)),
        error(lambda: cell(torch.zeros(2, 4))),
        error(lambda: cell(torch.zeros(2, 3), (torch.zeros(3, 4), torch.zeros(3, 4)))),
    ]


@CASES.add
def printing(torch: Any) -> Any:
    nn = torch.nn
    made = nn.LSTM(3, 4, 2, bias=False, batch_first=True, bidirectional=True, proj_size=2)
    return [repr(made), list(made.state_dict()), repr(nn.RNNCell(3, 4, nonlinearity="relu")),
            repr(nn.GRUCell(3, 4, bias=False))]  # fmt: skip


@CASES.add
def names_of_nodes(torch: Any) -> Any:
    def names(net: Any, x: Any) -> list[str]:
        out, h = net(x)
        return [t.grad_fn.name() for t in (out, *states(h))]

    x, kinds = torch.ones(2, 3, 3), [*KINDS, "LSTM"]
    found = [names(small(torch, kind, num_layers=2), x.double()) for kind in KINDS]
    made = [getattr(torch.nn, kind) for kind in kinds]
    found += [names(net(3, 4), x) for net in made]
    found += [names(net(3, 4, bidirectional=True), x) for net in made]
    found += [names(net(3, 4, num_layers=2, batch_first=True), x) for net in made]
    return [*found, names(torch.nn.LSTM(3, 4, proj_size=2), x)]


test_scenario = CASES.test()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("width", "batch"), [(64, 3), (128, 16), (256, 20), (96, 2)])
def test_wide_layers_are_their_cells_in_a_row(kind: str, width: int, batch: int) -> None:
    """Products in blocks, and in one piece; packed sequences use a part of the rows."""
    OURS.manual_seed(0)
    layer = getattr(OURS.nn, kind)(5, width, dtype=OURS.float64)
    cell = getattr(OURS.nn, f"{kind}Cell")(5, width, dtype=OURS.float64)
    cell.load_state_dict({k.removesuffix("_l0"): v for k, v in layer.state_dict().items()})
    lengths = [4 - (i % 3) for i in range(batch)]
    x = OURS.randn(4, batch, 5, dtype=OURS.float64)
    pack = OURS.nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=False)
    found = OURS.nn.utils.rnn.pad_packed_sequence(layer(pack)[0])[0]
    state, steps = None, []
    for step in x:
        state = cell(step, state)
        steps.append(state[0] if kind == "LSTM" else state)
    wanted = OURS.stack(steps)
    for i, n in enumerate(lengths):
        assert OURS.allclose(found[:n, i], wanted[:n, i], rtol=1e-12, atol=1e-12)
    weight = OURS.randn_like(wanted)
    for i, n in enumerate(lengths):
        weight[n:, i] = 0
    (found * weight).sum().backward()
    (wanted * weight).sum().backward()
    for p, q in zip(layer.parameters(), cell.parameters(), strict=True):
        assert OURS.allclose(p.grad, q.grad, rtol=1e-9, atol=1e-10)


def test_aligned_memory() -> None:
    for shape in ((3,), (64, 64), (5, 1000, 3)):
        x = aligned(shape, np.dtype(np.float32))
        assert x.shape == shape and x.flags.c_contiguous and x.flags.writeable
        assert x.nbytes < 8192 or x.ctypes.data % 64 == 0
