"""Named results, printed and indexed as PyTorch's ``torch.return_types``."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from ..errors import type_name
from ..pytree import KINDS, Kind
from ..tape.out import check_memory, check_out, write_out
from ..tensor import Tensor

RETURN_TYPES: dict[str, type] = {}


def return_type(name: str, fields: tuple[str, ...]) -> Any:
    """A tuple class with named fields; its ``out`` is that of results written into ``out=``."""
    cls = _return_type(name, fields)
    cls.out = _return_type(f"{name}_out", fields)
    return cls


def _return_type(name: str, fields: tuple[str, ...]) -> Any:
    def __repr__(self: Any) -> str:
        parts = (f"{f}={v!r}" for f, v in zip(fields, self, strict=True))
        return f"torch.return_types.{name}(\n" + ",\n".join(parts) + ")"

    members: dict[str, Any] = {f: property(itemgetter(i)) for i, f in enumerate(fields)}
    members |= {"__repr__": __repr__, "__slots__": (), "n_fields": len(fields)}
    members["__module__"] = "torch.return_types"
    cls = type(name, (tuple,), members)
    RETURN_TYPES[name] = cls
    KINDS[cls] = Kind(lambda t: (list(t), None), lambda v, _: cls(v))
    return cls


def out_several(function: Any, outs: Any, *args: Any, name: str | None = None) -> tuple[Any, ...]:
    """``function(*args)`` with its results written into the tensors ``outs``."""
    name = name or function.__name__
    return write_outs(name, function(*args), check_outs(name, args, outs))


def write_outs(name: str, results: Any, outs: Any) -> tuple[Any, ...]:
    """The results of the function ``name`` written into ``outs``."""
    pairs = zip(results, outs, strict=True)
    return tuple([write_out(z, out, name, at) for at, (z, out) in enumerate(pairs)])


def check_outs(name: str, inputs: Any, outs: Any) -> Any:
    """PyTorch's errors for several results' ``out=``."""
    if not isinstance(outs, (tuple, list)):
        kind = "Tensor" if isinstance(outs, Tensor) else type_name(outs)
        raise TypeError(f"{name}(): argument 'out' must be tuple of Tensors, not {kind}")
    for out in outs:
        check_out(name, [*inputs, *outs], out)
        check_memory(name, inputs, out)
    return outs
