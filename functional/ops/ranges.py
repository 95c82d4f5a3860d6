"""Creation of ranges, and of the identity matrix."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import dtypes
from ..tape.op import public
from ..tensor import Tensor
from .arguments import integer, wrong_type
from .create import _placed as placed
from .create import as_dtype


@public
def arange(
    *args: Any,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    out: Any = None,
    layout: Any = None,
    pin_memory: bool = False,
    **named: Any,
) -> Tensor:
    """Numbers from ``start`` (0) up to but not including ``end``, ``step`` apart."""
    dtype = as_dtype(dtype, "arange")
    start, end, step = _bounds(args, named)
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    whole = all(isinstance(x, (int, np.integer)) for x in (start, end, step))
    d = dtype or (dtypes.int64 if whole else dtypes.get_default_dtype())
    count = max(math.ceil((end - start) / step), 0)
    if whole and d.category == dtypes.INT:
        data = np.arange(start, end, step, dtype=d.array)
    else:
        data = (start + np.arange(count) * float(step)).astype(d.array)
    return placed(data, device, requires_grad)


def _bounds(args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, Any, Any]:
    values = [a.item() if isinstance(a, Tensor) else a for a in args]
    for a in values:
        if not isinstance(a, (int, float, np.number, np.bool_)):
            at = len(args) if len(args) == 1 else values.index(a) + 1
            name = "end" if len(args) == 1 else ("start", "end", "step")[at - 1]
            raise wrong_type(f"arange.{name}.{at}", "Number", a)
    named = {k: v.item() if isinstance(v, Tensor) else v for k, v in named.items()}
    if len(values) == 1 and "end" not in named:
        return 0, values[0], named.get("step", 1)
    for name in ("start", "end", "step")[len(values) :]:
        values.append(named.get(name, 1 if name == "step" else 0))
    return values[0], values[1], values[2]


@public
def linspace(
    start: Any,
    end: Any,
    steps: int,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    out: Any = None,
    layout: Any = None,
) -> Tensor:
    """``steps`` numbers from ``start`` to ``end``, both included, evenly spaced."""
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    d = dtype or dtypes.get_default_dtype()
    start, end = (x.item() if isinstance(x, Tensor) else x for x in (start, end))
    return placed(_spaced(start, end, steps, d.array), device, requires_grad)


def _spaced(start: Any, end: Any, steps: int, dtype: np.dtype) -> np.ndarray:
    """From both ends towards the middle, in the target's precision, as PyTorch computes it."""
    if steps <= 1:
        return np.full(steps, start, dtype)
    work = dtype.type if dtype.kind == "f" and dtype.itemsize >= 4 else np.float64
    a, b = work(start), work(end)
    step = (b - a) / work(steps - 1)
    i = np.arange(steps)
    half = steps // 2
    lower = a + step * i.astype(work)
    upper = b - step * (steps - i - 1).astype(work)
    return np.where(i < half, lower, upper).astype(dtype)


@public
def eye(
    n: int,
    m: int | None = None,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    out: Any = None,
    layout: Any = None,
) -> Tensor:
    """The identity matrix, (n, m)."""
    d = as_dtype(dtype, "eye") or dtypes.get_default_dtype()
    n = integer(n, "eye.n.1")
    m = n if m is None else integer(m, "eye.m.2")
    for name, size in (("n", n), ("m", m)):
        if size < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {size}")
    return placed(np.eye(n, m, dtype=d.array), device, requires_grad)
