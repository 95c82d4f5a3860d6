"""Recurrent layers: step by step, and whole networks in one operation."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from . import autograd, singa_wrap
from .layer_base import Layer
from .tensor import Tensor

__all__ = ["LSTM", "RNN", "CudnnRNN", "RNN_Base"]


class RNN_Base(Layer):
    """Base of layers that go through a list of inputs, step by step."""

    def step_forward(self, *args: Any) -> Any:
        """One step; subclasses define it."""
        raise NotImplementedError(f"{type(self).__name__} has no step_forward")

    def _one_layer_only(self, **options: Any) -> None:
        """These layers have one layer, one direction and biases; nothing else is pretended."""
        usual = {
            "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0,
            "bidirectional": False,
        }  # fmt: skip
        for name, value in options.items():
            if value != usual[name]:
                raise NotImplementedError(
                    f"{type(self).__name__} has no {name}={value!r}: use CudnnRNN"
                )

    def _weight(self, like: Tensor, shape: tuple[int, ...], std: float) -> Tensor:
        weight = self._parameter(like, shape)
        return weight.gaussian(0.0, std) if std else weight


class RNN(RNN_Base):
    """h' = tanh(x Wx + h Wh + b), for a list of x (batch, input_size); relu if asked.

    Returns the list of all h (batch, hidden_size), and the last.
    """

    parameters = ("Wx", "Wh", "b")

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh",
        bias: bool = True, batch_first: bool = False, dropout: float = 0,
        bidirectional: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self._one_layer_only(num_layers=num_layers, bias=bias, batch_first=batch_first,
                             dropout=dropout, bidirectional=bidirectional)  # fmt: skip
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"nonlinearity is 'tanh' or 'relu', not {nonlinearity!r}")
        self.input_size, self.hidden_size = input_size, hidden_size
        self.nonlinearity = nonlinearity

    def initialize(self, xs: list[Tensor], h0: Tensor) -> None:
        n, m = self.input_size, self.hidden_size
        self.Wx = self._weight(xs[0], (n, m), 1.0)
        self.Wh = self._weight(xs[0], (m, m), 1.0)
        self.b = self._weight(xs[0], (m,), 0.0)

    def forward(self, xs: list[Tensor], h0: Tensor) -> tuple[list[Tensor], Tensor]:
        self.device_check(*xs, h0, self.Wx, self.Wh, self.b)
        outputs, h = [], h0
        for x in xs:
            h = self.step_forward(x, h, self.Wx, self.Wh, self.b)
            outputs.append(h)
        return outputs, h

    def step_forward(self, x: Tensor, h: Tensor, Wx: Tensor, Wh: Tensor, b: Tensor) -> Tensor:
        """The state after one step."""
        z = autograd.add(autograd.matmul(x, Wx), autograd.matmul(h, Wh))
        z = autograd.add_bias(z, b)
        return autograd.tanh(z) if self.nonlinearity == "tanh" else autograd.relu(z)


class LSTM(RNN_Base):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997) over a list of (batch, input).

    For each gate k of i, f, o, g: Wx_k (input, hidden), Wh_k (hidden, hidden), Bx_k and Bh_k
    (hidden,). Returns the list of all h, the last h and the last c.
    """

    parameters: ClassVar[tuple[str, ...]] = tuple(
        f"{kind}_{gate}" for kind in ("Wx", "Wh", "Bx", "Bh") for gate in "ifog"
    )

    def __init__(
        self, input_size: int, hidden_size: int, nonlinearity: str = "tanh", num_layers: int = 1,
        bias: bool = True, batch_first: bool = False, dropout: float = 0,
        bidirectional: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self._one_layer_only(num_layers=num_layers, bias=bias, batch_first=batch_first,
                             dropout=dropout, bidirectional=bidirectional)  # fmt: skip
        self.input_size, self.hidden_size = input_size, hidden_size
        self.nonlinearity = nonlinearity

    def initialize(self, xs: list[Tensor], h0_c0: tuple[Tensor, Tensor]) -> None:
        n, m = self.input_size, self.hidden_size
        for gate in "ifog":
            setattr(self, f"Wx_{gate}", self._weight(xs[0], (n, m), 0.01))
            setattr(self, f"Wh_{gate}", self._weight(xs[0], (m, m), 0.01))
            setattr(self, f"Bx_{gate}", self._weight(xs[0], (m,), 0.0))
            setattr(self, f"Bh_{gate}", self._weight(xs[0], (m,), 0.0))

    def forward(
        self, xs: list[Tensor], h0_c0: tuple[Tensor, Tensor]
    ) -> tuple[list[Tensor], Tensor, Tensor]:
        h, c = h0_c0
        self.device_check(*xs, h, c, *self.get_params().values())
        outputs = []
        for x in xs:
            h, c = self.step_forward(x, h, c)
            outputs.append(h)
        return outputs, h, c

    def _gate(self, gate: str, x: Tensor, h: Tensor) -> Tensor:
        by_x = autograd.add_bias(
            autograd.matmul(x, getattr(self, f"Wx_{gate}")), getattr(self, f"Bx_{gate}")
        )
        by_h = autograd.add_bias(
            autograd.matmul(h, getattr(self, f"Wh_{gate}")), getattr(self, f"Bh_{gate}")
        )
        return autograd.add(by_x, by_h)

    def step_forward(self, x: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        """h and c after one step."""
        i, f, o = (autograd.sigmoid(self._gate(gate, x, h)) for gate in "ifo")
        g = autograd.tanh(self._gate("g", x, h))
        c = autograd.add(autograd.mul(f, c), autograd.mul(i, g))
        return autograd.mul(o, autograd.tanh(c)), c


# --- whole networks -------------------------------------------------------------------------------

_MODES = {"relu": 0, "vanilla": 1, "tanh": 1, "lstm": 2, "gru": 3}


class CudnnRNN(Layer):
    """A recurrent network of several layers and directions, its weights packed in one vector W.

    ``rnn_mode``: lstm, gru, vanilla (or tanh) or relu. Takes x (batch, steps, input), or (steps,
    batch, input) without ``batch_first``, and first states hx, cx (layers directions, batch,
    hidden), zeros by default. Gives all outputs, or the last step's alone without
    ``return_sequences``. With ``use_mask``, ``seq_lengths`` (batch,) says where sequences end.
    """

    parameters = ("W",)

    def __init__(
        self, hidden_size: int, activation: str = "tanh", num_layers: int = 1, bias: bool = True,
        batch_first: bool = True, dropout: float = 0, bidirectional: bool = False,
        rnn_mode: str = "lstm", use_mask: bool = False, return_sequences: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        if rnn_mode not in _MODES:
            raise ValueError(f"rnn_mode is one of {', '.join(_MODES)}, not {rnn_mode!r}")
        self.rnn_mode, self.hidden_size, self.num_layers = rnn_mode, hidden_size, num_layers
        self.bias, self.dropout, self.bidirectional = bool(bias), dropout, bool(bidirectional)
        self.return_sequences, self.batch_first = return_sequences, batch_first
        self.use_mask = use_mask

    def _handle(self, x: Tensor) -> singa_wrap.CudnnRNNHandle:
        return singa_wrap.CudnnRNNHandle(
            x.data, self.hidden_size, _MODES[self.rnn_mode], self.num_layers, int(self.bias),
            self.dropout, int(self.bidirectional),
        )  # fmt: skip

    def initialize(
        self, x: Tensor, hx: Any = None, cx: Any = None, seq_lengths: Any = None
    ) -> None:
        if x.ndim() != 3:
            raise ValueError(f"CudnnRNN takes sequences, three dimensions, not {x.shape}")
        self.input_size = x.shape[2]
        self.W = self._parameter(x, (self._handle(x).weights_size,))
        bound = 1 / math.sqrt(self.hidden_size)
        self.W.uniform(-bound, bound)

    def forward(
        self, x: Tensor, hx: Tensor | None = None, cx: Tensor | None = None,
        seq_lengths: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        if x.shape[-1] != self.input_size:
            raise AssertionError(
                f"CudnnRNN was made for {self.input_size} features, not for {x.shape[-1]}"
            )
        if self.use_mask and seq_lengths is None:
            raise AssertionError("with use_mask, seq_lengths says where sequences end")
        self.device_check(x, self.W)
        x = autograd.transpose(x, (1, 0, 2)) if self.batch_first else x
        self.handle = self._handle(x)
        shape = (self.num_layers * self.handle.directions, x.shape[1], self.hidden_size)
        hx, cx = (
            Tensor(shape, x.device, x.dtype, requires_grad=False) if s is None else s
            for s in (hx, cx)
        )
        network = autograd._RNN(self.handle, self.return_sequences, self.use_mask, seq_lengths)
        y = network(x, hx, cx, self.W)[0]
        again = self.batch_first and self.return_sequences
        return autograd.transpose(y, (1, 0, 2)) if again else y
