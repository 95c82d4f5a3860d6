"""Elements repeated, combined and picked along a dimension; traces."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import devices, dtypes
from ..errors import not_implemented
from ..kernels.layout import kept_strides
from ..kernels.shapes import repeated_along
from ..modes import MODE, PLAIN
from ..tape import foreign
from ..tape.declare import general
from ..tape.op import TENSOR, public
from ..tape.out import out_of
from ..tape.views import requires_grad
from ..tensor import Tensor, wrap
from .arguments import broadcast_shapes, number_for, one_dim
from .stacking import check_grid
from .view_ops import view_as_shape


@public
def take_along_dim(self: Tensor, indices: Tensor, dim: Any = None, *, out: Any = None) -> Tensor:
    """Elements of ``self`` along ``dim`` at ``indices``; both broadcast elsewhere."""
    if out is not None:
        return out_of(take_along_dim, out, self, indices, dim, name="gather")
    if dim is None:
        flat = TENSOR.reshape(self, (-1,))
        indices = TENSOR.reshape(indices, (-1,))
        if indices.dtype not in (dtypes.int64, dtypes.int32):
            return TENSOR.gather(flat, 0, indices)  # which says so
        return TENSOR.gather(flat, 0, TENSOR.remainder(indices, max(self.numel(), 1)))
    if self.ndim != indices.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, "
            f"but got {self.ndim} dimensions for input, and {indices.ndim} dimensions for indices"
        )
    if indices.dtype is not dtypes.int64:
        raise RuntimeError(
            f"torch.take_along_dim(): dtype of indices should be Long but got "
            f"{indices.dtype.legacy}"
        )
    at = one_dim(self, dim)
    size = self.shape[at] if self.ndim else 1
    if size and indices.numel():
        indices = TENSOR.remainder(indices, size)
    rest = lambda t: (*t.shape[:at], 1, *t.shape[at + 1 :]) if t.ndim else ()
    common = broadcast_shapes(rest(self), rest(indices))
    fit = lambda t: (*common[:at], t.shape[at], *common[at + 1 :]) if t.ndim else ()
    return TENSOR.gather(TENSOR.expand(self, fit(self)), at, TENSOR.expand(indices, fit(indices)))


def _repeated(repeats: Tensor, size: Any) -> Tensor:
    """Each of 0, 1, ... as often as ``repeats`` says."""
    if repeats.dtype not in (dtypes.int64, dtypes.int32):
        raise not_implemented("repeat_interleave_cpu", repeats.dtype)
    if repeats.ndim != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    x = repeats._data
    if x.size and x.min() < 0:
        raise RuntimeError("repeats can not be negative")
    if size is not None and x.sum() != size:
        raise RuntimeError("allocated size does not match required size")
    if foreign.is_foreign(x):  # CuPy counts on the host
        return TENSOR.to_device(_repeated(TENSOR.to_device(repeats, devices.cpu), size),
                                repeats.device)  # fmt: skip
    return wrap(np.repeat(np.arange(len(x), dtype=x.dtype), x))


@public
def repeat_interleave(
    self: Tensor | None = None, repeats: Any = None, dim: Any = None, *, output_size: Any = None
) -> Tensor:
    """Every slice along ``dim`` (or element) ``repeats`` times, an int or one count for each.

    Given counts only, every position as often as its count says.
    """
    if self is None or repeats is None:
        return _repeated(repeats if self is None else self, output_size)
    if dim is None:
        self = TENSOR.flatten(self) if self.ndim != 1 else self
        at = 0
    else:
        at = one_dim(self, dim)
    if isinstance(repeats, int):
        return _spread(self, repeats, at, output_size)
    n = self.shape[at] if self.ndim else 1
    if not self.ndim:
        self = TENSOR.flatten(self)
    if not repeats.ndim or (repeats.ndim == 1 and repeats.shape[0] == 1):
        repeats = TENSOR.expand(repeats.reshape((1,)), (n,))
    elif repeats.ndim != 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    elif repeats.shape[0] != n:
        raise RuntimeError(
            "repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{repeats.shape[0]} and input.size({at}) = {n}"
        )
    return TENSOR.index_select(self, at, _repeated(repeats, output_size))


def _spread(self: Tensor, repeats: int, at: int, size: Any) -> Tensor:
    if repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    self = self if self.ndim else TENSOR.flatten(self)
    n = self.shape[at]
    if size is not None and size != n * repeats:
        raise RuntimeError("repeat_interleave: Invalid output_size, expected "
                           f"{n * repeats} but got {size}")  # fmt: skip
    if type(self) in PLAIN and not (MODE.grad and requires_grad(self)):
        x = self._data
        if type(x) is np.ndarray:
            z = repeated_along(x, repeats, at)
            base = wrap(z.reshape(*x.shape[: at + 1], repeats, *x.shape[at + 1 :]))
            return view_as_shape(base, z.shape)
    shape = tuple(self.shape)
    wide = TENSOR.expand(
        TENSOR.unsqueeze(self, at + 1), (*shape[: at + 1], repeats, *shape[at + 1 :])
    )
    copy = TENSOR.clone_contiguous(wide)
    return TENSOR.view(copy, (*shape[:at], n * repeats, *shape[at + 1 :]))


@public
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All combinations of ``r`` elements of a vector, one a row."""
    if input.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return TENSOR.empty((0,), dtype=input.dtype)
    n = input.shape[0]
    at = np.indices((n,) * r) if r > 1 else np.arange(n)[None]
    mask = np.ones((n,) * r, bool)
    for i in range(r - 1):
        mask &= at[i] <= at[i + 1] if with_replacement else at[i] < at[i + 1]
    grids = [
        TENSOR.expand(TENSOR.view(input, tuple(n if d == i else 1 for d in range(r))), (n,) * r)
        for i in range(r)
    ]
    chosen = TENSOR.to_device(wrap(mask), input.device)
    return TENSOR.stack([TENSOR.masked_select(g, chosen) for g in grids], 1)


@public
def cartesian_prod(*tensors: Any) -> Tensor:
    """All combinations of one element from every vector, one a row."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tuple(tensors[0])
    for t in tensors:
        if t.ndim != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(t.shape)}")
    if len(tensors) == 1:
        return tensors[0]
    check_grid(tensors)
    shape = tuple(t.shape[0] for t in tensors)
    grids = [
        TENSOR.expand(TENSOR.view(t, tuple(-1 if d == i else 1 for d in range(len(shape)))), shape)
        for i, t in enumerate(tensors)
    ]
    return TENSOR.stack([TENSOR.flatten(g) for g in grids], 1)


trace_of = general(
    "trace_of",
    lambda F, g, self_shape: F.diagonal_backward(
        F.expand(g, (min(self_shape),)), self_shape, 0, 0, 1
    ),
    kernel="trace",
    node="TraceBackward0",
    jvp="linear",
    shape=lambda x: ((), x.dtype if x.dtype.kind in "fcV" else dtypes.int64.array),
)


@public
def trace(self: Tensor) -> Tensor:
    """The sum of a matrix's diagonal."""
    if self.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {self.ndim}")
    return trace_of(self)


fill_number = general(
    "fill_number",
    lambda F, g: F.zeros_like(g),
    statics=("value",),
    kernel="filled",
    node="FillBackward0",
    shape=lambda x, value: (x.shape, x.dtype, kept_strides(x)),
)
fill_with = general(
    "fill_with",
    lambda F, g: F.zeros_like(g),
    lambda F, g: F.sum(g),
    inputs=("self", "value"),
    kernel="filled",
    node="FillBackward1",
    shape=lambda x, value: (x.shape, x.dtype, kept_strides(x)),
)


@public
def fill(input: Tensor, value: Any) -> Tensor:
    """A tensor like ``input`` with every element ``value``, a number or a 0-dim tensor."""
    if not isinstance(value, Tensor):
        return fill_number(input, number_for(value, input.dtype))
    if value.ndim:
        raise RuntimeError(
            "fill_ only supports 0-dimension value tensor but got tensor with "
            f"{value.ndim} dimensions."
        )
    return fill_with(input, value)
