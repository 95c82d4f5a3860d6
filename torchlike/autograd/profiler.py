"""Which operations a program calls, and how long they take.

While a profile is on, and only then, a function mode sees every call of a public function in the
thread that opened it. Functions that are built of others hold them as children. A backward pass is
one event, ``autograd::backward``: its kernels are no calls.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable
from typing import Any

from functional.modes import MODE
from functional.tape import engine
from functional.tape.overrides import TorchFunctionMode
from functional.tensor import Tensor
from torchlike import keywords

from .profiler_util import EventList, FunctionEvent, FunctionEventAvg, Interval

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "profile", "record_function"]

_OPERATORS = {
    "__getitem__": "index", "__setitem__": "index_put_", "__rtruediv__": "div",
    "__rmatmul__": "matmul", "__rfloordiv__": "floor_divide", "__rmod__": "remainder",
    "__invert__": "bitwise_not", "__pos__": "positive", "cast": "to", "move": "to",
    "overwrite": "copy_",
}  # fmt: skip
_UNSEEN = frozenset("requires_grad_ retain_grad register_hook as_subclass storage_offset".split())
_VALUES = frozenset("item equal allclose is_nonzero".split())  # operations that give no tensor
_BACKWARD = "autograd::backward"


def _now() -> float:
    return time.perf_counter_ns() / 1000


@functools.cache
def _name(function: Any) -> str:
    name = function.__name__
    name = _OPERATORS.get(name, name.strip("_") if name[:2] == "__" else name)
    return "aten::" + _family(name)


def _family(name: str) -> str:
    """The public operation that one of the core's is a form of: ``sum`` for ``sum_all``."""
    import torchlike
    from torchlike.nn import functional

    short = name
    while short and not (hasattr(torchlike, short) or hasattr(functional, short)):
        short = short.rpartition("_")[0]
    return name if not short or name.endswith(("_backward", "_grad")) else short


def _shape(value: Any) -> Any:
    if isinstance(value, Tensor):
        return list(value._data.shape)
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], Tensor):
        return [_shape(v) for v in value]
    return []


def _is_operation(function: Any, result: Any) -> bool:
    """Whether a call computed something, and did not just ask a tensor about itself."""
    name = function.__name__
    if name in _VALUES:
        return True
    parts = result if isinstance(result, (list, tuple)) else (result,)
    return name not in _UNSEEN and any(isinstance(p, Tensor) for p in parts)


class Recorder(TorchFunctionMode):
    """The mode that sees the calls, and the events made of them."""

    def __init__(self, shapes: bool = False) -> None:
        self.shapes = shapes
        self.events: list[FunctionEvent] = []
        self.open: list[FunctionEvent] = []
        self.thread = threading.get_native_id()

    def begin(self, name: str, shapes: Any = ()) -> FunctionEvent:
        """Open an event inside the one that is open now."""
        parent = self.open[-1] if self.open else None
        event = FunctionEvent(len(self.events), name, self.thread, 0, 0, input_shapes=list(shapes))
        event.set_cpu_parent(parent)
        self.events.append(event)
        self.open.append(event)
        event.time_range = Interval(_now(), 0.0)
        return event

    def end(self, event: FunctionEvent) -> None:
        """Close an event, and what is still open inside it."""
        now = _now()
        while self.open:
            last = self.open.pop()
            last.time_range = Interval(last.time_range.start, now)
            if last.cpu_parent is not None:
                last.cpu_parent.append_cpu_child(last)
            if last is event:
                return

    def _forget(self, event: FunctionEvent) -> None:
        """Take back an event; what ran inside it belongs to its parent."""
        at = next(i for i in reversed(range(len(self.events))) if self.events[i] is event)
        del self.events[at]
        parent = event.cpu_parent
        if parent is not None:
            parent.cpu_children.remove(event)
            parent.cpu_children += event.cpu_children
        for child in event.cpu_children:
            child.cpu_parent = parent

    def _inside(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Run a function; the calls that it makes are seen too."""
        inner = getattr(func, "__wrapped__", None)
        if inner is None or hasattr(inner, "op"):
            return func(*args, **kwargs)  # the mode is off while it handles a call
        before = MODE.functions
        MODE.functions = (*before, self)
        try:
            args, kwargs = keywords.renamed(inner, args, kwargs)
            return inner(*args, **kwargs)
        finally:
            MODE.functions = before

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = _name(func)
        if self.open and self.open[-1].name == name:  # one call, seen a second time on its way
            return self._inside(func, args, kwargs)
        event = self.begin(name, map(_shape, args) if self.shapes else ())
        wanted = True
        try:
            result = self._inside(func, args, kwargs)
            wanted = _is_operation(func, result)
            return result
        finally:
            self.end(event)
            if not wanted:
                self._forget(event)


class _Active(threading.local):
    recorder: Recorder | None = None


class _Engine:
    """The engine's entry: replaced while there are profiles, so that it need not ask for them."""

    plain: Any = None
    users = 0
    lock = threading.Lock()


ACTIVE = _Active()


def _run(*args: Any, **kwargs: Any) -> Any:
    with record_function(_BACKWARD):
        return _Engine.plain(*args, **kwargs)


def _watch_engine(change: int) -> None:
    with _Engine.lock:
        if not _Engine.users:
            _Engine.plain = engine.run
        _Engine.users += change
        engine.run = _run if _Engine.users else _Engine.plain


def start(recorder: Recorder) -> None:
    """Let a recorder see this thread's calls. Raises RuntimeError if another one does."""
    if ACTIVE.recorder is not None:
        raise RuntimeError("Profiler is already enabled on this thread")
    ACTIVE.recorder = recorder
    _watch_engine(1)
    recorder.__enter__()


def stop(recorder: Recorder) -> EventList:
    """Stop it; returns the events."""
    recorder.__exit__()
    _watch_engine(-1)
    ACTIVE.recorder = None
    if recorder.open:
        recorder.end(recorder.open[0])
    return EventList(recorder.events)


class record_function:
    """A block (or, as a decorator, a function) that profiles list under ``name``."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args
        self.trace_name = name
        self._open: list[tuple[Recorder, FunctionEvent] | None] = []

    def __enter__(self) -> record_function:
        recorder = ACTIVE.recorder
        if recorder is None:
            self._open.append(None)
        else:
            event = recorder.begin(self.name)
            event.is_user_annotation = True
            event.trace_name = self.trace_name
            self._open.append((recorder, event))
        return self

    def __exit__(self, *exc: object) -> None:
        opened = self._open.pop()
        if opened is not None and opened[1] in opened[0].open:
            opened[0].end(opened[1])

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with record_function(self.name, self.args):
                return function(*args, **kwargs)

        return wrapped


class profile:
    """A block whose operations are recorded; the results can be read after it.

    Raises NotImplementedError for memory, flops, stacks and modules, which are not recorded.
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = False,
        use_cpu: bool = True,
        **other: Any,
    ) -> None:
        refuse(
            profile_memory=profile_memory, with_flops=with_flops, with_stack=with_stack,
            with_modules=with_modules,
        )  # fmt: skip
        self.enabled = enabled
        self._recorder = Recorder(record_shapes)
        self._entered = False
        self.function_events: EventList | None = None

    def __enter__(self) -> profile | None:
        if not self.enabled:
            return None
        if self._entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self._entered = True
        start(self._recorder)
        return self

    def __exit__(self, *exc: object) -> None:
        if self.enabled:
            self.function_events = stop(self._recorder)

    def _events(self) -> EventList:
        if self.function_events is None:
            raise RuntimeError("Profiler didn't finish running")
        return self.function_events

    def key_averages(self, group_by_input_shape: bool = False, *args: Any, **kw: Any) -> EventList:
        """``EventList.key_averages`` of the events."""
        return self._events().key_averages(group_by_input_shape, *args, **kw)

    def table(self, *args: Any, **kwargs: Any) -> str:
        """``EventList.table`` of the events."""
        return self._events().table(*args, **kwargs)

    def total_average(self) -> FunctionEventAvg:
        """All events added up."""
        return self._events().total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds of all events."""
        return self._events().self_cpu_time_total

    def export_chrome_trace(self, path: str) -> None:
        """Write the events as JSON, for ``chrome://tracing``."""
        self._events().export_chrome_trace(path)

    def __repr__(self) -> str:
        found = self.function_events
        return "<unfinished torch.autograd.profile>" if found is None else repr(found)

    def __str__(self) -> str:
        found = self.function_events
        return "<unfinished torch.autograd.profile>" if found is None else str(found)


def refuse(**options: Any) -> None:
    """Raise NotImplementedError for what was asked of a profile and is not recorded."""
    for name, value in options.items():
        if value:
            raise NotImplementedError(f"torch.profiler.profile({name}=True)")
