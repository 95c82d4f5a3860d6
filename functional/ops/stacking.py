"""Tensors brought to a common rank or shape and put side by side; cut at given places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import dtypes
from ..errors import type_name
from ..size import Size
from ..tape.op import TENSOR, public
from ..tape.operands import no_form
from ..tape.out import out_of
from ..tensor import Tensor
from .arguments import common_shape, ints, one_dim
from .joining import cat
from .views import expand, reshape, slice_, unsqueeze, view_


def _listed(tensors: tuple[Any, ...]) -> tuple[Tensor, ...]:
    """Tensors given one by one or as one sequence."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        return tuple(tensors[0])
    return tensors


# --- a least rank ---------------------------------------------------------------------------------


def _one_or_all(name: str, doc: str, raised: Any) -> Any:
    def function(*tensors: Any) -> Any:
        if len(tensors) == 1 and isinstance(tensors[0], Tensor):
            return raised(tensors[0])
        return tuple(raised(t) for t in _listed(tensors))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return public(function)


def _at_least(rank: int) -> Any:
    def raised(x: Tensor) -> Tensor:
        if not x.ndim:
            return reshape(x, (1,) * rank)
        if x.ndim == 1 and rank > 1:
            x = unsqueeze(x, 0)
        return unsqueeze(x, -1) if x.ndim == 2 and rank > 2 else x

    return raised


atleast_1d = _one_or_all("atleast_1d", "Numbers as vectors of one element.", _at_least(1))
atleast_2d = _one_or_all("atleast_2d", "Vectors as matrices of one row.", _at_least(2))
atleast_3d = _one_or_all(
    "atleast_3d", "At least three dimensions: (1, n, 1) for a vector.", _at_least(3)
)


# --- side by side ---------------------------------------------------------------------------------


def _checked(name: str, tensors: Any) -> tuple[Tensor, ...]:
    if isinstance(tensors, Tensor) or not isinstance(tensors, (list, tuple)):
        raise TypeError(
            f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not "
            f"{type(tensors).__name__}"
        )
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return tuple(tensors)


@public
def hstack(tensors: Any, *, out: Any = None) -> Tensor:
    """Tensors joined along dimension 1; vectors along dimension 0."""
    if out is not None:
        return out_of(hstack, out, tensors, name="cat")
    raised = [_at_least(1)(t) for t in _checked("hstack", tensors)]
    return cat(raised, 0 if raised[0].ndim == 1 else 1)


@public
def vstack(tensors: Any, *, out: Any = None) -> Tensor:
    """Tensors joined along dimension 0; vectors are rows."""
    if out is not None:
        return out_of(vstack, out, tensors, name="cat")
    return cat([_at_least(2)(t) for t in _checked("vstack", tensors)], 0)


row_stack = vstack


@public
def dstack(tensors: Any, *, out: Any = None) -> Tensor:
    """Tensors joined along dimension 2."""
    if out is not None:
        return out_of(dstack, out, tensors, name="cat")
    return cat([_at_least(3)(t) for t in _checked("dstack", tensors)], 2)


@public
def column_stack(tensors: Any, *, out: Any = None) -> Tensor:
    """Tensors joined along dimension 1; vectors are columns."""
    if out is not None:
        return out_of(column_stack, out, tensors, name="cat")
    items = _checked("column_stack", tensors)
    return hstack([reshape(t, (t.numel(), 1)) if t.ndim <= 1 else t for t in items])


# --- a common shape -------------------------------------------------------------------------------


@public
def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that tensors of these shapes broadcast to."""
    full: list[int] = []
    for at, shape in enumerate(shapes):
        sizes = [shape] if isinstance(shape, int) else list(shape)
        full = [1] * (len(sizes) - len(full)) + full
        for i in range(-1, -len(sizes) - 1, -1):
            n = sizes[i]
            if n < 0:
                raise ValueError("Attempting to broadcast a dimension with negative length!")
            if n not in (1, full[i]):
                if full[i] != 1:
                    raise RuntimeError(
                        f"Attempting to broadcast a dimension of length {n} at {i}! Mismatching "
                        f"argument at index {at} had {tuple(sizes)}; but expected shape should be "
                        f"broadcastable to {full}"
                    )
                full[i] = n
    return Size(full)


@public
def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """Views of all tensors in their common shape."""
    items = _listed(tensors)
    shape = common_shape(*items) if items else ()
    return tuple(t if t.shape == shape else expand(t, shape) for t in items)


def sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """The sum over what was broadcast from ``size``; the inverse of ``expand``."""
    shape, own = ints(size), tuple(self.shape)
    lead = len(own) - len(shape)
    if lead < 0 or any(n not in (1, m) for n, m in zip(shape, own[lead:], strict=True)):
        raise RuntimeError(f"size {{{list(shape)}}} is not expandable to size {{{list(own)}}}.")
    if not shape:
        return TENSOR.sum(self)
    inner = [i for i in range(lead, len(own)) if shape[i - lead] == 1 and own[i] != 1]
    dims = (*range(lead), *inner)
    summed = TENSOR.sum(self, dims, True) if dims else self
    return view_(summed, shape) if lead else summed


@public
def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Coordinates of the grid that vectors span, as views; ``indexing`` is "ij" or "xy"."""
    items = list(_listed(tensors))
    if not items:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    check_grid(items)
    if indexing is None:
        _warn_indexing()
    elif indexing not in ("ij", "xy"):
        raise RuntimeError(
            f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}'
        )
    swap = indexing == "xy" and len(items) > 1
    if swap:
        items[:2] = items[1::-1]
    sizes = tuple(t.numel() for t in items)
    grids = []
    for i, t in enumerate(items):
        shape = (*(1,) * i, -1, *(1,) * (len(items) - i - 1))
        grids.append(expand(view_(t, shape), sizes))
    if swap:
        grids[:2] = grids[1::-1]
    return tuple(grids)


def check_grid(items: Sequence[Tensor]) -> None:
    """PyTorch's errors for what spans no grid."""
    for t in items:
        if t.ndim > 1:
            raise RuntimeError(
                f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {t!r}"
            )
        if t.device != items[0].device:
            raise RuntimeError("meshgrid expects all tensors to have the same device")
        if t.dtype is not items[0].dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")


def _warn_indexing() -> None:
    import warnings

    warnings.warn(
        "torch.meshgrid: in an upcoming release, it will be required to pass the indexing "
        "argument.",
        UserWarning,
        stacklevel=3,
    )


# --- cut at given places --------------------------------------------------------------------------


@public
def tensor_split(
    self: Tensor,
    indices_or_sections: Any = None,
    dim: int = 0,
    *,
    sections: Any = None,
    indices: Any = None,
    tensor_indices_or_sections: Any = None,
) -> tuple[Tensor, ...]:
    """Views along ``dim``: so many of nearly equal size, or cut before each of the indices."""
    given = (indices_or_sections, sections, indices, tensor_indices_or_sections)
    cuts: Any = next((g for g in given if g is not None), None)
    if type(cuts) is not int and not isinstance(cuts, Tensor):
        _check_cuts("tensor_split", self, cuts)
    if not self.ndim:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )
    at = one_dim(self, dim)
    if isinstance(cuts, Tensor):
        cuts = _cuts(cuts)
    n = self.shape[at]
    if isinstance(cuts, int):
        if cuts <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {cuts}")
        small, more = divmod(n, cuts)
        ends = [i * small + min(i, more) for i in range(1, cuts)]
    else:
        ends = list(cuts)
    bounds = [slice(a, b).indices(n)[:2] for a, b in zip([0, *ends], [*ends, n], strict=True)]
    return tuple(slice_(self, at, a, max(a, b), 1) for a, b in bounds)


def _check_cuts(name: str, self: Tensor, cuts: Any) -> None:
    """Cuts are an int, or a sequence of ints."""
    if isinstance(cuts, (tuple, list)):
        wrong = [i for i, cut in enumerate(cuts) if not hasattr(cut, "__index__")]
        if not wrong:
            return
        if wrong[0]:
            raise TypeError(
                f"{name}(): argument 'indices' failed to unpack the object at pos {wrong[0] + 1} "
                f'with error "type must be tuple of ints,but got {type_name(cuts[wrong[0]])}"'
            )
    elif isinstance(cuts, Tensor):
        if not cuts.ndim and cuts.dtype.category == dtypes.INT:
            return
    elif hasattr(cuts, "__index__") and not isinstance(cuts, bool):
        return
    raise no_form(name, (self, cuts))


def _cuts(given: Tensor) -> Any:
    if given.ndim > 1:
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
            f"one-dimensional tensor, but got a tensor with {given.ndim} dims"
        )
    if given.dtype is not dtypes.int64:
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
            f"{given.dtype.legacy}"
        )
    return given.tolist()


def _cutter(name: str, rank: int, dim_of: Any, doc: str) -> Any:
    def cut(self: Tensor, indices_or_sections: Any = None, **named: Any) -> tuple[Tensor, ...]:
        cuts = named.get("sections", named.get("indices", indices_or_sections))
        if type(cuts) is not int:
            _check_cuts(name, self, cuts)
        if self.ndim < rank:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {rank} dimension, "
                f"but got a tensor with {self.ndim} dimensions!"
            )
        dim = dim_of(self)
        if isinstance(cuts, int) and (not cuts or self.shape[dim] % cuts):
            raise RuntimeError(
                f"torch.{name} attempted to split along dimension {dim}, but the size of the "
                f"dimension {self.shape[dim]} is not divisible by the split_size {cuts}!"
            )
        return tensor_split(self, cuts, dim)

    cut.__name__ = cut.__qualname__ = name
    cut.__doc__ = doc
    return public(cut)


hsplit = _cutter(
    "hsplit", 1, lambda x: 0 if x.ndim == 1 else 1, "`tensor_split` along columns, evenly."
)
vsplit = _cutter("vsplit", 2, lambda x: 0, "`tensor_split` along rows, evenly.")
dsplit = _cutter("dsplit", 3, lambda x: 2, "`tensor_split` along dimension 2, evenly.")
