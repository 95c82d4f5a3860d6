"""The accelerator of this machine, if it has one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from functional import devices

_NAMES = {"current_device_index": "current_device", "set_device_index": "set_device"}
_KINDS = ("cuda", "xpu", "mps")


def current_accelerator(check_available: bool = False) -> devices.device | None:
    """The kind of accelerator there is, as a device without index; None if there is none."""
    return next((devices.device(kind) for kind in _KINDS if devices.count(kind)), None)


def is_available() -> bool:
    """Whether there is an accelerator."""
    return device_count() > 0


def device_count() -> int:
    """The number of accelerators."""
    found = current_accelerator()
    return 0 if found is None else devices.count(found.type)


def _needs_device(name: str, says: str) -> Callable[..., Any]:
    def function(*args: Any, **kwargs: Any) -> Any:
        if not is_available():
            raise RuntimeError("Cannot access accelerator device when none is available.")
        from . import cuda

        return getattr(cuda, _NAMES.get(name, name))(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{says} RuntimeError where there is no accelerator."
    return function


current_device_index = _needs_device("current_device_index", "The index of the device in use.")
current_device_idx = current_device_index
set_device_index = _needs_device("set_device_index", "Use another device.")
set_device_idx = set_device_index
current_stream = _needs_device("current_stream", "The stream in use.")
set_stream = _needs_device("set_stream", "Use another stream.")
synchronize = _needs_device("synchronize", "Wait for the device.")
empty_cache = _needs_device("empty_cache", "Give unused memory back.")
memory_allocated = _needs_device("memory_allocated", "Bytes that tensors occupy.")
max_memory_allocated = _needs_device("max_memory_allocated", "The most bytes they have occupied.")
memory_reserved = _needs_device("memory_reserved", "Bytes held for tensors.")
max_memory_reserved = _needs_device("max_memory_reserved", "The most bytes held for them.")
memory_stats = _needs_device("memory_stats", "Numbers about memory.")
reset_peak_memory_stats = _needs_device("reset_peak_memory_stats", "Forget the peak of memory.")


class device_index:
    """Use another device for the length of a block; None changes nothing."""

    def __init__(self, device: int | None, /) -> None:
        self.idx = device
        self._before: int | None = None

    def __enter__(self) -> None:
        if self.idx is not None:
            self._before = current_device_index() if is_available() else None
            set_device_index(self.idx)

    def __exit__(self, *exc: object) -> None:
        if self._before is not None:
            set_device_index(self._before)
