"""torch.masked: reductions and normalisations that leave out elements whose mask is False."""

from __future__ import annotations

import builtins
from typing import Any

from functional import dtypes
from functional.ops.norms import vector_norm
from functional.tape.op import TENSOR
from functional.tensor import Tensor

from .number_info import iinfo

__all__ = [
    "amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp",
    "logsumexp", "mean", "median", "norm", "normalize", "prod", "softmax", "softmin", "std",
    "sum", "var",
]  # fmt: skip


def _mask_of(x: Tensor, mask: Tensor) -> Tensor:
    """A mask of any dtype as booleans in the shape of ``x``."""
    if mask.ndim > x.ndim:
        raise IndexError(
            "_input_mask expected broadcastable mask (got mask dimensionality higher than of the "
            "input)"
        )
    if mask.dtype is not dtypes.bool_:
        mask = TENSOR.to_dtype(mask, dtypes.bool_)
    return mask if mask.shape == x.shape else TENSOR.expand(mask, tuple(x.shape))


def _filled(x: Tensor, mask: Any, value: Any) -> Tensor:
    """``x`` with ``value`` where ``mask`` is False."""
    if mask is None:
        return x
    return TENSOR.where(_mask_of(x, mask), x, TENSOR.full((), value, dtype=x.dtype))


def _converted(x: Tensor, dtype: Any) -> Tensor:
    return x if dtype is None or x.dtype is dtype else TENSOR.to_dtype(x, dtype)


def _dims(x: Tensor, dim: Any) -> tuple[int, ...]:
    if dim is None or dim == ():
        return tuple(range(x.ndim))
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    found = tuple(d % max(x.ndim, 1) for d in dims)
    for d, given in zip(found, dims, strict=True):
        if found.count(d) > 1:
            raise RuntimeError(f"dim={given} appears multiple times in the list of dims")
    return found if x.ndim else ()


def _end(name: str, d: Any, sign: int) -> Any:
    """The least number of a dtype (the greatest if ``sign`` is negative)."""
    if d.is_floating_point:
        return -sign * float("inf")
    if d is dtypes.bool_:
        raise NotImplementedError(f"identity of {name} on {d!r} input")
    info = iinfo(d)  # which refuses complex numbers
    return info.min if sign > 0 else info.max


def _without(name: str, x: Tensor, mask: Any, sign: int) -> Tensor:
    """``x`` with what is left out beyond all other numbers."""
    return x if mask is None else _filled(x, mask, _end(name, x.dtype, sign))


def _total_type(x: Tensor, dtype: Any) -> Any:
    if dtype is None and x.dtype.category < dtypes.FLOAT:
        return dtypes.int64
    return dtype


def sum(
    input: Tensor, dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: Any = None
) -> Tensor:
    """The sum over ``dim``."""
    x, dtype = _filled(input, mask, 0), _total_type(input, dtype)
    if not x.ndim:
        return TENSOR.sum(x, dtype=dtype)
    return TENSOR.sum(x, _dims(x, dim), builtins.bool(keepdim), dtype=dtype)


def prod(
    input: Tensor, dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: Any = None
) -> Tensor:
    """The product over ``dim``."""
    x = _converted(_filled(input, mask, 1), _total_type(input, dtype))
    for d in sorted(_dims(x, dim), reverse=True):
        x = TENSOR.prod(x, d, builtins.bool(keepdim))
    return x


def _scan(input: Tensor, dim: int, mask: Any, start: int, dtype: Any, scan: Any) -> Tensor:
    """``scan`` along ``dim`` in the input's own dtype, if no other is asked for."""
    return scan(_filled(input, mask, start), dim, dtype=dtype or input.dtype)


def cumsum(input: Tensor, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """Running sums along ``dim``."""
    return _scan(input, dim, mask, 0, dtype, TENSOR.cumsum)


def cumprod(input: Tensor, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """Running products along ``dim``."""
    return _scan(input, dim, mask, 1, dtype, TENSOR.cumprod)


def _extreme(reducer: Any, sign: int, doc: str) -> Any:
    def reduce(
        input: Tensor, dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: Any = None
    ) -> Tensor:
        x = _without(reducer.__name__, input, mask, sign)
        return _converted(reducer(x, _dims(x, dim), builtins.bool(keepdim)), dtype)

    reduce.__name__ = reduce.__qualname__ = reducer.__name__
    reduce.__doc__ = doc
    return reduce


amax = _extreme(TENSOR.amax, 1, "The maximum over ``dim``.")
amin = _extreme(TENSOR.amin, -1, "The minimum over ``dim``.")


def _position(finder: Any, sign: int, doc: str) -> Any:
    def find(
        input: Tensor, dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: Any = None
    ) -> Tensor:
        x = _without(finder.__name__, input, mask, sign)
        return _converted(finder(x, dim, builtins.bool(keepdim)), dtype or input.dtype)

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
        raise ValueError(
            f"mean(): Could not infer output dtype. {'Input' if dtype is None else 'Optional'} "
            f"dtype must be either a floating point or complex dtype. Got: {kind!r}"
        )
    total = sum(input, dim, keepdim=keepdim, dtype=kind, mask=mask)
    return total / _counts(input, dim, keepdim, mask)


def median(
    input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Tensor:
    """The lower median along ``dim``."""
    floating = input.dtype.is_floating_point
    x = _filled(_converted(input, None if floating else dtypes.float32), mask, float("nan"))
    dims = _dims(x, dim)
    found = TENSOR.nanmedian(x, dims[0] if dims else 0, builtins.bool(keepdim))[0]
    if floating:
        return found
    if builtins.bool(TENSOR.isnan(found).any()):
        raise ValueError(
            "masked median expects no fully masked out rows if dtype is not floating point"
        )
    return _converted(found, dtype or input.dtype)


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
    x = _filled(input, mask, float("inf") if ord == float("-inf") else 0)
    return vector_norm(x, ord, _dims(x, dim), builtins.bool(keepdim), dtype)


def _var(
    input: Tensor, dim: Any, unbiased: Any, correction: Any, keepdim: Any, dtype: Any, mask: Any
) -> Tensor:
    correction = 1.0 if correction is None else correction
    if unbiased is not None:
        correction = float(unbiased)
    kind = input.dtype if dtype is None else dtype
    work = kind if kind.category >= dtypes.FLOAT else dtypes.float32
    if dtype is None:
        kind = work
    center = sum(input, dim, keepdim=True, dtype=kind, mask=mask) / _counts(input, dim, True, mask)
    rest = input - center
    square = rest * TENSOR.conj(rest) if rest.dtype.is_complex else rest * rest
    total = sum(square, dim, keepdim=keepdim, dtype=work, mask=mask)
    left = _counts(input, dim, keepdim, mask)
    if correction != 0:
        left = TENSOR.clamp(
            _converted(left, work.to_real() if work.is_complex else work) - correction, min=0
        )
    return _converted(total / left, kind)


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
    return TENSOR.softmax(_without("amax", input, mask, 1), dim, dtype=dtype)


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """log(exp(x) / Σ exp(x)) along ``dim``."""
    return TENSOR.log_softmax(_without("amax", input, mask, 1), dim, dtype=dtype)


def softmin(input: Tensor, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """exp(-x) / Σ exp(-x) along ``dim``."""
    return TENSOR.softmax(-_without("amin", input, mask, -1), dim, dtype=dtype)


def normalize(
    input: Tensor, ord: float, dim: int, *, eps: float = 1e-12, dtype: Any = None, mask: Any = None
) -> Tensor:
    """x / max(norm of x along ``dim``, eps)."""
    size = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    limit = TENSOR.maximum(size, TENSOR.full((), eps, dtype=size.dtype))
    return _filled(input, mask, 0) / limit


def logsumexp(
    input: Tensor, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Tensor:
    """log Σ exp(x) over ``dim``."""
    if input.dtype.is_complex:
        x = _filled(input, mask, float("-inf"))
    else:
        x = _without("logsumexp", input, mask, 1)
    found = TENSOR.logsumexp(x, _dims(x, dim), builtins.bool(keepdim))
    return _converted(found, dtype or input.dtype)


def logaddexp(
    input: Tensor,
    other: Tensor,
    *,
    dtype: Any = None,
    input_mask: Any = None,
    other_mask: Any = None,
) -> Tensor:
    """log(exp(input) + exp(other))."""
    x = _without("logaddexp", input, input_mask, 1)
    y = _without("logaddexp", other, other_mask, 1)
    return _converted(TENSOR.logaddexp(x, y), dtype or input.dtype)


def _input_mask(input: Tensor, *args: Any, **named: Any) -> Tensor:
    """The mask of ``input``, in its shape; all True where none is given."""
    mask = named.get("mask")
    if mask is None:
        return TENSOR.ones(tuple(input.shape), dtype=dtypes.bool_)
    return _mask_of(input, mask)


_SCANS = {"cumsum", "cumprod", "softmax", "log_softmax", "softmin", "normalize"}


def _output_mask(op: Any, input: Tensor, *args: Any, **named: Any) -> Tensor:
    """Which elements of ``op``'s result rest on an element that is not left out."""
    mask = _input_mask(input, **named)
    if op.__name__ in _SCANS:
        return mask
    at = 1 if op.__name__ == "norm" else 0
    dim = args[at] if len(args) > at else named.get("dim", -1 if op.__name__ == "median" else None)
    return TENSOR.any(mask, _dims(input, dim), builtins.bool(named.get("keepdim", False)))
