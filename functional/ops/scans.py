"""Scans along a dimension: running products, extremes and log-sum-exp."""

from __future__ import annotations

import math
from typing import Any

from .. import dtypes
from ..tape.batching import over_scalars, shifted
from ..tape.declare import general
from ..tape.op import TENSOR, public
from ..tape.out import need_out, out_of
from ..tensor import Tensor
from .arguments import one_dim
from .extremes import placed_in
from .reduce import check_scan, scan_twin, sum_shape
from .refusals import none_beyond_scalars
from .results import out_several, return_type

# --- linear recurrences: closed under differentiation ---------------------------------------------

shift = general(
    "shift",
    lambda F, g, dim, step: F.shift(g, dim, -step, 0.0),
    statics=("dim", "step", "fill"),
    jvp=lambda F, tangents, self, dim, step, fill: F.shift(tangents[0], dim, step, 0.0),
    vmap=over_scalars(shifted(lambda F: F.shift, 0)),
    shape=lambda x, dim, step, fill: (x.shape, x.dtype),
)


def _recurrence_vjp(F: Any, g: Any, need: Any, a: Any, dim: int, reverse: bool, result: Any) -> Any:
    step = -1 if reverse else 1
    back = F.recurrence(F.shift(a, dim, -step, 0.0), g, dim, not reverse)
    return back * F.shift(result, dim, step, 0.0) if need[0] else None, back


recurrence = general(
    "recurrence",
    joint=_recurrence_vjp,
    inputs=("a", "b"),
    statics=("dim", "reverse"),
    shape=lambda a, b, dim, reverse: (b.shape, b.dtype),
)

# --- products -------------------------------------------------------------------------------------


def _cumprod_vjp(F: Any, g: Any, self: Any, result: Any, dim: int) -> Any:
    if math.prod(self.shape) <= 1:
        return g
    before = F.shift(result, dim, 1, 1.0)
    return before * F.recurrence(F.shift(self, dim, -1, 0.0), g, dim, True)


cumprod_dim = general(
    "cumprod_dim",
    _cumprod_vjp,
    statics=("dim", "dtype"),
    kernel="cumprod",
    node="CumprodBackward0",
    vmap=over_scalars(shifted(lambda F: F.cumprod_dim, 0)),
    shape=lambda x, dim, dtype: sum_shape(x, (), False, dtype),
)


@public
def cumprod(self: Tensor, dim: int, dtype: Any = None, out: Any = None) -> Tensor:
    """Running products along ``dim``."""
    if out is not None:
        kind = dtype or need_out("cumprod", out).dtype
        return out_of(lambda x: cumprod(x, dim, dtype=kind), out, self, name="cumprod")
    if dtype is not None:
        check_scan("cumprod", self, dtype)
    return cumprod_dim(self, one_dim(self, dim), dtype)


TENSOR.cumprod_ = scan_twin("cumprod", cumprod_dim.op)

# --- extremes -------------------------------------------------------------------------------------


def _running(name: str) -> Any:
    return general(
        f"{name}_dim",
        placed_in,
        statics=("dim",),
        kernel=name,
        check=none_beyond_scalars(f"{name}_cpu", dtypes.COMPLEX),
        node=f"{name.capitalize()}Backward0",
        vmap=over_scalars(shifted(lambda F: getattr(F, f"{name}_dim"), 0)),
        differentiable=(True, False),
        shape=lambda x, dim: [(x.shape, x.dtype), (x.shape, dtypes.int64.array)],
    )


cummax_dim, cummin_dim = _running("cummax"), _running("cummin")
_Cummax = return_type("cummax", ("values", "indices"))
_Cummin = return_type("cummin", ("values", "indices"))


@public
def cummax(self: Tensor, dim: int, *, out: Any = None) -> Any:
    """(values, indices) of the running maxima along ``dim``."""
    if out is not None:
        return _Cummax.out(out_several(cummax, out, self, dim))
    return _Cummax(cummax_dim(self, one_dim(self, dim)))


@public
def cummin(self: Tensor, dim: int, *, out: Any = None) -> Any:
    """(values, indices) of the running minima along ``dim``."""
    if out is not None:
        return _Cummin.out(out_several(cummin, out, self, dim))
    return _Cummin(cummin_dim(self, one_dim(self, dim)))


# --- log-sum-exp ----------------------------------------------------------------------------------


def _logcumsumexp_vjp(F: Any, g: Any, self: Any, result: Any, dim: int) -> Any:
    # Σ over i >= k of g_i exp(x_k - r_i), from ratios exp(r_k - r_{k+1}) that do not exceed 1
    if math.prod(self.shape) <= 1:
        return g
    behind = F.shift(result, dim, -1, float("inf"))
    flat = F.isinf(result) & (result == behind)
    ratio = F.exp(F.where(flat, 0.0, result - behind))
    return F.exp(self - result) * F.recurrence(ratio, g, dim, True)


logcumsumexp_dim = general(
    "logcumsumexp_dim",
    _logcumsumexp_vjp,
    statics=("dim",),
    kernel="logcumsumexp",
    node="LogcumsumexpBackward0",
    vmap=over_scalars(shifted(lambda F: F.logcumsumexp_dim, 0)),
    shape=lambda x, dim: (x.shape, x.dtype),
)


@public
def logcumsumexp(self: Tensor, dim: int, *, out: Any = None) -> Tensor:
    """log of the running sums of exp along ``dim``, without overflow."""
    if out is not None:
        return out_of(logcumsumexp, out, self, dim)
    return logcumsumexp_dim(self, one_dim(self, dim))
