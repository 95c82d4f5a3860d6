"""First values of parameters, written in place.

fan_in and fan_out are a matrix's rows and columns (a layer's weight is (in, out) here), and for
kernels (out, in, ...) the second and first size times the kernel's elements.
"""

from __future__ import annotations

import math

import torchlike as torch

from .deprecation import deprecated
from .tensor import Tensor


def compute_fan(shape: tuple[int, ...]) -> tuple[float, float]:
    """(fan_in, fan_out); for neither a matrix nor a kernel twice the root of the size."""
    if len(shape) == 2:
        return shape
    if len(shape) in (3, 4, 5):
        field = math.prod(shape[2:])
        return shape[1] * field, shape[0] * field
    root = math.sqrt(math.prod(shape))
    return root, root


def _uniform(t: Tensor, variance: float) -> None:
    limit = math.sqrt(3 * variance)
    t.uniform(-limit, limit)


def _normal(t: Tensor, variance: float) -> None:
    t.gaussian(0.0, math.sqrt(variance))


def _of_fan_in(t: Tensor, scale: float) -> float:
    return scale / compute_fan(_filled(t))[0]


def _of_both(t: Tensor) -> float:
    fan_in, fan_out = compute_fan(_filled(t))
    return 2 / (fan_in + fan_out)


def _filled(t: Tensor) -> tuple[int, ...]:
    if t.size() == 0:
        raise ValueError(f"a tensor of shape {t.shape} has no values to set")
    return t.shape


def eye(t: Tensor) -> None:
    """The identity matrix; ValueError for a tensor that is no matrix."""
    if t.ndim() != 2:
        raise ValueError(f"eye fills a matrix, not a tensor of shape {t.shape}")
    torch.nn.init.eye_(t.writable())


def orthogonal(t: Tensor, gain: float = 1.0) -> None:
    """``gain`` times a (semi-)orthogonal matrix; dimensions after the first count as one.

    Saxe et al., arXiv:1312.6120. ValueError for a tensor of fewer than two dimensions.
    """
    if t.ndim() < 2:
        raise ValueError(f"orthogonal fills a matrix, not a tensor of shape {t.shape}")
    torch.nn.init.orthogonal_(t.writable(), gain)


def lecun_uniform(t: Tensor) -> None:
    """Uniform numbers of variance 1 / fan_in (LeCun et al., Efficient BackProp)."""
    _uniform(t, _of_fan_in(t, 1))


def lecun_normal(t: Tensor) -> None:
    """Normal numbers of variance 1 / fan_in."""
    _normal(t, _of_fan_in(t, 1))


def glorot_uniform(t: Tensor) -> None:
    """Uniform numbers of variance 2 / (fan_in + fan_out) (Glorot and Bengio, 2010)."""
    _uniform(t, _of_both(t))


def glorot_normal(t: Tensor) -> None:
    """Normal numbers of variance 2 / (fan_in + fan_out)."""
    _normal(t, _of_both(t))


def he_uniform(t: Tensor) -> None:
    """Uniform numbers of variance 2 / fan_in (He et al., arXiv:1502.01852)."""
    _uniform(t, _of_fan_in(t, 2))


def he_normal(t: Tensor) -> None:
    """Normal numbers of variance 2 / fan_in, not truncated."""
    _normal(t, _of_fan_in(t, 2))


@deprecated("glorot_normal or he_normal")
def gaussian(t: Tensor, fan_in: int = 0, fan_out: int = 0) -> None:
    """Normal numbers of variance 2 / n, n the mean of those fans that are given, at least one."""
    fans = [fan for fan in (fan_in, fan_out) if fan > 0]
    if not fans:
        raise AssertionError("gaussian needs fan_in or fan_out")
    _normal(t, 2 * len(fans) / sum(fans))


@deprecated("glorot_uniform")
def xavier(t: Tensor) -> None:
    """As ``glorot_uniform``."""
    glorot_uniform(t)


@deprecated("glorot_normal")
def glorot(t: Tensor) -> None:
    """As ``glorot_normal``."""
    glorot_normal(t)


@deprecated("he_normal")
def msra(t: Tensor) -> None:
    """As ``he_normal``."""
    he_normal(t)
