"""Attention of several heads."""

from __future__ import annotations

from typing import Any, ClassVar

from functional.attention import additive, check_mask, multi_head_attention_forward
from functional.blame import warn
from functional.ops.create import empty
from functional.tape.op import TENSOR
from functional.tensor import Tensor

from .. import init
from ..parameter import Parameter
from .linear import NonDynamicallyQuantizableLinear
from .module import Module


class MultiheadAttention(Module):
    """Attention of ``num_heads`` heads over learned projections (Vaswani et al., 2017).

    Query (L, B, E), key (S, B, kdim) and value (S, B, vdim), batch first with ``batch_first``, to
    (L, B, E) and the weights. In masks True means ignore. Raises ValueError for sizes of 0 and
    AssertionError where the heads cannot share E evenly.
    """

    __constants__: ClassVar = ["batch_first"]
    bias_k: Any
    bias_v: Any

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                "embed_dim and num_heads must be greater than 0, got "
                f"embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == self.vdim == embed_dim
        self.batch_first, self.head_dim = batch_first, embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self._add_projections(bias, {"device": device, "dtype": dtype})
        for name in ("bias_k", "bias_v"):
            value = empty((1, 1, embed_dim), device=device, dtype=dtype) if add_bias_kv else None
            setattr(self, name, None if value is None else Parameter(value))
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _add_projections(self, bias: bool, where: dict[str, Any]) -> None:
        n = self.embed_dim
        separate = {"q_proj_weight": n, "k_proj_weight": self.kdim, "v_proj_weight": self.vdim}
        if self._qkv_same_embed_dim:
            self.in_proj_weight = Parameter(empty((3 * n, n), **where))
            for name in separate:
                self.register_parameter(name, None)
        else:
            for name, width in separate.items():
                setattr(self, name, Parameter(empty((n, width), **where)))
            self.register_parameter("in_proj_weight", None)
        if bias:
            self.in_proj_bias = Parameter(empty(3 * n, **where))
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj = NonDynamicallyQuantizableLinear(n, n, bias=bias, **where)

    def _reset_parameters(self) -> None:
        if self._qkv_same_embed_dim:
            init.xavier_uniform_(self.in_proj_weight)
        else:
            for weight in (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def __setstate__(self, state: dict[str, Any]) -> None:
        state.setdefault("_qkv_same_embed_dim", True)
        super().__setstate__(state)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """The attended values, and the weights (mean of the heads by default) or None."""
        for name, mask in (("key_padding_mask", key_padding_mask), ("attn_mask", attn_mask)):
            check_mask(mask, name)
        if (
            key_padding_mask is not None
            and attn_mask is not None
            and key_padding_mask.dtype is not attn_mask.dtype
        ):
            warn(
                "Support for mismatched key_padding_mask and attn_mask is deprecated. Use same "
                "type for both instead.",
            )
        swapped = self.batch_first and query.ndim == 3
        if swapped:
            one = query is key, key is value
            query = TENSOR.transpose(query, 1, 0)
            key = query if one[0] else TENSOR.transpose(key, 1, 0)
            value = key if one[1] else TENSOR.transpose(value, 1, 0)
        out, weights = multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads,
            self.in_proj_weight, self.in_proj_bias, self.bias_k, self.bias_v, self.add_zero_attn,
            self.dropout, self.out_proj.weight, self.out_proj.bias,
            training=self.training, key_padding_mask=key_padding_mask, need_weights=need_weights,
            attn_mask=attn_mask, use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight, k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight, average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )  # fmt: skip
        return (TENSOR.transpose(out, 1, 0) if swapped else out), weights

    def merge_masks(
        self, attn_mask: Tensor | None, key_padding_mask: Tensor | None, query: Tensor
    ) -> tuple[Tensor | None, int | None]:
        """Both masks as one (B, heads, L, S), and its kind: attention 0, padding 1, both 2."""
        if key_padding_mask is None:
            return attn_mask, None if attn_mask is None else 0
        batch, source = key_padding_mask.shape
        wide = TENSOR.view(key_padding_mask, (batch, 1, 1, source))
        wide = TENSOR.expand(wide, (-1, self.num_heads, -1, -1))
        if attn_mask is None:
            return key_padding_mask, 1
        mask = attn_mask
        if mask.ndim == 3:
            mask = TENSOR.view(mask, (batch, -1, source, source))
        else:
            mask = TENSOR.view(mask, (1, 1, source, source))
        added = additive(mask, query.dtype, "attn_mask")
        return TENSOR.add(added, wide), 2
