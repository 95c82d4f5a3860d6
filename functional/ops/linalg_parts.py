"""What declarations of linear algebra share: checks, shapes, and parts of rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes, errors
from ..errors import not_implemented
from ..kernels import numpy as kernels
from ..kernels.meta import has_numbers
from ..tape.op import TENSOR
from ..tensor import Tensor

# --- checks ---------------------------------------------------------------------------------------


def check_kind(x: Tensor, name: str, whole: str = "", half: str = "low") -> None:
    """PyTorch's errors for whole numbers and half types.

    ``whole`` and ``half`` name the kernel that is missing, if that is what the error says;
    with an empty ``half`` those types are fine.
    """
    if x.dtype.category < dtypes.FLOAT:
        if whole:
            raise not_implemented(whole, x.dtype)
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {x.dtype.legacy}"
        )
    if half and x.dtype.array in dtypes.HALF:
        if half != "low":
            raise not_implemented(half, x.dtype)
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {x.dtype.legacy}")


_WITH_KERNELS = (dtypes.F32, dtypes.F64, dtypes.C64, dtypes.C128)


def unless_empty(kernel: str, closure: Any, x: Tensor, *statics: Any) -> Any:
    """``closure(x, ...)``, of any dtype where there is nothing to compute.

    ``kernel`` is the one that PyTorch misses for whole numbers and half types otherwise.
    """
    if x.dtype.array in _WITH_KERNELS:
        return closure(x, *statics)
    if x.numel():
        raise not_implemented(kernel, x.dtype)
    found = closure(TENSOR.to_dtype(x, dtypes.float32), *statics)
    same = lambda z: TENSOR.to_dtype(z, x.dtype) if z.dtype is dtypes.float32 else z
    return tuple(map(same, found)) if type(found) is tuple else same(found)


def check_solved(B: Tensor, A: Tensor, name: str) -> None:
    """PyTorch's errors for the sides of A X = B: their dtypes, then their shapes."""
    if A.dtype is not B.dtype:
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {B.dtype.legacy} and A "
            f"of type {A.dtype.legacy} instead."
        )
    m, n = A.shape[-2:]
    if m != n:
        raise RuntimeError(
            f"A must be batches of square matrices, but they are {m} by {n} matrices"
        )
    if n != B.shape[-2]:
        raise RuntimeError(
            f"Incompatible matrix sizes for {name}: each A matrix is {n} by {n} but each b "
            f"matrix is {B.shape[-2]} by {B.shape[-1]}"
        )


def check_matrix(x: Tensor, name: str, what: str = "A") -> None:
    if x.ndim < 2:
        title = f"The input tensor {what}" if what else "input"
        raise RuntimeError(f"{name}: {title} must have at least 2 dimensions.")


def check_square(x: Tensor, name: str) -> None:
    check_matrix(x, name)
    m, n = x.shape[-2:]
    if m != n:
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {m} by {n} matrices"
        )


def batch_element(info: Tensor) -> tuple[int, str]:
    """The first error code that is not 0, and how PyTorch says where."""
    values = np.asarray(info.tolist()).ravel()
    at = int(np.flatnonzero(values)[0])
    return int(values[at]), f"(Batch element {at}): " if info.ndim else ""


def failed(info: Tensor) -> bool:
    """Whether a factorization reports an error (never on meta tensors and inside transforms)."""
    x = info._data
    return has_numbers(x) and bool(x.any())


def singular(name: str, info: Tensor) -> None:
    """PyTorch's error for a matrix that has no inverse."""
    if failed(info):
        code, where = batch_element(info)
        raise errors.LinAlgError(
            f"{name}: {where}The diagonal element {code} is zero, the inversion could not be "
            "completed because the input matrix is singular."
        )


# --- shapes ---------------------------------------------------------------------------------------


def _geometry(z: Any, batch: tuple[int, ...]) -> Any:
    """Shape, dtype and strides of a result whose batch is not empty."""
    if z.ndim < 2:
        return z.shape, z.dtype
    shape = z.shape[2:]
    if z.ndim < 4:
        return (*batch, *shape), z.dtype
    by_column = z.strides[-1] > z.strides[-2] or (z.strides[-1] == z.strides[-2] and shape[1] > 1)
    item, (m, n) = z.dtype.itemsize, shape
    inner = (item, item * max(m, 1)) if by_column else (item * max(n, 1), item)
    size, strides = item * max(m, 1) * max(n, 1), []
    for count in reversed(batch):
        strides.append(size)
        size *= max(count, 1)
    return (*batch, *shape), z.dtype, (*reversed(strides), *inner)


def probed(kernel: str, *ranks: int, rows: Any = None) -> Any:
    """A shape rule that runs the kernel on no matrices at all, of the right size.

    ``ranks`` are the numbers of dimensions of the inputs without their batches; ``rows`` says for
    the static arguments whether results lie in memory row by row.
    """
    ranks = ranks or (2,)

    def shape(*args: Any) -> Any:
        arrays, batches = [], []
        for x, rank in zip(args, ranks, strict=False):
            lead = len(x.shape) - rank
            batches.append(x.shape[:lead])
            arrays.append(np.empty((1, 0, *x.shape[lead:]), x.dtype))
        batch = np.broadcast_shapes(*batches)
        with np.errstate(all="ignore"):
            found = getattr(kernels, kernel)(*arrays, *args[len(ranks) :])
        by_row = rows is not None and rows(*args[len(ranks) : len(ranks) + 1])
        several = type(found) is tuple
        shapes = [_geometry(z, batch) for z in (found if several else (found,))]
        shapes = [one[:2] for one in shapes] if by_row else shapes
        return shapes if several else shapes[0]

    return shape


# --- parts of rules -------------------------------------------------------------------------------


def is_complex(x: Any) -> bool:
    """Whether an array or Tensor is complex."""
    return bool(getattr(x.dtype, "is_complex", False)) or getattr(x.dtype, "kind", "") == "c"


def mT(F: Any, x: Any) -> Any:
    return F.transpose(x, -2, -1)


def mH(F: Any, x: Any) -> Any:
    """The adjoint of each matrix."""
    return F.conj(F.transpose(x, -2, -1)) if is_complex(x) else F.transpose(x, -2, -1)


def row(F: Any, v: Any) -> Any:
    """Vectors that scale columns."""
    return F.unsqueeze(v, v.ndim - 1)


def column(F: Any, v: Any) -> Any:
    """Vectors that scale rows."""
    return F.unsqueeze(v, v.ndim)


def diagonal(F: Any, x: Any) -> Any:
    return F.diagonal(x, 0, x.ndim - 2, x.ndim - 1)


def diagonal_matrix(F: Any, v: Any) -> Any:
    """Square matrices with ``v`` on the diagonal."""
    n = v.ndim
    return F.diagonal_backward(v, (*v.shape, v.shape[-1]), 0, n - 1, n)


def skew(F: Any, x: Any) -> Any:
    return x - mH(F, x)


def gaps(F: Any, v: Any) -> Any:
    """v_j - v_i, with 1 on the diagonal."""
    return row(F, v) - column(F, v) + diagonal_matrix(F, v * 0 + 1)


def pieces(g: Any, count: int) -> list[Any]:
    """The gradients of ``count`` results, None where there is none."""
    return list(g) if type(g) in (list, tuple) else [g] + [None] * (count - 1)


def add(a: Any, b: Any) -> Any:
    """The sum of two terms, either of which may be missing."""
    return b if a is None else a if b is None else a + b


def not_holomorphic(closure: Any) -> Any:
    """Mark an operation whose rule is written with adjoints already."""
    closure.op.holomorphic = False
    return closure


def cut(F: Any, x: Any, dim: int, start: int, end: int) -> Any:
    """x[start:end] along a dimension counted from the end."""
    return F.slice_(x, x.ndim + dim, start, end, 1)


def zeros(shape: Any, like: Tensor, dtype: Any = None) -> Tensor:
    """Zeros of a shape, with the dtype and device of a tensor."""
    return TENSOR.zeros(tuple(shape), dtype=dtype or like.dtype, device=like.device)
