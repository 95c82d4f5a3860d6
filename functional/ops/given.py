"""New tensors written into the ``out=`` that a call gives."""

from __future__ import annotations

from typing import Any

from ..blame import warn_once
from ..kernels.layout import dense_strides
from ..modes import MODE
from ..tape.memory import check_internal
from ..tape.out import REWRITE, need_out
from ..tape.sparse import is_sparse
from ..tape.views import bump, requires_grad
from ..tensor import Tensor
from .cast import to_dtype
from .resizing import resized

_OTHER_COUNT = (
    "The number of elements in the out tensor of shape {} is {} which does not match the computed "
    "number of elements {}. Note that this may occur as a result of rounding error. The out tensor "
    "will be resized to a tensor of shape ({},)."
)


def given(t: Tensor, out: Any, dtype: Any = None, name: str = "") -> Tensor:
    """A new tensor, or what it says written into ``out``, whose dtype was to be ``dtype``.

    ``out`` takes the shape of ``t``, in its own memory where that is large enough. For functions
    in ``RANGES`` it keeps a shape of as many elements.
    """
    if out is None:
        return t
    need_out(name, out)
    _check(t, out, dtype, name)
    if is_sparse(out):
        out._data = to_dtype(t if is_sparse(t) else t.to_sparse(), out.dtype)._data
        bump(out)
        return out
    if not is_sparse(t):
        t = to_dtype(t, out.dtype)
    shape = tuple(t.shape)
    if tuple(out.shape) != shape and not (name in RANGES and out.numel() == t.numel()):
        if name in _WARNS and out.numel():
            warn_once(_OTHER_COUNT.format(list(out.shape), out.numel(), t.numel(), t.numel()))
        item = out._data.dtype.itemsize
        resized(out, shape, dense_strides(shape, list(range(len(shape))), item))
    check_internal(out, name in REWRITE)
    if not t.is_meta:
        out._data[...] = t._data.reshape(out._data.shape)
    bump(out)
    return out


_WARNS = frozenset("arange fft_fftfreq fft_rfftfreq".split())
RANGES = _WARNS | {"range", "linspace", "logspace"}


def _check(t: Tensor, out: Tensor, dtype: Any, name: str) -> None:
    if requires_grad(out) and MODE.grad:
        raise RuntimeError(
            f"aten::{name}(): functions with out=... arguments don't support automatic "
            "differentiation, but one of the arguments requires grad."
        )
    if dtype is not None and dtype is not out.dtype:
        raise RuntimeError(
            f"dtype {dtype.legacy} does not match dtype of out parameter ({out.dtype.legacy})"
        )
    if is_sparse(t) and not is_sparse(out):
        raise RuntimeError("layout Sparse does not match layout of out parameter (Strided)")
    if t.device != out.device:
        raise RuntimeError(
            f"device type {t.device.type} does not match device type of out parameter "
            f"({out.device.type})"
        )
