"""The convolution of sequences whose time comes first: (time, batch, channels)."""

from __future__ import annotations

from typing import Any

from . import dtypes
from .errors import not_implemented
from .ops import conv_tbc as ops
from .ops.arguments import integer, need_tensor
from .ops.cast import to_dtype
from .tape.op import public
from .tensor import Tensor


def _check(input: Tensor, weight: Tensor, bias: Tensor, pad: int) -> None:
    if input.ndim != 3:
        raise RuntimeError("Input must have 3 dims: time, batch, in_channel")
    if weight.ndim != 3:
        raise RuntimeError(
            "Weight tensor must have 3 dims: kernel_width, in_channels, out_channels."
        )
    if bias.ndim != 1:
        raise RuntimeError("Bias must be 1-D")
    if input.shape[2] != weight.shape[1]:
        raise RuntimeError("Input dim 2 (input channels) is not == dim 1 in the weight tensor")
    if weight.shape[2] != bias.shape[0]:
        raise RuntimeError("Bias size must equal dim 2 in the weight tensor (output channels).")
    if (length := input.shape[0] + 2 * pad - weight.shape[0] + 1) < 0:
        sizes = [length, input.shape[1], weight.shape[2]]
        raise RuntimeError(f"Trying to create tensor with negative dimension {length}: {sizes}")
    if weight.dtype is not input.dtype:
        raise RuntimeError(
            "self and mat2 must have the same dtype, but got "
            f"{input.dtype.legacy} and {weight.dtype.legacy}"
        )


@public
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """The convolution over time of ``input`` (T, B, C) with ``weight`` (K, C, O), plus bias (O,).

    ``pad`` zeros come before the first step and after the last; the result has the shape
    (T + 2 pad - K + 1, B, O).
    """
    given: Any = ((input, "input.1"), (weight, "weight.2"), (bias, "bias.3"))
    for value, place in given:
        need_tensor(value, f"conv_tbc.{place}")
    pad = integer(pad, "conv_tbc.pad.4")
    _check(input, weight, bias, pad)
    if input.dtype.is_complex or input.dtype is dtypes.bool_:
        raise not_implemented("conv_tbc", input.dtype)
    bias = bias if bias.dtype is input.dtype else to_dtype(bias, input.dtype)
    found: Tensor = ops.conv_tbc(input, weight, bias, pad)
    return found
