"""Stacking, cutting, rolling, diagonals, sliding windows, view copies, memory laid out as asked."""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import REAL, A, D, In, N, record
from .create import fixed

# --- side by side ---------------------------------------------------------------------------------

for _name in ("hstack", "vstack", "dstack", "column_stack"):
    record(
        _name,
        lambda T, xs, n=_name: getattr(T, n)(xs),
        ([A(3), A(3)],),
        ([A(2, 3), A(2, 3, lay="t")],),
        ([A(), A()],),
        ([A(2, 3, 2), A(2, 3, 2)],),
        jax=lambda J, xs, n=_name: getattr(J, n)(xs),
        out=True,
        bad=[([],)],
        names="row_stack" if _name == "vstack" else (),
    )
for _rank, _name in enumerate(("atleast_1d", "atleast_2d", "atleast_3d"), 1):
    record(
        _name,
        lambda T, x, y, n=_name: [getattr(T, n)(x), *getattr(T, n)(x, y)],
        (A(), A(3)),
        (A(2, 3, lay="t"), A(2, 1, 3)),
    )
record(
    "broadcast_tensors",
    lambda T, x, y: T.broadcast_tensors(x, y),
    (A(3, 1), A(4)),
    (A(), A(2, 3, lay="t")),
    bad=[(A(3), A(4))],
)
fixed(
    "broadcast_shapes",
    lambda T, *s: T.zeros(T.broadcast_shapes(*s)),
    ((2, 1), (3,)),
    ((), (2, 1, 1), (1, 4)),
    (3, (2, 1)),
    bad=[((2,), (3,)), ((-2,), (3,))],
)
record(
    "meshgrid",
    lambda T, x, y, how: T.meshgrid(x, y, indexing=how),
    (A(3), A(2), "ij"),
    (A(3), A(2), "xy"),
    (A(), A(2, lay="s"), "xy"),
    bad=[(A(3), A(2), "yx"), (A(2, 2), A(2), "ij")][:1],
)
record("meshgrid.list", lambda T, xs: T.meshgrid(xs, indexing="xy"), ([A(2), A(), A(3)],))
record(
    "reshape_as",
    lambda T, x, y: x.reshape_as(y),
    (A(2, 3), D(3, 2)),
    (A(2, 3, lay="t"), D(6)),
    bad=[(A(2, 3), D(4))],
)
record(
    "sum_to_size_method",
    lambda T, x, s: x.sum_to_size(s),
    (A(2, 3), (3,)),
    (A(2, 3), (2, 1)),
    (A(2, 3), ()),
    (A(2, 1, 3), (1, 1)),
    bad=[(A(2, 3), (4,)), (A(3), (2, 3))],
)

# --- cut ------------------------------------------------------------------------------------------

record(
    "tensor_split",
    lambda T, x, c, d: T.tensor_split(x, c, d),
    (A(7, 2), 3, 0),
    (A(2, 5, lay="t"), (1, 4), 1),
    (A(4), (3, 1, 9), 0),
    (A(2), 4, 0),
    bad=[(A(), 2, 0), (A(3), 0, 0)],
)
record("tensor_split.tensor", lambda T, x, c: T.tensor_split(x, c), (A(7, 2), N(2, low=1, high=4)))
for _name, _at in (("hsplit", 1), ("vsplit", 0), ("dsplit", 2)):
    record(
        _name,
        lambda T, x, c, n=_name: getattr(T, n)(x, c),
        (A(4, 4, 4), 2),
        (A(4, 4, 4, lay="t"), (1, 3)),
        bad=[(A(4, 4, 4), 3), (A(), 2)],
    )
record(
    "split_with_sizes",
    lambda T, x, s, d: T.split_with_sizes(x, s, d),
    (A(5, 2), (2, 3), 0),
    (A(2, 3, lay="t"), (1, 2), 1),
    bad=[(A(5), (2, 2), 0)],
)
record("unsafe_split", lambda T, x: T.unsafe_split(x, 2), A(5, 2), A(4, 3, lay="t"))
record(
    "unsafe_split_with_sizes",
    lambda T, x: T.unsafe_split_with_sizes(x, (1, 3)),
    A(4, 2),
    A(4, 3, lay="t"),
)
record("unsafe_chunk", lambda T, x: T.unsafe_chunk(x, 2, 1), A(2, 5), A(3, 4, lay="t"))

# --- round the ends, turned -----------------------------------------------------------------------

record(
    "roll",
    lambda T, x, s, d: T.roll(x, s, d),
    (A(3, 4), 1, ()),
    (A(3, 4, lay="t"), (1, -2), (0, 1)),
    (A(3, 4), (5,), (-1,)),
    (A(0, 3), 1, 0),
    (A(), 1, ()),
    jax=lambda J, x, s, d: J.roll(x, s, d if d != () else None),
    covers="roll_dims",
    bad=[(A(3), (1, 2), (0,)), (A(3), (), ()), (A(3), 1, 1)],
)
record(
    "rot90",
    lambda T, x, k, d: T.rot90(x, k, d),
    (A(2, 3), 1, (0, 1)),
    (A(2, 3, lay="t"), 2, (0, 1)),
    (A(2, 3, 4), -1, (2, 0)),
    (A(2, 3, lay="s"), 4, (0, 1)),
    jax=lambda J, x, k, d: J.rot90(x, k, d),
    covers="rot90_plane",
    bad=[(A(3), 1, (0, 1)), (A(2, 3), 1, (0, 0)), (A(2, 3), 1, (0,)), (A(2, 3), 1, (0, 2))],
)
record(
    "fliplr", lambda T, x: T.fliplr(x), A(2, 3), A(2, 3, lay="t"), jax=lambda J, x: J.fliplr(x),
    bad=[A(3)],
)  # fmt: skip
record("flipud", lambda T, x: T.flipud(x), A(2, 3), A(3), jax=lambda J, x: J.flipud(x), bad=[A()])
record(
    "tile",
    lambda T, x, n: T.tile(x, n),
    (A(2, 3), (2,)),
    (A(2, lay="s"), (2, 3)),
    (A(2, 3), (2, 0)),
    jax=lambda J, x, n: J.tile(x, n),
)
record(
    "adjoint",
    lambda T, x: [T.adjoint(x), x.mH],
    A(2, 3),
    A(2, 3, 4, lay="t"),
    dtypes=REAL,
    bad=[A(3)],
)

# --- diagonals, windows ---------------------------------------------------------------------------

record(
    "diag",
    lambda T, x, k: T.diag(x, k),
    (A(3), 0),
    (A(3, 4), -1),
    (A(3, 4, lay="t"), 2),
    (A(2, lay="s"), 1),
    jax=lambda J, x, k: J.diag(x, k),
    out=True,
    bad=[(A(2, 2, 2), 0), (A(), 0)],
)
record(
    "diag_embed",
    lambda T, x, k, a, b: T.diag_embed(x, k, a, b),
    (A(2, 3), 0, -2, -1),
    (A(3, 2, lay="t"), -1, 0, 2),
    (A(3), 1, 1, 0),
    covers="diag_embed_in",
    bad=[(A(3), 0, 0, 0), (A(3), 0, 0, 3)],
)
record("diagflat", lambda T, x, k: T.diagflat(x, k), (A(2, 2, lay="t"), 0), (A(), -1))
record(
    "unfold",
    lambda T, x, d, n, s: x.unfold(d, n, s),
    (A(7, 2), 0, 3, 2),
    (A(2, 5, lay="t"), 1, 2, 1),
    (A(4), -1, 4, 1),
    (A(), 0, 1, 1),
    (A(5), 0, 2, 3),
    covers="unfold_dim unfold_backward",
    bad=[(A(3), 0, 4, 1), (A(3), 0, -1, 1), (A(3), 0, 1, 0), (A(3), 1, 1, 1)],
)

# --- view copies ----------------------------------------------------------------------------------

_KINDS = ("float64", "float32", "int64", "bool")
_COPIES: dict[str, list[tuple[Any, ...]]] = {
    "alias": [(A(2, 3),), (A(2, 3, lay="t"),)],
    "as_strided": [(A(2, 3), (2, 2), (1, 2))],
    "diagonal": [(A(3, 4),), (A(2, 3, 4, lay="t"), 1, 0, 2)],
    "expand": [(A(3, 1), (2, 3, 4))],
    "narrow": [(A(3, 4), 1, 1, 2), (A(3, 4, lay="t"), 0, 0, 2)],
    "permute": [(A(2, 3, 4), (2, 0, 1))],
    "select": [(A(3, 4), 1, 2), (A(3, 4), 0, -1)],
    "slice": [(A(5, 2), 0, 1, 5, 2), (A(5, 2), 1, -1)],
    "squeeze": [(A(1, 3, 1),), (A(1, 3, 1), 0), (A(1, 3, 1), (0, 2))],
    "t": [(A(2, 3),), (A(3),)],
    "transpose": [(A(2, 3, 4), 0, 2)],
    "unfold": [(A(5, 2), 0, 2, 2)],
    "unsqueeze": [(A(2, 3, lay="t"), 1)],
    "view": [(A(2, 3), (3, 2)), (A(2, 3), (-1,))],
}
for _name, _samples in _COPIES.items():
    record(
        f"{_name}_copy",
        lambda T, x, *a, n=f"{_name}_copy": getattr(T, n)(x, *a),
        *_samples,
        out=_name != "slice",
        dtypes=_KINDS if _name in ("select", "slice") else (*_KINDS, "complex128"),
    )
for _name, _more in (("split", (2,)), ("split_with_sizes", ((1, 4),)), ("unbind", ())):
    record(
        f"{_name}_copy",
        lambda T, x, *a, n=f"{_name}_copy": getattr(T, n)(x, *a),
        (A(5, 2), *_more),
        (A(5, 3, lay="t"), *_more),
        dtypes=_KINDS,
    )

# --- creation -------------------------------------------------------------------------------------

fixed(
    "logspace",
    lambda T, a, b, n, base: T.logspace(a, b, n, base),
    (0, 3, 4, 10.0),
    (-1.3, 2.7, 7, 3.3),
    (1, 2, 1, 2.0),
    (1, 2, 0, 2.0),
    bad=[(0, 1, -1, 2.0)],
)
fixed(
    "linspace.int",
    lambda T, a, b, n, d: T.linspace(a, b, n, dtype=getattr(T, d)),
    (0, 10, 7, "int64"),
    (4.9, 1.2, 5, "int64"),
    (-3, 4, 5, "uint8"),
    (-5, 4.3, 7, "int32"),
    bad=[(0, 1, 2, "bool")],
)
fixed(
    "arange.int",
    lambda T, a, b, s, d: T.arange(a, b, s, dtype=getattr(T, d)),
    (2.1, -2.9, -1, "int64"),
    (0, 5.5, 1, "uint8"),
    (0, 3, 1.5, "int64"),
    (0, 0.9, 1, "int64"),
    bad=[(0, 3, 0.5, "int64")],
)
for _name in ("tril_indices", "triu_indices"):
    fixed(
        _name,
        lambda T, r, c, k, n=_name: getattr(T, n)(r, c, k),
        (3, 4, 1),
        (3, 2, -1),
        (0, 2, 0),
        (2, 2, 5),
        bad=[(-1, 2, 0), (2, -1, 0)],
    )
fixed("scalar_tensor", lambda T, x: T.scalar_tensor(x), (3,), (2.5,))
fixed(
    "empty_strided",
    lambda T, s, t: T.empty_strided(s, t).fill_(1),
    ((2, 3), (1, 2)),
    ((2, 2), (5, 1)),
    bad=[((2, 3), (1,))],
)
fixed(
    "empty_permuted",
    lambda T, s, p: T.empty_permuted(s, p).fill_(1),
    ((2, 3, 4), (2, 0, 1)),
    bad=[((2, 3), (0,)), ((2, 3), (0, 0)), ((2, 3), (0, 2))],
)
fixed("asarray", lambda T, x: T.asarray(x), ((1, 2.5),), (np.arange(3.0),), A(2, 2))
fixed("from_dlpack", lambda T, x: T.from_dlpack(x), (np.arange(3.0),), D(2, 2))
fixed(
    "to_dlpack", lambda T, x: T.from_dlpack(T.to_dlpack(T.from_numpy(x).cpu())), (np.arange(3.0),)
)
fixed("frombuffer", lambda T: T.frombuffer(bytearray(b"abcd"), dtype=T.uint8), ())
fixed(
    "resize_as_",
    lambda T, x, y: [x.clone().resize_as_(y), T.resize_as_(x.clone(), y)],
    (D(2, 3), D(2, 2)),
    (In((2, 3), "t", kind="data"), D(4)),
)

fixed("range", lambda T, *a: T.range(*a), (1, 4), (1, 3, 0.5))
fixed(
    "randint_like",
    lambda T, x, *a: [T.manual_seed(0), T.randint_like(x, *a)][1:],
    (D(3), 5),
    (D(2, 2), 2, 9),
)
fixed(
    "poisson",
    lambda T, x: [T.manual_seed(0), T.poisson(x)][1:],
    A(40, low=0.0, high=9.0),
    A(40, low=10.0, high=300.0),
    bad=[A(3, low=-3.0, high=-1.0)],
)
fixed(
    "binomial",
    lambda T, n, p: [T.manual_seed(0), T.binomial(n, p)][1:],
    (A(40, low=0.0, high=40.0), A(40, low=0.0, high=1.0)),
    (A(2, 30, low=40.0, high=900.0), A(30, low=0.0, high=1.0)),
    bad=[(A(3), A(4)), (A(3), 0.5), (D(3), A(3)), (A(3), D(3))],
)

# --- views in place -------------------------------------------------------------------------------


def in_place(T: Any, x: Any, name: str, *args: Any) -> Any:
    """A copy, recorded, after its geometry has changed."""
    y = x * 1
    return getattr(y, name)(*args)


record(
    "fill_diagonal",
    lambda T, x, w: in_place(T, x, "fill_diagonal_", 3.0, w),
    (A(3, 4), False),
    (A(7, 3), True),
    (A(3, 3, 3), False),
    bad=[(A(3), False), (A(2, 3, 4), False)],
)
