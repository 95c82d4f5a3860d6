"""Interpolation, and sampling at the places of a grid."""

from __future__ import annotations

from typing import Any

from .base import FLOATS, A, D, record
from .pooling import functional

_ALL = (*FLOATS, "uint8", "int64")


def interpolated(mode: str, *samples: Any, **kw: Any) -> None:
    """A record of ``interpolate`` in one mode: (input, size, factor, align, recompute, smooth)."""
    record(
        f"interpolate.{mode}",
        lambda T, x, size, factor=None, align=None, again=None, smooth=False: (
            T.nn.functional.interpolate(x, size, factor, mode, align, again, smooth)
        ),
        *samples,
        **kw,
    )


for _mode in ("nearest", "nearest-exact"):
    _title = _mode.replace("-", "_")
    interpolated(
        _mode,
        (A(2, 3, 5), 8),
        (A(2, 3, 4, 5), None, 2),
        (A(2, 3, 4, 5), (3, 7)),
        (A(1, 2, 4, 3, 5), None, (1.5, 2.0, 0.5)),
        (A(1, 2, 4, 5, lay="t"), None, 1.7),
        covers=" ".join(f"upsample_{_title}{n}d" for n in (1, 2, 3)) + " resample_grad resample",
        bad=[
            (A(1, 2, 4, 4), None),
            (A(1, 2, 4, 4), 3, 2.0),
            (A(1, 2, 4, 4), (3, 3, 3)),
            (A(1, 2, 4, 4), None, (3.0, 3.0, 3.0)),
            (A(1, 2, 4, 4), 3, None, True),
            (A(1, 2, 4, 4), 0),
            (A(1, 2, 4), 0),
            (A(1, 0, 4, 4), 3),
            (A(4, 4), 3),
            (A(1, 2, 4, 4), 3, None, None, True),
            (A(1, 2, 4, 4), 3, None, None, None, True),
        ],
        dtypes=_ALL,
    )
for _mode, _shape, _name in (
    ("linear", (5,), "linear1d"), ("bilinear", (4, 5), "bilinear2d"),
    ("trilinear", (3, 4, 5), "trilinear3d"), ("bicubic", (4, 5), "bicubic2d"),
):  # fmt: skip
    interpolated(
        _mode,
        (A(2, 3, *_shape), 7),
        (A(2, 3, *_shape), None, 2, True),
        (A(1, 2, *_shape), None, 1.7, False),
        (A(1, 2, *_shape), None, 0.6, False, True),
        (A(1, 2, *_shape, lay="t"), 3),
        covers=f"upsample_{_name} resample_grad",
        bad=[(A(1, 2, 4, 4, 4, 4), 3), (A(1, 1, *_shape[:-1], 0), 3), (A(1, 2, *_shape), 0)],
        dtypes=FLOATS,
    )
for _mode in ("bilinear", "bicubic", "lanczos"):
    record(
        f"interpolate.{_mode}.antialias",
        lambda T, x, size, factor=None, m=_mode: T.nn.functional.interpolate(
            x, size, factor, m, antialias=True
        ),
        (A(1, 2, 7, 9), (3, 12)),
        (A(1, 2, 8, 8), None, 0.4),
        covers=f"upsample_{_mode}2d_aa",
        bad=[(A(1, 2, 7), 3)],
        dtypes=FLOATS[:2],
    )
interpolated("area", (A(2, 3, 7), 3), (A(2, 3, 7, 6), None, 0.5), dtypes=FLOATS)
interpolated("lanczos", (A(1, 1, 4, 4), 3, None, None, None, True), bad=[(A(1, 1, 4, 4), 3)],
             dtypes=FLOATS[:2])  # fmt: skip
for _name in ("upsample", "upsample_nearest", "upsample_bilinear"):
    functional(_name, (A(1, 2, 3, 4), 5), (A(1, 2, 3, 4), None, 2), dtypes=FLOATS)

# --- grids ----------------------------------------------------------------------------------------


def sampled(name: str, shape: tuple[int, ...], *samples: Any, **kw: Any) -> None:
    """A record of ``grid_sample`` for images or volumes."""
    out = (3, 4)[: len(shape)] if len(shape) == 2 else (2, 3, 2)
    x = A(2, 2, *shape)
    grid = A(2, *out, len(shape), low=-1.3, high=1.3)
    record(
        f"grid_sample.{name}",
        lambda T, x, g, *args: T.nn.functional.grid_sample(x, g, *args),
        *((x, grid, *s) for s in samples),
        dtypes=FLOATS[: 1 if name == "bicubic" else 2],  # its second derivatives lose digits
        **kw,
    )


for _mode in ("bilinear", "nearest", "bicubic"):
    sampled(
        _mode,
        (4, 5),
        (_mode, "zeros", False),
        (_mode, "border", True),
        (_mode, "reflection", False),
        (_mode, "reflection", True),
        covers="grid_sampler_2d_of",
        bad=[(A(2, 3, 4, 4), A(1, 3, 3, 2), _mode), (A(2, 3, 4, 4), A(2, 3, 3, 3), _mode)],
    )
for _mode in ("bilinear", "nearest"):
    sampled(
        f"{_mode}.volumes",
        (3, 4, 3),
        (_mode, "zeros", False),
        (_mode, "border", False),
        (_mode, "reflection", True),
        covers="grid_sampler_3d_of",
        bad=[(A(2, 3, 4, 4, 4), A(2, 3, 3, 3, 3), "bicubic"), (A(2, 3, 4), A(2, 3, 1), _mode)],
    )
functional(
    "grid_sample.values",
    *(
        (D(2, 2, 4, 5), D(2, 3, 4, 2, low=-1.3, high=1.3), m, p, False)
        for m in ("bicubic", "bilinear")
        for p in ("zeros", "border")
    ),
    dtypes=FLOATS[:2],
)
for _name, _shape, _grid in (
    ("grid_sampler", (4, 5), (3, 3, 2)), ("grid_sampler_2d", (4, 5), (3, 3, 2)),
    ("grid_sampler_3d", (3, 4, 5), (2, 3, 3, 3)),
):  # fmt: skip
    record(
        _name,
        lambda T, x, g, *args, n=_name: getattr(T, n)(x, g, *args),
        (A(2, 2, *_shape), A(2, *_grid), 0, 0, False),
        (A(1, 2, *_shape), A(1, *_grid), 1, 1, True),
        dtypes=FLOATS[:2],
    )
record(
    "affine_grid",
    lambda T, theta, size, align=False: T.nn.functional.affine_grid(theta, size, align),
    (A(2, 2, 3), (2, 1, 3, 4)),
    (A(2, 3, 4), (2, 1, 3, 2, 4), True),
    covers="affine_grid_of affine_grid_grad",
    bad=[
        (A(2, 2, 2), (2, 1, 3, 3)),
        (A(2, 2, 3), (2, 1, 3)),
        (A(2, 2, 3), (2, 1, 0, 3)),
        (A(1, 2, 3), (2, 1, 3, 3)),
    ],
    dtypes=FLOATS[:2],
)
record(
    "affine_grid_generator",
    lambda T, theta, size: T.affine_grid_generator(theta, size, False),
    (A(2, 2, 3), (2, 1, 3, 4)),
    dtypes=FLOATS[:2],
)
