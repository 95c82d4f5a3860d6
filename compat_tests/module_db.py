"""PyTorch's module database, run with torchlike: ``python -m compat_tests.module_db``.

Each entry constructs its modules, in training and in evaluation, from one seed in both libraries.
It passes state_dict if names, shapes and initial values agree; repr if the printed modules do;
forward and gradients if results, and gradients of inputs and parameters, agree in float64 and
float32.
"""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torchlike

from .op_db import Different, direction, flat, said, same
from .translate import database, found, torch, translated

ASPECTS = ("state_dict", "repr", "forward", "gradients")


@dataclass
class Outcome:
    """The first difference of each aspect of a module, or nothing."""

    name: str
    said: dict[str, str] = field(default_factory=dict)


def entries() -> list[Any]:
    """The entries of the database."""
    return database("common_modules", "module_db")


def _inputs(info: Any, dtype: str, training: bool) -> Iterator[Any]:
    torch.manual_seed(0)
    return iter(
        info.module_inputs_func(
            info, device="cpu", dtype=getattr(torch, dtype), requires_grad=True, training=training
        )
    )


@dataclass
class Pair:
    """A module in both libraries, and what it is called with."""

    theirs: Any
    ours: Any
    their_input: Any
    our_input: Any


def _pairs(info: Any, cls: Any, dtype: str) -> Iterator[Pair]:
    for training in (True, False) if info.train_and_eval_differ else (True,):
        for sample in _inputs(info, dtype, training):
            made = sample.constructor_input
            args, kw = translated((made.args, made.kwargs))
            torch.manual_seed(3)
            theirs = info.module_cls(*made.args, **made.kwargs)
            torchlike.manual_seed(3)
            ours = cls(*args, **kw)
            theirs.to(getattr(torch, dtype)).train(training)
            ours.to(getattr(torchlike, dtype)).train(training)
            if sample.forward_input is not None:
                used = (sample.forward_input.args, sample.forward_input.kwargs)
                yield Pair(theirs, ours, used, translated(used))


def _same_state(pair: Pair) -> None:
    a, b = pair.theirs.state_dict(), pair.ours.state_dict()
    if list(a) != list(b):
        raise Different(f"names {list(a)} against {list(b)}")
    if any(map(torch.nn.parameter.is_lazy, a.values())):  # nothing in them yet
        same(repr(list(a.values())), repr(list(b.values())), where="values")
    else:
        same(list(a.values()), list(b.values()), where="values")


def _same_repr(pair: Pair) -> None:
    if repr(pair.theirs) != repr(pair.ours):
        raise Different(f"{pair.theirs!r} against {pair.ours!r}"[:300])


def _call(library: Any, module: Any, used: Any) -> Any:
    library.manual_seed(7)
    return module(*used[0], **used[1])


def _same_forward(pair: Pair) -> None:
    same(_call(torch, pair.theirs, pair.their_input), _call(torchlike, pair.ours, pair.our_input))


def _gradients(library: Any, module: Any, used: Any) -> list[Any]:
    sources = [t for t in [*flat(used), *module.parameters()] if t.requires_grad]
    results = [t for t in flat(_call(library, module, used)) if t.requires_grad]
    if not results or not sources:
        return []
    directions = [direction(library, t) for t in results]
    return list(library.autograd.grad(results, sources, directions, allow_unused=True))


def _same_gradients(pair: Pair) -> None:
    same(
        _gradients(torch, pair.theirs, pair.their_input),
        _gradients(torchlike, pair.ours, pair.our_input),
        where="gradients",
        loose=3,  # sums of many roundings, in several layers
    )


_CHECKS = dict(zip(ASPECTS, (_same_state, _same_repr, _same_forward, _same_gradients), strict=True))


def _class(info: Any) -> Any:
    path = f"{info.module_cls.__module__}.{info.module_cls.__name__}".removeprefix("torch.")
    return found(torchlike, path)


def _check(info: Any, wrong: dict[str, str]) -> None:
    """Run all aspects on every pair, but those in which something was wrong already."""
    cls = _class(info)
    for dtype in ("float64", "float32"):
        if getattr(torch, dtype) in info.dtypes or not info.dtypes:
            for pair in _pairs(info, cls, dtype):
                for aspect, check in _CHECKS.items():
                    wrong[aspect] = wrong[aspect] or said(check, pair)


def outcome(info: Any) -> Outcome:
    """Run one entry."""
    wrong = dict.fromkeys(ASPECTS, "")
    broken = said(_check, info, wrong)
    return Outcome(info.name, {aspect: text or broken for aspect, text in wrong.items()})


def run(pattern: str = "") -> list[Outcome]:
    """The outcomes of the entries whose names match."""
    warnings.simplefilter("ignore")
    return [outcome(info) for info in entries() if re.search(pattern, info.name)]


def summary(outcomes: list[Outcome]) -> str:
    """How many entries pass each aspect."""
    passes = {a: sum(not o.said[a] for o in outcomes) for a in ASPECTS}
    return f"of {len(outcomes)}: " + ", ".join(f"{a} {n}" for a, n in passes.items())


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m compat_tests.module_db", description=__doc__)
    parser.add_argument("--only", default="", metavar="REGEX", help="entries whose names match")
    options = parser.parse_args()
    if torch is None:
        raise SystemExit("PyTorch is not installed")
    outcomes = run(options.only)
    for o in outcomes:
        for aspect, text in o.said.items():
            if text:
                print(f"{o.name} {aspect}: {text}")
    print(summary(outcomes))


if __name__ == "__main__":
    sys.exit(main())
