"""Fourier transforms: three primitives and the functions made of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..errors import not_implemented
from ..kernels import numpy as kernels
from ..tape.batching import shifted
from ..tape.declare import general
from ..tape.op import TENSOR, public
from ..tape.out import need_out, out_of
from ..tensor import Tensor
from .arguments import no_dimensions, one_dim
from .create import placed
from .given import given
from .linalg_parts import not_holomorphic

# --- primitives -----------------------------------------------------------------------------------


def _real_vjp(F: Any, g: Any, self: Any, dim: Any, norm: int, onesided: bool) -> Any:
    if not onesided:
        return F.real(F.fft_c2c(g, dim, norm, False))
    last, size = dim[-1], self.shape[dim[-1]]
    return F.fft_c2r(_interior(F, g, last, size, 0.5), dim, norm, size)


def _half_vjp(F: Any, g: Any, dim: Any, norm: int, last_dim_size: int) -> Any:
    return _interior(F, F.fft_r2c(g, dim, norm, True), dim[-1], last_dim_size, 2.0)


def _interior(F: Any, x: Any, dim: int, size: int, factor: float) -> Any:
    """Half a spectrum with all but the self-conjugate frequencies times ``factor``."""
    count = x.shape[dim]
    end = count - 1 if size % 2 == 0 and count == size // 2 + 1 else count
    if end <= 1:
        return x
    parts = [F.slice_(x, dim, 0, 1, 1), F.slice_(x, dim, 1, end, 1) * factor]
    if end < count:
        parts.append(F.slice_(x, dim, end, count, 1))
    return F.cat(parts, dim)


def _probed(kernel: str) -> Any:
    """The shape of a transform: dtype and strides from one of zeros."""

    def shape(x: Any, *statics: Any) -> Any:
        order = sorted(range(len(x.shape)), key=lambda d: -x.strides[d])
        zeros = np.zeros([x.shape[d] for d in order], x.dtype).transpose(np.argsort(order))
        found = getattr(kernels, kernel)(zeros, *statics)
        return found.shape, found.dtype, found.strides

    return shape


fft_c2c = not_holomorphic(
    general(
        "fft_c2c",
        lambda F, g, dim, norm, forward: F.fft_c2c(g, dim, norm, not forward),
        statics=("dim", "norm", "forward"),
        node="FftC2CBackward0",
        vmap=shifted(lambda F: F.fft_c2c, 0),
        jvp="linear",
        shape=_probed("fft_c2c"),
    )
)
fft_r2c = not_holomorphic(
    general(
        "fft_r2c",
        _real_vjp,
        statics=("dim", "norm", "onesided"),
        node="FftR2CBackward0",
        vmap=shifted(lambda F: F.fft_r2c, 0),
        jvp="linear",
        shape=_probed("fft_r2c"),
    )
)
fft_c2r = not_holomorphic(
    general(
        "fft_c2r",
        _half_vjp,
        statics=("dim", "norm", "last_dim_size"),
        node="FftC2RBackward0",
        vmap=shifted(lambda F: F.fft_c2r, 0),
        jvp="linear",
        shape=_probed("fft_c2r"),
    )
)


def _unpad(F: Any, g: Any, self_shape: Any) -> Any:
    for d, n in enumerate(self_shape):
        if g.shape[d] != n:
            g = F.slice_(g, d, 0, n, 1)
    return g


pad_end = general(
    "pad_end",
    _unpad,
    statics=("sizes",),
    node="ConstantPadNdBackward0",
    vmap=lambda F, flags, x, sizes: F.pad_end(x, (x.shape[0], *sizes)),
    jvp="linear",
    shape=lambda x, sizes: (sizes, x.dtype),
)

# --- arguments ------------------------------------------------------------------------------------


def _norm(name: Any, forward: bool) -> int:
    """0, 1 or 2 for no factor, 1/√n and 1/n."""
    if name is None or name == "backward":
        return 0 if forward else 2
    if name == "forward":
        return 2 if forward else 0
    if name != "ortho":
        raise RuntimeError(f'Invalid normalization mode: "{name}"')
    return 1


def _promoted(x: Tensor, complex: bool = False) -> Tensor:
    kind = x.dtype
    if kind.category < dtypes.FLOAT:
        kind = dtypes.get_default_dtype()
    if kind.array in dtypes.HALF:
        raise RuntimeError(f"Unsupported dtype {kind.legacy}")
    if complex and not kind.is_complex:
        kind = dtypes.complex64 if kind is dtypes.float32 else dtypes.complex128
    return x if x.dtype is kind else TENSOR.to_dtype(x, kind)


def _resized(x: Tensor, dims: tuple[int, ...], sizes: Any) -> Tensor:
    """Cut or padded with zeros at the end of each dimension."""
    full, padded = list(x.shape), False
    for d, n in zip(dims, sizes, strict=True):
        if n == -1:
            continue
        if n < x.shape[d]:
            x = TENSOR.slice_(x, d, 0, n, 1)
        padded = padded or n > full[d]
        full[d] = n
    return pad_end(x, tuple(full)) if padded else x


def _check_points(n: int) -> None:
    if n < 1:
        raise RuntimeError(f"Invalid number of data points ({n}) specified")


def _line(x: Tensor, n: int | None, dim: int) -> tuple[int, int]:
    """(dimension, points) of a transform of one dimension."""
    if not x.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    d = one_dim(x, dim)
    return d, x.shape[d] if n is None else n


def _plane(x: Tensor, s: Any, dim: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """(dimensions, points) of a transform of several dimensions."""
    s = (s,) if isinstance(s, int) else s
    dim = (dim,) if isinstance(dim, int) else dim
    if dim and not x.ndim:
        raise no_dimensions(dim[0])
    if dim is not None and s is not None and len(dim) != len(s):
        raise RuntimeError("When given, dim and shape arguments must have the same length")
    if s is not None and len(s) > x.ndim:
        raise RuntimeError(
            f"Got shape with {len(s)} values but input tensor only has {x.ndim} dimensions."
        )
    if dim is None:
        dims = tuple(range(x.ndim - len(s), x.ndim)) if s is not None else tuple(range(x.ndim))
    else:
        dims = tuple(one_dim(x, d) for d in dim)
        if len(set(dims)) != len(dims):
            raise RuntimeError("FFT dims must be unique")
    sizes = tuple(x.shape[d] for d in dims) if s is None else tuple(s)
    sizes = tuple(x.shape[d] if n == -1 else n for d, n in zip(dims, sizes, strict=True))
    for n in sizes:
        _check_points(n)
    return dims, sizes


# --- transforms of one dimension ------------------------------------------------------------------


def _fft(x: Tensor, n: int | None, dim: int, norm: Any, forward: bool) -> Tensor:
    x = _promoted(x)
    d, n = _line(x, n, dim)
    _check_points(n)
    x = _resized(x, (d,), (n,))
    factor = _norm(norm, forward)
    if x.dtype.is_complex:
        return fft_c2c(x, (d,), factor, forward)
    z = fft_r2c(x, (d,), factor, False)
    return z if forward else TENSOR.conj(z)


def _rfft(x: Tensor, n: int | None, dim: int, norm: Any, forward: bool) -> Tensor:
    name = "rfft" if forward else "ihfft"
    if x.dtype.is_complex:
        raise RuntimeError(f"{name} expects a real input tensor, but got {x.dtype.legacy}")
    x = _promoted(x)
    d, n = _line(x, n, dim)
    _check_points(n)
    z = fft_r2c(_resized(x, (d,), (n,)), (d,), _norm(norm, forward), True)
    return z if forward else TENSOR.conj(z)


def _irfft(x: Tensor, n: int | None, dim: int, norm: Any, forward: bool) -> Tensor:
    x = _promoted(x, complex=True)
    d, _ = _line(x, None, dim)
    n = 2 * (x.shape[d] - 1) if n is None else n
    _check_points(n)
    x = _resized(x, (d,), (n // 2 + 1,))
    return fft_c2r(TENSOR.conj(x) if forward else x, (d,), _norm(norm, forward), n)


# --- transforms of several dimensions -------------------------------------------------------------


def _fftn(x: Tensor, s: Any, dim: Any, norm: Any, forward: bool) -> Tensor:
    x = _promoted(x, complex=True)
    dims, sizes = _plane(x, s, dim)
    return fft_c2c(_resized(x, dims, sizes), dims, _norm(norm, forward), forward)


def _rfftn(x: Tensor, s: Any, dim: Any, norm: Any, forward: bool) -> Tensor:
    name = "rfftn" if forward else "ihfftn"
    if x.dtype.is_complex and not forward:
        raise RuntimeError(f"Only supports floating-point dtypes, but found: {x.dtype.legacy}")
    if x.dtype.is_complex:
        raise RuntimeError(f"{name} expects a real-valued input tensor, but got {x.dtype.legacy}")
    x = _promoted(x)
    dims, sizes = _plane(x, s, dim)
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")
    x, factor = _resized(x, dims, sizes), _norm(norm, forward)
    if forward:
        return fft_r2c(x, dims, factor, True)
    z = fft_r2c(x, dims[-1:], factor, True)
    if len(dims) == 1:
        return TENSOR.conj(z)
    return fft_c2c(TENSOR.conj_physical(z), dims[:-1], factor, False)


def _irfftn(x: Tensor, s: Any, dim: Any, norm: Any, forward: bool) -> Tensor:
    x = _promoted(x, complex=True)
    name = "hfftn" if forward else "irfftn"
    if (not x.ndim and not dim and dim != 0) or dim == () or s == ():
        raise RuntimeError(f"{name} must transform at least one axis")
    dims, sizes = _plane(x, s, dim)
    given_last = s is not None and (s if isinstance(s, int) else s[-1]) != -1
    last = sizes[-1] if given_last else 2 * (x.shape[dims[-1]] - 1)
    _check_points(last)
    x = _resized(x, dims, (*sizes[:-1], last // 2 + 1))
    factor = _norm(norm, forward)
    if not forward:
        return fft_c2r(x, dims, factor, last)
    if len(dims) > 1:
        x = fft_c2c(x, dims[:-1], factor, True)
    return fft_c2r(TENSOR.conj(x), dims[-1:], factor, last)


# --- public forms ---------------------------------------------------------------------------------


def _one(name: str, call: Any, forward: bool, doc: str) -> None:
    def transform(
        input: Tensor, n: int | None = None, dim: int = -1, norm: Any = None, *, out: Any = None
    ) -> Tensor:
        if out is not None:
            return out_of(call, out, input, n, dim, norm, forward, name=f"fft_{name}")
        return call(input, n, dim, norm, forward)

    transform.__name__ = transform.__qualname__ = f"fft_{name}"
    transform.__doc__ = doc
    public(transform)


def _several(name: str, call: Any, forward: bool, default: Any, doc: str) -> None:
    def transform(
        input: Tensor, s: Any = None, dim: Any = default, norm: Any = None, *, out: Any = None
    ) -> Tensor:
        if out is not None:
            return out_of(call, out, input, s, dim, norm, forward, name=f"fft_{name}")
        return call(input, s, dim, norm, forward)

    transform.__name__ = transform.__qualname__ = f"fft_{name}"
    transform.__doc__ = doc
    public(transform)


_KINDS = {
    "fft": (_fft, _fftn, True, "The Fourier transform"),
    "ifft": (_fft, _fftn, False, "The inverse Fourier transform"),
    "rfft": (_rfft, _rfftn, True, "The Fourier transform of real numbers: half the spectrum"),
    "irfft": (_irfft, _irfftn, False, "The inverse of ``rfft``"),
    "hfft": (_irfft, _irfftn, True, "The Fourier transform, real, of half a Hermitian signal"),
    "ihfft": (_rfft, _rfftn, False, "The inverse of ``hfft``"),
}
for _name, (_line_form, _plane_form, _forward, _doc) in _KINDS.items():
    _one(_name, _line_form, _forward, f"{_doc} along a dimension.")
    _several(f"{_name}2", _plane_form, _forward, (-2, -1), f"{_doc} over two dimensions.")
    _several(f"{_name}n", _plane_form, _forward, None, f"{_doc} over several dimensions.")


def _shift(x: Tensor, dim: Any, amount: Any) -> Tensor:
    dims = range(x.ndim) if dim is None else (dim,) if isinstance(dim, int) else dim
    dims = tuple(one_dim(x, d) for d in dims)
    return TENSOR.roll(x, tuple(amount(x.shape[d]) for d in dims), dims)


@public
def fft_fftshift(input: Tensor, dim: Any = None) -> Tensor:
    """Zero frequency moved to the middle."""
    return _shift(input, dim, lambda n: n // 2)


@public
def fft_ifftshift(input: Tensor, dim: Any = None) -> Tensor:
    """The inverse of ``fftshift``."""
    return _shift(input, dim, lambda n: (n + 1) // 2)


def _frequencies(
    name: str, values: np.ndarray, n: int, d: float, dtype: Any, device: Any, grad: bool, out: Any
) -> Tensor:
    kind = dtypes.get_default_dtype() if dtype is None else dtype
    if out is not None and dtype is None:
        kind = need_out(name, out).dtype
    if kind.category < dtypes.FLOAT:
        raise RuntimeError(f"{name[4:]} requires a floating point or complex dtype")
    if kind.is_complex:
        raise not_implemented("arange_cpu", kind)
    if n < 0 and name == "fft_fftfreq":
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    with np.errstate(all="ignore"):
        step = np.float64(1.0) / (n * d)
        scaled = (values.astype(kind.array) * kind.array.type(step)).astype(kind.array)
    return given(placed(scaled, device, grad), out, dtype, name)


@public
def fft_fftfreq(
    n: int,
    d: float = 1.0,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """The frequencies of ``fft``'s results, for samples ``d`` apart."""
    values = np.concatenate([np.arange((n + 1) // 2), np.arange(-(n // 2), 0)])
    return _frequencies("fft_fftfreq", values, n, d, dtype, device, requires_grad, out)


@public
def fft_rfftfreq(
    n: int,
    d: float = 1.0,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """The frequencies of ``rfft``'s results, for samples ``d`` apart."""
    values = np.arange(n // 2 + 1)
    return _frequencies("fft_rfftfreq", values, n, d, dtype, device, requires_grad, out)
