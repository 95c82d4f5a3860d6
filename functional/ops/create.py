"""Creation: tensors from data, filled tensors, ranges."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import devices, dtypes
from ..kernels import layout as order
from ..kernels import meta
from ..tape import foreign
from ..tape.op import TENSOR, public
from ..tensor import Tensor, wrap
from .arguments import ints, number_for, wrong_type
from .memory_formats import in_format


def placed(data: np.ndarray, device: Any, requires_grad: bool) -> Tensor:
    where = devices.resolve(device)
    if where.type == "cuda":
        return recorded(wrap(foreign.place(data, where)), requires_grad)
    t = wrap(meta.empty(data.shape, data.dtype) if where.type == "meta" else data)
    return recorded(t, requires_grad)


def recorded(t: Tensor, wanted: bool) -> Tensor:
    if not wanted:
        return t
    if t.dtype.category < dtypes.FLOAT:
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    return t.requires_grad_()


def given(t: Tensor, out: Any, dtype: Any = None) -> Tensor:
    """A new tensor, or what it says written into ``out``, whose dtype was to be ``dtype``."""
    if out is None:
        return t
    if dtype is not None and dtype is not out.dtype:
        raise RuntimeError(
            f"dtype {dtype.legacy} does not match dtype of out parameter ({out.dtype.legacy})"
        )
    from ..tape.out import write_out

    return write_out(TENSOR.to_dtype(t, out.dtype), out)


# --- from data ------------------------------------------------------------------------------------


def _array_from(data: Any, exact: bool) -> np.ndarray:
    """Nested sequences of numbers, tensors and arrays as one array of the inferred dtype.

    ``exact`` keeps numbers in float64, for a dtype that is still to come.
    """
    if isinstance(data, np.ndarray):
        return data
    if isinstance(data, Tensor):
        return data._data
    if isinstance(data, np.generic):
        return np.asarray(data)
    if isinstance(data, (bool, int, float, complex)):
        return _numbers(data, _number_type(type(data), exact))
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    if hasattr(data, "__array__") and not hasattr(data, "__len__"):
        return np.asarray(data)
    if not hasattr(data, "__len__"):
        raise RuntimeError(f"Could not infer dtype of {type(data).__name__}")
    return _array_from_sequence(data, exact)


def _number_type(kind: type, exact: bool) -> np.dtype:
    if exact and kind in (float, complex):
        return np.dtype(kind)
    return dtypes.of_number(kind()).array


def _array_from_sequence(data: Any, exact: bool) -> np.ndarray:
    if isinstance(data, (dict, set)):
        raise RuntimeError(f"Could not infer dtype of {type(data).__name__}")
    items = list(data)
    if not items:
        return np.zeros(0, dtypes.get_default_dtype().array)
    if isinstance(items[0], (str, bytes)):
        raise ValueError(f"too many dimensions '{type(items[0]).__name__}'")
    kinds = {type(item) for item in items}
    if kinds <= {bool, int, float}:
        kind = float if float in kinds else int if int in kinds else bool
        return _numbers(items, _number_type(kind, exact))
    parts = [
        _element(item) if isinstance(item, Tensor) else _array_from(item, exact) for item in items
    ]
    first = parts[0].shape
    for i, part in enumerate(parts):
        if part.shape != first:
            _ragged(first, part.shape, i)
    found = dtypes.FROM_ARRAY[parts[0].dtype]
    for part in parts[1:]:
        found = dtypes.promote_types(found, dtypes.FROM_ARRAY[part.dtype])
    return np.stack([part.astype(found.array) for part in parts])


def _element(t: Tensor) -> np.ndarray:
    """The number a tensor inside a list stands for."""
    if t.numel() != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return t._data.reshape(())


def _numbers(items: Any, dtype: Any) -> np.ndarray:
    try:
        return np.asarray(items, dtype)
    except OverflowError:
        raise ValueError("Overflow when unpacking long long") from None


def _ragged(first: Any, shape: Any, i: int, dim: int = 0) -> None:
    if not first or not shape:
        raise TypeError(
            "'list' object cannot be interpreted as an integer" if shape else "not a sequence"
        )
    raise ValueError(f"expected sequence of length {first[0]} at dim {dim + 1} (got {shape[0]})")


def _checked_array(data: np.ndarray) -> np.ndarray:
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
    array = _checked_array(_array_from(data, dtype is not None))
    target = array.dtype if dtype is None else dtype.array
    if dtype is not None and not isinstance(data, (np.ndarray, Tensor)):
        _check_fits(array, dtype)
    return placed(np.array(array, target, order="C"), device, requires_grad)


def _check_fits(array: np.ndarray, dtype: dtypes.dtype) -> None:
    """Numbers must fit the dtype they are asked to take."""
    if array.dtype.kind == "c" and dtype.category < dtypes.COMPLEX:
        raise TypeError("must be real number, not complex")
    if dtype.category == dtypes.INT and array.dtype.kind in "iu" and array.size:
        limits = np.iinfo(dtype.array)
        if array.min() < limits.min - (limits.max if limits.min == 0 else 0) or (
            array.max() > limits.max
        ):
            raise RuntimeError(
                f"value cannot be converted to type {dtype.array.name} without overflow"
            )


def as_dtype(dtype: Any, function: str) -> dtypes.dtype | None:
    """A dtype argument: one of ours, a Python number type, or None."""
    if dtype is None or isinstance(dtype, dtypes.dtype):
        return dtype
    if dtype in _NUMBER_TYPES:
        return _NUMBER_TYPES[dtype]
    raise TypeError(
        f"{function}(): argument 'dtype' must be torch.dtype, not {type(dtype).__name__}"
    )


_NUMBER_TYPES = {float: dtypes.float64, int: dtypes.int64, bool: dtypes.bool_}


@public
def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """``data`` as a tensor, sharing memory with an array or tensor where possible."""
    if isinstance(data, Tensor):
        return data.to(*(x for x in (device, dtype) if x is not None))
    if isinstance(data, np.ndarray) and (dtype is None or dtype.array == data.dtype):
        return placed(_checked_array(data), device, False)
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
        import warnings

        warnings.warn(
            "The given NumPy array is not writable, and PyTorch does not support non-writable "
            "tensors. This means writing to this tensor will result in undefined behavior. You "
            "may want to copy the array to protect its data or make it writable before converting "
            "it to a tensor. This type of warning will be suppressed for the rest of this program.",
            UserWarning,
            stacklevel=2,
        )
    return wrap(_checked_array(array))


def check_sizes(shape: tuple[int, ...]) -> None:
    """PyTorch's error for a negative size."""
    for n in shape:
        if n < 0:
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {n}: {list(shape)}"
            )


# --- filled ---------------------------------------------------------------------------------------


def filled(value: Any, shape: tuple[int, ...], dtype: Any, device: Any, grad: bool) -> Tensor:
    """A tensor of one value."""
    check_sizes(shape)
    d = (dtype or dtypes.get_default_dtype()).array
    if value is not None:
        value = number_for(value, dtypes.FROM_ARRAY[d])
    where = devices.resolve(device)
    if where.type == "meta":
        t = wrap(meta.empty(shape, d))
    elif where.type == "cuda":
        t = wrap(foreign.filled(value, shape, d, where))
    elif value is None:
        t = wrap(np.empty(shape, d))
    else:
        t = wrap(np.zeros(shape, d) if value == 0 else np.full(shape, value, d))
    return recorded(t, grad)


def _filler(name: str, value: Any, doc: str) -> Any:
    def make(
        *size: Any,
        out: Any = None,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
        memory_format: Any = None,
        names: Any = None,
    ) -> Tensor:
        shape = sizes(name, size)
        if name == "zeros" and any(n < 0 for n in shape):
            raise RuntimeError("zeros: Dimension size must be non-negative.")
        made = filled(value, shape, as_dtype(dtype, name), device, requires_grad)
        return given(made if memory_format is None else in_format(made, memory_format), out, dtype)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = doc
    return public(make)


_INT = {int}


def sizes(name: str, size: tuple[Any, ...]) -> tuple[int, ...]:
    """Sizes given one by one or as one sequence; ``name`` is the function's."""
    if {*map(type, size)} == _INT:
        return size
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        size = tuple(size[0])
    elif len(size) == 1 and not _is_size(size[0]):
        raise wrong_type(f"{name}.size.1", "tuple of ints", size[0])
    for at, n in enumerate(size, 1):
        if not _is_size(n):
            kind = type(n).__name__
            raise TypeError(
                f"{name}(): argument 'size' must be tuple of ints, but found element of type "
                f"{kind} at pos {at}"
                if at == 1
                else f"{name}(): argument 'size' failed to unpack the object at pos {at} with "
                f'error "type must be tuple of ints,but got {kind}"'
            )
    return ints(size)


def _is_size(n: Any) -> bool:
    return hasattr(n, "__index__") and not isinstance(n, float)


zeros = _filler("zeros", 0, "A tensor of zeros.")
ones = _filler("ones", 1, "A tensor of ones.")
empty = _filler("empty", None, "A tensor whose elements are not set.")


@public
def full(
    size: Any,
    fill_value: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    out: Any = None,
    layout: Any = None,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of ``fill_value``, whose type decides the dtype if none is given."""
    if not isinstance(fill_value, (Tensor, int, float, complex, np.number, np.bool_)):
        raise wrong_type("full.fill_value.2", "Number", fill_value)
    dtype = as_dtype(dtype, "full")
    if isinstance(fill_value, Tensor):
        dtype, fill_value = dtype or fill_value.dtype, fill_value.item()
    dtype = dtype or dtypes.of_number(fill_value)
    return given(filled(fill_value, ints((size,)), dtype, device, requires_grad), out, dtype)


def like(
    value: Any,
    self: Tensor,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
    layout: Any = None,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of one value with the shape, dtype, device and memory order of ``self``."""
    array = (dtype or self.dtype).array
    where = self.device if device is None else devices.resolve(device)
    data = self._data
    if isinstance(data, Tensor):  # a transform's wrapper: the value is the same for all
        return filled(value, tuple(self.shape), dtype or self.dtype, device, requires_grad)
    phantom = getattr(data, "phantom", data)
    if where.type == "meta":
        strides = order.result_strides(data.shape, [phantom], array.itemsize)
        t = wrap(meta.empty(data.shape, array, strides))
    elif where.type == "cuda" or foreign.is_foreign(data):
        strides = order.result_strides(data.shape, [phantom], array.itemsize)
        t = wrap(foreign.filled(value, data.shape, array, where, strides))
    elif value is not None and data.flags.c_contiguous:
        t = wrap(np.full(data.shape, value, array))
    else:
        t = wrap(order.like(phantom, array))
        if value is not None:
            t._data[...] = value
    if memory_format is not None:
        t = in_format(t, memory_format)
    return recorded(t, requires_grad)


def _liker(name: str, value: Any) -> Any:
    def make(input: Tensor, **kwargs: Any) -> Tensor:
        if not isinstance(input, Tensor):
            raise wrong_type(f"{name}.input.1", "Tensor", input)
        return like(value, input, **kwargs)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"`{name[:-5]}` with the shape, dtype and device of ``input``."
    return public(make)


zeros_like, ones_like = _liker("zeros_like", 0), _liker("ones_like", 1)
empty_like = _liker("empty_like", None)


@public
def full_like(input: Tensor, fill_value: Any, **kwargs: Any) -> Tensor:
    """``full`` with the shape, dtype and device of ``input``."""
    return like(fill_value, input, **kwargs)


def new_method(name: str, value: Any) -> Any:
    """``Tensor.new_zeros`` and its kin: dtype and device default to the tensor's."""

    def make(self: Tensor, *size: Any, dtype: Any = None, device: Any = None, **kw: Any) -> Tensor:
        grad = kw.get("requires_grad", False)
        where = self.device if device is None else device
        return filled(value, ints(size), dtype or self.dtype, where, grad)

    make.__name__ = make.__qualname__ = name
    return make


def new_full(self: Tensor, size: Any, fill_value: Any, *, dtype: Any = None, **kw: Any) -> Tensor:
    """A tensor of ``fill_value`` with the dtype and device of ``self``."""
    return filled(
        fill_value, ints((size,)), dtype or self.dtype, kw.get("device", self.device), False
    )


def new_tensor(self: Tensor, data: Any, *, dtype: Any = None, **kw: Any) -> Tensor:
    """``tensor(data)`` with the dtype and device of ``self``."""
    return TENSOR.tensor(data, dtype=dtype or self.dtype, device=kw.get("device", self.device))
