"""What all tests share: which oracle there is, and that no test leaves a mode behind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from functional import devices, dtypes, modes

from . import oracle, standin_cupy


def pytest_report_header() -> str:
    """Say which oracle stands behind the comparisons."""
    if oracle.TORCH is not None:
        return f"oracle: PyTorch {oracle.TORCH.__version__}"
    return "oracle: PyTorch is not installed, its recorded answers stand in for it"


@pytest.fixture
def torch() -> Any:
    """PyTorch itself, for tests that recorded answers cannot serve."""
    return pytest.importorskip("torch")


def _state() -> dict[str, Any]:
    mode = modes.MODE
    return {
        "grad mode": mode.grad,
        "inference mode": mode.inference,
        "transform level": mode.level,
        "forward mode": mode.tangents,
        "saved-tensor hooks": mode.saved_hooks,
        "function modes": mode.functions,
        "plain types": frozenset(modes.PLAIN),
        "default dtype": dtypes.get_default_dtype(),
    }


@pytest.fixture(autouse=True)
def nothing_leaks() -> Iterator[None]:
    """Fail a test that leaves a mode, a level or a default changed."""
    before = _state()
    yield
    after = _state()
    changed = {k: (v, after[k]) for k, v in before.items() if v != after[k]}
    assert not changed, f"the test left behind {changed}"


# A GPU is for compat_tests/gpu alone, which runs in a process of its own: everywhere else the
# tests see the same machine with and without one.
devices.COUNTS["cuda"] = 0


@pytest.fixture(scope="module")
def standin() -> Iterator[None]:
    """A stand-in for CuPy with one device, for the length of a module."""
    standin_cupy.install()
    devices.COUNTS["cuda"] = 1
    yield
    devices.COUNTS["cuda"] = 0
