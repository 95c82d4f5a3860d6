"""PyTorch's errors for an ``out=`` of a dtype that is not the result's."""

from __future__ import annotations

from .. import dtypes

# Functions whose out= must have the result's dtype; most others convert to a dtype as wide.
_EXACT = frozenset(
    """
    addmm addmv alias_copy aminmax argmax argmin as_strided_copy avg_pool2d avg_pool3d baddbmm
    bmm cumprod cumsum diag diagonal_copy expand_copy gather index_add index_copy index_reduce
    isin linalg_cholesky linalg_cholesky_ex linalg_cross linalg_det linalg_eigh linalg_eigvalsh
    linalg_inv linalg_inv_ex linalg_ldl_factor linalg_ldl_factor_ex linalg_ldl_solve linalg_lu
    linalg_lu_factor linalg_lu_factor_ex linalg_lu_solve linalg_matrix_power linalg_qr
    linalg_slogdet linalg_solve linalg_solve_ex linalg_svd linalg_svdvals linalg_vector_norm
    linear log_softmax lu_solve lu_unpack matmul max min mm msort norm permute_copy qr renorm
    scatter scatter_add scatter_reduce slice_scatter slogdet softmax sort squeeze_copy svd t_copy
    take_along_dim topk transpose_copy triangular_solve tril triu unfold_copy unsqueeze_copy
    view_copy
    """.split()
)
_FOUND = frozenset(
    """
    abs bitwise_not ceil clamp.number clamp_max.number clamp_min.number conj_physical floor frac
    gelu hardshrink lerp.tensor neg round sgn sign softplus softshrink trunc
    """.split()
)
_JOINED = frozenset("cat column_stack dstack hstack stack vstack".split())
# {found} and {out} are the result's and out's dtypes, {name} is the function's.
_NORM = "{title} expected out tensor dtype {found} but got: {out}"
_EXTREME = (
    "Expected the dtype for input and out to match, but got {found} for input's dtype and {out} "
    "for out's dtype."
)
_TRUTH = "{name} does not support non-boolean outputs."
_SELECTED = "{name}(): self and result must have the same scalar type"
_PARTS = "Expected object of scalar type {found} but got scalar type {out} for argument 'out'"
_CONTRACTION = (
    "tensordot: Expected the output tensor to have dtype {found}, but got an output tensor with "
    "dtype {out}"
)
_RANK = (
    "Expected tensor for 'values' to have the same type as tensor for argument #2 'self'; but type "
    "{t_out} does not equal {t_found} (while checking arguments for median)"
)
_RANK_AT = (
    "Expected tensor for argument #1 'indices' to have scalar type Long; but got {t_out} instead "
    "(while checking arguments for median)"
)
_MODE = "expected scalar type '{found}' but got '{out}' for %s output"
_SCALAR = "expected scalar_type {found} but found {out}"
_COUNTS = (
    "torch.histogram: input tensor and hist tensor should have the same dtype, but got input "
    "{c_found} and hist {c_out}"
)
_EDGES = (
    "torch.histogram: input tensor and bin_edges tensor should have the same dtype, but got input "
    "{c_found} and bin_edges {c_out} for dimension 0"
)
_SEARCH = (
    "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or "
    "Long(int64) depending on whether out_int32 flag is True, but we got output tensor's dtype "
    "{out} and out_int32 flag is "
)
# Of functions with several results one for each.
_TEXTS: dict[str, str | tuple[str, ...]] = {
    **dict.fromkeys(("linalg_norm", "linalg_matrix_norm"), _NORM),
    **dict.fromkeys(("amax", "amin"), _EXTREME),
    **dict.fromkeys(("signbit", "isposinf", "isneginf"), _TRUTH),
    **dict.fromkeys(("index_select", "masked_select"), _SELECTED),
    **dict.fromkeys(("complex", "polar"), _PARTS),
    **dict.fromkeys(("all", "any"), "{name} only supports bool tensor for result, got: {out}"),
    **dict.fromkeys(_FOUND, "Found dtype {out} but expected {found}"),
    **dict.fromkeys(_EXACT, "Expected out tensor to have dtype {c_found}, but got {c_out} instead"),
    **dict.fromkeys(("dot", "vdot"), "result dtype {out} does not match input dtype {found}"),
    "mv": "addmv input tensors must have the same dtype, but got {out}, {found}, and {found}",
    **dict.fromkeys(("inner", "tensordot"), _CONTRACTION),
    "addbmm": "self and mat2 must have the same dtype, but got {out} and {found}",
    "linalg_multi_dot": "multi_dot(): expected out tensor to have dtype {c_found} but got {c_out}",
    "linalg_vecdot": "linalg.vecdot: Expected out of dtype{found} but found {out}",
    **dict.fromkeys(("cummax", "cummin", "logcumsumexp"), _SCALAR),
    **dict.fromkeys(("median", "nanmedian"), (_RANK, _RANK_AT)),
    "mode": (_MODE % "values", _MODE % "indices"),
    "kthvalue": (
        "output values must be of same type as input",
        "output indices must be of scalar type Long",
    ),
    "histc": _COUNTS,
    "histogram": (_COUNTS, _EDGES),
    "frexp": (
        "torch.frexp() expects mantissa to have dtype {c_found} but got {c_out}",
        "torch.frexp() expects exponent to have int dtype but got {c_out}",
    ),
    "heaviside": "heaviside is not yet implemented for tensors with different dtypes.",
    "heaviside.complex": "heaviside is not yet implemented for complex tensors.",
    "nan_to_num": "nan_to_num: dtype of out: {out} should be same as input: {found}",
    "float_power": "the output given to float_power has dtype {out} but the operation's result "
    "requires dtype {found}",
    "where": "Expected out type to be {found} but got {out}",
    **dict.fromkeys(
        ("quantile", "nanquantile"), "quantile() out tensor must be same dtype as the input tensor"
    ),
    "nonzero": "nonzero: Expected out tensor to have scalar type Long but got scalar type{out}",
    "searchsorted": _SEARCH + "False",
    "searchsorted.int32": _SEARCH + "True",
    "ormqr": "torch.ormqr: Expected input and result to have the same dtype, but input has dtype"
    "{found} and result has dtype {out}",
    "linalg_solve_triangular": "expected scalar type {found} but found {out}",
    "take": "take(): self and out expected to have the same dtype, but got self.dtype = {found} "
    "and out.dtype = {out}",
}
_SAFE = "{}: Expected {} to be safely castable from {{found}} dtype, but got {} with dtype {{out}}"


def _safe(title: str, *parts: str) -> tuple[str, ...]:
    return tuple(_SAFE.format(title, part, part) for part in parts or ("result",))


# The same where the dtype is not even as wide as the result's.
_NARROW: dict[str, str | tuple[str, ...]] = {
    "diag": "diag: result type {found} can't be cast to the desired out= type {out}",
    "mvlgamma": "mvlgamma: result type {found} can't be cast to the desired output type {found}",
    "ldexp": "ldexp can't be cast to the desired output type {out}",
    "logsumexp": "logsumexp(): Expected floating point type for result tensor, but got: {out}",
    "cholesky": _safe("cholesky"),
    "cholesky_inverse": _safe("cholesky_inverse"),
    "cholesky_solve": _safe("cholesky_solve"),
    "geqrf": _safe("torch.geqrf", "a", "tau"),
    "linalg_cond": _safe("linalg.cond"),
    "linalg_eig": _safe("torch.linalg.eig", "eigenvalues", "eigenvectors"),
    "linalg_eigvals": _safe("torch.linalg.eigvals", "eigenvalues"),
    "linalg_householder_product": _safe("torch.linalg.householder_product"),
    "linalg_matrix_power": _safe("matrix_power"),
    "linalg_matrix_rank": _safe("torch.linalg.matrix_rank"),
    "linalg_pinv": _safe("linalg.pinv"),
    "linalg_tensorinv": _safe("tensorinv"),
    "linalg_tensorsolve": _safe("tensorsolve"),
}


def check_out_dtype(name: str, found: dtypes.dtype, out: dtypes.dtype, at: int = 0) -> None:
    """Raise where the function ``name``, whose result has dtype ``found``, does not convert it.

    ``at`` is the result's place among several.
    """
    if name in _ANY or (name in ("all", "any") and out in (dtypes.bool_, dtypes.uint8)):
        return
    if name == "heaviside" and out.is_complex:
        name = "heaviside.complex"
    fits = dtypes.can_cast(found, out)
    text = (None if fits else _NARROW.get(name)) or _TEXTS.get(name)
    if text is not None:
        raise RuntimeError(
            (text if isinstance(text, str) else text[at]).format(
                name=name,
                title=name.replace("_", ".", 1),
                found=found.legacy,
                out=out.legacy,
                c_found=dtypes.c_name(found),
                c_out=dtypes.c_name(out),
                t_found=_type_name(found),
                t_out=_type_name(out),
            )
        )
    _check_wide(name, found, out)


_ANY = ("bernoulli", "full")  # whose out= may have any dtype


def _type_name(d: dtypes.dtype) -> str:
    """A dtype as the name of the old tensor type."""
    old = d is not dtypes.bool_ and not d.is_complex
    return f"torch.{d.legacy}Tensor" if old else f"CPU{d.legacy}Type"


def _check_wide(name: str, found: dtypes.dtype, out: dtypes.dtype) -> None:
    fft = name.startswith("fft_") and not name.endswith("freq")
    if dtypes.can_cast(found, out) and not (fft and out.is_complex is not found.is_complex):
        return
    if name in _JOINED:
        raise TypeError(
            f"torch.cat(): input types can't be cast to the desired output type {out.legacy}"
        )
    if fft:
        kind = "complex" if found.is_complex else "floating point"
        title = name[4:].replace("2", "n")
        raise RuntimeError(f"{title} expects a {kind} output tensor, but got {out.legacy}")
    dtypes.check_cast(found, out)
