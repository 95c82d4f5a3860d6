"""Indexed reads and writes of every kind, with gradients, against PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compat_tests.scenarios import Cases, error

CASES = Cases("setitem")


def ints(torch: Any, *values: int) -> Any:
    return torch.tensor(values)


def mask(torch: Any) -> Any:
    return torch.tensor([[True, False, True, False], [False] * 4, [True, True, False, False]])


# for a tensor of shape (3, 4)
KEYS: dict[str, Callable[[Any], Any]] = {
    "int": lambda torch: 1,
    "negative int": lambda torch: -1,
    "two ints": lambda torch: (0, 2),
    "slice": lambda torch: slice(0, 2),
    "whole slice": lambda torch: slice(None),
    "step": lambda torch: slice(None, None, 2),
    "negative bounds": lambda torch: slice(-2, -1),
    "empty slice": lambda torch: slice(2, 1),
    "slices": lambda torch: (slice(1, None), slice(0, 3, 2)),
    "int and slice": lambda torch: (1, slice(1, None)),
    "ellipsis": lambda torch: Ellipsis,
    "ellipsis and int": lambda torch: (Ellipsis, 1),
    "none": lambda torch: None,
    "none and slice": lambda torch: (None, slice(1)),
    "none inside": lambda torch: (1, None, slice(2)),
    "mask": mask,
    "row mask": lambda torch: torch.tensor([True, False, True]),
    "column mask": lambda torch: (slice(None), torch.tensor([True, False, False, True])),
    "empty mask": lambda torch: torch.zeros(3, 4, dtype=torch.bool),
    "list": lambda torch: [0, 2],
    "list of bools": lambda torch: [True, False, True],
    "integers": lambda torch: ints(torch, 2, 0),
    "repeated integers": lambda torch: ints(torch, 1, 1, 0),
    "negative integers": lambda torch: ints(torch, -1, 0),
    "int32": lambda torch: ints(torch, 1, 0).to(torch.int32),
    "0-dim integer": lambda torch: torch.tensor(1),
    "two integer tensors": lambda torch: (ints(torch, 0, 2), ints(torch, 3, 1)),
    "broadcast integers": lambda torch: (ints(torch, 0, 2).unsqueeze(1), ints(torch, 3, 1)),
    "integers and slice": lambda torch: (ints(torch, 0, 2), slice(1, 3)),
    "slice and integers": lambda torch: (slice(1, None), ints(torch, 0, 2)),
    "int and integers": lambda torch: (1, ints(torch, 0, 2)),
    "none and integers": lambda torch: (None, ints(torch, 0, 2)),
    "integers, none, integers": lambda torch: (ints(torch, 0, 2), None, ints(torch, 1, 1)),
    "ellipsis and integers": lambda torch: (Ellipsis, ints(torch, 3, 0)),
    "true": lambda torch: True,
    "false": lambda torch: False,
    "true and int": lambda torch: (True, 1),
    "empty list": lambda torch: [],
    "empty tuple": lambda torch: (),
    "mask and integers": lambda torch: (torch.tensor([True, False, True]), ints(torch, 1, 2)),
    "matrix of integers": lambda torch: torch.tensor([[0, 1], [2, 0]]),
    "0-dim bool": lambda torch: torch.tensor(True),
    "range": lambda torch: range(2),
    "nested list": lambda torch: [[0, 1], [1, 2]],
    "tuple in tuple": lambda torch: ((0, 2), 1),
    "uint8 mask": lambda torch: torch.tensor([1, 0, 1], dtype=torch.uint8),
}


def start(torch: Any) -> Any:
    return torch.arange(12.0, dtype=torch.float64).reshape(3, 4).clone().requires_grad_()


def read(torch: Any, key: Any) -> Any:
    x = start(torch)
    y = x * 1
    z = y[key(torch)]
    weights = torch.arange(1.0, z.numel() + 1, dtype=torch.float64).reshape(z.shape)
    (g,) = torch.autograd.grad((z * z * weights).sum(), x, create_graph=True)
    (gg,) = torch.autograd.grad((g * g).sum(), x)
    states = [z._is_view(), z.grad_fn.name(), list(z.stride()), z._version]
    states.append(z.storage_offset() if z.numel() else 0)
    return z, g, gg, states


def written(torch: Any, key: Any, make: Any) -> Any:
    x, s = start(torch), torch.tensor(3.0, dtype=torch.float64, requires_grad=True)
    y = x * x
    old = y[key(torch)]
    value = make(torch, s, old)
    before = y._version
    y[key(torch)] = value
    weights = torch.arange(1.0, 13, dtype=torch.float64).reshape(3, 4)
    names = y.grad_fn.name(), y._version - before
    inputs = [x, s]
    out = (y * y * weights).sum()
    found = torch.autograd.grad(out, inputs, create_graph=True, allow_unused=True)
    total = sum((g * g).sum() for g in found if g is not None)
    second = torch.autograd.grad(total, inputs, allow_unused=True)
    return y, names, found, second


VALUES: dict[str, Callable[..., Any]] = {
    "number": lambda torch, s, old: 7,
    "tensor": lambda torch, s, old: s * (old.detach() + 1),
    "0-dim": lambda torch, s, old: s * 2,
    "broadcast": lambda torch, s, old: s * old.detach().sum(0, keepdim=True),
    "other dtype": lambda torch, s, old: (s * 2).float(),
}


def _read_case(name: str) -> Any:
    def scenario(torch: Any) -> Any:
        return read(torch, KEYS[name])

    scenario.__name__ = f"read {name}"
    return scenario


def _write_case(name: str) -> Any:
    def scenario(torch: Any) -> Any:
        found = {}
        for kind, make in VALUES.items():
            result: list[Any] = []
            text = error(lambda m=make, r=result: r.append(written(torch, KEYS[name], m)))
            found[kind] = result or text
        return found

    scenario.__name__ = f"write {name}"
    return scenario


for _name in KEYS:
    CASES.add(_read_case(_name))
    if _name not in ("repeated integers", "matrix of integers", "nested list"):
        CASES.add(_write_case(_name))  # which of several writes wins is not specified


@CASES.add
def bad_keys(torch: Any) -> Any:
    x, z = torch.arange(12.0).reshape(3, 4), torch.tensor(1.0)
    keys = [
        3, -4, (0, 4), (0, 0, 0), 1.5, "a", (0, 1.5), slice(None, None, -1), slice(None, None, 0),
        slice(0, 1.5), slice("a", None), (Ellipsis, Ellipsis, 1), (1, Ellipsis, 1, 1),
        torch.tensor([3]), torch.tensor([-4]), torch.tensor([0.5]), (0, torch.tensor([4])),
        torch.tensor([True, False]), torch.ones(3, 3) > 0, torch.ones(3, 4, 1) > 0,
        (torch.tensor([0, 1]), torch.tensor([0, 1, 2])), [0.5], ["a"], [None], {}, object(),
        ([0, 1], [0, 1, 2]), (slice(None), slice(None), 0), (None, 5),
    ]  # fmt: skip

    def write(key: Any, value: Any = 1.0) -> Any:
        before = x.clone()
        text = error(lambda: x.__setitem__(key, value))
        return text, bool((x == before).all())

    return [
        [error(lambda k=k: x[k]) for k in keys],
        [write(k) for k in keys],
        [error(lambda: x[[0, 3]]), error(lambda: x.__setitem__([0, 3], 1.0))],  # may write row 0
        [error(lambda: z[0]), error(lambda: z[None][1]), error(lambda: z.__setitem__(0, 1.0))],
        [z[None].shape == (1,), z[...].shape == (), z[()].shape == (), z[True].shape == (1,)],
    ]


@CASES.add
def bad_values(torch: Any) -> Any:
    x = torch.arange(12.0).reshape(3, 4)

    def write(key: Any, value: Any) -> Any:
        before = x.clone()
        text = error(lambda: x.__setitem__(key, value))
        return text, bool((x == before).all())

    i = torch.arange(3)
    return [
        write(0, torch.ones(3)),
        write(0, torch.ones(2, 4)),
        write(slice(0, 2), torch.ones(3, 4)),
        write(i, torch.ones(2, 4)),
        write(i, torch.ones(3, 4, dtype=torch.float64)),
        write(i, torch.ones((), dtype=torch.float64)),
        write(x > 5, torch.ones(5)),
        write(x > 5, torch.ones(7)),
        write(0, "a"),
        write(0, None),
        write(0, [1.0, 2.0, 3.0, 4.0]),
        write(i, [1.0, 2.0, 3.0, 4.0]),
        write(i, "a"),
        write(0, 1j),
        write((0, 0), torch.ones(1, 1)),
        write(0, torch.ones(1, 1, 4)),
        write(i, torch.ones(1, 1, 1, 4)),
    ]


@CASES.add
def numbers_into_integers(torch: Any) -> Any:
    i, u, b = torch.arange(4), torch.zeros(3, dtype=torch.uint8), torch.zeros(3, dtype=torch.bool)
    i[0] = 2.9
    i[torch.tensor([1, 2])] = True
    i[3] = torch.tensor(7.9)
    u[0] = 255
    b[0] = 2
    b[1] = 0.0
    return i, u, b, [error(lambda v=v: u.__setitem__(1, v)) for v in (256, -1, 300.5, 1e30, 1j)]


@CASES.add
def augmented_assignment(torch: Any) -> Any:
    x = start(torch)
    y = x * 1
    y[0] += 5
    y[:, 1] *= y[:, 2].clone()
    y[y > 8] /= 2
    y[[0, 2]] -= x[:2]
    y[..., 0] **= 2
    (y * y).sum().backward()
    return y, x.grad, y._version


@CASES.add
def out_of_place_twins(torch: Any) -> Any:
    x = start(torch)
    v = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    at = (torch.tensor([0, 0]), torch.tensor([1, 1]))
    a = x.index_put(at, v, accumulate=True)
    b = (x * 1).index_put_((torch.tensor([0, 2]), torch.tensor([1, 3])), v)
    c = x.masked_fill(x > 5, 2.0)
    d = (x * 1).masked_fill_(mask(torch), 3.0)
    out = (a * b * c * d).sum()
    out.backward()
    return a, b, c, d, x.grad, v.grad


@CASES.add
def functions_that_write(torch: Any) -> Any:
    x = torch.arange(4.0)
    same = torch.zero_(x) is x, torch.fill_(input=x, value=3) is x
    torch.index_put_(x, (torch.tensor([1, 1]),), torch.tensor([7.0, 1.0]), accumulate=True)
    y = start(torch) * 2
    torch.zero_(y)
    detached = torch.detach_(start(torch) * 2)
    refused = [error(lambda f=f: f(3)) for f in (torch.zero_, torch.detach_, torch.index_put_)]
    return same, x, y, y.grad_fn.name(), detached.requires_grad, refused


test_scenario = CASES.test()
