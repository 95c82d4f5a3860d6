"""The functions behind layers: products, convolutions, pooling, normalization, dropout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torchlike as torch
import torchlike.nn.functional as F

from .array import NDArray, call
from .state import FLAGS, flags

ACTIVATIONS: dict[str, Callable[..., Any]] = {
    "relu": torch.relu,
    "sigmoid": torch.sigmoid,
    "log_sigmoid": F.logsigmoid,
    "mish": F.mish,
    "tanh": torch.tanh,
    "softrelu": F.softplus,
    "softsign": F.softsign,
}


def activation(data: NDArray, act_type: str) -> NDArray:
    """One of ``ACTIVATIONS`` by name; ValueError for another."""
    if act_type not in ACTIVATIONS:
        raise ValueError(f"act_type must be one of {', '.join(ACTIVATIONS)}, not {act_type!r}")
    return call(ACTIVATIONS[act_type], data)


def fully_connected(
    data: NDArray,
    weight: NDArray,
    bias: NDArray | None = None,
    num_hidden: int | None = None,
    no_bias: bool = False,
    flatten: bool = True,
) -> NDArray:
    """``data`` (N, ...) times ``weight`` (num_hidden, in) transposed, plus ``bias`` (num_hidden,).

    ``flatten`` makes one dimension of all but the first; otherwise the last one is multiplied.
    """
    if num_hidden not in (None, weight.shape[0]):
        raise ValueError(f"num_hidden is {num_hidden}, but the weight has shape {weight.shape}")

    def product(x: Any, w: Any, b: Any) -> Any:
        return F.linear(x.reshape(x.shape[0], -1) if flatten and x.ndim != 2 else x, w, b)

    return call(product, data, weight, None if no_bias else bias)


def sizes(value: Any, count: int) -> tuple[int, ...]:
    """A size for each of the dimensions, from one number or a tuple."""
    sizes = (value,) * count if isinstance(value, int) else tuple(value)
    if len(sizes) != count:
        raise ValueError(f"{count} sizes are wanted, not {value!r}")
    return sizes


def convolution(
    data: NDArray,
    weight: NDArray,
    bias: NDArray | None = None,
    kernel: Any = None,
    stride: Any = 1,
    dilate: Any = 1,
    pad: Any = 0,
    num_filter: int | None = None,
    num_group: int = 1,
    no_bias: bool = False,
) -> NDArray:
    """Convolution of (N, C, ...) with (num_filter, C / num_group, ...) in one to three dimensions.

    ``kernel`` and ``num_filter`` may repeat what the weight's shape says; ValueError otherwise.
    """
    count = data.ndim - 2
    if num_filter not in (None, weight.shape[0]):
        raise ValueError(f"num_filter is {num_filter}, but the weight has shape {weight.shape}")
    if kernel is not None and sizes(kernel, count) != weight.shape[2:]:
        raise ValueError(f"kernel is {kernel}, but the weight has shape {weight.shape}")
    convolve = getattr(F, f"conv{count}d")
    settings = [sizes(value or default, count) for value, default in ((stride, 1), (pad, 0))]
    bias = None if no_bias else bias
    return call(convolve, data, weight, bias, *settings, sizes(dilate or 1, count), num_group)


def pooling(
    data: NDArray,
    kernel: Any = 1,
    pool_type: str = "max",
    stride: Any = None,
    pad: Any = 0,
    global_pool: bool = False,
    count_include_pad: bool = True,
    pooling_convention: str = "valid",
) -> NDArray:
    """The largest value or the mean of windows of (N, C, ...); of all of it with ``global_pool``.

    ``stride`` is 1 where None, as in MXNet's operator (its layers step by the window's size);
    ``pooling_convention`` ``full`` lets windows hang over the end.
    """
    if pool_type not in ("max", "avg"):
        raise ValueError(f"pool_type must be 'max' or 'avg', not {pool_type!r}")
    count = data.ndim - 2
    if global_pool:
        kernel, stride, pad = data.shape[2:], 1, 0
    window, step = sizes(kernel, count), sizes(stride or 1, count)
    named = {"ceil_mode": pooling_convention == "full"}
    if pool_type == "avg":
        named["count_include_pad"] = count_include_pad
    pool = getattr(F, f"{pool_type}_pool{count}d")
    return call(pool, data, window, step, sizes(pad or 0, count), **named)


def dropout(data: NDArray, p: float = 0.5, mode: str = "training", axes: Any = ()) -> NDArray:
    """In training, each element is 0 with probability ``p`` and divided by 1 - p otherwise.

    ``mode`` ``always`` drops in prediction as well; along ``axes``, all share their fate.
    """
    if not 0 <= p < 1:
        raise ValueError(f"p must be at least 0 and less than 1, not {p}")
    on = FLAGS.training or mode == "always"

    def drop(x: Any) -> Any:
        if not axes:
            return F.dropout(x, p, on) if on else x.clone()
        shape = [1 if i in axes else size for i, size in enumerate(x.shape)]
        return x * F.dropout(torch.ones(shape, dtype=x.dtype, device=x.device), p, on)

    return call(drop, data)


def embedding(
    data: NDArray, weight: NDArray, input_dim: int | None = None, output_dim: int | None = None
) -> NDArray:
    """The rows of ``weight`` at the indices, brought into range: shape (*indices, output_dim)."""
    if None not in (input_dim, output_dim) and weight.shape != (input_dim, output_dim):
        raise ValueError(
            f"a weight of shape {(input_dim, output_dim)} is wanted, not {weight.shape}"
        )
    return call(lambda i, w: F.embedding(i.long().clamp(0, w.shape[0] - 1), w), data, weight)


def layer_norm(
    data: NDArray, gamma: NDArray, beta: NDArray, axis: int = -1, eps: float = 1e-5
) -> NDArray:
    """Mean 0 and variance 1 along an axis, then times ``gamma`` plus ``beta``."""

    def normalize(x: Any, g: Any, b: Any) -> Any:
        moved = x.movedim(axis, -1)
        return F.layer_norm(moved, g.shape, g, b, eps).movedim(-1, axis)

    return call(normalize, data, gamma, beta)


def batch_norm(
    x: NDArray,
    gamma: NDArray,
    beta: NDArray,
    running_mean: NDArray,
    running_var: NDArray,
    eps: float = 1e-3,
    momentum: float = 0.9,
    fix_gamma: bool = True,
    use_global_stats: bool = False,
    axis: int = 1,
) -> NDArray:
    """Mean 0 and variance 1 of each channel, then times ``gamma`` plus ``beta``.

    In training the statistics are the batch's, and each backward pass through the result moves
    the running ones: r = momentum * r + (1 - momentum) * batch, with the biased variance.
    ``fix_gamma`` takes ``gamma`` as ones.
    """
    own = FLAGS.training and not use_global_stats

    def normalize(x: Any, g: Any, b: Any, mean: Any, variance: Any) -> Any:
        moved = x.movedim(axis, 1)
        scale = torch.ones_like(g) if fix_gamma else g
        running = (None, None) if own else (mean, variance)
        out = F.batch_norm(moved, *running, scale, b, own, eps=eps).movedim(1, axis)
        if own and out.requires_grad:
            _track(out, moved.detach(), mean, variance, momentum)
        return out

    return call(normalize, x, gamma, beta, running_mean, running_var)


def _track(out: Any, x: Any, mean: Any, variance: Any, momentum: float) -> None:
    """Move the running statistics whenever a gradient arrives at ``out``."""
    axes = [i for i in range(x.ndim) if i != 1]
    with torch.no_grad():
        batch = torch.var_mean(x, axes, correction=0)

    def update(gradient: Any) -> None:
        with torch.no_grad():
            for running, new in zip((variance, mean), batch):
                running.detach().mul_(momentum).add_(new, alpha=1 - momentum)

    out.register_hook(update)


def l2_normalization(data: NDArray, eps: float = 1e-10, mode: str = "instance") -> NDArray:
    """Each item (``instance``) or each position's channels (``channel``) divided by its length."""
    if mode not in ("instance", "channel"):
        raise ValueError(f"mode must be 'instance' or 'channel', not {mode!r}")

    def normalize(x: Any) -> Any:
        axes = list(range(1, x.ndim)) if mode == "instance" else [1]
        return x / torch.sqrt((x * x).sum(axes, keepdim=True) + eps)

    return call(normalize, data)


def stop_gradient(data: NDArray) -> NDArray:
    """A copy outside of the graph."""
    with flags(recording=False):
        return data.copy()
