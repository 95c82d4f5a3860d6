"""One argument of another dtype: ``python -m compat_tests.mixed_dtypes``.

The float32 samples of PyTorch's operator database are called again with one tensor after the other
converted to int64, float64, float16, bool or complex64. Both libraries must return the same values
and dtypes, or raise the same class of error; ``--texts`` also shows errors that say otherwise.
"""

from __future__ import annotations

import argparse
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np

from .op_db import UNSET, Different, counterpart, entries, name_of, same
from .translate import torch, translated

DTYPES = ("int64", "float64", "float16", "bool", "complex64")
SAMPLES, PLACES, ELEMENTS = 8, 6, 5000  # of an entry, of a sample, of a tensor: at most
# Random numbers, whose streams test_random_streams compares, and what this cannot call.
_LEFT_OUT = re.compile("rand|sparse|^(normal|multinomial|bernoulli|nn.functional.dropout)$")
Path = tuple[Any, ...]


@dataclass
class Outcome:
    """What came of an entry: how many calls agree, and what went wrong in the others."""

    name: str
    calls: int = 0
    wrong: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)


def _tensors(tree: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every tensor in a tree of arguments, with where it is."""
    if isinstance(tree, torch.Tensor):
        yield path, tree
    elif isinstance(tree, (list, tuple)):
        for i, part in enumerate(tree):
            yield from _tensors(part, (*path, i))
    elif isinstance(tree, dict):
        for key, part in tree.items():
            yield from _tensors(part, (*path, key))


def _replaced(tree: Any, path: Path, value: Any) -> Any:
    if not path:
        return value
    if isinstance(tree, dict):
        return {k: _replaced(v, path[1:], value) if k == path[0] else v for k, v in tree.items()}
    parts = [_replaced(v, path[1:], value) if i == path[0] else v for i, v in enumerate(tree)]
    return type(tree)(parts) if type(tree) in (list, tuple) else parts


def _calls(op: Any) -> Iterator[tuple[str, Any]]:
    """(where and what, arguments) of every call."""
    torch.manual_seed(0)
    np.random.seed(0)
    samples = iter(op.sample_inputs("cpu", torch.float32, requires_grad=False))
    for _, sample in zip(range(SAMPLES), samples, strict=False):
        arguments = [sample.input, list(sample.args), dict(sample.kwargs)]
        for path, tensor in list(_tensors(arguments))[:PLACES]:
            if tensor.layout != torch.strided or tensor.numel() > ELEMENTS:
                continue
            for name in DTYPES:
                dtype = getattr(torch, name)
                if tensor.dtype != dtype:
                    yield f"{path} {name}", _replaced(arguments, path, tensor.to(dtype))


def answer(f: Any, arguments: Any) -> tuple[str, Any]:
    """The class and first line of the error that a call raises, or '' and its result."""
    input, args, kwargs = arguments
    try:
        return "", f(input, *args, **kwargs)
    except Exception as error:
        return type(error).__name__, str(error).partition("\n")[0]


def _compare(theirs: tuple[str, Any], mine: tuple[str, Any], half: bool) -> str:
    if theirs[0] != mine[0]:
        said = [f"{kind or 'no error'}: {text!s:.90}" for kind, text in (theirs, mine)]
        return " | ".join(said).replace("\n", " ")
    if theirs[0]:
        return ""
    try:
        same(theirs[1], mine[1], loose=1e3 if half else 10)
    except Different as error:
        return str(error)
    return ""


def outcome(op: Any) -> Outcome:
    """Run one entry."""
    found, ours = Outcome(name_of(op)), counterpart(op)
    for where, arguments in _calls(op):
        mine = translated(arguments)
        expected, actual = answer(op.op, arguments), answer(ours, mine)
        wrong = _compare(expected, actual, where.endswith("float16"))
        found.calls += 1
        if wrong:
            found.wrong.append(f"{where}: {wrong}")
        elif expected[0] and expected[1] != actual[1]:
            found.texts.append(f"{where}: {expected[1]:.150} | {actual[1]:.150}")
    return found


def _named(outcome: Callable[[Any], Outcome], name: str) -> Outcome:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    op = next(op for op in entries() if name_of(op) == name)
    try:
        return outcome(op)
    except AttributeError:  # missing here, which the operator database counts
        return Outcome(name)


def outcomes_of(
    outcome: Callable[[Any], Outcome], ops: Iterable[Any], pattern: str, processes: int
) -> list[Outcome]:
    """The outcomes of the entries whose names match."""
    names = [name_of(op) for op in ops if re.search(pattern, name_of(op))]
    with get_context("fork").Pool(processes) as pool:
        return pool.map(partial(_named, outcome), names, chunksize=1)


def run(pattern: str = "", processes: int = 2) -> list[Outcome]:
    """The outcomes of the entries whose names match."""
    ops = (
        op
        for op in entries()
        if torch.float32 in op.dtypes and op.name not in UNSET and not _LEFT_OUT.search(op.name)
    )
    return outcomes_of(outcome, ops, pattern, processes)


def summary(outcomes: list[Outcome]) -> tuple[int, int]:
    """How many calls agree, of how many."""
    calls = sum(o.calls for o in outcomes)
    return calls - sum(len(o.wrong) for o in outcomes), calls


def command(module: str, run: Callable[[str, int], list[Outcome]]) -> None:
    """Run entries from the command line, and print what differs and how much does not."""
    parser = argparse.ArgumentParser(prog=f"python -m compat_tests.{module}")
    parser.add_argument("--only", default="", metavar="REGEX", help="entries whose names match")
    parser.add_argument("--texts", action="store_true", help="show errors that differ in words")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    if torch is None:
        raise SystemExit("PyTorch is not installed")
    outcomes = run(options.only, options.processes)
    for o in outcomes:
        for line in o.wrong + (o.texts if options.texts else []):
            print(o.name, line)
    print("{} of {} calls".format(*summary(outcomes)))


if __name__ == "__main__":
    command("mixed_dtypes", run)
