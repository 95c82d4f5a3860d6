"""Chains of matrices, blocks of matrices, and bilinear forms."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from .. import dtypes
from ..blame import warn_once
from ..dtypes import c_name
from ..errors import not_implemented
from ..tape.declare import general
from ..tape.op import TENSOR, public
from ..tape.out import out_of
from ..tape.views import requires_grad
from ..tensor import Tensor
from .arguments import check_tensors, wrong_type
from .matmul import mm

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
                f"{c_name(tensors[0].dtype)} and tensor {i} {c_name(t.dtype)}"
            )


def _multi_dot(tensors: Any) -> Tensor:
    if not isinstance(tensors, (list, tuple)):
        raise wrong_type("linalg_multi_dot.tensors.1", "tuple of Tensors", tensors)
    tensors = list(tensors)
    _check_chain(tensors)
    shown = [list(t.shape) for t in tensors]
    first, last = tensors[0].ndim == 1, tensors[-1].ndim == 1
    shape = () if first else (tensors[0].shape[0],)
    shape += () if last else (tensors[-1].shape[1],)
    if first:
        tensors[0] = TENSOR.unsqueeze(tensors[0], 0)
    if last:
        tensors[-1] = TENSOR.unsqueeze(tensors[-1], -1)
    for i, (a, b) in enumerate(pairwise(tensors)):
        if a.shape[1] != b.shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {i} and {i + 1} with shapes {shown[i]} and {shown[i + 1]} "
                "cannot be multiplied"
            )
    if len(tensors) == 2:
        return TENSOR.view(mm(*tensors), shape)
    sizes = [t.shape[0] for t in tensors] + [tensors[-1].shape[1]]
    return TENSOR.view(_chain(tensors, _order(sizes), 0, len(tensors) - 1), shape)


@public
def linalg_multi_dot(tensors: Any, *, out: Any = None) -> Tensor:
    """The product of a chain of matrices, in the order that needs the fewest multiplications."""
    if out is not None:
        return out_of(_multi_dot, out, tensors, name="linalg_multi_dot")
    return _multi_dot(tensors)


_DEPRECATED = (
    "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use "
    "torch.linalg.multi_dot instead, which accepts a list of two or more tensors rather than "
    "multiple parameters."
)


@public
def chain_matmul(*matrices: Tensor, out: Any = None) -> Tensor:
    """The product of a chain of matrices. Deprecated in favour of ``linalg.multi_dot``."""
    check_tensors(matrices)
    warn_once(_DEPRECATED)
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
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
        np.result_type(*(x.dtype for x in arrays)),
    ),
)


@public
def block_diag(*tensors: Any) -> Tensor:
    """A matrix with the given matrices along its diagonal."""
    if not tensors:
        return TENSOR.empty((1, 0))
    check_tensors(tensors)
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
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input1ᵀ W_k input2 + bias_k; weight is (out, in1, in2)."""
    _check_bilinear(input1, input2, weight, bias)
    if input1.dtype.is_complex and any(map(requires_grad, (input1, input2, weight))):
        raise RuntimeError(
            "_trilinear does not support automatic differentiation for outputs with complex dtype."
        )
    if input1.dtype is dtypes.bool_:
        raise not_implemented("bmm", dtypes.bool_)
    lead = tuple(input1.shape[:-1])
    x = TENSOR.reshape(input1, (-1 if input1.numel() else 0, input1.shape[-1]))
    y = TENSOR.reshape(input2, (-1 if input2.numel() else 0, input2.shape[-1]))
    z = TENSOR.reshape(trilinear(x, weight, y), (*lead, weight.shape[0]))
    return z if bias is None else z + bias


def _same_dtypes(**tensors: Any) -> None:
    kinds = {name: t.dtype for name, t in tensors.items() if t is not None}
    if len(set(kinds.values())) > 1:
        found = ", ".join(f"{name}: {c_name(d)}" for name, d in kinds.items())
        raise RuntimeError(f"All tensors must have the same dtype, got {found}")


def _check_bilinear(x: Tensor, y: Tensor, weight: Tensor, bias: Any) -> None:
    _same_dtypes(input1=x, input2=y, weight=weight, bias=bias)
    if x.ndim != y.ndim:
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {x.ndim} and {y.ndim}")
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
