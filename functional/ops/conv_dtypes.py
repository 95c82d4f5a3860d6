"""PyTorch's errors for the dtypes of convolutions, and which kernel of PyTorch's raises them."""

from __future__ import annotations

from math import prod
from typing import Any

from .. import dtypes
from ..dtypes import c_name
from ..errors import not_implemented
from ..tensor import Tensor
from .dtype_checks import expect_type, type_string

_ONEDNN = " or input should be a MKLDNN tensor and {} is a dense tensor"


def check_bias(x: Tensor, bias: Any) -> None:
    """What ``conv1d`` to ``conv3d`` look at first, unless the padding is a word."""
    if bias is not None and bias.dtype is not x.dtype:
        raise RuntimeError(
            f"Input type ({c_name(x.dtype)}) and bias type ({c_name(bias.dtype)}) should be the "
            "same"
        )


def check_dtypes(x: Tensor, weight: Tensor, bias: Any, settings: Any) -> None:
    """Dtypes of a convolution with checked settings; PyTorch's own kernels take many a bias."""
    n, transposed = weight.ndim - 2, settings[3]
    if x.dtype.is_complex:
        _check_same(x, weight, bias, "")
        return
    if by_onednn(x, weight, settings):
        _check_same(x, weight, bias, _ONEDNN)
        return
    _refuse(x, weight, settings)
    expect_type(x.dtype, weight)
    if bias is not None and transposed:
        if n == 3:
            expect_type(x.dtype, bias)
        else:
            dtypes.check_cast(bias.dtype, x.dtype)


def _check_same(x: Tensor, weight: Tensor, bias: Any, rest: str) -> None:
    for name, t in (("weight", weight), ("bias", bias)):
        if t is not None and t.dtype is not x.dtype:
            raise RuntimeError(
                f"Input type ({type_string(x.dtype)}) and {name} type ({type_string(t.dtype)}) "
                f"should be the same{rest.format(name)}"
            )


def by_onednn(x: Tensor, weight: Tensor, settings: Any) -> bool:
    """Whether PyTorch leaves the work to oneDNN (in one thread): not where it is little."""
    stride, _, dilation, transposed, output_padding, groups = settings
    n = weight.ndim - 2
    if transposed and any(p >= s for p, s in zip(output_padding, stride, strict=True)):
        return False
    if x.dtype in (dtypes.float16, dtypes.bfloat16):
        return True
    if x.dtype is not dtypes.float32:
        return False
    size = tuple(x.shape) if x.ndim == n + 2 else (1, *x.shape)
    kernel = (1, *weight.shape[2:])[-2:]
    if kernel == (1, 1) and size[0] < 16 and {*stride, *dilation} == {1}:
        return False
    return groups > 1 or min(kernel) > 3 or size[0] > 1 or prod(size[:4]) > 20480


def _refuse(x: Tensor, weight: Tensor, settings: Any) -> None:
    """The error for whole numbers that PyTorch's own kernels do not take."""
    d, n = x.dtype, weight.ndim - 2
    stride, padding, dilation, transposed, _, _ = settings
    if d.category >= dtypes.FLOAT or d is dtypes.int64:
        return
    if transposed:
        name = f"slow_conv_transpose{max(n, 2)}d_out_cpu"
    elif any(k != 1 for k in dilation):
        name = "slow_conv_dilated<>"
    elif d is not dtypes.bool_:
        return
    elif n != 3:
        name = "slow_conv2d_cpu"
    else:
        single = {*weight.shape[2:], *stride} == {1} and not any(padding)  # no columns to make
        name = "slow_conv3d_cpu" if single else "compute_columns3d"
    raise not_implemented(name, d)
