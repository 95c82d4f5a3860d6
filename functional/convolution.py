"""Convolutions as functions, transposed too."""

from __future__ import annotations

import warnings
from typing import Any

from . import dtypes
from .ops import nn as ops
from .ops.nn_checks import (
    check_conv,
    check_conv_settings,
    check_kernel_fits,
    check_output_padding,
    per_dimension,
    remembered,
)
from .ops.padding import constant_pad
from .ops.pointwise import mul_number
from .ops.views import squeeze, unsqueeze
from .tape.op import TENSOR, public
from .tensor import Tensor


def _same_padding(
    kernel: tuple[int, ...], dilation: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """(padding on both sides, more of it behind)."""
    total = [d * (k - 1) for k, d in zip(kernel, dilation, strict=True)]
    return tuple(t // 2 for t in total), tuple(t % 2 for t in total)


def _conv_padding(padding: Any, stride: Any, kernel: Any, dilation: Any, n: int) -> Any:
    if not isinstance(padding, str):
        return per_dimension(padding, n, "padding"), None
    if padding == "valid":
        return (0,) * n, None
    if padding != "same":
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    if any(s != 1 for s in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    both, more = _same_padding(kernel, dilation)
    if not any(more):
        return both, None
    warnings.warn(
        "Using padding='same' with even kernel lengths and odd dilation may require a zero-padded "
        "copy of the input be created",
        UserWarning,
        stacklevel=2,
    )
    return both, tuple(p for extra in reversed(more) for p in (0, extra))


def _refuse(x: Tensor, dilation: Any, transposed: bool, n: int) -> None:
    d = x.dtype
    if d.category >= dtypes.FLOAT or d is dtypes.int64:
        return
    if transposed:
        name = f"slow_conv_transpose{max(n, 2)}d_out_cpu"
    elif any(k != 1 for k in dilation):
        name = "slow_conv_dilated<>"
    elif d is not dtypes.bool_:
        return
    else:
        name = "compute_columns3d" if n == 3 else "slow_conv2d_cpu"
    raise NotImplementedError(f"\"{name}\" not implemented for '{d.legacy}'")


def _conv_settings(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
    n: int,
) -> tuple[Any, ...]:
    """(what to pad first, a convolution's static arguments), checked."""
    check_conv(input, weight, bias, groups, n)
    step, spread = per_dimension(stride, n, "stride"), per_dimension(dilation, n, "dilation")
    pad, extra = _conv_padding(padding, step, tuple(weight.shape[2:]), spread, n)
    check_conv_settings(step, pad, spread)
    if extra is None:
        check_kernel_fits(input, weight, pad, spread, n)
    _refuse(input, spread, False, n)
    return extra, (step, pad, spread, False, (0,) * n, groups)


def _run(x: Tensor, weight: Tensor, bias: Any, settings: Any) -> Tensor:
    if x.dtype.is_complex:
        return _complex(x, weight, bias, settings)
    found: Tensor = ops.convolution(x, weight, bias, *settings)
    return found


def _parts(x: Any) -> Any:
    if x is None:
        return None, None
    both = TENSOR.view_as_real(TENSOR.resolve_conj(x))
    return TENSOR.select(both, -1, 0), TENSOR.select(both, -1, 1)


def _complex(x: Tensor, weight: Tensor, bias: Any, settings: Any) -> Tensor:
    """A complex convolution by three real ones."""
    (a, b), (c, d), (e, f) = map(_parts, (x, weight, bias))
    first = ops.convolution(a, c, e, *settings)
    second = ops.convolution(b, d, None, *settings)
    both = ops.convolution(a + b, c + d, None if e is None else e + f, *settings)
    result: Tensor = first - second + mul_number(both - first - second, 1j)
    return result


def _conv(n: int) -> Any:
    def conv(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        tensors = (input, weight, bias)
        extra, settings = remembered(
            _conv_settings, tensors, (stride, padding, dilation, groups, n)
        )
        if input.ndim == n + 2 and extra is None and not input.dtype.is_complex:
            found: Tensor = ops.convolution(input, weight, bias, *settings)
            return found
        x = input if input.ndim == n + 2 else unsqueeze(input, 0)
        if extra is not None:
            x = constant_pad(x, extra, 0)
        z = _run(x, weight, bias, settings)
        return z if input.ndim == n + 2 else squeeze(z, 0)

    conv.__name__ = conv.__qualname__ = f"conv{n}d"
    conv.__doc__ = (
        f"A convolution over {n} spatial dimension(s).\n\n"
        "input is (N, C, *spatial) or (C, *spatial), weight (O, C / groups, *kernel), bias (O,)."
    )
    return public(conv)


conv1d, conv2d, conv3d = _conv(1), _conv(2), _conv(3)


def _transposed_settings(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: int,
    dilation: Any,
    n: int,
) -> tuple[Any, ...]:
    check_conv(input, weight, bias, groups, n, True)
    step, spread = per_dimension(stride, n, "stride"), per_dimension(dilation, n, "dilation")
    pad = per_dimension(padding, n, "padding")
    more = per_dimension(output_padding, n, "output_padding")
    check_conv_settings(step, pad, spread, more)
    check_output_padding(more, step, spread)
    _refuse(input, spread, True, n)
    return step, pad, spread, True, more, groups


def _conv_transpose(n: int) -> Any:
    def conv_transpose(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
    ) -> Tensor:
        given = (stride, padding, output_padding, groups, dilation, n)
        settings = remembered(_transposed_settings, (input, weight, bias), given)
        if input.ndim == n + 1:
            return squeeze(_run(unsqueeze(input, 0), weight, bias, settings), 0)
        return _run(input, weight, bias, settings)

    conv_transpose.__name__ = conv_transpose.__qualname__ = f"conv_transpose{n}d"
    conv_transpose.__doc__ = (
        f"The transpose of a convolution over {n} spatial dimension(s).\n\n"
        "input is (N, C, *spatial) or (C, *spatial), weight (C, O / groups, *kernel), bias (O,)."
    )
    return public(conv_transpose)


conv_transpose1d, conv_transpose2d, conv_transpose3d = map(_conv_transpose, (1, 2, 3))


def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Tensor:
    """A convolution, or with ``transposed`` its transpose, over ``weight.ndim - 2`` dimensions."""
    n = weight.ndim - 2
    if transposed:
        given = (stride, padding, output_padding, groups, dilation, n)
        return _run(input, weight, bias, _transposed_settings(input, weight, bias, *given))
    rest = (stride, padding, dilation, groups, n)
    return _run(input, weight, bias, _conv_settings(input, weight, bias, *rest)[1])


public(convolution)
