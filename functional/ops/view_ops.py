"""The operations behind views, and the copies that are their derivatives."""

from __future__ import annotations

from typing import Any

from ..tape.batching import aligned, over_scalars, shaped, shifted
from ..tape.declare import general, view
from ..tensor import Tensor


def _expand_batched(F: Any, flags: Any, x: Any, shape: tuple[int, ...]) -> Any:
    return F.expand(aligned(x, x.ndim - 1, len(shape)), (x.shape[0], *shape))


def _backward_batched(call: Any, *which: int) -> Any:
    """A rule for (gradient, shape, ...): the shape grows by the batch, dimensions move up."""
    move = shifted(call, *which)

    def rule(F: Any, flags: Any, g: Any, shape: tuple[int, ...], *rest: Any) -> Any:
        return move(F, flags, g, (g.shape[0], *shape), *rest)

    return rule


# --- primitives -----------------------------------------------------------------------------------

view_as_shape = view(
    "view_as_shape",
    lambda F, g, self_shape: F.reshape(g, self_shape),
    vmap=shaped(lambda F: F.view_as_shape),
    statics=("shape",),
    kernel="view",
    node="ViewBackward0",
)
reshape_alias = view(
    "reshape_alias",
    lambda F, g, self_shape: F.reshape(g, self_shape),
    vmap=shaped(lambda F: F.reshape),
    statics=("shape",),
    kernel="view",
)
unsafe_view = general(
    "unsafe_view",
    lambda F, g, self_shape: F.reshape(g, self_shape),
    vmap=shaped(lambda F: F.reshape),
    statics=("shape",),
    jvp="linear",
    shape=lambda x, shape: (shape, x.dtype),
)
alias = view("alias", lambda F, g: g, vmap="lead")
t_ = view(
    "t_of",
    lambda F, g: F.t(g),
    kernel="t",
    node="TBackward0",
    vmap=lambda F, flags, x: F.transpose(x, 1, 2) if x.ndim == 3 else F.alias(x),
)
transpose_dims = view(
    "transpose_dims",
    lambda F, g, dim0, dim1: F.transpose(g, dim0, dim1),
    vmap=over_scalars(shifted(lambda F: F.transpose, 0, 1)),
    statics=("dim0", "dim1"),
    kernel="transpose",
    node="TransposeBackward0",
)


def _inverse(dims: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(dims.index(i) for i in range(len(dims)))


permute_dims = view(
    "permute_dims",
    lambda F, g, dims: F.permute(g, _inverse(dims)),
    vmap=lambda F, flags, x, dims: F.permute(x, (0, *[d + 1 for d in dims])),
    statics=("dims",),
    kernel="permute",
    node="PermuteBackward0",
)
expand_to = view(
    "expand_to",
    lambda F, g, self_shape: F.sum_to_size(g, self_shape),
    vmap=_expand_batched,
    statics=("shape",),
    kernel="expand",
    node="ExpandBackward0",
)
unsqueeze_dim = view(
    "unsqueeze_dim",
    lambda F, g, self_shape: F.reshape(g, self_shape),
    vmap=shifted(lambda F: F.unsqueeze, 0),
    statics=("dim",),
    kernel="unsqueeze",
    node="UnsqueezeBackward0",
)
squeeze_all = view(
    "squeeze_all",
    lambda F, g, self_shape: F.reshape(g, self_shape),
    vmap=shifted(lambda F: F.squeeze_dims, 0),
    statics=("dims",),
    node="SqueezeBackward0",
)
squeeze_dim = view(
    "squeeze_dim",
    lambda F, g, self_shape: F.reshape(g, self_shape),
    vmap=shifted(lambda F: F.squeeze_dims, 0),
    statics=("dims",),
    node="SqueezeBackward1",
)
squeeze_dims = view(
    "squeeze_dims",
    lambda F, g, self_shape: F.reshape(g, self_shape),
    vmap=shifted(lambda F: F.squeeze_dims, 0),
    statics=("dims",),
    kernel="squeeze",
    node="SqueezeBackward2",
)
select_index = view(
    "select_index",
    lambda F, g, self_shape, dim, index: F.select_backward(g, self_shape, dim, index),
    vmap=shifted(lambda F: F.select, 0),
    statics=("dim", "index"),
    kernel="select",
    node="SelectBackward0",
)
slice_dim = view(
    "slice_dim",
    lambda F, g, self_shape, dim, start, end, step: F.slice_backward(
        g, self_shape, dim, start, end, step
    ),
    vmap=shifted(lambda F: F.slice_, 0),
    statics=("dim", "start", "end", "step"),
    kernel="slice_",
    node="SliceBackward0",
)
diagonal_of = view(
    "diagonal_of",
    lambda F, g, self_shape, offset, dim1, dim2: F.diagonal_backward(
        g, self_shape, offset, dim1, dim2
    ),
    vmap=shifted(lambda F: F.diagonal, 1, 2),
    statics=("offset", "dim1", "dim2"),
    kernel="diagonal",
    node="DiagonalBackward0",
)
as_strided_in = view(
    "as_strided_in",
    lambda F, g, self, size, stride, offset: (
        F.zeros_like(self) if 0 in size else F.strided_put(g, _place(self, size, stride, offset))
    ),
    statics=("size", "stride", "offset"),
    kernel="as_strided",
    node="AsStridedBackward0",
)


as_strided_in.op.jvp = lambda F, tangents, self, size, stride, offset: F.strided_take(
    tangents[0], _place(self, size, stride, offset)
)


def _place(x: Any, size: Any, stride: Any, offset: int) -> Any:
    strides = x.stride() if isinstance(x, Tensor) else tuple(s // x.itemsize for s in x.strides)
    return tuple(x.shape), tuple(strides), size, stride, offset


def _filled(F: Any, g: list[Any], like: Any) -> list[Any]:
    """The gradients of several outputs, zeros where none arrived."""
    some = next(part for part in g if part is not None)
    return [F.zeros_like(some) if part is None else part for part in g]


def _unbind_vjp(F: Any, g: Any, need: Any, dim: int) -> Any:
    if type(g) is not list:
        return [F.unsqueeze(g, dim)]
    return [F.stack(_filled(F, g, None), dim)]


def _split_vjp(F: Any, g: Any, need: Any, self_shape: Any, sizes: Any, dim: int) -> Any:
    if len(sizes) == 1:
        return [g]
    if all(part is not None for part in g):
        return [F.cat(g, dim)]
    some = next(part for part in g if part is not None)
    base = F.sum(some, None, False) * 0  # a zero of the right dtype
    shapes = [(*self_shape[:dim], n, *self_shape[dim + 1 :]) for n in sizes]
    parts = [F.expand(base, s) if p is None else p for p, s in zip(g, shapes, strict=True)]
    return [F.cat(parts, dim)]


unbind_dim = view(
    "unbind_dim",
    _unbind_vjp,
    vmap=shifted(lambda F: F.unbind, 0),
    statics=("dim",),
    kernel="unbind",
    node="UnbindBackward0",
    joint=True,
)
split_sizes = view(
    "split_sizes",
    _split_vjp,
    vmap=shifted(lambda F: F.split, 1),
    statics=("sizes", "dim"),
    kernel="split",
    node="SplitBackward0",
    joint=True,
)
split_apart = general(
    "split_apart",
    joint=_split_vjp,
    vmap=shifted(lambda F: F.split_apart, 1),
    statics=("sizes", "dim"),
    node="UnsafeSplitBackward0",
    jvp="linear",
    shape=lambda x, sizes, dim: [
        ((*x.shape[:dim], n, *x.shape[dim + 1 :]), x.dtype) for n in sizes
    ],
)
split_with = view(
    "split_with_sizes_",
    _split_vjp,
    vmap=shifted(lambda F: F.split, 1),
    statics=("sizes", "dim"),
    kernel="split",
    node="SplitWithSizesBackward0",
    joint=True,
)

# --- views in place: the tensor itself gets another shape -----------------------------------------


def _own_shape(name: str, node: str, *statics: str) -> Any:
    """An operation that gives a tensor new geometry over its memory."""
    rule = lambda F, g, self_shape: F.reshape(g, self_shape)
    return view(f"{name}_in_place", rule, statics=statics, kernel=name, node=node, hidden=True).op


SQUEEZES = (
    _own_shape("squeeze_all", "SqueezeBackward3", "dims"),
    _own_shape("squeeze_dim", "SqueezeBackward4", "dims"),
    _own_shape("squeeze", "SqueezeBackward5", "dims"),
)
UNSQUEEZE = _own_shape("unsqueeze", "UnsqueezeBackward1", "dim")


# --- their derivatives ----------------------------------------------------------------------------

select_backward = general(
    "select_backward",
    lambda F, g, dim, index: F.select(g, dim, index),
    vmap=_backward_batched(lambda F: F.select_backward, 1),
    statics=("shape", "dim", "index"),
    jvp="linear",
    shape=lambda g, shape, dim, index: (shape, g.dtype),
)
slice_backward = general(
    "slice_backward",
    lambda F, g, dim, start, end, step: F.slice_(g, dim, start, end, step),
    vmap=_backward_batched(lambda F: F.slice_backward, 1),
    statics=("shape", "dim", "start", "end", "step"),
    jvp="linear",
    shape=lambda g, shape, *rest: (shape, g.dtype),
)
diagonal_backward = general(
    "diagonal_backward",
    lambda F, g, offset, dim1, dim2: F.diagonal(g, offset, dim1, dim2),
    vmap=_backward_batched(lambda F: F.diagonal_backward, 2, 3),
    statics=("shape", "offset", "dim1", "dim2"),
    jvp="linear",
    shape=lambda g, shape, *rest: (shape, g.dtype),
)
strided_take = general(
    "strided_take",
    lambda F, g, place: F.strided_put(g, place),
    statics=("place",),
    jvp="linear",
    shape=lambda g, place: (place[2], g.dtype),
)
strided_put = general(
    "strided_put",
    lambda F, g, place: F.strided_take(g, place),
    statics=("place",),
    jvp="linear",
    shape=lambda g, place: (place[0], g.dtype),
)
strided_replace = general(
    "strided_replace",
    lambda F, g, place: F.strided_replace(g, F.zeros_like(F.strided_take(g, place)), place),
    lambda F, g, place: F.strided_take(g, place),
    inputs=("self", "source"),
    statics=("place",),
    jvp="transpose",
    shape=lambda g, source, place: (place[0], g.dtype),
)
