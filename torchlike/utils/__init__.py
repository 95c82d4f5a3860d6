"""Helpers: data loading, hooks. Each part loads on first use."""

from ._swapping import swap_tensors

__all__ = ["swap_tensors"]
