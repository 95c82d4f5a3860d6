"""PyTorch's samples of wrong input: ``python -m compat_tests.error_inputs``.

Many entries of the operator database list calls that must fail. Both libraries must raise the same
class of error with the same first line.
"""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from multiprocessing import get_context
from typing import Any

from .mixed_dtypes import Outcome, answer, summary
from .op_db import counterpart, entries, name_of
from .translate import Untranslatable, torch, translated


def outcome(op: Any) -> Outcome:
    """Run one entry."""
    found, ours = Outcome(name_of(op)), counterpart(op)
    for at, wrong in enumerate(op.error_inputs_func(op, "cpu")):
        sample = wrong.sample_input
        arguments = sample.input, sample.args, sample.kwargs
        found.calls += 1
        try:
            mine = translated(arguments)
        except (AttributeError, Untranslatable, ValueError) as error:
            # a dtype or layout that is missing here, or more dimensions than arrays have
            found.wrong.append(f"{at}: {error!s:.140}")
            continue
        expected, actual = answer(op.op, arguments), answer(ours, mine)
        if expected[0] != actual[0] or (expected[0] and expected[1] != actual[1]):
            said = [f"{kind or 'no error'}: {text!s:.140}" for kind, text in (expected, actual)]
            found.wrong.append(f"{at}: {' | '.join(said)}".replace("\n", " "))
    return found


def _named(name: str) -> Outcome:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    op = next(op for op in entries() if name_of(op) == name)
    try:
        return outcome(op)
    except AttributeError:  # missing here, which the operator database counts
        return Outcome(name)


def run(pattern: str = "", processes: int = 2) -> list[Outcome]:
    """The outcomes of the entries whose names match."""
    names = [
        name_of(op)
        for op in entries()
        if op.error_inputs_func is not None and "sparse" not in op.name
    ]
    names = [name for name in names if re.search(pattern, name)]
    with get_context("fork").Pool(processes) as pool:
        return pool.map(_named, names, chunksize=1)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m compat_tests.error_inputs")
    parser.add_argument("--only", default="", metavar="REGEX", help="entries whose names match")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    if torch is None:
        raise SystemExit("PyTorch is not installed")
    outcomes = run(options.only, options.processes)
    for o in outcomes:
        for line in o.wrong:
            print(o.name, line)
    print("{} of {} calls".format(*summary(outcomes)))


if __name__ == "__main__":
    sys.exit(main())
