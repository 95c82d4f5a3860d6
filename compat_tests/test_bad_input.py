"""PyTorch's exception class and text for bad input, and no partial effect."""

from __future__ import annotations

import json
import re
import warnings

import pytest

from compat_tests.bad_input import LINES, outcome
from compat_tests.record_bad_input import PATH
from compat_tests.scenarios import HAVE_TORCH, load

# PyTorch's messages that count arguments or list the C++ overloads: the class must be the same
ABOUT_SIGNATURES = re.compile(
    "missing|takes|received an invalid combination|must be (bool|str)|has no attribute"
)

# calls whose outcome is our own, with the reason
TYPED = "the class is right; the text names what only PyTorch has"
ACCEPTED: dict[str, tuple[str, str]] = {
    "r.is_leaf = True": ("AttributeError: property of 'Tensor' object has no setter", TYPED),
    "torch.device(3.5)": (
        "TypeError: device(): argument 'type' (position 1) must be str, not float",
        TYPED,
    ),
    "m.softmax()": ("no error", "the dimension may be left out, as in nn.functional"),
    'm.sum(dim=0, keepdim="a")': ("no error", "flags are taken by their truth"),
}


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
    if wanted.startswith(("TypeError", "AttributeError")) and ABOUT_SIGNATURES.search(wanted):
        found_class, wanted = found.partition(":")[0], wanted.partition(":")[0]
        assert found_class == wanted
    else:
        assert found == wanted
    assert unchanged or found == "no error"


def test_lines_are_unique() -> None:
    assert len(set(LINES)) == len(LINES) >= 150


def test_accepted_differences_are_differences() -> None:
    recorded = json.loads(PATH.read_text())
    for line, (text, reason) in ACCEPTED.items():
        assert recorded[line] != text and reason, line
