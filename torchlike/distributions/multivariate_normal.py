"""The multivariate normal distribution."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import torchlike as torch
from torchlike import Tensor

from . import constraints
from .distribution import SCALAR, Distribution
from .utils import lazy_property, log_diagonal, standard_normal

__all__ = ["MultivariateNormal"]

LOG_TAU = math.log(2 * math.pi)
KINDS = ("covariance_matrix", "precision_matrix", "scale_tril")


def _batch_mv(matrix: Tensor, vector: Tensor) -> Tensor:
    """matrix @ vector, for batches (..., m, n) and (..., n) that broadcast."""
    return torch.matmul(matrix, vector.unsqueeze(-1)).squeeze(-1)


def squared_norm(columns: Tensor) -> Tensor:
    """The sum of the squares of matrices (..., m, n): the trace of X Xᵀ."""
    return columns.pow(2).sum((-2, -1))


def solved(factor: Tensor, columns: Tensor) -> Tensor:
    """L⁻¹ X for lower triangular L (..., n, n) and X (..., n, k), which broadcast."""
    return torch.linalg.solve_triangular(factor, columns, upper=False)


def _batch_mahalanobis(factor: Tensor, x: Tensor) -> Tensor:
    """xᵀ (L Lᵀ)⁻¹ x for lower triangular L (..., n, n) and x (..., n), which broadcast."""
    if factor.dim() > 2:
        return squared_norm(solved(factor, x.unsqueeze(-1)))
    rows = x.reshape(-1, x.shape[-1])
    return solved(factor, rows.t()).pow(2).sum(0).reshape(x.shape[:-1])


def _precision_to_scale_tril(precision: Tensor) -> Tensor:
    """The Cholesky factor of P⁻¹: with J reversing rows, J P J = M Mᵀ gives P = U Uᵀ with the upper
    triangular U = J M J, so P⁻¹ = (U⁻¹)ᵀ U⁻¹, and (U⁻¹)ᵀ is lower triangular."""
    reversed_factor = torch.linalg.cholesky(torch.flip(precision, (-2, -1)))
    upper = torch.flip(reversed_factor, (-2, -1))
    eye = torch.eye(precision.shape[-1], dtype=precision.dtype, device=precision.device)
    return solved(upper.mT, eye)


def given_matrix(wrong: type[Exception], *matrices: Any) -> tuple[str, Tensor]:
    """Which of the three kinds is given, and the matrix; ``wrong`` unless it is exactly one."""
    given = [(n, m) for n, m in zip(KINDS, matrices, strict=True) if m is not None]
    if len(given) != 1:
        raise wrong(
            "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified."
        )
    return given[0]


def factor_of(name: str, matrix: Tensor) -> Tensor:
    """The Cholesky factor of the covariance, for a matrix of one of the three kinds."""
    if name == "scale_tril":
        return matrix
    if name == "covariance_matrix":
        return torch.linalg.cholesky(matrix)
    return _precision_to_scale_tril(matrix)


class ByFactor:
    """A distribution with a covariance, held as its lower Cholesky factor (..., n, n)."""

    _batch_shape: Any
    _unbroadcasted_scale_tril: Tensor

    def _batched(self, matrix: Tensor) -> Tensor:
        return matrix.expand(self._batch_shape + matrix.shape[-2:])

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower Cholesky factor of the covariance."""
        return self._batched(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        factor = self._unbroadcasted_scale_tril
        return self._batched(torch.matmul(factor, factor.mT))


class MultivariateNormal(ByFactor, Distribution):
    """Vectors of n jointly normal numbers with mean ``loc``, (*batch_shape, n).

    One of three matrices, (*batch_shape, n, n), is given as well: the covariance, its inverse (the
    precision), or its lower Cholesky factor ``scale_tril``, which all computations use.
    """

    arg_constraints: ClassVar = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True
    _fields: ClassVar = {
        "loc": 1, "covariance_matrix": 2, "precision_matrix": 2, "scale_tril": 2,
    }  # fmt: skip
    _kept: ClassVar = ("_unbroadcasted_scale_tril",)

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        name, matrix = given_matrix(ValueError, covariance_matrix, precision_matrix, scale_tril)
        if matrix.dim() < 2:
            title = "scale_tril matrix" if name == "scale_tril" else name
            raise ValueError(
                f"{title} must be at least two-dimensional, with optional leading batch dimensions"
            )
        batch_shape = torch.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand(batch_shape + (-1, -1)))
        self.loc = loc.expand(batch_shape + (-1,))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = factor_of(name, matrix)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        return self._batched(torch.cholesky_inverse(self._unbroadcasted_scale_tril))

    mean = property(lambda self: self.loc)
    mode = property(lambda self: self.loc)

    @property
    def variance(self) -> Tensor:
        """The covariance's diagonal."""
        diagonal = self._unbroadcasted_scale_tril.pow(2).sum(-1)
        return diagonal.expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Any = SCALAR) -> Tensor:
        """loc + L ε with standard normal ε."""
        eps = standard_normal(self._extended_shape(sample_shape), self.loc)
        return self.loc + _batch_mv(self._unbroadcasted_scale_tril, eps)

    # What densities and divergences need of a covariance Σ; LowRankMultivariateNormal has the same.

    def _half_log_det(self) -> Tensor:
        """½ log det Σ."""
        return log_diagonal(self._unbroadcasted_scale_tril)

    def _columns(self) -> Tensor:
        """A matrix X with Σ = X Xᵀ."""
        return self._unbroadcasted_scale_tril

    def _distance(self, columns: Tensor) -> Tensor:
        """The trace of Xᵀ Σ⁻¹ X for ``columns`` X."""
        return squared_norm(solved(self._unbroadcasted_scale_tril, columns))

    def _mahalanobis(self, x: Tensor) -> Tensor:
        """xᵀ Σ⁻¹ x."""
        return _batch_mahalanobis(self._unbroadcasted_scale_tril, x)

    def log_prob(self, value: Tensor) -> Tensor:
        """-½ (n log 2π + (x - loc)ᵀ Σ⁻¹ (x - loc)) - ½ log det Σ."""
        self._checked(value)
        distance = self._mahalanobis(value - self.loc)
        return -0.5 * (self._event_shape[0] * LOG_TAU + distance) - self._half_log_det()

    def entropy(self) -> Tensor:
        """½ n (1 + log 2π) + ½ log det Σ."""
        entropy = 0.5 * self._event_shape[0] * (1.0 + LOG_TAU) + self._half_log_det()
        return entropy.expand(self._batch_shape) if self._batch_shape else entropy
