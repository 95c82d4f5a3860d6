"""Views: the same memory seen differently. And copies: cat, stack, flip, repeat."""

from __future__ import annotations

from .base import A, record

LAYOUTS = [
    A(2, 3, 4),
    A(2, 3, 4, lay="t"),
    A(2, 3, 4, lay="p"),
    A(2, 3, 4, lay="s"),
    A(2, 3, 4, lay="e"),
]

record(
    "view",
    lambda T, x, s: x.view(s),
    (A(2, 3, 4), (6, 4)),
    (A(), (1, 1)),
    (A(2, 3, 4), (-1,)),
    (A(2, 3, 4), (2, 1, 12)),
    (A(4, 3, lay="t"), (2, 2, 3)),
    (A(4, 6, lay="s"), (2, 2, 6)),
    (A(0, 3), (3, 0)),
    (A(1, 3, 1), (3,)),
    (A(3, 4, lay="e"), (3, 2, 2)),
    (A(1), ()),
    jax=lambda J, x, s: J.reshape(x, s),
    covers="view_as_shape",
    bad=[
        (A(2, 3), (4,)),
        (A(3, 4, lay="t"), (12,)),
        (A(2, 3), (-1, -1)),
        (A(2, 3), (-2, 3)),
        (A(0, 2), (-1, 0)),
        (A(2, 3), (-1, 4)),
    ],
)
record(
    "view_as",
    lambda T, x, y: x.view_as(y),
    (A(2, 6), A(3, 4)),
    jax=lambda J, x, y: x.reshape(3, 4) + 0 * y,
)
record(
    "reshape",
    lambda T, x, s: T.reshape(x, s),
    (A(2, 3, 4), (6, 4)),
    (A(), (1,)),
    (A(3, 4, lay="t"), (12,)),
    (A(3, 4, lay="t"), (3, 4)),
    (A(2, 3, 4, lay="p"), (6, 4)),
    (A(2, 3, 4, lay="s"), (6, 4)),
    (A(2, 3, 4, lay="s"), (24,)),
    (A(3, 4, lay="e"), (12,)),
    (A(0, 3), (0,)),
    (A(2, 1, 3, lay="t"), (2, 3)),
    jax=lambda J, x, s: J.reshape(x, s),
    covers="unsafe_view clone_contiguous view_as_shape",
    bad=[(A(2, 3), (4,))],
)
record(
    "flatten",
    lambda T, x, a, b: T.flatten(x, a, b),
    (A(2, 3, 4), 0, -1),
    (A(), 0, -1),
    (A(2, 3, 4), 1, 2),
    (A(2, 3, 4), 1, 1),
    (A(2, 3, 4, lay="t"), 0, 1),
    (A(2, 3, 4, lay="p"), 1, 2),
    (A(2, 3, 4, lay="p"), 0, 1),
    jax=lambda J, x, a, b: J.reshape(x, _flat_shape(x, a, b)),
    bad=[(A(2, 3), 1, 0), (A(2, 3), 0, 2)],
)
record(
    "unflatten",
    lambda T, x, d, s: T.unflatten(x, d, s),
    (A(2, 12), 1, (3, 4)),
    (A(6), 0, (2, 3)),
    (A(12, 2), 0, (3, -1)),
    (A(4, 6, lay="t"), 1, (2, 3)),
    jax=lambda J, x, d, s: J.reshape(x, (*x.shape[:d], *s, *x.shape[d + 1 :])),
    bad=[(A(2, 12), 1, (5, 2))],
)
record("ravel", lambda T, x: T.ravel(x), *LAYOUTS, A(), jax=lambda J, x: J.ravel(x))
record(
    "t",
    lambda T, x: T.t(x),
    A(3, 4),
    A(),
    A(3),
    A(3, 4, lay="t"),
    A(3, 4, lay="s"),
    jax=lambda J, x: x.T,
    covers="t_of",
    in_place="t_",
    bad=[A(2, 3, 4)],
)
record(
    "transpose",
    lambda T, x, a, b: T.transpose(x, a, b),
    *[(a, 0, 2) for a in LAYOUTS],
    (A(), 0, -1),
    (A(2, 3), 1, 1),
    jax=lambda J, x, a, b: J.swapaxes(x, a, b) if x.ndim else x,
    covers="transpose_dims",
    in_place="transpose_",
    names="swapaxes swapdims",
    bad=[(A(2, 3), 0, 2)],
)
record(
    "permute",
    lambda T, x, d: T.permute(x, d),
    *[(a, (2, 0, 1)) for a in LAYOUTS],
    (A(), ()),
    (A(2, 3), (-1, 0)),
    jax=lambda J, x, d: J.transpose(x, d),
    covers="permute_dims",
    bad=[(A(2, 3), (0,)), (A(2, 3), (0, 0)), (A(2, 3), (0, 2))],
)
record(
    "movedim",
    lambda T, x, a, b: T.movedim(x, a, b),
    (A(2, 3, 4), 0, 2),
    (A(2, 3, 4), (0, 1), (-1, 0)),
    (A(2, 3, 4, lay="p"), 1, 0),
    jax=lambda J, x, a, b: J.moveaxis(x, a, b),
    names="moveaxis",
)
record(
    "expand",
    lambda T, x, s: x.expand(s),
    (A(3, 1), (3, 4)),
    (A(), (2, 3)),
    (A(3), (2, 3)),
    (A(2, 1, 3), (-1, 4, -1)),
    (A(1, 3), (0, 3)),
    (A(1, 1), (2, 1)),
    (A(3, 1, lay="t"), (2, 3, 4)),
    (A(2, 3), (2, 3)),
    jax=lambda J, x, s: J.broadcast_to(x, _expanded(x, s)),
    covers="expand_to sum_to_size",
    bad=[(A(3, 2), (3, 4)), (A(3, 2), (2,)), (A(3), (-1, 3))],
)
record(
    "expand_as",
    lambda T, x, y: x.expand_as(y),
    (A(3, 1), A(3, 4)),
    (A(), A()),
    jax=lambda J, x, y: J.broadcast_to(x, y.shape) + 0 * y,
)
record(
    "broadcast_to",
    lambda T, x, s: T.broadcast_to(x, s),
    (A(3, 1), (2, 3, 4)),
    (A(), (2,)),
    jax=lambda J, x, s: J.broadcast_to(x, s),
)
record(
    "unsqueeze",
    lambda T, x, d: T.unsqueeze(x, d),
    (A(2, 3), 1),
    (A(), 0),
    (A(2, 3), -1),
    (A(2, 3), 0),
    (A(2, 3, lay="t"), 1),
    (A(2, 3, lay="t"), 2),
    (A(3, 4, lay="s"), 2),
    (A(0, 2), 1),
    jax=lambda J, x, d: J.expand_dims(x, d),
    covers="unsqueeze_dim",
    in_place="unsqueeze_",
    bad=[(A(2, 3), 3)],
)
record(
    "squeeze",
    lambda T, x: T.squeeze(x),
    A(1, 3, 1),
    A(),
    A(2, 3),
    A(1, 1),
    A(2, 1, 3, lay="p"),
    jax=lambda J, x: J.squeeze(x),
    covers="squeeze_all",
    in_place="squeeze_",
)
record(
    "squeeze.dim",
    lambda T, x, d: T.squeeze(x, d),
    (A(1, 3, 1), 0),
    (A(), 0),
    (A(1, 3, 1), 1),
    (A(2, 1), -1),
    (A(2, 1, 3, lay="t"), 1),
    jax=lambda J, x, d: J.squeeze(x, d) if x.ndim and x.shape[d] == 1 else x,
    covers="squeeze_dim",
    in_place="squeeze_",
    bad=[(A(2, 3), 2)],
)
record(
    "squeeze.dims",
    lambda T, x, d: T.squeeze(x, d),
    (A(1, 3, 1), (0, 2)),
    (A(1, 3, 1), (0, 1)),
    (A(2, 3), ()),
    jax=lambda J, x, d: J.squeeze(x, tuple(i for i in d if x.shape[i] == 1)),
    covers="squeeze_dims",
    in_place="squeeze_",
)
record(
    "select",
    lambda T, x, d, i: T.select(x, d, i),
    *[(a, 1, 2) for a in LAYOUTS],
    (A(3), 0, -1),
    (A(2, 3), -1, -3),
    jax=lambda J, x, d, i: J.take(x, i, d),
    covers="select_index select_backward",
    bad=[(A(2, 3), 1, 3), (A(), 0, 0), (A(2, 3), 2, 0)],
)
record(
    "narrow",
    lambda T, x, d, a, n: T.narrow(x, d, a, n),
    *[(a, 2, 1, 2) for a in LAYOUTS],
    (A(3), 0, -2, 1),
    (A(3), 0, 3, 0),
    (A(3), 0, 0, 3),
    jax=lambda J, x, d, a, n: J.take(x, J.arange(n) + a % max(x.shape[d], 1), d),
    covers="slice_dim slice_backward",
    bad=[(A(3), 0, 2, 2), (A(3), 0, 4, 1), (A(3), 0, 0, -1), (A(), 0, 0, 1)],
)
record(
    "diagonal",
    lambda T, x, o, a, b: T.diagonal(x, o, a, b),
    (A(3, 4), 0, 0, 1),
    (A(4, 3), 1, 0, 1),
    (A(3, 4), -1, 0, 1),
    (A(2, 3, 4), 0, 0, 2),
    (A(2, 3, 4, lay="p"), 1, -1, 1),
    (A(3, 4, lay="t"), 0, 0, 1),
    (A(2, 2), 5, 0, 1),
    jax=lambda J, x, o, a, b: J.diagonal(x, o, a, b),
    covers="diagonal_of diagonal_backward",
    bad=[(A(3), 0, 0, 1), (A(3, 4), 0, 1, 1)],
)
record(
    "as_strided",
    lambda T, x, s, t, o: T.as_strided(x, s, t, o),
    (A(3, 4), (2, 2), (1, 4), 1),
    (A(6), (3, 3), (1, 1), 0),
    (A(3, 4), (3,), (0,), 5),
    (A(3, 4), (), (), 3),
    (A(3, 4), (0, 2), (1, 1), 0),
    (A(3, 4, lay="t"), (2, 2), (3, 1), 2),
    jax=lambda J, x, s, t, o: _strided(J, x, s, t, o),
    covers="as_strided_in as_strided_in_place strided_put strided_take",
    in_place="as_strided_",
    batchable=False,
    bad=[(A(3), (2,), (1, 1), 0), (A(3), (2, 5), (4, 1), 0), (A(3), (-1,), (1,), 0)],
)
record(
    "unbind",
    lambda T, x, d: T.unbind(x, d),
    (A(2, 3), 0),
    (A(2, 3), 1),
    (A(2, 3, 2, lay="p"), -1),
    (A(0, 2), 0),
    jax=lambda J, x, d: [J.take(x, i, d) for i in range(x.shape[d])],
    covers="unbind_dim",
    bad=[(A(), 0), (A(2), 1)],
)
record(
    "split",
    lambda T, x, n, d: T.split(x, n, d),
    (A(5, 2), 2, 0),
    (A(2, 6), 3, 1),
    (A(3, 4, lay="t"), 3, 0),
    (A(0, 2), 2, 0),
    (A(3), 7, 0),
    jax=lambda J, x, n, d: J.split(x, list(range(n, x.shape[d], n)), d),
    covers="split_sizes",
    bad=[(A(3), 0, 0), (A(3), -1, 0), (A(), 1, 0)],
)
record(
    "split.sizes",
    lambda T, x, n, d: T.split(x, n, d),
    (A(5, 2), (2, 3), 0),
    (A(2, 6), (1, 0, 5), 1),
    jax=lambda J, x, n, d: J.split(x, [sum(n[:i]) for i in range(1, len(n))], d),
    covers="split_with_sizes_",
    bad=[(A(3), (1, 1), 0), (A(3), (4, -1), 0)],
)
record(
    "chunk",
    lambda T, x, n, d: T.chunk(x, n, d),
    (A(5, 2), 2, 0),
    (A(2, 6), 4, 1),
    (A(0, 2), 3, 0),
    (A(2), 5, 0),
    jax=lambda J, x, n, d: J.split(x, _chunks(x.shape[d], n), d),
    bad=[(A(3), 0, 0), (A(), 1, 0)],
)

# --- copies ---------------------------------------------------------------------------------------

record(
    "cat",
    lambda T, xs, d: T.cat(xs, d),
    ([A(2, 3), A(1, 3)], 0),
    ([A(2, 3), A(2, 1), A(2, 0)], 1),
    ([A(3, 4, lay="t"), A(3, 4, lay="t")], 0),
    ([A(2, 3, 4, lay="p"), A(2, 1, 4)], 1),
    ([A(0), A(2, 3)], 0),
    ([A(3)], -1),
    ([A(3, 4, lay="t"), A(3, 4)], 1),
    ([A(0), A(0)], 0),
    jax=lambda J, xs, d: J.concatenate([x for x in xs if x.shape != (0,)] or xs, d),
    covers="cat_of",
    names="concat concatenate",
    out=True,
    bad=[
        ([], 0),
        ([A(2, 3), A(3, 2)], 0),
        ([A(2), A(2, 1)], 0),
        ([A()], 0),
        ([A(2), 1.0], 0),
        (A(2), 0),
        ([A(2)], 1),
    ],
)
record(
    "stack",
    lambda T, xs, d: T.stack(xs, d),
    ([A(2, 3), A(2, 3)], 0),
    ([A(), A()], 0),
    ([A(2, 3), A(2, 3)], -1),
    ([A(3, 4, lay="t"), A(3, 4, lay="t")], 1),
    ([A(0, 2)], 1),
    jax=lambda J, xs, d: J.stack(xs, d),
    covers="stack_of",
    out=True,
    bad=[([], 0), ([A(2), A(3)], 0), ([A(2)], 2), ([A(2), 1], 0)],
)
record(
    "flip",
    lambda T, x, d: T.flip(x, d),
    (A(3, 4), (0,)),
    (A(), ()),
    (A(3, 4), (0, -1)),
    (A(3, 4, lay="t"), (1,)),
    (A(2, 3, 4, lay="p"), (0, 2)),
    (A(3, 4, lay="s"), (1,)),
    (A(0, 2), (0,)),
    jax=lambda J, x, d: J.flip(x, d),
    covers="flip_dims",
    bad=[(A(3), (1,)), (A(3), (0, 0))],
)
record(
    "repeat",
    lambda T, x, r: x.repeat(r),
    (A(2, 3), (2, 1)),
    (A(), (3,)),
    (A(3), (2, 2)),
    (A(2, 3, lay="t"), (1, 2)),
    (A(2, 3), (0, 1)),
    (A(2, 3), (1, 1)),
    jax=lambda J, x, r: J.tile(x, r),
    covers="repeat_times",
    bad=[(A(2, 3), (2,)), (A(2), (-1,))],
)


def _flat_shape(x, a, b):  # type: ignore[no-untyped-def]
    if not x.ndim:
        return (1,)
    a, b = a % x.ndim, b % x.ndim
    return (*x.shape[:a], -1, *x.shape[b + 1 :])


def _expanded(x, sizes):  # type: ignore[no-untyped-def]
    lead = len(sizes) - x.ndim
    return tuple(x.shape[i - lead] if n == -1 else n for i, n in enumerate(sizes))


def _strided(J, x, sizes, strides, offset):  # type: ignore[no-untyped-def]
    at = J.full((), offset)
    for n, s in zip(sizes, strides, strict=True):
        at = at[..., None] + J.arange(n) * s
    return J.ravel(x)[at]


def _chunks(size, n):  # type: ignore[no-untyped-def]
    step = max(-(-size // n), 1)
    return list(range(step, size, step))
