"""``torch.utils.checkpoint``: the same gradients, what is computed again and when, its errors."""

from __future__ import annotations

import importlib
from typing import Any

from compat_tests.scenarios import Cases, error

CASES = Cases("checkpoint")


def tools(torch: Any) -> Any:
    return importlib.import_module(f"{torch.__name__}.utils.checkpoint")


def leaf(torch: Any, *values: float) -> Any:
    return torch.tensor(values, requires_grad=True)


@CASES.add
def both_variants_give_the_gradient(torch: Any) -> Any:
    checkpoint, found = tools(torch).checkpoint, []
    for reentrant in (True, False):
        x, w, calls = leaf(torch, 0.5, -1.0), leaf(torch, 2.0, 3.0), []

        def f(x: Any, w: Any, k: int, calls: Any = calls) -> Any:
            calls.append(k)
            return (x * w).sin().exp() * k, x + 1

        y, z = checkpoint(f, x, w, 3, use_reentrant=reentrant)
        ran = len(calls)
        (y.sum() + z.sum()).backward()
        found += [y.detach(), ran, len(calls), x.grad, w.grad]
        found += [type(y.grad_fn).__name__, type(z.grad_fn).__name__]
    return found


@CASES.add
def dropout_draws_the_same_numbers_again(torch: Any) -> Any:
    checkpoint, found = tools(torch).checkpoint, []
    for reentrant in (True, False):
        for kept in (True, False):
            torch.manual_seed(3)
            x = torch.ones(6, requires_grad=True)
            y = checkpoint(
                lambda x: torch.nn.functional.dropout(x) * x,
                x,
                use_reentrant=reentrant,
                preserve_rng_state=kept,
            )
            y.sum().backward()
            found += [y.detach(), x.grad, torch.rand(1)]
    return found


@CASES.add
def keyword_and_structured_arguments(torch: Any) -> Any:
    checkpoint = tools(torch).checkpoint
    x, y = leaf(torch, 1.0, 2.0), leaf(torch, 3.0, 4.0)

    def f(pair: Any, *, scale: Any, extra: Any) -> Any:
        return {"out": pair["x"].exp() * scale * extra}

    out = checkpoint(f, {"x": x}, scale=y, extra=2, use_reentrant=False)["out"]
    out.sum().backward()
    return [out.detach(), x.grad, y.grad]


@CASES.add
def early_stop_saves_the_end_of_the_function(torch: Any) -> Any:
    module, found = tools(torch), []
    for early in (True, False):
        x, calls = leaf(torch, 0.3), []

        def f(x: Any, calls: Any = calls) -> Any:
            y = x.sin().exp()
            calls.append("middle")
            y = y + 1
            calls.append("end")
            return y

        with module.set_checkpoint_early_stop(early):
            y = module.checkpoint(f, x, use_reentrant=False)
        y.backward()
        found += [calls, x.grad]
    return found


@CASES.add
def checkpoints_nest(torch: Any) -> Any:
    checkpoint, calls = tools(torch).checkpoint, []

    def inner(x: Any) -> Any:
        calls.append("inner")
        return x.sin().exp()

    def outer(x: Any) -> Any:
        calls.append("outer")
        x = checkpoint(inner, x.cos(), use_reentrant=False)
        return checkpoint(inner, x * 2, use_reentrant=False).exp()

    x = torch.tensor([0.2, 0.4], dtype=torch.float64, requires_grad=True)
    y = checkpoint(outer, x, use_reentrant=False)
    forward = list(calls)
    y.sum().backward()
    return [y.detach(), x.grad, forward, calls]


@CASES.add
def twice_and_higher_order(torch: Any) -> Any:
    checkpoint = tools(torch).checkpoint
    x = leaf(torch, 0.7)
    y = checkpoint(lambda x: x.exp().sin(), x, use_reentrant=False)
    y.backward(retain_graph=True)
    y.backward()
    z = checkpoint(lambda x: x.exp().sin(), x, use_reentrant=False)
    (first,) = torch.autograd.grad(z, x, create_graph=True)
    (second,) = torch.autograd.grad(first, x)
    return [x.grad, first.detach(), second]


@CASES.add
def parameters_inside_get_gradients(torch: Any) -> Any:
    module = tools(torch)
    found = []
    for reentrant in (True, False):
        torch.manual_seed(0)
        net = torch.nn.Sequential(
            torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 4), torch.nn.Linear(4, 2)
        )
        x = torch.ones(2, 3, requires_grad=True)
        y = module.checkpoint_sequential(net, 2, x, use_reentrant=reentrant)
        y.sum().backward()
        found += [y.detach(), x.grad, *(p.grad for p in net.parameters())]
    return found


@CASES.add
def contexts_surround_the_runs(torch: Any) -> Any:
    module, seen = tools(torch), []

    class Note:
        def __init__(self, name: str) -> None:
            self.name = name

        def __enter__(self) -> None:
            seen.append(self.name)

        def __exit__(self, *exc: Any) -> None:
            seen.append(f"{self.name} ends")

    def contexts() -> Any:
        return Note("first"), Note("second")

    x = leaf(torch, 0.1)
    y = module.checkpoint(torch.sin, x, use_reentrant=False, context_fn=contexts)
    seen.append("between")
    y.backward()
    return seen


@CASES.add
def autocast_is_the_same_again(torch: Any) -> Any:
    checkpoint, dtypes = tools(torch).checkpoint, []

    def f(x: Any) -> Any:
        y = x @ x
        dtypes.append(str(y.dtype))
        return y.float()

    x = torch.ones(2, 2, requires_grad=True)
    for reentrant in (True, False):
        with torch.autocast("cpu", torch.bfloat16):
            y = checkpoint(f, x, use_reentrant=reentrant)
        y.sum().backward()
    return [dtypes, x.grad]


@CASES.add
def what_cannot_be(torch: Any) -> Any:
    module = tools(torch)
    checkpoint, x = module.checkpoint, leaf(torch, 1.0, 2.0)
    runs: list[int] = []

    def other_shapes(x: Any) -> Any:
        runs.append(1)
        return (x if len(runs) == 1 else x[:1]).sin()

    def fewer(x: Any) -> Any:
        runs.append(1)
        return x.sin().cos() if len(runs) == 1 else x.sin()

    def more(x: Any) -> Any:
        runs.append(1)
        return x.sin() if len(runs) == 1 else x.sin().cos().exp()

    def again(f: Any, **how: Any) -> Any:
        runs.clear()
        with module.set_checkpoint_early_stop(False):
            y = checkpoint(f, x, use_reentrant=False, **how).sum()
        return [part.splitlines()[:3] for part in error(y.backward)]

    y = checkpoint(torch.sin, x, use_reentrant=True).sum()
    return [
        again(fewer), again(more), again(other_shapes)[0],
        error(lambda: torch.autograd.grad(y, x)),
        error(lambda: checkpoint(torch.sin, x, use_reentrant=True, other=1)),
        error(lambda: checkpoint(torch.sin, x, use_reentrant=True, debug=True)),
        error(lambda: checkpoint(torch.sin, x, use_reentrant=False, determinism_check="x")),
        error(lambda: module.checkpoint_sequential([torch.sin], 1, x, False, other=1)),
        error(
            lambda: checkpoint(lambda x: x.detach(), x, use_reentrant=True).sum().backward()
        ),
        error(lambda: module.detach_variable([x])),
        issubclass(module.CheckpointError, RuntimeError),
    ]  # fmt: skip


@CASES.add
def warnings_of_it(torch: Any) -> Any:
    import warnings

    module, x = tools(torch), leaf(torch, 1.0)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        module.checkpoint(torch.sin, x)
        module.checkpoint(torch.sin, x.detach(), use_reentrant=True)
        module.checkpoint_sequential([torch.sin, torch.cos], 2, x)
    return [[w.category.__name__, str(w.message)] for w in seen]


@CASES.add
def without_recording_it_just_runs(torch: Any) -> Any:
    checkpoint, x = tools(torch).checkpoint, leaf(torch, 1.0)
    with torch.no_grad():
        y = checkpoint(torch.sin, x, use_reentrant=False)
    return [y, y.requires_grad, *tools(torch).get_device_states(x)]


test_scenario = CASES.test()
