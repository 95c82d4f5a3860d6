"""``torch.jit`` and ``torch.onnx``: programs that script and trace run as they are."""

from __future__ import annotations

import typing
import warnings
from typing import Any

import pytest

from compat_tests.observe import library
from compat_tests.scenarios import Cases, error

CASES = Cases("jit")
OURS = library("torchlike")


@CASES.add
def marks(torch: Any) -> Any:
    jit = torch.jit

    def f(x: Any) -> Any:
        return x + 1

    return [
        jit.ignore(f) is f, jit.ignore(drop=True)(f) is f, jit.ignore()(f) is f, jit.unused(f) is f,
        jit.export(f) is f, error(lambda: jit.ignore(3)), jit.annotate(int, "a"),
        jit.Attribute(3, int), jit.Attribute(3, int).value, jit.Final is typing.Final,
        jit.is_scripting(), jit.is_tracing(), jit.script_if_tracing(f)(torch.ones(1)),
    ]  # fmt: skip


@CASES.add
def types_of_values(torch: Any) -> Any:
    is_a, x = torch.jit.isinstance, torch.ones(1)
    either, maybe, many = (getattr(typing, name) for name in ("Union", "Optional", "List"))
    pairs = [
        (3, int), ("a", int), (3, (int, str)), (None, maybe[int]), (None, int | None),
        ("a", either[int, str]), ([1], list[int]), ([1, "a"], list[int]), ([], list[int]),
        ((1, "a"), tuple[int, str]), ((1,), tuple[int, str]), ({"a": 1}, dict[str, int]),
        ({"a": "b"}, dict[str, int]), ([x], list[torch.Tensor]), (x, torch.Tensor),
        ([[1.0]], list[list[float]]), ([1], many[int]), ([1, None], list[int | None]),
    ]  # fmt: skip
    bare = (list, dict, tuple, many, maybe, typing.Dict)  # noqa: UP006
    return [[is_a(*pair) for pair in pairs], [error(lambda t=t: is_a([1], t)) for t in bare]]


@CASES.add
def scripted_and_traced(torch: Any) -> Any:
    jit, x = torch.jit, torch.tensor([1.0, 2.0])
    calls = []

    def double(x: Any) -> Any:
        calls.append(torch.jit.is_tracing())
        return x.mul_(2)

    traced = jit.trace(double, (x,), check_trace=False)
    found = [calls[:1], x, traced(torch.ones(1)), error(lambda: jit.trace(double))]
    layer = torch.nn.Linear(2, 1)
    with torch.no_grad():
        layer.weight.fill_(1.0)
        layer.bias.fill_(0.5)
    for module in (jit.script(layer), jit.trace(layer, x), jit.trace_module(layer, {"forward": x})):
        found += [module(x), list(module.state_dict()), module.training, module.weight]
    examples = {"b": x, "a": x + 1}
    named = jit.trace(lambda a, b: a - b, example_kwarg_inputs=examples, check_trace=False)
    return [
        *found, named(x, x * 3), error(lambda: jit.script(3)), error(lambda: jit.trace(3, x)),
        jit.wait(jit.fork(lambda a: a + 1, x)), torch.onnx.is_in_onnx_export(),
    ]  # fmt: skip


@CASES.add
def script_modules(torch: Any) -> Any:
    class Net(torch.jit.ScriptModule):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(1, 1)

    net = Net()
    return [isinstance(net, torch.nn.Module), list(net.state_dict())]


@CASES.add
def warnings_and_settings(torch: Any) -> Any:
    jit, layer = torch.jit, torch.nn.Linear(1, 1)
    found = []
    for call in (lambda: jit.script(layer), lambda: jit.ignore(True)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        found.append([f"{w.category.__name__}: {w.message}" for w in caught])
    before = jit.set_fusion_strategy([("STATIC", 1)])
    with jit.optimized_execution(False):
        return [found, before, jit.set_fusion_strategy(before)]


test_scenario = CASES.test()


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
def test_functions_come_back_as_they_are() -> None:
    def f(x: Any) -> Any:
        return x

    layer = OURS.nn.Linear(1, 1)
    assert OURS.jit.script(f) is f and OURS.jit.script(layer) is layer
    assert OURS.jit.script_method(f) is f
    assert OURS.jit.trace(layer, OURS.ones(1)) is layer
    assert OURS.jit.trace(f, OURS.ones(1)).__wrapped__ is f


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("ScriptFunction.graph", lambda jit: jit.trace(abs, OURS.ones(1)).graph),
        ("ScriptFunction.code", lambda jit: jit.trace(abs, OURS.ones(1)).code),
        ("ScriptFunction.save", lambda jit: jit.trace(abs, OURS.ones(1)).save("f")),
        ("ScriptModule.save", lambda jit: jit.ScriptModule().save("f")),
        ("save", lambda jit: jit.save(OURS.nn.Linear(1, 1), "f")),
        ("load", lambda jit: jit.load("f")),
        ("freeze", lambda jit: jit.freeze(OURS.nn.Linear(1, 1))),
        ("CompilationUnit", lambda jit: jit.CompilationUnit("def f(x): return x")),
    ],
)
def test_what_needs_a_compiled_form_is_refused(name: str, call: Any) -> None:
    with pytest.raises(NotImplementedError, match=rf"torch\.jit\.{name} needs TorchScript"):
        call(OURS.jit)


def test_export_to_onnx_is_refused() -> None:
    with pytest.raises(NotImplementedError, match=r"torch\.onnx\.export needs the graph"):
        OURS.onnx.export(OURS.nn.Linear(1, 1), (OURS.ones(1, 1),), "model.onnx")
