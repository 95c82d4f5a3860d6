"""Norms and distances."""

from __future__ import annotations

import math
from typing import Any

from .. import dtypes
from ..blame import warn_once
from ..tape.batching import shifted
from ..tape.declare import general
from ..tape.op import TENSOR, public
from ..tape.operands import is_number
from ..tape.out import out_of
from ..tape.slow import in_place
from ..tensor import Tensor
from .arguments import need_tensor, one_dim, wrong_type
from .reduce import dims_or_all, reduced_shape, restored

# --- norms of vectors -----------------------------------------------------------------------------


def norm_vjp(F: Any, g: Any, x: Any, p: float, norm: Any, dim: Any) -> Any:
    """The derivative of a p-norm; ``g`` and ``norm`` broadcast to ``x``. 0 at the zero vector."""
    if p == 0:
        return F.zeros_like(x)
    if p == 1:
        return F.sgn(x) * g
    if p == 2:
        return x * F.where(norm == 0, 0.0, g / F.where(norm == 0, 1.0, norm))
    if math.isinf(p):
        hit = (F.abs(x) == norm) | F.isnan(F.abs(x))
        count = F.sum(hit, dim if dim != () else None, True) if len(x.shape) and dim != () else 1
        return F.sgn(x) * (g / count * hit)
    if p < 1:
        steep = F.where(x == 0, 0.0, F.pow(F.where(x == 0, 1.0, F.abs(x)), p - 1))
        return F.sgn(x) * steep * g * F.pow(norm, 1 - p)
    scale = F.where(norm == 0, 0.0, g / F.pow(norm, p - 1))
    if p < 2:
        steep = F.where(x == 0, 0.0, F.pow(F.where(x == 0, 1.0, F.abs(x)), p - 1))
        return F.sgn(x) * steep * scale
    return x * F.pow(F.abs(x), p - 2) * scale


def _vector_norm_vjp(
    F: Any, g: Any, self: Any, p: float, dim: Any, keepdim: bool, result: Any
) -> Any:
    if p == 0:
        return None
    shape = tuple(self.shape)
    norm = restored(F, result, shape, dim, keepdim)
    return norm_vjp(F, restored(F, g, shape, dim, keepdim), self, p, norm, dim)


def _norm_shape(x: Any, p: float, dim: Any, keepdim: bool, dtype: Any) -> Any:
    kind = x.dtype if dtype is None else dtype.array
    return reduced_shape(x, dim, keepdim), {"F": "f4", "D": "f8"}.get(kind.char, kind)


vector_norm_dims = general(
    "vector_norm_dims",
    _vector_norm_vjp,
    statics=("p", "dim", "keepdim", "dtype"),
    node="LinalgVectorNormBackward0",
    vmap=shifted(lambda F: F.vector_norm_dims, 1),
    shape=_norm_shape,
)


norm_over = general(  # what frobenius_norm leaves in a graph
    "norm_over",
    _vector_norm_vjp,
    statics=("p", "dim", "keepdim", "dtype"),
    kernel="vector_norm_dims",
    node="NormBackward1",
    vmap=shifted(lambda F: F.norm_over, 1),
    shape=_norm_shape,
)


def check_norm_dtype(x: Tensor, dtype: Any, name: str) -> None:
    """Raise where the norms of ``x`` cannot be computed in ``dtype``."""
    if dtype.category < dtypes.FLOAT:
        raise RuntimeError(
            f"{name}: dtype should be floating point or complex, but got {dtype.legacy}"
        )
    if x.dtype.is_complex is not dtype.is_complex:
        kind = "complex" if x.dtype.is_complex else "real"
        raise RuntimeError(
            f"{name}: dtype should be {kind} for {kind} inputs, but got {dtype.legacy}"
        )
    if dtypes.promote_types(x.dtype, dtype) is not dtype:
        raise RuntimeError(
            f"{name}: the dtype of the input ({x.dtype.legacy}) should be convertible without "
            f"narrowing to the specified dtype ({dtype.legacy})"
        )


def norm_order(ord: Any, name: str = "linalg.vector_norm") -> float:
    """The order of a norm as a float. Complex numbers raise RuntimeError, no numbers TypeError."""
    if isinstance(ord, complex):
        raise RuntimeError(f"{name}: Expected a non-complex scalar as the order of norm.")
    if not (is_number(ord) or isinstance(ord, Tensor)):
        raise wrong_type(f"{name.replace('.', '_')}.ord.2", "Number", ord)
    return float(ord)


def vector_norm(
    self: Tensor, p: Any = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Tensor:
    """The p-norm over ``dim`` (an int or several), or of all elements."""
    p = norm_order(p)
    if self.dtype.category < dtypes.FLOAT:
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
            f"{self.dtype.legacy}"
        )
    if dtype is not None:
        check_norm_dtype(self, dtype, "linalg.vector_norm")
    dims = None if dim is None else dims_or_all(self, dim)
    if (p < 0 or math.isinf(p)) and not self.numel():
        _need_elements(self, p, dim)
    return vector_norm_dims(self, p, dims, keepdim, dtype)


def _need_elements(self: Tensor, p: float, dim: Any) -> None:
    title = f"linalg.vector_norm cannot compute the {_plain(p)} norm on"
    if dim is None or dim in ((), []):
        raise RuntimeError(
            f"{title} an empty tensor because the operation does not have an identity"
        )
    for d in dim if isinstance(dim, (tuple, list)) else (dim,):
        if not self.shape[d]:
            raise RuntimeError(
                f"{title} the dimension {d}because this dimension is empty and the operation does "
                "not have an identity"
            )


def _plain(p: float) -> str:
    return "inf" if p == math.inf else f"{p:g}"


@public
def norm(
    self: Tensor,
    p: Any = "fro",
    dim: Any = None,
    keepdim: bool = False,
    out: Any = None,
    dtype: Any = None,
) -> Tensor:
    """The p-norm, or the Frobenius ("fro") or nuclear ("nuc") norm of matrices."""
    dims = None if dim is None else tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)
    of_matrix = p == "nuc" or (p == "fro" and dims is not None and len(dims) > 2)
    if out is not None:
        call = lambda x: norm(x, p, dim, keepdim, None, dtype)
        kind = "linalg_matrix_norm" if of_matrix else "linalg_vector_norm"
        return out_of(call, out, self, name=kind)
    if of_matrix:
        dims = tuple(range(self.ndim)) if dims is None else dims
        return TENSOR.linalg_matrix_norm(self, p, dims, keepdim, dtype=dtype)
    if p == "fro" or p is None:
        p = 2.0
    elif isinstance(p, str):
        raise RuntimeError(f"linalg.matrix_norm: Order {p} not supported.")
    return vector_norm(self, p, dims, keepdim, dtype)


_DEPRECATED = (
    "at::{} is deprecated and it is just left for JIT compatibility. It will be removed in a "
    "future PyTorch release. Please use `linalg.{}` instead"
)


@public
def nuclear_norm(
    self: Tensor, dim: Any = None, keepdim: bool = False, *, out: Any = None
) -> Tensor:
    """The sums of the singular values of matrices, in the last two dimensions or in ``dim``.

    ``keepdim`` may come second. Deprecated in favour of ``linalg.matrix_norm``.
    """
    need_tensor(self, "nuclear_norm.input.1")
    warn_once(_DEPRECATED.format("nuclear_norm", "matrix_norm(A, 'nuc', dim, keepdim)"))
    if dim is None or isinstance(dim, bool):
        dim, keepdim = (-2, -1), dim or keepdim
    dims = (dim, dim) if isinstance(dim, int) else dim
    return TENSOR.linalg_matrix_norm(self, "nuc", dims, keepdim, out=out)


@public
def frobenius_norm(self: Tensor, dim: Any, keepdim: bool = False, *, out: Any = None) -> Tensor:
    """The 2-norm over one or two dimensions, over all if ``dim`` is empty.

    Deprecated in favour of ``linalg.vector_norm``.
    """
    need_tensor(self, "frobenius_norm.input.1")
    if isinstance(dim, bool) or not isinstance(dim, (int, tuple, list)):
        raise wrong_type("frobenius_norm.dim.2", "tuple of ints", dim)
    warn_once(_DEPRECATED.format("frobenius_norm", "vector_norm(A, 2., dim, keepdim)"))
    if not isinstance(dim, int) and len(dim) > 2:
        raise RuntimeError(f"Expected at most 2 dimensions, but got {len(dim)} dimensions instead.")
    if out is not None:
        call = lambda x: frobenius_norm(x, dim, keepdim)
        return out_of(call, out, self, name="norm")
    if self.dtype.category < dtypes.FLOAT:
        raise RuntimeError(
            "norm(): input dtype should be either floating point or complex. Got "
            f"{self.dtype.legacy} instead."
        )
    return norm_over(self, 2.0, dims_or_all(self, dim), keepdim, None)


# --- limiting norms -------------------------------------------------------------------------------


def _renorm_vjp(F: Any, g: Any, self: Any, p: float, dim: int, limit: float) -> Any:
    rest = tuple(i for i in range(len(self.shape)) if i != dim)
    norm = F.vector_norm_dims(self, p, rest, True, None)
    factor = limit / (norm + 1e-7)
    part = F.sum(F.conj(self) * g, rest, True)
    part = part.real if part.dtype != norm.dtype else part
    back = norm_vjp(F, part, self, p, norm, rest)
    inverse = F.reciprocal(norm + 1e-7)
    return F.where(norm > limit, factor * (g - inverse * back), g)


renorm_dim = general(
    "renorm_dim",
    _renorm_vjp,
    statics=("p", "dim", "limit"),
    kernel="renorm",
    node="RenormBackward0",
    shape=lambda x, p, dim, limit: (x.shape, x.dtype),
)
renorm_dim.op.holomorphic = False


def _renorm_arguments(self: Tensor, p: float, dim: int, maxnorm: float) -> tuple[Any, ...]:
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    if self.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {self.ndim} dimensions")
    if self.dtype.category < dtypes.FLOAT:
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
            f"{self.dtype.legacy}"
        )
    return float(p), one_dim(self, dim), float(maxnorm)


@public
def renorm(self: Tensor, p: float, dim: int, maxnorm: float, *, out: Any = None) -> Tensor:
    """Slices along ``dim`` scaled down to the p-norm ``maxnorm``, where theirs is larger."""
    if out is not None:
        return out_of(renorm, out, self, p, dim, maxnorm)
    return renorm_dim(self, *_renorm_arguments(self, p, dim, maxnorm))


def _renorm_twin(self: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """``renorm`` in place."""
    return in_place(renorm_dim.op, (self, *_renorm_arguments(self, p, dim, maxnorm)))


TENSOR.renorm_ = _renorm_twin
