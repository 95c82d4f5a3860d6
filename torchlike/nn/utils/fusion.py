"""A layer and the batch normalization after it as one layer, for evaluation."""

from __future__ import annotations

import copy
from typing import Any

from functional.ops.create import ones_like, zeros_like
from functional.tape.op import TENSOR
from functional.tensor import Tensor

from ..parameter import Parameter

__all__ = [
    "fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights",
]  # fmt: skip


def _check(first: Any, bn: Any) -> None:
    if first.training or bn.training:
        raise AssertionError("Fusion only for eval!")


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A convolution that gives what ``conv`` and ``bn`` give, both in evaluation."""
    _check(conv, bn)
    fused = copy.deepcopy(conv)
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias,
        transpose,
    )  # fmt: skip
    return fused


def fuse_conv_bn_weights(
    conv_w: Any, conv_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any,
    transpose: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """The weight and bias of the fused convolution."""
    shape = [1] * conv_w.ndim
    shape[1 if transpose else 0] = -1
    return _fused(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, shape)


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """A linear layer that gives what ``linear`` and ``bn`` give, both in evaluation."""
    _check(linear, bn)
    fused = copy.deepcopy(linear)
    if bn.num_features not in (linear.out_features, 1):
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1"
        )
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused


def fuse_linear_bn_weights(
    linear_w: Any, linear_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any
) -> tuple[Any, Any]:
    """The weight and bias of the fused linear layer."""
    return _fused(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, (-1, 1))


def _fused(
    w: Any, b: Any, mean: Tensor, var: Any, eps: float, bn_w: Any, bn_b: Any, shape: Any
) -> tuple[Any, Any]:
    b = zeros_like(mean) if b is None else b
    bn_w = ones_like(mean) if bn_w is None else bn_w
    bn_b = zeros_like(mean) if bn_b is None else bn_b
    scale = bn_w * TENSOR.rsqrt(var + eps)
    weight = (w * scale.reshape(shape)).to(dtype=w.dtype)
    bias = ((b - mean) * scale + bn_b).to(dtype=b.dtype)
    return (
        Parameter(weight.detach(), w.requires_grad),
        Parameter(bias.detach(), getattr(b, "requires_grad", False)),
    )
