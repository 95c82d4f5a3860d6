"""Joining, splitting, and choosing elements by their indices."""

from __future__ import annotations

from typing import Any

import numpy as np

import torchlike as torch

from ..operator import Recorded
from ..singa_wrap import Tensor as CTensor
from ..tensor import Tensor
from .making import Unsloped, array_of, ints, operation, position, public


@public
class Concat(Recorded):
    """Tensors joined along an axis."""

    def __init__(self, axis: int = 0) -> None:
        super().__init__()
        self.axis = axis

    def compute(self, *xs: Any) -> Any:
        if not xs:
            raise AssertionError("cat takes one tensor or more")
        return torch.cat(xs, position(self.axis, xs[0].ndim, "cat"))


@public
def cat(xs: Any, axis: int = 0) -> Tensor:
    """The tensors of a list joined along an axis."""
    return Concat(axis)(*xs)[0]


@public
class Split(Recorded):
    """Parts along an axis: of the sizes ``parts``, else ``num_output`` of equal size."""

    def __init__(self, axis: int, parts: Any, num_output: int | None = None) -> None:
        super().__init__()
        if parts is None and num_output is None:
            raise AssertionError("split: give the sizes of the parts, or their number")
        self.axis, self.parts, self.num_output = axis, parts, num_output

    def compute(self, x: Any) -> Any:
        axis = position(self.axis, x.ndim, "split")
        length = x.shape[axis]
        if self.parts is None:
            sizes = [length // self.num_output] * self.num_output
        else:
            sizes = ints(self.parts)
        if sum(sizes) != length:
            raise AssertionError(f"split: parts {sizes} do not make {length} along axis {axis}")
        return tuple(torch.split(x, sizes, axis))


@public
def split(x: Tensor, axis: int, parts: Any, num_output: int | None = None) -> tuple[Tensor, ...]:
    """A tuple of parts along an axis: of the sizes ``parts``, else ``num_output`` of equal size."""
    return Split(axis, parts, num_output)(x)


@operation("Slice", name="slice")
def sliced(x: Any, starts: Any, ends: Any, axes: Any = None, steps: Any = None) -> Any:
    """x[start:end:step] along each of the axes, by default the first; steps may be negative."""
    first, last = ints(starts), ints(ends)
    over = list(range(len(first))) if axes is None else ints(axes)
    by = [1] * len(first) if steps is None else ints(steps)
    if not len(first) == len(last) == len(over) == len(by) or 0 in by:
        raise AssertionError(f"slice: {first}, {last}, {over}, {by} differ in number, or step by 0")
    for start, end, axis, step in zip(first, last, over, by, strict=True):
        axis = position(axis, x.ndim, "slice")
        chosen = range(*slice(start, end, step).indices(x.shape[axis]))
        x = torch.index_select(x, axis, _index(list(chosen), x))
    return x


def _index(numbers: Any, x: Any) -> Any:
    return torch.from_numpy(np.asarray(numbers, np.int64)).to(x.device)


def _counted(indices: Any, length: int, who: str) -> np.ndarray:
    """Indices counted from the front; AssertionError for one that is not there."""
    index = array_of(indices).astype(np.int64)
    if index.size and not (-length <= index.min() and index.max() < length):
        raise AssertionError(f"{who}: an index is beyond the {length} elements of the axis")
    return np.where(index < 0, index + length, index)


@operation("Gather")
def gather(x: Any, axis: int, indices: Any) -> Any:
    """The parts of x, along an axis, that nested lists of indices name; negative from the end."""
    axis = position(axis, x.ndim, "gather")
    index = _counted(indices, x.shape[axis], "gather")
    found = torch.index_select(x, axis, _index(index.reshape(-1), x))
    return found.reshape(*x.shape[:axis], *index.shape, *x.shape[axis + 1 :])


@operation("ScatterElements")
def scatter_elements(x: Any, indices: Any, updates: Any, axis: int = 0) -> Any:
    """x with the updates, one per index, at the indices along an axis. They get no gradient."""
    axis = position(axis, x.ndim, "scatter_elements")
    index = _counted(indices, x.shape[axis], "scatter_elements")
    new = array_of(updates)
    if new.shape != index.shape or index.ndim != x.ndim:
        shapes = f"{index.shape} and {new.shape} do not fit {tuple(x.shape)}"
        raise AssertionError(f"scatter_elements: indices and updates of {shapes}")
    return x.scatter(axis, _index(index, x), torch.from_numpy(new).to(x.dtype).to(x.device))


@public
class Embedding(Recorded):
    """Rows of w (words, length) by indices x; x gets a gradient of zeros."""

    def compute(self, x: Any, w: Any) -> Any:
        if w.ndim != 2:
            raise AssertionError(f"embedding takes weights (words, length), not {tuple(w.shape)}")
        index = _counted(CTensor.of(x), len(w), "embedding")
        return torch.nn.functional.embedding(_index(index, x), w)

    def backward(self, *dys: Any) -> Any:
        _, dw = super().backward(*dys)
        return CTensor.of(torch.zeros_like(self._operands[0].detach())), dw


@public
def embedding(x: Tensor, w: Tensor) -> Tensor:
    """Rows of w (words, length) by indices x (batch, ...): (batch, ..., length)."""
    return Embedding()(x, w)[0]


@operation("NonZero", base=Unsloped)
def nonzero(x: Any) -> Any:
    """The indices of the elements that are not 0: (axes, number), int32."""
    found = np.array(np.nonzero(array_of(CTensor.of(x))), np.int32)
    return torch.from_numpy(found).to(x.device)


@public
class OneHot(Unsloped):
    """``values`` (off, on): on where the place along a new axis of ``depth`` is the index."""

    def __init__(self, axis: int, depth: Any, values: Any) -> None:
        super().__init__()
        self.axis, self.depth = axis, ints(depth)[0]
        self.values = [float(value) for value in array_of(values).reshape(-1)]

    def compute(self, indices: Any) -> Any:
        axis = position(self.axis, indices.ndim + 1, "onehot")
        index = _counted(CTensor.of(indices), self.depth, "onehot")
        places = np.arange(self.depth).reshape([-1] + [1] * (index.ndim - axis))
        off, on = self.values
        found = np.where(np.expand_dims(index, axis) == places, on, off).astype(np.float32)
        return torch.from_numpy(found).to(indices.device)


@public
def onehot(axis: int, indices: Tensor, depth: Any, values: Any) -> Tensor:
    """``values`` (off, on): on where the place along a new axis of ``depth`` is the index."""
    return OneHot(axis, depth, values)(indices)[0]
