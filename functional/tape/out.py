"""``out=``: results written into a tensor that the caller gives."""

from __future__ import annotations

from typing import Any

from ..kernels import layout
from ..modes import MODE
from ..tensor import Tensor, replace_data
from . import foreign
from .duals import FORWARD, PlainDual
from .memory import check_apart, check_overlap
from .out_dtypes import check_out_dtype
from .views import bump, requires_grad


def check_out(name: str, inputs: Any, out: Tensor) -> None:
    """PyTorch's error for ``out=`` where something would have to be recorded."""
    if FORWARD.level and any(type(a) is PlainDual for a in (*inputs, out)):
        raise NotImplementedError(
            f"Trying to use forward AD with {name}_out that does not support it because it is an "
            "out= function"
        )
    if MODE.grad and any(isinstance(a, Tensor) and requires_grad(a) for a in (*inputs, out)):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic "
            "differentiation, but one of the arguments requires grad."
        )


def out_of(function: Any, out: Tensor, *args: Any, name: str | None = None) -> Tensor:
    """``function(*args)`` written into ``out``, for functions that are no single operation."""
    flat = [t for a in args for t in (a if isinstance(a, (list, tuple)) else (a,))]
    name = name or function.__name__
    check_out(name, flat, out)
    if name in _APART:
        check_apart(out, flat)
    elif out._place is not None:
        check_overlap(out, ())
    return write_out(function(*args), out, name)


# Others may write over their inputs.
_APART = frozenset("bernoulli cat gather index_select masked_select take".split())


def write_out(result: Tensor, out: Tensor, name: str = "") -> Tensor:
    """Copy a result of the function ``name`` into ``out``, which takes the result's shape."""
    if result.dtype is not out.dtype:
        check_out_dtype(name, result.dtype, out.dtype)
    x = result._data
    if out._data.shape != x.shape:
        item = out._data.dtype.itemsize
        strides = layout.result_strides(x.shape, [x], item)
        replace_data(out, foreign.layout_for(x).empty(x.shape, strides, out._data.dtype))
    out._data[...] = result._data
    bump(out)
    return out
