"""What a measurement is: the task, its times, and how numbers are written for people."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

__all__ = [
    "Measurement",
    "TaskSpec",
    "ordered_unique",
    "select_unit",
    "set_torch_threads",
    "trim_sigfig",
    "unit_to_english",
]

_UNITS = {"ns": (1e-9, "nano"), "us": (1e-6, "micro"), "ms": (1e-3, "milli"), "s": (1, "")}
_BY_THOUSANDS = {-3: "ns", -2: "us", -1: "ms"}
_UNSTEADY, _VERY_UNSTEADY = 0.1, 0.25  # spread of the middle half, as a part of the median
_RESOLUTION = 25e-9  # no interval of confidence is narrower
_Z = 1.645  # of a normal distribution's 90 %
_MOST_FIGURES = 4


def log10(x: float) -> float:
    """The logarithm as float32 has it, so that powers of ten fall on whole numbers."""
    with np.errstate(all="ignore"):
        return float(np.float32(np.log10(np.float64(np.float32(x)))))


def select_unit(t: float) -> tuple[str, float]:
    """The unit in which a time in seconds has few digits, and that unit in seconds."""
    unit = _BY_THOUSANDS.get(int(log10(t) // 3), "s")
    return unit, _UNITS[unit][0]


def unit_to_english(u: str) -> str:
    """``"microsecond"`` for ``"us"``."""
    return _UNITS[u][1] + "second"


def trim_sigfig(x: float, n: int) -> float:
    """``x`` with ``n`` significant figures, in float32: 3.14159 with 2 is 3.1."""
    if n != int(n):
        raise AssertionError("Number of significant figures must be an integer")
    scale = 10 ** (math.ceil(log10(abs(x))) - n)
    return float(np.rint(np.float32(x / scale)) * np.float32(scale))


def ordered_unique(elements: Iterable[Any]) -> list[Any]:
    """The elements without repetition, in the order in which they first appear."""
    return list(dict.fromkeys(elements))


@contextlib.contextmanager
def set_torch_threads(n: int) -> Iterator[None]:
    """Let kernels share their work among ``n`` threads inside the block."""
    import torchlike

    before = torchlike.get_num_threads()
    torchlike.set_num_threads(n)
    try:
        yield
    finally:
        torchlike.set_num_threads(before)


@dataclasses.dataclass(repr=False, frozen=True)
class TaskSpec:
    """What was timed: a Timer's arguments, all but its globals."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label, or else the statement, with the sub-label."""
        name = self.stmt if self.label is None else self.label
        if self.label is None and "\n" in self.stmt:
            note = f" ({self.sub_label})" if self.sub_label else ""
            return f"stmt:{note}\n" + textwrap.indent(self.stmt, "  ")
        return f"{name}: {self.sub_label}" if self.sub_label else name

    def setup_str(self) -> str:
        """The setup code with a heading; empty if there is none."""
        if self.setup in ("", "pass"):
            return ""
        if "\n" in self.setup:
            return "setup:\n" + textwrap.indent(self.setup, "  ")
        return f"setup: {self.setup}"

    def summarize(self) -> str:
        """Title, description and setup: the head of a measurement's repr."""
        parts = [p for p in (self.title, self.description, self.setup_str()) if p]
        return "\n".join(p + "\n" if "\n" in p else p for p in parts)


_TASK_FIELDS = frozenset(field.name for field in dataclasses.fields(TaskSpec))


@dataclasses.dataclass(frozen=True)
class _Statistics:
    """Of the times of one run, in seconds."""

    sorted: tuple[float, ...] = ()
    median: float = -1.0
    mean: float = -1.0
    low: float = -1.0  # a quarter of the times lies below
    high: float = -1.0

    @staticmethod
    def of(times: list[float]) -> _Statistics:
        if not times:
            return _Statistics()
        x = np.sort(np.asarray(times, np.float64))
        quartiles = [float(np.quantile(x, q)) for q in (0.5, 0.25, 0.75)]
        return _Statistics(tuple(x.tolist()), quartiles[0], float(x.mean()), *quartiles[1:])

    @property
    def spread(self) -> float:
        return self.high - self.low

    def warnings(self) -> list[str]:
        """What is to be said about times that scatter."""
        if not self.sorted or self.spread / self.median < _UNSTEADY:
            return []
        steady = self.spread / self.median < _VERY_UNSTEADY
        advice = (
            "This could indicate system fluctuation."
            if steady
            else "This suggests significant environmental influence."
        )
        share = self.spread / self.median * 100
        return [
            f"  WARNING: Interquartile range is {share:.1f}% of the median measurement.",
            "           " + advice,
        ]


@dataclasses.dataclass(repr=False)
class Measurement:
    """The times of a statement: ``raw_times`` holds those of ``number_per_run`` runs each.

    The fields of its task can be read here as well (``m.label``).
    """

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = None  # for the user's own use

    def __getattr__(self, name: str) -> Any:
        if name in _TASK_FIELDS:
            return getattr(self.task_spec, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    @property
    def _statistics(self) -> _Statistics:
        found = vars(self).get("_known")
        if found is None or not found.sorted:  # times may have come since
            found = vars(self)["_known"] = _Statistics.of(self.times)
        return found

    @property
    def times(self) -> list[float]:
        """Seconds per run."""
        return [t / self.number_per_run for t in self.raw_times]

    @property
    def median(self) -> float:
        """The median of ``times``."""
        return self._statistics.median

    @property
    def mean(self) -> float:
        """The mean of ``times``."""
        return self._statistics.mean

    @property
    def iqr(self) -> float:
        """The range that the middle half of ``times`` takes."""
        return self._statistics.spread

    @property
    def significant_figures(self) -> int:
        """How many figures of the median can be relied on, one to four, by a rough estimate.

        It goes by the scatter of the middle half of the times.
        """
        known = self._statistics
        n = len(known.sorted)
        middle = np.asarray(known.sorted[n // 4 : math.ceil(3 * n / 4)])
        interval = max(_Z * float(middle.std()) / math.sqrt(len(middle)), _RESOLUTION)
        return min(max(math.floor(log10(known.median / interval)), 1), _MOST_FIGURES)

    @property
    def has_warnings(self) -> bool:
        """Whether the times scatter so much that the repr warns of it."""
        return bool(self._statistics.warnings())

    def meets_confidence(self, threshold: float = _UNSTEADY) -> bool:
        """Whether ``iqr`` is less than this part of the median."""
        return self.iqr / self.median < threshold

    @property
    def title(self) -> str:
        """The task's title."""
        return self.task_spec.title

    @property
    def as_row_name(self) -> str:
        """What ``Compare`` calls the row of this measurement."""
        return self.sub_label or self.stmt or "[Unknown]"

    def __repr__(self) -> str:
        known = self._statistics
        unit, scale = select_unit(known.median)
        n = len(known.sorted)
        several = n > 1
        lines = [
            object.__repr__(self),
            self.task_spec.summarize(),
            f"  {'Median: ' if several else ''}{known.median / scale:.2f} {unit}",
        ]
        if n >= 4:
            low, high = known.low / scale, known.high / scale
            lines.append(f"  IQR:    {self.iqr / scale:.2f} {unit} ({low:.2f} to {high:.2f})")
        lines.append(
            f"  {n} measurement{'s' if several else ''}, {self.number_per_run} runs "
            f"{'per measurement,' if several else ','} "
            f"{self.num_threads} thread{'s' if self.num_threads > 1 else ''}"
        )
        return "\n".join([*lines, *known.warnings()])

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """One measurement per task, of all its times, each of one run; without metadata."""
        times: dict[TaskSpec, list[float]] = {}
        for m in measurements:
            times.setdefault(m.task_spec, []).extend(m.times)
        return [Measurement(1, found, task) for task, found in times.items()]
