"""Sums, maxima and their kin, in ``nd``'s and in NumPy's order of arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torchlike as torch

from .array import NDArray, call, core_dtype, ndarray, write_out

Axis = int | tuple[int, ...] | None


def _floating(x: Any) -> Any:
    return x if x.dtype.is_floating_point else x.float()


def _product(x: Any, axes: list[int], keepdims: bool) -> Any:
    if not axes:
        return x.clone()
    for axis in sorted(axes, reverse=True):
        x = torch.prod(x, axis, keepdim=keepdims)
    return x


def _every(x: Any, axes: list[int], keepdims: bool) -> Any:
    return torch.amin(x != 0, axes, keepdim=keepdims)


def _some(x: Any, axes: list[int], keepdims: bool) -> Any:
    return torch.amax(x != 0, axes, keepdim=keepdims)


# each takes a tensor, a list of axes and whether to keep them
REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": lambda x, axes, keep: torch.sum(x, axes, keepdim=keep),
    "nansum": lambda x, axes, keep: torch.nansum(x, axes, keepdim=keep),
    "mean": lambda x, axes, keep: torch.mean(_floating(x), axes, keepdim=keep),
    "prod": _product,
    "max": lambda x, axes, keep: torch.amax(x, axes, keepdim=keep),
    "min": lambda x, axes, keep: torch.amin(x, axes, keepdim=keep),
}
LOGICAL: dict[str, Callable[..., Any]] = {"all": _every, "any": _some}


def _axes(ndim: int, axis: Any, exclude: bool) -> list[int]:
    """The axes meant, counted from the front; ValueError for one that is not there."""
    asked = range(ndim) if axis is None or axis == () else axis
    listed = [asked] if isinstance(asked, int) else list(asked)
    for a in listed:
        if not -ndim <= a < ndim:
            raise ValueError(f"axis {a} is out of range for an array of {ndim} dimensions")
    front = [a % ndim for a in listed]
    return [a for a in range(ndim) if a not in front] if exclude else front


def reduce(
    compute: Callable[..., Any],
    data: NDArray,
    axis: Axis = None,
    keepdims: bool = False,
    exclude: bool = False,
    dtype: Any = None,
) -> NDArray:
    """Reduce over the axes, or over all others with ``exclude``."""

    def over(x: Any) -> Any:
        x = x if dtype is None else x.to(core_dtype(dtype))
        axes = _axes(x.ndim, axis, exclude)
        return compute(x, axes, keepdims) if axes or not x.ndim else x.clone()

    return call(over, data)


def _for_nd(name: str, compute: Callable[..., Any]) -> Callable[..., Any]:
    def function(
        data: NDArray,
        axis: Axis = None,
        keepdims: bool = False,
        exclude: bool = False,
        out: Any = None,
    ) -> NDArray:
        return write_out(out, reduce(compute, data, axis, keepdims, exclude))

    return _described(function, name)


def _for_np(name: str, compute: Callable[..., Any]) -> Callable[..., Any]:
    def function(
        a: NDArray, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False
    ) -> NDArray:
        return write_out(out, reduce(compute, a, axis, keepdims, dtype=dtype))

    return _described(function, name)


def _described(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``{name}`` over an axis, several, or (None) all."
    return function


ND = {name: _for_nd(name, compute) for name, compute in REDUCTIONS.items()}
NP = {name: _for_np(name, compute) for name, compute in (REDUCTIONS | LOGICAL).items()}


def norm(
    data: NDArray, ord: float = 2, axis: Axis = None, keepdims: bool = False, out: Any = None
) -> NDArray:
    """The ``ord``-norm of the elements over an axis, several, or (None) all."""

    def compute(x: Any, axes: list[int], keep: bool) -> Any:
        return torch.linalg.vector_norm(_floating(x), ord, axes, keepdim=keep)

    return write_out(out, reduce(compute, data, axis, keepdims))


def _best(name: str) -> Callable[..., Any]:
    """Where the largest or smallest is: a whole number for NumPy's kind, else a float32."""
    compute = getattr(torch, name)

    def function(data: NDArray, axis: int | None = None, keepdims: bool = False) -> NDArray:
        kind = torch.int64 if isinstance(data, ndarray) else torch.float32
        return call(lambda x: compute(x, axis, keepdim=keepdims).to(kind), data)

    return _described(function, name)


argmax, argmin = _best("argmax"), _best("argmin")


def np_argmax(a: NDArray, axis: int | None = None, out: Any = None) -> NDArray:
    """Where the largest element is, along an axis or (None) in the flattened array."""
    return write_out(out, argmax(a, axis))


def np_argmin(a: NDArray, axis: int | None = None, out: Any = None) -> NDArray:
    """Where the smallest element is, along an axis or (None) in the flattened array."""
    return write_out(out, argmin(a, axis))


def _spread(power: float) -> Callable[..., Any]:
    def function(
        a: NDArray,
        axis: Axis = None,
        dtype: Any = None,
        out: Any = None,
        ddof: int = 0,
        keepdims: bool = False,
    ) -> NDArray:
        def compute(x: Any, axes: list[int], keep: bool) -> Any:
            return torch.var(_floating(x), axes, correction=ddof, keepdim=keep) ** power

        return write_out(out, reduce(compute, a, axis, keepdims, dtype=dtype))

    return _described(function, "var" if power == 1 else "std")


var, std = _spread(1), _spread(0.5)


def cumsum(a: NDArray, axis: int | None = None, dtype: Any = None) -> NDArray:
    """Running sums along an axis, or (None) over the flattened array."""

    def compute(x: Any) -> Any:
        x = x if dtype is None else x.to(core_dtype(dtype))
        return torch.cumsum(x.reshape(-1) if axis is None else x, axis or 0)

    return call(compute, a)


def sort(data: NDArray, axis: int = -1, is_ascend: bool = True) -> NDArray:
    """The elements in order along an axis."""
    return call(lambda x: torch.sort(x, axis, descending=not is_ascend)[0], data)


def argsort(data: NDArray, axis: int = -1, is_ascend: bool = True) -> NDArray:
    """The indices that would sort along an axis."""
    kind = torch.int64 if isinstance(data, ndarray) else torch.float32
    return call(lambda x: torch.argsort(x, axis, descending=not is_ascend).to(kind), data)
