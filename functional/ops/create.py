"""Filled tensors, and what all functions that create tensors share."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import devices, dtypes
from ..kernels import layout as order
from ..kernels import meta
from ..kernels.coo import SPARSE
from ..modes import MODE
from ..tape import foreign
from ..tape.op import TENSOR, public
from ..tape.wrappers import Batched, Taped, Wrapped, born, lowered, make
from ..tensor import Tensor, wrap
from .arguments import ints, number_for, wrong_type
from .given import given
from .layouts import filled_sparse, is_strided, layout_of, like_sparse
from .memory_formats import in_format
from .too_large import too_large


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
    if any(level.cls is Taped for level in MODE.transforms):
        return t  # the gradient would be that transform's own
    with lowered(0):  # where programs themselves may not ask for gradients
        return t.requires_grad_()


def as_dtype(dtype: Any, function: str) -> dtypes.dtype | None:
    """A dtype argument: one of ours, a Python number type, or None."""
    if dtype is None or isinstance(dtype, dtypes.dtype):
        return dtype
    if dtype in _NUMBER_TYPES:
        return _NUMBER_TYPES[dtype]
    raise TypeError(
        f"{function}(): argument 'dtype' must be torch.dtype, not {type(dtype).__name__}"
    )


_NUMBER_TYPES = {
    float: dtypes.float64, int: dtypes.int64, bool: dtypes.bool_, complex: dtypes.complex128,
}  # fmt: skip


def check_sizes(shape: tuple[int, ...]) -> None:
    """PyTorch's error for a negative size."""
    for n in shape:
        if n < 0:
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {n}: {list(shape)}"
            )


def filled(value: Any, shape: tuple[int, ...], dtype: Any, device: Any, grad: bool) -> Tensor:
    """A tensor of one value."""
    check_sizes(shape)
    d = (dtype or dtypes.get_default_dtype()).array
    if value is not None:
        value = number_for(value, dtypes.FROM_ARRAY[d])
    where = devices.resolve(device)
    try:
        made = _filled_array(value, shape, d, where)
    except (ValueError, MemoryError):
        raise too_large(shape, d.itemsize) from None
    return recorded(wrap(made), grad)


def _filled_array(value: Any, shape: tuple[int, ...], d: Any, where: Any) -> Any:
    if where.type == "meta":
        return meta.empty(shape, d)
    if where.type == "cuda":
        return foreign.filled(value, shape, d, where)
    if value is None:
        return np.empty(shape, d)
    return np.zeros(shape, d) if value == 0 else np.full(shape, value, d)


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
        if not size:
            raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
        if memory_format is not None and name != "empty":
            raise TypeError(f"{name}() got an unexpected keyword argument 'memory_format'")
        shape = sizes(name, size)
        if name == "zeros" and any(n < 0 for n in shape):
            raise RuntimeError("zeros: Dimension size must be non-negative.")
        if layout is not None and not is_strided(layout, name):
            made = filled_sparse(value, shape, as_dtype(dtype, name), layout, name)
            return given(recorded(made, requires_grad), out, dtype, name)
        made = filled(value, shape, as_dtype(dtype, name), device, requires_grad)
        made = made if memory_format is None else in_format(made, memory_format)
        if MODE.transforms and out is None:
            return born(made)
        return given(made, out, dtype, name)

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
    fill_value = _number(fill_value, "full")
    if not isinstance(size, (tuple, list)):
        raise wrong_type("full.size.1", "tuple of ints", size)
    kind = as_dtype(dtype, "full")
    if layout is not None and not is_strided(layout, "full"):
        filled_sparse(fill_value, (), kind, layout, "full")
    target = kind or (dtypes.of_number(fill_value) if out is None else out.dtype)
    made = filled(fill_value, ints((size,)), target, device, requires_grad)
    return born(made) if MODE.transforms and out is None else given(made, out, kind, "full")


def _number(value: Any, function: str, place: str = "fill_value.2") -> Any:
    """A fill value, which may be a tensor of no dimensions, as a number."""
    if isinstance(value, Tensor) and not value.ndim:
        return value.item()
    if not isinstance(value, (int, float, complex, np.number, np.bool_)):
        raise wrong_type(f"{function}.{place}", "Number", value)
    return value


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
    dtype = as_dtype(dtype, "zeros_like")
    array = (dtype or self.dtype).array
    where = self.device if device is None else devices.resolve(device)
    data = self._data
    if type(data) in SPARSE or (layout is not None and not is_strided(layout, "zeros_like")):
        return recorded(like_sparse(value, self, dtype, layout), requires_grad)
    if isinstance(data, Tensor):  # a transform's wrapper: the value is the same for all
        return filled(value, tuple(self.shape), dtype or self.dtype, device, requires_grad)
    phantom = getattr(data, "phantom", data)
    if where.type == "meta":
        strides = order.kept_strides(phantom, array)
        t = wrap(meta.empty(data.shape, array, strides))
    elif where.type == "cuda" or foreign.is_foreign(data):
        strides = order.kept_strides(phantom, array)
        t = wrap(foreign.filled(value, data.shape, array, where, strides))
    elif value is not None and data.flags.c_contiguous:
        t = wrap(order.striding(np.full(data.shape, value, array), data))
    else:
        t = wrap(order.like(phantom, array))
        if value is not None:
            t._data[...] = value
    if memory_format is not None:
        t = in_format(t, memory_format)
    return recorded(t, requires_grad)


_LIKE = frozenset("dtype device requires_grad memory_format layout pin_memory".split())


def _check_like(name: str, input: Any, named: dict[str, Any]) -> None:
    if not isinstance(input, Tensor):
        raise wrong_type(f"{name}.input.1", "Tensor", input)
    _check_names(name, named, _LIKE)


def _check_names(name: str, named: dict[str, Any], known: frozenset[str]) -> None:
    for other in named.keys() - known:
        raise TypeError(f"{name}() got an unexpected keyword argument '{other}'")


def _at_level(make_like: Any, input: Tensor) -> Tensor:
    """What is like a wrapper is of its levels too: a batch, where that is one."""
    if not isinstance(input, Wrapped):
        return make_like(input)
    with lowered(input._level):
        inner = _at_level(make_like, input._data)
    return make(type(input), input._level, inner)


def _liker(name: str, value: Any) -> Any:
    def make(input: Tensor, **kwargs: Any) -> Tensor:
        _check_like(name, input, kwargs)
        if MODE.transforms:
            return born(_at_level(lambda x: like(value, x, **kwargs), input))
        return like(value, input, **kwargs)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"`{name[:-5]}` with the shape, dtype and device of ``input``."
    return public(make)


zeros_like, ones_like = _liker("zeros_like", 0), _liker("ones_like", 1)
empty_like = _liker("empty_like", None)


@public
def full_like(input: Tensor, fill_value: Any, **kwargs: Any) -> Tensor:
    """``full`` with the shape, dtype and device of ``input``."""
    _check_like("full_like", input, kwargs)
    value = _number(fill_value, "full_like")
    kind = as_dtype(kwargs.get("dtype"), "full_like") or input.dtype
    number = number_for(value, kind)
    if MODE.transforms:
        return born(_at_level(lambda x: like(number, x, **kwargs), input))
    return like(number, input, **kwargs)


def _new_at_level(new: Any, self: Any, size: tuple[int, ...], kw: dict[str, Any]) -> Tensor:
    """What a wrapper makes, with its batch dimension where it has one."""
    cls, level = type(self), self._level
    with lowered(level):
        lead = (self._data.shape[0],) if cls is Batched else ()
        return make(cls, level, new(self._data, (*lead, *size), **kw))


_NEW = frozenset("device layout pin_memory requires_grad size".split())


def new_method(name: str, value: Any) -> Any:
    """``Tensor.new_zeros`` and its kin: dtype and device default to the tensor's."""

    def make(self: Tensor, *size: Any, dtype: Any = None, device: Any = None, **kw: Any) -> Tensor:
        _check_names(name, kw, _NEW)
        if isinstance(self, Wrapped):
            kw |= {"dtype": dtype, "device": device}
            return born(_new_at_level(made, self, ints(size), kw))
        grad = kw.get("requires_grad", False)
        target = as_dtype(dtype, name) or self.dtype
        kind = kw.get("layout", layout_of(self) if type(self._data) in SPARSE else None)
        if kind is not None and not is_strided(kind, name):
            return recorded(filled_sparse(value, ints(size), target, kind, name), grad)
        where = self.device if device is None else device
        t = filled(value, ints(size), target, where, grad)
        return born(t) if MODE.transforms else t

    made = make
    make.__name__ = make.__qualname__ = name
    return make


def new_full(self: Tensor, size: Any, fill_value: Any, *, dtype: Any = None, **kw: Any) -> Tensor:
    """A tensor of ``fill_value`` with the dtype and device of ``self``."""
    _check_names("new_full", kw, _NEW)
    if not isinstance(size, (tuple, list)):
        raise wrong_type("new_full.size.1", "tuple of ints", size)
    if isinstance(self, Wrapped):
        value = _number(fill_value, "new_full")
        new = lambda x, shape, **kw: new_full(x, shape, value, **kw)
        return born(_new_at_level(new, self, ints((size,)), {**kw, "dtype": dtype}))
    target, where = as_dtype(dtype, "new_full") or self.dtype, kw.get("device", self.device)
    value = _number(fill_value, "new_full")
    t = filled(value, ints((size,)), target, where, kw.get("requires_grad", False))
    return born(t) if MODE.transforms else t


def new_tensor(self: Tensor, data: Any, *, dtype: Any = None, **kw: Any) -> Tensor:
    """``tensor(data)`` with the dtype and device of ``self``."""
    _check_names("new_tensor", kw, _NEW)
    where, grad = kw.get("device", self.device), kw.get("requires_grad", False)
    return TENSOR.tensor(data, dtype=dtype or self.dtype, device=where, requires_grad=grad)
