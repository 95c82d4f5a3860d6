"""Modules against PyTorch: registration, attributes, names, modes, conversion, printing."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

from compat_tests.scenarios import Cases, error

CASES = Cases("modules")


def classes(torch: Any) -> Any:
    """A small network whose parts are shared, nested and missing."""

    class Shared(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a = torch.nn.Parameter(torch.ones(2))
            self.b = self.a
            self.inner = torch.nn.Linear(2, 3)
            self.again = self.inner
            self.nothing = None
            self.register_module("empty", None)
            self.register_buffer("kept", torch.zeros(2))
            self.register_buffer("dropped", torch.ones(1, dtype=torch.int64), persistent=False)
            self.marked = torch.nn.Buffer(torch.ones(1))

        def forward(self, x: Any) -> Any:
            return self.inner(x * self.a)

    return Shared


def names(pairs: Any) -> list[str]:
    return [name for name, _ in pairs]


@CASES.add
def walking(torch: Any) -> Any:
    m = classes(torch)()
    return [
        names(m.named_parameters()),
        names(m.named_parameters(remove_duplicate=False)),
        names(m.named_parameters(prefix="x", recurse=False)),
        names(m.named_buffers()),
        names(m.named_buffers(prefix="p")),
        names(m.named_modules()),
        names(m.named_modules(prefix="q", remove_duplicate=False)),
        names(m.named_children()),
        [len(list(m.parameters())), len(list(m.buffers())), len(list(m.children()))],
        list(m.state_dict()),
        [k for k in dir(m) if k in ("a", "inner", "kept", "forward", "nothing", "0")],
    ]


@CASES.add
def before_init(torch: Any) -> Any:
    nn = torch.nn

    def assigning(make: Any) -> Any:
        def build(self: Any) -> None:
            self.x = make()

        return type("Early", (nn.Module,), {"__init__": build})

    class Registering(nn.Module):
        def __init__(self) -> None:
            self.register_buffer("x", None)

    return [
        error(assigning(lambda: nn.ReLU())),
        error(assigning(lambda: nn.Parameter(torch.zeros(1)))),
        error(assigning(lambda: nn.Buffer(torch.zeros(1)))),
        error(Registering),
        error(lambda: nn.Module(3)),
        error(lambda: nn.Module(a=3)),
        error(lambda: nn.Module()(1)),
        error(lambda: type("Late", (nn.Module,), {"__init__": lambda self: None})()(1)),
    ]


@CASES.add
def registration_errors(torch: Any) -> Any:
    nn = torch.nn
    p = nn.Parameter(torch.zeros(1))
    found = []
    for method, value in (
        ("register_buffer", torch.zeros(1)),
        ("register_parameter", p),
        ("add_module", nn.ReLU()),
    ):
        for name in (3, "a.b", "", "forward", "weight"):
            m = nn.Linear(1, 1)
            found.append(error(lambda m=m, n=name, v=value, f=method: getattr(m, f)(n, v)))
    m = nn.Linear(1, 1)
    found += [
        error(lambda: m.register_buffer("q", 3)),
        error(lambda: m.register_parameter("q", 3)),
        error(lambda: m.register_parameter("q", torch.zeros(1))),
        error(lambda: m.register_parameter("q", p * 2)),
        error(lambda: m.add_module("q", 3)),
        error(lambda: m.register_module("", nn.ReLU())),
    ]
    return found


@CASES.add
def assignment(torch: Any) -> Any:
    nn, found = torch.nn, []
    values = {
        "int": lambda: 3,
        "tensor": lambda: torch.zeros(1),
        "None": lambda: None,
        "module": nn.ReLU,
        "parameter": lambda: nn.Parameter(torch.zeros(1)),
        "buffer": lambda: nn.Buffer(torch.zeros(1)),
    }
    for name in ("weight", "sub", "buf", "plain"):
        for kind, make in values.items():
            m = nn.Linear(1, 1)
            m.sub = nn.Tanh()
            m.register_buffer("buf", torch.zeros(1))
            m.plain = "text"
            text = error(lambda m=m, n=name, make=make: setattr(m, n, make()))
            where = [k for k in ("_parameters", "_modules", "_buffers") if name in getattr(m, k)]
            found.append([name, kind, text, where, name in m.__dict__])
    return found


@CASES.add
def deleting_and_missing(torch: Any) -> Any:
    m = classes(torch)()
    del m.a, m.inner, m.dropped
    return [
        sorted(m._parameters),
        sorted(m._modules),
        sorted(m._non_persistent_buffers_set),
        error(lambda: m.inner),
        error(lambda: delattr(m, "gone")),
        error(lambda: m(torch.ones(2))),
    ]


@CASES.add
def finding_by_path(torch: Any) -> Any:
    nn = torch.nn
    m = nn.Sequential(nn.Linear(1, 2), nn.Sequential(nn.ReLU()))
    m[1].register_buffer("buf", torch.zeros(1))
    get, param, buffer = m.get_submodule, m.get_parameter, m.get_buffer
    results = [
        get("") is m,
        type(get("1.0")).__name__,
        tuple(param("0.weight").shape),
        buffer("1.buf"),
        error(lambda: get("0.x")),
        error(lambda: get("0.weight")),
        error(lambda: param("0.x")),
        error(lambda: param("0.in_features")),
        error(lambda: buffer("0.weight")),
        error(lambda: buffer("2.x")),
        error(lambda: m.set_submodule("", nn.ReLU())),
        error(lambda: m.set_submodule("0", 3)),
    ]
    m.set_submodule("1.0", nn.Tanh())
    return [*results, repr(m)]


@CASES.add
def modes_and_gradients(torch: Any) -> Any:
    m = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout())
    flags = [x.training for x in m.eval().modules()]
    m.train()
    m(torch.ones(1, 2)).sum().backward()
    m.zero_grad(set_to_none=False)
    zeros = [p.grad.abs().sum().item() for p in m.parameters()]
    m.zero_grad()
    gone = [p.grad is None for p in m.parameters()]
    m.requires_grad_(False)
    frozen = [p.requires_grad for p in m.parameters()]
    order: list[str] = []
    m.apply(lambda x: order.append(type(x).__name__))
    return flags, zeros, gone, frozen, order, error(lambda: m.train(1)), error(lambda: m.train("x"))


@CASES.add
def conversion(torch: Any) -> Any:
    m = classes(torch)()
    weight = m.inner.weight
    m(torch.ones(1, 2)).sum().backward()
    facts = [m.double() is m, m.inner.weight is weight, str(weight.dtype), str(weight.grad.dtype)]
    facts += [str(m.kept.dtype), str(m.dropped.dtype)]
    m.to(torch.float16)
    facts += [str(weight.dtype), str(m.to(torch.zeros(1)).a.dtype), str(m.bfloat16().kept.dtype)]
    facts.append(str(m.to("cpu", torch.float64).a.dtype))
    facts.append(str(m.to(dtype=torch.float32, device="cpu", non_blocking=True).a.dtype))
    facts.append(str(m.type(torch.float64).dropped.dtype))
    meta = m.to("meta")
    facts += [str(meta.a.device), meta.inner.weight is weight]
    facts += [str(m.to_empty(device="cpu").a.device), m.a.requires_grad]
    return facts


@CASES.add
def conversion_errors(torch: Any) -> Any:
    m = torch.nn.Linear(1, 1)
    meta = torch.nn.Linear(1, 1, device="meta")
    return [
        error(lambda: m.to(torch.int64)),
        error(lambda: m.to("nowhere")),
        error(lambda: m.to(dtype=3)),
        error(lambda: m.to(x=3)),
        error(lambda: m.to_empty()),
        error(lambda: meta.to("cpu")),
        error(lambda: m.cuda()),
    ]


@CASES.add
def printing(torch: Any) -> Any:
    nn = torch.nn

    class Two(nn.Module):
        def extra_repr(self) -> str:
            return "first\nsecond"

    outer = Two()
    empty = repr(outer)
    outer.inner = Two()
    outer.missing = None
    nested = nn.Sequential(nn.ReLU(), nn.Sequential(nn.Linear(1, 2)))
    return [empty, repr(outer), repr(nn.Module()), repr(nested), repr(classes(torch)())]


@CASES.add
def parameters(torch: Any) -> Any:
    P, Buffer = torch.nn.Parameter, torch.nn.Buffer
    x = torch.zeros(2)
    x.add_(1)
    p = P(x)
    with torch.no_grad():
        x.add_(1)

    class Own(P):
        pass

    class Sub(torch.Tensor):
        pass

    sub = P(torch.zeros(1).as_subclass(Sub))
    buffer = Buffer(torch.ones(1), persistent=False)
    return [
        [p.tolist(), p._version, p.is_leaf, p.requires_grad, repr(p)],
        [type(p + 1).__name__, type(p.data).__name__, type(p[0]).__name__, repr(P())],
        [type(Own(x)).__name__, type(Own(x) * 2).__name__, isinstance(x, P)],
        [type(sub).__name__, isinstance(sub, P), isinstance(x, Buffer), isinstance(buffer, Buffer)],
        [type(buffer).__name__, buffer.persistent, repr(Buffer())],
        error(lambda: P(3)),
        error(lambda: P(torch.zeros(1, dtype=torch.int64))),
        P(torch.zeros(1, dtype=torch.int64), requires_grad=False),
        error(lambda: P(Own(x)) and P([1.0])),
    ]


@CASES.add
def copies(torch: Any) -> Any:
    m = classes(torch)()
    m(torch.ones(1, 2)).sum().backward()
    twin = copy.deepcopy(m)
    kept = [twin.inner is twin.again, twin.a is twin.b, type(twin.a).__name__]
    apart = [twin.a is not m.a, twin.a.grad is None, twin.a.requires_grad]
    linear = pickle.loads(pickle.dumps(torch.nn.Linear(2, 1)))
    return kept, apart, type(linear.weight).__name__, repr(linear)


@CASES.add
def warnings_of_modules(torch: Any) -> Any:
    texts = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.nn.Linear(0, 2)
        torch.nn.Linear(1, 1).to(torch.complex64)
        torch.nn.Softmax()(torch.zeros(2, 3))
        torch.nn.MSELoss(size_average=False)
        texts += [(w.category.__name__, str(w.message)) for w in caught]
    return texts


test_scenario = CASES.test()
