"""Differences, numerical derivatives and integrals along a dimension, covariance, quantiles."""

from __future__ import annotations

from typing import Any

from numpy import ndarray

from .. import dtypes
from ..blame import warn
from ..tape.op import TENSOR, public
from ..tape.out import out_of
from ..tensor import Tensor, wrap
from .arguments import one_dim

# --- differences ----------------------------------------------------------------------------------


def _part(x: Tensor, dim: int, start: int, end: int) -> Tensor:
    """A slice along ``dim``; the bounds count from the end where they are negative."""
    n = x.shape[dim]
    start, end, _ = slice(start, None if end == 0 else end).indices(n)
    return TENSOR.slice_(x, dim, start, max(start, end), 1)


def _times(x: Tensor, number: Any) -> Tensor:
    """A product with a number, which has a node of its own where it is recorded."""
    return TENSOR.mul_number(x, number) if x.dtype.category >= dtypes.FLOAT else x * number


def _over(x: Tensor, number: Any) -> Tensor:
    return TENSOR.div_number(x, number) if x.dtype.category >= dtypes.FLOAT else x / number


@public
def diff(
    self: Tensor, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None, *,
    out: Any = None,
) -> Tensor:  # fmt: skip
    """The ``n``-th differences of neighbours along ``dim``."""
    if out is not None:
        return out_of(diff, out, self, n, dim, prepend, append, name="sub")
    if not self.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    at = one_dim(self, dim)
    for extra in (prepend, append):
        if extra is not None:
            _check_extra(self, extra, at)
    if n and (prepend is not None or append is not None):
        self = TENSOR.cat([t for t in (prepend, self, append) if t is not None], at)
    if n == 0:
        return TENSOR.zeros_like(self).copy_(self)
    for _ in range(min(n, self.shape[at])):
        right, left = _part(self, at, 1, 0), _part(self, at, 0, -1)
        self = TENSOR.logical_xor(right, left) if self.dtype is dtypes.bool_ else right - left
    return self


def _check_extra(self: Tensor, extra: Tensor, at: int) -> None:
    if extra.ndim != self.ndim:
        raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    for d, (n, m) in enumerate(zip(extra.shape, self.shape, strict=True)):
        if d != at and n != m:
            raise RuntimeError(
                "diff expects the shape of tensor to prepend or append to match that of input "
                f"except along the differencing dimension; input.size({d}) = {m}, but got "
                f"tensor.size({d}) = {n}"
            )


@public
def gradient(
    input: Tensor, *, spacing: Any = None, dim: Any = None, edge_order: int = 1
) -> tuple[Tensor, ...]:
    """Central differences along every one of ``dim``, one-sided at the edges."""
    dims = range(input.ndim) if dim is None else (dim,) if isinstance(dim, int) else dim
    dims = [one_dim(input, d) for d in dims]
    for d in dims:
        if dims.count(d) > 1:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    for d in dims:
        if input.shape[d] < edge_order + 1:
            raise RuntimeError(
                "torch.gradient expected each dimension size to be at least edge_order+1"
            )
    if input.dtype is dtypes.uint8:
        raise RuntimeError("torch.gradient does not support uint8 input.")
    steps = spacing if isinstance(spacing, (list, tuple)) else [spacing] * len(dims)
    if len(steps) != len(dims):
        wanted = (
            f", or a list of length equal to 'self.dim() = {len(dims)}', since dim argument was "
            f"not given, but got a list of length {len(steps)}"
            if dim is None
            else " or it's spacing and dim arguments to have the same length, but got a spacing "
            f"argument of length {len(steps)} and a dim argument of length {len(dims)}."
        )
        raise RuntimeError(f"torch.gradient expected spacing to be unspecified, a scalar{wanted}")
    for s in steps:
        if isinstance(s, Tensor) and s.device != input.device:
            raise RuntimeError(
                "torch.gradient expected each tensor to be on the same device, but got devices "
                f"{input.device} and {s.device}!"
            )
    return tuple(
        _by_places(input, d, s, edge_order)
        if isinstance(s, Tensor)
        else _by_step(input, d, 1 if s is None else s, edge_order)
        for d, s in zip(dims, steps, strict=True)
    )


def _by_step(x: Tensor, dim: int, step: Any, order: int) -> Tensor:
    at = lambda i, j: _part(x, dim, i, j)
    center = _over(_over(at(2, 0) - at(0, -2), 2), step)
    if order == 1:
        first, last = _over(at(1, 2) - at(0, 1), step), _over(at(-1, 0) - at(-2, -1), step)
    else:
        first = _times(at(0, 1), -1.5) + _times(at(1, 2), 2) - _times(at(2, 3), 0.5)
        last = _times(at(-3, -2), 0.5) - _times(at(-2, -1), 2) + _times(at(-1, 0), 1.5)
        first, last = _over(first, step), _over(last, step)
    return TENSOR.cat([first, center, last], dim)


def _by_places(x: Tensor, dim: int, places: Tensor, order: int) -> Tensor:
    """Differences on points that are not evenly spaced, of second order inside."""
    at = lambda i, j: _part(x, dim, i, j)
    gaps = diff(places)
    shape = tuple(-1 if d == dim else 1 for d in range(x.ndim))
    one, two = gaps[:-1].reshape(shape), gaps[1:].reshape(shape)
    a, b, c = -two / (one * (one + two)), (two - one) / (one * two), one / (two * (one + two))
    center = a * at(0, -2) + b * at(1, -1) + c * at(2, 0)
    if order == 1:
        return TENSOR.cat(
            [(at(1, 2) - at(0, 1)) / gaps[0], center, (at(-1, 0) - at(-2, -1)) / gaps[-1]], dim
        )
    one, two = gaps[0], gaps[1]
    a, b, c = (
        -(2 * one + two) / (one * (one + two)),
        (one + two) / (one * two),
        -one / (two * (one + two)),
    )
    first = a * at(0, 1) + b * at(1, 2) + c * at(2, 3)
    one, two = gaps[-2], gaps[-1]
    a, b, c = (
        two / (one * (one + two)),
        -(one + two) / (one * two),
        (2 * two + one) / (two * (one + two)),
    )
    last = a * at(-3, -2) + b * at(-2, -1) + c * at(-1, 0)
    return TENSOR.cat([first, center, last], dim)


# --- integrals ------------------------------------------------------------------------------------


def _gaps(name: str, y: Tensor, x: Tensor, dim: int) -> Tensor:
    """Distances of the sample points, so that they broadcast to ``y``."""
    if x.ndim == 1:
        if x.shape[0] != y.shape[dim]:
            raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
        if y.ndim > 1:
            x = TENSOR.view(x, tuple(-1 if d == dim else 1 for d in range(y.ndim)))
    elif x.ndim < y.ndim:
        x = TENSOR.view(x, ((1,) * (y.ndim - x.ndim) + tuple(x.shape)))
    if x.shape[dim] != y.shape[dim]:
        raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
    return _part(x, dim, 1, 0) - _part(x, dim, 0, -1)


def _spacing(name: str, x: Any, dx: Any) -> None:
    if x is not None and dx is not None:
        raise RuntimeError(
            f"{name} received an invalid combination of arguments: x and dx exclude each other"
        )


def _no_bools(name: str, y: Tensor, x: Any) -> None:
    if y.dtype is dtypes.bool_ or (x is not None and x.dtype is dtypes.bool_):
        which = "`y`" if x is None else "`x` or `y`"
        raise RuntimeError(f"{name}: received a bool input for {which}, but bool is not supported")


@public
def trapezoid(y: Tensor, x: Any = None, *, dx: Any = None, dim: int = -1) -> Tensor:
    """The integral along ``dim`` by the trapezoidal rule, of points ``x`` or a spacing ``dx``."""
    _spacing("trapezoid", x, dx)
    at = one_dim(y, dim)
    if not y.shape[at]:
        return TENSOR.zeros(tuple(n for d, n in enumerate(y.shape) if d != at), dtype=y.dtype)
    _no_bools("trapezoid", y, x)
    if x is not None:
        gaps = _gaps("trapezoid", y, x, at)
        return _over(TENSOR.sum((_part(y, at, 0, -1) + _part(y, at, 1, 0)) * gaps, at), 2.0)
    ends = TENSOR.select(y, at, 0) + TENSOR.select(y, at, -1)
    return _times(TENSOR.sum(y, at) - _times(ends, 0.5), 1 if dx is None else dx)


@public
def cumulative_trapezoid(y: Tensor, x: Any = None, *, dx: Any = None, dim: int = -1) -> Tensor:
    """The running integral along ``dim`` by the trapezoidal rule."""
    _spacing("cumulative_trapezoid", x, dx)
    at = one_dim(y, dim)
    _no_bools("cumulative_trapezoid", y, x)
    if x is not None:
        gaps = _gaps("cumulative_trapezoid", y, x, at)
        return _over(TENSOR.cumsum((_part(y, at, 0, -1) + _part(y, at, 1, 0)) * gaps, at), 2.0)
    half = (1 if dx is None else dx) / 2.0
    return TENSOR.cumsum(_times(_part(y, at, 1, 0) + _part(y, at, 0, -1), half), at)


# --- covariance -----------------------------------------------------------------------------------


def _check_weights(name: str, w: Any, count: int, whole: bool) -> None:
    if w.ndim > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with "
            f"{w.ndim} dimensions"
        )
    right = w.dtype.category == dtypes.INT if whole else w.dtype.is_floating_point
    if not right:
        kind = "integral dtype" if whole else "floating point dtype"
        raise RuntimeError(
            f"cov(): expected {name} to have {kind} but got {name} with {w.dtype.legacy} dtype"
        )
    if w.numel() != count:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the "
            f"input but got {w.numel()} != {count}"
        )
    if count and not bool(TENSOR.all(w >= 0)):
        raise RuntimeError(f"cov(): {name} cannot be negative")


@public
def cov(self: Tensor, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Tensor:
    """The covariance matrix of variables (rows) over observations (columns)."""
    if self.ndim > 2:
        raise RuntimeError(
            "cov(): expected input to have two or fewer dimensions but got an input with "
            f"{self.ndim} dimensions"
        )
    if self.dtype is dtypes.bool_:
        raise RuntimeError("cov(): bool dtype is not supported for input")
    x = self if self.ndim == 2 else TENSOR.view(self, (1, -1))
    count = x.shape[1]
    weight = None
    if fweights is not None:
        _check_weights("fweights", fweights, count, True)
        weight = fweights
    if aweights is not None:
        _check_weights("aweights", aweights, count, False)
        weight = aweights if weight is None else weight * aweights
    total = wrap(_int64(count)) if weight is None else TENSOR.sum(weight)
    if weight is not None and count and float(total) == 0:
        raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    mean = TENSOR.sum(x if weight is None else x * weight, 1) / total
    left = total - correction
    if aweights is not None and correction != 0:
        left = total - correction * TENSOR.sum(weight * aweights) / total
    x = x - TENSOR.unsqueeze(mean, 1)
    other = TENSOR.t(x if weight is None else x * weight)
    other = TENSOR.conj(other) if other.dtype.is_complex else other
    if type(left._data) is ndarray and left._data <= 0:
        warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number "
            "of observations."
        )
    left = TENSOR.clamp(left, min=0)
    return TENSOR.squeeze(TENSOR.mm(x, other) / left)


def _int64(value: int) -> Any:
    import numpy as np

    return np.array(value, np.int64)


@public
def corrcoef(self: Tensor) -> Tensor:
    """The correlation matrix of variables (rows) over observations (columns)."""
    if self.ndim > 2:
        raise RuntimeError(
            "corrcoef(): expected input to have two or fewer dimensions but got an input with "
            f"{self.ndim} dimensions"
        )
    c = cov(self)
    if not c.ndim:
        return c / c
    d = TENSOR.diagonal(c)
    spread = TENSOR.sqrt(d.real if d.dtype.is_complex else d)
    c = c / TENSOR.view(spread, (-1, 1)) / TENSOR.view(spread, (1, -1))
    if c.dtype.is_complex:
        return TENSOR.complex(TENSOR.clamp(c.real, -1, 1), TENSOR.clamp(c.imag, -1, 1))
    return TENSOR.clamp(c, -1, 1)
