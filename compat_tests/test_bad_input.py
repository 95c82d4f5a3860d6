"""PyTorch's exception class and text for bad input, and no partial effect."""

from __future__ import annotations

import json
import warnings

import pytest

from compat_tests.bad_input import GROUPS, outcome
from compat_tests.record_bad_input import PATH
from compat_tests.scenarios import HAVE_TORCH, load

LINES = [line for lines in GROUPS.values() for line in lines]

# calls whose text is our own, with the reason
ACCEPTED: dict[str, tuple[str, str]] = {}


def expected(line: str) -> str:
    """What PyTorch says, live where it is installed."""
    if HAVE_TORCH:
        return outcome(load("torch"), line)[0]
    return json.loads(PATH.read_text())[line]


@pytest.mark.parametrize("line", LINES)
def test_text_is_pytorchs(line: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = ACCEPTED[line][0] if line in ACCEPTED else expected(line)
        found, unchanged = outcome(load("torchlike"), line)
    assert found == wanted
    assert unchanged or found == "no error"


def test_lines_are_unique() -> None:
    assert len(set(LINES)) == len(LINES) >= 150


def test_accepted_differences_are_differences() -> None:
    recorded = json.loads(PATH.read_text())
    for line, (text, reason) in ACCEPTED.items():
        assert recorded[line] != text and reason, line
