"""A part of PyTorch's own list of optimizers and options; all of it runs as a program.

``python -m compat_tests.optim_db``.
"""

from __future__ import annotations

from typing import Any

import pytest

from compat_tests import optim_db
from compat_tests.scenarios import HAVE_TORCH, needs_torch


def selected() -> list[Any]:
    """Of each optimizer the last configuration in float64, and one error."""
    if not HAVE_TORCH:
        return [pytest.param("", None, id="needs torch")]
    import torchlike

    found = []
    for info in optim_db.database():
        if hasattr(torchlike.optim, info.optim_cls.__name__):
            made = list(optim_db.checks(info))
            doubles = [(label, check) for label, check in made if label.endswith("float64")]
            found += [doubles[-1], made[-1]]
    return [pytest.param(label, check, id=label) for label, check in found]


@needs_torch
@pytest.mark.parametrize(("label", "check"), selected())
def test_as_pytorch(label: str, check: Any) -> None:
    assert not (difference := optim_db.result(check)), difference
