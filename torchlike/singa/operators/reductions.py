"""Sums and means over axes, and the cosine of rows."""

from __future__ import annotations

from typing import Any

import torchlike as torch

from .making import ints, operation, position


def _axes(x: Any, axes: Any, who: str) -> list[int]:
    wanted = range(x.ndim) if axes is None else ints(axes)
    return sorted({position(axis, x.ndim, who) for axis in wanted})


def _kept(y: Any) -> Any:
    """A tensor has an axis at least: (1, 1) where none is left."""
    return y.reshape(1, 1) if y.ndim == 0 else y


@operation("ReduceSum")
def reduce_sum(x: Any, axes: Any = None, keepdims: int = 1) -> Any:
    """The sum over a list of axes, all by default, which stay with size 1 if ``keepdims`` is 1."""
    over = _axes(x, axes, "reduce_sum")
    return _kept(x.sum(over, keepdim=bool(keepdims), dtype=x.dtype)) if over else x


@operation("ReduceMean")
def reduce_mean(x: Any, axes: Any = None, keepdims: int = 1) -> Any:
    """The mean over a list of axes, all by default, which stay with size 1 if ``keepdims`` is 1."""
    over = _axes(x, axes, "reduce_mean")
    x = x if x.is_floating_point() else x.to(torch.float32)
    return _kept(x.mean(over, keepdim=bool(keepdims))) if over else x


@operation("CosSim", 2)
def cossim(a: Any, b: Any) -> Any:
    """The cosines of the angles between the rows of two matrices (batch, length): (batch,)."""
    if a.ndim != 2 or a.shape != b.shape:
        shapes = f"{tuple(a.shape)} and {tuple(b.shape)}"
        raise AssertionError(f"cossim takes two matrices of one shape, not {shapes}")
    return torch.nn.functional.cosine_similarity(a, b, 1)
