"""embedding and embedding_bag under PyTorch's names and signatures of torch.nn.functional."""

from __future__ import annotations

from typing import Any

from . import dtypes
from .errors import not_implemented
from .modes import no_grad
from .ops import embedding as ops
from .tape.op import TENSOR
from .tensor import Tensor

_MODES = {"sum": 0, "mean": 1, "max": 2}


def _renorm(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> None:
    with no_grad():
        ops.embedding_renorm_(weight, indices, max_norm, norm_type)


def _padding(padding_idx: int, weight: Tensor) -> int:
    rows = weight.shape[0] if padding_idx else 1  # PyTorch has nothing to check in row 0
    if not -rows <= padding_idx < rows:
        raise AssertionError("Padding_idx must be within num_embeddings")
    return padding_idx % rows


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """Rows (*, D) of the table ``weight`` (V, D), after shrinking them to ``max_norm``.

    The row ``padding_idx`` gets no gradient. Raises IndexError for indices out of range.
    """
    padding = -1 if padding_idx is None else _padding(padding_idx, weight)
    if max_norm is not None:
        _renorm(weight, input, max_norm, norm_type)
    return ops.embedding(weight, input, padding, scale_grad_by_freq, sparse)


def _rows_as_bags(input: Tensor, offsets: Any, weights: Any) -> tuple[Any, Any, Any]:
    """Indices in one line, where each row starts, and the samples' weights in one line."""
    if offsets is not None:
        raise ValueError(
            "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of "
            f"fixed length sequences. However, found offsets of type {type(offsets)}"
        )
    if input.dtype is dtypes.bool_ or input.dtype.is_complex:
        raise not_implemented("arange_cpu", input.dtype)
    rows, width = input.shape
    step = {"dtype": input.dtype, "device": input.device}
    starts = TENSOR.arange(0, rows * width, width, **step) if width else TENSOR.zeros(rows, **step)
    if weights is not None:
        weights = TENSOR.reshape(weights, (-1,))
    return TENSOR.reshape(input, (-1,)), starts, weights


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Any:
    """The sum, mean or maximum of bags of rows of ``weight`` (V, D): (bags, D).

    ``input`` is (bags, N), or a line of indices in which bags start at ``offsets``.
    """
    if per_sample_weights is not None and input.shape != per_sample_weights.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then "
            f"it must have the same shape as the input ({input.shape})"
        )
    if not weight.ndim == 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.ndim}")
    if input.ndim == 2:
        input, offsets, per_sample_weights = _rows_as_bags(input, offsets, per_sample_weights)
    elif input.ndim == 1:
        if not isinstance(offsets, Tensor):
            raise ValueError("offsets has to be a 1D Tensor but got None")
        if offsets.ndim != 1:
            raise ValueError("offsets has to be a 1D Tensor")
    else:
        raise ValueError(
            f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndim}"
        )
    _check_mode(mode, scale_grad_by_freq, sparse, per_sample_weights)
    if max_norm is not None:
        _renorm(weight, input, max_norm, norm_type)
    assert offsets is not None
    return ops.embedding_bag(
        weight, input, offsets, scale_grad_by_freq, _MODES[mode], sparse, per_sample_weights,
        include_last_offset, padding_idx,
    )[0]  # fmt: skip


def _check_mode(mode: str, scale_grad_by_freq: bool, sparse: bool, weights: Any) -> None:
    if mode not in _MODES:
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported "
            f"for mode='sum' (got mode='{mode}'). Please open a feature request on GitHub."
        )
