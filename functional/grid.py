"""Sampling at the places of a grid, and affine grids, as functions."""

from __future__ import annotations

import warnings
from typing import Any

from .ops.dtype_checks import expect_type
from .ops.grid import CUBIC, affine_grid_of, grid_samples
from .ops.pooling import FLOATING, refuse_dtypes
from .tape.op import public
from .tensor import Tensor

_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
_PADDING = {"zeros": 0, "border": 1, "reflection": 2}
_CHANGED = (
    "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. "
    "Please specify align_corners=True if the old behavior is desired. See the documentation of "
    "grid_sample for details."
)


def _check(x: Tensor, grid: Tensor) -> None:
    shapes = f"but got input with sizes {list(x.shape)} and grid with sizes {list(grid.shape)}"
    if x.shape[0] != grid.shape[0]:
        raise RuntimeError(
            f"grid_sampler(): expected grid and input to have same batch size, {shapes}"
        )
    if grid.shape[-1] != x.ndim - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {x.ndim - 2} in last dimension, but got "
            f"grid with sizes {list(grid.shape)}"
        )
    for i in range(2, x.ndim):
        if x.shape[i] == 0:
            raise RuntimeError(
                "grid_sampler(): expected input to have non-empty spatial dimensions, but input "
                f"has sizes {list(x.shape)} with dimension {i} being empty"
            )


def _check_ranks(x: Tensor, grid: Tensor, n: int) -> None:
    if x.ndim != n + 2 or grid.ndim != x.ndim:
        raise RuntimeError(
            f"grid_sampler(): expected {n + 2}D input and grid with same number of dimensions, but "
            f"got input with sizes {list(x.shape)} and grid with sizes {list(grid.shape)}"
        )


def _sampled(x: Tensor, grid: Tensor, mode: int, padding: int, align: bool, n: int) -> Tensor:
    kernel = "grid_sampler_2d_cpu_kernel_impl" if n == 2 else "grid_sampler3d_cpu"
    refuse_dtypes(x, kernel, *FLOATING)
    expect_type(x.dtype, grid)
    found: Tensor = grid_samples[n](x, grid, mode, padding, bool(align))
    return found


@public
def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """The values of (N, C, *) at the places of ``grid`` (N, *out, dims), from -1 to 1."""
    n = 2 if input.ndim == 4 else 3
    if grid.ndim and input.ndim:
        _check(input, grid)
    _check_ranks(input, grid, n)
    if n == 3 and interpolation_mode == CUBIC:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    return _sampled(input, grid, interpolation_mode, padding_mode, align_corners, n)


def _sampler(n: int) -> Any:
    def sampler(
        input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
    ) -> Tensor:
        _check_ranks(input, grid, n)
        _check(input, grid)
        if n == 3 and interpolation_mode == CUBIC:
            raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
        return _sampled(input, grid, interpolation_mode, padding_mode, align_corners, n)

    sampler.__name__ = sampler.__qualname__ = f"grid_sampler_{n}d"
    sampler.__doc__ = f"``grid_sampler`` over {n} spatial dimensions."
    return public(sampler)


grid_sampler_2d, grid_sampler_3d = _sampler(2), _sampler(3)


@public
def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """The values of (N, C, *) at the places of ``grid`` (N, *out, dims), from -1 to 1.

    The grid's last dimension is x, y (and z); ``padding_mode`` says what lies outside.
    """
    if mode not in _MODES:
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', "
            f"but got: '{mode}'"
        )
    if padding_mode not in _PADDING:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or "
            f"'reflection', but got: '{padding_mode}'"
        )
    if align_corners is None:
        warnings.warn(_CHANGED, UserWarning, stacklevel=2)
        align_corners = False
    return grid_sampler(input, grid, _MODES[mode], _PADDING[padding_mode], align_corners)


# --- affine grids ---------------------------------------------------------------------------------


@public
def affine_grid_generator(theta: Tensor, size: Any, align_corners: bool) -> Tensor:
    """The grid (N, *spatial, dims) of affine maps ``theta`` (N, dims, dims + 1)."""
    sizes = tuple(int(s) for s in size)
    if theta.shape[0] != sizes[0]:
        dims = len(sizes) - 1
        raise RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{sizes[0]}, {dims}] but got: [{theta.shape[0]}, {dims}]."
        )
    found: Tensor = affine_grid_of(theta, sizes, bool(align_corners))
    return found


def _check_theta(theta: Tensor, size: Any) -> None:
    if not theta.dtype.is_floating_point:
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if len(size) not in (4, 5):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
            f"respectively. Got size {size}."
        )
    n = len(size) - 2
    if theta.ndim != 3 or theta.shape[-2] != n or theta.shape[-1] != n + 1:
        raise ValueError(
            f"Expected a batch of {n}D affine matrices of shape Nx{n}x{n + 1} for size {size}. Got "
            f"{theta.shape}."
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")


@public
def affine_grid(theta: Tensor, size: Any, align_corners: bool | None = None) -> Tensor:
    """The grid (N, *spatial, dims) of affine maps ``theta`` for a result of ``size`` (N, C, *)."""
    if align_corners is None:
        warnings.warn(_CHANGED, UserWarning, stacklevel=2)
        align_corners = False
    _check_theta(theta, size)
    if align_corners and min(size[2:]) == 1:
        warnings.warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when "
            "align_corners=True. This is not an intended use case of affine_grid. See the "
            "documentation of affine_grid for details.",
            UserWarning,
            stacklevel=2,
        )
    return affine_grid_generator(theta, size, align_corners)
