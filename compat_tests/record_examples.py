"""The examples as the tests run them; ``python -m compat_tests.record_examples [NAME ...]`` records
PyTorch's output of each to ``golden/examples``, which stands in where PyTorch is absent."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = Path(__file__).resolve().parent / "golden" / "examples"
TIMEOUT = 300


@dataclass(frozen=True)
class Tolerance:
    """How far numbers may lie apart: abs + rel * |expected|."""

    rel: float = 0.0
    abs: float = 0.0

    def accepts(self, actual: float, expected: float) -> bool:
        return abs(actual - expected) <= self.abs + self.rel * abs(expected)


@dataclass(frozen=True)
class Rule:
    """The tolerance of each column of numbers on the lines that a pattern matches."""

    pattern: re.Pattern[str]
    columns: tuple[Tolerance, ...]


@dataclass(frozen=True)
class Example:
    name: str
    arguments: tuple[str, ...] = ()
    # Four decimals are printed: one unit in the last may flip, and sums differ in the sixth digit.
    tolerance: Tolerance = Tolerance(rel=1e-3, abs=2e-4)
    rules: tuple[Rule, ...] = field(default=())

    @property
    def script(self) -> Path:
        return ROOT / "examples" / f"{self.name}.py"

    @property
    def golden(self) -> Path:
        return GOLDEN / f"{self.name}.txt"


EXACT = Tolerance()
LOSS = Tolerance(rel=0.01, abs=1e-4)
# Percent.  Training magnifies rounding, and a digit near the border of two classes may go over it:
# all 360 held-out digits may move by 1.5 points, a class of some 36 by two digits.
ACCURACY = Tolerance(abs=1.5)
CLASS_ACCURACY = Tolerance(abs=7.5)

DIGITS_RULES = (
    Rule(re.compile(r"^ *\d+  \d\.\d{4} "), (EXACT, LOSS, ACCURACY, ACCURACY)),
    Rule(re.compile(r"^ +\d +[\d.]+% +\d+$"), (EXACT, CLASS_ACCURACY, EXACT)),
    Rule(re.compile(r"^ +all "), (ACCURACY, EXACT)),
)

# One of 90 held-out names may change its answer, and a chance its rounding to whole percents.
ONE = Tolerance(abs=1)
NAMES_RULES = (
    Rule(re.compile(r"^ +\d+  \d\.\d{4} "), (EXACT, LOSS, Tolerance(abs=1.2))),
    Rule(re.compile(r"^[A-Z][a-z]+( +\d+){6}$"), (ONE,) * 6),
    Rule(re.compile(r"\d%  \w+ \d+%$"), (ONE, ONE)),
)

EXAMPLES = [
    Example("network_walkthrough"),
    Example("polynomial"),
    Example("char_rnn_classifier", ("--epochs", "2"), rules=NAMES_RULES),
    Example("char_rnn_generator", ("--epochs", "5", "--length", "79")),
    Example("tiny_gpt", ("--steps", "10", "--length", "40")),
    Example("vae_digits", ("--epochs", "2")),
    Example("gan_digits", ("--epochs", "1")),
    Example("transfer_weights"),
    Example("lr_schedules", ("--epochs", "12")),
    Example("time_series_lstm", ("--epochs", "2")),
    Example("digits_cnn", ("--epochs", "3", "--out", "digits.png"), rules=DIGITS_RULES),
]


def run(example: Example, launcher: Sequence[str], folder: Path) -> str:
    """What the example prints, started in an empty folder."""
    command = [sys.executable, *launcher, str(example.script), *example.arguments]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTHONIOENCODING": "utf-8",
        "OMP_NUM_THREADS": "1",  # in work this small, threads wait for each other most of the time
    }
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", timeout=TIMEOUT
    )
    if done.returncode:
        raise RuntimeError(f"{example.name} ended with {done.returncode}\n{done.stderr}")
    return done.stdout


def run_torchlike(example: Example, folder: Path) -> str:
    return run(example, ["-m", "torchlike"], folder)


def run_pytorch(example: Example, folder: Path) -> str:
    return run(example, [], folder)


def main() -> None:
    GOLDEN.mkdir(parents=True, exist_ok=True)
    chosen = [example for example in EXAMPLES if example.name in sys.argv[1:]]
    for example in chosen or EXAMPLES:
        with tempfile.TemporaryDirectory() as folder:
            output = run_pytorch(example, Path(folder))
        example.golden.write_text(output, encoding="utf-8", newline="\n")
        print(f"{example.golden.relative_to(ROOT)}: {len(output.splitlines())} lines")


if __name__ == "__main__":
    main()
