"""What both kinds can do by method, attached to the classes."""

from __future__ import annotations

from typing import Any

from . import creation, elementwise, reductions, shaping
from .array import NDArray, ndarray

_BY_ELEMENT = (
    "abs arccos arcsin arctan ceil cos cosh exp expm1 fix floor log log10 log1p log2 radians "
    "degrees reciprocal relu rint round rsqrt sigmoid sign sin sinh sqrt square tan tanh trunc"
).split()

COMMON: dict[str, Any] = {n: elementwise.UNARY[n] for n in _BY_ELEMENT} | {
    "argsort": reductions.argsort,
    "broadcast_like": shaping.broadcast_like,
    "broadcast_to": shaping.broadcast_to,
    "clip": elementwise.clip,
    "expand_dims": shaping.expand_dims,
    "flip": shaping.flip,
    "log_softmax": elementwise.log_softmax,
    "norm": reductions.norm,
    "one_hot": elementwise.one_hot,
    "ones_like": creation.ones_like,
    "pick": shaping.pick,
    "repeat": shaping.repeat,
    "reshape_like": shaping.reshape_like,
    "slice_axis": shaping.slice_axis,
    "softmax": elementwise.softmax,
    "sort": reductions.sort,
    "squeeze": shaping.squeeze,
    "swapaxes": shaping.swapaxes,
    "take": shaping.take,
    "tile": shaping.tile,
    "zeros_like": creation.zeros_like,
}
ND: dict[str, Any] = reductions.ND | {
    "argmax": reductions.argmax,
    "argmin": reductions.argmin,
    "dot": shaping.nd_dot,
    "flatten": shaping.flatten,
    "reshape": shaping.nd_reshape,
    "split": shaping.nd_split,
}
NP: dict[str, Any] = reductions.NP | {
    "argmax": reductions.np_argmax,
    "argmin": reductions.np_argmin,
    "cumsum": reductions.cumsum,
    "dot": shaping.np_dot,
    "flatten": shaping.ravel,
    "ravel": shaping.ravel,
    "reshape": shaping.np_reshape,
    "split": shaping.np_split,
    "std": reductions.std,
    "var": reductions.var,
}


def _transpose(self: NDArray, *axes: Any) -> NDArray:
    """The dimensions in another order, or without one in reverse."""
    return shaping.transpose(self, axes[0] if len(axes) == 1 else axes or None)


for _kind, _table in ((NDArray, COMMON), (NDArray, ND), (ndarray, NP)):
    for _name, _function in _table.items():
        setattr(_kind, _name, _function)
NDArray.transpose = _transpose  # type: ignore[attr-defined]
NDArray.T = property(_transpose)  # type: ignore[attr-defined]
