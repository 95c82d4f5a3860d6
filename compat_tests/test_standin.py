"""Every record on a stand-in for CuPy: the same values as on the CPU, and all of it on the device.

The stand-in refuses what CuPy refuses, so that a kernel which passes here asks CuPy for nothing
that it lacks. What no GPU can do is one table, in docs/gpu.md.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from functional.tape.foreign import namespace

from . import on_device
from .oracle import public
from .records import RECORDS
from .standin_cupy.arrays import TRANSFERS

pytestmark = pytest.mark.usefixtures("standin")
PAGE = Path(__file__).parent.parent / "docs" / "gpu.md"


@pytest.mark.parametrize("name", [n for n in RECORDS if n not in on_device.MISSING])
def test_record(name: str) -> None:
    """Results, their memory order, graphs and gradients."""
    found = on_device.compare(name)
    assert not found, f"{len(found)} differences\n" + "\n".join(found[:20])


@pytest.mark.parametrize("name", [n for n in public() if RECORDS[n].in_place or RECORDS[n].out])
def test_in_place_and_out(name: str) -> None:
    """The in-place twin and ``out=``."""
    kinds = [k for k in ("in_place", "out") if getattr(RECORDS[name], k)]
    found = [d for kind in kinds for d in on_device.compare(name, kind)]
    assert not found, f"{len(found)} differences\n" + "\n".join(found[:20])


@pytest.mark.parametrize("name", list(on_device.MISSING))
def test_what_is_missing_says_so(name: str) -> None:
    found = [error for error in on_device.refusals(name) if error is not None]
    assert found and all(kind == "NotImplementedError" for kind, _ in found)
    assert all("cuda" in text for _, text in found)
    assert f"| `{name}` |" in PAGE.read_text()


def test_the_page_lists_nothing_else() -> None:
    rows = [line.split("`")[1] for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert sorted(rows) == sorted(on_device.MISSING)


def test_both_namespaces_have_the_same_names() -> None:
    """Rules find in one namespace of kernels what they find in the other."""
    from functional.kernels import numpy as cpu

    def names(module: object) -> set[str]:
        return {n for n in vars(module) if n[:1] != "_"}

    assert names(cpu) <= names(namespace())


def test_a_training_step_fetches_nothing() -> None:
    """No array goes to the host in a step, but for what the program asks."""
    import torchlike as torch

    m = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3)).cuda()
    x, y = torch.randn(5, 4).cuda(), torch.tensor([0, 1, 2, 0, 1]).cuda()
    optimizer = torch.optim.SGD(m.parameters(), lr=0.1)
    before = TRANSFERS["get"]
    loss = torch.nn.functional.cross_entropy(m(x), y)
    loss.backward()
    optimizer.step()
    assert TRANSFERS["get"] == before and loss.is_cuda
