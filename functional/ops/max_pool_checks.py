"""PyTorch's errors for the arguments of maximum pooling, in the order in which it looks."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..kernels.pool import pool_shape
from ..tensor import Tensor
from .nn_checks import WORDS, listed
from .pooling import FLOATING, refuse_dtypes

_PLACES = {"kernel_size": 2, "stride": 3, "padding": 4, "dilation": 5}


def _window(value: Any, n: int, name: str) -> tuple[int, ...]:
    items = listed(value, f"max_pool{n}d.{name}.{_PLACES[name]}")
    if len(items) == n:
        return items
    if len(items) == 1:
        return items * n
    start = {"stride": "must either be omitted,", "dilation": "must be either"}
    either = start.get(name, "must either be")
    raise RuntimeError(f"max_pool{n}d: {name} {either} a single int, or a tuple of {WORDS[n]}")


# --- images and volumes ---------------------------------------------------------------------------


def image_settings(
    x: Tensor, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil: bool, n: int
) -> tuple[Any, ...]:
    """The static arguments of a pooling over 2 or 3 dimensions."""
    kernel = _window(kernel_size, n, "kernel_size")
    step = kernel if stride in (None, (), []) else _window(stride, n, "stride")
    pad, spread = _window(padding, n, "padding"), _window(dilation, n, "dilation")
    settings = (kernel, step, pad, spread, ceil)
    check_images(x, list(x.shape), settings)
    return settings


def check_images(x: Tensor, shape: list[int], settings: Any) -> None:
    """Ranks, signs and sizes; ``shape`` is that of ``x`` with lines as images of one row."""
    kernel, step, pad, spread, _ = settings
    n = len(kernel)
    if len(shape) not in (n + 1, n + 2):
        raise RuntimeError(f"non-empty {n + 1}D or {n + 2}D (batch mode) tensor expected for input")
    for k, s, p, d in zip(kernel, step, pad, spread, strict=True):
        _check_dimension(k, s, p, d)
    _check_positive("kernel size", "k", kernel)
    _check_positive("stride", "d", step)
    _check_positive("dilation", "dilation", spread)
    _check_not_empty(shape, n)
    if any(p > k // 2 for k, p in zip(kernel, pad, strict=True)):
        _refuse_padding(kernel, pad)
    _check_size(shape, settings)
    if x.dtype.is_complex or x.dtype is dtypes.bool_:
        refuse_dtypes(x, f"max_pool{n}d")


def _check_dimension(kernel: int, stride: int, padding: int, dilation: int) -> None:
    if stride == 0:
        raise RuntimeError("stride should not be zero")
    if padding < 0:
        raise RuntimeError(f"pad must be non-negative, but got pad: {padding}")
    if padding > int((dilation * (kernel - 1) + 1) / 2):
        raise RuntimeError(
            "pad should be at most half of effective kernel size, but got "
            f"pad={padding}, kernel_size={kernel} and dilation={dilation}"
        )


def _check_positive(name: str, letter: str, values: tuple[int, ...]) -> None:
    if any(v <= 0 for v in values):
        sides = "THW"[-len(values) :]
        shown = " ".join(f"{letter}{side}: {v}" for side, v in zip(sides, values, strict=True))
        raise RuntimeError(f"{name} should be greater than zero, but got {shown}")


def _check_not_empty(shape: list[int], n: int) -> None:
    if 0 not in shape[-n - 1 :]:
        return
    if n == 3:
        raise RuntimeError(
            "max_pool3d_with_indices_out_cpu_template(): Expected input's non-batch dimensions to "
            f"have positive length, but input has a shape of {shape} and non-batch dimension 0 has "
            "length zero!"
        )
    raise RuntimeError(
        f"Expected {n + 1}D or {n + 2}D (batch mode) tensor with optional 0 dim batch size for "
        f"input, but got:{shape}"
    )


def _refuse_padding(kernel: tuple[int, ...], padding: tuple[int, ...]) -> None:
    start = "pad should be smaller than or equal to half of kernel size, but got"
    if len(kernel) == 2:
        (h, w), (above, left) = kernel, padding
        raise RuntimeError(f"{start} padW = {left}, padH = {above}, kW = {w}, kH = {h}")
    (t, h, w), (front, above, left) = kernel, padding
    raise RuntimeError(f"{start} kT: {t} kW: {w} kH: {h} padT: {front} padW: {left} padH: {above}")


def _check_size(shape: list[int], settings: Any) -> None:
    """The result may not be empty."""
    n = len(settings[0])
    size = pool_shape(tuple(shape[-n:]), *settings)
    if all(s > 0 for s in size):
        return
    given, found = ("x".join(map(str, (shape[-n - 1], *s))) for s in (shape[-n:], size))
    raise RuntimeError(
        f"Given input size: ({given}). Calculated output size: ({found}). Output size is too small"
    )


# --- lines ----------------------------------------------------------------------------------------

_INT = "an int, list of ints or tuple of ints"
_ONE = {
    "kernel_size": _INT,
    "stride": "None, an int, list of ints, or tuple of ints",
    "padding": "an int, list of ints, or tuple of ints",
    "dilation": _INT,
}


def _one(value: Any, name: str) -> int:
    items = listed(value, f"max_pool1d.{name}.{_PLACES[name]}")
    if len(items) != 1:
        raise RuntimeError(
            f"max_pool1d() {name} must be {_ONE[name]} of size 1 but got size {len(items)}"
        )
    return items[0]


def _need_positive(name: str, value: int) -> None:
    if value <= 0:
        raise RuntimeError(f"max_pool1d() {name} must be greater than zero, but got {value}")


def line_settings(
    x: Tensor, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil: bool
) -> tuple[Any, ...]:
    """The static arguments of a pooling of lines, where indices are not wanted."""
    if x.ndim not in (2, 3) or 0 in x.shape[-2:]:
        raise RuntimeError(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for "
            f"input, but got:{list(x.shape)}"
        )
    kernel = _one(kernel_size, "kernel_size")
    step = kernel if stride in (None, (), []) else _one(stride, "stride")
    pad, spread = _one(padding, "padding"), _one(dilation, "dilation")
    _need_positive("kernel_size", kernel)
    _need_positive("stride", step)
    if pad < 0:
        raise RuntimeError(f"max_pool1d() padding must be non-negative, but got {pad}")
    if pad > kernel // 2:
        raise RuntimeError(
            "max_pool1d() padding should be at most half of kernel size, but got "
            f"padding={pad} and kernel_size={kernel}"
        )
    _need_positive("dilation", spread)
    settings = ((kernel,), (step,), (pad,), (spread,), ceil)
    (size,) = pool_shape(tuple(x.shape[-1:]), *settings)
    if size <= 0:
        raise RuntimeError(f"max_pool1d() Invalid computed output size: {size}")
    refuse_dtypes(x, "max_pool1d_impl", *FLOATING)
    return settings
