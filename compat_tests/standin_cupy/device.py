"""Devices, streams, memory and kernels of the stand-in: one device, no GPU."""

from __future__ import annotations

import contextlib
import time
from typing import Any

import numpy as np

from .arrays import CURRENT, FUNCTIONS, inner, ndarray, wrap

COUNT = 1
PROPERTIES = {"name": b"Stand-in", "totalGlobalMem": 1 << 34, "major": 9, "minor": 0,
              "multiProcessorCount": 1}  # fmt: skip


class Device:
    """One device, or a context in which it is the current one."""

    def __init__(self, device: Any = None) -> None:
        self.id = CURRENT.device if device is None else int(device)
        if not 0 <= self.id < COUNT:
            raise RuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
        self._before: list[int] = []

    compute_capability = "90"
    mem_info = (1 << 33, 1 << 34)

    def __enter__(self) -> Device:
        self._before.append(CURRENT.device)
        CURRENT.device = self.id
        return self

    def __exit__(self, *exc: object) -> None:
        CURRENT.device = self._before.pop()

    def __int__(self) -> int:
        return self.id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.id == self.id

    def __hash__(self) -> int:
        return self.id

    def use(self) -> None:
        CURRENT.device = self.id

    def synchronize(self) -> None:
        """Nothing is ever pending."""


class Event:
    """A moment in a stream."""

    done = True

    def __init__(
        self, block: bool = False, disable_timing: bool = False, interprocess: bool = False
    ) -> None:
        self.at = 0.0

    def record(self, stream: Any = None) -> None:
        self.at = time.perf_counter()

    def synchronize(self) -> None:
        """Nothing is ever pending."""


class Stream:
    """Work in order."""

    null: Any = None
    ptr, done = 0, True

    def __init__(self, null: bool = False, non_blocking: bool = False, ptds: bool = False,
                 priority: Any = None) -> None:  # fmt: skip
        self._before: list[Stream] = []

    def __enter__(self) -> Stream:
        self._before.append(STREAMS[-1])
        STREAMS.append(self)
        return self

    def __exit__(self, *exc: object) -> None:
        STREAMS.append(self._before.pop())

    def use(self) -> Stream:
        STREAMS.append(self)
        return self

    def synchronize(self) -> None:
        """Nothing is ever pending."""

    def record(self, event: Any = None) -> Event:
        event = event or Event()
        event.record(self)
        return event

    def wait_event(self, event: Any) -> None:
        """Nothing is ever pending."""


Stream.null = Stream(null=True)
STREAMS = [Stream.null]


class MemoryPool:
    """A pool that holds nothing."""

    def used_bytes(self) -> int:
        return 512

    def total_bytes(self) -> int:
        return 1024

    def free_all_blocks(self, stream: Any = None) -> None:
        """Nothing is held."""


POOL = MemoryPool()
CUDA = {
    "Device": Device, "Event": Event, "Stream": Stream, "MemoryPool": MemoryPool,
    "is_available": lambda: True,
    "get_device_id": lambda: CURRENT.device,
    "get_current_stream": lambda device_id=-1: STREAMS[-1],
    "get_elapsed_time": lambda a, b: (b.at - a.at) * 1e3,
}  # fmt: skip
RUNTIME = {
    "getDeviceCount": lambda: COUNT,
    "getDevice": lambda: CURRENT.device,
    "setDevice": lambda device: Device(device).use(),
    "getDeviceProperties": lambda device: dict(PROPERTIES),
    "memGetInfo": lambda: Device.mem_info,
    "deviceSynchronize": lambda: None,
    "runtimeGetVersion": lambda: 12090,
    "driverGetVersion": lambda: 12090,
    "deviceCanAccessPeer": lambda device, peer: 0,
}


class ElementwiseKernel:
    """Runs the portable twin that the backend gives beside the CUDA source."""

    def __init__(
        self, in_params: str, out_params: str, operation: str, name: str = "kernel", **named: Any
    ) -> None:
        from functional.kernels.cupy import fused

        self.twin, self.outputs = fused.TWINS[name], out_params.split(",")
        self.nin = len(in_params.split(","))

    def __call__(self, *args: Any, **named: Any) -> Any:
        assert not named and len(args) in (self.nin, self.nin + len(self.outputs))
        assert any(type(a) is ndarray for a in args)
        [inner(a) for a in args]
        results = self.twin(FUNCTIONS["module"], *args[: self.nin])
        results = results if type(results) is tuple else (results,)
        targets = args[self.nin :]
        for target, result in zip(targets, results, strict=False):
            target[...] = result
        results = targets or results
        return results[0] if len(results) == 1 else tuple(results)


# --- linear algebra that does not raise -----------------------------------------------------------

ERRORS = ["ignore"]


@contextlib.contextmanager
def errstate(*, divide: Any = None, over: Any = None, under: Any = None, invalid: Any = None,
             linalg: Any = None) -> Any:  # fmt: skip
    """Whether linear algebra raises."""
    ERRORS.append(linalg or ERRORS[-1])
    try:
        yield
    finally:
        ERRORS.pop()


def silent(name: str, function: Any) -> Any:
    """A function of linear algebra that gives nan where NumPy's raises, if told so."""

    def lifted(a: Any, *args: Any, **named: Any) -> Any:
        if a.dtype.kind not in "fc" or a.dtype.itemsize == 2:
            raise TypeError(f"array type {a.dtype} is unsupported in linalg")
        try:
            return function(a, *args, **named)
        except np.linalg.LinAlgError:
            if ERRORS[-1] == "raise":
                raise
            return wrap(np.full_like(inner(args[0] if args else a), np.nan))

    lifted.__name__ = name
    return lifted
