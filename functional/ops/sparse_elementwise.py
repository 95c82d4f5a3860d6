"""Elementwise operations of sparse tensors, and what all kernels for sparse tensors share.

A kernel is found by the name of its operation; it gets the arguments and gives an array, and its
own steps are not recorded.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from .. import dtypes
from ..errors import not_implemented
from ..kernels import coo
from ..kernels.coo import CooArray
from ..tape.op import OPS, TENSOR
from ..tape.slow import size_mismatch
from ..tape.sparse import COALESCED, KERNELS, is_sparse, refused
from ..tensor import Tensor, wrap
from .arguments import operand


def kernel(*names: str) -> Any:
    """Enter a function as the kernel of these operations."""

    def enter(function: Any) -> Any:
        for name in names:
            if name not in OPS:
                raise NameError(f"there is no operation {name}")
            KERNELS[name] = function
        return function

    return enter


def apply(call: Any, values: ndarray, *rest: Any) -> ndarray:
    """A function of tensors, applied to arrays: promotion and half types are its business."""
    return call(wrap(values), *rest)._data


def in_dtype(x: Any, d: dtypes.dtype) -> Any:
    """An array, sparse or dense, in another dtype."""
    if isinstance(x, CooArray):
        return x.with_values(in_dtype(x.values, d))
    return x if x.dtype == d.array else apply(TENSOR.to_dtype, x, d)


def common(*operands: Any) -> dtypes.dtype:
    """The dtype that PyTorch computes with these tensors and numbers in."""
    return dtypes.result_type([operand(x) for x in operands])


# --- functions that are zero at zero --------------------------------------------------------------

ZERO_AT_ZERO = """
    abs asin asinh atan atanh ceil deg2rad erf erfinv expm1 floor frac isinf isnan isneginf isposinf
    log1p nan_to_num_of rad2deg relu round sgn sign signbit sin sinh sqrt tan tanh
    trunc div_mode floor_divide_scalar conj_copy
""".split()
LINEAR = ["neg"]  # which needs no coalescing


def _of_values(name: str, coalesces: bool) -> Any:
    op = OPS[name]

    def of_values(self: Tensor, *rest: Any) -> Any:
        if not is_sparse(self) or any(is_sparse(a) for a in rest):
            raise refused(op.title or op.name)
        x = coo.coalesce(self._data) if coalesces else self._data
        return x.with_values(apply(op.call, x.values, *rest))

    return of_values


COALESCED.update(ZERO_AT_ZERO)
for _name in ZERO_AT_ZERO + LINEAR:
    kernel(_name)(_of_values(_name, _name not in LINEAR))


@kernel("pow_scalar")
def _pow(self: Tensor, exponent: Any) -> Any:
    if exponent == 0:
        raise RuntimeError(
            "pow: cannot raise to zeroth power on sparse tensor; it would make the result tensor "
            "dense"
        )
    x = coo.coalesce(self._data)
    return x.with_values(apply(TENSOR.pow, x.values, exponent))


# --- sums and products of elements ----------------------------------------------------------------


def scaled(x: CooArray, alpha: Any) -> CooArray:
    return x if alpha == 1 else x.with_values(apply(TENSOR.mul, x.values, alpha))


@kernel("add", "add_scaled")
def _add(self: Any, other: Any, alpha: Any = 1) -> Any:
    if not is_sparse(other):
        raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
    if not isinstance(self, Tensor):
        raise refused("add.Tensor")
    own, others = list(self.shape), list(other.shape)
    d = common(self, other)
    if is_sparse(self) and d is dtypes.bool_:
        raise not_implemented("cadd_sparse", d)
    y = scaled(in_dtype(other._data, d), alpha)
    if is_sparse(self):
        if own != others:
            raise RuntimeError(
                f"add: expected sizes of 'self' and 'other' to match, but {own} != {others}"
            )
        return coo.added(in_dtype(self._data, d), y)
    if own != others:
        raise RuntimeError(
            f"add: expected 'self' and 'other' to have same size, but self has size {own} while "
            f"other has size {others} (FYI: dense-sparse addition does not currently support "
            "broadcasting)"
        )
    return _to_dense_added(in_dtype(self._data, d), y)


def _to_dense_added(x: ndarray, y: CooArray) -> ndarray:
    out = x.copy()
    coo.check_inside(y.indices, y.shape)
    if y.sparse_dim:
        np.add.at(out, tuple(y.indices), y.values)
    else:
        out += coo.to_dense(y)
    return out


@kernel("sub", "sub_scaled")
def _sub(self: Any, other: Any, alpha: Any = 1) -> Any:
    check: Any = OPS["sub_scaled"].check
    check(self, other, alpha)
    return _add(self, other, -alpha)


def _is_number(x: Any) -> bool:
    return not isinstance(x, Tensor) or (not x.ndim and not is_sparse(x))


@kernel("mul")
def _mul(self: Any, other: Any) -> Any:
    if _is_number(self):
        self, other = other, self
    if _is_number(other):
        x = self._data
        factor = other.item() if isinstance(other, Tensor) else other
        d = common(self, other)
        return in_dtype(x.with_values(apply(TENSOR.mul, x.values, factor)), d)
    d = common(self, other)
    x, y = (in_dtype(t._data, d) for t in (self, other))
    if isinstance(x, CooArray) and isinstance(y, CooArray):
        if d is dtypes.bool_ and x.coalesced and y.coalesced:
            raise not_implemented("mul_out_sparse", d)
        return _both(x, y)
    return _by_dense(x, y) if isinstance(x, CooArray) else _by_dense(y, x)


def _both(x: CooArray, y: CooArray) -> CooArray:
    """The elements that are in both; with elements that have to add up first, in the second."""
    if x.shape != y.shape:
        try:
            shape = np.broadcast_shapes(x.shape, y.shape)
        except ValueError:
            raise size_mismatch(x.shape, y.shape) from None
        x, y = (z if z.shape == shape else coo.expanded(z, shape) for z in (x, y))
    if y.coalesced and not x.coalesced:
        x, y = y, x
    values = _product(y.values, coo.values_at(x, y.indices))
    if not (x.coalesced and y.coalesced):
        return y.with_values(values)
    held = np.isin(coo.places(y.indices, y.shape), coo.places(x.indices, x.shape))
    return CooArray(y.indices[:, held], values[held], y.shape, True)


def _product(x: ndarray, y: ndarray) -> ndarray:
    return apply(TENSOR.mul, x, wrap(y))


def _by_dense(x: CooArray, y: ndarray) -> CooArray:
    """The elements that are there times those of a dense array, which may broadcast."""
    try:
        shape = np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        raise size_mismatch(y.shape, x.shape) from None
    if shape != x.shape:
        x = coo.expanded(x, shape)
    return x.with_values(_product(x.values, coo.values_at(np.broadcast_to(y, shape), x.indices)))


@kernel("div")
def _div(self: Any, other: Any) -> Any:
    if not _is_number(other):
        raise RuntimeError(
            "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape "
            f"{list(other.shape)} for divisor)"
        )
    x = self._data
    factor = other.item() if isinstance(other, Tensor) else other
    d = common(self, other)
    values = apply(TENSOR.div, x.values, factor)
    return x.with_values(values if d.category < dtypes.FLOAT else in_dtype(values, d))


@kernel("threshold_backward")
def _threshold_backward(g: Tensor, result: Tensor) -> Any:
    """The gradient of relu, in the places of its result."""
    y = coo.coalesce(result._data)
    values = coo.values_at(g._data, y.indices)
    return y.with_values(apply(TENSOR.threshold_backward, values, wrap(y.values)))
