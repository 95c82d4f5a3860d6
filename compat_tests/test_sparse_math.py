"""What sparse tensors compute: functions of elements, sums, products, geometry, softmax."""

from __future__ import annotations

from typing import Any

import numpy as np

import torchlike
from compat_tests.scenarios import Cases
from compat_tests.sparse_cases import dense, hybrid, ordered, outcome, parts, repeated
from functional.kernels import coo_products

CASES = Cases("sparse_math")

UNARY = """
    abs asin asinh atan atanh ceil deg2rad erf erfinv expm1 floor frac isinf isnan isneginf isposinf
    log1p neg positive rad2deg relu round sgn sign signbit sin sinh sqrt square tan tanh trunc
    nan_to_num
""".split()


@CASES.add
def functions_of_elements(torch: Any) -> Any:
    found = []
    for name in UNARY:
        call = getattr(torch, name)
        for t in (ordered(torch) * 0.1, repeated(torch) * 0.1, hybrid(torch) * 0.1):
            found.append([name, outcome(lambda call=call, t=t: call(t))])
        found.append([name, outcome(lambda call=call: call(repeated(torch).long()))])
    return found


@CASES.add
def in_place(torch: Any) -> Any:
    found = []
    for make in (ordered, repeated, hybrid):
        t = make(torch).coalesce()
        for call in (
            lambda t: t.abs_(), lambda t: t.neg_(), lambda t: t.sin_(), lambda t: t.mul_(2),
            lambda t: t.div_(4), lambda t: t.sqrt_(), lambda t: t.zero_(), lambda t: t.add_(t),
            lambda t: t.sub_(t * 2), lambda t: t.mul_(t), lambda t: t.pow_(2), lambda t: t.t_(),
            lambda t: t.copy_(t * 3), lambda t: t.add_(t, alpha=3), lambda t: t.transpose_(0, 1),
        ):  # fmt: skip
            own = t.clone()
            found.append([outcome(lambda call=call, own=own: call(own)), parts(own), own._version])
    return found


@CASES.add
def writes_share_memory(torch: Any) -> Any:
    s = ordered(torch)
    other, values = s.detach(), s._values()
    s.mul_(2)
    found = [parts(other), values]
    s.add_(repeated(torch))
    return [*found, parts(s), parts(other)]


@CASES.add
def sums_and_differences(torch: Any) -> Any:
    s, u, d = ordered(torch), repeated(torch), dense(torch)
    sc, uc, h = s.coalesce(), u.coalesce(), hybrid(torch)
    return [
        outcome(call)
        for call in (
            lambda: s + s, lambda: s + ordered(torch), lambda: s + u, lambda: sc + uc,
            lambda: sc + u, lambda: u + u, lambda: uc - sc, lambda: s - u,
            lambda: torch.add(sc, uc, alpha=2), lambda: torch.sub(s, u, alpha=0.5),
            lambda: h + h * 2, lambda: s + u.double(), lambda: s.long() + u, lambda: s + h,
            lambda: d + s, lambda: d - u, lambda: torch.add(d, u, alpha=3), lambda: d + h,
            lambda: torch.zeros(4, 2) + h, lambda: d.long() + s, lambda: d.double() + s,
            lambda: d.clone().add_(s), lambda: d.clone().sub_(u), lambda: d + s.bool(),
            lambda: d.clone().add_(u, alpha=-2), lambda: d.clone().add_(h),
            lambda: torch.ones(3) + s, lambda: s + torch.sparse_coo_tensor((2, 3)),
        )
    ]  # fmt: skip


@CASES.add
def products_of_elements(torch: Any) -> Any:
    s, u, d = ordered(torch), repeated(torch), dense(torch)
    sc, uc, h = s.coalesce(), u.coalesce(), hybrid(torch)
    return [
        outcome(call)
        for call in (
            lambda: s * 2, lambda: 2 * u, lambda: s * torch.tensor(2.0), lambda: s / 2,
            lambda: s / torch.tensor(4.0), lambda: torch.tensor(2.0) * s, lambda: s.long() * 2.5,
            lambda: s.long() / 2, lambda: s * 2j, lambda: s // 2, lambda: s**3, lambda: s.pow(-1),
            lambda: torch.div(s, 2, rounding_mode="floor"), lambda: sc * uc, lambda: u * s,
            lambda: u * u, lambda: sc * sc, lambda: h * h, lambda: s * d, lambda: d * u,
            lambda: s * torch.ones(3), lambda: s * torch.ones(2, 1), lambda: h * torch.ones(4, 2),
            lambda: s * torch.ones(4), lambda: (torch.ones(4, 3) * sc[0]).coalesce(),
            lambda: d.clone().mul_(s), lambda: s.clone().mul_(d), lambda: s * d.double(),
            lambda: s.half() * 3, lambda: s.bool() * s.bool(),
        )
    ]  # fmt: skip


@CASES.add
def matrix_products(torch: Any) -> Any:
    s, u, d, h = ordered(torch), repeated(torch), dense(torch), hybrid(torch)
    return [
        outcome(call)
        for call in (
            lambda: s @ d.t(), lambda: u @ d.t(), lambda: torch.mm(u, d.t()),
            lambda: torch.spmm(s, d.t()), lambda: torch.dsmm(s, d.t()), lambda: d.t() @ u,
            lambda: torch.sparse.mm(u, d.t()), lambda: torch.sparse.mm(d.t(), u),
            lambda: torch.sparse.mm(d, d.t()), lambda: s @ s.t(), lambda: u.t() @ s,
            lambda: torch.sparse.mm(u, s.t()), lambda: s @ torch.ones(3),
            lambda: u.mv(torch.ones(3)), lambda: torch.ones(2) @ u,
            lambda: torch.matmul(u, torch.ones(3, 1)),
            lambda: torch.addmm(d[:, :2], u, d.t(), beta=2, alpha=3),
            lambda: d[:, :2].addmm(s, d.t()),
            lambda: torch.sparse.addmm(d[:, :2], u, d.t(), beta=2, alpha=3),
            lambda: torch.sparse.addmm(torch.ones(2), u, d.t()),
            lambda: torch.smm(s, d.t()), lambda: torch.hspmm(s, d.t()),
            lambda: torch.sspaddmm(torch.eye(2).to_sparse(), s, d.t(), alpha=2).to_dense(),
            lambda: torch.nn.functional.linear(u, d), lambda: torch.nn.functional.linear(d, u),
            lambda: u.half() @ d.half().t(), lambda: u.long() @ d.long().t(),
            lambda: u.double() @ d.t(), lambda: u @ torch.ones(2, 2), lambda: s @ torch.ones(2),
            lambda: torch.sparse.mm(s, torch.ones(3)), lambda: h.t(), lambda: s.addmm(s, s),
            lambda: torch.sparse_coo_tensor((2, 3)) @ d.t(),
        )
    ]  # fmt: skip


@CASES.add
def geometry(torch: Any) -> Any:
    s, u, h = ordered(torch), repeated(torch), hybrid(torch)
    cube = torch.arange(12.0).reshape(2, 2, 3).to_sparse()
    half = torch.arange(24.0).reshape(2, 2, 3, 2).to_sparse(2)
    index = torch.tensor([1, 0, 1])
    return [
        outcome(call)
        for call in (
            lambda: s.t(), lambda: s.T, lambda: s.mT, lambda: u.transpose(0, 1),
            lambda: s.permute(1, 0), lambda: cube.permute(2, 0, 1),
            lambda: half.permute(1, 0, 3, 2),
            lambda: cube.transpose(0, 2), lambda: half.transpose(2, 3), lambda: h.permute(1, 0),
            lambda: s.unsqueeze(0), lambda: s.unsqueeze(1), lambda: s.unsqueeze(-1),
            lambda: h.unsqueeze(1), lambda: h.unsqueeze(-1), lambda: s[None], lambda: s[0],
            lambda: u[1], lambda: s[-1], lambda: s[0, 2], lambda: s[:, 0], lambda: s[1][0],
            lambda: h[2], lambda: h[1], lambda: h[:, 1], lambda: cube[1], lambda: cube[1, 0],
            lambda: s[5], lambda: s.select(1, 2), lambda: half.select(3, 0),
            lambda: list(u), lambda: u.index_select(0, index), lambda: s.index_select(1, index),
            lambda: h.index_select(0, torch.tensor([2, 2])), lambda: h.index_select(1, index),
            lambda: s.index_select(0, torch.tensor([5])), lambda: torch.cat([s, u]),
            lambda: torch.cat([s, u], 1), lambda: torch.cat([h, h], 1), lambda: torch.stack([s, u]),
            lambda: torch.cat([s, s.double()]), lambda: half.unbind(0),
        )
    ]  # fmt: skip


@CASES.add
def sums(torch: Any) -> Any:
    s, u, h = ordered(torch), repeated(torch), hybrid(torch)
    return [
        outcome(call)
        for t in (s, u, h, s.long(), u.bool())
        for call in (
            lambda t=t: t.sum(), lambda t=t: t.sum(0), lambda t=t: t.sum(1),
            lambda t=t: t.sum((0, 1)), lambda t=t: t.sum(0, keepdim=True),
            lambda t=t: t.sum((0, 1), keepdim=True), lambda t=t: t.sum(dtype=torch.float64),
            lambda t=t: torch.sparse.sum(t), lambda t=t: torch.sparse.sum(t, 0),
            lambda t=t: torch.sparse.sum(t, -1), lambda t=t: torch.sparse.sum(t, [0, 1]),
            lambda t=t: torch.sparse.sum(t, 0, dtype=torch.float64),
        )
    ] + [
        outcome(call)
        for call in (
            lambda: torch.sparse.sum(s, 5), lambda: torch.sparse.sum(dense(torch)),
            lambda: torch.sparse.sum(dense(torch), 0), lambda: s.norm(), lambda: u.norm(),
            lambda: torch.norm(h, 1), lambda: s.norm(2, 0), lambda: u.any(),
        )
    ]  # fmt: skip


@CASES.add
def softmax(torch: Any) -> Any:
    cube = (torch.arange(12.0).reshape(2, 2, 3) % 5).to_sparse()
    found = []
    for t in (ordered(torch), repeated(torch), hybrid(torch), cube):
        for dim in range(-1, t.dim()):
            found.append(outcome(lambda t=t, dim=dim: torch.sparse.softmax(t, dim)))
            found.append(outcome(lambda t=t, dim=dim: torch.sparse.log_softmax(t, dim)))
    s = ordered(torch)
    return found + [
        outcome(call)
        for call in (
            lambda: torch.sparse.softmax(s, 1, dtype=torch.float64),
            lambda: torch.sparse.softmax(s, 2), lambda: torch.sparse.softmax(s.long(), 1),
            lambda: torch.sparse.log_softmax(dense(torch), 1),
        )
    ]  # fmt: skip


@CASES.add
def less_common(torch: Any) -> Any:
    s, one = ordered(torch), torch.tensor(1.0)
    c, index = s * (1 + 2j), torch.tensor([0])
    v = torch.tensor([3.0, -4.0, 5.0], requires_grad=True)
    r = torch.relu(torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], v, (2, 3)))
    r.to_dense().sum().backward()
    w = torch.ones(1, 3, requires_grad=True)
    (s.coalesce() * w).to_dense().sum().backward()
    return [
        v.grad, w.grad.to_dense(), c.conj().to_dense(),
        outcome(lambda: s.clone(memory_format=torch.contiguous_format)), outcome(s.contiguous),
        outcome(lambda: s.index_fill(0, index, one)), outcome(lambda: s.index_fill(0, index, 1.0)),
        outcome(lambda: torch.round(s, decimals=1)), outcome(lambda: s.view_as(s)),
        outcome(lambda: s.masked_fill(dense(torch) > 1, 0.0)),
        outcome(lambda: s.as_subclass(torch.Tensor)),
    ]  # fmt: skip


@CASES.add
def diagonals(torch: Any) -> Any:
    d, make = dense(torch), torch.sparse.spdiags
    return [
        outcome(call)
        for call in (
            lambda: make(d, torch.tensor([0, 1]), (3, 3)),
            lambda: make(d, torch.tensor([-1, 2]), (4, 3)),
            lambda: make(d[0], torch.tensor(0), (2, 5)),
        )
    ]  # fmt: skip


test_scenario = CASES.test()


def test_products_without_scipy(monkeypatch):
    monkeypatch.setattr(coo_products, "_scipy", lambda: None)
    monkeypatch.setattr(coo_products, "_CHUNK", 2)
    for make in (ordered, repeated):
        assert (make(torchlike) @ torchlike.tensor([[1.0, 2], [3, 4], [5, 6]])).tolist() == (
            [[15.0, 18.0], [29.0, 38.0]] if make is ordered else [[6.0, 8.0], [4.0, 8.0]]
        )
    empty = torchlike.sparse_coo_tensor((2, 3)) @ torchlike.ones(3, 2)
    assert empty.tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_large_products_agree_with_the_definition():
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(0, 40, 300), rng.integers(0, 30, 300)
    values, right = rng.standard_normal(300), rng.standard_normal((30, 7))
    full = np.zeros((40, 30))
    np.add.at(full, (rows, columns), values)
    s = torchlike.sparse_coo_tensor(np.stack([rows, columns]), values, (40, 30))
    assert np.allclose((s @ torchlike.from_numpy(right)).numpy(), full @ right)
    assert np.allclose((s.t() @ s).to_dense().numpy(), full.T @ full)
    assert np.allclose(torchlike.sparse.mm(s, s.t()).to_dense().numpy(), full @ full.T)
