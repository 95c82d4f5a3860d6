"""Attention."""

from __future__ import annotations

from typing import Any

from .base import FLOATS, A, D, M, record
from .internal import internal


def sdpa(T: Any, q: Any, k: Any, v: Any, mask: Any = None, **kw: Any) -> Any:
    return T.nn.functional.scaled_dot_product_attention(q, k, v, mask, **kw)


QKV = (A(2, 2, 3, 4), A(2, 2, 5, 4), A(2, 2, 5, 4))
# PyTorch has no second derivative of its fused kernel
internal(
    "attention",
    lambda F, *a: F.attention(*a, 0.3, False),
    (*QKV, None),
    (*QKV, D(3, 5)),
    (*QKV, M(3, 5)),
    dtypes=FLOATS[:2],
)
internal(
    "attention.causal",
    lambda F, *a: F.attention(*a, None, 0.3, True),
    (A(1, 2, 4, 3, lay="p"), A(1, 2, 4, 3), A(1, 2, 4, 3, lay="s")),
    dtypes=FLOATS[:2],
    covers="attention",
)
internal(
    "safe_softmax",
    lambda F, *a: F.safe_softmax(a[0], 1),
    A(3, 4),
    covers="safe_softmax",
)
record(
    "scaled_dot_product_attention.composed",
    sdpa,
    (A(3, 4), A(5, 4), A(5, 4)),
    (A(2, 3, 4), A(2, 5, 4), A(2, 5, 3)),
    (A(2, 3, 4), A(2, 5, 4), A(2, 5, 3), A(3, 5)),
    dtypes=FLOATS[:2],
    bad=[(A(2, 3), A(4), A(4, 3)), (A(2, 3, 4), A(2, 5, 4), A(2, 5, 4), D(3, 3))],
)


def heads(T: Any, x: Any, w: Any, b: Any, out_w: Any, out_b: Any, **kw: Any) -> Any:
    forward = T.nn.functional.multi_head_attention_forward
    args = (x, x, x, 4, 2, w, b, None, None, False, 0.0, out_w, out_b)
    return [t for t in forward(*args, **kw) if t is not None]


WEIGHTS = (A(12, 4), A(12), A(4, 4), A(4))
record(
    "multi_head_attention_forward",
    heads,
    (A(3, 2, 4), *WEIGHTS),
    dtypes=FLOATS[:2],
)
