"""torch.masked: reductions and normalisations that leave out elements whose mask is False."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from functional import dtypes
from functional.ops.norms import vector_norm
from functional.tape.op import TENSOR
from functional.tensor import Tensor

__all__ = [
    "amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp",
    "logsumexp", "mean", "median", "norm", "normalize", "prod", "softmax", "softmin", "std",
    "sum", "var",
]  # fmt: skip


def _filled(x: Tensor, mask: Any, value: Any, dtype: Any = None) -> Tensor:
    """``x`` with ``value`` where ``mask`` is False."""
    if dtype is not None and x.dtype is not dtype:
        x = TENSOR.to_dtype(x, dtype)
    if mask is None:
        return x
    return TENSOR.where(mask, x, TENSOR.full((), value, dtype=x.dtype))


def _dims(x: Tensor, dim: Any) -> tuple[int, ...]:
    if dim is None or dim == ():
        return tuple(range(x.ndim))
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    found = tuple(d % max(x.ndim, 1) for d in dims)
    for d, given in zip(found, dims, strict=True):
        if found.count(d) > 1:
            raise RuntimeError(f"dim={given} appears multiple times in the list of dims")
    return found if x.ndim else ()


def _lowest(d: Any, sign: int) -> Any:
    """The least number of a dtype (the greatest if ``sign`` is negative)."""
    if d.is_floating_point:
        return -sign * float("inf")
    if d is dtypes.bool_:
        return sign < 0
    info = np.iinfo(d.array)
    return info.min if sign > 0 else info.max


def _total_type(x: Tensor, dtype: Any) -> Any:
    if dtype is None and x.dtype.category < dtypes.FLOAT:
        return dtypes.int64
    return dtype


def sum(
    input: Tensor, dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: Any = None
) -> Tensor:
    """The sum over ``dim``."""
    x = _filled(input, mask, 0, _total_type(input, dtype))
    return TENSOR.sum(x, _dims(x, dim), builtins.bool(keepdim)) if x.ndim else TENSOR.sum(x)


def prod(
    input: Tensor, dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: Any = None
) -> Tensor:
    """The product over ``dim``."""
    x = _filled(input, mask, 1, _total_type(input, dtype))
    for d in sorted(_dims(x, dim), reverse=True):
        x = TENSOR.prod(x, d, builtins.bool(keepdim))
    return x


def cumsum(input: Tensor, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """Running sums along ``dim``."""
    return TENSOR.cumsum(_filled(input, mask, 0, _total_type(input, dtype)), dim)


def cumprod(input: Tensor, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """Running products along ``dim``."""
    return TENSOR.cumprod(_filled(input, mask, 1, _total_type(input, dtype)), dim)


def _extreme(reducer: Any, sign: int, doc: str) -> Any:
    def reduce(
        input: Tensor, dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: Any = None
    ) -> Tensor:
        x = _filled(input, mask, _lowest(dtype or input.dtype, sign), dtype)
        return reducer(x, _dims(x, dim), builtins.bool(keepdim))

    reduce.__name__ = reduce.__qualname__ = reducer.__name__
    reduce.__doc__ = doc
    return reduce


amax = _extreme(TENSOR.amax, 1, "The maximum over ``dim``.")
amin = _extreme(TENSOR.amin, -1, "The minimum over ``dim``.")


def _position(finder: Any, sign: int, doc: str) -> Any:
    def find(
        input: Tensor, dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: Any = None
    ) -> Tensor:
        x = _filled(input, mask, _lowest(dtype or input.dtype, sign), dtype)
        at = finder(x, dim, builtins.bool(keepdim))
        return TENSOR.to_dtype(at, dtype or input.dtype)

    find.__name__ = find.__qualname__ = finder.__name__
    find.__doc__ = doc
    return find


argmax = _position(TENSOR.argmax, 1, "The index of the maximum along ``dim``.")
argmin = _position(TENSOR.argmin, -1, "The index of the minimum along ``dim``.")


def _counts(x: Tensor, dim: Any, keepdim: Any, mask: Any) -> Tensor:
    ones = TENSOR.ones(tuple(x.shape), dtype=dtypes.int64)
    return sum(ones, dim, keepdim=keepdim, mask=mask)


def mean(
    input: Tensor, dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: Any = None
) -> Tensor:
    """The mean over ``dim``."""
    kind = input.dtype if dtype is None else dtype
    if kind.category < dtypes.FLOAT:
        raise ValueError(f"input dtype must be a floating point or complex type, got {kind!r}")
    if mask is None:
        x = _filled(input, None, 0, dtype)
        return TENSOR.mean(x, _dims(x, dim), builtins.bool(keepdim))
    total = sum(input, dim, keepdim=keepdim, dtype=dtype, mask=mask)
    return total / _counts(input, dim, keepdim, mask)


def median(
    input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Tensor:
    """The lower median along ``dim``."""
    kind = input.dtype if dtype is None else dtype
    x = _filled(input, mask, float("nan") if kind.is_floating_point else 0, dtype)
    if not kind.is_floating_point and mask is not None and not builtins.bool(mask.all()):
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating")
    dims = _dims(x, dim)
    return TENSOR.nanmedian(x, dims[0] if dims else 0, builtins.bool(keepdim))[0]


def norm(
    input: Tensor,
    ord: Any = 2.0,
    dim: Any = None,
    *,
    keepdim: Any = False,
    dtype: Any = None,
    mask: Any = None,
) -> Tensor:
    """The p-norm over ``dim``."""
    x = _filled(input, mask, float("inf") if ord < 0 else 0, dtype)
    return vector_norm(x, ord, _dims(x, dim), builtins.bool(keepdim))


def _var(
    input: Tensor, dim: Any, unbiased: Any, correction: Any, keepdim: Any, dtype: Any, mask: Any
) -> Tensor:
    correction = 1.0 if correction is None else correction
    if unbiased is not None:
        correction = float(unbiased)
    kind = input.dtype if dtype is None else dtype
    if kind.category < dtypes.FLOAT:
        kind = dtypes.float32
    x = _filled(input, None, 0, kind)
    center = sum(x, dim, keepdim=True, mask=mask) / _counts(x, dim, True, mask)
    rest = x - center
    square = rest * TENSOR.conj(rest) if kind.is_complex else rest * rest
    total = sum(square, dim, keepdim=keepdim, mask=mask)
    left = TENSOR.to_dtype(_counts(x, dim, keepdim, mask), center.real.dtype if kind.is_complex
                           else kind) - correction  # fmt: skip
    return total / TENSOR.clamp(left, min=0)


def var(
    input: Tensor,
    dim: Any = None,
    unbiased: Any = None,
    *,
    correction: Any = None,
    keepdim: Any = False,
    dtype: Any = None,
    mask: Any = None,
) -> Tensor:
    """The variance over ``dim``; the sum of squares is divided by count - correction."""
    return _var(input, dim, unbiased, correction, keepdim, dtype, mask)


def std(
    input: Tensor,
    dim: Any = None,
    unbiased: Any = None,
    *,
    correction: Any = None,
    keepdim: Any = False,
    dtype: Any = None,
    mask: Any = None,
) -> Tensor:
    """The standard deviation over ``dim``: the root of ``var``."""
    return TENSOR.sqrt(_var(input, dim, unbiased, correction, keepdim, dtype, mask))


def softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """exp(x) / Σ exp(x) along ``dim``."""
    return TENSOR.softmax(_filled(input, mask, float("-inf"), dtype), dim)


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """log(exp(x) / Σ exp(x)) along ``dim``."""
    return TENSOR.log_softmax(_filled(input, mask, float("-inf"), dtype), dim)


def softmin(input: Tensor, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """exp(-x) / Σ exp(-x) along ``dim``."""
    return TENSOR.softmax(-_filled(input, mask, float("inf"), dtype), dim)


def normalize(
    input: Tensor, ord: float, dim: int, *, eps: float = 1e-12, dtype: Any = None, mask: Any = None
) -> Tensor:
    """x / max(norm of x along ``dim``, eps)."""
    size = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    limit = TENSOR.maximum(size, TENSOR.full((), eps, dtype=size.dtype))
    return _filled(input, mask, 0, dtype) / limit


def logsumexp(
    input: Tensor, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Tensor:
    """log Σ exp(x) over ``dim``."""
    kind = input.dtype if dtype is None else dtype
    fill = float("-inf") if kind.category >= dtypes.FLOAT else _lowest(kind, 1)
    x = _filled(input, mask, fill, dtype)
    return _filled(TENSOR.logsumexp(x, _dims(x, dim), builtins.bool(keepdim)), None, 0, kind)


def logaddexp(
    input: Tensor,
    other: Tensor,
    *,
    dtype: Any = None,
    input_mask: Any = None,
    other_mask: Any = None,
) -> Tensor:
    """log(exp(input) + exp(other))."""
    low = float("-inf")
    return TENSOR.logaddexp(
        _filled(input, input_mask, low, dtype), _filled(other, other_mask, low, dtype)
    )


def _input_mask(input: Tensor, *args: Any, **named: Any) -> Tensor:
    """The mask of ``input``, in its shape; all True where none is given."""
    mask = named.get("mask")
    shape = tuple(input.shape)
    if mask is None:
        return TENSOR.ones(shape, dtype=dtypes.bool_)
    return TENSOR.expand(TENSOR.to_dtype(mask, dtypes.bool_), shape)


_SCANS = {"cumsum", "cumprod", "softmax", "log_softmax", "softmin", "normalize"}


def _output_mask(op: Any, input: Tensor, *args: Any, **named: Any) -> Tensor:
    """Which elements of ``op``'s result rest on an element that is not left out."""
    mask = _input_mask(input, **named)
    if op.__name__ in _SCANS:
        return mask
    at = 1 if op.__name__ == "norm" else 0
    dim = args[at] if len(args) > at else named.get("dim", -1 if op.__name__ == "median" else None)
    return TENSOR.any(mask, _dims(input, dim), builtins.bool(named.get("keepdim", False)))
