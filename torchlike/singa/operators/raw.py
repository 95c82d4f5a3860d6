"""Helpers on shapes and raw tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..singa_wrap import Tensor as CTensor
from .making import public


@public
def axis_helper(y_shape: Any, x_shape: Any) -> tuple[int, ...]:
    """The axes of ``y_shape`` along which a tensor of ``x_shape`` was broadcast to it."""
    lead = len(y_shape) - len(x_shape)
    return tuple(i for i, n in enumerate(y_shape) if i < lead or x_shape[i - lead] != n)


@public
def back_broadcast(y_shape: Any, x_shape: Any, x: CTensor) -> CTensor:
    """A raw gradient of ``y_shape`` summed to that of the operand of ``x_shape``."""
    if tuple(y_shape) == tuple(x_shape):
        return x
    return CTensor.of(x.core.sum_to_size(tuple(x_shape)), x.device())


@public
def ctensor2numpy(x: CTensor) -> np.ndarray:
    """A copy of a raw tensor's values."""
    return np.array(x.numpy())
