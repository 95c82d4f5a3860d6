"""Ranges to the last bit: ``linspace``, ``arange``, ``logspace``, ``range`` against PyTorch's."""

from __future__ import annotations

import warnings
from typing import Any

from compat_tests.scenarios import Cases

CASES = Cases("spacing")
FLOATS = ("float32", "float64", "float16", "bfloat16")
ENDS = ((0, 1), (-1, 1), (2.5, -7.3), (1e-3, 1e3), (-3.141592653589793, 3.141592653589793))


def bits(torch: Any, t: Any) -> list[str]:
    """All numbers, exactly."""
    wide = t.to(torch.complex128 if t.is_complex() else torch.float64)
    return [repr(x) for x in wide.tolist()]


@CASES.add
def linspace(torch: Any) -> Any:
    counts = (1, 2, 3, 7, 10, 16, 33, 60)
    return [
        bits(torch, torch.linspace(*ends, n, dtype=getattr(torch, name)))
        for name in FLOATS
        for ends in ENDS
        for n in counts
    ]


@CASES.add
def linspace_of_other_dtypes(torch: Any) -> Any:
    made = [torch.linspace(2, -7, n, dtype=torch.int64) for n in (16, 22, 31)]
    made += [torch.linspace(0, 255, n, dtype=torch.uint8) for n in (0, 1, 9, 60)]
    made += [torch.linspace(0, 10 - 3j, n, dtype=torch.complex64) for n in (4, 15)]
    made += [torch.linspace(1j, 3, n, dtype=torch.complex128) for n in (7, 12)]
    return [bits(torch, t) for t in made]


@CASES.add
def arange(torch: Any) -> Any:
    steps = ((0, 10, 0.1), (0, 1, 0.01), (-5, 5, 0.3), (1, 0, -0.07), (0.1, 7, 0.123), (0, 9, 1.0))
    return [
        bits(torch, torch.arange(*s, dtype=getattr(torch, name))) for name in FLOATS for s in steps
    ]


@CASES.add
def logspace(torch: Any) -> Any:
    given = (
        (0, 1, 10, 10.0), (-2, 2.5, 60, 10.0), (0, 5, 33, 2.0), (-1, 1, 40, 2.718281828), (0, 3, 4),
        (0, 0, 1), (1, 2, 4, 0.0), (-2, 1, 4, -2.0), (-1, 1, 3, 0.0), (300, 400, 3),
    )  # fmt: skip
    found = [
        bits(torch, torch.logspace(*g, dtype=getattr(torch, name)))
        for name in FLOATS
        for g in given
    ]
    return found, bits(torch, torch.logspace(0, 6, 7, 2, dtype=torch.int64))


@CASES.add
def range_(torch: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            bits(torch, torch.range(0.1, 7, 0.123, dtype=getattr(torch, name)))
            for name in FLOATS[:2]
        ]


test_scenario = CASES.test()
