"""DLPack capsules: NumPy makes and reads them; bfloat16, which it lacks, goes as uint16.

A capsule holds a C structure with the element type in it, which is rewritten here.
"""

from __future__ import annotations

import ctypes
from typing import Any

import ml_dtypes
import numpy as np

_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
_UINT, _BFLOAT = 1, 4  # codes of element types


class _Type(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Array(ctypes.Structure):
    """What both kinds of capsules say about an array."""

    _fields_ = (
        ("data", ctypes.c_void_p), ("device", ctypes.c_int32), ("index", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("type", _Type), ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64),
    )  # fmt: skip


_PLAIN, _VERSIONED = b"dltensor", b"dltensor_versioned"
_HEAD = 32  # bytes of a versioned structure before the array: version, context, deleter, flags
_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.argtypes = (ctypes.py_object, ctypes.c_char_p)
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.argtypes, _pointer.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.c_void_p


def is_capsule(x: Any) -> bool:
    """Whether this is a capsule with an array in it that nobody has taken yet."""
    return type(x).__name__ == "PyCapsule" and (
        _is_valid(x, _PLAIN) == 1 or _is_valid(x, _VERSIONED) == 1
    )


def _inside(capsule: Any) -> _Array:
    if _is_valid(capsule, _VERSIONED) == 1:
        return _Array.from_address(_pointer(capsule, _VERSIONED) + _HEAD)
    return _Array.from_address(_pointer(capsule, _PLAIN))


def export(x: np.ndarray, max_version: tuple[int, int] | None) -> Any:
    """A capsule over the memory of an array."""
    named: Any = {} if max_version is None else {"max_version": max_version}
    if x.dtype != _BFLOAT16:
        return x.__dlpack__(**named)
    capsule = x.view(np.uint16).__dlpack__(**named)
    _inside(capsule).type.code = _BFLOAT
    return capsule


class _Holder:
    """A capsule in NumPy's protocol."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **named: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        found = _inside(self.capsule)
        return found.device, found.index


def adopt(capsule: Any) -> np.ndarray:
    """The array in a capsule, which can be taken once."""
    kind = _inside(capsule).type
    is_bfloat = kind.code == _BFLOAT and kind.bits == 16
    if is_bfloat:
        kind.code = _UINT
    x = np.from_dlpack(_Holder(capsule))
    x = _writable(x) if _is_valid(capsule, b"used_dltensor") == 1 else x
    return x.view(_BFLOAT16) if is_bfloat else x


def _writable(x: np.ndarray) -> np.ndarray:
    """The same memory; NumPy calls what comes in an older capsule read-only, others do not."""
    return x if x.flags.writeable else np.asarray(_Memory(x)).view(x.dtype)


class _Memory:
    def __init__(self, x: np.ndarray) -> None:
        where = x.__array_interface__["data"][0], False
        self.__array_interface__ = x.__array_interface__ | {"data": where}
        self.owner = x
