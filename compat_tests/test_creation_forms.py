"""How functions that create tensors are called: by which names, into what, and what they refuse."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from compat_tests.scenarios import Cases, error

CASES = Cases("creation_forms")


def outcome(call: Any) -> Any:
    """What a call returns, or how it fails."""
    found = error(call)
    return call() if found == "no error" else found.replace("torchlike.", "torch.")


# --- legacy constructors --------------------------------------------------------------------------


def kind_of(t: Any, values: bool) -> Any:
    return [t.tolist() if values else list(t.shape), str(t.dtype), t.requires_grad]


@CASES.add
def legacy_constructors(torch: Any) -> Any:
    x, z = torch.arange(4.0), torch.IntTensor([1, 2, 3])
    calls = (
        ((), {}), ((2, 3), {}), (([3, 4],), {}), ((torch.Size([3, 4]),), {}), ((np.array((3,
        4)),), {}),
        ((x,), {}), ((z,), {}), ((), {"size": (3, 4)}), (((),), {}), (([],), {}), ((1.5,), {}),
        ((2, "a"), {}), ((None,), {}), ((True,), {}), ((), {"device": "cpu"}), ((2,),
        {"device": "cpu"}),
        (([1, 2],), {"device": "cpu"}), ((), {"device": "cuda"}), ((), {"device": "meta"}),
        ((), {"data": [1, 2]}), ((), {"other": x}), (("ab",), {}), ((torch.tensor(2),), {}),
        ((torch.tensor(2), 3), {}), ((-1,), {}), ((np.int64(2), 3), {}), ((range(3),), {}),
        (([1, [2]],), {}), ((), {"dtype": torch.int32}), ((), {"foo": 1}), (([1, 2], 3), {}),
        ((torch.Size([2]), 3), {}), (([z[2], z[0] + 3],), {}), (([1 + 1j],), {}),
    )  # fmt: skip
    makers = (torch.Tensor, torch.FloatTensor, torch.LongTensor, x.new)

    def made(maker: Any, args: Any, named: Any) -> Any:
        sized = bool(args) and (isinstance(args[0], int) or len(args) > 1)
        return kind_of(
            maker(*args, **named), bool(args) and not sized and type(args[0]) is not torch.Size
        )

    found = [[outcome(lambda m=m, a=a, n=n: made(m, a, n)) for a, n in calls] for m in makers]
    f = torch.FloatTensor
    about = [str(f.dtype), f.is_cuda, str(f.layout), f.is_sparse, f.__name__, isinstance(x, f)]
    shared = torch.Tensor(x)
    shared[0] = 7
    return [found, about, x]


@CASES.add
def default_types(torch: Any) -> Any:
    def default(t: Any) -> str:
        torch.set_default_tensor_type(t)
        found = str(torch.ones(1).dtype)
        torch.set_default_dtype(torch.float32)
        return found

    kinds = (
        torch.DoubleTensor, "torch.DoubleTensor", torch.HalfTensor, torch.IntTensor,
        "torch.IntTensor", torch.float64, "nowhere", 3, None,
    )  # fmt: skip
    wrong = (torch.int32, 3, None, float)
    return [
        [outcome(lambda k=k: default(k)) for k in kinds],
        [error(lambda k=k: torch.set_default_dtype(k)) for k in wrong],
    ]


# --- out= -----------------------------------------------------------------------------------------


@CASES.add
def into_parts_of_memory(torch: Any) -> Any:
    calls = (
        ("arange", (4,)), ("arange", (0, 4)), ("linspace", (0, 3, 4)), ("logspace", (0, 3, 4)),
        ("arange", (5,)), ("linspace", (0, 3, 5)), ("eye", (2,)), ("zeros", (2, 2)), ("ones", (4,)),
        ("full", ((2, 2), 3.0)), ("range", (0, 3)), ("full", ((2,), 1)),
    )  # fmt: skip
    found: list[Any] = []
    for name, args in calls:
        x = torch.zeros(2, 3)
        v = x.narrow(1, 1, 2)
        r = getattr(torch, name)(*args, out=v)
        found.append([x, r is v, list(v.shape), v.stride()])
    wide = lambda: torch.ones(1).expand(10)
    leaf = torch.ones(2, requires_grad=True)
    return [
        found, [error(lambda n=n: getattr(torch, n)(1, 10, 10, out=wide())) for n in ("linspace",
        "logspace")],
        error(lambda: torch.arange(10.0, out=wide())), error(lambda: torch.zeros(2, out=leaf)),
        error(lambda: torch.rand(2, out=leaf)), error(lambda: torch.linspace(0, 1, 2, out=leaf)),
        torch.full((2,), 1.5, out=torch.zeros(2, dtype=torch.long)), torch.full((2,), 1,
        out=torch.zeros(2)),
        error(lambda: torch.full((2,), 1, dtype=torch.int32, out=torch.zeros(2))),
        error(lambda: torch.full((2,), 1j, out=torch.zeros(2))),
        torch.zeros((2, 3), layout=torch.sparse_coo, out=torch.ones(2).to_sparse()).to_dense(),
        error(lambda: torch.zeros((2, 3), layout=torch.sparse_coo, out=torch.ones(2))),
        torch.arange(3, out=torch.zeros(0, dtype=torch.int32)),
        torch.eye(2, out=torch.zeros(0, dtype=torch.int64)),
    ]  # fmt: skip


# --- arguments ------------------------------------------------------------------------------------


@CASES.add
def ranges(torch: Any) -> Any:
    r, a = torch.range, torch.arange
    calls = (
        lambda: r(0, 3, 0), lambda: r(3, 0), lambda: r(0, float("nan")), lambda: r(3),
        lambda: r(0, 3, dtype=torch.int32), lambda: a(0, 3, 0.3, dtype=torch.int64),
        lambda: a(3, dtype=torch.bool), lambda: a(3, dtype=torch.complex64), lambda: a(3, foo=1),
        lambda: a(), lambda: a(0, 2**62), lambda: a(0, float("inf")), lambda: a(5, 0),
        lambda: a(3j),
        lambda: a(torch.tensor(3.0)), lambda: a(start=1, end=4), lambda: a(3, requires_grad=True),
        lambda: torch.tril_indices(2, 3, dtype=torch.float32), lambda: torch.tril_indices(-1, 3),
        lambda: torch.triu_indices(2, 2, 1, dtype=torch.int32), lambda: torch.tril_indices(2.0, 2),
    )  # fmt: skip
    return [outcome(call) for call in calls]


@CASES.add
def fills(torch: Any) -> Any:
    f, x, i = torch.full, torch.ones(2), torch.ones(2, dtype=torch.int32)
    named = (
        {"requires_grad": True}, {"dtype": float}, {"dtype": complex}, {"foo": 1},
        {"pin_memory": False},
        {"layout": torch.strided}, {"memory_format": torch.contiguous_format},
        {"dtype": torch.int32, "requires_grad": True},
    )  # fmt: skip
    calls = [
        lambda: f((2,), torch.tensor(3)), lambda: f((2,), torch.ones(2)), lambda: f(2, 3),
        lambda: f((-2,), 3), lambda: f((2,), 1j, dtype=torch.float32), lambda: f(size=(2,),
        fill_value=3),
        lambda: x.new_full((2,), 3, requires_grad=True), lambda: x.new_full(2, 3),
        lambda: x.new_full((2,), 3, dtype=float), lambda: x.new_full((2,), 1j),
        lambda: x.new_full((2,), 3, foo=1),
        lambda: x.new_full((2,), 2**40, dtype=torch.uint8), lambda: x.new_tensor([1, 2],
        requires_grad=True),
        lambda: x.new_tensor([1], foo=1), lambda: i.new_tensor([1.5]),
        lambda: x.new_tensor(data=[1]),
        lambda: torch.full_like(x, 1j), lambda: torch.full_like(x, "a"),
        lambda: torch.full_like(i, 1.7),
        lambda: torch.full_like(x, torch.tensor(3)), lambda: torch.full_like(x.byte(), 300),
        lambda: torch.zeros_like(x, out=x), lambda: torch.ones_like(x, foo=1),
        lambda: torch.rand_like(3),
        lambda: torch.full_like(3, 1), lambda: torch.ones(), lambda: torch.zeros(2, foo=1),
        lambda: torch.zeros(2, dtype=complex), lambda: torch.ones(2,
        memory_format=torch.channels_last),
    ]  # fmt: skip

    def seen(t: Any) -> Any:
        return [list(t.shape), str(t.dtype), t.requires_grad]

    news = ("new_zeros", "new_ones", "new_empty")
    return [
        [[outcome(lambda m=m, n=n: seen(getattr(x, m)(2, **n))) for n in named] for m in news],
        [outcome(call) for call in calls],
    ]


@CASES.add
def like_and_strides(torch: Any) -> Any:
    y = torch.ones(2, 3, 4).permute(2, 0, 1)
    shapes = (
        y, torch.ones(2, 1).expand(2, 3), torch.ones(4, 4)[::2, ::2], torch.ones(4, 6)[::2,
        ::2].t(),
        torch.ones(1, 2, 3, 4).contiguous(memory_format=torch.channels_last), torch.ones(3, 0),
        torch.ones(2, 3, 4, 5).permute(0, 3, 1, 2)[:, ::2], torch.ones(20).as_strided((3, 4), (1,
        2)),
    )  # fmt: skip
    makers = (
        torch.zeros_like, torch.empty_like, torch.rand_like, lambda t, **n: torch.full_like(t, 3,
        **n),
        lambda t, **n: torch.randint_like(t, 5, **n),
    )  # fmt: skip
    formats = (torch.contiguous_format, torch.preserve_format)
    e = torch.empty_strided
    return [
        [[m(t).stride() for t in shapes] for m in makers],
        [[m(y, memory_format=f).stride() for f in formats] for m in makers],
        [m(torch.ones(1, 2, 3, 4), memory_format=torch.channels_last).stride() for m in makers],
        [[str(m(y, dtype=float).dtype), m(y, requires_grad=True).requires_grad] for m in makers],
        e((2, 3, 0), (12, 4, 1)).stride(), e((1, 3), (77, 1)).stride(), e((0,), (5,)).stride(),
        e((2, 3), (1, 2)).stride(), error(lambda: e((2,), (1, 2))), e((1, 3), (77, 1)).exp().shape,
    ]  # fmt: skip


@CASES.add
def small_functions(torch: Any) -> Any:
    e, one = torch.empty(0), torch.ones(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        grid = error(lambda: torch.meshgrid(one, torch.ones(2, device="meta")))
    numbers = []
    for t in (
        e,
        torch.ones(2),
        one,
        torch.tensor([1j]),
        torch.tensor(float("nan")),
        torch.tensor(True),
    ):
        numbers.append([str(outcome(lambda t=t, c=c: c(t))) for c in (int, float, complex, bool)])
    cyclic: list[Any] = []
    cyclic.append(cyclic)
    itself: list[Any] = [0, 1]
    itself.append(itself)
    mixed = ((7, np.array(5)), (np.array(9), 5.0))
    return [
        torch.block_diag(), error(lambda: torch.block_diag(3)),
        error(lambda: torch.block_diag([one])),
        torch.cat([e, e], dim=1), torch.cat([e, torch.ones(2, 2)], dim=1), torch.cat([e, e],
        dim=-2),
        error(lambda: torch.cat([torch.empty(0, 2), torch.ones(3, 3)], dim=1)), grid, numbers,
        torch.arange(4).roll(1, dims=None), error(lambda: torch.tensor(cyclic)),
        error(lambda: torch.tensor(itself)), error(lambda: torch.tensor([[1, 2], itself])),
        torch.tensor(mixed),
        error(lambda: torch.tensor([[np.array(5.0)]])), torch.tensor([3, np.array(5.0)]),
        error(lambda: torch.tensor([np.array(5), 3])),
    ]  # fmt: skip


test_scenario = CASES.test()
