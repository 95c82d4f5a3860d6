"""segment_reduce: the consecutive segments of a dimension, reduced."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..errors import not_implemented, not_true
from ..kernels.meta import has_numbers
from ..tape.declare import general
from ..tape.op import TENSOR, public
from ..tape.operands import factor
from ..tensor import Tensor
from .arguments import one_dim

_NAMES = ("sum", "mean", "max", "min", "prod")


segment_owners = general(
    "segment_owners",
    inputs=("self", "offsets"),
    statics=("axis",),
    shape=lambda x, *rest: (x.shape, dtypes.int64.array),
)


def _vjp(
    F: Any, g: Any, self: Any, offsets: Any, axis: int, reduce: str, initial: Any, result: Any
) -> Any:  # fmt: skip
    owners = F.segment_owners(self, offsets, axis)
    index = F.clamp_min(owners, 0)

    def read(x: Any) -> Any:
        return F.where(owners < 0, 0.0, F.gather_along(x, index, axis))

    def count(hits: Any) -> Any:
        hits = F.where(owners < 0, 0.0, hits * F.ones_of(self))
        found = F.scatter_add_along(F.zeros_like(g), hits, index, axis)
        return F.where(found == 0, 1.0, found)

    if reduce == "sum":
        return read(g)
    if reduce == "mean":
        return read(g / count(F.ones_of(self)))
    odd = F.isnan(self)
    if reduce != "prod":
        hit = (self == read(result)) | odd
        return read(g / count(hit)) * hit
    odd = odd | (self == 0)
    single = odd & (read(count(odd)) == 1)
    others = F.segment_reduce_of(F.where(single, 1.0, self), offsets, axis, reduce, initial)
    return F.where(single, read(g * others), read(g * result) / F.where(odd, 1.0, self))


segment_reduce_of = general(
    "segment_reduce_of",
    _vjp,
    None,
    inputs=("self", "offsets"),
    statics=("axis", "reduce", "initial"),
    node="SegmentReduceBackward0",
    shape=lambda x, offsets, axis, *rest: (
        (*x.shape[:axis], offsets.shape[-1] - 1, *x.shape[axis + 1 :]),
        x.dtype,
    ),
)


@public
def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Any = None,
) -> Tensor:
    """The consecutive segments of ``data`` along ``axis`` reduced: sum, mean, max, min or prod.

    ``lengths`` has the shape (*data.shape[:axis], segments), or ``offsets`` one more in its last
    dimension. ``initial`` takes part in each reduction. Raises RuntimeError for lengths that do
    not add up to the dimension, unless ``unsafe``.
    """
    at = one_dim(data, axis)
    reduce = {"amax": "max", "amin": "min"}.get(reduce, reduce)
    if reduce not in _NAMES:
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
        )
    if data.numel() and data.dtype.category != dtypes.FLOAT:
        raise not_implemented("_segment_reduce_cpu", data.dtype)
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    if offsets is None:
        if lengths is None:
            raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
        offsets = _offsets(data, lengths, at, unsafe)
    else:
        _check_place(data, offsets, at, "offsets")
        if has_numbers(offsets._data) and bool((offsets.diff() < 0).any()):
            raise not_true("segment_length >= 0")
    start = None if initial is None else float(factor("segment_reduce", "initial", initial))
    return segment_reduce_of(data.contiguous(), offsets, at, reduce, start)


def _check_place(data: Tensor, t: Tensor, at: int, name: str) -> None:
    if data.ndim < t.ndim:
        raise not_true(f"data.dim() >= {name}_value.dim()")
    if at != t.ndim - 1:
        raise RuntimeError(
            f"segment_reduce(): Expected axis to be the last dimension of {name} but got {at}."
        )


def _offsets(data: Tensor, lengths: Tensor, at: int, unsafe: bool) -> Tensor:
    _check_place(data, lengths, at, "lengths")
    if lengths.dtype not in (dtypes.int64, dtypes.int32):
        raise not_implemented("_segment_reduce_lengths_cpu_kernel1", lengths.dtype)
    if not unsafe and has_numbers(lengths._data):
        if int(lengths.min()) < 0:
            raise RuntimeError("lengths contains negative value!")
        if bool((lengths.sum(-1) != data.shape[at]).any()):
            raise RuntimeError(
                "segment_reduce(): Expected all rows of lengths along axis to sum to "
                "data.size(lengths.dim()-1) when !unsafe."
            )
    lengths = lengths[tuple(slice(n) for n in data.shape[:at])]
    ends = TENSOR.cumsum(lengths, -1)
    return TENSOR.cat([TENSOR.zeros_like(ends[..., :1]), ends], -1)
