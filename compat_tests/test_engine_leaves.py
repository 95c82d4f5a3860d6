"""What arrives in ``grad``: identity, layout and memory; odd sizes, deep graphs, threads."""

from __future__ import annotations

import threading
from typing import Any

from compat_tests.scenarios import Cases, error

CASES = Cases("engine_leaves")


def matrix(torch: Any, rows: int = 2, columns: int = 3) -> Any:
    return torch.arange(1.0, rows * columns + 1).reshape(rows, columns).clone().requires_grad_()


def shares_memory(a: Any, b: Any) -> bool:
    low, high = a.data_ptr(), a.data_ptr() + a.numel() * a.element_size()
    return low <= b.data_ptr() < high


@CASES.add
def later_gradients_are_added_in_place(torch: Any) -> Any:
    x = matrix(torch)
    (x * 2).sum().backward()
    first, version = x.grad, x.grad._version
    (x * 3).sum().backward()
    same = x.grad is first
    (x**2).sum().backward(create_graph=True)
    return same, version, first._version, x.grad is first, x.grad, first


@CASES.add
def gradients_given_by_the_user(torch: Any) -> Any:
    x = matrix(torch)
    given = torch.ones(2, 3)
    x.backward(given)
    state = [x.grad is given, shares_memory(x.grad, given)]
    x.backward(given)
    x.grad.add_(1)
    y = matrix(torch)
    y.grad = given
    state.append(y.grad is given)
    (y * 2).sum().backward()
    return state, given, x.grad, y.grad is given


@CASES.add
def gradients_of_two_leaves_do_not_alias(torch: Any) -> Any:
    x, y = matrix(torch), matrix(torch)
    (x + y).backward(torch.ones(2, 3))
    z = matrix(torch)
    w = z.view(3, 2)
    (w + 0).sum().backward()
    v = matrix(torch, 1, 4)
    v.sum().backward()
    x.grad.add_(1)
    return shares_memory(x.grad, y.grad), y.grad, z.grad, v.grad, v.grad.stride()


@CASES.add
def layout_of_the_first_gradient(torch: Any) -> Any:
    found = []
    for use in (
        lambda p: p.t() * torch.ones(3, 2),
        lambda p: p.permute(1, 0).contiguous(),
        lambda p: p.expand(4, 2, 3) * 1,
        lambda p: torch.ones(5, 2) @ p,
        lambda p: p[:, 1:],
        lambda p: p.sum(0),
    ):
        for make in (matrix, lambda torch: matrix(torch, 3, 2).detach().t().requires_grad_()):
            p = make(torch)
            out = use(p)
            out.backward(torch.ones_like(out))
            found.append((list(p.grad.stride()), p.grad.is_contiguous(), p.grad._is_view()))
            out = use(p)
            grad = p.grad
            out.backward(torch.ones_like(out))
            found.append((list(p.grad.stride()), p.grad is grad))
    return found


@CASES.add
def gradient_of_a_non_dense_leaf(torch: Any) -> Any:
    x = torch.arange(8.0)[::2].requires_grad_()
    (x * x).sum().backward()
    return x.grad, x.grad.stride(), x.is_leaf, x.stride()


@CASES.add
def a_gradient_is_not_the_output_of_a_rule_in_use(torch: Any) -> Any:
    x, y = matrix(torch), matrix(torch)
    out = x + y
    out.retain_grad()
    out.sum().backward()
    x.grad.zero_()
    return y.grad, out.grad


@CASES.add
def assigning_grad(torch: Any) -> Any:
    x = matrix(torch)
    wrong = [
        torch.ones(3),
        torch.ones(2, 3, dtype=torch.float64),
        1.0,
        x,
        torch.ones(2, 3, device="meta"),
    ]
    errors = [error(lambda g=g: setattr(x, "grad", g)) for g in wrong]
    x.grad = torch.full((2, 3), 5.0)
    (x * 2).sum().backward()
    found = x.grad.clone()
    del x.grad
    return errors[:4], found, x.grad


@CASES.add
def grad_of_a_leaf_changed_in_place(torch: Any) -> Any:
    x = matrix(torch)
    y = x * 2
    with torch.no_grad():
        x.mul_(3)
    y.sum().backward()
    z = x * x
    with torch.no_grad():
        x.mul_(3)
    return x.grad, error(lambda: z.sum().backward())


@CASES.add
def unused_outputs(torch: Any) -> Any:
    x = matrix(torch)
    a, b, _ = x.unbind(1)
    values, indices = x.max(1)
    (b.sum() + values.sum()).backward()
    return x.grad, a.requires_grad, indices.requires_grad


@CASES.add
def zero_dim(torch: Any) -> Any:
    x = torch.tensor(3.0, requires_grad=True)
    v = torch.ones(2, 2)
    (x * v).sum().backward()
    (x * x + x.view(1).sum()).backward()
    (x.expand(3).sum() + x.reshape(1, 1).mean()).backward()
    return x.grad, x.grad.shape == (), (x * 2).grad_fn.name()


@CASES.add
def empty(torch: Any) -> Any:
    x = torch.zeros(0, 3, requires_grad=True)
    (x * 2).sum().backward()
    y = torch.zeros(3, requires_grad=True)
    y[:0].sum().backward()
    z = torch.zeros(2, 0, requires_grad=True)
    torch.cat([z, z * 2], 1).exp().sum().backward()
    text = error((x * 2).backward)
    return list(x.grad.shape), y.grad, list(z.grad.shape), text


@CASES.add
def broadcasting_reduces(torch: Any) -> Any:
    a, b, c = matrix(torch), torch.ones(3, requires_grad=True), torch.ones(2, 1, requires_grad=True)
    s = torch.tensor(2.0, requires_grad=True)
    (a * b + c * s - s / b).sum().backward()
    return a.grad, b.grad, c.grad, s.grad


@CASES.add
def mixed_dtypes(torch: Any) -> Any:
    a = torch.ones(2, dtype=torch.float64, requires_grad=True)
    b = torch.ones(2, dtype=torch.float32, requires_grad=True)
    c = torch.ones(2, dtype=torch.float16, requires_grad=True)
    (a * b * c * torch.tensor([1, 2])).sum().backward()
    return [t.grad for t in (a, b, c)]


@CASES.add
def a_leaf_converted_after_use(torch: Any) -> Any:
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    x.data = torch.full((3,), 4.0)
    y.sum().backward()
    first = x.grad.clone()
    return first, x


@CASES.add
def deep_chains(torch: Any) -> Any:
    x = torch.ones(2, requires_grad=True)
    y = x
    for _ in range(20_000):
        y = y + 1
    y.sum().backward()
    z = x
    for _ in range(20_000):
        z = z * 1.0
        z = z.view(2)
    del z
    w = x.clone()
    for _ in range(5_000):
        w[:1].add_(1)
    w.sum().backward()
    return x.grad, y


# --- threads --------------------------------------------------------------------------------------


def in_threads(count: int, work: Any) -> list[Any]:
    results: list[Any] = [None] * count
    errors: list[str] = []

    def body(i: int) -> None:
        try:
            results[i] = work(i)
        except Exception as caught:
            errors.append(repr(caught))

    threads = [threading.Thread(target=body, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [*results, *errors]


@CASES.add
def grad_mode_is_per_thread(torch: Any) -> Any:
    with torch.no_grad():
        found = in_threads(2, lambda i: torch.is_grad_enabled())
    ready, go = threading.Event(), threading.Event()
    seen = []

    def other() -> None:
        with torch.no_grad():
            ready.set()
            go.wait(10)
            seen.append(torch.is_grad_enabled())

    thread = threading.Thread(target=other)
    thread.start()
    ready.wait(10)
    seen.append(torch.is_grad_enabled())
    go.set()
    thread.join()
    return found, seen, torch.is_grad_enabled()


@CASES.add
def independent_backward_passes(torch: Any) -> Any:
    def work(i: int) -> Any:
        x = torch.full((3,), float(i + 1), requires_grad=True)
        for _ in range(50):
            x.grad = None
            y = x
            for _ in range(20):
                y = y * 1.01
            y.sum().backward()
        return x.grad

    return in_threads(4, work)


@CASES.add
def a_graph_made_in_another_thread(torch: Any) -> Any:
    x = torch.ones(3, requires_grad=True)
    outputs = in_threads(2, lambda i: (x * (i + 2)).sum())
    torch.autograd.backward(outputs)
    return x.grad


@CASES.add
def threads_share_a_leaf(torch: Any) -> Any:
    x = torch.zeros(3, requires_grad=True)

    def work(i: int) -> None:
        for _ in range(20):
            (x * 1.0).sum().backward()

    in_threads(1, work)
    in_threads(1, work)
    return x.grad


test_scenario = CASES.test()
