"""Functions of each element on its own, dropout, and softmax."""

from __future__ import annotations

from math import prod
from typing import Any

import torchlike as torch

from ..operator import Recorded, training
from ..singa_wrap import dtype_of
from ..tensor import Tensor
from ..tensor_class import code
from .making import operation, position, public

F = torch.nn.functional

_UNARY = (
    ("Tanh", "tanh", torch.tanh, "The hyperbolic tangent."),
    ("Cos", "cos", torch.cos, "The cosine of x in radians."),
    ("Cosh", "cosh", torch.cosh, "The hyperbolic cosine."),
    ("Acos", "acos", torch.acos, "The angle in radians whose cosine x is; NaN beyond [-1, 1]."),
    ("Acosh", "acosh", torch.acosh, "The inverse of cosh; NaN below 1."),
    ("Sin", "sin", torch.sin, "The sine of x in radians."),
    ("Sinh", "sinh", torch.sinh, "The hyperbolic sine."),
    ("Asin", "asin", torch.asin, "The angle in radians whose sine x is; NaN beyond [-1, 1]."),
    ("Asinh", "asinh", torch.asinh, "The inverse of sinh."),
    ("Tan", "tan", torch.tan, "The tangent of x in radians."),
    ("Atan", "atan", torch.atan, "The angle in radians whose tangent x is."),
    ("Atanh", "atanh", torch.atanh, "The inverse of tanh; NaN beyond [-1, 1]."),
    ("ReLU", "relu", torch.relu, "max(0, x)."),
    ("Sigmoid", "sigmoid", torch.sigmoid, "1 / (1 + exp(-x))."),
    ("SoftSign", "softsign", F.softsign, "x / (1 + |x|)."),
    ("SoftPlus", "softplus", F.softplus, "log(1 + exp(x))."),
    ("Sqrt", "sqrt", torch.sqrt, "The square root."),
    ("Log", "log", torch.log, "The natural logarithm."),
    ("Negative", "negative", torch.neg, "-x."),
    ("Reciprocal", "reciprocal", torch.reciprocal, "1 / x."),
    ("Erf", "erf", torch.erf, "The error function; its derivative is 2 exp(-x²) / sqrt(pi)."),
    ("Ceil", "ceil", torch.ceil, "The next integer above; its gradient is 0."),
    ("Floor", "floor", torch.floor, "The next integer below; its gradient is 0."),
    ("Rounde", "rounde", torch.round, "The nearest integer, halves to even; its gradient is 0."),
)


def _declare(cls: str, name: str, function: Any, doc: str) -> None:
    def compute(x: Any) -> Any:
        return function(x)

    compute.__doc__ = doc
    operation(cls, name=name)(compute)


for _row in _UNARY:
    _declare(*_row)


@operation("Abs", name="abs")
def absolute(a: Any) -> Any:
    """|a|; its gradient at 0 is 0."""
    return torch.abs(a)


@operation("Exp")
def exp(a: Any) -> Any:
    """e to the power of a."""
    return torch.exp(a)


@operation("Sign")
def sign(a: Any) -> Any:
    """-1, 0 or 1; its gradient is 0."""
    return torch.sign(a)


@operation("Round", name="round")
def rounded(x: Any) -> Any:
    """The nearest integer, halves away from zero; its gradient is 0."""
    return torch.sign(x) * torch.floor(torch.abs(x) + 0.5)


@operation("Identity")
def identity(x: Any) -> Any:
    """x itself."""
    return x


@operation("Clip")
def clip(x: Any, min: float | None = None, max: float | None = None) -> Any:
    """x, no smaller than ``min`` and no larger than ``max``."""
    return x if min is None and max is None else torch.clamp(x, min, max)


@operation("Elu")
def elu(x: Any, alpha: float = 1.0) -> Any:
    """x where it is positive, else alpha (exp(x) - 1)."""
    return F.elu(x, alpha)


@operation("SeLU")
def selu(x: Any, alpha: float = 1.67326, gamma: float = 1.0507) -> Any:
    """gamma elu(x, alpha)."""
    return gamma * F.elu(x, alpha)


@operation("LeakyRelu")
def leakyrelu(x: Any, a: float = 0.01) -> Any:
    """x where it is positive, else a x."""
    return F.leaky_relu(x, a)


@operation("PRelu", 2)
def prelu(x: Any, slope: Any) -> Any:
    """x where it is positive, else slope x; the two broadcast."""
    return torch.where(x > 0, x, slope * x)


@operation("HardSigmoid")
def hardsigmoid(x: Any, alpha: float = 0.2, gamma: float = 0.5) -> Any:
    """alpha x + gamma, cut to [0, 1]."""
    return torch.clamp(alpha * x + gamma, 0, 1)


@operation("SoftMax")
def softmax(x: Any, axis: int = 1) -> Any:
    """exp(x) over its sum over ``axis`` and all axes after it."""
    axis = position(axis, x.ndim, "softmax")
    if axis == x.ndim - 1:
        return torch.softmax(x, axis)
    return torch.softmax(x.reshape(prod(x.shape[:axis]), -1), 1).reshape(x.shape)


@operation("Cast")
def cast(x: Any, to: Any) -> Any:
    """x in another data type, given by its code; gradients pass between floats."""
    return x.to(dtype_of(code(to)))


@public
class Dropout(Recorded):
    """Zeros with probability ``ratio``, the rest divided by 1 - ratio, when ``autograd.training``.

    Each call draws anew; ``seed`` is not used.
    """

    def __init__(self, seed: int = 0, ratio: float = 0.5) -> None:
        super().__init__()
        if not 0 <= ratio <= 1:
            raise AssertionError(f"dropout: the ratio is a probability, not {ratio}")
        self.seed, self.ratio = seed, ratio

    def _record(self, operands: list[Any]) -> tuple[Any, ...]:
        # ``compute`` may run again for ``backward``: it must drop the same elements
        dropping = training() and self.ratio > 0
        self._mask = F.dropout(torch.ones_like(operands[0]), self.ratio) if dropping else None
        return super()._record(operands)

    def compute(self, x: Any) -> Any:
        return x if self._mask is None else x * self._mask


@public
def dropout(x: Tensor, seed: int = 0, ratio: float = 0.5) -> Tensor:
    """x with elements zeroed with probability ``ratio``, the rest scaled, when training."""
    return Dropout(seed, ratio)(x)[0]
