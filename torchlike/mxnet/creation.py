"""New arrays, of either kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as onp

import torchlike as torch

from .array import Kind, NDArray, core_dtype, core_tensor, ndarray, wrap
from .context import core_device


def _shape(shape: Any) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(int(s) for s in shape)


def _place(dtype: Any, ctx: Any, device: Any) -> dict[str, Any]:
    where = core_device(ctx if device is None else device)
    return {"dtype": core_dtype(dtype or "float32"), "device": where}


def nd_array(source_array: Any, ctx: Any = None, dtype: Any = None) -> NDArray:
    """A copy of an array, number or nested list: float32, but an NDArray keeps its dtype."""
    if dtype is None and not isinstance(source_array, NDArray):
        dtype = "float32"
    return wrap(core_tensor(source_array, dtype, ctx), NDArray)


def np_array(object: Any, dtype: Any = None, ctx: Any = None, device: Any = None) -> ndarray:
    """A copy of an array, number or nested list: float32, but arrays keep other dtypes.

    Of NumPy's arrays, those of float64 become float32 as well.
    """
    if dtype is None and not isinstance(object, NDArray):
        known = isinstance(object, (onp.ndarray, onp.generic)) and object.dtype != onp.float64
        dtype = object.dtype if known else "float32"
    return wrap(core_tensor(object, dtype, ctx if device is None else device), ndarray)


def filled(kind: Kind, name: str) -> Callable[..., Any]:
    """``zeros``, ``ones`` or ``empty`` for one kind."""
    make = getattr(torch, name)

    def function(
        shape: Any, ctx: Any = None, dtype: Any = None, stype: Any = None, device: Any = None
    ) -> Any:
        return _dense(wrap(make(_shape(shape), **_place(dtype, ctx, device)), kind), stype)

    def numpy_order(
        shape: Any, dtype: Any = None, order: str = "C", ctx: Any = None, device: Any = None
    ) -> Any:
        return function(shape, ctx, dtype, None, device)

    made = numpy_order if kind is ndarray else function
    made.__name__ = made.__qualname__ = name
    made.__doc__ = f"A new array of a shape, ``{name}``; float32 unless said otherwise."
    return made


def _dense(array: NDArray, stype: str | None) -> NDArray:
    return array.tostype(stype or "default")


def like(name: str) -> Callable[..., Any]:
    """``zeros_like`` and its kin: same shape, dtype, device and kind."""
    make = getattr(torch, name)

    def function(a: NDArray, dtype: Any = None, **_: Any) -> NDArray:
        new = None if dtype is None else core_dtype(dtype)
        return wrap(make(a._tensor.detach(), dtype=new), type(a))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``{name}``: a new array with the shape and dtype of another."
    return function


zeros_like, ones_like, empty_like = map(like, ("zeros_like", "ones_like", "empty_like"))


def full(kind: Kind) -> Callable[..., Any]:
    """``full`` for one kind."""

    def full(shape: Any, val: Any, ctx: Any = None, dtype: Any = None, device: Any = None) -> Any:
        """A new array with one number everywhere; float32 unless said otherwise."""
        number = val.item() if isinstance(val, NDArray) else val
        return wrap(torch.full(_shape(shape), number, **_place(dtype, ctx, device)), kind)

    def numpy_order(
        shape: Any, fill_value: Any, dtype: Any = None, ctx: Any = None, device: Any = None
    ) -> Any:
        """A new array with one number everywhere; float32 unless said otherwise."""
        return full(shape, fill_value, ctx, dtype, device)

    return numpy_order if kind is ndarray else full


def full_like(a: NDArray, fill_value: Any, dtype: Any = None) -> NDArray:
    """A new array with one number everywhere and the shape and dtype of another."""
    new = None if dtype is None else core_dtype(dtype)
    return wrap(torch.full_like(a._tensor.detach(), fill_value, dtype=new), type(a))


def nd_arange(
    start: float,
    stop: float | None = None,
    step: float = 1.0,
    repeat: int = 1,
    ctx: Any = None,
    dtype: Any = "float32",
) -> NDArray:
    """Numbers from ``start`` to before ``stop`` (from 0 to before one alone), each repeated."""
    ends = (0, start) if stop is None else (start, stop)
    row = torch.arange(*ends, step, **_place(dtype, ctx, None))
    return wrap(row.repeat_interleave(repeat) if repeat != 1 else row, NDArray)


def np_arange(
    start: float,
    stop: float | None = None,
    step: float = 1,
    dtype: Any = None,
    ctx: Any = None,
    device: Any = None,
) -> ndarray:
    """Numbers from ``start`` to before ``stop`` (from 0 to before one alone); float32."""
    ends = (0, start) if stop is None else (start, stop)
    return wrap(torch.arange(*ends, step, **_place(dtype, ctx, device)), ndarray)


def linspace(kind: Kind) -> Callable[..., Any]:
    """``linspace`` for one kind."""

    def linspace(
        start: float,
        stop: float,
        num: int = 50,
        endpoint: bool = True,
        dtype: Any = None,
        ctx: Any = None,
    ) -> Any:
        """``num`` numbers evenly from ``start`` to ``stop``, which is left out on demand."""
        place = _place(dtype, ctx, None)
        row = torch.linspace(start, stop, num if endpoint else num + 1, **place)
        return wrap(row[:num].clone(), kind)

    return linspace


def eye(kind: Kind) -> Callable[..., Any]:
    """``eye`` for one kind."""

    def eye(N: int, M: int | None = None, k: int = 0, ctx: Any = None, dtype: Any = None) -> Any:
        """Ones on the ``k``-th diagonal of (N, M), M being N where it is not given; else zeros."""
        rows, columns = torch.arange(N).unsqueeze(1), torch.arange(M or N)
        place = _place(dtype, ctx, None)
        return wrap((columns - rows == k).to(place["device"], place["dtype"]), kind)

    return eye
