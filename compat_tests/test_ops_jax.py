"""Every differentiable record against its JAX twin: values, first and second derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .functions import differentiable
from .jax_oracle import crosscheck
from .observe import quiet
from .records import RECORDS

pytest.importorskip("jax")
SAMPLES = 2  # JAX compiles each of them


def spread(record: Any, arrays: list[Any]) -> tuple[list[Any], Any]:
    """Arguments without lists of arrays (``cat`` takes one), and how to put them back."""
    plain: list[Any] = []
    shape: list[Any] = []
    for a in arrays:
        nested = isinstance(a, list) and any(isinstance(b, np.ndarray) for b in a)
        shape.append(len(a) if nested else None)
        plain += a if nested else [a]

    def gather(values: Any) -> list[Any]:
        rest = iter(values)
        return [next(rest) if n is None else [next(rest) for _ in range(n)] for n in shape]

    return plain, gather


def test_every_differentiable_record_has_a_twin() -> None:
    missing = [n for n in differentiable() if RECORDS[n].jax is None and not RECORDS[n].internal]
    assert not missing


@pytest.mark.parametrize("name", [n for n in differentiable() if RECORDS[n].jax is not None])
def test_derivatives(name: str) -> None:
    record, taken = RECORDS[name], 0
    for index in range(len(record.samples)):
        arrays = record.arrays(index, "float64")
        plain, gather = spread(record, arrays)
        floats = [a for a in plain if isinstance(a, np.ndarray) and a.dtype.kind == "f"]
        if taken == SAMPLES or not floats or not all(a.size for a in floats):
            continue
        if record.kinked(index):
            continue
        taken += 1
        with quiet():
            crosscheck(
                lambda T, *v, g=gather: record.call(T, *g(v)),
                lambda J, *v, g=gather: record.jax(J, *g(v)),
                *plain,
            )
    assert taken
