"""Sparse tensors: making them, taking them apart, printing, copies, layouts, refusals."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import torchlike
from compat_tests.scenarios import Cases, error
from compat_tests.sparse_cases import dense, hybrid, ordered, outcome, parts, repeated

CASES = Cases("sparse")


@CASES.add
def layouts(torch: Any) -> Any:
    names = "strided sparse_coo sparse_csr sparse_csc sparse_bsr sparse_bsc jagged _mkldnn".split()
    found = [getattr(torch, name) for name in names]
    same = [pickle.loads(pickle.dumps(x)) is x and copy.deepcopy(x) is x for x in found]
    d, s = dense(torch), ordered(torch)
    return [
        [repr(x) for x in found], same, error(lambda: torch.layout("a")), d.layout is torch.strided,
        s.layout is torch.sparse_coo, d.is_sparse, s.is_sparse, isinstance(d.layout, torch.layout),
        s.is_sparse_csr, d.is_sparse_csr, type(s) is torch.Tensor,
    ]  # fmt: skip


@CASES.add
def functions_asked_for_a_layout(torch: Any) -> Any:
    coo, d, s = {"layout": torch.sparse_coo}, dense(torch), ordered(torch)
    return [
        outcome(call)
        for call in (
            lambda: torch.zeros(2, 3, **coo), lambda: torch.empty(2, **coo),
            lambda: torch.zeros(2, dtype=torch.int64, **coo), lambda: torch.ones(2, **coo),
            lambda: torch.full((2,), 1.0, **coo), lambda: torch.rand(2, **coo),
            lambda: torch.randn(2, **coo), lambda: torch.arange(3, **coo),
            lambda: torch.eye(3, **coo), lambda: torch.linspace(0, 1, 3, **coo),
            lambda: torch.zeros(2, layout=3), lambda: torch.zeros(2, layout=torch.strided),
            lambda: torch.zeros_like(d, **coo), lambda: torch.ones_like(d, **coo),
            lambda: torch.zeros_like(s), lambda: torch.ones_like(s), lambda: torch.empty_like(s),
            lambda: torch.zeros_like(s, layout=torch.strided), lambda: torch.rand_like(s),
            lambda: torch.zeros_like(hybrid(torch)), lambda: d.new_zeros(2, **coo),
            lambda: s.new_zeros(2), lambda: s.new_ones(2), lambda: s.new_tensor([1.0]),
            lambda: torch.zeros(2, requires_grad=True, **coo).requires_grad,
        )
    ]  # fmt: skip


@CASES.add
def windows_of_other_layouts(torch: Any) -> Any:
    found = []
    for name in ("hann", "hamming", "blackman", "bartlett", "kaiser"):
        make = getattr(torch, f"{name}_window")
        found += [
            error(lambda make=make: make(3, layout=torch.sparse_coo)),
            error(lambda make=make: make(3, layout=torch.sparse_coo, dtype=torch.float64)),
            make(3, layout=torch.strided),
        ]
    return found


@CASES.add
def constructor(torch: Any) -> Any:
    i, v = torch.tensor([[0, 1, 1], [2, 0, 2]]), torch.tensor([3.0, 4.0, 5.0])
    make = torch.sparse_coo_tensor
    return [
        outcome(call)
        for call in (
            lambda: make(i, v), lambda: make(i, v, (2, 3)), lambda: make(i, v, torch.Size([4, 5])),
            lambda: make(i, v, size=[2, 3], dtype=torch.float64),
            lambda: make(i, v, (2, 3), dtype=torch.int64), lambda: make(i.int(), v.long(), (2, 3)),
            lambda: make([[0, 1]], [1, 2]), lambda: make([[0, 1]], [1, 2], (3,), dtype=torch.half),
            lambda: make([[0, 1]], [[1.0, 2.0], [3.0, 4.0]]),
            lambda: make([[]], [], (3,)), lambda: make([[], []], [], (3, 2)),
            lambda: make(torch.tensor([[0], [1]]), torch.tensor(3.0), (2, 3)),
            lambda: make(torch.zeros(0, 1, dtype=torch.int64), torch.tensor([5.0]), ()),
            lambda: make((2, 3)), lambda: make((2, 3), dtype=torch.int32),
            lambda: make(torch.Size([2])), lambda: make(size=(4,)),
            lambda: make(i, v, (2, 3), is_coalesced=True),
            lambda: make(i, v, (2, 3), requires_grad=True).is_leaf,
            lambda: make(i, v, (2, 3), check_invariants=True),
            lambda: make(torch.tensor([[0.0, 1.0]]), v[:2], (3,)),
        )
    ]  # fmt: skip


@CASES.add
def constructor_refuses(torch: Any) -> Any:
    i, v = torch.tensor([[0, 1, 1], [2, 0, 2]]), torch.tensor([3.0, 4.0, 5.0])
    make = torch.sparse_coo_tensor
    return [
        outcome(call)
        for call in (
            lambda: make(i, v, (2,)), lambda: make(i, v, (2, 3, 4)), lambda: make(i, v[:2], (2, 3)),
            lambda: make(torch.tensor([0, 1]), v[:2], (3,)), lambda: make([], [], (3,)),
            lambda: make(i), lambda: make(2, 3), lambda: make(i, v, (2, 2), check_invariants=True),
            lambda: make([[0, -1]], v[:2], (3,), check_invariants=True),
            lambda: make([[0, -1]], v[:2]),
            lambda: make([[1, 0]], v[:2], (3,), is_coalesced=True, check_invariants=True),
            lambda: make(i, torch.ones(3, 2), (2, 3, 4)), lambda: make(i, 3.0, (2, 3)),
            lambda: make(i, v.long(), (2, 3), requires_grad=True),
        )
    ]  # fmt: skip


@CASES.add
def checking_always(torch: Any) -> Any:
    check, v = torch.sparse.check_sparse_tensor_invariants, torch.tensor([1.0, 2.0])
    bad = lambda: torch.sparse_coo_tensor([[0, 5]], v, (3,))
    found = [check.is_enabled(), outcome(lambda: bad()._nnz())]
    with check():
        found += [check.is_enabled(), outcome(bad)]
        with check(False):
            found += [check.is_enabled(), outcome(lambda: bad()._nnz())]
    check.enable()
    found += [check.is_enabled(), outcome(bad)]
    check.disable()
    return [*found, check.is_enabled(), outcome(check()(bad))]


@CASES.add
def parts_of_a_tensor(torch: Any) -> Any:
    found = []
    for t in (ordered(torch), repeated(torch), hybrid(torch), dense(torch)):
        c = t.coalesce() if t.is_sparse else t
        found.append([
            outcome(call)
            for call in (
                t.is_coalesced, t.indices, t.values, t._indices, t._values, t._nnz, t.coalesce,
                t.sparse_dim, t.dense_dim, c.indices, c.values, lambda c=c: c.coalesce() is c,
                lambda t=t: list(t.size()), t.dim, t.numel, lambda t=t: str(t.dtype),
                lambda t=t: str(t.device), t.element_size, t.type, t.stride, t.is_contiguous,
                lambda t=t: len(t), lambda t=t: t.requires_grad, lambda t=t: t.nbytes,
                lambda t=t: t._version, t.storage_offset, t.is_floating_point,
            )
        ])  # fmt: skip
    return found


@CASES.add
def texts(torch: Any) -> Any:
    make, s = torch.sparse_coo_tensor, ordered(torch)
    v = torch.tensor([3.0, 4.0], requires_grad=True)
    wide = torch.arange(40.0).reshape(2, 20)
    return [
        repr(t)
        for t in (
            s, repeated(torch), hybrid(torch), s.coalesce(), s.double(), s.long(), s.bool(),
            make((2, 3)), make((2, 0)), make((2, 3), dtype=torch.int64),
            make((2,), dtype=torch.float64), make([[0, 1]], v, (3,)),
            make([[0, 1]], v, (3,)).coalesce(), make([[0, 1]], v, (3,)).double() * 2,
            make([[0, 1]], [1.0, 2.0], (3,), requires_grad=True), wide.to_sparse(),
            wide.to_sparse(1), torch.ones(60, 60).to_sparse(), torch.ones(3, 2, 2).to_sparse(1),
            torch.nn.Parameter(s.coalesce()), torch.tensor(3.0).to_sparse(), s * 1e-9,
        )
    ]  # fmt: skip


@CASES.add
def conversions(torch: Any) -> Any:
    s, u, h, d = ordered(torch), repeated(torch), hybrid(torch), dense(torch)
    return [
        outcome(call)
        for call in (
            s.to_dense, u.to_dense, h.to_dense, d.to_dense, d.to_sparse, s.to_sparse_coo,
            lambda: s.to_sparse() is s, lambda: d.to_sparse(1), lambda: d.to_sparse(0),
            lambda: d.to_sparse(3), lambda: s.to_sparse(1), lambda: h.to_sparse(1) is h,
            lambda: d.to_sparse(layout=torch.sparse_coo), lambda: (d > 2).to_sparse(),
            lambda: torch.tensor(3.0).to_sparse(), lambda: torch.tensor(0.0).to_sparse(),
            lambda: torch.zeros(2, 2).to_sparse(), lambda: torch.eye(3).to_sparse_coo(),
            lambda: s.to_dense(dtype=torch.float64), lambda: d.to_dense(dtype=torch.float64),
            lambda: u.bool().to_dense(), lambda: u.half().to_dense(),
            lambda: u.bfloat16().coalesce(), lambda: d.sparse_mask(s), lambda: d.sparse_mask(u),
            lambda: d.sparse_mask(s.coalesce()), lambda: s.coalesce().sparse_mask(u.coalesce()),
            lambda: s.sparse_mask(u), lambda: d.sparse_mask(d),
            lambda: torch.ones(3).sparse_mask(s), lambda: torch.ones(4, 2).sparse_mask(h),
        )
    ]  # fmt: skip


@CASES.add
def copies(torch: Any) -> Any:
    s, u = ordered(torch), repeated(torch)
    shared, own = s.detach(), s.clone()
    s._values()[0] = 9.0
    p = torch.nn.Parameter(u.coalesce())
    found = [
        shared, own, copy.deepcopy(s), copy.copy(s), pickle.loads(pickle.dumps(s.coalesce())),
        s.data, torch.tensor(u), torch.tensor(u, dtype=torch.float64), s.double(), u.long(),
        u.to(torch.complex64), s.cpu(), s.type(torch.float64), pickle.loads(pickle.dumps(p)),
    ]  # fmt: skip
    return [
        [parts(t) for t in found], s.to("cpu") is s, s.float() is s, torch.as_tensor(s) is s,
        shared._values().data_ptr() == s._values().data_ptr(), type(p).__name__, p.requires_grad,
    ]  # fmt: skip


@CASES.add
def in_modules(torch: Any) -> Any:
    m = torch.nn.Module()
    m.register_buffer("adjacency", ordered(torch).coalesce())
    state = m.state_dict()
    found = [parts(state["adjacency"]), parts(m.double().adjacency)]
    m.load_state_dict({"adjacency": (ordered(torch) * 2).coalesce()})
    return [*found, parts(m.adjacency), parts(copy.deepcopy(m).adjacency)]


@CASES.add
def changes_of_size(torch: Any) -> Any:
    s = ordered(torch)
    return [
        outcome(call)
        for call in (
            lambda: s.clone().sparse_resize_((3, 4), 2, 0),
            lambda: s.clone().sparse_resize_((1, 3), 2, 0),
            lambda: s.clone().sparse_resize_((2, 3), 1, 1)._nnz(),
            lambda: torch.sparse_coo_tensor((2, 3)).sparse_resize_((4, 2), 1, 1),
            lambda: s.clone().sparse_resize_and_clear_((4, 2), 1, 1),
            lambda: s.clone().zero_(), lambda: s.clone()._coalesced_(True).is_coalesced(),
        )
    ]  # fmt: skip


@CASES.add
def what_is_refused(torch: Any) -> Any:
    s, d = ordered(torch), dense(torch)
    return [
        outcome(call)
        for call in (
            lambda: s.view(3, 2), lambda: s.reshape(3, 2), lambda: s.flatten(),
            lambda: s.expand(2, 2, 3), lambda: s.repeat(2, 1), lambda: s.squeeze(),
            lambda: s.narrow(1, 0, 2), lambda: s[torch.tensor([0])], lambda: s.numpy(),
            lambda: s.tolist(), s.data_ptr, s.item, lambda: bool(s), lambda: s.exp(),
            lambda: s.cos(), lambda: s.log(), lambda: s.sigmoid(), lambda: s.clamp(0, 1),
            lambda: s == s, lambda: s > 0, lambda: d == s, lambda: torch.where(d > 1, s, s),
            lambda: s.mean(), lambda: s.max(), lambda: s.argmax(), lambda: s.all(),
            lambda: s.cumsum(0), lambda: s.sort(), lambda: s.nonzero(), lambda: s.softmax(0),
            lambda: s % 2, lambda: 2**s, lambda: s.pow(torch.tensor(2.0)), lambda: s.pow(0),
            lambda: s + 1, lambda: s + d, lambda: s - d, lambda: d / s, lambda: s / s,
            lambda: s / d, lambda: s.clone().add_(d), lambda: s.clone().fill_(1),
            lambda: s.clone().copy_(d), lambda: d.clone().copy_(s), lambda: s.clone().abs_(),
            lambda: torch.bmm(s, s), lambda: s.normal_(), lambda: s.masked_fill(d > 1, 0.0),
            lambda: torch.trace(s), lambda: s.diag(),
        )
    ]  # fmt: skip


test_scenario = CASES.test()


def test_places_outside_never_count_as_others():
    bad = torchlike.sparse_coo_tensor([[0, -1]], [1.0, 2.0], (3,))
    for call in (
        bad.to_dense,
        bad.coalesce,
        lambda: torchlike.zeros(3) + bad,
        lambda: bad @ torchlike.ones(3),
    ):
        with pytest.raises((RuntimeError, IndexError)):
            call()


@pytest.mark.parametrize(
    "call",
    [
        lambda s: torchlike.cdist(s, s),
        lambda s: torchlike.linalg.svd(s),
        lambda s: torchlike.nn.functional.layer_norm(s, (3,)),
        lambda s: torchlike.einsum("ij,ij->i", s, s),
        lambda s: torchlike.fft.fft(s),
        lambda s: torchlike.cumprod(s, 0),
        lambda s: torchlike.nn.functional.gelu(s),
        lambda s: torchlike.allclose(s, s),
        lambda s: torchlike.maximum(s, s),
        lambda s: s.resize_(3, 2),
        lambda s: torchlike.gather(s, 1, torchlike.zeros(2, 1, dtype=torchlike.int64)),
        lambda s: torchlike.quantile(s, 0.5),
        lambda s: torchlike.add(s, s, out=torchlike.zeros(2, 3)),
        lambda s: torchlike.vmap(lambda x: x + s)(torchlike.ones(2, 2, 3)),
    ],
)  # fmt: skip
def test_dense_operations_raise(call):
    with pytest.raises((RuntimeError, TypeError)):
        call(ordered(torchlike))
