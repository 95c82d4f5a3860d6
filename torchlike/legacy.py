"""Legacy constructors: ``torch.Tensor(2, 3)``, ``torch.FloatTensor([...])``."""

from __future__ import annotations

from typing import Any

import numpy as np

from functional import devices, dtypes
from functional.ops import create, from_data
from functional.ops.layouts import LAYOUTS
from functional.size import Size
from functional.tape.operands import no_form
from functional.tape.overrides import as_subclass
from functional.tensor import Tensor, wrap

ARGUMENT = "type {} for argument 1 'storage'"  # as errors about storages go on
_FORMS = """
 * (*, torch.device device = None)
 * (torch.Storage storage)
 * (Tensor other)
 * (tuple of ints size, *, torch.device device = None)
 * (object data, *, torch.device device = None)
"""


def construct(
    dtype: dtypes.dtype, args: tuple[Any, ...], named: dict[str, Any], any_dtype: bool = False
) -> Tensor:
    """A tensor of sizes (ints), or with the data of a sequence, array, tensor or storage.

    A tensor must be of ``dtype``, unless ``any_dtype``.
    """
    rest = dict(named)
    where = rest.pop("device", None)
    if where is not None and devices.device(where).type != "cpu":
        kind = devices.device(where).type
        raise RuntimeError(
            f"legacy constructor expects device type: cpu but device type: {kind} was passed"
        )
    if len(rest) == 1 and not args and rest.keys() <= {"size", "data", "other", "storage"}:
        (name, value), rest = next(iter(rest.items())), {}
        args = (Size(value),) if name == "size" else (value,)
    if rest or (len(args) > 1 and isinstance(args[0], (list, tuple))):
        raise TypeError(f"{no_form('new', args, named)}{_FORMS}")
    if not args:
        return create.filled(None, (0,), dtype, "cpu", False)
    if len(args) == 1 and (isinstance(args[0], bool) or not isinstance(args[0], (int, np.integer))):
        return _from_data(args[0], dtype, any_dtype)
    return create.filled(None, create.sizes("new", args), dtype, "cpu", False)


def _options(d: dtypes.dtype) -> str:
    rest = "(default), pinned_memory=false (default), memory_format=(nullopt)"
    kind = f"dtype={dtypes.c_name(d)}, device=cpu, layout=Strided"
    return f"TensorOptions({kind}, requires_grad=false {rest})"


def _from_data(data: Any, dtype: dtypes.dtype, any_dtype: bool) -> Tensor:
    if isinstance(data, Size):
        return create.filled(None, tuple(data), dtype, "cpu", False)
    if isinstance(data, Tensor):
        if data.dtype is not dtype and not any_dtype:
            wanted, got = (_options(d) for d in (dtype, data.dtype))
            raise TypeError(f"expected {wanted} (got {got})")
        return data.detach()
    if hasattr(data, "_elements_for"):  # a storage, whose memory is shared
        return wrap(data._elements_for(dtype, dtype.legacy, ARGUMENT))
    if data is None or isinstance(data, (bool, float, complex)):
        raise TypeError(f"new(): data must be a sequence (got {type(data).__name__})")
    return from_data.tensor(data, dtype=dtype, device="cpu")


def tensor_new(cls: type, *args: Any, **named: Any) -> Any:
    """``Tensor(...)`` and ``Subclass(...)``."""
    t = construct(dtypes.get_default_dtype(), args, named, any_dtype=True)
    return t if cls is Tensor else as_subclass(t, cls)


class _TypeMeta(type):
    is_cuda = is_sparse = False
    layout = LAYOUTS["strided"]

    def __instancecheck__(cls, x: Any) -> bool:
        found = isinstance(x, Tensor) and x.dtype is cls.dtype  # type: ignore[attr-defined]
        return found and x.device.type == "cpu"

    def __call__(cls, *args: Any, **named: Any) -> Tensor:
        return construct(cls.dtype, args, named)  # type: ignore[attr-defined]

    def __repr__(cls) -> str:
        return f"<class 'torch.{cls.__name__}'>"


TYPES = {
    f"{d.legacy}Tensor": _TypeMeta(f"{d.legacy}Tensor", (), {"dtype": d, "__module__": "torch"})
    for d in dtypes.ALL
    if not d.legacy.startswith(("Complex", "UInt"))
}
Tensor.legacy_constructor = staticmethod(tensor_new)
