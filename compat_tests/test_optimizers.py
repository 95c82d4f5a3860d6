"""Optimizers beyond SGD and Adam against PyTorch: steps, states, options, L-BFGS, averages."""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compat_tests.scenarios import Cases, error, needs_torch
from compat_tests.test_optim import parameters, some, steps

CASES = Cases("optimizers")

KINDS: dict[str, list[dict[str, Any]]] = {
    "Adadelta": [{}, {"rho": 0.7, "eps": 1e-3, "weight_decay": 0.1, "maximize": True}],
    "Adafactor": [{}, {"beta2_decay": -0.5, "eps": (1e-4, 1e-2), "d": 2, "weight_decay": 0.1}],
    "Adagrad": [{}, {"lr_decay": 0.1, "initial_accumulator_value": 0.3, "weight_decay": 0.1}],
    "Adamax": [{}, {"betas": (0.4, 0.9), "eps": 0.1, "weight_decay": 0.1, "maximize": True}],
    "ASGD": [{}, {"lambd": 0.1, "alpha": 0.5, "t0": 3, "weight_decay": 0.1, "maximize": True}],
    "NAdam": [{}, {"momentum_decay": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True}],
    "RAdam": [{}, {"betas": (0.8, 0.99), "weight_decay": 0.1, "decoupled_weight_decay": True}],
    "RMSprop": [{}, {"alpha": 0.8, "centered": True, "momentum": 0.5, "weight_decay": 0.1}],
    "Rprop": [{}, {"etas": (0.3, 1.7), "step_sizes": (1e-3, 0.04), "maximize": True}],
}


def after(torch: Any, cls: str, options: dict[str, Any], dtype: str) -> Any:
    params = parameters(torch, dtype)
    optimizer = getattr(torch.optim, cls)(params, lr=0.05, **options)
    steps(torch, optimizer, params)
    state = [[[k, some(v)] for k, v in s.items()] for s in optimizer.state.values()]
    writes = [p._version for p in params]
    return [cls, list(map(some, params)), state, writes]


@CASES.add
def steps_in_float(torch: Any) -> Any:
    return [after(torch, cls, o, "float32") for cls, kinds in KINDS.items() for o in kinds]


@CASES.add
def steps_in_double(torch: Any) -> Any:
    return [after(torch, cls, o, "float64") for cls, kinds in KINDS.items() for o in kinds]


@CASES.add
def half_types(torch: Any) -> Any:
    found = []
    for cls, kinds in KINDS.items():
        for dtype in ("bfloat16", "float16"):
            x = (torch.arange(64, dtype=torch.float32) / 7 - 4.5).to(getattr(torch, dtype))
            p = torch.nn.Parameter(x)
            options = {**kinds[1], "eps": 1e-2} if cls == "Adamax" else kinds[1]
            optimizer = getattr(torch.optim, cls)([p], lr=0.125, **options)
            for i in range(2):
                p.grad = p.detach() * (0.25 + 0.5 * i) + 0.25
                optimizer.step()
            found.append([cls, dtype, some(p), [str(v.dtype) for v in optimizer.state[p].values()]])
    return found


@CASES.add
def options_and_printing(torch: Any) -> Any:
    p = torch.nn.Parameter(torch.ones(2, 2))
    found = []
    for cls in [*KINDS, "LBFGS", "Muon"]:
        optimizer = getattr(torch.optim, cls)([p])
        found.append([repr(optimizer), list(optimizer.defaults), list(optimizer.state_dict())])
    return found


@CASES.add
def refused_options(torch: Any) -> Any:
    o, p = torch.optim, torch.nn.Parameter(torch.ones(2, 2))
    p.grad = torch.ones(2, 2)
    bad: list[tuple[str, dict[str, Any]]] = [
        *[(cls, {"lr": -1.0}) for cls in [*KINDS, "LBFGS", "Muon"]],
        *[(cls, {"weight_decay": -1.0}) for cls in [*KINDS, "Muon"] if cls != "Rprop"],
        *[(cls, {"betas": (0.5, 1.0)}) for cls in ("Adamax", "NAdam", "RAdam")],
        *[(cls, {"eps": -1.0}) for cls in ("Adadelta", "Adagrad", "Adamax", "RAdam", "RMSprop")],
        ("Adafactor", {"eps": (None, -1.0)}),
        ("Adagrad", {"initial_accumulator_value": -1.0}),
        ("Adagrad", {"fused": True, "foreach": True}),
        ("Adagrad", {"fused": True, "differentiable": True}),
        ("RMSprop", {"alpha": -1.0}),
        ("LBFGS", {"lr": torch.ones(2)}),
        ("Muon", {"momentum": -1.0}),
    ]
    found = [error(lambda c=cls, k=k: getattr(o, c)([p], **k)) for cls, k in bad]
    for cls in KINDS:
        if "capturable" in getattr(o, cls)([p]).defaults:
            found.append(error(getattr(o, cls)([p], capturable=True).step))
    z = torch.nn.Parameter(torch.full((2,), 1j))
    z.grad = torch.full((2,), 1j)
    for cls in ("SGD", "Adam", "AdamW", "Adagrad"):
        found.append(error(getattr(o, cls)([z], fused=True).step))
    found.append(error(lambda: o.LBFGS([{"params": [p]}, {"params": [torch.ones(1)]}])))
    found.append(error(lambda: o.LBFGS([p], line_search_fn="x").step(lambda: (p * p).sum())))
    found.append(error(lambda: o.Muon([p], ns_steps=100).step()))
    found.append(error(lambda: o.Muon([p], ns_coefficients=(1, 2)).step()))
    return found


@CASES.add
def older_states(torch: Any) -> Any:
    """Checkpoints with numbers where there are tensors now, and without later options."""
    found = []
    for cls, kinds in KINDS.items():
        p = torch.nn.Parameter(torch.ones(3))
        optimizer = getattr(torch.optim, cls)([p], **kinds[1])
        p.grad = torch.ones(3)
        optimizer.step()
        saved = copy.deepcopy(optimizer.state_dict())
        state = saved["state"][0]
        for name in ("step", "mu_product", "eta", "mu"):
            if name in state:
                state[name] = float(state[name])
        for name in ("foreach", "maximize", "capturable", "differentiable", "fused"):
            saved["param_groups"][0].pop(name, None)
        if cls == "Adafactor":
            saved["param_groups"][0]["maximize"] = False
        other = getattr(torch.optim, cls)([p])
        other.load_state_dict(saved)
        p.grad = torch.ones(3)
        other.step()
        found.append([cls, p, [[k, v] for k, v in other.state[p].items()]])
    return found


def differentiated(torch: Any, cls: str, options: dict[str, Any]) -> Any:
    """The gradient of two steps' result with respect to where they began and to the gradient."""
    x = (torch.arange(6, dtype=torch.float64) / 7 + 0.3).requires_grad_()
    g = (torch.arange(6, dtype=torch.float64) / 5 - 0.5).requires_grad_()
    p = x.clone()
    optimizer = getattr(torch.optim, cls)([p], lr=0.1, differentiable=True, **options)
    for i in range(2):
        p.grad = g * (i + 1)
        optimizer.step()
    (p * p).sum().backward()
    return [cls, p.detach(), x.grad, g.grad]


@CASES.add
def differentiable_steps(torch: Any) -> Any:
    kinds = {k: KINDS[k] for k in ("Adadelta", "Adagrad", "ASGD", "NAdam", "RAdam")}
    kinds["SGD"] = [{}, {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}]
    kinds["RMSprop"] = [{}]  # other options change what a second step has saved, in PyTorch too
    kinds["Adam"] = [{}, {"weight_decay": 0.1}]
    return [differentiated(torch, cls, o) for cls, options in kinds.items() for o in options]


@CASES.add
def gradients_of_the_state(torch: Any) -> Any:
    means = ("exp_avg", "exp_avg_sq")
    names = {
        "Adam": (*means, "max_exp_avg_sq"), "AdamW": (*means, "max_exp_avg_sq"),
        "NAdam": (*means, "mu_product"), "Rprop": ("prev", "step_size"),
    }  # fmt: skip
    found = []
    for cls, states in names.items():
        x = (torch.arange(4, dtype=torch.float64) / 7 + 0.3).requires_grad_()
        g = (torch.arange(4, dtype=torch.float64) / 5 - 0.5).requires_grad_()
        given = {n: (x.detach() * (i + 1)).requires_grad_() for i, n in enumerate(states)}
        if cls == "NAdam":
            given["mu_product"] = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
        p = x.clone()
        p.grad = g
        more = {"amsgrad": True} if cls.startswith("Adam") else {}
        optimizer = getattr(torch.optim, cls)([p], lr=0.1, differentiable=True, **more)
        count = torch.tensor(10.0, dtype=torch.float64)
        optimizer.state[p].update({"step": count} | {n: t.clone() for n, t in given.items()})
        optimizer.step()
        found += [cls, p.detach()]
        found += torch.autograd.grad((p * p).sum(), [x, g, *given.values()], allow_unused=True)
    return found


@CASES.add
def swapped_state(torch: Any) -> Any:
    swap = torch.optim.swap_in_optimizer_params_and_state
    p, q = torch.nn.Parameter(torch.ones(2)), torch.ones(2) * 3
    optimizer = torch.optim.SGD([p], lr=0.1, momentum=0.9)
    fresh = torch.optim.SGD([p], lr=0.1)
    p.grad = torch.ones(2)
    optimizer.step()
    state = copy.deepcopy(optimizer.state_dict())
    state["param_groups"][0]["lr"] = 0.5
    q.grad = torch.ones(2)
    with swap(optimizer, {"w": q}, state):
        optimizer.step()
        inside = optimizer.param_groups[0]["lr"]

    def refused(parameters: Any, other: Any, which: Any = optimizer) -> str:
        def enter() -> None:
            with swap(which, parameters, other):
                pass

        return error(enter)

    group = state["param_groups"][0]
    one, groups, states = {"w": q}, state["param_groups"], state["state"]
    return [
        [p, q, inside, optimizer.param_groups[0]["lr"], optimizer.state[p], states[0]],
        refused(one, state, fresh),
        refused(one, 3),
        refused(one, {"state": 3}),
        refused(one, {"state": {p: {}}}),
        refused(one, {"state": {0: 3}}),
        refused(one, {"state": states}),
        refused(one, {"state": states, "param_groups": []}),
        refused(one, {"state": states, "param_groups": [3]}),
        refused(one, {"state": states, "param_groups": [{**group, "params": [p]}]}),
        refused(one, {"state": states, "param_groups": [{**group, "params": []}]}),
        refused(one, {"state": states, "param_groups": [{**group, "x": 1}]}),
        refused({}, state),
        refused(one, {"state": {7: {}}, "param_groups": groups}),
    ]


def rosenbrock(torch: Any, p: Any, optimizer: Any) -> Callable[[], Any]:
    def closure() -> Any:
        optimizer.zero_grad()
        loss = (100 * (p[1:] - p[:-1] ** 2) ** 2 + (1 - p[:-1]) ** 2).sum()
        loss.backward()
        return loss

    return closure


@CASES.add
def minimum_of_rosenbrock(torch: Any) -> Any:
    found = []
    for options in (
        {"line_search_fn": "strong_wolfe"},
        {"line_search_fn": "strong_wolfe", "history_size": 3, "max_eval": 9},
        {"lr": 0.01, "max_iter": 7},
        {"lr": torch.tensor([0.5]), "line_search_fn": "strong_wolfe", "tolerance_change": 1e-2},
    ):
        p = torch.nn.Parameter(torch.full((4,), -0.75, dtype=torch.float64))
        optimizer = torch.optim.LBFGS([p], **options)
        for _ in range(3):
            loss = optimizer.step(rosenbrock(torch, p, optimizer))
            state = optimizer.state[p]
            found.append([p, loss, state["n_iter"], state["func_evals"], list(state)])
    return found


@CASES.add
def lbfgs_of_complex_and_missing(torch: Any) -> Any:
    p = torch.nn.Parameter(torch.full((2,), 1 + 2j, dtype=torch.complex128))
    q, r = (torch.nn.Parameter(torch.full((2,), 3.0, dtype=torch.float64)) for _ in range(2))
    optimizer = torch.optim.LBFGS([p, q, r], max_iter=4)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (p * p.conj()).real.sum() + ((r - 1) ** 4).sum()
        loss.backward()
        return loss

    losses = [optimizer.step(closure) for _ in range(2)]
    return [p, q, r, losses]


# --- averages -------------------------------------------------------------------------------------


def swa(torch: Any) -> Any:
    return importlib.import_module(f"{torch.__name__}.optim.swa_utils")


@CASES.add
def averaged_models(torch: Any) -> Any:
    u, found = swa(torch), []
    for options in (
        {},
        {"avg_fn": u.get_ema_avg_fn(0.9)},
        {"multi_avg_fn": u.get_ema_multi_avg_fn(0.3), "use_buffers": True},
        {"multi_avg_fn": u.get_swa_multi_avg_fn()},
        {"avg_fn": lambda a, c, n: a * 0.5 + c * 0.25},
    ):
        model = torch.nn.Linear(2, 1)
        model.register_buffer("kept", torch.zeros(2, dtype=torch.float64))
        with torch.no_grad():
            model.weight.fill_(0.5)
            model.bias.fill_(-0.25)
        average = u.AveragedModel(model, **options)
        for i in range(4):
            with torch.no_grad():
                model.weight.add_(i + 0.1)
                model.bias.mul_(1.3)
                model.kept.add_(1.7)
            average.update_parameters(model)
        state = average.state_dict()
        found.append([[[k, v] for k, v in state.items()], average(torch.ones(2))])
    return found


@CASES.add
def averages_refused(torch: Any) -> Any:
    u = swa(torch)
    model = torch.nn.Linear(1, 1)
    both = {"avg_fn": u.get_swa_avg_fn(), "multi_avg_fn": u.get_swa_multi_avg_fn()}
    return [
        error(lambda: u.AveragedModel(model, **both)),
        error(lambda: u.get_ema_avg_fn(2)),
        error(lambda: u.get_ema_multi_avg_fn(-1)),
        u.update_bn([torch.ones(1)], model),
    ]


test_scenario = CASES.test()


# --- checkpoints of the other library -------------------------------------------------------------


@needs_torch
@pytest.mark.parametrize("cls", [*KINDS, "SGD", "Adam", "AdamW", "LBFGS", "Muon"])
def test_states_are_exchanged_with_pytorch(cls: str) -> None:
    import torch

    import torchlike

    def begin(library: Any) -> tuple[Any, Any]:
        x = np.linspace(-1, 1, 12).reshape(3, 4)
        p = library.nn.Parameter(library.from_numpy(x.copy()))
        return p, getattr(library.optim, cls)([p], lr=0.1)

    def step(p: Any, optimizer: Any) -> None:
        def closure() -> Any:
            optimizer.zero_grad()
            loss = ((p - 0.3) ** 4).sum()
            loss.backward()
            return loss

        optimizer.step(closure)

    def carried(value: Any, library: Any) -> Any:
        if isinstance(value, dict):
            return {k: carried(v, library) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(carried(v, library) for v in value)
        return library.from_numpy(value.numpy().copy()) if hasattr(value, "numpy") else value

    for first, second in ((torch, torchlike), (torchlike, torch)):
        p, optimizer = begin(first)
        step(p, optimizer)
        q, other = begin(second)
        with second.no_grad():
            q.copy_(second.from_numpy(p.detach().numpy().copy()))
        other.load_state_dict(carried(optimizer.state_dict(), second))
        step(p, optimizer)
        step(q, other)
        loose = {"Muon": 1e-3, "NAdam": 1e-9}.get(cls, 1e-12)  # the product turns to float64
        np.testing.assert_allclose(q.detach().numpy(), p.detach().numpy(), rtol=loose, atol=loose)
