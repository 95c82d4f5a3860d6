"""Memory falls when the last name goes: no reference cycles, no growth, no mode left behind."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import torchlike as torch
from functional.tape.node import Node
from functional.tensor import Tensor


@pytest.fixture(autouse=True)
def no_collector() -> Iterator[None]:
    """Only reference counts may free anything."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def alive(kinds: tuple[type, ...] = (Tensor, Node)) -> int:
    return sum(issubclass(type(o), kinds) for o in gc.get_objects())


def leaf(*shape: int) -> Any:
    return torch.ones(*shape, requires_grad=True)


# --- what each piece of code may leave behind: nothing ------------------------------------------


def training_step() -> None:
    w, b = leaf(3, 2), leaf(2)
    for _ in range(3):
        loss = ((torch.ones(4, 3) @ w + b).tanh() ** 2).mean()
        loss.backward()
        with torch.no_grad():
            for p in (w, b):
                p -= 0.1 * p.grad
                p.grad = None


def graph_never_run() -> None:
    x = leaf(3)
    y = x
    for _ in range(5):
        y = (y.exp() * x).sigmoid()


def saved_results() -> None:
    for name in ("exp", "sigmoid", "tanh", "sqrt", "softmax", "log_softmax", "relu"):
        f = getattr(leaf(3), name)
        y = f(0) if "softmax" in name else f()
        y.sum()


def saved_results_in_place() -> None:
    x = leaf(3)
    y = x * 1
    y.mul_(2).tanh_()
    y.sum().backward()


def copy_slices() -> None:
    x = leaf(4)
    y = x * 1
    v = y[1:3]
    v.mul_(x[:2]).add_(1)
    v.pow_(2)
    y[0] = 3.0
    y[x > 5] = 1.0
    (y * y).sum()
    v.sum().backward()
    z = x * 1
    z[:2].exp_()
    z.sum().backward()


def views() -> None:
    x = leaf(4)
    y = x * 1
    v = y.view(2, 2)[0]
    y.mul_(2)
    v.grad_fn
    parts = y.split(2)
    (parts[0] * parts[1]).sum()


def tensor_hooks() -> None:
    x = leaf(3)
    y = x * 2
    y.register_hook(lambda g: g * 2)
    x.register_hook(lambda g: None)
    y.retain_grad()
    y.grad_fn.register_hook(lambda gi, go: None)
    x.register_post_accumulate_grad_hook(lambda t: None)
    y.grad_fn.metadata["x"] = 1
    y.sum().backward()


def hook_that_knows_its_tensor() -> None:
    x = leaf(3)
    y = x * 2
    ref = weakref.ref(y)
    y.register_hook(lambda g: None if ref() is None else g)
    y.sum().backward()


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        y = x * 2
        ctx.save_for_backward(x, y)
        ctx.mark_non_differentiable()
        return y

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        x, y = ctx.saved_tensors
        return g * 2 + 0 * x * y


class InPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 2


def custom_function() -> None:
    x = leaf(3)
    Doubled.apply(x).sum().backward()
    Doubled.apply(x)
    y = x * 1
    InPlace.apply(y)
    z = x * 1
    InPlace.apply(z[:2])
    z.sum().backward()


def double_backward() -> None:
    x = leaf(3)
    y = (x.exp() * x).sum()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    (gg,) = torch.autograd.grad((g * g).sum(), x, create_graph=True)
    gg.sum()


def gradient_penalty() -> None:
    w, x = leaf(3, 1), leaf(2, 3)
    out = torch.tanh(x @ w).sum()
    (g,) = torch.autograd.grad(out, x, create_graph=True)
    ((g**2).sum() + out).backward()
    w.grad = x.grad = None


def create_graph_backward() -> None:
    x = leaf(3)
    (x**3).sum().backward(create_graph=True)
    x.grad.sum()
    x.grad = None  # the gradient's graph holds the leaf, as in PyTorch


def failing_backward() -> None:
    x = leaf(3)
    y = x.exp()
    y.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        y.sum().backward()
    z = x * x
    z.sum().backward()
    with pytest.raises(RuntimeError):
        z.sum().backward()


def refused_writes() -> None:
    x = leaf(3)
    for write in (lambda: x.add_(1), lambda: x[:1].zero_(), lambda: (x * 1).add_(torch.ones(5))):
        with pytest.raises(RuntimeError):
            write()


def transforms() -> None:
    from torchlike import func

    f = lambda x: (x.exp() * x).sum()
    x = torch.ones(3)
    func.grad(f)(x)
    func.vmap(func.grad(f))(torch.ones(2, 3))
    func.jvp(f, (x,), (x,))
    func.hessian(f)(x)
    func.vjp(f, x)[1](torch.tensor(1.0))


def modules() -> None:
    nn = pytest.importorskip("torchlike.nn")
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    for _ in range(2):
        loss = nn.functional.cross_entropy(net(torch.ones(5, 3)), torch.zeros(5, dtype=torch.int64))
        loss.backward()
        net.zero_grad()


def detached() -> None:
    x = leaf(3)
    y = x.exp()
    d = y.detach()
    d.add_(1)
    y.data.add_(1)
    y.detach_()


PIECES: list[Callable[[], None]] = [
    training_step, graph_never_run, saved_results, saved_results_in_place, copy_slices, views,
    tensor_hooks, hook_that_knows_its_tensor, custom_function, double_backward, gradient_penalty,
    create_graph_backward, failing_backward, refused_writes, transforms, modules, detached,
]  # fmt: skip


@pytest.mark.parametrize("piece", PIECES, ids=lambda piece: piece.__name__)
def test_nothing_stays(piece: Callable[[], None]) -> None:
    piece()  # the first time, tables are filled and modules imported
    gc.collect()
    before = alive()
    piece()
    assert alive() == before


# --- at once, not at the end --------------------------------------------------------------------


def test_a_graph_goes_with_its_output() -> None:
    x = leaf(3)
    y = x.exp()
    node, tensor = weakref.ref(y.grad_fn), weakref.ref(y)
    z = y * 2
    del y
    assert tensor() is not None or node() is not None  # z's node saved nothing but has the edge
    del z
    assert tensor() is None
    assert node() is None


def test_saved_tensors_go_after_backward() -> None:
    x = leaf(3)
    y = x * 2
    ref = weakref.ref(y)
    out = (y * y).sum()
    del y
    assert ref() is not None
    out.backward()
    assert ref() is None


def test_a_leaf_goes_and_its_node_stays() -> None:
    x = leaf(3)
    out = (x * 2).sum()
    ref = weakref.ref(x)
    del x
    assert ref() is None
    leaf_node = out.grad_fn.next_functions[0][0].next_functions[0][0]
    out.backward()
    assert leaf_node.variable.grad is None or leaf_node.variable.grad.tolist() == [2.0, 2.0, 2.0]


def test_a_retained_gradient_does_not_hold_its_tensor() -> None:
    x = leaf(3)
    y = x * 2
    y.retain_grad()
    ref = weakref.ref(y)
    z = y + 1
    del y
    assert ref() is None
    z.sum().backward()


def test_peak_memory_of_training_does_not_grow() -> None:
    w = leaf(64, 64)
    x = torch.ones(64, 64)

    def step() -> None:
        loss = (x @ w).tanh().pow(2).mean()
        loss.backward()
        with torch.no_grad():
            w.sub_(w.grad * 0.1)
        w.grad = None

    for _ in range(3):
        step()
    peaks = []
    tracemalloc.start()
    try:
        for _ in range(4):
            tracemalloc.reset_peak()
            for _ in range(5):
                step()
            peaks.append(tracemalloc.get_traced_memory())
    finally:
        tracemalloc.stop()
    kept, peak = [p[0] for p in peaks], [p[1] for p in peaks]
    array = 64 * 64 * 4
    assert kept[-1] - kept[0] < array // 2
    assert peak[-1] - peak[0] < array // 2
    assert peak[-1] < 16 * array


@pytest.mark.parametrize("mode", ["no_grad", "enable_grad", "inference_mode"])
def test_modes_end_with_exceptions(mode: str) -> None:
    with pytest.raises(ZeroDivisionError), getattr(torch, mode)():
        1 / 0
    assert torch.is_grad_enabled()
    assert not torch.is_inference_mode_enabled()
    assert (leaf(2) * 2).requires_grad


def test_grad_mode_after_a_failing_backward() -> None:
    for create in (False, True):
        failing_backward()
        x = leaf(2)
        x.register_hook(lambda g: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            (x * x).sum().backward(create_graph=create)
        assert torch.is_grad_enabled()
        with torch.no_grad(), pytest.raises(ZeroDivisionError):
            (leaf(2) * 1).register_hook(lambda g: g) if False else 1 / 0
        assert torch.is_grad_enabled()


def test_levels_end_with_exceptions() -> None:
    from functional.modes import MODE
    from torchlike import func

    def fail(x: Any) -> Any:
        raise ValueError

    for transform in (func.grad, func.vmap, func.jacfwd):
        with pytest.raises(ValueError):
            transform(fail)(torch.ones(2))
    assert MODE.level == 0
    assert type(torch.ones(2) * 2) is torch.Tensor
