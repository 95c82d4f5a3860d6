"""cat, stack, flip, repeat."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..errors import type_name
from ..kernels.joining import cat_shape, cat_strides, stack_shape, stack_strides
from ..kernels.layout import kept_strides
from ..modes import PLAIN
from ..tape.batching import expanded, shifted
from ..tape.declare import general
from ..tape.op import TENSOR, public
from ..tape.out import out_of
from ..tensor import Tensor
from .arguments import dims_of, ints, keyword, one_dim


def _cat_vjp(F: Any, g: Any, need: Any, shapes: Any, dim: int) -> Any:
    grads, at = [], 0
    for needed, shape in zip(need, shapes, strict=True):
        if shape == (0,):
            none = F.slice_(g, dim, 0, 0, 1)
            grads.append(F.zeros_like(F.reshape(none, (0,))) if needed else None)
            continue
        grads.append(F.slice_(g, dim, at, at + shape[dim], 1) if needed else None)
        at += shape[dim]
    return grads


def _cat_shape(arrays: Any, dim: int) -> Any:
    full = [x for x in arrays if x.ndim > 1] or arrays
    shape = cat_shape([x.shape for x in full], dim)
    phantoms = [getattr(x, "phantom", x) for x in full]
    return shape, arrays[0].dtype, cat_strides(phantoms, shape)


def _stack_shape(arrays: Any, dim: int) -> Any:
    return stack_shape(arrays, dim), arrays[0].dtype, stack_strides(arrays, dim)


def _joined(call: Any) -> Any:
    def rule(F: Any, flags: Any, values: Any, dim: int) -> Any:
        rank = max(v.ndim - flag for v, flag in zip(values, flags, strict=True))
        if rank > 1:  # empty vectors join anything
            kept = [v.ndim - flag == rank for v, flag in zip(values, flags, strict=True)]
            size = next(v.shape[0] for v, f in zip(values, flags, strict=True) if f)
            flags = [f for f, keep in zip(flags, kept, strict=True) if keep]
            values = [v for v, keep in zip(values, kept, strict=True) if keep]
            if not any(flags):  # only empty vectors had the batch
                z = call(F)(values, dim)
                return F.expand(z, (size, *z.shape))
        return call(F)(expanded(values, flags), dim + 1)

    return rule


_cat = general(
    "cat_of",
    joint=_cat_vjp,
    inputs=("*tensors",),
    statics=("dim",),
    kernel="cat",
    node="CatBackward0",
    shape=_cat_shape,
    vmap=_joined(lambda F: F.cat),
)
_stack = general(
    "stack_of",
    joint=lambda F, g, need, dim: [
        F.select(g, dim, i) if needed else None for i, needed in enumerate(need)
    ],
    inputs=("*tensors",),
    statics=("dim",),
    kernel="stack",
    node="StackBackward0",
    vmap=_joined(lambda F: F.stack),
    shape=_stack_shape,
)


def _promoted(tensors: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    found = dtypes.result_type((t.dtype, t.ndim) for t in tensors)
    return tuple(t if t.dtype is found else TENSOR.to_dtype(t, found) for t in tensors)


def _rank_if_alike(tensors: Any, dim: int | None) -> int:
    """The rank of plain tensors of one dtype, whose sizes differ along ``dim`` only; else 0."""
    first = tensors[0]
    if type(first) not in PLAIN:
        return 0
    x = first._data
    shape, dt, rank = x.shape, x.dtype, len(x.shape)
    at = None if dim is None else dim % rank if rank and -rank <= dim < rank else rank
    for t in tensors:
        if type(t) not in PLAIN or t._data.dtype is not dt:
            return 0
        y = t._data.shape
        if y == shape:
            continue
        if (
            at is None
            or len(y) != rank
            or (*y[:at], *y[at + 1 :]) != (*shape[:at], *shape[at + 1 :])
        ):
            return 0
    return 0 if at == rank or not all(shape) else rank


def _tensor_list(name: str, tensors: Any) -> tuple[Tensor, ...]:
    if isinstance(tensors, Tensor) or not isinstance(tensors, (list, tuple)):
        raise TypeError(
            f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not "
            f"{type(tensors).__name__}"
        )
    for i, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type_name(t)}")
    return tuple(tensors)


@public
def cat(tensors: Any, dim: int = 0, *, out: Any = None) -> Tensor:
    """Tensors one after the other along ``dim``; their other sizes are equal."""
    if out is not None:
        return out_of(cat, out, tensors, dim)
    if type(dim) is int and type(tensors) in (list, tuple) and tensors:
        rank = _rank_if_alike(tensors, dim)
        if rank:
            return _cat(tensors, dim % rank)
    items = _tensor_list("cat", tensors)
    if not items:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    for i, t in enumerate(items):
        if t.ndim == 0:
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    first = next((t for t in items if t.shape != (0,)), items[0])
    # vectors without elements may be joined along any dimension, as they always could
    at = 0 if first.shape == (0,) else one_dim(first, dim)
    for i, t in enumerate(items):
        if t.shape == (0,):
            continue
        if t.ndim != first.ndim:
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {first.ndim} and {t.ndim}"
            )
        for d, (n, m) in enumerate(zip(first.shape, t.shape, strict=True)):
            if d != at and n != m:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {at}. Expected size {n} but "
                    f"got size {m} for tensor number {i} in the list."
                )
    return _cat(_promoted(items), at)


concat = concatenate = cat


@public
def stack(tensors: Any, dim: int = 0, *, out: Any = None) -> Tensor:
    """Tensors of one shape along a new dimension."""
    if out is not None:
        return out_of(stack, out, tensors, dim)
    if type(dim) is int and type(tensors) in (list, tuple) and tensors:
        rank = _rank_if_alike(tensors, None)
        if rank and -rank <= dim + 1 <= rank + 1:
            return _stack(tensors, dim % (rank + 1))
    items = _tensor_list("stack", tensors)
    if not items:
        raise RuntimeError("stack expects a non-empty TensorList")
    for i, t in enumerate(items):
        if t.shape != items[0].shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(items[0].shape)} at "
                f"entry 0 and {list(t.shape)} at entry {i}"
            )
    return _stack(_promoted(items), one_dim(items[0], dim, extra=1))


_flip = general(
    "flip_dims",
    lambda F, g, dims: F.flip(g, dims),
    statics=("dims",),
    kernel="flip",
    node="FlipBackward0",
    jvp="linear",
    vmap=shifted(lambda F: F.flip_dims, 0),
    shape=lambda x, dims: (x.shape, x.dtype, kept_strides(x)),
)


@public
def flip(self: Tensor, *dims: Any, **named: Any) -> Tensor:
    """The order of elements reversed along ``dims`` (a copy)."""
    if named:
        dims = keyword(named, "dims", "flip")
    if not dims:
        raise TypeError('flip() missing 1 required positional arguments: "dims"')
    return _flip(self, dims_of(self, ints(dims)))


def _repeat_vjp(F: Any, g: Any, self_shape: Any, repeats: Any) -> Any:
    if 0 in repeats:
        return F.zeros_like(F.expand(F.sum(g, None, False), self_shape))
    lead = len(repeats) - len(self_shape)
    shape: list[int] = []
    axes: list[int] = []
    for i, r in enumerate(repeats):
        n = self_shape[i - lead] if i >= lead else 1
        axes.append(len(shape))
        shape += [r, n]
    return F.reshape(F.sum(F.reshape(g, tuple(shape)), tuple(axes), False), self_shape)


def _repeat_shape(x: Any, repeats: tuple[int, ...]) -> Any:
    own = (*(1,) * (len(repeats) - x.ndim), *x.shape)
    return tuple(r * n for r, n in zip(repeats, own, strict=True)), x.dtype


_repeat = general(
    "repeat_times",
    _repeat_vjp,
    statics=("repeats",),
    kernel="repeat",
    node="RepeatBackward0",
    jvp="linear",
    shape=_repeat_shape,
)


@public
def repeat(self: Tensor, *repeats: Any, **named: Any) -> Tensor:
    """Copies of ``self`` side by side, ``repeats`` times along each dimension."""
    if named:
        repeats = keyword(named, "repeats", "repeat")
    times = ints(repeats)
    if len(times) < self.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            "tensor"
        )
    lead = len(times) - self.ndim
    size = [r * n for r, n in zip(times, (*(1,) * lead, *self.shape), strict=True)]
    if any(n < 0 for n in size):
        bad = next(n for n in size if n < 0)
        raise RuntimeError(f"Trying to create tensor with negative dimension {bad}: {size}")
    return _repeat(self, times)
