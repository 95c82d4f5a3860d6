"""What the transforms of torch.func take, give and refuse, beside PyTorch."""

from __future__ import annotations

import functools
from typing import Any

from compat_tests.scenarios import Cases, error

CASES = Cases("transform_checks")
SCENARIO = CASES.add


def said(*calls: Any) -> list[str]:
    return [error(call) for call in calls]


def samples(torch: Any) -> tuple[Any, Any]:
    return torch.tensor([1.0, 2.0, 3.0]), torch.arange(6.0).reshape(3, 2)


@SCENARIO
def vmap_refuses_inputs(torch: Any) -> Any:
    v, (x, y) = torch.vmap, samples(torch)
    same = lambda *a: a[0]
    return said(
        lambda: v(torch.mul)(torch.ones(3), torch.ones(2)),
        lambda: v(same)(torch.tensor(1.0)),
        lambda: v(same)(),
        lambda: v(same)(3),
        lambda: v(same)([]),
        lambda: v(same, in_dims=None)(x),
        lambda: v(same, in_dims=(None,))(x),
        lambda: v(same, in_dims=[0])(x),
        lambda: v(same, in_dims=("a",))(x),
        lambda: v(same, in_dims=(0.5,))(x),
        lambda: v(same, in_dims=(0, 0))(x),
        lambda: v(same, in_dims=([0],))(x),
        lambda: v(same, in_dims=([0],))([x, x]),
        lambda: v(same, in_dims=1)(x),
        lambda: v(same, in_dims=-2)(x),
        lambda: v(same, in_dims=(0, 5))(x, y),
        lambda: v(same)(x, 2.0),
        lambda: v(functools.partial(lambda a, b: 3.0, 3.0))(x),
        lambda: v(same, randomness="other"),
        lambda: v(same, chunk_size=0),
        lambda: v(same, chunk_size=-1),
    )


@SCENARIO
def vmap_refuses_outputs(torch: Any) -> Any:
    v, (x, _) = torch.vmap, samples(torch)
    same = lambda t: t
    return said(
        lambda: v(lambda t: 3.14)(x),
        lambda: v(lambda t: None)(x),
        lambda: v(lambda t: (t, 3))(x),
        lambda: v(same, out_dims=1)(x),
        lambda: v(same, out_dims=-2)(x),
        lambda: v(same, out_dims=(0, 0))(x),
        lambda: v(lambda t: (t, t), out_dims=(0,))(x),
        lambda: v(lambda t: (t, t), out_dims=[0, 0])(x),
        lambda: v(same, out_dims=None)(x),
        lambda: v(same, out_dims="a")(x),
        lambda: v(same, out_dims=(0.5,))(x),
    )


@SCENARIO
def vmap_takes_and_gives(torch: Any) -> Any:
    v, (x, y) = torch.vmap, samples(torch)
    return [
        v(lambda t: {"a": t, "b": 2 * t})(x),
        v(lambda a: a[0] * a[1], in_dims=([0, None],))([x, x]),
        v(lambda d: d["a"] * d["b"], in_dims=({"a": 0, "b": None},))({"a": y, "b": y[0]}),
        v(lambda t: t * 2, in_dims=-1)(y),
        v(lambda t, k: t * k, in_dims=(0, None))(x, 2.0),
        v(lambda t, k=1: t * k)(x, k=x),
        v(lambda t: t, out_dims=(0,))(x),
        v(lambda t: (t, [t, t + 1]), out_dims=(0, 0))(x),
        v(lambda t: (t, "a"), out_dims=(0, None))(x),
        v(lambda t: torch.ones(2), out_dims=None)(x),
        v(lambda t: {"a": t, "b": t}, out_dims={"a": 0, "b": 1})(y),
        v(lambda t: (t, t * 2), out_dims=(0, 1))(y),
        v(v(torch.mul, in_dims=(0, None)), in_dims=(None, 0))(x, x),
        v(lambda t: t * 2)(torch.ones(0, 3)),
        v(torch.sum).__name__,
    ]


@SCENARIO
def vmap_in_chunks(torch: Any) -> Any:
    v, (x, y) = torch.vmap, samples(torch)
    sizes: list[Any] = []

    def noted(t: Any) -> Any:
        sizes.append(1)
        return t * 2

    found = [
        v(lambda a, b: (a * b, {"a": a}), in_dims=(0, None), chunk_size=2)(y, y[0]),
        v(lambda a: a * torch.ones(1), chunk_size=2, out_dims=1)(x),
        v(lambda a: a.sum(), in_dims=1, chunk_size=1)(y),
        [v(noted, chunk_size=n)(torch.arange(7.0)) for n in (None, 1, 2, 3, 7, 9)],
    ]
    return found, len(sizes)


@SCENARIO
def batched_tensors_have_no_numbers(torch: Any) -> Any:
    v, (x, y) = torch.vmap, samples(torch)
    return said(
        lambda: v(lambda t: t if t > 0 else -t)(x),
        lambda: v(lambda t: t.item())(x),
        lambda: v(float)(x),
        lambda: v(lambda t: [1, 2, 3][t])(torch.arange(3)),
        lambda: v(lambda t: t.tolist())(x),
        lambda: v(lambda t: t.numpy())(x),
        lambda: v(lambda t: t.detach().numpy())(y),
        lambda: v(lambda t: t.data_ptr())(x),
        lambda: v(lambda t: t.nonzero())(y),
        lambda: v(lambda t: t.unique())(y),
        lambda: v(lambda t: t.masked_select(t > 0))(y),
        lambda: v(lambda t: t[t > 0])(y),
        lambda: v(lambda t: t.__setitem__(t > 0, 2.0))(y.clone()),
        lambda: v(lambda t: torch.allclose(t, t))(y),
        lambda: v(lambda t: torch.equal(t, t))(y),
        lambda: v(lambda t: torch.add(t, t, out=torch.empty(())))(x),
        lambda: v(lambda t: 1 in t)(y),
        lambda: v(lambda t: t.requires_grad_())(x),
    )


@SCENARIO
def a_tensor_that_left_its_vmap(torch: Any) -> Any:
    kept: list[Any] = []
    torch.vmap(lambda t: kept.append(t) or t)(torch.ones(3))
    return *said(lambda: kept[0] + 1, lambda: kept[0].item()), kept[0].shape


@SCENARIO
def argnums(torch: Any) -> Any:
    f, (_, y) = torch.func, samples(torch)
    total = lambda *a: a[0].sum()
    bad = (1, -2, (), "a", (0, 0), (0, "a"), (0, 5))
    calls = [
        lambda n=n, t=t: t(total, argnums=n)(y) for t in (f.grad, f.jacrev, f.jacfwd) for n in bad
    ]
    two = lambda a, b: (a * b).sum()
    good = [f.grad(two, argnums=n)(y, y + 1) for n in (0, -1, (0, 1), (1, -2))]
    return said(*calls, lambda: f.grad(total, argnums=(0, -2))(y, y)), good


@SCENARIO
def grad_refuses(torch: Any) -> Any:
    g, (_, y) = torch.func.grad, samples(torch)
    return said(
        lambda: g(lambda t: t)(y),
        lambda: g(lambda t: t)(torch.ones(1)),
        lambda: g(lambda t: 3)(y),
        lambda: g(lambda t: [t.sum()])(y),
        lambda: g(lambda t: t.sum())(torch.arange(3)),
        lambda: g(lambda t: t.sum(), has_aux=True)(y),
        lambda: g(lambda t: (t.sum(),), has_aux=True)(y),
        lambda: g(lambda t: (t.sum(), "a"), has_aux=True)(y),
        lambda: g(lambda t: t)(3.0),
        lambda: g(lambda t: t.sum())(torch.ones(2, dtype=torch.complex64)),
        lambda: g(lambda t: t[0].sum())((y, 2)),
        lambda: g(lambda t: t.requires_grad_().sum())(y),
        lambda: g(lambda t: torch.zeros(3).requires_grad_().sum())(y),
        lambda: g(lambda t: (t.sum().backward(), t.sum())[1])(y),
        lambda: g(lambda t: ((t * 2).retain_grad(), t.sum())[1])(y),
        lambda: g(lambda t: (t.numpy(), t.sum())[1])(y),
        lambda: g(lambda t: (t.detach().numpy(), t.sum())[1])(y),
    )


@SCENARIO
def grad_of_trees(torch: Any) -> Any:
    f, (x, y) = torch.func, samples(torch)
    return [
        f.grad(lambda p, t: (p["w"] * t).sum())({"w": x, "b": y}, x),
        f.grad(lambda t: (t.sum(), {"a": t * 2}), has_aux=True)(x),
        f.grad_and_value(lambda t: (t.sum(), t * 2), has_aux=True)(x),
        f.grad(lambda t, k=1: t.sum() * k)(x, k=x[0]),
        f.grad(lambda t: torch.tensor(1.0))(x),
        f.grad(lambda t: (t * t.detach()).sum())(x),
        f.grad(lambda t: t[t.argmax()] * t[[0, 1]].sum())(x),
        f.grad(lambda t: (torch.ones(3, requires_grad=True) * t).sum())(x).requires_grad,
    ]


@SCENARIO
def vjp_refuses(torch: Any) -> Any:
    p, (x, y) = torch.func.vjp, samples(torch)
    same = lambda t: t
    return said(
        lambda: p(lambda t: 3, y),
        lambda: p(lambda t: None, y),
        lambda: p(lambda t: (), y),
        lambda: p(same, 3),
        lambda: p(same, torch.arange(3)),
        lambda: p(lambda t: t.argmax(), x),
        lambda: p(lambda t: (t, t), y)[1](y),
        lambda: p(same, y)[1](x),
        lambda: p(same, y)[1](3),
        lambda: p(lambda t: (t, t), x)[1]((x, None)),
        lambda: p(same, y, has_aux=True),
        lambda: p(lambda t: (t, t, t), y, has_aux=True),
        lambda: p(lambda t: (t, "a"), x, has_aux=True),
    )


@SCENARIO
def jvp_refuses(torch: Any) -> Any:
    p, (x, y) = torch.func.jvp, samples(torch)
    same = lambda t: t
    ints = torch.arange(3)
    return said(
        lambda: p(same, y, y),
        lambda: p(same, [x], [x]),
        lambda: p(same, (y,), y),
        lambda: p(same, (y,), (y, y)),
        lambda: p(same, (y,), (x,)),
        lambda: p(lambda: y, (), ()),
        lambda: p(same, (3,), (4,)),
        lambda: p(same, (y,), (4,)),
        lambda: p(same, (ints,), (ints,)),
        lambda: p(lambda t: 3, (y,), (y,)),
        lambda: p(lambda t: (t, 3), (y,), (y,)),
        lambda: p(lambda t: (), (y,), (y,)),
        lambda: p(lambda t: torch.ones(2), (y,), (y,), strict=True),
        lambda: p(same, (y,), (y,), has_aux=True),
    ), p(lambda a: a["x"] * 2, ({"x": x},), ({"x": x},))


@SCENARIO
def linearize_refuses(torch: Any) -> Any:
    lin, (x, y) = torch.func.linearize, samples(torch)
    push = lin(lambda t: t * 2, x)[1]
    value, both = lin(lambda a, b: (a * b, {"a": a}), x, x)
    return said(lambda: push(y), lambda: push(x, x), lambda: push(x.double())), value, both(x, x)


@SCENARIO
def jacobians_of_trees(torch: Any) -> Any:
    (x, y), found = samples(torch), []
    for jac in (torch.func.jacrev, torch.func.jacfwd):
        found.append([
            jac(lambda t: (t, t * 2))(x),
            jac(lambda a, b: a.sum() * b, argnums=(0, 1))(x, y),
            jac(lambda a, b: (a.sum() * 2, b.sum() * 3), argnums=(0, 1))(x, y),
            jac(lambda a, b: a.sum() * 2, argnums=(0,))(x, y),
            jac(lambda t: {"a": t.sum(), "b": (t,)})(x),
            jac(lambda d: {"b": d["a"]})({"a": x, "c": y}),
            jac(lambda t: (t, {"a": t * 2}), has_aux=True)(x),
            said(
                lambda jac=jac: jac(lambda t: 3)(y),
                lambda jac=jac: jac(lambda t: t)(torch.arange(3)),
                lambda jac=jac: jac(lambda t: t, has_aux=True)(x),
            ),
        ])  # fmt: skip
    hessian = torch.func.hessian(lambda a, b: a.sum() ** 2 * b.prod(), argnums=(0, 1))
    return found, hessian(x, x)


@SCENARIO
def jacobians_in_chunks(torch: Any) -> Any:
    jac, (x, y) = torch.func.jacrev, samples(torch)
    f = lambda t: (t.sin().sum(0), t[0] * t[1])
    whole = [jac(f, chunk_size=n)(y) for n in (None, 1, 2, 3, 9)]
    return whole, said(lambda: jac(f, chunk_size=0)(x), lambda: jac(f, chunk_size=-1)(x))


@SCENARIO
def states_of_modules(torch: Any) -> Any:
    nn, stack = torch.nn, torch.func.stack_module_state
    return said(
        lambda: stack([]),
        lambda: stack([nn.Linear(1, 1), nn.Conv1d(1, 1, 1)]),
        lambda: stack([nn.Linear(1, 1), nn.Linear(1, 1).eval()]),
    )


@SCENARIO
def saved_tensor_hooks(torch: Any) -> Any:
    x, same = torch.tensor([1.0, 2.0]), lambda t: t

    def inside(t: Any) -> Any:
        with torch.autograd.graph.saved_tensors_hooks(same, same):
            return t.sin().sum()

    def outside() -> Any:
        with torch.autograd.graph.saved_tensors_hooks(same, same):
            return torch.func.grad(lambda t: t.sin().sum())(x)

    grads = said(outside, lambda: torch.func.grad(inside)(x))
    return grads, torch.vmap(inside)(torch.stack([x, x])), torch.func.jvp(inside, (x,), (x,))


@SCENARIO
def wrappers_unwrapped(torch: Any) -> Any:
    seen: list[Any] = []
    unwrap = torch.func.debug_unwrap

    def note(t: Any) -> Any:
        seen.append((unwrap(t), unwrap(t, recurse=False).shape))
        return t.sum()

    torch.vmap(torch.func.grad(note))(torch.ones(2, 3))
    plain = torch.ones(2)
    return seen[0][0], seen[0][1], unwrap(plain) is plain


@SCENARIO
def complex_numbers_in_jacobians(torch: Any) -> Any:
    x, z = torch.ones(3), torch.tensor([1 + 1j, 2 - 1j])
    found = []
    for jac in (torch.func.jacrev, torch.func.jacfwd):
        found += said(
            lambda jac=jac: jac(lambda t: t.abs())(z),
            lambda jac=jac: jac(lambda t: torch.complex(t, t))(x),
            lambda jac=jac: jac(lambda t, u: t.abs() * u[:2], argnums=(0, 1))(z, x),
        )
    return found


@SCENARIO
def data_in_transforms(torch: Any) -> Any:
    x = torch.tensor([1.0, 2.0, 3.0])

    def other(t: Any) -> Any:
        t.data = torch.ones(3)
        return t.sum()

    return said(
        lambda: torch.vmap(lambda t: t.data)(x),
        lambda: torch.vmap(other)(torch.ones(2, 3)),
        lambda: torch.func.grad(other)(x),
    ), torch.func.grad(lambda t: (t * t.data).sum())(x)


@SCENARIO
def views_of_batches(torch: Any) -> Any:
    v, y = torch.vmap, torch.arange(30.0).view(2, 3, 5)
    return [
        *said(
            lambda: v(lambda t: t.view(10), in_dims=1)(y),
            lambda: v(lambda t: t.view(5, 2), in_dims=1)(y),
            lambda: v(lambda t, u: t.view_as(u), in_dims=(1, None))(y, torch.ones(10)),
            lambda: v(lambda t: t.t().view(15))(y),
        ),
        v(lambda t: t.view(-1), in_dims=0)(y),
        v(lambda t: t.view(2, 1, 5), in_dims=1)(y),
        v(lambda t: t.reshape(10), in_dims=1)(y),
        v(lambda t: t.flatten(), in_dims=2)(y),
        v(lambda t: t.t().reshape(15))(y),
    ]


@SCENARIO
def batch_norms(torch: Any) -> Any:
    v, nn, x = torch.vmap, torch.nn, torch.arange(24.0).view(3, 4, 2).sin()
    return [
        *said(
            lambda: v(nn.BatchNorm1d(2))(x),
            lambda: v(nn.InstanceNorm1d(4, track_running_stats=True))(x),
            lambda: v(torch.nn.functional.one_hot)(torch.tensor([0, 1])),
        ),
        v(nn.BatchNorm1d(2).eval())(x),
        v(nn.BatchNorm1d(2, track_running_stats=False))(x),
    ]


@SCENARIO
def anomalies(torch: Any) -> Any:
    x = torch.zeros(3) - 1
    with torch.autograd.set_detect_anomaly(True):
        fine = torch.vmap(torch.func.grad(lambda t: t.sum()))(x)
        bad = lambda: torch.vmap(torch.func.grad(lambda t: t.sqrt().sum()))(x)
        return fine, error(bad)


@SCENARIO
def states_that_need_gradients(torch: Any) -> Any:
    models = [torch.nn.Linear(1, 1) for _ in range(2)]
    models[0].weight.requires_grad_(False)
    said_first = error(lambda: torch.func.stack_module_state(models))
    models[1].weight.requires_grad_(False)
    params, _ = torch.func.stack_module_state(models)
    return said_first, [p.requires_grad for p in params.values()]


test_scenario = CASES.test()
