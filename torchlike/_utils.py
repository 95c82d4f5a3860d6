"""How checkpoints say that a tensor is made: PyTorch's names for it, which the files hold."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from numpy import ndarray

from functional import dtypes
from functional.kernels.meta import empty
from functional.ops.layouts import COMPRESSED_LAYOUTS, SPARSE_COO
from functional.ops.sparse import sparse_coo_tensor
from functional.ops.sparse_compressed import sparse_compressed_tensor
from functional.tape.foreign import strided
from functional.tensor import Parameter, Shared, Tensor, is_inference, wrap

from .copying import placed, rebuild_parameter, restore_grad
from .storage import TypedStorage, UntypedStorage

_MOST = 1 << 62  # more bytes than any array may span


def _element_size(dtype: Any) -> int:
    """The bytes of an element."""
    if not isinstance(dtype, dtypes.dtype):
        raise RuntimeError(f"expected torch.dtype, but got {type(dtype)}")
    return dtype.itemsize


def _ints(values: Any) -> tuple[int, ...]:
    if not all(type(n) is int and n >= 0 for n in values):
        raise RuntimeError(f"a checkpoint holds sizes or strides that are no sizes: {values!r}")
    return tuple(values)


def _data(storage: UntypedStorage, dtype: Any, offset: Any, size: Any, stride: Any) -> Any:
    """The array of this geometry over a storage; RuntimeError where it reaches beyond."""
    size, stride, (offset,) = _ints(size), _ints(stride), _ints((offset,))
    item = dtype.itemsize
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    reach = offset + 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    need = 0 if 0 in size else reach * item
    if need > storage.nbytes() or math.prod(size) * item >= _MOST:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and "
            f"itemsize {item} requiring a storage size of {need} are out of bounds for storage of "
            f"size {storage.nbytes()}"
        )
    strides = tuple(s * item for s in stride)
    memory = storage._memory
    if isinstance(memory, int):
        return empty(size, dtype.array, strides)
    if not isinstance(memory, ndarray):
        whole = memory[: memory.size // item * item].view(dtype.array)
        return strided(whole, size, strides, offset * item)
    return placed(memory, dtype.array, size, strides, offset * item)


def _over(storage: UntypedStorage, dtype: Any, offset: Any, size: Any, stride: Any) -> Tensor:
    data = _data(storage, dtype, offset, size, stride)
    t = wrap(data)
    memory = storage._memory
    if not isinstance(memory, int) and (t._place is not None or data.nbytes != memory.size):
        item = dtype.itemsize
        t._place = Shared(memory[: memory.size // item * item].view(dtype.array), is_inference(t))
    return t


def _with_metadata(t: Tensor, metadata: Any) -> Tensor:
    """Conjugated or negated memory, which here is always resolved."""
    data = t._data
    for name, resolve in (("conj", np.conj), ("neg", np.negative)):
        if metadata and metadata.get(name) and isinstance(data, ndarray):
            data = resolve(data)
    return t if data is t._data else wrap(data)


def _rebuild_tensor(storage: Any, storage_offset: Any, size: Any, stride: Any) -> Tensor:
    """A tensor of this geometry (in elements) over a TypedStorage."""
    if not isinstance(storage, TypedStorage):
        raise TypeError(f"expected a storage, not {type(storage).__name__}")
    return _over(storage._untyped_storage, storage.dtype, storage_offset, size, stride)


def _rebuild_tensor_v2(
    storage: Any,
    storage_offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any,
    backward_hooks: Any,
    metadata: Any = None,
) -> Tensor:
    """``_rebuild_tensor``, a leaf where ``requires_grad`` says so."""
    t = _with_metadata(_rebuild_tensor(storage, storage_offset, size, stride), metadata)
    return restore_grad(t, requires_grad)


def _rebuild_tensor_v3(
    storage: Any,
    storage_offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any,
    backward_hooks: Any,
    dtype: Any,
    metadata: Any = None,
) -> Tensor:
    """The same for dtypes that have no storage class."""
    untyped = getattr(storage, "_untyped_storage", storage)
    t = _with_metadata(_over(untyped, dtype, storage_offset, size, stride), metadata)
    return restore_grad(t, requires_grad)


def _rebuild_meta_tensor_no_storage(
    dtype: Any, size: Any, stride: Any, requires_grad: Any
) -> Tensor:
    """A tensor without memory."""
    strides = tuple(s * dtype.itemsize for s in _ints(stride))
    return restore_grad(wrap(empty(_ints(size), dtype.array, strides)), requires_grad)


# Sparse tensors whose places are still to be read, where a file has its memory at the end.
_unread: ContextVar[list[Any] | None] = ContextVar("_unread", default=None)


@contextmanager
def checked_at_the_end() -> Iterator[None]:
    """Sparse tensors rebuilt inside the block get their elements, and are checked, as it ends."""
    waiting: list[Any] = []
    token = _unread.set(waiting)
    try:
        yield
    finally:
        _unread.reset(token)
    for t, layout, data in waiting:
        t._data = _sparse(layout, data, True)._data


def _rebuild_sparse_tensor(layout: Any, data: Any) -> Tensor:
    """A sparse tensor of these places and elements, which must fit together."""
    waiting = _unread.get()
    t = _sparse(layout, data, waiting is None)
    if waiting is not None:
        waiting.append((t, layout, data))
    return t


def _sparse(layout: Any, data: Any, check: bool) -> Tensor:
    if layout in COMPRESSED_LAYOUTS:
        starts, inner, values, size = data
        return sparse_compressed_tensor(
            starts, inner, values, _ints(size), layout=layout, check_invariants=check
        )
    if layout is not SPARSE_COO:
        raise NotImplementedError(f"a checkpoint with a tensor of layout {layout}")
    indices, values, size, *rest = data
    return sparse_coo_tensor(
        indices, values, _ints(size), check_invariants=check,
        is_coalesced=bool(rest[0]) if rest else None,
    )  # fmt: skip


def _rebuild_parameter(data: Any, requires_grad: Any, backward_hooks: Any) -> Parameter:
    """A Parameter over the memory of ``data``."""
    return rebuild_parameter(data, requires_grad, {})


def _rebuild_parameter_with_state(
    data: Any, requires_grad: Any, backward_hooks: Any, state: Any
) -> Parameter:
    """A Parameter with attributes."""
    return rebuild_parameter(data, requires_grad, _attributes(state))


def _attributes(state: Any) -> dict[str, Any]:
    held, slots = state if isinstance(state, tuple) else (state, None)
    return {**(held or {}), **(slots or {})}
