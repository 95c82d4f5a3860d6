"""Linear algebra: ``torch.linalg``."""

from __future__ import annotations

from functional.errors import LinAlgError
from functional.tape.op import TENSOR as _FUNCTIONS

from . import intercept as _intercept

_NAMES = """
cholesky cholesky_ex cond cross det diagonal eig eigh eigvals eigvalsh householder_product inv
inv_ex ldl_factor ldl_factor_ex ldl_solve lstsq lu lu_factor lu_factor_ex lu_solve matmul
matrix_exp matrix_norm matrix_power matrix_rank multi_dot norm pinv qr slogdet solve solve_ex
solve_triangular svd svdvals tensorinv tensorsolve vander vecdot vector_norm
""".split()

for _name in _NAMES:
    globals()[_name] = _intercept.intercepted(getattr(_FUNCTIONS, "linalg_" + _name), _name)

__all__ = ["LinAlgError", *_NAMES]
