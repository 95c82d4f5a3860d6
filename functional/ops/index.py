"""Indexing: Python's ``x[...]``, reading and writing, and gather, scatter and their kin."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import blame, dtypes, errors
from ..errors import type_name
from ..kernels.meta import has_numbers
from ..tape.foreign import is_foreign
from ..tape.op import TENSOR, public
from ..tape.wrappers import is_batched, lowered
from ..tensor import Tensor, wrap
from . import plain_index, views
from .advanced import index_op
from .cast import to_device, to_dtype

# --- reading --------------------------------------------------------------------------------------


def _is_advanced(key: Any) -> bool:
    return isinstance(key, (Tensor, list, np.ndarray, range, tuple, str))


def _index_tensor(key: Any, on: Tensor) -> Tensor:
    """An index as a tensor of integers or booleans, on the device of what it indexes."""
    if isinstance(key, Tensor):
        if key.dtype not in _INDEX_TYPES:
            if key.ndim or key.dtype.category != dtypes.INT:
                raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
            key = to_dtype(key, dtypes.int64)
        if key.dtype is dtypes.uint8:
            if key.ndim:
                blame.warn(_BYTE_MASK)
            key = to_dtype(key, dtypes.bool_)
        if is_batched(key) and key.dtype is dtypes.bool_:
            raise RuntimeError(errors.VMAP_MASK)
        if type(key._data) is not type(on._data) and is_foreign(on._data):
            return to_device(key, on.device)  # PyTorch takes indices from the CPU too
        if type(on._data) is np.ndarray and is_foreign(key._data):
            raise RuntimeError(
                "indices should be either on cpu or on the same device as the indexed tensor (cpu)"
            )
        return key
    if isinstance(key, str):
        raise TypeError("new(): invalid data type 'str'")
    if isinstance(key, np.ndarray):
        x = key
    else:
        with lowered(0):
            x = TENSOR.tensor(list(key))._data if len(key) else np.zeros(0, np.int64)
    if x.dtype == np.uint8:
        return _index_tensor(wrap(x), on)
    t = wrap(x if x.dtype.kind in "ib" else x.astype(np.int64))
    return to_device(t, on.device)


_BYTE_MASK = (
    "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead."
)
_NO_TUPLE = (
    "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in "
    "pytorch 2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as "
    "tensor index, x[torch.tensor(seq)], which will result either in an error or a different result"
)


def raw(t: Tensor) -> Any:
    """The array under a tensor's wrappers."""
    data = t._data
    while isinstance(data, Tensor):
        data = data._data
    return data


_INDEX_TYPES = (dtypes.int64, dtypes.int32, dtypes.uint8, dtypes.bool_)


def _whole(value: Any) -> Any:
    """A bound of a slice as an int or None."""
    if value is not None and not hasattr(value, "__index__"):
        raise TypeError("slice indices must be integers or None or have an __index__ method")
    return None if value is None else value.__index__()


def as_tuple(key: Any) -> tuple[Any, ...]:
    """A key as one index per dimension; a short sequence that holds sequences is one, too."""
    if isinstance(key, tuple):
        return tuple(map(_unwrapped, key)) if any(type(k) is np.ndarray for k in key) else key
    key = _unwrapped(key)
    if isinstance(key, (list, range)) and len(key) < 32 and any(_is_index(k) for k in key):
        blame.warn(_NO_TUPLE)
        return tuple(key)
    return (key,)


def _unwrapped(key: Any) -> Any:
    """The number in a zero-dimensional array."""
    return key.item() if type(key) is np.ndarray and not key.ndim else key


def _is_index(key: Any) -> bool:
    return (
        key is None or key is Ellipsis or isinstance(key, (Tensor, list, tuple, range, slice, str))
    )


def _consumed(key: Any) -> int:
    if key is None or key is Ellipsis or isinstance(key, bool):
        return 0
    if isinstance(key, Tensor) and key.dtype in (dtypes.bool_, dtypes.uint8):
        return key.ndim
    return 1


def split_key(self: Tensor, keys: tuple[Any, ...]) -> tuple[Tensor, list[Any]]:
    """Apply the basic part as views; what is left is an array, or None, per dimension."""
    used = sum(_consumed(k) for k in keys)
    if not self.ndim and used == 1:
        if isinstance(keys[-1], slice):
            raise IndexError("slice() cannot be applied to a 0-dim tensor.")
        if hasattr(keys[-1], "__index__") and not isinstance(keys[-1], Tensor):
            _picked(self, 0, 0)
    if used > self.ndim:
        raise IndexError(f"too many indices for tensor of dimension {self.ndim}")
    arrays: list[Any] = []
    x, dim = self, 0
    for place, key in enumerate(keys):
        if key is Ellipsis:
            skip = self.ndim - used
            arrays += [None] * skip
            dim += skip
        elif key is None:
            x = views.unsqueeze(x, dim)
            arrays.append(None)
            dim += 1
        elif isinstance(key, slice):
            x = _sliced(x, dim, key)
            arrays.append(None)
            dim += 1
        elif isinstance(key, (bool, np.bool_)) or _is_mask_number(key):
            x = views.unsqueeze(x, dim)
            arrays.append(_index_tensor([0] if key else [], self))
            dim += 1
        elif _is_advanced(key):
            index = _index_tensor(key, self)
            mask = index.dtype is dtypes.bool_
            if index.ndim == 0 and not mask and not is_batched(index):
                x = _picked(x, dim, int(index), place)
                continue
            arrays.append(index)
            arrays += [SKIP] * (index.ndim - 1 if mask and index.ndim else 0)
            dim += index.ndim if mask else 1
        else:
            x = _picked(x, dim, _integer(key), place)
    return x, arrays


def _is_mask_number(key: Any) -> bool:
    return isinstance(key, Tensor) and not key.ndim and key.dtype is dtypes.bool_


SKIP = object()  # a dimension that the mask before it covers too


def _integer(key: Any) -> int:
    if not hasattr(key, "__index__"):
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are "
            f"valid indices (got {type_name(key)})"
        )
    return key.__index__()


def _picked(x: Tensor, dim: int, index: int, place: int = 0) -> Tensor:
    """The slice at ``index``; errors tell the key's ``place`` in the subscript."""
    if not x.ndim:
        raise IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
            "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number"
        )
    n = x.shape[dim] if dim < x.ndim else 0
    if not -n <= index < n:
        raise IndexError(f"index {index} is out of bounds for dimension {place} with size {n}")
    return views.select_index(x, dim, index % n)


def _sliced(x: Tensor, dim: int, key: slice, whole: bool = False) -> Tensor:
    """A slice along ``dim``; ``x`` itself where nothing is left out, unless ``whole``."""
    step = 1 if key.step is None else _whole(key.step)
    if step == 0:
        raise ValueError("slice step cannot be zero")
    if step < 0:
        raise ValueError("step must be greater than zero")
    start, end, step = slice(_whole(key.start), _whole(key.stop), step).indices(x.shape[dim])
    if start == 0 and end == x.shape[dim] and step == 1 and not whole:
        return x
    return views.slice_dim(x, dim, start, max(start, end), step)


def checked(x: Tensor, arrays: list[Any]) -> tuple[list[Tensor], tuple[int | None, ...]]:
    """The index tensors and their pattern: masks fit their dimensions, integers are in range."""
    keys = [a for a in arrays if a is not SKIP]
    dim = order = 0
    for a in keys:
        wide = a.ndim if a is not None and a.dtype is dtypes.bool_ else 1
        if a is not None:
            _check_one(x, a, dim, order)
            order += wide
        dim += wide
    while keys and keys[-1] is None:
        keys.pop()
    indices = [a for a in keys if a is not None]
    _check_together(indices)
    count = iter(range(len(indices)))
    return indices, tuple(None if a is None else next(count) for a in keys)


def _check_one(x: Tensor, index: Tensor, dim: int, order: int) -> None:
    """Refuse an index that does not fit its dimension; ``order`` is its place among indices."""
    if index.dtype is dtypes.bool_:
        for k, n in enumerate(index.shape):
            if n != x.shape[dim + k]:
                raise IndexError(
                    f"The shape of the mask {list(index.shape)} at index {k} does not match the "
                    f"shape of the indexed tensor {list(x.shape)} at index {dim + k}"
                )
        return
    a, n = raw(index), x.shape[dim]
    if has_numbers(a) and a.size and (a.min() < -n or a.max() >= n):
        if not n:
            raise IndexError("index is out of bounds for dimension with size 0")
        bad = a[(a < -n) | (a >= n)].reshape(-1)[0]
        raise IndexError(f"index {bad} is out of bounds for dimension {order} with size {n}")


def _check_together(indices: list[Tensor]) -> None:
    if len(indices) < 2:
        return
    shapes = [(int(raw(a).sum()),) if a.dtype is dtypes.bool_ else tuple(a.shape) for a in indices]
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        listed = ", ".join(str(list(s)) for s in shapes)
        raise IndexError(
            "shape mismatch: indexing tensors could not be broadcast together with shapes " + listed
        ) from None


def getitem(self: Tensor, key: Any) -> Tensor:
    """``self[key]``: a view for ints, slices, None and Ellipsis, else a copy."""
    if type(key) is int and self.ndim:
        return _picked(self, 0, key)
    if type(key) is slice and self.ndim:
        return _sliced(self, 0, key, whole=True)
    found = plain_index.read(self, key)
    if found is not None:
        return found
    x, arrays = split_key(self, as_tuple(key))
    if all(a is None for a in arrays):
        return views.alias(x) if x is self else x
    indices, pattern = checked(x, arrays)
    return index_op(len(indices))(x, *indices, pattern)


def keys_of(self: Tensor, indices: Any) -> tuple[list[Tensor], tuple[int | None, ...]]:
    """Indices given one per dimension, None for a whole one."""
    if len(indices) > self.ndim:
        count = len(indices)
        raise IndexError(f"too many indices for tensor of dimension {self.ndim} (got {count})")
    arrays: list[Any] = []
    for i in indices:
        index = None if i is None else _index_tensor(i, self)
        arrays.append(index)
        if index is not None and index.dtype is dtypes.bool_:
            arrays += [SKIP] * (index.ndim - 1)
    return checked(self, arrays)


@public
def index(self: Tensor, indices: Any) -> Tensor:
    """``self`` at index tensors, one per dimension (None for a whole one)."""
    found, pattern = keys_of(self, indices)
    return index_op(len(found))(self, *found, pattern)
