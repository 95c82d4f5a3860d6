"""Norms and distances."""

from __future__ import annotations

import math
from typing import Any

from .. import dtypes
from ..errors import not_implemented
from ..tape.batching import shifted
from ..tape.declare import general
from ..tape.op import TENSOR, public
from ..tape.out import out_of
from ..tape.slow import in_place
from ..tensor import Tensor
from .arguments import broadcast_shapes, one_dim
from .dtype_checks import expect_type
from .matmul_checks import same_dtype
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


def vector_norm(
    self: Tensor, p: float = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Tensor:
    """The p-norm over ``dim`` (an int or several), or of all elements."""
    kind = self.dtype if dtype is None else dtype
    if self.dtype.category < dtypes.FLOAT:
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
            f"{kind.legacy}"
        )
    dims = None if dim is None else dims_or_all(self, dim)
    _need_elements(self, p, dims)
    return vector_norm_dims(self, float(p), dims, keepdim, dtype)


def _need_elements(self: Tensor, p: float, dims: Any) -> None:
    if (p >= 0 and not math.isinf(p)) or self.numel():
        return
    if dims is None or len(dims) == self.ndim:
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {_plain(p)} norm on an empty tensor because "
            "the operation does not have an identity"
        )
    for d in dims:
        if not self.shape[d]:
            raise RuntimeError(
                f"linalg.vector_norm cannot compute the {_plain(p)} norm on the dimension {d} "
                "because this dimension is empty and the operation does not have an identity"
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
    if out is not None:
        return out_of(
            lambda x: norm(x, p, dim, keepdim, None, dtype), out, self, name="linalg_vector_norm"
        )
    if p == "nuc":
        dims = (0, 1) if dim is None else tuple(dim)
        return TENSOR.linalg_matrix_norm(self, "nuc", dims, keepdim, dtype=dtype)
    if p == "fro" or p is None:
        p = 2.0
    elif isinstance(p, str):
        raise RuntimeError(f"linalg.matrix_norm: Order {p} not supported.")
    return vector_norm(self, p, dim, keepdim, dtype)


def _dist_vjp(F: Any, g: Any, need: Any, self: Any, other: Any, p: float, result: Any) -> Any:
    rest = self - other
    back = norm_vjp(F, g, rest, p, result, tuple(range(len(rest.shape))))
    return back, -back


dist_of = general(
    "dist_of",
    joint=_dist_vjp,
    inputs=("self", "other"),
    statics=("p",),
    kernel="dist",
    node="DistBackward0",
    shape=lambda x, y, p: ((), x.real.dtype if hasattr(x, "real") else x.dtype),
)


@public
def dist(self: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """The p-norm of ``self - other``."""
    if dtypes.bool_ in (self.dtype, other.dtype):
        TENSOR.sub.op.check(self, other)
    kind = dtypes.result_type([(self.dtype, self.ndim), (other.dtype, other.ndim)])
    if kind.category < dtypes.FLOAT:
        raise RuntimeError(
            "norm(): input dtype should be either floating point or complex. Got "
            f"{kind.legacy} instead."
        )
    broadcast_shapes(tuple(self.shape), tuple(other.shape))
    self, other = (t if t.dtype is kind else TENSOR.to_dtype(t, kind) for t in (self, other))
    return dist_of(self, other, float(p))


# --- distances of rows ----------------------------------------------------------------------------


def _cdist_vjp(F: Any, g: Any, need: Any, self: Any, other: Any, p: float, result: Any) -> Any:
    rest = F.unsqueeze(self, len(self.shape) - 1) - F.unsqueeze(other, len(other.shape) - 2)
    last = len(rest.shape) - 1
    back = norm_vjp(F, F.unsqueeze(g, last), rest, p, F.unsqueeze(result, last), (last,))
    return (
        F.sum(back, (last - 1,), False) if need[0] else None,
        -F.sum(back, (last - 2,), False) if need[1] else None,
    )


def _cdist_shape(x: Any, y: Any, *p: Any) -> Any:
    return (*broadcast_shapes(x.shape[:-2], y.shape[:-2]), x.shape[-2], y.shape[-2]), x.dtype


def _check_rows(x: Tensor, y: Tensor, p: float) -> None:
    if x.numel() and y.numel():
        if x.dtype.array in dtypes.HALF:
            raise not_implemented("cdist", x.dtype)
        expect_type(x.dtype, y)


cdist_rows = general(
    "cdist_rows",
    joint=_cdist_vjp,
    inputs=("self", "other"),
    statics=("p",),
    kernel="cdist",
    node="CdistBackward0",
    check=_check_rows,
    shape=_cdist_shape,
)


def _euclidean_vjp(F: Any, g: Any, need: Any, self: Any, other: Any, result: Any) -> Any:
    ratio = F.where(result == 0, 0.0, g / result)
    turned = F.transpose(ratio, -2, -1)
    return (
        self * F.sum(ratio, (-1 % len(g.shape),), True) - F.matmul(ratio, other)
        if need[0]
        else None,
        other * F.sum(turned, (-1 % len(g.shape),), True) - F.matmul(turned, self)
        if need[1]
        else None,
    )


def _check_euclidean(x: Tensor, y: Tensor) -> None:
    """The dtypes of what PyTorch multiplies."""
    if y.ndim > 2 and y.dtype.array not in dtypes.HALF:
        expect_type(y.dtype, x)
    same_dtype(x, y)


euclidean_rows = general(
    "euclidean_rows",
    joint=_euclidean_vjp,
    inputs=("self", "other"),
    kernel="euclidean",
    node="EuclideanDistBackward0",
    check=_check_euclidean,
    shape=_cdist_shape,
)

_BY_PRODUCT = 25  # PyTorch takes the matrix product where either has more rows than this
_MODES = {
    "use_mm_for_euclid_dist_if_necessary": None,
    "use_mm_for_euclid_dist": True,
    "donot_use_mm_for_euclid_dist": False,
}


def _check_cdist(x1: Tensor, x2: Tensor) -> None:
    for name, x in (("X1", x1), ("X2", x2)):
        if x.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x.ndim}D")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}"
        )
    for name, x in (("X1", x1), ("X2", x2)):
        if not x.dtype.is_floating_point:
            raise RuntimeError(
                f"cdist only supports floating-point dtypes, {name} got: {x.dtype.legacy}"
            )


@public
def cdist(
    x1: Tensor,
    x2: Tensor,
    p: float = 2.0,
    compute_mode: str = "use_mm_for_euclid_dist_if_necessary",
) -> Tensor:
    """p-norms of the differences of rows: (..., n, m) from (..., n, d) and (..., m, d)."""
    _check_cdist(x1, x2)
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    if compute_mode not in _MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    lead = broadcast_shapes(tuple(x1.shape[:-2]), tuple(x2.shape[:-2]))
    x1, x2 = (TENSOR.expand(x, (*lead, *x.shape[-2:])) if x.shape[:-2] != lead else x
              for x in (x1, x2))  # fmt: skip
    wanted = _MODES[compute_mode]
    many = x1.shape[-2] > _BY_PRODUCT or x2.shape[-2] > _BY_PRODUCT
    if p == 2 and (many if wanted is None else wanted) and x1.numel() and x2.numel():
        z = euclidean_rows(x1, x2)
        return TENSOR.view(z, tuple(z.shape))
    return cdist_rows(x1, x2, float(p))


def pdist_pairs(n: int) -> tuple[Tensor, Tensor]:
    """(i, j) of all pairs i < j below n, in order."""
    rows = TENSOR.triu(TENSOR.ones((n, n), dtype=dtypes.bool_), 1)
    return TENSOR.nonzero(rows, as_tuple=True)


def _pdist_vjp(F: Any, g: Any, self: Any, p: float, first: Any, second: Any, result: Any) -> Any:
    rest = F.index_select_dim(self, first, 0) - F.index_select_dim(self, second, 0)
    back = norm_vjp(F, F.unsqueeze(g, 1), rest, p, F.unsqueeze(result, 1), (1,))
    shape = tuple(self.shape)
    return F.index_select_backward(back, first, shape, 0) - F.index_select_backward(
        back, second, shape, 0
    )


def _check_pairs(x: Tensor, first: Tensor, second: Tensor, p: float) -> None:
    if x.dtype.array in dtypes.HALF and x.numel() and first.numel():
        raise not_implemented("pdist", x.dtype)


pdist_rows = general(
    "pdist_rows",
    _pdist_vjp,
    None,
    None,
    inputs=("self", "first", "second"),
    statics=("p",),
    kernel="pdist",
    node="PdistBackward0",
    check=_check_pairs,
    shape=lambda x, first, second, p: (first.shape, x.dtype),
)


@public
def pdist(self: Tensor, p: float = 2.0) -> Tensor:
    """p-norms of the differences of all pairs of rows of a matrix, as a vector."""
    if self.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {self.ndim}D")
    if not self.dtype.is_floating_point:
        raise RuntimeError("pdist only supports floating-point dtypes")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    return pdist_rows(self, *pdist_pairs(self.shape[0]), float(p))


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
