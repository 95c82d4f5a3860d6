"""Stateless functions of neural networks, under PyTorch's names and signatures."""

from __future__ import annotations

from typing import Any

from functional import nn as _core
from functional.activations import (
    celu,
    celu_,
    elu,
    elu_,
    gelu,
    glu,
    gumbel_softmax,
    hardshrink,
    hardsigmoid,
    hardswish,
    hardtanh,
    hardtanh_,
    leaky_relu,
    leaky_relu_,
    logsigmoid,
    mish,
    prelu,
    relu6,
    rrelu,
    rrelu_,
    selu,
    selu_,
    silu,
    softmin,
    softplus,
    softshrink,
    softsign,
    tanhshrink,
    threshold,
    threshold_,
)
from functional.attention import multi_head_attention_forward, scaled_dot_product_attention
from functional.distances import cosine_similarity, normalize, pairwise_distance
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
from functional.ops.counting import one_hot
from functional.ops.matmul import linear
from functional.normalization import (
    batch_norm,
    group_norm,
    instance_norm,
    layer_norm,
    local_response_norm,
    rms_norm,
)
from functional.ops.norms import pdist
from functional.ops.chains import bilinear
from functional.tensor import Tensor

__all__ = [
    "batch_norm", "group_norm", "instance_norm", "layer_norm", "local_response_norm", "rms_norm",
    "multi_head_attention_forward", "scaled_dot_product_attention",
    "bilinear", "celu", "celu_", "conv1d", "conv2d", "conv3d", "cosine_similarity", "cross_entropy",
    "dropout", "elu", "elu_", "gelu", "glu", "gumbel_softmax", "hardshrink", "hardsigmoid",
    "hardswish", "hardtanh", "hardtanh_", "leaky_relu", "leaky_relu_", "linear", "log_softmax",
    "logsigmoid", "max_pool1d", "max_pool1d_with_indices", "max_pool2d",
    "max_pool2d_with_indices", "max_pool3d", "max_pool3d_with_indices", "mish", "mse_loss",
    "nll_loss", "normalize", "one_hot", "pairwise_distance", "pdist", "prelu", "relu", "relu6", "relu_", "rrelu",
    "rrelu_", "selu", "selu_", "sigmoid", "silu", "softmax", "softmin", "softplus", "softshrink",
    "softsign", "tanh", "tanhshrink", "threshold", "threshold_",
]  # fmt: skip

relu_ = _core.relu.in_place


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(0, x), written over ``input`` if ``inplace``."""
    return relu_(input) if inplace else _core.relu(input)


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
