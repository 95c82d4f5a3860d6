"""Products of Householder reflections."""

from __future__ import annotations

from typing import Any

from ..tape.declare import general
from ..tape.op import public
from ..tape.out import out_of
from ..tensor import Tensor
from .linalg import with_out
from .linalg_parts import check_kind, mH, not_holomorphic, probed


def _reflectors(F: Any, x: Any, tau: Any) -> list[tuple[Any, Any]]:
    """(v_i as a column, τ_i): v_i has zeros above row i, 1 in it, and x's numbers below."""
    found, at = [], x.ndim - 1
    low = F.tril(x, -1)
    for i in range(tau.shape[-1]):
        v = F.slice_(low, at, i, i + 1, 1)
        one = F.slice_(v, at - 1, i, i + 1, 1) * 0 + 1
        parts = [F.slice_(v, at - 1, 0, i, 1), one, F.slice_(v, at - 1, i + 1, x.shape[-2], 1)]
        t = F.unsqueeze(F.slice_(tau, tau.ndim - 1, i, i + 1, 1), tau.ndim)
        found.append((F.cat(parts, at - 1), t))
    return found


def _reflect_joint(
    F: Any, g: Any, need: Any, self: Any, tau: Any, other: Any, left: bool, adjoint: bool,
    result: Any = None,
) -> Any:  # fmt: skip
    """Backwards through the reflections, keeping the state before each of them."""
    if not left:
        turned = mH(F, g), need, self, tau, mH(F, other), True, not adjoint
        gx, gtau, go = _reflect_joint(F, *turned)
        return gx, gtau, mH(F, go)
    if 0 in self.shape or 0 in tau.shape:
        return None, None, g
    reflectors = _reflectors(F, self, tau)
    order = list(range(len(reflectors)))
    order = order if adjoint else order[::-1]
    states, z = [], other
    for i in order:
        v, t = reflectors[i]
        states.append(z)
        z = z - (F.conj(t) if adjoint else t) * F.matmul(v, F.matmul(mH(F, v), z))
    vectors: list[Any] = [None] * len(order)
    factors: list[Any] = [None] * len(order)
    for i, z in zip(reversed(order), reversed(states), strict=True):
        v, t = reflectors[i]
        t = F.conj(t) if adjoint else t
        vz, vg = F.matmul(mH(F, v), z), F.matmul(mH(F, v), g)
        gt = -F.sum(F.conj(vz) * vg, (z.ndim - 1,), True)
        factors[i] = F.conj(gt) if adjoint else gt
        vectors[i] = -F.conj(t) * F.matmul(g, mH(F, vz)) - t * F.matmul(z, mH(F, vg))
        g = g - F.conj(t) * F.matmul(v, vg)
    at = g.ndim - 1
    gx = F.tril(F.cat(vectors, at), -1)
    extra = self.shape[-1] - len(order)
    if extra:
        gx = F.cat([gx, F.zeros_like(F.slice_(self, self.ndim - 1, 0, extra, 1))], at)
    gtau = F.cat(factors, at)
    return gx, F.reshape(gtau, tuple(tau.shape)), g


reflected = not_holomorphic(
    general(
        "reflected",
        inputs=("self", "tau", "other"),
        statics=("left", "adjoint"),
        joint=_reflect_joint,
        node="OrmqrBackward0",
        shape=probed("reflected", 2, 1, 2),
    )
)


def _householder_joint(F: Any, g: Any, need: Any, self: Any, tau: Any, result: Any) -> Any:
    eye = F.householder(F.zeros_like(self), F.zeros_like(tau))
    return _reflect_joint(F, g, need, self, tau, eye, True, False)[:2]


householder = not_holomorphic(
    general(
        "householder",
        inputs=("self", "tau"),
        joint=_householder_joint,
        node="LinalgHouseholderProductBackward0",
        shape=probed("householder", 2, 1),
    )
)

# --- public forms ---------------------------------------------------------------------------------


def _check_tau(self: Tensor, tau: Tensor, name: str) -> None:
    """PyTorch's errors for the shape of the factors."""
    if self.ndim - tau.ndim != 1:
        raise RuntimeError(
            f"{name}: Expected tau to have one dimension less than input, but got tau.ndim equal "
            f"to {tau.ndim} and input.ndim is equal to {self.ndim}"
        )
    if tuple(self.shape[:-2]) != tuple(tau.shape[:-1]):
        raise RuntimeError(
            f"{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got "
            f"{list(tau.shape[:-1])}"
        )


def _householder_product(A: Tensor, tau: Tensor) -> Tensor:
    """The first columns of H₁ … H_k, the reflections that ``geqrf`` gives."""
    name = "torch.linalg.householder_product"
    if A.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if A.shape[-2] < A.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-2] must be greater than or equal to "
                           "input.shape[-1]")  # fmt: skip
    if A.shape[-1] < tau.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-1] must be greater than or equal to "
                           "tau.shape[-1]")  # fmt: skip
    _check_tau(A, tau, name)
    if A.dtype is not tau.dtype:
        raise RuntimeError(
            f"{name}: tau dtype {tau.dtype.legacy} does not match input dtype {A.dtype.legacy}"
        )
    check_kind(A, name, "orgqr_cpu", "orgqr_cpu")
    return householder(A, tau)


linalg_householder_product = with_out(_householder_product, "linalg_householder_product")
orgqr = with_out(_householder_product, "orgqr", "linalg_householder_product")


def _check_others(self: Tensor, tau: Tensor, other: Tensor, name: str) -> None:
    """PyTorch's errors for the batch of ``other``, and for dtypes."""
    if other.ndim != self.ndim:
        raise RuntimeError(
            f"{name}: Expected other to have the same number of dimensions as input, but got "
            f"other.ndim equal to {other.ndim} and input.ndim is equal to {self.ndim}"
        )
    if tuple(self.shape[:-2]) != tuple(other.shape[:-2]):
        raise RuntimeError(
            f"{name}: Expected batch dimensions of other to be equal to input.shape[:-2], but got "
            f"{list(other.shape[:-2])}"
        )
    for title, x in (("tau", tau), ("other", other)):
        if x.dtype is not self.dtype:
            raise RuntimeError(
                f"{name}: Expected input and {title} to have the same dtype, but input has dtype"
                f"{self.dtype.legacy} and {title} has dtype {x.dtype.legacy}"
            )


def _ormqr(
    self: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False
) -> Tensor:
    name, at = "torch.ormqr", -2 if left else -1
    for title, x in (("input", self), ("other", other)):
        if x.ndim < 2:
            raise RuntimeError(f"{name}: {title} must have at least 2 dimensions.")
    if other.shape[at] < tau.shape[-1]:
        raise RuntimeError(f"{name}: other.shape[{at}] must be greater than or equal to "
                           "tau.shape[-1]")  # fmt: skip
    if tau.shape[-1] > min(other.shape[at], self.shape[-1]):
        raise RuntimeError(f"{name}: tau.shape[-1] must be equal to min(other.shape[{at}], "
                           "input.shape[-1])")  # fmt: skip
    if other.shape[at] != self.shape[-2]:
        raise RuntimeError(f"{name}: other.shape[{at}] must be equal to input.shape[-2]")
    _check_tau(self, tau, name)
    _check_others(self, tau, other, name)
    check_kind(self, name, "ormqr_cpu", "ormqr_cpu")
    return reflected(self, tau, other, left, transpose)


@public
def ormqr(
    self: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False, *,
    out: Any = None,
) -> Tensor:  # fmt: skip
    """Q @ other (other @ Q; Qᴴ for Q if ``transpose``), Q given by reflections."""
    if out is not None:
        call = lambda x, t, y: _ormqr(x, t, y, left, transpose)
        return out_of(call, out, self, tau, other, name="ormqr")
    return _ormqr(self, tau, other, left, transpose)
