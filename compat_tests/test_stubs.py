"""The type stubs of names that are made at import are current."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat_tests.record_stubs import stubs

STUBS = stubs()


@pytest.mark.parametrize("path", list(STUBS), ids=lambda p: p.parent.name)
def test_stub_is_current(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == STUBS[path], (
        "run python -m compat_tests.record_stubs"
    )
