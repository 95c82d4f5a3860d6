"""Optimizers and schedules against PyTorch: ten steps of each kind, state, errors, hooks."""

from __future__ import annotations

import copy
import importlib
import warnings
from typing import Any

import numpy as np
import pytest

from compat_tests.scenarios import Cases, error

CASES = Cases("optim")

SGD_KINDS: list[dict[str, Any]] = [
    {},
    {"momentum": 0.9},
    {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1},
    {"momentum": 0.8, "dampening": 0.3, "maximize": True},
    {"weight_decay": 0.05, "maximize": True, "foreach": True},
    {"momentum": 0.5, "weight_decay": 0.2, "fused": True},
]
ADAM_KINDS: list[dict[str, Any]] = [
    {},
    {"weight_decay": 0.1},
    {"amsgrad": True, "betas": (0.8, 0.95)},
    {"maximize": True, "eps": 1e-3, "foreach": False},
    {"betas": (0.3, 0.9), "weight_decay": 0.1, "amsgrad": True},
]


def parameters(torch: Any, dtype: str = "float32") -> list[Any]:
    """A matrix, a transposed matrix, a vector, and one without gradient; no value near zero."""
    d, P = getattr(torch, dtype), torch.nn.Parameter
    x = (torch.arange(24, dtype=torch.float32) / 7 + 0.3).to(d)
    parts = [x.reshape(4, 6), x.reshape(6, 4).t(), x[:5], x[5:7]]
    return [P(part.clone()) for part in parts]


def steps(torch: Any, optimizer: Any, params: list[Any], count: int = 10) -> None:
    """Steps along gradients that depend on the parameters, as a loss's would."""
    for i in range(count):
        optimizer.zero_grad()
        for p in params[:3]:
            p.grad = (p.detach() * (0.5 + 0.1 * i) + 0.25).clone()
        optimizer.step()


def some(t: Any) -> Any:
    """Every fourth element."""
    return t.detach().flatten()[::4]


def after(torch: Any, cls: str, options: dict[str, Any], dtype: str = "float32") -> Any:
    params = parameters(torch, dtype)
    optimizer = getattr(torch.optim, cls)(params, lr=0.05, **options)
    steps(torch, optimizer, params)
    state = [[list(s), *map(some, s.values())] for s in optimizer.state.values()]
    return [list(map(some, params)), state]


@CASES.add
def sgd(torch: Any) -> Any:
    return [after(torch, "SGD", options) for options in SGD_KINDS]


@CASES.add
def sgd_in_double(torch: Any) -> Any:
    return [after(torch, "SGD", options, "float64") for options in SGD_KINDS]


@CASES.add
def adam(torch: Any) -> Any:
    kinds = [after(torch, "Adam", options) for options in ADAM_KINDS]
    return kinds + [after(torch, "AdamW", options) for options in ADAM_KINDS]


@CASES.add
def adam_in_double(torch: Any) -> Any:
    return [after(torch, "Adam", options, "float64") for options in ADAM_KINDS]


@CASES.add
def other_dtypes(torch: Any) -> Any:
    found = []
    for dtype in ("bfloat16", "float16", "complex64"):
        x = (torch.arange(64, dtype=torch.float32) / 7 - 3).to(getattr(torch, dtype))
        for cls, options in (
            ("SGD", {"momentum": 0.9, "weight_decay": 0.1, "nesterov": True}),
            ("Adam", {"weight_decay": 0.1}),
            ("AdamW", {"amsgrad": True}),
        ):
            p = torch.nn.Parameter(x.clone())
            optimizer = getattr(torch.optim, cls)([p], 0.1, **options)
            for _ in range(3):
                p.grad = p.detach() * (2j if p.is_complex() else 0.3)
                optimizer.step()
            found.append(some(p))
    return found


@CASES.add
def documented_cases(torch: Any) -> Any:
    """Adam's eps is outside the root; AdamW decays first, and skips what has no gradient."""
    p = torch.nn.Parameter(torch.ones(1))
    q, r = torch.nn.Parameter(torch.ones(1)), torch.nn.Parameter(torch.ones(1))
    p.grad, q.grad = torch.ones(1), torch.zeros(1)
    torch.optim.Adam([p], lr=0.01, eps=0.1).step()
    torch.optim.AdamW([q, r], lr=0.1, weight_decay=0.5).step()
    return p, q, r


@CASES.add
def tensor_options(torch: Any) -> Any:
    found = []
    for cls, options in (
        ("SGD", {}),
        ("Adam", {"betas": (torch.tensor(0.9), torch.tensor(0.99))}),
    ):
        p = torch.nn.Parameter(torch.ones(2))
        lr = torch.tensor(0.1)
        optimizer = getattr(torch.optim, cls)([p], lr, **options)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
        for _ in range(3):
            p.grad = torch.ones(2)
            optimizer.step()
            scheduler.step()
        found.append([p, lr, scheduler.get_last_lr(), scheduler.base_lrs])
    return found


@CASES.add
def versions(torch: Any) -> Any:
    found = []
    for cls, options in (("SGD", {"momentum": 0.9}), ("Adam", {}), ("AdamW", {})):
        p = torch.nn.Parameter(torch.ones(2))
        p.grad = torch.ones(2)
        optimizer = getattr(torch.optim, cls)([p], lr=0.1, **options)
        optimizer.step()
        optimizer.step()
        loss = (p * p).sum()
        optimizer.step()
        state = optimizer.state[p]
        counts = [[k, v._version] for k, v in state.items()]
        found.append([p._version, counts, error(loss.backward)])
    return found


@CASES.add
def constructor_errors(torch: Any) -> Any:
    nn, SGD, Adam = torch.nn, torch.optim.SGD, torch.optim.Adam
    w, b = nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(1))
    calls = [
        lambda: SGD([]),
        lambda: SGD(3),
        lambda: SGD(w),
        lambda: SGD([3]),
        lambda: SGD([w * 2]),
        lambda: SGD({"a": w}),
        lambda: SGD([{"params": w}, {"params": w}]),
        lambda: SGD([{"params": {w}}]),
        lambda: SGD([{"x": 1}]),
        lambda: SGD([w]).add_param_group(3),
        lambda: SGD([("a", w), b]),
        lambda: SGD([w]).add_param_group({"params": [("b", b)]}),
        lambda: SGD([w], lr=-1),
        lambda: SGD([w], momentum=-1),
        lambda: SGD([w], weight_decay=-1),
        lambda: SGD([w], nesterov=True),
        lambda: SGD([w], lr=torch.ones(2)),
        lambda: SGD([w], fused=True, foreach=True),
        lambda: SGD([w], fused=True, differentiable=True),
        lambda: Adam([w], lr=-1),
        lambda: Adam([w], eps=-1),
        lambda: Adam([w], betas=(2, 0.9)),
        lambda: Adam([w], betas=(0.9, 2)),
        lambda: Adam([w], weight_decay=-1),
        lambda: Adam([w], betas=(torch.tensor(0.9), 0.9)),
        lambda: Adam([w], lr=torch.tensor(0.1), foreach=True),
        lambda: torch.optim.Optimizer([w], {}).step(),
    ]
    return [error(call) for call in calls]


@CASES.add
def groups_and_printing(torch: Any) -> Any:
    nn = torch.nn
    w, b = nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([{"params": w, "lr": 3, "own": 1}, {"params": [b]}], lr=0.5)
    named = torch.optim.SGD([("a", w), ("b", b)])
    w.grad, b.grad = torch.ones(2), torch.ones(1)
    optimizer.step()
    optimizer.zero_grad(set_to_none=False)
    zeros = [w.grad, b.grad]
    optimizer.zero_grad()
    prints = [repr(optimizer), repr(named), repr(torch.optim.AdamW([w]))]
    return prints, optimizer.defaults, named.state_dict(), zeros, w.grad, w, b


@CASES.add
def state_dicts(torch: Any) -> Any:
    params = parameters(torch)
    optimizer = torch.optim.Adam(params, lr=0.05, amsgrad=True)
    steps(torch, optimizer, params, 2)
    saved = copy.deepcopy(optimizer.state_dict())
    fresh = parameters(torch, "float64")
    other = torch.optim.Adam(fresh, lr=9.0)
    other.load_state_dict(saved)
    kinds = [[str(v.dtype) for v in s.values()] for s in other.state.values()]
    steps(torch, other, fresh, 1)
    small = torch.optim.Adam(params[:1])
    named = torch.optim.SGD([("a", params[0])])
    renamed = torch.optim.SGD([("x", params[0])])
    renamed.load_state_dict(named.state_dict())
    return [
        [list(saved), saved["param_groups"], list(saved["state"])],
        [kinds, [p.detach() for p in fresh], other.param_groups[0]["lr"]],
        error(lambda: small.load_state_dict({"state": {}, "param_groups": []})),
        error(lambda: small.load_state_dict(saved)),
        renamed.param_groups[0]["param_names"],
    ]


@CASES.add
def hooks_and_closures(torch: Any) -> Any:
    module = importlib.import_module(f"{torch.__name__}.optim.optimizer")
    p = torch.nn.Parameter(torch.ones(1))
    optimizer, log = torch.optim.SGD([p], 0.1), []
    optimizer.register_step_pre_hook(lambda o, a, k: log.append(["pre", len(a), list(k)]))
    optimizer.register_step_post_hook(lambda o, a, k: log.append("post"))
    handle = module.register_optimizer_step_pre_hook(lambda *a: log.append("any"))
    optimizer.register_state_dict_pre_hook(lambda o: log.append("saving"))
    optimizer.register_state_dict_post_hook(lambda o, s: {"replaced": 1})
    optimizer.register_load_state_dict_pre_hook(lambda o, s: log.append("loading"))
    optimizer.register_load_state_dict_post_hook(lambda o: log.append("loaded"))

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with torch.no_grad():
        losses = [optimizer.step(closure), optimizer.step(closure=closure), optimizer.step()]
    handle.remove()
    saved = optimizer.state_dict()
    optimizer.load_state_dict(torch.optim.SGD([p]).state_dict())
    optimizer.register_step_pre_hook(lambda *a: 3)
    return losses, log, saved, p, error(optimizer.step).split(" must ")[1]


@CASES.add
def own_optimizers(torch: Any) -> Any:
    class Own(torch.optim.Optimizer):
        def __init__(self, params: Any, lr: float = 1.0) -> None:
            super().__init__(params, {"lr": lr})

        @torch.no_grad()
        def step(self, closure: Any = None) -> None:
            for group in self.param_groups:
                for p in group["params"]:
                    p.add_(p.grad, alpha=-group["lr"])

    p = torch.nn.Parameter(torch.ones(2))
    p.grad = torch.ones(2)
    optimizer, log = Own([p], lr=0.5), []
    optimizer.register_step_post_hook(lambda *a: log.append("post"))
    optimizer.step()
    return p, log, repr(optimizer)


# --- schedules ------------------------------------------------------------------------------------


def schedules(torch: Any, optimizer: Any, last_epoch: int = -1) -> list[Any]:
    s = torch.optim.lr_scheduler
    return [
        lambda: s.StepLR(optimizer, 2, 0.5, last_epoch),
        lambda: s.MultiStepLR(optimizer, [1, 1, 4], 0.1, last_epoch),
        lambda: s.ExponentialLR(optimizer, 0.9, last_epoch),
        lambda: s.LambdaLR(optimizer, lambda e: 0.95**e, last_epoch),
    ]


@CASES.add
def learning_rates(torch: Any) -> Any:
    found = []
    for last_epoch in (-1, 0, 3):
        for kind in range(4):
            p = torch.nn.Parameter(torch.ones(1))
            optimizer = torch.optim.SGD([{"params": [p], "initial_lr": 0.5}], 0.1)
            scheduler = schedules(torch, optimizer, last_epoch)[kind]()
            rates = [scheduler.get_last_lr()]
            for _ in range(5):
                optimizer.step()
                scheduler.step()
                rates.append(scheduler.get_last_lr())
            scheduler.step(7)
            found.append([rates, optimizer.param_groups[0]["lr"], list(scheduler.state_dict())])
    return found


@CASES.add
def schedule_state(torch: Any) -> Any:
    class Power:
        def __init__(self) -> None:
            self.base = 0.5

        def __call__(self, epoch: int) -> float:
            return self.base**epoch

    lr_scheduler = torch.optim.lr_scheduler
    p = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([p], 0.1)
    scheduler = lr_scheduler.LambdaLR(optimizer, Power())
    state = scheduler.state_dict()
    scheduler.load_state_dict({**state, "lr_lambdas": [{"base": 0.1}], "last_epoch": 1})
    optimizer.step()
    scheduler.step()
    return [
        [state, optimizer.param_groups[0]["lr"], scheduler.last_epoch],
        error(lambda: lr_scheduler.StepLR(3, 2)),
        error(lambda: lr_scheduler.StepLR(torch.optim.SGD([p]), 2, last_epoch=3)),
        error(lambda: lr_scheduler.LambdaLR(optimizer, [len, len])),
        error(lambda: lr_scheduler.LRScheduler(optimizer)),
    ]


@CASES.add
def schedule_warnings(torch: Any) -> Any:
    p = torch.nn.Parameter(torch.ones(1))
    first, second = (torch.optim.SGD([p], 0.1) for _ in range(2))
    early = torch.optim.lr_scheduler.StepLR(first, 2)
    replaced = torch.optim.lr_scheduler.StepLR(second, 2)
    second.step = lambda: None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        early.step()
        early.step(3)
        early.get_lr()
        replaced.step()
        return [str(w.message) for w in caught]


test_scenario = CASES.test()


# --- what PyTorch cannot tell ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "cls", ["SGD", "Adam", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "ASGD"]
)
def test_steps_write_into_the_same_memory_and_make_nothing_of_the_models_size(cls: str) -> None:
    import tracemalloc

    import torchlike

    params = [torchlike.nn.Parameter(torchlike.ones(n)) for n in (5, 1_000_000)]
    memory = [p._data for p in params]
    kind = getattr(torchlike.optim, cls)
    optimizer = kind(params, 0.1, **({"momentum": 0.9} if cls == "SGD" else {}))
    for p in params:
        p.grad = torchlike.ones(len(p))
    optimizer.step()  # makes the state
    tracemalloc.start()
    optimizer.step()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert all(p._data is x for p, x in zip(params, memory, strict=True))
    assert peak < 1_000_000, "a float32 copy of the model takes four times as much"
    if cls == "SGD":
        np.testing.assert_allclose(memory[0], 1 - 0.1 - 0.19, rtol=1e-6)
