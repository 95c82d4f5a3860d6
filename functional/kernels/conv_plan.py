"""The geometry of a convolution, worked out once per shape and setting.

A plan describes an ordinary (not transposed) convolution of x (N, C, *size) with a weight
(O, C / groups, *kernel) to (N, O, *out), over at least two spatial dims, done as matrix products of
the weight with columns: one row per input channel and kernel tap, one column per output position.
Copying x into columns costs as much as multiplying when there are few output channels. Two layouts:

whole  All taps are copied, and one product gives all positions of some samples.
tall   The taps along the last but one dim (the "rows" of an image) are not copied. The columns
       hold, for every row of the padded input in turn, all channels and the taps of the other dims;
       then what an output row needs, the channels and taps of as many consecutive input rows as
       the kernel is high, lies together already: a matrix that overlaps the next output row's.
       One product per output row, a kernel height's fraction of the copying.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import prod

import numpy as np

# Multiply-adds of a product up to which the BLAS keeps it on one thread; then threads of our own,
# each with its samples, share copying and multiplying alike. A larger product is cut into `pieces`
# by its left matrix's rows, not fewer than FEWEST_ROWS each.
SMALL = 1 << 19
FEWEST_ROWS = 16
# Columns of a product that is left to the BLAS's threads: fewer do not keep them busy.
WIDE = 512
# Bytes of columns made at a time; by each of our threads, or when the BLAS has the threads.
OWN_BYTES, SHARED_BYTES = 1 << 22, 1 << 24
# From this many outputs on, copying every tap costs less than many narrow products.
MANY_OUTPUTS = 128
# An element copied takes about as long as this many multiply-adds.
COPY = 10
# Multiply-adds below which fewer calls matter more than less copying, and those from which a second
# thread pays: the BLAS's own threads spin for a while after each product and compete with ours, so
# that at LeNet's sizes one thread is the faster (8.9 ms a step at batch 64, 9.7 ms with two).
FEW, WAKE = 1_000_000, 60_000_000


@dataclass(frozen=True, slots=True)
class Plan:
    """See the module's text."""

    samples: int
    channels: int
    outputs: int
    groups: int
    threads: int  # threads of our own that there are
    size: tuple[int, ...]
    kernel: tuple[int, ...]
    out: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    full: tuple[int, ...]  # spatial shape of the padded input
    tall: bool
    batch: int  # samples whose columns are made at a time
    parts: int  # threads of our own that share the work
    pieces: int  # of the outputs of a group, multiplied one after another

    @property
    def each(self) -> int:
        """Outputs of a group."""
        return self.outputs // self.groups

    @property
    def depth(self) -> int:
        """Input channels of a group."""
        return self.channels // self.groups


def share(
    threads: int, samples: int, work: int, rows: int, depth: int, columns: int, bytes_each: int
) -> tuple[int, int, int]:
    """(batch, parts, pieces): samples per chunk, threads of our own, pieces of a product.

    A product is (rows, depth) by (depth, columns) for one sample; `work` is what all of a sample's
    take, in multiply-adds, and `bytes_each` the memory.
    """
    pieces = _pieces(rows, SMALL // (depth * columns))
    if pieces:
        multiplies = rows // pieces * depth * columns
        parts = min(threads, samples) if samples * work > WAKE else 1
        batch = min(SMALL // multiplies, OWN_BYTES // bytes_each, -(-samples // parts))
    else:
        pieces, parts = 1, 1
        batch = min(-(-WIDE // columns), SHARED_BYTES // bytes_each, samples)
    batch = max(1, batch)
    own = -(-samples // parts)
    return -(-own // -(-own // batch)), parts, pieces  # chunks of equal size


def _pieces(rows: int, most: int) -> int:
    """The smallest divisor of rows that leaves at most `most` rows a piece; 0 if they get few."""
    if rows <= most:
        return 1
    for pieces in range(2, rows // FEWEST_ROWS + 1):
        if rows % pieces == 0 and rows // pieces <= most:
            return pieces
    return 0


def fits_pieces(rows: int, each: int) -> bool:
    """Whether a product of `rows` rows with `each` multiply-adds can be done on one thread."""
    return _pieces(rows, SMALL // each) > 0


@lru_cache(maxsize=512)
def make_plan(
    x_shape: tuple[int, ...],
    weight_shape: tuple[int, ...],
    out: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
    groups: int,
    threads: int,
) -> Plan:
    """The plan for these shapes; `out` may be smaller than the full result."""
    size, kernel = tuple(x_shape[2:]), tuple(weight_shape[2:])
    settings = zip(size, kernel, out, stride, padding, dilation, strict=True)
    full = tuple(max((o - 1) * s + (k - 1) * d + 1, p + n) for n, k, o, s, p, d in settings)
    each = weight_shape[0] // groups
    inner = prod(weight_shape[1:])
    row = prod(out) // out[-2]
    work = weight_shape[0] * inner * prod(out) + COPY * x_shape[1] * prod(kernel) * prod(out)
    tall = (
        kernel[-2] > stride[-2]
        and dilation[-2] == 1
        and x_shape[0] * work > FEW
        and (each < MANY_OUTPUTS or fits_pieces(each, inner * row))
    )
    columns = row if tall else prod(out)
    stored = x_shape[1] * prod(kernel) * columns * (full[-2] // kernel[-2] + 1 if tall else 1)
    batch, parts, pieces = share(threads, x_shape[0], work, each, inner, columns, stored * 4)
    return Plan(
        samples=x_shape[0],
        channels=x_shape[1],
        outputs=weight_shape[0],
        groups=groups,
        threads=threads,
        size=size,
        kernel=kernel,
        out=tuple(out),
        stride=stride,
        padding=padding,
        dilation=dilation,
        full=full,
        tall=tall,
        batch=batch,
        parts=parts,
        pieces=pieces,
    )


def pointwise(plan: Plan) -> bool:
    """One tap over all of x: no columns are needed, x is the matrix."""
    return prod(plan.kernel) == 1 and plan.out == plan.size == plan.full


def single(plan: Plan) -> bool:
    """One position, all of x: a matrix product over samples."""
    return plan.kernel == plan.size == plan.full and prod(plan.out) == 1


def steps(size: tuple[int, ...]) -> tuple[int, ...]:
    """Elements from one position to the next along each dim of a C-contiguous array."""
    return tuple(prod(size[dim + 1 :]) for dim in range(len(size)))


def view(buffer: np.ndarray, shape, strides, offset: int = 0) -> np.ndarray:
    """A strided view of a C-contiguous buffer; strides and offset count elements.

    Several times cheaper than as_strided.
    """
    item = buffer.itemsize
    return np.ndarray(shape, buffer.dtype, buffer, offset * item, [s * item for s in strides])
