"""Medians, modes and other elements by rank."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..tape.batching import over_scalars, shifted
from ..tape.declare import general
from ..tape.op import public
from ..tensor import Tensor
from .arguments import one_dim
from .extremes import evenly_or_nan, picked_from
from .reduce import arg_shape, same_dtype_shape
from .refusals import none_beyond_scalars
from .results import out_several, return_type

# --- by rank --------------------------------------------------------------------------------------


_UNRANKED = {
    "mode": none_beyond_scalars("mode_cpu", dtypes.COMPLEX),
    "kthvalue": none_beyond_scalars("kthvalue_cpu", dtypes.COMPLEX, dtypes.BOOL),
}


def _ranked(name: str, node: str, extra: tuple[str, ...] = ()) -> Any:
    def vjp(F: Any, g: Any, self_shape: Any, dim: int, keepdim: bool, result1: Any) -> Any:
        return picked_from(F, g, result1, self_shape, dim, keepdim)

    at = len(extra)
    return general(
        f"{name}_dim",
        vjp,
        statics=(*extra, "dim", "keepdim"),
        kernel=name if name in ("mode", "kthvalue") else f"{name}_dim",
        node=node,
        check=_UNRANKED.get(name),
        vmap=over_scalars(shifted(lambda F: getattr(F, f"{name}_dim"), at)),
        differentiable=(True, False),
        shape=lambda x, *rest: [
            same_dtype_shape(x, (rest[at],), rest[at + 1]),
            arg_shape(x, rest[at], rest[at + 1]),
        ],
    )


def _ranked_whole(name: str) -> Any:
    return general(
        f"{name}_all",
        lambda F, g, self, result: evenly_or_nan(F, g, self, result),
        node=f"{name.capitalize()}Backward0",
        shape=same_dtype_shape,
    )


median_all, nanmedian_all = _ranked_whole("median"), _ranked_whole("nanmedian")
median_dim = _ranked("median", "MedianBackward1")
nanmedian_dim = _ranked("nanmedian", "NanmedianBackward1")
mode_dim = _ranked("mode", "ModeBackward0")
kthvalue_dim = _ranked("kthvalue", "KthvalueBackward0", ("k",))
_RESULTS = {
    n: return_type(n, ("values", "indices")) for n in ("median", "nanmedian", "mode", "kthvalue")
}


def _need_elements(name: str, self: Tensor, at: int) -> None:
    if self.ndim and not self.shape[at]:
        raise IndexError(f"{name}(): Expected reduction dim {at} to have non-zero size.")


def _median(name: str, self: Tensor, dim: Any, keepdim: bool, forms: Any) -> Any:
    if dim is None:
        return forms[0](self)
    at = one_dim(self, dim)
    _need_elements("median", self, at)
    return _RESULTS[name](forms[1](self, at, keepdim))


@public
def median(self: Tensor, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """The lower median of all elements; (values, indices) along ``dim``. NaN wins."""
    if out is not None:
        return _RESULTS["median"].out(out_several(median, out, self, dim, keepdim))
    return _median("median", self, dim, keepdim, (median_all, median_dim))


@public
def nanmedian(self: Tensor, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """The lower median of what is no NaN; (values, indices) along ``dim``."""
    if out is not None:
        return _RESULTS["nanmedian"].out(out_several(nanmedian, out, self, dim, keepdim))
    return _median("nanmedian", self, dim, keepdim, (nanmedian_all, nanmedian_dim))


@public
def mode(self: Tensor, dim: int = -1, keepdim: bool = False, *, out: Any = None) -> Any:
    """(values, indices) of the commonest values along ``dim``."""
    if out is not None:
        return _RESULTS["mode"].out(out_several(mode, out, self, dim, keepdim))
    at = one_dim(self, dim)
    _need_elements("mode", self, at)
    return _RESULTS["mode"](mode_dim(self, at, keepdim))


@public
def kthvalue(self: Tensor, k: int, dim: int = -1, keepdim: bool = False, *, out: Any = None) -> Any:
    """(values, indices) of the ``k``-th smallest elements along ``dim``, counted from 1."""
    if out is not None:
        return _RESULTS["kthvalue"].out(out_several(kthvalue, out, self, k, dim, keepdim))
    at = one_dim(self, dim)
    _need_elements("kthvalue", self, at)
    if not 1 <= k <= (self.shape[at] if self.ndim else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {at}")
    return _RESULTS["kthvalue"](kthvalue_dim(self, k, at, keepdim))
