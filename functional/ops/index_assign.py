"""Writing at indices: ``x[...] = value``, ``index_put``."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..errors import type_name
from ..kernels.index import index_shape
from ..tape.memory import check_internal, shares
from ..tape.op import public
from ..tape.slow import in_place
from ..tensor import Tensor, wrap
from . import plain_index, views
from .advanced import put_op
from .arguments import number_for
from .cast import copy_, to_device
from .index import SKIP, as_tuple, checked, keys_of, raw, split_key


def setitem(self: Tensor, key: Any, value: Any) -> None:
    """``self[key] = value``."""
    if plain_index.write(self, key, value):
        return
    value = _value_for(self, value)
    if isinstance(key, bool):
        if key:
            _write(views.unsqueeze(self, 0), value)
        return
    keys = as_tuple(key)
    x, arrays = split_key(self, keys)
    if all(a is None for a in arrays):
        _write(x, value)
        return
    filled = value.numel() == 1 and _is_one_mask(arrays)
    if filled:
        if any(isinstance(k, Tensor) and k.dtype is dtypes.uint8 and k.ndim for k in keys):
            raise RuntimeError(
                "masked_fill_ only supports boolean masks, but got mask with dtype unsigned char"
            )
        value = value.to(x.dtype)
        if value._place is not None and shares(x, value):
            value = value.clone()
    _put_in_place(x, *checked(x, arrays), _without_lead(value), False)
    if filled and x._place is not None:
        check_internal(x, "masked_fill_")


def delitem(self: Tensor, key: Any) -> None:
    """``del self[key]``, which there is not."""
    raise TypeError("Tensor does not support deleting items")


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


def _check_values(self: Tensor, indices: list[Tensor], pattern: Any, values: Tensor) -> None:
    phantoms = [np.broadcast_to(np.zeros((), np.int64), tuple(i.shape)) for i in indices]
    own = [raw(i) if i.dtype is dtypes.bool_ else p for i, p in zip(indices, phantoms, strict=True)]
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
    _check_put(self, values)


def _put_in_place(
    self: Tensor, indices: list[Tensor], pattern: Any, values: Tensor, accumulate: bool
) -> Tensor:
    _check_values(self, indices, pattern, values)
    op = put_op(len(indices)).op
    return in_place(op, (self, values, *indices, pattern, accumulate))


def _put_place(self: Tensor, indices: Any) -> Any:
    """The index tensors of ``index_put`` and their pattern; PyTorch's errors."""
    for at, i in enumerate(indices):
        if i is None:
            raise TypeError(f"expected Tensor as element {at} in argument 0, but got NoneType")
    if not len(indices):
        raise RuntimeError("index_put_(): there must be an index")
    return keys_of(self, indices)


@public
def index_put(self: Tensor, indices: Any, values: Any, accumulate: bool = False) -> Tensor:
    """A copy of ``self`` with ``values`` written (or added) at ``indices``."""
    found, pattern = _put_place(self, indices)
    _check_values(self, found, pattern, values)
    return put_op(len(found))(self, values, *found, pattern, accumulate)


def index_put_(self: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """Write (or add) ``values`` at ``indices``, in place."""
    found, pattern = _put_place(self, indices)
    return _put_in_place(self, found, pattern, values, accumulate)
