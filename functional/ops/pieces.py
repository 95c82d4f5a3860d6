"""Tensors cut along a dimension: several views of one memory."""

from __future__ import annotations

from typing import Any

from ..tape.op import public
from ..tensor import Tensor
from .arguments import one_dim
from .view_ops import split_sizes, split_with, unbind_dim


@public
def unbind(self: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """All slices along ``dim``, as a tuple of views."""
    if not self.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    at = one_dim(self, dim)
    return tuple(unbind_dim(self, at)) if self.shape[at] else ()


@public
def split(self: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Consecutive pieces along ``dim``, of one size or of the sizes given."""
    if not self.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    at = one_dim(self, dim)
    n = self.shape[at]
    if isinstance(split_size_or_sections, (tuple, list)):
        sizes = tuple(split_size_or_sections)
        if any(size < 0 for size in sizes):
            raise RuntimeError(
                "split_with_sizes expects split_sizes have only non-negative entries, but got "
                f"split_sizes={list(sizes)}"
            )
        if sum(sizes) != n:
            raise RuntimeError(
                f"split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size "
                f"at dimension {at}), but got split_sizes={list(sizes)}"
            )
        return tuple(split_with(self, sizes, at))
    size = split_size_or_sections
    if size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={size}")
    if size == 0 and n:
        raise RuntimeError(
            f"split_size can only be 0 if dimension size is 0, but got dimension size of {n}"
        )
    count = max(-(-n // size), 1) if size else 1
    sizes = (*(size,) * (count - 1), n - (count - 1) * size)
    return tuple(split_sizes(self, sizes, at))


@public
def chunk(self: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most ``chunks`` pieces of equal size (the last may be smaller)."""
    if not self.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    n = self.shape[one_dim(self, dim)]
    return split(self, max(-(-n // chunks), 1), dim) if n else split(self, [0] * chunks, dim)


@public
def split_with_sizes(self: Tensor, split_sizes: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Consecutive pieces along ``dim`` of the sizes given."""
    return split(self, list(split_sizes), dim)
