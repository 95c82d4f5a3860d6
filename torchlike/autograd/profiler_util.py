"""What a profile holds: events with their times, averages by name, and the table of them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any, NamedTuple

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "Interval"]

_GAP = "  "
_WIDTH = 12
_UNITS = {"s": 1e6, "ms": 1e3, "us": 1.0}
_MARGIN = 4  # beside the longest name


def _time(us: float, unit: str | None = None) -> str:
    """A time in microseconds as people read it."""
    if unit is None:
        unit = next((u for u in ("s", "ms") if us >= _UNITS[u]), "us")
    return f"{us / _UNITS[unit]:.3f}{unit}"


class Interval(NamedTuple):
    """Beginning and end, in microseconds."""

    start: float
    end: float

    def elapsed_us(self) -> float:
        """The length."""
        return self.end - self.start


class _Timed:
    """The times of an event or of several: total, and without what ran inside (``self_``)."""

    count = 1
    cpu_time_total: float
    self_cpu_time_total: float
    # A CPU is all there is: these are what PyTorch's programs may ask for all the same.
    device_time = device_time_total = self_device_time_total = 0.0
    cpu_memory_usage = self_cpu_memory_usage = device_memory_usage = self_device_memory_usage = 0
    flops = 0
    node_id, is_async, is_remote, is_legacy, use_device = -1, False, False, False, None

    @property
    def cpu_time(self) -> float:
        """The mean of the total time."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def cpu_time_str(self) -> str:
        """``cpu_time`` with its unit."""
        return _time(self.cpu_time)

    @property
    def cpu_time_total_str(self) -> str:
        """``cpu_time_total`` with its unit."""
        return _time(self.cpu_time_total)

    @property
    def self_cpu_time_total_str(self) -> str:
        """``self_cpu_time_total`` with its unit."""
        return _time(self.self_cpu_time_total)


class FunctionEvent(_Timed):
    """One call, or one block of ``record_function``; ``cpu_children`` ran inside it.

    Times are in microseconds; ``trace_name`` is the name in traces, if another.
    """

    def __init__(
        self,
        id: int,
        name: str,
        thread: int,
        start_us: float,
        end_us: float,
        *,
        input_shapes: Any = None,
        stack: Any = None,
        trace_name: str | None = None,
        is_user_annotation: bool = False,
    ) -> None:
        self.id, self.name, self.thread = id, name, thread
        self.trace_name = name if trace_name is None else trace_name
        self.time_range = Interval(start_us, end_us)
        self.input_shapes, self.stack = input_shapes, stack
        self.is_user_annotation = is_user_annotation
        self.cpu_parent: FunctionEvent | None = None
        self.cpu_children: list[FunctionEvent] = []

    def append_cpu_child(self, child: FunctionEvent) -> None:
        """Note an event that ran inside this one."""
        self.cpu_children.append(child)

    def set_cpu_parent(self, parent: FunctionEvent | None) -> None:
        """Note the event inside which this one ran."""
        self.cpu_parent = parent

    @property
    def key(self) -> str:
        """The name."""
        return self.name

    @property
    def cpu_time_total(self) -> float:  # type: ignore[override]
        """Microseconds from beginning to end."""
        return self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self) -> float:  # type: ignore[override]
        """Microseconds outside of the events inside."""
        return self.cpu_time_total - sum(c.cpu_time_total for c in self.cpu_children)

    def __repr__(self) -> str:
        return (
            f"<FunctionEvent id={self.id} name={self.name} overload_name= "
            f"device_type=DeviceType.CPU node_id=-1 cpu_time={self.cpu_time_str} "
            f"start_us={self.time_range.start:.3f} end_us={self.time_range.end:.3f} "
            f"cpu_children={[c.id for c in self.cpu_children]} None_time=0.000us "
            f"name={self.name} thread={self.thread} input_shapes={self.input_shapes} "
            "cpu_memory_usage=0 None_memory_usage=0 is_async=False is_remote=False seq_nr=-1 "
            "is_legacy=False>"
        )


class FunctionEventAvg(_Timed):
    """Events of one name, added up."""

    def __init__(self) -> None:
        self.key: str | None = None
        self.count = 0
        self.cpu_time_total = self.self_cpu_time_total = 0
        self.input_shapes: Any = None
        self.cpu_parent: Any = None
        self.cpu_children: Any = None
        self.is_user_annotation = False

    def add(self, other: Any) -> FunctionEventAvg:
        """Add an event, or the sum of others."""
        if self.key is None:
            self.key, self.input_shapes = other.key, other.input_shapes
            self.cpu_parent, self.cpu_children = other.cpu_parent, other.cpu_children
            self.is_user_annotation = other.is_user_annotation
        self.cpu_time_total += other.cpu_time_total
        self.self_cpu_time_total += other.self_cpu_time_total
        self.count += other.count
        return self

    __iadd__ = add

    def __repr__(self) -> str:
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
            f"cpu_time={self.cpu_time_str}  self_cuda_time=0.000us cuda_time=0.000us "
            f"input_shapes={self.input_shapes} cpu_memory_usage=0 cuda_memory_usage=0>"
        )


class EventList(list[Any]):
    """Events or averages, printed as a table."""

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds of all events."""
        return sum(event.self_cpu_time_total for event in self)

    def total_average(self) -> FunctionEventAvg:
        """All events added up, under the name ``Total``."""
        total = FunctionEventAvg()
        for event in self:
            total.add(event)
            total.key = None
        total.key = "Total"
        return total

    def key_averages(
        self,
        group_by_input_shapes: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> EventList:
        """Events of one name (and, if asked, of one list of input shapes) added up."""
        if group_by_stack_n or group_by_overload_name:
            raise NotImplementedError("key_averages by stack or by overload")
        groups: dict[Any, FunctionEventAvg] = {}
        for event in self:
            key = (event.key, str(event.input_shapes) if group_by_input_shapes else "")
            group = groups.setdefault(key, FunctionEventAvg())
            group.add(event)
            if not group_by_input_shapes:
                group.input_shapes = ""
        return EventList(groups.values())

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """The events as text, the largest ``sort_by`` first; -1 as ``row_limit`` means all."""
        if not self:
            return ""
        events: list[Any] = list(self)
        if sort_by is not None:
            events.sort(key=lambda e: getattr(e, _without_cuda(sort_by)), reverse=True)
        total = self.self_cpu_time_total
        shown = [e for e in events if not (top_level_events_only and e.cpu_parent is not None)]
        rows = [_row(e, total, time_unit) for e in (shown if row_limit < 0 else shown[:row_limit])]
        for row in rows:
            row[0] = _shortened(row[0], max_name_column_width)
        names = ["Name", *_COLUMNS]
        widths = [_width((e.key for e in self), max_name_column_width)] + [_WIDTH] * len(_COLUMNS)
        widths[1:] = [max(_WIDTH, len(_time(total, time_unit)))] * len(_COLUMNS)
        if any(e.input_shapes for e in self):
            names.append("Input Shapes")
            widths.append(_width((str(e.input_shapes) for e in self), max_shapes_column_width))
            for row, e in zip(rows, shown):
                row.append(str(e.input_shapes)[: widths[-1]])
        return _laid_out(names, rows, widths, header, top_level_events_only) + (
            f"Self CPU time total: {_time(total, time_unit)}\n"
        )

    def __str__(self) -> str:
        return self.table()

    def export_chrome_trace(self, path: str, metadata: Any = None) -> None:
        """Write the events as JSON, for ``chrome://tracing``."""
        events = [_trace_event(e) for e in self]
        known = {"schemaVersion": 1, "displayTimeUnit": "ms", **(metadata or {})}
        with open(path, "w", encoding="utf-8") as file:
            json.dump({**known, "traceEvents": events, "traceName": str(path)}, file)


_COLUMNS = (
    "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "# of Calls",
)  # fmt: skip


def _without_cuda(name: str) -> str:
    return name.replace("cuda", "device")


def _row(event: Any, total: float, unit: str | None) -> list[str]:
    def share(us: float) -> str:
        return f"{us * 100 / total:.2f}%" if total else "NaN"

    return [
        event.key,
        share(event.self_cpu_time_total),
        _time(event.self_cpu_time_total, unit),
        share(event.cpu_time_total),
        _time(event.cpu_time_total, unit),
        _time(event.cpu_time, unit),
        str(event.count),
    ]


def _width(texts: Iterable[str], most: int) -> int:
    return min(max(map(len, texts)) + _MARGIN, most)


def _shortened(text: str, width: int) -> str:
    room = width - 3  # PyTorch cuts a name that just fits, too
    return text if len(text) < room else text[:room] + "..."


def _laid_out(
    names: list[str], rows: list[list[str]], widths: list[int], header: str | None, top: bool
) -> str:
    def line(cells: list[str]) -> str:
        return "".join(c.rjust(w) + _GAP for c, w in zip(cells, widths))

    rule = "".join("-" * w + _GAP for w in widths)
    lines = [rule, line(names), rule, *map(line, rows), rule]
    bar = "=" * (len(rule) - len(_GAP))
    if top:
        lines[:0] = [bar, "This report only display top-level ops statistics"]
    if header is not None:
        lines[:0] = [bar, header] if top else [bar, header, bar]
    return "\n".join([*lines, ""])


def _trace_event(event: FunctionEvent) -> dict[str, Any]:
    found: dict[str, Any] = {
        "ph": "X",
        "cat": "user_annotation" if event.is_user_annotation else "cpu_op",
        "name": event.trace_name,
        "pid": os.getpid(),
        "tid": event.thread,
        "ts": event.time_range.start,
        "dur": event.time_range.elapsed_us(),
    }
    if event.input_shapes:
        found["args"] = {"Input Dims": event.input_shapes}
    return found
