"""Products, spread, sums without NaN, and both extremes at once."""

from __future__ import annotations

import functools
from typing import Any

from .. import dtypes
from ..errors import not_implemented
from ..tape.batching import over_scalars, shifted
from ..tape.declare import general
from ..tape.op import TENSOR, public
from ..tape.out import need_dtype, need_out, out_of
from ..tensor import Tensor
from .arguments import one_dim
from .extremes import shared_evenly
from .reduce import (
    count_of,
    dims_or_all,
    kept,
    reduced_shape,
    restored,
    same_dtype_shape,
    spread_arguments,
    spread_out,
    sum_shape,
    var_dims,
)
from .results import out_several, return_type

# --- products -------------------------------------------------------------------------------------


def _prod_rest_vjp(F: Any, g: Any, self: Any, dim: int) -> Any:
    # before and behind are what lies on the two sides of every element
    before = F.shift(F.cumprod(self, dim), dim, 1, 1.0)
    turned = F.flip(self, (dim,))
    behind = F.flip(F.shift(F.cumprod(turned, dim), dim, 1, 1.0), (dim,))
    left = before * F.recurrence(F.shift(self, dim, -1, 0.0), _next(F, g * behind, dim), dim, True)
    reverse = F.recurrence(F.shift(self, dim, 1, 0.0), F.shift(g * before, dim, 1, 0.0), dim, False)
    return left + behind * reverse


def _next(F: Any, g: Any, dim: int) -> Any:
    return F.shift(g, dim, -1, 0.0)


prod_rest = general(
    "prod_rest",
    _prod_rest_vjp,
    statics=("dim",),
    vmap=over_scalars(shifted(lambda F: F.prod_rest, 0)),
    shape=lambda x, dim: (x.shape, x.dtype),
)


def _prod_vjp(F: Any, g: Any, self: Any, dim: int, keepdim: bool, result: Any) -> Any:
    if not len(self.shape):
        return g
    return restored(F, g, tuple(self.shape), (dim,), keepdim) * F.prod_rest(self, dim)


def _prod_all_vjp(F: Any, g: Any, self: Any, result: Any) -> Any:
    shape = tuple(self.shape)
    if not shape:
        return g
    return g * F.reshape(F.prod_rest(F.reshape(self, (-1,)), 0), shape)


prod_all = general(
    "prod_all",
    _prod_all_vjp,
    statics=("dtype",),
    kernel="prod_whole",
    node="ProdBackward0",
    shape=lambda x, dtype: sum_shape(x, None, False, dtype),
)
prod_dim = general(
    "prod_dim",
    _prod_vjp,
    statics=("dim", "keepdim", "dtype"),
    kernel="prod",
    node="ProdBackward1",
    vmap=over_scalars(shifted(lambda F: F.prod_dim, 0)),
    shape=lambda x, dim, keepdim, dtype: sum_shape(x, (dim,), keepdim, dtype),
)


@public
def prod(
    self: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None
) -> Tensor:
    """The product along ``dim``, or of all elements."""
    if out is not None:
        need_dtype(need_out("prod", out), dtype)
        kind = dtype or out.dtype
        return out_of(lambda x: prod(x, dim, keepdim, dtype=kind), out, self, name="prod")
    if dim is None:
        return prod_all(self, dtype)
    return prod_dim(self, one_dim(self, dim), keepdim, dtype)


# --- spread ---------------------------------------------------------------------------------------


def _spread_vjp(F: Any, g: Any, x: Any, dim: Any, correction: float, keepdim: bool) -> Any:
    """The derivative of the variance."""
    shape = tuple(x.shape)
    left = count_of(shape, dim) - correction
    scale = 2.0 / left if left > 0 else float("nan")
    return restored(F, g, shape, dim, keepdim) * scale * (x - kept(F.mean, x, dim))


def _of_root(F: Any, g: Any, root: Any) -> Any:
    return F.where(root == 0, 0.0, g / (root * 2))


def _std_vjp(
    F: Any, g: Any, self: Any, dim: Any, correction: float, keepdim: bool, result: Any
) -> Any:
    return _spread_vjp(F, _of_root(F, g, result), self, dim, correction, keepdim)


std_dims = general(
    "std_dims",
    _std_vjp,
    statics=("dim", "correction", "keepdim"),
    kernel="std",
    node="StdBackward0",
    vmap=shifted(lambda F: F.std_dims, 0),
    shape=lambda x, dim, correction, keepdim: (reduced_shape(x, dim, keepdim), _real(x)),
)


def _real(x: Any) -> Any:
    return {"c": {8: "f4", 16: "f8"}}.get(x.dtype.kind, {}).get(x.dtype.itemsize, x.dtype)


def _with_mean_vjp(
    F: Any, g: Any, self: Any, dim: Any, correction: float, keepdim: bool, root: Any
) -> Any:
    """The derivative of (spread, mean); ``root`` is the standard deviation, if that is it."""
    spread, center = g
    total = None
    if spread is not None:
        spread = spread if root is None else _of_root(F, spread, root)
        total = _spread_vjp(F, spread, self, dim, correction, keepdim)
    if center is None:
        return total
    shape = tuple(self.shape)
    part = spread_out(F, center, shape, dim, keepdim) / count_of(shape, dim)
    return part if total is None else total + part


def _std_mean_vjp(
    F: Any, g: Any, self: Any, dim: Any, correction: float, keepdim: bool, result0: Any
) -> Any:
    return _with_mean_vjp(F, g, self, dim, correction, keepdim, result0)


def _var_mean_vjp(F: Any, g: Any, self: Any, dim: Any, correction: float, keepdim: bool) -> Any:
    return _with_mean_vjp(F, g, self, dim, correction, keepdim, None)


def _with_mean(name: str, node: str, vjp: Any) -> Any:
    return general(
        f"{name}_dims",
        vjp,
        statics=("dim", "correction", "keepdim"),
        kernel=name,
        node=node,
        vmap=shifted(lambda F: getattr(F, f"{name}_dims"), 0),
        shape=lambda x, dim, correction, keepdim: [
            (reduced_shape(x, dim, keepdim), _real(x)),
            (reduced_shape(x, dim, keepdim), x.dtype),
        ],
    )


std_mean_dims = _with_mean("std_mean", "StdMeanBackward0", _std_mean_vjp)
var_mean_dims = _with_mean("var_mean", "VarMeanBackward0", _var_mean_vjp)


@public
def std(
    self: Tensor,
    dim: Any = None,
    unbiased: Any = None,
    keepdim: bool = False,
    *,
    correction: Any = 1,
    out: Any = None,
) -> Tensor:
    """The standard deviation over ``dim``; its square has count - correction as denominator."""
    if out is not None:
        form = lambda x: std(x, dim, unbiased, keepdim, correction=correction)
        return out_of(form, out, self, name="std")
    return std_dims(self, *spread_arguments("std", self, dim, unbiased, correction), keepdim)


@public
def std_mean(
    self: Tensor,
    dim: Any = None,
    unbiased: Any = None,
    keepdim: bool = False,
    *,
    correction: Any = 1,
) -> tuple[Tensor, Tensor]:
    """(standard deviation, mean) over ``dim``."""
    dims, correction = spread_arguments("std_mean", self, dim, unbiased, correction)
    if self.dtype.is_complex:  # two dtypes, which one node cannot have
        return std_dims(self, dims, correction, keepdim), TENSOR.mean(self, dims, keepdim)
    return std_mean_dims(self, dims, correction, keepdim)


@public
def var_mean(
    self: Tensor,
    dim: Any = None,
    unbiased: Any = None,
    keepdim: bool = False,
    *,
    correction: Any = 1,
) -> tuple[Tensor, Tensor]:
    """(variance, mean) over ``dim``."""
    dims, correction = spread_arguments("var_mean", self, dim, unbiased, correction)
    if self.dtype.is_complex:  # two dtypes, which one node cannot have
        return var_dims(self, dims, correction, keepdim), TENSOR.mean(self, dims, keepdim)
    return var_mean_dims(self, dims, correction, keepdim)


# --- sums without NaN -----------------------------------------------------------------------------


def _nansum_vjp(F: Any, g: Any, self: Any, dim: Any, keepdim: bool) -> Any:
    return F.where(F.isnan(self), 0.0, spread_out(F, g, tuple(self.shape), dim, keepdim))


nansum_dims = general(
    "nansum_dims",
    _nansum_vjp,
    statics=("dim", "keepdim", "dtype"),
    kernel="nansum",
    node="NansumBackward0",
    vmap=shifted(lambda F: F.nansum_dims, 0),
    shape=sum_shape,
)


@public
def nansum(
    self: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None
) -> Tensor:
    """The sum over ``dim`` with NaN counted as zero."""
    if out is not None:
        if dtype is not None and need_out("nansum", out).dtype is not dtype:
            raise RuntimeError(
                "nansum: provided dtype must match dtype of result. Got "
                f"{out.dtype.legacy} and {dtype.legacy}."
            )
        return out_of(lambda x: nansum(x, dim, keepdim, dtype=dtype), out, self, name="nansum")
    if self.dtype.is_complex:
        raise RuntimeError("nansum on CPU does not support complex inputs")
    if not self.dtype.is_floating_point:
        return TENSOR.sum(self, dim, keepdim, dtype=dtype)
    if dtype is not None and dtype.is_complex:
        raise not_implemented("nansum_cpu", dtype)
    return nansum_dims(self, dims_or_all(self, dim), keepdim, dtype)


@public
def nanmean(
    self: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None
) -> Tensor:
    """The mean over ``dim`` of what is no NaN."""
    if out is not None:
        return out_of(lambda x: nanmean(x, dim, keepdim, dtype=dtype), out, self, name="nansum")
    if self.dtype.category < dtypes.FLOAT:
        raise RuntimeError(
            "nanmean(): expected input to have floating point or complex dtype but got "
            f"{self.dtype.legacy}"
        )
    if dtype is not None and dtype.category < dtypes.FLOAT:
        raise RuntimeError(
            "nanmean(): could not infer output dtype. Optional dtype must be either a floating "
            f"point or complex dtype. Got: {dtype.legacy}"
        )
    count = TENSOR.sum(
        TENSOR.logical_not(TENSOR.isnan(self.detach())), () if dim is None else dim, keepdim
    )
    return nansum(self, dim, keepdim, dtype=dtype) / count


# --- both extremes --------------------------------------------------------------------------------


def _aminmax_vjp(
    F: Any, g: Any, self: Any, dim: Any, keepdim: bool, result0: Any, result1: Any
) -> Any:
    parts = [
        shared_evenly(F, part, self, z, dim, keepdim)
        for part, z in zip(g, (result0, result1), strict=True)
        if part is not None
    ]
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


aminmax_dims = general(
    "aminmax_dims",
    _aminmax_vjp,
    statics=("dim", "keepdim"),
    kernel="aminmax",
    node="AminmaxBackward0",
    vmap=shifted(lambda F: F.aminmax_dims, 0),
    shape=lambda x, dim, keepdim: [same_dtype_shape(x, dim, keepdim)] * 2,
)
_Aminmax = return_type("aminmax", ("min", "max"))


@public
def aminmax(self: Tensor, *, dim: Any = None, keepdim: bool = False, out: Any = None) -> Any:
    """(minimum, maximum) along ``dim``, or of all elements."""
    if out is not None:
        form = functools.partial(aminmax, dim=dim, keepdim=keepdim)
        return _Aminmax.out(out_several(form, out, self, name="aminmax"))
    if dim is None and not self.numel():
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no "
            "identity."
        )
    dims = None if dim is None else (one_dim(self, dim),) if self.ndim else ()
    if dims and not self.shape[dims[0]]:
        raise IndexError(f"aminmax: Expected reduction dim {dims[0]} to have non-zero size.")
    if dims == () and self.dtype.is_complex:
        raise RuntimeError(f"aminmax not implemented for {self.dtype.legacy}")
    return _Aminmax(aminmax_dims(self, dims, keepdim))
