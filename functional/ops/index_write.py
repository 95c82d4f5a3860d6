"""Writing at indices, under masks, and at flat places."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..kernels.layout import kept_strides
from ..kernels.meta import has_numbers
from ..tape.declare import general
from ..tape.op import TENSOR, public
from ..tape.out import out_of
from ..tape.slow import in_place
from ..tape.wrappers import is_batched
from ..tensor import Tensor
from .arguments import broadcast_shapes, common_shape, one_dim
from .gather import _check_index
from .selection import check_fill

# --- slices along a dimension ---------------------------------------------------------------------


def _kept(x: Any, *rest: Any) -> Any:
    return x.shape, x.dtype, kept_strides(x)


index_copy_dim = general(
    "index_copy_dim",
    lambda F, g, index, dim: F.index_fill_value(g, index, dim, 0),
    lambda F, g, source, index, dim: F.reshape(
        F.index_select_dim(g, index, dim), tuple(source.shape)
    ),
    None,
    inputs=("self", "source", "index"),
    statics=("dim",),
    node="IndexCopyBackward0",
    shape=lambda x, *rest: (x.shape, x.dtype),
)
index_fill_value = general(
    "index_fill_value",
    lambda F, g, index, dim: F.index_fill_value(g, index, dim, 0),
    None,
    inputs=("self", "index"),
    statics=("dim", "value"),
    node="IndexFillBackward0",
    jvp=lambda F, tangents, self, index, dim, value: F.index_fill_value(tangents[0], index, dim, 0),
    shape=_kept,
)


def _filled_vjp(F: Any, g: Any, index: Any, dim: int) -> Any:
    # an index given twice counts once
    hit = F.index_fill_value(F.zeros_like(g), index, dim, 1)
    return F.sum(F.where(hit == 1, g, 0.0))


index_fill_tensor = general(
    "index_fill_tensor",
    lambda F, g, index, dim: F.index_fill_value(g, index, dim, 0),
    _filled_vjp,
    None,
    inputs=("self", "value", "index"),
    statics=("dim",),
    node="IndexFillBackward1",
    shape=_kept,
)
for _form in (index_fill_value, index_fill_tensor):
    _form.op.rewrites, _form.op.apart, _form.op.loose = "index_fill_", ("index",), ("value",)
index_copy_dim.op.apart = ("source", "index")


def _check_bounds(self: Tensor, index: Tensor, at: int, text: str) -> None:
    try:
        _check_index("", index, self.shape[at] if self.ndim else 1, at)
    except RuntimeError as error:
        raise IndexError(f"{text}{error}") from None


def _copy_place(self: Tensor, dim: int, index: Tensor, source: Tensor) -> int:
    at = one_dim(self, dim)
    if index.ndim > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {index.ndim})")
    if not source.ndim and index.numel() != 1:
        raise IndexError("index_copy_(): When source is scalar, index should have one element "
                         f"(got {index.numel()})")  # fmt: skip
    if source.ndim and self.ndim and source.ndim != self.ndim:
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality "
            f"must match. Source dimensionality ({source.ndim}), destination dimensionality "
            f"({self.ndim})"
        )
    if index.dtype is not dtypes.int64:
        raise RuntimeError(
            f"index_copy_(): Expected a long tensor for index, but got {index.dtype.legacy}"
        )
    if self.dtype is not source.dtype:
        raise RuntimeError(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{self.dtype.legacy} and (source) {source.dtype.legacy}"
        )
    if source.ndim and index.numel() != source.shape[at]:
        raise IndexError(
            f"index_copy_(): Number of indices ({index.numel()}) should be equal to "
            f"source.size(dim) ({source.shape[at]})"
        )
    _check_bounds(self, index, at, "index_copy_(): ")
    return at


@public
def index_copy(self: Tensor, dim: int, index: Tensor, source: Tensor, *, out: Any = None) -> Tensor:
    """A copy of ``self`` with slices of ``source`` written along ``dim`` at ``index``."""
    if out is not None:
        return out_of(index_copy, out, self, dim, index, source)
    return index_copy_dim(self, source, index, _copy_place(self, dim, index, source))


def _index_copy_twin(self: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """``index_copy`` in place."""
    at = _copy_place(self, dim, index, source)
    return in_place(index_copy_dim.op, (self, source, index, at))


def _is_complex(value: Any) -> bool:
    return value.is_complex() if isinstance(value, Tensor) else isinstance(value, complex)


def _fill_form(self: Tensor, dim: int, index: Tensor, value: Any) -> tuple[Any, tuple[Any, ...]]:
    """(operation, arguments): the value is a number or a 0-dim tensor."""
    at = one_dim(self, dim)
    if isinstance(value, Tensor) and value.ndim:
        raise RuntimeError(
            "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    if index.dtype is not dtypes.int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if index.ndim > 1:
        raise IndexError("Index has to be a vector/scalar")
    n = self.shape[at] if self.ndim else 1
    x = index._data
    if has_numbers(x) and x.size and (x.min() < -n or x.max() >= n):
        bad = x[(x < -n) | (x >= n)].reshape(-1)[0]
        raise IndexError(f"index {bad} is out of bounds for dimension {at} with size {n}")
    if _is_complex(value) and not self.dtype.is_complex:
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not "
                           "supported")  # fmt: skip
    check_fill(self, value)
    if isinstance(value, Tensor):
        return index_fill_tensor, (self, value, index, at)
    return index_fill_value, (self, index, at, value)


@public
def index_fill(self: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """A copy of ``self`` with ``value`` written along ``dim`` at ``index``."""
    form, args = _fill_form(self, dim, index, value)
    return form(*args)


def _index_fill_twin(self: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """``index_fill`` in place."""
    form, args = _fill_form(self, dim, index, value)
    return in_place(form.op, args)


TENSOR.index_copy_, TENSOR.index_fill_ = _index_copy_twin, _index_fill_twin

# --- masks ----------------------------------------------------------------------------------------

masked_select_of = general(
    "masked_select_of",
    lambda F, g, self, mask: F.masked_select_backward(g, mask, tuple(self.shape)),
    None,
    inputs=("self", "mask"),
    kernel="masked_select",
    node="MaskedSelectBackward0",
)
masked_select_backward = general(
    "masked_select_backward",
    lambda F, g, mask: F.masked_select(g, mask),
    None,
    inputs=("self", "mask"),
    statics=("shape",),
    shape=lambda g, mask, shape: (broadcast_shapes(shape, mask.shape), g.dtype),
)


_BATCHED_MASK = (
    "vmap: Attempted to vmap over `mask` in torch.masked_select(self, mask) We cannot support this "
    "because for each batch this would return a differently shaped Tensor. Please file an issue at "
    "https://github.com/pytorch/pytorch/issues if you need this feature."
)


@public
def masked_select(self: Tensor, mask: Tensor, *, out: Any = None) -> Tensor:
    """The elements of ``self`` where ``mask`` holds, as a vector."""
    if out is not None:
        return out_of(masked_select, out, self, mask)
    if mask.dtype is not dtypes.bool_:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    common_shape(mask, self)
    if is_batched(mask):
        raise RuntimeError(_BATCHED_MASK)
    return masked_select_of(self, mask)


masked_scatter_of = general(
    "masked_scatter_of",
    lambda F, g, mask: F.masked_fill(g, mask, 0),
    lambda F, g, mask, source_shape: F.masked_scatter_backward(g, mask, source_shape),
    None,
    inputs=("self", "source", "mask"),
    kernel="masked_scatter_of",
    node="MaskedScatterBackward0",
    shape=lambda x, source, mask: (broadcast_shapes(x.shape, mask.shape), x.dtype),
)
masked_scatter_backward = general(
    "masked_scatter_backward",
    lambda F, g, self, mask: F.masked_scatter_of(F.zeros_like(self), g, mask),
    None,
    inputs=("self", "mask"),
    statics=("shape",),
    node="MaskedScatterBackwardBackward0",
    shape=lambda g, mask, shape: (shape, g.dtype),
)
masked_scatter_of.op.loose = ("source",)


def _check_masked_scatter(self: Tensor, mask: Tensor, source: Tensor) -> None:
    if self.dtype is not source.dtype:
        raise RuntimeError(
            "masked_scatter: expected self and source to have same dtypes but got"
            f"{self.dtype.legacy} and {source.dtype.legacy}"
        )
    if mask.dtype is not dtypes.bool_:
        raise RuntimeError(
            "masked_scatter_ only supports boolean masks, but got mask with dtype "
            f"{mask.dtype.legacy}"
        )


@public
def masked_scatter(self: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """A copy of ``self`` whose elements under ``mask`` are the first of ``source``, in order."""
    _check_masked_scatter(self, mask, source)
    common_shape(mask, self)
    return masked_scatter_of(self, source, mask)


def _masked_scatter_twin(self: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """``masked_scatter`` in place."""
    _check_masked_scatter(self, mask, source)
    common_shape(self, mask)
    return in_place(masked_scatter_of.op, (self, source, mask))


TENSOR.masked_scatter_ = _masked_scatter_twin

# --- flat places ----------------------------------------------------------------------------------

take_at = general(
    "take_at",
    lambda F, g, self, index: F.take_backward(g, index, tuple(self.shape)),
    None,
    inputs=("self", "index"),
    kernel="take",
    node="TakeBackward0",
    shape=lambda x, index: (index.shape, x.dtype),
)
take_backward = general(
    "take_backward",
    lambda F, g, index: F.take(g, index),
    None,
    inputs=("self", "index"),
    statics=("shape",),
    shape=lambda g, index, shape: (shape, g.dtype),
)


def _check_flat(self: Tensor, index: Tensor, name: str) -> None:
    if index.dtype is not dtypes.int64:
        raise RuntimeError(
            f"{name}(): Expected a long tensor for index, but got {index.dtype.legacy}"
        )
    x, n = index._data, self.numel()
    if isinstance(x, Tensor) or not hasattr(x, "min") or not x.size:
        return
    if not n:
        raise IndexError(f"{name}(): tried to take from an empty tensor")
    if x.min() < -n or x.max() >= n:
        bad = x[(x < -n) | (x >= n)].reshape(-1)[0]
        raise IndexError(f"out of range: tried to access index {bad} on a tensor of {n} elements.")


@public
def take(self: Tensor, index: Tensor, *, out: Any = None) -> Tensor:
    """Elements of the flattened ``self``; the result has the shape of ``index``."""
    if out is not None:
        return out_of(take, out, self, index)
    _check_flat(self, index, "take")
    return take_at(self, index)


put_at_flat = general(
    "put_flat",
    lambda F, g, index, source_shape, accumulate: (
        g if accumulate else F.put_flat(g, F.zeros_like(F.take(g, index)), index, False)
    ),
    lambda F, g, source, index: F.reshape(F.take(g, index), tuple(source.shape)),
    None,
    inputs=("self", "source", "index"),
    statics=("accumulate",),
    node="PutBackward0",
    shape=_kept,
)
put_at_flat.op.apart = ("source", "index")


def _check_put(self: Tensor, index: Tensor, source: Tensor) -> None:
    if source.numel() != index.numel():
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {source.numel()}, index.numel() = {index.numel()}"
        )
    if self.dtype is not source.dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{self.dtype.legacy} and source.dtype = {source.dtype.legacy}"
        )
    _check_flat(self, index, "put_")


@public
def put(self: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """A copy of ``self`` with ``source`` written (or added) at places of the flattened tensor."""
    _check_put(self, index, source)
    return put_at_flat(self, source, index, bool(accumulate))


def _put_twin(self: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """``put`` in place."""
    _check_put(self, index, source)
    return in_place(put_at_flat.op, (self, source, index, bool(accumulate)))


TENSOR.put_ = _put_twin
