"""``torch.quasirandom``: points of Sobol' sequences, scrambled and not."""

from __future__ import annotations

import importlib
from typing import Any

from compat_tests.scenarios import Cases, error

CASES = Cases("quasirandom")


def engine(torch: Any, *args: Any, **options: Any) -> Any:
    return importlib.import_module(f"{torch.__name__}.quasirandom").SobolEngine(*args, **options)


@CASES.add
def points_in_order(torch: Any) -> Any:
    e = engine(torch, 3)
    found = [e.draw(5), e.draw(), e.draw(3, dtype=torch.float64), e.num_generated]
    found.append(e.quasi.clone())
    found += [
        e.reset().draw(2),
        e.fast_forward(5).draw(2),
        engine(torch, 2).fast_forward(4).draw(2),
    ]
    out = torch.empty(1)
    again = engine(torch, 3).draw(3, out=out)
    return [*found, out, again is out, str(e), e.sobolstate]


@CASES.add
def scrambled(torch: Any) -> Any:
    e = engine(torch, 4, scramble=True, seed=7)
    found = [e.draw(4), e.draw_base2(2), e.shift, e.sobolstate, str(e), e.reset().draw(2)]
    torch.manual_seed(3)
    e = engine(torch, 2, scramble=True)
    return [*found, e.draw(3), torch.rand(2), str(e)]


@CASES.add
def many_dimensions(torch: Any) -> Any:
    e = engine(torch, 1111, scramble=True, seed=123456)
    found = [e.draw(300)[-1, ::100], e.draw(1)[0, -5:]]
    e = engine(torch, 21201)
    return [*found, e.draw(3)[:, -3:], e.sobolstate.sum()]


@CASES.add
def refusals(torch: Any) -> Any:
    e = engine(torch, 3)
    e.draw(3)
    return [
        error(lambda: engine(torch, 0)),
        error(lambda: engine(torch, 21202)),
        error(lambda: e.draw_base2(2)),
        error(lambda: engine(torch, 3).draw(0)),
        error(lambda: e.draw(2, dtype=torch.float16)),
    ]


test_scenario = CASES.test()
