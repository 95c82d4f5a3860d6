"""Copies: clone, dtype and device changes, detach, in-place fill and copy."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import devices, dtypes, errors
from ..kernels.coo import SPARSE
from ..kernels.layout import kept_strides
from ..kernels.meta import MetaArray, empty
from ..modes import MODE, PLAIN
from ..tape import foreign, overrides, wrappers
from ..tape.declare import general
from ..tape.op import public
from ..tape.slow import in_place, slow
from ..tape.views import bump
from ..tensor import NO_EDGE, Tensor, same_memory, wrap
from .arguments import number_for, wrong_type
from .memory_formats import clone_in_order, order_of, suggested_format, to_format

clone_dense = general(
    "clone_dense",
    lambda F, g: g,
    kernel="clone",
    node="CloneBackward0",
    vmap="lead",
    jvp="linear",
    shape=lambda x: (x.shape, x.dtype, kept_strides(x)),
)
clone_contiguous = general(
    "clone_contiguous",
    lambda F, g: g,
    kernel="contiguous",
    node="CloneBackward0",
    jvp="linear",
    vmap="lead",
    shape=lambda x: (x.shape, x.dtype),
)
_cast = general(
    "cast",
    lambda F, g: g,
    statics=("dtype",),
    kernel="to_dtype",
    node="ToCopyBackward0",
    jvp="linear",
    vmap="lead",
    shape=lambda x, d: (x.shape, d.array, kept_strides(x, d.array)),
)
# over self, so that the gradient goes to the source alone
_overwrite = general(
    "overwrite",
    lambda F, g: F.zeros_like(g),
    lambda F, g: g,
    inputs=("self", "source"),
    kernel="second",
    node="CopyBackwards",
    jvp="transpose",
    shape=lambda x, source: (np.broadcast_shapes(x.shape, source.shape), x.dtype),
)
_fill_scalar = general(
    "fill_scalar",
    lambda F, g: F.zeros_like(g),
    statics=("value",),
    kernel="fill_value",
    node="FillBackward2",
    shape=lambda x, value: (x.shape, x.dtype),
)
_fill_tensor = general(
    "fill_tensor",
    lambda F, g: F.zeros_like(g),
    lambda F, g: F.sum(g),
    inputs=("self", "value"),
    kernel="fill_value",
    node="FillBackward3",
    shape=lambda x, value: (x.shape, x.dtype),
)
_zero = general(
    "zero",
    lambda F, g: F.zeros_like(g),
    kernel="zeros_like",
    node="ZeroBackward0",
    shape=lambda x: (x.shape, x.dtype),
)
_fill_scalar.op.rewrites = _zero.op.rewrites = True
_fill_tensor.op.loose = ("value",)
_fill_tensor.op.mixes = _overwrite.op.mixes = True


_move = general(
    "move",
    lambda F, g, device, origin: F.move(g, origin, device),
    statics=("device", "origin"),
    node="ToCopyBackward0",
    jvp="linear",
    vmap="lead",
    shape=lambda x, device, origin: (x.shape, x.dtype, kept_strides(x)),
    hidden=True,
)


@public
def move(self: Tensor, device: devices.device, origin: devices.device) -> Tensor:
    """A copy on another device, recorded, so that gradients come back to ``origin``."""
    if device.type == "cuda":
        foreign.namespace()
    t = slow(_move.op, (self, device, origin))
    if t._edge is not NO_EDGE and type(t) is Tensor:
        foreign.CROSSINGS.add(t._edge[0])
    return t


_move.op.call = move


@public
def clone(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """A copy that keeps the order of the dimensions in memory, or has that of a format."""
    order = order_of(memory_format, self.ndim)
    if order is None:
        made = clone_dense(self)
    elif order == tuple(range(self.ndim)):
        made = clone_contiguous(self)
    else:
        made = clone_in_order(self, order)
    return wrappers.born(made) if MODE.transforms else made


@public
def contiguous(self: Tensor, memory_format: Any = None) -> Tensor:
    """``self`` if its memory is dense in C order, or that of a format; else a copy that is."""
    if memory_format is None:
        return self if self.is_contiguous() else clone_contiguous(self)
    if self.is_contiguous(memory_format=memory_format):
        return self
    if str(memory_format) == "torch.preserve_format":
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    return clone(self, memory_format=memory_format)


@public
def detach(self: Tensor) -> Tensor:
    """The same memory without history."""
    if type(self) not in overrides.EXACT:
        if hasattr(self, "_level"):
            return self.detach_level()
        handled, result = overrides.call(detach, (self,), (self,), {})
        if handled:
            return result
    return same_memory(self)


@public
def to_dtype(self: Tensor, dtype: dtypes.dtype) -> Tensor:
    """A copy in another dtype."""
    if dtype.category < dtypes.FLOAT and self._edge[0] is not None:
        return _cast(self.detach(), dtype)
    return _cast(self, dtype)


@public
def to_device(self: Tensor, device: devices.device) -> Tensor:
    """``self`` on another device."""
    device = devices.resolve(device)
    if device == self.device:
        return self
    if device.type == "meta":
        return wrap(empty(self._data.shape, self._data.dtype, kept_strides(self._data)))
    if type(self._data) is MetaArray:
        raise NotImplementedError(errors.META_COPY)
    return move(self, device, self.device)


@public
def conj(self: Tensor) -> Tensor:
    """The complex conjugate; ``self`` itself where it is real."""
    return _conj(self) if self.dtype.is_complex else self


_conj = general(
    "conj_copy",
    lambda F, g: F.conj(g),
    kernel="conj",
    node="ConjBackward0",
    vmap="lead",
    jvp=lambda F, tangents, self: F.conj(tangents[0]),
    shape=lambda x: (x.shape, x.dtype, x.strides),
)
_conj.op.holomorphic = False


# --- writing --------------------------------------------------------------------------------------


def copy_(self: Tensor, other: Any, non_blocking: bool = False) -> Tensor:
    """Write ``other`` (broadcast, converted) over ``self``."""
    if not isinstance(other, Tensor):
        if not isinstance(other, (int, float, complex, np.number, np.bool_)):
            raise wrong_type("copy_.other.1", "Tensor", other)
        other = wrap(np.asarray(other))
    if other.dtype is not self.dtype:
        other = to_dtype(other, self.dtype)
    if type(other._data) is MetaArray and type(self._data) is not MetaArray:
        raise NotImplementedError(errors.META_COPY)
    if type(self._data) is MetaArray:
        other = to_device(other, devices.meta)  # nothing to write to, but shapes must fit
    elif type(other._data) is not type(self._data) and not isinstance(other, wrappers.Wrapped):
        other = to_device(other, self.device)
    return in_place(_overwrite.op, (self, other))


def fill_(self: Tensor, value: Any) -> Tensor:
    """Set every element to ``value``, a number or a 0-dim tensor."""
    if isinstance(value, Tensor):
        if value.ndim:
            raise RuntimeError(
                "fill_ only supports 0-dimension value tensor but got tensor with "
                f"{value.ndim} dimensions."
            )
        return in_place(_fill_tensor.op, (self, value))
    if not isinstance(value, (int, float, complex, np.number, np.bool_)):
        raise TypeError(
            "fill_() received an invalid combination of arguments - got "
            f"({type(value).__name__}), but expected one of:"
        )
    value = number_for(value, self.dtype)
    if _unseen(self):
        self._data[...] = np.asarray(value).astype(self._data.dtype)
        bump(self)
        return self
    return in_place(_fill_scalar.op, (self, value))


def _unseen(self: Tensor) -> bool:
    """Whether nothing but its memory notices a write: no view, no history, no meta tensor."""
    return type(self) in PLAIN and self._place is None and (self._edge is NO_EDGE or not MODE.grad)


def zero_(self: Tensor) -> Tensor:
    """Set every element to 0."""
    if _unseen(self):
        self._data.fill(0)
        bump(self)
        return self
    return in_place(_zero.op, (self,))


def item(self: Tensor) -> Any:
    """The only element as a Python number."""
    self = _unwrapped(self, errors.VMAP_ITEM)
    if self.numel() != 1:
        raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
    if type(self._data) is MetaArray:
        raise RuntimeError("Tensor.item() cannot be called on meta tensors")
    x = self._data
    return float(x.reshape(-1)[0]) if x.dtype.kind == "V" else x.item()


def _unwrapped(self: Tensor, refusal: str) -> Tensor:
    """A tensor without the levels that only differentiate; batches are refused."""
    if wrappers.is_batched(self):
        raise RuntimeError(refusal)
    while isinstance(self, wrappers.Wrapped):
        self = self._data
    return self


def tolist(self: Tensor) -> Any:
    """Nested lists of Python numbers."""
    self = _unwrapped(self, errors.NO_STORAGE)
    if type(self._data) is MetaArray:
        raise NotImplementedError(errors.META_COPY)
    x = self._data
    return (x.astype(np.float32) if x.dtype.kind == "V" else x).tolist()


def to_arguments(self: Tensor, args: Any, kwargs: Any) -> tuple[Any, Any, bool]:
    """(dtype, device, copy) of a ``to(...)`` call."""
    dtype, device = kwargs.get("dtype"), kwargs.get("device")
    for name in kwargs:
        if name not in ("dtype", "device", "copy", "non_blocking", "memory_format", "other"):
            raise TypeError(f"to() got an unexpected keyword argument '{name}'")
    flags = [a for a in args if type(a) is bool]  # non_blocking, copy
    copy = kwargs.get("copy", flags[1] if len(flags) > 1 else False)
    args = (*args, kwargs["other"]) if "other" in kwargs else args
    if dtype is not None and not isinstance(dtype, dtypes.dtype):
        kind = type(dtype).__name__
        raise TypeError(
            f"to() received an invalid combination of arguments - got (dtype={kind}, ), but "
            "expected one of:"
        )
    for a in args:
        if isinstance(a, dtypes.dtype):
            dtype = a
        elif isinstance(a, Tensor):
            dtype, device = a.dtype, a.device
        elif isinstance(a, (str, devices.device)) or (type(a) is int and a is args[0]):
            device = a
        elif type(a) is not bool and a is not None:
            given = ", ".join(errors.type_name(v) for v in args)
            raise TypeError(
                f"to() received an invalid combination of arguments - got ({given}), but expected "
                "one of:"
            )
    return dtype, device, copy


def _suggests(self: Tensor, named: dict[str, Any]) -> bool:
    """Whether strides suggest the format asked for, be the memory dense or not: enough for `to`."""
    x = self._data
    strided = not isinstance(x, Tensor) and type(x) not in SPARSE
    return strided and suggested_format(x) == str(named["memory_format"])


def to(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """``self`` in another dtype or on another device; ``self`` itself if nothing changes."""
    dtype, device, copy = to_arguments(self, args, kwargs)
    result = self
    if device is not None:
        result = to_device(result, device)
    if dtype is not None and dtype is not self.dtype:
        result = to_dtype(result, dtype)
    if "memory_format" in kwargs and (result is not self or not _suggests(self, kwargs)):
        result = to_format(result, kwargs["memory_format"])
    return clone(self) if copy and result is self else result


def host(x: Any) -> Any:
    """An array of NumPy's: a copy, if it lies on a GPU."""
    return foreign.move(x, devices.cpu) if foreign.is_foreign(x) else x


def numpy(self: Tensor, *, force: bool = False) -> np.ndarray:
    """The array itself: memory is shared."""
    if type(self._data) in SPARSE:
        raise TypeError(
            f"can't convert {self._data.title} layout tensor to numpy. Use Tensor.to_dense() first."
        )
    if force:
        return host(self.detach()._data)
    if MODE.grad and self.requires_grad:
        raise RuntimeError(errors.NUMPY_GRAD)
    if isinstance(self, wrappers.Wrapped):
        raise RuntimeError(errors.NO_STORAGE)
    if type(self._data) is MetaArray:
        raise TypeError(
            "can't convert meta device type tensor to numpy. Use Tensor.cpu() to copy the tensor "
            "to host memory first."
        )
    if foreign.is_foreign(self._data):
        raise TypeError(errors.NUMPY_OF_GPU.format(self.device))
    if self.dtype is dtypes.bfloat16:
        raise TypeError("Got unsupported ScalarType BFloat16")
    return self._data


def array_protocol(self: Tensor, dtype: Any = None, copy: Any = None) -> np.ndarray:
    """``__array__``: NumPy's view of this tensor."""
    data = numpy(self)
    return data if dtype is None else data.astype(dtype, copy=False)
