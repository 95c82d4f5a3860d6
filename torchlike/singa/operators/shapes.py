"""The same elements in another shape, or repeated."""

from __future__ import annotations

from math import prod
from typing import Any

import torchlike as torch

from ..operator import Recorded
from ..singa_wrap import Tensor as CTensor
from ..tensor import Tensor
from .making import Unsloped, array_of, ints, operation, position, public


@operation("Reshape")
def reshape(x: Any, shape: Any) -> Any:
    """x in another shape: 0 keeps the size of that axis, and one -1 takes what is left."""
    sizes = ints(shape)
    if any(n == 0 and i >= x.ndim for i, n in enumerate(sizes)):
        raise AssertionError(f"reshape: {sizes} keeps an axis that {tuple(x.shape)} has not")
    return x.reshape([x.shape[i] if n == 0 else n for i, n in enumerate(sizes)])


@operation("Flatten")
def flatten(x: Any, axis: int = 1) -> Any:
    """A matrix: the axes before ``axis`` become its rows; (1, n) with ``axis`` 0."""
    if not -x.ndim <= axis <= x.ndim:
        raise AssertionError(f"flatten: axis {axis} does not split {tuple(x.shape)}")
    rows = prod(x.shape[: axis if axis >= 0 else axis + x.ndim])
    return x.reshape(rows, x.numel() // rows if rows else -1)


@operation("Squeeze")
def squeeze(x: Any, axis: Any = ()) -> Any:
    """x without the axes in a list, each of size 1; without all such if it is empty."""
    axes = {position(i, x.ndim, "squeeze") for i in ints(axis)}
    for i in sorted(axes):
        if x.shape[i] != 1:
            raise AssertionError(f"squeeze: axis {i} has {x.shape[i]} elements, not one")
    gone = axes or {i for i, n in enumerate(x.shape) if n == 1}
    return x.reshape([n for i, n in enumerate(x.shape) if i not in gone] or [1])


@operation("Unsqueeze")
def unsqueeze(x: Any, axis: Any = -1) -> Any:
    """x with axes of size 1 at the places, in the result, of one number or a list."""
    axes = ints(axis)
    rank = x.ndim + len(axes)
    new = {position(i, rank, "unsqueeze") for i in axes}
    if len(new) < len(axes):
        raise AssertionError(f"unsqueeze: {axes} names an axis twice")
    sizes = iter(x.shape)
    return x.reshape([1 if i in new else next(sizes) for i in range(rank)])


@public
class Transpose(Recorded):
    """The axes in another order, ``perm``."""

    def __init__(self, perm: Any) -> None:
        super().__init__()
        self.perm = tuple(ints(perm))

    def compute(self, x: Any) -> Any:
        if sorted(i % x.ndim for i in self.perm) != list(range(x.ndim)):
            raise AssertionError(f"transpose: {self.perm} does not order {x.ndim} axes")
        return x.permute(*self.perm)


@public
def transpose(x: Tensor, shape: Any) -> Tensor:
    """The axes in the order that ``shape`` lists."""
    return Transpose(shape)(x)[0]


@operation("Expand")
def expand(x: Any, shape: Any) -> Any:
    """x broadcast with ``shape``; of the same rank, repeated as often as fits each axis."""
    sizes = ints(shape)
    if len(sizes) != x.ndim:
        return x * torch.ones(sizes, dtype=x.dtype, device=x.device)
    # a size of 1 stays what x has, as when shapes broadcast
    goals = [old if new == 1 else new for new, old in zip(sizes, x.shape, strict=True)]
    if any(new % old for new, old in zip(goals, x.shape, strict=True)):
        raise AssertionError(f"expand: {tuple(x.shape)} does not fill {tuple(sizes)}")
    return torch.tile(x, [new // old for new, old in zip(goals, x.shape, strict=True)])


@operation("Tile")
def tile(x: Any, repeats: Any) -> Any:
    """x laid side by side, as often as ``repeats`` says, of the last axes or of new ones before."""
    return torch.tile(x, ints(repeats))


@public
class Shape(Unsloped):
    """The sizes of the axes, int32. ``backward`` gives those of what it gets, as a list."""

    def compute(self, x: Any) -> Any:
        return torch.tensor(list(x.shape), dtype=torch.int32, device=x.device)

    def backward(self, dy: CTensor) -> Any:
        return list(dy.shape())


@public
def shape(x: Tensor) -> Tensor:
    """The sizes of the axes, int32."""
    return Shape()(x)[0]


@operation("ConstantOfShape", base=Unsloped)
def constant_of_shape(x: Any, value: float = 0.0) -> Any:
    """A float32 tensor of the shape that x lists, filled with ``value``."""
    sizes = ints(array_of(x.detach().cpu().numpy()))
    if any(n < 0 for n in sizes):
        raise AssertionError(f"constant_of_shape: a size is negative in {sizes}")
    number = float(array_of(value).reshape(-1)[0])
    return torch.full(sizes, number, dtype=torch.float32, device=x.device)


# --- grids ---

_TO_DEPTH = {"DCR": (0, 3, 5, 1, 2, 4), "CRD": (0, 1, 3, 5, 2, 4)}
_TO_SPACE = {"DCR": (0, 3, 4, 1, 5, 2), "CRD": (0, 1, 4, 2, 5, 3)}


def _grid(x: Any, mode: str, who: str) -> tuple[int, ...]:
    if x.ndim != 4:
        raise AssertionError(f"{who} takes images of four axes, not {tuple(x.shape)}")
    if mode not in _TO_DEPTH:
        raise AssertionError(f"{who}: the mode is DCR or CRD, not {mode!r}")
    return tuple(x.shape)


@operation("DepthToSpace")
def depth_to_space(x: Any, blocksize: int, mode: str = "DCR") -> Any:
    """Channels become blocks: (n, c b², h, w) to (n, c, h b, w b).

    The channels list blocks, then c (``DCR``), or c, then blocks (``CRD``).
    """
    n, c, h, w = _grid(x, mode, "depth_to_space")
    b = int(blocksize)
    if c % (b * b):
        raise AssertionError(f"depth_to_space: {c} channels are no multiple of {b * b}")
    depth = c // (b * b)
    parts = (n, b, b, depth, h, w) if mode == "DCR" else (n, depth, b, b, h, w)
    return x.reshape(parts).permute(*_TO_SPACE[mode]).reshape(n, depth, h * b, w * b)


@operation("SpaceToDepth")
def space_to_depth(x: Any, blocksize: int, mode: str = "DCR") -> Any:
    """Blocks become channels: the inverse of ``depth_to_space``."""
    n, c, h, w = _grid(x, mode, "space_to_depth")
    b = int(blocksize)
    if h % b or w % b:
        raise AssertionError(f"space_to_depth: blocks of {b} do not fill {h} x {w}")
    parts = x.reshape(n, c, h // b, b, w // b, b)
    return parts.permute(*_TO_DEPTH[mode]).reshape(n, c * b * b, h // b, w // b)
