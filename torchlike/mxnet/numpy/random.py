"""``mx.np.random``: random arrays with NumPy's manners."""

from __future__ import annotations

from typing import Any

import torchlike as torch

from .. import random as _random
from ..array import NDArray, core_tensor, ndarray, wrap

seed = _random.seed


def _shape(size: Any) -> Any:
    return () if size is None else size


def uniform(
    low: float = 0.0, high: float = 1.0, size: Any = None, dtype: Any = None, ctx: Any = None
) -> ndarray:
    """Numbers evenly from ``low`` to before ``high``; without dimensions where no size is given."""
    return _random.uniform_of(ndarray, low, high, _shape(size), dtype, ctx)


def normal(
    loc: float = 0.0, scale: float = 1.0, size: Any = None, dtype: Any = None, ctx: Any = None
) -> ndarray:
    """Numbers of the normal distribution; without dimensions where no size is given."""
    return _random.normal_of(ndarray, loc, scale, _shape(size), dtype, ctx)


def rand(*size: int) -> ndarray:
    """Numbers evenly from 0 to before 1, in a shape given by numbers."""
    return uniform(size=size)


def randn(*size: int) -> ndarray:
    """Numbers of the standard normal distribution, in a shape given by numbers."""
    return normal(size=size)


def randint(
    low: int, high: int | None = None, size: Any = None, dtype: Any = "int64", ctx: Any = None
) -> ndarray:
    """Whole numbers from ``low`` to before ``high`` (from 0 to before one alone)."""
    return _random.integers_of(ndarray, low, high, _shape(size), dtype, ctx)


def permutation(x: Any) -> ndarray:
    """A copy with the rows in random order, or the numbers from 0 to before ``x`` so."""
    if isinstance(x, int):
        return _random.order_of(ndarray, x)
    return x[_random.order_of(ndarray, len(x))]


def shuffle(x: ndarray) -> None:
    """Bring the rows into random order, in place."""
    x[:] = permutation(x)


def choice(a: Any, size: Any = None, replace: bool = True, p: Any = None) -> ndarray:
    """Items of an array, or of the numbers before ``a``, with probabilities ``p``."""
    count = a if isinstance(a, int) else len(a)
    weights = torch.ones(count) if p is None else core_tensor(p, "float32")
    shape = () if size is None else (size,) if isinstance(size, int) else tuple(size)
    drawn = torch.multinomial(weights, max(1, torch.Size(shape).numel()), replace)
    index = wrap(drawn[: torch.Size(shape).numel()].reshape(shape), ndarray)
    return a[index] if isinstance(a, NDArray) else index
