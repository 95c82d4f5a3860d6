"""Counts and histograms, and the indices of what was found."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import dtypes
from ..dtypes import c_name
from ..errors import not_implemented
from ..kernels.meta import has_numbers
from ..tape.batching import shifted
from ..tape.declare import general
from ..tape.foreign import kernels_for
from ..tape.op import TENSOR, public
from ..tape.operands import no_form
from ..tape.out import out_of
from ..tensor import Tensor, wrap
from .arguments import dims_of
from .reduce import reduced_shape
from .results import out_several, return_type

_LONG = dtypes.int64.array

count_nonzero_dims = general(
    "count_nonzero_dims",
    statics=("dim",),
    kernel="count_nonzero",
    vmap=shifted(lambda F: F.count_nonzero_dims, 0),
    shape=lambda x, dim: (reduced_shape(x, dim, False), _LONG),
)


@public
def count_nonzero(self: Tensor, dim: Any = None) -> Tensor:
    """How many elements (along ``dim``) are not zero."""
    if dim == ():
        dim = None
    return count_nonzero_dims(self.detach(), None if dim is None else dims_of(self, dim))


def _refuse_bincount(F: Any, g: Any, need: Any) -> Any:
    raise NotImplementedError("derivative for aten::bincount is not implemented")


bincount_plain = general("bincount_plain", statics=("weights", "least"), kernel="bincount")
bincount_weighted = general(
    "bincount_weighted",
    joint=_refuse_bincount,
    inputs=("self", "weights"),
    statics=("least",),
    kernel="bincount",
    node="NotImplemented",
)


@public
def bincount(self: Tensor, weights: Any = None, minlength: int = 0) -> Tensor:
    """How often each whole number occurs in a vector, or the sum of its weights."""
    if self.dtype.category >= dtypes.FLOAT or self.dtype is dtypes.bool_:
        raise not_implemented("bincount_cpu", self.dtype)
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if self.ndim == 1 and not self.numel():
        return TENSOR.zeros((minlength,), dtype=dtypes.int64)
    if self.ndim != 1 or self._data.min() < 0:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is None:
        return bincount_plain(self, None, minlength)
    if weights.ndim != 1 or weights.shape[0] != self.shape[0]:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    return bincount_weighted(self, weights, minlength)


def _no_kernel(kernel: str, self: Tensor) -> NotImplementedError:
    return not_implemented(kernel, self.dtype)


histc_of = general(
    "histc_of",
    statics=("bins", "low", "high"),
    kernel="histc",
    shape=lambda x, bins, *rest: ((bins,), x.dtype),
)


@public
def histc(
    self: Tensor, bins: int = 100, min: float = 0, max: float = 0, *, out: Any = None
) -> Tensor:
    """Counts in ``bins`` equal intervals of [min, max]; of the values' range, if both are 0."""
    if out is not None:
        return out_of(histc, out, self.detach(), bins, min, max)
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    if min > max:
        raise RuntimeError("torch.histc: max must be larger than min")
    if self.dtype.is_complex and min == max and self.numel():
        raise _no_kernel("aminmax_cpu", self)
    if self.dtype is dtypes.bool_:
        raise _no_kernel("linspace_cpu", self)
    if self.dtype.category != dtypes.FLOAT:
        raise _no_kernel("histogram_cpu", self)
    return histc_of(self.detach(), bins, min, max)


histogram_of = general(
    "histogram_of", inputs=("self", "weight"), statics=("edges",), kernel="histogram"
)
_Histogram = return_type("histogram", ("hist", "bin_edges"))
_Histogramdd = return_type("histogramdd", ("hist", "bin_edges"))


def _ranges(x: Tensor, given: Any) -> list[float]:
    """The outermost edges along each coordinate of points (the last axis of ``x``)."""
    count = x.shape[-1]
    if given is None:
        if x.dtype not in (dtypes.float32, dtypes.float64):
            raise _no_kernel("histogramdd", x)
        points = x._data.reshape(-1, count)
        given = kernels_for(points).column_ranges(points)
    if len(given) != 2 * count:
        raise RuntimeError(
            f"torch.histogramdd: for a {count}-dimensional histogram range should have {2 * count} "
            f"elements, but got {len(given)}"
        )
    for i, (low, high) in enumerate(zip(given[::2], given[1::2], strict=True)):
        if not (math.isfinite(low) and math.isfinite(high)):
            raise RuntimeError(
                f"torch.histogramdd: dimension {i}'s range [{low:g}, {high:g}] is not finite"
            )
        if low > high:
            raise RuntimeError(
                f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} "
                f"for dimension {i}"
            )
    return list(given)


def _equal_edges(x: Tensor, bins: list[int], given: Any) -> list[Tensor]:
    """The edges of so many equal intervals along each coordinate."""
    if len(bins) != x.shape[-1]:
        raise RuntimeError(
            "histogramdd: The size of bins must be equal to the innermost dimension of the input."
        )
    ends, edges = _ranges(x, given), []
    for low, high, n in zip(ends[::2], ends[1::2], bins, strict=True):
        low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
        edges.append(TENSOR.linspace(low, high, n + 1, dtype=x.dtype, device=x.device))
    return edges


def _check_edges(x: Tensor, edges: list[Tensor]) -> None:
    count = x.shape[-1]
    if len(edges) != count:
        raise RuntimeError(
            f"torch.histogramdd: expected {count} sequences of bin edges for a {count}-dimensional "
            f"histogram but got {len(edges)}"
        )
    for i, edge in enumerate(edges):
        if edge.dtype is not x.dtype:
            raise RuntimeError(
                "torch.histogramdd: input tensor and bins tensors should have the same dtype, but "
                f"got input with dtype {c_name(x.dtype)} and bins for dimension {i} with dtype "
                f"{c_name(edge.dtype)}"
            )
        if edge.ndim != 1:
            raise RuntimeError(
                f"torch.histogramdd: bins tensor should have one dimension, but got {edge.ndim} "
                f"dimensions in the bins tensor for dimension {i}"
            )
        if not edge.numel():
            raise RuntimeError(
                "torch.histogramdd: bins tensor should have at least 1 element, but got 0 elements "
                f"in the bins tensor for dimension {i}"
            )


def _check_weight(x: Tensor, weight: Tensor) -> None:
    start = "torch.histogramdd: if weight tensor is provided"
    if weight.dtype is not x.dtype:
        raise RuntimeError(
            f"{start}, input tensor and weight tensor should have the same dtype, but got "
            f"input({c_name(x.dtype)}), and weight({c_name(weight.dtype)})"
        )
    if weight.shape != x.shape[:-1]:
        raise RuntimeError(
            f"{start} it should have the same shape as the input tensor excluding its innermost "
            f"dimension, but got input with shape {list(x.shape)} and weight with shape "
            f"{list(weight.shape)}"
        )


def _density(counts: Tensor, edges: list[Tensor]) -> Tensor:
    total = TENSOR.sum(counts)
    for i, edge in enumerate(edges):
        width = edge[1:] - edge[:-1]
        counts = counts / width.reshape((-1, *(1,) * (len(edges) - 1 - i)))
    return counts / total


def _histogram(self: Tensor, bins: Any, range: Any, weight: Any, density: bool) -> Any:
    given = all(isinstance(b, Tensor) for b in bins)
    edges = [b.detach() for b in bins] if given else _equal_edges(self, bins, range)
    _check_edges(self, edges)
    if weight is not None:
        _check_weight(self, weight)
    for i, edge in enumerate(edges):
        if edge.shape[0] < 2:
            raise RuntimeError(f"torch.histogram(): bins must be > 0, but got 0 for dimension {i}")
    if self.dtype.category != dtypes.FLOAT:
        raise _no_kernel("histogram_cpu", self)
    counts = histogram_of(
        self, None if weight is None else weight.detach(), [e._data for e in edges]
    )
    return (_density(counts, edges) if density else counts), edges


@public
def histogram(
    self: Tensor,
    bins: Any,
    *,
    range: Any = None,
    weight: Any = None,
    density: bool = False,
    out: Any = None,
) -> Any:
    """(counts, edges) of all elements; ``bins`` are edges or the number of equal intervals."""
    if out is not None:
        form = lambda x: histogram(x, bins, range=range, weight=weight, density=density)
        return _Histogram.out(out_several(form, out, self.detach(), name="histogram"))
    if isinstance(bins, Tensor) and range is not None:
        raise no_form("histogram", (self, bins))
    if not isinstance(bins, Tensor):
        if isinstance(bins, float) or not hasattr(bins, "__index__"):
            raise no_form("histogram", (self, bins))
        if bins <= 0:
            raise RuntimeError(
                f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0"
            )
    column = self.detach().reshape((-1, 1))
    if weight is not None:
        weight = weight.reshape(-1)
    counts, edges = _histogram(column, [bins], range, weight, density)
    return _Histogram((counts, edges[0]))


@public
def histogramdd(
    self: Tensor, bins: Any, range: Any = None, weight: Any = None, density: bool = False
) -> Any:
    """(counts, edges) of points, whose coordinates are the last dimension."""
    if self.ndim < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    if isinstance(bins, int):
        bins = [bins] * self.shape[-1]
    if not self.shape[-1] and not len(bins):
        none = TENSOR.zeros((), dtype=self.dtype, device=self.device)
        return _Histogramdd((_density(none, []) if density else none, ()))
    counts, edges = _histogram(self.detach(), list(bins), range, weight, density)
    return _Histogramdd((counts, tuple(edges)))


# --- indices --------------------------------------------------------------------------------------


@public
def argwhere(self: Tensor) -> Tensor:
    """Indices of the non-zero elements: (count, ndim)."""
    return TENSOR.nonzero(self)


@public
def nonzero_static(self: Tensor, *, size: int, fill_value: int = -1, out: Any = None) -> Tensor:
    """``nonzero`` cut off, or filled up, at ``size`` rows."""
    if out is not None:
        form = lambda x: nonzero_static(x, size=size, fill_value=fill_value)
        return out_of(form, out, self.detach(), name="nonzero_static")
    if size < 0:
        raise RuntimeError(
            f"nonzero_static: 'size' must be an non-negative integer, but got {size}"
        )
    rows = TENSOR.nonzero(self)
    z = TENSOR.full((size, self.ndim), fill_value, dtype=dtypes.int64)
    kept = min(size, rows.shape[0])
    z[:kept] = rows[:kept]
    return z


@public
def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """Flat indices as one index per dimension of ``shape``."""
    if not isinstance(indices, Tensor):
        raise TypeError(f"expected 'indices' to be a Tensor, but got {type(indices).__name__}")
    if indices.dtype.category >= dtypes.FLOAT or indices.dtype is dtypes.bool_:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype!r}")
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    if not all(isinstance(n, int) for n in sizes):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    if any(n < 0 for n in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {sizes}")
    steps = [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
    step, size = (
        TENSOR.to_device(wrap(np.array(v, np.int64)), indices.device) for v in (steps, sizes)
    )
    places = TENSOR.floor_divide(TENSOR.unsqueeze(indices, -1), step)
    return tuple(TENSOR.unbind(TENSOR.remainder(places, size), -1))


one_hot_of = general(
    "one_hot_of",
    statics=("classes",),
    kernel="one_hot",
    vmap="lead",
    shape=lambda x, classes: ((*x.shape, classes), _LONG),
)


@public
def one_hot(input: Tensor, num_classes: int = -1) -> Tensor:
    """Class numbers as vectors of 0 with a 1 at the class."""
    if input.dtype is not dtypes.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if not input.numel():
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return TENSOR.empty((*input.shape, num_classes), dtype=dtypes.int64)
    x = input._data
    if has_numbers(x):
        if x.min() < 0:
            raise RuntimeError("Class values must be non-negative.")
        if num_classes == -1:
            num_classes = int(x.max()) + 1
        elif num_classes < 1:
            raise RuntimeError("num_classes should be positive")
        elif x.max() >= num_classes:
            raise RuntimeError("Class values must be smaller than num_classes.")
    elif num_classes == -1:
        raise RuntimeError(
            "When vmap-ing torch.nn.functional.one_hot, please provide an explicit positive "
            "num_classes argument."
        )
    return one_hot_of(input, num_classes)
