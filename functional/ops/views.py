"""Views: functions of the user."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import dtypes
from ..kernels.coo import CooArray
from ..kernels.meta import has_numbers
from ..kernels.shapes import extent, view_strides
from ..tape.level_views import note_views
from ..tape.op import public
from ..tape.slow import view_in_place
from ..tensor import Tensor, storage_array
from .arguments import dims_of, infer_size, integer, ints, keyword, one_dim, wrong_type
from .view_dtypes import view_as_dtype
from .view_ops import (
    SQUEEZES,
    UNSQUEEZE,
    alias,
    as_strided_in,
    diagonal_of,
    expand_to,
    permute_dims,
    reshape_alias,
    select_index,
    slice_dim,
    squeeze_all,
    squeeze_dim,
    squeeze_dims,
    t_,
    transpose_dims,
    unsafe_view,
    unsqueeze_dim,
    view_as_shape,
)

# --- public functions -----------------------------------------------------------------------------


@public
def view_(self: Tensor, *shape: Any) -> Any:
    """The same memory with another shape; RuntimeError where only a copy could do it."""
    if len(shape) == 1 and (isinstance(shape[0], dtypes.dtype) or shape[0] in (float, int, bool)):
        return view_as_dtype(self, shape[0])
    if not shape or not isinstance(shape[0], (int, tuple, list, Tensor, np.integer)):
        got = ", ".join(type(n).__name__ for n in shape)
        raise TypeError(
            f"view() received an invalid combination of arguments - got ({got}), but expected one "
            "of:"
        )
    return view_as_shape(self, infer_size(ints(shape), self.numel()))


@public
def reshape(self: Tensor, *shape: Any, **named: Any) -> Tensor:
    """Another shape: a view where the strides allow it, else a copy."""
    if named:
        shape = keyword(named, "shape", "reshape")
    if len(shape) == 1 and not isinstance(shape[0], (int, tuple, list, Tensor, np.integer)):
        raise wrong_type("reshape.shape.1", "tuple of ints", shape[0])
    size, data = infer_size(ints(shape), self.numel()), self._data
    if type(data) is np.ndarray and data.flags.c_contiguous:
        return view_as_shape(self, size)
    data = getattr(data, "phantom", data)
    if isinstance(data, Tensor):  # a transform's wrapper
        return view_as_shape(self, size) if self.is_contiguous() else _shape_below(self, size)
    if data.flags.c_contiguous:
        return view_as_shape(self, size)
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
    at = one_dim(self, dim, where="unflatten.dim.1")
    inner = tuple(sizes)
    if not inner:
        raise RuntimeError("unflatten: sizes must be non-empty")
    if inner.count(-1) > 1:
        raise RuntimeError("unflatten got an unexpected error:\nonly one dimension can be inferred")
    try:
        inner = infer_size(inner, self.shape[at])
    except RuntimeError:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {at} "
            f"({self.shape[at]}) in the input tensor"
        ) from None
    return view_as_shape(self, (*self.shape[:at], *inner, *self.shape[at + 1 :]))


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
def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """``self`` in the shape of ``other``: a view where the strides allow it, else a copy."""
    return reshape(self, tuple(other.shape))


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
    return transpose_dims(self, first, one_dim(self, dim1, where="transpose.dim1.2"))


@public
def permute(self: Tensor, *dims: Any, **named: Any) -> Tensor:
    """Dimensions in a new order."""
    if named:
        dims = keyword(named, "dims", "permute")
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
    return permute_dims(self, order)


@public
def movedim(self: Tensor, source: Any, destination: Any) -> Tensor:
    """Dimensions ``source`` moved to the places ``destination``; the others keep their order."""
    asked, wanted = (
        list(d) if isinstance(d, (tuple, list)) else [d] for d in (source, destination)
    )
    sources, targets = ([one_dim(self, d) for d in dims] for dims in (asked, wanted))
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
            f"({asked} dims) should contain the same number of dims as destination ({wanted} dims)"
        )
    order: list[int] = [d for d in range(self.ndim) if d not in sources]
    for to, d in sorted(zip(targets, sources, strict=True)):
        order.insert(to, d)
    return permute_dims(self, tuple(order))


@public
def expand(self: Tensor, *sizes: Any, **named: Any) -> Tensor:
    """Broadcast to ``sizes`` without copying; -1 keeps a size."""
    if named:
        sizes = keyword(named, "size", "expand")
    wanted = ints(sizes)
    own, lead = self.shape, len(wanted) - self.ndim
    if lead >= 0 and all(map(_fits, (*(1,) * lead, *own), wanted)):
        return expand_to(self, wanted)
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
    return expand_to(self, tuple(full))


def _fits(have: int, wanted: int) -> bool:
    return have == wanted or (have == 1 and wanted >= 0)


def kind_of(self: Tensor) -> str:
    """The name error messages give a tensor: ``torch.FloatTensor``."""
    prefix = "torch." if self.device.type == "cpu" else f"torch.{self.device.type}."
    prefix += "sparse." * (type(self._data) is CooArray)
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
    return unsqueeze_dim(self, one_dim(self, dim, 1, "unsqueeze.dim.1"))


@public
def squeeze(self: Tensor, dim: Any = None) -> Tensor:
    """Dimensions of size 1 dropped: all of them, or those named."""
    if dim is None:
        return squeeze_all(self, tuple(range(self.ndim)))
    if not self.ndim:
        dims_of(self, dim if isinstance(dim, (tuple, list)) else (dim,))
    if isinstance(dim, (tuple, list)):
        return squeeze_dims(self, dims_of(self, dim))
    return squeeze_dim(self, (one_dim(self, dim),) if self.ndim else ())


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
    return select_index(self, at, index % n)


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
    if isinstance(start, Tensor):
        if start.ndim or start.dtype.category != dtypes.INT:
            raise RuntimeError("start must be an 0-dim integral Tensor.")
        start = start.__index__()
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
    return diagonal_of(self, offset, first, second)


@public
def as_strided(self: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A view with any sizes and strides over the memory of ``self``."""
    return as_strided_in(self, *strided_place(self, size, stride, storage_offset))


def strided_place(self: Tensor, size: Any, stride: Any, storage_offset: Any) -> Any:
    """Sizes, strides, and the offset from the first element of ``self``; PyTorch's errors."""
    if any(n < 0 for n in size):
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={list(size)} and "
            f"strides={list(stride)}"
        )
    own = self.storage_offset()
    offset = own if storage_offset is None else storage_offset
    size, stride = tuple(size), tuple(stride)
    check_strided(self, size, stride, offset)
    return size, stride, offset - own


def check_strided(self: Tensor, size: Any, stride: Any, offset: int) -> None:
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(s < 0 for s in stride):
        raise RuntimeError(
            "as_strided: Negative strides are not supported at the moment, got strides: "
            f"{list(stride)}"
        )
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    if 0 in size or not has_numbers(self._data):
        return
    have, item = extent(storage_array(self)), self.element_size()
    need = offset + 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    if need > have:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, "
            f"and itemsize {item} requiring a storage size of {need * item} are out of bounds for "
            f"storage of size {have * item}"
        )


# --- in place: the tensor itself gets another shape ---------------------------------------------


def unsqueeze_(self: Tensor, dim: int) -> Tensor:
    """``unsqueeze`` in place."""
    return view_in_place(UNSQUEEZE, self, one_dim(self, dim, extra=1))


def squeeze_(self: Tensor, dim: Any = None) -> Tensor:
    """``squeeze`` in place."""
    if dim is None:
        return view_in_place(SQUEEZES[0], self, tuple(range(self.ndim)))
    if isinstance(dim, (tuple, list)):
        return view_in_place(SQUEEZES[2], self, dims_of(self, dim))
    return view_in_place(SQUEEZES[1], self, (one_dim(self, dim),) if self.ndim else ())


from ..tape.op import TENSOR  # noqa: E402

view_.__name__ = view_.__qualname__ = "view"
__all__ = ["alias", "t_"]  # operations that other modules reach through this one

TENSOR.view = view_
TENSOR.squeeze_, TENSOR.unsqueeze_ = squeeze_, unsqueeze_
del TENSOR.view_
