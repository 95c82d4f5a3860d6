"""Elements rolled, rotated, laid on diagonals, and seen through sliding windows."""

from __future__ import annotations

from typing import Any

from ..blame import warn_once
from ..kernels import arrange
from ..kernels.layout import kept_strides
from ..tape.batching import over_scalars, shifted
from ..tape.declare import general, view
from ..tape.op import TENSOR, public
from ..tape.out import write_out
from ..tensor import Tensor
from .arguments import ints, keyword, no_dimensions, one_dim
from .joining import flip, repeat

# --- round the ends -------------------------------------------------------------------------------

roll_dims = general(
    "roll_dims",
    lambda F, g, shifts, dims: F.roll(g, tuple(-n for n in shifts), dims),
    statics=("shifts", "dims"),
    kernel="roll",
    node="RollBackward0",
    jvp="linear",
    shape=lambda x, shifts, dims: (x.shape, x.dtype),
)


@public
def roll(self: Tensor, shifts: Any, dims: Any = ()) -> Tensor:
    """Elements moved by ``shifts`` along ``dims``, or along all elements, round the ends."""
    by, along = ints((shifts,)), () if dims is None else ints((dims,))
    if not by:
        raise RuntimeError("`shifts` required")
    if not along and len(by) == 1:
        return roll_dims(self, by, ())
    if len(by) != len(along):
        raise RuntimeError(
            f"shifts and dimensions must align. shifts: {len(by)}, dims:{len(along)}"
        )
    if not self.ndim:
        raise no_dimensions(along[0])
    return roll_dims(self, by, tuple(one_dim(self, d) for d in along))


def _turned(x: Any, k: int, dims: tuple[int, int]) -> Any:
    strides, shape = kept_strides(x), list(x.shape)
    if k % 2:
        a, b = dims
        order = list(strides)
        shape[a], shape[b], order[a], order[b] = shape[b], shape[a], order[b], order[a]
        strides = tuple(order)
    return (tuple(shape), x.dtype, strides) if k % 4 else (x.shape, x.dtype)


rot90_plane = general(
    "rot90_plane",
    lambda F, g, k, dims: F.rot90(g, -k, dims),
    statics=("k", "dims"),
    kernel="rot90",
    node="Rot90Backward0",
    jvp="linear",
    vmap=shifted(lambda F: F.rot90, 1),
    shape=_turned,
)


@public
def rot90(self: Tensor, k: int = 1, dims: Any = (0, 1)) -> Tensor:
    """``self`` turned by ``k`` right angles from the first of ``dims`` towards the second."""
    plane = tuple(dims)
    if len(plane) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(plane)}")
    if self.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {self.ndim}")
    first, second = (one_dim(self, d) for d in plane)
    if first == second:
        raise RuntimeError(
            "expected rotation dims to be different, but got "
            f"dim0 = {plane[0]} and dim1 = {plane[1]}"
        )
    return rot90_plane(self, k, (first, second))


@public
def fliplr(self: Tensor) -> Tensor:
    """The columns in reverse order: dimension 1 flipped."""
    if self.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return flip(self, (1,))


@public
def flipud(self: Tensor) -> Tensor:
    """The rows in reverse order: dimension 0 flipped."""
    if self.ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return flip(self, (0,))


@public
def tile(self: Tensor, *dims: Any, **named: Any) -> Tensor:
    """``self`` repeated ``dims`` times; missing leading counts are 1."""
    if named:
        dims = keyword(named, "dims", "tile")
    times = ints(dims)
    return repeat(self, (*(1,) * (self.ndim - len(times)), *times))


# --- diagonals ------------------------------------------------------------------------------------

diag_embed_in = general(
    "diag_embed_in",
    lambda F, g, offset, dim1, dim2: F.diagonal(g, offset, dim1, dim2),
    statics=("offset", "dim1", "dim2"),
    kernel="diag_embed",
    node="DiagEmbedBackward0",
    jvp="linear",
    vmap=over_scalars(shifted(lambda F: F.diag_embed, 1, 2)),
    shape=lambda x, *where: (arrange.diag_embed_shape(x.shape, *where), x.dtype),
)


@public
def diag_embed(self: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The last dimension on the diagonals of matrices in dimensions ``dim1`` and ``dim2``."""
    first, second = one_dim(self, dim1, 1), one_dim(self, dim2, 1)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return diag_embed_in(self, offset, first, second)


@public
def adjoint(self: Tensor) -> Tensor:
    """Matrices transposed and conjugated."""
    if self.ndim == 0:
        warn_once("adjoint() is deprecated on 0-D tensors. Consider using x.conj().")
        return TENSOR.conj(self)
    if self.ndim == 1:
        raise RuntimeError(
            "tensor.adjoint() is only supported on matrices or batches of matrices. Got "
            f"{self.ndim}-D tensor."
        )
    return TENSOR.conj(TENSOR.transpose(self, -2, -1))


@public
def diag(self: Tensor, diagonal: int = 0, *, out: Any = None) -> Tensor:
    """A vector as a diagonal matrix, or a copy of the diagonal of a matrix."""
    if out is not None:
        return write_out(diag(self.detach(), diagonal), out, "diag")
    if self.ndim == 1:
        return diag_embed(self, diagonal, 0, 1)
    if self.ndim == 2:
        return TENSOR.diagonal_copy(self, diagonal)
    raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {self.ndim}D")


@public
def diagflat(self: Tensor, offset: int = 0) -> Tensor:
    """All elements on the diagonal of a square matrix."""
    return diag(TENSOR.view(TENSOR.contiguous(self), (-1,)), offset)


# --- sliding windows ------------------------------------------------------------------------------


def _unfold_batched(F: Any, flags: Any, x: Any, dim: int, size: int, step: int) -> Any:
    if x.ndim == 1:  # single numbers: windows of one element
        return F.select(F.unfold_dim(F.unsqueeze(x, 1), 1, size, step), 1, 0)
    return F.unfold_dim(x, dim + 1, size, step)


unfold_view = view(
    "unfold_dim",
    lambda F, g, self_shape, dim, size, step: F.unfold_backward(g, self_shape, dim, size, step),
    statics=("dim", "size", "step"),
    node="UnfoldBackward0",
    vmap=_unfold_batched,
)
general(
    "unfold_backward",
    lambda F, g, dim, size, step: F.unfold_dim(g, dim, size, step),
    statics=("shape", "dim", "size", "step"),
    jvp="linear",
    shape=lambda g, shape, *rest: (shape, g.dtype),
)


@public
def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Windows of ``size`` elements along ``dimension``, ``step`` apart, as a last dimension."""
    dim = one_dim(self, dimension)
    n = self.shape[dim] if self.ndim else 1
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > n:
        raise RuntimeError(f"maximum size for tensor at dimension {dim} is {n} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    return unfold_view(self, dim, size, step)
