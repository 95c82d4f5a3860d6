"""The geometry of a convolution, worked out once per shape and setting.

A plan describes an ordinary (not transposed) convolution of x (N, C, *size) with a weight
(O, C / groups, *kernel) to (N, O, *out). Samples are handled `batch` at a time, so that the matrix
of columns stays in cache. Two layouts of that matrix exist:

rows   column = one output position. Any stride and dilation; a strided copy whose runs are one
       output row long.
flat   column = one position of the padded input, read as if planes, rows and samples followed one
       another without end. Stride 1 only. Every kernel tap is then one shift of one long line: the
       copy moves whole lines, at the price of columns at the margins that mean nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import prod

import numpy as np

# Bytes of columns handled at a time. Larger chunks mean fewer, longer matrix products; smaller ones
# keep the columns near the cores.
CHUNK_BYTES = 1 << 21


@dataclass(frozen=True, slots=True)
class Plan:
    """See the module's text. Strides are in elements, of the padded buffer."""

    samples: int
    channels: int
    size: tuple[int, ...]
    kernel: tuple[int, ...]
    out: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int
    outputs: int
    full: tuple[int, ...]  # spatial shape of the padded input
    flat: bool
    batch: int  # samples per chunk
    direct: bool  # x itself serves as the padded buffer
    inner: tuple[slice, ...]  # where x lies in the padded buffer
    steps: tuple[int, ...]  # elements of the padded buffer from one position to the next, per dim
    reach: int  # flat: shift of the last tap

    @property
    def depth(self) -> int:
        """Rows of columns per group: input channels of a group times taps."""
        return self.channels // self.groups * prod(self.kernel)


def _steps(full: tuple[int, ...]) -> tuple[int, ...]:
    steps, step = [], 1
    for n in reversed(full):
        steps.append(step)
        step *= n
    return tuple(reversed(steps))


@lru_cache(maxsize=512)
def make_plan(
    x_shape: tuple[int, ...],
    weight_shape: tuple[int, ...],
    out: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
    groups: int,
    itemsize: int,
) -> Plan:
    """The plan for these shapes; `out` may be smaller than the full result."""
    size, kernel = tuple(x_shape[2:]), tuple(weight_shape[2:])
    settings = list(zip(size, kernel, out, stride, padding, dilation, strict=True))
    full = tuple(max((o - 1) * s + (k - 1) * d + 1, p + n) for n, k, o, s, p, d in settings)
    plane = prod(full)
    flat = all(s == 1 for s in stride) and plane <= 2 * prod(out)
    columns = plane if flat else prod(out)
    bytes_each = x_shape[1] * prod(kernel) * columns * itemsize
    batch = max(1, min(x_shape[0], CHUNK_BYTES // max(1, bytes_each)))
    if batch < x_shape[0]:
        # Chunks of equal size: no short last one.
        batch = -(-x_shape[0] // -(-x_shape[0] // batch))
    steps = _steps(full)
    return Plan(
        samples=x_shape[0],
        channels=x_shape[1],
        size=size,
        kernel=kernel,
        out=tuple(out),
        stride=stride,
        padding=padding,
        dilation=dilation,
        groups=groups,
        outputs=weight_shape[0],
        full=full,
        flat=flat,
        batch=batch,
        direct=full == size and (batch == 1 or not flat),
        inner=tuple(slice(p, p + n) for n, p in zip(size, padding, strict=True)),
        steps=steps,
        reach=sum((k - 1) * d * s for k, d, s in zip(kernel, dilation, steps, strict=True)),
    )


def tap_strides(plan: Plan) -> tuple[int, ...]:
    """Elements from one tap to the next, per kernel dim."""
    return tuple(d * s for d, s in zip(plan.dilation, plan.steps, strict=True))


def view(buffer: np.ndarray, shape, strides, offset: int = 0) -> np.ndarray:
    """A strided view of a C-contiguous buffer; strides and offset in elements.

    Much cheaper than as_strided.
    """
    item = buffer.itemsize
    return np.ndarray(shape, buffer.dtype, buffer, offset * item, [s * item for s in strides])
