"""``profile``: recording by steps, on a schedule, with a function that takes each trace."""

from __future__ import annotations

import enum
import json
import os
import socket
import time
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from torchlike.autograd import profiler
from torchlike.autograd.profiler_util import EventList

__all__ = [
    "ProfilerAction", "ProfilerActivity", "profile", "schedule", "supported_activities",
    "tensorboard_trace_handler",
]  # fmt: skip


class ProfilerAction(enum.Enum):
    """What a profile does in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3  # the last step of a trace


class ProfilerActivity(enum.Enum):
    """What a profile can look at; here that is the CPU."""

    CPU = 0
    XPU = 1
    MTIA = 4
    CUDA = 2
    HPU = 3
    PrivateUse1 = 5


def supported_activities() -> set[ProfilerActivity]:
    """What profiles look at."""
    return {ProfilerActivity.CPU}


def schedule(
    *,
    wait: int,
    warmup: int,
    active: int,
    repeat: int = 0,
    skip_first: int = 0,
    skip_first_wait: int = 0,
) -> Callable[[int], ProfilerAction]:
    """Cycles of ``wait``, ``warmup`` and ``active`` steps, ``repeat`` of them (0: without end).

    ``skip_first`` steps come before; with ``skip_first_wait`` the first cycle does not wait.
    """
    if min(wait, warmup, repeat, skip_first) < 0 or active <= 0:
        raise AssertionError(
            f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), "
            f"warmup={warmup} (need >= 0), active={active} (need > 0), repeat={repeat} "
            f"(need >= 0), skip_first={skip_first} (need >= 0)."
        )
    if warmup == 0:
        warnings.warn(
            "Profiler won't be using warmup, this can skew profiler results", stacklevel=2
        )

    def action(step: int) -> ProfilerAction:
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        step -= skip_first
        if step < 0:
            return ProfilerAction.NONE
        step += wait if skip_first_wait else 0
        cycle, at = divmod(step, wait + warmup + active)
        if repeat and cycle >= repeat:
            return ProfilerAction.NONE
        if at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        last = at == wait + warmup + active - 1
        return ProfilerAction.RECORD_AND_SAVE if last else ProfilerAction.RECORD

    return action


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[Any], None]:
    """An ``on_trace_ready`` that writes each trace to a file of its own in a folder."""
    if use_gzip:
        raise NotImplementedError("torch.profiler.tensorboard_trace_handler(use_gzip=True)")

    def handler(prof: Any) -> None:
        os.makedirs(dir_name, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        prof.export_chrome_trace(os.path.join(dir_name, f"{worker}.{time.time_ns()}.pt.trace.json"))

    return handler


_RECORDING = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


class profile:
    """A block whose operations are recorded, all of it or the steps that ``schedule`` says.

    ``step()`` begins the next step. ``on_trace_ready(profile)`` is called when a trace is whole:
    after a step of RECORD_AND_SAVE, and at the end. ``events`` and ``key_averages`` are those of
    the last trace.

    Raises NotImplementedError for memory, stacks, flops and modules, which are not recorded.
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[profile], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
        use_cuda: bool | None = None,
        custom_trace_id_callback: Any = None,
        **other: Any,
    ) -> None:
        profiler.refuse(
            profile_memory=profile_memory, with_stack=with_stack, with_flops=with_flops,
            with_modules=with_modules, execution_trace_observer=execution_trace_observer,
            acc_events=acc_events,
        )  # fmt: skip
        self.activities = supported_activities() if activities is None else set(activities)
        if not self.activities:
            raise AssertionError("No valid profiler activities found")
        self.schedule = schedule or (lambda step: ProfilerAction.RECORD)
        self.record_steps = schedule is not None
        self.on_trace_ready = on_trace_ready
        self.record_shapes = record_shapes
        self.step_num = 0
        self.current_action = self.schedule(0)
        self._metadata: dict[str, Any] = {}
        self._recorder: profiler.Recorder | None = None
        self._step: Any = None
        self._found: EventList | None = None

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begin the first step."""
        self._act()

    def step(self) -> None:
        """End this step and begin the next."""
        before = self.current_action
        self._end_step()
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        if before is ProfilerAction.RECORD_AND_SAVE:
            self._finish()
        elif self.current_action not in _RECORDING:
            self._close()
        self._act()

    def stop(self) -> None:
        """End the last step; what has been recorded is a trace."""
        self._end_step()
        if self._recorder is not None:
            self._finish()

    def _act(self) -> None:
        if self.current_action in _RECORDING and self._recorder is None:
            self._recorder = profiler.Recorder(self.record_shapes)
            profiler.start(self._recorder)
        if self.record_steps:
            self._step = profiler.record_function("ProfilerStep*")
            self._step.trace_name = f"ProfilerStep#{self.step_num}"
            self._step.__enter__()

    def _end_step(self) -> None:
        if self._step is not None:
            self._step.__exit__(None, None, None)
            self._step = None

    def _close(self) -> None:
        if self._recorder is not None:
            self._found = profiler.stop(self._recorder)
            self._recorder = None

    def _finish(self) -> None:
        self._close()
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def events(self) -> EventList:
        """The events of the last trace. Raises AssertionError before there is one."""
        if self._found is None:
            raise AssertionError("Profiler must be initialized before accessing events")
        return self._found

    def key_averages(
        self,
        group_by_input_shape: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> EventList:
        """The events of the last trace, added up by name and, if asked, by input shapes."""
        if self._found is None:
            raise AssertionError("Profiler must be initialized before getting key averages")
        return self._found.key_averages(
            group_by_input_shape, group_by_stack_n, group_by_overload_name
        )

    def add_metadata(self, key: str, value: str) -> None:
        """A string to be written into the trace."""
        self._metadata[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """A value, given as JSON, to be written into the trace."""
        self._metadata[key] = json.loads(value)

    def export_chrome_trace(self, path: str) -> None:
        """Write the last trace as JSON, for ``chrome://tracing``."""
        shapes = {"record_shapes": 1} if self.record_shapes else {}
        self.events().export_chrome_trace(path, {**shapes, **self._metadata})
