"""Single steps of recurrent layers."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from functional import recurrent
from functional.ops.create import empty, filled
from functional.tape.op import TENSOR
from functional.tensor import Tensor

from .. import init
from ..parameter import Parameter
from .module import Module


class RNNCellBase(Module):
    """What the cells share: ``weight_ih``, ``weight_hh``, ``bias_ih``, ``bias_hh``."""

    __constants__: ClassVar = ["input_size", "hidden_size", "bias"]
    bias_ih: Tensor | None
    bias_hh: Tensor | None

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows, where = num_chunks * hidden_size, {"device": device, "dtype": dtype}
        self.weight_ih = Parameter(empty((rows, input_size), **where))
        self.weight_hh = Parameter(empty((rows, hidden_size), **where))
        for name in ("bias_ih", "bias_hh"):
            if bias:
                setattr(self, name, Parameter(empty(rows, **where)))
            else:
                self.register_parameter(name, None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new starting values."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        """The sizes, and every option that is not the default."""
        text = f"{self.input_size}, {self.hidden_size}"
        text += "" if self.bias else ", bias=False"
        kind = getattr(self, "nonlinearity", "tanh")
        return text if kind == "tanh" else f"{text}, nonlinearity={kind}"

    def _checked(self, input: Tensor, states: Any) -> tuple[Tensor, list[Tensor], bool]:
        """Input and states as batches, and whether they were."""
        if input.ndim not in (1, 2):
            raise ValueError(
                f"{self._get_name()}: Expected input to be 1D or 2D, got {input.ndim}D instead"
            )
        for i, state in enumerate(states or ()):
            if state.ndim not in (1, 2):
                place = f"hx[{i}]" if len(states) > 1 else "hidden"
                raise ValueError(
                    f"{self._get_name()}: Expected {place} to be 1D or 2D, got {state.ndim}D "
                    "instead"
                )
        batched = input.ndim == 2
        x = input if batched else TENSOR.unsqueeze(input, 0)
        if states is None:
            shape = (x.shape[0], self.hidden_size)
            zeros = filled(0, shape, x.dtype, x.device, False)
            states = (zeros, zeros)
        elif not batched:
            states = [TENSOR.unsqueeze(s, 0) for s in states]
        self._check_sizes(x, states)
        return x, list(states), batched

    def _check_sizes(self, x: Tensor, states: Any) -> None:
        if x.shape[1] != self.input_size:
            raise RuntimeError(
                f"input has inconsistent input_size: got {x.shape[1]} expected {self.input_size}"
            )
        for i, state in enumerate(states):
            if state.shape == (x.shape[0], self.hidden_size):
                continue
            label = str(i) if isinstance(self, LSTMCell) else ""
            if state.shape[0] != x.shape[0]:
                raise RuntimeError(
                    f"Input batch size {x.shape[0]} doesn't match hidden{label} batch size "
                    f"{state.shape[0]}"
                )
            raise RuntimeError(
                f"hidden{label} has inconsistent hidden_size: got {state.shape[1]}, expected "
                f"{self.hidden_size}"
            )

    def _weights(self) -> tuple[Any, ...]:
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh


class RNNCell(RNNCellBase):
    """One step of an RNN: (B, input_size) and a state (B, hidden_size) to the next state."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Any = None) -> Tensor:
        """The next state."""
        x, states, batched = self._checked(input, None if hx is None else (hx,))
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        step = getattr(recurrent, f"rnn_{self.nonlinearity}_cell")
        h = step(x, states[0], *self._weights())
        return h if batched else TENSOR.squeeze(h, 0)


class LSTMCell(RNNCellBase):
    """One step of an LSTM: (B, input_size) and (h, c), each (B, hidden_size), to the next two."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: Any = None) -> tuple[Tensor, Tensor]:
        """The next hidden and cell state."""
        x, states, batched = self._checked(input, hx)
        h, c = recurrent.lstm_cell(x, states, *self._weights())
        return (h, c) if batched else (TENSOR.squeeze(h, 0), TENSOR.squeeze(c, 0))


class GRUCell(RNNCellBase):
    """One step of a GRU: (B, input_size) and a state (B, hidden_size) to the next state."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Any = None) -> Tensor:
        """The next state."""
        x, states, batched = self._checked(input, None if hx is None else (hx,))
        h = recurrent.gru_cell(x, states[0], *self._weights())
        return h if batched else TENSOR.squeeze(h, 0)
