"""Writes in place inside transforms, and the tensors that are made there, beside PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compat_tests.scenarios import Cases, error

CASES = Cases("transform_writing")
SCENARIO = CASES.add


def after(make: Callable[[], Any], call: Callable[[Any], Any]) -> list[Any]:
    """What a call returns or raises, and what its argument has become."""
    x, found = make(), []
    said = error(lambda: found.append(call(x)))
    return [said, found, x]


def then(write: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function that writes to its argument and returns it."""

    def f(x: Any) -> Any:
        write(x)
        return x

    return f


@SCENARIO
def vmap_writes_to_its_inputs(torch: Any) -> Any:
    y = lambda: torch.arange(6.0).view(3, 2)
    writes = [
        lambda a: a.mul_(2),
        lambda a: a.__setitem__(0, 5.0),
        lambda a: a.view(2, 1)[0].add_(10.0),
        lambda a: a[::2].zero_(),
        lambda a: a.as_strided((2,), (1,)).fill_(7),
        lambda a: a.split(1)[0].fill_(9),
        lambda a: a.unbind(0)[1].fill_(9),
        lambda a: [t.mul_(3) for t in a],
        lambda a: a.__setitem__(0, a[1] + 1),
        lambda a: a.index_put_((torch.tensor([0]),), a[1:] * 10),
        lambda a: a.masked_fill_(a > 2, 0.0),
        lambda a: a.scatter_add_(0, torch.tensor([0, 0]), a.clone()),
        lambda a: a.clamp_(min=1),
        lambda a: a.clone().mul_(2),
        lambda a: a.detach().add_(1),
        lambda a: a.add_(torch.ones(2)),
    ]
    found = [after(y, torch.vmap(then(w))) for w in writes]
    square = lambda: torch.zeros(2, 2, 2)
    return [
        *found,
        after(y, torch.vmap(lambda a: a.mul_(2), in_dims=1)),
        after(square, torch.vmap(then(lambda a: a.diagonal().fill_(7)))),
        after(y, torch.vmap(lambda a: torch.vmap(lambda b: b.mul_(2))(a))),
    ]


@SCENARIO
def vmap_refuses_writes(torch: Any) -> Any:
    v, x, y = torch.vmap, torch.ones(3), torch.arange(6.0).view(3, 2)
    leaf = torch.ones(3, requires_grad=True)
    return [
        error(lambda: v(lambda a, b: b.copy_(a), in_dims=(0, None))(x, torch.ones(()))),
        error(lambda: v(lambda a, b: b.__setitem__(0, a), in_dims=(0, None))(x, torch.ones(3))),
        error(lambda: v(lambda a: torch.zeros(3).__setitem__(0, a))(x)),
        error(lambda: v(lambda a: a.add_(1.5))(torch.arange(3))),
        error(lambda: v(lambda a: a.mul_(2))(leaf)),
        error(lambda: v(lambda a: a.add_(1))(x.expand(2, 3))),
        error(lambda: v(lambda a: a.expand(2).add_(1))(x)),
        torch.autograd.grad(v(lambda a: a.mul_(2))(leaf * 1).sum(), leaf),
        v(lambda a: a.unsqueeze_(0))(y.clone()),
        v(lambda a: a.squeeze_())(y.clone()),
        v(lambda a: a.transpose_(0, 1))(torch.arange(8.0).view(2, 2, 2)),
    ]


@SCENARIO
def derivatives_and_writes(torch: Any) -> Any:
    f, x = torch.func, lambda: torch.tensor([1.0, 2.0, 3.0])

    def saved(a: Any) -> Any:
        b = a.clone()
        c = b * b
        b.mul_(2)
        return c.sum()

    def cloned(a: Any) -> Any:
        b = a.clone()
        b[0].mul_(a[1])
        b *= 2
        return b.sum()

    return [
        after(x, f.grad(lambda a: a.mul_(2).sum())),
        after(x, f.grad(lambda a: (a[0].mul_(2), a.sum())[1])),
        after(x, f.jacrev(lambda a: a.mul_(2))),
        after(x, torch.vmap(f.grad(lambda a: a.mul_(2)))),
        after(x, f.grad(lambda a: torch.vmap(lambda b: b.mul_(2))(a).sum())),
        after(x, f.grad(lambda a: torch.vmap(lambda b: b.mul_(2))(a.clone()).sum())),
        after(x, f.grad(cloned)),
        after(x, f.hessian(cloned)),
        after(x, f.jacfwd(lambda a: a.mul_(2))),
        after(x, lambda a: f.jvp(lambda b: b.mul_(2), (a,), (torch.ones(3),))),
        after(x, lambda a: f.jvp(lambda b, c: b.copy_(c), (a, x() + 1), (x(), x() * 3))),
        after(x, lambda a: f.jvp(then(lambda b: b[0].mul_(2)), (a,), (torch.ones(3),))),
        after(x, lambda a: torch.vmap(lambda b: f.jvp(lambda c: c.mul_(2), (b,), (b,))[0])(a)),
        error(lambda: f.grad(saved)(x()))[:80],
    ]


@SCENARIO
def writes_reach_all_names_of_the_memory(torch: Any) -> Any:
    def mapped(a: Any) -> Any:
        c = a.clone()
        torch.vmap(lambda b: b.mul_(2))(c)
        return c.sum()

    def aliased(a: Any) -> Any:
        b = a.clone()
        torch.vmap(lambda t: t[0].mul_(3))(b.view(1, 3))
        return (b * a).sum()

    x = torch.tensor([1.0, 2.0, 3.0])
    return [torch.func.grad(g)(x) for g in (mapped, aliased)]


def made(torch: Any) -> list[Callable[[Any], Any]]:
    captured = torch.zeros(3)
    return [
        lambda x: torch.zeros(3),
        lambda x: torch.ones(3),
        lambda x: torch.empty(3).fill_(1),
        lambda x: torch.full((3,), 2.0),
        lambda x: torch.arange(3.0),
        lambda x: torch.linspace(0, 1, 3),
        lambda x: torch.eye(3)[0],
        lambda x: torch.tensor([1.0, 2.0, 3.0]),
        lambda x: torch.zeros_like(x),
        lambda x: torch.full_like(x, 2.0),
        lambda x: x.new_zeros(3),
        lambda x: x.new_full((3,), 2.0),
        lambda x: x.detach() * 2,
        lambda x: captured.clone(),
        lambda x: captured,
    ]


@SCENARIO
def tensors_made_inside(torch: Any) -> Any:
    f, x, found = torch.func, torch.tensor([1.0, 2.0, 3.0]), []

    for make in made(torch):

        def g(t: Any, make: Any = make) -> Any:
            z = make(t)
            z[0] = (t * t).sum()
            return z.sum()

        for transform in (f.grad, f.jacrev, f.jacfwd, f.hessian):
            outs: list[Any] = []
            said = error(lambda tr=transform, g=g, outs=outs: outs.append(tr(g)(x)))
            found.append([said, outs])
        outs = []
        said = error(lambda g=g, outs=outs: outs.append(torch.vmap(g)(torch.ones(2, 3))))
        found.append([said, outs])
    return found


@SCENARIO
def filled_in_loops(torch: Any) -> Any:
    x = torch.tensor([1.0, 2.0, 3.0])

    def rows(a: Any) -> Any:
        out = torch.zeros(3)
        for i in range(3):
            out[i] = a[i] ** 2 * a.sum()
        return out

    def total(a: Any) -> Any:
        sum_ = torch.zeros(())
        for i in range(3):
            sum_.add_(a[i] * a[i])
        return sum_

    def mapped(a: Any) -> Any:
        out = torch.zeros_like(a)
        for i in range(2):
            out[i] = a[i] * i
        return out

    f = torch.func
    copied = lambda a, b: torch.func.grad(lambda c: b.new_zeros(3).copy_(c).sum())(a)
    return [
        torch.vmap(copied)(torch.ones(2, 3), torch.ones(2)),
        f.jacrev(rows)(x), f.jacfwd(rows)(x), f.hessian(lambda a: rows(a).sum())(x),
        f.grad(total)(x), f.hessian(total)(x), f.jvp(rows, (x,), (x,)),
        torch.vmap(mapped)(torch.arange(6.0).view(3, 2)),
        torch.vmap(f.jacrev(lambda a: a * a))(torch.arange(6.0).view(3, 2)),
    ]  # fmt: skip


test_scenario = CASES.test()
