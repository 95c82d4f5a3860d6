"""Every differentiable record against its JAX twin: values, first and second derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .functions import differentiable
from .jax_oracle import crosscheck
from .observe import quiet
from .records import RECORDS
from .records.base import In

pytest.importorskip("jax")
# JAX compiles each of them: two where static arguments make a difference
SAMPLES = {False: 1, True: 2}


def spread(sample: Any, arrays: list[Any]) -> tuple[list[Any], list[int], Any]:
    """Arguments without lists of arrays (``cat`` takes one), which to differentiate, and back."""
    plain: list[Any] = []
    specs: list[Any] = []
    shape: list[Any] = []
    for spec, a in zip(sample, arrays, strict=True):
        nested = isinstance(a, list) and any(isinstance(b, np.ndarray) for b in a)
        shape.append(len(a) if nested else None)
        plain += a if nested else [a]
        specs += spec if nested else [spec]
    at = [i for i, s in enumerate(specs) if isinstance(s, In) and s.differentiable]

    def gather(values: Any) -> list[Any]:
        rest = iter(values)
        return [next(rest) if n is None else [next(rest) for _ in range(n)] for n in shape]

    return plain, at, gather


def test_enough_operations_have_a_twin() -> None:
    names = {n.split(".")[0] for n in differentiable() if RECORDS[n].jax is not None}
    assert len(names) >= 200


@pytest.mark.parametrize("name", [n for n in differentiable() if RECORDS[n].jax is not None])
def test_derivatives(name: str) -> None:
    record, taken = RECORDS[name], 0
    for index in range(len(record.samples)):
        arrays, sample = record.arrays(index, "float64"), record.samples[index]
        plain, at, gather = spread(sample, arrays)
        statics = any(not isinstance(a, In) for a in sample)
        if taken == SAMPLES[statics] or not at or not all(plain[i].size for i in at):
            continue
        if record.kinked(index):
            continue
        taken += 1
        with quiet():
            crosscheck(
                lambda T, *v, g=gather: record.call(T, *g(v)),
                lambda J, *v, g=gather: record.jax(J, *g(v)),
                *plain,
                argnums=at,
            )
    assert taken
