"""Gradients through sparse tensors: which are sparse, in which places, and through which nodes."""

from __future__ import annotations

from typing import Any

import pytest

import torchlike
from compat_tests.scenarios import Cases, error
from compat_tests.sparse_cases import outcome, parts

CASES = Cases("sparse_gradients")

PLACES = [[0, 1, 1, 1], [2, 0, 2, 2]]


def leaves(torch: Any, kind: str) -> Any:
    """A sparse tensor, the leaf behind it (itself, or its values), and a dense leaf."""
    values = torch.tensor([3.0, 4.0, 5.0, 2.0])
    if kind == "values":
        values.requires_grad_()
        s = torch.sparse_coo_tensor(PLACES, values, (2, 3))
    else:
        s = values = torch.sparse_coo_tensor(PLACES, values, (2, 3), requires_grad=True)
    return s, values, torch.arange(6.0).reshape(2, 3).requires_grad_()


def cotangent(torch: Any, result: Any) -> Any:
    if not result.is_sparse:
        return torch.arange(1.0, result.numel() + 1).reshape(tuple(result.shape)).to(result.dtype)
    c = result.detach().coalesce()
    held = torch.arange(1.0, c.values().numel() + 1).reshape(tuple(c.values().shape))
    return torch.sparse_coo_tensor(c.indices(), held, tuple(c.shape))


def gradient(leaf: Any) -> Any:
    """A leaf's gradient, without the mark of coalesced ones, which PyTorch drops now and then."""
    found = parts(leaf.grad)
    return [*found[:5], *found[6:]] if isinstance(found, list) else found


def chain(node: Any) -> list[str]:
    names = []
    while node is not None:
        names.append(node.name())
        node = next((n for n, _ in node.next_functions if n is not None), None)
    return names


def gradients(torch: Any, function: Any) -> Any:
    """The nodes and both gradients, or the error, for both kinds of leaves."""
    found = []
    for kind in ("leaf", "values"):
        s, leaf, d = leaves(torch, kind)
        result = function(s, d)
        raised = error(lambda r=result: r.backward(cotangent(torch, r)))
        found.append([chain(result.grad_fn), raised[:60], gradient(leaf), gradient(d)])
    return found


def case(function: Any) -> Any:
    """A scenario that differentiates ``function(torch, s, d)``."""

    def scenario(torch: Any) -> Any:
        return gradients(torch, lambda s, d: function(torch, s, d))

    scenario.__name__ = function.__name__
    return CASES.add(scenario)


@case
def to_dense(torch: Any, s: Any, d: Any) -> Any:
    return s.to_dense()


@case
def to_dense_times_dense(torch: Any, s: Any, d: Any) -> Any:
    return (s.to_dense() * d).sum()


@case
def to_dense_unmasked(torch: Any, s: Any, d: Any) -> Any:
    return s.to_dense(masked_grad=False)


@case
def coalesced(torch: Any, s: Any, d: Any) -> Any:
    return s.coalesce()


@case
def values(torch: Any, s: Any, d: Any) -> Any:
    return s.coalesce().values() ** 2


@case
def total(torch: Any, s: Any, d: Any) -> Any:
    return s.sum()


@case
def total_in_places(torch: Any, s: Any, d: Any) -> Any:
    return torch.sparse.sum(s)


@case
def rows_in_places(torch: Any, s: Any, d: Any) -> Any:
    return torch.sparse.sum(s, 1)


@case
def everything_in_places(torch: Any, s: Any, d: Any) -> Any:
    return torch.sparse.sum(s, (0, 1))


@case
def negative(torch: Any, s: Any, d: Any) -> Any:
    return (-s).to_dense()


@case
def twice(torch: Any, s: Any, d: Any) -> Any:
    return (s * 2).to_dense()


@case
def quotient(torch: Any, s: Any, d: Any) -> Any:
    return (s / 4).to_dense()


@case
def absolute(torch: Any, s: Any, d: Any) -> Any:
    return s.abs().to_dense()


@case
def squared(torch: Any, s: Any, d: Any) -> Any:
    return s.pow(2).to_dense()


@case
def sine_has_none(torch: Any, s: Any, d: Any) -> Any:
    return s.sin().to_dense()


@case
def root_has_none(torch: Any, s: Any, d: Any) -> Any:
    return s.sqrt().to_dense()


@case
def times_dense(torch: Any, s: Any, d: Any) -> Any:
    return (s.coalesce() * d).to_dense()


@case
def dense_plus(torch: Any, s: Any, d: Any) -> Any:
    return d + s


@case
def dense_minus(torch: Any, s: Any, d: Any) -> Any:
    return d - s


@case
def plus_itself(torch: Any, s: Any, d: Any) -> Any:
    return (s + s).to_dense()


@case
def turned(torch: Any, s: Any, d: Any) -> Any:
    return s.t().to_dense()


@case
def matrix_product(torch: Any, s: Any, d: Any) -> Any:
    return s @ d.t()


@case
def matrix_product_from_the_right(torch: Any, s: Any, d: Any) -> Any:
    return d.t() @ s


@case
def vector_product(torch: Any, s: Any, d: Any) -> Any:
    return s.mv(d[0])


@case
def product_in_places(torch: Any, s: Any, d: Any) -> Any:
    return torch.sparse.mm(s, d.t())


@case
def product_in_places_from_the_right(torch: Any, s: Any, d: Any) -> Any:
    return torch.sparse.mm(d.t(), s)


@case
def sum_of_product_in_places(torch: Any, s: Any, d: Any) -> Any:
    return torch.sparse.addmm(d[:, :2], s, d.t(), beta=2, alpha=3)


@case
def sum_of_product(torch: Any, s: Any, d: Any) -> Any:
    return torch.addmm(d[:, :2], s, d.t(), beta=2, alpha=3)


@case
def softmax(torch: Any, s: Any, d: Any) -> Any:
    return torch.sparse.softmax(s, 1).to_dense()


@case
def log_softmax(torch: Any, s: Any, d: Any) -> Any:
    return torch.sparse.log_softmax(s, 0).to_dense()


@case
def masked(torch: Any, s: Any, d: Any) -> Any:
    return d.sparse_mask(s.detach().coalesce())


@case
def masked_sum(torch: Any, s: Any, d: Any) -> Any:
    return torch.sparse.sum(d.sparse_mask(s.detach().coalesce())) ** 2


@case
def to_sparse(torch: Any, s: Any, d: Any) -> Any:
    return d.to_sparse()


@case
def to_sparse_rows(torch: Any, s: Any, d: Any) -> Any:
    return (d.to_sparse(1).values() ** 2).sum()


@case
def to_sparse_and_back(torch: Any, s: Any, d: Any) -> Any:
    return (d.to_sparse().to_dense() ** 2).sum()


@case
def other_dtype(torch: Any, s: Any, d: Any) -> Any:
    return s.double().to_dense()


@case
def selected_has_none(torch: Any, s: Any, d: Any) -> Any:
    return s[1].to_dense()


@CASES.add
def sparse_times_sparse(torch: Any) -> Any:
    s, leaf, _ = leaves(torch, "values")
    z = torch.sparse.mm(s, s.detach().t()).to_dense()
    z.backward(cotangent(torch, z))
    t, _, _ = leaves(torch, "leaf")
    torch.sparse.mm(t.coalesce(), t.coalesce().t()).to_dense().sum().backward()
    return [z, leaf.grad, t.grad.to_dense(), chain(z.grad_fn)]


@CASES.add
def hybrids(torch: Any) -> Any:
    found = []
    for function in (
        lambda h: h.to_dense(), lambda h: torch.sparse.sum(h, 1), lambda h: torch.sparse.sum(h, 0),
        lambda h: torch.sparse.softmax(h, 1).to_dense(), lambda h: h.coalesce().values() ** 2,
        lambda h: torch.sparse.log_softmax(h, 0).to_dense(), lambda h: torch.sparse.sum(h, (0, 1)),
    ):  # fmt: skip
        h = torch.sparse_coo_tensor([[0, 2, 0]], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], (4, 2))
        h.requires_grad_()
        z = function(h)
        z.backward(cotangent(torch, z))
        found.append([gradient(h), parts(z)])
    return found


@CASES.add
def accumulating(torch: Any) -> Any:
    found, (s, _, d) = [], leaves(torch, "leaf")
    for result in (torch.sparse.sum(s), s.to_dense(), s.sum(), torch.sparse.sum(s)):
        result.backward(torch.ones_like(result))
        found.append(gradient(s))
    for result in (d.sparse_mask(s.detach()), d * s.detach(), d * 2, (d * s.detach()).to_dense()):
        result.backward(cotangent(torch, result))
        found.append(gradient(d))
    return found


@CASES.add
def asked_for(torch: Any) -> Any:
    s, leaf, d = leaves(torch, "values")
    seen: list[Any] = []
    s.register_hook(lambda g: seen.append(parts(g)))
    s.retain_grad()
    found = torch.autograd.grad(torch.sparse.sum(s * 3), [s, leaf], retain_graph=True)
    torch.sparse.sum(s * d.detach()).backward()
    with torch.no_grad():
        free = (s * 2).requires_grad
    return [[parts(g) for g in found], seen, parts(s.grad), leaf.grad, free, s.is_leaf]


@CASES.add
def in_place_writes(torch: Any) -> Any:
    s, leaf, _ = leaves(torch, "values")
    t = s.clone()
    t.mul_(2)
    t.neg_()
    torch.sparse.sum(t).backward()
    bad, _, _ = leaves(torch, "leaf")
    return [
        leaf.grad, outcome(lambda: bad.mul_(2)), outcome(lambda: bad.detach().mul_(2)),
        chain(t.grad_fn),
    ]  # fmt: skip


@CASES.add
def transforms(torch: Any) -> Any:
    adjacency = torch.sparse_coo_tensor(PLACES, [3.0, 4.0, 5.0, 2.0], (2, 3)).coalesce()
    w, func = torch.arange(6.0).reshape(3, 2), torch.func
    table = lambda w: torch.nn.functional.embedding(torch.tensor([0, 1, 1]), w, sparse=True).sum()
    return [
        func.grad(lambda w: (torch.spmm(adjacency, w) ** 2).sum())(w),
        func.grad(lambda w: (torch.sparse.mm(adjacency, w) ** 2).sum())(w),
        func.vjp(lambda w: adjacency @ w, w)[1](torch.ones(2, 2)),
        func.vmap(lambda v: adjacency @ v, 1)(w), func.jacrev(lambda v: adjacency @ v)(w[:, 0]),
        parts(func.grad(table)(w)),
    ]  # fmt: skip


test_scenario = CASES.test()


def test_gradcheck():
    values = torchlike.tensor([3.0, 4.0, 5.0, 2.0], dtype=torchlike.float64, requires_grad=True)
    dense = torchlike.arange(6.0, dtype=torchlike.float64).reshape(3, 2).requires_grad_()

    def function(values, dense):
        s = torchlike.sparse_coo_tensor(PLACES, values, (2, 3))
        z = torchlike.sparse.mm(torchlike.sparse.softmax(s * 0.3, 1), dense)
        return z + torchlike.sparse.log_softmax(s, 0).to_dense()[:, :2]

    assert torchlike.autograd.gradcheck(function, (values, dense))
    assert torchlike.autograd.gradgradcheck(function, (values, dense))


def test_dense_backward_passes_stay_on_arrays_when_sparse_graphs_are_gone():
    from functional.tape.foreign import CROSSINGS

    before = len(CROSSINGS)
    s = torchlike.sparse_coo_tensor(PLACES, torchlike.ones(4, requires_grad=True), (2, 3))
    z = s.to_dense().sum()
    assert len(CROSSINGS) > before
    del s, z
    assert len(CROSSINGS) == before


def test_forward_mode_refuses():
    from torchlike.autograd import forward_ad

    s = torchlike.sparse_coo_tensor(PLACES, [1.0, 2, 3, 4], (2, 3))
    with forward_ad.dual_level(), pytest.raises((RuntimeError, TypeError)):
        forward_ad.make_dual(s, s) * s


def test_sparse_gradients_of_user_functions_arrive():
    class Twice(torchlike.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return (g * 2).to_sparse()

    x = torchlike.arange(3.0).requires_grad_()
    Twice.apply(x).sum().backward()
    assert x.grad.to_dense().tolist() == [2.0, 2.0, 2.0]


def test_second_derivatives():
    v = torchlike.tensor([3.0, 4.0, 5.0, 2.0], requires_grad=True)
    total = (torchlike.sparse_coo_tensor(PLACES, v, (2, 3)).to_dense() ** 3).sum()
    (g,) = torchlike.autograd.grad(total, v, create_graph=True)
    assert g.tolist() == [27.0, 48.0, 147.0, 147.0]  # 3 x², and the last two add up to 7
    (again,) = torchlike.autograd.grad((g**2).sum(), v)
    assert again.tolist() == [2 * 27 * 18.0, 2 * 48 * 24.0, 4 * 147 * 42.0, 4 * 147 * 42.0]
