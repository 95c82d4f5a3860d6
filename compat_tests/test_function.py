"""autograd.Function against PyTorch: contexts, outputs of every kind, errors, transforms."""

from __future__ import annotations

from typing import Any

from compat_tests.scenarios import Cases, error

CASES = Cases("function")


def leaf(torch: Any, *values: float) -> Any:
    return torch.tensor(values or (1.0, 2.0, 3.0), dtype=torch.float64, requires_grad=True)


def make(torch: Any, forward: Any, backward: Any, **more: Any) -> Any:
    """A Function of two plain functions (and more static methods)."""
    members = {name: staticmethod(f) for name, f in more.items() if callable(f)}
    members |= {name: f for name, f in more.items() if not callable(f)}
    members |= {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("Made", (torch.autograd.Function,), members)


def cube(torch: Any) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x**3

    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * 3 * x**2

    return make(torch, forward, backward)


@CASES.add
def simple(torch: Any) -> Any:
    x = leaf(torch)
    y = cube(torch).apply(x)
    names = y.grad_fn.name(), y.grad_fn.next_functions[0][0].name(), type(y.grad_fn).__name__
    y.sum().backward()
    return y, x.grad, names, y.requires_grad, y.is_leaf, error(y.sum().backward)


@CASES.add
def without_gradients(torch: Any) -> Any:
    f = cube(torch)
    plain = f.apply(torch.ones(2))
    with torch.no_grad():
        off = f.apply(leaf(torch))
    return plain, plain.requires_grad, off.requires_grad, off.grad_fn


@CASES.add
def double_backward(torch: Any) -> Any:
    x = leaf(torch)
    (g,) = torch.autograd.grad(cube(torch).apply(x).sum(), x, create_graph=True)
    (gg,) = torch.autograd.grad((g * g).sum(), x, create_graph=True)
    (ggg,) = torch.autograd.grad(gg.sum(), x)
    return g, gg, ggg


@CASES.add
def double_backward_through_a_result(torch: Any) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    def backward(ctx: Any, g: Any) -> Any:
        (y,) = ctx.saved_tensors
        return g * y

    x = leaf(torch)
    out = make(torch, forward, backward).apply(x)
    (g,) = torch.autograd.grad((out * out).sum(), x, create_graph=True)
    (gg,) = torch.autograd.grad(g.sum(), x)
    return out, g, gg


@CASES.add
def attributes_and_other_arguments(torch: Any) -> Any:
    seen: list[Any] = []

    def forward(ctx: Any, x: Any, power: int, y: Any, flag: bool = True, **_: Any) -> Any:
        ctx.power, ctx.flag = power, flag
        seen.append((ctx.needs_input_grad, x.requires_grad, torch.is_grad_enabled()))
        ctx.save_for_backward(x, None, y)
        return x**power * y

    def backward(ctx: Any, g: Any) -> Any:
        x, nothing, y = ctx.saved_tensors
        seen.append((ctx.power, ctx.flag, nothing, ctx.needs_input_grad, torch.is_grad_enabled()))
        return g * ctx.power * x ** (ctx.power - 1) * y, None, None, None

    f = make(torch, forward, backward)
    x = leaf(torch)
    out = f.apply(x, 2, torch.full((3,), 2.0), False)
    out.sum().backward()
    return (
        seen,
        x.grad,
        error(lambda: f.apply(x, power=2)),
        [e[0] is None for e in out.grad_fn.next_functions],
    )


@CASES.add
def several_outputs(torch: Any) -> Any:
    seen: list[Any] = []

    def forward(ctx: Any, x: Any) -> Any:
        return x * 2, "text", x.sum(), 3

    def backward(ctx: Any, *grads: Any) -> Any:
        seen.append([None if g is None else g.tolist() for g in grads])
        return grads[0] * 2

    f = make(torch, forward, backward)
    x = leaf(torch)
    a, text, b, number = f.apply(x)
    states = text, number, a.output_nr, b.output_nr, a.grad_fn is b.grad_fn
    (a * 3).sum().backward()
    b.backward()
    return seen, states, x.grad, type(f.apply(x)).__name__


@CASES.add
def gradients_that_are_not_materialized(torch: Any) -> Any:
    seen: list[Any] = []

    def forward(ctx: Any, x: Any) -> Any:
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    def backward(ctx: Any, a: Any, b: Any) -> Any:
        seen.append((a is None, b is None))
        return b * 3 if a is None else a * 2

    x, f = leaf(torch), make(torch, forward, backward)
    f.apply(x)[1].sum().backward()
    f.apply(x)[0].sum().backward()
    return seen, x.grad


@CASES.add
def not_differentiable_outputs(torch: Any) -> Any:
    seen: list[Any] = []

    def forward(ctx: Any, x: Any) -> Any:
        order = x.argsort() if hasattr(x, "argsort") else x.long()
        y, mask = x * 2, x + 1
        ctx.mark_non_differentiable(mask, order)
        return y, mask, order

    def backward(ctx: Any, g: Any, gm: Any, gi: Any) -> Any:
        seen.append((gm.tolist(), str(gi.dtype)))
        return g * 2

    x = leaf(torch)
    y, mask, order = make(torch, forward, backward).apply(x)
    y.sum().backward()
    return seen, x.grad, mask.requires_grad, order.requires_grad, mask.is_leaf


@CASES.add
def integer_outputs(torch: Any) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        return x.long(), x * 1

    x = leaf(torch)
    whole, y = make(torch, forward, lambda ctx, a, b: b).apply(x)
    y.sum().backward()
    return whole.requires_grad, x.grad


@CASES.add
def dirty_inputs(torch: Any) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(x)
        x.mul_(2)
        return x

    f = make(torch, forward, lambda ctx, g: g * 2)
    x = leaf(torch)
    y = x.clone()
    out = f.apply(y)
    states = out is y, y._version, y.grad_fn.name()
    y.sum().backward()
    base = leaf(torch).clone()
    view = base[:2]
    same = f.apply(view) is view
    leaf_error = error(lambda: f.apply(leaf(torch)))
    plain = torch.ones(2)
    return states, x.grad, same, base.grad_fn.name(), leaf_error, f.apply(plain) is plain


@CASES.add
def returned_inputs_and_views(torch: Any) -> Any:
    def returned(ctx: Any, x: Any) -> Any:
        return x

    x = leaf(torch)
    f = make(torch, returned, lambda ctx, g: g * 5)
    y = f.apply(x)
    y.sum().backward()
    v = make(torch, lambda ctx, x: x.view(3, 1), lambda ctx, g: g.view(3) * 2)
    z = v.apply(x * 1)
    z.sum().backward()
    return [
        (y is x, y.grad_fn.name(), y._is_view(), y.data_ptr() == x.data_ptr()),
        (z.grad_fn.name(), z._is_view(), list(z.shape)),
        x.grad,
        error(lambda: z.add_(1)),
        error(lambda: f.apply(x * 1).add_(1)),
    ]


@CASES.add
def returned_constants(torch: Any) -> Any:
    constant = torch.ones(3, dtype=torch.float64)
    f = make(torch, lambda ctx, x: constant, lambda ctx, g: g)
    x = leaf(torch)
    y = f.apply(x)
    return (
        y is constant,
        y.requires_grad,
        constant.requires_grad,
        f.apply(torch.ones(2)) is constant,
    )


@CASES.add
def wrong_backwards(torch: Any) -> Any:
    def attempt(backward: Any, inputs: int = 1) -> str:
        f = make(torch, lambda ctx, *xs: sum(xs[1:], xs[0] * 1), backward)
        return error(f.apply(*[leaf(torch) for _ in range(inputs)]).sum().backward)

    number = make(torch, lambda ctx, x, n: x * n, lambda ctx, g: (g, g))
    missing = type(
        "Missing", (torch.autograd.Function,), {"forward": staticmethod(lambda ctx, x: x * 1)}
    )
    return [
        attempt(lambda ctx, g: (g, g)),
        attempt(lambda ctx, g: (g, None)),
        attempt(lambda ctx, g: g, 2),
        attempt(lambda ctx, g: None),
        attempt(lambda ctx, g: g[:2]),
        attempt(lambda ctx, g: g.sum()),
        attempt(lambda ctx, g: "a"),
        attempt(lambda ctx, g: 1.0),
        attempt(lambda ctx, g: g.float()),
        attempt(lambda ctx: None),
        error(number.apply(leaf(torch), 2.0).sum().backward),
        error(missing.apply(leaf(torch)).sum().backward),
        error(lambda: torch.autograd.Function.apply(leaf(torch))),
        error(lambda: cube(torch)(leaf(torch))),
        error(cube(torch).apply),
    ]


@CASES.add
def gradients_that_broadcast(torch: Any) -> Any:
    f = make(torch, lambda ctx, x: x * 1, lambda ctx, g: g.expand(2, 3))
    x = leaf(torch)
    f.apply(x).sum().backward()
    return x.grad


@CASES.add
def once(torch: Any) -> Any:
    decorate = torch.autograd.function.once_differentiable
    f = make(torch, lambda ctx, x: x * 2, decorate(lambda ctx, g: g * 2))
    x = leaf(torch)
    f.apply(x).sum().backward()
    first = x.grad.clone()
    (g,) = torch.autograd.grad((f.apply(x) ** 2).sum(), x, create_graph=True)
    return first, g.requires_grad, g, error(g.sum().backward)


@CASES.add
def context_outside_the_contract(torch: Any) -> Any:
    def save_later(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        ctx.save_for_backward(x * 2)
        ctx.note = [1]
        return x * 2

    def backward(ctx: Any, g: Any) -> Any:
        return g + ctx.saved_tensors[0] * len(ctx.note)

    x = leaf(torch)
    y = make(torch, save_later, backward).apply(x)
    count = len(y.grad_fn.saved_tensors)
    note = y.grad_fn.note
    y.sum().backward(retain_graph=True)
    first = x.grad.clone()
    y.sum().backward()
    bad = make(torch, lambda ctx, x: (ctx.save_for_backward("a"), x * 1)[1], backward)
    return count, note, first, x.grad, error(lambda: bad.apply(x))


@CASES.add
def saved_tensors_are_checked(torch: Any) -> Any:
    x = leaf(torch)
    y = x * 1
    out = cube(torch).apply(y)
    y.add_(1)
    return error(out.sum().backward)


@CASES.add
def setup_context_style(torch: Any) -> Any:
    log: list[Any] = []

    def setup(ctx: Any, inputs: Any, output: Any) -> None:
        x, n = inputs
        ctx.n = n
        log.append((torch.is_grad_enabled(), n))
        ctx.save_for_backward(x)

    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * ctx.n * x ** (ctx.n - 1), None

    f = make(torch, lambda x, n: x**n, backward, setup_context=setup)
    x = leaf(torch)
    f.apply(x, 3).sum().backward()
    (g,) = torch.autograd.grad(f.apply(x, 4).sum(), x, create_graph=True)
    (gg,) = torch.autograd.grad(g.sum(), x)
    return x.grad, g, gg, log


@CASES.add
def hooks_on_function_nodes(torch: Any) -> Any:
    log: list[Any] = []
    x = leaf(torch)
    y = cube(torch).apply(x)
    y.grad_fn.register_hook(lambda gi, go: log.append(([g.tolist() for g in gi], len(go))))
    y.grad_fn.register_prehook(lambda go: (go[0] * 2,))
    y.sum().backward()
    return log, x.grad


@CASES.add
def nested_functions(torch: Any) -> Any:
    inner = cube(torch)
    outer = make(
        torch,
        lambda ctx, x: (ctx.save_for_backward(x), inner.apply(x) * 2)[1],
        lambda ctx, g: inner.apply(ctx.saved_tensors[0]) * g,
    )
    x = leaf(torch)
    (g,) = torch.autograd.grad(outer.apply(x).sum(), x, create_graph=True)
    (gg,) = torch.autograd.grad(g.sum(), x)

    def through(ctx: Any, x: Any) -> Any:
        with torch.enable_grad():
            copy = x.detach().requires_grad_()
            y = (copy**2).sum()
        (ctx.inside,) = torch.autograd.grad(y, copy)
        return x * 1

    z = make(torch, through, lambda ctx, g: g * ctx.inside).apply(x)
    z.sum().backward()
    return g, gg, x.grad


@CASES.add
def under_transforms(torch: Any) -> Any:
    from importlib import import_module

    func = import_module(torch.__name__ + ".func")

    def setup(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    f = make(
        torch,
        lambda x: x**3,
        lambda ctx, g: g * 3 * ctx.saved_tensors[0] ** 2,
        setup_context=setup,
        jvp=lambda ctx, t: t * 3 * ctx.saved_tensors[0] ** 2,
        generate_vmap_rule=True,
    )
    x = leaf(torch).detach()
    total = lambda x: f.apply(x).sum()
    return [
        func.grad(total)(x),
        func.vmap(f.apply)(x.reshape(3, 1)),
        func.vmap(func.grad(total))(x.reshape(3, 1)),
        func.grad(lambda x: func.grad(total)(x).sum())(x),
        func.jvp(f.apply, (x,), (x,)),
        func.jacrev(f.apply)(x),
        error(lambda: func.grad(lambda x: cube(torch).apply(x).sum())(x)),
    ]


test_scenario = CASES.test()
