"""``torch.sparse``: functions of sparse tensors, whose gradients are sparse as well."""

from __future__ import annotations

from typing import Any

import numpy as np

from functional.modes import ModeSwitch
from functional.ops.layouts import SPARSE_COO
from functional.ops.sparse import Invariants, sparse_coo_tensor
from functional.tape.op import TENSOR
from functional.tape.sparse import is_sparse
from functional.tensor import Tensor, wrap

__all__ = [
    "addmm",
    "check_sparse_tensor_invariants",
    "log_softmax",
    "mm",
    "sampled_addmm",
    "softmax",
    "spdiags",
    "sum",
]


def mm(input: Tensor, mat2: Tensor, reduce: str | None = None) -> Tensor:
    """The product of two matrices of which one or both are sparse.

    The gradient of a sparse matrix has that matrix's places. Two sparse ones have a sparse product.
    ``reduce`` combines the terms of a CSR matrix's row: "sum", "mean", "amax" or "amin".
    """
    if reduce is not None:
        return TENSOR.sparse_mm_reduce(input, mat2, reduce)
    return TENSOR.sparse_mm(input, mat2)


def sampled_addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1.0, alpha: Any = 1.0
) -> Tensor:
    """beta · input + alpha · mat1 @ mat2, only in the places of the CSR matrix ``input``."""
    return TENSOR.sparse_sampled_addmm(input, mat1, mat2, beta, alpha)


def addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1.0, alpha: Any = 1.0
) -> Tensor:
    """beta · input + alpha · mat1 @ mat2, with a sparse ``mat1``, as is its gradient."""
    return TENSOR.sparse_addmm_of(input, mat1, mat2, beta, alpha)


def sum(input: Tensor, dim: Any = None, dtype: Any = None) -> Tensor:
    """The sum over ``dim`` (an int or several), or of all elements.

    It is sparse unless no sparse dimension is left. The gradient has the places of ``input``.
    """
    return TENSOR.sparse_sum(input, dim, dtype)


def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """The softmax along ``dim`` over the elements that are there: others count as -inf."""
    return TENSOR.sparse_softmax_of(input, dim, dtype)


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """The logarithm of ``softmax``."""
    return TENSOR.sparse_softmax_of(input, dim, dtype, True)


def spdiags(diagonals: Tensor, offsets: Tensor, shape: Any, layout: Any = None) -> Tensor:
    """A sparse matrix with the rows of ``diagonals`` as diagonals: that of ``offsets[i]`` the i-th.

    Column j of the matrix takes its elements from column j of ``diagonals``.
    """
    if layout is not None and layout is not SPARSE_COO:
        raise NotImplementedError(f"spdiags: layout {layout}")
    rows, lines = TENSOR.atleast_2d(diagonals), TENSOR.atleast_1d(offsets)
    if is_sparse(diagonals) or lines.ndim != 1 or lines.shape[0] != rows.shape[0]:
        raise RuntimeError("Number of diagonals must match the number of offsets")
    if len(set(lines.tolist())) != lines.shape[0]:
        raise RuntimeError("Offset tensor contains duplicate values")
    n, m = (int(k) for k in shape)
    found = []
    for i, offset in enumerate(lines.tolist()):
        columns = np.arange(max(0, offset), min(m, n + offset, rows.shape[1]))
        found.append(np.stack([columns - offset, columns, np.full(len(columns), i)]))
    at = np.concatenate(found, 1)
    return sparse_coo_tensor(wrap(at[:2]), rows[wrap(at[2]), wrap(at[1])], (n, m))


class check_sparse_tensor_invariants(ModeSwitch):
    """Whether new sparse tensors are checked: a context manager, a decorator, and a setting."""

    def __init__(self, enable: bool = True) -> None:
        self.state = enable
        self.saved_state: bool | None = None

    def clone(self) -> check_sparse_tensor_invariants:
        return check_sparse_tensor_invariants(self.state)

    @staticmethod
    def is_enabled() -> bool:
        """Whether sparse tensors are checked."""
        return Invariants.on

    @staticmethod
    def enable() -> None:
        """Check sparse tensors from here on."""
        Invariants.on = True

    @staticmethod
    def disable() -> None:
        """Check them no more."""
        Invariants.on = False

    def __enter__(self) -> None:
        self.saved_state, Invariants.on = Invariants.on, self.state

    def __exit__(self, *exc: object) -> None:
        assert self.saved_state is not None
        Invariants.on = self.saved_state
