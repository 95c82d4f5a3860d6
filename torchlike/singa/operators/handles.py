"""What SINGA's layers tell the operators of images: sizes of kernels, steps, margins.

A handle does not depend on the batch that it was made with.
"""

from __future__ import annotations

from math import prod
from typing import Any


def pair(value: Any, what: str) -> tuple[int, int]:
    """(height, width) from one number or two; AssertionError else."""
    numbers = (value, value) if isinstance(value, int) else tuple(int(n) for n in value)
    if len(numbers) != 2:
        raise AssertionError(f"{what} is one number or two, not {value!r}")
    return numbers


def margins(padding: Any) -> tuple[tuple[int, int], tuple[int, int, int, int]]:
    """Padding that is even, and what is added to it: (top, bottom, left, right).

    ``padding`` is one number, (height, width), or (top, bottom, left, right).
    """
    if isinstance(padding, int) or len(padding) == 2:
        return pair(padding, "padding"), (0, 0, 0, 0)
    if len(padding) != 4:
        raise AssertionError(f"padding is one number, two or four, not {padding!r}")
    top, bottom, left, right = (int(n) for n in padding)
    h, w = min(top, bottom), min(left, right)
    return (h, w), (top - h, bottom - h, left - w, right - w)


class _Window:
    """The geometry that convolution and pooling share."""

    def __init__(self, input: Any, kernel_size: Any, stride: Any, padding: Any) -> None:
        self.kernel_h, self.kernel_w = pair(kernel_size, "kernel_size")
        self.stride_h, self.stride_w = pair(stride, "stride")
        (self.pad_h, self.pad_w), self.odd_padding = margins(padding)
        if min(self.kernel_h, self.kernel_w, self.stride_h, self.stride_w) < 1:
            raise AssertionError(
                f"kernel_size and stride are at least 1, not {kernel_size} and {stride}"
            )
        self.batchsize = _size(input, 0)

    @property
    def kernel(self) -> tuple[int, int]:
        """(height, width) of the kernel."""
        return self.kernel_h, self.kernel_w

    @property
    def stride(self) -> tuple[int, int]:
        """(vertical, horizontal) step."""
        return self.stride_h, self.stride_w

    @property
    def padding(self) -> tuple[int, int]:
        """(vertical, horizontal) margin on both sides, without ``odd_padding``."""
        return self.pad_h, self.pad_w


def _size(input: Any, axis: int) -> int:
    shape = getattr(input, "shape", ())
    sizes = shape() if callable(shape) else shape
    return int(sizes[axis]) if len(sizes) > axis else 0


class ConvHandle(_Window):
    """A convolution's geometry."""

    def __init__(
        self,
        input: Any,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        in_channels: int,
        out_channels: int,
        bias: bool,
        groups: int = 1,
    ) -> None:
        super().__init__(input, kernel_size, stride, padding)
        if in_channels % groups or out_channels % groups:
            raise AssertionError(
                f"{in_channels} and {out_channels} channels do not form {groups} groups"
            )
        self.channels, self.num_filters = in_channels, out_channels
        self.bias_term, self.group = bool(bias), groups


class CudnnConvHandle(ConvHandle):
    """The same; cuDNN's limits and preferences are not used."""

    def __init__(
        self, *args: Any, workspace_byte_limit: int = 1 << 30, prefer: str = "fastest", **kw: Any
    ) -> None:
        super().__init__(*args[:8], **kw)


class BatchNormHandle:
    """Batch normalization's momentum: the weight of the new batch in the running statistics."""

    def __init__(self, momentum: float, input: Any = None) -> None:
        self.factor = self.momentum = float(momentum)
        self.batchsize, self.channels = _size(input, 0), _size(input, 1)


class CudnnBatchNormHandle(BatchNormHandle):
    """The same."""


class PoolingHandle(_Window):
    """A pooling's geometry, and whether it takes the maximum."""

    def __init__(
        self, input: Any, kernel_size: Any, stride: Any, padding: Any, is_max: bool = True
    ) -> None:
        super().__init__(input, kernel_size, stride, padding)
        self.is_max_pooling = bool(is_max)
        self.pooled_height = self._pooled(input, 2, self.kernel_h, self.stride_h, self.pad_h)
        self.pooled_width = self._pooled(input, 3, self.kernel_w, self.stride_w, self.pad_w)

    @staticmethod
    def _pooled(input: Any, axis: int, kernel: int, stride: int, pad: int) -> int:
        return max(0, (_size(input, axis) + 2 * pad - kernel) // stride + 1)


class CudnnPoolingHandle(PoolingHandle):
    """The same."""


class CudnnRNNHandle:
    """A recurrent network's sizes, and how one vector holds its weights.

    ``mode``: 0 with relu, 1 with tanh, 2 LSTM (gates i, f, g, o), 3 GRU (r, z, n). The vector has,
    for each layer and direction, the weights (gates hidden, input) and (gates hidden, hidden); then
    for each, if ``bias``, the two biases (gates hidden,). Both in the order of ``torch.nn.LSTM``.
    """

    def __init__(
        self,
        x: Any,
        hidden_size: int,
        mode: int = 0,
        num_layers: int = 1,
        bias: int = 1,
        dropout: float = 0.0,
        bidirectional: int = 0,
    ) -> None:
        if mode not in range(4):
            raise AssertionError(f"mode is 0 relu, 1 tanh, 2 LSTM or 3 GRU, not {mode}")
        self.hidden_size, self.mode, self.num_layers = hidden_size, mode, num_layers
        self.bias, self.dropout, self.bidirectional = bias, float(dropout), bidirectional
        self.seq_length, self.batch_size, self.feature_size = (_size(x, axis) for axis in range(3))

    @property
    def directions(self) -> int:
        """1 or 2."""
        return 2 if self.bidirectional else 1

    @property
    def weights_size(self) -> int:
        """The number of weights."""
        return sum(prod(shape) for shape in self._shapes())

    def _shapes(self) -> list[tuple[int, ...]]:
        rows = (1, 1, 4, 3)[self.mode] * self.hidden_size
        found: list[tuple[int, ...]] = []
        for layer in range(self.num_layers):
            width = self.feature_size if layer == 0 else self.directions * self.hidden_size
            found += [(rows, width), (rows, self.hidden_size)] * self.directions
        return found + [(rows,)] * (len(found) if self.bias else 0)

    def unpacked(self, w: Any) -> list[Any]:
        """The weights in a vector (of ours), as views: as ``torch.lstm`` takes them."""
        shapes = self._shapes()
        if w.numel() != self.weights_size:
            raise AssertionError(f"the network has {self.weights_size} weights, not {w.numel()}")
        parts = w.reshape(-1).split([prod(shape) for shape in shapes])
        views = [part.view(shape) for part, shape in zip(parts, shapes, strict=True)]
        if not self.bias:
            return views
        matrices, biases = views[: len(views) // 2], views[len(views) // 2 :]
        each = range(0, len(matrices), 2)
        return [view for i in each for view in (*matrices[i : i + 2], *biases[i : i + 2])]
