"""``torch.autograd.functional``: products with Jacobians and Hessians, and the matrices."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable
from typing import Any

from compat_tests.scenarios import Cases

CASES = Cases("autograd_functional")
PRODUCTS = ("vjp", "jvp", "vhp", "hvp")
MODES = [
    {"strict": strict, "create_graph": create}
    for strict, create in itertools.product((False, True), repeat=2)
]
FORWARD = {"vectorize": True, "strategy": "forward-mode"}


def functional(torch: Any) -> Any:
    return importlib.import_module(f"{torch.__name__}.autograd.functional")


def seen(value: Any) -> Any:
    """Containers by name, tensors with whether they have a history."""
    if isinstance(value, (tuple, list)):
        return [type(value).__name__, *map(seen, value)]
    return [value, value.requires_grad]


def outcome(call: Callable[[], Any]) -> Any:
    """What a call returns, or its error's class and first line."""
    try:
        return seen(call())
    except Exception as caught:
        return f"{type(caught).__name__}: {(str(caught).splitlines() or [''])[0]}"


def inputs(torch: Any) -> Any:
    return torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])


def vectors(x: Any, y: Any) -> dict[str, Any]:
    """Functions of one tensor and of two, by the way in which they depend on them."""
    other = y.clone().requires_grad_()
    return {
        "square": lambda a: a * a,
        "constant": lambda a: y * 1,
        "detached": lambda a: a.detach() * 2,
        "another leaf": lambda a: other * 1,
        "linear": lambda a: a * 2,
        "identity": lambda a: a,
        "tuple": lambda a: (a * a,),
        "partly another leaf": lambda a: (a * a, other * 1),
        "partly constant": lambda a: (a * a, y * 1),
    }


def scalars(x: Any, y: Any) -> dict[str, Any]:
    other = y.clone().requires_grad_()
    return {
        "cube": lambda a: (a**3).sum(),
        "one element": lambda a: (a**3).sum().view(1),
        "constant": lambda a: y.sum(),
        "detached": lambda a: a.detach().sum(),
        "another leaf": lambda a: (other * other).sum(),
        "linear": lambda a: (a * 2).sum(),
        "quadratic": lambda a: (a * a).sum(),
        "product with a leaf": lambda a: (a * other).sum(),
        "no scalar": lambda a: a * a,
        "two": lambda a: (a.sum(), a.sum()),
    }


@CASES.add
def products_of_one_tensor(torch: Any) -> Any:
    F, found = functional(torch), []
    x, y = inputs(torch)
    for name in PRODUCTS:
        product = getattr(F, name)
        for f in (vectors if name in ("vjp", "jvp") else scalars)(x, y).values():
            for mode in MODES:
                v = (y, y) if name == "vjp" and isinstance(f(x), tuple) and len(f(x)) > 1 else y
                found.append(outcome(lambda f=f, p=product, v=v, m=mode: p(f, x, v, **m)))
        given, f = x.clone().requires_grad_(), (lambda a: (a**3).sum())
        v = torch.tensor(2.0) if name == "vjp" else y
        for mode in MODES:
            found.append(outcome(lambda p=product, m=mode: p(f, given, v, **m)))  # noqa: B023
            found.append(outcome(lambda p=product, m=mode: p(f, (given,), v, **m)))  # noqa: B023
        with torch.no_grad():
            found.append(outcome(lambda p=product: p(f, x, v, create_graph=True)))  # noqa: B023
    return found


@CASES.add
def products_of_two_tensors(torch: Any) -> Any:
    F, found = functional(torch), []
    x, y = inputs(torch)
    two = [lambda a, b: (a * b, (a + b * b).sum()), lambda a, b: a * 2 + b, lambda a, b: a * 2]
    one = [
        lambda a, b: (a * b * b).sum(), lambda a, b: (a * a * 2 + b).sum(),
        lambda a, b: (a**3).sum(),
    ]  # fmt: skip
    for name in PRODUCTS:
        for k, f in enumerate(two if name in ("vjp", "jvp") else one):
            v = ((x, torch.tensor(2.0)) if k == 0 else x) if name == "vjp" else (y, x)
            for mode in MODES:
                call = lambda f=f, v=v, m=mode, n=name: getattr(F, n)(f, (x, y), v, **m)
                found.append(outcome(call))
    return found


@CASES.add
def products_with_wrong_arguments(torch: Any) -> Any:
    F, found = functional(torch), []
    x, y = inputs(torch)
    for name in PRODUCTS:
        vector = name in ("vjp", "jvp")
        f = (lambda a: a * a) if vector else (lambda a: (a**3).sum())
        two = (lambda a, b: (a * b, a + b)) if vector else (lambda a, b: (a * b).sum())
        calls = [
            (f, x), (f, x, None), (lambda a: (a * a).sum(), torch.tensor(2.0)), (f, x, y[:1]),
            (f, x, (x, x)), (f, x, (x,)), (f, (x,), x), (two, (x, y), (x,)), (two, (x, y), x),
            (two, (x, y), (x, torch.ones(5))), (f, 3, x), (f, (x, 3), x), (f, [x], x), (f, x, 3),
            (f, x, (3,)), (f, x, [x]), (lambda a: 3, x, x), (lambda a: (a, 3), x, (x, x)),
            (lambda a: [a], x, x), (f, torch.tensor([1, 2]), x), (f, x, x.double()),
            (f, torch.ones(0), torch.ones(0)),
        ]  # fmt: skip
        found += [outcome(lambda c=c, n=name: getattr(F, n)(*c)) for c in calls]
    return found


@CASES.add
def jacobians(torch: Any) -> Any:
    F, found = functional(torch), []
    x, y = inputs(torch)
    z = torch.tensor([3.0, 4.0, 5.0])
    calls: list[Any] = [(f, x) for f in vectors(x, y).values()]
    calls += [
        (lambda a: a * a, (x,)), (lambda a: a * a, torch.tensor(2.0)),
        (lambda a: a.sum(0), torch.ones(2, 3)), (lambda a: (a * 2, a.sum()), x),
        (lambda a, b: (a.sum() * b, a * a), (x, z)), (lambda a, b: a.sum() * b, (x, z)),
        (lambda a, b: a * 2, (x, z)), (lambda a: a * a, x.clone().requires_grad_()),
        (lambda a: a.clone().mul_(a), x), (lambda a: a.double() * 2, x),
        (lambda a, b: a * b, (x, y.double())), (lambda a: a.long(), x),
    ]  # fmt: skip
    for mode in [*MODES, {"vectorize": True}, FORWARD]:
        found += [outcome(lambda c=c, m=mode: F.jacobian(*c, **m)) for c in calls]
    with torch.no_grad():
        for mode in ({}, {"vectorize": True}, FORWARD):
            found.append(outcome(lambda m=mode: F.jacobian(lambda a: a * a, x, **m)))
    return found


@CASES.add
def jacobians_with_wrong_arguments(torch: Any) -> Any:
    F = functional(torch)
    x, _ = inputs(torch)
    square = lambda a: a * a
    calls = [
        (lambda a: 3, x), (square, 3), (square, [x]), (lambda a: [a], x),
        (square, torch.tensor([1, 2])), (lambda a: a * 1j, x), (square, x),
    ]  # fmt: skip
    modes: list[Any] = [
        {}, FORWARD, {"strategy": "forward-mode"}, {"strategy": "other"},
        {"vectorize": True, "strict": True}, {**FORWARD, "create_graph": True},
        {**FORWARD, "strict": True},
    ]  # fmt: skip
    return [outcome(lambda c=c, m=m: F.jacobian(*c, **m)) for m in modes for c in calls if c[0]]


@CASES.add
def hessians(torch: Any) -> Any:
    F, found = functional(torch), []
    x, y = inputs(torch)
    z = torch.tensor([3.0, 4.0, 5.0])
    calls: list[Any] = [(f, x) for f in scalars(x, y).values()]
    calls += [
        (lambda a: (a**3).sum(), (x,)), (lambda a: a**3, torch.tensor(2.0)),
        (lambda a, b: (a * a).sum() * (b * b).sum(), (x, z)), (lambda a, b: (a**3).sum(), (x, z)),
        (lambda a, b: (a**3).sum() + b.sum(), (x, z)), (lambda a: 3, x), (lambda a: a, 3),
        (lambda a: (a**3).sum(), x.clone().requires_grad_()),
    ]  # fmt: skip
    outer = {"vectorize": True, "outer_jacobian_strategy": "forward-mode"}
    modes: list[Any] = [
        *MODES, {"vectorize": True}, outer, {"vectorize": True, "create_graph": True},
        {"vectorize": True, "strict": True}, {**outer, "create_graph": True},
        {"outer_jacobian_strategy": "forward-mode"}, {"outer_jacobian_strategy": "other"},
    ]  # fmt: skip
    for mode in modes:
        for c in calls:
            got = outcome(lambda c=c, m=mode: F.hessian(*c, **m))
            found.append(without_history(got) if mode.get("vectorize") else got)
    return found


def without_history(found: Any) -> Any:
    """Which of the batched results are recorded as constants is not compared."""
    if isinstance(found, str):
        return found
    return found[0] if isinstance(found[1], bool) else [*map(without_history, found[1:])]


@CASES.add
def further_derivatives(torch: Any) -> Any:
    F, found = functional(torch), []
    x, y = inputs(torch)
    x.requires_grad_()
    f = lambda a: (a**4).sum()
    for result in (
        F.jacobian(lambda a: a**3, x, create_graph=True),
        F.jacobian(lambda a: a**3, x, create_graph=True, vectorize=True),
        F.hessian(f, x, create_graph=True),
        F.hessian(f, x, create_graph=True, vectorize=True),
        F.jvp(lambda a: a**3, x, y, create_graph=True)[1],
        F.vjp(lambda a: a**3, x, y, create_graph=True)[1],
        F.hvp(f, x, y, create_graph=True)[1],
        F.vhp(f, x, y, create_graph=True)[1],
    ):
        found.append(torch.autograd.grad(result.sum(), x)[0])
    v = y.clone().requires_grad_()
    found += torch.autograd.grad(F.hvp(f, x, v, create_graph=True)[1].sum(), (x, v))
    return found


test_scenario = CASES.test()
