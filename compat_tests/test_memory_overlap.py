"""Writes to elements that share memory, or to memory that an input shares: PyTorch's errors."""

from __future__ import annotations

import warnings
from typing import Any

from compat_tests.scenarios import Cases, error

CASES = Cases("memory_overlap")


def noted(call: Any) -> list[str]:
    """What a call raises, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = error(call)
    return [found, *(str(w.message).split(" (Triggered")[0] for w in caught)]


def indices(torch: Any) -> Any:
    return torch.tensor([2, 1, 0])


def mask(torch: Any) -> Any:
    return torch.tensor([True, False, True, True, False, False])


def writes(torch: Any) -> dict[str, tuple[Any, ...]]:
    """In-place methods of six float32 numbers, with arguments."""
    six, three, one = torch.ones(6), torch.ones(3), torch.tensor(1.0)
    at, where = indices(torch), mask(torch)
    return {
        "exp_": (),
        "add_": (six,),
        "pow_": (42,),
        "lt_": (six,),
        "clamp_": (0, 1),
        "addcmul_": (six, six),
        "lerp_": (six, 0.5),
        "zero_": (),
        "fill_": (one,),
        "copy_": (six,),
        "bernoulli_": (0.5,),
        "random_": (5,),
        "uniform_": (),
        "normal_": (),
        "exponential_": (),
        "geometric_": (0.5,),
        "log_normal_": (),
        "cauchy_": (),
        "index_add_": (0, at, three),
        "index_copy_": (0, at, three),
        "index_fill_": (0, at, 1.0),
        "index_put_": ((at,), three),
        "masked_fill_": (where, 0.0),
        "masked_scatter_": (where, six),
        "scatter_": (0, at, three),
        "scatter_add_": (0, at, three),
        "scatter_reduce_": (0, at, three, "sum"),
        "put_": (at, three),
        "cumsum_": (0,),
        "__setitem__": (at, three),
    }


@CASES.add
def expanded_targets(torch: Any) -> Any:
    one = torch.tensor([0.5])
    return {
        name: noted(lambda n=name, a=args: getattr(one.expand(6), n)(*a))
        for name, args in writes(torch).items()
    }


@CASES.add
def expanded_targets_of_other_kinds(torch: Any) -> Any:
    one, at = torch.tensor([0.5]), indices(torch)
    windows = torch.zeros(6).as_strided((4, 3), (1, 1))
    return [
        noted(lambda: one.expand(6).index_fill_(0, at, torch.tensor(1.0))),
        noted(lambda: one.expand(6).masked_fill_(mask(torch), torch.tensor(0.0))),
        noted(lambda: one.expand(6).__setitem__(mask(torch), 1.0)),
        noted(lambda: one.expand(6).bernoulli_(torch.ones(6))),
        noted(lambda: one.expand(3, 3).tril_()),
        noted(lambda: one.expand(3, 3).addmm_(torch.ones(3, 3), torch.ones(3, 3))),
        noted(lambda: windows.add_(1)),
        noted(lambda: windows.zero_()),
        one,
    ]


def overlaps(torch: Any, name: str) -> list[str]:
    """An in-place method of two tensors that share memory in several ways."""
    line, square = torch.arange(6.0) / 8, torch.arange(9.0).reshape(3, 3) / 9
    pairs = [
        (line[1:], line[:-1]),
        (line, line),
        (line[:3], line[3:]),
        (line[::2], line[1::2]),
        (line[:4:2], line[1:5:2]),
        (square, square.t()),
        (square, square[0]),
        (square, square[0, 0]),
    ]
    return [error(lambda a=a, b=b: getattr(a, name)(b)) for a, b in pairs]


@CASES.add
def shared_with_an_operand(torch: Any) -> Any:
    names = ("add_", "pow_", "atan2_", "lt_", "copy_", "clamp_min_", "bernoulli_", "copysign_")
    return {name: overlaps(torch, name) for name in names}


@CASES.add
def shared_with_a_value(torch: Any) -> Any:
    x, at, where = torch.arange(6.0), indices(torch), mask(torch)
    log = [
        error(lambda: x.fill_(x[1])),
        x.clone(),
        error(lambda: x.masked_fill_(where, x[0])),
        error(lambda: x.index_fill_(0, at, x[0])),
        error(lambda: x.masked_scatter_(where, x)),
        error(lambda: x[1:].masked_scatter_(where[1:], x[:-1])),
        error(lambda: x.__setitem__(where, x[0])),
        error(lambda: where[1:].masked_fill_(where[:-1], False)),
        error(lambda: where.masked_fill_(where, False)),
        where,
    ]
    return [*log, x]


@CASES.add
def shared_with_indices_or_a_source(torch: Any) -> Any:
    def attempts(name: str, *more: str) -> list[Any]:
        x, at = torch.arange(6.0), indices(torch)
        return [
            error(lambda: getattr(x, name)(0, at, x[:3], *more)),
            error(lambda: getattr(x[:3], name)(0, at, x[3:], *more)),
            error(lambda: getattr(x[:3], name)(0, at, x[1:4], *more)),
            error(lambda: getattr(at, name)(0, at, at.clone(), *more)),
            error(lambda: getattr(at, name)(0, at.clone(), at, *more)),
            at,
        ]

    at = indices(torch)
    return [
        attempts("index_add_"),
        attempts("index_copy_"),
        attempts("index_reduce_", "prod"),
        attempts("scatter_"),
        attempts("scatter_add_"),
        attempts("scatter_reduce_", "sum"),
        error(lambda: at.index_fill_(0, at, 0)),
        error(lambda: at.scatter_(0, at, 3)),
    ]


@CASES.add
def shared_with_what_is_put(torch: Any) -> Any:
    def attempts(accumulate: bool) -> list[str]:
        x, at = torch.arange(6.0), indices(torch)
        return [
            error(lambda: x.index_put_((at,), x[0], accumulate)),
            error(lambda: x.index_put_((at,), x[:3], accumulate)),
            error(lambda: at.index_put_((at,), at.clone(), accumulate)),
            error(lambda: at.index_put_((at.clone(),), at, accumulate)),
            error(lambda: x.put_(at[0], x[0], accumulate)),
            error(lambda: x.put_(at, x[:3], accumulate)),
            error(lambda: at.put_(at, at.clone(), accumulate)),
            error(lambda: at.put_(at.clone(), at, accumulate)),
            error(lambda: x.put_(torch.arange(6), x, accumulate)),
        ]

    return attempts(False), attempts(True)


test_scenario = CASES.test()
