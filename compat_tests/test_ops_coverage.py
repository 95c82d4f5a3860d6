"""Every declared operation has a record that runs it, and every public name has one."""

from __future__ import annotations

import contextlib
import functools
from typing import Any

import pytest

from functional.modes import enter_slow, leave_slow
from functional.tape import slow
from functional.tape.op import OPS
from functional.tape.sparse import DECLARED
from torchlike import names

from .observe import arguments, flat, gradients, leaves, library, quiet, weights
from .records import RECORDS

OURS = library("torchlike")


def operations_of(name: str, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The operations that a record's calls and their derivatives run."""
    record, seen = RECORDS[name], set()
    compute = slow.compute

    def watched(op: Any, args: Any) -> Any:
        seen.add(op.name)
        return compute(op, args)

    monkeypatch.setattr(slow, "compute", watched)
    enter_slow()  # the general path sees every operation
    try:
        with quiet():
            for index in range(len(record.samples)):
                _run(name, index, seen)
    finally:
        leave_slow()
        monkeypatch.undo()
    return seen


def _run(name: str, index: int, seen: set[str]) -> None:
    record = RECORDS[name]
    dtypes = [d for d in ("float64", "complex128") if d in record.dtypes] or [record.dtypes[0]]
    for dtype in dtypes:
        for call in (_call, _call_in_place):
            with contextlib.suppress(RuntimeError):  # refused for this dtype
                args = arguments(OURS, record, index, dtype)
                outs = call(record, args)
                _walk([t.grad_fn for t in outs], seen)
                if leaves(args):
                    _differentiate(leaves(args), outs)


def _differentiate(inputs: list[Any], outs: list[Any]) -> None:
    """Gradients and theirs, by the Tensor functions, which can be watched."""
    outs = [t for t in outs if t.requires_grad]
    cotangents = [weights(OURS, t, 1).requires_grad_() for t in outs]
    if not outs:
        return
    first = gradients(OURS, outs, inputs, cotangents, True)
    again = [g for g in first if g is not None and g.requires_grad]
    if again:
        directions = [weights(OURS, g, 2) for g in again]
        gradients(OURS, again, [*inputs, *cotangents], directions, True)


def _call(record: Any, args: list[Any]) -> list[Any]:
    return flat(record.call(OURS, *args))


def _call_in_place(record: Any, args: list[Any]) -> list[Any]:
    if record.in_place is None:
        return []
    target = args[0].clone()
    return [getattr(target, record.in_place)(*args[1:])]


def _walk(nodes: list[Any], seen: set[str]) -> None:
    while nodes:
        node = nodes.pop()
        if node is not None:
            if hasattr(type(node), "op"):
                seen.add(node.op.name)
            nodes += [n for n, _ in node.next_functions] + [getattr(node, "fn", None)]


@functools.cache
def _everything() -> dict[str, set[str]]:
    with pytest.MonkeyPatch.context() as patch:
        return {name: operations_of(name, patch) for name in RECORDS}


def test_every_operation_is_run_by_a_record() -> None:
    missing = set(OPS) - set().union(*_everything().values()) - DECLARED  # test_sparse_coverage.py
    assert not missing, f"no record runs {sorted(missing)}"


def test_records_run_what_they_say_they_cover() -> None:
    wrong = {n: set(r.covers) - _everything()[n] for n, r in RECORDS.items()}
    assert not {n: w for n, w in wrong.items() if w}


def test_every_public_name_has_a_record() -> None:
    have = {n.split(".")[0] for n in RECORDS} | {n for r in RECORDS.values() for n in r.names}
    have |= {n.removeprefix("nn.") for n in RECORDS}
    public = {*names.FUNCTIONS, *names.METHODS, *names.ALIASES}
    public -= {*names.SPARSE, *names.SPARSE_METHODS}  # test_sparse_coverage.py
    assert not public - have, f"no record for {sorted(public - have)}"


@pytest.mark.parametrize(("alias", "name"), names.ALIASES.items())
def test_aliases_are_the_same_function(alias: str, name: str) -> None:
    assert getattr(OURS, alias) is getattr(OURS, name)
