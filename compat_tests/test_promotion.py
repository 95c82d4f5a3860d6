"""Type promotion: the dtype of every pair of dtypes and ranks, as PyTorch's."""

from __future__ import annotations

import functools
import gzip
import json

import pytest

from .observe import library
from .oracle import GOLDEN, TORCH
from .promotion import OPERATIONS, table, unpack


@functools.cache
def both() -> tuple[dict[str, str], dict[str, str]]:
    ours = table(library("torchlike"))
    if TORCH is not None:
        return ours, table(TORCH)
    stored = json.loads(gzip.decompress((GOLDEN / "promotion.json.gz").read_bytes()))
    return ours, unpack(stored["promotion"])


@pytest.mark.parametrize("operation", OPERATIONS)
def test_result_dtypes(operation: str) -> None:
    ours, theirs = both()
    wrong = {
        key: (kind, ours[key])
        for key, kind in theirs.items()
        if key.startswith(operation + " ") and ours[key] != kind
    }
    assert not wrong, f"{len(wrong)} of {len(theirs)}: " + str(list(wrong.items())[:10])
