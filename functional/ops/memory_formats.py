"""The orders of dimensions in memory that a copy may be asked for: ``torch.channels_last``, ..."""

from __future__ import annotations

from typing import Any

from ..kernels.formats import suggests_channels_last
from ..kernels.layout import dense_strides
from ..modes import no_grad
from ..tape.declare import general
from ..tape.op import TENSOR
from ..tensor import Tensor

# From the outermost dimension in memory to the innermost.
_ORDERS = {"torch.channels_last": (0, 2, 3, 1), "torch.channels_last_3d": (0, 2, 3, 4, 1)}


def _clone_in_order(name: str, node: str) -> Any:
    return general(
        name,
        lambda F, g: g,
        statics=("order",),
        kernel="clone_in_order",
        node=node,
        jvp="linear",
        shape=lambda x, order: (
            x.shape, x.dtype, dense_strides(x.shape, order, x.dtype.itemsize),
        ),
    )  # fmt: skip


clone_in_order = _clone_in_order("clone_in_order", "CloneBackward0")
_to_order = _clone_in_order("to_order", "ToCopyBackward0")


def order_of(memory_format: Any, ndim: int) -> tuple[int, ...] | None:
    """The order that a format means for ``ndim`` dimensions; None: that of the tensor at hand."""
    name = str(memory_format)
    if memory_format is None or name == "torch.preserve_format":
        return None
    order = _ORDERS.get(name, tuple(range(ndim)))
    if len(order) != ndim:
        kind = name.removeprefix("torch.")
        raise RuntimeError(f"required rank {len(order)} tensor to use {kind} format")
    return order


def has_format(x: Any, memory_format: Any) -> bool:
    """Whether the memory of an array is dense in the order of a format."""
    order = _ORDERS.get(str(memory_format))
    if order is None:
        return bool(x.flags.c_contiguous)
    if len(order) != x.ndim:
        return False
    wanted = dense_strides(x.shape, order, x.itemsize)
    return all(n == 1 or s == w for n, s, w in zip(x.shape, x.strides, wanted, strict=True))


def suggested_format(x: Any) -> str:
    """The memory format that an array's strides suggest."""
    if suggests_channels_last(x):
        return "torch.channels_last" + "_3d" * (x.ndim == 5)
    return "torch.contiguous_format"


def dense_in_own_format(self: Tensor) -> Tensor:
    """``self``, or a copy, with memory that is dense in the format that its strides suggest."""
    x = self._data
    if not isinstance(x, Tensor) and not x.flags.c_contiguous and suggests_channels_last(x):
        return to_format(self, suggested_format(x))
    contiguous: Tensor = TENSOR.contiguous(self)
    return contiguous


def in_format(made: Tensor, memory_format: Any) -> Tensor:
    """A new tensor, or another with its dimensions in the order of a format in memory."""
    with no_grad():
        return to_format(made.detach(), memory_format).requires_grad_(made.requires_grad)


def to_format(self: Tensor, memory_format: Any) -> Tensor:
    """``self``, or a copy whose memory is dense in the order of a format."""
    order = order_of(memory_format, self.ndim)
    if order is None or tuple(self.stride()) == dense_strides(tuple(self.shape), order, 1):
        return self
    return _to_order(self, order)
