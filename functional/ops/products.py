"""Products of tensors: tensordot, kron, cross products, chains of matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import dtypes
from ..errors import not_implemented
from ..tape.declare import general
from ..tape.op import TENSOR, public
from ..tape.out import need_out, out_of, write_out
from ..tape.views import check_in_place, requires_grad
from ..tensor import Tensor
from .arguments import broadcast_shapes, need_tensor, one_dim
from .deprecated import deprecated
from .dtype_checks import expect_type
from .linalg_parts import not_holomorphic
from .matmul import dot, matmul, mm

# --- vectors --------------------------------------------------------------------------------------


def _check_vdot(self: Tensor, other: Tensor) -> None:
    if self.ndim != 1 or other.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {self.ndim}D and {other.ndim}D tensors")
    if self.dtype is not other.dtype:
        raise RuntimeError(
            "dot : expected both vectors to have same dtype, but found "
            f"{self.dtype.legacy} and {other.dtype.legacy}"
        )
    if self.shape != other.shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{self.shape[0]}] and src "
            f"[{other.shape[0]}] to have the same number of elements, but got {self.shape[0]} and "
            f"{other.shape[0]} elements respectively"
        )
    if self.dtype is dtypes.bool_:
        raise not_implemented("dot", dtypes.bool_)


vdot_ = not_holomorphic(
    general(
        "vdot_of",
        lambda F, g, other: F.conj(g) * other,
        lambda F, g, self: g * self,
        inputs=("self", "other"),
        node="VdotBackward0",
        check=_check_vdot,
        shape=lambda x, y: ((), x.dtype),
    )
)


@public
def vdot(self: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """Σ self* · other of two vectors."""
    if out is not None:
        return out_of(vdot, out, self, other)
    return vdot_(self, other)


def _inner(self: Tensor, other: Tensor) -> Tensor:
    """Products of the last dimensions of two tensors."""
    if self.ndim == 0 or other.ndim == 0:
        return self * other
    if self.shape[-1] != other.shape[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(self.shape)} and {list(other.shape)}"
        )
    return tensordot(self, other, ([-1], [-1]))


@public
def inner(self: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """Products of the last dimensions of two tensors."""
    if out is not None and not (self.ndim and other.ndim):
        return out_of(_inner, out, self, other, name="mul")
    if out is not None:
        check_in_place(need_out("inner", out), requires_grad(out))
        return write_out(_inner(self.detach(), other.detach()), out, "inner")
    return _inner(self, other)


def _check_cross(self: Tensor, other: Tensor, dim: int) -> None:
    if self.dtype is dtypes.bool_:
        raise not_implemented("cross", dtypes.bool_)
    expect_type(self.dtype, other)


cross_ = general(
    "cross_of",
    lambda F, g, other, dim: F.cross_of(other, g, dim),
    lambda F, g, self, dim: F.cross_of(g, self, dim),
    inputs=("self", "other"),
    statics=("dim",),
    node="LinalgCrossBackward0",
    jvp="multilinear",
    check=_check_cross,
    strict=True,
    shape=lambda x, y, dim: (np.broadcast_shapes(x.shape, y.shape), x.dtype),
)


def _cross(self: Tensor, other: Tensor, dim: int) -> Tensor:
    if self.ndim != other.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    at = one_dim(self, dim)
    if self.shape[at] != 3 or other.shape[at] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {self.shape[at]} and "
            f"{other.shape[at]}"
        )
    broadcast_shapes(tuple(self.shape), tuple(other.shape))
    return cross_(self, other, at - self.ndim)


@public
def linalg_cross(self: Tensor, other: Tensor, *, dim: int = -1, out: Any = None) -> Tensor:
    """The products of 3-vectors along ``dim``."""
    if out is not None:
        return out_of(_cross, out, self, other, dim, name="linalg_cross")
    return _cross(self, other, dim)


@public
def cross(self: Tensor, other: Tensor, dim: int | None = None, *, out: Any = None) -> Tensor:
    """The products of 3-vectors along ``dim``, by default the first dimension of size 3."""
    if dim is None:
        deprecated("cross")
        found = [i for i, n in enumerate(self.shape) if n == 3]
        if not found:
            raise RuntimeError("no dimension of size 3 in input")
        dim = found[0]
    return linalg_cross(self, other, dim=dim, out=out)


# --- contractions ---------------------------------------------------------------------------------


def _contracted(a: Tensor, b: Tensor, first: list[int], second: list[int]) -> Tensor:
    """Σ over pairs of dimensions, as one matrix product."""
    named = list(zip(first, second, strict=True))
    first = [one_dim(a, d) for d in first]
    second = [one_dim(b, d) for d in second]
    for i, j, (title, other) in zip(first, second, named, strict=True):
        if a.shape[i] == b.shape[j]:
            continue
        if a.shape[i] == 1:
            b = TENSOR.sum(b, j, True)
        elif b.shape[j] == 1:
            a = TENSOR.sum(a, i, True)
        else:
            raise RuntimeError(
                "contracted dimensions need to match, but first has size "
                f"{a.shape[i]} in dim {title} and second has size {b.shape[j]} in dim {other}"
            )
    if len(first) == a.ndim == b.ndim == 1:
        return TENSOR.reshape(dot(TENSOR.permute(a, (0,)), TENSOR.permute(b, (0,))), ())
    rest_a = [i for i in range(a.ndim) if i not in first]
    rest_b = [i for i in range(b.ndim) if i not in second]
    shape = [a.shape[i] for i in rest_a] + [b.shape[i] for i in rest_b]
    inner_size = math.prod(a.shape[i] for i in first)
    m, n = math.prod(shape[: len(rest_a)]), math.prod(shape[len(rest_a) :])
    left = TENSOR.reshape(TENSOR.permute(a, (*rest_a, *first)), (m, inner_size))
    right = TENSOR.reshape(TENSOR.permute(b, (*second, *rest_b)), (inner_size, n))
    return TENSOR.reshape(mm(left, right), tuple(shape))


@public
def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Any = None) -> Tensor:
    """Σ over the last ``dims`` dimensions of a and the first of b, or over pairs of dimensions."""
    if isinstance(dims, Tensor):
        dims = dims.tolist() if dims.numel() > 1 else int(dims.item())
    if isinstance(dims, (tuple, list)):
        first, second = dims[0], dims[1]
        first = [first] if isinstance(first, int) else list(first)
        second = [second] if isinstance(second, int) else list(second)
    else:
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.ndim, b.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        first, second = list(range(-dims, 0)), list(range(dims))
    if len(first) != len(second):
        raise RuntimeError("both dimension lists should have same length")
    if a.dtype is not b.dtype:
        raise RuntimeError("both inputs should have same dtype")
    if out is not None:
        return out_of(_contracted, out, a, b, first, second, name="tensordot")
    return _contracted(a, b, first, second)


@public
def kron(self: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The Kronecker product: every product of an element of each."""
    if out is not None:
        return out_of(kron, out, self, other, name="mul")
    need_tensor(other, "kron.other.2")
    rank = max(self.ndim, other.ndim)
    a = (1,) * (rank - self.ndim) + tuple(self.shape)
    b = (1,) * (rank - other.ndim) + tuple(other.shape)
    apart = [n for pair in zip(a, (1,) * rank, strict=True) for n in pair]
    between = [n for pair in zip((1,) * rank, b, strict=True) for n in pair]
    shape = tuple(m * n for m, n in zip(a, b, strict=True))
    product = TENSOR.unsafe_view(self, tuple(apart)) * TENSOR.unsafe_view(other, tuple(between))
    if type(product) is Tensor and not product.is_contiguous():
        TENSOR.view(product.detach(), shape)  # PyTorch's error
    return TENSOR.unsafe_view(product, shape)


@public
def linalg_matmul(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The product of tensors: vectors, matrices, and broadcast batches of matrices."""
    return matmul(input, other, out=out)
