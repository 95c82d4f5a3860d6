"""Normalising arguments: dimensions, sizes, shapes given as ints or one sequence."""

from __future__ import annotations

import math
import operator
import sys
from typing import Any

import ml_dtypes
import numpy as np
from numpy import ndarray

from .. import dtypes
from ..errors import type_name
from ..modes import MODE, PLAIN
from ..tape.op import TENSOR
from ..tape.slow import size_mismatch
from ..tape.views import requires_grad
from ..tensor import Tensor


def is_complex(x: Any) -> bool:
    """Whether an array or tensor is complex."""
    d = x.dtype
    return d.is_complex if isinstance(d, dtypes.dtype) else d.kind == "c"


def operand(x: Any) -> Any:
    """What type promotion needs to know of a tensor or number."""
    return (x.dtype, x.ndim) if isinstance(x, Tensor) else x


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that shapes broadcast to; PyTorch's error if there is none."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise size_mismatch(*shapes) from None


def common_shape(*tensors: Any) -> tuple[int, ...]:
    """The shape that tensors broadcast to."""
    return broadcast_shapes(*(tuple(t.shape) for t in tensors))


def wrong_type(where: str, wanted: str, value: Any) -> TypeError:
    """PyTorch's error for an argument; ``where`` is like ``select.index.2``."""
    function, name, position = where.split(".")
    got = "Tensor" if type(value) is Tensor else type_name(value)
    return TypeError(
        f"{function}(): argument '{name}' (position {position}) must be {wanted}, not {got}"
    )


def need_tensor(value: Any, where: str) -> None:
    """Raise PyTorch's error for an argument that is no tensor."""
    if not isinstance(value, Tensor):
        raise wrong_type(where, "Tensor", value)


def check_tensors(values: Any, argument: int = 0) -> None:
    """Raise PyTorch's error where a sequence of tensors, an argument of a call, has others in."""
    for i, value in enumerate(values):
        if not isinstance(value, Tensor):
            raise TypeError(
                f"expected Tensor as element {i} in argument {argument}, but got {type_name(value)}"
            )


def integer(value: Any, where: str) -> int:
    """An argument that must be an int; truth values are none."""
    if isinstance(value, (bool, float)) or not hasattr(value, "__index__"):
        raise wrong_type(where, "int", value)
    return operator.index(value)


def _caller() -> str:
    """The public function that an argument was given to."""
    frame: Any = sys._getframe(2)
    while frame is not None and not hasattr(TENSOR, frame.f_code.co_name):
        frame = frame.f_back
    return "function" if frame is None else frame.f_code.co_name


def one_dim(self: Tensor, dim: Any, extra: int = 0, where: str | None = None) -> int:
    """A dimension as a non-negative int; ``extra`` more are allowed (``unsqueeze``)."""
    n = self.ndim + extra
    if type(dim) is int:
        if -n <= dim < n:
            return dim % n
        d = dim
    else:
        d = integer(dim, where or f"{_caller()}.dim.1")
    width = max(n, 1)
    if not -width <= d < width:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-width}, {width - 1}], "
            f"but got {d})"
        )
    return d % width


def no_dimensions(dim: int) -> IndexError:
    """PyTorch's error for a dimension of a tensor that has none, where 0 is not allowed for it."""
    return IndexError(f"Dimension specified as {dim} but tensor has no dimensions")


def dims_of(self: Tensor, dim: Any) -> tuple[int, ...]:
    """One or several dimensions as a tuple of non-negative ints, without repeats."""
    if not isinstance(dim, (tuple, list)):
        return (one_dim(self, dim),) if self.ndim else (one_dim(self, dim),)[:0]
    dims = tuple([one_dim(self, +d if i and type(d) is bool else d) for i, d in enumerate(dim)])
    for d in dims:
        if dims.count(d) > 1:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    return dims if self.ndim else ()


def ints(args: tuple[Any, ...]) -> tuple[int, ...]:
    """Sizes given one by one or as one sequence."""
    if len(args) == 1 and isinstance(args[0], (tuple, list)):
        args = tuple(args[0])
    if {*map(type, args)} == {int}:
        return args
    for i, a in enumerate(args):  # PyTorch looks for truth values in the first place only
        if isinstance(a, (bool, float) if not i else float) or not hasattr(a, "__index__"):
            raise TypeError(
                f"{_caller()}(): argument 'size' (position 1) must be tuple of ints, but found "
                f"element of type {type_name(a)} at pos {i}"
            )
    return tuple([int(operator.index(a)) for a in args])


def keyword(named: dict[str, Any], name: str, function: str) -> tuple[Any, ...]:
    """The value of what is usually given one by one, given by its name."""
    for other in named:
        if other != name:
            raise TypeError(f"{function}() got an unexpected keyword argument '{other}'")
    return (named[name],)


def number_for(value: Any, d: dtypes.dtype) -> Any:
    """``value`` where dtype ``d`` can hold it; integers may wrap once below zero, as in PyTorch."""
    kind = d.array.kind
    number = value.item() if isinstance(value, np.generic) else value
    if isinstance(number, int) and not -(2**63) <= number < 2**64:
        raise ValueError("Overflow when unpacking long long")
    if kind in "cb" or d.category == dtypes.BOOL:
        return number
    if isinstance(number, complex):
        fits, number = number.imag == 0, number.real
    elif d.category == dtypes.INT:
        low, high = np.iinfo(d.array).min, int(np.iinfo(d.array).max)
        if kind == "u" and isinstance(number, int):
            low = -high
        fits = low <= number <= high  # NaN does not
    else:
        top = float(ml_dtypes.finfo(d.array).max)
        fits = not math.isfinite(number) or -top <= number <= top
    if not fits:
        kind = _SCALARS.get(d.legacy, d.array.name + "_t")
        raise RuntimeError(f"value cannot be converted to type {kind} without overflow")
    return number


_SCALARS = {
    "Int": "int", "Half": "c10::Half", "Float": "float", "Double": "double",
    "BFloat16": "c10::BFloat16",
}  # fmt: skip


def infer_size(shape: tuple[int, ...], numel: int) -> tuple[int, ...]:
    """A shape in which one size may be -1, for ``numel`` elements."""
    product = math.prod(shape)
    if product == numel and shape and min(shape) >= 0:
        return shape
    unknown = [i for i, n in enumerate(shape) if n == -1]
    if len(unknown) > 1:
        raise RuntimeError("only one dimension can be inferred")
    for i, n in enumerate(shape):
        if n < -1:
            raise RuntimeError(f"invalid shape dimension {n} at index {i} of shape {list(shape)}")
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


def unrecorded(*tensors: Any) -> bool:
    """Whether all are plain arrays of float32 or of float64 and nothing records what is done.

    Then a composite function may compute its result at once.
    """
    kind = None
    for t in tensors:
        if type(t) not in PLAIN or type(t._data) is not ndarray:
            return False
        own = t._data.dtype
        if kind is None:
            kind = own
            if own is not dtypes.F32 and own is not dtypes.F64:
                return False
        if own is not kind or (MODE.grad and requires_grad(t)):
            return False
    return True
