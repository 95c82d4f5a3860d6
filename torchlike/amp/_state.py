"""The settings of autocast in this thread, as functions of the torch namespace."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from functional import devices, dtypes
from functional.errors import type_name

from . import _casting
from ._casting import DEVICES, STATE


def _wrong(function: str, name: str, position: int, kind: str, value: Any) -> TypeError:
    return TypeError(
        f"{function}(): argument '{name}' (position {position}) must be {kind}, not "
        f"{type_name(value)}"
    )


def kind_of(device_type: str, function: str = "device") -> str:
    """The kind of device that a text names; PyTorch's error if there is none of the name."""
    if not isinstance(device_type, str):
        raise _wrong(function, "device_type", 1, "str", device_type)
    return device_type if device_type in DEVICES else devices.device(device_type).type


def _known(device_type: str, function: str) -> str:
    kind = kind_of(device_type, function)
    if kind not in DEVICES:
        raise RuntimeError("unsupported scalarType")
    return kind


def is_autocast_available(device_type: str) -> bool:
    """Whether autocast knows this kind of device, be there one or not."""
    return kind_of(device_type, "_is_autocast_available") in DEVICES


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether autocast is on for a kind of device."""
    return STATE.enabled.get(kind_of(device_type, "is_autocast_enabled"), False)


def set_autocast_enabled(*args: Any) -> None:
    """``set_autocast_enabled(device_type, enabled)``: turn autocast on or off, outside a region."""
    if len(args) == 1:
        args = ("cuda", *args)
        if not isinstance(args[1], bool):
            raise _wrong("set_autocast_enabled", "enabled", 1, "bool", args[1])
    device_type, enabled = args
    kind = _known(device_type, "set_autocast_enabled")
    if not isinstance(enabled, bool):
        raise _wrong("set_autocast_enabled", "enabled", 2, "bool", enabled)
    _casting.switch(kind, enabled)


def get_autocast_dtype(device_type: str) -> dtypes.dtype:
    """The smaller dtype of a kind of device."""
    return STATE.dtype[_known(device_type, "get_autocast_dtype")]


def set_autocast_dtype(device_type: str, dtype: dtypes.dtype) -> None:
    """Set the smaller dtype of a kind of device."""
    kind = _known(device_type, "set_autocast_dtype")
    if not isinstance(dtype, dtypes.dtype):
        raise _wrong("set_autocast_dtype", "dtype", 2, "torch.dtype", dtype)
    STATE.dtype[kind] = dtype


def is_autocast_cache_enabled() -> bool:
    """Whether a region converts each parameter once only."""
    return STATE.cache_enabled


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Set whether a region converts each parameter once only."""
    if not isinstance(enabled, bool):
        raise TypeError(f"enabled must be a bool (got {type(enabled).__name__})")
    STATE.cache_enabled = enabled


def clear_autocast_cache() -> None:
    """Forget the converted parameters."""
    STATE.cache.clear()


def autocast_increment_nesting() -> int:
    """One region more; how many there are now."""
    STATE.nesting += 1
    return STATE.nesting


def autocast_decrement_nesting() -> int:
    """One region less; how many there are now."""
    STATE.nesting -= 1
    return STATE.nesting


# --- the older names, one for each kind of device -------------------------------------------------


def _older(name: str, device: str, call: Callable[..., Any], form: str) -> Callable[..., Any]:
    arguments = form.partition("(")[2].replace(f"'{device}'", "").lstrip(", ")

    def function(*args: Any) -> Any:
        warnings.warn(
            f"torch.{name}({arguments} is deprecated. Please use torch.{form} instead.",
            DeprecationWarning,
            stacklevel=2,
        )
        return call(*args)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Deprecated: ``{form}``."
    return function


def _older_names(short: str, device: str) -> dict[str, Callable[..., Any]]:
    found = {
        f"get_autocast_{short}_dtype": (get_autocast_dtype, f"get_autocast_dtype('{device}')"),
        f"set_autocast_{short}_dtype": (
            set_autocast_dtype, f"set_autocast_dtype('{device}', dtype)",
        ),
        f"is_autocast_{short}_enabled": (is_autocast_enabled, f"is_autocast_enabled('{device}')"),
        f"set_autocast_{short}_enabled": (
            set_autocast_enabled, f"set_autocast_enabled('{device}', enabled)",
        ),
    }  # fmt: skip
    return {
        name: _older(name, device, functools.partial(call, device), form)
        for name, (call, form) in found.items()
        if name not in ("is_autocast_gpu_enabled", "set_autocast_gpu_enabled")
    }


OLDER = {
    **_older_names("cpu", "cpu"),
    **_older_names("gpu", "cuda"),
    **_older_names("ipu", "ipu"),
    **_older_names("xla", "xla"),
}
globals().update(OLDER)
