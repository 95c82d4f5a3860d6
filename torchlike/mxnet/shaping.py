"""Functions that rearrange, join, take apart and select. Results have memory of their own,

except those of ``reshape``, through which one can write into the array it was made from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torchlike as torch

from .array import NDArray, call
from .graph import sharing


def coded_shape(old: Sequence[int], codes: Sequence[int]) -> list[int]:
    """The shape that ``nd.reshape``'s codes ask for.

    0 keeps a dimension, -1 is inferred, -2 keeps all that are left, -3 multiplies two, and -4
    splits one into the two that follow.
    """
    new: list[int] = []
    rest, asked = list(old), list(codes)
    while asked:
        code = asked.pop(0)
        if code in (0, -3, -4) and len(rest) < 1 + (code == -3):
            raise ValueError(f"shape {tuple(codes)} asks for more dimensions than {tuple(old)} has")
        if code == 0:
            new.append(rest.pop(0))
        elif code == -2:
            new, rest = new + rest, []
        elif code == -3:
            new.append(rest.pop(0) * rest.pop(0))
        elif code == -4:
            new += _halves(rest.pop(0), [asked.pop(0), asked.pop(0)])
        elif code < -4:
            raise ValueError(f"{code} is no code of reshape")
        else:
            new.append(code)
            rest = rest[1:]
    return new


def _halves(size: int, parts: list[int]) -> list[int]:
    known = math.prod(p for p in parts if p != -1)
    return [size // known if p == -1 else p for p in parts]


def nd_reshape(data: NDArray, *shape: Any, **named: Any) -> NDArray:
    """The elements in another shape, by ``nd``'s codes; shares the memory."""
    codes = named.get("shape", shape[0] if len(shape) == 1 else shape)
    codes = (codes,) if isinstance(codes, int) else codes
    return call(lambda x: sharing(x.reshape(coded_shape(x.shape, codes))), data)


def np_reshape(a: NDArray, *shape: Any, order: str = "C", **named: Any) -> NDArray:
    """The elements in another shape, one size of which may be -1; shares the memory."""
    if order != "C":
        raise ValueError(f"order must be 'C', not {order!r}")
    new = named.get("newshape", shape[0] if len(shape) == 1 else shape)
    return call(lambda x: sharing(x.reshape(new if isinstance(new, int) else tuple(new))), a)


def reshape_like(lhs: NDArray, rhs: NDArray) -> NDArray:
    """The elements of ``lhs`` in the shape of ``rhs``."""
    return call(lambda x: x.reshape(rhs.shape).clone(), lhs)


def transpose(data: NDArray, axes: Any = None) -> NDArray:
    """The dimensions in another order, or (None) in reverse."""
    return call(lambda x: x.permute(axes or tuple(reversed(range(x.ndim)))).clone(), data)


def swapaxes(data: NDArray, dim1: int = 0, dim2: int = 0) -> NDArray:
    """Two dimensions exchanged."""
    return call(lambda x: x.transpose(dim1, dim2).clone(), data)


def expand_dims(data: NDArray, axis: int) -> NDArray:
    """A new dimension of size 1 before ``axis``."""
    return call(lambda x: x.unsqueeze(axis).clone(), data)


def squeeze(data: NDArray, axis: Any = None) -> NDArray:
    """Without the dimensions of size 1, or the given ones of them."""
    return call(lambda x: (x.squeeze() if axis is None else x.squeeze(axis)).clone(), data)


def flatten(data: NDArray) -> NDArray:
    """All dimensions but the first made one: shape (N, -1)."""
    return call(lambda x: x.reshape(x.shape[0], -1).clone(), data)


def ravel(a: NDArray) -> NDArray:
    """All elements in one dimension."""
    return call(lambda x: x.reshape(-1).clone(), a)


def broadcast_to(data: NDArray, shape: Sequence[int]) -> NDArray:
    """The elements repeated up to a shape; 0 keeps a dimension."""

    def widen(x: Any) -> Any:
        kept = x.shape if len(shape) == x.ndim else shape
        return x.broadcast_to([s or k for s, k in zip(shape, kept)]).clone()

    return call(widen, data)


def broadcast_like(lhs: NDArray, rhs: NDArray) -> NDArray:
    """``lhs`` repeated up to the shape of ``rhs``."""
    return broadcast_to(lhs, rhs.shape)


def tile(data: NDArray, reps: Any) -> NDArray:
    """The whole array repeated along each dimension."""
    return call(lambda x: torch.tile(x, (reps,) if isinstance(reps, int) else tuple(reps)), data)


def repeat(data: NDArray, repeats: int, axis: int | None = None) -> NDArray:
    """Each element repeated along an axis, or (None) in the flattened array."""
    return call(lambda x: torch.repeat_interleave(x, repeats, axis), data)


def flip(data: NDArray, axis: Any = None) -> NDArray:
    """The elements in reverse along an axis, several, or (None) all."""

    def reverse(x: Any) -> Any:
        axes = range(x.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
        return torch.flip(x, list(axes))

    return call(reverse, data)


def _joined(join: Callable[..., Any], arrays: Any, axis: int) -> NDArray:
    if not arrays:
        raise ValueError("at least one array is wanted")
    return call(lambda *parts: join(list(parts), axis), *arrays)


def nd_concat(*data: NDArray, dim: int = 1) -> NDArray:
    """Arrays joined along an existing dimension."""
    return _joined(torch.cat, data, dim)


def nd_stack(*data: NDArray, axis: int = 0) -> NDArray:
    """Arrays of one shape joined along a new dimension."""
    return _joined(torch.stack, data, axis)


def np_concatenate(seq: Sequence[NDArray], axis: int | None = 0) -> NDArray:
    """Arrays joined along an existing dimension; flattened first for None."""
    return _joined(torch.cat, [ravel(a) for a in seq] if axis is None else list(seq), axis or 0)


def np_stack(arrays: Sequence[NDArray], axis: int = 0) -> NDArray:
    """Arrays of one shape joined along a new dimension."""
    return _joined(torch.stack, list(arrays), axis)


def _equal_parts(x: Any, parts: int, axis: int) -> list[Any]:
    size = x.shape[axis]
    if parts < 1 or size % parts:
        raise ValueError(f"a dimension of {size} does not split into {parts} equal parts")
    return [part.clone() for part in torch.split(x, size // parts, axis)]


def nd_split(data: NDArray, num_outputs: int, axis: int = 1, squeeze_axis: bool = False) -> Any:
    """Equal parts along an axis, without that axis if asked; a single part comes bare."""

    def cut(x: Any) -> list[Any]:
        parts = _equal_parts(x, num_outputs, axis)
        return [part.squeeze(axis) for part in parts] if squeeze_axis else parts

    found = call(cut, data)
    return found[0] if num_outputs == 1 else found


def np_split(ary: NDArray, indices_or_sections: Any, axis: int = 0) -> list[NDArray]:
    """Equal parts along an axis (a number of them), or parts cut at the given indices."""

    def cut(x: Any) -> list[Any]:
        if isinstance(indices_or_sections, int):
            return _equal_parts(x, indices_or_sections, axis)
        cuts = list(indices_or_sections)
        return [part.clone() for part in torch.tensor_split(x, cuts, axis)]

    return call(cut, ary)


def slice_axis(data: NDArray, axis: int, begin: int, end: int | None) -> NDArray:
    """The elements from ``begin`` to before ``end`` along one axis."""

    def cut(x: Any) -> Any:
        key = [slice(None)] * x.ndim
        key[axis] = slice(begin, end)
        return x[tuple(key)].clone()

    return call(cut, data)


def slice_(data: NDArray, begin: Any, end: Any, step: Any = ()) -> NDArray:
    """The elements from ``begin`` to before ``end`` along the first axes."""
    steps = tuple(step) or (None,) * len(begin)
    key = tuple(slice(*bounds) for bounds in zip(begin, end, steps))
    return call(lambda x: x[key].clone(), data)


def take(a: NDArray, indices: Any, axis: int | None = 0, mode: str = "clip") -> NDArray:
    """The elements (rows, ...) at the indices: shape of the indices in place of the axis.

    Indices out of range are brought to the ends (``clip``), wrapped around (``wrap``) or an
    IndexError (``raise``).
    """
    if mode not in ("clip", "wrap", "raise"):
        raise ValueError(f"mode must be 'clip', 'wrap' or 'raise', not {mode!r}")

    def pick_rows(x: Any, index: Any) -> Any:
        x, along = (x.reshape(-1), 0) if axis is None else (x, axis % x.ndim)
        size = x.shape[along]
        index = index.long()
        index = {
            "clip": lambda: index.clamp(0, size - 1),
            "wrap": lambda: index % size,
            "raise": lambda: index,
        }[mode]()
        return x[(slice(None),) * along + (index,)]

    return call(pick_rows, a, indices)


def pick(data: NDArray, index: NDArray, axis: int = -1, keepdims: bool = False) -> NDArray:
    """One element along an axis for each index, which is brought into range."""

    def choose(x: Any, i: Any) -> Any:
        i = i.long().clamp(0, x.shape[axis] - 1)
        i = i if i.ndim == x.ndim else i.unsqueeze(axis)
        found = torch.gather(x, axis, i)
        return found if keepdims else found.squeeze(axis)

    return call(choose, data, index)


def _turned(x: Any, turn: bool) -> Any:
    return x.transpose(-1, -2) if turn and x.ndim > 1 else x


def nd_dot(
    lhs: NDArray, rhs: NDArray, transpose_a: bool = False, transpose_b: bool = False
) -> NDArray:
    """The product over the last axis of ``lhs`` and the first of ``rhs``."""

    def product(a: Any, b: Any) -> Any:
        a, b = _turned(a, transpose_a), _turned(b, transpose_b)
        if a.ndim == 1 and b.ndim == 1:
            return torch.dot(a, b)
        return torch.tensordot(a, b, 1)

    return call(product, lhs, rhs)


def batch_dot(
    lhs: NDArray, rhs: NDArray, transpose_a: bool = False, transpose_b: bool = False
) -> NDArray:
    """Matrix products of corresponding items of two batches."""
    return call(lambda a, b: torch.bmm(_turned(a, transpose_a), _turned(b, transpose_b)), lhs, rhs)


def np_dot(a: Any, b: Any, out: Any = None) -> NDArray:
    """NumPy's product: inner for vectors, over the last axis and the last but one otherwise."""
    if not isinstance(a, NDArray) or not isinstance(b, NDArray) or not a.ndim or not b.ndim:
        result = a * b
    else:
        along = (-1, 0 if b.ndim == 1 else b.ndim - 2)
        result = call(lambda x, y: torch.tensordot(x, y, ([x.ndim - 1], [along[1]])), a, b)
    return result if out is None else result.copyto(out)
