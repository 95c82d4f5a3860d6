"""Sorting, the largest elements, distinct values, and binary search."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..blame import warn_once
from ..errors import not_implemented
from ..kernels.layout import kept_strides
from ..kernels.meta import has_numbers
from ..tape.batching import over_scalars, refused, shifted
from ..tape.declare import general
from ..tape.op import TENSOR, public
from ..tape.operand_types import as_operand
from ..tape.out import out_of
from ..tensor import Tensor, wrap
from .arguments import integer, one_dim, operand
from .extremes import placed
from .gather import within
from .results import out_several, return_type

_LONG = dtypes.int64.array

# --- sort and topk --------------------------------------------------------------------------------


def _sort_form(name: str, node: str) -> Any:
    return general(
        name,
        placed,
        statics=("dim", "descending"),
        kernel="sort",
        node=node,
        vmap=over_scalars(shifted(lambda F: getattr(F, name), 0)),
        differentiable=(True, False),
        shape=lambda x, dim, descending: [
            (x.shape, x.dtype, kept_strides(x)),
            (x.shape, _LONG, kept_strides(x, _LONG)),
        ],
    )


sort_dim, sort_stable = (
    _sort_form("sort_dim", "SortBackward0"),
    _sort_form("sort_stable", "SortBackward1"),
)
_Sort, _Topk = (
    return_type("sort", ("values", "indices")),
    return_type("topk", ("values", "indices")),
)


@public
def sort(
    self: Tensor,
    dim: int = -1,
    descending: bool = False,
    stable: Any = None,
    *,
    out: Any = None,
) -> Any:
    """(values, indices) in ascending or descending order along ``dim``; NaN is the greatest."""
    if out is not None:
        return _Sort.out(out_several(sort, out, self, dim, descending, stable))
    form = sort_dim if stable is None else sort_stable
    return _Sort(form(self, one_dim(self, dim), bool(descending)))


@public
def msort(self: Tensor, *, out: Any = None) -> Tensor:
    """The elements in ascending order along the first dimension."""
    if out is not None:
        return out_of(msort, out, self, name="sort")
    return sort(self, 0)[0]


@public
def argsort(self: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """The indices that sort along ``dim``."""
    return sort(self, dim, descending)[1]


topk_dim = general(
    "topk_dim",
    lambda F, g, result1, self_shape, dim: placed(F, g, result1, self_shape, dim),
    statics=("k", "dim", "largest", "in_order"),
    kernel="topk",
    node="TopkBackward0",
    vmap=over_scalars(shifted(lambda F: F.topk_dim, 1)),
    differentiable=(True, False),
    shape=lambda x, k, dim, *rest: [
        (cut := (*x.shape[:dim], k, *x.shape[dim + 1 :]) if x.ndim else (), x.dtype),
        (cut, _LONG),
    ],
)


@public
def topk(
    self: Tensor,
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,
    *,
    out: Any = None,
) -> Any:
    """(values, indices) of the ``k`` largest, or smallest, elements along ``dim``."""
    if out is not None:
        return _Topk.out(out_several(topk, out, self, k, dim, largest, sorted))
    at, k = one_dim(self, dim), integer(k, "topk.k.2")
    if not 0 <= k <= (self.shape[at] if self.ndim else 1):
        raise RuntimeError("selected index k out of range")
    return _Topk(topk_dim(self, k, at, bool(largest), bool(sorted)))


# --- distinct values ------------------------------------------------------------------------------


def _refused(name: str) -> Any:
    def vjp(F: Any, g: Any, self_shape: Any) -> Any:
        raise NotImplementedError(f"the derivative for '{name}' is not implemented.")

    return vjp


_THREE = (True, False, False)
unique_of = general(
    "unique",
    _refused("_unique2"),
    vmap=refused("_unique2"),
    statics=("places",),
    node="Unique2Backward0",
    differentiable=_THREE,
    hidden=True,
)
unique_along = general(
    "unique_dim",
    _refused("unique_dim"),
    vmap=refused("unique_dim"),
    statics=("dim",),
    differentiable=_THREE,
)
unique_runs = general(
    "unique_consecutive",
    _refused("unique_consecutive"),
    vmap=refused("unique_consecutive"),
    statics=("dim",),
    differentiable=_THREE,
    hidden=True,
)


def _chosen(found: Any, inverse: bool, counts: bool) -> Any:
    """The values, and with them what was asked for."""
    if not inverse and not counts:
        return found[0]
    return (found[0], *((found[1],) if inverse else ()), *((found[2],) if counts else ()))


@public
def unique(
    self: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: Any = None,
) -> Any:
    """Distinct values (or slices along ``dim``) in order; where each element is; how often."""
    if dim is None:
        return _chosen(
            unique_of(self, return_inverse or return_counts), return_inverse, return_counts
        )
    at = one_dim(self, dim)
    _check_slices("unique_dim", self, at)
    return _chosen(unique_along(self, at), return_inverse, return_counts)


def _check_slices(name: str, self: Tensor, at: int) -> None:
    zeros = [n for n in self.shape if n == 0]
    if self.ndim and not self.shape[at]:
        if len(zeros) > 1:
            raise RuntimeError(
                "Number of zero sized dimensions is more than one, so unique cannot be applied "
            )
    elif zeros:
        raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique "
                           "cannot be applied")  # fmt: skip


@public
def unique_consecutive(
    self: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    """The first of every run of equal elements, or slices along ``dim``."""
    at = None if dim is None else one_dim(self, dim)
    if at is not None:
        _check_slices("unique_consecutive", self, at)
    return _chosen(unique_runs(self, at), return_inverse, return_counts)


# --- binary search --------------------------------------------------------------------------------

search = general(
    "searchsorted",
    inputs=("self", "values"),
    statics=("right", "sorter"),
    hidden=True,
    shape=lambda x, values, right, sorter: (values.shape, _LONG),
)


def _right(name: str, right: bool, side: Any) -> bool:
    if side not in (None, "left", "right"):
        raise RuntimeError(f"torch.{name}(): side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError(
            f"torch.{name}(): side and right can't be set to opposites, got side of left while "
            "right was True"
        )
    return right or side == "right"


def _values(self: Tensor, like: Tensor) -> Tensor:
    """What is looked up, as a tensor."""
    if isinstance(self, Tensor):
        return self
    found = dtypes.result_type([operand(like), self])
    return TENSOR.to_device(wrap(as_operand(self, found)), like.device)


@public
def searchsorted(
    sorted_sequence: Tensor,
    input: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: Any = None,
    sorter: Any = None,
    out: Any = None,
) -> Tensor:
    """Where ``input`` belongs in ``sorted_sequence`` so that its rows stay sorted."""
    if out is not None:
        form = lambda x, v: searchsorted(
            x, v, out_int32=out_int32, right=right, side=side, sorter=sorter
        )
        kind = "searchsorted.int32" if out_int32 else "searchsorted"
        return out_of(form, out, sorted_sequence.detach(), input, name=kind)
    right = _right("searchsorted", right, side)
    if not isinstance(input, Tensor) and sorted_sequence.ndim != 1:
        raise RuntimeError(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor "
            f"dimension is 1, but we got boundaries tensor dim({sorted_sequence.ndim}) and input "
            "value's dim(0) numel(1)"
        )
    values = _values(input, sorted_sequence)
    _check_rows(sorted_sequence, values, sorter)
    _check_searched(sorted_sequence, values, sorter)
    for name, t in (("input value", values), ("boundary", sorted_sequence), ("sorter", sorter)):
        if t is not None and t._place is not None and not t.is_contiguous():
            warn_once(_SCATTERED.format(name))
    found = search(
        sorted_sequence.detach(), values.detach(), right, None if sorter is None else sorter._data
    )
    return TENSOR.to_dtype(found, dtypes.int32) if out_int32 else found


_SCATTERED = (
    "torch.searchsorted(): {0} tensor is non-contiguous, this will lower the performance due to "
    "extra data copy when converting non-contiguous tensor to contiguous, please use contiguous "
    "{0} tensor if possible. This message will only appear once per program."
)


def _check_rows(edges: Tensor, values: Tensor, sorter: Any) -> None:
    if sorter is not None and sorter.shape != edges.shape:
        raise RuntimeError(
            "torch.searchsorted(): boundary and sorter must have the same size, but got boundary "
            f"tensor {list(edges.shape)}and got sorter tensor {list(sorter.shape)}"
        )
    if not edges.ndim:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 "
            "dimension"
        )
    if edges.ndim > 1 and (edges.ndim != values.ndim or edges.shape[:-1] != values.shape[:-1]):
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 "
            "dimensions of boundaries tensor and input value tensor must match, but we got "
            f"boundaries tensor {list(edges.shape)} and input value tensor {list(values.shape)}"
        )


def _check_searched(edges: Tensor, values: Tensor, sorter: Any) -> None:
    if sorter is not None:
        if sorter.dtype is not dtypes.int64:
            raise RuntimeError(
                "torch.searchsorted(): sorter must be a tensor of long dtype but got dtype "
                f"{sorter.dtype.legacy}"
            )
        x = sorter._data
        if x.size and has_numbers(x) and not within(x, edges.shape[-1]):
            raise RuntimeError("torch.searchsorted(): sorter index out of range")
    found = edges.dtype
    if found is not values.dtype:
        found = dtypes.result_type([operand(edges), operand(values)])
    if found.category in (dtypes.BOOL, dtypes.COMPLEX) and values.numel():
        raise not_implemented("searchsorted_out_cpu", found)


@public
def bucketize(
    self: Any,
    boundaries: Tensor,
    *,
    out_int32: bool = False,
    right: bool = False,
    out: Any = None,
) -> Tensor:
    """The interval between ``boundaries`` in which each element lies."""
    if boundaries.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return searchsorted(boundaries, self, out_int32=out_int32, right=right, out=out)


isin_of = general(
    "isin_of",
    inputs=("self", "test"),
    statics=("invert",),
    kernel="isin",
    shape=lambda x, test, invert: (x.shape, dtypes.bool_.array),
)


@public
def isin(
    elements: Any,
    test_elements: Any,
    *,
    assume_unique: bool = False,
    invert: bool = False,
    out: Any = None,
) -> Tensor:
    """Whether each of ``elements`` is among ``test_elements``."""
    if out is not None:
        return out_of(
            lambda x, y: isin(x, y, invert=invert), out, elements, test_elements, name="isin"
        )
    x, y = (v.detach() if isinstance(v, Tensor) else TENSOR.tensor(v)
            for v in (elements, test_elements))  # fmt: skip
    for d in (x.dtype, y.dtype):
        if d is dtypes.bool_ or d.is_complex:
            raise RuntimeError(f"Unsupported input type encountered for isin(): {d.legacy}")
    return isin_of(x, y, bool(invert))
