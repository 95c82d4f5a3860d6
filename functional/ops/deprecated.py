"""Deprecated functions of linear algebra: what PyTorch says, once, when one is called."""

from __future__ import annotations

from ..blame import warn_once

_END = "and will be removed in a future PyTorch release.\n"
_INSTEAD = "{}\nshould be replaced with\n{}"
_TEXTS = {
    "cholesky": f"torch.cholesky is deprecated in favor of torch.linalg.cholesky {_END}"
    + _INSTEAD.format("L = torch.cholesky(A)", "L = torch.linalg.cholesky(A)\nand\n")
    + _INSTEAD.format("U = torch.cholesky(A, upper=True)", "U = torch.linalg.cholesky(A).mH\n")
    + "This transform will produce equivalent results for all valid (symmetric positive definite) "
    "inputs.",
    "cross": "Using torch.cross without specifying the dim arg is deprecated.\nPlease either pass "
    "the dim explicitly or simply use torch.linalg.cross.\nThe default value of dim will change to "
    "agree with that of linalg.cross in a future release.",
    "lu": "torch.lu is deprecated in favor of torch.linalg.lu_factor / torch.linalg.lu_factor_ex "
    + _END
    + _INSTEAD.format(
        "LU, pivots = torch.lu(A, compute_pivots)",
        "LU, pivots = torch.linalg.lu_factor(A, compute_pivots)\nand\n",
    )
    + _INSTEAD.format(
        "LU, pivots, info = torch.lu(A, compute_pivots, get_infos=True)",
        "LU, pivots, info = torch.linalg.lu_factor_ex(A, compute_pivots)",
    ),
    "lu_solve": f"torch.lu_solve is deprecated in favor of torch.linalg.lu_solve{_END}"
    "Note that torch.linalg.lu_solve has its arguments reversed.\n"
    + _INSTEAD.format(
        "X = torch.lu_solve(B, LU, pivots)", "X = torch.linalg.lu_solve(LU, pivots, B)"
    ),
    "qr": f"torch.qr is deprecated in favor of torch.linalg.qr {_END}The boolean parameter 'some' "
    "has been replaced with a string parameter 'mode'.\n"
    + _INSTEAD.format(
        "Q, R = torch.qr(A, some)", "Q, R = torch.linalg.qr(A, 'reduced' if some else 'complete')"
    ),
    "triangular_solve": "torch.triangular_solve is deprecated in favor of "
    f"torch.linalg.solve_triangular{_END}torch.linalg.solve_triangular has its arguments reversed "
    "and does not return a copy of one of the inputs.\n"
    + _INSTEAD.format(
        "X = torch.triangular_solve(B, A).solution", "X = torch.linalg.solve_triangular(A, B)."
    ),
}


def deprecated(name: str) -> None:
    """Warn of a function's end, once in a process."""
    warn_once(_TEXTS[name])
