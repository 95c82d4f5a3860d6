"""Sums, products and powers of tensors; operands broadcast."""

from __future__ import annotations

from functools import reduce
from typing import Any

import torchlike as torch

from ..operator import Recorded
from ..tensor import Tensor
from .making import operation, public


@operation("Add", 2)
def add(a: Any, b: Any) -> Any:
    """a + b."""
    return torch.add(a, b)


@operation("Sub", 2)
def sub(a: Any, b: Any) -> Any:
    """a - b."""
    return torch.sub(a, b)


@operation("Mul", 2)
def mul(x: Any, y: Any) -> Any:
    """x y, element by element."""
    return torch.mul(x, y)


@operation("Div", 2)
def div(a: Any, b: Any) -> Any:
    """a / b; of integers, cut to an integer."""
    whole = not (a.is_floating_point() or b.is_floating_point())
    return torch.div(a, b, rounding_mode="trunc" if whole else None)


@operation("Pow", 2, name="pow")
def power(a: Any, b: Any) -> Any:
    """a to the power of b."""
    return torch.pow(a, b)


def _several(tensors: tuple[Any, ...], who: str) -> tuple[Any, ...]:
    if not tensors:
        raise AssertionError(f"{who} takes one tensor or more")
    return tensors


@operation("Sum", None, name="sum")
def sum_of(*xs: Any) -> Any:
    """The sum of several tensors, element by element."""
    return reduce(torch.add, _several(xs, "sum"))


@operation("Mean", None)
def mean(*xs: Any) -> Any:
    """The mean of several tensors, element by element."""
    return reduce(torch.add, _several(xs, "mean")) * (1.0 / len(xs))


@operation("Min", None, name="min")
def smallest(*xs: Any) -> Any:
    """The smallest of several tensors, element by element."""
    return reduce(torch.minimum, _several(xs, "min"))


@operation("Max", None, name="max")
def largest(*xs: Any) -> Any:
    """The largest of several tensors, element by element."""
    return reduce(torch.maximum, _several(xs, "max"))


@public
def add_all(*xs: Tensor) -> Tensor:
    """The sum of several tensors, by one ``Add`` after another."""
    return reduce(add, _several(xs, "add_all"))


# --- matrices ---


@operation("Matmul", 2)
def matmul(x: Any, w: Any) -> Any:
    """The matrix product, of batches too: x (..., n, k), w (..., k, m)."""
    if x.ndim < 2 or w.ndim < 2:
        shapes = f"{tuple(x.shape)} and {tuple(w.shape)}"
        raise AssertionError(f"matmul takes tensors of two dimensions or more, not {shapes}")
    return torch.matmul(x, w)


@operation("AddBias", 2)
def add_bias(x: Any, b: Any, axis: int = 0) -> Any:
    """x (rows, columns) plus b: (columns,), (1, columns); (rows,), (rows, 1) with ``axis`` 1."""
    if axis not in (0, 1):
        raise AssertionError(f"add_bias: axis is 0 or 1, not {axis}")
    if x.ndim != 2 or b.ndim > 2 or b.numel() != x.shape[1 - axis]:
        shapes = f"{tuple(b.shape)} does not fit {tuple(x.shape)}"
        raise AssertionError(f"add_bias: a bias of shape {shapes}")
    return x + (b.reshape(1, -1) if axis == 0 else b.reshape(-1, 1))


@public
class Gemm(Recorded):
    """alpha A B + beta C, of A and B transposed where ``transA`` and ``transB`` say so."""

    def __init__(
        self, alpha: float = 1.0, beta: float = 1.0, transA: int = 0, transB: int = 0
    ) -> None:
        super().__init__()
        self.alpha, self.beta, self.transA, self.transB = alpha, beta, transA, transB

    def compute(self, A: Any, B: Any, C: Any = None) -> Any:
        if A.ndim != 2 or B.ndim != 2:
            shapes = f"{tuple(A.shape)} and {tuple(B.shape)}"
            raise AssertionError(f"gemm takes matrices, not {shapes}")
        product = self.alpha * torch.matmul(A.T if self.transA else A, B.T if self.transB else B)
        return product if C is None else product + self.beta * C


@public
def gemm(
    A: Tensor,
    B: Tensor,
    C: Tensor | None = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,
    transB: int = 0,
) -> Tensor:
    """alpha A B + beta C, of A and B transposed where ``transA`` and ``transB`` say so."""
    operands = (A, B) if C is None else (A, B, C)
    return Gemm(alpha, beta, transA, transB)(*operands)[0]
