"""How autocast sees calls and converts their arguments.

While it is on, ``BENEATH`` is the first in the stack of function modes, so that calls leave the
hot path and come to it after all modes and classes. Functions that are built of other operations
and offered to no mode have a wrapper meanwhile (``_wrapping``).
"""

from __future__ import annotations

import threading
from typing import Any

from functional import dtypes
from functional.modes import MODE, enter_slow, leave_slow
from functional.tape.op import TENSOR
from functional.tape.overrides import Beneath
from functional.tensor import Tensor

from . import _wrapping
from ._lists import FLOAT32, LOWER, POLICIES

DEVICES = ("cpu", "cuda", "hpu", "ipu", "maia", "mps", "mtia", "privateuseone", "xla", "xpu")


class _State(threading.local):
    def __init__(self) -> None:
        self.enabled = dict.fromkeys(DEVICES, False)
        self.dtype = dict.fromkeys(DEVICES, dtypes.float16)
        self.dtype.update(cpu=dtypes.bfloat16, xla=dtypes.bfloat16, hpu=dtypes.bfloat16)
        self.cache_enabled = True
        self.nesting = 0
        self.cache: dict[Any, Any] = {}  # of weights, by identity and grad mode


STATE = _State()


class _Beneath(Beneath):
    """Runs the listed operations on converted arguments."""

    def handle(self, func: Any, args: Any, kwargs: Any) -> tuple[bool, Any]:
        """``(True, result)`` for a listed operation."""
        name = getattr(func, "__name__", "").removeprefix("linalg_")
        if not any(name in p for p in POLICIES.values()):
            return False, None
        device = _device_of((args, kwargs))
        kind = POLICIES[device].get(name) if device else None
        if kind is None:
            return False, None
        stack = MODE.functions
        MODE.functions = stack[1:]  # what the operation is made of stays as it is
        try:
            if kwargs.get("out") is None:  # autocast leaves the others alone
                target = _target(kind, device, (args, kwargs))
                args, kwargs = _cast((args, kwargs), device, target)
            return True, func(*args, **kwargs)
        finally:
            MODE.functions = stack


BENEATH = _Beneath()


def switch(device: str, on: bool) -> None:
    """Turn autocast for a kind of device on or off in this thread."""
    STATE.enabled[device] = on
    wanted = STATE.enabled["cpu"] or STATE.enabled["cuda"]
    present = bool(MODE.functions) and MODE.functions[0] is BENEATH
    if wanted and not present:
        _wrapping.enter(BENEATH)
        enter_slow()
        MODE.functions = (BENEATH, *MODE.functions)
    elif present and not wanted:
        MODE.functions = MODE.functions[1:]
        leave_slow()
        _wrapping.leave()


# --- arguments ------------------------------------------------------------------------------------


def _tensors(value: Any) -> Any:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _tensors(item)
    elif isinstance(value, dict):
        yield from _tensors(tuple(value.values()))


def _device_of(values: Any) -> str | None:
    """The first kind of device among the tensors for which autocast is on."""
    for t in _tensors(values):
        device = t.device.type
        if device in POLICIES and STATE.enabled[device]:
            return device
    return None


def is_eligible(t: Tensor, device: str) -> bool:
    """Whether a tensor is one that autocast converts: floating, but not float64."""
    return t.device.type == device and t.is_floating_point() and t.dtype is not dtypes.float64


def _target(kind: str, device: str, values: Any) -> Any:
    if kind == LOWER:
        return STATE.dtype[device]
    if kind == FLOAT32:
        return dtypes.float32
    lower = widest = STATE.dtype[device]
    for t in _tensors(values):
        if is_eligible(t, device) and t.dtype is not lower:
            if t.dtype is not dtypes.float32:
                raise RuntimeError("Unexpected floating ScalarType in at::autocast::prioritize")
            widest = dtypes.float32
    return widest


def _cast(value: Any, device: str, target: Any) -> Any:
    if isinstance(value, Tensor):
        if value.dtype is target or not is_eligible(value, device):
            return value
        return _converted(value, target)
    if type(value) in (tuple, list):
        return type(value)([_cast(v, device, target) for v in value])
    if type(value) is dict:
        return {k: _cast(v, device, target) for k, v in value.items()}
    return value


def _converted(t: Tensor, target: Any) -> Any:
    """A tensor in another dtype; a weight is converted once in a region."""
    is_weight = t.dtype is dtypes.float32 and t.requires_grad and t.is_leaf and not t._is_view()
    if not (is_weight and target is not dtypes.float32 and STATE.cache_enabled):
        return TENSOR.to_dtype(t, target)
    key = id(t), MODE.grad
    found = STATE.cache.get(key)
    if found is None or found[1].dtype is not target:
        found = STATE.cache[key] = t, TENSOR.to_dtype(t, target)
    return found[1]
