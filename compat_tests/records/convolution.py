"""Transposed convolutions, even kernels with padding='same', whole and complex numbers."""

from __future__ import annotations

from typing import Any

from .base import FLOATS, A, record


def transposed(n: int, *samples: Any, bad: Any = ()) -> None:
    """A record of ``conv_transpose1d``, ``conv_transpose2d`` or ``conv_transpose3d``."""
    record(
        f"conv_transpose{n}d",
        lambda T, *args: getattr(T.nn.functional, f"conv_transpose{n}d")(*args),
        *samples,
        bad=list(bad),
        dtypes=FLOATS,
    )


transposed(
    1,
    (A(2, 3, 5), A(3, 4, 3), A(4)),
    (A(4, 5), A(4, 2, 3), None, 2, 1, 1, 2, 2),
    bad=[(A(2, 3, 8), A(3, 4, 2), A(4), 1, 0, 1)],
)
transposed(
    2,
    (A(2, 3, 4, 5), A(3, 4, 3, 2), A(4)),
    (A(2, 4, 3, 4), A(4, 2, 3, 3), A(4), (2, 1), (1, 2), (1, 0), 2, (1, 2)),
    (A(3, 4, 4), A(3, 2, 2, 2), None, 2),
    (A(1, 3, 4, 5, lay="p"), A(3, 4, 3, 2, lay="t"), A(4)),
    bad=[
        (A(2, 3, 8, 8), A(4, 3, 3, 3)),
        (A(2, 3, 8, 8), A(3, 4, 3, 3), A(3)),
        (A(3, 3), A(3, 4, 3, 3)),
        (A(2, 3, 8, 8), A(3, 4, 3, 3), None, 1, 0, 1),
        (A(2, 3, 8, 8), A(3, 4, 3, 3), None, 1, 0, -1),
        (A(2, 3, 8, 8), A(3, 4, 3, 3), None, 0),
        (A(2, 3, 8, 8), A(3, 4, 3, 3), None, 1, -1),
        (A(2, 3, 8, 8), A(3, 4, 3, 3), None, (1, 1, 1)),
        (A(2, 3, 8, 8), A(3, 4, 3, 3), None, 1, 0, 0, 2),
    ],
)
transposed(
    3,
    (A(1, 2, 3, 3, 2), A(2, 2, 2, 2, 2), A(2)),
    (A(1, 2, 2, 3, 2), A(2, 1, 3, 2, 2), None, 2, 1, 1, 2),
)

# --- other numbers and margins --------------------------------------------------------------------

WHOLE = ("int64", "int32", "uint8", "bool", "complex128", "complex64")
for _n in (1, 2, 3):
    record(
        f"conv{_n}d.whole",
        lambda T, *args, n=_n: getattr(T.nn.functional, f"conv{n}d")(*args),
        (A(2, 2, *(4,) * _n), A(2, 2, *(2,) * _n), A(2)),
        (A(2, *(5,) * _n), A(2, 2, *(2,) * _n), None, 1, 0, 2),
        dtypes=WHOLE,
    )
    record(
        f"conv_transpose{_n}d.whole",
        lambda T, *args, n=_n: getattr(T.nn.functional, f"conv_transpose{n}d")(*args),
        (A(2, 2, *(3,) * _n), A(2, 2, *(2,) * _n), A(2)),
        (A(2, *(3,) * _n), A(2, 2, *(2,) * _n), None, 2),
        dtypes=WHOLE,
    )
    record(
        f"conv{_n}d.same",
        lambda T, *args, n=_n: getattr(T.nn.functional, f"conv{n}d")(*args),
        (A(2, 2, *(4,) * _n), A(2, 2, *(2,) * _n), A(2), 1, "same"),
        (A(2, *(5,) * _n), A(2, 2, *(4,) * _n), None, 1, "same", 1),
        bad=[(A(1, 2, *(4,) * _n), A(2, 2, *(2,) * _n), None, 1, "foo")],
        dtypes=FLOATS[:2],
    )
record(
    "convolution",
    lambda T, *args: T.convolution(*args),
    (A(2, 3, 5, 5), A(4, 3, 3, 3), A(4), [1, 1], [1, 0], [1, 1], False, [0, 0], 1),
    (A(2, 3, 5), A(3, 4, 3), None, [2], [1], [1], True, [1], 1),
    dtypes=FLOATS[:2],
)
for _name in ("conv1d", "conv2d", "conv3d", "conv_transpose2d"):
    _k = int(_name[-2])
    record(
        f"{_name}.torch",
        lambda T, x, w, n=_name: getattr(T, n)(x, w),
        (A(2, 3, *(4,) * _k), A(3, 3, *(2,) * _k)),
        dtypes=FLOATS[:1],
    )
record(
    "conv_tbc",
    lambda T, *args: T.nn.functional.conv_tbc(*args),
    (A(6, 2, 3), A(3, 3, 4), A(4), 2),
    (A(5, 1, 2), A(2, 2, 3), A(3)),
    bad=[
        (A(6, 3), A(3, 3, 4), A(4)),
        (A(6, 2, 3), A(3, 4), A(4)),
        (A(6, 2, 3), A(3, 3, 4), A(1, 4)),
        (A(6, 2, 3), A(3, 2, 4), A(4)),
        (A(6, 2, 3), A(3, 3, 4), A(3)),
        (A(1, 2, 3), A(3, 3, 4), A(4)),
        (A(6, 2, 3), A(3, 3, 4), A(4), 1.5),
    ],
    dtypes=FLOATS[:2],
)
