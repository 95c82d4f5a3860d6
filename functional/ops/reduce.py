"""Reductions."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..blame import warn
from ..dtypes import c_name
from ..errors import not_implemented
from ..tape.batching import over_scalars, shifted
from ..tape.declare import general
from ..tape.op import TENSOR, public
from ..tape.out import need_dtype, need_out, out_of
from ..tape.slow import in_place
from ..tensor import Tensor
from .arguments import dims_of, one_dim


def reduced_shape(x: Any, dim: Any, keepdim: bool) -> tuple[int, ...]:
    if dim is None:
        return (1,) * x.ndim if keepdim else ()
    if keepdim:
        return tuple(1 if i in dim else n for i, n in enumerate(x.shape))
    return tuple(n for i, n in enumerate(x.shape) if i not in dim)


def same_dtype_shape(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    return reduced_shape(x, dim, keepdim), x.dtype


def sum_shape(x: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    own = x.dtype if x.dtype.kind in "fcV" else dtypes.int64.array
    return reduced_shape(x, dim, keepdim), own if dtype is None else dtype.array


def _mean_shape(x: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    return reduced_shape(x, dim, keepdim), x.dtype if dtype is None else dtype.array


def arg_shape(x: Any, dim: Any, keepdim: bool) -> Any:
    return reduced_shape(x, None if dim is None else (dim,), keepdim), dtypes.int64.array


def restored(F: Any, g: Any, shape: tuple[int, ...], dim: Any, keepdim: bool) -> Any:
    """A reduced tensor with its dimensions back, so that it broadcasts to ``shape``."""
    if dim is None or keepdim or not shape:
        return F.reshape(g, (1,) * len(shape)) if dim is None else g
    return F.reshape(g, tuple(1 if i in dim else n for i, n in enumerate(shape)))


def count_of(shape: tuple[int, ...], dim: Any) -> int:
    total = 1
    for i, n in enumerate(shape):
        total *= n if dim is None or i in dim else 1
    return total


def spread_out(F: Any, g: Any, shape: tuple[int, ...], dim: Any, keepdim: bool) -> Any:
    return F.expand(restored(F, g, shape, dim, keepdim), shape)


def whole(call: Any) -> Any:
    """vmap's rule for a reduction of all elements: over all dimensions but the batch."""
    return lambda F, flags, x, *rest: call(F)(x, tuple(range(1, x.ndim)), False, *rest)


def _sum_to_size_batched(F: Any, flags: Any, x: Any, size: tuple[int, ...]) -> Any:
    lead = x.ndim - 1 - len(size)
    full = F.sum_to_size(x, (x.shape[0], *(1,) * lead, *size))
    return F.reshape(full, (x.shape[0], *size))


# --- sums and means -------------------------------------------------------------------------------

sum_all = general(
    "sum_all",
    lambda F, g, self_shape: F.expand(g, self_shape),
    statics=("dtype",),
    kernel="sum_whole",
    node="SumBackward0",
    vmap=whole(lambda F: F.sum_dims),
    jvp="linear",
    shape=lambda x, dtype: sum_shape(x, None, False, dtype),
)
sum_dims = general(
    "sum_dims",
    lambda F, g, self_shape, dim, keepdim: spread_out(F, g, self_shape, dim, keepdim),
    statics=("dim", "keepdim", "dtype"),
    kernel="sum",
    node="SumBackward1",
    vmap=shifted(lambda F: F.sum_dims, 0),
    jvp="linear",
    shape=sum_shape,
)
sum_to_size_ = general(
    "sum_to_size",
    lambda F, g, self_shape: F.expand(g, self_shape),
    statics=("size",),
    node="SumBackward1",
    vmap=_sum_to_size_batched,
    jvp="linear",
    shape=lambda x, size: (size, x.dtype),
)
mean_all = general(
    "mean_all",
    lambda F, g, self_shape: F.expand(g, self_shape) / count_of(self_shape, None),
    statics=("dtype",),
    kernel="mean_whole",
    node="MeanBackward0",
    vmap=whole(lambda F: F.mean_dims),
    jvp="linear",
    shape=lambda x, dtype: _mean_shape(x, None, False, dtype),
)
mean_dims = general(
    "mean_dims",
    lambda F, g, self_shape, dim, keepdim: (
        spread_out(F, g, self_shape, dim, keepdim) / count_of(self_shape, dim)
    ),
    statics=("dim", "keepdim", "dtype"),
    kernel="mean",
    node="MeanBackward1",
    vmap=shifted(lambda F: F.mean_dims, 0),
    jvp="linear",
    shape=_mean_shape,
)


def dims_or_all(self: Tensor, dim: Any) -> Any:
    if dim is None:
        return None
    dims = dims_of(self, dim)
    return dims or tuple(range(self.ndim))


@public
def sum(
    self: Tensor,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
    out: Any = None,
) -> Tensor:
    """The sum over ``dim`` (an int or several), or of all elements."""
    if out is not None:
        need_dtype(need_out("sum", out), dtype)
        kind = dtype or out.dtype
        return out_of(lambda x: sum(x, dim, keepdim, dtype=kind), out, self, name="sum")
    if dtype is not None and dtype.category < dtypes.FLOAT:
        self = to_dtype_of(self, dtype)
    if dim is None and not keepdim:
        return sum_all(self, dtype)
    return sum_dims(self, dims_or_all(self, () if dim is None else dim), keepdim, dtype)


@public
def mean(
    self: Tensor,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
    out: Any = None,
) -> Tensor:
    """The mean over ``dim`` (an int or several), or of all elements; floating only."""
    if out is not None:
        need_dtype(need_out("mean", out), dtype)
        return out_of(lambda x: mean(x, dim, keepdim, dtype=dtype), out, self, name="mean")
    kind = self.dtype if dtype is None else dtype
    if kind.category < dtypes.FLOAT:
        found = "Input" if dtype is None else "Optional"
        raise RuntimeError(
            f"mean(): could not infer output dtype. {found} dtype must be either a floating point "
            f"or complex dtype. Got: {kind.legacy}"
        )
    if dim is None and not keepdim:
        return mean_all(self, dtype)
    return mean_dims(self, dims_or_all(self, () if dim is None else dim), keepdim, dtype)


def to_dtype_of(self: Tensor, dtype: Any) -> Tensor:
    return self if self.dtype is dtype else TENSOR.to_dtype(self, dtype)


def kept(reduce: Any, x: Any, dim: Any) -> Any:
    """A sum or mean that broadcasts against ``x``; no dimensions at all reduce nothing."""
    return x if dim == () else reduce(x, dim, dim is not None)


# --- truth, products, spread, norms ---------------------------------------------------------------


def truth_shape(x: Any, dim: Any, keepdim: bool) -> Any:
    return reduced_shape(x, dim, keepdim), x.dtype if x.dtype == "uint8" else dtypes.bool_.array


all_dims = general(
    "all_dims",
    statics=("dim", "keepdim"),
    kernel="all",
    shape=truth_shape,
    vmap=shifted(lambda F: F.all_dims, 0),
)
any_dims = general(
    "any_dims",
    statics=("dim", "keepdim"),
    kernel="any",
    shape=truth_shape,
    vmap=shifted(lambda F: F.any_dims, 0),
)


@public
def all(self: Tensor, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Tensor:
    """Whether every element (along ``dim``) is true."""
    if out is not None:
        return out_of(all, out, self.detach(), dim, keepdim)
    return all_dims(self, dims_or_all(self, dim), keepdim)


@public
def any(self: Tensor, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Tensor:
    """Whether an element (along ``dim``) is true."""
    if out is not None:
        return out_of(any, out, self.detach(), dim, keepdim)
    return any_dims(self, dims_or_all(self, dim), keepdim)


def _var_vjp(F: Any, g: Any, self: Any, dim: Any, correction: float, keepdim: bool) -> Any:
    shape = tuple(self.shape)
    left = count_of(shape, dim) - correction
    scale = 2.0 / left if left > 0 else float("nan")
    return restored(F, g, shape, dim, keepdim) * scale * (self - kept(F.mean, self, dim))


var_dims = general(
    "var_dims",
    _var_vjp,
    statics=("dim", "correction", "keepdim"),
    kernel="var",
    node="VarBackward0",
    vmap=shifted(lambda F: F.var_dims, 0),
    shape=lambda x, dim, correction, keepdim: same_dtype_shape(x, dim, keepdim),
)


def spread_arguments(
    name: str, self: Tensor, dim: Any, unbiased: Any, correction: Any
) -> tuple[Any, float]:
    """(dimensions, correction) from the forms that ``std`` and its kin are called in."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if unbiased is not None:
        correction = 1 if unbiased else 0
    dims, correction = dims_or_all(self, dim), float(1 if correction is None else correction)
    if count_of(self.shape, dims) <= correction and self.dtype.category >= dtypes.FLOAT:
        warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the "
            "reduction factor (input numel divided by output numel)."
        )
    return dims, correction


@public
def var(
    self: Tensor,
    dim: Any = None,
    unbiased: Any = None,
    keepdim: bool = False,
    *,
    correction: Any = 1,
    out: Any = None,
) -> Tensor:
    """The variance over ``dim``; the sum of squares is divided by count - correction."""
    if out is not None:
        form = lambda x: var(x, dim, unbiased, keepdim, correction=correction)
        return out_of(form, out, self, name="var")
    return var_dims(self, *spread_arguments("var", self, dim, unbiased, correction), keepdim)


def _logsumexp_vjp(F: Any, g: Any, self: Any, result: Any, dim: Any, keepdim: bool) -> Any:
    shape = tuple(self.shape)
    return restored(F, g, shape, dim, keepdim) * F.exp(
        self - restored(F, result, shape, dim, keepdim)
    )


logsumexp_dims = general(
    "logsumexp_dims",
    _logsumexp_vjp,
    statics=("dim", "keepdim"),
    kernel="logsumexp",
    node="LogsumexpBackward0",
    vmap=shifted(lambda F: F.logsumexp_dims, 0),
    shape=same_dtype_shape,
)


@public
def logsumexp(self: Tensor, dim: Any, keepdim: bool = False, *, out: Any = None) -> Tensor:
    """log Σ exp(self) over ``dim``, without overflow."""
    if out is not None:
        return out_of(logsumexp, out, self, dim, keepdim)
    return logsumexp_dims(self, dims_or_all(self, dim), keepdim)


cumsum_dim = general(
    "cumsum_dim",
    lambda F, g, dim: F.flip(F.cumsum(F.flip(g, (dim,)), dim), (dim,)),
    statics=("dim", "dtype"),
    kernel="cumsum",
    node="CumsumBackward0",
    vmap=over_scalars(shifted(lambda F: F.cumsum_dim, 0)),
    jvp="linear",
    shape=lambda x, dim, dtype: sum_shape(x, (), False, dtype),
)


@public
def cumsum(self: Tensor, dim: int, *, dtype: Any = None, out: Any = None) -> Tensor:
    """Running sums along ``dim``."""
    if out is not None:
        kind = dtype or need_out("cumsum", out).dtype
        return out_of(lambda x: cumsum(x, dim, dtype=kind), out, self, name="cumsum")
    if dtype is not None:
        check_scan("cumsum", self, dtype)
    return cumsum_dim(self, one_dim(self, dim), dtype)


def check_scan(name: str, self: Tensor, dtype: dtypes.dtype) -> None:
    """PyTorch's error for running sums or products of booleans."""
    if dtype is dtypes.bool_ and self.ndim and self.numel():
        raise not_implemented(f"{name}_out_cpu", dtypes.bool_)


def scan_twin(name: str, op: Any) -> Any:
    """A scan in place, whose dtype is that of ``self``."""

    def scan(self: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
        if dtype is not None and dtype is not self.dtype:
            raise RuntimeError(
                f"Bad in-place call: input tensor dtype {c_name(self.dtype)} and output tensor "
                f"dtype {c_name(dtype)} should match"
            )
        check_scan(name, self, self.dtype)
        return in_place(op, (self, one_dim(self, dim), self.dtype))

    scan.__name__ = scan.__qualname__ = f"{name}_"
    scan.__doc__ = f"``{name}`` in place."
    return scan


TENSOR.cumsum_ = scan_twin("cumsum", cumsum_dim.op)
