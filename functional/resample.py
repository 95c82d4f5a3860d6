"""Interpolation as functions."""

from __future__ import annotations

import math
import warnings
from math import prod
from typing import Any

from . import dtypes
from .ops.nn_checks import remembered
from .ops.pooling import FLOATING, refuse_dtypes
from .ops.resample import upsample as _nodes
from .pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d
from .tape.op import public
from .tensor import Tensor

_MODES = "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact"
_ALIGNED = ("linear", "bilinear", "bicubic", "trilinear")
_NEEDS = {"linear": 3, "bilinear": 4, "trilinear": 5}
_AREA = {3: adaptive_avg_pool1d, 4: adaptive_avg_pool2d, 5: adaptive_avg_pool3d}


def _given(x: Tensor, value: Any, what: str, shown: str, letter: str) -> list[Any]:
    """One value for every spatial dimension."""
    if not isinstance(value, (list, tuple)):
        return [value] * (x.ndim - 2)
    if len(value) != x.ndim - 2:
        dims = f"({letter}1, {letter}2, ...,{letter}K)"
        raise ValueError(
            f"Input and {what} must have the same number of spatial dimensions, but got input with "
            f"spatial dimensions of {list(x.shape[2:])} and {shown} {value}. Please provide input "
            "tensor in (N, C, d1, d2, ...,dK) format and "
            f"{'output size' if letter == 'o' else what} in {dims} format."
        )
    return list(value)


def _sizes(
    x: Tensor, size: Any, scale_factor: Any, recompute: bool | None
) -> tuple[tuple[int, ...], tuple[float | None, ...]]:
    """(sizes of the result, factors as far as they count)."""
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    none = (None,) * (x.ndim - 2)
    if size is not None:
        sizes = _given(x, size, "output", "output size of", "o")
        if recompute:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        if not all(isinstance(s, int) for s in sizes) and isinstance(size, (list, tuple)):
            raise TypeError(
                "expected size to be one of int or Tuple[int] or Tuple[int, int] or "
                f"Tuple[int, int, int], but got size with types {[type(s) for s in size]}"
            )
        return tuple(map(_whole, sizes)), none
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    factors = _given(x, scale_factor, "scale_factor", "scale_factor of shape", "s")
    sizes = [float(n * s) for n, s in zip(x.shape[2:], factors, strict=True)]
    if not all(abs(s) < 2.0**63 for s in sizes):
        raise RuntimeError("value cannot be converted to type int64_t without overflow")
    found = tuple(map(math.floor, sizes))
    return found, none if recompute else tuple(map(float, factors))


def _whole(value: Any) -> int:
    if isinstance(value, float):
        raise TypeError("interpolate(): sizes must be ints, not floats")
    return int(value)


def _check_mode(x: Tensor, mode: str, align_corners: Any, antialias: bool) -> None:
    if mode not in _ALIGNED and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear "
            "| bicubic | trilinear"
        )
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and x.ndim == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires "
            "a 4-D tensor as input"
        )
    if mode == "lanczos" and x.ndim == 4 and not antialias:
        raise ValueError("Lanczos mode requires antialias=True")


def _kind(x: Tensor, mode: str, antialias: bool) -> tuple[str, str]:
    """(the operation, the weights it uses)."""
    n = x.ndim - 2
    if n in (1, 2, 3):
        if mode in ("nearest", "nearest-exact"):
            return f"{mode.replace('-', '_')}{n}d", mode
        if mode in _NEEDS:
            if x.ndim != _NEEDS[mode]:
                raise NotImplementedError(
                    f"Got {x.ndim}D input, but {mode} mode needs {_NEEDS[mode]}D input"
                )
            return f"{mode}{n}d" + "_aa" * antialias, "linear"
        if n == 2 and mode in ("bicubic", "lanczos"):
            return f"{mode}2d" + "_aa" * antialias, mode.removeprefix("bi")
    raise NotImplementedError(
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {x.ndim}D) for the modes: "
        f"{_MODES} (got {mode})"
    )


def _check_sizes(x: Tensor, size: tuple[int, ...]) -> None:
    n, given = len(size), tuple(x.shape[2:])
    if min(size) <= 0 or min(given) <= 0:
        names = "DHW"[-n:]
        shown = [
            ", ".join(f"{a}: {s}" for a, s in zip(names, v, strict=True)) for v in (given, size)
        ]
        joint = " and output" if n == 1 else " output"
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input ({shown[0]}){joint} "
            f"({shown[1]})"
        )
    if x.numel() == 0 and prod(x.shape[1:]) == 0:
        raise RuntimeError(
            f"Non-empty {n + 2}D data tensor expected but got a tensor with sizes {list(x.shape)}"
        )


def _check_dtype(x: Tensor, name: str, weights: str) -> None:
    allowed: tuple[Any, ...] = (*FLOATING, dtypes.uint8)
    if name.endswith("aa"):
        allowed, kernel = (*FLOATING[:2], dtypes.uint8), "compute_index_ranges_weights"
    elif weights.startswith("nearest"):
        kernel = "compute_indices_weights_nearest"
        if x.ndim == 4:
            kernel = "upsample_nearest2d_channels_last"
    elif name == "bilinear2d":
        kernel = "upsample_bilinear2d_channels_last"
    else:
        kernel = f"compute_indices_weights_{weights}"
        if weights == "linear":
            allowed = FLOATING
    refuse_dtypes(x, kernel, *allowed)


def _settings(
    x: Tensor, size: Any, scale_factor: Any, mode: str, align: Any, recompute: Any, smooth: bool
) -> tuple[Any, ...]:
    """(the operation, its static arguments), checked."""
    _check_mode(x, mode, align, smooth)
    sizes, factors = _sizes(x, size, scale_factor, recompute)
    if mode == "area" and x.ndim in _AREA:
        return "area", sizes
    name, weights = _kind(x, mode, smooth)
    _check_sizes(x, sizes)
    _check_dtype(x, name, weights)
    return name, weights, sizes, bool(align), factors, smooth


@public
def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """The input (N, C, *) at other sizes: ``size``, or the input's times ``scale_factor``.

    ``mode`` is nearest, nearest-exact, linear (lines), bilinear, bicubic (images), trilinear
    (volumes), area or, with ``antialias``, lanczos.
    """
    given = (size, scale_factor, mode, align_corners, recompute_scale_factor, antialias)
    name, *statics = remembered(_settings, (input,), given)
    found: Tensor = (_AREA[input.ndim] if name == "area" else _nodes[name])(input, *statics)
    return found


# --- older names ----------------------------------------------------------------------------------


def _warn(name: str) -> None:
    warnings.warn(
        f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.",
        UserWarning,
        stacklevel=3,
    )


def upsample(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """``interpolate``; deprecated."""
    _warn("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """``interpolate`` by the nearest element; deprecated."""
    _warn("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """``interpolate`` linearly between aligned corners; deprecated."""
    _warn("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
