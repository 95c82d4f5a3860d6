"""Run the records and a training run on a true GPU: ``python -m compat_tests.gpu``.

Several processes share the records, as CuPy compiles each kernel when it is first called. What
does not fit into the time is said, and is no success.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any

import numpy as np

LIMIT = 270.0  # seconds
TOLERANCE = 100  # how much wider than between CPUs
DTYPES = ("float32", "int64", "bool", "complex64")


def gpu() -> Any:
    """CuPy, if there is a GPU that it can use; else None."""
    try:
        import cupy

        return cupy if cupy.cuda.runtime.getDeviceCount() > 0 else None
    except Exception:
        return None


def records(part: int, parts: int, until: float) -> None:
    """Compare a share of the records; prints a line of JSON for each."""
    from .. import compare, on_device
    from ..records import RECORDS

    wider = {k: (TOLERANCE * r, TOLERANCE * a) for k, (r, a) in compare.TOLERANCE.items()}
    compare.TOLERANCE.update(wider)
    for name in [n for n in RECORDS if n not in on_device.MISSING][part::parts]:
        if time.time() > until:
            print(json.dumps({"name": name, "late": True}), flush=True)
            continue
        try:
            found = on_device.compare(name, "run", DTYPES, 2)
        except Exception as error:
            found = [f"{name}: {type(error).__name__}: {error}"]
        print(json.dumps({"name": name, "found": found[:5]}), flush=True)


def losses(device: str) -> list[float]:
    """A small convolutional network learns to tell noise from squares."""
    import torchlike as torch
    from torchlike import nn

    torch.manual_seed(0)
    m = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(8 * 64, 32), nn.GELU(), nn.Linear(32, 2),
    ).to(device)  # fmt: skip
    x = torch.randn(64, 1, 16, 16)
    y = torch.arange(64) % 2
    x[y == 1, :, 4:12, 4:12] += 1
    x, y = x.to(device), y.to(device)
    optimizer, found = torch.optim.AdamW(m.parameters(), lr=1e-3), []
    for _ in range(30):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(m(x), y)
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


def training() -> list[str]:
    """Where a training run differs from the CPU's, in words."""
    cpu, found = losses("cpu"), losses("cuda")
    wrong = [] if np.allclose(cpu, found, 2e-2, 1e-3) else [f"losses {found}, on the CPU {cpu}"]
    return wrong + ([] if found[-1] < 0.5 * found[0] else [f"it does not learn: {found}"])


def kernels() -> list[str]:
    """Where a kernel written for the GPU differs from its portable twin, in words."""
    cupy = gpu()
    from functional.kernels.cupy import fused

    wrong = []
    rng = np.random.default_rng(0)
    for kernel in fused.KERNELS:
        for arrays in kernel.samples(rng):
            given = [cupy.asarray(a) if a.ndim else a[()] for a in arrays]
            ours, twin = kernel(*given), kernel.twin(cupy, *given)
            if not cupy.allclose(ours, twin, 1e-5, 1e-6, equal_nan=True):
                wrong.append(f"{kernel.name} differs from its twin on {arrays[0].dtype}")
    return wrong


def main() -> int:
    start = time.time()
    parts = max(1, min(8, (os.cpu_count() or 2) // 2))
    share = [sys.executable, "-m", "compat_tests.gpu", str(parts), str(start + LIMIT)]
    running = [
        subprocess.Popen([*share, str(part)], stdout=subprocess.PIPE, text=True)
        for part in range(parts)
    ]
    wrong = [*kernels(), *training()]
    seen = late = 0
    for process in running:
        for line in process.communicate()[0].splitlines():
            said = json.loads(line)
            seen += 1
            late += "late" in said
            wrong += said.get("found", [])
        if process.returncode:
            wrong.append(f"a process ended with {process.returncode}")
    print("\n".join(wrong))
    print(f"{seen - late} records, {late} not reached, {len(wrong)} differences, "
          f"{time.time() - start:.0f} s")  # fmt: skip
    return int(bool(wrong) or late > 0)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        records(int(sys.argv[3]), int(sys.argv[1]), float(sys.argv[2]))
    else:
        sys.exit(main() if gpu() else "there is no GPU, or no CuPy that can use it")
