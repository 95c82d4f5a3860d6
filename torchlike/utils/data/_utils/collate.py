"""Making a batch of samples."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from functional import dtypes
from functional.ops.from_data import as_tensor, tensor
from functional.ops.joining import stack
from functional.tensor import Tensor

ERROR = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found"


def _is_text(dtype: Any) -> bool:
    return dtype.kind in "SaUO"


def default_convert(data: Any) -> Any:
    """``data`` with the NumPy arrays in it as tensors."""
    if isinstance(data, (Tensor, str, bytes)):
        return data
    if isinstance(data, (np.ndarray, np.generic)):
        return data if _is_text(data.dtype) else as_tensor(data)
    if isinstance(data, Mapping):
        return _rebuilt(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(default_convert(value) for value in data))
    if isinstance(data, tuple):
        return [default_convert(value) for value in data]
    if isinstance(data, Sequence):
        return _rebuilt_sequence(data, [default_convert(value) for value in data])
    return data


def default_collate(batch: Any) -> Any:
    """Samples as one batch, with a new first dimension.

    Tensors, NumPy arrays and numbers become one tensor (Python floats float64), mappings and
    sequences are batched by their parts, strings stay a list. Raises TypeError for anything
    else, RuntimeError for sequences of different lengths.
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)


def collate(batch: Any, *, collate_fn_map: dict[Any, Callable[..., Any]] | None = None) -> Any:
    """``default_collate`` with other functions for some types."""
    first = batch[0]
    kind = type(first)
    if collate_fn_map is not None:
        if kind in collate_fn_map:
            return collate_fn_map[kind](batch, collate_fn_map=collate_fn_map)
        for known, function in collate_fn_map.items():
            if isinstance(first, known):
                return function(batch, collate_fn_map=collate_fn_map)

    def inner(samples: Any) -> Any:
        return collate(samples, collate_fn_map=collate_fn_map)

    if isinstance(first, Mapping):
        return _rebuilt(first, {key: inner([d[key] for d in batch]) for key in first})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return kind(*(inner(samples) for samples in zip(*batch, strict=True)))
    if isinstance(first, Sequence):
        return _collate_sequences(batch, inner)
    raise TypeError(f"{ERROR} {kind}")


def _collate_sequences(batch: Any, inner: Callable[[Any], Any]) -> Any:
    first = batch[0]
    if any(len(sample) != len(first) for sample in batch):
        raise RuntimeError("each element in list of batch should be of equal size")
    parts = [inner(samples) for samples in zip(*batch, strict=True)]
    return parts if isinstance(first, tuple) else _rebuilt_sequence(first, parts)


def _rebuilt(like: Mapping[Any, Any], items: dict[Any, Any]) -> Any:
    """A mapping of the same type; a plain dict where the type cannot be made from one."""
    try:
        if isinstance(like, MutableMapping):
            clone = copy.copy(like)
            clone.update(items)
            return clone
        return type(like)(items)  # type: ignore[call-arg]
    except TypeError:
        return items


def _rebuilt_sequence(like: Sequence[Any], items: list[Any]) -> Any:
    """A sequence of the same type; a list where the type cannot be made from one."""
    try:
        if isinstance(like, MutableSequence):
            clone = copy.copy(like)
            for i, item in enumerate(items):
                clone[i] = item
            return clone
        return type(like)(items)  # type: ignore[call-arg]
    except TypeError:
        return items


def collate_tensor_fn(batch: Any, *, collate_fn_map: Any = None) -> Tensor:
    """Tensors of one shape, stacked."""
    return stack(batch, 0)


def collate_numpy_array_fn(batch: Any, *, collate_fn_map: Any = None) -> Tensor:
    """NumPy arrays of one shape, stacked; TypeError for text and objects."""
    if _is_text(batch[0].dtype):
        raise TypeError(f"{ERROR} {batch[0].dtype}")
    return stack([as_tensor(array) for array in batch], 0)


def collate_numpy_scalar_fn(batch: Any, *, collate_fn_map: Any = None) -> Tensor:
    """NumPy numbers as one tensor of their dtype."""
    return as_tensor(np.asarray(batch))


def collate_float_fn(batch: Any, *, collate_fn_map: Any = None) -> Tensor:
    """Python floats as one float64 tensor."""
    return tensor(batch, dtype=dtypes.float64)


def collate_int_fn(batch: Any, *, collate_fn_map: Any = None) -> Tensor:
    """Python ints (or bools) as one tensor."""
    return tensor(batch)


def collate_str_fn(batch: Any, *, collate_fn_map: Any = None) -> Any:
    """Texts as they are."""
    return batch


default_collate_fn_map: dict[Any, Callable[..., Any]] = {
    Tensor: collate_tensor_fn,
    np.ndarray: collate_numpy_array_fn,
    (np.bool_, np.number, np.object_): collate_numpy_scalar_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}
