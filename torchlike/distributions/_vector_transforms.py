"""Transforms of vectors and matrices, and of slices of a tensor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torchlike as torch
from torchlike import Tensor
from torchlike.nn.functional import logsigmoid, pad, softplus

from . import constraints
from ._scalar_transforms import clipped
from ._transform_base import TOO_FEW, OneOfAKind, Transform
from .utils import _sum_rightmost, lazy_property, tril_matrix_to_vec, vec_to_tril_matrix


def _require_dims(shape: Any, least: int) -> None:
    if len(shape) < least:
        raise ValueError(TOO_FEW)


def _shifted(x: Tensor) -> Tensor:
    """1 and then all elements of the last dimension but the last one."""
    return pad(x[..., :-1], [1, 0], value=1)


class CorrCholeskyTransform(Transform):
    """A vector of D (D - 1) / 2 numbers as the Cholesky factor of a D × D correlation matrix.

    tanh gives partial correlations, row by row, of which each takes its share of the row's length
    that is left (Lewandowski, Kurowicka and Joe, "Generating random correlation matrices based on
    vines and extended onion method", 2009; Stan's reference manual, "Cholesky factors of
    correlation matrices").
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        eps = torch.finfo(x.dtype).eps
        r = vec_to_tril_matrix(torch.tanh(x).clamp(min=-1 + eps, max=1 - eps), diag=-1)
        left = (1 - r**2).sqrt().cumprod(-1)
        r = r + torch.eye(r.shape[-1], dtype=r.dtype, device=r.device)
        return r * _shifted(left)

    def _inverse(self, y: Tensor) -> Tensor:
        left = _shifted(1 - torch.cumsum(y * y, dim=-1))
        t = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt()
        return (t.log1p() - t.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor, intermediates: Any = None) -> Tensor:
        """Of the shares taken, and of tanh."""
        left = tril_matrix_to_vec(1 - (y * y).cumsum(dim=-1), diag=-2)
        of_tanh = -2 * (x + softplus(-2 * x) - math.log(2.0)).sum(dim=-1)
        return 0.5 * left.log().sum(-1) + of_tanh

    def forward_shape(self, shape: Any) -> Any:
        _require_dims(shape, 1)
        n = shape[-1]
        d = round((0.25 + 2 * n) ** 0.5 + 0.5)
        if d * (d - 1) // 2 != n:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return shape[:-1] + (d, d)

    def inverse_shape(self, shape: Any) -> Any:
        _require_dims(shape, 2)
        d = shape[-1]
        if shape[-2] != d:
            raise ValueError("Input is not square")
        return shape[:-2] + (d * (d - 1) // 2,)


class SoftmaxTransform(OneOfAKind):
    """y = exp x / Σ exp x over the last dimension. Not bijective; the inverse is log y."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Tensor) -> Tensor:
        weights = (x - x.max(-1, True)[0]).exp()
        return weights / weights.sum(-1, True)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def forward_shape(self, shape: Any) -> Any:
        _require_dims(shape, 1)
        return shape

    inverse_shape = forward_shape


class StickBreakingTransform(OneOfAKind):
    """A vector of K - 1 numbers as K probabilities.

    The sigmoid of x[i] - log(K - 1 - i) is the share of what the elements before have left (Stan's
    reference manual, "Unit simplex"), so that x = 0 gives equal probabilities.
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    @staticmethod
    def _offset(x: Tensor, size: int) -> Tensor:
        """log of K - 1, K - 2, …, 1."""
        return (size + 1 - x.new_ones(size).cumsum(-1)).log()

    def _call(self, x: Tensor) -> Tensor:
        z = clipped(torch.sigmoid(x - self._offset(x, x.shape[-1])))
        left = (1 - z).cumprod(-1)
        return pad(z, [0, 1], value=1) * pad(left, [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        first = y[..., :-1]
        left = torch.clamp(1 - first.cumsum(-1), min=torch.finfo(y.dtype).tiny)
        return first.log() - left.log() + self._offset(y, first.shape[-1])

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        x = x - self._offset(x, x.shape[-1])
        return (-x + logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        _require_dims(shape, 1)
        return shape[:-1] + (shape[-1] + 1,)

    def inverse_shape(self, shape: Any) -> Any:
        _require_dims(shape, 1)
        return shape[:-1] + (shape[-1] - 1,)


class LowerCholeskyTransform(OneOfAKind):
    """A matrix without what lies above the diagonal, and exp of the diagonal."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(OneOfAKind):
    """L Lᵀ, where L is what `LowerCholeskyTransform` makes of a matrix."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Tensor) -> Tensor:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Tensor) -> Tensor:
        return LowerCholeskyTransform().inv(torch.linalg.cholesky(y))


class _Joined(Transform):
    """Several transforms, each of a part of one dimension."""

    def __init__(self, tseq: Sequence[Any], dim: int = 0, cache_size: int = 0) -> None:
        if not all(isinstance(t, Transform) for t in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        if cache_size:
            tseq = [t.with_cache(cache_size) for t in tseq]
        super().__init__(cache_size=cache_size)
        self.transforms, self.dim = list(tseq), dim

    def _require_dim(self, value: Tensor, name: str) -> None:
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(
                f"dim {self.dim} out of range for {name} with {value.dim()} dimensions"
            )

    bijective = property(lambda self: all(t.bijective for t in self.transforms))


class CatTransform(_Joined):
    """Transforms of consecutive slices of ``dim``, whose ``lengths`` are 1 each if not given."""

    _arguments = ("transforms", "dim", "lengths")

    def __init__(
        self,
        tseq: Sequence[Any],
        dim: int = 0,
        lengths: Sequence[int] | None = None,
        cache_size: int = 0,
    ) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(
                f"lengths ({len(self.lengths)}) must match transforms ({len(self.transforms)})"
            )

    @lazy_property
    def event_dim(self) -> int:
        """The largest of the parts'."""
        return max(t.event_dim for t in self.transforms)

    @lazy_property
    def length(self) -> int:
        """The size of ``dim``."""
        return sum(self.lengths)

    def _parts(self, value: Tensor, name: str, short: str) -> Any:
        self._require_dim(value, name)
        size = value.size(self.dim)
        if size != self.length:
            raise AssertionError(
                f"{short}.size({self.dim}) = {size} must equal length {self.length}"
            )
        return torch.split(value, self.lengths, self.dim)

    def _call(self, x: Tensor) -> Tensor:
        pairs = zip(self.transforms, self._parts(x, "tensor", "x"), strict=True)
        return torch.cat([t(part) for t, part in pairs], dim=self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        pairs = zip(self.transforms, self._parts(y, "tensor", "y"), strict=True)
        return torch.cat([t.inv(part) for t, part in pairs], dim=self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """The parts', joined if ``dim`` is one of the batch's, or else their sum."""
        xs, ys = self._parts(x, "x", "x"), self._parts(y, "y", "y")
        terms = []
        for t, x_part, y_part in zip(self.transforms, xs, ys, strict=True):
            term = t.log_abs_det_jacobian(x_part, y_part)
            terms.append(_sum_rightmost(term, self.event_dim - t.event_dim))
        dim = self.event_dim + (self.dim - x.dim() if self.dim >= 0 else self.dim)
        return torch.cat(terms, dim=dim) if dim < 0 else sum(terms)

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(_Joined):
    """One transform for each index of ``dim``."""

    _arguments = ("transforms", "dim")

    def _parts(self, value: Tensor, name: str, short: str) -> Any:
        self._require_dim(value, name)
        size, count = value.size(self.dim), len(self.transforms)
        if size != count:
            raise AssertionError(
                f"{short}.size({self.dim}) = {size} must equal len(transforms) {count}"
            )
        return value.unbind(self.dim)

    def _call(self, x: Tensor) -> Tensor:
        pairs = zip(self.transforms, self._parts(x, "tensor", "x"), strict=True)
        return torch.stack([t(part) for t, part in pairs], dim=self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        pairs = zip(self.transforms, self._parts(y, "tensor", "y"), strict=True)
        return torch.stack([t.inv(part) for t, part in pairs], dim=self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Each part's."""
        xs, ys = self._parts(x, "x", "x"), self._parts(y, "y", "y")
        parts = zip(self.transforms, xs, ys, strict=True)
        return torch.stack([t.log_abs_det_jacobian(a, b) for t, a, b in parts], dim=self.dim)

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.stack([t.codomain for t in self.transforms], self.dim)
