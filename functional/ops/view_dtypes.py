"""``view(dtype)``: the same memory as elements of another type."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..kernels.meta import MetaArray
from ..kernels.shapes import view_dtype
from ..tape.foreign import kernels_for
from ..tensor import Shared, Tensor, counter, is_inference, wrap
from .create import as_dtype
from .resizing import flat_memory, reached


def view_as_dtype(self: Tensor, dtype: Any) -> Tensor:
    """The memory of ``self`` as elements of ``dtype``; the last dimension grows or shrinks.

    Nothing of it is recorded. RuntimeError where the memory does not divide into such elements.
    """
    data, kind = self._data, as_dtype(dtype, "view")
    assert kind is not None
    if isinstance(data, Tensor):
        raise NotImplementedError("view(dtype) inside a transform")
    if kind.itemsize != self.dtype.itemsize:
        _check(self, kind)
    if type(data) is MetaArray:
        return wrap(MetaArray(view_dtype(data.phantom, kind.array)))
    t = wrap(kernels_for(data).view_dtype(data, kind.array))
    t._ver = counter(self)
    if self._place is not None and data.size:
        t._place = Shared(reached(flat_memory(self), kind.array, 0), is_inference(self))
    return t


def _check(self: Tensor, kind: dtypes.dtype) -> None:
    """PyTorch's errors for elements of another size."""
    names = f"to view {self.dtype.legacy} as {kind.legacy} (different element sizes)"
    if not self.ndim:
        raise RuntimeError(f"self.dim() cannot be 0 {names}")
    ratio = kind.itemsize // self.dtype.itemsize
    what = [("size(-1)", self.shape[-1]), ("storage_offset()", self.storage_offset())]
    what += [(f"stride({i})", n) for i, n in enumerate(self.stride()[:-1])]
    for at, (name, n) in enumerate(what):
        if at == 1 and self.stride(-1) != 1:
            raise RuntimeError(f"self.stride(-1) must be 1 {names}, but got {self.stride(-1)}")
        if ratio > 1 and n % ratio:
            raise RuntimeError(f"self.{name} must be divisible by {ratio} {names}, but got {n}")
