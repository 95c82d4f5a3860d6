"""Scaled dot-product attention as one operation."""

from __future__ import annotations

from typing import Any

from ..errors import not_implemented
from ..tape.batching import over_scalars, shifted
from ..tape.declare import general
from ..tape.op import TENSOR, public
from ..tensor import Tensor
from .arguments import broadcast_shapes


@public
def attention_backward(
    g: Any, g_weights: Any, query: Tensor, key: Tensor, value: Tensor, weights: Tensor, scale: float
) -> tuple[Tensor, Tensor, Any]:
    """Gradients of query, key and value from those of both results of ``attention``."""
    last, g_value = query.ndim - 1, None
    if g is not None:
        g_value = TENSOR.matmul(TENSOR.transpose(weights, last - 1, last), g)
        through = TENSOR.matmul(g, TENSOR.transpose(value, last - 1, last))
        g_weights = through if g_weights is None else g_weights + through
    scores = TENSOR.softmax_backward(g_weights, weights, last) * scale
    by_key = TENSOR.matmul(TENSOR.transpose(scores, last - 1, last), query)
    return TENSOR.matmul(scores, key), by_key, g_value


def _attention_vjp(
    F: Any, g: Any, need: Any, query: Any, key: Any, value: Any, scale: float,
    result1: Any,
) -> Any:  # fmt: skip
    """``result1``, the weights, is a result with a gradient of its own: second order needs it."""
    parts = g if type(g) is list else (g, None)
    found = F.attention_backward(*parts, query, key, value, result1, scale)
    return tuple(x if wanted else None for x, wanted in zip(found, need, strict=False))


def _attention_shape(query: Any, key: Any, value: Any, *rest: Any) -> Any:
    lead = query.shape[:-1]
    return [((*lead, value.shape[-1]), query.dtype), ((*lead, key.shape[-2]), query.dtype)]


def _check(query: Any, key: Any, value: Any, mask: Any, *rest: Any) -> None:
    if mask is not None:
        broadcast_shapes((*query.shape[:-1], key.shape[-2]), tuple(mask.shape))


attention = general(
    "attention",
    joint=_attention_vjp,
    inputs=("query", "key", "value", "mask"),
    constants=("mask",),
    statics=("scale", "is_causal"),
    node="ScaledDotProductFlashAttentionForCpuBackward0",
    shape=_attention_shape,
    check=_check,
)


def _check_real(x: Tensor, dim: int) -> None:
    if x.dtype.is_complex:
        kernel = "softmax_lastdim_kernel_impl"
        raise not_implemented(kernel, x.dtype)


safe_softmax = general(
    "safe_softmax",
    lambda F, g, result, dim: F.softmax_backward(g, result, dim),
    statics=("dim",),
    node="SafeSoftmaxBackward0",
    vmap=over_scalars(shifted(lambda F: F.safe_softmax, 0)),
    check=_check_real,
    shape=lambda x, dim: (x.shape, x.dtype),
)
