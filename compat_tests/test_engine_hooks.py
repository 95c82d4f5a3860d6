"""Hooks against PyTorch: on tensors, leaves and nodes, and gradients retained by non-leaves."""

from __future__ import annotations

from typing import Any

from compat_tests.scenarios import Cases, error

CASES = Cases("engine_hooks")


def leaf(torch: Any, *values: float) -> Any:
    return torch.tensor(values or (1.0, 2.0, 3.0), requires_grad=True)


@CASES.add
def order_of_tensor_hooks(torch: Any) -> Any:
    x = leaf(torch)
    y = x * 2
    log: list[Any] = []
    for tag in "abc":
        y.register_hook(lambda g, tag=tag: log.append((tag, g.tolist())))
    x.register_hook(lambda g: log.append(("leaf", g.tolist())))
    y.register_hook(lambda g: g * 10)
    y.register_hook(lambda g: log.append(("after", g.tolist())))
    y.sum().backward()
    return log, x.grad


@CASES.add
def hooks_that_replace(torch: Any) -> Any:
    x = leaf(torch)
    y = x.exp()
    y.register_hook(lambda g: g * 2)
    y.register_hook(lambda g: None)
    x.register_hook(lambda g: g + 1)
    (y * y).sum().backward()
    return x.grad


@CASES.add
def hooks_that_are_removed(torch: Any) -> Any:
    x, log = leaf(torch), []
    y = x * 3
    first = y.register_hook(lambda g: log.append("first"))
    second = y.register_hook(lambda g: log.append("second"))
    first.remove()
    first.remove()
    y.sum().backward(retain_graph=True)
    second.remove()
    with y.register_hook(lambda g: log.append("within")):
        y.sum().backward(retain_graph=True)
    y.sum().backward()
    return log, x.grad


@CASES.add
def a_hook_that_removes_itself(torch: Any) -> Any:
    x, log = leaf(torch), []
    y = x * 3

    def once(g: Any) -> None:
        log.append("once")
        handle.remove()

    handle = y.register_hook(once)
    y.register_hook(lambda g: log.append("always"))
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    return log


@CASES.add
def bad_hooks(torch: Any) -> Any:
    def attempt(result: Any) -> str:
        x = leaf(torch)
        x.register_hook(lambda g: result)
        return error((x * 2).sum().backward)

    plain = torch.ones(3)
    return [
        attempt(1.0),
        attempt(torch.ones(4)),
        attempt(torch.ones(3, dtype=torch.float64)),
        attempt(torch.ones(3, 1)),
        error(lambda: plain.register_hook(lambda g: g)),
        error(lambda: plain.register_post_accumulate_grad_hook(lambda t: None)),
        error(lambda: (leaf(torch) * 2).register_post_accumulate_grad_hook(lambda t: None)),
        error(plain.retain_grad),
    ]


@CASES.add
def hooks_and_exceptions(torch: Any) -> Any:
    def fail(g: Any) -> None:
        raise ValueError("from the hook")

    x = leaf(torch)
    y = x.exp()
    handle = y.register_hook(fail)
    out = y.sum()
    first = error(lambda: out.backward(retain_graph=True)), x.grad, torch.is_grad_enabled()
    handle.remove()
    out.backward()
    return first, x.grad


@CASES.add
def a_hook_sees_the_whole_gradient(torch: Any) -> Any:
    x, seen = leaf(torch), []
    y = x * 2
    y.register_hook(lambda g: seen.append(g.clone()))
    (y.exp() + y.sin() + y * y).sum().backward()
    return seen


@CASES.add
def hooks_run_for_captured_gradients(torch: Any) -> Any:
    x = leaf(torch)
    y = x * 2
    y.register_hook(lambda g: g * 10)
    x.register_hook(lambda g: g * 100)
    grads = torch.autograd.grad((y * y).sum(), [x, y], retain_graph=True)
    (alone,) = torch.autograd.grad((y * y).sum(), y)
    return grads, alone


@CASES.add
def hooks_of_outputs_of_one_node(torch: Any) -> Any:
    x, log = torch.arange(4.0, requires_grad=True), []
    a, b = x.split(2)
    a.register_hook(lambda g: log.append(("a", g is None or g.tolist())))
    b.register_hook(lambda g: log.append(("b", g is None or g.tolist())))
    b.register_hook(lambda g: g * 2)
    (b * 3).sum().backward(retain_graph=True)
    (a * b).sum().backward()
    return log, x.grad


@CASES.add
def hooks_before_and_after_in_place(torch: Any) -> Any:
    x, log = leaf(torch), []
    y = x * 2
    y.register_hook(lambda g: log.append(("before", g.tolist())))
    y.mul_(3)
    y.register_hook(lambda g: log.append(("after", g.tolist())))
    (y * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    return log, x.grad


@CASES.add
def hooks_on_views_after_in_place(torch: Any) -> Any:
    x, log = leaf(torch), []
    y = x * 2
    v = y[:2]
    v.register_hook(lambda g: log.append(("v", g.tolist())))
    y.register_hook(lambda g: log.append(("y", g.tolist())))
    v.mul_(5)
    v.register_hook(lambda g: log.append(("v later", g.tolist())))
    (v * v).sum().backward(retain_graph=True)
    y.sum().backward()
    return log, x.grad


@CASES.add
def hook_that_writes_into_its_gradient(torch: Any) -> Any:
    x = leaf(torch)
    y = x * 1
    given = torch.ones(3)
    x.register_hook(lambda g: g.mul_(2) and None if g.numel() == 1 else None)
    y.backward(given)
    return x.grad, given, x.grad is given


# --- retain_grad ----------------------------------------------------------------------------------


@CASES.add
def retained_gradients(torch: Any) -> Any:
    x = leaf(torch)
    y = x.exp()
    before = y.retains_grad, x.retains_grad
    y.retain_grad()
    y.retain_grad()
    x.retain_grad()
    (y * 2).sum().backward(retain_graph=True)
    (y * 2).sum().backward()
    return before, y.retains_grad, x.retains_grad, y.grad, x.grad, y.is_leaf


@CASES.add
def retained_gradient_after_other_hooks(torch: Any) -> Any:
    x = leaf(torch)
    y = x * 2
    y.register_hook(lambda g: g * 2)
    y.retain_grad()
    y.register_hook(lambda g: g * 5)
    y.sum().backward()
    return y.grad, x.grad


@CASES.add
def retained_gradient_then_in_place(torch: Any) -> Any:
    x = leaf(torch)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    flag = y.retains_grad
    (y * y).sum().backward()
    return flag, y.grad, x.grad


@CASES.add
def retained_gradient_of_a_view(torch: Any) -> Any:
    x = leaf(torch)
    y = x * 2
    v = y[1:]
    v.retain_grad()
    y.mul_(3)
    states = v.retains_grad, y.retains_grad
    (v * v).sum().backward()
    return states, v.grad, x.grad


@CASES.add
def retained_gradient_with_create_graph(torch: Any) -> Any:
    x = leaf(torch)
    y = x**2
    y.retain_grad()
    (y**2).sum().backward(create_graph=True)
    return y.grad, y.grad.requires_grad, x.grad


@CASES.add
def retained_gradient_is_no_alias(torch: Any) -> Any:
    x = leaf(torch)
    y = x + 0
    y.retain_grad()
    y.sum().backward()
    y.grad.mul_(7)
    return x.grad, y.grad


# --- after accumulation ---------------------------------------------------------------------------


@CASES.add
def post_accumulate_hooks(torch: Any) -> Any:
    x, log = leaf(torch), []

    def hook(t: Any) -> None:
        log.append((t is x, t.grad.tolist()))
        t.grad = None

    handle = x.register_post_accumulate_grad_hook(hook)
    (x * 2).sum().backward()
    (x * 3).sum().backward()
    handle.remove()
    (x * 4).sum().backward()
    torch.autograd.grad((x * 5).sum(), x)
    return log, x.grad


@CASES.add
def post_accumulate_step(torch: Any) -> Any:
    x = leaf(torch)

    def step(t: Any) -> None:
        with torch.no_grad():
            t.sub_(t.grad)
        t.grad = None

    x.register_post_accumulate_grad_hook(step)
    for _ in range(3):
        (x * x).sum().backward()
    return x, x.grad, x._version


@CASES.add
def all_hooks_of_a_leaf(torch: Any) -> Any:
    x, log = leaf(torch), []
    node = (x * 2).grad_fn.next_functions[0][0]
    same = node is (x * 3).grad_fn.next_functions[0][0]
    node.register_prehook(lambda gs: log.append(("pre", [g.tolist() for g in gs])))
    node.register_hook(lambda gi, go: log.append(("post", list(gi), [g.tolist() for g in go])))
    x.register_hook(lambda g: log.append(("tensor", g.tolist())))
    x.register_post_accumulate_grad_hook(lambda t: log.append(("accumulated", t.grad.tolist())))
    (x * 2).sum().backward()
    return same, log, node.variable is x


# --- nodes ----------------------------------------------------------------------------------------


@CASES.add
def node_hooks(torch: Any) -> Any:
    x, log = leaf(torch), []
    y = x * x
    node = y.grad_fn
    node.register_prehook(lambda gs: log.append(("pre", [g.tolist() for g in gs])))
    node.register_prehook(lambda gs: (gs[0] * 2,))
    node.register_hook(
        lambda gi, go: log.append([[g.tolist() for g in gi], [g.tolist() for g in go]])
    )
    handle = node.register_hook(lambda gi, go: (gi[0] * 10, gi[1]))
    y.sum().backward(retain_graph=True)
    handle.remove()
    y.sum().backward()
    return log, x.grad


@CASES.add
def node_hooks_see_missing_gradients(torch: Any) -> Any:
    x, c, log = leaf(torch), torch.ones(3), []

    def note(gi: Any, go: Any) -> None:
        log.append([[g is None for g in gi], [g is None for g in go]])

    y = x * c
    y.grad_fn.register_hook(note)
    a, _ = (y * 2).split([1, 2])
    a.grad_fn.register_hook(note)
    a.sum().backward()
    return log


@CASES.add
def bad_node_hooks(torch: Any) -> Any:
    def attempt(result: Any) -> str:
        x = leaf(torch)
        y = x * 2
        y.grad_fn.register_hook(lambda gi, go: result)
        return error(y.sum().backward)

    return [attempt((torch.ones(3),) * 3), attempt(()), attempt(3)]


@CASES.add
def order_of_every_kind_of_hook(torch: Any) -> Any:
    x, log = leaf(torch), []
    y = x.exp()
    y.grad_fn.register_prehook(lambda g: log.append("node pre"))
    y.grad_fn.register_hook(lambda gi, go: log.append("node post"))
    y.register_hook(lambda g: log.append("tensor"))
    y.retain_grad()
    y.register_hook(lambda g: log.append(f"tensor, retained {y.grad is not None}"))
    (y * 2).sum().backward()
    return log


@CASES.add
def metadata(torch: Any) -> Any:
    y = leaf(torch) * 2
    y.grad_fn.metadata["a"] = 1
    same = y.grad_fn.metadata is y.grad_fn.metadata
    return y.grad_fn.metadata, same, y.grad_fn is y.grad_fn


@CASES.add
def shape_of_the_graph(torch: Any) -> Any:
    x = leaf(torch)
    y = x.exp()
    node = (y * x).grad_fn
    (a, i), (b, j) = node.next_functions
    parts = x.split(1)
    return [
        [node.name(), a.name(), i, b.name(), j],
        [p.output_nr for p in parts],
        parts[0].grad_fn is parts[2].grad_fn,
        x.output_nr,
        x.grad_fn,
        node.requires_grad,
        node._sequence_nr() > a._sequence_nr(),
        type(node).__name__,
        node.next_functions[0][0] is y.grad_fn,
        y.grad_fn._saved_result,
        node._saved_self,
        error(lambda: node._saved_nothing),
    ]


@CASES.add
def order_in_which_tensors_are_packed(torch: Any) -> Any:
    packed: list[Any] = []

    def pack(t: Any) -> Any:
        packed.append(t.tolist())
        return t

    a, b = leaf(torch, 1.0, 2.0), leaf(torch, 3.0, 4.0) * 1
    calls = [
        lambda: a * b, lambda: b * a, lambda: a / b, lambda: torch.atan2(a, b), lambda: a**b,
        lambda: torch.dot(a, b), lambda: torch.mv(torch.diag(a), b), lambda: torch.outer(a, b),
        lambda: torch.addcmul(a, b, b * 3), lambda: torch.lerp(a, b, a * 0.5),
        lambda: torch.maximum(a, b), lambda: a.cumprod(0), lambda: a.sqrt(), lambda: a.prod(),
    ]  # fmt: skip
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        for call in calls:
            call()
            packed.append("next")
    return packed


@CASES.add
def saved_on_the_cpu_from_pinned_memory(torch: Any) -> Any:
    x = leaf(torch, 1.0, 2.0)
    with torch.autograd.graph.save_on_cpu(pin_memory=True):
        (x * x).sum().backward()
    return x.grad


test_scenario = CASES.test()
