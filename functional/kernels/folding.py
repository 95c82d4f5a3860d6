"""Sliding blocks of images as columns and back, and rearranged channels. Any dims may lead."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from .formats import follows

__all__ = [
    "channel_shuffle_of",
    "col2im",
    "fold_counts",
    "im2col",
    "pixel_shuffle_of",
    "pixel_unshuffle_of",
]

Pair = tuple[int, int]


def fold_counts(size: Pair, kernel: Pair, dilation: Pair, padding: Pair, stride: Pair) -> Pair:
    """How many blocks there are along each dim."""
    a, b = (
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, d, p, s in zip(size, kernel, dilation, padding, stride, strict=True)
    )
    return a, b


def _padded(shape: tuple[int, ...], size: Pair, padding: Pair, dtype: np.dtype) -> np.ndarray:
    return np.zeros((*shape, size[0] + 2 * padding[0], size[1] + 2 * padding[1]), dtype)


def _inner(size: Pair, padding: Pair) -> tuple[Any, ...]:
    (h, w), (p, q) = size, padding
    return (..., slice(p, p + h), slice(q, q + w))


def _tap(tap: Pair, counts: Pair, dilation: Pair, stride: Pair) -> tuple[Any, ...]:
    """The element of every block at one place of the kernel."""
    return (
        ...,
        *(
            slice(t * d, t * d + (c - 1) * s + 1, s)
            for t, c, d, s in zip(tap, counts, dilation, stride, strict=True)
        ),
    )


def im2col(x: np.ndarray, kernel: Pair, dilation: Pair, padding: Pair, stride: Pair) -> np.ndarray:
    """(*, C, H, W) to (*, C · kernel, blocks)."""
    size = x.shape[-2:]
    counts = fold_counts(size, kernel, dilation, padding, stride)
    wide = x
    if any(padding):
        wide = _padded(x.shape[:-2], size, padding, x.dtype)
        wide[_inner(size, padding)] = x
    result = np.empty((*x.shape[:-2], *kernel, *counts), x.dtype)
    for tap in np.ndindex(*kernel):
        result[(..., *tap, slice(None), slice(None))] = wide[_tap(tap, counts, dilation, stride)]
    return result.reshape(*x.shape[:-3], x.shape[-3] * prod(kernel), prod(counts))


def col2im(
    x: np.ndarray, size: Pair, kernel: Pair, dilation: Pair, padding: Pair, stride: Pair
) -> np.ndarray:
    """(*, C · kernel, blocks) to (*, C, H, W): overlapping blocks add up."""
    counts = fold_counts(size, kernel, dilation, padding, stride)
    lead = (*x.shape[:-2], x.shape[-2] // prod(kernel))
    blocks = x.reshape(*lead, *kernel, *counts)  # half types round at every step, as PyTorch
    wide = _padded(lead, size, padding, blocks.dtype)
    for tap in np.ndindex(*kernel):
        wide[_tap(tap, counts, dilation, stride)] += blocks[(..., *tap, slice(None), slice(None))]
    return np.ascontiguousarray(wide[_inner(size, padding)])


@follows(0, ranks=(4,))
def pixel_shuffle_of(x: np.ndarray, factor: int) -> np.ndarray:
    """(*, C · r², H, W) to (*, C, H · r, W · r)."""
    *lead, c, h, w = x.shape
    r, out = factor, c // factor**2
    blocks = x.reshape(prod(lead), out, r, r, h, w).transpose(0, 1, 4, 2, 5, 3)
    return np.ascontiguousarray(blocks).reshape(*lead, out, h * r, w * r)


@follows(0, ranks=(4,))
def pixel_unshuffle_of(x: np.ndarray, factor: int) -> np.ndarray:
    """(*, C, H · r, W · r) to (*, C · r², H, W)."""
    *lead, c, h, w = x.shape
    r = factor
    blocks = x.reshape(prod(lead), c, h // r, r, w // r, r).transpose(0, 1, 3, 5, 2, 4)
    return np.ascontiguousarray(blocks).reshape(*lead, c * r * r, h // r, w // r)


@follows(0, meta=False)
def channel_shuffle_of(x: np.ndarray, groups: int) -> np.ndarray:
    """(N, C, *): the channels of all groups in turn, the first of each first."""
    n, c = x.shape[:2]
    blocks = x.reshape(n, groups, c // groups, *x.shape[2:]).swapaxes(1, 2)
    return np.ascontiguousarray(blocks).reshape(x.shape)
