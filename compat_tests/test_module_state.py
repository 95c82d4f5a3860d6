"""``state_dict``, ``load_state_dict`` and hooks of modules against PyTorch."""

from __future__ import annotations

import importlib
import pickle
import weakref
from collections import OrderedDict
from typing import Any

from compat_tests.scenarios import Cases, error

CASES = Cases("module_state")


def whole_error(call: Any) -> list[str]:
    """Class and every line of what a call raises."""
    try:
        call()
    except Exception as caught:
        return [type(caught).__name__, *str(caught).splitlines()]
    return []


def extra(torch: Any) -> Any:
    class Extra(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("b", torch.zeros(2))
            self.register_buffer("n", torch.zeros(2), persistent=False)
            self.l = torch.nn.Linear(1, 1)
            self.got: Any = None

        def get_extra_state(self) -> Any:
            return 7

        def set_extra_state(self, state: Any) -> None:
            self.got = state

    return Extra()


@CASES.add
def saving(torch: Any) -> Any:
    m = torch.nn.Sequential(extra(torch), torch.nn.ReLU())
    state = m.state_dict(prefix="p.")
    kept = m.state_dict(keep_vars=True)
    linear = torch.nn.Linear(1, 1)
    shared = linear.state_dict()
    shared["weight"].fill_(7)
    return [
        list(state),
        dict(state._metadata),
        type(state).__name__,
        [kept["0.l.weight"].requires_grad, state["p.0.l.weight"].requires_grad],
        linear.weight,
        type(shared["weight"]).__name__,
    ]


@CASES.add
def loading_errors(torch: Any) -> Any:
    nn, zeros = torch.nn, torch.zeros
    linear, pair = nn.Linear(2, 3), nn.Sequential(nn.Linear(1, 2), nn.ReLU())
    return [
        whole_error(lambda: linear.load_state_dict(3)),
        whole_error(lambda: linear.load_state_dict({})),
        whole_error(lambda: linear.load_state_dict({"weight": zeros(1, 1), "x": zeros(1)})),
        whole_error(lambda: linear.load_state_dict({"weight": 3, "bias": zeros(3)})),
        whole_error(lambda: pair.load_state_dict({"0.weight": zeros(9), "1.b": 3, "0w": 1})),
        whole_error(lambda: nn.Linear(1, 1).load_state_dict(extra(torch).state_dict())),
        whole_error(lambda: extra(torch).load_state_dict(nn.Linear(1, 1).state_dict())),
    ]


@CASES.add
def loading(torch: Any) -> Any:
    linear, other = torch.nn.Linear(2, 3), extra(torch)
    ones = {"weight": torch.ones(3, 2, dtype=torch.float64), "bias": torch.ones(3)}
    result = linear.load_state_dict(ones)
    partial = linear.load_state_dict({"weight": torch.zeros(3, 2), "z": 1}, strict=False)
    other.load_state_dict(other.state_dict())
    scalar = torch.nn.Module()
    scalar.a = torch.nn.Parameter(torch.tensor(1.0))
    scalar.load_state_dict({"a": torch.tensor([4.0])})
    return [
        [repr(result), repr(partial), partial.missing_keys, partial.unexpected_keys],
        [linear.weight, linear.bias, other.got, scalar.a],
    ]


@CASES.add
def loading_by_assignment(torch: Any) -> Any:
    nn = torch.nn
    linear = nn.Linear(2, 3)
    given = {"weight": torch.ones(3, 2), "bias": nn.Parameter(torch.ones(3), requires_grad=False)}
    linear.load_state_dict(given, assign=True)
    meta = nn.Linear(2, 3, device="meta")
    meta.load_state_dict(linear.state_dict(), assign=True)
    silent = nn.Linear(2, 3, device="meta")
    silent.load_state_dict(linear.state_dict())
    return [
        [type(linear.weight).__name__, linear.weight.requires_grad, linear.bias is given["bias"]],
        [linear.bias.requires_grad, meta.weight, str(silent.weight.device)],
    ]


@CASES.add
def state_hooks(torch: Any) -> Any:
    log: list[Any] = []
    m = torch.nn.Sequential(torch.nn.Linear(1, 1))
    m.register_state_dict_pre_hook(lambda m, prefix, keep: log.append(["pre", prefix, keep]))
    m.register_state_dict_post_hook(lambda m, s, p, meta: log.append(["post", list(s), p]))
    m[0]._register_state_dict_hook(lambda m, s, p, meta: s.update({"new": 1}))
    saved = list(m.state_dict(prefix="k."))
    handle = m[0].register_load_state_dict_pre_hook(lambda m, s, *a: log.append([list(s), a[0]]))
    m.register_load_state_dict_post_hook(lambda m, keys: log.append(repr(keys)))
    m.load_state_dict({"0.weight": torch.ones(1, 1)}, strict=False)
    handle.remove()
    m.load_state_dict({}, strict=False)
    m.register_state_dict_post_hook(lambda *a: 3)
    m.register_load_state_dict_post_hook(lambda *a: 3)
    return saved, log, error(lambda: m.state_dict()), error(lambda: m.load_state_dict({}, False))


# --- forward hooks --------------------------------------------------------------------------------


def double(torch: Any) -> Any:
    class Double(torch.nn.Module):
        def forward(self, x: Any, k: Any = 2) -> Any:
            if k is None:
                raise ValueError("boo")
            return x * k

    return Double()


@CASES.add
def forward_hooks(torch: Any) -> Any:
    log: list[Any] = []
    m, x = double(torch), torch.ones(1)
    m.register_forward_pre_hook(lambda m, a: log.append("second"))
    m.register_forward_pre_hook(lambda m, a: log.append("first"), prepend=True)
    m.register_forward_pre_hook(lambda m, a, k: (a, {"k": 5}), with_kwargs=True)
    handle = m.register_forward_hook(lambda m, a, o: o + 1)
    m.register_forward_hook(lambda m, a, k, o: log.append([k, o.item()]), with_kwargs=True)
    first = m(x)
    handle.remove()
    second = m(x)
    n = double(torch)
    n.register_forward_pre_hook(lambda m, a: a[0] + 1)
    bad = double(torch)
    bad.register_forward_pre_hook(lambda m, a, k: 3, with_kwargs=True)
    return first, second, log, n(x), error(lambda: bad(x))


@CASES.add
def hooks_always_called(torch: Any) -> Any:
    log: list[Any] = []
    m, x = double(torch), torch.ones(1)
    m.register_forward_hook(lambda m, a, o: log.append(["always", o]), always_call=True)
    m.register_forward_hook(lambda m, a, o: log.append("not on errors"))
    m.register_forward_hook(lambda m, a, o: 1 / 0 if o is None else None, always_call=True)
    m(x)
    return error(lambda: m(x, None)), len(log), log[-1][0]


@CASES.add
def hooks_of_all_modules(torch: Any) -> Any:
    module = importlib.import_module(f"{torch.__name__}.nn.modules.module")
    log: list[Any] = []
    m = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.ReLU())
    handles = [
        module.register_module_forward_pre_hook(lambda m, a: log.append("pre")),
        module.register_module_forward_hook(lambda m, a, o: log.append(type(m).__name__)),
        module.register_module_full_backward_hook(lambda m, gi, go: log.append("backward")),
        module.register_module_parameter_registration_hook(lambda m, n, p: log.append(n)),
    ]
    m(torch.ones(1, 1, requires_grad=True)).sum().backward()
    torch.nn.Linear(1, 1)
    for handle in handles:
        handle.remove()
    length = len(log)
    m(torch.ones(1, 1)).sum().backward()
    return log, len(log) == length


# --- backward hooks -------------------------------------------------------------------------------


@CASES.add
def full_backward_hooks(torch: Any) -> Any:
    log: list[Any] = []
    m, x = double(torch), torch.ones(2, requires_grad=True)
    m.register_full_backward_pre_hook(lambda m, go: log.append(["pre", go]))
    m.register_full_backward_hook(lambda m, gi, go: log.append(["full", gi, go]))
    y = m(x, k=x)
    y.sum().backward()
    return log, x.grad, y.grad_fn.name(), y.grad_fn.next_functions[0][0].name()


@CASES.add
def backward_hooks_that_replace(torch: Any) -> Any:
    linear, x = torch.nn.Linear(1, 1), torch.ones(1, 1, requires_grad=True)
    linear.register_full_backward_hook(lambda m, gi, go: (gi[0] * 0 + 5,))
    linear.register_full_backward_pre_hook(lambda m, go: (go[0] * 3,))
    linear(x).sum().backward()
    wrong = torch.nn.Linear(1, 1)
    wrong.register_full_backward_hook(lambda m, gi, go: (gi[0], gi[0]))
    early = torch.nn.Linear(1, 1)
    early.register_full_backward_pre_hook(lambda m, go: (go[0], go[0]))
    return [
        [x.grad, linear.bias.grad],
        error(lambda: wrong(x).sum().backward()),
        error(lambda: early(x).sum().backward()),
    ]


@CASES.add
def backward_hooks_without_input_gradients(torch: Any) -> Any:
    log: list[Any] = []
    linear = torch.nn.Linear(1, 1)

    def hook(m: Any, gi: Any, go: Any) -> None:
        log.append([gi, go, m.weight.grad is None])

    linear.register_full_backward_hook(hook)
    linear(torch.ones(1, 1)).sum().backward()
    refused = torch.nn.Linear(1, 1)
    refused.register_full_backward_hook(lambda m, gi, go: (torch.ones(1),))
    return log, error(lambda: refused(torch.ones(1, 1)).sum().backward())


@CASES.add
def backward_hooks_of_several(torch: Any) -> Any:
    log: list[Any] = []

    class Two(torch.nn.Module):
        def forward(self, x: Any, y: Any) -> Any:
            return x + y, x * 2

    m, x = Two(), torch.ones(1, requires_grad=True)
    m.register_full_backward_hook(lambda m, gi, go: log.append([gi, go]))
    out = m(torch.ones(1), x)
    out[0].sum().backward()

    class Same(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x

    same = Same()
    same.register_full_backward_hook(lambda m, gi, go: log.append([gi, go]))
    kept = same(x * 1)
    return log, error(lambda: kept.add_(1))


@CASES.add
def old_backward_hooks(torch: Any) -> Any:
    log: list[Any] = []
    m, x = double(torch), torch.ones(1, requires_grad=True)
    m.register_backward_hook(lambda m, gi, go: log.append([gi, go]))
    m(x).sum().backward()
    full = double(torch)
    full.register_full_backward_hook(lambda *a: None)
    return [
        log,
        error(lambda: m.register_full_backward_hook(lambda *a: None)),
        error(lambda: full.register_backward_hook(lambda *a: None)),
    ]


@CASES.add
def handles(torch: Any) -> Any:
    m = torch.nn.Linear(1, 1)
    h = m.register_forward_hook(noted, with_kwargs=True, always_call=True)
    leaf = torch.ones(1, requires_grad=True).register_hook(lambda g: g)
    copied = pickle.loads(pickle.dumps(h))
    found = [h.hooks_dict_ref() is m._forward_hooks, len(h.extra_dict_ref), copied.id == h.id]
    h.remove()
    return [
        found,
        type(copied.hooks_dict_ref()).__name__,
        [type(h) is type(leaf) is torch.utils.hooks.RemovableHandle, type(h).__name__],
        [len(h.hooks_dict_ref()), [len(d()) for d in h.extra_dict_ref]],
        error(lambda: torch.utils.hooks.RemovableHandle({})),
    ]


@CASES.add
def hooks_of_all_modules_replaced(torch: Any) -> Any:
    """Programs empty PyTorch's dictionaries, or put others in their place."""
    home, log = torch.nn.modules.module, []
    m, x = double(torch), torch.ones(1)
    names = ("_global_forward_hooks", "_global_forward_pre_hooks", "_global_backward_hooks")
    handles = [
        home.register_module_forward_hook(lambda m, a, out: log.append("after")),
        home.register_module_forward_pre_hook(lambda m, a: log.append("before")),
    ]
    m(x)
    held = [len(getattr(home, name)) for name in names]
    for name in names:
        setattr(home, name, OrderedDict())
    m(x)
    for handle in handles:
        handle.remove()
    last = home.register_module_forward_hook(lambda m, a, out: out + 1)
    result = m(x)
    last.remove()
    return [log, held, result, m(x)]


@CASES.add
def a_load_hook_keeps_no_module(torch: Any) -> Any:
    m = torch.nn.Linear(1, 1)
    m.register_load_state_dict_pre_hook(noted)
    again = pickle.loads(pickle.dumps(m))
    again.load_state_dict(m.state_dict())
    gone = weakref.ref(m)
    del m
    return [gone() is None, again.seen]


@CASES.add
def tensors_without_a_shape(torch: Any) -> Any:
    nn = torch.nn
    full, lazy = nn.Linear(2, 3), nn.LazyLinear(3)
    p, q = nn.UninitializedParameter(), nn.UninitializedBuffer()
    p.materialize(3)
    q.materialize((2, 1), dtype=torch.float64)
    return [
        repr(lazy.load_state_dict(nn.LazyLinear(3).state_dict())),
        lazy.has_uninitialized_params(),
        error(lambda: full.load_state_dict(lazy.state_dict())),
        [list(lazy.weight.size()), list(p.shape), list(q.shape), str(q.dtype)],
        error(lambda: nn.utils.spectral_norm(lazy)),
        error(lambda: nn.utils.weight_norm(lazy)),
        error(lambda: lazy.share_memory()),
        error(lambda: torch.optim.Adagrad(lazy.parameters())).partition(" in ")[0],
        repr(nn.Container(a=nn.ReLU())).splitlines(),
    ]


def noted(module: Any, *args: Any) -> None:
    module.seen = len(args)


test_scenario = CASES.test()
