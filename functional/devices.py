"""device: where a tensor's elements are kept."""

from __future__ import annotations

import re
import threading
from typing import Any

from . import errors

_KNOWN = (
    "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan"
)
_KNOWN += ", mps, meta, hpu, mtia, privateuseone"


class _Current(threading.local):
    device: device | None = None  # what `with device(...)` and set_default_device chose


CURRENT = _Current()


class device:
    """A device type (``cpu``, ``cuda``, ``meta``) and an optional index."""

    __slots__ = ("_before", "index", "type")
    type: str
    index: int | None
    _before: list[device | None]

    def __new__(cls, type: Any = None, index: int | None = None) -> device:
        if isinstance(type, device):
            return type
        if isinstance(type, int) and not isinstance(type, bool):
            if not count("cuda"):
                raise RuntimeError("Cannot access accelerator device when none is available.")
            type, index = "cuda", type
        if not isinstance(type, str):
            raise TypeError(
                "device(): argument 'type' (position 1) must be str, not " + _type_name(type)
            )
        if not type:
            raise RuntimeError("Device string must not be empty")
        kind, found = _parse(type)
        if found is not None and index is not None:
            raise RuntimeError(
                "type (string) must not include an index because index was passed explicitly: "
                + type
            )
        self = object.__new__(cls)
        self.type, self.index = kind, found if index is None else index
        self._before = []
        return self

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and self.type == other.type and self.index == other.index

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __reduce__(self) -> tuple[Any, ...]:
        return device, ((self.type,) if self.index is None else (self.type, self.index))

    def __enter__(self) -> device:
        self._before.append(CURRENT.device)
        CURRENT.device = self
        return self

    def __exit__(self, *exc: object) -> None:
        CURRENT.device = self._before.pop()


def _type_name(value: Any) -> str:
    return type(value).__name__ if value is not None else "NoneType"


def _parse(text: str) -> tuple[str, int | None]:
    match = re.fullmatch(r"([a-z]+)(?::(\d+))?", text)
    if match is None:
        raise RuntimeError(f"Invalid device string: '{text}'")
    kind, index = match[1], match[2]
    if kind not in _KNOWN.split(", "):
        raise RuntimeError(
            f"Expected one of {_KNOWN} device type at start of device string: {kind}"
        )
    return kind, None if index is None else int(index)


cpu = device("cpu")
meta = device("meta")


def get_default_device() -> device:
    """The device that creation functions use when none is given."""
    return resolve(None)


def set_default_device(value: Any) -> None:
    """Set the device that creation functions use; None goes back to the CPU."""
    CURRENT.device = None if value is None else device(value)


def resolve(value: Any) -> device:
    """The device a ``device=`` argument means; unsupported types raise."""
    if value is None:
        value = CURRENT.device
        if value is None:
            return cpu
    found = value if isinstance(value, device) else device(value)
    if found.type in ("cpu", "meta"):
        return found
    if found.type == "cuda" and count("cuda"):
        return _on_gpu(found)
    raise absent(found.type)


def _on_gpu(found: device) -> device:
    """A GPU with its index: the current one where none is given."""
    if found.index is None:
        import cupy

        return device("cuda", cupy.cuda.runtime.getDevice())
    if found.index >= count("cuda"):
        raise RuntimeError(errors.NO_SUCH_GPU)
    return found


# How many devices of each kind there are besides the CPU. A backend that brings devices enters
# them here; the namespaces (torch.cuda, torch.accelerator) ask nobody else.
COUNTS: dict[str, int] = {}


def count(kind: str) -> int:
    """How many devices of a kind there are."""
    if kind == "cuda" and kind not in COUNTS:
        COUNTS[kind] = _gpus()
    return 1 if kind == "cpu" else COUNTS.get(kind, 0)


def _gpus() -> int:
    """How many GPUs CuPy finds: 0 where it is not installed."""
    try:
        import cupy
    except ImportError:
        return 0
    try:
        return cupy.cuda.runtime.getDeviceCount()
    except Exception:  # no driver, no device: each of CuPy's errors says so
        return 0


def absent(kind: str) -> Exception:
    """The error for using a kind of device that is not there."""
    if kind in ("cuda", "xpu"):
        return AssertionError(f"Torch not compiled with {kind.upper()} enabled")
    if kind == "mps":
        return RuntimeError("PyTorch is not linked with support for mps devices")
    return NotImplementedError(f"device type '{kind}' is not available: use cpu or meta")
