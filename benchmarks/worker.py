"""One process of a round: times workloads under one library and prints seconds as JSON.

python -m benchmarks.worker LIBRARY SECONDS NAME...
"""

from __future__ import annotations

import importlib
import json
import statistics
import sys
import time
from typing import Any

from benchmarks.catalogue import BY_NAME
from benchmarks.workloads import IMPORT, Step

THREADS = 2
BATCHES = 9


def time_batch(step: Step, count: int) -> float:
    """Seconds per call over a batch of calls."""
    start = time.perf_counter()
    for _ in range(count):
        step()
    return (time.perf_counter() - start) / count


def time_step(step: Step, seconds: float) -> float:
    """The median over batches that together take about the given time, after a warm-up."""
    share = seconds / BATCHES
    step()
    once = time_batch(step, 3)
    once = time_batch(step, max(1, int(share / once)))  # caches, threads and clock are warm now
    count = max(1, int(share / once))
    return statistics.median(time_batch(step, count) for _ in range(BATCHES))


def load(library: str, after_numpy: bool) -> tuple[Any, float]:
    """The library's module and how long its import took, beyond NumPy's if that was imported.

    A program that is timed imports its library first, as most do.
    """
    if after_numpy:
        importlib.import_module("numpy")
    start = time.perf_counter()
    module = importlib.import_module(library)
    seconds = time.perf_counter() - start
    if hasattr(module, "set_num_threads"):
        module.set_num_threads(THREADS)
    return module, seconds


def main() -> None:
    library, seconds, *names = sys.argv[1:]
    module, import_seconds = load(library, after_numpy=IMPORT in names)
    times = {}
    for name in names:
        workload = BY_NAME[name]
        if name == IMPORT:
            times[name] = import_seconds
        else:
            assert workload.build is not None
            times[name] = time_step(workload.build(module), float(seconds)) / workload.repeats
    json.dump(times, sys.stdout)


if __name__ == "__main__":
    main()
