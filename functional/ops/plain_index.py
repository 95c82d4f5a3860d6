"""``x[key]`` and ``x[key] = value`` where NumPy means the same by them as PyTorch.

Each function returns None or False where it cannot tell; the general path then decides, and
raises what there is to raise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from ..dtypes import F32, F64
from ..modes import MODE, PLAIN
from ..tape.views import bump
from ..tensor import NO_EDGE, ODD, Tensor
from . import view_ops
from .advanced import index_op

_INT64, _INT32, _BOOL = np.dtype(np.int64), np.dtype(np.int32), np.dtype(np.bool_)
_BOUNDS = {int, type(None)}
_INDEX = (_INT64, _BOOL, _INT32)
_FLOATS = (F32, F64)
_LARGE = 1 << 24  # whole numbers that every dtype here holds, float32 exactly
_REFUSED = (IndexError, ValueError, TypeError, OverflowError)
_ONE = index_op(1)
_TWO = index_op(2)


def _array(key: Any) -> Any:
    """The array of an index tensor, None for what is none."""
    if type(key) not in PLAIN:
        return None
    a = key._data
    return a if type(a) is ndarray and a.dtype in _INDEX and a.ndim else None


def read(self: Any, key: Any) -> Tensor | None:
    """``self`` at integers, slices and None, or at one index tensor, or two in front."""
    if type(self) not in PLAIN or type(self._data) is not ndarray:
        return None
    try:
        if type(key) is not tuple:
            return None if _array(key) is None else _ONE(self, key, (0,))
        found = _viewed(self, key)
        if found is not None or len(key) != 2:
            return found
        a, b = _array(key[0]), _array(key[1])
        if a is None or b is None or a.dtype is _BOOL or b.dtype is _BOOL:
            return None
        return _TWO(self, *key, (0, 1))
    except IndexError:
        return None


def _viewed(self: Any, key: tuple[Any, ...]) -> Tensor | None:
    """Views one after the other, for a key without tensors."""
    x, dim = self, 0
    for k in key:
        if k is None:
            x = view_ops.unsqueeze_dim(x, dim)
            dim += 1
            continue
        if dim == x._data.ndim:
            return None
        n = x._data.shape[dim]
        if type(k) is int:
            if not -n <= k < n:
                return None
            x = view_ops.select_index(x, dim, k % n)
        elif type(k) is slice and _is_plain(k):
            start, end, step = k.indices(n)
            if start or end != n or step != 1:
                x = view_ops.slice_dim(x, dim, start, max(start, end), step)
            dim += 1
        else:
            return None
    return view_ops.alias(x) if x is self else x


def _is_plain(key: slice) -> bool:
    """Whether a slice has bounds that are integers, and a step forwards."""
    kinds = {type(key.start), type(key.stop), type(key.step)}
    return kinds <= _BOUNDS and (key.step is None or key.step > 0)


def _for_numpy(key: Any) -> Any:
    """A key for NumPy's array, None where it may mean something else there."""
    kind = type(key)
    if kind is int:
        return key
    if kind is slice:
        return key if _is_plain(key) else None
    if kind is not tuple:
        return _array(key)
    parts = tuple([... if k is ... else _for_numpy(k) for k in key])
    kinds = {type(k) for k in parts}
    # NumPy counts an integer among index arrays; PyTorch takes its slice first
    if type(None) in kinds or tuple in kinds or (ndarray in kinds and int in kinds):
        return None
    return parts


def write(self: Any, key: Any, value: Any) -> bool:
    """Write ``value`` where nothing of it is recorded; whether that was done."""
    if type(self) not in PLAIN or (self._place is not None and self._place is not ODD):
        return False
    x, kind = self._data, type(value)
    if type(x) is not ndarray or (MODE.grad and self._edge is not NO_EDGE):
        return False
    if kind is float or kind is int:
        if not -_LARGE < value < _LARGE or x.dtype not in (_FLOATS if kind is float else _ALL):
            return False
    elif kind in PLAIN and value._place is None:
        if MODE.grad and value._edge is not NO_EDGE:
            return False
        value = value._data
        if value.dtype is not x.dtype or value is x:
            return False
    else:
        return False
    at = _for_numpy(key)
    if at is None:
        return False
    try:
        x[at] = value
    except _REFUSED:
        return False
    bump(self)
    return True


_ALL = (F32, F64, _INT64)
