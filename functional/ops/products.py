"""Products of tensors: tensordot, kron, cross products, chains of matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import dtypes
from ..errors import not_implemented
from ..tape.declare import general
from ..tape.memory import check_result
from ..tape.op import TENSOR, public
from ..tape.out import need_out, out_of, write_out
from ..tape.slow import in_place
from ..tape.views import check_in_place, requires_grad
from ..tensor import Tensor
from . import views
from .arguments import broadcast_shapes, need_tensor, one_dim
from .dtype_checks import expect_type
from .linalg_parts import not_holomorphic
from .matmul import dot, matmul, mm
from .matmul_checks import same_summands
from .older_forms import with_factors

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
        found = [i for i, n in enumerate(self.shape) if n == 3]
        if not found:
            raise RuntimeError("no dimension of size 3 in input")
        dim = found[0]
    return linalg_cross(self, other, dim=dim, out=out)


# --- sums with products ---------------------------------------------------------------------------


def _scaled(x: Any, factor: Any) -> Any:
    return x if factor == 1 else x * factor


addr_ = general(
    "addr_of",
    lambda F, g, beta: _scaled(g, beta),
    lambda F, g, vec2, alpha: _scaled(F.mv(g, vec2), alpha),
    lambda F, g, vec1, alpha: _scaled(F.mv(F.t(g), vec1), alpha),
    inputs=("self", "vec1", "vec2"),
    statics=("beta", "alpha"),
    node="AddrBackward0",
    shape=lambda b, x, y, beta, alpha: ((x.shape[0], y.shape[0]), b.dtype),
)


def _addr_arguments(
    self: Tensor, vec1: Tensor, vec2: Tensor, beta: Any, alpha: Any
) -> tuple[Any, ...]:
    for name, v in (("vec1", vec1), ("vec2", vec2)):
        if v.ndim != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {name}, but got {v.ndim}-D")
    views.expand(self, (vec1.shape[0], vec2.shape[0]))  # PyTorch's error if it does not fit
    kind = dtypes.result_type([(t.dtype, 1) for t in (self, vec1, vec2)])
    if kind.category < dtypes.FLOAT and (isinstance(beta, float) or isinstance(alpha, float)):
        which = "beta" if isinstance(beta, float) else "alpha"
        raise RuntimeError(f"For integral input tensors, argument {which} must not be a "
                           "floating point number.")  # fmt: skip
    tensors = (t if t.dtype is kind else TENSOR.to_dtype(t, kind) for t in (self, vec1, vec2))
    return (*tensors, beta, alpha)


@public
def addr(
    self: Tensor,
    vec1: Tensor,
    vec2: Tensor,
    *old: Any,
    beta: Any = 1,
    alpha: Any = 1,
    out: Any = None,
) -> Tensor:
    """beta · self + alpha · vec1 ⊗ vec2."""
    if old:
        return with_factors(addr, ("vec1", "vec2"), (self, vec1, vec2, *old), out=out)
    args = _addr_arguments(self, vec1, vec2, beta, alpha)
    return addr_(*args) if out is None else out_of(addr_, out, *args, name="addr")


def _addr_twin(
    self: Tensor, vec1: Tensor, vec2: Tensor, *old: Any, beta: Any = 1, alpha: Any = 1
) -> Tensor:
    """``addr`` in place."""
    if old:
        return with_factors(_addr_twin, ("vec1", "vec2"), (self, vec1, vec2, *old))
    args = _addr_arguments(self, vec1, vec2, beta, alpha)
    if args[0] is self:
        return in_place(addr_.op, args)
    result = addr_(*args)
    check_result(result._data, self)
    return self.copy_(result)


_addr_twin.__name__ = "addr_"
TENSOR.addr_ = _addr_twin


def _batch1_vjp(F: Any, g: Any, batch1_shape: Any, batch2: Any, alpha: Any) -> Any:
    wide = F.expand(F.unsqueeze(g, 0), (batch1_shape[0], batch1_shape[1], batch2.shape[2]))
    return _scaled(F.bmm(wide, F.transpose(batch2, 1, 2)), alpha)


def _batch2_vjp(F: Any, g: Any, batch1: Any, batch2_shape: Any, alpha: Any) -> Any:
    wide = F.expand(F.unsqueeze(g, 0), (batch2_shape[0], batch1.shape[1], batch2_shape[2]))
    return _scaled(F.bmm(F.transpose(batch1, 1, 2), wide), alpha)


def _check_addbmm(self: Tensor, batch1: Tensor, batch2: Tensor, *rest: Any) -> None:
    if batch1.shape[0]:
        same_summands(self, batch1, batch2)
    if batch1.dtype is dtypes.bool_:
        raise not_implemented("addmm_impl_cpu_", dtypes.bool_)


addbmm_ = general(
    "addbmm_of",
    lambda F, g, beta: _scaled(g, beta),
    _batch1_vjp,
    _batch2_vjp,
    inputs=("self", "batch1", "batch2"),
    statics=("beta", "alpha"),
    node="AddbmmBackward0",
    check=_check_addbmm,
    strict=True,
    shape=lambda b, x, y, beta, alpha: ((x.shape[1], y.shape[2]), x.dtype),
)


def _addbmm_arguments(
    self: Tensor, batch1: Tensor, batch2: Tensor, beta: Any, alpha: Any
) -> tuple[Any, ...]:
    if batch1.ndim > 1 and batch2.ndim > 2:
        views.expand(self, (batch1.shape[1], batch2.shape[2]))
    for name, x in (("batch1", batch1), ("batch2", batch2)):
        if x.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    a, b = batch1.shape, batch2.shape
    if a[0] != b[0]:
        raise RuntimeError(
            f"batch1 and batch2 must have same number of batches, got {a[0]} and {b[0]}"
        )
    if a[2] != b[1]:
        raise RuntimeError(f"Incompatible matrix sizes for bmm ({a[1]}x{a[2]} and {b[1]}x{b[2]})")
    return self, batch1, batch2, beta, alpha


@public
def addbmm(
    self: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *old: Any,
    beta: Any = 1,
    alpha: Any = 1,
    out: Any = None,
) -> Tensor:
    """beta · self + alpha · Σ batch1[i] @ batch2[i]."""
    if old:
        return with_factors(addbmm, ("batch1", "batch2"), (self, batch1, batch2, *old), out=out)
    args = _addbmm_arguments(self, batch1, batch2, beta, alpha)
    if out is None:
        return addbmm_(*args)
    return out_of(addbmm_, out, *args, name="addbmm")


def _addbmm_twin(
    self: Tensor, batch1: Tensor, batch2: Tensor, *old: Any, beta: Any = 1, alpha: Any = 1
) -> Tensor:
    """``addbmm`` in place."""
    if old:
        return with_factors(_addbmm_twin, ("batch1", "batch2"), (self, batch1, batch2, *old))
    return in_place(addbmm_.op, _addbmm_arguments(self, batch1, batch2, beta, alpha))


_addbmm_twin.__name__ = "addbmm_"
TENSOR.addbmm_ = _addbmm_twin

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
