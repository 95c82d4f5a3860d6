"""Forward mode: user-written Functions, gradcheck, and every operation that has a record."""

from __future__ import annotations

from typing import Any

import pytest

from compat_tests.functions import Case, differentiable, dot
from compat_tests.observe import quiet
from compat_tests.records import RECORDS
from compat_tests.scenarios import Cases, error
from compat_tests.test_forward_ad import OURS, forward_ad, pair
from compat_tests.test_ops_transforms import same

CASES = Cases("forward_ad_functions")


def exponential(torch: Any) -> Any:
    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.result = x.exp()
            return ctx.result

        @staticmethod
        def jvp(ctx: Any, t: Any) -> Any:
            t = t * ctx.result
            del ctx.result
            return t

    return Exp


@CASES.add
def functions_with_jvp(torch: Any) -> Any:
    fw, seen = forward_ad(torch), []
    x, t = pair(torch)

    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any, b: Any, k: Any) -> Any:
            seen.append(repr(a))
            ctx.save_for_forward(a, b)
            return k * a * b, a + b

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            s, t, k = tangents
            a, b = ctx.saved_tensors
            seen.append([s, t, k, repr(a), ctx.needs_input_grad])
            return 3 * (s * b + a * t), s + t

    with fw.dual_level():
        d = fw.make_dual(x, t)
        found: list[Any] = [*Product.apply(d, x, 3), *Product.apply(x, d, 3)]
        found = [[z, fw.unpack_dual(z).tangent] for z in found]
        double = fw.make_dual(x.double().requires_grad_(), t)
        found.append(repr(exponential(torch).apply(double)))
    product = with_setup(torch)
    found.append(torch.func.jvp(lambda a: product.apply(a, x), (x,), (t,)))
    return found, seen


def with_setup(torch: Any) -> Any:
    class Setup(torch.autograd.Function):
        @staticmethod
        def forward(a: Any, b: Any) -> Any:
            return a * b

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_forward(*inputs)

        @staticmethod
        def jvp(ctx: Any, s: Any, t: Any) -> Any:
            a, b = ctx.saved_tensors
            return s * b + a * t

    return Setup


@CASES.add
def functions_with_wrong_jvp(torch: Any) -> Any:
    fw = forward_ad(torch)
    x, t = pair(torch)

    def outcome(forward: Any, jvp: Any) -> str:
        members = {"forward": staticmethod(forward)}
        if jvp is not None:
            members["jvp"] = staticmethod(jvp)
        made = type("Made", (torch.autograd.Function,), members)
        return error(lambda: made.apply(fw.make_dual(x, t).clone()))

    def dirty(ctx: Any, a: Any) -> Any:
        ctx.mark_dirty(a)
        return a.mul_(2)

    with fw.dual_level():
        return [
            outcome(lambda ctx, a: a * 2, None),
            outcome(lambda ctx, a: a * 2, lambda ctx, g: (g, g)),
            outcome(lambda ctx, a: a * 2, lambda ctx, g: torch.ones(3)),
            outcome(lambda ctx, a: a * 2, lambda ctx, g: 3),
            outcome(lambda ctx, a: a, lambda ctx, g: g),
            outcome(lambda ctx, a: a.view(2, 1), lambda ctx, g: g.view(2, 1)),
            outcome(lambda ctx, a: a.view(2, 1), lambda ctx, g: (g * 2).view(2, 1)),
            outcome(dirty, lambda ctx, g: g * 2),
            outcome(dirty, lambda ctx, g: g.mul_(2)),
        ]


@CASES.add
def gradchecks(torch: Any) -> Any:
    check, twice = torch.autograd.gradcheck, torch.autograd.gradgradcheck
    x = torch.tensor([0.5, -1.0], dtype=torch.float64, requires_grad=True)
    no_backward = {"check_backward_ad": False, "check_undefined_grad": False}

    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            ctx.a = a
            return a * a

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return 2 * g * ctx.a

        @staticmethod
        def jvp(ctx: Any, t: Any) -> Any:
            return t * ctx.a

    return [
        check(exponential(torch).apply, (x,), check_forward_ad=True, **no_backward),
        check(lambda a: (a * a.sum(), a.exp().sum()), (x,), check_forward_ad=True),
        check(Wrong.apply, (x,)),
        check(Wrong.apply, (x,), check_forward_ad=True, raise_exception=False),
        error(lambda: check(Wrong.apply, (x,), check_forward_ad=True)),
        error(lambda: check(lambda a: a.detach() * 2, (x,), check_forward_ad=True)),
        error(lambda: check(lambda a: a, (x,), check_backward_ad=False)),
        error(lambda: check(lambda a: a, (x,), check_batched_forward_grad=True)),
        twice(lambda a: a**3, (x,), check_fwd_over_rev=True),
        twice(
            lambda a: a**3,
            (x,),
            check_fwd_over_rev=True,
            check_rev_over_rev=False,
            check_undefined_grad=False,
        ),
        error(lambda: twice(lambda a: a, (x,), check_rev_over_rev=False)),
    ]


test_scenario = CASES.test()


@pytest.mark.parametrize("name", differentiable())
def test_every_operation(name: str) -> None:
    """Tangents, backward passes over tangents, and tangents of gradients."""
    record = RECORDS[name]
    with quiet():
        for index in range(min(2, len(record.samples))):
            case = Case(OURS, record, index)
            if record.kinked(index) or not case.xs or not case.f(*case.xs):
                continue
            if all(x.numel() for x in case.xs):
                _both_modes(case)


def _both_modes(case: Case) -> None:
    T, fw = OURS, forward_ad(OURS)
    slope, wanted = case.gradient()[1], case.second(case.directions)
    with fw.dual_level():
        xs = case.leaves()
        duals = [fw.make_dual(x, d) for x, d in zip(xs, case.directions, strict=True)]
        value = case.s(*duals)
        tangent = _or_zeros(fw.unpack_dual(value).tangent, value)
        same(tangent, [dot(slope, case.directions)], "tangent")
        second = [T.zeros_like(x) for x in xs]
        if tangent.requires_grad:
            second = T.autograd.grad(tangent, xs, retain_graph=True, materialize_grads=True)
        same(second, wanted, "reverse over forward")
        for create in (False, True) if value.requires_grad else ():
            found = T.autograd.grad(
                value, duals, retain_graph=True, create_graph=create, materialize_grads=True
            )
            found = [_or_zeros(fw.unpack_dual(g).tangent, g) for g in found]
            same(found, wanted, "forward over reverse")


def _or_zeros(tangent: Any, like: Any) -> Any:
    return OURS.zeros_like(like) if tangent is None else tangent
