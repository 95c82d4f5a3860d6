"""Matrix products. Half types are multiplied in float32 and rounded once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from .half import is_half, widen



def _product(x: ndarray, y: ndarray) -> ndarray:
    if is_half(x.dtype):
        return np.matmul(widen(x), widen(y)).astype(x.dtype)
    return np.matmul(x, y)


def mm(x: ndarray, y: ndarray) -> ndarray:
    return _product(x, y)


bmm = mv = mm


def dot(x: ndarray, y: ndarray) -> ndarray:
    return np.asarray(_product(x, y))


def addmm(bias: ndarray, x: ndarray, y: ndarray, beta: Any = 1, alpha: Any = 1) -> ndarray:
    """beta · bias + alpha · x @ y; with beta 0 the bias is ignored, NaN or not."""
    z = _product(x, y)
    if alpha != 1:
        z *= z.dtype.type(alpha)
    if beta == 0:
        return z
    return np.add(z, bias if beta == 1 else bias * z.dtype.type(beta), out=z)


addmv = baddbmm = addmm
