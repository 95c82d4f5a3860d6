"""``torch.utils.benchmark``: times that are given, or read off a clock that the test moves."""

from __future__ import annotations

import contextlib
import importlib
import io
import re
from typing import Any

import pytest

import torchlike
from compat_tests.scenarios import Cases, error
from torchlike.utils import benchmark

CASES = Cases("benchmark")


def benchmark_of(torch: Any) -> Any:
    """The module, which a program imports by this name."""
    return importlib.import_module(f"{torch.__name__}.utils.benchmark")


def shown(value: Any) -> str:
    """A repr without the object's class and address."""
    return re.sub(r"<\S+ object at 0x\w+>", "<object>", repr(value))


def measured(b: Any, times: list[float], runs: int = 1, **task: Any) -> Any:
    """A measurement of known times of one run each."""
    spec = b.TaskSpec(**{"stmt": "x + y", "setup": "pass", **task})
    return b.Measurement(runs, [t * runs for t in times], spec)


def grid(b: Any) -> list[Any]:
    """Measurements of two columns and eight rows, one cell empty, steady and unsteady."""
    found = []
    for i, (env, threads) in enumerate([("one", 1), ("one", 2), ("another", 1), ("one", 16)]):
        for j, column in enumerate(["now", "before the change"]):
            for k, row in enumerate(["small", "a longer name"]):
                if (i, j, k) == (1, 1, 1):
                    continue
                base = [3.3e-6, 4.2e-4][k] * [1, 1.5][j] * [1, 6, 1.02, 1.3][i]
                scatter = [1e-4, 8e-3, 2e-1, 1e-3][i]
                times = [base * (1 + scatter * n * n) for n in range(9)]
                task = {"label": "sums", "sub_label": row, "description": column, "env": env}
                found.append(measured(b, times, 10, num_threads=threads, **task))
    return found


@CASES.add
def units_and_figures(torch: Any) -> Any:
    b = benchmark_of(torch)
    times = [1e-10, 1e-9, 5e-7, 9.9999e-7, 1e-6, 1e-3, 0.5, 1.0, 3e4]
    return [
        [b.select_unit(t) for t in times],
        [error(lambda t=t: b.select_unit(t)) for t in (0.0, -1.0)],
        [b.unit_to_english(u) for u in ("ns", "us", "ms", "s")],
        [b.trim_sigfig(x, n) for x, n in ((3.14159, 2), (-3.14159, 3), (100.0, 2), (12345, 2))],
        error(lambda: b.trim_sigfig(1.0, 2.5)),
        b.ordered_unique([3, 1, 3, 2, 1]),
    ]


@CASES.add
def titles_of_tasks(torch: Any) -> Any:
    b = benchmark_of(torch)
    lines, setup = "x = 1\ny = 2", "a = 1\nb = 2"
    tasks = [
        b.TaskSpec("x", "pass"),
        b.TaskSpec("x", "y = 1", sub_label="small"),
        b.TaskSpec(lines, setup, sub_label="small", description="now"),
        b.TaskSpec(lines, "", label="sums", sub_label="small", description="now"),
        b.TaskSpec(lines, "", num_threads=4, env="here"),
    ]
    again = b.TaskSpec("x", "pass")
    return [
        [[t.title, t.setup_str(), t.summarize()] for t in tasks],
        [tasks[0] == again, hash(tasks[0]) == hash(again), tasks[0] == tasks[1]],
    ]


@CASES.add
def what_a_measurement_says(torch: Any) -> Any:
    b = benchmark_of(torch)
    found = [
        measured(b, [5e-6]),
        measured(b, [5e-6, 6e-6, 7e-6], 100, num_threads=2),
        measured(b, [1e-3, 1.01e-3, 1.02e-3, 1.03e-3, 1.2e-3], 7, label="sums", description="d"),
        measured(b, [1.0, 1.2, 0.9, 1.3, 1.1], setup="a = 1\nb = 2"),
        measured(b, [1e-9, 2e-9, 5e-9, 9e-9, 20e-9], 1000, stmt="a\nb", sub_label="s"),
    ]
    return [
        [
            shown(m), m.times, m.median, m.mean, m.iqr, m.significant_figures, m.has_warnings,
            m.meets_confidence(), m.meets_confidence(0.5), m.title, m.as_row_name, m.env,
            m.stmt, m.label, m.num_threads, m.metadata,
        ]
        for m in found
    ]  # fmt: skip


@CASES.add
def reliable_figures(torch: Any) -> Any:
    b = benchmark_of(torch)
    scatters = (0.0, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
    return [
        measured(b, [t * (1 + s * n) for n in range(count)]).significant_figures
        for s in scatters for t in (1e-7, 1e-3) for count in (1, 2, 5, 20)
    ]  # fmt: skip


@CASES.add
def merging(torch: Any) -> Any:
    b = benchmark_of(torch)
    one, two = measured(b, [1.0, 2.0], 10), measured(b, [3.0], 5)
    other = measured(b, [4.0], label="other")
    merged = b.Measurement.merge([one, other, two])
    return [
        [[m.number_per_run, m.raw_times, m.label] for m in merged],
        one == measured(b, [1.0, 2.0], 10), one == two, error(lambda: one.nothing),
    ]  # fmt: skip


@CASES.add
def tables(torch: Any) -> Any:
    b = benchmark_of(torch)
    found = []
    for color in (None, False, True):
        for trim in (False, True):
            for warn in (False, True):
                table = b.Compare(grid(b))
                if color is not None:
                    table.colorize(rowwise=color)
                if trim:
                    table.trim_significant_figures()
                if warn:
                    table.highlight_warnings()
                found.append(str(table))
    return found


@CASES.add
def further_tables(torch: Any) -> Any:
    b = benchmark_of(torch)
    table = b.Compare([measured(b, [5e-3], description="now", stmt="f(x)")])
    table.extend_results([measured(b, [2.0, 2.0], label="others", description="now")])
    table.extend_results([measured(b, [3.0], label="others", description="later", env="there")])
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        b.Compare([measured(b, [1e-7], description="", label="one")]).print()
        b.Compare([]).print()
    return [
        error(lambda: str(table)), str(b.Compare([measured(b, [5e-3], description="now")])),
        printed.getvalue(), error(lambda: b.Compare([3])),
    ]  # fmt: skip


class Clock:
    """Moves by what a statement says it takes."""

    def __init__(self) -> None:
        self.now = 0.0

    def take(self, seconds: float) -> None:
        self.now += seconds

    def timer(self, b: Any, stmt: str, **options: Any) -> Any:
        return b.Timer(stmt, timer=lambda: self.now, globals={"clock": self}, **options)


@CASES.add
def timers(torch: Any) -> Any:
    b, calls = benchmark_of(torch), []
    clock = Clock()
    timer = clock.timer(b, "clock.take(2.0 ** -10)", label="steps", num_threads=1)
    once = timer.timeit(16)
    start = clock.now
    long = timer.blocked_autorange(lambda *told: calls.append(told), min_run_time=0.1)
    slow = clock.timer(b, "clock.take(1.0)").adaptive_autorange(max_run_time=2.0)
    steady = clock.timer(b, "clock.take(1.0)").adaptive_autorange()
    return [
        shown(once), once.raw_times, long.number_per_run, long.raw_times, calls, start,
        slow.raw_times, steady.raw_times, steady.number_per_run,
    ]  # fmt: skip


@CASES.add
def code_of_timers(torch: Any) -> Any:
    b = benchmark_of(torch)
    code = "\n    y = x + 1\n    z = y\n\n"
    tidy = b.Timer(code, "\n      x = 2\n      ", sub_label="s").timeit(1).task_spec
    seen: list[Any] = []
    b.Timer("keep(torch.ones(2))", globals={"keep": seen.append}).timeit(1)
    return [
        tidy.stmt, tidy.setup, tidy.title, tidy.global_setup, seen[0],
        error(lambda: b.Timer(lambda: 3)), error(lambda: b.Timer("1", language="pascal")),
        error(lambda: b.Timer("1", global_setup="x")), error(lambda: b.Timer("1").repeat()),
        error(lambda: b.Timer("1").autorange()), error(lambda: b.Timer("x").timeit(1)),
        error(lambda: b.Timer("1", num_threads=0).timeit(1)),
        b.Timer("1", language="py").timeit(3).number_per_run, b.Language(1).name,
    ]  # fmt: skip


test_scenario = CASES.test()


def test_threads_are_set_while_a_statement_runs() -> None:
    before, seen = torchlike.get_num_threads(), []
    names = {"keep": seen.append}
    benchmark.Timer("keep(torch.get_num_threads())", globals=names, num_threads=3).timeit(1)
    assert set(seen) == {3} and torchlike.get_num_threads() == before
    with pytest.raises(ZeroDivisionError), benchmark.set_torch_threads(2):
        1 / 0
    assert torchlike.get_num_threads() == before


def test_what_is_refused_by_name() -> None:
    with pytest.raises(NotImplementedError, match="needs valgrind and PyTorch"):
        benchmark.Timer("1").collect_callgrind()
    with pytest.raises(NotImplementedError, match=r"of C\+\+ code"):
        benchmark.Timer("1", language="c++")


def test_the_clock_runs() -> None:
    found = benchmark.Timer("sum(range(100))").blocked_autorange(min_run_time=1e-3)
    assert 1e-8 < found.median < 1e-3 and sum(found.raw_times) >= 1e-3
