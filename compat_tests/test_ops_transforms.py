"""Every differentiable record under grad, vjp, jvp and vmap, and under every ordered pair of them.

The expected numbers are those of eager reverse mode, which other tests hold to PyTorch, JAX and
finite differences.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .functions import Case, differentiable, dot, number, weights
from .observe import library, quiet
from .oracle import TORCH
from .records import RECORDS, Record

OURS = library("torchlike")
SAMPLES = 99
ROWS = 3


def rows_of(T: Any, record: Record, index: int) -> list[Case]:
    """The same sample with other numbers, for the rows of a batch."""
    cases = [Case(T, record, index, row) for row in range(ROWS)]
    for case in cases[1:]:  # indices and other fixed arguments are those of the first row
        case.args, case.at = cases[0].args, cases[0].at
    return cases


def some_rows(T: Any, name: str, samples: int = SAMPLES) -> list[list[Case]]:
    record, found = RECORDS[name], []
    for index in range(len(record.samples)):
        if len(found) == samples or record.kinked(index):
            continue
        cases = rows_of(T, record, index)
        if cases[0].xs and cases[0].f(*cases[0].xs):
            found.append(cases)
    return found


def same(found: Any, expected: Any, what: str) -> None:
    """Two lists of tensors agree to rounding."""
    found = found if isinstance(found, (list, tuple)) else [found]
    assert len(found) == len(expected), what
    for a, b in zip(found, expected, strict=True):
        x, y = (np.asarray(t.detach().numpy()) for t in (a, b))
        np.testing.assert_allclose(x, y, 1e-9, 1e-11, err_msg=what)


def scalar(case: Case) -> Any:
    """``case.s``, which a transform wants as a real number."""

    def real(*xs: Any) -> Any:
        total = case.s(*xs)
        return total.real if total.is_complex() else total

    return real


def every(case: Case) -> tuple[int, ...]:
    return tuple(range(len(case.xs)))


def stacked(T: Any, rows: list[list[Any]]) -> list[Any]:
    return [T.stack([t.detach() for t in parts]) for parts in zip(*rows, strict=True)]


# --- one sample -----------------------------------------------------------------------------------


def single(T: Any, case: Case) -> None:
    """grad, vjp and jvp alone."""
    grads = case.gradient()[1]
    same(T.func.grad(scalar(case), every(case))(*case.xs), grads, "grad")
    value, pull = T.func.vjp(scalar(case), *case.xs)
    same(pull(T.ones_like(value)), grads, "vjp")
    _, tangent = T.func.jvp(scalar(case), tuple(case.xs), tuple(case.directions))
    same(tangent, [dot(grads, case.directions)], "jvp")


def twice(T: Any, case: Case) -> None:
    """grad and jvp over each other: all are the Hessian along a direction."""
    xs, ds = tuple(case.xs), tuple(case.directions)
    wanted = case.second(case.directions)
    gradient = T.func.grad(scalar(case), every(case))

    def along(*values: Any) -> Any:
        return T.func.jvp(scalar(case), values, ds)[1]

    same(T.func.jvp(gradient, xs, ds)[1], wanted, "jvp of grad")
    same(T.func.grad(along, every(case))(*xs), wanted, "grad of jvp")
    same(T.func.jvp(along, xs, ds)[1], [dot(wanted, ds)], "jvp of jvp")
    inner = T.func.grad(lambda *v: dot(gradient(*v), ds), every(case))
    same(inner(*xs), wanted, "grad of grad")

    def pulled(*values: Any) -> Any:
        value, pull = T.func.vjp(scalar(case), *values)
        return dot(pull(T.ones_like(value)), ds)

    value, pull = T.func.vjp(pulled, *xs)
    same(pull(T.ones_like(value)), wanted, "vjp of vjp")


# --- batches --------------------------------------------------------------------------------------


def batched(T: Any, cases: list[Case]) -> None:
    """vmap alone, with vmap, with grad and with jvp, inside and outside."""
    first = cases[0]
    xs = stacked(T, [c.xs for c in cases])
    ds = stacked(T, [c.directions for c in cases])
    grads = stacked(T, [c.gradient()[1] for c in cases])
    plain = stacked(T, [first.f(*c.xs) for c in cases])
    vmap, grad, jvp = T.func.vmap, T.func.grad, T.func.jvp

    same(vmap(lambda *v: tuple(first.f(*v)))(*xs), plain, "vmap")
    same(vmap(grad(scalar(first), every(first)))(*xs), grads, "vmap of grad")
    if not all(x.numel() for x in xs):
        return  # the rest compares sums over nothing
    inner = stacked(T, [[dot(c.gradient()[1], c.directions)] for c in cases])
    if not all(x.numel() for x in xs):
        return  # the rest compares sums over nothing
    inner = stacked(T, [[dot(c.gradient()[1], c.directions)] for c in cases])

    def total(*values: Any) -> Any:
        return vmap(scalar(first))(*values).sum()

    same(grad(total, every(first))(*xs), grads, "grad of vmap")
    found = vmap(lambda v, d: jvp(scalar(first), v, d)[1])(tuple(xs), tuple(ds))
    same(found, inner, "vmap of jvp")
    same(jvp(vmap(scalar(first)), tuple(xs), tuple(ds))[1], inner, "jvp of vmap")
    twofold = [T.stack([x, x.flip(0)]) for x in xs]
    wanted = [T.stack([p, p.flip(0)]) for p in plain]
    same(vmap(vmap(lambda *v: tuple(first.f(*v))))(*twofold), wanted, "vmap of vmap")


def partly_batched(T: Any, cases: list[Case]) -> None:
    """Only one input has the batch, and not in front; the result has it last."""
    first = cases[0]
    for at in range(len(first.xs)) if len(first.xs) > 1 else ():
        batch = T.stack([c.xs[at] for c in cases], -1)
        xs = [batch if k == at else x for k, x in enumerate(first.xs)]
        dims = tuple(-1 if k == at else None for k in range(len(xs)))
        try:
            found = T.func.vmap(lambda *v: tuple(first.f(*v)), dims, -1)(*xs)
        except RuntimeError as error:  # a batch does not fit into what has none
            assert "inplace arithmetic" in str(error) and at
            continue
        rows = [
            first.f(*[c.xs[at] if k == at else x for k, x in enumerate(first.xs)]) for c in cases
        ]
        wanted = [T.stack([t.detach() for t in parts], -1) for parts in zip(*rows, strict=True)]
        same(found, wanted, f"vmap over input {at}")


def batched_factors(T: Any, case: Case) -> None:
    """Only what the gradient is multiplied with has the batch, not what was saved for it."""
    xs = case.leaves()
    ys = [y for y in case.f(*xs) if y.requires_grad]

    def pull(*factors: Any) -> Any:
        grad = T.autograd.grad
        return grad(ys, xs, factors, retain_graph=True, materialize_grads=True)

    rows = [[weights(T, y, 10 * k + i) for i, y in enumerate(ys)] for k in range(2)]
    if ys:
        wanted = stacked(T, [list(pull(*row)) for row in rows])
        same(T.func.vmap(pull)(*stacked(T, rows)), wanted, "vmap of vjp")


@pytest.mark.parametrize("name", differentiable())
def test_grad_vjp_jvp_and_their_pairs(name: str) -> None:
    with quiet():
        for cases in some_rows(OURS, name):
            if all(x.numel() for x in cases[0].xs):
                single(OURS, cases[0])
                twice(OURS, cases[0])


@pytest.mark.parametrize("name", [n for n in differentiable() if RECORDS[n].batchable])
def test_vmap_and_its_pairs(name: str) -> None:
    with quiet():
        for cases in some_rows(OURS, name):
            batched(OURS, cases)
            partly_batched(OURS, cases)
            batched_factors(OURS, cases[0])


HANDFUL = "tanh mul sum.dim matmul cumsum gather softmax conv2d var cat".split()


@pytest.mark.skipif(TORCH is None, reason="torch is not installed")
@pytest.mark.parametrize("name", HANDFUL)
def test_same_as_torch_func(name: str) -> None:
    """The same transforms of the same function, by PyTorch."""
    with quiet():
        for ours, theirs in zip(some_rows(OURS, name, 3), some_rows(TORCH, name, 3), strict=True):
            for a, b in zip(_functions(OURS, ours), _functions(TORCH, theirs), strict=True):
                assert a == pytest.approx(b, rel=1e-9, abs=1e-11)


def _functions(T: Any, cases: list[Case]) -> list[float]:
    first = cases[0]
    xs, ds = tuple(first.xs), tuple(first.directions)
    batch = stacked(T, [c.xs for c in cases])
    gradient = T.func.grad(scalar(first), every(first))
    results = [
        dot(gradient(*xs), ds),
        dot(T.func.jvp(gradient, xs, ds)[1], ds),
        T.func.vmap(scalar(first))(*batch).sum(),
        sum(g.sum() for g in T.func.vmap(gradient)(*batch)),
    ]
    return [number(r) for r in results]


def test_batched_indices() -> None:
    """Every row of a batch has indices of its own."""
    T = OURS
    x = T.from_numpy(np.arange(24.0).reshape(3, 4, 2))
    at = T.tensor([[0, 2], [1, 1], [3, 0]])
    one = T.tensor([2, 0, 1])
    same(T.func.vmap(lambda v, i: v[i])(x, at), [T.stack([x[k, at[k]] for k in range(3)])], "x[i]")
    same(T.func.vmap(lambda v, i: v[i])(x, one), [T.stack([x[k, one[k]] for k in range(3)])], "0-d")
    same(T.func.vmap(lambda i: x[:, i])(at), [T.stack([x[:, a] for a in at])], "x[:, i]")
    found = T.func.vmap(T.func.grad(lambda v, i: (v[i] ** 2).sum()))(x, at)
    rows = []
    for k in range(3):
        v = x[k].clone().requires_grad_()
        rows += T.autograd.grad((v[at[k]] ** 2).sum(), v)
    same(found, [T.stack(rows)], "grad of x[i]")


def test_writes_to_views_inside_transforms() -> None:
    """A write to a view reaches its base and the base's other views."""
    T = OURS

    def f(x: Any) -> Any:
        y = x * 1
        row, column = y[0], y[:, 1]
        row[1:] *= 3
        return (y * column.sum()).sum()

    x = T.from_numpy(np.arange(1.0, 7.0).reshape(2, 3)).requires_grad_()
    wanted = T.autograd.grad(f(x), x)
    same(T.func.grad(f)(x.detach()), wanted, "grad")
    batch = T.stack([x.detach(), x.detach()])
    same(T.func.vmap(T.func.grad(f))(batch), [T.stack([wanted[0]] * 2)], "vmap of grad")
    tangent = T.func.jvp(f, (x.detach(),), (T.ones_like(x),))[1]
    assert number(tangent) == pytest.approx(number(wanted[0].sum()))
