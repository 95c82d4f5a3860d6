"""Memory laid out as asked."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import devices, dtypes
from ..kernels import meta
from ..kernels.layout import dense_strides
from ..tape.foreign import filled as filled_on
from ..tape.op import public
from ..tensor import Shared, Tensor, is_inference, wrap
from .arguments import ints
from .create import as_dtype, check_sizes, filled, recorded
from .layouts import need_strided
from .too_large import check_bytes


def _strided(shape: Any, strides: Any, dtype: Any, device: Any, grad: bool) -> Tensor:
    """An uninitialised tensor; ``strides`` in bytes."""
    array = (dtype or dtypes.get_default_dtype()).array
    if devices.resolve(device).type == "meta":
        return recorded(wrap(meta.empty(shape, array, strides)), grad)
    where = devices.resolve(device)
    if where.type == "cuda":
        return recorded(wrap(filled_on(None, shape, array, where, strides)), grad)
    extent = sum(max(n - 1, 0) * s for n, s in zip(shape, strides, strict=True)) + array.itemsize
    memory = np.empty(extent // array.itemsize, array)
    t = wrap(np.ndarray(shape, array, memory, 0, strides))
    if strides != meta.contiguous_strides(shape, array.itemsize):
        t._place = Shared(memory, is_inference(t))  # strides of dimensions of size 1 are kept
    return recorded(t, grad)


@public
def empty_strided(
    size: Any,
    stride: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of these sizes and strides (in elements) whose elements are not set."""
    d = as_dtype(dtype, "empty_strided") or dtypes.get_default_dtype()
    need_strided(layout, "empty_strided")
    shape, steps = ints((size,)), ints((stride,))
    if len(shape) != len(steps):
        raise RuntimeError(
            "dimensionality of sizes "
            f"({len(shape)}) must match dimensionality of strides ({len(steps)})"
        )
    check_sizes(shape)
    check_bytes(shape, d.itemsize, steps)
    return _strided(shape, tuple(s * d.itemsize for s in steps), d, device, requires_grad)


@public
def empty_permuted(
    size: Any,
    physical_layout: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A dense tensor whose dimensions lie in memory in the order ``physical_layout``."""
    d = as_dtype(dtype, "empty_permuted") or dtypes.get_default_dtype()
    shape, order = ints((size,)), ints((physical_layout,))
    if len(shape) != len(order):
        raise RuntimeError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. "
            f"len(size) = {len(shape)} is not equal to len(physical_layout) = {len(order)}"
        )
    for i, at in enumerate(order):
        if not 0 <= at < len(order):
            raise RuntimeError(
                "Dimension out of range (expected to be between 0 and "
                f"{len(order) - 1}, but got {at} at index {i}).  NB: negative dims not currently "
                "supported; file an issue if you want it."
            )
        if at in order[:i]:
            raise RuntimeError("Duplicate dim not allowed")
    return _strided(shape, dense_strides(shape, list(order), d.itemsize), d, device, requires_grad)


@public
def scalar_tensor(s: Any, *, dtype: Any = None, device: Any = None, **other: Any) -> Tensor:
    """A number as a tensor of the default dtype."""
    return filled(
        s, (), dtype or dtypes.get_default_dtype(), device, bool(other.get("requires_grad"))
    )


def new_empty_strided(self: Tensor, size: Any, stride: Any, **named: Any) -> Tensor:
    """``empty_strided`` with the dtype and device of ``self``."""
    options = {"dtype": self.dtype, "device": self.device} | named
    return empty_strided(size, stride, **options)
