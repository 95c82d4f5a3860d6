"""Sparse matrices in compressed format: conversions, parts, printing, products, gradients."""

from __future__ import annotations

import io
import pickle
from typing import Any

import pytest

import torchlike
from compat_tests.scenarios import Cases, error
from compat_tests.sparse_cases import dense, ordered, outcome, parts

CASES = Cases("sparse_compressed")


def by_rows(torch: Any, values: Any = None, **options: Any) -> Any:
    values = torch.tensor([3.0, 4.0, 5.0]) if values is None else values
    starts, inner = torch.tensor([0, 1, 3]), torch.tensor([2, 0, 2])
    return torch.sparse_csr_tensor(starts, inner, values, (2, 3), **options)


def by_columns(torch: Any) -> Any:
    starts, inner = torch.tensor([0, 1, 1, 3]), torch.tensor([1, 0, 1])
    return torch.sparse_csc_tensor(starts, inner, torch.tensor([4.0, 3.0, 5.0]), (2, 3))


def seen(call: Any) -> Any:
    """The text of a result, which has all parts of a compressed matrix, or the error."""
    found: list[Any] = []
    raised = outcome(lambda: found.append(call()))
    return repr(found[0]) if found else raised


@CASES.add
def texts_and_conversions(torch: Any) -> Any:
    s, c, k, d = by_rows(torch), by_columns(torch), ordered(torch), dense(torch)
    v = torch.tensor([3.0, 4.0, 5.0], requires_grad=True)
    return [
        seen(call)
        for call in (
            lambda: s, lambda: c, lambda: s.double(), lambda: s.long(), lambda: s.half(),
            lambda: by_rows(torch, v), lambda: by_rows(torch, requires_grad=True), s.to_dense,
            c.to_dense, s.to_sparse, s.to_sparse_coo, c.to_sparse, s.to_sparse_csc, c.to_sparse_csr,
            d.to_sparse_csr, d.to_sparse_csc, k.to_sparse_csr, k.to_sparse_csc,
            lambda: d.to_sparse(layout=torch.sparse_csr), lambda: s.to_sparse_csr() is s,
            lambda: torch.eye(2, 3).to_sparse_csr(), lambda: torch.zeros(2, 2).to_sparse_csr(),
            s.t, c.t, lambda: s.transpose(0, 1), s.clone, s.detach, lambda: s.to("cpu") is s,
            lambda: torch.zeros(2, 3, layout=torch.sparse_csr),
            lambda: torch.zeros(2, 3, layout=torch.sparse_csc),
            lambda: torch.zeros(2, layout=torch.sparse_csr), lambda: torch.zeros_like(s),
            lambda: d.sparse_mask(s), lambda: pickle.loads(pickle.dumps(s)),
            lambda: s.to_dense(torch.float64),
        )
    ]  # fmt: skip


@CASES.add
def parts_of_a_matrix(torch: Any) -> Any:
    found = []
    for t in (by_rows(torch), by_columns(torch), ordered(torch), dense(torch)):
        found.append([
            seen(call)
            for call in (
                t.crow_indices, t.col_indices, t.ccol_indices, t.row_indices,
                lambda t=t: t.layout, lambda t=t: t.is_sparse_csr, lambda t=t: t.is_sparse,
                t.sparse_dim, t.dense_dim, lambda t=t: list(t.size()), t.numel,
            )
        ])  # fmt: skip
    s = by_rows(torch)
    calls = s.values, s._nnz, s.indices, s.coalesce, s.is_coalesced, s.stride, s.numpy, s.tolist
    return [*found, [seen(call) for call in calls]]


@CASES.add
def constructors(torch: Any) -> Any:
    make, v = torch.sparse_csr_tensor, torch.tensor([3.0, 4.0, 5.0])
    starts, inner = torch.tensor([0, 1, 3]), torch.tensor([2, 0, 2])
    checked: Any = {"check_invariants": True}
    return [
        seen(call)
        for call in (
            lambda: make(starts, inner, v), lambda: make([0, 1, 3], [2, 0, 2], [3, 4, 5]),
            lambda: make(starts, inner, v, (2, 3), dtype=torch.float64),
            lambda: make(starts.int(), inner.int(), v, (2, 3)),
            lambda: make(starts, inner, v, (2, 3), **checked),
            lambda: make(starts, torch.tensor([2, 2, 0]), v, (2, 3), **checked),
            lambda: make(starts, inner, v, (2, 2), **checked),
            lambda: make(torch.tensor([1, 1, 3]), inner, v, (2, 3), **checked),
            lambda: make(torch.tensor([0, 1, 2]), inner, v, (2, 3), **checked),
            lambda: torch.sparse_csc_tensor([0, 1, 1, 3], [1, 0, 1], [4.0, 3.0, 5.0]),
            lambda: torch.sparse_compressed_tensor(
                starts, inner, v, (2, 3), layout=torch.sparse_csr
            ),
        )
    ]  # fmt: skip


@CASES.add
def computing(torch: Any) -> Any:
    s, c, d = by_rows(torch), by_columns(torch), dense(torch)
    return [
        seen(call)
        for call in (
            lambda: -s, lambda: s * 2, lambda: 2 * s, lambda: s.sin(), lambda: c.abs(),
            lambda: s.relu(), lambda: s.sqrt(), lambda: s.sum(), lambda: s.sum(0),
            lambda: s.sum(0, keepdim=True), lambda: s + s, lambda: s * s, lambda: s * d,
            lambda: d * s, lambda: d + s, lambda: s + d, lambda: s @ d.t(), lambda: c @ d.t(),
            lambda: s @ torch.ones(3), lambda: d.t() @ s, lambda: torch.ones(2) @ s,
            lambda: torch.addmm(d[:, :2], s, d.t(), beta=2, alpha=3), lambda: s.mv(torch.ones(3)),
            lambda: torch.sparse.mm(s, d.t()), lambda: torch.sparse.addmm(d[:, :2], s, d.t()),
            lambda: (s @ s.t()).to_dense(), lambda: torch.nn.functional.linear(d, s),
            lambda: torch.sparse.sum(s), lambda: s @ torch.ones(2, 2),
            lambda: s @ d.t().double(), lambda: s[0], lambda: s[1, 2], lambda: s[:, 1],
            lambda: s.select(0, 0), lambda: s.clone().mul_(2), lambda: s.clone().neg_(),
            lambda: s.clone().add_(s), lambda: d.clone().add_(s), lambda: s.clone().zero_(),
        )
    ]  # fmt: skip


@CASES.add
def gradients(torch: Any) -> Any:
    found = []
    for function in (
        lambda s, d: s @ d.t(), lambda s, d: torch.sparse.mm(s, d.t()), lambda s, d: s.to_dense(),
        lambda s, d: (s * 2).to_dense(), lambda s, d: s.values(), lambda s, d: s.sum(),
        lambda s, d: d.to_sparse_csr().to_dense(), lambda s, d: s @ d[0],
        lambda s, d: torch.addmm(d[:, :2], s, d.t()), lambda s, d: s.to_sparse().to_dense(),
        lambda s, d: torch.sparse.addmm(d[:, :2], s, d.t()),
        lambda s, d: d.to_sparse().to_sparse_csr().to_dense() ** 2,
    ):  # fmt: skip
        for kind in ("constant", "leaf", "values"):
            values = torch.tensor([3.0, 4.0, 5.0], requires_grad=kind == "values")
            s = by_rows(torch, values, requires_grad=kind == "leaf")
            if kind == "values":
                s = by_rows(torch, values)
            leaf = values if kind == "values" else s
            d = dense(torch).requires_grad_()
            z = function(s, d)
            raised = error(lambda z=z: z.backward(torch.ones_like(z)))
            name = None if z.grad_fn is None else z.grad_fn.name()
            found.append([name, raised[:60], repr(leaf.grad), repr(d.grad)])
    return found


@CASES.add
def checkpoints(torch: Any) -> Any:
    found = []
    for options in ({}, {"weights_only": False}):
        file = io.BytesIO()
        torch.save({"s": by_rows(torch), "c": by_columns(torch)}, file)
        file.seek(0)
        found += [repr(v) for v in torch.load(file, **options).values()]
    return found


@CASES.add
def other_products(torch: Any) -> Any:
    found: list[Any] = []
    for reduce in ("sum", "mean", "amax", "amin"):
        values = torch.tensor([3.0, 4.0, 5.0], requires_grad=True)
        d = torch.arange(6.0).reshape(3, 2).requires_grad_()
        z = torch.sparse.mm(by_rows(torch, values), d, reduce=reduce)
        z.backward(torch.arange(1.0, 5.0).reshape(2, 2))
        found.append([z, values.grad, d.grad])
    a, b = torch.ones(2, 4, requires_grad=True), torch.arange(12.0).reshape(4, 3)
    z = torch.sparse.sampled_addmm(by_rows(torch), a, b, beta=0.5, alpha=2.0)
    z.to_dense().sum().backward()
    s, d = by_rows(torch), dense(torch).t()
    return [
        *found, repr(z.detach()), a.grad, outcome(lambda: torch.sparse.mm(s, d, reduce="prod")),
        outcome(lambda: torch.sparse.mm(s.to_sparse(), d, reduce="sum")),
        outcome(lambda: torch.sparse.sampled_addmm(s.to_sparse(), a, b)),
    ]  # fmt: skip


test_scenario = CASES.test()


@pytest.mark.parametrize(
    "starts, inner", [([1, 1, 3], [2, 0, 2]), ([0, 3, 2], [2, 0, 2]), ([0, 1, 3], [2, 0, 7])]
)
def test_places_that_are_none_never_count_as_others(starts, inner):
    bad = torchlike.sparse_csr_tensor(starts, inner, [1.0, 2.0, 3.0], (2, 3))
    for call in (bad.to_dense, bad.to_sparse, lambda: bad @ torchlike.ones(3, 2)):
        with pytest.raises(RuntimeError, match="is not satisfied"):
            call()


def test_operations_without_a_kernel_raise():
    s = by_rows(torchlike)
    for call in (s.exp, lambda: s / 2, lambda: s == s, s.mean, lambda: s.view(-1), s.max):
        with pytest.raises(RuntimeError):
            call()


def test_batches_are_refused():
    with pytest.raises(NotImplementedError, match="batches"):
        torchlike.ones(2, 2, 2).to_sparse_csr()
    assert parts(ordered(torchlike))[0] == "sparse"
