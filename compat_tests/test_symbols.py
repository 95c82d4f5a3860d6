"""sym_max and its kin on plain numbers, ``_assert``, and what tensors say of other devices."""

from __future__ import annotations

from functools import partial
from typing import Any

from .scenarios import Cases, error

CASES = Cases("symbols")


@CASES.add
def of_numbers(torch: Any) -> Any:
    found = [torch.sym_float(3), torch.sym_float(True), torch.sym_int(-3.7), torch.sym_sqrt(4)]
    for a, b in ((1, 2.0), (2, True), (3, 1)):
        found += [torch.sym_max(a, b), torch.sym_min(a, b)]
    found += [torch.sym_not(0), torch.sym_not(2), torch.sym_ite(True, 1, 2)]
    found += [torch.sym_sum([1, 2, 3]), torch.sym_sum(()), torch.sym_sum((1, 2.0))]
    return [(type(v).__name__, v) for v in found]


@CASES.add
def refusals(torch: Any) -> Any:
    calls = [
        partial(torch.sym_ite, 1, 1, 2), partial(torch.sym_ite, True, 1, 2.0),
        partial(torch.sym_sqrt, -1), partial(torch.sym_float, "a"),
        partial(torch.sym_int, float("nan")), partial(torch.sym_max, "a", 1),
        partial(torch.sym_min, 2, None), partial(torch.set_flush_denormal, 1),
        partial(torch._assert, False, "words"), partial(torch._assert, torch.tensor(False), "more"),
        partial(torch._assert, torch.ones(2), "several"),
    ]  # fmt: skip
    return [error(call) for call in calls] + [torch._assert(torch.tensor(True), "unused")]


@CASES.add
def other_devices(torch: Any) -> Any:
    x = torch.ones(1)
    return [getattr(x, f"is_{n}") for n in "xla ipu maia mtia vulkan xpu mps".split()]


test_scenario = CASES.test()
