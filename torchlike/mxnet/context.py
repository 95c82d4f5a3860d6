"""Where arrays lie: ``cpu()``, ``gpu(i)``."""

from __future__ import annotations

import threading
from typing import Any

import torchlike as torch

from .base import MXNetError

KINDS = ("cpu", "gpu")


class _Stack(threading.local):
    def __init__(self) -> None:
        self.contexts: list[Context] = []


class Context:
    """A device, by kind (``cpu`` or ``gpu``) and number; in ``with``, the default of new arrays."""

    __slots__ = ("device_id", "device_type")

    def __init__(self, device_type: Any, device_id: int = 0) -> None:
        if isinstance(device_type, Context):
            device_type, device_id = device_type.device_type, device_type.device_id
        if device_type not in KINDS:
            raise ValueError(f"device_type must be 'cpu' or 'gpu', not {device_type!r}")
        self.device_type, self.device_id = device_type, int(device_id)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Context) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __repr__(self) -> str:
        return f"{self.device_type}({self.device_id})"

    def __enter__(self) -> Context:
        _STACK.contexts.append(self)
        return self

    def __exit__(self, *exc: object) -> None:
        _STACK.contexts.pop()


_STACK = _Stack()
Device = Context


def cpu(device_id: int = 0) -> Context:
    """The main memory; every number means the same memory."""
    return Context("cpu", device_id)


def gpu(device_id: int = 0) -> Context:
    """The GPU of this number; arrays can only be put there if there is one."""
    return Context("gpu", device_id)


def num_gpus() -> int:
    """How many GPUs there are."""
    return torch.cuda.device_count()


def current_context() -> Context:
    """The innermost ``with`` context, else the CPU."""
    return _STACK.contexts[-1] if _STACK.contexts else cpu()


current_device = current_context


def core_device(context: Any) -> Any:
    """The core's device of a Context, None meaning the current one; MXNetError without a GPU."""
    context = current_context() if context is None else context
    if isinstance(context, (list, tuple)) and len(context) == 1:
        (context,) = context
    if not isinstance(context, Context):
        raise TypeError(f"a context (mx.cpu(), mx.gpu(0), ...) is wanted, not {context!r}")
    if context.device_type == "cpu":
        return torch.device("cpu")
    if context.device_id >= num_gpus():
        raise MXNetError(f"{context}: there are {num_gpus()} GPUs")
    return torch.device("cuda", context.device_id)


def context_of(tensor: Any) -> Context:
    """The Context a core tensor lies in."""
    device = tensor.device
    return cpu() if device.type == "cpu" else gpu(device.index or 0)
