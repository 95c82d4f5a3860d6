"""Runs the rounds, a process for each work and library, and gathers what they measured."""

from __future__ import annotations

import importlib.util
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.worker import THREADS
from benchmarks.workloads import IMPORT, Workload

OURS, PEER = "torchlike", "torch"
ROOT = Path(__file__).resolve().parent.parent

# These make OpenBLAS use kernels and block sizes that are not its choice for the machine.
# Without bytecode files an import compiles every module anew, which no installed package does.
UNSET = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "PYTHONDONTWRITEBYTECODE")
THREAD_COUNTS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass
class Result:
    """Seconds per step in each round, by library."""

    workload: Workload
    seconds: dict[str, list[float]] = field(default_factory=dict)

    def median(self, library: str) -> float | None:
        times = self.seconds.get(library)
        return statistics.median(times) if times else None

    def ratios(self) -> list[float]:
        """torchlike / PyTorch, round by round; for the import, torchlike's own seconds."""
        ours = self.seconds.get(OURS, [])
        if self.workload.name == IMPORT:
            return ours
        peers = self.seconds.get(PEER, [])
        return [mine / theirs for mine, theirs in zip(ours, peers, strict=False)]

    def ratio(self) -> float | None:
        ratios = self.ratios()
        return statistics.median(ratios) if ratios else None


def libraries() -> list[str]:
    """torchlike, and PyTorch where it is installed."""
    return [OURS] if importlib.util.find_spec(PEER) is None else [OURS, PEER]


def child_environment() -> dict[str, str]:
    environment = {name: value for name, value in os.environ.items() if name not in UNSET}
    environment.update(dict.fromkeys(THREAD_COUNTS, str(THREADS)))
    return environment


def measure(library: str, names: Sequence[str], seconds: float) -> dict[str, float]:
    """One process: the named workloads under one library."""
    command = [sys.executable, "-m", "benchmarks.worker", library, str(seconds), *names]
    done = subprocess.run(
        command, cwd=ROOT, env=child_environment(), stdout=subprocess.PIPE, text=True, check=True
    )
    times: dict[str, float] = json.loads(done.stdout)
    return times


def order(names: Sequence[str], turn: int) -> list[str]:
    """Each round goes the other way about, so that a drift of the machine favours nobody."""
    return list(names) if turn % 2 == 0 else list(reversed(names))


def run(
    workloads: Sequence[Workload], rounds: int, seconds: float, results: list[Result]
) -> Iterator[int]:
    """Fill ``results`` round by round, yielding the number of rounds done."""
    results.extend(Result(workload) for workload in workloads)
    for library in libraries():
        measure(library, [], seconds)  # not counted: it compiles the modules and warms the disk
    for turn in range(rounds):
        for result in results:
            for library in order(libraries(), turn):
                name = result.workload.name
                times = measure(library, [name], seconds)
                result.seconds.setdefault(library, []).append(times[name])
        yield turn + 1
