"""What the updates of all optimizers share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from functional.dtypes import F32, F64
from functional.modes import PLAIN, enable_grad
from functional.tape.views import as_view
from functional.tensor import Tensor


def closure_loss(closure: Any) -> Any:
    """The loss that ``step(closure)`` returns, computed with recording on."""
    if closure is None:
        return None
    with enable_grad():
        return closure()


def check_options(options: dict[str, Any]) -> None:
    """PyTorch's errors for ``fused`` beside ``foreach`` or ``differentiable``."""
    if options["fused"]:
        if options["differentiable"]:
            raise RuntimeError("`fused` does not support `differentiable`")
        if options["foreach"]:
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


_FUSED_ON = "['mps', 'cuda', 'xpu', 'hpu', 'cpu', 'mtia', 'privateuseone']"


def check_fused(p: Tensor) -> None:
    """PyTorch's error for a parameter that ``fused=True`` does not take."""
    if not p.is_floating_point():
        raise RuntimeError(
            "`fused=True` requires all the params to be floating point Tensors of supported "
            f"devices: {_FUSED_ON} but {p.dtype} and {p.device.type}"
        )


def plain_pair(p: Any, grad: Any) -> bool:
    """Whether a parameter and its gradient are ordinary float32 or float64 arrays of one dtype.

    The update then works on the arrays; anything else goes through tensor operations.
    """
    if not array_pair(p, grad):
        return False
    dt = p._data.dtype
    return dt is F32 or dt is F64


def array_pair(p: Any, grad: Any) -> bool:
    """Whether a parameter and its gradient are ordinary NumPy arrays of one dtype."""
    if type(p) not in PLAIN or type(grad) not in PLAIN:
        return False
    x, g = p._data, grad._data
    if type(x) is not ndarray or type(g) is not ndarray or g.dtype != x.dtype:
        return False
    place = p._place
    return place is None or not place.inference


BLOCK = 1 << 16  # elements that several passes go over while they stay in cache


def in_blocks(work: Callable[..., None], *arrays: ndarray) -> None:
    """``work`` on matching pieces of arrays of one shape, each small enough to stay in cache."""
    size = arrays[0].size
    flat = list(arrays) if size <= 2 * BLOCK else in_one_line(list(arrays))
    if size <= 2 * BLOCK or flat[0].ndim != 1:
        work(*flat)
        return
    for at in range(0, size, BLOCK):
        work(*[f[at : at + BLOCK] for f in flat])


def in_one_line(arrays: list[ndarray]) -> list[ndarray]:
    """The arrays as views with their elements in one line, if all have them in the same order."""
    if all(a.flags.c_contiguous for a in arrays):
        return [a.reshape(-1) for a in arrays]
    if all(a.flags.f_contiguous for a in arrays):
        return [a.T.reshape(-1) for a in arrays]
    return arrays


def real_parts(x: ndarray) -> ndarray:
    """A complex array as pairs of real numbers over the same memory; others as they are."""
    return x[..., None].view(x.real.dtype) if x.dtype.kind == "c" else x


def real_view(t: Tensor) -> Tensor:
    """A complex tensor as a view of pairs of real numbers; others as they are."""
    return as_view(real_parts(t._data), t) if t.dtype.is_complex else t


def number(value: Any) -> Any:
    """An option that may be a one-element tensor, as a number."""
    return value.item() if isinstance(value, Tensor) else value


def count_writes(t: Any, times: int = 1) -> None:
    """Count in-place writes, for the version check of saved tensors."""
    if t._ver is None:
        t._ver = [times]
    else:
        t._ver[0] += times


def scaled_sum(a: Tensor, b: Tensor, factor: Any) -> Tensor:
    """a + factor * b, rounded once where the dtype is a half type."""
    if a.dtype.itemsize == 2:
        factor = float(np.float32(factor))
        return (a.double() + b.double() * factor).float().to(a.dtype)
    return a + b * factor


def add_scaled(a: Tensor, b: Tensor, factor: Any) -> Tensor:
    """``a.add(b, alpha=factor)`` with the roundings of PyTorch's vector code.

    A half type rounds the factor to itself, and the sum once.
    """
    if a.dtype.itemsize == 2:
        factor = float(np.asarray(factor, a.dtype.array))
    return scaled_sum(a, b, factor)
