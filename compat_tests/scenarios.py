"""One piece of code, run under torchlike and under PyTorch: what it returns must be the same.

A scenario is a function of one argument, the library, that returns numbers, strings, tensors and
lists of them. PyTorch's answer is computed when it is installed; its recorded answer serves where
it is not::

    CASES = Cases("engine")

    @CASES.add
    def a_sum(torch):
        return torch.ones(3).sum()

    test_scenario = CASES.test()

``python -m compat_tests.scenarios`` records the answers of all scenarios anew.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import math
import pkgutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

GOLDEN = Path(__file__).parent / "golden"
HAVE_TORCH = importlib.util.find_spec("torch") is not None
needs_torch = pytest.mark.skipif(not HAVE_TORCH, reason="needs torch")
Scenario = Callable[[Any], Any]


def load(name: str) -> Any:
    """A library with the parts that scenarios use."""
    library = importlib.import_module(name)
    importlib.import_module(name + ".autograd")
    importlib.import_module(name + ".nn")
    return library


def error(call: Callable[[], Any]) -> str:
    """Class and first line of what a call raises; 'no error' if it raises nothing."""
    try:
        call()
    except Exception as caught:
        lines = str(caught).splitlines() or [""]
        return f"{type(caught).__name__}: {lines[0]}".rstrip()
    return "no error"


def plain(value: Any) -> Any:
    """Anything a scenario returns, as what JSON can hold."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, complex):
        return ["complex", plain(value.real), plain(value.imag)]
    if isinstance(value, dict):
        return [[plain(k), plain(v)] for k, v in value.items()]
    if hasattr(value, "requires_grad") and hasattr(value, "tolist"):
        content = plain(value.detach().tolist())
        return ["tensor", str(value.dtype), [int(n) for n in value.shape], content]
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    return type(value).__name__


def run(scenario: Scenario, name: str) -> Any:
    """What a scenario returns under a library."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return plain(scenario(load(name)))


def differences(found: Any, wanted: Any, where: str = "", rtol: float = 2e-6) -> list[str]:
    """Where two answers differ; empty if they agree."""
    if isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        pairs = enumerate(zip(found, wanted, strict=True))
        return [d for i, (a, b) in pairs for d in differences(a, b, f"{where}[{i}]", rtol)]
    if isinstance(found, float) and isinstance(wanted, float):
        if math.isclose(found, wanted, rel_tol=rtol, abs_tol=1e-7):
            return []
    elif type(found) is type(wanted) and found == wanted:
        return []
    return [f"{where}\n  torchlike: {found}\n  PyTorch:   {wanted}"]


class Cases:
    """The scenarios of one file, and the answers recorded for them."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.scenarios: dict[str, Scenario] = {}

    def add(self, scenario: Scenario) -> Scenario:
        """Register a scenario (a decorator)."""
        name = scenario.__name__
        assert name not in self.scenarios, name
        self.scenarios[name] = scenario
        return scenario

    @property
    def path(self) -> Path:
        return GOLDEN / f"{self.name}.json"

    def expected(self, name: str) -> Any:
        """PyTorch's answer, live where it is installed."""
        if HAVE_TORCH:
            return json.loads(json.dumps(run(self.scenarios[name], "torch")))
        return json.loads(self.path.read_text())[name]

    def test(self) -> Any:
        """The test function: one case per scenario."""

        @pytest.mark.parametrize("name", list(self.scenarios))
        def test_scenario(name: str) -> None:
            wanted = self.expected(name)
            found = json.loads(json.dumps(run(self.scenarios[name], "torchlike")))
            assert not (found_differences := differences(found, wanted)), "\n".join(
                found_differences
            )

        return test_scenario

    def record(self) -> None:
        """Write PyTorch's answers down."""
        answers = {name: run(scenario, "torch") for name, scenario in self.scenarios.items()}
        lines = [f"{json.dumps(n)}: {json.dumps(a)}" for n, a in answers.items()]
        self.path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def main() -> None:
    """Record the answers of every test module that has scenarios."""
    import compat_tests

    for info in pkgutil.iter_modules(compat_tests.__path__):
        if not info.name.startswith("test_"):
            continue
        if "Cases(" not in (Path(__file__).parent / f"{info.name}.py").read_text():
            continue
        module = importlib.import_module(f"compat_tests.{info.name}")
        for value in list(vars(module).values()):
            if isinstance(value, Cases):
                value.record()
                print(f"{value.path.name}: {len(value.scenarios)} scenarios")


if __name__ == "__main__":
    from compat_tests.scenarios import (
        main as registered,
    )  # the Cases of the tests are that module's

    registered()
