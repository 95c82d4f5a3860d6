"""Recurrent networks of several layers and directions in one operation, by packed weights."""

from __future__ import annotations

from typing import Any

import torchlike as torch

from ..operator import Recorded, training
from .handles import CudnnRNNHandle
from .making import public, target_of

_RUN = (torch.rnn_relu, torch.rnn_tanh, torch.lstm, torch.gru)  # by the handle's mode


@public
class _RNN(Recorded):
    """All steps: x (steps, batch, features), first states hx and cx, and the packed weights w.

    Gives (steps, batch, directions hidden), or the last step's alone, (batch, directions hidden),
    without ``return_sequences``. With ``use_mask``, ``seq_lengths`` (batch,) says where sequences
    end: outputs after that are 0, and the last step is each one's own.
    """

    def __init__(
        self,
        handle: CudnnRNNHandle,
        return_sequences: bool = False,
        use_mask: bool = False,
        seq_lengths: Any = None,
    ) -> None:
        super().__init__()
        self.handle, self.return_sequences, self.use_mask = handle, return_sequences, use_mask
        self.seq_lengths = target_of(seq_lengths, "_RNN").cpu().long() if use_mask else None

    def _record(self, operands: list[Any]) -> tuple[Any, ...]:
        self._training, self._random = training(), None
        random = torch.get_rng_state() if self._training and self.handle.dropout else None
        made = super()._record(operands)
        self._random = random  # ``compute`` may run again for ``backward``: it must drop the same
        return made

    def compute(self, x: Any, hx: Any, cx: Any, w: Any) -> Any:
        if x.ndim != 3 or x.shape[2] != self.handle.feature_size:
            wanted = f"(steps, batch, {self.handle.feature_size})"
            raise AssertionError(f"_RNN takes sequences {wanted}, not {tuple(x.shape)}")
        first = (hx, cx) if self.handle.mode == 2 else hx
        if self._random is None:
            return self._sequences(x, first, w)
        with torch.random.fork_rng():
            torch.set_rng_state(self._random)
            return self._sequences(x, first, w)

    def _sequences(self, x: Any, first: Any, w: Any) -> Any:
        if self.seq_lengths is None:
            y = self._run(x, first, *self._options(w), False)
            return y if self.return_sequences else y[-1]
        y = self._masked(x, first, w)
        if self.return_sequences:
            return y
        return y[self.seq_lengths.to(y.device) - 1, torch.arange(y.shape[1], device=y.device)]

    def _run(self, *args: Any) -> Any:
        return _RUN[self.handle.mode](*args)[0]

    def _options(self, w: Any) -> tuple[Any, ...]:
        handle = self.handle
        return (handle.unpacked(w), bool(handle.bias), handle.num_layers, handle.dropout,
                self._training, bool(handle.bidirectional))  # fmt: skip

    def _masked(self, x: Any, first: Any, w: Any) -> Any:
        rnn = torch.nn.utils.rnn
        packed = rnn.pack_padded_sequence(x, self.seq_lengths, enforce_sorted=False)
        order, back = packed.sorted_indices, packed.unsorted_indices
        first = tuple(s[:, order] for s in first) if isinstance(first, tuple) else first[:, order]
        data = self._run(packed.data, packed.batch_sizes, first, *self._options(w))
        packed = rnn.PackedSequence(data, packed.batch_sizes, order, back)
        return rnn.pad_packed_sequence(packed, total_length=len(x))[0]
