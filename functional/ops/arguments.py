"""Normalising arguments: dimensions, sizes, shapes given as ints or one sequence."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from .. import dtypes
from ..tape.slow import size_mismatch
from ..tensor import Tensor


def is_complex(x: Any) -> bool:
    """Whether an array or tensor is complex."""
    d = x.dtype
    return d.is_complex if isinstance(d, dtypes.dtype) else d.kind == "c"


C_TYPES = {
    "Float": "float", "Double": "double", "Half": "c10::Half", "BFloat16": "c10::BFloat16",
    "Long": "long int", "Int": "int", "Short": "short int", "Char": "signed char",
    "Byte": "unsigned char", "Bool": "bool", "ComplexFloat": "c10::complex<float>",
    "ComplexDouble": "c10::complex<double>",
}  # fmt: skip


def c_type(d: dtypes.dtype) -> str:
    """The C++ type that some of PyTorch's errors name a dtype by."""
    return C_TYPES.get(d.legacy, d.legacy)


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that shapes broadcast to; PyTorch's error if there is none."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise size_mismatch(*shapes) from None


def common_shape(*tensors: Any) -> tuple[int, ...]:
    """The shape that tensors broadcast to."""
    return broadcast_shapes(*(tuple(t.shape) for t in tensors))


def one_dim(self: Tensor, dim: Any, extra: int = 0) -> int:
    """A dimension as a non-negative int; ``extra`` more are allowed (``unsqueeze``)."""
    n = self.ndim + extra
    try:
        d = operator.index(dim)
    except TypeError:
        raise TypeError(f"dim must be an int, not {type(dim).__name__}") from None
    width = max(n, 1)
    if not -width <= d < width:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-width}, {width - 1}], "
            f"but got {d})"
        )
    return d % width


def dims_of(self: Tensor, dim: Any) -> tuple[int, ...]:
    """One or several dimensions as a tuple of non-negative ints, without repeats."""
    if not isinstance(dim, (tuple, list)):
        return (one_dim(self, dim),) if self.ndim else (one_dim(self, dim),)[:0]
    dims = tuple(one_dim(self, d) for d in dim)
    for d in dims:
        if dims.count(d) > 1:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    return dims if self.ndim else ()


def ints(args: tuple[Any, ...]) -> tuple[int, ...]:
    """Sizes given one by one or as one sequence."""
    if len(args) == 1 and isinstance(args[0], (tuple, list)):
        args = tuple(args[0])
    return tuple(operator.index(a) for a in args)


def infer_size(shape: tuple[int, ...], numel: int) -> tuple[int, ...]:
    """A shape in which one size may be -1, for ``numel`` elements."""
    unknown = [i for i, n in enumerate(shape) if n == -1]
    if len(unknown) > 1:
        raise RuntimeError("only one dimension can be inferred")
    for n in shape:
        if n < -1:
            raise RuntimeError(f"invalid shape dimension {n}")
    if not unknown:
        if math.prod(shape) != numel:
            raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {numel}")
        return shape
    known = -math.prod(shape)
    if known == 0 and numel == 0:
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {list(shape)} because the "
            "unspecified dimension size -1 can be any value and is ambiguous"
        )
    if known == 0 or numel % known:
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {numel}")
    at = unknown[0]
    return (*shape[:at], numel // known, *shape[at + 1 :])
