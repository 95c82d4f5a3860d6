"""PyTorch's errors for dtypes that do not go together."""

from __future__ import annotations

from .. import dtypes
from ..errors import not_implemented
from ..tensor import Tensor


def expect_type(wanted: dtypes.dtype, *tensors: Tensor | None) -> None:
    """The error of a kernel that reads tensors of one dtype only."""
    for t in tensors:
        if t is not None and t.dtype is not wanted:
            raise RuntimeError(f"expected scalar type {wanted.legacy} but found {t.dtype.legacy}")


def type_string(d: dtypes.dtype) -> str:
    """The old name of a type of tensor, as some of PyTorch's errors print it."""
    if d.is_complex or d in (dtypes.bool_, dtypes.bfloat16):
        return f"CPU{d.legacy}Type"
    return f"torch.{d.legacy}Tensor"


def need_floats(x: Tensor, kernel: str) -> None:
    """The error of a kernel that PyTorch has for real floating-point numbers only."""
    if x.dtype.category != dtypes.FLOAT:
        raise not_implemented(kernel, x.dtype)


def check_parameters(x: Tensor, kernel: str, *parameters: Tensor | None) -> None:
    """The dtypes of a normalization: all the same, or float32 beside a half type."""
    given = [t for t in parameters if t is not None]
    mixed = bool(given) and given[0].dtype is not x.dtype
    if mixed and any(t.dtype is not dtypes.float32 for t in given):
        raise RuntimeError("mixed dtype (CPU): expect parameter to have scalar type of Float")
    if mixed and x.dtype not in (dtypes.float16, dtypes.bfloat16):
        raise RuntimeError("mixed dtype (CPU): all inputs must share same datatype.")
    need_floats(x, kernel)
    if not mixed:
        expect_type(x.dtype, *given)
