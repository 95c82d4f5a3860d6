"""Normalization layers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import FLOATS, A, Sample, record


def _stats(T: Any, channels: int, like: Any) -> list[Any]:
    """A running mean and variance."""
    rng = np.random.default_rng(3)
    return [
        T.tensor(rng.uniform(low, high, channels)).to(like.device, like.dtype)
        for low, high in ((-1, 1), (0.5, 2))
    ]


def batch_norm(T: Any, x: Any, weight: Any, bias: Any, training: bool) -> Any:
    """The output, and what became of the running statistics."""
    mean, var = _stats(T, x.shape[1], x)
    out = T.nn.functional.batch_norm(x, mean, var, weight, bias, training, 0.3, 1e-3)
    return out, [mean, var]


BATCH: list[Sample] = [
    (A(4, 3), A(3), A(3)),
    (A(2, 3, 4), A(3), A(3)),
    (A(2, 3, 4, lay="t"), None, None),
    (A(2, 3, 2, 2), A(3), None),
]
record(
    "batch_norm.training",
    lambda T, *a: batch_norm(T, *a, True)[0],
    *BATCH,
    covers="batch_norm_of",
    names="batch_norm",
    batchable=False,  # it writes to the running statistics
    dtypes=FLOATS[:2],  # half types differ in the last place
    bad=[(A(1, 3), A(3), A(3)), (A(2, 3), A(2), A(3))],
)
record(
    "batch_norm.statistics",
    lambda T, *a: batch_norm(T, *a, True)[1],
    *BATCH[:2],
    differentiable=False,
    batchable=False,
    dtypes=("float64", "float32"),
)
record(
    "batch_norm.eval",
    lambda T, *a: batch_norm(T, *a, False)[0],
    *BATCH,
    dtypes=FLOATS[:2],  # half types differ in the last place
    bad=[(A(2, 3), A(3), A(2))],
)
record(
    "native_batch_norm",
    lambda T, x, w, b, t: T.native_batch_norm(x, w, b, *_stats(T, x.shape[1], x), t, 0.1, 1e-5)[0],
    (A(4, 3), A(3), A(3), True),
    (A(4, 3), A(3), A(3), False),
    dtypes=FLOATS[:2],  # half types differ in the last place
    batchable=False,
)
record(
    "instance_norm",
    lambda T, x, w, b: T.nn.functional.instance_norm(x, None, None, w, b),
    (A(2, 3, 4), A(3), A(3)),
    (A(2, 3, 2, 2, lay="t"), None, None),
    dtypes=FLOATS[:2],  # half types differ in the last place
    bad=[(A(2, 3, 1), None, None)],
)
record(
    "layer_norm",
    lambda T, x, w, b, s: T.nn.functional.layer_norm(x, s, w, b),
    (A(3, 4), A(4), A(4), (4,)),
    (A(2, 3, 4), A(3, 4), None, (3, 4)),
    (A(3, 4, lay="t"), None, None, (4,)),
    (A(4), A(4), A(4), (4,)),
    covers="layer_norm_of",
    dtypes=FLOATS,
    bad=[
        (A(3, 4), None, None, (3,)),
        (A(3, 4), A(3), None, (4,)),
        (A(3, 4), None, None, ()),
    ],
)
record(
    "native_layer_norm",
    lambda T, x, w, b: T.native_layer_norm(x, (4,), w, b, 1e-5)[0],
    (A(3, 4), A(4), A(4)),
    dtypes=FLOATS[:2],
)
record(
    "rms_norm",
    lambda T, x, w, s: T.nn.functional.rms_norm(x, s, w, 1e-3),
    (A(3, 4), A(4), (4,)),
    (A(2, 3, 4, lay="t"), None, (3, 4)),
    dtypes=FLOATS,
    bad=[(A(3, 4), None, (3,)), (A(3, 4), A(3), (4,))],
)
record(
    "group_norm",
    lambda T, x, w, b, n: T.nn.functional.group_norm(x, n, w, b),
    (A(2, 4, 3), A(4), A(4), 2),
    (A(3, 8), A(8), None, 2),
    (A(2, 4, 2, 2, lay="t"), None, None, 4),
    covers="group_norm_of",
    dtypes=FLOATS,
    bad=[(A(2, 4, 3), None, None, 3), (A(2, 4, 3), A(3), None, 2), (A(1, 4), None, None, 4)],
)
record(
    "native_group_norm",
    lambda T, x, w, b: T.native_group_norm(x, w, b, 2, 4, 3, 2, 1e-5),
    (A(2, 4, 3), A(4), A(4)),
    (A(2, 4, 3), None, None),
    dtypes=FLOATS[:2],
)
