"""Stateless functions of neural networks, under PyTorch's names and signatures."""

from __future__ import annotations

from typing import Any

from functional import nn as _core
from functional.nn import (
    conv1d,
    conv2d,
    conv3d,
    cross_entropy,
    dropout,
    log_softmax,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    mse_loss,
    nll_loss,
    softmax,
)
from functional.ops import pointwise as _pointwise
from functional.ops.matmul import linear
from functional.tape.slow import in_place as _in_place
from functional.tensor import Tensor

__all__ = [
    "conv1d", "conv2d", "conv3d", "cross_entropy", "dropout", "leaky_relu", "leaky_relu_",
    "linear", "log_softmax", "max_pool1d", "max_pool1d_with_indices", "max_pool2d",
    "max_pool2d_with_indices", "max_pool3d", "max_pool3d_with_indices", "mse_loss", "nll_loss",
    "relu", "relu_", "sigmoid", "softmax", "tanh",
]  # fmt: skip

relu_ = _core.relu.in_place


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(0, x), written over ``input`` if ``inplace``."""
    return relu_(input) if inplace else _core.relu(input)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x where it is positive, ``negative_slope`` times x elsewhere."""
    if inplace:
        return leaky_relu_(input, negative_slope)
    return _pointwise.leaky_relu(input, negative_slope)


def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """``leaky_relu``, written over ``input``."""
    return _in_place(_pointwise.leaky_relu.op, (input, negative_slope))


def tanh(input: Tensor) -> Tensor:
    """tanh, element by element."""
    return _core.tanh(input)


def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-x)), element by element."""
    return _core.sigmoid(input)


def _with_indices(function: Any, name: str) -> Any:
    def pool(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> tuple[Tensor, Tensor]:
        return function(input, kernel_size, stride, padding, dilation, ceil_mode, True)

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = f"``{function.__name__}``, and the index of each maximum in its plane."
    return pool


max_pool1d_with_indices = _with_indices(max_pool1d, "max_pool1d_with_indices")
max_pool2d_with_indices = _with_indices(max_pool2d, "max_pool2d_with_indices")
max_pool3d_with_indices = _with_indices(max_pool3d, "max_pool3d_with_indices")
