"""gather, scatter, index_select, nonzero, and the triangles of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..kernels.meta import has_numbers
from ..tape import batching
from ..tape.declare import general
from ..tape.op import TENSOR, public
from ..tape.out import out_of
from ..tape.slow import in_place
from ..tape.sparse import is_sparse
from ..tensor import Tensor
from . import views
from .arguments import integer, number_for, one_dim

# --- gather, scatter, select ----------------------------------------------------------------------

_gather = general(
    "gather_along",
    lambda F, g, self, index, dim: F.gather_backward(g, index, tuple(self.shape), dim),
    None,
    inputs=("self", "index"),
    statics=("dim",),
    node="GatherBackward0",
    shape=lambda x, index, dim: (index.shape, x.dtype),
)
gather_backward = general(
    "gather_backward",
    lambda F, g, index, dim: F.gather_along(g, index, dim),
    None,
    inputs=("self", "index"),
    statics=("shape", "dim"),
    shape=lambda g, index, shape, dim: (shape, g.dtype),
)
_scatter = general(
    "scatter_along",
    lambda F, g, index, dim: F.scatter_along(
        g, F.zeros_like(F.gather_along(g, index, dim)), index, dim
    ),
    lambda F, g, index, dim: F.gather_along(g, index, dim),
    None,
    inputs=("self", "source", "index"),
    statics=("dim",),
    node="ScatterBackward0",
    shape=lambda x, source, index, dim: (x.shape, x.dtype),
)
_scatter_value = general(
    "scatter_number",
    lambda F, g, index, dim: F.scatter_number(g, 0, index, dim),
    inputs=("self", "value", "index"),
    statics=("dim",),
    kernel="scatter_along",
    node="ScatterBackward1",
    shape=lambda x, value, index, dim: (x.shape, x.dtype),
)
_scatter.op.apart, _scatter_value.op.apart = ("source", "index"), ("index",)
_index_select = general(
    "index_select_dim",
    lambda F, g, index, self_shape, dim: F.index_select_backward(g, index, self_shape, dim),
    None,
    inputs=("self", "index"),
    statics=("dim",),
    node="IndexSelectBackward0",
    shape=lambda x, index, dim: ((*x.shape[:dim], index.size, *x.shape[dim + 1 :]), x.dtype),
)
index_select_backward = general(
    "index_select_backward",
    lambda F, g, index, dim: F.index_select_dim(g, index, dim),
    None,
    inputs=("self", "index"),
    statics=("shape", "dim"),
    shape=lambda g, index, shape, dim: (shape, g.dtype),
)


def within(x: np.ndarray, n: int) -> bool:
    """Whether all numbers lie in [0, n): read as unsigned, negative ones are large."""
    if type(x) is not np.ndarray:
        return bool(x.view(f"u{x.itemsize}").max() < n)
    return bool(np.maximum.reduce(x.view(_UNSIGNED[x.itemsize]), None) < n)


_INDEX = (dtypes.int64.array, dtypes.int32.array)
_UNSIGNED = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}


def _check_index(name: str, index: Tensor, n: int, dim: int) -> None:
    x = index._data
    if type(x) is np.ndarray and x.dtype in _INDEX and (not x.size or within(x, n)):
        return
    if index.dtype not in (dtypes.int64, dtypes.int32):
        if not index.numel() and name == "gather":
            return
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    if has_numbers(x) and x.size and not within(x, n):
        bad = x[(x < 0) | (x >= n)].reshape(-1)[0]
        raise RuntimeError(f"index {bad} is out of bounds for dimension {dim} with size {n}")


def _check_rank(self: Tensor, index: Tensor, name: str = "input") -> None:
    if index.ndim != self.ndim and max(index.ndim, 1) != max(self.ndim, 1) and index.numel():
        raise RuntimeError(f"Index tensor must have the same number of dimensions as {name} tensor")


def check_source(self: Tensor, index: Tensor, src: Tensor, at: int) -> None:
    """The index lies within the source and, apart from dimension ``at``, within ``self``."""
    if not index.numel() or tuple(index.shape) == tuple(src.shape) == tuple(self.shape):
        return
    rows = zip(index.shape, self.shape, strict=False)
    wrong = any(d != at and n > m for d, (n, m) in enumerate(rows))
    for d, n in enumerate(index.shape or (1,)):
        if wrong:
            break
        if 0 < src.ndim <= d:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-src.ndim}, "
                f"{src.ndim - 1}], but got {d})"
            )
        wrong = n > (src.shape[d] if src.ndim else 1)
    _check_rank(src, index, "src")
    if wrong:
        raise RuntimeError(
            f"Expected index {list(index.shape)} to be no larger than self {list(self.shape)} "
            f"apart from dimension {at} and to be no larger size than src {list(src.shape)}"
        )


def of_rank(src: Tensor, index: Tensor) -> Tensor:
    """A checked source of the index's rank: none and one dimension may stand for each other."""
    if src.ndim == index.ndim:
        return src
    if not index.numel():
        return views.reshape(views.slice_(views.reshape(src, (-1,)), 0, 0, 0, 1), index.shape)
    return views.unsqueeze(src, 0) if index.ndim else views.select(src, 0, 0)


@public
def gather(
    self: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False, out: Any = None
) -> Tensor:
    """Elements of ``self`` along ``dim`` at ``index``, which gives the result's shape."""
    if out is not None:
        return out_of(gather, out, self, dim, index)
    at = one_dim(self, dim)
    if index.dtype in (dtypes.int64, dtypes.int32):
        _check_rank(self, index)
        for d, (n, m) in enumerate(zip(index.shape, self.shape, strict=False)):
            if d != at and n > m and index.numel():
                raise RuntimeError(
                    f"Size does not match at dimension {d} expected index {list(index.shape)} to "
                    f"be no larger than self {list(self.shape)} apart from dimension {at}"
                )
    _check_index("gather", index, self.shape[at] if self.ndim else 1, at)
    return _gather(self, index, at)


@public
def scatter(
    self: Tensor,
    dim: int,
    index: Tensor,
    src: Any = None,
    *,
    value: Any = None,
    reduce: Any = None,
    out: Any = None,
) -> Tensor:
    """A copy of ``self`` with ``src`` (a tensor or a number) written along ``dim`` at ``index``.

    ``reduce`` joins it with what is there: ``add`` or ``multiply``.
    """
    src = value if src is None else src
    if out is not None:
        form = lambda *a: scatter(*a, reduce=reduce)
        return out_of(form, out, self, dim, index, src, name="scatter")
    form, args = _scatter_form(self, dim, index, src, reduce)
    return form(*args)


def scatter_(
    self: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: Any = None
) -> Tensor:
    """``scatter`` in place."""
    form, args = _scatter_form(self, dim, index, value if src is None else src, reduce)
    return in_place(form.op, args)


def _scatter_form(
    self: Tensor, dim: int, index: Tensor, src: Any, reduce: Any
) -> tuple[Any, tuple[Any, ...]]:
    """The operation, whose source is a tensor or a number, and its arguments."""
    if reduce is not None:
        from .scatter import scatter_reduced

        return scatter_reduced(self, dim, index, src, reduce)
    at = one_dim(self, dim)
    if index.dtype is not dtypes.int64 and index.dtype is not dtypes.int32:
        raise RuntimeError("scatter(): Expected dtype int32/int64 for index")
    _check_rank(self, index, "self")
    if isinstance(src, Tensor) and src.dtype is not self.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if not isinstance(src, Tensor):
        _check_index("scatter", index, self.shape[at] if self.ndim else 1, at)
        return _scatter_value, (self, number_for(src, self.dtype), index, at)
    check_source(self, index, src, at)
    _check_index("scatter", index, self.shape[at] if self.ndim else 1, at)
    return _scatter, (self, of_rank(src, index), index, at)


@public
def index_select(self: Tensor, dim: int, index: Tensor, *, out: Any = None) -> Tensor:
    """Slices of ``self`` along ``dim`` at ``index``, a vector."""
    if out is not None:
        return out_of(index_select, out, self, dim, index)
    at = one_dim(self, dim)
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if index.dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    x = index._data
    n = self.shape[at] if self.ndim else 1
    if not self.ndim and index.numel() != 1:
        raise RuntimeError(
            f"index_select(): Index to scalar can have only 1 value, got {index.numel()} value(s)"
        )
    if has_numbers(x) and x.size and not within(x, n):
        if is_sparse(self):
            raise IndexError(
                f"index_select(): index contains {x[(x < -n) | (x >= n)][0]} that is out of range "
                f"for tensor of size {list(self.shape)} at dimension {at}"
            )
        if self.ndim > 1 and not self.numel():
            if not n:
                raise RuntimeError("index_select(): self indexing axis dim should be positive")
            first = x[(x < 0) | (x >= n)].reshape(-1)[0]
            raise RuntimeError(f"INDICES element is out of DATA bounds, id={first} axis_dim={n}")
        raise IndexError("index out of range in self")
    return _index_select(self, index, at)


_nonzero = general("nonzero_rows", kernel="nonzero", vmap=batching.refused("nonzero"))


@public
def nonzero(self: Tensor, *, as_tuple: bool = False, out: Any = None) -> Any:
    """Indices of the non-zero elements: (count, ndim), or one vector per dimension."""
    if out is not None:
        if as_tuple:
            raise RuntimeError("nonzero does not support the out kwarg when as_tuple is True")
        return out_of(nonzero, out, self.detach())
    rows = _nonzero(views.unsqueeze(self, 0) if as_tuple and not self.ndim else self)
    return tuple(rows.unbind(1)) if as_tuple else rows


_tril = general(
    "tril_of",
    lambda F, g, diagonal: F.tril(g, diagonal),
    statics=("diagonal",),
    kernel="tril",
    node="TrilBackward0",
    jvp="linear",
    vmap="lead",
    shape=lambda x, diagonal: (x.shape, x.dtype),
)
_triu = general(
    "triu_of",
    lambda F, g, diagonal: F.triu(g, diagonal),
    statics=("diagonal",),
    kernel="triu",
    node="TriuBackward0",
    jvp="linear",
    vmap="lead",
    shape=lambda x, diagonal: (x.shape, x.dtype),
)
_tril.op.rewrites = _triu.op.rewrites = True


def _check_matrix(self: Tensor, name: str, diagonal: Any) -> None:
    integer(diagonal, f"{name}.diagonal.1")
    if self.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")


def _triangle_twin(name: str, op: Any) -> Any:
    def twin(self: Tensor, diagonal: int = 0) -> Tensor:
        _check_matrix(self, name, diagonal)
        return in_place(op, (self, diagonal))

    twin.__name__ = twin.__qualname__ = name + "_"
    return twin


TENSOR.tril_, TENSOR.triu_ = _triangle_twin("tril", _tril.op), _triangle_twin("triu", _triu.op)


@public
def tril(self: Tensor, diagonal: int = 0, *, out: Any = None) -> Tensor:
    """The lower triangle of matrices; the rest is 0."""
    if out is not None:
        return out_of(tril, out, self, diagonal)
    _check_matrix(self, "tril", diagonal)
    return _tril(self, diagonal)


@public
def triu(self: Tensor, diagonal: int = 0, *, out: Any = None) -> Tensor:
    """The upper triangle of matrices; the rest is 0."""
    if out is not None:
        return out_of(triu, out, self, diagonal)
    _check_matrix(self, "triu", diagonal)
    return _triu(self, diagonal)
