"""Attention as functions: scaled dot products, and several heads over projected inputs."""

from __future__ import annotations

import math
from typing import Any

from . import dtypes
from .dtypes import c_name
from .nn import dropout as drop
from .ops.attention import attention, safe_softmax
from .ops.matmul import linear
from .ops.pointwise import mul_number
from .tape.op import TENSOR, public
from .tape.views import requires_grad
from .tensor import Tensor

# --- scaled dot products --------------------------------------------------------------------------


def _check_attention(q: Tensor, k: Tensor, v: Tensor, mask: Any, p: float) -> None:
    if not q.dtype is k.dtype is v.dtype:
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{c_name(q.dtype)} key.dtype: {c_name(k.dtype)} and value.dtype: {c_name(v.dtype)} "
            "instead."
        )
    if min(q.ndim, k.ndim, v.ndim) < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
            f"{q.ndim} key.dim: {k.ndim} and value.dim: {v.ndim} instead."
        )
    if mask is not None and mask.dtype not in (dtypes.bool_, dtypes.float32, q.dtype):
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
            f"attn_mask.dtype: {c_name(mask.dtype)} and  query.dtype: {c_name(q.dtype)} instead."
        )
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p}")


def _fits_one_operation(q: Tensor, k: Tensor, v: Tensor, mask: Any, p: float) -> bool:
    """Whether PyTorch would use its fused CPU kernel."""
    if p or not q.ndim == k.ndim == v.ndim == 4 or not q.dtype.is_floating_point:
        return False
    if mask is not None and (requires_grad(mask) or mask.ndim not in (2, 4)):
        return False
    by_query, by_key = tuple(q.shape), tuple(k.shape)
    if by_key != tuple(v.shape) or 0 in by_query or 0 in by_key:
        return False
    return by_query[:2] == by_key[:2] and by_query[3] == by_key[3]


@public
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """softmax(query keyᵀ scale + mask) value, with ``scale`` 1 / sqrt(E) by default.

    query (..., L, E), key (..., S, E), value (..., S, V) to (..., L, V). A boolean mask says who
    takes part; rows that see nothing give 0.
    """
    _check_attention(query, key, value, attn_mask, dropout_p)
    if enable_gqa:
        times = query.shape[-3] // key.shape[-3]
        key = TENSOR.repeat_interleave(key, times, -3)
        value = TENSOR.repeat_interleave(value, query.shape[-3] // value.shape[-3], -3)
    factor = 1 / math.sqrt(query.shape[-1] or 1) if scale is None else float(scale)
    if _fits_one_operation(query, key, value, attn_mask, dropout_p):
        out: Tensor = attention(query, key, value, attn_mask, factor, bool(is_causal))[0]
        return out
    return _composed(query, key, value, attn_mask, dropout_p, is_causal, factor)


def _composed(
    q: Tensor, k: Tensor, v: Tensor, mask: Any, p: float, causal: bool, scale: float
) -> Tensor:
    """Step by step, as PyTorch does what its fused kernel cannot."""
    if q.dtype.array in dtypes.HALF:  # PyTorch rounds the result only
        q, k, v, kind = *(TENSOR.to_dtype(x, dtypes.float32) for x in (q, k, v)), q.dtype
        out: Tensor = TENSOR.to_dtype(_composed(q, k, v, mask, p, causal, scale), kind)
        return out
    if causal:
        if mask is not None:
            raise RuntimeError(
                "_scaled_dot_product_attention: Explicit attn_mask should not be set when "
                "is_causal=True"
            )
        square = TENSOR.ones((q.shape[-2], k.shape[-2]), dtype=dtypes.bool_, device=q.device)
        mask = TENSOR.tril(square)
    if mask is not None and mask.dtype is dtypes.bool_:
        added = TENSOR.zeros_like(mask, dtype=q.dtype)
        mask = TENSOR.masked_fill(added, TENSOR.logical_not(mask), float("-inf"))
    root = math.sqrt(abs(scale))
    scaled = mul_number(q, root if scale >= 0 else -root)
    scores: Any = TENSOR.matmul(scaled, mul_number(TENSOR.transpose(k, -2, -1), root))
    if mask is not None:
        scores = TENSOR.add(scores, mask)
    weights = safe_softmax(scores, scores.ndim - 1)
    return TENSOR.matmul(drop(weights, p, True) if p else weights, v)


# --- several heads --------------------------------------------------------------------------------


def _parts(projected: Tensor, count: int, width: int) -> Any:
    """(L, B, count * width) as ``count`` contiguous tensors (L, B, width)."""
    x = TENSOR.unsqueeze(TENSOR.unflatten(projected, -1, (count, width)), 0)
    return TENSOR.contiguous(TENSOR.squeeze(TENSOR.transpose(x, 0, -2), -2))


def _projected(q: Tensor, k: Tensor, v: Tensor, weight: Any, bias: Any) -> tuple[Any, Any, Any]:
    """Query, key and value times three weights, or the three parts of one."""
    width = q.shape[-1]
    if isinstance(weight, tuple):
        biases = (None,) * 3 if bias is None else TENSOR.chunk(bias, 3)
        return tuple(linear(x, w, b) for x, w, b in zip((q, k, v), weight, biases, strict=True))
    if k is v and q is k:
        x = _parts(linear(q, weight, bias), 3, width)
        return x[0], x[1], x[2]
    if k is v:
        w_q, w_kv = TENSOR.split(weight, [width, 2 * width])
        b_q, b_kv = (None, None) if bias is None else TENSOR.split(bias, [width, 2 * width])
        query, x = linear(q, w_q, b_q), _parts(linear(k, w_kv, b_kv), 2, width)
        return query, x[0], x[1]
    weights = TENSOR.chunk(weight, 3)
    biases = (None,) * 3 if bias is None else TENSOR.chunk(bias, 3)
    return tuple(linear(x, w, b) for x, w, b in zip((q, k, v), weights, biases, strict=True))


def check_mask(mask: Any, name: str) -> None:
    """Masks are truths, or numbers to add."""
    if mask is not None and dtypes.bool_ is not mask.dtype and mask.dtype.category < dtypes.FLOAT:
        raise AssertionError(f"only bool and floating types of {name} are supported")


def additive(mask: Any, dtype: Any, name: str) -> Any:
    """A mask of truths (True: ignore) as one to add; others as they are."""
    check_mask(mask, name)
    if mask is None or mask.dtype is not dtypes.bool_:
        return mask
    return TENSOR.masked_fill(TENSOR.zeros_like(mask, dtype=dtype), mask, float("-inf"))


def _check_heads(q: Tensor, k: Tensor, v: Tensor, padding: Any, mask: Any, heads: int) -> bool:
    """PyTorch's errors about ranks; whether there is a batch dimension."""
    if q.ndim not in (2, 3):
        raise AssertionError(
            "query should be unbatched 2D or batched 3D tensor but received "
            f"{q.ndim}-D query tensor"
        )
    rank, kind = q.ndim, "batched (3-D)" if q.ndim == 3 else "unbatched (2-D)"
    if k.ndim != rank or v.ndim != rank:
        raise AssertionError(
            f"For {kind} `query`, expected `key` and `value` to be {rank}-D but found {k.ndim}-D "
            f"and {v.ndim}-D tensors respectively"
        )
    if padding is not None and padding.ndim != rank - 1:
        raise AssertionError(
            f"For {kind} `query`, expected `key_padding_mask` to be `None` or {rank - 1}-D but "
            f"found {padding.ndim}-D tensor instead"
        )
    if mask is not None and mask.ndim not in (2, 3):
        raise AssertionError(
            f"For {kind} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found "
            f"{mask.ndim}-D tensor instead"
        )
    if rank == 2 and mask is not None and mask.ndim == 3:
        expected = (heads, q.shape[0], k.shape[0])
        if tuple(mask.shape) != expected:
            raise AssertionError(
                f"Expected `attn_mask` shape to be {expected} but got {mask.shape}"
            )
    return rank == 3


def _full_mask(mask: Any, shape: tuple[int, int, int, int]) -> Any:
    """An attention mask (L, S) or (B * heads, L, S) with three dimensions."""
    if mask is None:
        return None
    batch, heads, length, source = shape
    expected = (length, source) if mask.ndim == 2 else (batch * heads, length, source)
    if tuple(mask.shape) != expected:
        rank = mask.ndim
        raise RuntimeError(
            f"The shape of the {rank}D attn_mask is {mask.shape}, but should be {expected}."
        )
    return TENSOR.unsqueeze(mask, 0) if mask.ndim == 2 else mask


def _longer(mask: Any) -> Any:
    """A mask for one more key, which everyone sees."""
    if mask is None:
        return None
    more = TENSOR.zeros((*mask.shape[:-1], 1), dtype=mask.dtype, device=mask.device)
    return TENSOR.cat([mask, more], -1)


def _merged(mask: Any, padding: Any, batch: int, heads: int, source: int) -> Any:
    """Both masks as one (B * heads, L or 1, S)."""
    if padding is None:
        return mask
    for at, wanted in enumerate((batch, source)):
        if padding.shape[at] != wanted:
            raise AssertionError(
                f"Expected key_padded_mask.shape[{at}] to be {wanted}, but got {padding.shape[at]}"
            )
    wide = TENSOR.expand(TENSOR.view(padding, (batch, 1, 1, source)), (-1, heads, -1, -1))
    wide = TENSOR.reshape(wide, (batch * heads, 1, source))
    return wide if mask is None else TENSOR.add(mask, wide)


@public
def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Any,
    in_proj_bias: Any,
    bias_k: Any,
    bias_v: Any,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Any,
    training: bool = True,
    key_padding_mask: Any = None,
    need_weights: bool = True,
    attn_mask: Any = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Any = None,
    k_proj_weight: Any = None,
    v_proj_weight: Any = None,
    static_k: Any = None,
    static_v: Any = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Attention of ``num_heads`` heads: query (L, B, E) and key, value (S, B, E) to (L, B, E).

    Also the weights, (B, L, S) or per head (B, heads, L, S), or None. In masks True means ignore.
    """
    batched = _check_heads(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        query, key, value = (TENSOR.unsqueeze(x, 1) for x in (query, key, value))
        if key_padding_mask is not None:
            key_padding_mask = TENSOR.unsqueeze(key_padding_mask, 0)
    length, batch, width = query.shape
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module "
            "method `generate_square_subsequent_mask` to create this mask."
        )
    padding = additive(key_padding_mask, query.dtype, "key_padding_mask")
    if is_causal and padding is None and not need_weights:
        mask = None
    else:
        mask, is_causal = additive(attn_mask, query.dtype, "attn_mask"), False
    _check_width(width, embed_dim_to_check, num_heads, key, value, use_separate_proj_weight)
    weights = in_proj_weight
    if use_separate_proj_weight:
        weights = (q_proj_weight, k_proj_weight, v_proj_weight)
    q, k, v = _projected(query, key, value, weights, in_proj_bias)
    mask = _full_mask(mask, (batch, num_heads, length, k.shape[0]))
    if bias_k is not None and bias_v is not None:
        k = TENSOR.cat([k, TENSOR.repeat(bias_k, (1, batch, 1))])
        v = TENSOR.cat([v, TENSOR.repeat(bias_v, (1, batch, 1))])
        mask, padding = _longer(mask), _longer(padding)
    rows, own = batch * num_heads, width // num_heads
    q = _heads(q, rows, own)
    k = _heads(k, rows, own) if static_k is None else static_k
    v = _heads(v, rows, own) if static_v is None else static_v
    if add_zero_attn:
        zeros = TENSOR.zeros((rows, 1, k.shape[2]), dtype=k.dtype, device=k.device)
        k, v = TENSOR.cat([k, zeros], 1), TENSOR.cat([v, zeros], 1)
        mask, padding = _longer(mask), _longer(padding)
    mask = _merged(mask, padding, batch, num_heads, k.shape[1])
    attend = _with_weights if need_weights else _without_weights
    out, seen = attend(q, k, v, mask, dropout_p if training else 0.0, is_causal, num_heads)
    out = linear(out, out_proj_weight, out_proj_bias)
    return _unrolled(out, seen, (length, batch), average_attn_weights, batched)


def _unrolled(
    out: Tensor, seen: Any, shape: tuple[int, int], average: bool, batched: bool
) -> tuple[Tensor, Tensor | None]:
    """Outputs (L * B, E) as (L, B, E), and the weights, without a batch that was added."""
    out = TENSOR.view(out, (*shape, out.shape[1]))
    if seen is not None and average:
        seen = TENSOR.mean(seen, 1)
    if batched:
        return out, seen
    return TENSOR.squeeze(out, 1), None if seen is None else TENSOR.squeeze(seen, 0)


def _check_width(
    width: int, expected: int, heads: int, k: Tensor, v: Tensor, separate: bool
) -> None:
    if width != expected:
        raise AssertionError(f"was expecting embedding dimension of {expected}, but got {width}")
    if width % heads:
        raise AssertionError(f"embed_dim {width} not divisible by num_heads {heads}")
    if separate and k.shape[:2] != v.shape[:2]:
        raise AssertionError(
            f"key's sequence and batch dims {k.shape[:2]} do not match value's {v.shape[:2]}"
        )
    if not separate and k.shape != v.shape:
        raise AssertionError(f"key shape {k.shape} does not match value shape {v.shape}")


def _heads(x: Tensor, rows: int, width: int) -> Tensor:
    """(S, B, E) as (B * heads, S, width)."""
    return TENSOR.transpose(TENSOR.view(x, (x.shape[0], rows, width)), 0, 1)


def _with_weights(
    q: Any, k: Any, v: Any, mask: Any, p: float, causal: bool, heads: int
) -> tuple[Tensor, Tensor]:
    rows, length, width = q.shape
    q = q * math.sqrt(1.0 / width)
    if mask is not None:
        scores = TENSOR.baddbmm(mask, q, TENSOR.transpose(k, -2, -1))
    else:
        scores = TENSOR.bmm(q, TENSOR.transpose(k, -2, -1))
    weights = TENSOR.softmax(scores, -1)
    if p > 0:
        weights = drop(weights, p, True)
    out = TENSOR.transpose(TENSOR.bmm(weights, v), 0, 1)
    batch = rows // heads
    seen = TENSOR.view(weights, (batch, heads, length, k.shape[1]))
    return TENSOR.reshape(out, (length * batch, heads * width)), seen


def _without_weights(
    q: Any, k: Any, v: Any, mask: Any, p: float, causal: bool, heads: int
) -> tuple[Tensor, None]:
    rows, length, width = q.shape
    batch, source = rows // heads, k.shape[1]
    if mask is not None:
        if mask.shape[0] == 1 and mask.ndim == 3:
            mask = TENSOR.unsqueeze(mask, 0)
        else:
            mask = TENSOR.view(mask, (batch, heads, -1, source))
    q, k, v = (TENSOR.view(x, (batch, heads, x.shape[1], width)) for x in (q, k, v))
    out = scaled_dot_product_attention(q, k, v, mask, p, causal)
    out = TENSOR.contiguous(TENSOR.permute(out, (2, 0, 1, 3)))
    return TENSOR.view(out, (batch * length, heads * width)), None
