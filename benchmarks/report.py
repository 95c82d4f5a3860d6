"""What was measured, as a table, as JSON and as a chart."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.rounds import OURS, PEER, Result
from benchmarks.workloads import IMPORT

HEAD = f"{'work':<42}{'at most':>9}{'torchlike':>12}{'PyTorch':>12}{'ratio':>8}{'spread':>14}"


def show_time(seconds: float | None) -> str:
    """A duration in the unit that suits it."""
    if seconds is None:
        return "-"
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 0.1 and (unit != "s" or seconds >= 1):
            return f"{seconds * scale:.2f} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def row(result: Result) -> str:
    """A line of the table: the import is judged by its seconds, all else by the ratio."""
    ratio, ratios, target = result.ratio(), result.ratios(), result.workload.target
    in_seconds = result.workload.name == IMPORT
    unit = " s" if in_seconds else ""
    shown = "-" if ratio is None else f"{ratio:.2f}{unit}"
    spread = f"{min(ratios):.2f} .. {max(ratios):.2f}" if ratios else "-"
    over = ratio is not None and ratio > target and len(ratios) > 1  # one round proves nothing
    mark = " <- over" if over else ""
    times = f"{show_time(result.median(OURS)):>12}{show_time(result.median(PEER)):>12}"
    limit = f"{target}{unit}"
    return f"{result.workload.title:<42}{limit:>9}{times}{shown:>8}{spread:>14}{mark}"


def table(results: Sequence[Result]) -> str:
    return "\n".join([HEAD, "-" * len(HEAD), *(row(result) for result in results)])


def as_record(result: Result) -> dict[str, Any]:
    return {
        "name": result.workload.name,
        "title": result.workload.title,
        "target": result.workload.target,
        "seconds": result.seconds,
        "ratio": result.ratio(),
        "ratios": result.ratios(),
    }


def write_json(results: Sequence[Result], path: Path) -> None:
    """Every round's number, with what is needed to tell which machine it came from."""
    machine = {
        "machine": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
    }
    document = {**machine, "results": [as_record(result) for result in results]}
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def draw(results: Sequence[Result], path: Path) -> None:
    """Ratios as bars with their spread; a line marks PyTorch, a tick each target."""
    from matplotlib.figure import Figure

    shown = [r for r in reversed(results) if r.ratio() is not None and r.workload.name != IMPORT]
    ratios = [r.ratio() or 0.0 for r in shown]
    below = [ratio - min(r.ratios()) for ratio, r in zip(ratios, shown, strict=True)]
    above = [max(r.ratios()) - ratio for ratio, r in zip(ratios, shown, strict=True)]
    figure = Figure(figsize=(8, 0.5 * len(shown) + 1.2), layout="constrained")
    axes = figure.subplots()
    places = range(len(shown))
    axes.barh(places, ratios, xerr=[below, above], height=0.6, color="#4c78a8", capsize=3)
    axes.scatter([r.workload.target for r in shown], places, marker="|", s=300, color="#e45756")
    axes.axvline(1.0, color="grey", linewidth=1)
    axes.set_yticks(places, [r.workload.title for r in shown])
    axes.set_xlabel("time relative to PyTorch eager on two threads (red: at most)")
    figure.savefig(path, dpi=150)
