"""Distances: of two tensors, and of the rows of matrices."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..errors import not_implemented
from ..tape.declare import general
from ..tape.op import TENSOR, public
from ..tensor import Tensor
from .arguments import broadcast_shapes
from .dtype_checks import expect_type
from .matmul_checks import same_dtype
from .norms import norm_vjp


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
