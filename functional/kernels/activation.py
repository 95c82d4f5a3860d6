"""Activations of neural networks, element by element, and the derivatives of the commonest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from . import layout
from .choice import where
from .elementwise import clamp, is_long, long_logistic, sigmoid
from .half import narrow, widen
from .threads import in_parts

Number = Any


@in_parts(1)
def elu(x: ndarray, alpha: Number, scale: Number, input_scale: Number) -> ndarray:
    """scale x, and alpha scale (exp(input_scale x) - 1) below 0 (D. Clevert et al., 2015)."""
    z = np.asarray(np.minimum(x, 0))
    if input_scale != 1:
        z *= input_scale
    np.expm1(z, out=z)
    if alpha * scale != 1:
        z *= alpha * scale
    above = np.asarray(np.maximum(x, 0))
    if scale != 1:
        above *= scale
    z += above  # one of them is 0
    return z


def celu(x: ndarray, alpha: Number) -> ndarray:
    """max(0, x) + min(0, alpha (exp(x / alpha) - 1)) (J. Barron, 2017)."""
    return elu(x, alpha, 1, 1 / alpha)


def silu(x: ndarray) -> ndarray:
    """x sigmoid(x)."""
    if is_long(x):
        return long_logistic(x, x)
    z = sigmoid(x)
    return np.multiply(z, x, out=z)


@in_parts(2)
def silu_backward(g: ndarray, x: ndarray) -> ndarray:
    """g s (1 + x (1 - s)), where s = sigmoid(x)."""
    s, wide = sigmoid(widen(x)), widen(x)
    z = np.asarray(1 - s)
    z *= wide
    z += 1
    z *= s
    factor = widen(g)  # inside vmap it alone may have a batch
    z = np.multiply(z, factor, out=z if z.shape == factor.shape else None)
    return narrow(z, g.dtype)


_SURELY = 20  # softplus above it is its argument in single precision


@in_parts(1)
def softplus(x: ndarray, beta: Number, threshold: Number) -> ndarray:
    """log(1 + exp(beta x)) / beta; x itself where beta x is above ``threshold``."""
    wide = widen(x)
    t = wide if beta == 1 else wide * beta
    z = np.asarray(np.log1p(np.exp(np.minimum(t, max(threshold, 0)))))
    if beta != 1:
        z /= beta
    if beta == 1 and threshold >= _SURELY and wide.dtype.char == "f":
        return narrow(np.maximum(z, wide, out=z), x.dtype)
    return narrow(where(t > threshold, wide, z), x.dtype)


@in_parts(1)
def mish(x: ndarray) -> ndarray:
    """x tanh(softplus(x)) (D. Misra, 2019): with e = exp(x), x (e² + 2 e) / (e² + 2 e + 2)."""
    e = np.exp(np.minimum(x, 20))
    e *= e + 2
    z = e / (e + 2)
    return np.asarray(z * x)


@in_parts(1)
def log_sigmoid(x: ndarray) -> ndarray:
    """log(sigmoid(x)), without overflow."""
    z = np.asarray(np.exp(-np.abs(x)))
    np.log1p(z, out=z)
    return np.subtract(np.minimum(x, 0), z, out=z)


def hardtanh(x: ndarray, min_val: Number, max_val: Number) -> ndarray:
    """x limited to [min_val, max_val]."""
    kind = x.dtype.type
    return np.asarray(clamp(x, kind(min_val), kind(max_val)))


@in_parts(2)
def hardtanh_backward(g: ndarray, x: ndarray, low: Number, high: Number) -> ndarray:
    """g, and 0 where x <= low or x >= high."""
    return where((x <= low) | (x >= high), 0.0, g)


@in_parts(2)
def shrink_backward(g: ndarray, x: ndarray, low: Number, high: Number) -> ndarray:
    """g, and 0 where low <= x <= high."""
    return where((x >= low) & (x <= high), 0.0, g)


@in_parts(1)
def hardsigmoid(x: ndarray) -> ndarray:
    """(x + 3) / 6, limited to [0, 1]."""
    z = np.asarray(x + 3)
    np.maximum(z, 0, out=z)
    np.minimum(z, 6, out=z)
    z /= 6
    return z


@in_parts(1)
def hardswish(x: ndarray) -> ndarray:
    """x hardsigmoid(x) (A. Howard et al., 2019)."""
    z = np.asarray(x + 3)
    np.maximum(z, 0, out=z)
    np.minimum(z, 6, out=z)
    z *= x
    z /= 6
    return z


@in_parts(1)
def hardshrink(x: ndarray, lambd: Number) -> ndarray:
    """x, and 0 where |x| <= lambd."""
    return where((x >= -lambd) & (x <= lambd), 0.0, x)


@in_parts(1)
def softshrink(x: ndarray, lambd: Number) -> ndarray:
    """x moved towards 0 by lambd, as far as 0."""
    if not lambd >= 0:
        raise ValueError("lambd < 0")
    z = np.asarray(np.maximum(x, -lambd))
    np.minimum(z, lambd, out=z)
    return np.subtract(x, z, out=z)


def threshold(x: ndarray, threshold: Number, value: Number) -> ndarray:
    """x where it is above ``threshold``, else ``value``."""
    kind = x.dtype.type
    if x.dtype.kind == "f":
        return where(x <= threshold, float(value), x)
    return np.where(x <= kind(threshold), kind(value), x)


def prelu_kernel(x: ndarray, weight: ndarray) -> ndarray:
    """x where it is positive, else weight x (K. He et al., 2015)."""
    return where(x > 0, x, weight * x)


def rrelu_with_noise(
    x: ndarray, noise: ndarray, lower: Number, upper: Number, training: bool
) -> ndarray:
    """x times ``noise`` in training, else with the mean of both bounds as its slope below 0."""
    return x * noise if training else np.where(x <= 0, x * ((lower + upper) / 2), x)


def glu(x: ndarray, dim: int) -> ndarray:
    """The first half along ``dim`` times the sigmoid of the second (Y. Dauphin et al., 2017)."""
    first, second = np.split(x, 2, dim)
    z = narrow(np.asarray(widen(first) * sigmoid(widen(second))), x.dtype)
    return layout.with_strides(z, layout.result_strides(z.shape, [x], z.itemsize))
