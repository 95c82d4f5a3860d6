"""Matrix products: primitives, and ``matmul`` and ``linear``, which decompose as PyTorch's do."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..tape.batching import aligned, shifted
from ..tape.declare import general
from ..tape.op import public
from ..tape.out import check_out, out_of
from ..tape.slow import size_mismatch
from ..tape.views import requires_grad
from ..tensor import Tensor
from . import views
from .arguments import need_tensor
from .cast import contiguous
from .matmul_checks import (
    check_addmm,
    check_addmv,
    check_baddbmm,
    check_bmm,
    check_dot,
    check_mm,
    check_mv,
)


def _mm_shape(x: Any, y: Any, *rest: Any) -> Any:
    return (*x.shape[:-1], y.shape[-1]), x.dtype


def _mv_batched(F: Any, flags: Any, x: Any, v: Any) -> Any:
    if not flags[0]:
        return F.mm(v, F.t(x))
    return F.matmul(x, v) if not flags[1] else F.squeeze(F.matmul(x, F.unsqueeze(v, -1)), -1)


def _dot_batched(F: Any, flags: Any, x: Any, y: Any) -> Any:
    if all(flags):
        return F.sum(x * y, 1)
    return F.mv(x, y) if flags[0] else F.mv(y, x)


def _add_product_batched(F: Any, flags: Any, b: Any, x: Any, y: Any, beta: Any, alpha: Any) -> Any:
    product = F.matmul(x, y) * alpha if alpha != 1 else F.matmul(x, y)
    if flags[0]:
        b = aligned(b, b.ndim - 1, product.ndim - (flags[1] or flags[2]))
    return product + (b * beta if beta != 1 else b)


def _second_gradient(F: Any, g: Any, first: Any, transposed: bool) -> Any:
    """firstᵀ @ g, laid out in memory as the second factor is."""
    return F.t(F.mm(F.t(g), first)) if transposed else F.mm(F.t(first), g)


mm_ = general(
    "mm_primitive",
    lambda F, g, mat2: F.mm(g, F.t(mat2)),
    lambda F, g, self, mat2_transposed: _second_gradient(F, g, self, mat2_transposed),
    vmap=lambda F, flags, x, y: F.matmul(x, y),
    inputs=("self", "mat2"),
    kernel="mm",
    node="MmBackward0",
    jvp="multilinear",
    check=check_mm,
    strict=True,
    shape=_mm_shape,
)
bmm_ = general(
    "bmm_primitive",
    lambda F, g, mat2: F.bmm(g, F.transpose(mat2, 1, 2)),
    lambda F, g, self: F.bmm(F.transpose(self, 1, 2), g),
    vmap=lambda F, flags, x, y: F.matmul(x, y),
    inputs=("self", "mat2"),
    kernel="bmm",
    node="BmmBackward0",
    jvp="multilinear",
    check=check_bmm,
    strict=True,
    shape=_mm_shape,
)
mv_ = general(
    "mv_primitive",
    lambda F, g, vec: F.mul(F.unsqueeze(g, 1), vec),
    lambda F, g, self: F.mv(F.t(self), g),
    vmap=_mv_batched,
    inputs=("self", "vec"),
    kernel="mv",
    node="MvBackward0",
    jvp="multilinear",
    check=check_mv,
    strict=True,
    shape=lambda x, v: (x.shape[:1], x.dtype),
)
dot_ = general(
    "dot_primitive",
    lambda F, g, tensor: g * tensor,
    lambda F, g, self: g * self,
    vmap=_dot_batched,
    inputs=("self", "tensor"),
    kernel="dot",
    node="DotBackward0",
    jvp="multilinear",
    check=check_dot,
    strict=True,
    shape=lambda x, y: ((), x.dtype),
)


def _times(g: Any, factor: Any) -> Any:
    return g if factor == 1 else g * factor


addmm_ = general(
    "addmm_primitive",
    lambda F, g, beta: _times(g, beta),
    lambda F, g, mat2, alpha: _times(F.mm(g, F.t(mat2)), alpha),
    lambda F, g, mat1, alpha, mat2_transposed: _times(
        _second_gradient(F, g, mat1, mat2_transposed), alpha
    ),
    vmap=_add_product_batched,
    inputs=("self", "mat1", "mat2"),
    statics=("beta", "alpha"),
    kernel="addmm",
    node="AddmmBackward0",
    check=check_addmm,
    strict=True,
    shape=lambda b, x, y, beta, alpha: _mm_shape(x, y),
)
baddbmm_ = general(
    "baddbmm_primitive",
    lambda F, g, beta: _times(g, beta),
    lambda F, g, batch2, alpha: _times(F.bmm(g, F.transpose(batch2, 1, 2)), alpha),
    lambda F, g, batch1, alpha: _times(F.bmm(F.transpose(batch1, 1, 2), g), alpha),
    vmap=_add_product_batched,
    inputs=("self", "batch1", "batch2"),
    statics=("beta", "alpha"),
    kernel="baddbmm",
    node="BaddbmmBackward0",
    check=check_baddbmm,
    strict=True,
    shape=lambda b, x, y, beta, alpha: _mm_shape(x, y),
)
addmv_ = general(
    "addmv_primitive",
    lambda F, g, beta: _times(g, beta),
    lambda F, g, vec, alpha: _times(F.mul(F.unsqueeze(g, 1), vec), alpha),
    lambda F, g, mat, alpha: _times(F.mv(F.t(mat), g), alpha),
    inputs=("self", "mat", "vec"),
    statics=("beta", "alpha"),
    kernel="addmv",
    node="AddmvBackward0",
    check=check_addmv,
    strict=True,
    shape=lambda b, x, v, beta, alpha: (x.shape[:1], x.dtype),
)

# of a product nobody else sees: no view, although its memory is the product's
squeeze_product = general(
    "squeeze_product",
    lambda F, g, self_shape: F.reshape(g, self_shape),
    statics=("dims",),
    kernel="squeeze",
    node="SqueezeBackward4",
    jvp="linear",
    vmap=shifted(lambda F: F.squeeze_product, 0),
    shape=lambda x, dims: (
        tuple(n for i, n in enumerate(x.shape) if i not in dims),
        x.dtype,
        tuple(n for i, n in enumerate(x.strides) if i not in dims),
    ),
)

# --- public forms ---------------------------------------------------------------------------------


def _with_out(closure: Any, name: str, doc: str) -> Any:
    """The closure with ``out=``."""

    def function(self: Tensor, other: Tensor, /, *, out: Any = None) -> Tensor:
        return closure(self, other) if out is None else out_of(closure, out, self, other, name=name)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    closure.op.public = function
    return public(function)


mm = _with_out(mm_, "mm", "The product of two matrices.")
bmm = _with_out(bmm_, "bmm", "The products of two batches of matrices.")
mv = _with_out(mv_, "mv", "The product of a matrix and a vector.")
dot = _with_out(dot_, "dot", "The inner product of two vectors, without conjugation.")


@public
def outer(self: Tensor, vec2: Tensor, *, out: Any = None) -> Tensor:
    """The outer product of two vectors."""
    if out is not None:
        return out_of(outer, out, self, vec2, name="mul")
    for name, x in (("self", self), ("vec2", vec2)):
        if x.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {x.ndim}-D")
    return views.reshape(self, (-1, 1)) * vec2


# --- composites -----------------------------------------------------------------------------------


@public
def matmul(self: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The product of tensors: vectors, matrices, and broadcast batches of matrices."""
    if out is not None:
        need_tensor(other, "matmul.other.2")
        check_out("matmul", (self, other), out)
        kind = "matmul" if other.ndim != 1 else "dot" if self.ndim == 1 else "mv"
        return out_of(_matmul, out, self, other, name=kind)
    return _matmul(self, other)


def _matmul(self: Tensor, other: Tensor) -> Tensor:
    if not isinstance(other, Tensor):
        raise TypeError(
            f"matmul(): argument 'other' (position 2) must be Tensor, not {type(other).__name__}"
        )
    n, m = self.ndim, other.ndim
    if n == 2 and m == 2:
        return mm_(self, other)
    if n == 0 or m == 0:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {n}D and {m}D"
        )
    if n == 1 and m == 1:
        return dot(self, other)
    if n == 2 and m == 1:
        return mv(self, other)
    if n == 1 and m == 2:
        return squeeze_product(mm_(views.unsqueeze(self, 0), other), (0,))
    return _folded(self, other) if _folds(self, other) else _batched(self, other)


def _folds(a: Tensor, b: Tensor) -> bool:
    """Whether the batch of the larger operand joins its rows, so that one matrix product does.

    It does where that needs no copy, and where the smaller operand needs a gradient: the backward
    of a batched product would hold one for every element of the batch.
    """
    big, small = (a, b) if a.ndim >= b.ndim else (b, a)
    if big.ndim < 3 or small.ndim > 2:
        return False
    if requires_grad(small):
        return True
    if a.ndim == 2:
        return False
    rows = big if big is a else views.transpose(big, -2, -1)
    if not rows.numel():
        return True
    shape, strides = rows.shape, rows.stride()
    return all(strides[i] == strides[i + 1] * shape[i + 1] for i in range(rows.ndim - 2))


def _folded(a: Tensor, b: Tensor) -> Tensor:
    """The product as one matrix product (or matrix times vector)."""
    flipped = b.ndim > a.ndim
    big = views.transpose(b, -2, -1) if flipped else a
    small = b if not flipped else views.t_(a) if a.ndim == 2 else a
    lead = tuple(big.shape[:-1])
    rows = views.reshape(big, (math.prod(lead), big.shape[-1]))
    if small.ndim == 1:
        return views.unsafe_view(mv(rows, small), lead)
    product = views.unsafe_view(mm(rows, small), (*lead, small.shape[1]))
    return contiguous(views.transpose(product, -2, -1)) if flipped else product


def _batched(self: Tensor, other: Tensor) -> Tensor:
    """Batches of matrices, broadcast; a vector is a batch of one row or one column."""
    own, others = tuple(self.shape), tuple(other.shape)
    n, m = len(own), len(others)
    if n == m == 3 and own[0] != others[0]:
        if own[0] == 1 and requires_grad(self):
            return _matmul(views.squeeze(self, 0), other)
        if others[0] == 1 and requires_grad(other):
            return _matmul(self, views.squeeze(other, 0))
    batch = own[:-2] if own[:-2] == others[:-2] else broadcast_batch(own[:-2], others[:-2])
    rows = (own[-2] if n > 1 else 1, own[-1])
    left = _spread(self, batch, rows)
    if m == 1:
        vectors = _spread(other, batch, others)
        product = views.squeeze(bmm_(left, views.unsqueeze(vectors, 2)), -1)
        return views.unsafe_view(product, (*batch, rows[0]))
    right = _spread(other, batch, others[-2:])
    lead = batch if n == 1 else (*batch, rows[0])
    return views.unsafe_view(bmm_(left, right), (*lead, others[-1]))


def _spread(t: Tensor, batch: tuple[int, ...], each: tuple[int, ...]) -> Tensor:
    """``t``, or its last dimensions for every element of the batch, as one batch of ``each``."""
    return views.reshape(views.expand_to(t, (*batch, *each)), (math.prod(batch), *each))


def broadcast_batch(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(a, b)
    except ValueError:
        raise size_mismatch(a, b) from None


def _refuse_linear(input: Any, weight: Any, bias: Any) -> None:
    """PyTorch's errors for what is no tensor, or has no dimensions."""
    need_tensor(input, "linear.input.1")
    need_tensor(weight, "linear.weight.2")
    if bias is not None:
        need_tensor(bias, "linear.bias.3")
    if not (input.ndim and weight.ndim):
        raise RuntimeError(
            f"both arguments to linear need to be at least 1D, but they are {input.ndim}D and "
            f"{weight.ndim}D"
        )


@public
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input @ weightᵀ + bias; weight is (out_features, in_features)."""
    try:
        n = input.ndim
        if n == 2 and bias is not None:
            return addmm_(bias, input, views.t_(weight), 1, 1)
        if bias is None or not input.is_contiguous():
            product = matmul(input, views.t_(weight) if weight.ndim == 2 else weight)
            return product if bias is None else product + bias
        *lead, last = input.shape
        flat = views.view_as_shape(input, (math.prod(lead), last))
        out = addmm_(bias, flat, views.t_(weight), 1, 1)
        return views.view_as_shape(out, (*lead, weight.shape[0]))
    except (AttributeError, RuntimeError):
        _refuse_linear(input, weight, bias)
        raise
