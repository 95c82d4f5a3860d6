"""Python's operators, indexing and basic attributes, attached to Tensor.

Rules use these, so they live in the functional core; the PyTorch method names are attached by
torchlike.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from . import autograd, dtypes, errors, history
from .kernels.formats import suggests_channels_last
from .kernels.shapes import _contiguous
from .ops import (
    arguments,
    cast,
    index,
    index_assign,
    matmul,
    pairs,
    pieces,
    pointwise,
    rounding,
    selection,
    views,
)
from .ops.memory_formats import has_format
from .tape.dispatch import binary_closure
from .tape.op import TENSOR, Op
from .tape.operands import not_a_tensor
from .tape.slow import in_place
from .tape.wrappers import Wrapped, is_batched
from .tensor import Shared, Tensor, address, base_of, storage_array


def _operator(closure: Any, name: str) -> Any:
    """The same operation as a Python operator: returns NotImplemented where it cannot help."""
    op: Op = closure.op
    call = op.call
    twin = binary_closure(op, name)
    op.call = call
    return twin


def _is_operand(value: Any) -> bool:
    """Whether an operator takes it: a number or a tensor. Arrays have operators of their own."""
    if isinstance(value, (int, float, complex, Tensor)):
        return True
    return hasattr(value, "dtype") and not isinstance(value, np.ndarray)


def _both_tensors(self: Any, other: Any) -> bool:
    """False also where a method was called by its name, on something else."""
    return isinstance(self, Tensor) and isinstance(other, Tensor)


def _reflected(function: Any, name: str) -> Any:
    strict = name in ("__rand__", "__ror__", "__rxor__")

    def reflected(self: Tensor, other: Any) -> Any:
        if strict and not isinstance(self, Tensor):
            raise not_a_tensor(name, self)
        if not _is_operand(self):
            return NotImplemented
        return function(other, self) if _is_operand(other) else NotImplemented

    return reflected


def _in_place(closure: Any) -> Any:
    twin = closure.in_place

    def assign(self: Tensor, other: Any) -> Any:
        if not isinstance(other, (int, float, complex, Tensor)) and not _is_operand(other):
            return NotImplemented
        return twin(self, other)

    return assign


def _rsub(self: Tensor, other: Any) -> Any:
    if isinstance(other, Tensor):
        return pointwise.sub(other, self) if isinstance(self, Tensor) else NotImplemented
    if not _is_operand(other):
        return NotImplemented
    return pointwise.rsub(self, other.item() if isinstance(other, np.number) else other)


def _rtruediv(self: Tensor, other: Any) -> Any:
    if not isinstance(other, (int, float, complex)):
        if not hasattr(other, "dtype"):
            return NotImplemented
        if not isinstance(self, Tensor):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute 'reciprocal'")
    return pointwise.reciprocal(self) * other


def _pow(self: Tensor, exponent: Any) -> Any:
    if not isinstance(exponent, (int, float, complex)) and not _both_tensors(self, exponent):
        return NotImplemented
    return pointwise.pow(self, exponent)


def _rpow(self: Tensor, base: Any) -> Any:
    if not isinstance(base, (int, float, complex)) and not (
        isinstance(base, Tensor) and _is_operand(self)
    ):
        return NotImplemented
    return pointwise.pow(base, self)


def _matmul(self: Tensor, other: Any) -> Any:
    return matmul.matmul(self, other) if isinstance(other, Tensor) else NotImplemented


def _rmatmul(self: Tensor, other: Any) -> Any:
    return matmul.matmul(other, self) if _both_tensors(self, other) else NotImplemented


_BINARY = {
    "add": pointwise.add,
    "sub": pointwise.sub,
    "mul": pointwise.mul,
    "truediv": pointwise.div,
    "floordiv": pointwise.floor_divide,
    "mod": pointwise.remainder,
    "and": selection.bitwise_and,
    "or": selection.bitwise_or,
    "xor": selection.bitwise_xor,
    "lshift": pairs.bitwise_left_shift,
    "rshift": pairs.bitwise_right_shift,
}
for _name, _closure in _BINARY.items():
    setattr(Tensor, f"__{_name}__", _operator(_closure, f"__{_name}__"))
    setattr(Tensor, f"__i{_name}__", _in_place(_closure))
for _name in ("add", "mul"):  # commutative, and a number first records as a number last
    setattr(Tensor, f"__r{_name}__", _operator(_BINARY[_name], f"__r{_name}__"))
for _name in ("floordiv", "mod", "and", "or", "xor", "lshift", "rshift"):
    setattr(Tensor, f"__r{_name}__", _reflected(_BINARY[_name], f"__r{_name}__"))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Tensor, f"__{_name}__", _operator(getattr(selection, _name), f"__{_name}__"))

T: Any = Tensor
T.__rsub__, T.__rtruediv__, T.__pow__, T.__rpow__ = _rsub, _rtruediv, _pow, _rpow
T.__matmul__, T.__rmatmul__ = _matmul, _rmatmul
T.__neg__, T.__abs__ = pointwise.neg, pointwise.abs
T.__pos__ = rounding.positive
T.__div__, T.__idiv__, T.__rdiv__ = T.__truediv__, T.__itruediv__, _rtruediv


def _invert(self: Tensor) -> Tensor:
    if self.dtype.category > dtypes.INT:
        raise TypeError(
            "~ (operator.invert) is only implemented on integer and Boolean-type tensors"
        )
    return selection.bitwise_not(self)


T.__invert__ = _invert
T.__getitem__, T.__setitem__ = index.getitem, index_assign.setitem
T.__delitem__ = index_assign.delitem
T.__hash__ = lambda self: id(self)


def _ipow(self: Tensor, exponent: Any) -> Any:
    if not _is_operand(exponent):
        return NotImplemented
    if not isinstance(self, Tensor):
        return NotImplemented
    closure = pointwise.pow_tensor if isinstance(exponent, Tensor) else pointwise.pow_scalar
    return in_place(closure.op, (self, exponent))


T.__ipow__ = _ipow

# --- numbers, truth, length -----------------------------------------------------------------------


def _bool(self: Tensor) -> bool:
    n = self.numel()
    if type(self) is not Tensor and is_batched(self):
        raise RuntimeError(errors.VMAP_BOOL)
    if n > 1:
        raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
    if n == 0:
        raise RuntimeError("Boolean value of Tensor with no values is ambiguous")
    return bool(cast.item(self))


def _only_element(self: Tensor) -> Any:
    if self.numel() != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return cast.item(self)


def _complex(self: Tensor) -> complex:
    return complex(_only_element(self))


def _index(self: Tensor) -> int:
    if self.numel() != 1 or self.dtype.category > dtypes.INT:
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(cast.item(self))


def _len(self: Tensor) -> int:
    if not self.ndim:
        raise TypeError("len() of a 0-d tensor")
    return self.shape[0]


def _iter(self: Tensor) -> Iterator[Tensor]:
    if not self.ndim:
        raise TypeError("iteration over a 0-d tensor")
    return iter(pieces.unbind(self, 0))


def _reversed(self: Tensor) -> Tensor:
    return TENSOR.flip(self, (0,)) if self.ndim else self


def _contains(self: Tensor, element: Any) -> bool:
    if isinstance(element, (Tensor, int, float, complex)):
        return bool(cast.item(TENSOR.any(self == element)))
    raise RuntimeError(
        f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}."
    )


T.__bool__, T.__index__, T.__len__, T.__iter__ = _bool, _index, _len, _iter
T.__contains__, T.__reversed__ = _contains, _reversed


def _number(convert: Any) -> Any:
    def number(self: Tensor) -> Any:
        value = _only_element(self)
        if isinstance(value, complex) and value.imag:
            kind = "double" if convert is float else "int64_t"
            raise RuntimeError(f"value cannot be converted to type {kind} without overflow")
        return convert(value.real)

    return number


T.__float__, T.__int__ = _number(float), _number(int)
T.__complex__ = _complex
T.__array__ = cast.array_protocol
T.__array_priority__ = 1000


def _array_wrap(self: Tensor, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
    return TENSOR.from_numpy(array.astype("uint8") if array.dtype == bool else array)


T.__array_wrap__ = _array_wrap

# --- shape and memory -----------------------------------------------------------------------------


def numel(self: Tensor) -> int:
    """The number of elements."""
    data = self._data
    return data.size if type(data) is np.ndarray else math.prod(self.shape)


def size(self: Tensor, dim: int | None = None) -> Any:
    """The shape, or the size of one dimension."""
    if dim is None:
        return self.shape
    at = arguments.one_dim(self, dim, where="size.dim.1")
    if not self.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return self.shape[at]


def stride(self: Tensor, dim: int | None = None) -> Any:
    """How many elements apart neighbours along each dimension (or one) lie in memory."""
    if dim is not None:
        return stride(self)[arguments.one_dim(self, dim, where="stride.dim.1")]
    data = self._data
    if isinstance(data, Tensor):  # a transform's wrapper; a batch comes first
        strides = stride(data)[data.ndim - self.ndim :]
    else:
        item = data.dtype.itemsize
        strides = tuple(s // item for s in data.strides)
        if data.flags.c_contiguous and not _tells(self, data):
            strides = _contiguous(data.shape, 1)
    return strides


def _tells(self: Tensor, data: Any) -> bool:
    """Whether strides mean something where NumPy may give any to a dimension of size 1 or 0."""
    if type(self._place) is Shared:
        return True
    base = base_of(self)
    if not data.size:  # NumPy gives memory without elements strides of 0
        return base is not None and base._data.size > 0
    return base is not None or suggests_channels_last(data)


def storage_offset(self: Tensor) -> int:
    """Where the first element lies in the memory the tensor shares."""
    storage = storage_array(self)
    if storage is self._data or not hasattr(self._data, "__array_interface__"):
        return 0
    return (address(self._data) - address(storage)) // self._data.itemsize


def is_contiguous(self: Tensor, memory_format: Any = None) -> bool:
    """Whether the memory is without gaps in C order, or that of a format."""
    data = self._data
    if not isinstance(data, Tensor):
        if memory_format is not None:
            return has_format(getattr(data, "phantom", data), memory_format)
        return bool(data.flags.c_contiguous)
    wanted = _contiguous(tuple(self.shape), 1)
    return not self.numel() or all(
        n == 1 or s == w for n, s, w in zip(self.shape, stride(self), wanted, strict=True)
    )


def element_size(self: Tensor) -> int:
    """Bytes per element."""
    return self.dtype.itemsize


def data_ptr(self: Tensor) -> int:
    """The address of the first element."""
    if isinstance(self, Wrapped):
        raise RuntimeError(errors.NO_STORAGE)
    return address(self._data)


T.numel, T.size, T.stride, T.storage_offset = numel, size, stride, storage_offset
T.is_contiguous, T.element_size, T.data_ptr = is_contiguous, element_size, data_ptr
T.nelement, T.dim = numel, lambda self: self.ndim
T.reshape, T.detach, T.clone, T.to = views.reshape, cast.detach, cast.clone, cast.to
T.item, T.tolist, T.numpy = cast.item, cast.tolist, cast.numpy
T.copy_, T.fill_, T.zero_ = cast.copy_, cast.fill_, cast.zero_
T.unbind = pieces.unbind

# --- autograd -------------------------------------------------------------------------------------


def backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add the gradients of this tensor to the ``grad`` of the leaves it depends on."""
    autograd.backward(self, gradient, retain_graph, create_graph, inputs)


T.backward = backward
backward.__qualname__ = "Tensor.backward"  # the name error messages show
T.requires_grad = property(history.requires_grad, history.set_requires_grad)
T.grad = property(history.get_grad, history.set_grad, history.del_grad)
T.data = property(history.get_data, history.set_data)
T.grad_fn, T.is_leaf = property(history.grad_fn), property(history.is_leaf)
T.output_nr, T._version = property(history.output_nr), property(history.version)
T.retains_grad = property(history.retains_grad)
T._base = property(base_of)
T._is_view = lambda self: base_of(self) is not None
T.requires_grad_, T.detach_ = history.requires_grad_, history.detach_
T.register_hook, T.retain_grad = history.register_hook, history.retain_grad
T.register_post_accumulate_grad_hook = history.register_post_accumulate_grad_hook
