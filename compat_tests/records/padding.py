"""Padding, sliding blocks, shuffles."""

from __future__ import annotations

from typing import Any

from .base import A, D, record
from .pooling import functional

record(
    "constant_pad_nd",
    lambda T, x, *args: T.constant_pad_nd(x, *args),
    (A(2, 3, 4), (1, 2)),
    (A(2, 3, 4), (1, -2, 0, 3), 2),
    (A(2, 3, 4, lay="t"), (0, 0)),
    (A(2, 3, 4, lay="p"), (-1, -1, -1, 0)),
    (A(2, 3, lay="s"), (1, 1, 2, 2)),
    covers="constant_pad",
    bad=[(A(2, 3), (1,)), (A(2, 3), (1,) * 6), (A(2, 3), (-5, 1))],
)


def edges(mode: str, *samples: Any, bad: Any = (), **kw: Any) -> None:
    """A record of ``pad`` in one mode."""
    record(
        f"pad.{mode}",
        lambda T, x, pad, *args: T.nn.functional.pad(x, pad, mode, *args),
        *samples,
        bad=list(bad),
        **kw,
    )


edges(
    "constant",
    (A(2, 3, 4), (1, 2, 3, 0)),
    (A(2, 3), (-1, 1), 1.5),
    bad=[(A(2, 3), (1,)), (A(2, 3), (1,) * 6)],
)
_REFLECTED = [
    (A(2, 3, 5), (2, 1)),
    (A(2, 4, 5), (1, 2, 3, 1)),
    (A(1, 2, 4, 5), (0, 4, 2, 0)),
    (A(2, 3, 4, 3), (1, 0, 2, 1, 0, 1)),
    (A(1, 2, 4, 5, lay="t"), (1, 1, 1, 1)),
    (A(2, 2, 5, lay="s"), (-1, 2)),
]
edges(
    "reflect",
    *_REFLECTED,
    covers="reflection_pad1d reflection_pad2d reflection_pad3d reflection_pad_grad reflection_pad",
    bad=[
        (A(2, 3, 4, 5), (1, 1)),
        (A(2, 3, 4), (4, 1)),
        (A(2, 3, 4, 4), (1, 1, 1, 9)),
        (A(2, 3, 8), (-5, -5)),
        (A(2, 3, 8), (1, 1), 1.0),
        (A(1, 0, 3, 2), (1, 1, 1, 1)),
    ],
)
edges(
    "replicate",
    *_REFLECTED,
    (A(2, 3, 2), (5, 4)),
    covers="replication_pad1d replication_pad2d replication_pad3d replication_pad_grad "
    "replication_pad",
    bad=[(A(1, 3, 0), (1, 1)), (A(2, 3, 8), (-5, -5)), (A(2, 3, 4, 5), (1, 1))],
)
edges(
    "circular",
    *_REFLECTED[:4],
    (A(2, 3, 5), (5, 3)),
    (A(2, 2, 5), (-1, 2)),
    bad=[(A(2, 3, 4), (5, 1)), (A(2, 3, 4), (-9, 1)), (A(2, 3, 4, 5), (1, 1))],
)

# --- blocks ---------------------------------------------------------------------------------------

functional(
    "nn.unfold",
    (A(2, 3, 5, 6), 2),
    (A(2, 5, 5), (2, 3), (2, 1), (1, 0), (1, 2)),
    (A(1, 2, 4, 4, lay="t"), 2, 1, 1, 2),
    covers="im2col col2im",
    bad=[
        (A(3, 3), 2),
        (A(1, 2, 4, 4), 20),
        (A(1, 2, 4, 4), 0),
        (A(1, 2, 4, 4), 2, 1, 0, 0),
        (A(1, 2, 4, 4), (2, 2, 2)),
        (A(1, 2, 4, 4), 2, 1, -1),
        (A(1, 2, 4, 4), 2, 0),
    ],
)
functional(
    "nn.fold",
    (A(2, 12, 20), (5, 6), 2),
    (A(8, 9), (4, 4), 2),
    (A(2, 8, 9, lay="t"), (4, 4), (2, 2), 1, (1, 1), (2, 2)),
    covers="col2im im2col",
    bad=[
        (A(3), (4, 4), 2),
        (A(1, 3, 9), (4, 4), 2),
        (A(1, 4, 8), (4, 4), 2),
        (A(1, 4, 8), (4, 4, 4), 2),
        (A(1, 4, 8), (4, 4), 2, 1, 0, 0),
    ],
)
for _name, _shape in (("pixel_shuffle", (8, 2, 3)), ("pixel_unshuffle", (3, 4, 6))):
    record(
        _name,
        lambda T, x, r, n=_name: getattr(T, n)(x, r),
        (A(2, *_shape), 2),
        (A(*_shape), 1),
        (A(2, 2, *_shape, lay="t"), 2),
        covers=f"{_name}_of",
        bad=[(A(3, 3), 2), (A(2, 3, 3, 3), 2), (A(2, 3, 4, 4), 0)],
    )
record(
    "channel_shuffle",
    lambda T, x, groups: T.channel_shuffle(x, groups),
    (A(2, 6, 3), 2),
    (A(1, 6, 2, 3), 3),
    (A(2, 4, 3, lay="t"), 2),
    covers="channel_shuffle_of",
    bad=[(A(3, 3), 3), (A(2, 3, 4), 2), (A(2, 3, 4), 0)],
)
record(
    "native_channel_shuffle",
    lambda T, x, groups: T.native_channel_shuffle(x, groups),
    (D(2, 6, 3), 2),
    (D(1, 6, 2, 2), 3),
)
