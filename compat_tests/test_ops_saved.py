"""In-place writes between forward and backward: raised exactly where PyTorch raises them.

Every input and every result of every differentiable record is written to once; the backward pass
then raises, or not, with and without ``create_graph``, and with the same text.
"""

from __future__ import annotations

import pytest

from .functions import differentiable
from .oracle import public
from .test_ops_torch import check


@pytest.mark.parametrize("name", [n for n in differentiable() if n in public()])
def test_writes_to_saved_tensors(name: str) -> None:
    check(name, "saved")
