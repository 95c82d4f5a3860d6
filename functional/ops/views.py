"""Views, and the copies that are their derivatives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import dtypes
from ..kernels.shapes import extent, view_strides
from ..tape.batching import aligned, over_scalars, shaped, shifted
from ..tape.declare import general, view
from ..tape.level_views import note_views
from ..tape.op import public
from ..tape.slow import view_in_place
from ..tensor import Tensor, storage_array
from .arguments import dims_of, infer_size, integer, ints, one_dim, wrong_type


def _expand_batched(F: Any, flags: Any, x: Any, shape: tuple[int, ...]) -> Any:
    return F.expand(aligned(x, x.ndim - 1, len(shape)), (x.shape[0], *shape))


def _backward_batched(call: Any, *which: int) -> Any:
    """A rule for (gradient, shape, ...): the shape grows by the batch, dimensions move up."""
    move = shifted(call, *which)

    def rule(F: Any, flags: Any, g: Any, shape: tuple[int, ...], *rest: Any) -> Any:
        return move(F, flags, g, (g.shape[0], *shape), *rest)

    return rule


# --- primitives -----------------------------------------------------------------------------------

_view = view("view_as_shape", lambda F, g, self_shape: F.reshape(g, self_shape),
             vmap=shaped(lambda F: F.reshape),
    statics=("shape",), kernel="view", node="ViewBackward0")  # fmt: skip
reshape_alias = view("reshape_alias", lambda F, g, self_shape: F.reshape(g, self_shape),
                     vmap=shaped(lambda F: F.reshape), statics=("shape",), kernel="view")  # fmt: skip
unsafe_view = general("unsafe_view", lambda F, g, self_shape: F.reshape(g, self_shape),
                      vmap=shaped(lambda F: F.reshape),
    statics=("shape",), jvp="linear",
                      shape=lambda x, shape: (shape, x.dtype))  # fmt: skip
alias = view("alias", lambda F, g: g, vmap="lead")
t_ = view("t_of", lambda F, g: F.t(g), kernel="t", node="TBackward0",
          vmap=lambda F, flags, x: F.transpose(x, 1, 2) if x.ndim == 3 else F.alias(x))  # fmt: skip
_transpose = view("transpose_dims", lambda F, g, dim0, dim1: F.transpose(g, dim0, dim1),
                  vmap=over_scalars(shifted(lambda F: F.transpose, 0, 1)),
    statics=("dim0", "dim1"), kernel="transpose",
                  node="TransposeBackward0")  # fmt: skip


def _inverse(dims: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(dims.index(i) for i in range(len(dims)))


_permute = view("permute_dims", lambda F, g, dims: F.permute(g, _inverse(dims)),
                vmap=lambda F, flags, x, dims: F.permute(x, (0, *[d + 1 for d in dims])),
    statics=("dims",), kernel="permute", node="PermuteBackward0")  # fmt: skip
_expand = view("expand_to", lambda F, g, self_shape: F.sum_to_size(g, self_shape),
               vmap=_expand_batched,
    statics=("shape",), kernel="expand", node="ExpandBackward0")  # fmt: skip
_unsqueeze = view("unsqueeze_dim", lambda F, g, self_shape: F.reshape(g, self_shape),
                  vmap=shifted(lambda F: F.unsqueeze, 0),
    statics=("dim",), kernel="unsqueeze", node="UnsqueezeBackward0")  # fmt: skip
_squeeze_all = view("squeeze_all", lambda F, g, self_shape: F.reshape(g, self_shape),
                    vmap=shifted(lambda F: F.squeeze_dims, 0),
    statics=("dims",), node="SqueezeBackward0")  # fmt: skip
_squeeze_dim = view("squeeze_dim", lambda F, g, self_shape: F.reshape(g, self_shape),
                    vmap=shifted(lambda F: F.squeeze_dims, 0),
    statics=("dims",), node="SqueezeBackward1")  # fmt: skip
_squeeze_dims = view("squeeze_dims", lambda F, g, self_shape: F.reshape(g, self_shape),
                     vmap=shifted(lambda F: F.squeeze_dims, 0),
    statics=("dims",), kernel="squeeze", node="SqueezeBackward2")  # fmt: skip
_select = view(
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
_diagonal = view(
    "diagonal_of",
    lambda F, g, self_shape, offset, dim1, dim2: F.diagonal_backward(
        g, self_shape, offset, dim1, dim2
    ),
    vmap=shifted(lambda F: F.diagonal, 1, 2),
    statics=("offset", "dim1", "dim2"),
    kernel="diagonal",
    node="DiagonalBackward0",
)
_as_strided = view(
    "as_strided_in",
    lambda F, g, self, size, stride, offset: (
        F.zeros_like(self) if 0 in size else F.strided_put(g, _place(self, size, stride, offset))
    ),
    statics=("size", "stride", "offset"),
    kernel="as_strided",
    node="AsStridedBackward0",
)


_as_strided.op.jvp = lambda F, tangents, self, size, stride, offset: F.strided_take(
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
    some = next(part for part in g if part is not None)
    base = F.sum(some, None, False) * 0  # a zero of the right dtype
    shapes = [(*self_shape[:dim], n, *self_shape[dim + 1 :]) for n in sizes]
    parts = [F.expand(base, s) if p is None else p for p, s in zip(g, shapes, strict=True)]
    return [F.cat(parts, dim)]


_unbind = view("unbind_dim", _unbind_vjp, vmap=shifted(lambda F: F.unbind, 0),
    statics=("dim",), kernel="unbind",
               node="UnbindBackward0", joint=True)  # fmt: skip
_split = view("split_sizes", _split_vjp, vmap=shifted(lambda F: F.split, 1),
    statics=("sizes", "dim"), kernel="split",
              node="SplitBackward0", joint=True)  # fmt: skip
_split_with = view("split_with_sizes_", _split_vjp, vmap=shifted(lambda F: F.split, 1),
    statics=("sizes", "dim"), kernel="split",
                   node="SplitWithSizesBackward0", joint=True)  # fmt: skip

# --- views in place: the tensor itself gets another shape ---------------------------------------------


def _own_shape(name: str, node: str, *statics: str) -> Any:
    """An operation that gives a tensor new geometry over its memory."""
    rule = lambda F, g, self_shape: F.reshape(g, self_shape)  # noqa: E731
    return view(f"{name}_in_place", rule, statics=statics, kernel=name, node=node, hidden=True).op


_SQUEEZES = (
    _own_shape("squeeze_all", "SqueezeBackward3", "dims"),
    _own_shape("squeeze_dim", "SqueezeBackward4", "dims"),
    _own_shape("squeeze", "SqueezeBackward5", "dims"),
)
_UNSQUEEZE_ = _own_shape("unsqueeze", "UnsqueezeBackward1", "dim")


def unsqueeze_(self: Tensor, dim: int) -> Tensor:
    """``unsqueeze`` in place."""
    return view_in_place(_UNSQUEEZE_, self, one_dim(self, dim, extra=1))


def squeeze_(self: Tensor, dim: Any = None) -> Tensor:
    """``squeeze`` in place."""
    if dim is None:
        return view_in_place(_SQUEEZES[0], self, tuple(range(self.ndim)))
    if isinstance(dim, (tuple, list)):
        return view_in_place(_SQUEEZES[2], self, dims_of(self, dim))
    return view_in_place(_SQUEEZES[1], self, (one_dim(self, dim),) if self.ndim else ())


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

# --- public functions -----------------------------------------------------------------------------


@public
def view_(self: Tensor, *shape: Any) -> Any:
    """The same memory with another shape; RuntimeError where only a copy could do it."""
    if len(shape) == 1 and isinstance(shape[0], dtypes.dtype):
        return _view_dtype(self, shape[0])
    if not shape or not isinstance(shape[0], (int, tuple, list, Tensor, np.integer)):
        got = ", ".join(type(n).__name__ for n in shape)
        raise TypeError(
            f"view() received an invalid combination of arguments - got ({got}), but expected one "
            "of:"
        )
    return _view(self, infer_size(ints(shape), self.numel()))


def _view_dtype(self: Tensor, dtype: Any) -> Tensor:
    if getattr(dtype, "itemsize", None) != self.dtype.itemsize or self._edge[0] is not None:
        raise NotImplementedError("view(dtype) between dtypes of different size, or with gradient")
    from ..tape.views import as_view

    return as_view(self._data.view(dtype.array), self)


@public
def reshape(self: Tensor, *shape: Any) -> Tensor:
    """Another shape: a view where the strides allow it, else a copy."""
    if len(shape) == 1 and not isinstance(shape[0], (int, tuple, list, Tensor, np.integer)):
        raise wrong_type("reshape.shape.1", "tuple of ints", shape[0])
    size = infer_size(ints(shape), self.numel())
    data = getattr(self._data, "phantom", self._data)
    if isinstance(data, Tensor):  # a transform's wrapper
        return _view(self, size) if self.is_contiguous() else _shape_below(self, size)
    if data.flags.c_contiguous:
        return _view(self, size)
    if view_strides(data, size) is not None:
        return reshape_alias(self, size)
    from .cast import clone_contiguous

    return unsafe_view(clone_contiguous(self), size)


def _shape_below(self: Any, size: tuple[int, ...]) -> Tensor:
    """Another shape inside a transform: a view or a copy, so it may not be written to."""
    result = unsafe_view(self, size)
    note_views(None, (self,), result)
    return result


@public
def flatten(self: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Dimensions ``start_dim`` to ``end_dim`` as one."""
    start, end = one_dim(self, start_dim), one_dim(self, end_dim)
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    shape = self.shape
    if not shape:
        return reshape(self, (1,))
    if start == end:
        return self
    return reshape(self, (*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :]))


@public
def unflatten(self: Tensor, dim: int, sizes: Any) -> Tensor:
    """One dimension as several of ``sizes`` (one may be -1)."""
    at = one_dim(self, dim)
    inner = tuple(sizes)
    if inner.count(-1) > 1:
        raise RuntimeError("unflatten got an unexpected error:\nonly one dimension can be inferred")
    try:
        inner = infer_size(inner, self.shape[at])
    except RuntimeError:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {at} "
            f"({self.shape[at]}) in the input tensor"
        ) from None
    return _view(self, (*self.shape[:at], *inner, *self.shape[at + 1 :]))


@public
def ravel(self: Tensor) -> Tensor:
    """All dimensions as one."""
    from .cast import contiguous

    return view_(contiguous(self), (-1,))


@public
def view_as(self: Tensor, other: Tensor) -> Tensor:
    """``self`` with the shape of ``other``."""
    return view_(self, tuple(other.shape))


@public
def t(self: Tensor) -> Tensor:
    """The transpose of a matrix; vectors and numbers as they are."""
    if self.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
    return t_(self)


@public
def transpose(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions exchanged."""
    first = one_dim(self, dim0, where="transpose.dim0.1")
    return _transpose(self, first, one_dim(self, dim1, where="transpose.dim1.2"))


@public
def permute(self: Tensor, *dims: Any) -> Tensor:
    """Dimensions in a new order."""
    order = ints(dims)
    if len(order) != self.ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the "
            f"length of the desired ordering of dimensions i.e. input.dim() = {self.ndim} is not "
            f"equal to len(dims) = {len(order)}"
        )
    order = tuple(one_dim(self, d) for d in order)
    if len(set(order)) != len(order):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return _permute(self, order)


@public
def movedim(self: Tensor, source: Any, destination: Any) -> Tensor:
    """Dimensions ``source`` moved to the places ``destination``; the others keep their order."""
    sources = [
        one_dim(self, d) for d in (source if isinstance(source, (tuple, list)) else [source])
    ]
    targets = destination if isinstance(destination, (tuple, list)) else [destination]
    targets = [one_dim(self, d) for d in targets]
    for name, dims, given in (
        ("source", sources, source), ("destination", targets, destination)
    ):  # fmt: skip
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({list(given)})")
    if isinstance(source, int) != isinstance(destination, int):
        got = ", ".join(type(a).__name__ for a in (source, destination))
        raise TypeError(
            f"movedim() received an invalid combination of arguments - got ({got}), but expected "
            "one of:"
        )
    if len(sources) != len(targets):
        raise RuntimeError(
            "movedim: Invalid source or destination dims: source "
            f"({list(sources)} dims) should contain the same number of dims as destination "
            f"({list(targets)} dims)"
        )
    order: list[int] = [d for d in range(self.ndim) if d not in sources]
    for to, d in sorted(zip(targets, sources, strict=True)):
        order.insert(to, d)
    return _permute(self, tuple(order))


@public
def expand(self: Tensor, *sizes: Any) -> Tensor:
    """Broadcast to ``sizes`` without copying; -1 keeps a size."""
    wanted = ints(sizes)
    own, lead = self.shape, len(wanted) - self.ndim
    if lead < 0:
        raise RuntimeError(
            f"expand({kind_of(self)}{{{list(own)}}}, size={list(wanted)}): the number of sizes "
            f"provided ({len(wanted)}) must be greater or equal to the number of dimensions in "
            f"the tensor ({self.ndim})"
        )
    full = list(wanted)
    for i in reversed(range(len(wanted))):
        n, have = wanted[i], own[i - lead] if i >= lead else 1
        if n == -1 and i < lead:
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) isn't allowed in a leading, non-existing "
                f"dimension {i}"
            )
        full[i] = n = have if n == -1 else n
        if have not in (1, n):
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) must match the existing size ({have}) at "
                f"non-singleton dimension {i}.  Target sizes: {list(wanted)}.  Tensor sizes: "
                f"{list(own)}"
            )
    return _expand(self, tuple(full))


def kind_of(self: Tensor) -> str:
    """The name error messages give a tensor: ``torch.FloatTensor``."""
    prefix = "torch." if self.device.type == "cpu" else f"torch.{self.device.type}."
    return f"{prefix}{self.dtype.legacy}Tensor"


@public
def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """Broadcast to the shape of ``other`` without copying."""
    return expand(self, tuple(other.shape))


@public
def broadcast_to(self: Tensor, size: Any) -> Tensor:
    """Broadcast to ``size`` without copying."""
    return expand(self, tuple(size))


@public
def unsqueeze(self: Tensor, dim: int) -> Tensor:
    """A new dimension of size 1."""
    return _unsqueeze(self, one_dim(self, dim, 1, "unsqueeze.dim.1"))


@public
def squeeze(self: Tensor, dim: Any = None) -> Tensor:
    """Dimensions of size 1 dropped: all of them, or those named."""
    if dim is None:
        return _squeeze_all(self, tuple(range(self.ndim)))
    if isinstance(dim, (tuple, list)):
        return _squeeze_dims(self, dims_of(self, dim))
    return _squeeze_dim(self, (one_dim(self, dim),) if self.ndim else ())


@public
def select(self: Tensor, dim: int, index: int) -> Tensor:
    """The slice at ``index`` along ``dim``, without that dimension."""
    if not self.ndim:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    at = one_dim(self, dim, where="select.dim.1")
    index = integer(index, "select.index.2")
    n = self.shape[at]
    if not -n <= index < n:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(self.shape)} at "
            f"dimension {at}"
        )
    return _select(self, at, index % n)


@public
def slice_(self: Tensor, dim: int, start: int, end: int, step: int) -> Tensor:
    """A slice along one dimension; bounds as Python's."""
    return slice_dim(self, dim, start, end, step)


@public
def narrow(self: Tensor, dim: int, start: int, length: int) -> Tensor:
    """``length`` elements along ``dim`` from ``start`` on."""
    if not self.ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    at = one_dim(self, dim)
    n = self.shape[at]
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if not -n <= start <= n:
        raise IndexError(
            f"start out of range (expected to be in range of [{-n}, {n}], but got {start})"
        )
    start = start + n if start < 0 else start
    if start + length > n:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return slice_dim(self, at, start, start + length, 1)


@public
def diagonal(self: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonal of two dimensions, as the last dimension of a view."""
    first, second = one_dim(self, dim1), one_dim(self, dim2)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return _diagonal(self, offset, first, second)


@public
def as_strided(self: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A view with any sizes and strides over the memory of ``self``."""
    if any(n < 0 for n in size):
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={list(size)} and "
            f"strides={list(stride)}"
        )
    own = self.storage_offset()
    offset = own if storage_offset is None else storage_offset
    size, stride = tuple(size), tuple(stride)
    _check_strided(self, size, stride, offset)
    return _as_strided(self, size, stride, offset - own)


def _check_strided(self: Tensor, size: Any, stride: Any, offset: int) -> None:
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(s < 0 for s in stride):
        raise RuntimeError(
            "as_strided: Negative strides are not supported at the moment, got strides: "
            f"{list(stride)}"
        )
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    if 0 in size or not isinstance(self._data, np.ndarray):
        return
    have, item = extent(storage_array(self)), self.element_size()
    need = offset + 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    if need > have:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, "
            f"and itemsize {item} requiring a storage size of {need * item} are out of bounds for "
            f"storage of size {have * item}"
        )


@public
def unbind(self: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """All slices along ``dim``, as a tuple of views."""
    if not self.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    if not self.shape[one_dim(self, dim)]:
        return ()
    return tuple(_unbind(self, one_dim(self, dim)))


@public
def split(self: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Consecutive pieces along ``dim``, of one size or of the sizes given."""
    if not self.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    at = one_dim(self, dim)
    if not self.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    n = self.shape[at]
    if isinstance(split_size_or_sections, (tuple, list)):
        sizes = tuple(split_size_or_sections)
        if any(size < 0 for size in sizes):
            raise RuntimeError(
                "split_with_sizes expects split_sizes have only non-negative entries, but got "
                f"split_sizes={list(sizes)}"
            )
        if any(k < 0 for k in sizes):
            raise RuntimeError(
                "split_with_sizes expects split_sizes have only non-negative entries, but got "
                f"split_sizes={list(sizes)}"
            )
        if sum(sizes) != n:
            raise RuntimeError(
                f"split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size "
                f"at dimension {at}), but got split_sizes={list(sizes)}"
            )
        return tuple(_split_with(self, sizes, at))
    size = split_size_or_sections
    if size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={size}")
    if size == 0 and n:
        raise RuntimeError(
            f"split_size can only be 0 if dimension size is 0, but got dimension size of {n}"
        )
    count = max(-(-n // size), 1) if size else 1
    sizes = tuple(min(size, n - i * size) for i in range(count))
    return tuple(_split(self, sizes, at))


@public
def chunk(self: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most ``chunks`` pieces of equal size (the last may be smaller)."""
    if not self.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if not self.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    n = self.shape[one_dim(self, dim)]
    return split(self, max(-(-n // chunks), 1), dim) if n else split(self, [0] * chunks, dim)


from ..tape.op import TENSOR  # noqa: E402

view_.__name__ = view_.__qualname__ = "view"
TENSOR.view = view_
TENSOR.squeeze_, TENSOR.unsqueeze_ = squeeze_, unsqueeze_
del TENSOR.view_
