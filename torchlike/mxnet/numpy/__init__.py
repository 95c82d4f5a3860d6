"""``mx.np``: arrays with NumPy's manners, and NumPy's functions of them."""

from __future__ import annotations

import math as _math

import numpy as _onp

import torchlike as _torch

from .. import creation as _creation
from .. import elementwise as _elementwise
from .. import methods as _methods
from .. import operators as _operators
from .. import reductions as _reductions
from .. import shaping as _shaping
from ..array import call as _call
from ..array import ndarray
from . import linalg, random

pi, e, inf, nan, newaxis = _math.pi, _math.e, _math.inf, _math.nan, None
float16, float32, float64 = _onp.float16, _onp.float32, _onp.float64
int8, int16, int32, int64, uint8 = _onp.int8, _onp.int16, _onp.int32, _onp.int64, _onp.uint8
bool_, dtype = _onp.bool_, _onp.dtype

array, arange = _creation.np_array, _creation.np_arange
zeros, ones, empty = (_creation.filled(ndarray, name) for name in ("zeros", "ones", "empty"))
full, linspace, eye = _creation.full(ndarray), _creation.linspace(ndarray), _creation.eye(ndarray)
zeros_like, ones_like, full_like = _creation.zeros_like, _creation.ones_like, _creation.full_like
empty_like, identity = _creation.empty_like, eye

_ELSEWHERE = {"relu", "sigmoid", "softsign", "gamma", "gammaln", "erf", "erfinv"}  # in npx
globals().update({n: f for n, f in _elementwise.UNARY.items() if n not in _ELSEWHERE})
globals().update(_elementwise.BINARY | _reductions.NP)
less, less_equal = _elementwise.BINARY["lesser"], _elementwise.BINARY["lesser_equal"]
true_divide, mod = _elementwise.BINARY["divide"], _elementwise.BINARY["modulo"]
absolute, amax, amin = _elementwise.UNARY["abs"], _reductions.NP["max"], _reductions.NP["min"]
floor_divide = _operators.by_operator("floordiv")
clip, where = _elementwise.clip, _elementwise.where

var, std, cumsum = _reductions.var, _reductions.std, _reductions.cumsum
argmax, argmin = _reductions.np_argmax, _reductions.np_argmin
sort, argsort = _reductions.sort, _reductions.argsort

reshape, transpose, swapaxes = _shaping.np_reshape, _shaping.transpose, _shaping.swapaxes
expand_dims, squeeze, ravel = _shaping.expand_dims, _shaping.squeeze, _shaping.ravel
concatenate, stack, split = _shaping.np_concatenate, _shaping.np_stack, _shaping.np_split
tile, repeat, flip = _shaping.tile, _shaping.repeat, _shaping.flip
broadcast_to, dot = _shaping.broadcast_to, _shaping.np_dot


def take(a: ndarray, indices: ndarray, axis: int | None = None, mode: str = "raise") -> ndarray:
    """The elements at the indices along an axis, or (None) in the flattened array."""
    return _shaping.take(a, indices, axis, mode)


def matmul(a: ndarray, b: ndarray) -> ndarray:
    """Matrix product of the last two dimensions, broadcast over the others."""
    return _operators._matmul(a, b)


def tensordot(a: ndarray, b: ndarray, axes: object = 2) -> ndarray:
    """Product over the last ``axes`` dimensions and the first ones, or over two lists of them."""
    return _call(lambda x, y: _torch.tensordot(x, y, axes), a, b)


def outer(a: ndarray, b: ndarray) -> ndarray:
    """All products of elements: shape (size of a, size of b)."""
    return _call(lambda x, y: _torch.outer(x.reshape(-1), y.reshape(-1)), a, b)


def einsum(subscripts: str, *operands: ndarray) -> ndarray:
    """Sums of products in Einstein's notation."""
    return _call(lambda *x: _torch.einsum(subscripts, *x), *operands)


def meshgrid(*xi: ndarray, indexing: str = "xy") -> list[ndarray]:
    """Coordinates of a grid from those of its sides."""
    return _call(lambda *x: [t.clone() for t in _torch.meshgrid(*x, indexing=indexing)], *xi)


def vstack(arrays: list[ndarray]) -> ndarray:
    """Arrays on top of each other; vectors are rows."""
    return _call(lambda *x: _torch.vstack(x), *arrays)


def hstack(arrays: list[ndarray]) -> ndarray:
    """Arrays side by side."""
    return _call(lambda *x: _torch.hstack(x), *arrays)


def triu(m: ndarray, k: int = 0) -> ndarray:
    """With zeros below the ``k``-th diagonal."""
    return _call(lambda x: _torch.triu(x, k), m)


def tril(m: ndarray, k: int = 0) -> ndarray:
    """With zeros above the ``k``-th diagonal."""
    return _call(lambda x: _torch.tril(x, k), m)


def diag(v: ndarray, k: int = 0) -> ndarray:
    """The ``k``-th diagonal of a matrix, or a matrix with a vector there."""
    return _call(lambda x: _torch.diag(x, k).clone(), v)


def may_share_memory(a: ndarray, b: ndarray) -> bool:
    """Whether two arrays lie in one memory."""
    return _onp.may_share_memory(a._tensor.detach().numpy(), b._tensor.detach().numpy())
