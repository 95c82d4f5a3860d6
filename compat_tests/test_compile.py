"""``torch.compile``: what it returns runs as it is, with PyTorch's names, keys and errors."""

from __future__ import annotations

import copy
import importlib
import pickle
from typing import Any

import pytest

from compat_tests.observe import library
from compat_tests.scenarios import HAVE_TORCH, Cases, error, load

CASES = Cases("compile")
OURS = library("torchlike")


@pytest.fixture(autouse=True)
def _distributions_keep_their_checks() -> Any:
    """PyTorch's compiler turns the checks of all distributions off, for tests that follow too."""
    yield
    if HAVE_TORCH:
        load("torch").distributions.Distribution.set_default_validate_args(True)


def double(x: Any, *, plus: int = 0) -> Any:
    """Twice x."""
    return x * 2 + plus


@CASES.add
def functions(torch: Any) -> Any:
    x = torch.tensor([1.0, 2.0])
    c = torch.compile(double, backend="eager")

    @torch.compile(backend="eager", fullgraph=True, dynamic=False)
    def decorated(x: Any) -> Any:
        return x - 1

    @torch.compile(backend="eager")
    class Layer(torch.nn.Linear):
        pass

    return [
        c(x), c(x, plus=3), c.__name__, c.__doc__, c is double, c.__wrapped__ is double,
        c._torchdynamo_orig_callable is double, decorated(x), decorated.__name__,
        isinstance(Layer, type), torch.compile(double, disable=True) is double,
        torch.compile(backend="eager")(double)(x), torch.compile(max, backend="eager").__name__,
        torch.compiler.compile(double, backend="eager")(x), torch.compiler.is_compiling(),
    ]  # fmt: skip


@CASES.add
def arguments(torch: Any) -> Any:
    linear = torch.nn.Linear(1, 1)
    return [
        error(lambda: torch.compile(double, mode="foo")),
        error(lambda: torch.compile(double, backend="foo")),
        error(lambda: torch.compile(double, mode="default", options={})),
        error(lambda: torch.compile(3)), error(lambda: torch.compile(double, foo=1)),
        error(lambda: torch.compile(double, mode="reduce-overhead")),
        error(lambda: torch.compile(double, mode="max-autotune", fullgraph=True, dynamic=True)),
        error(lambda: linear.compile(backend="foo")), linear.compile(backend="eager"),
    ]  # fmt: skip


@CASES.add
def modules(torch: Any) -> Any:
    m = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Dropout(0.5))
    with torch.no_grad():
        m[0].weight.copy_(torch.tensor([[1.0, 2.0]]))
        m[0].bias.zero_()
    c = torch.compile(m, backend="eager")
    found: list[Any] = [
        type(c).__name__, repr(c), list(c.state_dict()), c._orig_mod is m,
        [n for n, _ in c.named_parameters()], [n for n, _ in c.named_modules()],
        isinstance(c, torch.nn.Sequential), isinstance(c, torch.nn.Module), len(c), c.training,
    ]  # fmt: skip
    seen: list[str] = []
    m.register_forward_hook(lambda *a: seen.append("inner"))
    c.register_forward_hook(lambda *a: seen.append("outer"))
    c.eval()
    found += [c.training, m.training, c(torch.ones(1, 2))]
    c.train()
    c.note = "kept"
    c.eval()(torch.ones(1, 2)).sum().backward()
    found += [m.note, c.note, m.training, seen, m[0].weight.grad.clone(), error(lambda: c.bar)]
    c.requires_grad_(False)
    c.double()
    found += [m[0].weight.requires_grad, str(m[0].weight.dtype)]
    del c.note
    plain = torch.compile(torch.nn.Linear(2, 2), backend="eager")
    return [
        *found, hasattr(m, "note"), error(lambda: c[0]), error(lambda: len(plain)),
        error(lambda: plain.load_state_dict({"weight": torch.ones(2, 2)})),
        repr(plain.load_state_dict(plain.state_dict())),
        list(copy.deepcopy(plain).state_dict()), plain.weight is plain._orig_mod.weight,
        type(pickle.loads(pickle.dumps(plain))).__name__,
    ]  # fmt: skip


@CASES.add
def settings(torch: Any) -> Any:
    dynamo = importlib.import_module(f"{torch.__name__}._dynamo")
    c, x = torch.compiler, torch.ones(2)

    @c.set_stance("force_eager")
    def f(x: Any) -> Any:
        return x + 1

    with c.set_stance("default"):
        y = f(x)
    found = [
        y, c.reset(), dynamo.reset(), c.cudagraph_mark_step_begin(), c.allow_in_graph(f) is f,
        c.allow_in_graph([f]) == [f], error(lambda: c.allow_in_graph(3)),
        c.assume_constant_result(f) is f, c.disable(f)(x), c.disable()(f).__name__,
        c.disable(recursive=False)(f)(x), error(lambda: c.disable(3)), c.list_backends(),
        c.wrap_numpy(lambda a: a * 2)(x), c.nested_compile_region(f)(x), c.get_default_backend(),
        dynamo.is_compiling(), dynamo.graph_break(), dynamo.config.suppress_errors,
        dynamo.config.cache_size_limit, dynamo.mark_dynamic(x, 0), dynamo.OptimizedModule.__name__,
        issubclass(dynamo.exc.InvalidBackend, RuntimeError),
    ]  # fmt: skip
    dynamo.config.suppress_errors = True
    found.append(dynamo.config.suppress_errors)
    dynamo.config.suppress_errors = False
    c.set_default_backend("eager")
    found.append(c.get_default_backend())
    c.set_default_backend(None)
    return [*found, c.get_default_backend()]


test_scenario = CASES.test()


def test_docstrings_say_that_nothing_is_compiled() -> None:
    for function in (OURS.compile, OURS.nn.Module.compile):
        assert "Nothing is compiled" in function.__doc__
