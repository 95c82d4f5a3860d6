"""Convolutions as functions, transposed too."""

from __future__ import annotations

import warnings
from typing import Any

from .ops import nn as ops
from .ops.conv_checks import (
    batched,
    check_groups,
    check_kernel_fits,
    check_kernels,
    check_output_padding,
    check_output_size,
    check_rank,
    check_same_rank,
    check_shapes,
    check_signs,
    per_dimension,
)
from .ops.conv_dtypes import check_bias, check_dtypes
from .ops.nn_checks import remembered
from .ops.padding import constant_pad
from .ops.pointwise import mul_number
from .ops.reduce import to_dtype_of
from .ops.views import squeeze, unsqueeze
from .tape.op import TENSOR, public
from .tensor import Tensor


def _same_settings(
    shape: list[int], weight: Tensor, stride: Any, dilation: Any, n: int
) -> tuple[Any, ...]:
    """stride, padding on both sides and dilation for padding "same", and what to pad first."""
    m = weight.ndim - 2
    check_same_rank(shape, weight, "")
    step = per_dimension(stride, n, "stride", m, True)
    spread = per_dimension(dilation, n, "dilation", m, True)
    if any(s != 1 for s in step):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    total = [d * (k - 1) for k, d in zip(weight.shape[2:], spread, strict=True)]
    both = tuple(int(t / 2) for t in total)
    more = tuple(t - 2 * b for t, b in zip(total, both, strict=True))
    if not any(more):
        return step, both, spread, None
    warnings.warn(
        "Using padding='same' with even kernel lengths and odd dilation may require a zero-padded "
        "copy of the input be created",
        UserWarning,
        stacklevel=2,
    )
    return step, both, spread, tuple(p for extra in reversed(more) for p in (0, extra))


def _settings(weight: Tensor, stride: Any, padding: Any, dilation: Any, n: int) -> tuple[Any, ...]:
    """stride, padding on both sides, dilation, and what to pad first (None here)."""
    m = weight.ndim - 2
    step = per_dimension(stride, n, "stride", m)
    pad = per_dimension(0 if padding == "valid" else padding, n, "padding", m)
    return step, pad, per_dimension(dilation, n, "dilation", m), None


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
    """(does the operation take these tensors as they are?, what to pad first, its static
    arguments), checked.
    """
    if not isinstance(padding, str):
        check_bias(input, bias)
    check_rank(input, n)
    if isinstance(padding, str) and padding not in ("same", "valid"):
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    given = (stride, padding, dilation, groups, n)
    return _conv_checked(batched(input, n), input, weight, bias, *given)


def _conv_checked(
    shape: list[int],
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
    n: int,
) -> tuple[Any, ...]:
    """As ``_conv_settings``, of a batch of that shape."""
    check_groups(weight, groups)
    if padding == "same":
        step, pad, spread, extra = _same_settings(shape, weight, stride, dilation, n)
    else:
        step, pad, spread, extra = _settings(weight, stride, padding, dilation, n)
    if extra is not None:
        shape[2:] = [s + more for s, more in zip(shape[2:], extra[::-2], strict=True)]
    check_signs(step, pad, spread)
    check_shapes(shape, weight, bias, groups)
    check_kernel_fits(shape, weight, pad, spread)
    settings = (step, pad, spread, False, (0,) * len(step), groups)
    check_kernels(shape, input, weight, settings)
    check_dtypes(input, weight, bias, settings)
    return extra is None and _direct(input, bias, len(step)), extra, settings


def _direct(x: Tensor, bias: Any, n: int) -> bool:
    """Whether the operation takes these tensors as they are."""
    same = bias is None or bias.dtype is x.dtype
    return x.ndim == n + 2 and same and not x.dtype.is_complex


def _run(x: Tensor, weight: Tensor, bias: Any, settings: Any) -> Tensor:
    if x.dtype.is_complex:
        return _complex(x, weight, bias, settings)
    if bias is not None:
        bias = to_dtype_of(bias, x.dtype)
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


def _need_tensors(name: str, tensors: tuple[Any, ...]) -> None:
    if all(t is None or isinstance(t, Tensor) for t in tensors) and None not in tensors[:2]:
        return
    given = tensors if tensors[2] is not None else tensors[:2]
    lines = [
        "\n * (Tensor input, Tensor weight, Tensor bias = None, tuple of ints stride = 1, "
        f"{padding}, tuple of ints dilation = 1, int groups = 1)"
        for padding in ("tuple of ints padding = 0", 'str padding = "valid"')
    ]
    raise TypeError(
        f"{name}() received an invalid combination of arguments - got "
        f"({', '.join(type(t).__name__ for t in given)}), but expected one of:{''.join(lines)}\n"
    )


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
        try:
            direct, extra, settings = remembered(
                _conv_settings, tensors, (stride, padding, dilation, groups, n)
            )
        except AttributeError:
            _need_tensors(f"conv{n}d", tensors)
            raise
        if direct:
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
    check_rank(input, n, True)
    given = (stride, padding, output_padding, groups, dilation, n)
    return _transposed_checked(batched(input, n), input, weight, bias, *given)


def _transposed_checked(
    shape: list[int],
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
    """As ``_transposed_settings``, of a batch of that shape."""
    check_groups(weight, groups)
    step, pad, spread, _ = _settings(weight, stride, padding, dilation, n)
    more = per_dimension(output_padding, n, "output_padding", weight.ndim - 2)
    check_signs(step, pad, spread, more)
    check_shapes(shape, weight, bias, groups, True)
    settings = (step, pad, spread, True, more, groups)
    check_kernels(shape, input, weight, settings)
    check_output_padding(more, step, spread)
    check_output_size(shape, input, weight, settings)
    check_dtypes(input, weight, bias, settings)
    return _direct(input, bias, len(step)), settings


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
        direct, settings = remembered(_transposed_settings, (input, weight, bias), given)
        if direct:
            found: Tensor = ops.convolution(input, weight, bias, *settings)
            return found
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
    tensors, shape = (input, weight, bias), list(input.shape)
    if transposed:
        given = (stride, padding, output_padding, groups, dilation, 1)
        return _run(*tensors, _transposed_checked(shape, *tensors, *given)[1])
    check_groups(weight, groups)
    check_signs((), (), (), per_dimension(output_padding, 1, "output_padding", weight.ndim - 2))
    return _run(*tensors, _conv_checked(shape, *tensors, stride, padding, dilation, groups, 1)[2])


public(convolution)
