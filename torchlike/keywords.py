"""Arguments by name: PyTorch's names for them, and those of NumPy that it takes as well."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any

# NumPy's names, by PyTorch's
_NUMPY = {"input": ("x", "a", "x1"), "other": ("x2",), "dim": ("axis",), "keepdim": ("keepdims",)}
# What PyTorch has written in Python, where its own names are the only ones.
_STRICT = set(
    """
    atleast_1d atleast_2d atleast_3d block_diag broadcast_shapes broadcast_tensors cartesian_prod
    cdist chain_matmul einsum from_dlpack istft lu meshgrid norm pca_lowrank split stft svd_lowrank
    tensordot unflatten unique unique_consecutive unravel_index
    """.split()
)
# PyTorch's names of the first arguments, in order, of functions that name them otherwise.
_FIRST = """
addmv_ input mat vec
addr_ input vec1 vec2
baddbmm_ input batch1 batch2
addbmm_ input batch1 batch2
bmm input mat2
cauchy_ input median sigma
cholesky_solve input input2
clamp_max input max
clamp_max_ input max
clamp_min input min
clamp_min_ input min
complex real imag
dot input tensor
dsplit input indices|sections
empty size
exponential_ input lambd
geometric_ input p
heaviside input values
heaviside_ input values
hsplit input indices|sections
isin elements|element test_elements|test_element
log_normal_ input mean std
lu_solve input LU_data LU_pivots
matrix_power input n
max input other
min input other
mm input mat2
mv input vec
new_empty input size
new_ones input size
new_zeros input size
ones size
orgqr input input2
ormqr input input2 input3
polar abs angle
rand size
randn size
resize_ input size
resize_as_ input the_template
pdist input
split tensor split_size
split_with_sizes_copy input split_sizes
sum_to_size input size
transpose input axis0 axis1
transpose_ input axis0 axis1
unsafe_chunk input chunks
unsafe_split input split_size
unsafe_split_with_sizes input split_sizes
view input size|dtype
view_copy input size|dtype
vsplit input indices|sections
zeros size
linalg_cholesky_ex input
linalg_cond input
linalg_det A
linalg_eig input
linalg_eigh input
linalg_eigvalsh input UPLO
linalg_householder_product input tau
linalg_inv A
linalg_ldl_factor input
linalg_ldl_factor_ex input
linalg_ldl_solve LD pivots B
linalg_lstsq input b
linalg_lu_solve LU pivots B
linalg_matrix_exp input
linalg_matrix_norm input
linalg_matrix_power input n
linalg_norm input
linalg_solve A B
linalg_solve_triangular input B
linalg_svdvals A
linalg_tensorinv input ind
linalg_tensorsolve input other
linalg_vector_norm input
airy_ai x
scaled_modified_bessel_k0 x
scaled_modified_bessel_k1 x
spherical_bessel_j0 x
chebyshev_polynomial_t x n
chebyshev_polynomial_u x n
chebyshev_polynomial_v x n
chebyshev_polynomial_w x n
hermite_polynomial_h x n
hermite_polynomial_he x n
laguerre_polynomial_l x n
legendre_polynomial_p x n
shifted_chebyshev_polynomial_t x n
shifted_chebyshev_polynomial_u x n
shifted_chebyshev_polynomial_v x n
shifted_chebyshev_polynomial_w x n
"""
FIRST = {
    name: [{n for one in names.split("|") for n in (one, *_NUMPY.get(one, ()))} for names in first]
    for name, *first in map(str.split, _FIRST.strip().splitlines())
}


def parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of a function's parameters."""
    code = function.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


@lru_cache(None)
def _own_names(function: Callable[..., Any]) -> dict[str, str]:
    """The function's own names by the others that calls may use for them."""
    names = parameters(function)
    first = names[0] if names else ""
    found = {"input": first} if first == "self" else {}
    if function.__name__ in _STRICT:
        return found
    for standard, others in _NUMPY.items():
        own = first if standard == "input" and first == "self" else standard
        if own in names:
            found.update({name: own for name in others if name not in names})
    return found


def renamed(
    function: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments as ``function`` wants them; it refuses the names that it does not know."""
    for names in FIRST.get(function.__name__, ())[len(args) :]:
        given = names & named.keys()
        if len(given) != 1:
            break
        named = dict(named)
        args = (*args, named.pop(given.pop()))
    own = _own_names(function)
    if not own.keys().isdisjoint(named):
        named = {own[k] if k in own and own[k] not in named else k: v for k, v in named.items()}
    return args, named


def with_names(function: Callable[..., Any]) -> Callable[..., Any]:
    """A method that takes those names; ``function`` itself if it already does."""
    targets = set(_own_names(function).values())
    if function.__name__ not in FIRST and targets.isdisjoint(("dim", "keepdim", "other")):
        return function

    own = set(parameters(function))

    @wraps(function)
    def method(*args: Any, **named: Any) -> Any:
        if named and not named.keys() <= own:
            args, named = renamed(function, args, named)
        return function(*args, **named)

    return method
