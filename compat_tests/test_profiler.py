"""``torch.profiler``: what is recorded, the schedule of steps, and the table of given times."""

from __future__ import annotations

import importlib
import json
import threading
import warnings
from pathlib import Path
from typing import Any

import pytest

import torchlike as torch
from compat_tests.scenarios import Cases, error
from functional import modes
from functional.tape import engine
from torchlike.autograd import profiler as autograd_profiler
from torchlike.profiler import (
    ProfilerActivity,
    profile,
    record_function,
    schedule,
    tensorboard_trace_handler,
)

CASES = Cases("profiler")


def profiler_of(library: Any) -> Any:
    """The module, which a program imports by this name."""
    return importlib.import_module(f"{library.__name__}.profiler")


def given(library: Any) -> Any:
    """Events of known times: ``mm`` inside of ``linear``, and another one alone."""
    util = importlib.import_module(f"{library.__name__}.autograd.profiler_util")
    known = [
        ("aten::linear", 0, 1000, [[2, 3], [4, 3]]),
        ("aten::mm", 100, 600.5, [[2, 3], [3, 4]]),
        ("aten::mm", 2000, 2000200, [[5, 3], [3, 4]]),
        ("a block with a name which is longer than any column may be", 3000, 3001.25, []),
    ]
    events = [
        util.FunctionEvent(i, name, 1, start, end, input_shapes=shapes, stack=[])
        for i, (name, start, end, shapes) in enumerate(known)
    ]
    events[0].append_cpu_child(events[1])
    events[1].set_cpu_parent(events[0])
    found = util.EventList(events)
    found._tree_built = True  # PyTorch's would look for children by itself
    return found


@CASES.add
def tables(library: Any) -> Any:
    events = given(library)
    averages, by_shape = events.key_averages(), events.key_averages(True)
    return [
        averages.table(), by_shape.table(), str(averages), events.table(),
        averages.table(sort_by="self_cpu_time_total", row_limit=1),
        averages.table(sort_by="count", row_limit=-1), averages.table(sort_by="cpu_time"),
        averages.table(header="A HEADER", top_level_events_only=True),
        events.table(top_level_events_only=True, row_limit=2),
        averages.table(max_name_column_width=9, time_unit="ms"),
        by_shape.table(max_shapes_column_width=10), events[:0] == [],
    ]  # fmt: skip


@CASES.add
def numbers(library: Any) -> Any:
    events = given(library)
    averages = events.key_averages()
    fields = "key count cpu_time cpu_time_total self_cpu_time_total cpu_time_str".split()
    return [
        [[getattr(e, f) for f in fields] for e in (*events, *averages)],
        [repr(e) for e in averages], [repr(e) for e in events.key_averages(True)],
        events.self_cpu_time_total, averages.self_cpu_time_total,
        [getattr(events.total_average(), f) for f in fields],
        events[0].time_range.elapsed_us(), events[2].cpu_time_total_str,
    ]  # fmt: skip


@CASES.add
def schedules(library: Any) -> Any:
    p = profiler_of(library)
    plans = [
        {"wait": 1, "warmup": 1, "active": 2, "repeat": 2},
        {"wait": 1, "warmup": 1, "active": 1, "skip_first": 2},
        {"wait": 2, "warmup": 1, "active": 1, "skip_first": 1, "skip_first_wait": 1, "repeat": 2},
        {"wait": 0, "warmup": 1, "active": 3},
    ]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        p.schedule(wait=1, warmup=0, active=1)
    return [
        [[p.schedule(**plan)(i).name for i in range(14)] for plan in plans],
        error(lambda: p.schedule(wait=-1, warmup=1, active=1)),
        error(lambda: p.schedule(wait=1, warmup=1, active=0)),
        error(lambda: p.schedule(**plans[0])(-1)), [str(w.message) for w in told],
        [[a.name, int(a.value)] for a in p.ProfilerAction][:4],
        [[n, int(a.value)] for n, a in p.ProfilerActivity.__members__.items()],
        [a.name for a in p.supported_activities() if a.name == "CPU"],
    ]  # fmt: skip


@CASES.add
def steps(library: Any) -> Any:
    p, found = profiler_of(library), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for count in (9, 3, 1):
            plan = p.schedule(wait=1, warmup=1, active=2, repeat=2)
            ready: list[Any] = []

            def keep(prof: Any, ready: Any = ready) -> None:
                names = [e.name for e in prof.events()]
                ready.append([prof.step_num, names.count("ProfilerStep*"), "aten::add" in names])

            with p.profile(
                activities=[p.ProfilerActivity.CPU], schedule=plan, on_trace_ready=keep
            ) as prof:
                for _ in range(count):
                    library.ones(3).add(1)
                    prof.step()
            found.append(ready)
    return found


@CASES.add
def before_and_after(library: Any) -> Any:
    p = profiler_of(library)
    old = importlib.import_module(f"{library.__name__}.autograd.profiler")
    cpu = [p.ProfilerActivity.CPU]
    ready: list[Any] = []
    with p.profile(activities=cpu, on_trace_ready=lambda x: ready.append(x.step_num)) as empty:
        pass
    with old.profile() as nothing:
        pass
    with old.profile(enabled=False) as off:
        pass
    return [
        error(lambda: p.profile(activities=cpu).events()), error(lambda: p.profile(activities=[])),
        error(lambda: p.profile(activities=cpu).key_averages()), ready,
        empty.key_averages().table(), repr(nothing), str(nothing), off, repr(old.profile()),
    ]  # fmt: skip


@CASES.add
def calls(library: Any) -> Any:
    """Operations that no call of another encloses, with how often they were called."""
    p = profiler_of(library)
    x, y = library.ones(2, 3), library.ones(2, 3)
    with p.profile(activities=[p.ProfilerActivity.CPU], record_shapes=True) as prof:
        with p.record_function("outer"):
            z = x + y
            with p.record_function("inner"):
                z = (x * y).tanh()
        z = library.add(z, y).exp()
        z.add_(x)
        library.relu(z) - x
        library.mm(x, y.t())
        x.dim(), x.size(), x.shape
    top = [e for e in prof.events() if e.cpu_parent is None]
    outer = prof.events()[0]
    inner = next(e for e in outer.cpu_children if e.name == "inner")
    shapes = {e.name: e.input_shapes for e in top if e.name in ("aten::exp", "aten::mm")}
    return [
        [e.name for e in top], [e.name for e in outer.cpu_children],
        [e.name for e in inner.cpu_children], shapes, outer.count,
        [e.count for e in prof.key_averages() if e.key in ("aten::add", "outer")],
    ]  # fmt: skip


test_scenario = CASES.test()


def cpu(**options: Any) -> profile:
    return profile(activities=[ProfilerActivity.CPU], **options)


def test_times_nest() -> None:
    with cpu() as prof, record_function("outer"):
        torch.ones(50).sum()
    outer, ones, total = prof.events()
    assert [outer.name, ones.name, total.name] == ["outer", "aten::ones", "aten::sum"]
    assert outer.time_range.start <= ones.time_range.start <= ones.time_range.end
    assert ones.time_range.end <= total.time_range.start <= outer.time_range.end
    inside = ones.cpu_time_total + total.cpu_time_total
    assert outer.self_cpu_time_total == outer.cpu_time_total - inside > 0


def test_a_backward_pass_is_an_event() -> None:
    x = torch.ones(3, requires_grad=True)
    with cpu() as prof:
        (x * 2).sum().backward()
    names = [e.name for e in prof.events()]
    assert names[:2] == ["aten::mul", "aten::sum"] and names[-1] == "autograd::backward"
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


def test_layers_are_seen_through() -> None:
    torch.manual_seed(0)
    layer = torch.nn.Linear(3, 2)
    with cpu() as prof:
        seen = layer(torch.ones(4, 3))
    names = [e.name for e in prof.events()]
    assert "aten::addmm" in names and seen.shape == (4, 2)


def test_decorator_and_legacy_profile() -> None:
    @record_function("step")
    def step(x: Any) -> Any:
        return x + 1

    with autograd_profiler.profile() as prof:
        assert step(torch.ones(2)).tolist() == [2.0, 2.0]
    events = prof.function_events
    assert events is not None and [e.name for e in events] == ["aten::ones", "step", "aten::add"]
    assert "aten::add" in prof.table() and prof.total_average().count == 3


def test_nothing_is_left_behind() -> None:
    run, plain = engine.run, set(modes.PLAIN)
    with pytest.raises(ZeroDivisionError), cpu(), record_function("a"):
        torch.ones(1)
        1 / 0
    assert engine.run is run and set(modes.PLAIN) == plain
    with record_function("outside"):
        assert (torch.ones(1) + 1).item() == 2


def test_other_threads_are_not_recorded() -> None:
    with cpu() as prof:
        thread = threading.Thread(target=lambda: torch.ones(2).exp())
        thread.start()
        thread.join()
    assert list(prof.events()) == []


def test_traces(tmp_path: Path) -> None:
    plan = schedule(wait=0, warmup=1, active=1, repeat=1)
    ready = tensorboard_trace_handler(str(tmp_path), "worker")
    with cpu(schedule=plan, on_trace_ready=ready, record_shapes=True) as prof:
        prof.add_metadata("run", "seven")
        prof.add_metadata_json("more", "[1, 2]")
        for _ in range(3):
            torch.ones(2, 3).exp()
            prof.step()
    (path,) = tmp_path.iterdir()
    assert path.name.startswith("worker.") and path.name.endswith(".pt.trace.json")
    trace = json.loads(path.read_text())
    assert trace["run"] == "seven" and trace["more"] == [1, 2] and trace["displayTimeUnit"] == "ms"
    names = [e["name"] for e in trace["traceEvents"]]
    assert names == ["ProfilerStep#1", "aten::ones", "aten::exp"]
    step, _, exp = trace["traceEvents"]
    assert step["ph"] == exp["ph"] == "X" and step["cat"] == "user_annotation"
    assert exp["cat"] == "cpu_op" and exp["args"] == {"Input Dims": [[2, 3]]}
    assert step["ts"] <= exp["ts"] and exp["ts"] + exp["dur"] <= step["ts"] + step["dur"] + 1e-3


@pytest.mark.parametrize("what", ["profile_memory", "with_stack", "with_flops", "with_modules"])
def test_what_is_refused_by_name(what: str) -> None:
    with pytest.raises(NotImplementedError, match=what):
        cpu(**{what: True})
