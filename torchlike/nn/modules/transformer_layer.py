"""Single layers of a Transformer (Vaswani et al., 2017)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar

from functional.attention import additive
from functional.tensor import Tensor

from .. import functional as F
from .attention import MultiheadAttention
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .normalization import LayerNorm

Activation = Callable[[Tensor], Tensor]


def activation_of(given: str | Activation) -> Activation:
    if not isinstance(given, str):
        return given
    if given not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {given}")
    found: Activation = getattr(F, given)
    return found


def with_padding(mask: Any, dtype: Any, name: str, other: Any) -> Any:
    """A padding mask to add, as PyTorch makes it, with its warning about a mixture of types."""
    if mask is not None and other is not None and mask.dtype is not other.dtype:
        warnings.warn(
            "Support for mismatched src_key_padding_mask and mask is deprecated. Use same type "
            "for both instead."
            if name == "src_key_padding_mask"
            else f"Support for mismatched {name} is deprecated. Use same type for both instead.",
            stacklevel=4,
        )
    return additive(mask, dtype, name)


class _Layer(Module):
    """What both kinds of layers share: the feed-forward block."""

    __constants__: ClassVar = ["norm_first"]

    def _add_feed_forward(self, width: int, hidden: int, p: float, bias: bool, where: Any) -> None:
        self.linear1 = Linear(width, hidden, bias=bias, **where)
        self.dropout = Dropout(p)
        self.linear2 = Linear(hidden, width, bias=bias, **where)

    def _add_norms(self, count: int, width: int, eps: float, bias: bool, where: Any) -> None:
        for i in range(1, count + 1):
            setattr(self, f"norm{i}", LayerNorm(width, eps=eps, bias=bias, **where))

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if not hasattr(self, "activation"):
            self.activation = F.relu

    def _hidden(self, x: Tensor) -> Tensor:
        activated = self.activation(self.linear1(x))
        out: Tensor = self.linear2(self.dropout(activated))
        return out


class TransformerEncoderLayer(_Layer):
    """Self-attention and a feed-forward network, each with a residual and a LayerNorm.

    Input (S, B, d_model), batch first with ``batch_first``; ``norm_first`` normalizes before each
    block instead of after it.
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        where = {"device": device, "dtype": dtype}
        super().__init__()
        self.self_attn = MultiheadAttention(
            d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, **where
        )
        self._add_feed_forward(d_model, dim_feedforward, dropout, bias, where)
        self.norm_first = norm_first
        self._add_norms(2, d_model, layer_norm_eps, bias, where)
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)
        self.activation = activation_of(activation)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """The encoded sequence; in boolean masks True means ignore."""
        padding = with_padding(src_key_padding_mask, src.dtype, "src_key_padding_mask", src_mask)
        mask = additive(src_mask, src.dtype, "src_mask")
        x: Any = src
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), mask, padding, is_causal)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(x + self._sa_block(x, mask, padding, is_causal))
        return self.norm2(x + self._ff_block(x))

    def _sa_block(self, x: Tensor, mask: Any, padding: Any, is_causal: bool = False) -> Tensor:
        x = self.self_attn(
            x, x, x, attn_mask=mask, key_padding_mask=padding, need_weights=False,
            is_causal=is_causal,
        )[0]  # fmt: skip
        return self.dropout1(x)

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout2(self._hidden(x))


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to the encoder's output, and a feed-forward network."""

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        where = {"device": device, "dtype": dtype}
        super().__init__()
        for name in ("self_attn", "multihead_attn"):
            attention = MultiheadAttention(
                d_model, nhead, dropout=dropout, batch_first=batch_first, bias=bias, **where
            )
            setattr(self, name, attention)
        self._add_feed_forward(d_model, dim_feedforward, dropout, bias, where)
        self.norm_first = norm_first
        self._add_norms(3, d_model, layer_norm_eps, bias, where)
        self.dropout1, self.dropout2, self.dropout3 = (Dropout(dropout) for _ in range(3))
        self.activation = activation_of(activation)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """The decoded sequence; in boolean masks True means ignore."""
        own = (tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        other = (memory_mask, memory_key_padding_mask, memory_is_causal)
        x: Any = tgt
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), *own)
            x = x + self._mha_block(self.norm2(x), memory, *other)
            return x + self._ff_block(self.norm3(x))
        x = self.norm1(x + self._sa_block(x, *own))
        x = self.norm2(x + self._mha_block(x, memory, *other))
        return self.norm3(x + self._ff_block(x))

    def _sa_block(self, x: Tensor, mask: Any, padding: Any, is_causal: bool = False) -> Tensor:
        x = self.self_attn(
            x, x, x, attn_mask=mask, key_padding_mask=padding, is_causal=is_causal,
            need_weights=False,
        )[0]  # fmt: skip
        return self.dropout1(x)

    def _mha_block(
        self, x: Tensor, memory: Tensor, mask: Any, padding: Any, is_causal: bool = False
    ) -> Tensor:
        x = self.multihead_attn(
            x, memory, memory, attn_mask=mask, key_padding_mask=padding, is_causal=is_causal,
            need_weights=False,
        )[0]  # fmt: skip
        return self.dropout2(x)

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout3(self._hidden(x))
