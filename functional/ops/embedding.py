"""Rows of a table by index, alone (``embedding``) and in bags (``embedding_bag``)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..kernels.embedding import ends_at_last_offset
from ..kernels.meta import MetaArray
from ..tape.declare import general
from ..tape.foreign import kernels_for
from ..tape.op import TENSOR, public
from ..tape.views import bump, check_in_place, requires_grad
from ..tensor import Tensor
from .dtype_checks import type_string
from .loss_forms import differentiable_only
from .reduce import to_dtype_of
from .refusals import no_complex_gradient

_INT64 = np.dtype(np.int64)


_INDICES = (dtypes.int64, dtypes.int32)
_REAL = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)


def _check_types(where: str, name: str, t: Tensor, allowed: Any, position: int = 1) -> None:
    if t.dtype not in allowed:
        raise RuntimeError(
            f"Expected tensor for argument #{position} '{name}' to have one of the following "
            f"scalar types: {', '.join(d.legacy for d in allowed)}; but got "
            f"{type_string(t.dtype)} instead (while checking arguments for {where})"
        )


# --- single rows ----------------------------------------------------------------------------------


_no_complex = no_complex_gradient("embedding")


def _check_embedding(weight: Tensor, indices: Any, *rest: Any) -> None:
    if weight.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    if not isinstance(indices, Tensor):
        raise TypeError(
            "embedding(): argument 'indices' (position 2) must be Tensor, not "
            f"{type(indices).__name__}"
        )
    _check_types("embedding", "indices", indices, _INDICES)
    _no_complex(weight)


def _rows_shape(weight: Any, indices: Any, *rest: Any) -> Any:
    return (*indices.shape, weight.shape[1]), weight.dtype


embedding_rows = general(
    "embedding_rows",
    lambda F, g, indices, weight_shape, padding_idx, scale_grad_by_freq: F.embedding_dense_backward(
        g, indices, weight_shape[0], padding_idx, scale_grad_by_freq
    ),
    inputs=("weight", "indices"),
    statics=("padding_idx", "scale_grad_by_freq"),
    node="EmbeddingBackward0",
    shape=_rows_shape,
    check=_check_embedding,
)
embedding_dense_backward = general(
    "embedding_dense_backward",
    lambda F, g, indices, padding_idx, scale_grad_by_freq: F.embedding_double_backward(
        g, indices, padding_idx, scale_grad_by_freq
    ),
    inputs=("self", "indices"),
    statics=("size", "padding_idx", "scale_grad_by_freq"),
    shape=lambda g, indices, size, *rest: ((size, g.shape[-1]), g.dtype),
)
embedding_double_backward = general(
    "embedding_double_backward",
    lambda F, g, indices, self_shape, padding_idx, scale_grad_by_freq: F.embedding_dense_backward(
        g, indices, self_shape[0], padding_idx, scale_grad_by_freq
    ),
    inputs=("self", "indices"),
    statics=("padding_idx", "scale_grad_by_freq"),
    shape=_rows_shape,
)


@public
def embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """Rows (*, D) of a table (V, D); the row ``padding_idx`` gets no gradient.

    Its gradient is sparse if ``sparse`` says so.
    """
    if sparse:
        return TENSOR.sparse_rows(weight, indices, int(padding_idx), bool(scale_grad_by_freq))
    return embedding_rows(weight, indices, int(padding_idx), bool(scale_grad_by_freq))


@public
def embedding_renorm_(self: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Tensor:
    """Shrink the rows that are used and longer than ``max_norm`` to that norm, in place."""
    if self.ndim != 2:
        raise RuntimeError(
            f"Expected 2-dimensional tensor, but got {self.ndim}-dimensional tensor for argument "
            "#1 'self' (while checking arguments for embedding_renorm_)"
        )
    _check_types("embedding_renorm_", "indices", indices, _INDICES, 2)
    if self.dtype.category < dtypes.FLOAT:
        raise RuntimeError(
            "norm(): input dtype should be either floating point or complex. Got "
            f"{self.dtype.legacy} instead."
        )
    check_in_place(self, requires_grad(self))
    if type(self._data) is not MetaArray:
        kernels = kernels_for(self._data)
        norms = float(max_norm), float(norm_type)
        at, rows = kernels.renormalized_rows(self._data, indices._data, *norms)
        self._data[at] = rows
    bump(self)
    return self


# --- bags -----------------------------------------------------------------------------------------


def _weight_vjp(
    F: Any, g: Any, indices: Any, offsets: Any, per_sample_weights: Any, weight_shape: Any,
    mode: int, padding_idx: int, scale_grad_by_freq: bool, result1: Any, result2: Any, result3: Any,
) -> Any:  # fmt: skip
    # the offsets are asked for only because PyTorch saves them: writes to them raise
    g = g[0] if type(g) is list else g
    return F.embedding_bag_backward(
        g, indices, result1, result2, result3, per_sample_weights, weight_shape[0], mode,
        padding_idx, scale_grad_by_freq,
    )  # fmt: skip


def _weights_vjp(F: Any, g: Any, weight: Any, indices: Any, padding_idx: int, result1: Any) -> Any:
    g = g[0] if type(g) is list else g
    return F.embedding_bag_weights_backward(g, weight, indices, result1, padding_idx)


def _bag_shape(weight: Any, indices: Any, offsets: Any, weights: Any, mode: int, *rest: Any) -> Any:
    bags = offsets.shape[0]
    shape = (bags, weight.shape[1])
    maxima = shape if mode == 2 else (bags,)
    return [(shape, weight.dtype), (indices.shape, _INT64), ((bags,), _INT64), (maxima, _INT64)]


embedding_bag_of = general(
    "embedding_bag_of",
    _weight_vjp,
    None,
    None,
    _weights_vjp,
    inputs=("weight", "indices", "offsets", "per_sample_weights"),
    statics=("mode", "padding_idx", "scale_grad_by_freq"),
    node="EmbeddingBagBackward0",
    differentiable=(True, False, False, False),
    shape=_bag_shape,
)


@public
def embedding_bag_backward(
    g: Tensor, indices: Tensor, bag: Tensor, sizes: Tensor, maxima: Tensor, weights: Any,
    size: int, mode: int, padding_idx: int, scale_grad_by_freq: bool,
) -> Any:  # fmt: skip
    """The gradient of the table (size, D)."""
    bag, sizes, maxima = (t.detach() for t in (bag, sizes, maxima))  # results of the operation
    if mode == 2:
        found: Any = TENSOR.ge(maxima, 0)
        at = TENSOR.clamp_min(maxima, 0)
        return TENSOR.gather_backward(g * found.to(g.dtype), at, (size, g.shape[1]), 0)
    if mode == 1:
        g = g / TENSOR.unsqueeze(TENSOR.clamp_min(sizes, 1), 1).to(g.dtype)
    rows: Any = TENSOR.index_select(g, 0, bag)
    if weights is not None:
        rows = rows * TENSOR.unsqueeze(weights, 1)
    return embedding_dense_backward(rows, indices, size, padding_idx, scale_grad_by_freq)


@public
def embedding_bag_weights_backward(
    g: Tensor, weight: Tensor, indices: Tensor, bag: Tensor, padding_idx: int
) -> Any:
    """The gradient of the weights of the samples."""
    rows: Any = TENSOR.index_select(g, 0, bag.detach()) * TENSOR.index_select(weight, 0, indices)
    z = TENSOR.sum(rows, 1)
    if padding_idx >= 0:
        z = z * TENSOR.ne(indices, padding_idx).to(z.dtype)
    return z


def _check_offsets(offsets: Tensor, n: int) -> int:
    """PyTorch's errors for where bags start; the last offset, if it is known, else ``n``."""
    if type(offsets._data) is MetaArray or not offsets.numel():
        return n
    first, last = int(offsets._data[0]), int(offsets._data[-1])
    if first != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
            f"position 0. However, got {first}\n[ {type_string(offsets.dtype)}{{}} ]"
        )
    if last > n:
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length {n} but got offsets[-1] of {last}"
        )
    return last


def _check_weights(weight: Tensor, per_sample: Tensor | None) -> None:
    _check_types("embedding_bag", "weight", weight, _REAL)
    if per_sample is not None and per_sample.dtype is not weight.dtype:
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument "
            f"#1 'per_sample_weights'; but type {type_string(weight.dtype)} does not equal "
            f"{type_string(per_sample.dtype)} (while checking arguments for embedding_bag)"
        )


@public
def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Any, ...]:
    """Bags of rows, summed (0), averaged (1) or their maxima (2), and what gradients need."""
    if offsets.dtype is not indices.dtype:
        found = dtypes.promote_types(offsets.dtype, indices.dtype)
        indices, offsets = to_dtype_of(indices, found), to_dtype_of(offsets, found)
    _check_types("embedding_bag", "indices", indices, _INDICES)
    last = _check_offsets(offsets, indices.numel())
    _check_weights(weight, per_sample_weights)
    rows = weight.shape[0]
    if padding_idx is None:
        padding_idx = -1
    elif not -rows <= padding_idx < rows:
        raise RuntimeError(
            f"padding_idx must be within the number of embeddings, -{rows} through {rows - 1}, "
            f"but got {padding_idx}"
        )
    elif padding_idx < 0:
        padding_idx += rows
    if include_last_offset:
        if not offsets.numel():
            raise RuntimeError("include_last_offset: number of offset should be at least 1")
        offsets = TENSOR.narrow(offsets, 0, 0, offsets.shape[0] - 1)
        quick = ends_at_last_offset(mode, padding_idx, weight.dtype is dtypes.float64)
        if quick and last < indices.numel():
            indices = TENSOR.narrow(indices, 0, 0, last)
            if per_sample_weights is not None:
                per_sample_weights = TENSOR.narrow(per_sample_weights, 0, 0, last)
    differentiable_only("embedding_bag", indices=indices, offsets=offsets)
    settings = (int(mode), padding_idx, bool(scale_grad_by_freq))
    bags = TENSOR.sparse_bags if sparse else embedding_bag_of
    return bags(weight, indices, offsets, per_sample_weights, *settings)
