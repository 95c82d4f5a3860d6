"""``torch.autograd``: checks, saved-tensor hooks, anomaly detection, legacy names."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from compat_tests.scenarios import Cases, error

CASES = Cases("autograd_surface")


def wrong_square(torch: Any) -> Any:
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return g * x

    return Wrong


def doubles(torch: Any, *values: float) -> Any:
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def whole_error(call: Any) -> list[str]:
    try:
        call()
    except Exception as caught:
        return [type(caught).__name__, *str(caught).splitlines()]
    return []


@CASES.add
def gradcheck(torch: Any) -> Any:
    check = torch.autograd.gradcheck
    x, y = doubles(torch, 0.5, -1.0, 2.0), doubles(torch, 3.0, 1.0, -0.5)
    kink = doubles(torch, 0.0)
    wrong = wrong_square(torch).apply
    return [
        check(lambda a: a * a, x),
        check(lambda a, b: (a * b.exp(), a.sum()), (x, y)),
        check(lambda a: (a * 2, a.detach()), (x,)),
        check(lambda a: a.expand(2, 3) * 1, (x,)),
        check(torch.abs, (kink,)),
        check(wrong, (x,), raise_exception=False),
        check(lambda a: a.sum(), (torch.zeros(2, 0, dtype=torch.float64, requires_grad=True),)),
        whole_error(lambda: check(wrong, (x,))),
        error(lambda: check(lambda a: a.detach(), (x,))),
        error(lambda: check(lambda a: a, (x.detach(),))),
        error(lambda: check(lambda a: a, (x.detach().expand(2, 3).requires_grad_(),))),
        whole_error(lambda: check(lambda a: a**3, (x,), atol=1e-12, rtol=0, eps=1e-2)),
    ]


@CASES.add
def gradgradcheck(torch: Any) -> Any:
    check = torch.autograd.gradgradcheck
    x = doubles(torch, 0.5, -1.0, 2.0)

    class WrongSecond(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            ctx.save_for_backward(a)
            return a**3

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (a,) = ctx.saved_tensors
            return g * 3 * a.detach() ** 2

    return [
        check(lambda a: a**3, (x,)),
        check(lambda a: a * 2, (x,)),
        check(lambda a: a.sin() * a.exp(), (x,), gen_non_contig_grad_outputs=True),
        check(lambda a: a.exp(), (x,), grad_outputs=(doubles(torch, 1.0, 2.0, 3.0),)),
        check(WrongSecond.apply, (x,), raise_exception=False),
    ]


@CASES.add
def saved_tensor_hooks(torch: Any) -> Any:
    hooks, log = torch.autograd.graph.saved_tensors_hooks, []
    a = torch.ones(2, requires_grad=True)

    def pack(t: Any) -> Any:
        log.append(["pack", t.tolist()])
        return t.detach().numpy().copy()

    def unpack(packed: Any) -> Any:
        log.append("unpack")
        return torch.from_numpy(packed) * 3

    with hooks(pack, unpack):
        y = a * a
        z = y.exp()
    z.sum().backward()
    first = a.grad.clone()
    a.grad = None
    with hooks(lambda t: t, lambda t: t * 2), hooks(lambda t: t, lambda t: t * 3):
        q = a * a
    q.sum().backward()
    return first, log, a.grad


@CASES.add
def saved_tensors_come_back_in_the_order_they_went(torch: Any) -> Any:
    F, x = torch.nn.functional, torch.arange(1.0, 4.0)
    two = {
        "mul": lambda a, b: a * b, "div": lambda a, b: a / b, "pow": lambda a, b: a**b,
        "atan2": torch.atan2, "maximum": torch.maximum, "hypot": torch.hypot,
        "xlogy": torch.xlogy, "fmod": torch.fmod, "logaddexp": torch.logaddexp,
        "dot": torch.dot, "outer": torch.outer, "mse": F.mse_loss, "huber": F.smooth_l1_loss,
        "matmul": lambda a, b: torch.diag(a) @ torch.diag(b), "lerp": lambda a, b: a.lerp(b, b),
        "addcmul": lambda a, b: torch.addcmul(a, a, b), "cross": torch.linalg.cross,
        "layer_norm": lambda a, b: F.layer_norm(a, (3,), b, b + 1),
    }  # fmt: skip

    def order(f: Any) -> list[Any]:
        a, b, log = (x + 0.5).requires_grad_(), (x * 2).requires_grad_(), []

        def pack(t: Any) -> Any:
            log.append(["pack", t.tolist()])
            return t

        def unpack(t: Any) -> Any:
            log.append(["unpack", t.tolist()])
            return t

        with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
            y = f(a, b)
        y.sum().backward()
        return log

    return {name: order(f) for name, f in two.items()}


@CASES.add
def saved_tensor_hook_errors(torch: Any) -> Any:
    graph = torch.autograd.graph
    a = torch.ones(2, requires_grad=True)

    def writing() -> None:
        with graph.saved_tensors_hooks(lambda t: t.add_(1), lambda t: t):
            (a * 2).sin()

    with graph.saved_tensors_hooks(lambda t: 3, lambda t: t):
        bad = a * a
    with graph.disable_saved_tensors_hooks("no hooks here"):
        inside = error(lambda: graph.saved_tensors_hooks(id, id).__enter__())
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        outside = error(lambda: graph.disable_saved_tensors_hooks("message").__enter__())
    with graph.save_on_cpu():
        saved = (a * a).sum()
    saved.backward()
    return error(writing), error(bad.sum().backward), inside, outside, a.grad


@CASES.add
def nodes_and_edges(torch: Any) -> Any:
    graph = torch.autograd.graph
    a = torch.ones(2, requires_grad=True)
    y = (a * a).sum()
    edge = graph.get_gradient_edge(y)
    before = a._version
    graph.increment_version(a)
    graph.increment_version([a, a])
    loss = (a.exp() * 2).sum()
    with torch.no_grad():
        graph.increment_version(a)
    return [
        [isinstance(y.grad_fn, graph.Node), issubclass(type(y.grad_fn), graph.Node)],
        [isinstance(3, graph.Node), edge.node is y.grad_fn, edge.output_nr],
        [a._version - before, torch.autograd.grad(loss, graph.get_gradient_edge(a))],
        error(lambda: graph.get_gradient_edge(torch.ones(1))),
    ]


@CASES.add
def legacy_variable(torch: Any) -> Any:
    Variable = torch.autograd.Variable
    v = Variable(torch.ones(2), requires_grad=True)
    facts = [type(v).__name__, v.requires_grad, isinstance(torch.ones(1), Variable)]
    return [*facts, isinstance(3, Variable), Variable(torch.zeros(1)).requires_grad]


@CASES.add
def anomaly_switches(torch: Any) -> Any:
    autograd = torch.autograd
    states = []

    def note() -> None:
        states.append([torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()])

    note()
    with autograd.detect_anomaly():
        note()
        with autograd.set_detect_anomaly(False):
            note()
        note()
    autograd.set_detect_anomaly(True, check_nan=False)
    note()
    autograd.set_detect_anomaly(False)
    note()
    return states


@CASES.add
def anomalies(torch: Any) -> Any:
    """The error, and which operation the warning names; the stack differs with the library."""
    autograd = torch.autograd
    found = []

    def negative_root() -> None:
        x = torch.tensor([-1.0, 2.0], requires_grad=True)
        with autograd.detect_anomaly():
            x.sqrt().sum().backward()

    def unchecked() -> None:
        x = torch.tensor([-1.0, 2.0], requires_grad=True)
        with autograd.detect_anomaly(check_nan=False):
            x.sqrt().sum().backward()

    def overwritten(inside: bool) -> Any:
        def run() -> None:
            x = torch.ones(2, requires_grad=True)
            with autograd.set_detect_anomaly(inside):
                y = x.exp()
            with autograd.set_detect_anomaly(True):
                s = y.sum()
                y.mul_(2)
                s.backward()

        return run

    for run in (negative_root, unchecked, overwritten(True), overwritten(False)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            text = error(run)
            told = [str(w.message).splitlines()[0].split(" (Triggered")[0] for w in caught]
        found.append([text, told])
    return found


# --- what PyTorch cannot tell ---------------------------------------------------------------------


def test_anomaly_points_at_the_forward_line() -> None:
    import torchlike as torch

    x = torch.tensor([-1.0], requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        y = x.sqrt()  # the line to be found
        with (
            pytest.warns(UserWarning, match="y = x.sqrt\\(\\)  # the line to be found") as caught,
            pytest.raises(RuntimeError, match="SqrtBackward0' returned nan"),
        ):
            y.sum().backward()
    last = str(caught[0].message).rstrip().splitlines()[-2]
    assert "test_anomaly_points_at_the_forward_line" in last


@CASES.add
def gradcheck_of_complex_numbers(torch: Any) -> Any:
    check, wrong = torch.autograd.gradcheck, wrong_square(torch).apply
    z = torch.tensor([0.5 + 1j, -1.0 + 0.25j], dtype=torch.complex128, requires_grad=True)
    x = doubles(torch, 0.5, -2.0)
    power = torch.tensor([-1.5, 2.0], dtype=torch.float64)

    def shifted(a: Any) -> Any:
        b = a.clone()
        b.register_hook(lambda g: g + 1e-2)
        return b

    return [
        check(lambda a: a * a, z),
        check(lambda a, b: (a * b, a.abs(), b.exp()), (z, x)),
        check(torch.view_as_real, z, check_forward_ad=True),
        check(lambda a: torch.complex(a, a * a), x, check_forward_ad=True),
        check(lambda a: power**a, z),
        check(lambda a: (-1) ** a, z),
        torch.autograd.gradgradcheck(lambda a: a * a.conj(), z),
        whole_error(lambda: check(shifted, z))[:2],
        whole_error(lambda: check(lambda a: torch.real(shifted(a)), z))[:2],
        whole_error(lambda: check(lambda a: torch.complex(shifted(a), a), x))[:2],
        check(wrong, z, raise_exception=False),
    ]


@CASES.add
def gradcheck_of_batches_and_missing_gradients(torch: Any) -> Any:
    check, x = torch.autograd.gradcheck, doubles(torch, 0.5, -2.0)

    class Two(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            if g is None and h is not None and not h.any():
                raise RuntimeError("no gradient")
            return (0 if g is None else g * 2) + (0 if h is None else h * 3)

    class Item(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            g.sum().item()
            return g

    def grows(a: Any) -> Any:
        return torch.cat([a, a]) if bool((a >= 0.5).any()) else a

    def factor(a: Any) -> Any:
        b = a.clone()
        b.register_hook(lambda g: g + 1e-2)
        return b

    return [
        check(lambda a: a.sin() * a, x, check_batched_grad=True),
        check(torch.sin, x, check_forward_ad=True, check_batched_forward_grad=True),
        check(Two.apply, x, check_undefined_grad=False),
        whole_error(lambda: check(Two.apply, x)),
        check(Item.apply, x),
        whole_error(lambda: check(Item.apply, x, check_batched_grad=True))[0],
        whole_error(lambda: check(factor, x, atol=1e-1)),
        whole_error(lambda: check(grows, x))[0],
    ]


@CASES.add
def gradcheck_of_sparse_tensors(torch: Any) -> Any:
    check, dense = torch.autograd.gradcheck, doubles(torch, 1.0, 0.0, 2.0)

    def sparse() -> Any:
        return dense.detach().to_sparse().requires_grad_()

    return [
        check(lambda s: s.to_dense() ** 2, sparse(), masked=True),
        check(lambda s: s.to_dense(masked_grad=False) ** 2, sparse(), masked=False),
        error(lambda: check(lambda s: s * 2, sparse(), masked=True, raise_exception=False)),
    ]


@CASES.add
def gradcheck_in_fast_mode(torch: Any) -> Any:
    class Wrong(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2.5

    class Turned(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g.flip(0)

    check, twice = torch.autograd.gradcheck, torch.autograd.gradgradcheck
    x, many = doubles(torch, 0.5, -2.0), torch.linspace(0, 1, 90_000, dtype=torch.float64)
    z = torch.complex(x.detach(), x.detach() + 1).requires_grad_()
    many.requires_grad_()
    found = [check(torch.sin, (many,), fast_mode=True, check_forward_ad=True)]
    found += [check(f, (z,), fast_mode=True, check_forward_ad=True) for f in (torch.exp, torch.abs)]
    found.append(check(lambda a: (a * a.conj(), a * 2j), (z,), fast_mode=True))
    found.append(twice(torch.exp, (many,), fast_mode=True))
    for wrong in (Wrong.apply, Turned.apply):
        for values in (x, z):
            found.append(check(wrong, (values,), fast_mode=True, raise_exception=False))
            text = error(lambda f=wrong, v=values: check(f, (v,), fast_mode=True))
            found.append([text[0], text[1].splitlines()[0]])
    return found


test_scenario = CASES.test()
