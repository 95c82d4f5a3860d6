"""Thread-local modes, and the set of tensor types that may take the hot path."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any


class _Mode(threading.local):
    grad = True  # are operations recorded?
    inference = False  # are results inference tensors?
    saved_hooks: tuple[Any, ...] = ()  # stack of (pack, unpack)
    functions: tuple[Any, ...] = ()  # stack of TorchFunctionMode
    functions_off = False  # DisableTorchFunction
    level = 0  # depth of nested transforms
    transforms: tuple[Any, ...] = ()  # the transforms that operations meet, the innermost last
    unrecorded: tuple[float, ...] = ()  # levels below which nothing is recorded
    tangents = True  # forward mode records
    pulling = False  # does a transform run its tape backwards?
    task: Any = None  # the backward pass that runs
    writing: Any = None  # called with a tensor that is about to be written to


MODE = _Mode()


class _Anomaly:
    """Anomaly detection, in all threads: ``forward`` gives the stack to remember with a node."""

    on = False
    check_nan = True
    forward: Callable[[], str] | None = None


ANOMALY = _Anomaly()

# The exact types whose operands may take the hot path. Any mode that needs to see every
# operation empties it while it is on, so that eager code never asks about modes.
_GENERATOR = 0x20  # inspect.CO_GENERATOR, without importing inspect
PLAIN: set[type] = set()
_plain_types: set[type] = set()
_lock = threading.Lock()
_active = 0


def register_plain(cls: type) -> None:
    """Let exact instances of ``cls`` take the hot path."""
    _plain_types.add(cls)
    PLAIN.add(cls)


def enter_slow() -> None:
    """A mode that must see every operation begins."""
    global _active
    with _lock:
        _active += 1
        PLAIN.clear()


def leave_slow() -> None:
    """A mode that must see every operation ends."""
    global _active
    with _lock:
        _active -= 1
        if not _active:
            PLAIN.update(_plain_types)


class ModeSwitch:
    """A context manager that is also a decorator, for functions and generator functions."""

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, *exc: object) -> None:
        raise NotImplementedError

    def clone(self) -> ModeSwitch:
        return type(self)()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if getattr(function, "__code__", None) and function.__code__.co_flags & _GENERATOR:
            return _wrap_generator(self.clone, function)

        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        return wrapped


def _wrap_generator(clone: Callable[[], Any], function: Callable[..., Any]) -> Any:
    """Hold the mode only while the generator's own code runs, not between its steps."""

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        generator = function(*args, **kwargs)
        try:
            with clone():
                item = next(generator)
            while True:
                try:
                    request = yield item
                except GeneratorExit:
                    with clone():
                        generator.close()
                    raise
                except BaseException as error:
                    with clone():
                        item = generator.throw(error)
                else:
                    with clone():
                        item = generator.send(request)
        except StopIteration as stop:
            return stop.value

    return wrapped


class _BareDecorator(ModeSwitch):
    """Also usable without parentheses: ``@no_grad``."""

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        self = object.__new__(cls)
        return self if function is None else self(function)

    def __init__(self) -> None:
        self.before: list[bool] = []

    value = True

    def __enter__(self) -> None:
        self.before.append(MODE.grad)
        MODE.grad = self.value

    def __exit__(self, *exc: object) -> None:
        MODE.grad = self.before.pop()


class no_grad(_BareDecorator):
    """Operations inside are not recorded. A context manager and a decorator."""

    value = False

    def __init__(self) -> None:
        self.before = []


class enable_grad(_BareDecorator):
    """Operations inside are recorded, also within ``no_grad``."""


class set_grad_enabled(ModeSwitch):
    """Set whether operations are recorded: at once, and until the block ends."""

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(
                "set_grad_enabled(): argument 'enabled' (position 1) must be bool, not "
                f"{type(mode).__name__}"
            )
        self.mode, self.previous = mode, MODE.grad
        MODE.grad = mode

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        MODE.grad = self.previous
        return super().__call__(function)

    def clone(self) -> set_grad_enabled:
        return set_grad_enabled(self.mode)

    def __enter__(self) -> None:
        MODE.grad = self.mode

    def __exit__(self, *exc: object) -> None:
        MODE.grad = self.previous


class inference_mode(ModeSwitch):
    """Like ``no_grad``, and results can never take part in autograd (inference tensors)."""

    def __new__(cls, mode: Any = True) -> Any:
        if isinstance(mode, bool):
            return object.__new__(cls)
        return inference_mode(True)(mode)  # used as a bare decorator

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode
        self.before: list[tuple[bool, bool]] = []

    def clone(self) -> inference_mode:
        return inference_mode(self.mode)

    def __enter__(self) -> None:
        self.before.append((MODE.grad, MODE.inference))
        if self.mode:
            enter_slow()
        MODE.grad = not self.mode  # inference_mode(False) turns recording on, as in PyTorch
        MODE.inference = self.mode

    def __exit__(self, *exc: object) -> None:
        MODE.grad, MODE.inference = self.before.pop()
        if self.mode:
            leave_slow()


def is_grad_enabled() -> bool:
    """Whether operations are recorded in this thread."""
    return MODE.grad


def is_anomaly_enabled() -> bool:
    """Whether anomaly detection is on."""
    return ANOMALY.on


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly detection takes NaN for an error."""
    return ANOMALY.check_nan


def is_inference_mode_enabled() -> bool:
    """Whether inference mode is on in this thread."""
    return MODE.inference
