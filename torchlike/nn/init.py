"""Filling parameters with starting values, with PyTorch's draws."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from functional.blame import warn
from functional.kernels.meta import MetaArray
from functional.modes import no_grad
from functional.ops.create import empty_like
from functional.ops.random_integers import randperm
from functional.ops.ranges import eye as identity
from functional.ops.selection import where
from functional.tensor import Tensor, wrap

_LINEAR = ("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d")
_LINEAR += ("conv_transpose3d", "sigmoid")


def calculate_gain(nonlinearity: str, param: Any = None) -> float:
    """The factor that keeps the variance of activations through a nonlinearity.

    ``param`` is leaky_relu's slope. Raises ValueError for a nonlinearity that is not known.
    """
    if nonlinearity in _LINEAR:
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with uniform numbers between ``a`` and ``b``."""
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with normal numbers."""
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Any = None,
) -> Tensor:
    """Fill with normal numbers between ``a`` and ``b``: those outside are drawn again."""
    if type(tensor._data) is MetaArray:
        return tensor
    if mean < a - 2 * std or mean > b + 2 * std:
        warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. "
            "The distribution of values may be incorrect."
        )

    def cdf(x: float) -> float:
        return (1.0 + math.erf((x - mean) / std / math.sqrt(2.0))) / 2.0

    with no_grad():
        if cdf(b) - cdf(a) > 0.3:
            return _draw_inside(tensor, mean, std, (a, b), generator)
        return _draw_by_rejection(tensor, mean, std, (a, b), generator)


def _draw_inside(t: Tensor, mean: float, std: float, bounds: Any, generator: Any) -> Tensor:
    """Normal numbers until all are inside: quick where most of them are."""
    low, high = (t.new_tensor(bound).item() for bound in bounds)
    t.normal_(mean, std, generator=generator)
    while (outside := (t < low) | (t > high)).any():
        t.copy_(where(outside, empty_like(t).normal_(mean, std, generator=generator), t))
    return t


def _draw_by_rejection(t: Tensor, mean: float, std: float, bounds: Any, generator: Any) -> Tensor:
    """Uniform numbers, kept as often as the density asks: quick where the interval is narrow."""
    low, high = bounds
    peak = -0.5 * ((max(low, min(mean, high)) - mean) / std) ** 2

    def refused(x: Tensor) -> Tensor:
        density = ((x - mean) / std).pow(2) * -0.5 - peak
        return empty_like(x).uniform_(generator=generator).log_() > density

    t.uniform_(low, high, generator=generator)
    again = refused(t)
    while again.any():
        fresh = empty_like(t).uniform_(low, high, generator=generator)
        t.copy_(where(again, fresh, t))
        again = again & refused(fresh)
    return t


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one value."""
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros."""
    return constant_(tensor, 0.0)


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with the identity; ValueError where it is not two-dimensional."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with no_grad():
        return tensor.copy_(identity(*tensor.shape, dtype=tensor.dtype))


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    if tensor.ndim < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def _fan(tensor: Tensor, mode: Any) -> int:
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _calculate_fan_in_and_fan_out(tensor)[mode == "fan_out"]


def _empty(tensor: Tensor) -> bool:
    if 0 in tensor.shape:
        warn("Initializing zero-element tensors is a no-op")
        return True
    return False


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Uniform numbers whose variance suits both directions (Glorot and Bengio, 2010)."""
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    bound = math.sqrt(3.0) * (gain * math.sqrt(2.0 / float(fan_in + fan_out)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Normal numbers whose variance suits both directions (Glorot and Bengio, 2010)."""
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(fan_in + fan_out)), generator)


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Tensor:
    """Uniform numbers that keep the variance in one direction (He et al., 2015)."""
    if _empty(tensor):
        return tensor
    std = calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode))
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Tensor:
    """Normal numbers that keep the variance in one direction (He et al., 2015)."""
    if _empty(tensor):
        return tensor
    std = calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode))
    return normal_(tensor, 0.0, std, generator)


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """Fill with a (semi-)orthogonal matrix; dimensions after the first count as one.

    Raises ValueError for a tensor of fewer than two dimensions. (Saxe et al., 2013.)
    """
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows, columns = tensor.shape[0], tensor.numel() // tensor.shape[0]
    with no_grad():
        drawn = tensor.new_empty((rows, columns)).normal_(0, 1, generator=generator).cpu()
        wide = rows < columns
        q, r = np.linalg.qr(drawn._data.T if wide else drawn._data)
        q = q * np.sign(np.diag(r))  # makes the result unique, and uniformly distributed
        flat = np.ascontiguousarray(q.T if wide else q)
        tensor.copy_(wrap(flat.reshape(tensor.shape)))
        return tensor.mul_(gain)


def _bias_bound(weight: Tensor) -> float:
    """1 / sqrt(fan_in): what the default bias of linear and convolution layers lies within."""
    fan_in = _calculate_fan_in_and_fan_out(weight)[0]
    return 1 / math.sqrt(fan_in) if fan_in > 0 else 0


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Let a convolution's weight (O, I, *kernel) pass its input channels on, in each group."""
    if tensor.ndim not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.shape[0] % groups:
        raise ValueError("dim 0 must be divisible by groups")
    each = tensor.shape[0] // groups
    middle = tuple(n // 2 for n in tensor.shape[2:])
    with no_grad():
        tensor.zero_()
        for g in range(groups):
            for d in range(min(each, tensor.shape[1])):
                tensor[(g * each + d, d, *middle)] = 1
    return tensor


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Normal numbers, with a share of zeros in each column (Martens, 2010)."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            tensor[randperm(rows)[:zeros], column] = 0
    return tensor


def _deprecated(new: Any) -> Any:
    name = new.__name__[:-1]

    def function(*args: Any, **kwargs: Any) -> Any:
        warn(
            f"`nn.init.{name}` is now deprecated in favor of `nn.init.{new.__name__}`.",
            FutureWarning,
        )
        return new(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The old name of ``{new.__name__}``."
    return function


uniform, normal, constant = _deprecated(uniform_), _deprecated(normal_), _deprecated(constant_)
dirac, sparse = _deprecated(dirac_), _deprecated(sparse_)
xavier_uniform, xavier_normal = _deprecated(xavier_uniform_), _deprecated(xavier_normal_)
kaiming_uniform, kaiming_normal = _deprecated(kaiming_uniform_), _deprecated(kaiming_normal_)
orthogonal, eye = _deprecated(orthogonal_), _deprecated(eye_)
