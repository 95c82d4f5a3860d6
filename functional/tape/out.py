"""``out=``: results written into a tensor that the caller gives."""

from __future__ import annotations

from typing import Any

from ..blame import warn
from ..errors import type_name
from ..kernels import layout
from ..modes import MODE
from ..tensor import Tensor, replace_data
from . import foreign
from .duals import FORWARD, PlainDual
from .memory import check_apart, check_internal, check_overlap
from .op import TENSOR
from .out_dtypes import check_out_dtype
from .views import bump, check_in_place, requires_grad

_RESIZED = (
    "An output with one or more elements was resized since it had shape {}, which does not match "
    "the required output shape {}. This behavior is deprecated, and in a future PyTorch release "
    "outputs will not be resized unless they have zero elements. You can explicitly reuse an out "
    "tensor t by resizing it, inplace, to zero elements with t.resize_(0)."
)
# Whose result may not go where an input lies. Most may write over their inputs, if over all of one,
_APART = frozenset("cat cross gather index_select kthvalue linalg_cross masked_select take".split())
# nor, of these, to elements that share memory even if another shape is needed;
_NEVER_SHARED = frozenset("index_select masked_select take".split())
# some over a part of one as well,
_COPIED = frozenset(
    """
    bmm cholesky cummax cummin geqrf inverse linalg_cholesky linalg_cholesky_ex
    linalg_householder_product linalg_inv linalg_inv_ex linalg_ldl_factor linalg_lu
    linalg_lu_factor linalg_matrix_power linalg_pinv linalg_qr linalg_solve linalg_svd log_softmax
    lu_unpack matmul matrix_power mm mvlgamma qr softmax special_ndtr svd tensordot
    triangular_solve tril triu fft_fft fft_fft2 fft_fftn fft_hfft fft_hfft2 fft_hfftn fft_ifft
    fft_ifft2 fft_ifftn fft_ihfft fft_ihfft2 fft_ihfftn fft_irfft fft_irfft2 fft_irfftn fft_rfft
    fft_rfft2 fft_rfftn
    """.split()
)
# and these to elements that share memory.
REWRITE = frozenset(
    """
    all amax amin any argmax argmin bmm cummax cummin empty eye full histc histogram
    linalg_vecdot linalg_vector_norm mv nansum norm ones prod randperm std sum tril triu var zeros
    """.split()
)
_RESIZE = frozenset(
    """
    addbmm arange bernoulli empty eye full linspace logspace multinomial ones rand randint randn
    randperm range zeros
    """.split()
)  # functions that resize what has elements without a warning


def need_out(name: str, out: Any) -> Tensor:
    """``out=``, or PyTorch's error if it is no tensor."""
    if not isinstance(out, Tensor):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type_name(out)}")
    return out


def need_dtype(out: Tensor, dtype: Any) -> None:
    """PyTorch's error for an ``out=`` of another dtype than was asked for."""
    if dtype is not None and out.dtype is not dtype:
        check_out_dtype("cumsum", dtype, out.dtype)


def check_out(name: str, inputs: Any, out: Tensor) -> None:
    """PyTorch's errors for an ``out=`` that is no tensor, or where something would be recorded."""
    name = name.partition(".")[0]
    need_out(name, out)
    if FORWARD.level and any(type(a) is PlainDual for a in (*inputs, out)):
        raise NotImplementedError(
            f"Trying to use forward AD with {name}_out that does not support it because it is an "
            "out= function"
        )
    if MODE.grad and any(isinstance(a, Tensor) and requires_grad(a) for a in (*inputs, out)):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic "
            "differentiation, but one of the arguments requires grad."
        )
    check_in_place(out, False)


def check_memory(name: str, inputs: Any, out: Tensor) -> None:
    """PyTorch's errors for an ``out=`` that shares memory with inputs."""
    if name in _NEVER_SHARED:
        check_internal(out)
    if name in _APART:
        check_apart(out, inputs)
    elif name not in _COPIED:
        check_overlap(out, inputs)


def out_of(function: Any, out: Tensor, *args: Any, name: str | None = None) -> Tensor:
    """``function(*args)`` written into ``out``, for functions that are no single operation."""
    flat = [t for a in args for t in (a if isinstance(a, (list, tuple)) else (a,))]
    name = name or function.__name__
    check_out(name, flat, out)
    check_memory(name, flat, out)
    return write_out(function(*args), out, name)


def write_out(result: Tensor, out: Tensor, name: str = "", at: int = 0) -> Tensor:
    """Copy a result of the function ``name`` into ``out``, which takes the result's shape.

    ``at`` is the result's place among several.
    """
    if result.dtype is not out.dtype:
        check_out_dtype(name, result.dtype, out.dtype, at)
    x = result._data
    if out._data.shape == x.shape:
        check_internal(out, name in REWRITE)
    else:
        if out._data.size and name not in _RESIZE:
            warn(_RESIZED.format(list(out._data.shape), list(x.shape)))
        _resize(out, x)
    out._data[...] = result._data
    bump(out)
    return out


def _resize(out: Tensor, x: Any) -> None:
    """Give ``out`` the shape of ``x``, in its own memory where that is a part of a larger one."""
    place = out._place
    if place is not None and place.base is not None:
        TENSOR.resize_(out, x.shape)
        return
    strides = layout.result_strides(x.shape, [x], out._data.dtype.itemsize)
    replace_data(out, foreign.layout_for(x).empty(x.shape, strides, out._data.dtype))
