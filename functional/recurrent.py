"""Recurrent networks as functions: several layers, both directions, packed sequences, cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .dtypes import float32
from .nn import dropout as drop
from .ops.matmul import linear
from .ops.recurrent import gru_layer, lstm_layer, rnn_layer
from .ops.view_copies import renamed
from .ops.view_ops import split_apart
from .tape.op import TENSOR, public
from .tape.wrappers import Wrapped
from .tensor import Tensor

# --- whole networks -------------------------------------------------------------------------------

Layer = Callable[..., Any]  # (rows, states, parameters, sizes, reverse) -> (outputs, last states)


def _lstm(x: Tensor, states: list[Tensor], params: list[Any], *steps: Any) -> Any:
    out, h, c, _, _ = lstm_layer(x, *states, *params, *steps)
    return out, (h, c)


def _gru(x: Tensor, states: list[Tensor], params: list[Any], *steps: Any) -> Any:
    out, h, _, _ = gru_layer(x, *states, *params[:4], *steps)
    return out, (h,)


def _plain(relu: bool) -> Layer:
    def layer(x: Tensor, states: list[Tensor], params: list[Any], *steps: Any) -> Any:
        out, h = rnn_layer(x, *states, *params[:4], relu, *steps)
        return out, (h,)

    return layer


def _parameters(flat: Any, has_biases: bool, projected: bool) -> list[list[Any]]:
    """For each layer and direction: both weights, both biases, the projection's weight."""
    each = 2 + 2 * has_biases + projected
    rows = []
    for at in range(0, len(flat), each):
        own = list(flat[at : at + each])
        weights, rest = own[:2], own[2:]
        biases = rest[:2] if has_biases else [None, None]
        rows.append([*weights, *biases, rest[-1] if projected else None])
    return rows


def _stacked(
    layer: Layer, x: Tensor, hx: list[Tensor], params: list[list[Any]], num_layers: int,
    dropout: float, train: bool, bidirectional: bool, sizes: tuple[int, ...],
) -> tuple[Tensor, list[Tensor]]:  # fmt: skip
    """All layers: the last layer's outputs, of the form of x, and the stacked last states."""
    directions = 2 if bidirectional else 1
    last: list[Any] = []
    for level in range(num_layers):
        if level and dropout and train:
            x = drop(x, dropout, True)
        outs = []
        for direction in range(directions):
            k = level * directions + direction
            states = [TENSOR.select(h, 0, k) for h in hx]
            out, ends = layer(x, states, params[k], sizes, direction == 1)
            outs.append(out)
            last.append(ends)
        x = outs[0] if directions == 1 else TENSOR.cat(outs, -1)
    return x, [TENSOR.stack(list(part), 0) for part in zip(*last, strict=True)]


def _padded(layer: Layer, title: str) -> Layer:
    """``layer`` for (T, B, *); PyTorch's graph ends in nodes of the name ``title``."""

    def call(x: Tensor, *args: Any) -> Any:
        length, batch, width = x.shape
        out, ends = layer(TENSOR.reshape(x, (length * batch, width)), *args)
        return _titled(TENSOR.view(out, (length, batch, out.shape[1])), title), ends

    return call


def _titled(t: Tensor, title: str) -> Tensor:
    """``t``, its node under the name that PyTorch's has."""
    node: Any = None if isinstance(t, Wrapped) else t._edge[0]
    if node is not None:
        cls: Any = type(node)
        node.__class__ = renamed(cls, title)
    return t


def _run(layer: Layer, x: Tensor, hx: Any, projected: bool, params: Any, *rest: Any) -> Any:
    """Sequences of one length: (T, B, *) or, with ``batch_first``, (B, T, *)."""
    has_biases, num_layers, dropout, train, bidirectional, batch_first = rest
    rows = _parameters(params, has_biases, projected)
    if batch_first:
        x = TENSOR.transpose(x, 0, 1)
    length, batch = x.shape[:2]
    is_one_node = layer is _lstm and x.dtype is float32 and not projected
    padded = _padded(layer, "MkldnnRnnLayerBackward0" if is_one_node else "StackBackward0")
    out, last = _stacked(
        padded, x, hx, rows, num_layers, dropout, train, bidirectional, (batch,) * length
    )
    if batch_first:
        out = _titled(TENSOR.transpose(out, 0, 1), f"TransposeBackward{int(not is_one_node)}")
    return out, *last


def _run_packed(
    layer: Layer, x: Tensor, batch_sizes: Any, hx: Any, projected: bool, params: Any, *rest: Any
) -> Any:
    has_biases, num_layers, dropout, train, bidirectional = rest
    sizes = tuple(batch_sizes.tolist())
    rows = _parameters(params, has_biases, projected)
    out, last = _stacked(layer, x, hx, rows, num_layers, dropout, train, bidirectional, sizes)
    return out, *last


@public
def lstm(input: Tensor, *args: Any) -> Any:
    """Outputs, h_n and c_n of an LSTM: PyTorch's ``torch.lstm``, for padded and packed input.

    Padded: (input, (h_0, c_0), weights, has_biases, num_layers, dropout, train, bidirectional,
    batch_first). Packed: (data, batch_sizes, (h_0, c_0), weights, has_biases, num_layers, dropout,
    train, bidirectional). Formulas: docs.pytorch.org, torch.nn.LSTM.
    """
    if isinstance(args[0], Tensor):
        sizes, hx, params, *rest = args
        projected = hx[0].shape[2] != hx[1].shape[2]
        return _run_packed(_lstm, input, sizes, list(hx), projected, params, *rest)
    hx, params, *rest = args
    return _run(_lstm, input, list(hx), hx[0].shape[2] != hx[1].shape[2], params, *rest)


def _single(name: str, layer: Layer, doc: str) -> Any:
    def function(input: Tensor, *args: Any) -> Any:
        if isinstance(args[1], Tensor):  # (batch_sizes, hx, params, …)
            sizes, hx, params, *rest = args
            return _run_packed(layer, input, sizes, [hx], False, params, *rest)
        hx, params, *rest = args
        return _run(layer, input, [hx], False, params, *rest)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return public(function)


gru = _single("gru", _gru, "Outputs and h_n of a GRU; arguments as `lstm`'s with one state.")
rnn_tanh = _single("rnn_tanh", _plain(False), "Outputs and h_n of a network with tanh.")
rnn_relu = _single("rnn_relu", _plain(True), "Outputs and h_n of a network with relu.")

# --- single steps ---------------------------------------------------------------------------------


def _gates(x: Tensor, count: int) -> tuple[Tensor, ...]:
    """(B, count * H) as tensors (B, H), each in memory of its own."""
    return split_apart(x, (x.shape[1] // count,) * count, 1)


@public
def lstm_cell(
    input: Tensor, hx: Any, w_ih: Tensor, w_hh: Tensor, b_ih: Any = None, b_hh: Any = None
) -> tuple[Tensor, Tensor]:
    """One step of an LSTM: (B, I) and states (B, H) to the next two states."""
    h, c = hx
    gates = linear(h, w_hh, b_hh) + linear(input, w_ih, b_ih)
    i, f, new, o = _gates(gates, 4)
    i, f, o, new = TENSOR.sigmoid(i), TENSOR.sigmoid(f), TENSOR.sigmoid(o), TENSOR.tanh(new)
    cell = f * c + i * new
    return o * TENSOR.tanh(cell), cell


@public
def gru_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Any = None, b_hh: Any = None
) -> Tensor:
    """One step of a GRU: (B, I) and the state (B, H) to the next state."""
    own = _gates(linear(input, w_ih, b_ih), 3)
    state = _gates(linear(hx, w_hh, b_hh), 3)
    reset = TENSOR.sigmoid(state[0] + own[0])
    update = TENSOR.sigmoid(state[1] + own[1])
    new = TENSOR.tanh(own[2] + state[2] * reset)
    return (hx - new) * update + new


def _cell(name: str, activation: str) -> Any:
    def cell(
        input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Any = None, b_hh: Any = None
    ) -> Tensor:
        return getattr(TENSOR, activation)(linear(input, w_ih, b_ih) + linear(hx, w_hh, b_hh))

    cell.__name__ = cell.__qualname__ = name
    cell.__doc__ = f"One step of a plain network with {activation}."
    return public(cell)


rnn_tanh_cell, rnn_relu_cell = _cell("rnn_tanh_cell", "tanh"), _cell("rnn_relu_cell", "relu")
