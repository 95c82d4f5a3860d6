"""Transformers (Vaswani et al., 2017): stacks of layers, and the network of two stacks."""

from __future__ import annotations

import copy
import warnings
from typing import Any, ClassVar

from functional.attention import additive
from functional.dtypes import bool_
from functional.modes import is_grad_enabled
from functional.ops.create import filled
from functional.tape.op import TENSOR
from functional.tensor import Tensor

from .. import functional as F
from .. import init
from .container import ModuleList
from .module import Module
from .normalization import LayerNorm
from .transformer_layer import (
    Activation,
    TransformerDecoderLayer,
    TransformerEncoderLayer,
    with_padding,
)

__all__ = [
    "Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder",
    "TransformerEncoderLayer",
]  # fmt: skip


def _causal_mask(size: int, device: Any = None, dtype: Any = None) -> Tensor:
    return TENSOR.triu(filled(float("-inf"), (size, size), dtype, device, False), 1)


def _is_causal(mask: Tensor | None, known: bool | None, size: int) -> bool:
    """Whether a mask is the one that hides what comes later."""
    if known is not None or mask is None:
        return known is True
    later = _causal_mask(size, mask.device, mask.dtype if mask.dtype is not bool_ else None)
    if mask.dtype is bool_:
        later = TENSOR.ne(later, 0)
    return tuple(mask.shape) == tuple(later.shape) and bool(TENSOR.all(TENSOR.eq(mask, later)))


def _sequence_length(src: Tensor, batch_first: bool) -> int:
    return src.shape[0] if src.ndim == 2 or not batch_first else src.shape[1]


def _clones(module: Module, count: int) -> ModuleList:
    return ModuleList([copy.deepcopy(module) for _ in range(count)])


class TransformerEncoder(Module):
    """``num_layers`` copies of an encoder layer, and a final normalization if given."""

    __constants__: ClassVar = ["norm"]

    def __init__(
        self,
        encoder_layer: TransformerEncoderLayer,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = _clones(encoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check
        reason = _why_not_nested(encoder_layer)
        if enable_nested_tensor and reason:
            warnings.warn(
                "enable_nested_tensor is True, but self.use_nested_tensor is False because "
                f"{reason}",
                stacklevel=2,
            )
        self.use_nested_tensor = enable_nested_tensor and not reason

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """The encoded sequence; in boolean masks True means ignore.

        Without gradients, in evaluation, padding at the end of sequences is left out of the work
        in PyTorch and comes back as zeros; so it does here.
        """
        padding = with_padding(src_key_padding_mask, src.dtype, "src_key_padding_mask", mask)
        added = additive(mask, src.dtype, "mask")
        first = self.layers[0].self_attn
        causal = _is_causal(mask, is_causal, _sequence_length(src, first.batch_first))
        out = src
        for layer in self.layers:
            out = layer(out, src_mask=added, is_causal=causal, src_key_padding_mask=padding)
        if self._drops_padding(src, src_key_padding_mask):
            hidden = TENSOR.unsqueeze(src_key_padding_mask, -1)
            out = TENSOR.masked_fill(out, hidden, 0.0)
        return out if self.norm is None else self.norm(out)

    def _drops_padding(self, src: Tensor, padding: Any) -> bool:
        if padding is None or not self.use_nested_tensor or self.layers[0].training:
            return False
        if src.ndim != 3 or padding.dtype is not bool_:
            return False
        recorded = src.requires_grad or any(p.requires_grad for p in self.layers[0].parameters())
        if is_grad_enabled() and recorded:
            return False
        rows = padding.tolist()
        return not self.mask_check or all(row == sorted(row) for row in rows)


def _why_not_nested(layer: Any) -> str:
    """Why PyTorch would not leave out padding, in its words; empty if it would."""
    if not isinstance(layer, TransformerEncoderLayer):
        return "encoder_layer was not TransformerEncoderLayer"
    attention = layer.self_attn
    plain = layer.activation is F.relu or layer.activation is F.gelu
    plain = plain or type(layer.activation).__name__ in ("ReLU", "GELU")
    reasons = (
        (layer.norm_first, "encoder_layer.norm_first was True"),
        (
            not attention.batch_first,
            "encoder_layer.self_attn.batch_first was not True(use batch_first for better "
            "inference performance)",
        ),
        (
            not attention._qkv_same_embed_dim,
            "encoder_layer.self_attn._qkv_same_embed_dim was not True",
        ),
        (
            attention.in_proj_bias is None,
            "encoder_layer.self_attn was passed bias=False",
        ),
        (not plain, "encoder_layer.activation_relu_or_gelu was not True"),
        (
            layer.norm1.eps != layer.norm2.eps,
            "encoder_layer.norm1.eps was not equal to encoder_layer.norm2.eps",
        ),
        (attention.num_heads % 2 == 1, "encoder_layer.self_attn.num_heads is odd"),
    )
    return next((text for wrong, text in reasons if wrong), "")


class TransformerDecoder(Module):
    """``num_layers`` copies of a decoder layer, and a final normalization if given."""

    __constants__: ClassVar = ["norm"]

    def __init__(
        self, decoder_layer: TransformerDecoderLayer, num_layers: int, norm: Module | None = None
    ) -> None:
        super().__init__()
        self.layers = _clones(decoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """The decoded sequence; in boolean masks True means ignore."""
        first = self.layers[0].self_attn
        causal = _is_causal(tgt_mask, tgt_is_causal, _sequence_length(tgt, first.batch_first))
        out = tgt
        for layer in self.layers:
            out = layer(
                out, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=causal,
                memory_is_causal=memory_is_causal,
            )  # fmt: skip
        return out if self.norm is None else self.norm(out)


class Transformer(Module):
    """An encoder and a decoder; source (S, B, d_model) and target (T, B, d_model) to the latter."""

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Activation = F.relu,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        where = {"device": device, "dtype": dtype}
        super().__init__()
        options = (
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first,
            norm_first, bias,
        )  # fmt: skip

        def norm() -> LayerNorm:
            return LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **where)

        if custom_encoder is not None:
            self.encoder = custom_encoder
        else:
            layer = TransformerEncoderLayer(*options, **where)
            self.encoder = TransformerEncoder(layer, num_encoder_layers, norm())
        if custom_decoder is not None:
            self.decoder = custom_decoder
        else:
            other = TransformerDecoderLayer(*options, **where)
            self.decoder = TransformerDecoder(other, num_decoder_layers, norm())
        self._reset_parameters()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """The decoded target; in boolean masks True means ignore."""
        at = 0 if self.batch_first else 1
        if src.ndim == 3 and src.shape[at] != tgt.shape[at]:
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(
            src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal
        )
        out: Tensor = self.decoder(
            tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )  # fmt: skip
        return out

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """(sz, sz), -inf where a position would see a later one, else 0."""
        return _causal_mask(sz, device, dtype)

    def _reset_parameters(self) -> None:
        for p in self.parameters():
            if p.ndim > 1:
                init.xavier_uniform_(p)
