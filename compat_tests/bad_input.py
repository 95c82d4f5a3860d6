"""Calls that PyTorch refuses, as text: what test_bad_input and record_bad_input share.

Each line of ``bad_input.txt`` is an expression (or statements, run one after the other) of
``torch``, ``F`` (torch.nn.functional), ``nn``, ``np``, and the tensors of ``names``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

TABLE = Path(__file__).with_name("bad_input.txt")
LINES = [line for line in TABLE.read_text().splitlines() if line and not line.startswith("# ")]


def names(torch: Any) -> dict[str, Any]:
    """What the lines of the tables are written in."""
    import numpy as np

    return {
        "torch": torch,
        "nn": torch.nn,
        "F": torch.nn.functional,
        "np": np,
        "m": torch.arange(6.0).reshape(2, 3).clone(),
        "c": torch.ones(2, 3, 4),
        "v2": torch.ones(2),
        "v3": torch.ones(3),
        "s": torch.tensor(1.5),
        "e": torch.zeros(0),
        "i": torch.tensor([1, 2, 3]),
        "f": torch.tensor([1.0, 2.0, 3.0]),
        "b": torch.tensor([True, False]),
        "u": torch.zeros(2, dtype=torch.uint8),
        "r": torch.tensor([1.0, 2.0, 3.0], requires_grad=True),
        "x4": torch.ones(1, 3, 4, 4),
    }


def outcome(torch: Any, line: str) -> tuple[str, bool]:
    """Class and first line of what a call raises, and whether all tensors are as they were."""
    from compat_tests.scenarios import error

    space = names(torch)
    tensors = [t for t in space.values() if isinstance(t, torch.Tensor)]
    before = [(t.detach().clone(), t._version, t.requires_grad, t.shape) for t in tensors]
    text = error(lambda: exec(line, space))
    same = all(
        t.shape == shape and t._version == version and t.requires_grad == flag
        and bool((t.detach() == old).all())
        for t, (old, version, flag, shape) in zip(tensors, before, strict=True)
    )  # fmt: skip
    return text, same
