"""Recurrent layers: RNN, LSTM, GRU."""

from __future__ import annotations

import math
import numbers
import warnings
from typing import Any, ClassVar

from functional import recurrent
from functional.ops.create import empty, filled
from functional.tape.op import TENSOR
from functional.tensor import Tensor

from .. import init
from ..parameter import Parameter
from ..utils.rnn import PackedSequence
from .module import Module
from .rnn_cell import GRUCell, LSTMCell, RNNCell, RNNCellBase

__all__ = [
    "GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase",
]  # fmt: skip

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
_RUN = {
    "LSTM": recurrent.lstm,
    "GRU": recurrent.gru,
    "RNN_TANH": recurrent.rnn_tanh,
    "RNN_RELU": recurrent.rnn_relu,
}


def _reordered(state: Tensor, order: Tensor, dim: int = 1) -> Tensor:
    return TENSOR.index_select(state, dim, order)


class RNNBase(Module):
    """What RNN, LSTM and GRU share: parameters, shapes, packed input.

    ``weight_ih_l{k}`` is (gates * hidden_size, input of layer k), ``weight_hh_l{k}``
    (gates * hidden_size, state), ``bias_ih_l{k}`` and ``bias_hh_l{k}`` (gates * hidden_size,),
    ``weight_hr_l{k}`` (proj_size, hidden_size); ``_reverse`` ends the names of the second
    direction. All start uniform within 1 / sqrt(hidden_size).
    """

    __constants__: ClassVar = [
        "mode", "input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout",
        "bidirectional", "proj_size",
    ]  # fmt: skip

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.mode = mode
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        self._check_arguments(dropout)
        if mode not in _GATES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            for direction in range(1 + bidirectional):
                self._add_layer(layer, direction, {"device": device, "dtype": dtype})
        self.reset_parameters()

    def _check_arguments(self, dropout: Any) -> None:
        if not isinstance(dropout, numbers.Number) or not 0 <= dropout <= 1 or dropout is True:
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an "
                "element being zeroed"
            )
        if dropout > 0 and self.num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero "
                f"dropout expects num_layers greater than 1, but got dropout={dropout} and "
                f"num_layers={self.num_layers}",
                stacklevel=4,
            )
        for name in ("input_size", "hidden_size"):
            if not isinstance(getattr(self, name), int):
                kind = type(getattr(self, name)).__name__
                raise TypeError(f"{name} should be of type int, got: {kind}")
        if self.hidden_size <= 0:
            raise ValueError("hidden_size must be greater than zero")
        if self.num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if self.proj_size < 0:
            raise ValueError(
                "proj_size should be a positive integer or zero to disable projections"
            )
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")

    def _add_layer(self, layer: int, direction: int, where: dict[str, Any]) -> None:
        state = self.proj_size or self.hidden_size
        width = self.input_size if layer == 0 else state * (1 + self.bidirectional)
        rows = _GATES[self.mode] * self.hidden_size
        shapes = {"weight_ih": (rows, width), "weight_hh": (rows, state)}
        if self.bias:
            shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        names = [f"{name}_l{layer}{'_reverse' * direction}" for name in shapes]
        for name, shape in zip(names, shapes.values(), strict=True):
            setattr(self, name, Parameter(empty(shape, **where)))
        self._all_weights.append(names)

    def __getstate__(self) -> dict[str, Any]:
        """The state that PyTorch's module has, so that it can take it over."""
        names, weights = self._flat_weights_names, self._flat_weights
        return super().__getstate__() | {"_flat_weights_names": names, "_flat_weights": weights}

    def __setstate__(self, state: dict[str, Any]) -> None:
        derived = ("_flat_weights_names", "_flat_weights")
        super().__setstate__({k: v for k, v in state.items() if k not in derived})

    @property
    def _flat_weights_names(self) -> list[str]:
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self) -> list[Tensor]:
        return [getattr(self, name) for name in self._flat_weights_names]

    @property
    def all_weights(self) -> list[list[Tensor]]:
        """The parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self) -> None:
        """Does nothing: it is of use to cuDNN only."""

    def reset_parameters(self) -> None:
        """Draw new starting values."""
        bound = 1 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        """The sizes, and every option that is not the default."""
        parts = [f"{self.input_size}, {self.hidden_size}"]
        defaults = {
            "proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0,
            "bidirectional": False,
        }  # fmt: skip
        parts += [
            f"{name}={getattr(self, name)}"
            for name, default in defaults.items()
            if getattr(self, name) != default
        ]
        return ", ".join(parts)

    # --- shapes -----------------------------------------------------------------------------------

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """PyTorch's errors for inputs of another dtype or size."""
        weight = self._flat_weights[0]
        if input.dtype is not weight.dtype:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). "
                f"Convert input: input.to({weight.dtype}), or convert model: "
                f"model.to({input.dtype})"
            )
        rank = 3 if batch_sizes is None else 2
        if input.ndim != rank:
            raise RuntimeError(f"input must have {rank} dimensions, got {input.ndim}")
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                "input.size(-1) must be equal to input_size. Expected "
                f"{self.input_size}, got {input.shape[-1]}"
            )

    def get_expected_hidden_size(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        """The shape of a state: (layers * directions, batch, size)."""
        return self._state_shape(input, batch_sizes, self.proj_size or self.hidden_size)

    def _state_shape(self, input: Tensor, batch_sizes: Tensor | None, size: int) -> Any:
        if batch_sizes is not None:
            batch = int(batch_sizes[0])
        else:
            batch = input.shape[0] if self.batch_first else input.shape[1]
        return self.num_layers * (1 + self.bidirectional), batch, size

    def check_hidden_size(
        self, hx: Tensor, expected: Any, msg: str = "Expected hidden size {}, got {}"
    ) -> None:
        """PyTorch's error for a state of another shape."""
        if tuple(hx.shape) != tuple(expected):
            raise RuntimeError(msg.format(tuple(expected), list(hx.shape)))

    def check_forward_args(self, input: Tensor, hidden: Tensor, batch_sizes: Tensor | None) -> None:
        """Check input and state."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """A state with its sequences in another order."""
        return hx if permutation is None else _reordered(hx, permutation)

    # --- the run ----------------------------------------------------------------------------------

    def _zeros(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        shape = self.get_expected_hidden_size(input, batch_sizes)
        return filled(0, shape, input.dtype, input.device, False)

    def _call(self, input: Tensor, batch_sizes: Tensor | None, hx: Any) -> tuple[Tensor, Any]:
        options = [
            self._flat_weights, self.bias, self.num_layers, self.dropout, self.training,
            self.bidirectional,
        ]  # fmt: skip
        run = _RUN[self.mode]
        if batch_sizes is None:
            out, *last = run(input, hx, *options, self.batch_first)
        else:
            out, *last = run(input, batch_sizes, hx, *options)
        return out, tuple(last) if len(last) > 1 else last[0]

    def _add_batch(self, input: Tensor, hx: Any) -> tuple[Tensor, Any]:
        """An unbatched input and state as a batch of one."""
        if hx is not None:
            if hx.ndim != 2:
                raise RuntimeError(
                    f"For unbatched 2-D input, hx should also be 2-D but got {hx.ndim}-D tensor"
                )
            hx = TENSOR.unsqueeze(hx, 1)
        return TENSOR.unsqueeze(input, 0 if self.batch_first else 1), hx

    def _check_batched(self, hx: Any) -> None:
        if hx.ndim != 3:
            raise RuntimeError(
                f"For batched 3-D input, hx should also be 3-D but got {hx.ndim}-D tensor"
            )

    def _drop_batch(self, out: Tensor, last: Any) -> tuple[Tensor, Any]:
        out = TENSOR.squeeze(out, 0 if self.batch_first else 1)
        if isinstance(last, tuple):
            return out, tuple(TENSOR.squeeze(h, 1) for h in last)
        return out, TENSOR.squeeze(last, 1)

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        """Outputs of the last layer at all steps, and the last states of all layers."""
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        if input.ndim not in (2, 3):
            raise ValueError(
                f"{self._get_name()}: Expected input to be 2D or 3D, got {input.ndim}D instead"
            )
        batched = input.ndim == 3
        if not batched:
            input, hx = self._add_batch(input, hx)
        elif hx is not None:
            self._check_batched(hx)
        if not input.shape[1 if self.batch_first else 0]:
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
        if hx is None:
            hx = self._zeros(input, None)
        self.check_forward_args(input, hx, None)
        out, last = self._call(input, None, hx)
        return (out, last) if batched else self._drop_batch(out, last)

    def _forward_packed(self, packed: PackedSequence, hx: Any) -> tuple[PackedSequence, Any]:
        data, batch_sizes, order, back = packed
        # as many sequences as the first step has
        hx = self._zeros(data, batch_sizes) if hx is None else self.permute_hidden(hx, order)
        self.check_forward_args(data, hx, batch_sizes)
        out, last = self._call(data, batch_sizes, hx)
        return PackedSequence(out, batch_sizes, order, back), self.permute_hidden(last, back)


class RNN(RNNBase):
    """h_t = tanh(W_ih x_t + b_ih + W_hh h_{t-1} + b_hh), or relu with ``nonlinearity="relu"``.

    Input (T, B, input_size), or (B, T, input_size) with ``batch_first``, or a PackedSequence;
    returns outputs (T, B, directions * hidden_size) and h_n (layers * directions, B, hidden_size).
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if len(args) > 3:
            self.nonlinearity = args[3]
            args = args[:3] + args[4:]
        else:
            self.nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if self.nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"Unknown nonlinearity '{self.nonlinearity}'. Select from 'tanh' or 'relu'."
            )
        super().__init__(f"RNN_{self.nonlinearity.upper()}", *args, **kwargs)


class GRU(RNNBase):
    """Gated recurrent units; shapes as RNN's. Formulas: docs.pytorch.org, torch.nn.GRU."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)


class LSTM(RNNBase):
    """Long short-term memory; formulas: docs.pytorch.org, torch.nn.LSTM.

    Input as RNN's; ``hx`` is (h_0, c_0). Returns outputs and (h_n, c_n). With ``proj_size`` the
    hidden states (not the cells) are projected to that size.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        """The shape of the cell state."""
        return self._state_shape(input, batch_sizes, self.hidden_size)

    def check_forward_args(  # type: ignore[override]
        self, input: Tensor, hidden: Any, batch_sizes: Tensor | None
    ) -> None:
        """Check input, hidden state and cell state."""
        self.check_input(input, batch_sizes)
        sizes = (
            self.get_expected_hidden_size(input, batch_sizes),
            self.get_expected_cell_size(input, batch_sizes),
        )
        for i, size in enumerate(sizes):
            self.check_hidden_size(hidden[i], size, f"Expected hidden[{i}] size {{}}, got {{}}")

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """Both states with their sequences in another order."""
        if permutation is None:
            return hx
        return _reordered(hx[0], permutation), _reordered(hx[1], permutation)

    def _zeros(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        cell = self.get_expected_cell_size(input, batch_sizes)
        return (
            super()._zeros(input, batch_sizes),
            filled(0, cell, input.dtype, input.device, False),
        )

    def _add_batch(self, input: Tensor, hx: Any) -> tuple[Tensor, Any]:
        if hx is not None:
            if hx[0].ndim != 2 or hx[1].ndim != 2:
                raise RuntimeError(
                    "For unbatched 2-D input, hx and cx should also be 2-D but got "
                    f"({hx[0].ndim}-D, {hx[1].ndim}-D) tensors"
                )
            hx = tuple(TENSOR.unsqueeze(h, 1) for h in hx)
        return TENSOR.unsqueeze(input, 0 if self.batch_first else 1), hx

    def _check_batched(self, hx: Any) -> None:
        if hx[0].ndim != 3 or hx[1].ndim != 3:
            raise RuntimeError(
                "For batched 3-D input, hx and cx should also be 3-D but got "
                f"({hx[0].ndim}-D, {hx[1].ndim}-D) tensors"
            )
