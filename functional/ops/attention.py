"""Scaled dot-product attention as one operation."""

from __future__ import annotations

from typing import Any

from ..tape.batching import over_scalars, shifted
from ..tape.declare import general
from .arguments import broadcast_shapes


def _attention_vjp(
    F: Any, g: Any, need: Any, query: Any, key: Any, value: Any, scale: float,
    result1: Any,
) -> Any:  # fmt: skip
    """``result1``, the weights, is a result with a gradient of its own: second order needs it."""
    g_out, g_weights = g if type(g) is list else (g, None)
    weights, last = result1, len(query.shape) - 1
    g_value = None
    if g_out is not None:
        if need[2]:
            g_value = F.matmul(F.transpose(weights, last - 1, last), g_out)
        by_out = F.matmul(g_out, F.transpose(value, last - 1, last))
        g_weights = by_out if g_weights is None else g_weights + by_out
    g_scores = F.softmax_backward(g_weights, weights, last) * scale
    return (
        F.matmul(g_scores, key) if need[0] else None,
        F.matmul(F.transpose(g_scores, last - 1, last), query) if need[1] else None,
        g_value,
    )


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
safe_softmax = general(
    "safe_softmax",
    lambda F, g, result, dim: F.softmax_backward(g, result, dim),
    statics=("dim",),
    node="SafeSoftmaxBackward0",
    vmap=over_scalars(shifted(lambda F: F.safe_softmax, 0)),
    shape=lambda x, dim: (x.shape, x.dtype),
)
