"""Reductions."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..tape.batching import over_scalars, shifted
from ..tape.declare import general
from ..tape.op import TENSOR, public
from ..tape.slow import in_place, out_of
from ..tensor import Tensor
from .arguments import dims_of, one_dim
from .results import return_type


def _reduced(x: Any, dim: Any, keepdim: bool) -> tuple[int, ...]:
    if dim is None:
        return (1,) * x.ndim if keepdim else ()
    if keepdim:
        return tuple(1 if i in dim else n for i, n in enumerate(x.shape))
    return tuple(n for i, n in enumerate(x.shape) if i not in dim)


def _shape(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    return _reduced(x, dim, keepdim), x.dtype


def _sum_shape(x: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    own = x.dtype if x.dtype.kind in "fcV" else dtypes.int64.array
    return _reduced(x, dim, keepdim), own if dtype is None else dtype.array


def _mean_shape(x: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    return _reduced(x, dim, keepdim), x.dtype if dtype is None else dtype.array


def _arg_shape(x: Any, dim: Any, keepdim: bool) -> Any:
    return _reduced(x, None if dim is None else (dim,), keepdim), dtypes.int64.array


def _restore(F: Any, g: Any, shape: tuple[int, ...], dim: Any, keepdim: bool) -> Any:
    """A reduced tensor with its dimensions back, so that it broadcasts to ``shape``."""
    if dim is None or keepdim or not shape:
        return F.reshape(g, (1,) * len(shape)) if dim is None else g
    return F.reshape(g, tuple(1 if i in dim else n for i, n in enumerate(shape)))


def _count(shape: tuple[int, ...], dim: Any) -> int:
    total = 1
    for i, n in enumerate(shape):
        total *= n if dim is None or i in dim else 1
    return total


def _spread(F: Any, g: Any, shape: tuple[int, ...], dim: Any, keepdim: bool) -> Any:
    return F.expand(_restore(F, g, shape, dim, keepdim), shape)


def _whole(call: Any) -> Any:
    """vmap's rule for a reduction of all elements: over all dimensions but the batch."""
    return lambda F, flags, x, *rest: call(F)(x, tuple(range(1, x.ndim)), False, *rest)


def _sum_to_size_batched(F: Any, flags: Any, x: Any, size: tuple[int, ...]) -> Any:
    lead = x.ndim - 1 - len(size)
    full = F.sum_to_size(x, (x.shape[0], *(1,) * lead, *size))
    return F.reshape(full, (x.shape[0], *size))


# --- sums and means -------------------------------------------------------------------------------

sum_all = general(
    "sum_all",
    lambda F, g, self_shape: F.expand(g, self_shape),
    statics=("dtype",),
    kernel="sum_whole",
    node="SumBackward0",
    vmap=_whole(lambda F: F.sum_dims),
    jvp="linear",
    shape=lambda x, dtype: _sum_shape(x, None, False, dtype),
)
sum_dims = general(
    "sum_dims",
    lambda F, g, self_shape, dim, keepdim: _spread(F, g, self_shape, dim, keepdim),
    statics=("dim", "keepdim", "dtype"),
    kernel="sum",
    node="SumBackward1",
    vmap=shifted(lambda F: F.sum_dims, 0),
    jvp="linear",
    shape=_sum_shape,
)
sum_to_size_ = general(
    "sum_to_size",
    lambda F, g, self_shape: F.expand(g, self_shape),
    statics=("size",),
    node="SumBackward1",
    vmap=_sum_to_size_batched,
    jvp="linear",
    shape=lambda x, size: (size, x.dtype),
)
mean_all = general(
    "mean_all",
    lambda F, g, self_shape: F.expand(g, self_shape) / _count(self_shape, None),
    statics=("dtype",),
    kernel="mean_whole",
    node="MeanBackward0",
    vmap=_whole(lambda F: F.mean_dims),
    jvp="linear",
    shape=lambda x, dtype: _mean_shape(x, None, False, dtype),
)
mean_dims = general(
    "mean_dims",
    lambda F, g, self_shape, dim, keepdim: (
        _spread(F, g, self_shape, dim, keepdim) / _count(self_shape, dim)
    ),
    statics=("dim", "keepdim", "dtype"),
    kernel="mean",
    node="MeanBackward1",
    vmap=shifted(lambda F: F.mean_dims, 0),
    jvp="linear",
    shape=_mean_shape,
)


def _dims_or_all(self: Tensor, dim: Any) -> Any:
    if dim is None:
        return None
    dims = dims_of(self, dim)
    return dims or tuple(range(self.ndim))


@public
def sum(
    self: Tensor,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
    axis: Any = None,
    out: Any = None,
) -> Tensor:
    """The sum over ``dim`` (an int or several), or of all elements."""
    if out is not None:
        return out_of(lambda x: sum(x, dim, keepdim, dtype=dtype, axis=axis), out, self, name="sum")
    if dtype is not None and dtype.category < dtypes.FLOAT:
        self = to_dtype_of(self, dtype)
    dim = axis if dim is None else dim
    if dim is None and not keepdim:
        return sum_all(self, dtype)
    return sum_dims(self, _dims_or_all(self, () if dim is None else dim), keepdim, dtype)


@public
def mean(
    self: Tensor,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
    axis: Any = None,
    out: Any = None,
) -> Tensor:
    """The mean over ``dim`` (an int or several), or of all elements; floating only."""
    if out is not None:
        return out_of(
            lambda x: mean(x, dim, keepdim, dtype=dtype, axis=axis), out, self, name="mean"
        )
    kind = self.dtype if dtype is None else dtype
    if kind.category < dtypes.FLOAT:
        found = "could not infer output dtype. Input" if dtype is None else "Optional"
        raise RuntimeError(
            f"mean(): {found} dtype must be either a floating point or complex dtype. Got: "
            f"{kind.legacy}"
        )
    dim = axis if dim is None else dim
    if dim is None and not keepdim:
        return mean_all(self, dtype)
    return mean_dims(self, _dims_or_all(self, () if dim is None else dim), keepdim, dtype)


def to_dtype_of(self: Tensor, dtype: Any) -> Tensor:
    return self if self.dtype is dtype else TENSOR.to_dtype(self, dtype)


# --- extremes -------------------------------------------------------------------------------------


def _even(F: Any, g: Any, self: Any, result: Any, dim: Any, keepdim: bool) -> Any:
    """Share a gradient evenly among the elements that equal the extreme."""
    shape = tuple(self.shape)
    mask = self == _restore(F, result, shape, dim, keepdim)
    share = _restore(F, g, shape, dim, keepdim) / _kept(F.sum, mask, dim)
    return share * mask


def _kept(reduce: Any, x: Any, dim: Any) -> Any:
    """A sum or mean that broadcasts against ``x``; no dimensions at all reduce nothing."""
    return x if dim == () else reduce(x, dim, dim is not None)


def _extreme(name: str, node: str) -> Any:
    return general(
        f"{name}_all",
        lambda F, g, self, result: _even(F, g, self, result, None, False),
        node=node,
        vmap=_whole(lambda F: getattr(F, f"a{name}_dims")),
        shape=_shape,
    )


def _extreme_dims(name: str, node: str) -> Any:
    return general(
        f"{name}_dims",
        lambda F, g, self, result, dim, keepdim: _even(F, g, self, result, dim, keepdim),
        statics=("dim", "keepdim"),
        kernel=name,
        node=node,
        vmap=shifted(lambda F: getattr(F, f"{name}_dims"), 0),
        shape=_shape,
    )


def _indexed(name: str, node: str) -> Any:
    return general(
        f"{name}_dim",
        lambda F, g, result1, self_shape, dim, keepdim: _scatter(
            F, g, result1, self_shape, dim, keepdim
        ),
        statics=("dim", "keepdim"),
        node=node,
        vmap=over_scalars(shifted(lambda F: getattr(F, f"{name}_dim"), 0)),
        differentiable=(True, False),
        shape=lambda x, dim, keepdim: [
            _shape(x, (dim,), keepdim),
            (_reduced(x, (dim,), keepdim), dtypes.int64.array),
        ],
    )


def _scatter(F: Any, g: Any, at: Any, shape: tuple[int, ...], dim: int, keepdim: bool) -> Any:
    g = g[0] if type(g) is list else g
    if not shape:
        return g
    if not keepdim:
        g, at = F.unsqueeze(g, dim), F.unsqueeze(at, dim)
    return F.gather_backward(g, at, shape, dim)


max_all, min_all = _extreme("max", "MaxBackward1"), _extreme("min", "MinBackward1")
amax_dims, amin_dims = (
    _extreme_dims("amax", "AmaxBackward0"),
    _extreme_dims("amin", "AminBackward0"),
)
max_dim, min_dim = _indexed("max", "MaxBackward0"), _indexed("min", "MinBackward0")
argmax_flat = general("argmax_flat", statics=("dim", "keepdim"), kernel="argmax", shape=_arg_shape)
argmin_flat = general("argmin_flat", statics=("dim", "keepdim"), kernel="argmin", shape=_arg_shape)

_MaxResult = return_type("max", ("values", "indices"))
_MinResult = return_type("min", ("values", "indices"))


def _max_or_min(self: Tensor, dim: Any, keepdim: bool, whole: Any, along: Any, both: Any) -> Any:
    if dim is None:
        if self.numel() == 0:
            raise RuntimeError(
                f"{both.__name__}(): Expected reduction dim to be specified for "
                "input.numel() == 0. Specify the reduction dim with the 'dim' argument."
            )
        return whole(self)
    return both(along(self, one_dim(self, dim), keepdim))


@public
def max(self: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    """The maximum of all elements; (values, indices) along ``dim``; of two tensors, elementwise."""
    if isinstance(dim, Tensor):
        from .pointwise import maximum

        return maximum(self, dim)
    return _max_or_min(self, dim, keepdim, max_all, max_dim, _MaxResult)


@public
def min(self: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    """The minimum of all elements; (values, indices) along ``dim``; of two tensors, elementwise."""
    if isinstance(dim, Tensor):
        from .pointwise import minimum

        return minimum(self, dim)
    return _max_or_min(self, dim, keepdim, min_all, min_dim, _MinResult)


def _need_dim(name: str, self: Tensor, dim: Any) -> None:
    if dim == () and not self.numel():
        raise RuntimeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
            "reduction dim with the 'dim' argument."
        )


@public
def amax(self: Tensor, dim: Any = (), keepdim: bool = False, *, out: Any = None) -> Tensor:
    """The maximum over ``dim``; a gradient is shared evenly among equal maxima."""
    if out is not None:
        return out_of(amax, out, self, dim, keepdim)
    _need_dim("amax", self, dim)
    return amax_dims(self, _dims_or_all(self, dim), keepdim)


@public
def amin(self: Tensor, dim: Any = (), keepdim: bool = False, *, out: Any = None) -> Tensor:
    """The minimum over ``dim``; a gradient is shared evenly among equal minima."""
    if out is not None:
        return out_of(amin, out, self, dim, keepdim)
    _need_dim("amin", self, dim)
    return amin_dims(self, _dims_or_all(self, dim), keepdim)


@public
def argmax(self: Tensor, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Tensor:
    """The index of the first maximum, in the flattened tensor if ``dim`` is None."""
    if out is not None:
        return out_of(argmax, out, self.detach(), dim, keepdim)
    return argmax_flat(self, None if dim is None else one_dim(self, dim), keepdim)


@public
def argmin(self: Tensor, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Tensor:
    """The index of the first minimum, in the flattened tensor if ``dim`` is None."""
    if out is not None:
        return out_of(argmin, out, self.detach(), dim, keepdim)
    return argmin_flat(self, None if dim is None else one_dim(self, dim), keepdim)


# --- truth, products, spread, norms ---------------------------------------------------------------


def _truth_shape(x: Any, dim: Any, keepdim: bool) -> Any:
    return _reduced(x, dim, keepdim), x.dtype if x.dtype == "uint8" else dtypes.bool_.array


all_dims = general("all_dims", statics=("dim", "keepdim"), kernel="all", shape=_truth_shape,
                   vmap=shifted(lambda F: F.all_dims, 0))  # fmt: skip
any_dims = general("any_dims", statics=("dim", "keepdim"), kernel="any", shape=_truth_shape,
                   vmap=shifted(lambda F: F.any_dims, 0))  # fmt: skip


@public
def all(self: Tensor, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Tensor:
    """Whether every element (along ``dim``) is true."""
    if out is not None:
        return out_of(all, out, self.detach(), dim, keepdim)
    return all_dims(self, _dims_or_all(self, dim), keepdim)


@public
def any(self: Tensor, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Tensor:
    """Whether an element (along ``dim``) is true."""
    if out is not None:
        return out_of(any, out, self.detach(), dim, keepdim)
    return any_dims(self, _dims_or_all(self, dim), keepdim)


def _var_vjp(F: Any, g: Any, self: Any, dim: Any, correction: float, keepdim: bool) -> Any:
    shape = tuple(self.shape)
    left = _count(shape, dim) - correction
    scale = 2.0 / left if left > 0 else float("nan")
    return _restore(F, g, shape, dim, keepdim) * scale * (self - _kept(F.mean, self, dim))


var_dims = general(
    "var_dims",
    _var_vjp,
    statics=("dim", "correction", "keepdim"),
    kernel="var",
    node="VarBackward0",
    vmap=shifted(lambda F: F.var_dims, 0),
    shape=lambda x, dim, correction, keepdim: _shape(x, dim, keepdim),
)


@public
def var(
    self: Tensor,
    dim: Any = None,
    unbiased: Any = None,
    keepdim: bool = False,
    *,
    correction: Any = 1,
    out: Any = None,
) -> Tensor:
    """The variance over ``dim``; the sum of squares is divided by count - correction."""
    if out is not None:
        form = lambda x: var(x, dim, unbiased, keepdim, correction=correction)  # noqa: E731
        return out_of(form, out, self, name="var")
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if unbiased is not None:
        correction = 1 if unbiased else 0
    return var_dims(self, _dims_or_all(self, dim), float(correction), keepdim)


def _logsumexp_vjp(F: Any, g: Any, self: Any, result: Any, dim: Any, keepdim: bool) -> Any:
    shape = tuple(self.shape)
    return _restore(F, g, shape, dim, keepdim) * F.exp(
        self - _restore(F, result, shape, dim, keepdim)
    )


logsumexp_dims = general(
    "logsumexp_dims",
    _logsumexp_vjp,
    statics=("dim", "keepdim"),
    kernel="logsumexp",
    node="LogsumexpBackward0",
    vmap=shifted(lambda F: F.logsumexp_dims, 0),
    shape=_shape,
)


@public
def logsumexp(self: Tensor, dim: Any, keepdim: bool = False, *, out: Any = None) -> Tensor:
    """log Σ exp(self) over ``dim``, without overflow."""
    if out is not None:
        return out_of(logsumexp, out, self, dim, keepdim)
    return logsumexp_dims(self, _dims_or_all(self, dim), keepdim)


cumsum_dim = general(
    "cumsum_dim",
    lambda F, g, dim: F.flip(F.cumsum(F.flip(g, (dim,)), dim), (dim,)),
    statics=("dim", "dtype"),
    kernel="cumsum",
    node="CumsumBackward0",
    vmap=over_scalars(shifted(lambda F: F.cumsum_dim, 0)),
    jvp="linear",
    shape=lambda x, dim, dtype: _sum_shape(x, (), False, dtype),
)


@public
def cumsum(self: Tensor, dim: int, *, dtype: Any = None, out: Any = None) -> Tensor:
    """Running sums along ``dim``."""
    if out is not None:
        return out_of(lambda x: cumsum(x, dim, dtype=dtype), out, self, name="cumsum")
    return cumsum_dim(self, one_dim(self, dim), dtype)


def _cumsum_twin(self: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """``cumsum`` in place."""
    if self.dtype is dtypes.bool_ and self.ndim:
        raise NotImplementedError("\"cumsum_out_cpu\" not implemented for 'Bool'")
    return in_place(cumsum_dim.op, (self, one_dim(self, dim), dtype or self.dtype))


TENSOR.cumsum_ = _cumsum_twin
