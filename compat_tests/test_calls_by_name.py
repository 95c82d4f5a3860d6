"""Arguments by name: PyTorch's names for every argument, and NumPy's where PyTorch takes them."""

from __future__ import annotations

import json
import warnings

import pytest

from compat_tests.record_calls_by_name import LINES, PATH, answer
from compat_tests.scenarios import HAVE_TORCH, load


def expected(line: str) -> str:
    """PyTorch's answer, live where it is installed."""
    return answer(load("torch"), line) if HAVE_TORCH else json.loads(PATH.read_text())[line]


@pytest.mark.parametrize("line", LINES)
def test_result_is_pytorchs(line: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert answer(load("torchlike"), line) == expected(line)
