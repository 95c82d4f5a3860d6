"""``mx.np.linalg``: the part of it that gradients are wanted of most."""

from __future__ import annotations

from typing import Any

import torchlike as torch

from ..array import call, ndarray
from ..reductions import norm as _vector_norm


def norm(x: ndarray, ord: Any = None, axis: Any = None, keepdims: bool = False) -> ndarray:
    """The norm of vectors; of matrices by NumPy's names where ``ord`` says so."""
    if ord is None:
        return _vector_norm(x, 2, axis, keepdims)
    return call(lambda t: torch.linalg.norm(t, ord, axis, keepdim=keepdims), x)


def inv(a: ndarray) -> ndarray:
    """The inverse of square matrices."""
    return call(torch.linalg.inv, a)


def det(a: ndarray) -> ndarray:
    """The determinant of square matrices."""
    return call(torch.linalg.det, a)


def solve(a: ndarray, b: ndarray) -> ndarray:
    """The solution x of a x = b."""
    return call(torch.linalg.solve, a, b)
