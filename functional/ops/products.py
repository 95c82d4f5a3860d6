"""Products of tensors: tensordot, kron, cross products, chains of matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import dtypes
from ..tape.declare import general
from ..tape.op import TENSOR, public
from ..tape.slow import in_place, out_of, write_out
from ..tape.views import requires_grad
from ..tensor import Tensor
from . import views
from .arguments import broadcast_shapes, one_dim
from .linalg_parts import not_holomorphic
from .matmul import dot, matmul, mm

# --- vectors --------------------------------------------------------------------------------------


def _check_vdot(self: Tensor, other: Tensor) -> None:
    if self.ndim != 1 or other.ndim != 1:
        raise RuntimeError(
            f"1D tensors expected, but got {self.ndim}D and {other.ndim}D tensors"
        )
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
        raise NotImplementedError("\"dot\" not implemented for 'Bool'")


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
        return write_out(_inner(self.detach(), other.detach()), out)
    return _inner(self, other)


cross_ = general(
    "cross_of",
    lambda F, g, other, dim: F.cross_of(other, g, dim),
    lambda F, g, self, dim: F.cross_of(g, self, dim),
    inputs=("self", "other"),
    statics=("dim",),
    node="LinalgCrossBackward0",
    jvp="multilinear",
    shape=lambda x, y, dim: (np.broadcast_shapes(x.shape, y.shape), x.dtype),
)


def _cross(self: Tensor, other: Tensor, dim: int) -> Tensor:
    if self.ndim != other.ndim:
        raise RuntimeError(
            "linalg.cross: inputs must have the same number of dimensions."
        )
    at = one_dim(self, dim)
    if self.shape[at] != 3 or other.shape[at] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {self.shape[at]} and "
            f"{other.shape[at]}"
        )
    kind = dtypes.result_type([(self.dtype, self.ndim), (other.dtype, other.ndim)])
    if kind is dtypes.bool_:
        raise NotImplementedError("\"cross\" not implemented for 'Bool'")
    self, other = (t if t.dtype is kind else TENSOR.to_dtype(t, kind) for t in (self, other))
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
    kind = dtypes.result_type([(t.dtype, t.ndim) for t in (self, vec1, vec2)])
    if kind.category < dtypes.FLOAT and (isinstance(beta, float) or isinstance(alpha, float)):
        which = "beta" if isinstance(beta, float) else "alpha"
        raise RuntimeError(f"For integral input tensors, argument {which} must not be a "
                           "floating point number.")  # fmt: skip
    tensors = (t if t.dtype is kind else TENSOR.to_dtype(t, kind) for t in (self, vec1, vec2))
    return (*tensors, beta, alpha)


@public
def addr(
    self: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Tensor:
    """beta · self + alpha · vec1 ⊗ vec2."""
    args = _addr_arguments(self, vec1, vec2, beta, alpha)
    return addr_(*args) if out is None else out_of(addr_, out, *args, name="addr")


def _addr_twin(
    self: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1
) -> Tensor:
    """``addr`` in place."""
    return in_place(addr_.op, _addr_arguments(self, vec1, vec2, beta, alpha))


TENSOR.addr_ = _addr_twin


def _batch1_vjp(F: Any, g: Any, batch1_shape: Any, batch2: Any, alpha: Any) -> Any:
    wide = F.expand(F.unsqueeze(g, 0), (batch1_shape[0], batch1_shape[1], batch2.shape[2]))
    return _scaled(F.bmm(wide, F.transpose(batch2, 1, 2)), alpha)


def _batch2_vjp(F: Any, g: Any, batch1: Any, batch2_shape: Any, alpha: Any) -> Any:
    wide = F.expand(F.unsqueeze(g, 0), (batch2_shape[0], batch1.shape[1], batch2_shape[2]))
    return _scaled(F.bmm(F.transpose(batch1, 1, 2), wide), alpha)


addbmm_ = general(
    "addbmm_of",
    lambda F, g, beta: _scaled(g, beta),
    _batch1_vjp,
    _batch2_vjp,
    inputs=("self", "batch1", "batch2"),
    statics=("beta", "alpha"),
    node="AddbmmBackward0",
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
        raise RuntimeError(
            f"Incompatible matrix sizes for bmm ({a[1]}x{a[2]} and {b[1]}x{b[2]})"
        )
    if batch1.dtype is dtypes.bool_:
        raise NotImplementedError("\"addmm_impl_cpu_\" not implemented for 'Bool'")
    return self, batch1, batch2, beta, alpha


@public
def addbmm(
    self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Tensor:
    """beta · self + alpha · Σ batch1[i] @ batch2[i]."""
    args = _addbmm_arguments(self, batch1, batch2, beta, alpha)
    return addbmm_(*args) if out is None else out_of(addbmm_, out, *args, name="addbmm")


def _addbmm_twin(
    self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1
) -> Tensor:
    """``addbmm`` in place."""
    return in_place(addbmm_.op, _addbmm_arguments(self, batch1, batch2, beta, alpha))


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
    rank = max(self.ndim, other.ndim)
    a = (1,) * (rank - self.ndim) + tuple(self.shape)
    b = (1,) * (rank - other.ndim) + tuple(other.shape)
    apart = [n for pair in zip(a, (1,) * rank, strict=True) for n in pair]
    between = [n for pair in zip((1,) * rank, b, strict=True) for n in pair]
    shape = tuple(m * n for m, n in zip(a, b, strict=True))
    product = TENSOR.unsafe_view(self, tuple(apart)) * TENSOR.unsafe_view(other, tuple(between))
    if not product.is_contiguous():
        TENSOR.view(product.detach(), shape)  # PyTorch's error
    return TENSOR.unsafe_view(product, shape)


# --- chains of matrices ---------------------------------------------------------------------------


def _order(sizes: list[int]) -> list[list[int]]:
    """Where to split each chain i…j of matrices for the fewest multiplications."""
    n = len(sizes) - 1
    cost = [[0] * n for _ in range(n)]
    split = [[0] * n for _ in range(n)]
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            options = [
                (cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                for k in range(i, j)
            ]
            cost[i][j], split[i][j] = min(options)
    return split


def _chain(tensors: list[Tensor], split: list[list[int]], i: int, j: int) -> Tensor:
    if i == j:
        return tensors[i]
    k = split[i][j]
    return mm(_chain(tensors, split, i, k), _chain(tensors, split, k + 1, j))


def _check_chain(tensors: list[Tensor]) -> None:
    name, last = "multi_dot()", len(tensors) - 1
    if last < 1:
        raise RuntimeError(f"{name}: expected at least 2 tensors but got {last + 1}")
    for at, title in ((0, "first"), (last, "last")):
        if tensors[at].ndim not in (1, 2):
            raise RuntimeError(
                f"{name}: the {title} tensor must be 1D or 2D but got {tensors[at].ndim}D"
            )
    for i, t in enumerate(tensors[1:-1], 1):
        if t.ndim != 2:
            raise RuntimeError(f"{name}: tensor {i} must be 2D but got {t.ndim}D")
    for i, t in enumerate(tensors):
        if t.dtype is not tensors[0].dtype:
            raise RuntimeError(
                f"{name}: all tensors must have be the same dtype but tensor 0 is "
                f"{tensors[0].dtype.legacy} and tensor {i} {t.dtype.legacy}"
            )


def _multi_dot(tensors: Any) -> Tensor:
    tensors = list(tensors)
    _check_chain(tensors)
    first, last = tensors[0].ndim == 1, tensors[-1].ndim == 1
    shape = () if first else (tensors[0].shape[0],)
    shape += () if last else (tensors[-1].shape[1],)
    if first:
        tensors[0] = TENSOR.unsqueeze(tensors[0], 0)
    if last:
        tensors[-1] = TENSOR.unsqueeze(tensors[-1], -1)
    for i, (a, b) in enumerate(zip(tensors, tensors[1:], strict=False)):
        if a.shape[1] != b.shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {i} and {i + 1} with shapes {list(a.shape)} and "
                f"{list(b.shape)} cannot be multiplied"
            )
    if len(tensors) == 2:
        return TENSOR.view(mm(*tensors), shape)
    sizes = [t.shape[0] for t in tensors] + [tensors[-1].shape[1]]
    return TENSOR.view(_chain(tensors, _order(sizes), 0, len(tensors) - 1), shape)


@public
def linalg_multi_dot(tensors: Any, *, out: Any = None) -> Tensor:
    """The product of a chain of matrices, in the order that needs the fewest multiplications."""
    if out is not None:
        return out_of(_multi_dot, out, list(tensors), name="linalg_multi_dot")
    return _multi_dot(tensors)


@public
def chain_matmul(*matrices: Tensor, out: Any = None) -> Tensor:
    """The product of a chain of matrices."""
    for m in matrices:
        if m.ndim != 2:
            raise RuntimeError(f"Tensor dimension is {m.ndim}, expected 2 instead.")
    if len(matrices) == 1:
        return matrices[0]
    return linalg_multi_dot(matrices, out=out)


# --- blocks and bilinear forms --------------------------------------------------------------------


def _blocks_vjp(F: Any, g: Any, need: Any, shapes: Any) -> Any:
    grads, top, left = [], 0, 0
    for shape, wanted in zip(shapes, need, strict=True):
        m, n = (1, 1, *shape)[-2:]
        part = F.slice_(F.slice_(g, 0, top, top + m, 1), 1, left, left + n, 1)
        grads.append(F.reshape(part, shape) if wanted else None)
        top, left = top + m, left + n
    return grads


block_diag_ = general(
    "block_diag_of",
    inputs=("*tensors",),
    joint=_blocks_vjp,
    node="BlockDiagBackward0",
    shape=lambda arrays: (
        tuple(sum(size) for size in zip(*[((1, 1) + x.shape)[-2:] for x in arrays], strict=True)),
        np.result_type(*arrays),
    ),
)


@public
def block_diag(*tensors: Any) -> Tensor:
    """A matrix with the given matrices along its diagonal."""
    for i, t in enumerate(tensors):
        if t.ndim > 2:
            raise RuntimeError(
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input "
                f"{i} has {t.ndim} dimensions"
            )
    kind = dtypes.result_type([(t.dtype, 1) for t in tensors])
    return block_diag_([t if t.dtype is kind else TENSOR.to_dtype(t, kind) for t in tensors])


trilinear = general(
    "trilinear",
    lambda F, g, weight, input2: _bilinear_first(F, g, weight, input2),
    lambda F, g, input1, input2: _bilinear_weight(F, g, input1, input2),
    lambda F, g, input1, weight: _bilinear_second(F, g, input1, weight),
    inputs=("input1", "weight", "input2"),
    node="TrilinearBackward0",
    shape=lambda x, w, y: ((x.shape[0], w.shape[0]), x.dtype),
)


def _bilinear_first(F: Any, g: Any, w: Any, y: Any) -> Any:
    o, m, n = w.shape
    rows = F.matmul(y, F.transpose(F.reshape(w, (o * m, n)), 0, 1))
    rows = F.reshape(rows, (y.shape[0], o, m))
    return F.sum(F.unsqueeze(g, 2) * rows, (1,), False)


def _bilinear_second(F: Any, g: Any, x: Any, w: Any) -> Any:
    return _bilinear_first(F, g, F.transpose(w, 1, 2), x)


def _bilinear_weight(F: Any, g: Any, x: Any, y: Any) -> Any:
    b, o = g.shape
    pairs = F.reshape(F.unsqueeze(x, 2) * F.unsqueeze(y, 1), (b, x.shape[1] * y.shape[1]))
    return F.reshape(F.matmul(F.transpose(g, 0, 1), pairs), (o, x.shape[1], y.shape[1]))


@public
def bilinear(
    input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None
) -> Tensor:
    """input1ᵀ W_k input2 + bias_k; weight is (out, in1, in2)."""
    _check_bilinear(input1, input2, weight, bias)
    if input1.dtype.is_complex and any(map(requires_grad, (input1, input2, weight))):
        raise RuntimeError(
            "_trilinear does not support automatic differentiation for outputs with complex dtype."
        )
    if input1.dtype is dtypes.bool_:
        raise NotImplementedError("\"bmm\" not implemented for 'Bool'")
    lead = tuple(input1.shape[:-1])
    x = TENSOR.reshape(input1, (-1 if input1.numel() else 0, input1.shape[-1]))
    y = TENSOR.reshape(input2, (-1 if input2.numel() else 0, input2.shape[-1]))
    z = TENSOR.reshape(trilinear(x, weight, y), (*lead, weight.shape[0]))
    return z if bias is None else z + bias


def _check_bilinear(x: Tensor, y: Tensor, weight: Tensor, bias: Any) -> None:
    if x.ndim != y.ndim:
        raise RuntimeError(
            "bilinear(): input dimensions do not match: got "
            f"{x.ndim} and {y.ndim}"
        )
    for i, (m, n) in enumerate(zip(x.shape[:-1], y.shape[:-1], strict=True)):
        if m != n:
            raise RuntimeError(
                f"bilinear(): input batch dimensions do not match at dim {i}: got {m} and {n}"
            )
    for i, t in ((1, x), (2, y)):
        if t.shape[-1] != weight.shape[i]:
            raise RuntimeError(
                f"bilinear(): input{i} size does not match weight size: got {t.shape[-1]} but "
                f"expected {weight.shape[i]}"
            )
    if bias is not None and bias.shape[0] != weight.shape[0]:
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {bias.shape[0]} but expected "
            f"{weight.shape[0]}"
        )


@public
def linalg_matmul(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The product of tensors: vectors, matrices, and broadcast batches of matrices."""
    return matmul(input, other, out=out)

