"""Every operation and every public name of sparse tensors is run by a scenario."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from functional.tape import sparse
from torchlike import names

from . import (
    test_sparse,
    test_sparse_compressed,
    test_sparse_gradients,
    test_sparse_math,
    test_sparse_training,
)
from .scenarios import run

FILES = (
    test_sparse, test_sparse_compressed, test_sparse_gradients, test_sparse_math,
    test_sparse_training,
)  # fmt: skip


def test_every_operation_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: set[tuple[str, bool]] = set()
    kernel_of = sparse._kernel_of

    def watched(op: Any, inputs: Any) -> Any:
        seen.add((op.name, any(map(sparse.is_compressed, inputs))))
        return kernel_of(op, inputs)

    monkeypatch.setattr(sparse, "_kernel_of", watched)
    for file in FILES:
        for scenario in file.CASES.scenarios.values():
            run(scenario, "torchlike")
    wanted = {(n, False) for n in sparse.KERNELS} | {(n, True) for n in sparse.COMPRESSED}
    missing = {n for n, _ in wanted} - {n for n, _ in seen}
    assert not missing, f"no scenario runs {sorted(missing)}"


def test_every_public_name_is_used() -> None:
    text = "".join(Path(str(file.__file__)).read_text(encoding="utf-8") for file in FILES)
    used = set(re.findall(r"\.(\w+)", text))
    assert not {*names.SPARSE, *names.SPARSE_METHODS} - used
