"""Ready-made parametrizations: orthogonal, spectral_norm, weight_norm."""

from __future__ import annotations

from enum import Enum, auto
from typing import Any

import numpy as np

from functional.modes import no_grad
from functional.tape.op import TENSOR
from functional.tensor import Tensor

from .. import functional as F
from ..modules.module import Module
from . import parametrize
from .spectral_norm import as_matrix, default_dim
from .weight_norm import norm_except_dim, scaled

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


class _WeightNorm(Module):
    """A direction with a norm for each index of ``dim``."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Any, weight_v: Any) -> Any:
        """v with the norm g."""
        return scaled(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Any) -> tuple[Any, Any]:
        """Norm and direction of ``weight``."""
        return norm_except_dim(weight, self.dim), weight


class _LoadOldWeightNorm:
    """Reads what the older weight_norm saved."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        old = [f"{prefix}{self.name}_{part}" for part in "gv"]
        if all(key in state_dict for key in old):
            for i, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{self.name}.original{i}"] = state_dict.pop(
                    key
                )


def weight_norm(module: Any, name: str = "weight", dim: int = 0) -> Any:
    """Let a parameter be a direction times a norm (T. Salimans and D. P. Kingma, 2016)."""
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)
    module._register_load_state_dict_pre_hook(_LoadOldWeightNorm(name))
    return module


# --- spectral norm --------------------------------------------------------------------------------


class _SpectralNorm(Module):
    """A weight over its largest singular value, found by power iteration (T. Miyato et al.)."""

    def __init__(
        self, weight: Any, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        super().__init__()
        n = weight.ndim
        if dim >= n or dim < -n:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{n}, {n - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        self.dim, self.eps = dim if dim >= 0 else dim + n, eps
        if n > 1:
            self.n_power_iterations = n_power_iterations
            with no_grad():
                matrix = self._reshape_weight_to_matrix(weight)
                h, w = matrix.shape
                u = matrix.new_empty(h).normal_(0, 1)
                v = matrix.new_empty(w).normal_(0, 1)
            self.register_buffer("_u", F.normalize(u, dim=0, eps=self.eps))
            self.register_buffer("_v", F.normalize(v, dim=0, eps=self.eps))
            self._power_method(matrix, 15)

    def _reshape_weight_to_matrix(self, weight: Any) -> Any:
        return as_matrix(weight, self.dim)

    def _power_method(self, weight_mat: Any, n_power_iterations: int) -> None:
        with no_grad():
            for _ in range(n_power_iterations):
                for name, m, x in (("_u", weight_mat, "_v"), ("_v", weight_mat.t(), "_u")):
                    found = TENSOR.mv(m, getattr(self, x))
                    self._buffers[name].copy_(F.normalize(found, dim=0, eps=self.eps))

    def forward(self, weight: Any) -> Any:
        """``weight`` with the largest singular value 1."""
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._reshape_weight_to_matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()
        return weight / TENSOR.dot(u, TENSOR.mv(matrix, v))

    def right_inverse(self, value: Any) -> Any:
        """The value itself: it is normalized anyway."""
        return value


def spectral_norm(
    module: Any,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Any:
    """Let a parameter be divided by (an estimate of) its largest singular value."""
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        dim = default_dim(module)
    made = _SpectralNorm(weight, n_power_iterations, dim, eps)
    return parametrize.register_parametrization(module, name, made)


# --- orthogonal -----------------------------------------------------------------------------------


class _OrthMaps(Enum):
    matrix_exp = auto()
    cayley = auto()
    householder = auto()


def _is_orthogonal(Q: Any, eps: float | None = None) -> bool:
    n, k = Q.shape[-2:]
    identity = TENSOR.eye(k, dtype=Q.dtype, device=Q.device)
    eps = 10.0 * n * _epsilon(Q) if eps is None else eps
    return bool(TENSOR.allclose(Q.mH @ Q, identity, atol=eps))


def _epsilon(t: Any) -> float:
    return float(np.finfo(t._data.dtype).eps)


def _make_orthogonal(A: Any) -> Any:
    """The Q of the QR decomposition, made unique by a positive diagonal of R."""
    X, tau = TENSOR.geqrf(A)
    Q = TENSOR.linalg_householder_product(X, tau)
    return Q * TENSOR.unsqueeze(TENSOR.sgn(TENSOR.diagonal(X, 0, -2, -1)), -2)


class _Orthogonal(Module):
    """A matrix with orthogonal columns (or rows, where it is wide)."""

    base: Any

    def __init__(
        self, weight: Any, orthogonal_map: _OrthMaps, *, use_trivialization: bool = True
    ) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == _OrthMaps.householder:
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Any) -> Any:
        """The orthogonal matrix that X stands for."""
        n, k = X.shape[-2:]
        transposed = n < k
        if transposed:
            X, n, k = X.mT, k, n
        if self.orthogonal_map is _OrthMaps.householder:
            Q = self._by_reflections(X)
        else:
            Q = self._by_rotation(X, n, k)
        if hasattr(self, "base"):
            Q = self.base @ Q
        return Q.mT if transposed else Q

    def _by_reflections(self, X: Any) -> Any:
        A = TENSOR.tril(X, -1)
        tau = 2.0 / (1.0 + TENSOR.sum(A * A, -2))
        Q = TENSOR.linalg_householder_product(A, tau)
        return Q * TENSOR.unsqueeze(X.diagonal(dim1=-2, dim2=-1).int(), -2)

    def _by_rotation(self, X: Any, n: int, k: int) -> Any:
        """exp(A) or (I + A/2) (I - A/2)^-1 of a skew-symmetric A."""
        X = TENSOR.tril(X)
        if n != k:
            X = TENSOR.cat([X, X.new_zeros(n, n - k).expand(*X.shape[:-2], -1, -1)], -1)
        A = X - X.mH
        if self.orthogonal_map is _OrthMaps.matrix_exp:
            Q = TENSOR.matrix_exp(A)
        else:
            identity = TENSOR.eye(n, dtype=A.dtype, device=A.device)
            Q = TENSOR.linalg_solve(identity - 0.5 * A, identity + 0.5 * A)
        return Q[..., :k] if n != k else Q

    def right_inverse(self, Q: Any) -> Any:
        """What stands for Q, made orthogonal if it is not; the base becomes Q."""
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of "
                f"shape {Q.shape}."
            )
        n, k = Q.shape[-2:]
        transposed = n < k
        Q_init = Q
        if transposed:
            Q, n, k = Q.mT, k, n
        if not hasattr(self, "base"):
            return self._reflections_of(Q, transposed)
        if n == k:
            Q = Q.clone() if _is_orthogonal(Q) else _make_orthogonal(Q)
        else:
            N = TENSOR.randn(*Q.shape[:-2], n, n - k, dtype=Q.dtype, device=Q.device)
            Q = _make_orthogonal(TENSOR.cat([Q, N], -1))
        self.base = Q
        neg = TENSOR.zeros_like(Q_init)
        if self.orthogonal_map is _OrthMaps.householder:
            neg.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return neg

    def _reflections_of(self, Q: Any, transposed: bool) -> Any:
        if self.orthogonal_map is not _OrthMaps.householder:
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley "
                "parametrizations when use_trivialization=False."
            )
        A, tau = TENSOR.geqrf(Q)
        d = A.diagonal(dim1=-2, dim2=-1)
        d.sign_()
        d[tau == 0.0] *= -1  # no reflection: only `forward` has one, and it turns the sign
        return A.mT if transposed else A


def orthogonal(
    module: Any,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> Any:
    """Keep a matrix orthogonal, by ``matrix_exp``, ``cayley`` or ``householder``."""
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions."
        )
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    found = getattr(_OrthMaps, orthogonal_map, None)
    if found is None:
        raise ValueError(
            'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". '
            f"Got: {orthogonal_map}"
        )
    made = _Orthogonal(weight, found, use_trivialization=use_trivialization)
    return parametrize.register_parametrization(module, name, made, unsafe=True)
