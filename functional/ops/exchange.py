"""Memory shared with other libraries' arrays: DLPack, Python buffers, ``asarray``."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from .. import devices, dtypes
from ..blame import warn_once
from ..kernels.meta import MetaArray
from ..tape import foreign
from ..tape.op import TENSOR, public
from ..tape.sparse import is_sparse
from ..tape.views import requires_grad as has_grad
from ..tensor import Tensor, device_of, wrap
from .arguments import need_tensor
from .create import as_dtype, recorded
from .from_data import checked_array

_READ_ONLY = (
    "The given buffer is not writable, and PyTorch does not support non-writable tensors. This "
    "means you can write to the underlying (supposedly non-writable) buffer using the tensor. You "
    "may want to copy the buffer to protect its data or make it writable before converting it to "
    "a tensor. This type of warning will be suppressed for the rest of this program."
)
_NO_CAPSULE = (
    "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only "
    "once, so you might have already constructed a tensor from it once."
)
_GRAD_NOW = (
    "torch.asarray: unspecified requires_grad now defaults to obj.requires_grad instead of False. "
    "Pass requires_grad=False explicitly to get the old behavior and silence this warning."
)


class DLDeviceType(enum.IntEnum):
    """DLPack's numbers of kinds of devices."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17


# --- asarray --------------------------------------------------------------------------------------


@public
def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: Any = None, requires_grad: Any = None
) -> Tensor:
    """``obj`` as a tensor: with its memory where possible, or always (``copy=True``) a copy.

    ValueError where ``copy=False`` and only a copy would do. Buffers have ``dtype``, or the
    default one; their memory is shared.
    """
    dtype = as_dtype(dtype, "asarray")
    shared = _sharing(obj, dtype, copy)
    if shared is None:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        return TENSOR.tensor(obj, dtype=dtype, device=device, requires_grad=bool(requires_grad))
    where = shared.device if device is None else devices.resolve(device)
    target = dtype or shared.dtype
    if copy is False:
        _check_alias(shared, target, where)
    found = (
        shared if target is shared.dtype and where == shared.device else shared.to(where, target)
    )
    if copy and found is shared:
        found = TENSOR.clone(shared)
    return _with_grad(found, obj, requires_grad)


def _sharing(obj: Any, dtype: Any, copy: Any) -> Tensor | None:
    """A tensor over the memory of ``obj``; None where it has none to share."""
    if isinstance(obj, Tensor):
        return obj
    if isinstance(obj, np.ndarray):
        return TENSOR.from_numpy(obj)
    if isinstance(obj, np.generic):
        if copy is False:
            raise RuntimeError(
                "can't alias NumPy scalars. Either remove copy=False or transform it in a ndarray. "
            )
        return wrap(checked_array(np.asarray(obj)).copy())
    if hasattr(obj, "__dlpack__") or _capsules().is_capsule(obj):
        return from_dlpack(obj)
    if hasattr(obj, "_elements_for") or isinstance(obj, (list, tuple)) or not _has_buffer(obj):
        return None
    return frombuffer(obj, dtype=dtype or dtypes.get_default_dtype())


def _check_alias(shared: Tensor, dtype: Any, where: Any) -> None:
    if where != shared.device:
        raise ValueError(f"can't alias tensor from device '{shared.device}' to '{where}'.")
    if dtype is not shared.dtype:
        raise ValueError(
            f"can't alias tensor with dtype '{shared.dtype.legacy}' into dtype '{dtype.legacy}'."
        )


def _with_grad(found: Tensor, obj: Any, wanted: Any) -> Tensor:
    own = isinstance(obj, Tensor) and has_grad(obj)
    if wanted is None:
        wanted = own
        if own and obj.is_leaf:
            warn_once(_GRAD_NOW)
    if wanted:
        return found if has_grad(found) else recorded(found, True)
    if has_grad(found):
        return found.requires_grad_(False) if found.is_leaf else TENSOR.detach(found)
    return found


# --- buffers --------------------------------------------------------------------------------------


def _has_buffer(obj: Any) -> bool:
    try:
        memoryview(obj)
    except TypeError:
        return False
    except (BufferError, ValueError):
        return True
    return True


@public
def frombuffer(
    buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """A 1-D tensor over the memory of a Python buffer, from byte ``offset`` on.

    ValueError where that is no whole number of elements, or reaches beyond the buffer.
    """
    kind = as_dtype(dtype, "frombuffer")
    if kind is None:
        raise TypeError('frombuffer() missing 1 required positional arguments: "dtype"')
    if not _has_buffer(buffer):
        raise ValueError("object does not implement Python buffer protocol.")
    try:
        size = memoryview(buffer).nbytes
        _check_buffer(size, kind.itemsize, count, offset)
        array = np.frombuffer(buffer, kind.array, count, offset)
    except BufferError:
        raise RuntimeError("could not retrieve buffer from object") from None
    except ValueError as error:
        if "contiguous" in str(error):
            raise RuntimeError("could not retrieve buffer from object") from None
        raise
    if not array.flags.writeable:
        warn_once(_READ_ONLY)
    return recorded(wrap(checked_array(array)), requires_grad)


def _check_buffer(size: int, item: int, count: int, offset: int) -> None:
    if not size or not count:
        raise ValueError(f"both buffer length ({size}) and count ({count}) must not be 0")
    if not 0 <= offset < size:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length "
            f"({size} bytes) minus 1"
        )
    left = size - offset
    if count < 0 and left % item:
        raise ValueError(
            f"buffer length ({left} bytes) after offset ({offset} bytes) must be a multiple of "
            f"element size ({item})"
        )
    if count > 0 and count * item > left:
        raise ValueError(
            f"requested buffer length ({count} * {item} bytes) after offset ({offset} bytes) must "
            f"not be greater than actual buffer length ({size} bytes)"
        )


# --- DLPack ---------------------------------------------------------------------------------------


def _capsules() -> Any:
    from ..kernels import capsules

    return capsules


@public
def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: Any = None) -> Tensor:
    """A tensor over the memory of an object that speaks DLPack, or of a capsule.

    A capsule can be taken once; RuntimeError for what is no capsule.
    """
    if isinstance(ext_tensor, Tensor):
        _check_exported(ext_tensor)
        shared = TENSOR.detach(ext_tensor)
        if device is not None and devices.resolve(device) != shared.device:
            shared, copy = shared.to(device), False
        return TENSOR.clone(shared) if copy else shared
    if not hasattr(ext_tensor, "__dlpack__"):
        if device is not None or copy is not None:
            raise AssertionError(
                "device and copy kwargs not supported when ext_tensor is already a DLPack capsule."
            )
        return _adopted(ext_tensor)
    if hasattr(ext_tensor, "__cuda_array_interface__") and devices.count("cuda"):
        shared = wrap(foreign.adopted(ext_tensor))
    elif isinstance(ext_tensor, np.ndarray):
        shared = wrap(checked_array(ext_tensor))
    else:
        shared = _adopted(_asked(ext_tensor))
    return TENSOR.clone(shared) if copy else shared


def _asked(x: Any) -> Any:
    """The capsule of an object; older ones do not know the newer arguments."""
    try:
        return x.__dlpack__(max_version=(1, 0))
    except TypeError:
        return x.__dlpack__()


def _adopted(capsule: Any) -> Tensor:
    if not _capsules().is_capsule(capsule):
        raise RuntimeError(_NO_CAPSULE)
    return wrap(checked_array(_capsules().adopt(capsule)))


def _check_exported(t: Tensor) -> None:
    if has_grad(t):
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")


@public
def to_dlpack(input: Tensor) -> Any:
    """The memory as a DLPack capsule."""
    need_tensor(input, "_to_dlpack.data.1")
    return _capsule(input, None)


def _capsule(t: Tensor, max_version: Any) -> Any:
    data = t._data
    if is_sparse(t):
        raise BufferError("Can't export tensors with layout other than torch.strided")
    if type(data) is MetaArray:
        raise BufferError("Cannot pack tensors on meta")
    if foreign.is_foreign(data):
        return (
            data.__dlpack__() if max_version is None else data.__dlpack__(max_version=max_version)
        )
    return _capsules().export(data, max_version)


def dlpack_method(
    self: Tensor,
    *,
    stream: Any = -1,
    max_version: Any = None,
    dl_device: Any = None,
    copy: Any = None,
) -> Any:
    """The memory, or a copy, as a DLPack capsule: DLPack's protocol.

    BufferError for tensors that require gradients, are sparse or have no memory.
    """
    _check_exported(self)
    if stream is not None and not isinstance(stream, int):
        raise TypeError("stream must be ``int`` or ``none``")
    if stream not in (None, -1) and self.device.type == "cpu":
        raise AssertionError("stream should be None on cpu.")
    t = self
    if dl_device is not None and dl_device[0] != dlpack_device(self)[0]:
        kind = {1: "cpu", 2: "cuda"}.get(int(dl_device[0]), str(dl_device[0]))
        t = self.to(kind if kind == "cpu" else f"{kind}:{dl_device[1]}")
    return _capsule(TENSOR.clone(t) if copy and t is self else t, max_version)


def dlpack_device(self: Tensor) -> tuple[DLDeviceType, int]:
    """The DLPack device: (1, 0) on a CPU."""
    where = device_of(self._data)
    if where.type == "cuda":
        return DLDeviceType.kDLCUDA, where.index or 0
    if where.type != "cpu":
        raise ValueError(f"Unknown device type {where.type} for Dlpack")
    return DLDeviceType.kDLCPU, 0


dlpack_method.__name__, dlpack_device.__name__ = "__dlpack__", "__dlpack_device__"
dlpack_method.__qualname__ = "Tensor.__dlpack__"
