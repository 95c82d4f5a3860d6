"""Learning-rate schedules against PyTorch: every rate to the last bit, states, errors, warnings."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any

from compat_tests.scenarios import Cases, error

CASES = Cases("schedulers")


def exact(value: Any) -> Any:
    """Numbers as text that says every bit."""
    if isinstance(value, (list, tuple)):
        return [exact(v) for v in value]
    if hasattr(value, "item"):
        return ["tensor", float(value).hex()]
    return float(value).hex()


def optimizer_of(torch: Any, cls: str = "SGD", lr: Any = 0.3, **options: Any) -> Any:
    """An optimizer with two groups, the second with a rate of its own."""
    p, q = (torch.nn.Parameter(torch.ones(1)) for _ in range(2))
    groups = [{"params": [p]}, {"params": [q], "lr": lr / 7}]
    return getattr(torch.optim, cls)(groups, lr=lr, **options)


def momenta(optimizer: Any) -> list[Any]:
    """What schedules may change beside the rates."""
    return [
        exact(g["betas"] if "betas" in g else g.get("momentum", 0)) for g in optimizer.param_groups
    ]


def rates(optimizer: Any, scheduler: Any, count: int) -> list[Any]:
    """The rates and momenta at each of ``count`` steps."""
    found = [[exact(scheduler.get_last_lr()), momenta(optimizer)]]
    for _ in range(count):
        optimizer.step()
        scheduler.step()
        found.append([exact([g["lr"] for g in optimizer.param_groups]), momenta(optimizer)])
    return found


SIMPLE: dict[str, list[dict[str, Any]]] = {
    "LambdaLR": [{"lr_lambda": lambda e: 0.95**e}, {"lr_lambda": [lambda e: e + 1, lambda e: 2]}],
    "MultiplicativeLR": [{"lr_lambda": lambda e: 0.93 + e / 100}],
    "StepLR": [{"step_size": 3, "gamma": 0.3}],
    "MultiStepLR": [{"milestones": [2, 5, 5, 9], "gamma": 0.7}],
    "ConstantLR": [{}, {"factor": 0.7, "total_iters": 3}],
    "LinearLR": [{}, {"start_factor": 0.7, "end_factor": 0.1, "total_iters": 7}],
    "ExponentialLR": [{"gamma": 0.91}],
    "PolynomialLR": [{}, {"total_iters": 9, "power": 1.7}],
    "CosineAnnealingLR": [{"T_max": 5, "eta_min": 0.01}, {"T_max": 20}],
    "CosineAnnealingWarmRestarts": [{"T_0": 3}, {"T_0": 2, "T_mult": 3, "eta_min": 0.02}],
    "CyclicLR": [
        {"base_lr": 0.01, "max_lr": 0.5, "step_size_up": 3, "cycle_momentum": False},
        {"base_lr": [0.1, 0.2], "max_lr": [0.7, 0.9], "step_size_up": 2, "step_size_down": 5,
         "mode": "triangular2"},
        {"base_lr": 0.1, "max_lr": 0.4, "step_size_up": 4, "mode": "exp_range", "gamma": 0.97},
        {"base_lr": 0.1, "max_lr": 0.4, "step_size_up": 4, "scale_fn": lambda x: 1 / (x + 1),
         "scale_mode": "iterations"},
    ],
    "OneCycleLR": [
        {"max_lr": 0.7, "total_steps": 13},
        {"max_lr": [0.7, 0.9], "epochs": 2, "steps_per_epoch": 7, "anneal_strategy": "linear",
         "base_momentum": [0.6, 0.7], "div_factor": 10, "final_div_factor": 100},
        {"max_lr": 0.7, "total_steps": 13, "three_phase": True, "pct_start": 0.4},
    ],
    "SWALR": [{"swa_lr": 0.05}, {"swa_lr": [0.05, 0.5], "anneal_epochs": 4,
                                 "anneal_strategy": "linear"}, {"swa_lr": 1.0, "anneal_epochs": 0}],
}  # fmt: skip


def kind(torch: Any, name: str) -> Any:
    module = "swa_utils" if name == "SWALR" else "lr_scheduler"
    return getattr(importlib.import_module(f"{torch.__name__}.optim.{module}"), name)


def every(torch: Any, cls: str, **options: Any) -> list[Any]:
    """The course of every schedule in every configuration."""
    found = []
    for name, configurations in SIMPLE.items():
        for config in configurations:
            optimizer = optimizer_of(torch, cls, **options)
            scheduler = kind(torch, name)(optimizer, **config)
            found.append([name, rates(optimizer, scheduler, 12)])
    return found


@CASES.add
def courses(torch: Any) -> Any:
    return every(torch, "SGD", momentum=0.9)


@CASES.add
def courses_of_betas(torch: Any) -> Any:
    return every(torch, "Adam")[-11:]


@CASES.add
def courses_of_tensors(torch: Any) -> Any:
    lr = torch.full((), 0.3, dtype=torch.float64)
    found = []
    for name in ("StepLR", "CosineAnnealingLR", "LinearLR", "CyclicLR", "OneCycleLR"):
        p = torch.nn.Parameter(torch.ones(1))
        optimizer = torch.optim.SGD([p], lr=lr.clone(), momentum=0.5)
        config = SIMPLE[name][0]
        found.append(rates(optimizer, kind(torch, name)(optimizer, **config), 8))
    return found


@CASES.add
def given_epochs(torch: Any) -> Any:
    """Steps to an epoch take the closed form, where there is one."""
    found = []
    for name, configurations in SIMPLE.items():
        optimizer = optimizer_of(torch, "SGD", momentum=0.9)
        scheduler = kind(torch, name)(optimizer, **configurations[-1])
        for epoch in (4, 9, 2):
            scheduler.step(epoch)
            found.append([name, exact(scheduler.get_last_lr())])
    return found


@CASES.add
def resumed(torch: Any) -> Any:
    """From the state of another schedule, and with ``last_epoch``."""
    found = []
    for name, configurations in SIMPLE.items():
        config = configurations[0]
        optimizer = optimizer_of(torch, "SGD", momentum=0.9)
        scheduler = kind(torch, name)(optimizer, **config)
        rates(optimizer, scheduler, 4)
        state = scheduler.state_dict()
        other = optimizer_of(torch, "SGD", momentum=0.9)
        fresh = kind(torch, name)(other, **config)
        keys = list(state)
        fresh.load_state_dict(dict(state))
        other.load_state_dict(optimizer.state_dict())
        found.append([name, keys, rates(other, fresh, 3)])
        third = optimizer_of(torch, "SGD", momentum=0.9)
        third.load_state_dict(optimizer.state_dict())
        config = {k: v for k, v in config.items() if k != "cycle_momentum"}
        found.append(rates(third, kind(torch, name)(third, **config, last_epoch=4), 3))
    return found


@CASES.add
def plateaus(torch: Any) -> Any:
    metrics = [1.0, 0.9, 0.9, 0.91, 0.95, 0.9, 0.8999, 2.0, 0.5, 0.5, 0.5, 0.5, float("nan"), 3.0]
    found = []
    for config in (
        {"patience": 1},
        {"mode": "max", "patience": 0, "factor": 0.5, "cooldown": 2},
        {"threshold_mode": "abs", "threshold": 0.05, "patience": 2, "min_lr": [0.1, 0.001]},
        {"mode": "max", "threshold_mode": "abs", "patience": 1, "eps": 0.01, "min_lr": 0.02},
    ):
        optimizer = optimizer_of(torch)
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **config)
        for metric in metrics:
            scheduler.step(torch.tensor(metric, dtype=torch.float64))
            state = [scheduler.best, scheduler.num_bad_epochs, scheduler.in_cooldown]
            found.append([exact(scheduler.get_last_lr()), state])
        saved = scheduler.state_dict()
        other = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
        other.load_state_dict(saved)
        other.step(9.0)
        found.append([list(saved), [exact(other.best), other.mode, other.last_epoch]])
    return found


@CASES.add
def several_schedules(torch: Any) -> Any:
    s = torch.optim.lr_scheduler

    def sequence(optimizer: Any) -> Any:
        parts = [
            s.ConstantLR(optimizer, 0.1, 2), s.ExponentialLR(optimizer, 0.9), s.StepLR(optimizer, 2)
        ]  # fmt: skip
        return s.SequentialLR(optimizer, parts, [3, 7])

    def nested(optimizer: Any) -> Any:
        first = s.SequentialLR(
            optimizer, [s.LinearLR(optimizer), s.ExponentialLR(optimizer, 0.8)], [4]
        )
        return s.SequentialLR(optimizer, [first, s.CosineAnnealingLR(optimizer, 5)], [6])

    def chain(optimizer: Any) -> Any:
        return s.ChainedScheduler(
            [s.ConstantLR(optimizer, 0.1, 4), s.ExponentialLR(optimizer, 0.9)]
        )

    found = []
    for make in (sequence, nested, chain):
        optimizer, other = optimizer_of(torch), optimizer_of(torch)
        scheduler = make(optimizer)
        found.append(rates(optimizer, scheduler, 10))
        fresh = make(other)
        state = scheduler.state_dict()
        fresh.load_state_dict(state)
        other.load_state_dict(optimizer.state_dict())
        found.append([list(state), rates(other, fresh, 4)])
    return found


@CASES.add
def refusals(torch: Any) -> Any:
    s, o = torch.optim.lr_scheduler, optimizer_of(torch)
    plain, other = torch.optim.Adagrad([torch.nn.Parameter(torch.ones(1))]), optimizer_of(torch)
    step, plateau = s.StepLR(o, 1), s.ReduceLROnPlateau(o)
    calls: list[Callable[[], Any]] = [
        lambda: s.LambdaLR(o, [len]),
        lambda: s.MultiplicativeLR(o, 3),
        lambda: s.ConstantLR(o, 1.5),
        lambda: s.LinearLR(o, 0),
        lambda: s.LinearLR(o, 0.5, 2),
        lambda: s.CosineAnnealingWarmRestarts(o, 0),
        lambda: s.CosineAnnealingWarmRestarts(o, 1, 0),
        lambda: s.CosineAnnealingWarmRestarts(o, 1, 1, "0"),
        lambda: s.CosineAnnealingWarmRestarts(o, 1).step(-1),
        lambda: s.CyclicLR(o, [0.1], 0.2),
        lambda: s.CyclicLR(o, 0.1, [0.2, 0.3, 0.4]),
        lambda: s.CyclicLR(o, 0.1, 0.2, mode="x"),
        lambda: s.CyclicLR(plain, 0.1, 0.2),
        lambda: s.CyclicLR(3, 0.1, 0.2),
        lambda: s.OneCycleLR(o, 0.1),
        lambda: s.OneCycleLR(o, 0.1, total_steps=-1),
        lambda: s.OneCycleLR(o, 0.1, epochs=1.5, steps_per_epoch=1),
        lambda: s.OneCycleLR(o, 0.1, epochs=1, steps_per_epoch=0),
        lambda: s.OneCycleLR(o, 0.1, 10, pct_start=2),
        lambda: s.OneCycleLR(o, 0.1, 10, anneal_strategy="x"),
        lambda: s.OneCycleLR(plain, 0.1, 10),
        lambda: [s.OneCycleLR(o, 0.1, 1).step() for _ in range(1)],
        lambda: s.OneCycleLR(optimizer_of(torch, momentum=0.9), 0.1, 2).step(3),
        lambda: s.ReduceLROnPlateau(o, factor=1),
        lambda: s.ReduceLROnPlateau(3),
        lambda: s.ReduceLROnPlateau(o, "x"),
        lambda: s.ReduceLROnPlateau(o, threshold_mode="x"),
        lambda: s.ReduceLROnPlateau(o, min_lr=[0]),
        lambda: s.SequentialLR(o, [], []),
        lambda: s.SequentialLR(o, [step], [3]),
        lambda: s.SequentialLR(o, [3], []),
        lambda: s.SequentialLR(o, [plateau], []),
        lambda: s.SequentialLR(other, [step], []),
        lambda: s.ChainedScheduler([]),
        lambda: s.ChainedScheduler([step, 3]),
        lambda: s.ChainedScheduler([step, plateau]),
        lambda: s.ChainedScheduler([step], other),
        lambda: kind(torch, "SWALR")(o, 0.1, anneal_strategy="x"),
        lambda: kind(torch, "SWALR")(o, 0.1, -1),
        lambda: kind(torch, "SWALR")(o, [0.1]),
        lambda: s._LRScheduler(o),
    ]
    return [error(call) for call in calls]


@CASES.add
def said_once(torch: Any) -> Any:
    """Warnings outside of a step, with an epoch, and about the order of steps."""
    said = []
    for name, configurations in SIMPLE.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            optimizer = optimizer_of(torch, "SGD", momentum=0.9)
            scheduler = kind(torch, name)(optimizer, **configurations[-1])
            scheduler.get_lr()
            scheduler.step()
            scheduler.step(1)
        said.append([name, [str(w.message) for w in caught]])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer).step(1.0, 2)
    return [said, [str(w.message) for w in caught]]


test_scenario = CASES.test()
