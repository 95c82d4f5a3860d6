"""torch.channels_last and its kin: strides of copies and of what is computed from them."""

from __future__ import annotations

from typing import Any

from .scenarios import Cases, error

CASES = Cases("memory_formats")


def numbers(torch: Any) -> Any:
    return torch.arange(24.0).reshape(1, 2, 3, 4)


@CASES.add
def copies(torch: Any) -> Any:
    x, last = numbers(torch).requires_grad_(), torch.channels_last
    y = x.contiguous(memory_format=last)
    made = [y, x.to(memory_format=last), x.clone(memory_format=last), y.contiguous()]
    made += [y.clone(), y.double(), x.to(torch.float64, memory_format=last), y.half(), y.cpu()]
    made += [y.clone(memory_format=torch.contiguous_format), x.double(memory_format=last)]
    (y * y).sum().backward()
    nodes = [t.grad_fn.name() for t in made[:3]]
    return [[t.stride() for t in made], nodes, y, x.grad, y is y.contiguous(memory_format=last)]


@CASES.add
def new_tensors(torch: Any) -> Any:
    last = torch.channels_last
    y = numbers(torch).contiguous(memory_format=last)
    made = [torch.empty(2, 3, 4, 5, memory_format=last), torch.zeros_like(y), torch.rand_like(y)]
    made += [torch.ones_like(numbers(torch), memory_format=last), torch.full_like(y, 2)]
    made += [torch.empty_like(y, memory_format=torch.contiguous_format)]
    return [t.stride() for t in made] + [made[3]]


@CASES.add
def results_keep_the_order(torch: Any) -> Any:
    x = numbers(torch)
    y = x.contiguous(memory_format=torch.channels_last)
    made = [y * 2, y.relu(), y + x, torch.where(y > 0, y, x), y.clamp(0), y == y, y.exp()]
    return [t.stride() for t in made] + [y.sum(1).stride(), y[:, 0].stride()]


@CASES.add
def questions(torch: Any) -> Any:
    x, last = numbers(torch), torch.channels_last
    y = x.contiguous(memory_format=last)
    asked = [x, y, torch.ones(2, 1, 3, 3), torch.ones(2, 3, 1, 1), torch.ones(2, 3)]
    found = [[t.is_contiguous(), t.is_contiguous(memory_format=last)] for t in asked]
    return [found, y.is_contiguous(memory_format=torch.contiguous_format), str(last)]


@CASES.add
def refusals(torch: Any) -> Any:
    x, y = numbers(torch), numbers(torch).transpose(2, 3)
    return [
        error(lambda: x.contiguous(memory_format=torch.channels_last_3d)),
        error(lambda: torch.ones(2, 3).to(memory_format=torch.channels_last)),
        error(lambda: y.contiguous(memory_format=torch.preserve_format)),
    ]


@CASES.add
def modules(torch: Any) -> Any:
    net = torch.nn.Sequential(torch.nn.Conv2d(2, 3, 2), torch.nn.Linear(2, 2))
    net.to(memory_format=torch.channels_last)
    return [[p.stride(), p.requires_grad, p.is_leaf] for p in net.parameters()]


test_scenario = CASES.test()
