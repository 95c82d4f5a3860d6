"""The Wishart distribution."""

from __future__ import annotations

import math
import warnings
from typing import Any, ClassVar

import torchlike as torch
from torchlike import Tensor

from . import constraints
from .chi2 import Chi2
from .distribution import SCALAR, Size
from .exp_family import ExponentialFamily
from .multivariate_normal import ByFactor, factor_of, given_matrix
from .utils import Number, lazy_property, log_diagonal

__all__ = ["Wishart"]

LOG_2 = math.log(2)


def _mvdigamma(x: Tensor, p: int) -> Tensor:
    """The derivative of log Γₚ: Σ ψ(x - i / 2)."""
    if not x.gt((p - 1) / 2).all():
        raise AssertionError("Wrong domain for multivariate digamma function.")
    steps = torch.arange(p, dtype=x.dtype, device=x.device) / 2
    return torch.digamma(x.unsqueeze(-1) - steps).sum(-1)


class Wishart(ByFactor, ExponentialFamily):
    """Positive definite p × p matrices: Σ xᵢ xᵢᵀ over ``df`` normal vectors of covariance V.

    ``df`` (*batch_shape) exceeds p - 1 and need not be whole; V is given as the covariance, its
    inverse, or its lower Cholesky factor, (*batch_shape, p, p).
    """

    support = constraints.positive_definite
    has_rsample = True
    _fields: ClassVar = {
        "df": 0, "covariance_matrix": 2, "precision_matrix": 2, "scale_tril": 2,
        "_unbroadcasted_scale_tril": 2, "_dist_chi2": 1,
    }  # fmt: skip
    _mean_carrier_measure = 0

    def __init__(
        self,
        df: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        matrices = (covariance_matrix, precision_matrix, scale_tril)
        name, matrix = given_matrix(AssertionError, *matrices)
        if matrix.dim() < 2:
            raise ValueError(
                "scale_tril must be at least two-dimensional, with optional leading batch "
                "dimensions"
            )
        batch_shape = self._set_df(df, matrix)
        setattr(self, name, matrix.expand(batch_shape + (-1, -1)))
        super().__init__(batch_shape, matrix.shape[-2:], validate_args=validate_args)
        factor = factor_of(name, matrix)
        self._unbroadcasted_scale_tril = factor
        rows = torch.arange(matrix.shape[-1], dtype=factor.dtype, device=factor.device)
        self._dist_chi2 = Chi2(df=self.df.unsqueeze(-1) - rows.expand(batch_shape + (-1,)))

    def _set_df(self, df: Any, matrix: Tensor) -> Any:
        """Keep ``df`` broadcast with the matrix; returns the batch's shape."""
        if isinstance(df, Number):
            batch_shape = Size(matrix.shape[:-2])
            self.df = torch.tensor(df, dtype=matrix.dtype, device=matrix.device)
        else:
            batch_shape = torch.broadcast_shapes(matrix.shape[:-2], df.shape)
            self.df = df.expand(batch_shape)
        p = matrix.shape[-1]
        if self.df.le(p - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {p - 1}.")
        if self.df.lt(p).any():
            warnings.warn(
                "Low df values detected. Singular samples are highly likely to occur for "
                "ndim - 1 < df < ndim.",
                stacklevel=3,
            )
        return batch_shape

    @property
    def arg_constraints(self) -> dict[str, Any]:
        """df > p - 1; the matrices as for MultivariateNormal."""
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self.event_shape[-1] - 1),
        }

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of V."""
        factor = self._unbroadcasted_scale_tril
        eye = torch.eye(self._event_shape[-1], dtype=factor.dtype, device=factor.device)
        return self._batched(torch.cholesky_solve(eye, factor))

    def _times(self, numbers: Tensor, matrix: Tensor) -> Tensor:
        return numbers.view(self._batch_shape + (1, 1)) * matrix

    @property
    def mean(self) -> Tensor:
        """df V."""
        return self._times(self.df, self.covariance_matrix)

    @property
    def mode(self) -> Tensor:
        """(df - p - 1) V; NaN where df ≤ p + 1."""
        factor = self.df - self._event_shape[-1] - 1
        factor = torch.where(factor <= 0, math.nan, factor)
        return self._times(factor, self.covariance_matrix)

    @property
    def variance(self) -> Tensor:
        """df (Vᵢⱼ² + Vᵢᵢ Vⱼⱼ)."""
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        return self._times(self.df, v.pow(2) + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2))

    def _bartlett_sampling(self, sample_shape: Any = SCALAR) -> Tensor:
        """L A Aᵀ Lᵀ, A triangular with normal numbers below roots of χ² numbers (Bartlett 1933)."""
        p = self._event_shape[-1]
        roots = self._dist_chi2.rsample(sample_shape).sqrt()
        noise = roots.clamp(min=torch.finfo(roots.dtype).eps).diag_embed(dim1=-2, dim2=-1)
        i, j = torch.tril_indices(p, p, offset=-1)
        shape = Size(sample_shape) + self._batch_shape + (p * (p - 1) // 2,)
        noise[..., i, j] = torch.randn(shape, dtype=noise.dtype, device=noise.device)
        factor = self._unbroadcasted_scale_tril @ noise
        return factor @ factor.mT

    def _over_batch(self, flags: Tensor) -> Tensor:
        dims = [-(x + 1) for x in range(len(self._batch_shape))]
        return flags.amax(dims) if dims else flags

    def rsample(self, sample_shape: Any = SCALAR, max_try_correction: Any = None) -> Tensor:
        """Matrices, with gradients. Like PyTorch's, this draws all samples that pass the check for
        positive definiteness anew (which does not change their distribution), and warns."""
        tries = 10 if max_try_correction is None else max_try_correction
        sample = self._bartlett_sampling(Size(sample_shape))
        again = self._over_batch(self.support.check(sample))
        if not again.any():
            return sample
        warnings.warn("Singular sample detected.", stacklevel=2)
        for _ in range(tries):
            fresh = self._bartlett_sampling(again[again].shape)
            sample[again.clone()] = fresh  # the tape keeps the mask
            again[again.clone()] = self._over_batch(~self.support.check(fresh))
            if not again.any():
                break
        return sample

    def _half_log_det(self) -> Tensor:
        """½ log det 2V."""
        return self._event_shape[-1] * LOG_2 / 2 + log_diagonal(self._unbroadcasted_scale_tril)

    def log_prob(self, value: Tensor) -> Tensor:
        """½ (df - p - 1) log det X - ½ tr(V⁻¹ X) - df ½ log det 2V - log Γₚ(df / 2)."""
        self._checked(value)
        nu, p = self.df, self._event_shape[-1]
        inner = torch.cholesky_solve(value, self._unbroadcasted_scale_tril)
        trace = inner.diagonal(dim1=-2, dim2=-1).sum(dim=-1)
        power = (nu - p - 1) / 2 * torch.linalg.slogdet(value).logabsdet
        return power - trace / 2 - nu * self._half_log_det() - torch.mvlgamma(nu / 2, p=p)

    def entropy(self) -> Tensor:
        """(p + 1) ½ log det 2V + log Γₚ(df / 2) - ½ (df - p - 1) ψₚ(df / 2) + ½ df p."""
        nu, p = self.df, self._event_shape[-1]
        first = (p + 1) * self._half_log_det() + torch.mvlgamma(nu / 2, p=p)
        return first - (nu - p - 1) / 2 * _mvdigamma(nu / 2, p=p) + nu * p / 2

    @property
    def _natural_params(self) -> tuple[Tensor, Tensor]:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        p = self._event_shape[-1]
        half = y + (p + 1) / 2
        log_det = -torch.linalg.slogdet(-2 * x).logabsdet + LOG_2 * p
        return half * log_det + torch.mvlgamma(half, p=p)
