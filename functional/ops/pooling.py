"""Average pooling, adaptive and fractional pooling, and unpooling of maxima."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..errors import not_implemented
from ..kernels.meta import has_numbers
from ..kernels.pool import pool_shape
from ..tape.declare import general
from ..tensor import Tensor
from .nn import max_pool_rule, with_names
from .padding import with_input

_WINDOWS: tuple[str, ...] = ("kernel_size", "stride", "padding", "ceil_mode")
_WINDOWS += ("count_include_pad", "divisor_override")
_INT64 = np.dtype(np.int64)


def _avg_shape(x: Any, kernel: Any, stride: Any, padding: Any, ceil: bool, *rest: Any) -> Any:
    n = len(kernel)
    size = pool_shape(x.shape[-n:], kernel, stride, padding, (1,) * n, ceil)
    return (*x.shape[:-n], *size), x.dtype


def _avg_vjp(F: Any, g: Any, self: Any, *rest: Any) -> Any:
    return F.avg_pool_grad(g, self, *rest)


def _avg_grad_vjp(F: Any, g: Any, *rest: Any) -> Any:
    return F.avg_pool_of(g, *rest)


def _zeros(F: Any, g: Any, input: Any) -> Any:
    return F.zeros_like(input)


def _like_input(g: Any, x: Any, *statics: Any) -> Any:
    return x.shape, g.dtype


def _avg(name: str, node: str | None = None) -> Any:
    return general(
        name,
        with_names(_avg_vjp, "F", "g", "self", *_WINDOWS),
        statics=_WINDOWS,
        kernel="avg_pool_of",
        node=node,
        vmap="lead",
        shape=_avg_shape,
    )


_avg("avg_pool_of")
avg_pools = {n: _avg(f"avg_pool{n}d_of", f"AvgPool{n}DBackward0") for n in (2, 3)}
avg_pool_grad = general(
    "avg_pool_grad",
    with_names(_avg_grad_vjp, "F", "g", *_WINDOWS),
    _zeros,
    inputs=("self", "input"),
    statics=_WINDOWS,
    vmap=with_input(lambda F: F.avg_pool_grad),
    shape=_like_input,
)

# --- adaptive -------------------------------------------------------------------------------------


def _adaptive_shape(x: Any, size: Any) -> Any:
    return (*x.shape[: x.ndim - len(size)], *size), x.dtype


def _check_not_empty(g: Any, title: str) -> None:
    """What PyTorch's way back says about gradients without elements."""
    for i in range(1, len(g.shape)):
        if g.shape[i] == 0:
            raise RuntimeError(
                f"{title}_backward(): Expected grad_output to have non-zero size for non-batch "
                f"dimensions, but grad_output has sizes {list(g.shape)} with dimension {i} being "
                "empty"
            )


def _adaptive_avg_rule(F: Any, g: Any, self: Any, output_size: Any) -> Any:
    n = len(output_size)
    _check_not_empty(g, f"adaptive_avg_pool{n}d")
    return F.adaptive_avg_pool_grad(g, self, n)


def _adaptive_max_rule(n: int) -> Any:
    plain = max_pool_rule(n, n == 2)

    def rule(F: Any, g: Any, self: Any, result1: Any) -> Any:
        _check_not_empty(g[0] if type(g) is list else g, f"adaptive_max_pool{n}d")
        return plain(F, g, self, result1)

    return rule


def _adaptive_avg(name: str, node: str | None = None) -> Any:
    return general(
        name,
        _adaptive_avg_rule,
        statics=("output_size",),
        kernel="adaptive_avg_pool_of",
        node=node,
        vmap="lead",
        shape=_adaptive_shape,
    )


_adaptive_avg("adaptive_avg_pool_of")
adaptive_avg_pools = {
    n: _adaptive_avg(f"adaptive_avg_pool{n}d_of", f"AdaptiveAvgPool{n}DBackward0") for n in (2, 3)
}
adaptive_avg_pool_grad = general(
    "adaptive_avg_pool_grad",
    lambda F, g, self_shape, n: F.adaptive_avg_pool_of(g, tuple(self_shape[-n:])),
    _zeros,
    inputs=("self", "input"),
    statics=("n",),
    vmap=with_input(lambda F: F.adaptive_avg_pool_grad),
    shape=_like_input,
)


def _max_shape(x: Any, *rest: Any) -> Any:
    shape, dtype = _adaptive_shape(x, rest[-1])
    return [(shape, dtype), (shape, _INT64)]


adaptive_max_pools = {
    n: general(
        f"adaptive_max_pool{n}d_of",
        _adaptive_max_rule(n),
        statics=("output_size",),
        kernel="adaptive_max_pool_of",
        node=f"AdaptiveMaxPool{n}DBackward0",
        differentiable=(True, False),
        vmap="lead",
        shape=_max_shape,
    )
    for n in (2, 3)
}
fractional_max_pools = {
    n: general(
        f"fractional_max_pool{n}d_of",
        max_pool_rule(n, False),
        None,
        inputs=("self", "samples"),
        statics=("kernel_size", "output_size"),
        kernel="fractional_max_pool_of",
        node=f"FractionalMaxPool{n}DBackward0",
        differentiable=(True, False),
        shape=lambda x, samples, kernel, size: _max_shape(x, size),
    )
    for n in (2, 3)
}

# --- unpooling ------------------------------------------------------------------------------------


def _check_indices(x: Tensor, indices: Tensor, size: Any) -> None:
    found = indices._data
    if has_numbers(found):
        outside = (found < 0) | (found >= int(np.prod(size)))
        if outside.any():
            raise RuntimeError(
                f"Found an invalid max index: {int(found[outside][0])} (output volumes are of size "
                f"{'x'.join(map(str, size))})"
            )


def _unpool_rule(n: int) -> Any:
    def rule(F: Any, g: Any, indices: Any) -> Any:
        if indices.ndim == n + 2:
            return F.max_pool_gather(g, indices)
        one = [F.reshape(x, (1, *x.shape)) for x in (g, indices)]
        return F.reshape(F.max_pool_gather(*one), tuple(indices.shape))

    return rule


max_unpools = {
    n: general(
        f"max_unpool{n}d_of",
        _unpool_rule(n),
        None,
        inputs=("self", "indices"),
        statics=("output_size",),
        kernel="max_unpool_of",
        node=f"MaxUnpool{n}DBackward0",
        check=_check_indices,
        shape=lambda x, indices, size: _adaptive_shape(x, size),
    )
    for n in (2, 3)
}


def refuse_dtypes(x: Tensor, kernel: str, *allowed: dtypes.dtype) -> None:
    """PyTorch's error for a dtype that it has no kernel for."""
    if x.dtype not in allowed:
        raise not_implemented(kernel, x.dtype)


FLOATING = (dtypes.float32, dtypes.float64, dtypes.float16, dtypes.bfloat16)
