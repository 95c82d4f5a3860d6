"""autograd.Function inside transforms, beside PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

import torchlike
from compat_tests.scenarios import Cases, error

CASES = Cases("transform_functions")
SCENARIO = CASES.add


def function(torch: Any, **members: Any) -> Any:
    """A Function that doubles, with some of its methods replaced (or, by None, left out)."""

    def setup(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*[t for t in inputs if isinstance(t, torch.Tensor)])

    own: dict[str, Any] = {
        "forward": lambda x: x * 2,
        "setup_context": setup,
        "backward": lambda ctx, g: g * 2,
        **members,
    }
    body = {k: staticmethod(v) if callable(v) else v for k, v in own.items() if v is not None}
    return type("Double", (torch.autograd.Function,), body).apply


@SCENARIO
def vmap_rules(torch: Any) -> Any:
    v, x, told = torch.vmap, torch.tensor([1.0, 2.0, 3.0]), []

    def rule(info: Any, dims: Any, t: Any) -> Any:
        told.append([type(info).__name__, info.batch_size, info.randomness, dims, t.shape])
        return t * 2, dims[0]

    f = function(torch, vmap=rule)
    found = [
        v(f, randomness="different")(x),
        v(torch.func.grad(f))(x),
        torch.func.grad(lambda t: v(f)(t).sum())(x),
        v(function(torch, generate_vmap_rule=True))(x),
        v(torch.func.grad(function(torch, generate_vmap_rule=True)))(x),
        torch.func.jacrev(function(torch, generate_vmap_rule=True))(x),
    ]
    return found, told


def two(torch: Any, returned: Any, **more: Any) -> Any:
    return function(torch, forward=lambda x: (x * 1, x * 2), vmap=lambda i, d, x: returned(x))


@SCENARIO
def vmap_rules_that_are_wrong(torch: Any) -> Any:
    v, x = torch.vmap, torch.tensor([1.0, 2.0, 3.0])
    one = lambda returned: function(torch, vmap=lambda i, d, t: returned(t))
    return [
        error(lambda: v(function(torch))(x)),
        error(lambda: v(function(torch, generate_vmap_rule=True, vmap=lambda i, d, t: (t, 0)))(x)),
        error(lambda: v(function(torch, setup_context=None, forward=lambda ctx, t: t))(x)),
        error(lambda: v(one(lambda t: t))(x)).replace("torchlike", "torch"),
        error(lambda: v(one(lambda t: (t, 0, 1)))(x)),
        error(lambda: v(one(lambda t: [t, 0]))(x)),
        error(lambda: v(one(lambda t: (t, (0, 0))))(x)),
        error(lambda: v(one(lambda t: (t, (0,))))(x)),
        error(lambda: v(two(torch, lambda t: ((t, t), (0,))))(x)),
        error(lambda: v(two(torch, lambda t: ((t, t), [0, 0])))(x)),
        v(two(torch, lambda t: ((t, t + 1), 0)))(x),
        v(two(torch, lambda t: ((t, t[0]), (0, None))))(x),
    ]


@SCENARIO
def arguments_of_other_kinds(torch: Any) -> Any:
    x, dims = torch.tensor([1.0, 2.0, 3.0]), []

    def times(info: Any, d: Any, t: Any, k: Any) -> Any:
        dims.append(d)
        return t * k, 0

    f = function(torch, forward=lambda t, k: t * k, vmap=times)
    y = torch.tensor(2.0)
    found = [
        torch.vmap(lambda t: f(t, 3.0))(x),
        torch.vmap(lambda t, z: f(z, t), in_dims=(0, None))(x, y),
    ]
    return found, dims


@SCENARIO
def contexts(torch: Any) -> Any:
    x, needs = torch.tensor(3.0), []
    grad = torch.func.grad

    def both(ctx: Any, g: Any) -> Any:
        needs.append(ctx.needs_input_grad)
        return g, g

    times = function(torch, forward=lambda a, b: a * b, backward=both)
    plain = lambda ctx, inputs, output: ctx.mark_non_differentiable(output[1])
    pair = function(
        torch,
        forward=lambda t: (t * 2, t * 3),
        setup_context=plain,
        backward=lambda ctx, g, h: g * 2,
    )
    number = function(torch, forward=lambda t: (t * 2, 3), backward=lambda ctx, g, h: g * 2)
    dirty = function(
        torch,
        forward=lambda t: t.mul_(2),
        setup_context=lambda ctx, inputs, output: ctx.mark_dirty(inputs[0]),
    )

    def written(t: Any) -> Any:
        y = t.clone()
        dirty(y)
        return y

    found = [
        grad(lambda t: times(t, t.detach()))(x),
        grad(lambda t: times(t, torch.tensor(1.0)))(x),
        grad(lambda t: pair(t)[0])(x),
        grad(lambda t: pair(t)[1])(x),
        grad(lambda t: number(t)[0])(x),
        grad(written)(x),
        grad(lambda t: dirty(t.clone()))(x),
        grad(function(torch, backward=lambda ctx, g: None))(x),
    ]
    return found, needs


@SCENARIO
def functions_that_are_refused(torch: Any) -> Any:
    x, grad = torch.tensor(3.0), torch.func.grad
    return [
        error(lambda: grad(function(torch, setup_context=None, forward=lambda ctx, t: t))(x)),
        error(lambda: torch.func.jvp(function(torch), (x,), (x,))),
        error(lambda: grad(function(torch, backward=None))(x)),
        error(lambda: grad(function(torch, forward=lambda t: t))(x)),
        error(lambda: function(torch, forward=lambda t: t)(x.clone().requires_grad_())),
        torch.func.jacfwd(function(torch, generate_vmap_rule=True, jvp=lambda c, t: t * 2))(x),
    ]


test_scenario = CASES.test()


def test_a_graph_of_a_level_is_refused() -> None:
    """PyTorch records it; zeros would be wrong."""
    x = torchlike.tensor([1.0, 2.0])
    slope = lambda t, **kw: torchlike.autograd.grad((t**3).sum(), t, **kw)[0].sum()
    with pytest.raises(NotImplementedError, match="create_graph=True"):
        torchlike.func.grad(lambda t: slope(t, create_graph=True))(x)
    assert torchlike.func.grad(slope)(x).tolist() == [0.0, 0.0]
