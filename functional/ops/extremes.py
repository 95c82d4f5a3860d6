"""Maxima and minima, with and without their indices."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..tape.batching import over_scalars, shifted
from ..tape.declare import general
from ..tape.op import public
from ..tape.operands import check_operands
from ..tape.out import out_of
from ..tensor import Tensor
from .arguments import one_dim
from .reduce import arg_shape, dims_or_all, kept, reduced_shape, restored, same_dtype_shape, whole
from .results import out_several, return_type

# --- extremes -------------------------------------------------------------------------------------


def shared_evenly(F: Any, g: Any, self: Any, result: Any, dim: Any, keepdim: bool) -> Any:
    """Share a gradient evenly among the elements that equal the extreme."""
    shape = tuple(self.shape)
    mask = self == restored(F, result, shape, dim, keepdim)
    share = restored(F, g, shape, dim, keepdim) / kept(F.sum, mask, dim)
    return share * mask


def evenly_or_nan(F: Any, g: Any, self: Any, result: Any) -> Any:
    """Share the gradient of a whole tensor's element; that of NaN among all NaN."""
    hit = (self == result) | (F.isnan(self) & F.isnan(result))
    return F.where(hit, g / F.sum(hit), 0.0)


def _extreme(name: str, node: str) -> Any:
    return general(
        f"{name}_all",
        lambda F, g, self, result: evenly_or_nan(F, g, self, result),
        node=node,
        vmap=whole(lambda F: getattr(F, f"a{name}_dims")),
        shape=same_dtype_shape,
    )


def _extreme_dims(name: str, node: str) -> Any:
    return general(
        f"{name}_dims",
        lambda F, g, self, result, dim, keepdim: shared_evenly(F, g, self, result, dim, keepdim),
        statics=("dim", "keepdim"),
        kernel=name,
        node=node,
        vmap=shifted(lambda F: getattr(F, f"{name}_dims"), 0),
        shape=same_dtype_shape,
    )


def _indexed(name: str, node: str) -> Any:
    return general(
        f"{name}_dim",
        lambda F, g, result1, self_shape, dim, keepdim: picked_from(
            F, g, result1, self_shape, dim, keepdim
        ),
        statics=("dim", "keepdim"),
        node=node,
        vmap=over_scalars(shifted(lambda F: getattr(F, f"{name}_dim"), 0)),
        differentiable=(True, False),
        shape=lambda x, dim, keepdim: [
            same_dtype_shape(x, (dim,), keepdim),
            (reduced_shape(x, (dim,), keepdim), dtypes.int64.array),
        ],
    )


def picked_from(F: Any, g: Any, at: Any, shape: tuple[int, ...], dim: int, keepdim: bool) -> Any:
    g = g[0] if type(g) is list else g
    if not shape:
        return g
    if not keepdim:
        g, at = F.unsqueeze(g, dim), F.unsqueeze(at, dim)
    return F.gather_backward(g, at, shape, dim)


def placed(F: Any, g: Any, result1: Any, self_shape: Any, dim: int) -> Any:
    """The gradient of values that lie where ``result1`` says along ``dim``."""
    return picked_from(F, g, result1, self_shape, dim, True)


def placed_in(F: Any, g: Any, self: Any, dim: int, result1: Any) -> Any:
    """The same; the input is kept, as PyTorch does."""
    return picked_from(F, g, result1, tuple(self.shape), dim, True)


max_all, min_all = _extreme("max", "MaxBackward1"), _extreme("min", "MinBackward1")
amax_dims, amin_dims = (
    _extreme_dims("amax", "AmaxBackward0"),
    _extreme_dims("amin", "AminBackward0"),
)
max_dim, min_dim = _indexed("max", "MaxBackward0"), _indexed("min", "MinBackward0")
argmax_flat = general("argmax_flat", statics=("dim", "keepdim"), kernel="argmax", shape=arg_shape)
argmin_flat = general("argmin_flat", statics=("dim", "keepdim"), kernel="argmin", shape=arg_shape)

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


def _written(function: Any, out: Any, self: Tensor, dim: Any, keepdim: bool, both: Any) -> Any:
    if dim is None:
        return out_of(function, out, self)
    return both.out(out_several(function, out, self, dim, keepdim))


@public
def max(self: Tensor, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """The maximum of all elements; (values, indices) along ``dim``; of two tensors, elementwise."""
    if not isinstance(self, Tensor):
        check_operands("max", self, dim)
    if isinstance(dim, Tensor):
        from .pointwise import maximum

        return maximum(self, dim, out=out)
    if out is not None:
        return _written(max, out, self, dim, keepdim, _MaxResult)
    return _max_or_min(self, dim, keepdim, max_all, max_dim, _MaxResult)


@public
def min(self: Tensor, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """The minimum of all elements; (values, indices) along ``dim``; of two tensors, elementwise."""
    if not isinstance(self, Tensor):
        check_operands("min", self, dim)
    if isinstance(dim, Tensor):
        from .pointwise import minimum

        return minimum(self, dim, out=out)
    if out is not None:
        return _written(min, out, self, dim, keepdim, _MinResult)
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
    return amax_dims(self, dims_or_all(self, dim), keepdim)


@public
def amin(self: Tensor, dim: Any = (), keepdim: bool = False, *, out: Any = None) -> Tensor:
    """The minimum over ``dim``; a gradient is shared evenly among equal minima."""
    if out is not None:
        return out_of(amin, out, self, dim, keepdim)
    _need_dim("amin", self, dim)
    return amin_dims(self, dims_or_all(self, dim), keepdim)


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
