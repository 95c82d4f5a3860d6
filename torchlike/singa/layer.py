"""Layers, whose parameters are made from the first input's shape."""

from __future__ import annotations

import math
from typing import Any

from . import autograd
from .layer_base import Layer, LayerMeta
from .layer_conv import (
    AvgPool1d,
    AvgPool2d,
    BatchNorm2d,
    Conv2d,
    MaxPool1d,
    MaxPool2d,
    Pooling2d,
    SeparableConv2d,
)
from .layer_rnn import LSTM, RNN, CudnnRNN, RNN_Base
from .tensor import Tensor

__all__ = [
    "LSTM", "RNN", "Add", "AvgPool1d", "AvgPool2d", "BatchNorm2d", "BinaryCrossEntropy", "Cat",
    "Conv2d", "CrossEntropy", "CudnnRNN", "Dropout", "Embedding", "Flatten", "Gemm", "Layer",
    "LayerMeta", "Linear", "MaxPool1d", "MaxPool2d", "MeanSquareError", "Pooling2d", "RNN_Base",
    "ReLU", "Reshape", "SeparableConv2d", "Sigmoid", "SoftMax", "SoftMaxCrossEntropy",
]  # fmt: skip


class Linear(Layer):
    """x W + b, with W (in, out) from N(0, 2 / (in + out)) and b zeros.

    x is (batch, in), or (..., in); pictures, of four dimensions, are flattened first. The older
    ``Linear(in, out[, bias])`` is understood, its ``in`` found out anew.
    """

    parameters = ("W", "b")

    def __init__(self, out_features: int, *args: Any, bias: bool = True, **kwargs: Any) -> None:
        super().__init__()
        if args:
            out_features, bias = args[0], args[1] if len(args) > 1 else bias
        self.out_features, self.bias = int(out_features), bool(bias)

    def initialize(self, x: Tensor) -> None:
        if x.ndim() < 2:
            raise ValueError(f"Linear takes (batch, features), not {x.shape}")
        n = math.prod(x.shape[1:]) if x.ndim() == 4 else x.shape[-1]
        self.in_features = n
        self.W = self._parameter(x, (n, self.out_features))
        self.W.gaussian(0.0, math.sqrt(2.0 / (n + self.out_features)))
        self.b = self._parameter(x, (self.out_features,)) if self.bias else None

    def forward(self, x: Tensor) -> Tensor:
        x = autograd.flatten(x) if x.ndim() == 4 else x
        if x.shape[-1] != self.W.shape[0]:
            raise AssertionError(
                f"Linear was made for {self.W.shape[0]} features, not for {x.shape[-1]}"
            )
        self.device_check(x, self.W, self.b)
        self.dtype_check(x, self.W, self.b)
        y = autograd.matmul(x, self.W)
        if self.b is None:
            return y
        return autograd.add_bias(y, self.b) if y.ndim() == 2 else autograd.add(y, self.b)


class Gemm(Layer):
    """alpha A' B' + beta C, where ' transposes if asked.

    W is B, (out, in) if transposed; b is C, (1, out) or ``bias_shape``.
    """

    parameters = ("W", "b")

    def __init__(
        self, nb_kernels: int, alpha: float = 1.0, beta: float = 1.0, transA: bool = False,
        transB: bool = True, bias: bool = True, bias_shape: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.nb_kernels, self.alpha, self.beta = nb_kernels, alpha, beta
        self.transA, self.transB, self.bias, self.bias_shape = transA, transB, bias, bias_shape

    def initialize(self, x: Tensor) -> None:
        n = x.shape[0 if self.transA else -1]
        shape = (self.nb_kernels, n) if self.transB else (n, self.nb_kernels)
        self.W = self._parameter(x, shape)
        self.W.gaussian(0.0, math.sqrt(2.0 / (n + self.nb_kernels)))
        self.b = self._parameter(x, self.bias_shape or (1, self.nb_kernels)) if self.bias else None

    def forward(self, x: Tensor) -> Tensor:
        self.device_check(x, self.W, self.b)
        self.dtype_check(x, self.W, self.b)
        return autograd.gemm(
            x, self.W, self.b, self.alpha, self.beta, int(self.transA), int(self.transB)
        )


class Embedding(Layer):
    """Rows of a table W (input_dim, output_dim), by indices of any shape.

    ``initializer`` is ``gaussian``, for N(0, 1), or ``uniform``, for U(-1, 1).
    """

    parameters = ("W",)

    def __init__(self, input_dim: int, output_dim: int, initializer: str = "gaussian") -> None:
        super().__init__()
        if initializer not in ("gaussian", "uniform"):
            raise ValueError(f"initializer is 'gaussian' or 'uniform', not {initializer!r}")
        self.input_dim, self.output_dim, self.initializer = input_dim, output_dim, initializer
        self.W: Tensor | None = None

    def initialize(self, x: Tensor) -> None:
        if self.W is not None:
            return
        self.W = Tensor((self.input_dim, self.output_dim), x.device, stores_grad=True)
        fill = self.W.gaussian if self.initializer == "gaussian" else self.W.uniform
        fill(0.0 if self.initializer == "gaussian" else -1.0, 1.0)

    def from_pretrained(self, W: Tensor, freeze: bool = True) -> None:
        """Use a table of yours; frozen, it has no gradient."""
        if W.ndim() != 2:
            raise ValueError(f"a table is (rows, columns), not {W.shape}")
        self.W, self._initialized = W, True
        W.name = self._tensor_name("W")
        W.requires_grad = W.stores_grad = not freeze

    def forward(self, x: Tensor) -> Tensor:
        assert self.W is not None
        self.device_check(x, self.W)
        return autograd.embedding(x, self.W)


class Dropout(Layer):
    """Zeros with probability ``ratio`` while ``autograd.training``, the rest scaled up."""

    def __init__(self, ratio: float = 0.5) -> None:
        super().__init__()
        if not 0 <= ratio < 1:
            raise ValueError(f"ratio is from 0 to below 1, not {ratio}")
        self.ratio = ratio

    def forward(self, x: Tensor) -> Tensor:
        return autograd.dropout(x, ratio=self.ratio)


class Flatten(Layer):
    """A matrix: the dimensions before ``axis`` are its rows, the others its columns."""

    def __init__(self, axis: int = 1) -> None:
        super().__init__()
        self.axis = axis

    def forward(self, x: Tensor) -> Tensor:
        return autograd.flatten(x, self.axis)


class Cat(Layer):
    """Tensors joined along ``axis``."""

    def __init__(self, axis: int = 0) -> None:
        super().__init__()
        self.axis = axis

    def forward(self, xs: Any) -> Tensor:
        return autograd.cat(xs, self.axis)


class ReLU(Layer):
    """max(0, x)."""

    def forward(self, x: Tensor) -> Tensor:
        return autograd.relu(x)


class Sigmoid(Layer):
    """1 / (1 + exp(-x))."""

    def forward(self, x: Tensor) -> Tensor:
        return autograd.sigmoid(x)


class SoftMax(Layer):
    """Softmax of all that follows the first dimension."""

    def forward(self, x: Tensor) -> Tensor:
        return autograd.softmax(x)


class Add(Layer):
    """a + b."""

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return autograd.add(a, b)


class Reshape(Layer):
    """The values in another shape."""

    def forward(self, x: Tensor, shape: Any) -> Tensor:
        return autograd.reshape(x, shape)


class SoftMaxCrossEntropy(Layer):
    """``autograd.softmax_cross_entropy``."""

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        return autograd.softmax_cross_entropy(x, t)


class MeanSquareError(Layer):
    """``autograd.mse_loss``."""

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        return autograd.mse_loss(x, t)


class CrossEntropy(Layer):
    """``autograd.cross_entropy``: of probabilities."""

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        return autograd.cross_entropy(x, t)


class BinaryCrossEntropy(Layer):
    """``autograd.binary_cross_entropy``: of probabilities."""

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        return autograd.binary_cross_entropy(x, t)
