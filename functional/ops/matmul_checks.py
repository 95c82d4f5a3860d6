"""PyTorch's errors for matrix products; they are raised on the general path."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..tensor import Tensor
from . import views


def same_dtype(x: Tensor, y: Tensor) -> None:
    if x.dtype is not y.dtype:
        raise RuntimeError(
            f"expected m1 and m2 to have the same dtype, but got: {c_name(x)} != {c_name(y)}"
        )


def c_name(x: Tensor) -> str:
    """The C++ name of a dtype, as some of PyTorch's errors print it."""
    return dtypes.c_name(x.dtype)


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
    a, b = mat1.shape, mat2.shape
    if len(a) != 2 or len(b) != 2:
        which, found = ("mat1", a) if len(a) != 2 else ("mat2", b)
        raise RuntimeError(f"{which} must be a matrix, got {len(found)}-D tensor")
    if a[1] != b[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({a[0]}x{a[1]} and {b[0]}x{b[1]})"
        )
    same_dtype(mat1, mat2)
    views.expand(self, (a[0], b[1]))  # raises PyTorch's error if self does not fit


def check_bmm(self: Tensor, mat2: Tensor) -> None:
    a, b = self.shape, mat2.shape
    if len(a) != 3 or len(b) != 3:
        raise RuntimeError(f"batch{1 if len(a) != 3 else 2} must be a 3D tensor")
    if a[0] != b[0] or a[2] != b[1]:
        raise RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{a[0]}, {a[2]}] but got: [{b[0]}, {b[1]}]."
        )
    same_dtype(self, mat2)


def check_baddbmm(self: Tensor, batch1: Tensor, batch2: Tensor, *rest: Any) -> None:
    check_bmm(batch1, batch2)
    views.expand(self, (batch1.shape[0], batch1.shape[1], batch2.shape[2]))


def check_mv(self: Tensor, vec: Tensor) -> None:
    a, b = self.shape, vec.shape
    if len(a) != 2 or len(b) != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {len(a)}, {len(b)}")
    if a[1] != b[0]:
        raise RuntimeError(f"size mismatch, got input ({a[0]}), mat ({a[0]}x{a[1]}), vec ({b[0]})")
    if self.dtype is not vec.dtype:
        mine, other = self.dtype.legacy, vec.dtype.legacy
        raise RuntimeError(
            f"addmv input tensors must have the same dtype, but got {other}, {mine}, and {other}"
        )


def check_addmv(self: Tensor, mat: Tensor, vec: Tensor, *rest: Any) -> None:
    a, b, c = mat.shape, vec.shape, self.shape
    if len(a) != 2 or len(b) != 1 or len(c) > 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {len(c)}, {len(a)}, {len(b)}")
    if a[1] != b[0] or (c and c[0] not in (1, a[0])):
        own = c[0] if c else 1
        raise RuntimeError(f"size mismatch, got input ({own}), mat ({a[0]}x{a[1]}), vec ({b[0]})")
    same_dtype(mat, vec)


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
