"""The core works without the surface, and importing either loads nothing heavy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
HEAVY = ["scipy", "cupy", "PIL", "safetensors", "matplotlib", "torch", "jax", "tqdm"]

CORE = """
import sys
import functional as F

x = F.tensor([1.0, 2.0, 3.0], dtype=F.float64).requires_grad_()
first, = F.autograd.grad(F.sum(x * x * x), x, create_graph=True)
second, = F.autograd.grad(F.sum(first), x)
third = F.grad(F.grad(F.grad(lambda v: v * v * v * v)))(F.tensor(2.0))
rows = F.vmap(F.grad(lambda v: F.sum(F.exp(v))))(F.zeros(2, 3))
print(first.tolist(), second.tolist(), third.item(), rows.tolist())
print(sorted(m for m in sys.modules if m.split(".")[0] == "torchlike"))
"""


def run(code: str) -> list[str]:
    """What a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def test_core_differentiates_without_the_surface() -> None:
    values, surface = run(CORE)
    # d/dx x^3 = 3x^2, then 6x; d^3/dx^3 x^4 = 24x; d/dx exp(x) at 0 = 1
    ones = [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    assert values == f"{[3.0, 12.0, 27.0]} {[6.0, 12.0, 18.0]} 48.0 {ones}"
    assert surface == "[]"


def test_importing_loads_nothing_heavy() -> None:
    code = f"import sys, torchlike; print([m for m in {HEAVY} if m in sys.modules])"
    assert run(code) == ["[]"]
