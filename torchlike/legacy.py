"""Legacy constructors: ``torch.Tensor(2, 3)``, ``torch.FloatTensor([...])``."""

from __future__ import annotations

from typing import Any

import numpy as np

from functional import dtypes
from functional.ops import create, from_data
from functional.tape.overrides import as_subclass
from functional.tensor import Tensor, wrap


def construct(cls: type, dtype: dtypes.dtype, args: tuple[Any, ...]) -> Tensor:
    """A tensor of sizes (ints), or with the data of a sequence, array or tensor."""
    if not args:
        return create.filled(None, (0,), dtype, None, False)
    if len(args) == 1 and not isinstance(args[0], (int, np.integer)):
        return _from_data(args[0], dtype)
    return create.filled(None, create.sizes("new", args), dtype, None, False)


def _options(d: dtypes.dtype) -> str:
    rest = "(default), pinned_memory=false (default), memory_format=(nullopt)"
    kind = f"dtype={dtypes.c_name(d)}, device=cpu, layout=Strided"
    return f"TensorOptions({kind}, requires_grad=false {rest})"


def _from_data(data: Any, dtype: dtypes.dtype) -> Tensor:
    from functional.size import Size

    if isinstance(data, Size):
        return create.filled(None, tuple(data), dtype, None, False)
    if isinstance(data, Tensor):
        if data.dtype is not dtype:
            wanted, got = (_options(d) for d in (dtype, data.dtype))
            raise TypeError(f"expected {wanted} (got {got})")
        return data.detach()
    if hasattr(data, "_elements_for"):  # a storage, whose memory is shared
        return wrap(data._elements_for(dtype, dtype.legacy, "type {} for argument 1 'storage'"))
    if isinstance(data, (float, complex)):
        raise TypeError(f"new(): data must be a sequence (got {type(data).__name__})")
    return from_data.tensor(data, dtype=dtype)


def tensor_new(cls: type, *args: Any, **kwargs: Any) -> Any:
    """``Tensor(...)`` and ``Subclass(...)``."""
    t = construct(cls, dtypes.get_default_dtype(), args)
    return t if cls is Tensor else as_subclass(t, cls)


class _TypeMeta(type):
    def __instancecheck__(cls, x: Any) -> bool:
        found = isinstance(x, Tensor) and x.dtype is cls.dtype  # type: ignore[attr-defined]
        return found and x.device.type == "cpu"

    def __call__(cls, *args: Any) -> Tensor:
        return construct(Tensor, cls.dtype, args)  # type: ignore[attr-defined]

    def __repr__(cls) -> str:
        return f"<class 'torch.{cls.__name__}'>"


TYPES = {
    f"{d.legacy}Tensor": _TypeMeta(f"{d.legacy}Tensor", (), {"dtype": d, "__module__": "torch"})
    for d in dtypes.ALL
    if not d.legacy.startswith(("Complex", "UInt"))
}
Tensor.legacy_constructor = staticmethod(tensor_new)
