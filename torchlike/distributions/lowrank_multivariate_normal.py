"""The multivariate normal distribution whose covariance is of low rank, plus a diagonal."""

from __future__ import annotations

from typing import Any, ClassVar

import torchlike as torch
from torchlike import Tensor

from . import constraints
from .distribution import SCALAR, Distribution
from .multivariate_normal import (
    LOG_TAU,
    _batch_mahalanobis,
    _batch_mv,
    solved,
    squared_norm,
)
from .utils import lazy_property, log_diagonal, standard_normal

__all__ = ["LowRankMultivariateNormal"]


def _plus_identity(matrix: Tensor) -> Tensor:
    return matrix + torch.eye(matrix.shape[-1], dtype=matrix.dtype, device=matrix.device)


def _check(loc: Tensor, cov_factor: Tensor, cov_diag: Tensor) -> None:
    if loc.dim() < 1:
        raise ValueError("loc must be at least one-dimensional.")
    event_shape = loc.shape[-1:]
    if cov_factor.dim() < 2:
        raise ValueError(
            "cov_factor must be at least two-dimensional, with optional leading batch dimensions"
        )
    if cov_factor.shape[-2:-1] != event_shape:
        raise ValueError(f"cov_factor must be a batch of matrices with shape {event_shape[0]} x m")
    if cov_diag.shape[-1:] != event_shape:
        raise ValueError(f"cov_diag must be a batch of vectors with shape {event_shape}")


class LowRankMultivariateNormal(Distribution):
    """Vectors of n jointly normal numbers with the covariance W Wᵀ + D.

    ``loc`` is (*batch_shape, n), ``cov_factor`` W is (*batch_shape, n, m) and ``cov_diag``, the
    diagonal of D, is (*batch_shape, n). All is computed with m × m matrices: by Woodbury's
    identity Σ⁻¹ = D⁻¹ - D⁻¹ W C⁻¹ Wᵀ D⁻¹ with the capacitance C = I + Wᵀ D⁻¹ W, and by the matrix
    determinant lemma det Σ = det C det D.
    """

    arg_constraints: ClassVar = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True
    _fields: ClassVar = {"loc": 1, "cov_factor": 2, "cov_diag": 1}
    _kept: ClassVar = (
        "_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril",
    )  # fmt: skip

    def __init__(
        self,
        loc: Tensor,
        cov_factor: Tensor,
        cov_diag: Tensor,
        validate_args: bool | None = None,
    ) -> None:
        _check(loc, cov_factor, cov_diag)
        try:
            columns = torch.broadcast_tensors(loc.unsqueeze(-1), cov_factor, cov_diag.unsqueeze(-1))
        except RuntimeError as error:
            raise ValueError(
                f"Incompatible batch shapes: loc {loc.shape}, "
                f"cov_factor {cov_factor.shape}, cov_diag {cov_diag.shape}"
            ) from error
        self.loc, self.cov_factor, self.cov_diag = (
            columns[0][..., 0],
            columns[1],
            columns[2][..., 0],
        )
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        capacitance = _plus_identity(torch.matmul(self._scaled(), cov_factor))
        self._capacitance_tril = torch.linalg.cholesky(capacitance)
        shape = self.loc.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def _scaled(self) -> Tensor:
        """Wᵀ D⁻¹."""
        return self._unbroadcasted_cov_factor.mT / self._unbroadcasted_cov_diag.unsqueeze(-2)

    def _batched(self, value: Tensor, dims: int) -> Tensor:
        return value.expand(self._batch_shape + self._event_shape * dims)

    mean = property(lambda self: self.loc)
    mode = property(lambda self: self.loc)

    @lazy_property
    def variance(self) -> Tensor:
        """The covariance's diagonal."""
        low_rank = self._unbroadcasted_cov_factor.pow(2).sum(-1)
        return self._batched(low_rank + self._unbroadcasted_cov_diag, 1)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower Cholesky factor of the covariance."""
        root = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)
        scaled = self._unbroadcasted_cov_factor / root
        inner = _plus_identity(torch.matmul(scaled, scaled.mT))
        return self._batched(root * torch.linalg.cholesky(inner), 2)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """W Wᵀ + D."""
        factor = self._unbroadcasted_cov_factor
        diagonal = torch.diag_embed(self._unbroadcasted_cov_diag)
        return self._batched(torch.matmul(factor, factor.mT) + diagonal, 2)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        part = solved(self._capacitance_tril, self._scaled())
        diagonal = torch.diag_embed(self._unbroadcasted_cov_diag.reciprocal())
        return self._batched(diagonal - part.mT @ part, 2)

    def rsample(self, sample_shape: Any = SCALAR) -> Tensor:
        """loc + W ε + √D ε', with standard normal ε and ε'."""
        shape = self._extended_shape(sample_shape)
        eps = standard_normal(shape[:-1] + self.cov_factor.shape[-1:], self.loc)
        more = standard_normal(shape, self.loc)
        low_rank = _batch_mv(self._unbroadcasted_cov_factor, eps)
        return self.loc + low_rank + self._unbroadcasted_cov_diag.sqrt() * more

    def _half_log_det(self) -> Tensor:
        """½ log det Σ."""
        return log_diagonal(self._capacitance_tril) + 0.5 * self._unbroadcasted_cov_diag.log().sum(
            -1
        )

    def _columns(self) -> Tensor:
        """A matrix X with Σ = X Xᵀ: W beside √D."""
        factor = self._unbroadcasted_cov_factor
        root = torch.diag_embed(self._unbroadcasted_cov_diag.sqrt())
        batch = torch.broadcast_shapes(factor.shape[:-2], root.shape[:-2])
        return torch.cat([m.expand(batch + m.shape[-2:]) for m in (factor, root)], -1)

    def _distance(self, columns: Tensor) -> Tensor:
        """The trace of Xᵀ Σ⁻¹ X for ``columns`` X."""
        root = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)
        inner = solved(self._capacitance_tril, torch.matmul(self._scaled(), columns))
        return squared_norm(columns / root) - squared_norm(inner)

    def _mahalanobis(self, x: Tensor) -> Tensor:
        """xᵀ Σ⁻¹ x."""
        inner = _batch_mahalanobis(self._capacitance_tril, _batch_mv(self._scaled(), x))
        return (x.pow(2) / self._unbroadcasted_cov_diag).sum(-1) - inner

    def log_prob(self, value: Tensor) -> Tensor:
        """-½ (n log 2π + log det Σ + (x - loc)ᵀ Σ⁻¹ (x - loc))."""
        self._checked(value)
        distance = self._mahalanobis(value - self.loc)
        return -0.5 * (self._event_shape[0] * LOG_TAU + distance) - self._half_log_det()

    def entropy(self) -> Tensor:
        """½ n (1 + log 2π) + ½ log det Σ."""
        entropy = 0.5 * self._event_shape[0] * (1.0 + LOG_TAU) + self._half_log_det()
        return entropy.expand(self._batch_shape) if self._batch_shape else entropy
