"""Elementwise losses and margins over classes. ``reduction`` is 0 none, 1 mean, 2 sum."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from . import layout
from .half import is_half, widen
from .loss import reduced, share
from .threads import SHARED, alike, in_chunks, in_parts

__all__ = [
    "bce_with_logits",
    "bce_with_logits_backward",
    "bce_with_logits_target_backward",
    "binary_cross_entropy",
    "binary_cross_entropy_backward",
    "binary_cross_entropy_target_backward",
    "huber_loss",
    "huber_loss_backward",
    "multi_margin_loss",
    "multi_margin_loss_backward",
    "multilabel_margin_loss",
    "multilabel_margin_loss_backward",
    "smooth_l1_loss",
    "smooth_l1_loss_backward",
    "soft_margin_loss",
    "soft_margin_loss_backward",
]  # fmt: skip

# Elements of a few arrays that stay in cache together.
_PART = 1 << 17
_INT64 = np.dtype(np.int64)
_LEAST_LOG = -100.0  # PyTorch's limit on logarithms of probabilities


def _in_single(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Half types are computed in float32 and rounded once, to the dtype of the first array."""

    @functools.wraps(kernel)
    def run(*args: Any) -> Any:
        if not is_half(args[0].dtype):
            return kernel(*args)
        z = kernel(*[widen(a) if isinstance(a, ndarray) else a for a in args])
        return z.astype(args[0].dtype)

    return run


def _finished(z: Any, reduction: int, *operands: Any) -> ndarray:
    """The elements reduced, or as they are in the memory order of the operands."""
    z = np.asarray(z)
    if reduction:
        return reduced(z, reduction)
    arrays = [a for a in operands if a is not None]
    if all(a.flags.c_contiguous for a in arrays):
        return z
    return layout.with_strides(z, layout.result_strides(z.shape, arrays, z.itemsize))


def _times(z: Any, weight: ndarray | None) -> Any:
    return z if weight is None else z * weight


def _scaled(g: ndarray, z: Any, size: int, reduction: int) -> ndarray:
    """The gradient of a reduced loss from its slopes ``z``."""
    if reduction == 1:
        g = g * g.dtype.type(share(size, reduction))
    return np.asarray(z * g)


# --- distances ------------------------------------------------------------------------------------


def _quadratic(x: ndarray, target: ndarray, limit: float) -> tuple[ndarray, ndarray]:
    """Factors of d² / 2 where d = |x - target| is below limit, limit (d - limit / 2) elsewhere.

    They are c = min(d, limit) and d - c / 2.
    """
    d = np.asarray(x - target)
    np.abs(d, d)
    low = np.asarray(np.minimum(d, limit))
    half = np.asarray(low * 0.5)
    return low, np.subtract(d, half, half)


@in_parts(2)
def _losses(x: ndarray, target: ndarray, limit: float, divisor: float) -> ndarray:
    """The products of ``_quadratic`` over ``divisor``."""
    low, rest = _quadratic(x, target, limit)
    if divisor != 1:
        low /= low.dtype.type(divisor)
    return np.multiply(low, rest, rest)


def _many(x: ndarray, target: ndarray) -> bool:
    """Whether the two are so many numbers of one type that passes should stay in cache."""
    return x.size > SHARED and alike(x, target)


def _total(x: ndarray, target: ndarray, limit: float, divisor: float) -> ndarray:
    """The sum of ``_quadratic``'s products over ``divisor``, of many numbers."""
    one, two = x.reshape(-1), target.reshape(-1)

    def work(first: int, last: int) -> Any:
        return np.vdot(*_quadratic(one[first:last], two[first:last], limit))

    parts = in_chunks(x.size, 1, work, _PART)
    return np.asarray(np.asarray(parts, np.float64).sum() / divisor).astype(x.dtype)


@_in_single
def smooth_l1_loss(x: ndarray, target: ndarray, reduction: int, beta: float) -> ndarray:
    """d² / (2 beta) where d = |x - target| is below beta, d - beta / 2 elsewhere."""
    if not beta:
        return _finished(np.abs(x - target), reduction, x, target)
    if reduction and _many(x, target):
        return _total(x, target, beta, beta * (x.size if reduction == 1 else 1))
    return _finished(_losses(x, target, beta, beta), reduction, x, target)


@in_parts(2)
def _clipped(x: ndarray, target: ndarray, low: Any, high: Any, divisor: float, scale: Any) -> Any:
    """(x - target) / divisor, clipped, times scale."""
    d = np.asarray(x - target)
    if divisor != 1:
        d /= d.dtype.type(divisor)
    np.maximum(d, low, out=d)
    np.minimum(d, high, out=d)
    return np.multiply(d, scale, d)


def _clipped_gradient(
    g: ndarray, x: ndarray, target: ndarray, reduction: int, limit: float, divisor: float
) -> ndarray:
    """g times the distance over ``divisor`` within [-limit, limit], for the reduction; C order."""
    if reduction:
        size = x.size if x.shape == target.shape else np.broadcast(x, target).size
        g = g * g.dtype.type(share(size, reduction))
        return np.asarray(_clipped(x, target, -limit, limit, divisor, g), order="C")
    return np.asarray(g * _clipped(x, target, -limit, limit, divisor, x.dtype.type(1)), order="C")


@_in_single
def smooth_l1_loss_backward(
    g: ndarray, x: ndarray, target: ndarray, reduction: int, beta: float
) -> ndarray:
    """The gradient of x."""
    return _clipped_gradient(g, x, target, reduction, 1.0, beta)


@_in_single
def huber_loss(x: ndarray, target: ndarray, reduction: int, delta: float) -> ndarray:
    """d² / 2 where d = |x - target| is at most delta, delta (d - delta / 2) elsewhere."""
    if reduction and _many(x, target):
        return _total(x, target, delta, x.size if reduction == 1 else 1)
    z = _losses(x, target, delta, 1).astype(x.dtype, copy=False)
    return _finished(z, reduction, x, target)


@_in_single
def huber_loss_backward(
    g: ndarray, x: ndarray, target: ndarray, reduction: int, delta: float
) -> ndarray:
    """The gradient of x."""
    return _clipped_gradient(g, x, target, reduction, delta, 1.0)


def soft_margin_loss(x: ndarray, target: ndarray, reduction: int) -> ndarray:
    """log(1 + exp(-target x)), in steps of x's dtype; targets of any type that it can hold."""
    z = np.asarray(target * x).astype(x.dtype, casting="same_kind", copy=False)
    z = widen(np.log1p(np.exp(-z)))
    return _finished(z, reduction, x, target).astype(x.dtype, copy=False)


@_in_single
def soft_margin_loss_backward(g: ndarray, x: ndarray, target: ndarray, reduction: int) -> ndarray:
    """The gradient of x."""
    e = np.exp(-(target * x))
    return _scaled(g, -(target * e) / (1 + e), e.size, reduction)


# --- binary cross entropy -------------------------------------------------------------------------


def _check_probabilities(x: ndarray, what: str) -> None:
    if x.size and not (x.min() >= 0 and x.max() <= 1):
        raise RuntimeError(f"all elements of {what} should be between 0 and 1")


@_in_single
def binary_cross_entropy(
    x: ndarray, target: ndarray, weight: ndarray | None, reduction: int
) -> ndarray:
    """-(target log x + (1 - target) log(1 - x)), with logarithms of -100 at least."""
    _check_probabilities(x, "input")
    _check_probabilities(target, "target")
    no = np.maximum(np.log1p(-x), _LEAST_LOG)
    yes = np.maximum(np.log(x), _LEAST_LOG)
    return _finished(_times((target - 1) * no - target * yes, weight), reduction, x, target)


@_in_single
def binary_cross_entropy_backward(
    g: ndarray, x: ndarray, target: ndarray, weight: ndarray | None, reduction: int
) -> ndarray:
    """The gradient of x; the slope's denominator is 1e-12 at least."""
    slope = (x - target) / np.maximum((1 - x) * x, 1e-12)
    return _scaled(g, _times(slope, weight), x.size, reduction)


@_in_single
def binary_cross_entropy_target_backward(
    g: ndarray, x: ndarray, weight: ndarray | None, reduction: int
) -> ndarray:
    """The gradient of the target: log(1 - x) - log(x)."""
    return _scaled(g, _times(np.log1p(-x) - np.log(x), weight), x.size, reduction)


def _softplus_of_minus(x: ndarray) -> ndarray:
    """log(1 + exp(-x)) for any x."""
    z = np.asarray(np.abs(x))
    np.negative(z, z)
    np.exp(z, z)
    np.log1p(z, z)
    return np.asarray(z - np.minimum(x, 0))


def _sigmoid(x: ndarray) -> ndarray:
    return np.asarray(1 / (1 + np.exp(-x)))


@_in_single
def bce_with_logits(
    x: ndarray,
    target: ndarray,
    weight: ndarray | None,
    pos_weight: ndarray | None,
    reduction: int,
) -> ndarray:
    """The binary cross entropy of sigmoid(x), without the sigmoid's rounding."""
    soft = _softplus_of_minus(x)
    if pos_weight is not None:
        soft = ((pos_weight - 1) * target + 1) * soft
    return _finished(_times((1 - target) * x + soft, weight), reduction, target, x)


@_in_single
def bce_with_logits_backward(
    g: ndarray,
    x: ndarray,
    target: ndarray,
    weight: ndarray | None,
    pos_weight: ndarray | None,
    reduction: int,
) -> ndarray:
    """The gradient of x."""
    if pos_weight is None:
        slope = _sigmoid(x) - target
    else:
        positive = pos_weight * target
        slope = (positive + 1 - target) * _sigmoid(x) - positive
    return _scaled(g, _times(slope, weight), x.size, reduction)


@_in_single
def bce_with_logits_target_backward(
    g: ndarray, x: ndarray, weight: ndarray | None, pos_weight: ndarray | None, reduction: int
) -> ndarray:
    """The gradient of the target."""
    slope = -x
    if pos_weight is not None:
        slope = slope + (pos_weight - 1) * _softplus_of_minus(x)
    return _scaled(g, _times(slope, weight), x.size, reduction)


# --- margins over classes -------------------------------------------------------------------------


def _gaps(x: ndarray, target: ndarray, margin: float) -> tuple[ndarray, ndarray, Any]:
    """max(0, margin - x[target] + x) for every other class of rows x (N, C), and which."""
    rows = np.arange(len(x))
    if target.size != len(x) or target.dtype != _INT64:
        raise ValueError("one target for each row")
    if target.size and not (target.min() >= 0 and target.max() < x.shape[1]):
        raise RuntimeError("target out of range")
    z = np.maximum(margin - x[rows, target][:, None] + x, 0)
    z[rows, target] = 0
    return z, rows, target


def _classes(x: ndarray) -> int:
    """The number of classes of (N, C), (C,) or a single score."""
    return int(x.shape[-1]) if x.ndim else 1


def multi_margin_loss(
    x: ndarray, target: ndarray, weight: ndarray | None, p: int, margin: float, reduction: int
) -> ndarray:
    """Σ max(0, margin - x[target] + x[i])^p / C over the other classes i; x is (N, C) or (C,)."""
    classes = _classes(x)
    if weight is not None and (weight.size != classes or weight.dtype != x.dtype):
        raise ValueError("one weight for each class")
    z, _, index = _gaps(x.reshape(-1, classes), target.reshape(-1), margin)
    z = (z if p == 1 else z * z).sum(1) if weight is None else _weighted(z, p, weight[index])
    return reduced((z / x.dtype.type(classes)).reshape(target.shape), reduction)


def _weighted(z: ndarray, p: int, weight: ndarray) -> ndarray:
    return np.asarray(((z if p == 1 else z * z) * weight[:, None]).sum(1))


def multi_margin_loss_backward(
    g: ndarray,
    x: ndarray,
    target: ndarray,
    weight: ndarray | None,
    p: int,
    margin: float,
    reduction: int,
) -> ndarray:
    """The gradient of x."""
    classes = _classes(x)
    z, rows, index = _gaps(x.reshape(-1, classes), target.reshape(-1), margin)
    slope = (z > 0).astype(x.dtype) if p == 1 else 2 * z
    if weight is not None:
        slope = slope * weight[index][:, None]
    slope[rows, index] = -slope.sum(1)
    scale = share(len(rows), reduction) / classes
    return np.asarray((slope * x.dtype.type(scale) * g.reshape(-1, 1)).reshape(x.shape))


def _listed(target: ndarray, classes: int) -> ndarray:
    """Which places of target rows hold a label: those before the first -1."""
    if target.size and not (target.min() >= -1 and target.max() < classes):
        raise RuntimeError("argument #2 'target' is out of range")
    return np.asarray(np.logical_and.accumulate(target >= 0, axis=1))


def multilabel_margin_loss(x: ndarray, target: ndarray, reduction: int) -> tuple[ndarray, ndarray]:
    """Σ max(0, 1 - x[t] + x[i]) / C over labels t and other classes i, and which are labels."""
    classes = _classes(x)
    if target.dtype != _INT64:
        raise ValueError("labels are int64")
    rows, labels = x.reshape(-1, classes), target.reshape(-1, classes)
    listed = _listed(labels, classes)
    is_target = np.zeros(rows.shape, x.dtype)
    np.put_along_axis(is_target, np.where(listed, labels, labels[:, :1]), 1, 1)
    is_target[~listed[:, 0]] = 0
    gaps = _label_gaps(rows, labels, listed, is_target)
    z = gaps.sum((1, 2)) / x.dtype.type(classes)
    return reduced(z.reshape(x.shape[:-1]), reduction), is_target.reshape(target.shape)


def _label_gaps(rows: ndarray, labels: ndarray, listed: ndarray, is_target: ndarray) -> ndarray:
    """(N, labels, classes): how far each class is within 1 of each label, or 0."""
    own = np.take_along_axis(rows, np.where(listed, labels, 0), 1)
    z = np.maximum(1 - own[:, :, None] + rows[:, None, :], 0)
    return np.asarray(z * listed[:, :, None] * (1 - is_target)[:, None, :])


def multilabel_margin_loss_backward(
    g: ndarray, x: ndarray, target: ndarray, is_target: ndarray, reduction: int
) -> ndarray:
    """The gradient of x."""
    classes = _classes(x)
    rows, labels = x.reshape(-1, classes), target.reshape(-1, classes)
    listed = _listed(labels, classes)
    over = _label_gaps(rows, labels, listed, is_target.reshape(rows.shape)) > 0
    slope = over.sum(1).astype(x.dtype)
    index = np.broadcast_to(np.arange(len(rows))[:, None], labels.shape)
    np.subtract.at(slope, (index[listed], labels[listed]), over.sum(2).astype(x.dtype)[listed])
    scale = share(len(rows), reduction) / classes
    return np.asarray((slope * x.dtype.type(scale) * g.reshape(-1, 1)).reshape(x.shape))
