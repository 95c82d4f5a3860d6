"""``torch.amp.GradScaler``: scaled losses, skipped steps, and calls in the wrong order."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import torchlike
from compat_tests.scenarios import Cases, error

CASES = Cases("grad_scaler")


def trained(torch: Any, **settings: Any) -> tuple[Any, Any, Any]:
    """A scaler, a parameter and its optimizer."""
    w = torch.ones(2, requires_grad=True)
    return torch.amp.GradScaler("cpu", **settings), w, torch.optim.SGD([w], lr=0.1)


@CASES.add
def scaling(torch: Any) -> Any:
    scaler, w, optimizer = trained(torch, init_scale=8.0, growth_interval=2)
    found: list[Any] = [scaler.get_scale()]
    for factor in (1.0, 1.0, float("inf"), 1.0, float("nan"), 1.0, 1.0):
        w.grad = None
        scaler.scale((w * w).sum() * factor).backward()
        scaled = w.grad.clone()
        result = scaler.step(optimizer)
        scaler.update()
        found.append([scaled, w.grad, w.detach().clone(), result, scaler.state_dict()])
    tuple_, list_ = scaler.scale((w, [w])), scaler.scale([w.half(), w.double()])
    found += [tuple_, [str(t.dtype) for t in list_], type(scaler.scale({"a": w})).__name__]
    scaler.update(4.0)
    found.append(scaler.get_scale())
    scaler.update(torch.tensor(3))
    found.append(scaler.get_scale())
    scaler.set_growth_factor(3.0)
    scaler.set_backoff_factor(0.1)
    scaler.set_growth_interval(5)
    again = pickle.loads(pickle.dumps(scaler))
    other = torch.amp.GradScaler("cpu")
    other.load_state_dict(scaler.state_dict())
    settings = scaler.get_growth_factor(), scaler.get_backoff_factor()
    return [*found, again.state_dict(), other.state_dict(), settings, scaler.is_enabled()]


@CASES.add
def wrong_order_of_calls(torch: Any) -> Any:
    scaler, w, optimizer = trained(torch)
    found = [
        error(scaler.update), error(lambda: scaler.step(optimizer)),
        error(lambda: scaler.unscale_(optimizer)), error(lambda: scaler.scale(3)),
        error(lambda: scaler.load_state_dict({})),
        error(lambda: scaler.load_state_dict({"scale": 1})),
    ]  # fmt: skip
    scaler, w, optimizer = trained(torch)
    loss = scaler.scale(w.sum())
    found += [error(lambda: scaler.step(optimizer)), error(scaler.update)]
    scaler, w, optimizer = trained(torch)
    loss = scaler.scale(w.sum())
    loss.backward()
    scaler.unscale_(optimizer)
    found += [
        w.grad,
        error(lambda: scaler.unscale_(optimizer)),
        error(lambda: pickle.dumps(scaler)),
    ]
    scaler.step(optimizer)
    found += [
        error(lambda: scaler.step(optimizer)), error(lambda: scaler.unscale_(optimizer)),
        error(lambda: scaler.step(optimizer, closure=lambda: 3)),
        error(lambda: scaler.update(3)), error(lambda: scaler.update(torch.ones(2))),
        error(lambda: scaler.update(torch.tensor(1.0, requires_grad=True))),
    ]  # fmt: skip
    h = torch.ones(2, dtype=torch.float16, requires_grad=True)
    halves = torch.optim.SGD([h], lr=1.0)
    h.grad = torch.ones(2, dtype=torch.float16)
    return [*found, error(lambda: scaler.unscale_(halves))]


@CASES.add
def turned_off(torch: Any) -> Any:
    scaler, w, optimizer = trained(torch, enabled=False)
    w.grad = torch.ones(2)
    return [
        scaler.state_dict(), scaler.get_scale(), scaler.scale(w) is w, scaler.scale(3),
        scaler.is_enabled(), scaler.load_state_dict({"a": 3}), scaler.unscale_(optimizer),
        scaler.step(optimizer), w, scaler.step(optimizer, closure=lambda: 7), scaler.update(),
    ]  # fmt: skip


@CASES.add
def optimizers_that_scale_themselves(torch: Any) -> Any:
    seen = []

    class Own(torch.optim.SGD):
        _step_supports_amp_scaling = True

        def step(self, closure: Any = None) -> Any:
            seen.append([self.grad_scale, self.found_inf])
            return 7

    scaler, w, _ = trained(torch, init_scale=4.0)
    own = Own([w], lr=1.0)
    for unscale in (False, True):
        w.grad = None
        scaler.scale(w.sum()).backward()
        if unscale:
            scaler.unscale_(own)
        seen.append([scaler.step(own), w.grad, hasattr(own, "found_inf")])
        scaler.update()
    return seen


test_scenario = CASES.test()


def test_the_older_scaler_needs_no_import(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torchlike.cuda, "amp", raising=False)
    with pytest.warns(FutureWarning, match="torch.amp.GradScaler"):
        assert not torchlike.cuda.amp.GradScaler(enabled=False).is_enabled()
