"""Creation of ranges, and of the identity matrix."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from .. import dtypes
from ..errors import not_implemented
from ..kernels.spacing import powers_between, spaced, stepped
from ..modes import MODE
from ..tape.op import public
from ..tape.operands import no_form
from ..tape.wrappers import born
from ..tensor import Tensor
from .arguments import integer, wrong_type
from .create import as_dtype, placed
from .given import given
from .layouts import need_strided
from .too_large import too_large


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
    if layout is not None:
        need_strided(layout, "arange")
    if len(args) > 3 or not named.keys() <= {"start", "end", "step"} or not (args or named):
        raise no_form("arange", args, named)
    start, end, step = _bounds(args, named)
    _check_range(start, end, step)
    whole = all(isinstance(x, (int, np.integer)) for x in (start, end, step))
    usual = dtypes.int64 if whole else dtypes.get_default_dtype()
    d = dtype or (usual if out is None else out.dtype)
    if d is dtypes.bool_ or d.category == dtypes.COMPLEX:
        raise not_implemented("arange_cpu", d)
    made = placed(_stepped(start, end, step, whole, d), device, requires_grad)
    return born(made) if MODE.transforms and out is None else given(made, out, dtype, "arange")


def _check_range(start: Any, end: Any, step: Any) -> None:
    """PyTorch's errors for bounds between which there is no range."""
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    if (count := (end - start) / step) > 1 << 40:
        raise too_large((math.ceil(count),), 8)


def _stepped(start: Any, end: Any, step: Any, whole: bool, d: dtypes.dtype) -> np.ndarray:
    if d.category != dtypes.INT:
        count = max(math.ceil((end - start) / step), 0)
        return stepped(float(start), float(step), count, d.array)
    count = None if d is dtypes.int64 else max(math.ceil((end - start) / step), 0)
    start, end, step = int(start), int(end), int(step)
    if step == 0:
        raise ValueError("step must be nonzero")
    if whole or count is None:
        return np.arange(start, end, step, dtype=d.array)
    return (start + np.arange(count) * step).astype(d.array)


def _bounds(args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, Any, Any]:
    values = [a.item() if isinstance(a, Tensor) else a for a in args]
    for a in values:
        if isinstance(a, (complex, np.complexfloating)):
            raise RuntimeError("value cannot be converted to type double without overflow")
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


def range_(
    start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None, out: Any = None, **kw: Any
) -> Tensor:
    """Numbers from ``start`` up to and including ``end``, ``step`` apart."""
    if end is None:
        raise TypeError('range() missing 1 required positional arguments: "end"')
    warnings.warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is "
        "inconsistent with Python's range builtin. Instead, use torch.arange, which produces "
        "values in [start, end).",
        UserWarning,
        stacklevel=2,
    )
    kind = as_dtype(dtype, "range")
    d = kind or (dtypes.get_default_dtype() if out is None else out.dtype)
    start, end, step = (x.item() if isinstance(x, Tensor) else x for x in (start, end, step))
    _check_range(start, end, step)
    count = int((end - start) / step) + 1
    data = (start + np.arange(count) * step).astype(d.array)
    made = placed(data, kw.get("device"), kw.get("requires_grad", False))
    return born(made) if MODE.transforms and out is None else given(made, out, kind, "range")


range_.__name__ = range_.__qualname__ = "range"
public(range_)


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
    d = _check_spacing("linspace", (start, end), steps, dtype, out)
    need_strided(layout, "linspace")
    start, end, d = _ends("linspace", start, end, dtype, d)
    made = placed(spaced(start, end, steps, d.array), device, requires_grad)
    return born(made) if MODE.transforms and out is None else given(made, out, dtype, "linspace")


@public
def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    out: Any = None,
    layout: Any = None,
) -> Tensor:
    """``steps`` powers of ``base``, their exponents evenly spaced from ``start`` to ``end``."""
    d = _check_spacing("logspace", (start, end), steps, dtype, out)
    need_strided(layout, "logspace")
    start, end, d = _ends("logspace", start, end, dtype, d)
    if d.category < dtypes.FLOAT:
        start, end = int(start), int(end)
    data = powers_between(base, start, end, steps, d.array)
    made = placed(data, device, requires_grad)
    return born(made) if MODE.transforms and out is None else given(made, out, dtype, "logspace")


def _check_spacing(name: str, ends: Any, steps: Any, dtype: Any, out: Any) -> dtypes.dtype:
    if not hasattr(steps, "__index__"):
        raise no_form(name, (*ends, steps))
    dims = [x.ndim if isinstance(x, Tensor) else 0 for x in ends]
    if any(dims):
        raise RuntimeError(
            f"{name} only supports 0-dimensional start and end tensors, but got start with "
            f"{dims[0]} dimension(s) and end with {dims[1]} dimension(s)."
        )
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    usual = dtypes.get_default_dtype() if out is None else out.dtype
    d = as_dtype(dtype, name) or usual
    if d is dtypes.bool_:
        raise not_implemented(f"{name}_cpu", dtypes.bool_)
    return d


def _ends(name: str, start: Any, end: Any, dtype: Any, d: dtypes.dtype) -> tuple[Any, Any, Any]:
    """Both ends as numbers, and the dtype: complex if an end is and none was asked for."""
    start, end = (x.item() if isinstance(x, Tensor) else x for x in (start, end))
    if (isinstance(start, complex) or isinstance(end, complex)) and d.category < dtypes.COMPLEX:
        twin = dtypes.complex128 if d is dtypes.float64 else dtypes.complex64
        if dtype is not None:
            raise RuntimeError(
                f"torch.{name}(): inferred dtype c10::complex<float> can't be safely cast to "
                f"passed dtype {d.legacy}"
            )
        return start, end, twin
    return start, end, d


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
    kind = as_dtype(dtype, "eye")
    d = kind or (dtypes.get_default_dtype() if out is None else out.dtype)
    need_strided(layout, "eye")
    n = integer(n, "eye.n.1")
    m = n if m is None else integer(m, "eye.m.2")
    for name, size in (("n", n), ("m", m)):
        if size < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {size}")
    made = placed(np.eye(n, m, dtype=d.array), device, requires_grad)
    return born(made) if MODE.transforms and out is None else given(made, out, kind, "eye")


def _triangle(name: str, find: Any, doc: str) -> Any:
    def indices(
        row: int,
        col: int,
        offset: int = 0,
        *,
        dtype: Any = dtypes.int64,
        device: Any = None,
        layout: Any = None,
    ) -> Tensor:
        if layout is not None:
            need_strided(layout, name)
        kind = as_dtype(dtype, name) or dtypes.int64
        if kind.category != dtypes.INT:
            raise not_implemented(name, kind)
        for at, (what, n) in enumerate((("row", row), ("col", col)), 1):
            integer(n, f"{name}.{what}.{at}")
            if n < 0:
                raise RuntimeError(f"{what} must be non-negative, got{n}")
        found = np.stack(find(row, offset, col)) if row and col else np.zeros((2, 0))
        return placed(found.astype(kind.array), device, False)

    indices.__name__ = indices.__qualname__ = name
    indices.__doc__ = doc
    return public(indices)


tril_indices = _triangle(
    "tril_indices", np.tril_indices, "Rows and columns on and below a diagonal, (2, n)."
)
triu_indices = _triangle(
    "triu_indices", np.triu_indices, "Rows and columns on and above a diagonal, (2, n)."
)
