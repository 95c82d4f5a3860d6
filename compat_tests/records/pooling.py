"""Average, adaptive and fractional pooling, norms, unpooling."""

from __future__ import annotations

from typing import Any

from .base import FLOATS, REAL, A, D, N, record

APART: dict[str, Any] = {"distinct": True}
POSITIVE: dict[str, Any] = {"low": 0.5, "high": 2.0}


def functional(name: str, *samples: Any, **kw: Any) -> None:
    """A record of a function of ``torch.nn.functional``."""
    public = name.removeprefix("nn.").partition(".")[0]
    record(name, lambda T, *args: getattr(T.nn.functional, public)(*args), *samples, **kw)


functional(
    "avg_pool1d",
    (A(2, 3, 8), 2),
    (A(3, 9), (3,), (2,), (1,), True, False),
    bad=[
        (A(8), 2),
        (A(2, 3, 8), (2, 2)),
        (A(2, 3, 8), 0),
        (A(2, 3, 8), 2, 2, 2),
        (A(2, 3, 8), 20),
    ],
    dtypes=REAL,
)
functional(
    "avg_pool2d",
    (A(2, 3, 6, 5), 2),
    (A(2, 7, 7), (3, 2), (2, 1), (1, 0), True, False),
    (A(2, 2, 7, 7), 3, 2, 1, True, True),
    (A(2, 3, 6, 5, lay="p"), (2, 3), None, 1, False, True, 4),
    (A(2, 3, 4, 4, lay="t"), 2, 1),
    covers="avg_pool2d_of avg_pool_grad avg_pool_of",
    bad=[
        (A(8, 8), 2),
        (A(2, 3, 8, 8), (2, 2, 2)),
        (A(2, 3, 8, 8), 2, (2, 2, 2)),
        (A(2, 3, 8, 8), 2, 2, (1, 1, 1)),
        (A(2, 3, 8, 8), 2, 0),
        (A(2, 3, 8, 8), 2, 2, -1),
        (A(2, 3, 8, 8), 20),
        (A(2, 3, 8, 8), 2, 2, 0, False, True, 0),
        (A(1, 0, 4, 4), 2),
    ],
    dtypes=REAL,
)
functional(
    "avg_pool3d",
    (A(1, 2, 4, 4, 5), 2),
    (A(2, 5, 4, 5), (3, 2, 2), (2, 1, 2), (1, 1, 0), True, False),
    covers="avg_pool3d_of",
    bad=[
        (A(8, 8), 2),
        (A(1, 2, 4, 4, 4), (2, 2)),
        (A(1, 2, 4, 4, 4), 2, 2, 2),
        (A(1, 2, 4, 4, 4), 20),
    ],
    dtypes=REAL,
)
for _n, _shape in ((1, (7,)), (2, (7, 6)), (3, (5, 4, 6))):
    _sizes = [3, 1, (2,) * _n]
    functional(
        f"adaptive_avg_pool{_n}d",
        *((A(2, 3, *_shape), s) for s in _sizes),
        (A(3, *_shape, lay="t"), 2),
        *([(A(1, 2, 4, 6), (None, 3)), (A(2, 3, 4, 6), 2)] if _n == 2 else []),
        covers=f"adaptive_avg_pool{max(_n, 2)}d_of adaptive_avg_pool_grad adaptive_avg_pool_of",
        bad=[(A(3), 2), (A(2, 3, *_shape), (2,) * 4), (A(1, 1, *_shape[:-1], 0), 2)],
        dtypes=REAL,
    )
    functional(
        f"adaptive_max_pool{_n}d",
        *((A(2, 3, *_shape, **APART), s, True) for s in _sizes),
        (A(3, *_shape, lay="t", **APART), 2, False),
        covers=f"adaptive_max_pool{max(_n, 2)}d_of",
        bad=[(A(3), 2), (A(1, 1, *_shape[:-1], 0), 2)],
        dtypes=REAL,
    )
    functional(
        f"adaptive_max_pool{_n}d_with_indices",
        (A(2, 3, *_shape, **APART), 2),
        (A(3, *_shape, **APART), 3),
        dtypes=FLOATS,
    )
    functional(
        f"lp_pool{_n}d",
        (A(2, 3, *_shape, **POSITIVE), 2, 2),
        (A(3, *_shape, **POSITIVE), 3.0, 2, 1, True),
        dtypes=FLOATS,
    )
record(
    "adaptive_max_pool1d.torch",
    lambda T, x, s: T.adaptive_max_pool1d(x, s),
    (A(2, 3, 7, **APART), 3),
    (A(3, 7, **APART), 2),
    dtypes=FLOATS,
)
for _n in (1, 2, 3):
    record(
        f"max_pool{_n}d.torch",
        lambda T, x, k, n=_n: getattr(T, f"max_pool{n}d")(x, k),
        (A(2, 3, *(6,) * _n, **APART), 2),
        (A(3, *(5,) * _n, **APART), 3),
        dtypes=FLOATS,
    )
for _n in (1, 2, 3):
    record(
        f"max_pool{_n}d.whole",
        lambda T, x, k, again, n=_n: getattr(T.nn.functional, f"max_pool{n}d")(
            x, k, return_indices=again
        ),
        (A(2, 3, *(6,) * _n), 2, True),
        (A(3, *(5,) * _n), 3, _n == 2),
        dtypes=("int64", "int32", "uint8"),
    )
record(
    "max_pool1d_with_indices",
    lambda T, x, k: T.max_pool1d_with_indices(x, k),
    (A(2, 3, 6, **APART), 2),
    (A(3, 5, **APART), 3),
    dtypes=FLOATS,
)

# --- fractional -----------------------------------------------------------------------------------

for _n in (2, 3):
    functional(
        f"fractional_max_pool{_n}d",
        (A(2, 3, *(6,) * _n, **APART), 2, 3, None, True, D(2, 3, _n, low=0.0, high=0.99)),
        (A(3, *(7,) * _n, **APART), 2, None, (0.5,) * _n, False, D(1, 3, _n, low=0.0, high=0.99)),
        (A(2, 2, *(5,) * _n, **APART), 2, 1, None, True, D(2, 2, _n, low=0.0, high=0.99)),
        covers=f"fractional_max_pool{_n}d_of",
        bad=[(A(2, 3, *(6,) * _n), 2), (A(2, 3, *(6,) * _n), 9, 3)],
        dtypes=FLOATS[:2],
        batchable=False,
    )

# --- unpooling ------------------------------------------------------------------------------------


def _unpooled(n: int) -> Any:
    """Pools, and puts the maxima back."""

    def call(T: Any, x: Any, *args: Any) -> Any:
        F = T.nn.functional
        values, indices = getattr(F, f"max_pool{n}d")(x, *args, return_indices=True)
        return getattr(F, f"max_unpool{n}d")(values, indices, *args)

    return call


for _n in (1, 2, 3):
    record(
        f"max_unpool{_n}d",
        _unpooled(_n),
        (A(2, 3, *(6,) * _n, **APART), 2),
        (A(3, *(6,) * _n, **APART), 3, 3),
        covers=f"max_unpool{max(_n, 2)}d_of",
        dtypes=FLOATS,
    )
    functional(
        f"max_unpool{_n}d.indices",
        (A(2, 3, *(1,) * _n), N(2, 3, *(1,) * _n, high=2**_n), 2),
        bad=[
            (A(2, 3, *(4,) * _n), N(2, 3, *(4,) * _n, low=999, high=1000), 2),
            (A(2, 3, *(4,) * _n), N(2, 3, *(3,) * _n, high=1), 2),
            (A(2, 3, *(4,) * _n), D(2, 3, *(4,) * _n), 2),
            (A(2, 3, *(4,) * _n), N(2, 3, *(4,) * _n, high=1), 2, None, 0, (30,) * _n),
            (A(2, 3, *(4,) * _n), N(2, 3, *(4,) * _n, high=1), 2, None, 0, (30,) * (_n + 1)),
        ],
        dtypes=FLOATS,
    )
