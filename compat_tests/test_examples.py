"""Each example prints under torchlike what it prints under PyTorch.

Text must be the same to the letter, blanks included, except beside a number, since a number's width
may change with its last digit.  Numbers without a point are counts and sizes and must be equal; the
others may differ by the tolerances that ``record_examples`` states.  In pictures drawn with
characters, a dot may be one shade off.
"""

from __future__ import annotations

import functools
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path

import pytest

from compat_tests.record_examples import (
    EXACT,
    EXAMPLES,
    Example,
    Tolerance,
    run_pytorch,
    run_torchlike,
)

# A number stands alone: the digits of conv1, AddmmBackward0 and 16x4 belong to words.
NUMBER = re.compile(r"(?<![\w.])([-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|nan|inf))(?![\w])")

SHADES = " .:*#"
PICTURE = re.compile(f"[{SHADES}]+")

Runner = Callable[[Example, Path], str]

each_example = pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)


@functools.cache
def pytorch_is_installed() -> bool:
    """Asked of a fresh process: in this one the name may be torchlike's."""
    probe = "import torch.version"
    return subprocess.run([sys.executable, "-c", probe], stderr=subprocess.DEVNULL).returncode == 0


needs_pytorch = pytest.mark.skipif("not pytorch_is_installed()", reason="PyTorch is not installed")


def split(line: str) -> tuple[list[str], list[str]]:
    """The text of a line without the blanks around its numbers, and its numbers."""
    pieces = NUMBER.split(line)
    text, numbers = pieces[0::2], pieces[1::2]
    if not numbers:
        return text, numbers
    return [text[0].rstrip(), *(part.strip() for part in text[1:])], numbers


def tolerance(example: Example, line: str, column: int, number: str) -> Tolerance:
    """A rule for the line decides, or else whether the number has a fraction."""
    for rule in example.rules:
        if rule.pattern.search(line):
            return rule.columns[column]
    return example.tolerance if "." in number else EXACT


def same_picture(actual: str, expected: str) -> bool:
    dots = zip_longest(actual, expected, fillvalue=" ")
    return all(abs(SHADES.index(mine) - SHADES.index(theirs)) <= 1 for mine, theirs in dots)


def same_line(example: Example, actual: str, expected: str) -> bool:
    if PICTURE.fullmatch(actual) and PICTURE.fullmatch(expected):
        return same_picture(actual, expected)
    text, numbers = split(actual)
    expected_text, expected_numbers = split(expected)
    if text != expected_text:
        return False
    pairs = zip(numbers, expected_numbers, strict=True)
    return all(
        mine == theirs
        or tolerance(example, expected, column, theirs).accepts(float(mine), float(theirs))
        for column, (mine, theirs) in enumerate(pairs)
    )


def assert_same(example: Example, actual: str, expected: str) -> None:
    """Fails with every line that differs."""
    lines = zip_longest(actual.splitlines(), expected.splitlines(), fillvalue="<no line>")
    differences = [
        f"line {number}\n  is        {mine}\n  should be {theirs}"
        for number, (mine, theirs) in enumerate(lines, start=1)
        if not same_line(example, mine, theirs)
    ]
    assert not differences, "\n".join(differences)


@functools.cache
def printed_by_pytorch(example: Example) -> str:
    with tempfile.TemporaryDirectory() as folder:
        return run_pytorch(example, Path(folder))


@functools.cache
def printed_by_torchlike(example: Example) -> str:
    with tempfile.TemporaryDirectory() as folder:
        return run_torchlike(example, Path(folder))


def example_named(name: str) -> Example:
    return next(example for example in EXAMPLES if example.name == name)


def recorded(example: Example) -> str:
    return example.golden.read_text(encoding="utf-8")


@each_example
def test_prints_what_was_recorded(example: Example) -> None:
    assert_same(example, printed_by_torchlike(example), recorded(example))


@needs_pytorch
@each_example
def test_recording_is_current(example: Example) -> None:
    assert_same(example, printed_by_pytorch(example), recorded(example))


@needs_pytorch
@each_example
def test_prints_what_pytorch_prints(example: Example) -> None:
    assert_same(example, printed_by_torchlike(example), printed_by_pytorch(example))


@needs_pytorch
@pytest.mark.parametrize(
    ("run_first", "run_second"),
    [(run_pytorch, run_torchlike), (run_torchlike, run_pytorch)],
    ids=["to_torchlike", "to_pytorch"],
)
def test_weights_change_libraries(run_first: Runner, run_second: Runner, tmp_path: Path) -> None:
    """Trained and saved under one, loaded and trained on under the other: as in one run of one."""
    saved = run_first(Example("transfer_weights", ("--save", "digits.pt")), tmp_path)
    loaded = run_second(Example("transfer_weights", ("--load", "digits.pt")), tmp_path)
    example = example_named("transfer_weights")
    assert_same(example, saved + loaded, recorded(example))


@pytest.mark.parametrize("name", ["vae_digits", "gan_digits", "lr_schedules", "time_series_lstm"])
def test_draws_a_picture_when_asked(name: str, tmp_path: Path) -> None:
    run_torchlike(Example(name, ("--epochs", "1", "--out", "picture.png")), tmp_path)
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_digits_are_learned_and_drawn(tmp_path: Path) -> None:
    """The main job as the README starts it, but for the place of the picture."""
    example = Example("digits_cnn", ("--out", "digits.png"))
    output = run_torchlike(example, tmp_path)
    (accuracy,) = re.findall(r"^ +all +([\d.]+)%", output, flags=re.MULTILINE)
    assert float(accuracy) >= 97
    assert (tmp_path / "digits.png").read_bytes().startswith(b"\x89PNG")


COMPARISONS = [
    ("loss 0.12345", "loss 0.12346", True),
    ("loss 0.12345", "loss 0.13", False),
    ("tensor([ 0.1, -0.2])", "tensor([-0.0001, -0.2])", False),
    ("tensor([ 0.0001, -0.2])", "tensor([-0.0001, -0.2])", True),
    ("size 5", "size 6", False),
    ("  indented", "indented", False),
    ("conv1 ok", "conv2 ok", False),
    ("loss nan", "loss 0.5", False),
    (" .:*#", " .:##", True),
    (" .:*#", " .:#", False),
]


@pytest.mark.parametrize(("actual", "expected", "same"), COMPARISONS)
def test_comparison(actual: str, expected: str, same: bool) -> None:
    assert same_line(Example("none"), actual, expected) is same


def test_digits_rules() -> None:
    """Each column of a table has its own tolerance, and none is lost on the first."""
    digits = example_named("digits_cnn")
    assert same_line(
        digits, "    3  0.3010      90.0%      95.5%", "    3  0.3000      91.0%      96.0%"
    )
    assert not same_line(
        digits, "    3  0.3100      90.0%      95.5%", "    3  0.3000      91.0%      96.0%"
    )
    assert not same_line(digits, "  all     97.0%     360", "  all     99.0%     360")
