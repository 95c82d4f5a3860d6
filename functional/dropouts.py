"""Dropout under PyTorch's names and signatures of torch.nn.functional."""

from __future__ import annotations

from typing import Any

from .blame import warn
from .ops.dropouts import drop, of_unbatched
from .tensor import Tensor


def _check(p: float) -> None:
    if p < 0 or p > 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Zero elements with probability ``p`` and scale the rest by 1 / (1 - p)."""
    _check(p)
    return drop(input, p, False, False, inplace) if training else input


def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Any:
    """Dropout to SELU's lower limit; mean and variance stay (G. Klambauer et al., 2017)."""
    _check(p)
    return drop(input, p, False, True, inplace) if training else input


def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Any:
    """``alpha_dropout`` of whole channels, (N, C, *)."""
    _check(p)
    return drop(input, p, True, True, inplace) if training else input


_PURPOSE = (
    "Note that dropout{n}d exists to provide channel-wise dropout on inputs with {n} spatial "
    "dimension{s}, a channel dimension, and an optional batch dimension (i.e. {a}D or {b}D inputs)."
)


def _purpose(n: int) -> str:
    return _PURPOSE.format(n=n, s="s" if n > 1 else "", a=n + 1, b=n + 2)


def _warn_rank(n: int, ndim: int) -> None:
    if ndim not in (n + 1, n + 2):
        warn(
            f"dropout{n}d: Received a {ndim}-D input to dropout{n}d, which is deprecated and will "
            "result in an error in a future release. To retain the behavior and silence this "
            f"warning, please use dropout instead. {_purpose(n)}"
        )


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Dropout of whole channels, (N, C, L) or (C, L)."""
    _check(p)
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input. "
            + _purpose(1)
        )
    if input.ndim == 2:
        return of_unbatched(input, p, training, inplace)
    return drop(input, p, True, False, inplace) if training else input


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Dropout of whole channels, (N, C, H, W)."""
    _check(p)
    _warn_rank(2, input.ndim)
    if input.ndim == 3:
        warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout "
            "behavior is desired - input is interpreted as shape (N, C, L), where C is the channel "
            "dim. This behavior will change in a future release to interpret the input as one "
            "without a batch dimension, i.e. shape (C, H, W). To maintain the 1D channel-wise "
            "dropout behavior, please switch to using dropout1d instead."
        )
    return drop(input, p, True, False, inplace) if training else input


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Dropout of whole channels, (N, C, D, H, W) or (C, D, H, W)."""
    _check(p)
    _warn_rank(3, input.ndim)
    if input.ndim != 5:
        return of_unbatched(input, p, training, inplace)
    return drop(input, p, True, False, inplace) if training else input
