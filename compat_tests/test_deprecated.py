"""What is gone or going says what to call in its place; libraries that are not there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import torchlike as torch
from functional import blame

M = torch.eye(3)
P = torch.tensor([1, 2, 3], dtype=torch.int32)
S = torch.tensor(1 + 2j)
CALLS: list[tuple[Callable[[], Any], str]] = [
    (lambda: torch.cholesky(M), r"torch.linalg.cholesky\(A\)\nand\nU = torch.cholesky\(A, upper"),
    (lambda: torch.qr(M), r"Q, R = torch.linalg.qr\(A, 'reduced' if some else 'complete'\)$"),
    (lambda: torch.lu(M), r"LU, pivots, info = torch.linalg.lu_factor_ex\(A, compute_pivots\)$"),
    (lambda: torch.lu_solve(M, M, P), r"X = torch.linalg.lu_solve\(LU, pivots, B\)$"),
    (lambda: torch.triangular_solve(M, M), r"X = torch.linalg.solve_triangular\(A, B\).$"),
    (lambda: torch.cross(M, M), "Using torch.cross without specifying the dim arg is deprecated."),
    (lambda: torch.chain_matmul(M, M), "torch.chain_matmul is deprecated"),
    (lambda: torch.nuclear_norm(M), "at::nuclear_norm is deprecated"),
    (lambda: torch.frobenius_norm(M, 0), "at::frobenius_norm is deprecated"),
    (lambda: S.mT, "Tensor.mT is deprecated on 0-D tensors. This function is the identity"),
    (lambda: S.mH, "Tensor.mH is deprecated on 0-D tensors. Consider using"),
    (lambda: S.H, "Tensor.H is deprecated on 0-D tensors. Consider using"),
    (lambda: S.adjoint(), r"adjoint\(\) is deprecated on 0-D tensors"),
]


@pytest.mark.parametrize(("call", "text"), CALLS)
def test_warns_once(call: Any, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blame, "_seen", set())
    with pytest.warns(UserWarning, match=text) as found:
        call()
        call()
    assert len(found) == 1


@pytest.mark.filterwarnings("ignore:.* is deprecated on 0-D tensors")
def test_scalars_transposed() -> None:
    assert S.mT is S and S.mH.item() == S.H.item() == S.adjoint().item() == 1 - 2j


@pytest.mark.parametrize("name", ["eig", "lstsq", "solve", "symeig"])
def test_functions_that_are_gone(name: str) -> None:
    given = (M,) if name in ("eig", "symeig") else (M, M)
    for call in (getattr(torch, name), getattr(torch.Tensor, name)):
        with pytest.raises(RuntimeError, match=r"since version 1\.9 and is now removed"):
            call(*given)


def test_frequencies_with_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blame, "_seen", set())
    with pytest.warns(UserWarning, match=r"will be resized to a tensor of shape \(3,\)"):
        out = torch.fft.rfftfreq(4, out=torch.empty(2))
    assert out.tolist() == [0.0, 0.25, 0.5]
    kept = torch.fft.fftfreq(4, out=torch.empty(4, 1).double())
    assert kept.tolist() == [[0.0], [0.25], [-0.5], [-0.25]] and kept.dtype is torch.float64
    assert torch.fft.fftfreq(0).shape == (0,)


def test_libraries_of_gpus() -> None:
    cuda = torch.backends.cuda
    assert repr(cuda.preferred_linalg_library("default")) == "<_LinalgBackend.Default: 0>"
    assert repr(cuda.preferred_blas_library()) == "<_BlasBackend.Cublas: 1>"


def test_losses_within_transforms_may_depend_on_phases() -> None:
    a = torch.tensor([[1.0, 1j], [-1j, 0.5]])
    g = torch.func.grad(lambda a: torch.linalg.eigh(a).eigenvectors.imag.sum())(a)
    assert g.shape == (2, 2) and bool(g.isfinite().all())
