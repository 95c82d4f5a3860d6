"""The engine against PyTorch: order, retained graphs, create_graph, and what backward is given."""

from __future__ import annotations

from typing import Any

from compat_tests.scenarios import Cases, error

CASES = Cases("engine")


def nodes(root: Any) -> list[Any]:
    """Every node below ``root``, breadth first."""
    found, queue = [], [root]
    while queue:
        node = queue.pop(0)
        if node is None or node in found:
            continue
        found.append(node)
        queue += [edge[0] for edge in node.next_functions]
    return found


def logged(output: Any, **options: Any) -> list[str]:
    """The nodes that a backward pass runs, by name and breadth-first number, in order."""
    log: list[str] = []
    for number, node in enumerate(nodes(output.grad_fn)):
        label = f"{node.name().split('::')[-1]}#{number}"
        node.register_hook(lambda *_, label=label: log.append(label))
    output.backward(**options)
    return log


def leaf(torch: Any, *shape: int, start: float = 1.0) -> Any:
    count = 1
    for n in shape:
        count *= n
    values = [start + 0.5 * i for i in range(count)]
    return torch.tensor(values, dtype=torch.float64).reshape(shape).requires_grad_()


# --- order ----------------------------------------------------------------------------------------


@CASES.add
def order_of_a_chain(torch: Any) -> Any:
    return logged(leaf(torch, 3).exp().sin().mul(2).sum())


@CASES.add
def order_of_a_diamond(torch: Any) -> Any:
    x = leaf(torch, 3)
    a, b = x.exp(), x.sin()
    return logged((b * a + a - b).sum())


@CASES.add
def order_of_late_and_early_branches(torch: Any) -> Any:
    x, y = leaf(torch, 3), leaf(torch, 3, start=2.0)
    early = y.cos()
    deep = x.exp().log().exp().log()
    late = y.sin()
    return logged((deep * late + early).sum())


@CASES.add
def order_with_several_leaves(torch: Any) -> Any:
    w = [leaf(torch, 2, 2, start=float(i)) for i in range(4)]
    h = w[0]
    for m in w[1:]:
        h = torch.tanh(h @ m) + w[0]
    return logged(h.sum())


@CASES.add
def order_with_multi_output_nodes(torch: Any) -> Any:
    x = leaf(torch, 6)
    a, b, c = x.split(2)
    return logged((c * a + b.exp()).sum() + x.unbind(0)[4])


@CASES.add
def order_when_inputs_are_given(torch: Any) -> Any:
    x, y = leaf(torch, 3), leaf(torch, 3)
    return logged((x.exp() * y.sin() + x).sum(), inputs=[y])


@CASES.add
def order_of_leaves(torch: Any) -> Any:
    x, y, z = (leaf(torch, 2) for _ in range(3))
    log: list[str] = []
    for name, t in (("x", x), ("y", y), ("z", z)):
        t.register_post_accumulate_grad_hook(lambda _, name=name: log.append(name))
    (z * (y * x.exp()) + y).sum().backward()
    return log


@CASES.add
def sums_in_the_same_order(torch: Any) -> Any:
    x = torch.tensor([0.1, 0.7, 1.3], requires_grad=True)
    (x * 1e8 + x * 3.0 - x * 1e8 + x.exp() + x * 0.1).sum().backward()
    return x.grad


# --- second backward ------------------------------------------------------------------------------


def twice(torch: Any, function: Any) -> str:
    out = function(leaf(torch, 3)).sum()
    out.backward()
    return error(out.backward)


@CASES.add
def which_graphs_run_twice(torch: Any) -> Any:
    functions = {
        "add": lambda x: x + 1,
        "mul by number": lambda x: x * 2,
        "mul": lambda x: x * x,
        "neg": lambda x: -x,
        "exp": lambda x: x.exp(),
        "view": lambda x: x.view(3, 1),
        "slice": lambda x: x[1:],
        "sum": lambda x: x.sum(0),
        "clone": lambda x: x.clone(),
        "cast": lambda x: x.float(),
        "pow": lambda x: x**2,
        "cat": lambda x: torch.cat([x, x]),
        "expand": lambda x: x.expand(2, 3),
        "in place on view": in_place_on_view,
        "relu": lambda x: x.relu(),
        "mean": lambda x: x.mean(),
        "index": lambda x: x[[0, 2]],
        "div by number": lambda x: x / 2,
        "rsub": lambda x: 1 - x,
        "matmul": lambda x: x @ x,
    }
    return {name: twice(torch, f) for name, f in functions.items()}


def in_place_on_view(x: Any) -> Any:
    y = x.clone()
    y[:2].mul_(2)
    return y


@CASES.add
def retained_graphs_accumulate(torch: Any) -> Any:
    x = leaf(torch, 3)
    out = (x * x).sum()
    out.backward(retain_graph=True)
    first = x.grad.clone()
    out.backward()
    return first, x.grad, error(out.backward)


@CASES.add
def freed_part_shared_with_another_output(torch: Any) -> Any:
    x = leaf(torch, 3)
    shared = x.exp()
    a, b = shared.sum(), (shared * 2).sum()
    a.backward()
    return error(b.backward), x.grad


@CASES.add
def saved_tensors_of_a_freed_node(torch: Any) -> Any:
    x = leaf(torch, 3)
    y = x * x
    before = y.grad_fn._saved_self
    y.sum().backward()
    return before, error(lambda: y.grad_fn._saved_self)


# --- create_graph ---------------------------------------------------------------------------------


@CASES.add
def second_and_third_derivative(torch: Any) -> Any:
    x = leaf(torch, 3)
    found = [(x**4).sum()]
    for _ in range(3):
        found.append(torch.autograd.grad(found[-1].sum(), x, create_graph=True)[0])
    return found, [g.requires_grad for g in found]


@CASES.add
def create_graph_in_backward(torch: Any) -> Any:
    x = leaf(torch, 3)
    (x**3).sum().backward(create_graph=True)
    first = x.grad
    names = first.grad_fn.name(), first.requires_grad
    first.sum().backward()
    return names, first, x.grad, x.grad is first, x.grad.requires_grad


@CASES.add
def create_graph_keeps_the_graph(torch: Any) -> Any:
    x = leaf(torch, 3)
    out = (x * x).sum()
    torch.autograd.grad(out, x, create_graph=True)
    torch.autograd.grad(out, x, retain_graph=False, create_graph=True)
    return error(lambda: torch.autograd.grad(out, x))


@CASES.add
def gradient_that_requires_grad(torch: Any) -> Any:
    x, v = leaf(torch, 3), leaf(torch, 3, start=2.0)
    (g,) = torch.autograd.grad(x * x, x, v, create_graph=True)
    (again,) = torch.autograd.grad(g.sum(), v)
    (plain,) = torch.autograd.grad(x * x, x, v)
    return g, again, plain, plain.requires_grad


@CASES.add
def create_graph_in_no_grad(torch: Any) -> Any:
    x = leaf(torch, 3)
    out = (x**3).sum()
    with torch.no_grad():
        (g,) = torch.autograd.grad(out, x, create_graph=True)
        return g.requires_grad, torch.is_grad_enabled(), g


@CASES.add
def grad_mode_in_hooks(torch: Any) -> Any:
    modes = []
    for create in (False, True):
        x = leaf(torch, 2)
        y = x * 2
        y.register_hook(lambda g: modes.append((torch.is_grad_enabled(), g.requires_grad)))
        y.sum().backward(create_graph=create)
    return modes


# --- backward's and grad's arguments --------------------------------------------------------------


@CASES.add
def backward_with_gradient(torch: Any) -> Any:
    x = leaf(torch, 2, 2)
    (x * x).backward(gradient=torch.ones(2, 2, dtype=torch.float64) * 3)
    wrong = [torch.ones(2), torch.ones(2, 2, dtype=torch.complex64), 1.0, "a"]
    errors = [error(lambda g=g: (x * x).backward(g)) for g in wrong]
    (x * x).backward(torch.ones(2, 2))  # another dtype is converted
    return x.grad, errors, error((x * x).backward)


@CASES.add
def backward_into_inputs(torch: Any) -> Any:
    x, y = leaf(torch, 3), leaf(torch, 3)
    mid = x * y
    out = (mid * x).sum()
    out.backward(inputs=[x], retain_graph=True)
    first = x.grad.clone(), y.grad
    out.backward(inputs=y, retain_graph=True)
    out.backward(inputs=(mid,), retain_graph=True)
    errors = [
        error(lambda: out.backward(inputs=[])),
        error(lambda: out.backward(inputs=[torch.ones(3)])),
    ]
    return first, x.grad, y.grad, mid.grad, errors


@CASES.add
def backward_of_several_tensors(torch: Any) -> Any:
    x = leaf(torch, 3)
    a, b = (x * 2).sum(), x * x
    torch.autograd.backward([a, b], [None, torch.ones(3, dtype=torch.float64)])
    return x.grad, error(lambda: torch.autograd.backward([a, b], [None]))


@CASES.add
def backward_of_the_same_tensor_twice(torch: Any) -> Any:
    x = leaf(torch, 3)
    a = x.exp().sum()
    torch.autograd.backward([a, a])
    torch.autograd.backward([x, x], [x.detach(), x.detach()])
    return x.grad


@CASES.add
def backward_of_a_leaf(torch: Any) -> Any:
    x = torch.tensor(2.0, requires_grad=True)
    x.backward()
    given = torch.tensor(3.0)
    x.grad = None
    x.backward(given)
    return x.grad, x.grad is given, error(lambda: torch.tensor(1.0).backward())


@CASES.add
def backward_of_integers(torch: Any) -> Any:
    return error(lambda: torch.tensor(1).backward()), error(lambda: torch.ones(2).backward())


@CASES.add
def grad_of_unused(torch: Any) -> Any:
    x, y = leaf(torch, 3), leaf(torch, 3)
    out = (x * 2).sum()
    grad = torch.autograd.grad
    return [
        error(lambda: grad(out, [x, y], retain_graph=True)),
        grad(out, [x, y], allow_unused=True, retain_graph=True),
        grad(out, [y, x], materialize_grads=True, retain_graph=True),
        error(lambda: grad(out, [x, y], allow_unused=False, materialize_grads=True)),
        error(lambda: grad(out, [x, torch.ones(2)], retain_graph=True)),
        error(lambda: grad(out, x.detach(), retain_graph=True)),
        error(lambda: grad(torch.ones(2), x)),
        error(lambda: grad(x * 2, x)),
        error(lambda: grad([out, out], x, [None])),
        error(lambda: grad(out, [])),
    ]


@CASES.add
def grad_of_intermediates_and_duplicates(torch: Any) -> Any:
    x = leaf(torch, 4)
    y = x.exp()
    z = (y * x).sum()
    found = torch.autograd.grad(z, [x, y, x, z, y], retain_graph=True)
    return found, x.grad, [g.requires_grad for g in found]


@CASES.add
def grad_of_one_output_of_several(torch: Any) -> Any:
    x = leaf(torch, 6)
    a, b, c = x.split(2)
    out = (a * 2 + b * b).sum()
    grad = torch.autograd.grad
    return [
        grad(out, [a, b], retain_graph=True),
        grad(out, [a, b, c], allow_unused=True, retain_graph=True),
        grad(out, [x, b], retain_graph=True),
        error(lambda: grad(out, c, retain_graph=True)),
        grad(b.sum(), b),
    ]


@CASES.add
def grad_does_not_accumulate(torch: Any) -> Any:
    x, y = leaf(torch, 3), leaf(torch, 3)
    torch.autograd.grad((x * y).sum(), x)
    return x.grad, y.grad


@CASES.add
def grads_batched(torch: Any) -> Any:
    x = leaf(torch, 3)
    y = x.exp() * x
    basis = torch.eye(3, dtype=torch.float64)
    grad = torch.autograd.grad
    (jacobian,) = grad(y, x, basis, is_grads_batched=True, retain_graph=True)
    a, b = grad([y, x * 2], [x, y], [basis, basis], is_grads_batched=True, allow_unused=True)
    return jacobian, a, b


@CASES.add
def grads_batched_of_what_is_not_used(torch: Any) -> Any:
    x, unused = leaf(torch, 3), leaf(torch, 2)
    basis = torch.eye(3, dtype=torch.float64)

    def batched(**settings: Any) -> Any:
        return torch.autograd.grad(x * 2, [x, unused], basis, is_grads_batched=True, **settings)

    return [batched(allow_unused=True), batched(materialize_grads=True), error(batched)]


test_scenario = CASES.test()
