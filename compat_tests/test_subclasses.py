"""``__torch_function__``, modes, and subclasses of Tensor and Parameter, against PyTorch."""

from __future__ import annotations

import importlib
from typing import Any

from compat_tests.scenarios import Cases, error

CASES = Cases("subclasses")


def kind(value: Any) -> Any:
    """The class of a result, and of what is inside it."""
    if isinstance(value, (tuple, list)):
        return [type(value).__name__, *[kind(v) for v in value]]
    return type(value).__name__


def sub(torch: Any, *values: float) -> Any:
    class Sub(torch.Tensor):
        pass

    return torch.tensor(values or (1.0, 2.0, 3.0)).as_subclass(Sub)


@CASES.add
def results_of_operations(torch: Any) -> Any:
    s, t = sub(torch), torch.ones(3)
    p = torch.nn.Parameter(torch.ones(3))
    results = {
        "s + 1": s + 1, "1 + s": 1 + s, "s + t": s + t, "t + s": t + s, "s + p": s + p,
        "p * 2": p * 2, "p + t": p + t, "p + p": p + p, "-s": -s, "s > 1": s > 1, "s == s": s == s,
        "s[0]": s[0], "s[1:]": s[1:], "s[s > 1]": s[s > 1], "s.sum()": s.sum(),
        "s.max(0)": s.max(0), "s.unbind()": s.unbind(), "s.split(1)": s.split(1),
        "cat": torch.cat([t, s]), "stack": torch.stack([s, s]), "view": s.view(3, 1),
        "exp": s.exp(), "torch.exp": torch.exp(s), "clone": s.clone(), "detach": s.detach(),
        "to": s.to(torch.float64), "double": s.double(), "same to": s.to(torch.float32),
        "zeros_like": torch.zeros_like(s), "new_zeros": s.new_zeros(2),
        "where": torch.where(s > 1, s, t),
        "data": s.data, "t": s.t(), "T": s.T, "item": s[0].item(), "tolist": s.tolist(),
        "shape": s.shape, "p.data": p.data, "p.detach()": p.detach(), "p[0]": p[0],
        "p.view": p.view(3, 1), "p.clone()": p.clone(), "p.double()": p.double(), "p.t()": p.t(),
        "matmul": s @ t, "t @ s": t @ s, "iter": [kind(x) for x in s],
        "p.to": p.to(torch.float32) is p,
        "reshape": s.reshape(3), "expand": s.expand(2, 3), "cumsum": s.cumsum(0),
        "clamp": s.clamp(0, 1),
        "abs": abs(s), "pow": s**2, "rpow": 2**s, "rsub": 1 - s, "rdiv": 1 / s, "mean": s.mean(),
        "contiguous": s.contiguous() is s, "len": len(s), "dtype": s.dtype, "device": s.device,
    }  # fmt: skip
    return {name: kind(value) for name, value in results.items()}


@CASES.add
def in_place_operations(torch: Any) -> Any:
    s, t = sub(torch), torch.ones(3)
    same = s
    s += 1
    s.mul_(2)
    s[0] = 7
    s[s > 7] = 0.0
    s.add_(t)
    t.add_(s)
    return kind(s), s is same, kind(t), s.tolist(), t, s._version


@CASES.add
def gradients_of_subclasses(torch: Any) -> Any:
    s = sub(torch)
    s.requires_grad_()
    y = s * s
    y.sum().backward()
    states = kind(y), kind(s.grad), s.is_leaf, y.grad_fn.name()
    x = torch.ones(3, requires_grad=True)
    z = x.as_subclass(type(s))
    (z * 2).sum().backward()
    return states, s.grad.tolist(), x.grad, z.grad_fn.name(), z.is_leaf, kind(z)


@CASES.add
def parameters(torch: Any) -> Any:
    class Own(torch.nn.Parameter):
        pass

    t = torch.ones(3)
    p, own = torch.nn.Parameter(t), Own(torch.ones(2), requires_grad=False)
    return [
        (p.requires_grad, p.is_leaf, p.data_ptr() == t.data_ptr(), kind(p)),
        (kind(own), own.requires_grad, isinstance(own, torch.nn.Parameter), kind(own + 1)),
        kind(torch.nn.Parameter(sub(torch))),
        error(lambda: torch.nn.Parameter(torch.tensor([1]))),
        torch.nn.Parameter(torch.tensor([1]), requires_grad=False).requires_grad,
        list(torch.nn.Parameter().shape),
        error(lambda: torch.nn.Parameter([1.0])),
        isinstance(t, torch.nn.Parameter),
        kind(p.requires_grad_(False)),
        kind(p.as_subclass(torch.Tensor)),
    ]


@CASES.add
def recorded_calls(torch: Any) -> Any:
    log: list[Any] = []

    class Logged(torch.Tensor):
        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            log.append(
                (func.__name__, [t.__name__ for t in types], len(args), sorted(kwargs or {}))
            )
            return super().__torch_function__(func, types, args, kwargs or {})

    x = torch.ones(3).as_subclass(Logged)
    log.clear()
    calls = [
        lambda: x + 1, lambda: torch.add(x, 1), lambda: x.add(1), lambda: 1 - x, lambda: x.sum(),
        lambda: torch.sum(x, dim=0), lambda: x.exp(), lambda: x.mul_(2), lambda: x[0],
        lambda: x.__setitem__(0, 1.0), lambda: torch.cat([x, x]), lambda: x.view(3, 1),
        lambda: torch.ones(3) * x, lambda: torch.stack([torch.ones(3), x]), lambda: x > 1,
        lambda: x.matmul(x), lambda: -x,
    ]  # fmt: skip
    found = []
    for call in calls:
        log.clear()
        result = call()
        found.append([log[0] if log else None, kind(result)])
    return found


@CASES.add
def overriding_functions(torch: Any) -> Any:
    class Fixed:
        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return func.__name__, [t.__name__ for t in types]

    class Never:
        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return NotImplemented

    f, n, t = Fixed(), Never(), torch.ones(2)
    return [
        torch.add(f, 1),
        torch.add(t, f),
        torch.exp(f),
        torch.cat([t, f]),
        torch.add(n, f),
        torch.sum(f),
        t + f if torch.__name__ == "none" else torch.mul(t, f),
        error(lambda: torch.add(n, t)).split(";")[0],
        torch.nn.functional.relu(f),
    ]


@CASES.add
def subclasses_of_subclasses(torch: Any) -> Any:
    class A(torch.Tensor):
        pass

    class B(A):
        pass

    class C(torch.Tensor):
        pass

    a, b, c = (torch.ones(2).as_subclass(k) for k in (A, B, C))
    return kind(a + b), kind(b + a), error(lambda: a + c), kind(torch.add(b, 1))


@CASES.add
def own_attributes(torch: Any) -> Any:
    class Named(torch.Tensor):
        label = "class"

        def __new__(cls, data: Any, label: str) -> Any:
            return torch.Tensor._make_subclass(cls, data) if False else data.as_subclass(cls)

        def __init__(self, data: Any, label: str) -> None:
            self.label = label

    x = Named(torch.ones(2), "mine")
    return x.label, (x + 1).label, x.clone().label, x.detach().label, kind(x)


@CASES.add
def function_modes(torch: Any) -> Any:
    overrides = importlib.import_module(torch.__name__ + ".overrides")
    log: list[Any] = []

    class Mode(overrides.TorchFunctionMode):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            log.append((self.name, getattr(func, "__name__", "?")))
            return func(*args, **(kwargs or {}))

    x = torch.ones(2)
    with Mode("outer"):
        y = torch.add(x, 1)
        x.mul_(2)
        with Mode("inner"):
            z = x.exp()
    x.exp()
    return log, y, z.shape == (2,)


@CASES.add
def disabling(torch: Any) -> Any:
    class Loud(torch.Tensor):
        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            raise KeyError("called")

    x = torch.ones(2).as_subclass(Loud)
    with torch._C.DisableTorchFunctionSubclass():
        inside = kind(x + 1)
    return inside, error(lambda: x + 1), error(lambda: torch.exp(x))


test_scenario = CASES.test()
