"""Norms and distances of rows: normalize, cosine_similarity, pairwise_distance."""

from __future__ import annotations

from typing import Any

from . import dtypes
from .kernels.products import cosine
from .modes import no_grad
from .ops import norms, pointwise
from .ops.arguments import common_shape, unrecorded
from .tape.batching import shifted
from .tape.declare import general
from .tape.op import TENSOR, public
from .tape.wrappers import Wrapped
from .tensor import Tensor, wrap


def normalize(
    input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12, out: Tensor | None = None
) -> Tensor:
    """``input`` over its p-norm along ``dim``, which counts as ``eps`` at least."""
    size = TENSOR.clamp_min(TENSOR.linalg_vector_norm(input, p, dim, True), eps)
    size = size.expand(input.shape)
    return pointwise.div(input, size) if out is None else pointwise.div(input, size, out=out)


def _alike(x1: Tensor, x2: Tensor) -> tuple[Tensor, Tensor]:
    """Both tensors in one floating dtype and shape."""
    found = dtypes.promote_types(x1.dtype, x2.dtype)
    if not found.is_floating_point:
        raise RuntimeError(
            f"expected common dtype to be floating point, yet common dtype is {found.legacy}"
        )
    shape = common_shape(x1, x2)
    first, second = (t if t.dtype is found else t.to(found) for t in (x1, x2))
    if tuple(x1.shape) == tuple(x2.shape):
        return first, second
    return first.expand(shape), second.expand(shape)


def at_least(copy: Tensor, eps: float) -> Tensor:
    """A fresh copy of a tensor, limited in its value but not in its derivative."""
    if isinstance(copy, Wrapped):
        fixed = copy.detach()
        return copy + (TENSOR.clamp_min(fixed, eps) - fixed)
    with no_grad():
        TENSOR.clamp_min_(copy, eps)
    return copy


@public
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-08) -> Tensor:
    """Σ x1 x2 / (|x1| |x2|) along ``dim``; each norm counts as ``eps`` at least."""
    both = _alike(x1, x2)
    if type(dim) is int and -both[0].ndim <= dim < both[0].ndim and unrecorded(*both):
        return wrap(cosine(both[0]._data, both[1]._data, dim, eps))
    sizes = [at_least(TENSOR.clone(TENSOR.linalg_vector_norm(x, 2, dim, True)), eps) for x in both]
    return TENSOR.sum((both[0] / sizes[0]) * (both[1] / sizes[1]), dim)


norm_of_rows = general(
    "norm_of_rows",
    norms.vector_norm_dims.op.rules[0],
    statics=("p", "dim", "keepdim", "dtype"),
    kernel="vector_norm_dims",
    node="NormBackward1",
    vmap=shifted(lambda F: F.norm_of_rows, 1),
    shape=norms.vector_norm_dims.op.shape,
)


@public
def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """The p-norm of x1 - x2 + eps along the last dimension."""
    inner = max(x1.ndim, x2.ndim) - 1
    return norm_of_rows(pointwise.add_number(x1 - x2, eps), float(p), (inner,), keepdim, None)
