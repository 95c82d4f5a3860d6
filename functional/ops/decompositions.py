"""Factorizations: Cholesky, QR, singular values, eigenvalues, LU, LDL."""

from __future__ import annotations

from typing import Any

from .. import dtypes, errors
from ..errors import not_implemented
from ..tape.declare import general
from ..tape.op import TENSOR, public
from ..tape.slow import EXACT
from ..tape.views import requires_grad
from ..tensor import Tensor
from .decomposition_rules import cholesky_vjp, eig_vjp, eigh_vjp, qr_vjp, svd_vjp
from .deprecated import deprecated
from .linalg import with_out, write_all
from .linalg_parts import (
    batch_element,
    check_kind,
    check_matrix,
    check_square,
    failed,
    mT,
    not_holomorphic,
    probed,
    unless_empty,
)
from .results import return_type

# --- primitives -----------------------------------------------------------------------------------

cholesky_ = not_holomorphic(
    general(
        "cholesky_of",
        cholesky_vjp,
        statics=("upper",),
        node="LinalgCholeskyExBackward0",
        vmap="lead",
        differentiable=(True, False),
        shape=probed("cholesky_of"),
    )
)
cholesky_old = not_holomorphic(
    general(
        "cholesky_old",
        cholesky_vjp,
        statics=("upper",),
        kernel="cholesky_of",
        node="CholeskyBackward0",
        vmap="lead",
        differentiable=(True, False),
        shape=probed("cholesky_of"),
    )
)
qr_ = not_holomorphic(
    general(
        "qr_of",
        qr_vjp,
        statics=("mode",),
        node="LinalgQrBackward0",
        vmap="lead",
        shape=probed("qr_of"),
    )
)
svd_ = not_holomorphic(
    general(
        "svd_of",
        svd_vjp,
        statics=("full", "vectors"),
        node="LinalgSvdBackward0",
        vmap="lead",
        shape=probed("svd_of"),
    )
)
eigh_ = not_holomorphic(
    general(
        "eigh_of",
        eigh_vjp,
        statics=("uplo", "vectors"),
        node="LinalgEighBackward0",
        vmap="lead",
        shape=probed("eigh_of"),
    )
)
eig_ = not_holomorphic(
    general(
        "eig_of",
        eig_vjp,
        statics=("vectors",),
        node="LinalgEigBackward0",
        vmap="lead",
        shape=probed("eig_of"),
    )
)


def _no_geqrf(F: Any, g: Any) -> Any:
    raise NotImplementedError("the derivative for 'geqrf' is not implemented.")


geqrf_ = general(
    "geqrf_of", _no_geqrf, node="GeqrfBackward0", vmap="lead", shape=probed("geqrf_of")
)


def wants_vectors(A: Tensor) -> bool:
    """Whether a derivative may be asked for, which needs the vectors beside the values."""
    return requires_grad(A) or type(A) not in EXACT


# --- Cholesky -------------------------------------------------------------------------------------

_CholeskyEx = return_type("linalg_cholesky_ex", ("L", "info"))


def _not_positive(name: str, info: Tensor) -> None:
    if failed(info):
        code, where = batch_element(info)
        raise errors.LinAlgError(
            f"{name}: {where}The factorization could not be completed because the input is not "
            f"positive-definite (the leading minor of order {code} is not positive-definite)."
        )


@public
def linalg_cholesky_ex(
    A: Tensor, *, upper: bool = False, check_errors: bool = False, out: Any = None
) -> Any:
    """(L, info): info is the order of the first leading minor that is not positive, or 0."""
    check_square(A, "linalg.cholesky")
    check_kind(A, "linalg.cholesky", half="")
    factor, info = unless_empty("cholesky_cpu", cholesky_, A, upper)
    if check_errors:
        _not_positive("linalg.cholesky_ex", info)
    return write_all(_CholeskyEx((factor, info)), out, "linalg_cholesky_ex")


def _cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """L with L Lᴴ = A (or U with Uᴴ U = A); LinAlgError if A is not positive definite."""
    factor, info = linalg_cholesky_ex(A, upper=upper)
    _not_positive("linalg.cholesky", info)
    return factor


linalg_cholesky = with_out(_cholesky, "linalg_cholesky")


def _old_cholesky(self: Tensor, upper: bool = False) -> Tensor:
    """L with L Lᴴ = self (or U with Uᴴ U)."""
    deprecated("cholesky")
    check_square(self, "cholesky")
    factor, info = unless_empty("cholesky_cpu", cholesky_old, self, upper)
    _not_positive("cholesky", info)
    return factor


cholesky = with_out(_old_cholesky, "cholesky")

# --- QR -------------------------------------------------------------------------------------------

_QR, _OldQR = return_type("linalg_qr", ("Q", "R")), return_type("qr", ("Q", "R"))
_Geqrf = return_type("geqrf", ("a", "tau"))


@public
def linalg_qr(A: Tensor, mode: str = "reduced", *, out: Any = None) -> Any:
    """(Q, R) with A = Q R; ``mode`` is ``reduced``, ``complete``, or ``r`` for R alone."""
    check_matrix(A, "linalg.qr")
    check_kind(A, "linalg.qr", half="geqrf_cpu")
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), "
            "'r', or 'complete'"
        )
    return write_all(_QR(qr_(A, mode)), out, "linalg_qr")


@public
def qr(self: Tensor, some: bool = True, *, out: Any = None) -> Any:
    """(Q, R) with self = Q R; Q is square unless ``some``."""
    deprecated("qr")
    found = linalg_qr(self, "reduced" if some else "complete")
    return write_all(_OldQR(found), out, "qr")


@public
def geqrf(self: Tensor, *, out: Any = None) -> Any:
    """(R with the Householder vectors of Q below it, their factors)."""
    if self.ndim < 2:
        raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
    check_kind(self, "geqrf", "geqrf_cpu", "geqrf_cpu")
    return write_all(_Geqrf(geqrf_(self)), out, "geqrf")


# --- singular values ------------------------------------------------------------------------------

_SVD, _OldSVD = return_type("linalg_svd", ("U", "S", "Vh")), return_type("svd", ("U", "S", "V"))


def _check_svd(A: Tensor) -> None:
    check_matrix(A, "linalg.svd")
    check_kind(A, "linalg.svd", half="")


def _svd(A: Tensor, full: bool, vectors: bool) -> Any:
    return unless_empty("linalg_svd_cpu", svd_, A, full, vectors)


@public
def linalg_svd(
    A: Tensor, full_matrices: bool = True, *, driver: str | None = None, out: Any = None
) -> Any:
    """(U, S, Vᴴ) with A = U diag(S) Vᴴ, S in descending order."""
    _check_svd(A)
    if driver is not None:
        raise RuntimeError(
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with "
            "cuSOLVER backend."
        )
    return write_all(_SVD(_svd(A, full_matrices, True)), out, "linalg_svd")


def _svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    """The singular values in descending order."""
    _check_svd(A)
    return _svd(A, False, wants_vectors(A))[1]


linalg_svdvals = with_out(_svdvals, "linalg_svdvals")


@public
def svd(self: Tensor, some: bool = True, compute_uv: bool = True, *, out: Any = None) -> Any:
    """(U, S, V) with self = U diag(S) Vᴴ."""
    if self.ndim < 2:
        raise RuntimeError(
            "linalg.svd: input should have at least 2 dimensions, but has "
            f"{self.ndim} dimensions instead"
        )
    _check_svd(self)
    if not compute_uv:
        return write_all(_OldSVD(_without_vectors(self)), out, "svd")
    u, s, vh = _svd(self, not some, True)
    return write_all(_OldSVD((u, s, TENSOR.conj(mT(TENSOR, vh)))), out, "svd")


def _without_vectors(A: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    *batch, m, n = A.shape
    zeros = [TENSOR.zeros((*batch, k, k), dtype=A.dtype) for k in (m, n)]
    return zeros[0], _svdvals(A), zeros[1]


# --- eigenvalues ----------------------------------------------------------------------------------

_Eigh = return_type("linalg_eigh", ("eigenvalues", "eigenvectors"))
_Eig = return_type("linalg_eig", ("eigenvalues", "eigenvectors"))


def _check_eigh(A: Tensor, UPLO: str) -> str:
    check_square(A, "linalg.eigh")
    uplo = UPLO.upper()
    if uplo not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return uplo


def _eigen(A: Tensor, UPLO: str, vectors: bool) -> Any:
    return unless_empty("linalg_eigh_cpu", eigh_, A, _check_eigh(A, UPLO), vectors)


@public
def linalg_eigh(A: Tensor, UPLO: str = "L", *, out: Any = None) -> Any:
    """(eigenvalues in ascending order, eigenvectors) of Hermitian matrices."""
    return write_all(_Eigh(_eigen(A, UPLO, True)), out, "linalg_eigh")


def _eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """The eigenvalues of Hermitian matrices in ascending order."""
    return _eigen(A, UPLO, wants_vectors(A))[0]


linalg_eigvalsh = with_out(_eigvalsh, "linalg_eigvalsh")


def _check_eig(A: Tensor, name: str) -> None:
    check_square(A, name)
    if A.dtype.category < dtypes.FLOAT:
        raise RuntimeError(f"Unknown Complex ScalarType for {A.dtype.legacy}")
    if A.dtype.array in dtypes.HALF:
        raise not_implemented("linalg_eig_out_cpu", A.dtype)


@public
def linalg_eig(A: Tensor, *, out: Any = None) -> Any:
    """(eigenvalues, eigenvectors) of square matrices, both complex."""
    _check_eig(A, "linalg.eig")
    return write_all(_Eig(eig_(A, True)), out, "linalg_eig")


def _eigvals(A: Tensor) -> Tensor:
    """The eigenvalues of square matrices, complex."""
    _check_eig(A, "linalg.eigvals")
    return eig_(A, wants_vectors(A))[0]


linalg_eigvals = with_out(_eigvals, "linalg_eigvals")
