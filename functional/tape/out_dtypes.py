"""PyTorch's errors for an ``out=`` of a dtype that is not the result's."""

from __future__ import annotations

from .. import dtypes

# Functions whose out= must have the result's dtype; most others convert to a dtype as wide.
_EXACT = frozenset(
    """
    addmm addmv alias_copy aminmax argmax argmin as_strided_copy avg_pool2d avg_pool3d baddbmm
    bmm cumprod cumsum diag diagonal_copy expand_copy gather index_add index_copy index_reduce
    isin linalg_cholesky linalg_cross linalg_det linalg_eigvalsh linalg_inv linalg_ldl_solve
    linalg_lu_solve linalg_matrix_power linalg_solve linalg_svdvals linalg_vector_norm linear
    log_softmax lu_solve matmul mm msort norm permute_copy renorm scatter scatter_add
    scatter_reduce slice_scatter softmax squeeze_copy t_copy take_along_dim transpose_copy
    unfold_copy unsqueeze_copy view_copy
    """.split()
)
_FOUND = frozenset(
    """
    abs bitwise_not ceil conj_physical floor frac gelu hardshrink neg round sgn sign softplus
    softshrink trunc
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
_TEXTS = {
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
    "logcumsumexp": "expected scalar_type {found} but found {out}",
    "take": "take(): self and out expected to have the same dtype, but got self.dtype = {found} "
    "and out.dtype = {out}",
}


def check_out_dtype(name: str, found: dtypes.dtype, out: dtypes.dtype) -> None:
    """Raise where the function ``name``, whose result has dtype ``found``, does not convert it."""
    text = _TEXTS.get(name)
    if name in ("all", "any") and out in (dtypes.bool_, dtypes.uint8):
        return
    if text is not None:
        raise RuntimeError(
            text.format(
                name=name,
                title=name.replace("_", ".", 1),
                found=found.legacy,
                out=out.legacy,
                c_found=dtypes.c_name(found),
                c_out=dtypes.c_name(out),
            )
        )
    if dtypes.can_cast(found, out):
        return
    if name in _JOINED:
        raise TypeError(
            f"torch.cat(): input types can't be cast to the desired output type {out.legacy}"
        )
    if name.startswith("fft_"):
        kind = "complex" if found.is_complex else "floating point"
        title = name[4:].replace("2", "n")
        raise RuntimeError(f"{title} expects a {kind} output tensor, but got {out.legacy}")
    dtypes.check_cast(found, out)
