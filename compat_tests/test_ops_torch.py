"""Every record against PyTorch: results, graphs, gradients, in-place twins, ``out=``, errors."""

from __future__ import annotations

from typing import Any

import pytest

from .compare import differences
from .observe import arguments, library, quiet, to_array
from .oracle import cases, expected, facts, public
from .records import RECORDS

OURS = library("torchlike")


def check(name: str, kind: str) -> None:
    """Compare all cases of one kind, and list every difference."""
    record, found = RECORDS[name], []
    for index, dtype in cases(record, kind):
        ours = facts(OURS, record, kind, index, dtype)
        theirs = expected(record, kind, index, dtype)
        where = f"{record.samples[index] if kind != 'bad' else record.bad[index]} {dtype} "
        found += [where + d for d in differences(theirs, ours, f"torch.{dtype}")]
    assert not found, f"{len(found)} differences\n" + "\n".join(found[:20])


@pytest.mark.parametrize("name", public())
def test_results(name: str) -> None:
    """Values, dtype, shape, strides, grad_fn chain, first and second derivatives."""
    check(name, "run")


@pytest.mark.parametrize("name", [n for n in public() if RECORDS[n].in_place])
def test_in_place(name: str) -> None:
    """The in-place twin: result, identity, version, graph, gradients, errors."""
    check(name, "in_place")


@pytest.mark.parametrize("name", [n for n in public() if RECORDS[n].out])
def test_out(name: str) -> None:
    """``out=``: into an empty tensor, into one that fits, and where a gradient is needed."""
    check(name, "out")


@pytest.mark.parametrize("name", [n for n in public() if RECORDS[n].bad])
def test_errors(name: str) -> None:
    """The exception's class and the first line of its text."""
    check(name, "bad")


@pytest.mark.parametrize("name", [n for n in public() if RECORDS[n].in_place])
def test_a_refused_write_leaves_everything_as_it_was(name: str) -> None:
    record: Any = RECORDS[name]
    for index, dtype in cases(record, "in_place"):
        with quiet():
            args = arguments(OURS, record, index, dtype)
            target = args[0].clone()
            before = to_array(target)
            try:
                getattr(target, record.in_place)(*args[1:])
            except Exception:
                assert (to_array(target) == before).all(), (index, dtype)
                assert target._version == 0
