"""``embedding`` and ``embedding_bag`` whose gradients are sparse: the rows that were used."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tape.op import TENSOR, public
from ..tape.sparse import declare
from ..tensor import Tensor, wrap
from .embedding import embedding_bag_of, embedding_rows
from .sparse import coo_of


@public
def embedding_sparse_backward(
    g: Tensor, indices: Tensor, rows: int, padding_idx: int, scale_grad_by_freq: bool
) -> Any:
    """The gradient of a table (rows, D): the rows of ``g`` in the places ``indices``."""
    if scale_grad_by_freq:
        raise RuntimeError(
            "embedding_backward: scale_grad_by_freq not supported with sparse gradients"
        )
    width = g.shape[-1]
    at = indices._data.reshape(1, -1).astype(np.int64)
    if not width:
        at = at[:, :0]
    held = TENSOR.reshape(g, (at.shape[1], width))
    if padding_idx >= 0:
        kept = np.flatnonzero(at[0] != padding_idx)
        at, held = at[:, kept], TENSOR.index_select(held, 0, wrap(kept))
    return coo_of(wrap(at), held, (rows, width), False)


sparse_rows = declare(
    "sparse_rows",
    embedding_rows,
    lambda F, g, indices, weight_shape, padding_idx, scale_grad_by_freq: (
        F.embedding_sparse_backward(g, indices, weight_shape[0], padding_idx, scale_grad_by_freq)
    ),
    None,
    inputs=("weight", "indices"),
    statics=("padding_idx", "scale_grad_by_freq"),
    node="EmbeddingBackward0",
)


def _bag_vjp(
    F: Any, g: Any, indices: Any, offsets: Any, per_sample_weights: Any, weight_shape: Any,
    mode: int, padding_idx: int, scale_grad_by_freq: bool, result1: Any, result2: Any,
) -> Any:  # fmt: skip
    g = g[0] if type(g) is list else g
    bag, sizes = result1.detach(), result2.detach()
    if mode == 1:
        g = g / TENSOR.unsqueeze(TENSOR.clamp_min(sizes, 1), 1).to(g.dtype)
    rows = TENSOR.index_select(g, 0, bag)
    if per_sample_weights is not None:
        rows = rows * TENSOR.unsqueeze(per_sample_weights, 1)
    return F.embedding_sparse_backward(
        rows, indices, weight_shape[0], padding_idx, scale_grad_by_freq
    )


sparse_bags = declare(
    "sparse_bags",
    embedding_bag_of,
    _bag_vjp,
    None,
    None,
    embedding_bag_of.op.rules[-1],
    inputs=("weight", "indices", "offsets", "per_sample_weights"),
    statics=("mode", "padding_idx", "scale_grad_by_freq"),
    node="EmbeddingBagBackward0",
    differentiable=(True, False, False, False),
)
