"""Sampling at the places of a grid. Its gradient is a kernel for arrays; for tensors it is the same
sums in differentiable operations, under the same name.
"""

from __future__ import annotations

import itertools
from typing import Any

from .. import dtypes
from ..tape.declare import general
from ..tape.op import TENSOR, public
from ..tensor import Tensor

LINEAR, NEAREST, CUBIC = range(3)
ZEROS, BORDER, REFLECTION = range(3)


def _reflected(x: Any, low: int, high: int) -> Any:
    """x mirrored into [low / 2, high / 2]."""
    T = TENSOR
    if low == high:
        return x * 0
    bottom, span = low / 2, (high - low) / 2
    moved = T.abs(x - bottom)
    extra = T.fmod(moved, span)
    odd = T.remainder(T.floor(moved / span), 2) != 0
    return T.where(odd, span - extra, extra) + bottom


def _moved(x: Any, n: int, padding: int, align: bool) -> Any:
    """Places as the padding moves them."""
    if padding == REFLECTION:
        x = _reflected(x, *((0, 2 * (n - 1)) if align else (-1, 2 * n - 1)))
    return x if padding == ZEROS else TENSOR.clamp(x, 0, n - 1)


def _slope(x: Any, n: int, padding: int, align: bool) -> Any:
    """The derivative of ``_moved``: 1, -1 or 0 by place."""
    T = TENSOR
    if padding == ZEROS:
        return T.ones_like(x)
    sign: Any = T.ones_like(x)
    if padding == REFLECTION:
        low, high = (0, 2 * (n - 1)) if align else (-1, 2 * n - 1)
        span = max(high - low, 1) / 2
        moved = x - low / 2
        odd = T.remainder(T.floor(T.abs(moved) / span), 2) != 0
        sign = T.where(moved < 0, -sign, sign)
        sign = T.where(odd, -sign, sign)
        x = _reflected(x, low, high)
    return T.where(T.logical_and(x > 0, x < n - 1), sign, T.zeros_like(sign))


def _cubic(t: Any, offset: int, a: float = -0.75) -> Any:
    """(weight, derivative) of the neighbour ``offset`` elements from the second of four."""
    x, sign = (t - offset, 1) if offset <= 0 else (offset - t, -1)
    if offset in (0, 1):
        return ((a + 2) * x - (a + 3)) * x * x + 1, (3 * (a + 2) * x - 2 * (a + 3)) * x * sign
    return (((x - 5) * x + 8) * x - 4) * a, ((3 * x - 10) * x + 8) * (a * sign)


def _taps(coordinate: Any, n: int, mode: int, padding: int, align: bool) -> list[Any]:
    """(element, weight, derivative of the weight) along one dim, for every place."""
    scale = (n - 1) / 2 if align else n / 2
    x = (coordinate + 1) * scale if align else ((coordinate + 1) * n - 1) / 2
    if mode == CUBIC:
        low = TENSOR.floor(x).detach()
        found = []
        for offset in range(-1, 3):
            weight, slope = _cubic(x - low, offset)
            found.append((_moved(low + offset, n, padding, align), weight, slope * scale))
        return found
    slope = _slope(x.detach(), n, padding, align) * scale
    x = _moved(x, n, padding, align)
    if mode == NEAREST:
        ones = TENSOR.nan_to_num(x) * 0 + 1  # their gradients are zeros, not missing
        return [(TENSOR.round(x).detach(), ones, None)]
    low = TENSOR.floor(x).detach()
    share = x - low
    return [(low, 1 - share, -slope), (low + 1, share, slope)]


def _product(factors: list[Any]) -> Any:
    total = factors[0]
    for factor in factors[1:]:
        total = total * factor
    return total


@public
def grid_sample_grad(
    g: Tensor, x: Tensor, grid: Tensor, mode: int, padding: int, align: bool
) -> tuple[Tensor, Tensor]:
    """The gradients of the sampled tensor and of the grid."""
    T = TENSOR
    n, c, *spatial = x.shape
    dims = len(spatial)
    lines: Any = T.reshape(x, (n, c, -1))
    back: Any = T.reshape(g, (n, c, -1))
    taps = [
        _taps(T.select(grid, -1, dims - 1 - i), spatial[i], mode, padding, align)
        for i in range(dims)
    ]
    g_x: Any = T.zeros_like(lines)
    slopes: list[Any] = [T.zeros_like(T.select(grid, -1, 0)) for _ in range(dims)]
    for corner in itertools.product(*taps):
        index, inside = _element([place for place, _, _ in corner], spatial)
        shape = (n, 1, index.numel() // n)
        every = T.expand(T.reshape(index, shape), (n, c, shape[2]))
        weight = _product([inside, *[w for _, w, _ in corner]])
        g_x = T.scatter_add(g_x, 2, every, back * T.reshape(weight, shape))
        if mode != NEAREST:
            change = T.reshape(T.sum(back * T.gather(lines, 2, every), (1,)), tuple(inside.shape))
            for i in range(dims):
                slope = [d if i == j else w for j, (_, w, d) in enumerate(corner)]
                slopes[i] = slopes[i] + _product([inside, *slope]) * change
    return T.reshape(g_x, tuple(x.shape)), T.stack(slopes[::-1], -1)


def _element(places: list[Any], spatial: list[int]) -> tuple[Any, Any]:
    """(flat element, 1 inside and 0 outside) for every place."""
    T = TENSOR
    flat: Any = 0
    inside = T.ones_like(places[0])
    for place, size in zip(places, spatial, strict=True):
        within = T.logical_and(place >= 0, place <= size - 1)
        inside = inside * T.to_dtype(within, inside.dtype)
        flat = flat * size + T.to_dtype(T.clamp(place, 0, size - 1), dtypes.int64)
    return flat, inside


def _vjp(
    F: Any, g: Any, need: Any, input: Any, grid: Any, interpolation_mode: int, padding_mode: int,
    align_corners: bool,
) -> Any:  # fmt: skip
    rest = (interpolation_mode, padding_mode, align_corners)
    grads = F.grid_sample_grad(g, input, grid, *rest)
    return [part if wanted else None for part, wanted in zip(grads, need, strict=True)]


grid_samples = {
    n: general(
        f"grid_sampler_{n}d_of",
        joint=_vjp,
        inputs=("input", "grid"),
        statics=("interpolation_mode", "padding_mode", "align_corners"),
        kernel="grid_sample_of",
        node=f"GridSampler{n}DBackward0",
        shape=lambda x, grid, *rest: ((*x.shape[:2], *grid.shape[1:-1]), x.dtype),
    )
    for n in (2, 3)
}
affine_grid_of = general(
    "affine_grid_of",
    lambda F, g, size, align_corners: F.affine_grid_grad(g, size, align_corners),
    statics=("size", "align_corners"),
    node="AffineGridGeneratorBackward0",
    shape=lambda theta, size, align: ((theta.shape[0], *size[2:], len(size) - 2), theta.dtype),
)
affine_grid_grad = general(
    "affine_grid_grad",
    lambda F, g, size, align_corners: F.affine_grid_of(g, size, align_corners),
    statics=("size", "align_corners"),
    shape=lambda g, size, align: ((g.shape[0], len(size) - 2, len(size) - 1), g.dtype),
)
