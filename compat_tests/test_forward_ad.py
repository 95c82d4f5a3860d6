"""``torch.autograd.forward_ad``: dual tensors, alone, in modules, with backward passes."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from compat_tests.observe import library
from compat_tests.scenarios import Cases, error

CASES = Cases("forward_ad")
OURS = library("torchlike")


def forward_ad(torch: Any) -> Any:
    """The module, which a program imports by this name."""
    return importlib.import_module(f"{torch.__name__}.autograd.forward_ad")


def pair(torch: Any) -> Any:
    return torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])


def texts(*values: Any) -> list[str]:
    return [repr(v) for v in values]


@CASES.add
def making_and_unpacking(torch: Any) -> Any:
    fw = forward_ad(torch)
    x, t = pair(torch)
    before = fw.unpack_dual(x)
    with fw.dual_level() as level:
        d = fw.make_dual(x, t)
        primal, tangent = fw.unpack_dual(d)
        plain = fw.unpack_dual(x)
        found = [
            level, tangent is t, primal is x, primal is d, primal.data_ptr() == x.data_ptr(),
            primal, plain.primal is x, plain.tangent, d._base is x, d.is_leaf, d.requires_grad,
            d.detach(), d.data, d.tolist(), d.numpy().tolist(), d.sum().item(),
            texts(d, d.sum(), d[0], d.view(2, 1), d.double(), d > 1, d.long(), plain),
            f"{d.sum()} {d.sum():.1f}", isinstance(d, torch.Tensor),
        ]  # fmt: skip
        inside = fw.unpack_dual(d * 3).tangent
        kept = d * 2
    return [
        before.tangent, before.primal is x, found, inside, texts(d, kept), fw.unpack_dual(kept),
        fw.unpack_dual(kept).primal is kept, d.requires_grad_().requires_grad,
    ]  # fmt: skip


@CASES.add
def whose_memory_a_tangent_is(torch: Any) -> Any:
    fw, found = forward_ad(torch), []
    m, mt, strided = torch.ones(2, 3), torch.ones(3, 2), torch.ones(4)[::2]
    with fw.dual_level():
        for x, t in ((m, mt.t()), (m.t(), mt), (mt.t(), mt.t()), (strided, torch.ones(2))):
            tangent = fw.unpack_dual(fw.make_dual(x, t)).tangent
            found.append([tangent is t, list(tangent.stride())[-1] == x.stride(-1)])
        wide = fw.make_dual(torch.ones(2), torch.ones(2, dtype=torch.float64))
        x, t = pair(torch)
        fw.make_dual(x, t).mul_(2)
        d = fw.make_dual(x, t)
        (d + 1).mul_(5)
    return [found, texts(wide, wide * 2, wide + torch.ones(2)), x, t]


@CASES.add
def levels(torch: Any) -> Any:
    fw = forward_ad(torch)
    x, t = pair(torch)
    found = [error(lambda: fw.make_dual(x, t)), error(fw.exit_dual_level), fw.enter_dual_level()]
    d = fw.make_dual(x, t)
    found += [
        error(fw.enter_dual_level), error(lambda: fw.dual_level().__enter__()),
        error(lambda: fw.exit_dual_level(level=5)), error(lambda: fw.make_dual(x, t, level=1)),
        repr(fw.make_dual(x, t, level=0)), repr(d),
    ]  # fmt: skip
    fw.exit_dual_level()

    @fw.dual_level()
    def cube(x: Any) -> Any:
        return fw.unpack_dual(fw.make_dual(x, torch.ones_like(x)) ** 3).tangent

    found += [repr(d), cube(x), cube(x), error(lambda: fw.make_dual(x, t, level=0))]
    with torch.inference_mode(), fw.dual_level():
        found.append(repr(fw.make_dual(x, t)))
    with torch.no_grad(), fw.dual_level():
        found.append(repr(fw.make_dual(x, t) * 2))
    with pytest.raises(ZeroDivisionError), fw.dual_level():
        1 / 0
    return [*found, error(fw.exit_dual_level)]


@CASES.add
def refusals(torch: Any) -> Any:
    fw = forward_ad(torch)
    x, t = pair(torch)
    ints = torch.tensor([1, 2])
    with fw.dual_level():
        d = fw.make_dual(x, t)
        bad = [
            (x, torch.ones(3)), (x.view(1, 2), t), (x, torch.tensor(1.0)), (ints, t), (x, ints),
            (ints, ints), (d, t), (x, d), (x.expand(2, 2), torch.ones(2, 2)), (1.0, t), (x, None),
        ]  # fmt: skip
        return [
            [error(lambda a=a, b=b: fw.make_dual(a, b)) for a, b in bad],
            error(lambda: fw.unpack_dual(3)),
            error(lambda: torch.mul(d, d, out=torch.zeros(2))),
            repr(fw.make_dual(torch.tensor([1 + 2j]), torch.tensor([1.0]))),
        ]


@CASES.add
def writing_in_place(torch: Any) -> Any:
    fw = forward_ad(torch)
    x, t = pair(torch)
    found: list[Any] = []

    def after(make: Any) -> None:
        z = make()
        found.append([z, fw.unpack_dual(z).tangent])

    with fw.dual_level():
        d = fw.make_dual(x, t)
        after(lambda: torch.zeros(2).add_(d))
        after(lambda: d.clone().mul_(d))
        after(lambda: d.clone().zero_())
        after(lambda: d.clone().copy_(x))
        after(lambda: d.clone().unsqueeze_(0).t_())
        after(lambda: d.clone().floor_())
        after(lambda: torch.zeros(2, dtype=torch.int64).copy_(d))
        found.append(fw.unpack_dual(d.clone().normal_()).tangent)
        rows = torch.zeros(3, 2)
        flat, last = rows.view(6), rows[2]
        rows[0] = d
        rows[2].copy_(d * 2)
        last.mul_(3)
        flat[3] = d[1]
        for z in (rows, flat, last):
            found.append([z, fw.unpack_dual(z).tangent])
        u = d.clone()
        first = u[0]
        first.mul_(5)
        u[1] = 7.0
        for z in (u, first):
            found.append([z, fw.unpack_dual(z).tangent])
    return [*found, x, t]


@CASES.add
def with_backward_passes(torch: Any) -> Any:
    fw = forward_ad(torch)
    x, t = pair(torch)
    found = []
    with fw.dual_level():
        r = x.clone().requires_grad_()
        d = fw.make_dual(r, t)
        y = (d**3).sum()
        fw.unpack_dual(y).tangent.backward(retain_graph=True)
        found += [r.grad.clone(), repr(d), repr(y)]
        for create in (True, False):
            (g,) = torch.autograd.grad((d * d.exp()).sum(), r, create_graph=create)
            found += [g, fw.unpack_dual(g).tangent, g.requires_grad]
        r.grad = None
        d.exp().sum().backward()
        found += [r.grad, fw.unpack_dual(r.grad).tangent]
        w = t.clone().requires_grad_()
        e = fw.make_dual(x, w)
        fw.unpack_dual(e * e).tangent.sum().backward()
        found += [w.grad, repr(e)]
        own = fw.make_dual(x, t).requires_grad_()
        (own * own).sum().backward()
        found += [own.is_leaf, own.grad.detach()]
    (r * 2).sum().backward()
    return [*found, r.grad]


@CASES.add
def in_transforms(torch: Any) -> Any:
    fw = forward_ad(torch)
    x, t = pair(torch)

    def tangent(x: Any) -> Any:
        d = fw.make_dual(x, torch.ones_like(x))
        return fw.unpack_dual(d**3).tangent.sum()

    def inside(x: Any) -> Any:
        with fw.dual_level():
            return tangent(x)

    found = [torch.func.grad(inside)(x)]
    with fw.dual_level():
        d = fw.make_dual(x, t)
        for z in (
            torch.func.grad(lambda a: (a**3).sum())(d),
            torch.func.vmap(lambda a: a * a)(d),
            torch.func.vmap(lambda a: a * d)(torch.ones(3, 2)),
        ):
            found.append([z, fw.unpack_dual(z).tangent])
        found.append(torch.func.grad(tangent)(x))
    with torch.no_grad():
        found += [
            torch.func.grad(lambda a: a.exp().sum())(x),
            torch.func.jvp(lambda a: a.softmax(0), (x,), (t,))[1],
            torch.func.jacrev(lambda a: a * a)(x),
        ]
    return found


@CASES.add
def in_modules(torch: Any) -> Any:
    fw, nn = forward_ad(torch), torch.nn
    torch.manual_seed(0)
    models = [nn.Linear(3, 2), nn.Conv1d(3, 2, 2), nn.BatchNorm1d(3), nn.LayerNorm(3)]
    models.append(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)))
    found = []
    for model in models:
        x = torch.randn(5, 3, 3) if isinstance(model, nn.Conv1d) else torch.randn(5, 3)
        params = dict(model.named_parameters())
        tangents = {k: torch.rand_like(p) for k, p in params.items()}
        with fw.dual_level():
            duals = {k: fw.make_dual(p, tangents[k]) for k, p in params.items()}
            out = torch.func.functional_call(model, duals, x)
            tangent = fw.unpack_dual(out).tangent
            (back,) = torch.autograd.grad(tangent.sum(), [next(iter(params.values()))])
        found.append([out, tangent, back])
        if isinstance(model, nn.Linear):
            with fw.dual_level():
                for k, p in params.items():
                    delattr(model, k)
                    setattr(model, k, fw.make_dual(p, tangents[k]))
                found.append([fw.unpack_dual(model(x)).tangent, len(list(model.parameters()))])
            found.append(fw.unpack_dual(model(x)).tangent)
    with fw.dual_level():
        p = nn.Parameter(fw.make_dual(*pair(torch)))
    return [*found, repr(p)]


@CASES.add
def copies(torch: Any) -> Any:
    import copy
    import io
    import pickle

    fw, file = forward_ad(torch), io.BytesIO()
    with fw.dual_level():
        d = fw.make_dual(*pair(torch))
        torch.save(d, file)
        file.seek(0)
        made = [copy.deepcopy(d), pickle.loads(pickle.dumps(d)), torch.load(file)]
        return [made, [fw.unpack_dual(z).tangent for z in made]]


@CASES.add
def tangents_of_drawn_numbers(torch: Any) -> Any:
    fw = forward_ad(torch)
    with fw.dual_level():
        d = fw.make_dual(torch.full((3,), 0.5), torch.ones(3))
        drawn = [torch.bernoulli(d), torch.poisson(d), torch.normal(d, d), torch.normal(d, 1.0)]
        drawn += [torch.normal(1.0, d), torch.distributions.Normal(d, 1.0).sample()]
        return [fw.unpack_dual(z).tangent for z in drawn]


test_scenario = CASES.test()


def test_write_of_a_tensor_to_itself() -> None:
    """The derivative is that of what was there before (PyTorch takes what has been written)."""
    fw = forward_ad(OURS)
    with fw.dual_level():
        d = fw.make_dual(*pair(OURS))
        d.mul_(d)
        assert d.tolist() == [1.0, 4.0] and fw.unpack_dual(d).tangent.tolist() == [6.0, 16.0]


def test_dual_parts_that_are_missing() -> None:
    """What PyTorch answers and we do not is refused, not answered wrongly."""
    fw = forward_ad(OURS)

    class Sub(OURS.Tensor):  # type: ignore[name-defined, misc]
        pass

    x, t = pair(OURS)
    with fw.dual_level():
        with pytest.raises(NotImplementedError, match="tangent of a Sub"):
            fw.make_dual(x.as_subclass(Sub), t)
        d = fw.make_dual(x, t)
        with pytest.raises(NotImplementedError, match="unpack_dual inside a transform"):
            OURS.func.vmap(lambda a: fw.unpack_dual(a).tangent)(d)
