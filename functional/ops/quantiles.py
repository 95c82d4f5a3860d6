"""Quantiles: composed of a sort, two gathers and an interpolation."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..tape.op import TENSOR, public
from ..tape.out import need_out, write_out
from ..tape.slow import EXACT
from ..tape.views import check_in_place, requires_grad
from ..tensor import Tensor, wrap
from .arguments import one_dim
from .in_place_views import transpose_

_WAYS = ("linear", "lower", "higher", "midpoint", "nearest")


def _check(self: Tensor, q: Any, way: str) -> None:
    if not self.numel():
        raise RuntimeError("quantile() input tensor must be non-empty")
    if q.ndim > 1:
        raise RuntimeError("quantile() q must be a scalar or 1D tensor")
    if self.dtype not in (dtypes.float32, dtypes.float64):
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if self.dtype is not q.dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    if way not in _WAYS:
        raise RuntimeError(
            "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, "
            f"but got {way}"
        )
    if q.device.type != "meta" and q.numel() and not bool(TENSOR.all((q >= 0) & (q <= 1))):
        raise RuntimeError("quantile() q values must be in the range [0, 1]")


def _sorted(self: Tensor, dim: Any, keepdim: bool) -> Tensor:
    """The values in order along the last dimension, behind those of the result."""
    if dim is None:
        rows = TENSOR.sort(TENSOR.flatten(self))[0]
        lead = (1,) * self.ndim if keepdim else ()
        return TENSOR.view(rows, (*lead, rows.shape[-1]))
    at = one_dim(self, dim)
    rest = tuple(1 if d == at else n for d, n in enumerate(self.shape) if keepdim or d != at)
    if at == self.ndim - 1:
        rows = TENSOR.sort(self)[0]
    elif self.ndim:
        rows = TENSOR.sort(TENSOR.transpose(TENSOR.unsqueeze(self, -1), at, -1))[0]
    else:
        rows = TENSOR.unsqueeze(self, 0)
        rest = ()
    return TENSOR.view(rows, (*rest, rows.shape[-1]))


def _ranks(rows: Tensor, q: Tensor, skip_nan: bool) -> Tensor:
    """Where each quantile lies among the sorted values."""
    fixed = rows.detach()
    nan = TENSOR.isnan(fixed)
    if skip_nan:
        count = TENSOR.sum(TENSOR.logical_not(nan), -1, True)
        ranks = q * (count - 1)
        return TENSOR.masked_fill(ranks, ranks < 0, 0)
    last = fixed.shape[-1] - 1
    hit = TENSOR.any(nan, -1, True)
    shape = (*hit.shape[:-1], q.numel())
    return TENSOR.masked_fill(TENSOR.expand(q * last, shape), TENSOR.expand(hit, shape), last)


_ROUND = {"lower": "floor", "higher": "ceil", "nearest": "round"}


def _compute(self: Tensor, q: Tensor, dim: Any, keepdim: bool, way: str, skip_nan: bool) -> Tensor:
    rows = _sorted(self, dim, keepdim)
    ranks = _ranks(rows, q.reshape((-1,)), skip_nan)
    if way in _ROUND:
        ranks = getattr(TENSOR, _ROUND[way])(ranks)
    below = TENSOR.to_dtype(ranks, dtypes.int64)
    values = TENSOR.gather(rows, -1, below)
    if way in ("linear", "midpoint"):
        weights = TENSOR.full_like(ranks, 0.5) if way == "midpoint" else ranks - below
        above = TENSOR.to_dtype(TENSOR.ceil(ranks), dtypes.int64)
        values = TENSOR.lerp(values, TENSOR.gather(rows, -1, above), weights)
    mark = "_" if type(values) in EXACT else ""  # in place, except inside transforms
    if q.ndim:
        values = getattr(TENSOR, "unsqueeze" + mark)(values, 0)
        last = values.ndim - 1
        if mark:
            values = transpose_(values, 0, last)
        else:
            values = TENSOR.transpose(values, 0, last)
    return getattr(TENSOR, "squeeze" + mark)(values, -1)


def _quantile(
    name: str, self: Tensor, q: Any, dim: Any, keepdim: bool, way: str, out: Any
) -> Tensor:
    skip = name == "nanquantile"
    if out is not None:
        check_in_place(need_out(name, out), requires_grad(out))
        self, q = self.detach(), q.detach() if isinstance(q, Tensor) else q
        return write_out(_quantile(name, self, q, dim, keepdim, way, None).contiguous(), out, name)
    if not isinstance(q, Tensor):
        if not 0 <= q <= 1:
            raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q:g}")
        q = TENSOR.to_device(wrap(np.asarray(q, self.dtype.array)), self.device)
    _check(self, q, way)
    return _compute(self, q, dim, keepdim, way, skip)


@public
def quantile(
    self: Tensor, q: Any, dim: Any = None, keepdim: bool = False, *,
    interpolation: str = "linear", out: Any = None,
) -> Tensor:  # fmt: skip
    """The ``q``-quantiles (0 to 1) of all elements or along ``dim``; NaN if there is a NaN."""
    return _quantile("quantile", self, q, dim, keepdim, interpolation, out)


@public
def nanquantile(
    self: Tensor, q: Any, dim: Any = None, keepdim: bool = False, *,
    interpolation: str = "linear", out: Any = None,
) -> Tensor:  # fmt: skip
    """The ``q``-quantiles (0 to 1) of what is no NaN."""
    return _quantile("nanquantile", self, q, dim, keepdim, interpolation, out)
