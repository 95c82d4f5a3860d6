"""Indexing: Python's ``x[...]``, reading and writing, and gather, scatter and their kin."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..errors import type_name
from ..kernels.index import index_shape
from ..kernels.meta import has_numbers
from ..tape.foreign import is_foreign
from ..tape.levels import Batched
from ..tape.memory import check_internal, shares
from ..tape.op import TENSOR, public
from ..tape.slow import in_place
from ..tensor import Tensor, wrap
from . import plain_index, views
from .advanced import index_op, put_op
from .arguments import number_for
from .cast import copy_, to_device, to_dtype

# --- reading --------------------------------------------------------------------------------------


def _is_advanced(key: Any) -> bool:
    return isinstance(key, (Tensor, list, np.ndarray, range, tuple, str))


def _index_tensor(key: Any, on: Tensor) -> Tensor:
    """An index as a tensor of integers or booleans, on the device of what it indexes."""
    if isinstance(key, Tensor):
        if key.dtype not in _INDEX_TYPES:
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        key = to_dtype(key, dtypes.bool_) if key.dtype is dtypes.uint8 else key
        if isinstance(key, Batched) and key.dtype is dtypes.bool_:
            raise NotImplementedError("vmap: indexing with a batched mask")
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
        x = TENSOR.tensor(list(key))._data if len(key) else np.zeros(0, np.int64)
    t = wrap(x if x.dtype.kind in "ib" else x.astype(np.int64))
    return to_device(t, on.device)


def _raw(t: Tensor) -> Any:
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


def _as_tuple(key: Any) -> tuple[Any, ...]:
    """A key as one index per dimension; a short sequence that holds sequences is one, too."""
    if isinstance(key, tuple):
        return tuple(map(_unwrapped, key)) if any(type(k) is np.ndarray for k in key) else key
    key = _unwrapped(key)
    if isinstance(key, (list, range)) and len(key) < 32 and any(_is_index(k) for k in key):
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


def _split_key(self: Tensor, keys: tuple[Any, ...]) -> tuple[Tensor, list[Any]]:
    """Apply the basic part as views; what is left is an array, or None, per dimension."""
    used = sum(_consumed(k) for k in keys)
    if not self.ndim and used == 1 and hasattr(keys[-1], "__index__"):
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
            if index.ndim == 0 and not mask and not isinstance(index, Batched):
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


def _checked(x: Tensor, arrays: list[Any]) -> tuple[list[Tensor], tuple[int | None, ...]]:
    """The index tensors and their pattern: masks fit their dimensions, integers are in range."""
    keys = [a for a in arrays if a is not SKIP]
    dim = 0
    for a in keys:
        if a is not None:
            _check_one(x, a, dim)
        dim += a.ndim if a is not None and a.dtype is dtypes.bool_ else 1
    while keys and keys[-1] is None:
        keys.pop()
    indices = [a for a in keys if a is not None]
    _check_together(indices)
    count = iter(range(len(indices)))
    return indices, tuple(None if a is None else next(count) for a in keys)


def _check_one(x: Tensor, index: Tensor, dim: int) -> None:
    if index.dtype is dtypes.bool_:
        for k, n in enumerate(index.shape):
            if n != x.shape[dim + k]:
                raise IndexError(
                    f"The shape of the mask {list(index.shape)} at index {k} does not match the "
                    f"shape of the indexed tensor {list(x.shape)} at index {dim + k}"
                )
        return
    a, n = _raw(index), x.shape[dim]
    if has_numbers(a) and a.size and (a.min() < -n or a.max() >= n):
        bad = a[(a < -n) | (a >= n)].reshape(-1)[0]
        raise IndexError(f"index {bad} is out of bounds for dimension {dim} with size {n}")


def _check_together(indices: list[Tensor]) -> None:
    if len(indices) < 2:
        return
    shapes = [(int(_raw(a).sum()),) if a.dtype is dtypes.bool_ else tuple(a.shape) for a in indices]
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
    x, arrays = _split_key(self, _as_tuple(key))
    if all(a is None for a in arrays):
        return views.alias(x) if x is self else x
    indices, pattern = _checked(x, arrays)
    return index_op(len(indices))(x, *indices, pattern)


def _keys(self: Tensor, indices: Any) -> tuple[list[Tensor], tuple[int | None, ...]]:
    """Indices given one per dimension, None for a whole one."""
    arrays: list[Any] = []
    for i in indices:
        index = None if i is None else _index_tensor(i, self)
        arrays.append(index)
        if index is not None and index.dtype is dtypes.bool_:
            arrays += [SKIP] * (index.ndim - 1)
    return _checked(self, arrays)


@public
def index(self: Tensor, indices: Any) -> Tensor:
    """``self`` at index tensors, one per dimension (None for a whole one)."""
    found, pattern = _keys(self, indices)
    return index_op(len(found))(self, *found, pattern)


@public
def index_put(self: Tensor, indices: Any, values: Any, accumulate: bool = False) -> Tensor:
    """A copy of ``self`` with ``values`` written (or added) at ``indices``."""
    found, pattern = _keys(self, indices)
    _check_put(self, values)
    return put_op(len(found))(self, values, *found, pattern, accumulate)


# --- writing --------------------------------------------------------------------------------------


def setitem(self: Tensor, key: Any, value: Any) -> None:
    """``self[key] = value``."""
    if plain_index.write(self, key, value):
        return
    value = _value_for(self, value)
    if isinstance(key, bool):
        if key:
            _write(views.unsqueeze(self, 0), value)
        return
    x, arrays = _split_key(self, _as_tuple(key))
    if all(a is None for a in arrays):
        _write(x, value)
        return
    filled = value.numel() == 1 and _is_one_mask(arrays)
    if filled:
        if any(isinstance(k, Tensor) and k.dtype is dtypes.uint8 for k in _as_tuple(key)):
            raise RuntimeError(
                "masked_fill_ only supports boolean masks, but got mask with dtype unsigned char"
            )
        value = value.to(x.dtype)
        if value._place is not None and shares(x, value):
            value = value.clone()
    _check_put(x, value)
    _put_in_place(x, *_checked(x, arrays), _without_lead(value), False)
    if filled and x._place is not None:
        check_internal(x, "masked_fill_")


def _check_put(x: Tensor, value: Tensor) -> None:
    if value.dtype is not x.dtype:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{x.dtype.legacy} for the destination and {value.dtype.legacy} for the source."
        )


def _is_one_mask(arrays: list[Any]) -> bool:
    found = [a for a in arrays if a is not None and a is not SKIP]
    return len(found) == 1 and found[0].dtype is dtypes.bool_


def _value_for(self: Tensor, value: Any) -> Tensor:
    """What is assigned, as a tensor: numbers take the dtype of ``self``."""
    if isinstance(value, Tensor):
        return value
    if not isinstance(value, (int, float, complex, np.number, np.bool_)):
        kind = f"torch.{self.dtype.legacy}Tensor"
        raise TypeError(f"can't assign a {type_name(value)} to a {kind}")
    number = wrap(np.asarray(number_for(value, self.dtype)).astype(self.dtype.array))
    return number if self._place is None else to_device(number, self.device)


def _without_lead(value: Tensor) -> Tensor:
    """``value`` without leading dimensions of size 1."""
    shape = tuple(value.shape)
    lead = next((i for i, n in enumerate(shape) if n != 1), len(shape))
    return views.view_as_shape(value, shape[lead:]) if lead else value


def _write(target: Tensor, value: Tensor) -> None:
    if value.shape == target.shape:
        copy_(target, value)
    elif not value.ndim:
        target.fill_(value)
    else:
        value = _without_lead(value)
        copy_(target, views.expand(value, tuple(target.shape)))


def _put_in_place(
    self: Tensor, indices: list[Tensor], pattern: Any, values: Tensor, accumulate: bool
) -> Tensor:
    phantoms = [np.broadcast_to(np.zeros((), np.int64), tuple(i.shape)) for i in indices]
    own = [
        _raw(i) if i.dtype is dtypes.bool_ else p for i, p in zip(indices, phantoms, strict=True)
    ]
    found = index_shape(tuple(self.shape), own, pattern)
    try:
        fits = np.broadcast_shapes(found, tuple(values.shape)) == found
    except ValueError:
        fits = False
    if not fits:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to "
            f"indexing result of shape {list(found)}"
        )
    op = put_op(len(indices)).op
    return in_place(op, (self, values, *indices, pattern, accumulate))


def index_put_(self: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """Write (or add) ``values`` at ``indices``, in place."""
    found, pattern = _keys(self, indices)
    _check_put(self, values)
    return _put_in_place(self, found, pattern, values, accumulate)
