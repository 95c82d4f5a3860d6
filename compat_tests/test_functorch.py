"""The package functorch against PyTorch's: deprecated transforms, and modules taken apart."""

from __future__ import annotations

import importlib
import subprocess
import sys
import warnings
from typing import Any

from compat_tests.scenarios import Cases, error

CASES = Cases("functorch")


def package(torch: Any) -> Any:
    return importlib.import_module(
        "functorch" if torch.__name__ == "torch" else "torchlike.functorch"
    )


def quietly(call: Any, *args: Any, **kwargs: Any) -> Any:
    """The result of a deprecated call, and what it warns."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = call(*args, **kwargs)
    return result, [str(w.message) for w in found if w.category is FutureWarning]


def seeded(torch: Any, make: Any) -> Any:
    torch.manual_seed(3)
    return make(torch.nn)


@CASES.add
def transforms_warn(torch: Any) -> Any:
    f, x = package(torch), torch.tensor([0.5, 1.0])
    total = lambda t: (t * t).sum()
    return [
        quietly(f.vmap(torch.sin), x),
        quietly(lambda: f.grad(total)(x)),
        quietly(lambda: f.grad_and_value(total)(x)),
        quietly(lambda: f.jacrev(torch.sin)(x)),
        quietly(lambda: f.jacfwd(torch.sin)(x)),
        quietly(lambda: f.hessian(total)(x)),
        quietly(f.jvp, torch.sin, (x,), (torch.ones(2),)),
        quietly(f.vjp, total, x)[1],
    ]


@CASES.add
def parameters_with_two_names(torch: Any) -> Any:
    class Tied(torch.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.bias = torch.nn.Parameter(torch.ones(3))
            self.linear = torch.nn.Linear(3, 3)
            self.linear.bias = self.bias
            self.again = self.linear
            self.register_buffer("b", torch.ones(3))
            self.register_buffer("c", self.b)

        def forward(self, x: Any) -> Any:
            return self.again(self.linear(x)) + self.bias + self.b * self.c

    model, x = seeded(torch, lambda nn: Tied()), torch.arange(6.0).reshape(2, 3) / 10
    (f, params, buffers), _ = quietly(package(torch).make_functional_with_buffers, model)
    moved = f([p + 1 for p in params], [b + 1 for b in buffers], x)
    return len(params), len(buffers), f(params, buffers, x), moved


@CASES.add
def a_module_as_a_function(torch: Any) -> Any:
    model = seeded(torch, lambda nn: nn.Sequential(nn.Linear(3, 2), nn.Tanh(), nn.Linear(2, 1)))
    (f, params), said = quietly(package(torch).make_functional, model)
    x = torch.arange(6.0).reshape(2, 3) / 10
    out = f(params, x)
    grads = torch.autograd.grad(out.sum(), params)
    moved = f([p + 1 for p in params], x)
    same = [p is q for p, q in zip(params, model.parameters())]
    return said, out, grads, moved, same, f.param_names, repr(f)


@CASES.add
def a_module_with_buffers(torch: Any) -> Any:
    model = seeded(torch, lambda nn: nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)))
    make = package(torch).make_functional_with_buffers
    (f, params, buffers), said = quietly(make, model, disable_autograd_tracking=True)
    out = f(params, buffers, torch.tensor([[0.0, 1.0], [2.0, 5.0]]))
    names = f.param_names, f.buffer_names, f.all_names_map
    return said, out, buffers, list(model.buffers()), names, [p.requires_grad for p in params]


@CASES.add
def shared_parameters_come_once(torch: Any) -> Any:
    line = seeded(torch, lambda nn: nn.Linear(2, 2))
    (f, params), _ = quietly(package(torch).make_functional, torch.nn.Sequential(line, line))
    return len(params), f.names_map, f(params, torch.ones(1, 2))


@CASES.add
def an_ensemble(torch: Any) -> Any:
    p = package(torch)
    models = seeded(torch, lambda nn: [nn.Linear(2, 1) for _ in range(3)])
    (f, params, buffers), said = quietly(p.combine_state_for_ensemble, models)
    out = torch.vmap(f, in_dims=(0, 0, None))(params, buffers, torch.ones(4, 2))
    return said, out, params, buffers, [t.requires_grad for t in params]


@CASES.add
def errors(torch: Any) -> Any:
    p, nn = package(torch), torch.nn
    modes = [nn.Linear(2, 1), nn.Linear(2, 1).eval()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            error(lambda: p.make_functional(nn.BatchNorm1d(2))),
            error(lambda: p.combine_state_for_ensemble([])),
            error(lambda: p.combine_state_for_ensemble(modes)),
            error(lambda: p.combine_state_for_ensemble([nn.Linear(2, 1), nn.ReLU()])),
        ]


test_scenario = CASES.test()


def test_it_is_served_together_with_torch():
    program = (
        "import functorch, torch, functorch as again\n"
        "print(functorch.make_functional(torch.nn.Linear(2, 1))[0].param_names)"
    )
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "torchlike", "-c", program],
        capture_output=True,
        text=True,
    )
    assert run.stdout == "('weight', 'bias')\n", run.stderr
