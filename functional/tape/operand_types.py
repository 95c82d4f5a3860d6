"""The dtypes that elementwise operations compute in, and their operands in them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes, errors
from ..tensor import Tensor
from .op import Op


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float, complex, np.number, np.bool_))


def operand_type(op: Op, inputs: tuple[Any, ...], statics: Any = ()) -> dtypes.dtype:
    """The dtype an elementwise operation computes in."""
    operands = [
        (a.dtype, a.ndim) if isinstance(a, Tensor) else a
        for name, a in zip(op.inputs, inputs, strict=False)
        if a is not None and name not in op.fixed
    ]
    try:
        found = dtypes.result_type(operands)
    except NotImplementedError:  # no complex32; what gives booleans can do without
        if op.result != "bool":
            raise
        found = dtypes.complex64
    if op.result == "numbers":
        found = dtypes.result_type([(found, inputs[0].ndim), *filter(is_number, statics)])
    if op.result == "float" and found.category < dtypes.FLOAT:
        return dtypes.get_default_dtype()
    return found


def as_operand(value: Any, d: dtypes.dtype) -> Any:
    """A tensor's array, or a number, in dtype ``d``; numbers wrap as C's do."""
    if isinstance(value, Tensor):
        x = value._data
        return x if x.dtype == d.array else x.astype(d.array)
    if isinstance(value, complex) and d.category != dtypes.COMPLEX:
        raise RuntimeError("value cannot be converted to type without overflow")
    if d.category == dtypes.INT and isinstance(value, (int, np.integer)):
        bits = 8 * d.itemsize
        wrapped = int(value) & ((1 << bits) - 1)
        return np.array(wrapped, f"u{d.itemsize}").view(d.array)
    return np.asarray(value).astype(d.array)


# operands that keep a number's (or a 0-dim tensor's) precision beside a half type, as in PyTorch
_PRECISE = {"mul": (0, 1), "div": (1,), "div_mode": (1,), "floor_divide": (1,)}
# operations that round after every step unless the second operand is precise
_STEPWISE = ("div_mode", "floor_divide")


def widened(op: Op, inputs: tuple[Any, ...], arrays: list[Any]) -> list[Any]:
    """Operands of a half type as float32 to compute in."""
    name = op.name.rstrip("_")
    if name in _STEPWISE and arrays[1].ndim:
        return arrays
    work, precise = [], _PRECISE.get(name, ())
    for i, (name, a, x) in enumerate(zip(op.inputs, inputs, arrays, strict=True)):
        if x is None or name in op.fixed:
            work.append(x)
        elif i in precise and not x.ndim:
            work.append(as_operand(a, dtypes.float32))
        else:
            work.append(x.astype(np.float32))
    return work


def check_cast(op: Op, args: tuple[Any, ...], inputs: tuple[Any, ...]) -> None:
    """PyTorch's error for a result in place that the dtype of the target cannot hold."""
    if op.kind != "elementwise" or op.result == "bool" or op.truth:
        return
    target = args[0]
    try:
        found = operand_type(op, inputs, args[len(inputs) :])
        if any(isinstance(a, complex) for a in args):
            found = dtypes.result_type([(found, target.ndim), 1j])
        dtypes.check_cast(found, target.dtype)
    except NotImplementedError:
        raise RuntimeError(errors.NO_CAST.format("ComplexHalf", target.dtype.legacy)) from None
