"""Indexing: Python's ``x[...]``, reading and writing, and gather, scatter and their kin."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..tape.declare import general
from ..tape.levels import Batched, Wrapped
from ..tape.op import TENSOR, public
from ..tape.slow import in_place, out_of
from ..tensor import Tensor, wrap
from . import views
from .arguments import integer, number_for, one_dim, wrong_type
from .cast import copy_
from .create import filled

def _index_batched(F: Any, flags: Any, x: Any, indices: Any) -> Any:
    """The batch is one more whole dimension; NumPy may put it after the indexed ones."""
    z = F.index(x, (None, *indices))
    at = [i for i, a in enumerate(indices) if a is not None]
    apart = at[-1] - at[0] + 1 != len(at)
    if not apart:
        return z
    ranks = [1 if a.dtype == bool else a.ndim for a in indices if a is not None]
    return F.movedim(z, max(ranks), 0)


_index = general(
    "index",
    lambda F, g, self_shape, indices: F.index_backward(g, self_shape, indices),
    statics=("indices",),
    jvp="linear",
    vmap=_index_batched,
)
index_backward = general(
    "index_backward",
    lambda F, g, indices: F.index(g, indices),
    statics=("shape", "indices"),
    jvp="linear",
)


def _put_vjp_self(F: Any, g: Any, indices: Any, accumulate: bool) -> Any:
    return g if accumulate else F.put_at(g, F.zeros_like(F.index(g, indices)), indices, False)


put_at = general(
    "put_at",
    _put_vjp_self,
    lambda F, g, indices: F.index(g, indices),
    inputs=("self", "values"),
    statics=("indices", "accumulate"),
    node="IndexPutBackward0",
)
put_at.op.rewrites = True


# --- reading --------------------------------------------------------------------------------------


def _is_advanced(key: Any) -> bool:
    return isinstance(key, (Tensor, list, np.ndarray, range, tuple, str))


def _index_array(key: Any) -> np.ndarray:
    while isinstance(key, Wrapped):
        if type(key) is Batched:
            raise NotImplementedError("vmap: indexing with a batched tensor")
        key = key._data
    if isinstance(key, Tensor):
        if key.dtype not in _INDEX_TYPES:
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        x = key._data
        return x.astype(bool) if x.dtype == np.uint8 else x
    if isinstance(key, str):
        raise TypeError("new(): invalid data type 'str'")
    x = TENSOR.tensor(list(key))._data if len(key) else np.zeros(0, np.int64)
    return x if x.dtype.kind in "ib" else x.astype(np.int64)


_INDEX_TYPES = (dtypes.int64, dtypes.int32, dtypes.uint8, dtypes.bool_)


def _whole(value: Any) -> Any:
    """A bound of a slice as an int or None."""
    if value is not None and not hasattr(value, "__index__"):
        raise TypeError("slice indices must be integers or None or have an __index__ method")
    return None if value is None else value.__index__()


def _as_tuple(key: Any) -> tuple[Any, ...]:
    """A key as one index per dimension; a short sequence that holds sequences is one, too."""
    if isinstance(key, tuple):
        return key
    if isinstance(key, (list, range)) and len(key) < 32 and any(_is_index(k) for k in key):
        return tuple(key)
    return (key,)


def _is_index(key: Any) -> bool:
    return key is None or key is Ellipsis or isinstance(key, (Tensor, list, tuple, range, slice, str))


def _consumed(key: Any) -> int:
    if key is None or key is Ellipsis or isinstance(key, bool):
        return 0
    if isinstance(key, Tensor) and key.dtype in (dtypes.bool_, dtypes.uint8):
        return key.ndim
    return 1


def _split_key(self: Tensor, keys: tuple[Any, ...]) -> tuple[Tensor, list[Any]]:
    """Apply the basic part as views; what is left is an array, or None, per dimension."""
    used = sum(_consumed(k) for k in keys)
    if not self.ndim and used == 1 and hasattr(keys[-1], "__index__"):
        _picked(self, 0, 0)
    if used > self.ndim:
        raise IndexError(f"too many indices for tensor of dimension {self.ndim}")
    arrays: list[Any] = []
    x, dim = self, 0
    for place, key in enumerate(keys):
        if key is Ellipsis:
            skip = self.ndim - used
            arrays += [None] * skip
            dim += skip
        elif key is None:
            x = views.unsqueeze(x, dim)
            arrays.append(None)
            dim += 1
        elif isinstance(key, slice):
            x = _sliced(x, dim, key)
            arrays.append(None)
            dim += 1
        elif isinstance(key, (bool, np.bool_)) or _is_mask_number(key):
            x = views.unsqueeze(x, dim)
            arrays.append(np.array([0] if key else [], np.int64))
            dim += 1
        elif _is_advanced(key):
            array = _index_array(key)
            if array.ndim == 0 and array.dtype != bool:
                x = _picked(x, dim, int(array), place)
                continue
            arrays.append(array)
            arrays += [SKIP] * (array.ndim - 1 if array.dtype == bool and array.ndim else 0)
            dim += array.ndim if array.dtype == bool else 1
        else:
            x = _picked(x, dim, _integer(key), place)
    return x, arrays


def _is_mask_number(key: Any) -> bool:
    return isinstance(key, Tensor) and not key.ndim and key.dtype is dtypes.bool_


SKIP = object()  # a dimension that the mask before it covers too


def _integer(key: Any) -> int:
    if not hasattr(key, "__index__"):
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are "
            f"valid indices (got {type(key).__name__})"
        )
    return key.__index__()


def _picked(x: Tensor, dim: int, index: int, place: int = 0) -> Tensor:
    """The slice at ``index``; errors tell the key's ``place`` in the subscript."""
    if not x.ndim:
        raise IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
            "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number"
        )
    n = x.shape[dim] if dim < x.ndim else 0
    if not -n <= index < n:
        raise IndexError(f"index {index} is out of bounds for dimension {place} with size {n}")
    return views._select(x, dim, index % n)


def _sliced(x: Tensor, dim: int, key: slice, whole: bool = False) -> Tensor:
    """A slice along ``dim``; ``x`` itself where nothing is left out, unless ``whole``."""
    step = 1 if key.step is None else _whole(key.step)
    if step == 0:
        raise ValueError("slice step cannot be zero")
    if step < 0:
        raise ValueError("step must be greater than zero")
    start, end, step = slice(_whole(key.start), _whole(key.stop), step).indices(x.shape[dim])
    if start == 0 and end == x.shape[dim] and step == 1 and not whole:
        return x
    return views.slice_dim(x, dim, start, max(start, end), step)


def _checked(x: Tensor, arrays: list[Any]) -> tuple[Any, ...]:
    """The keys for the kernels: masks fit their dimensions, integers are in range."""
    keys = [a for a in arrays if a is not SKIP]
    dim = 0
    for a in keys:
        if a is None:
            dim += 1
            continue
        if a.dtype == bool:
            for k, n in enumerate(a.shape):
                if n != x.shape[dim + k]:
                    raise IndexError(
                        f"The shape of the mask {list(a.shape)} at index {k} does not match the "
                        f"shape of the indexed tensor {list(x.shape)} at index {dim + k}"
                    )
            dim += a.ndim
            continue
        n = x.shape[dim]
        if a.size and (a.min() < -n or a.max() >= n):
            bad = a[(a < -n) | (a >= n)].reshape(-1)[0]
            raise IndexError(f"index {bad} is out of bounds for dimension {dim} with size {n}")
        dim += 1
    while keys and keys[-1] is None:
        keys.pop()
    _check_together([a for a in keys if a is not None])
    return tuple(keys)


def _check_together(arrays: list[np.ndarray]) -> None:
    if len(arrays) < 2:
        return
    shapes = [(int(a.sum()),) if a.dtype == bool else a.shape for a in arrays]
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        listed = ", ".join(str(list(s)) for s in shapes)
        raise IndexError(
            "shape mismatch: indexing tensors could not be broadcast together with shapes " + listed
        ) from None


def getitem(self: Tensor, key: Any) -> Tensor:
    """``self[key]``: a view for ints, slices, None and Ellipsis, else a copy."""
    if type(key) is int and self.ndim:
        return _picked(self, 0, key)
    if type(key) is slice and self.ndim:
        return _sliced(self, 0, key, whole=True)
    x, arrays = _split_key(self, _as_tuple(key))
    if all(a is None for a in arrays):
        return views.alias(x) if x is self else x
    return _index(x, _checked(x, arrays))


@public
def index(self: Tensor, indices: Any) -> Tensor:
    """``self`` at index arrays, one per dimension (None for a whole one)."""
    return _index(self, tuple(i._data if isinstance(i, Tensor) else i for i in indices))


@public
def index_put(self: Tensor, indices: Any, values: Any, accumulate: bool = False) -> Tensor:
    """A copy of ``self`` with ``values`` written (or added) at ``indices``."""
    keys = tuple(i._data if isinstance(i, Tensor) else i for i in indices)
    return put_at(self, values, keys, accumulate)


# --- writing --------------------------------------------------------------------------------------


def setitem(self: Tensor, key: Any, value: Any) -> None:
    """``self[key] = value``."""
    value = _value_for(self, value)
    if isinstance(key, bool):
        if key:
            _write(views.unsqueeze(self, 0), value)
        return
    x, arrays = _split_key(self, _as_tuple(key))
    if all(a is None for a in arrays):
        _write(x, value)
        return
    if value.numel() == 1 and _is_one_mask(arrays):
        if any(isinstance(k, Tensor) and k.dtype is dtypes.uint8 for k in _as_tuple(key)):
            raise RuntimeError(
                "masked_fill_ only supports boolean masks, but got mask with dtype unsigned char"
            )
        value = value.to(x.dtype)
    _check_put(x, value)
    _put_in_place(x, _checked(x, arrays), _without_lead(value), False)


def _check_put(x: Tensor, value: Tensor) -> None:
    if value.dtype is not x.dtype:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{x.dtype.legacy} for the destination and {value.dtype.legacy} for the source."
        )


def _is_one_mask(arrays: list[Any]) -> bool:
    found = [a for a in arrays if a is not None and a is not SKIP]
    return len(found) == 1 and found[0].dtype == bool


def _value_for(self: Tensor, value: Any) -> Tensor:
    """What is assigned, as a tensor: numbers take the dtype of ``self``."""
    if isinstance(value, Tensor):
        return value
    if not isinstance(value, (int, float, complex, np.number, np.bool_)):
        kind = f"torch.{self.dtype.legacy}Tensor"
        raise TypeError(f"can't assign a {type(value).__name__} to a {kind}")
    return wrap(np.asarray(number_for(value, self.dtype)).astype(self.dtype.array))


def _without_lead(value: Tensor) -> Tensor:
    """``value`` without leading dimensions of size 1."""
    shape = tuple(value.shape)
    lead = next((i for i, n in enumerate(shape) if n != 1), len(shape))
    return views._view(value, shape[lead:]) if lead else value


def _write(target: Tensor, value: Tensor) -> None:
    if value.shape == target.shape:
        copy_(target, value)
    elif not value.ndim:
        target.fill_(value)
    else:
        value = _without_lead(value)
        copy_(target, views.expand(value, tuple(target.shape)))


def _put_in_place(self: Tensor, keys: tuple[Any, ...], values: Tensor, accumulate: bool) -> Tensor:
    phantom = np.broadcast_to(np.empty((), bool), tuple(self.shape))
    found = phantom[tuple(slice(None) if k is None else k for k in keys)].shape
    try:
        fits = np.broadcast_shapes(found, tuple(values.shape)) == found
    except ValueError:
        fits = False
    if not fits:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to "
            f"indexing result of shape {list(found)}"
        )
    return in_place(put_at.op, (self, values, keys, accumulate))


def index_put_(self: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """Write (or add) ``values`` at ``indices``, in place."""
    keys = _checked(self, [i._data if isinstance(i, Tensor) else i for i in indices])
    _check_put(self, values)
    return _put_in_place(self, keys, values, accumulate)


# --- gather, scatter, select ----------------------------------------------------------------------

_gather = general(
    "gather_along",
    lambda F, g, index, self_shape, dim: F.gather_backward(g, index, self_shape, dim),
    None,
    inputs=("self", "index"),
    statics=("dim",),
    node="GatherBackward0",
    shape=lambda x, index, dim: (index.shape, x.dtype),
)
gather_backward = general(
    "gather_backward",
    lambda F, g, index, dim: F.gather_along(g, index, dim),
    None,
    inputs=("self", "index"),
    statics=("shape", "dim"),
    shape=lambda g, index, shape, dim: (shape, g.dtype),
)
_scatter = general(
    "scatter_along",
    lambda F, g, index, dim: F.scatter_along(g, F.zeros_like(F.gather_along(g, index, dim)), index, dim),
    lambda F, g, index, dim: F.gather_along(g, index, dim),
    None,
    inputs=("self", "source", "index"),
    statics=("dim",),
    node="ScatterBackward0",
    shape=lambda x, source, index, dim: (x.shape, x.dtype),
)
_scatter_value = general(
    "scatter_number",
    lambda F, g, index, dim: F.scatter_number(g, 0, index, dim),
    inputs=("self", "value", "index"),
    statics=("dim",),
    kernel="scatter_along",
    node="ScatterBackward1",
    shape=lambda x, value, index, dim: (x.shape, x.dtype),
)
_index_select = general(
    "index_select_dim",
    lambda F, g, index, self_shape, dim: F.index_select_backward(g, index, self_shape, dim),
    None,
    inputs=("self", "index"),
    statics=("dim",),
    node="IndexSelectBackward0",
    shape=lambda x, index, dim: ((*x.shape[:dim], index.size, *x.shape[dim + 1 :]), x.dtype),
)
index_select_backward = general(
    "index_select_backward",
    lambda F, g, index, dim: F.index_select_dim(g, index, dim),
    None,
    inputs=("self", "index"),
    statics=("shape", "dim"),
    shape=lambda g, index, shape, dim: (shape, g.dtype),
)


def _check_index(name: str, index: Tensor, n: int, dim: int) -> None:
    if index.dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    x = index._data
    if isinstance(x, np.ndarray) and x.size and (x.min() < 0 or x.max() >= n):
        bad = x[(x < 0) | (x >= n)].reshape(-1)[0]
        raise RuntimeError(f"index {bad} is out of bounds for dimension {dim} with size {n}")


def _check_rank(self: Tensor, index: Tensor) -> None:
    if max(index.ndim, 1) != max(self.ndim, 1) and index.numel():
        raise RuntimeError(
            "Index tensor must have the same number of dimensions as input tensor"
        )


@public
def gather(
    self: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False, out: Any = None
) -> Tensor:
    """Elements of ``self`` along ``dim`` at ``index``, which gives the result's shape."""
    if out is not None:
        return out_of(gather, out, self, dim, index)
    at = one_dim(self, dim)
    if index.dtype in (dtypes.int64, dtypes.int32):
        _check_rank(self, index)
        for d, (n, m) in enumerate(zip(index.shape, self.shape, strict=False)):
            if d != at and n > m and index.numel():
                raise RuntimeError(
                    f"Size does not match at dimension {d} expected index {list(index.shape)} to "
                    f"be no larger than self {list(self.shape)} apart from dimension {at}"
                )
    _check_index("gather", index, self.shape[at] if self.ndim else 1, at)
    return _gather(self, index, at)


@public
def scatter(self: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None) -> Tensor:
    """A copy of ``self`` with ``src`` (a tensor or a number) written along ``dim`` at ``index``."""
    form, source, at = _scatter_form(self, dim, index, value if src is None else src)
    return form(self, source, index, at)


def scatter_(self: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None) -> Tensor:
    """``scatter`` in place."""
    form, source, at = _scatter_form(self, dim, index, value if src is None else src)
    return in_place(form.op, (self, source, index, at))


def _scatter_form(self: Tensor, dim: int, index: Tensor, src: Any) -> tuple[Any, Any, int]:
    """The operation (its source a tensor or a number), its source, and the dimension."""
    at = one_dim(self, dim)
    if index.dtype is not dtypes.int64 and index.dtype is not dtypes.int32:
        raise RuntimeError("scatter(): Expected dtype int32/int64 for index")
    _check_rank(self, index)
    if not isinstance(src, Tensor):
        _check_index("scatter", index, self.shape[at] if self.ndim else 1, at)
        return _scatter_value, src, at
    for d, (n, m, k) in enumerate(zip(index.shape, self.shape, src.shape, strict=False)):
        if (d != at and n > m) or n > k:
            raise RuntimeError(
                f"Expected index {list(index.shape)} to be no larger than self {list(self.shape)} "
                f"apart from dimension {at} and to be no larger size than src {list(src.shape)}"
            )
    _check_index("scatter", index, self.shape[at] if self.ndim else 1, at)
    return _scatter, src, at


@public
def index_select(self: Tensor, dim: int, index: Tensor, *, out: Any = None) -> Tensor:
    """Slices of ``self`` along ``dim`` at ``index``, a vector."""
    if out is not None:
        return out_of(index_select, out, self, dim, index)
    at = one_dim(self, dim)
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if index.dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    x = index._data
    n = self.shape[at]
    if isinstance(x, np.ndarray) and x.size and (x.min() < 0 or x.max() >= n):
        raise IndexError("index out of range in self")
    return _index_select(self, index, at)


_nonzero = general("nonzero_rows", kernel="nonzero")


@public
def nonzero(self: Tensor, *, as_tuple: bool = False, out: Any = None) -> Any:
    """Indices of the non-zero elements: (count, ndim), or one vector per dimension."""
    if out is not None:
        return out_of(nonzero, out, self.detach())
    rows = _nonzero(views.unsqueeze(self, 0) if as_tuple and not self.ndim else self)
    return tuple(rows.unbind(1)) if as_tuple else rows


_tril = general("tril_of", lambda F, g, diagonal: F.tril(g, diagonal), statics=("diagonal",),
                kernel="tril", node="TrilBackward0", jvp="linear", vmap="lead",
                shape=lambda x, diagonal: (x.shape, x.dtype))  # fmt: skip
_triu = general("triu_of", lambda F, g, diagonal: F.triu(g, diagonal), statics=("diagonal",),
                kernel="triu", node="TriuBackward0", jvp="linear", vmap="lead",
                shape=lambda x, diagonal: (x.shape, x.dtype))  # fmt: skip


def _check_matrix(self: Tensor, name: str, diagonal: Any) -> None:
    integer(diagonal, f"{name}.diagonal.1")
    if self.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")


def _triangle_twin(name: str, op: Any) -> Any:
    def twin(self: Tensor, diagonal: int = 0) -> Tensor:
        _check_matrix(self, name, diagonal)
        return in_place(op, (self, diagonal))

    twin.__name__ = twin.__qualname__ = name + "_"
    return twin


TENSOR.tril_, TENSOR.triu_ = _triangle_twin("tril", _tril.op), _triangle_twin("triu", _triu.op)


@public
def tril(self: Tensor, diagonal: int = 0, *, out: Any = None) -> Tensor:
    """The lower triangle of matrices; the rest is 0."""
    if out is not None:
        return out_of(tril, out, self, diagonal)
    _check_matrix(self, "tril", diagonal)
    return _tril(self, diagonal)


@public
def triu(self: Tensor, diagonal: int = 0, *, out: Any = None) -> Tensor:
    """The upper triangle of matrices; the rest is 0."""
    if out is not None:
        return out_of(triu, out, self, diagonal)
    _check_matrix(self, "triu", diagonal)
    return _triu(self, diagonal)
