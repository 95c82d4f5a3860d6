"""Regions in which listed operations run in a smaller dtype.

::

    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = criterion(model(x), target)  # matrix products in bfloat16, the loss in float32
    loss.backward()  # gradients have the dtypes of the parameters
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from functional import devices, dtypes
from functional.tensor import Tensor

from . import _state
from ._casting import STATE
from ._state import is_autocast_available

__all__ = ["autocast", "autocast_decorator", "custom_bwd", "custom_fwd", "is_autocast_available"]

_SUPPORTED = {"cpu": (dtypes.bfloat16, dtypes.float16)}
_TITLES = {"cpu": "CPU"}


def autocast_decorator(autocast_instance: Any, func: Callable[..., Any]) -> Callable[..., Any]:
    """``func``, each call of which runs inside the region."""

    @functools.wraps(func)
    def decorate_autocast(*args: Any, **kwargs: Any) -> Any:
        with autocast_instance:
            return func(*args, **kwargs)

    decorate_autocast.__script_unsupported = (  # type: ignore[attr-defined]
        "@autocast() decorator is not supported in script mode"
    )
    return decorate_autocast


def _need_text(device_type: Any) -> None:
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")


class autocast:
    """A region in which matrix products and the like run in ``dtype``: context manager, decorator.

    ``dtype`` is bfloat16 on a CPU and float16 on a GPU unless set otherwise. Losses and other
    operations that need the range run in float32, all others in the dtypes of their arguments.
    With ``cache_enabled`` each parameter is converted once. Regions nest; ``enabled=False`` makes
    one in which nothing is converted.

    Warns, and does nothing, for a dtype that is not supported and for a GPU that is not there.
    """

    def __init__(
        self,
        device_type: str,
        dtype: Any = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        _need_text(device_type)
        self.fast_dtype = _state.get_autocast_dtype(device_type) if dtype is None else dtype
        self.device = _state.kind_of(device_type)
        self.custom_backend_name = "privateuseone"
        if not is_autocast_available(self.device):
            raise RuntimeError(
                f"User specified an unsupported autocast device_type '{self.device}'"
            )
        self._cache_enabled = (
            _state.is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        )
        self._enabled = enabled and self._is_possible()

    def _is_possible(self) -> bool:
        if self.device == "cuda" and not devices.count("cuda"):
            text = "CUDA is not available or torch_xla is imported. Disabling autocast."
            warnings.warn(text, stacklevel=3)
            return False
        supported = _SUPPORTED.get(self.device)
        if supported and self.fast_dtype not in supported:
            title = _TITLES[self.device]
            warnings.warn(
                f"In {title} autocast, but the target dtype is not supported. Disabling autocast.\n"
                f"{title} Autocast only supports dtypes of "
                f"{', '.join(map(str, supported))} currently.",
                stacklevel=3,
            )
            return False
        return True

    def __enter__(self) -> Any:
        self.prev_cache_enabled = _state.is_autocast_cache_enabled()
        self.prev = STATE.enabled[self.device]
        self.prev_fastdtype = STATE.dtype[self.device]
        _state.set_autocast_enabled(self.device, self._enabled)
        _state.set_autocast_dtype(self.device, self.fast_dtype)
        _state.autocast_increment_nesting()
        _state.set_autocast_cache_enabled(self._cache_enabled)
        return self

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> bool:
        if _state.autocast_decrement_nesting() == 0:
            _state.clear_autocast_cache()
        _state.set_autocast_enabled(self.device, self.prev)
        _state.set_autocast_dtype(self.device, self.prev_fastdtype)
        _state.set_autocast_cache_enabled(self.prev_cache_enabled)
        return False

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        return autocast_decorator(self, func)


def _enter_autocast(*vals: Any) -> autocast:
    """Begin a region; ``_exit_autocast`` ends it."""
    mode = autocast(*vals)
    mode.__enter__()
    return mode


def _exit_autocast(mode: autocast) -> None:
    """End a region that ``_enter_autocast`` began."""
    mode.__exit__(None, None, None)


# --- functions with derivatives of their own ------------------------------------------------------


def _cast(value: Any, device_type: str, dtype: Any) -> Any:
    """Floating tensors of a device, float64 apart, in another dtype; containers of them."""
    if isinstance(value, Tensor):
        eligible = value.is_floating_point() and value.dtype is not dtypes.float64
        return value.to(dtype) if eligible and value.device.type == device_type else value
    if isinstance(value, (str, np.ndarray)):
        return value
    if isinstance(value, dict):
        return {_cast(k, device_type, dtype): _cast(v, device_type, dtype)
                for k, v in value.items()}  # fmt: skip
    if isinstance(value, (list, tuple)):
        return type(value)([_cast(v, device_type, dtype) for v in value])
    return value


def custom_fwd(
    fwd: Callable[..., Any] | None = None, *, device_type: str, cast_inputs: Any = None
) -> Any:
    """Decorate the ``forward`` of an ``autograd.Function`` for use inside autocast.

    With ``cast_inputs`` its tensors are converted to that dtype, and it runs outside autocast.
    ``custom_bwd`` sees to it that ``backward`` runs as ``forward`` did.
    """
    _need_text(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorate_fwd(*args: Any, **kwargs: Any) -> Any:
        ctx = args[0]
        ctx._dtype = _state.get_autocast_dtype(device_type)
        inside = _state.is_autocast_enabled(device_type)
        ctx._fwd_used_autocast = inside and cast_inputs is None
        if cast_inputs is None or not inside:
            return fwd(*args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(
                *_cast(args, device_type, cast_inputs), **_cast(kwargs, device_type, cast_inputs)
            )

    return decorate_fwd


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Any:
    """Decorate the ``backward`` that belongs to a ``forward`` with ``custom_fwd``."""
    _need_text(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorate_bwd(*args: Any, **kwargs: Any) -> Any:
        ctx = args[0]
        with autocast(device_type, dtype=ctx._dtype, enabled=ctx._fwd_used_autocast):
            return bwd(*args, **kwargs)

    return decorate_bwd
