"""Numbers as operands and factors: which are taken, in which dtype, in which (older) places."""

from __future__ import annotations

from functools import partial
from typing import Any

from compat_tests.scenarios import Cases, error

CASES = Cases("number_arguments")


def result(call: Any) -> Any:
    """What a call returns, or the error it raises."""
    found: list[Any] = []
    text = error(lambda: found.append(call()))
    return found[0] if found else text


def kinds(torch: Any) -> list[Any]:
    return [torch.ones(2), torch.tensor([1, 2]), torch.tensor([True, False]), torch.ones(2) + 0j]


@CASES.add
def alpha(torch: Any) -> Any:
    factors = (True, 1.0, 1j, 2, 2.5, torch.tensor(2), torch.ones(2), "a", None)
    grown = torch.tensor(2.0, requires_grad=True)
    return [
        [
            result(partial(torch.add, x, x, alpha=a)),
            result(partial(torch.sub, x, x, alpha=a)),
            result(partial(torch.add, x, 1, alpha=a)),
            result(lambda x=x, a=a: x.clone().add_(x, alpha=a)),
        ]
        for x in kinds(torch)
        for a in (*factors, grown)
    ]


@CASES.add
def alpha_of_reversed_subtraction(torch: Any) -> Any:
    return [
        result(partial(torch.rsub, x, y, alpha=a))
        for x in kinds(torch)
        for y in (x, 1)
        for a in (2, 2.5, True)
    ]


@CASES.add
def value(torch: Any) -> Any:
    x = torch.ones(2)
    factors = (True, 2.5, 1j, torch.tensor(2), torch.tensor(2.0, requires_grad=True), "a", None)
    return [
        [
            result(partial(torch.addcmul, x, x, x, value=v)),
            result(partial(torch.addcdiv, x, x, x, value=v)),
        ]
        for v in factors
    ]


@CASES.add
def numbers_beyond_the_dtype(torch: Any) -> Any:
    small, byte = torch.arange(3, dtype=torch.int8), torch.ones(3, dtype=torch.uint8)
    at, mask = torch.tensor([0]), torch.tensor([True, False, True])
    square = torch.ones(2, 2, dtype=torch.uint8)
    return [
        result(call)
        for call in (
            lambda: 0xFFFF - small,
            lambda: small + 300,
            lambda: small // 300,
            lambda: small % 300,
            lambda: 300 // (small + 1),
            lambda: torch.clamp(small, max=300),
            lambda: torch.where(mask, byte, 300),
            lambda: torch.pow(byte * 2, 300),
            lambda: torch.addcmul(byte, byte, byte, value=-1),
            lambda: torch.addcmul(byte, byte, byte, value=300),
            lambda: torch.add(byte, byte, alpha=-1),
            lambda: torch.add(byte, byte, alpha=300),
            lambda: byte.index_add(0, at, byte[:1], alpha=-1),
            lambda: byte.index_fill(0, at, -1),
            lambda: byte.masked_fill(mask, -1),
            lambda: byte.scatter(0, at, -1),
            lambda: torch.addmm(square, square, square, alpha=-1),
            lambda: torch.addr(square, square[0], square[0], alpha=-1, beta=-1),
        )
    ]


@CASES.add
def two_numbers(torch: Any) -> Any:
    return [
        result(partial(getattr(torch, name), a, b))
        for name in ("add", "sub", "mul", "div", "floor_divide", "eq", "maximum", "pow")
        for a, b in ((2, 3), (True, True), (2.5, 3), (1j, 2), (True, 2))
    ]


@CASES.add
def factors_in_front(torch: Any) -> Any:
    v, m = torch.tensor([1.0, 2.0]), torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    b = m[None]
    log = []
    for name, args in (
        ("addcmul", (v, 2, v, v)),
        ("addcdiv", (v, 2, v, v)),
        ("addmm", (2, m, 3, m, m)),
        ("addmm", (2, m, m, m)),
        ("addmv", (2, v, 3, m, v)),
        ("addr", (2, m, 3, v, v)),
        ("addbmm", (2, m, b, b)),
        ("baddbmm", (2, b, 3, b, b)),
    ):
        call = getattr(torch, name)
        at = next(i for i, a in enumerate(args) if isinstance(a, torch.Tensor))
        own, rest = args[at], args[:at] + args[at + 1 :]
        log += [
            call(*args),
            call(*args, out=torch.empty(0)),
            getattr(own, name)(*rest),
            getattr(own.clone(), name + "_")(*rest),
        ]
    log.append(error(lambda: torch.addmm(m, m, m, m)))
    log.append(error(lambda: torch.addmm(m, "a", m, m, m))[:40])
    return log


@CASES.add
def truth_values_are_no_dimensions(torch: Any) -> Any:
    x = torch.arange(24.0).view(2, 3, 4)
    calls = (
        lambda: x.topk(4, True),
        lambda: x.topk(True),
        lambda: x.cumsum(True),
        lambda: x.unsqueeze(True),
        lambda: x.select(True, 0),
        lambda: x.argmax(True),
        lambda: x.sum(True),
        lambda: x.sort(True),
        lambda: x.view(True),
        lambda: x.tril(True),
        lambda: x.flip(0.5),
    )
    kept = (x.sum((0, True)), torch.zeros(2, True), x.permute(0, True, 2))
    return [error(call).split(":")[0] for call in calls], kept


@CASES.add
def elements_one_by_one(torch: Any) -> Any:
    x, seen = torch.arange(6.0).view(2, 3).t(), []
    x.apply_(lambda v: seen.append(v) or v + 1)
    grown = torch.ones(2, requires_grad=True)
    calls = (
        lambda: torch.arange(3).apply_(lambda v: v + 0.7),
        lambda: torch.tensor([True, False]).apply_(lambda v: not v),
        lambda: torch.ones(2, dtype=torch.bfloat16).apply_(lambda v: v * 3),
        lambda: torch.ones(2, dtype=torch.complex64).apply_(lambda v: v * 1j),
        lambda: torch.arange(3).apply_(lambda v: "x"),
        lambda: grown.apply_(lambda v: v),
        lambda: torch.zeros(2, 3).map_(torch.arange(3.0), lambda a, b: a + b),
        lambda: torch.zeros(3).map_(torch.arange(3), lambda a, b: a + b),
        lambda: torch.zeros(3).map_(torch.zeros(2), lambda a, b: a + b),
        lambda: torch.zeros(2).map_(grown, lambda a, b: a + b),
        lambda: torch.zeros(3).map_(3, lambda a, b: a + b),
        lambda: torch.ones(3).map2_(torch.arange(3.0), torch.ones(3), lambda a, b, c: a - b * c),
        lambda: torch.ones(3).map2_(torch.ones(3), torch.arange(3), lambda a, b, c: a),
    )
    return x, seen, x._version, [result(call) for call in calls]


@CASES.add
def dtypes_asked_for_twice(torch: Any) -> Any:
    x, out = torch.arange(24.0).view(2, 3, 4), torch.empty(3, 4)
    return [
        error(partial(getattr(torch, name), x, 0, dtype=torch.float64, out=out))
        for name in ("sum", "prod", "mean", "nansum")
    ]


@CASES.add
def where_as_a_method(torch: Any) -> Any:
    x = torch.arange(4.0, requires_grad=True)
    y = x.where(x > 1, x * 2)
    y.sum().backward()
    mask = x.detach() > 1
    return [
        y,
        x.grad,
        x.detach().where(mask, 0.5),
        x.detach().where(condition=mask, other=torch.ones(4)),
        mask.where(x.detach() > 0, x.detach() < 0),
        error(lambda: x.where(torch.ones(4), torch.ones(4))),
    ]


@CASES.add
def places_in_empty_tensors(torch: Any) -> Any:
    return [
        error(partial(torch.index_select, torch.zeros(shape), d, torch.tensor([i])))
        for shape in ((0,), (2, 0), (0, 1, 2, 0))
        for d in range(len(shape))
        for i in (0, 5)
    ]


@CASES.add
def ends_of_differences(torch: Any) -> Any:
    x = torch.arange(6.0).view(2, 3)
    return [
        torch.diff(x, prepend=torch.ones(2, 1)),
        torch.diff(x, append=torch.ones(2, 3), dim=0),
        error(lambda: torch.diff(x, prepend=torch.ones(1))),
        error(lambda: torch.diff(x, append=torch.ones(2, 2), dim=0)),
    ]


@CASES.add
def random_numbers_in_an_order(torch: Any) -> Any:
    x = torch.ones(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)
    torch.manual_seed(2)
    log = []
    for make in (
        lambda **how: torch.randint_like(x, 2, 9, **how),
        lambda **how: torch.randint_like(x, high=9, **how),
        lambda **how: torch.rand_like(x, **how),
        lambda **how: torch.randn_like(x, **how),
    ):
        for how in (
            {},
            {"memory_format": torch.contiguous_format},
            {"memory_format": torch.preserve_format},
        ):
            made = make(**how)
            log.append([made.stride(), made.flatten()[::17]])
    return log


test_scenario = CASES.test()
