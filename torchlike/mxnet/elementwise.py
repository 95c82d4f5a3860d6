"""Functions of each element, in tables: the name here, and the core's function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torchlike as torch

from .array import NDArray, call, core_dtype, write_out
from .operators import by_function, by_operator

# the core knows these by the same name
SAME = (
    "abs arccos arccosh arcsin arcsinh arctan arctanh ceil cos cosh erf expm1 floor log log10 "
    "log1p log2 negative reciprocal round rsqrt sigmoid sign sin sinh sqrt square tan tanh trunc"
).split()


def _exp(x: Any) -> Any:
    """Rounded correctly, as by the C library that MXNet calls; NumPy's is up to 3 units off."""
    return torch.exp(x.double()).float() if x.dtype is torch.float32 else torch.exp(x)


OTHER = {
    "cbrt": lambda x: torch.sign(x) * torch.abs(x) ** (1 / 3),
    "degrees": torch.rad2deg,
    "exp": _exp,
    "erfinv": torch.erfinv,
    "fix": torch.trunc,
    "gamma": lambda x: torch.exp(torch.lgamma(x)),
    "gammaln": torch.lgamma,
    "isfinite": torch.isfinite,
    "isinf": torch.isinf,
    "isnan": torch.isnan,
    "radians": torch.deg2rad,
    "rcbrt": lambda x: torch.sign(x) * torch.abs(x) ** (-1 / 3),
    "relu": torch.relu,
    "rint": torch.round,
    "softsign": lambda x: x / (1 + torch.abs(x)),
}  # fmt: skip
OPERATORS = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv", "power": "pow",
    "modulo": "mod", "equal": "eq", "not_equal": "ne", "lesser": "lt", "lesser_equal": "le",
    "greater": "gt", "greater_equal": "ge",
}  # fmt: skip
# result where both are equal: the derivative goes half to each
PAIRS = {
    "maximum": torch.maximum, "minimum": torch.minimum, "hypot": torch.hypot,
    "arctan2": torch.arctan2, "logical_and": torch.logical_and, "logical_or": torch.logical_or,
    "logical_xor": torch.logical_xor,
}  # fmt: skip


def _of_each(name: str, compute: Callable[..., Any]) -> Callable[..., Any]:
    def function(data: Any, out: Any = None) -> Any:
        return write_out(out, call(compute, data))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``{name}`` of each element."
    return function


UNARY = {n: _of_each(n, f) for n, f in ({n: getattr(torch, n) for n in SAME} | OTHER).items()}
BINARY = {n: by_operator(name) for n, name in OPERATORS.items()} | {
    n: by_function(n, f) for n, f in PAIRS.items()
}


def clip(data: NDArray, a_min: Any = None, a_max: Any = None, out: Any = None) -> NDArray:
    """Each element brought between ``a_min`` and ``a_max``."""
    return write_out(out, call(torch.clamp, data, a_min, a_max))


def where(condition: Any, x: Any, y: Any) -> NDArray:
    """Elements of ``x`` where the condition is not 0, of ``y`` elsewhere."""

    def choose(c: Any, a: Any, b: Any) -> Any:
        return torch.where(c if c.dtype is torch.bool else c != 0, a, b)

    return call(choose, condition, x, y)


def cast(data: NDArray, dtype: Any) -> NDArray:
    """A copy of another dtype."""
    return data.astype(dtype)


def softmax(data: NDArray, axis: int = -1, temperature: float | None = None) -> NDArray:
    """Exponentials divided by their sum along an axis."""
    return call(lambda x: torch.softmax(_heated(x, temperature), axis), data)


def log_softmax(data: NDArray, axis: int = -1, temperature: float | None = None) -> NDArray:
    """The logarithm of ``softmax``."""
    return call(lambda x: torch.log_softmax(_heated(x, temperature), axis), data)


def _heated(x: Any, temperature: float | None) -> Any:
    return x if temperature in (None, 1) else x / temperature


def one_hot(
    data: Any, depth: int, on_value: float = 1, off_value: float = 0, dtype: Any = "float32"
) -> NDArray:
    """Rows with ``on_value`` at the given index and ``off_value`` elsewhere: shape (..., depth).

    An index outside of 0 to depth - 1 gives a row of ``off_value``.
    """

    def rows(index: Any) -> Any:
        hit = index.long().unsqueeze(-1) == torch.arange(depth, device=index.device)
        new = core_dtype(dtype)
        return torch.where(hit, on_value, off_value).to(new)

    return call(rows, data)
