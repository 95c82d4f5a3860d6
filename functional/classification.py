"""Losses of classes: nll_loss, cross_entropy and its linear form, ctc_loss."""

from __future__ import annotations

from typing import Any

from . import dtypes
from .dtypes import F32, F64
from .losses import REDUCTIONS, legacy_code, legacy_reduction, reduction_code
from .modes import PLAIN
from .ops import ctc, nn
from .ops.cast import contiguous
from .ops.matmul import linear
from .ops.nn_checks import check_nll, remembered
from .ops.pointwise import add_number, div_number, mul_number
from .ops.selection import masked_fill
from .ops.views import view_
from .tape.op import TENSOR
from .tensor import Tensor

I64 = dtypes.int64.array


def _nll_checked(input: Tensor, target: Tensor, weight: Any) -> bool:
    check_nll(input, target, weight)
    return True


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """The negative log likelihood of class indices; input is (N, C), (C,) or (N, C, *d)."""
    code = legacy_code(size_average, reduce, reduction)
    remembered(_nll_checked, (input, target, weight), ())
    if input.ndim <= 2:
        return nn.nll_loss(input, target, weight, code, ignore_index)[0]
    if input.ndim == 4:
        return nn.nll_loss2d(input, target, weight, code, ignore_index)[0]
    n, classes = input.shape[:2]
    image = view_(contiguous(input), (n, classes, 1, -1) if input.numel() else (n, classes, 0, 0))
    flat = view_(contiguous(target), (n, 1, -1) if input.numel() else (n, 0, 0))
    loss = nn.nll_loss2d(image, flat, weight, code, ignore_index)[0]
    return loss if code else view_(loss, (n, *input.shape[2:]))


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """log_softmax and nll_loss in one; targets are class indices or probabilities."""
    if size_average is None and reduce is None and weight is None and label_smoothing == 0:
        code = REDUCTIONS.get(reduction)
        if code is not None and _is_plain(input, target):
            return nn.nll_loss(nn.log_softmax(input, 1), target, None, code, ignore_index)[0]
    reduction = legacy_reduction(size_average, reduce, reduction)
    dim = 0 if input.ndim == 1 else 1
    reduction_code(reduction)
    label_smoothing = max(label_smoothing, 0.0)
    if target.shape == input.shape:
        _check_soft(input, target, weight, ignore_index, dim, label_smoothing)
        return _soft_cross_entropy(input, target, weight, reduction, label_smoothing, dim)
    _check_smoothing(label_smoothing)
    logs = TENSOR.log_softmax(input, dim)
    if label_smoothing == 0:
        return nll_loss(logs, target, weight, None, ignore_index, None, reduction)
    return _smoothed(logs, target, weight, ignore_index, reduction, label_smoothing, dim)


def _is_plain(input: Tensor, target: Tensor) -> bool:
    """Whether they are rows of scores and one class each, so that there is nothing to check."""
    if type(input) not in PLAIN or type(target) not in PLAIN:
        return False
    x, y = input._data, target._data
    return (
        len(x.shape) == 2
        and y.shape == x.shape[:1]
        and (x.dtype is F32 or x.dtype is F64)
        and y.dtype is I64
    )


def _check_smoothing(label_smoothing: float) -> None:
    if label_smoothing > 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")


def _check_soft(
    input: Tensor, target: Tensor, weight: Any, ignore_index: int, dim: int, smoothing: float
) -> None:
    if target.dtype.category != dtypes.FLOAT:
        raise RuntimeError(
            "Expected floating point type for target with class probabilities, got "
            f"{target.dtype.legacy}"
        )
    if ignore_index >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")
    _check_smoothing(smoothing)
    classes = input.shape[dim] if input.ndim else 1
    if weight is not None and (weight.ndim != 1 or weight.numel() != classes):
        raise RuntimeError(
            f"cross_entropy: weight tensor should be defined either for all {classes} classes or "
            f"no classes but got weight tensor of shape: {list(weight.shape)}"
        )


def _of_classes(weight: Tensor, ndim: int, dim: int) -> Tensor:
    """Class weights in a shape that broadcasts with the scores."""
    shape = [1] * ndim
    shape[dim] = -1
    return TENSOR.reshape(weight, shape)


def _soft_cross_entropy(
    input: Tensor, target: Tensor, weight: Any, reduction: str, smoothing: float, dim: int
) -> Any:
    """-Σ target · log_softmax(input) over classes; the mean divides by the batch."""
    logs = TENSOR.log_softmax(input, dim)
    if smoothing > 0:
        target = add_number(mul_number(target, 1 - smoothing), smoothing / input.shape[dim])
    product = TENSOR.mul(logs, target)
    if weight is not None:
        product = TENSOR.mul(product, _of_classes(weight, input.ndim, dim))
    if reduction == "none":
        return -product.sum(dim)
    total = -product.sum()
    if reduction == "sum":
        return total
    if not input.numel():
        return div_number(total, 0.0)
    return div_number(total, input.numel() / input.shape[dim])


def _smoothed(
    logs: Tensor,
    target: Tensor,
    weight: Any,
    ignore_index: int,
    reduction: str,
    smoothing: float,
    dim: int,
) -> Any:
    """Mix the loss with its mean over classes (C. Szegedy et al., 2016)."""
    plain = nll_loss(logs, target, weight, None, ignore_index, None, reduction)
    share = smoothing / logs.shape[dim]
    if weight is not None:
        logs = TENSOR.mul(logs, _of_classes(weight, logs.ndim, dim))
    ignored: Any = TENSOR.eq(target, ignore_index)
    smooth = masked_fill(-TENSOR.sum(logs, dim), ignored, 0.0)
    if reduction == "mean":
        kept = TENSOR.ne(target, ignore_index)
        if weight is not None:
            kept = weight[masked_fill(target, ignored, 0)] * kept
        smooth = smooth.sum() / kept.sum()
    elif reduction == "sum":
        smooth = smooth.sum()
    return mul_number(plain, 1 - smoothing) + mul_number(smooth, share)


# --- with the layer before it ---------------------------------------------------------------------


def _adds_up_wide(kind: dtypes.dtype, options: Any) -> bool:
    """Whether PyTorch, which goes by parts with ``options``, adds inputs up in float32."""
    if options.acc_dtype is None and not kind.is_floating_point:
        raise ValueError(
            "acc_dtype must be one of {None, torch.float16, torch.bfloat16, torch.float32, "
            f"torch.float64}}, got {kind}. Pass acc_dtype=None to let the op pick automatically."
        )
    chosen = options.acc_dtype is not None or options.acc_policy != "auto"
    return kind.array in dtypes.HALF and not chosen


def _check_linear(
    input: Tensor, weight: Tensor, bias: Tensor | None, target: Tensor, ignore_index: Any
) -> None:
    if input.ndim not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.ndim}")
    if weight.ndim < 2:
        raise RuntimeError(
            f"expected linear_weight with dimensionality at least 2, got {weight.ndim}"
        )
    features, scores = input.shape[-1], tuple(weight.shape[:-1])
    if features != weight.shape[-1]:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{features} and {weight.shape[-1]}, respectively"
        )
    if bias is not None and tuple(bias.shape) != scores:
        raise RuntimeError(f"expected linear_bias shape {scores}, got {tuple(bias.shape)}")
    if input.ndim == 1 and weight.ndim > 2:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(weight.shape)} requires "
            f"batched input, (N, {features}), got unbatched input with shape ({features},)"
        )
    if ignore_index is not None and tuple(target.shape) == (*input.shape[:-1], *scores):
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")


def _widened(t: Any) -> Any:
    return t if t is None or t.dtype.array not in dtypes.HALF else t.to(dtypes.float32)


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Any:
    """``cross_entropy`` of ``linear(input, linear_weight, linear_bias)``.

    Weight is (C, in) or (C, *d, in), which makes scores (N, C, *d). ``options`` ask PyTorch for
    less memory; here all scores are computed at once.
    """
    inner = tuple(linear_weight.shape[1:-1])
    _check_linear(input, linear_weight, linear_bias, target, ignore_index)
    by_parts = not inner and not label_smoothing and target.dtype is dtypes.int64
    if options is not None and by_parts and _adds_up_wide(input.dtype, options):
        wide = [_widened(t) for t in (input, linear_weight, linear_bias, weight)]
        loss = linear_cross_entropy(
            wide[0], wide[1], target, linear_bias=wide[2], weight=wide[3], reduction=reduction,
            ignore_index=ignore_index,
        )  # fmt: skip
        return loss.to(input.dtype)
    rows, bias = linear_weight, linear_bias
    if inner:
        rows = TENSOR.reshape(rows, (-1, rows.shape[-1]))
        bias = None if bias is None else TENSOR.reshape(bias, (-1,))
    scores = linear(input, rows, bias)
    scores = TENSOR.view(scores, (*scores.shape[:-1], *linear_weight.shape[:-1]))
    if ignore_index is None:
        ignore_index = -100
    return cross_entropy(
        scores, target, weight, None, ignore_index, None, reduction, label_smoothing
    )


# --- sequences ------------------------------------------------------------------------------------


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:
    """The connectionist temporal classification loss (A. Graves et al., 2006).

    ``log_probs`` is (T, N, C) or (T, C), ``targets`` (N, S) or all labels in a row.
    """
    code = reduction_code(reduction)
    return ctc.ctc_loss(
        log_probs, targets, input_lengths, target_lengths, blank, code, zero_infinity
    )
