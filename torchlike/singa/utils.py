"""Progress bars, the margins of windows, and a walk over a graph."""

from __future__ import annotations

import sys
from collections import OrderedDict
from typing import Any

import torchlike as torch

from . import singa_wrap
from .singa_wrap import Tensor as CTensor

_BAR = 20


def update_progress(progress: float, info: str) -> None:
    """Write a bar for a progress from 0 to 1 and a text over the last one."""
    done = min(max(float(progress), 0.0), 1.0)
    state = "Halt. " if progress < 0 else "Done. " if progress >= 1 else ""
    bar = ("." * round(_BAR * done)).ljust(_BAR)
    sys.stdout.write(f"\r[{bar}] {100 * done:3.1f}% {state}{info}")
    sys.stdout.flush()


# --- margins ---


def get_output_shape(
    auto_pad: str, input_spatial_shape: Any, kernel_spatial_shape: Any, strides_spatial: Any
) -> list[int]:
    """The sizes of a window's results for ``SAME_UPPER``, ``SAME_LOWER`` or ``VALID``.

    SAME: ceil(size / stride); VALID: ceil((size - kernel + 1) / stride).
    """
    if auto_pad not in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        raise ValueError(f"auto_pad is SAME_UPPER, SAME_LOWER or VALID, not {auto_pad!r}")
    less = auto_pad == "VALID"
    sizes = zip(input_spatial_shape, kernel_spatial_shape, strides_spatial, strict=True)
    return [-(-(n - less * (kernel - 1)) // stride) for n, kernel, stride in sizes]


def get_padding_shape(
    pad_mode: str, input_spatial_shape: Any, kernel_spatial_shape: Any, strides_spatial: Any
) -> tuple[list[int], list[int]]:
    """Margins (begin, end of each dimension, in one list) that keep SAME sizes.

    First those that are the same at both ends, then what must be added to them: one more at the end
    for ``SAME_UPPER``, at the beginning for ``SAME_LOWER``, where the total is odd.
    """
    sizes = get_output_shape(pad_mode, input_spatial_shape, kernel_spatial_shape, strides_spatial)
    even: list[int] = []
    odd: list[int] = []
    for out, n, kernel, stride in zip(
        sizes, input_spatial_shape, kernel_spatial_shape, strides_spatial, strict=True
    ):
        total = max(0, (out - 1) * stride + kernel - n)
        even += [total // 2] * 2
        odd += [0, total % 2] if pad_mode == "SAME_UPPER" else [total % 2, 0]
    return even, odd


def handle_odd_pad_fwd(x: CTensor, odd_padding: Any) -> CTensor:
    """Zeros around images (N, C, H, W), a raw tensor: top, bottom, left, right."""
    top, bottom, left, right = odd_padding
    padded = torch.nn.functional.pad(x.values, (left, right, top, bottom))
    return CTensor.of(padded, x.device())


def handle_odd_pad_bwd(dx: CTensor, odd_padding: Any) -> CTensor:
    """The gradient without those margins: (N, C, H, W), a raw tensor."""
    top, bottom, left, right = odd_padding
    height, width = dx.shape()[2:]
    inner = dx.values[:, :, top : height - bottom, left : width - right]
    return CTensor.of(inner.contiguous(), dx.device())


def same_pad_shape_check(handle: Any, pad_mode: str, x: CTensor) -> tuple[list[int], list[int]]:
    """The margins for a handle's kernel and images x; AssertionError if the handle has others."""
    kernel, stride = (handle.kernel_h, handle.kernel_w), (handle.stride_h, handle.stride_w)
    even, odd = get_padding_shape(pad_mode, x.shape()[2:], kernel, stride)
    found, right = [handle.pad_h, handle.pad_w], even[::2]
    if found != right:
        raise AssertionError(f"padding {found} is wrong in mode {pad_mode}: it must be {right}")
    return even, odd


def re_new_handle(handle: Any, x: CTensor, is_pool: bool = False) -> Any:
    """A handle like another for the images x."""
    window = (
        x,
        [handle.kernel_h, handle.kernel_w],
        [handle.stride_h, handle.stride_w],
        [handle.pad_h, handle.pad_w],
    )
    if is_pool:
        return singa_wrap.PoolingHandle(*window, handle.is_max_pooling)
    return singa_wrap.ConvHandle(
        *window, handle.channels, handle.num_filters, handle.bias_term, handle.group
    )


# --- other things ---


def force_unicode(s: Any) -> Any:
    """The text of bytes in UTF-8; anything else as it is."""
    return s.decode("utf-8") if isinstance(s, bytes) else s


def post_order_recursive(
    root: Any, root_t: Any
) -> tuple[OrderedDict[str, Any], OrderedDict[str, Any], OrderedDict[str, Any]]:
    """Operators below ``root``, itself included, by name, each after those that it needs.

    Then the tensors with ``stores_grad`` among the leaves by their creators' names, and the names
    of the other leaves, each with None. ``root_t`` is the tensor of a root that is a leaf.
    """
    nodes: OrderedDict[str, Any] = OrderedDict()
    weights: OrderedDict[str, Any] = OrderedDict()
    inputs: OrderedDict[str, Any] = OrderedDict()
    seen: set[int] = set()
    waiting = [(root, root_t, False)] if root else []
    while waiting:
        op, tensor, ready = waiting.pop()
        if type(op).__name__ == "Dummy":
            (inputs if tensor is None else weights)[op.name] = tensor
        elif ready:
            nodes[op.name] = op
        elif id(op) not in seen:
            seen.add(id(op))
            waiting.append((op, None, True))
            waiting += [(source, kept, False) for source, _, kept, _ in reversed(op.src)]
    return nodes, weights, inputs
