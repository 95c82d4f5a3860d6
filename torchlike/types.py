"""Names of types for annotations."""

from __future__ import annotations

import builtins
import os
from collections.abc import Sequence
from typing import IO, Any, TypeAlias

from functional import devices, dtypes
from functional.autograd import GradientEdge
from functional.ops.layouts import layout
from functional.size import Size
from functional.tensor import Tensor

from .storage import TypedStorage, UntypedStorage

__all__ = ["Device", "FileLike", "Number", "Storage"]

_int, _float, _bool, _complex = builtins.int, builtins.float, builtins.bool, builtins.complex
_str, _bytes = builtins.str, builtins.bytes
_dtype, _device, _layout = dtypes.dtype, devices.device, layout

Number: TypeAlias = _int | _float | _bool
_Number = (_int, _float, _bool)
Device: TypeAlias = _device | _str | _int | None
FileLike: TypeAlias = _str | os.PathLike[_str] | IO[_bytes]
Storage: TypeAlias = UntypedStorage | TypedStorage
IntLikeType: TypeAlias = _int
FloatLikeType: TypeAlias = _float
BoolLikeType: TypeAlias = _bool
_size: TypeAlias = Size | list[_int] | tuple[_int, ...]
_symsize: TypeAlias = _size
_TensorOrTensors: TypeAlias = Tensor | Sequence[Tensor]
_TensorOrOptionalTensors: TypeAlias = Tensor | Sequence[Tensor | None]
_TensorOrTensorsOrGradEdge: TypeAlias = (
    Tensor | Sequence[Tensor] | GradientEdge | Sequence[GradientEdge]
)
py_sym_types: tuple[Any, ...] = ()  # symbolic numbers, of which there are none
