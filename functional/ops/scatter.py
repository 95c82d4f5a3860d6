"""scatter_add, scatter_reduce, index_add, index_reduce, and their derivatives."""

from __future__ import annotations

import functools
import warnings
from typing import Any

from .. import dtypes
from ..blame import warn_once
from ..kernels.meta import has_numbers
from ..tape.declare import general
from ..tape.op import TENSOR, public
from ..tape.out import out_of
from ..tape.slow import in_place
from ..tensor import Tensor
from .arguments import one_dim
from .gather import _check_index, _check_rank, check_source, of_rank, within

# --- along a dimension ----------------------------------------------------------------------------


def _like_self(x: Any, *rest: Any) -> Any:
    return x.shape, x.dtype


scatter_add_along = general(
    "scatter_add_along",
    lambda F, g: g,
    lambda F, g, index, dim: F.gather_along(g, index, dim),
    None,
    inputs=("self", "source", "index"),
    statics=("dim",),
    node="ScatterAddBackward0",
    shape=_like_self,
)


def _among_equals(F: Any, g: Any, x: Any, source: Any, result: Any, read: Any, add: Any) -> Any:
    """Shares of a gradient for all that equal the extreme: (of x, of source)."""
    own, theirs = x == result, source == read(result)
    share = g / add(own * F.ones_of(g), theirs * F.ones_of(read(g)))
    return share * own, read(share) * theirs


def _product_source(F: Any, g: Any, x: Any, source: Any, result: Any, joined: Any) -> Any:
    """The derivative of a product with respect to its factors, right for one zero among them."""
    read, add, join = joined
    zero = source == 0
    ones = F.ones_of(source)
    count = read(add(F.zeros_like(x), zero * ones))
    single = zero & (count == 1)
    others = join(x, F.where(single, 1.0, source))
    plain = read(g * result) / F.where(zero, 1.0, source)
    return F.where(single, read(g * others), plain)


def _joined_vjp(
    F: Any, g: Any, at: int, x: Any, source: Any, result: Any, reduce: str, include: bool,
    joined: Any, erase: Any,
) -> Any:  # fmt: skip
    """The derivative of ``x`` (``at`` 0) with ``source`` (1) joined into it, by any reduction."""
    read, add, join = joined
    if reduce == "prod" and at:
        return _product_source(F, g, x, source, result, joined)
    if reduce == "prod":
        masked = F.where(x == 0, 1.0, x)
        found = g * join(masked, source) / masked
    elif reduce == "sum":
        found = read(g) if at else g
    elif reduce == "mean":
        start = F.ones_of(g) if include else F.zeros_like(g)
        count = add(start, F.ones_of(read(g)))
        count = F.where(count == 0, 1.0, count)
        found = read(g) / read(count) if at else g / count
    else:
        found = _among_equals(F, g, x, source, result, read, add)[at]
    return found if include or at else erase(found)


def _rules(vjp: Any) -> tuple[Any, Any, None]:
    """One rule for each of the two inputs that have a derivative."""

    def of(at: int) -> Any:
        rule = functools.partial(vjp, at)
        rule.names = (  # type: ignore[attr-defined]
            "F", "g", "self", "source", "index", "dim", "reduce", "include", "result"
        )  # fmt: skip
        return rule

    return of(0), of(1), None


def _scatter_reduce_vjp(
    at: int, F: Any, g: Any, self: Any, source: Any, index: Any, dim: int, reduce: str,
    include: bool, result: Any,
) -> Any:  # fmt: skip
    joined = (
        lambda x: F.gather_along(x, index, dim),
        lambda x, y: F.scatter_add_along(x, y, index, dim),
        lambda x, y: F.scatter_reduce_along(x, y, index, dim, reduce, include),
    )
    return _joined_vjp(F, g, at, self, source, result, reduce, include, joined,
                       lambda x: F.scatter_number(x, 0, index, dim))  # fmt: skip


ones_of = general("ones_of", shape=_like_self)
scatter_reduce_along = general(
    "scatter_reduce_along",
    *_rules(_scatter_reduce_vjp),
    inputs=("self", "source", "index"),
    statics=("dim", "reduce", "include"),
    node="ScatterReduceBackward0",
    shape=_like_self,
)


def _refuse(F: Any, g: Any, need: Any) -> Any:
    raise NotImplementedError("derivative for aten::scatter is not implemented")


scatter_with = general(
    "scatter_with",
    joint=_refuse,
    inputs=("self", "source", "index"),
    statics=("dim", "reduce", "include"),
    kernel="scatter_reduce_along",
    node="NotImplemented",
    shape=_like_self,
)
_OLD_NAMES = {"add": "sum", "multiply": "prod"}


def scatter_reduced(self: Tensor, dim: int, index: Tensor, src: Any, reduce: str) -> Any:
    """(operation, arguments) of ``scatter`` with a reduction."""
    if reduce not in _OLD_NAMES:
        raise RuntimeError("reduce argument must be either add or multiply.")
    at = _scatter_at("scatter", self, dim, index, src)
    if isinstance(src, Tensor):
        warnings.warn(
            "The reduce argument of torch.scatter with Tensor src is deprecated and will be "
            "removed in a future PyTorch release. Use torch.scatter_reduce instead for more "
            "reduction options.",
            UserWarning,
            stacklevel=4,
        )
    else:
        src = TENSOR.full(tuple(index.shape), src, dtype=self.dtype, device=self.device)
    return scatter_with, (self, of_rank(src, index), index, at, _OLD_NAMES[reduce], True)


def _scatter_at(name: str, self: Tensor, dim: int, index: Tensor, src: Any) -> int:
    at = one_dim(self, dim)
    if index.dtype is not dtypes.int64 and index.dtype is not dtypes.int32:
        raise RuntimeError("scatter(): Expected dtype int32/int64 for index")
    _check_rank(self, index, "self")
    if isinstance(src, Tensor):
        if src.dtype is not self.dtype:
            raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
        check_source(self, index, src, at)
    _check_index("scatter", index, self.shape[at] if self.ndim else 1, at)
    return at


@public
def scatter_add(self: Tensor, dim: int, index: Tensor, src: Tensor, *, out: Any = None) -> Tensor:
    """A copy of ``self`` with ``src`` added along ``dim`` at ``index``."""
    if out is not None:
        return out_of(scatter_add, out, self, dim, index, src)
    at = _scatter_at("scatter_add", self, dim, index, src)
    return scatter_add_along(self, of_rank(src, index), index, at)


def _scatter_add_twin(self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """``scatter_add`` in place."""
    at = _scatter_at("scatter_add_", self, dim, index, src)
    return in_place(scatter_add_along.op, (self, of_rank(src, index), index, at))


_REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")


def _reduction(reduce: str) -> str:
    if reduce not in _REDUCTIONS:
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
        )
    return reduce


@public
def scatter_reduce(
    self: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor,
    reduce: str,
    *,
    include_self: bool = True,
    out: Any = None,
) -> Tensor:
    """A copy of ``self`` with ``src`` joined along ``dim`` at ``index``: sum, prod, mean, ..."""
    if out is not None:
        form = lambda *a: scatter_reduce(*a, include_self=include_self)
        return out_of(form, out, self, dim, index, src, reduce, name="scatter_reduce")
    at = _scatter_at("scatter_reduce", self, dim, index, src)
    rest = (of_rank(src, index), index, at, _reduction(reduce), bool(include_self))
    return scatter_reduce_along(self, *rest)


def _scatter_reduce_twin(
    self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """``scatter_reduce`` in place."""
    at = _scatter_at("scatter_reduce_", self, dim, index, src)
    rest = (at, _reduction(reduce), bool(include_self))
    return in_place(scatter_reduce_along.op, (self, of_rank(src, index), index, *rest))


TENSOR.scatter_add_, TENSOR.scatter_reduce_ = _scatter_add_twin, _scatter_reduce_twin

# --- slices along a dimension ---------------------------------------------------------------------


def _alpha(F: Any, g: Any, alpha: Any) -> Any:
    return g if alpha == 1 else g * alpha


index_add_dim = general(
    "index_add_dim",
    lambda F, g: g,
    lambda F, g, source, index, dim, alpha: _alpha(
        F, F.reshape(F.index_select_dim(g, index, dim), tuple(source.shape)), alpha
    ),
    None,
    inputs=("self", "source", "index"),
    statics=("dim", "alpha"),
    node="IndexAddBackward0",
    shape=_like_self,
)


def _index_reduce_vjp(
    at: int, F: Any, g: Any, self: Any, source: Any, index: Any, dim: int, reduce: str,
    include: bool, result: Any,
) -> Any:  # fmt: skip
    joined = (
        lambda x: F.reshape(F.index_select_dim(x, index, dim), tuple(source.shape)),
        lambda x, y: F.index_add_dim(x, y, index, dim, 1),
        lambda x, y: F.index_reduce_dim(x, y, index, dim, reduce, include),
    )
    return _joined_vjp(F, g, at, self, source, result, reduce, include, joined,
                       lambda x: F.index_fill_value(x, index, dim, 0))  # fmt: skip


index_reduce_dim = general(
    "index_reduce_dim",
    *_rules(_index_reduce_vjp),
    inputs=("self", "source", "index"),
    statics=("dim", "reduce", "include"),
    node="IndexReduceBackward0",
    shape=_like_self,
)


def index_place(name: str, self: Tensor, dim: int, index: Tensor, source: Tensor) -> int:
    """The dimension of ``index_add`` and ``index_reduce``, after their checks."""
    at = one_dim(self, dim)
    if index.ndim > 1:
        raise IndexError(
            f"{name}(): Index is supposed to be a vector, but got dim: {index.ndim} with type: "
            f"{index.dtype.legacy} and size: {list(index.shape)}"
        )
    if index.dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index but got: "
                           f"{index.dtype.legacy}")  # fmt: skip
    if self.dtype is not source.dtype:
        raise RuntimeError(
            f"{name}(): self ({self.dtype.legacy}) and source ({source.dtype.legacy}) must have "
            "the same scalar type"
        )
    n = source.shape[at] if source.ndim else 1
    if index.numel() != n:
        raise RuntimeError(
            f"{name}(): Number of indices ({index.numel()}) should be equal to source.size(dim): "
            f"({n}), for dim: {at}"
        )
    _check_slices(self, source, at)
    size = self.shape[at] if self.ndim else 1
    x = index._data
    if name == "index_add_" and self.ndim < 2 and has_numbers(x) and x.size and not within(x, size):
        raise IndexError("index out of range in self")
    _check_index(name, index, size, at)
    return at


def _check_slices(self: Tensor, source: Tensor, at: int) -> None:
    ours, theirs = list(self.shape), list(source.shape)
    if ours == theirs:
        return
    if self.ndim and source.ndim and (ours[:at] + ours[at + 1 :] != theirs[:at] + theirs[at + 1 :]):
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified "
            f"dimension. Got self.shape = {ours} source.shape = {theirs}"
        )


@public
def index_add(
    self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1, out: Any = None
) -> Tensor:
    """A copy of ``self`` with alpha ``source`` added along ``dim`` at ``index``, a vector."""
    if out is not None:
        form = lambda *a: index_add(*a, alpha=alpha)
        return out_of(form, out, self, dim, index, source, name="index_add")
    at = index_place("index_add_", self, dim, index, source)
    return index_add_dim(self, source, index, at, alpha)


def _index_add_twin(
    self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1
) -> Tensor:
    """``index_add`` in place."""
    at = index_place("index_add_", self, dim, index, source)
    return in_place(index_add_dim.op, (self, source, index, at, alpha))


def _index_reduction(
    self: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str
) -> tuple[int, str]:
    if reduce not in _REDUCTIONS[1:]:
        raise RuntimeError(
            "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got "
            f"{reduce}."
        )
    at = index_place("index_reduce_", self, dim, index, source)
    warn_once("index_reduce() is in beta and the API may change at any time.")
    return at, reduce


@public
def index_reduce(
    self: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    *,
    include_self: bool = True,
    out: Any = None,
) -> Tensor:
    """A copy of ``self`` with ``source`` joined along ``dim`` at ``index``: prod, mean, ..."""
    if out is not None:
        form = lambda *a: index_reduce(*a, include_self=include_self)
        return out_of(form, out, self, dim, index, source, reduce, name="index_reduce")
    rest = _index_reduction(self, dim, index, source, reduce)
    return index_reduce_dim(self, source, index, *rest, bool(include_self))


def _index_reduce_twin(
    self: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """``index_reduce`` in place."""
    rest = _index_reduction(self, dim, index, source, reduce)
    return in_place(index_reduce_dim.op, (self, source, index, *rest, bool(include_self)))


for _form in (
    scatter_add_along, scatter_reduce_along, scatter_with, index_add_dim, index_reduce_dim
):  # fmt: skip
    _form.op.apart = ("source", "index")
TENSOR.index_add_, TENSOR.index_reduce_ = _index_add_twin, _index_reduce_twin
