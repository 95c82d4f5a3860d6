"""Settings of the whole library that programs set and ask for."""

from __future__ import annotations

import importlib
from typing import Any

from functional import blame, dtypes
from functional.kernels import threads
from functional.tensor import Tensor

__all__ = [
    "AcceleratorError",
    "OutOfMemoryError",
    "are_deterministic_algorithms_enabled",
    "get_deterministic_debug_mode",
    "get_device_module",
    "get_float32_matmul_precision",
    "get_num_interop_threads",
    "is_deterministic_algorithms_warn_only_enabled",
    "is_warn_always_enabled",
    "set_default_tensor_type",
    "set_deterministic_debug_mode",
    "set_float32_matmul_precision",
    "set_flush_denormal",
    "set_num_interop_threads",
    "set_warn_always",
    "typename",
    "use_deterministic_algorithms",
]  # fmt: skip

_MODES = {"default": 0, "warn": 1, "error": 2}
_PRECISIONS = ("highest", "high", "medium")


class AcceleratorError(RuntimeError):
    """An error of an accelerator."""


class OutOfMemoryError(RuntimeError):
    """An accelerator's memory is full."""


class _State:
    deterministic = warn_only = False
    precision = "highest"
    interop_threads: int | None = None


STATE = _State()


def need_bool(function: str, value: Any) -> bool:
    """The flag itself; RuntimeError for what is no bool."""
    if type(value) is not bool:
        raise RuntimeError(f"{function} expects a bool, but got {type(value).__name__}")
    return value


_OLD_TYPE = (
    "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use "
    "torch.set_default_dtype() and torch.set_default_device() as alternatives. "
)


def set_default_tensor_type(t: Any, /) -> None:
    """Set the default floating dtype by a legacy type or its name.

    TypeError for types that are not floating, or not on the CPU.
    """
    blame.warn_once(_OLD_TYPE)
    from .legacy import TYPES

    if isinstance(t, str):
        module, _, name = t.rpartition(".")
        if module != "torch" or name not in TYPES:
            importlib.import_module(module or t)
            raise AttributeError(f"module '{module}' has no attribute '{name}'")
        t = TYPES[name]
    if not isinstance(t, type(TYPES["FloatTensor"])):
        raise TypeError(
            "invalid type object: only floating-point types are supported as the default type"
        )
    dtypes.set_default_dtype(t.dtype)  # type: ignore[attr-defined]


# --- deterministic results: every kernel's are ----------------------------------------------------


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for deterministic algorithms; all of them are, so that this only sets the flag."""
    for name, value in (("mode", mode), ("warn_only", warn_only)):
        if type(value) is not bool:
            position = " (position 1)" if name == "mode" else ""
            raise TypeError(
                f"_set_deterministic_algorithms(): argument '{name}'{position} must be bool, not "
                f"{type(value).__name__}"
            )
    STATE.deterministic, STATE.warn_only = mode, warn_only


def are_deterministic_algorithms_enabled() -> bool:
    """What ``use_deterministic_algorithms`` has set."""
    return STATE.deterministic


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether only warnings were asked for."""
    return STATE.warn_only


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """``use_deterministic_algorithms`` by a word or a number: default, warn, error (0, 1, 2)."""
    if isinstance(debug_mode, str):
        if debug_mode not in _MODES:
            raise RuntimeError(
                "invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got "
                f"{debug_mode}"
            )
        debug_mode = _MODES[debug_mode]
    if debug_mode not in (0, 1, 2):
        raise RuntimeError(
            f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}"
        )
    STATE.deterministic, STATE.warn_only = debug_mode > 0, debug_mode == 1


def get_deterministic_debug_mode() -> int:
    """0: not asked for; 1: warnings; 2: errors."""
    return (1 if STATE.warn_only else 2) if STATE.deterministic else 0


# --- precision, threads, warnings -----------------------------------------------------------------


def set_float32_matmul_precision(precision: str) -> None:
    """Allow less precise products of float32 matrices; the CPU's stay as precise as they are."""
    if precision in _PRECISIONS:
        STATE.precision = precision


def get_float32_matmul_precision() -> str:
    """What ``set_float32_matmul_precision`` has set."""
    return STATE.precision


def get_num_interop_threads() -> int:
    """What ``set_num_interop_threads`` has set, or the number of processors."""
    return STATE.interop_threads or threads._processors()


def set_num_interop_threads(int: int) -> None:
    """Set the number; operations never run side by side, so that it changes nothing."""
    STATE.interop_threads = positive("set_num_interop_threads", int)


def positive(function: str, value: Any) -> int:
    """A number of threads; RuntimeError for anything else."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise RuntimeError(f"{function} expects an int, but got {type(value).__name__}")
    if value <= 0:
        raise RuntimeError(f"{function} expects a positive integer")
    return value


def set_warn_always(b: bool) -> None:
    """Let warnings that come once in a process come every time."""
    blame.ALWAYS = need_bool("setWarnOnlyOnce", b)


def is_warn_always_enabled() -> bool:
    """What ``set_warn_always`` has set."""
    return blame.ALWAYS


def get_device_module(device: Any = None) -> Any:
    """The module of a device's kind: ``torch.cuda`` for ``cuda``; that of the device in use."""
    from importlib import import_module

    from functional import devices

    present = "cuda" if devices.count("cuda") else "cpu"
    kind = present if device is None else devices.device(device).type
    return import_module(f"torchlike.{kind}")


def typename(obj: Any, /) -> str:
    """The legacy type of a tensor, or the full name of a class, function, or object's class."""
    if isinstance(obj, Tensor):
        return obj.type()
    named = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(named, "__module__", None)
    prefix = "" if module in (None, "", "builtins") else f"{module}."
    return prefix + named.__qualname__


def set_flush_denormal(mode: bool) -> bool:
    """Ask for tiny numbers to become zeros; False, for NumPy's kernels keep them."""
    if type(mode) is not bool:
        raise RuntimeError(f"flush_denormal expects a bool, but got {type(mode).__name__}")
    return False
