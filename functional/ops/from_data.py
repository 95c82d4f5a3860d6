"""Tensors from numbers, sequences and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import devices, dtypes, pytree
from ..blame import warn_once
from ..modes import MODE
from ..tape import foreign
from ..tape.op import TENSOR, public
from ..tape.sparse import is_sparse
from ..tape.views import requires_grad as has_grad
from ..tape.wrappers import Wrapped, born, lowered
from ..tensor import Tensor, wrap
from . import cast
from .create import as_dtype, placed, recorded


def _array_from(data: Any, exact: dtypes.dtype | None, depth: int = 0) -> np.ndarray:
    """Nested sequences of numbers, tensors and arrays as one array of the inferred dtype.

    ``exact`` is a dtype that is still to come, for which numbers are kept in float64. ``depth``
    counts the sequences around, as a negative number where they are not the first elements.
    """
    if isinstance(data, np.ndarray):
        return data
    if isinstance(data, Tensor):
        return data._data
    if isinstance(data, np.generic):
        return np.asarray(data)
    if isinstance(data, (bool, int, float, complex)):
        return _numbers(data, _number_type(type(data), exact), exact)
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    if hasattr(data, "__array__") and not hasattr(data, "__len__"):
        return np.asarray(data)
    if not hasattr(data, "__len__"):
        raise RuntimeError(f"Could not infer dtype of {type(data).__name__}")
    return _array_from_sequence(data, exact, depth)


def _number_type(kind: type, exact: dtypes.dtype | None) -> np.dtype:
    if exact is not None and kind in (float, complex):
        return np.dtype(kind)
    return dtypes.of_number(kind()).array


def _array_from_sequence(data: Any, exact: dtypes.dtype | None, depth: int) -> np.ndarray:
    if isinstance(data, (dict, set)):
        raise RuntimeError(f"Could not infer dtype of {type(data).__name__}")
    if abs(depth) >= _DEEPEST:
        raise ValueError(f"too many dimensions '{type(data).__name__}'")
    try:
        items = list(data)
    except TypeError:
        named = type(data).__name__
        raise ValueError(f"could not determine the shape of object type '{named}'") from None
    if not items:
        return np.zeros(0, dtypes.get_default_dtype().array)
    if isinstance(items[0], str):
        raise ValueError("too many dimensions 'str'")
    kinds = {type(item) for item in items}
    if kinds <= {bool, int, float}:
        kind = float if float in kinds else int if int in kinds else bool
        return _numbers(items, _number_type(kind, exact), exact)
    if any(item is data for item in items[1:]):
        raise TypeError("new(): self-referential lists are incompatible")
    if np.ndarray in kinds:
        _check_arrays(items, depth >= 0)
    parts = [
        _element(item, exact)
        if isinstance(item, Tensor)
        else _array_from(item, exact, depth + 1 if depth >= 0 and not i else -abs(depth) - 1)
        for i, item in enumerate(items)
    ]
    first = parts[0].shape
    for part in parts:
        if part.shape != first:
            _ragged(first, part.shape, _is_int(exact or dtypes.FROM_ARRAY[parts[0].dtype]))
    found = dtypes.FROM_ARRAY[parts[0].dtype]
    for part in parts[1:]:
        found = dtypes.promote_types(found, dtypes.FROM_ARRAY[part.dtype])
    return np.stack([part.astype(found.array) for part in parts])


_DEEPEST = 128


def _check_arrays(items: list[Any], first: bool) -> None:
    """Arrays as elements of a list are slow in PyTorch; the first one tells sizes by its length."""
    if isinstance(items[0], np.ndarray):
        if first and not items[0].ndim:
            raise TypeError("len() of unsized object")
        warn_once(_ARRAYS)


def _element(t: Tensor, exact: dtypes.dtype | None) -> np.ndarray:
    """The number a tensor inside a list stands for."""
    is_int = t.dtype.category < dtypes.FLOAT
    to_int = exact is not None and exact.category == dtypes.INT
    if (t.numel() != 1 and is_int) or (to_int and not is_int):
        raise TypeError("only integer tensors of a single element can be converted to an index")
    if t.numel() != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    if has_grad(t):
        warn_once(_GRAD_LOST)
    if t.dtype.is_complex and exact is not None and not exact.is_complex:
        raise RuntimeError("value cannot be converted to type double without overflow")
    return t._data.reshape(())


_ARRAYS = (
    "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting "
    "the list to a single numpy.ndarray with numpy.array() before converting to a tensor."
)
_GRAD_LOST = (
    "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
    "Consider using tensor.detach() first."
)


def _numbers(items: Any, dtype: Any, exact: dtypes.dtype | None) -> np.ndarray:
    try:
        return np.asarray(items, dtype)
    except OverflowError:
        if exact is not None and exact.category >= dtypes.FLOAT:
            return np.asarray(items, np.float64)
        if exact is dtypes.uint64:
            return np.asarray(items, np.uint64)
        raise ValueError("Overflow when unpacking long long") from None


def _is_int(d: dtypes.dtype) -> bool:
    return d.category == dtypes.INT


def _ragged(first: Any, shape: Any, is_int: bool, dim: int = 0) -> None:
    if not first and shape:
        raise TypeError(
            "'list' object cannot be interpreted as an integer"
            if is_int
            else "must be real number, not list"
        )
    if not shape:
        raise TypeError("not a sequence")
    raise ValueError(f"expected sequence of length {first[0]} at dim {dim + 1} (got {shape[0]})")


def checked_array(data: np.ndarray) -> np.ndarray:
    if data.dtype not in dtypes.FROM_ARRAY:
        if data.dtype.newbyteorder("=") in dtypes.FROM_ARRAY:
            raise ValueError(
                "given numpy array has byte order different from the native byte order. "
                "Conversion between byte orders is currently not supported."
            )
        raise TypeError(
            f"can't convert np.ndarray of type numpy.{data.dtype.type.__name__}. The only "
            "supported types are: float64, float32, float16, complex64, complex128, int64, int32, "
            "int16, int8, uint64, uint32, uint16, uint8, and bool."
        )
    if any(s < 0 for s in data.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative "
            "strides are not currently supported. (You can probably work around this by making a "
            "copy of your array  with array.copy().) "
        )
    canonical = dtypes.FROM_ARRAY[data.dtype].array
    return data if data.dtype is canonical else data.view(canonical)


@public
def tensor(
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A new tensor with a copy of ``data``: numbers, nested sequences, arrays."""
    if isinstance(data, Tensor):
        import warnings

        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach()."
            "clone() or sourceTensor.detach().clone().requires_grad_(True), rather than "
            "torch.tensor(sourceTensor).",
            UserWarning,
            stacklevel=2,
        )
    dtype = as_dtype(dtype, "tensor")
    if hasattr(data, "_elements_for"):  # a storage
        return placed(data._elements_for(dtype).copy(), device, requires_grad)
    if is_sparse(data):
        return recorded(TENSOR.clone(cast.to(data.detach(), dtype or data.dtype)), requires_grad)
    if MODE.transforms:
        return born(_in_transform(data, dtype, device, requires_grad))
    array = checked_array(_array_from(data, dtype))
    if dtype is None or dtype.array == array.dtype:
        return placed(np.array(array, order="C"), device, requires_grad)
    if not isinstance(data, (np.ndarray, Tensor)):
        _check_fits(array, dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        found = np.array(array, dtype.array, order="C")
    return placed(found, device, requires_grad)


def _in_transform(data: Any, dtype: Any, device: Any, grad: bool) -> Tensor:
    """`tensor` made outside of the transforms, of the numbers that their tensors have there."""
    if isinstance(data, Wrapped):
        return recorded(TENSOR.clone(cast.to(data.detach(), dtype or data.dtype)), grad)
    plain = pytree.map_tree(lambda x: cast.item(x) if isinstance(x, Wrapped) else x, data)
    with lowered(0):
        return tensor(plain, dtype=dtype, device=device, requires_grad=grad)


def _check_fits(array: np.ndarray, dtype: dtypes.dtype) -> None:
    """Numbers must fit the dtype they are asked to take."""
    if array.dtype.kind == "c" and dtype.category in (dtypes.INT, dtypes.FLOAT):
        if dtype.category == dtypes.INT:
            raise TypeError("'complex' object cannot be interpreted as an integer")
        raise TypeError("must be real number, not complex")
    if dtype.category != dtypes.INT or not array.size:
        return
    limits = np.iinfo(dtype.array)
    low, high = int(limits.min), int(limits.max)
    if array.dtype.kind in "iu":
        fits = array.min() >= low - (high if low == 0 else 0) and array.max() <= high
    elif array.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            fits = bool(np.all((array >= low) & (array <= high)))
    else:
        fits = True
    if not fits:
        raise RuntimeError(f"value cannot be converted to type {dtype.array.name} without overflow")


@public
def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """``data`` as a tensor, sharing memory with an array or tensor where possible."""
    if isinstance(data, Tensor):
        return data.to(*(x for x in (device, dtype) if x is not None))
    if isinstance(data, np.ndarray) and (dtype is None or dtype.array == data.dtype):
        return placed(checked_array(data), device, False)
    if hasattr(data, "__cuda_array_interface__") and devices.count("cuda"):
        where = devices.device("cuda") if device is None else device
        return wrap(foreign.adopted(data)).to(where, dtype or dtypes.FROM_ARRAY[data.dtype])
    return tensor(data, dtype=dtype, device=device)


@public
def from_numpy(array: np.ndarray) -> Tensor:
    """A tensor over the memory of a NumPy array."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    if not array.flags.writeable:
        warn_once(
            "The given NumPy array is not writable, and PyTorch does not support non-writable "
            "tensors. This means writing to this tensor will result in undefined behavior. You "
            "may want to copy the array to protect its data or make it writable before converting "
            "it to a tensor. This type of warning will be suppressed for the rest of this program."
        )
    return wrap(checked_array(array))
