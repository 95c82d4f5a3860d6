"""PyTorch's errors for matrix products; they are raised on the general path."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import dtypes
from ..dtypes import c_name
from ..errors import not_implemented
from ..kernels.linalg import SMALL
from ..tensor import Tensor
from . import views
from .dtype_checks import expect_type


def same_dtype(x: Tensor, y: Tensor) -> None:
    if x.dtype is not y.dtype:
        raise RuntimeError(
            "expected m1 and m2 to have the same dtype, but got: "
            f"{c_name(x.dtype)} != {c_name(y.dtype)}"
        )


def same_summands(self: Tensor, mat1: Tensor, mat2: Tensor, *rest: Any) -> None:
    """The dtypes of ``addmm``."""
    for name, x in (("self", self), ("mat1", mat1)):
        if x.dtype is not mat2.dtype:
            raise RuntimeError(
                f"{name} and mat2 must have the same dtype, but got "
                f"{x.dtype.legacy} and {mat2.dtype.legacy}"
            )


def same_in_addmv(self: Tensor, mat: Tensor, vec: Tensor) -> None:
    names = [t.dtype.legacy for t in (self, mat, vec)]
    if len(set(names)) > 1:
        raise RuntimeError(
            "addmv input tensors must have the same dtype, but got "
            f"{names[0]}, {names[1]}, and {names[2]}"
        )


_BLAS = (dtypes.F32, dtypes.F64, dtypes.C64, dtypes.C128)


def _for_blas(x: Tensor) -> bool:
    """Whether the matrices of a batch lie in memory by rows or by columns."""
    (_, m, n), (_, row, column) = x.shape, x.stride()
    return (column == 1 and row >= n) or (row == 1 and column >= m)


def _same_batches(x: Tensor, y: Tensor, kernel: str, one_by_one: Callable[..., None]) -> None:
    """The dtypes of a product of batches, in the words of the code that PyTorch would choose."""
    if x.dtype is y.dtype or not x.numel() or not y.numel():
        return
    if x.shape[1] * x.shape[2] * y.shape[2] < SMALL:
        if x.dtype is dtypes.bool_:
            raise not_implemented(kernel, dtypes.bool_)
        expect_type(x.dtype, y)
    if y.dtype.array in _BLAS and _for_blas(x) and _for_blas(y):
        expect_type(y.dtype, x)
    one_by_one(x, y)


def check_mm(self: Tensor, mat2: Tensor, *rest: Any) -> None:
    a, b = self.shape, mat2.shape
    if len(a) != 2:
        raise RuntimeError("self must be a matrix")
    if len(b) != 2:
        raise RuntimeError("mat2 must be a matrix")
    if a[1] != b[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({a[0]}x{a[1]} and {b[0]}x{b[1]})"
        )
    same_dtype(self, mat2)


def check_addmm(self: Tensor, mat1: Tensor, mat2: Tensor, *rest: Any) -> None:
    same_summands(self, mat1, mat2)
    a, b = mat1.shape, mat2.shape
    if len(a) != 2 or len(b) != 2:
        which, found = ("mat1", a) if len(a) != 2 else ("mat2", b)
        raise RuntimeError(f"{which} must be a matrix, got {len(found)}-D tensor")
    if a[1] != b[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({a[0]}x{a[1]} and {b[0]}x{b[1]})"
        )
    views.expand(self, (a[0], b[1]))  # raises PyTorch's error if self does not fit


def _check_batches(batch1: Tensor, batch2: Tensor) -> None:
    a, b = batch1.shape, batch2.shape
    if len(a) != 3 or len(b) != 3:
        raise RuntimeError(f"batch{1 if len(a) != 3 else 2} must be a 3D tensor")
    if a[0] != b[0] or a[2] != b[1]:
        raise RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{a[0]}, {a[2]}] but got: [{b[0]}, {b[1]}]."
        )


def check_bmm(self: Tensor, mat2: Tensor) -> None:
    _check_batches(self, mat2)
    _same_batches(self, mat2, "bmm", same_dtype)


def check_baddbmm(self: Tensor, batch1: Tensor, batch2: Tensor, *rest: Any) -> None:
    if batch1.ndim == 3 == batch2.ndim:
        views.expand(self, (batch1.shape[0], batch1.shape[1], batch2.shape[2]))
    if self.dtype is not batch1.dtype:
        names = [c_name(t.dtype) for t in (self, batch1, batch2)]
        raise RuntimeError(
            f"Input dtypes must be the same, got: input {names[0]}, batch1: {names[1]}, "
            f"batch2: {names[2]}"
        )
    _check_batches(batch1, batch2)
    _same_batches(batch1, batch2, "baddbmm", lambda x, y: same_summands(y, x, y))


def check_mv(self: Tensor, vec: Tensor) -> None:
    a, b = self.shape, vec.shape
    if len(a) != 2 or len(b) != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {len(a)}, {len(b)}")
    if a[1] != b[0]:
        raise RuntimeError(f"size mismatch, got input ({a[0]}), mat ({a[0]}x{a[1]}), vec ({b[0]})")
    same_in_addmv(vec, self, vec)


def check_addmv(self: Tensor, mat: Tensor, vec: Tensor, *rest: Any) -> None:
    a, b, c = mat.shape, vec.shape, self.shape
    if len(a) != 2 or len(b) != 1 or len(c) > 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {len(c)}, {len(a)}, {len(b)}")
    if a[1] != b[0] or (c and c[0] not in (1, a[0])):
        own = c[0] if c else 1
        raise RuntimeError(f"size mismatch, got input ({own}), mat ({a[0]}x{a[1]}), vec ({b[0]})")
    same_in_addmv(self, mat, vec)


def check_dot(self: Tensor, tensor: Tensor) -> None:
    a, b = self.shape, tensor.shape
    if len(a) != 1 or len(b) != 1:
        raise RuntimeError(f"1D tensors expected, but got {len(a)}D and {len(b)}D tensors")
    if self.dtype is not tensor.dtype:
        raise RuntimeError(
            "dot : expected both vectors to have same dtype, but found "
            f"{self.dtype.legacy} and {tensor.dtype.legacy}"
        )
    if a != b:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{a[0]}] and src [{b[0]}] to have the same "
            f"number of elements, but got {a[0]} and {b[0]} elements respectively"
        )
