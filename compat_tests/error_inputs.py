"""PyTorch's samples of wrong input: ``python -m compat_tests.error_inputs``.

Many entries of the operator database list calls that must fail. Both libraries must raise the same
class of error with the same first line.
"""

from __future__ import annotations

from typing import Any

from .mixed_dtypes import Outcome, answer, command, outcomes_of
from .op_db import counterpart, entries, name_of
from .translate import Untranslatable, translated


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


def run(pattern: str = "", processes: int = 2) -> list[Outcome]:
    """The outcomes of the entries whose names match."""
    ops = (op for op in entries() if op.error_inputs_func and "sparse" not in op.name)
    return outcomes_of(outcome, ops, pattern, processes)


if __name__ == "__main__":
    command("error_inputs", run)
