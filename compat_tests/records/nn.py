"""Functions of neural networks: convolution, pooling, softmax, losses, dropout."""

from __future__ import annotations

import itertools
from typing import Any

from .base import FLOATS, A, D, M, N, record

# --- convolution ----------------------------------------------------------------------------------


def _each(value: Any, n: int) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, tuple) else (value,) * n


def _taps(
    J: Any, x: Any, counts: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, fill: float
) -> Any:
    """For every place in the kernel, what the windows have there: (place, slice) pairs."""
    ends = [
        d * (k - 1) + (c - 1) * s + 1
        for c, k, s, d in zip(counts, kernel, stride, dilation, strict=True)
    ]
    pads = [(p, max(e - n - p, 0)) for n, p, e in zip(x.shape[2:], padding, ends, strict=True)]
    wide = J.pad(x, [(0, 0), (0, 0), *pads], constant_values=fill)
    for place in itertools.product(*(range(k) for k in kernel)):
        key = [
            slice(i * d, i * d + (c - 1) * s + 1, s)
            for i, c, s, d in zip(place, counts, stride, dilation, strict=True)
        ]
        yield place, wide[(slice(None), slice(None), *key)]


def _counts(x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool) -> list[int]:
    found = []
    for size, k, s, p, d in zip(x.shape[2:], kernel, stride, padding, dilation, strict=True):
        room = size + 2 * p - d * (k - 1) - 1
        count = (-(-room // s) if ceil else room // s) + 1
        found.append(count - (1 if ceil and (count - 1) * s >= size + p else 0))
    return found


def _conv_jax(
    J: Any, x: Any, w: Any, b: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    """A sum over the kernel's places: jax.lax has a convolution, but not all its derivatives."""
    n = w.ndim - 2
    lead = x if x.ndim == n + 2 else x[None]
    kernel, stride, dilation = w.shape[2:], _each(stride, n), _each(dilation, n)
    if isinstance(padding, str):
        same = tuple(d * (k - 1) // 2 for k, d in zip(kernel, dilation, strict=True))
        padding = same if padding == "same" else 0
    padding = _each(padding, n)
    counts = _counts(lead, kernel, stride, padding, dilation, False)
    total: Any = 0
    for place, part in _taps(J, lead, counts, kernel, stride, padding, dilation, 0.0):
        parts = J.reshape(part, (part.shape[0], groups, -1, *part.shape[2:]))
        rows = J.reshape(w[(slice(None), slice(None), *place)], (groups, -1, w.shape[1]))
        z = J.einsum("ngc...,goc->ngo...", parts, rows)
        total = total + J.reshape(z, (z.shape[0], -1, *z.shape[3:]))
    z = total if b is None else total + b.reshape(-1, *(1,) * n)
    return z if x.ndim == n + 2 else z[0]


def conv(n: int, *samples: Any, bad: Any = ()) -> None:
    """A record of ``conv1d``, ``conv2d`` or ``conv3d``."""
    record(
        f"conv{n}d",
        lambda T, *args: getattr(T.nn.functional, f"conv{n}d")(*args),
        *samples,
        jax=_conv_jax,
        covers="convolution convolution_input convolution_weight",
        bad=list(bad),
        dtypes=FLOATS,
    )


conv(
    1,
    (A(2, 3, 7), A(4, 3, 3), A(4), 1, 0, 1, 1),
    (A(2, 4, 9), A(6, 2, 3), None, 2, 1, 2, 2),
    (A(3, 7), A(4, 3, 3), A(4), 1, "same", 1, 1),
    bad=[(A(3, 5), A(2, 3), A(2), 1, 0, 1, 1)],
)
conv(
    2,
    (A(2, 3, 5, 6), A(4, 3, 3, 2), A(4), 1, 0, 1, 1),
    (A(2, 4, 7, 6), A(4, 2, 3, 3), A(4), (2, 1), (1, 2), (1, 2), 2),
    (A(3, 5, 5), A(2, 3, 3, 3), None, 1, 1, 1, 1),
    (A(2, 4, 5, 5), A(4, 1, 3, 3), A(4), 1, "same", 1, 4),
    (A(2, 3, 5, 5), A(2, 3, 1, 1), A(2), 1, "valid", 1, 1),
    (A(2, 3, 5, 6, lay="p"), A(4, 3, 3, 2, lay="t"), A(4), 1, 0, 1, 1),
    (D(0, 3, 5, 5), D(2, 3, 3, 3), A(2), 1, 0, 1, 1),
    bad=[
        (A(2, 3, 5, 5), A(2, 4, 3, 3), A(2), 1, 0, 1, 1),
        (A(3, 5), A(2, 3, 3, 3), A(2), 1, 0, 1, 1),
        (A(1, 3, 2, 2), A(2, 3, 3, 3), A(2), 1, 0, 1, 1),
        (A(1, 3, 5, 5), A(2, 3, 3, 3), A(2), 2, "same", 1, 1),
        (A(1, 3, 5, 5), A(2, 3, 3, 3), A(2), 0, 0, 1, 1),
        (A(1, 3, 5, 5), A(2, 3, 3, 3), A(3), 1, 0, 1, 1),
        (A(1, 3, 5, 5), A(2, 3, 3, 3), A(2), 1, -1, 1, 1),
        (A(1, 3, 5, 5), A(2, 3, 3, 3), A(2), 1, 0, 0, 1),
        (A(1, 3, 5, 5), A(2, 3, 3, 3), A(2), 1, 0, 1, 2),
    ],
)
conv(
    3,
    (A(1, 2, 4, 3, 4), A(2, 2, 2, 2, 2), A(2), 1, 0, 1, 1),
    (A(1, 2, 4, 4, 4), A(2, 1, 3, 2, 2), None, 2, 1, 1, 2),
)

# --- pooling --------------------------------------------------------------------------------------

APART: dict[str, Any] = {"distinct": True}


def _pool_jax(
    J: Any, x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool
) -> Any:
    lead = x if x.ndim == len(kernel) + 2 else x[None]
    stride = stride or kernel
    counts = _counts(lead, kernel, stride, padding, dilation, ceil)
    parts = _taps(J, lead, counts, kernel, stride, padding, dilation, -J.inf)
    z = J.max(J.stack([part for _, part in parts]), 0)
    return z if x.ndim == len(kernel) + 2 else z[0]


def pool(n: int, *samples: Any, bad: Any = ()) -> None:
    """A record of ``max_pool1d``, ``max_pool2d`` or ``max_pool3d``."""
    record(
        f"max_pool{n}d",
        lambda T, *args: getattr(T.nn.functional, f"max_pool{n}d")(*args),
        *samples,
        jax=_pool_jax,
        covers=f"max_pool{max(n, 2)}d_with_indices max_pool_grad max_pool_gather",
        bad=list(bad),
        dtypes=FLOATS,
    )


pool(
    1,
    (A(2, 3, 8, **APART), (2,), None, (0,), (1,), False),
    (A(3, 9, **APART), (3,), (2,), (1,), (1,), True),
)
pool(
    2,
    (A(2, 3, 6, 5, **APART), (2, 2), None, (0, 0), (1, 1), False),
    (A(2, 2, 7, 7, **APART), (3, 2), (2, 1), (1, 0), (1, 2), False),
    (A(2, 5, 5, **APART), (2, 2), (2, 2), (1, 1), (1, 1), True),
    (A(1, 2, 6, 6, lay="p", **APART), (3, 3), (1, 1), (0, 0), (1, 1), False),
    bad=[
        (A(2, 3), (2, 2), None, (0, 0), (1, 1), False),
        (A(1, 1, 4, 4), (2, 2), None, (2, 2), (1, 1), False),
        (A(1, 1, 2, 2), (3, 3), None, (0, 0), (1, 1), False),
        (A(1, 1, 4, 4), (2, 2), (0, 0), (0, 0), (1, 1), False),
    ],
)
pool(3, (A(1, 2, 4, 4, 4, **APART), (2, 2, 2), None, (0, 0, 0), (1, 1, 1), False))
record(
    "max_pool2d.indices",
    lambda T, x: T.nn.functional.max_pool2d(x, 2, return_indices=True),
    A(2, 3, 4, 4, **APART),
    A(3, 4, 5, **APART),
    differentiable=False,
    dtypes=FLOATS,
)

# --- softmax --------------------------------------------------------------------------------------

for _name in ("softmax", "log_softmax"):
    record(
        _name,
        lambda T, x, d, n=_name: getattr(T, n)(x, d),
        (A(3, 4), 1),
        (A(), 0),
        (A(2, 3, 4), 1),
        (A(3, 4, lay="t"), 0),
        (A(2, 3, 4, lay="p"), -1),
        (A(3, 4, lay="s"), 1),
        (A(0, 3), 1),
        (A(3, 0), 1),
        (A(3, 4, lay="e"), 0),
        jax=lambda J, x, d, n=_name: getattr(J.nn, n)(x, d) if x.ndim else 0 * x + (n == "softmax"),
        covers=f"{_name}_dim {_name}_backward",
        bad=[(A(3), 1)],
    )
    record(
        f"nn.{_name}",
        lambda T, x, n=_name: getattr(T.nn.functional, n)(x, dim=-1),
        A(3, 4),
        A(4),
        jax=lambda J, x, n=_name: getattr(J.nn, n)(x, -1),
    )
    record(
        f"{_name}.dtype",
        lambda T, x, n=_name: getattr(T, n)(x, 0, dtype=T.float64),
        A(3, 4),
        A(4),
        jax=lambda J, x, n=_name: getattr(J.nn, n)(x, 0),
    )

# --- losses ---------------------------------------------------------------------------------------

_REDUCE: dict[str, Any] = {
    "mean": lambda J, z: J.mean(z),
    "sum": lambda J, z: J.sum(z),
    "none": lambda J, z: z,
}


def _nll_jax(J: Any, x: Any, y: Any, w: Any, ignore: int, reduction: str) -> Any:
    axis = 0 if x.ndim == 1 else 1
    kept = y != ignore
    safe = J.where(kept, y, 0)
    picked = -J.take_along_axis(x, J.expand_dims(safe, axis), axis).squeeze(axis)
    share = (J.ones_like(picked) if w is None else J.asarray(w)[safe]) * kept
    z = picked * share
    return J.sum(z) / J.sum(share) if reduction == "mean" else _REDUCE[reduction](J, z)


record(
    "mse_loss",
    lambda T, x, y, r: T.nn.functional.mse_loss(x, y, reduction=r),
    (A(3, 4), A(3, 4), "mean"),
    (A(), A(), "mean"),
    (A(3, 4), A(3, 4), "sum"),
    (A(3, 4), A(3, 4), "none"),
    (A(3, 4), A(4), "mean"),
    (A(3, 4, lay="t"), A(3, 4), "none"),
    (A(3, 4), D(3, 4), "mean"),
    (A(0, 2), A(0, 2), "mean"),
    (A(3, 4, lay="t"), A(3, 4, lay="t"), "none"),
    jax=lambda J, x, y, r: _REDUCE[r](J, (x - y) ** 2),
    covers="mse_loss_reduced mse_loss_backward",
    bad=[(A(3), A(4), "mean"), (A(3), A(3), "most")],
)
record(
    "nll_loss",
    lambda T, x, y, w, i, r: T.nn.functional.nll_loss(x, y, w, ignore_index=i, reduction=r),
    (A(3, 5), N(3, high=5), None, -100, "mean"),
    (A(5), N(high=5), None, -100, "mean"),
    (A(3, 5), N(3, high=5), D(5, low=0.1), -100, "mean"),
    (A(6, 5), N(6, high=5), D(5, low=0.1), 2, "sum"),
    (A(6, 5), N(6, high=5), None, 1, "none"),
    (A(6, 5), N(6, high=5), None, 1, "mean"),
    (A(3, 5, lay="t"), N(3, high=5), None, -100, "none"),
    (A(0, 5), N(0, high=5), None, -100, "mean"),
    jax=_nll_jax,
    covers="nll_loss_reduced nll_backward",
    dtypes=FLOATS,
    bad=[
        (A(3, 5), N(2, high=5), None, -100, "mean"),
        (A(3, 5), N(3, low=5, high=6), None, -100, "mean"),
        (A(3, 5), D(3), None, -100, "mean"),
        (A(), N(high=1), None, -100, "mean"),
        (A(3, 5), N(3, 5, high=5), None, -100, "mean"),
        (A(3, 5), N(3, high=5), D(4), -100, "mean"),
    ],
)
record(
    "nll_loss.2d",
    lambda T, x, y, w, i, r: T.nn.functional.nll_loss(x, y, w, ignore_index=i, reduction=r),
    (A(2, 5, 3, 2), N(2, 3, 2, high=5), None, -100, "mean"),
    (A(2, 5, 3, 2), N(2, 3, 2, high=5), D(5, low=0.1), 1, "mean"),
    (A(2, 5, 3, 2), N(2, 3, 2, high=5), None, -100, "none"),
    jax=_nll_jax,
    covers="nll_loss2d_reduced",
    dtypes=FLOATS,
    bad=[(A(2, 5, 3, 2), N(2, 3, 3, high=5), None, -100, "mean")],
)


def _ce_jax(J: Any, x: Any, y: Any, w: Any, smoothing: float, reduction: str) -> Any:
    logs = J.nn.log_softmax(x, 0 if x.ndim == 1 else 1)
    plain = _nll_jax(J, logs, y, w, -100, reduction)
    if not smoothing:
        return plain
    axis = 0 if x.ndim == 1 else 1
    shaped = 1 if w is None else w.reshape([-1 if i == axis else 1 for i in range(x.ndim)])
    spread = -J.sum(logs * shaped, axis)
    total = J.asarray(spread.size) if w is None else J.sum(J.asarray(w)[y])
    smooth = J.sum(spread) / total if reduction == "mean" else _REDUCE[reduction](J, spread)
    return plain * (1 - smoothing) + smooth * smoothing / x.shape[axis]


record(
    "cross_entropy",
    lambda T, x, y, w, s, r: T.nn.functional.cross_entropy(x, y, w, label_smoothing=s, reduction=r),
    (A(3, 5), N(3, high=5), None, 0.0, "mean"),
    (A(5), N(high=5), None, 0.0, "mean"),
    (A(3, 5), N(3, high=5), D(5, low=0.1), 0.0, "sum"),
    (A(2, 5, 3), N(2, 3, high=5), None, 0.0, "none"),
    (A(3, 5), N(3, high=5), None, 0.1, "mean"),
    (A(3, 5), N(3, high=5), D(5, low=0.1), 0.2, "mean"),
    (A(3, 5), N(3, high=5), None, 0.2, "none"),
    (A(3, 5, lay="t"), N(3, high=5), None, 0.0, "mean"),
    jax=_ce_jax,
    dtypes=FLOATS,
    bad=[
        (A(3, 5), N(2, high=5), None, 0.0, "mean"),
        (A(3, 5), N(3, low=5, high=6), None, 0.0, "mean"),
        (A(3, 5), D(3), None, 0.0, "mean"),
        (A(), N(high=1), None, 0.0, "mean"),
    ],
)
record(
    "cross_entropy.soft",
    lambda T, x, y, s, r: T.nn.functional.cross_entropy(x, y, label_smoothing=s, reduction=r),
    (A(3, 5), A(3, 5, low=0, high=1), 0.0, "mean"),
    (A(5), A(5, low=0, high=1), 0.0, "sum"),
    (A(3, 5), A(3, 5, low=0, high=1), 0.1, "none"),
    dtypes=FLOATS,
    jax=lambda J, x, y, s, r: _soft_jax(J, x, y * (1 - s) + s / x.shape[-1], r),
)


def _soft_jax(J: Any, x: Any, y: Any, reduction: str) -> Any:
    z = -J.sum(J.nn.log_softmax(x, -1) * y, -1)
    return _REDUCE[reduction](J, z)


def _dropout(T: Any, x: Any, p: float, training: bool) -> Any:
    T.manual_seed(7)
    return T.nn.functional.dropout(x, p, training)


record(
    "dropout",
    _dropout,
    (A(3, 4), 0.5, True),
    (A(), 0.25, True),
    (A(3, 4, lay="t"), 0.5, True),
    (A(3, 4), 0.5, False),
    (A(3, 4), 1.0, True),
    (A(0, 3), 0.5, True),
    differentiable=False,
    batchable=False,
    bad=[(A(3), 1.5, True)],
    dtypes=FLOATS,
)
record(
    "dropout.mask",
    lambda T, x, m: T.where(m, x / 0.5, 0.0),
    (A(3, 4), M(3, 4)),
    jax=lambda J, x, m: J.where(m, x / 0.5, 0.0),
)
