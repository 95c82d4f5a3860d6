"""Hooks of single saved tensors and of several gradients, writes to saved tensors, callbacks."""

from __future__ import annotations

import gc
import warnings
from typing import Any

from compat_tests.scenarios import Cases, error

CASES = Cases("saved_tensors")


def leaf(torch: Any, *values: float) -> Any:
    return torch.tensor(values, requires_grad=True)


@CASES.add
def hooks_of_one_saved_tensor(torch: Any) -> Any:
    x, y = leaf(torch, 1.0, 2.0), leaf(torch, 3.0, 4.0)
    out, seen = x * y, []

    def pack(t: Any) -> Any:
        seen.append(t.tolist())
        return t.detach() * 10

    out.grad_fn._raw_saved_self.register_hooks(pack, lambda t: t)
    out.sum().backward()
    power = x.exp()
    power.grad_fn._raw_saved_result.register_hooks(lambda t: t * 2, lambda t: t)
    found = [x.grad, y.grad, seen, *torch.autograd.grad(power.sum(), x)]
    return [*found, sorted(n for n in dir(out.grad_fn) if "saved_" in n and n[0] == "_")]


@CASES.add
def single_hooks_and_their_errors(torch: Any) -> Any:
    x = leaf(torch, 1.0)
    y = x.exp()
    saved = y.grad_fn._raw_saved_result
    saved.register_hooks(lambda t: t, lambda t: t)
    twice = error(lambda: saved.register_hooks(lambda t: t, lambda t: t))
    y.backward()
    loss = torch.nn.functional.nll_loss(torch.ones(1, 2, requires_grad=True), torch.tensor([0]))
    weight = loss.grad_fn._raw_saved_weight
    return [
        twice,
        error(lambda: saved.register_hooks(lambda t: t, lambda t: t)),
        error(lambda: weight.register_hooks(lambda t: t, lambda t: t)),
        error(torch.autograd.SavedTensor),
    ]


@CASES.add
def a_function_of_ones_own(torch: Any) -> Any:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                (x,) = ctx.saved_variables
            notes.extend([w.category.__name__, str(w.message)] for w in seen)
            return g * x

    notes: list[Any] = []
    x = leaf(torch, 1.0, 2.0)
    y = Double.apply(x)
    (saved,) = y.grad_fn._raw_saved_tensors
    saved.register_hooks(lambda t: t.detach() * 5, lambda t: t)
    y.sum().backward()
    return [x.grad, notes]


@CASES.add
def several_gradients(torch: Any) -> Any:
    register, seen = torch.autograd.graph.register_multi_grad_hook, []
    a, b, c = leaf(torch, 1.0), leaf(torch, 2.0), leaf(torch, 3.0)
    d = a * b

    def note(grads: Any) -> None:
        seen.append([None if g is None else g.tolist() for g in grads])

    every = register((a, b, d, c), note)
    first = register((d, a), lambda g: seen.append(g.tolist()), mode="any")
    (d * c).sum().backward(retain_graph=True)
    d.sum().backward(retain_graph=True)
    seen.append("one input")
    d.sum().backward(inputs=[b], retain_graph=True)
    every.remove()
    first.remove()
    d.sum().backward()
    return [seen, error(lambda: register((a,), note, mode="some"))]


@CASES.add
def saved_tensors_may_be_written_to(torch: Any) -> Any:
    found = []
    with torch.autograd.graph.allow_mutation_on_saved_tensors() as ctx:
        a, b = leaf(torch, 2.0, 3.0), leaf(torch, 5.0, 7.0).clone()
        out = (a**2 * b).sum()
        b.mul_(100)
        found.append(len(list(ctx.cloned.items())))
        out.backward()
        found.append(a.grad)

        x = leaf(torch, 1.0, 2.0, 3.0).clone()
        y = x.sin()
        x[1].fill_(0)  # through a view
        y.sin_()
        found += torch.autograd.grad(y.sum(), x, retain_graph=True, allow_unused=True)
        found.append(
            error(lambda: torch.autograd.graph.allow_mutation_on_saved_tensors().__enter__())
        )
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        late = (a**2).sum()
    return [*found, error(late.backward)]


@CASES.add
def detached_after_it_was_saved(torch: Any) -> Any:
    a = leaf(torch, 1.0).clone()
    b = a.sin()
    a.detach_()
    c = leaf(torch, 1.0).clone().exp()
    d = c.sum()
    c.detach_()
    e = leaf(torch, 2.0)
    f = e.sin()
    e.detach_()
    d.backward()
    return [error(b.backward), a._version, a.requires_grad, error(f.backward), e.requires_grad]


@CASES.add
def callbacks_run_at_the_end(torch: Any) -> Any:
    queue, seen = torch.autograd.Variable._execution_engine.queue_callback, []
    x = leaf(torch, 1.0)
    y = x * 2

    def inside(g: Any) -> None:
        queue(lambda: seen.append("callback"))
        queue(lambda: queue(lambda: seen.append("callback of a callback")))

    y.register_hook(inside)
    x.register_hook(lambda g: seen.append("leaf"))
    y.backward()
    return [seen, error(lambda: queue(lambda: None))]


@CASES.add
def inference_tensors(torch: Any) -> Any:
    with torch.inference_mode():
        a = torch.ones(2)
        b = torch.ones(2, 2).resize_(1, 3)
        marks = [torch.is_inference(a), torch.is_inference(b), torch.is_inference(a + 1)]
        leaf = torch.ones(2, 2, requires_grad=True).resize_(1, 2)
        marks += [torch.is_inference(leaf), leaf.requires_grad]
    c = torch.ones(2)
    marks += [
        torch.is_inference(a.view(2, 1)),
        torch.is_inference(c),
        torch.is_inference(a.clone()),
    ]
    return [marks, error(lambda: torch.is_inference(1)), error(lambda: a.add_(1))]


@CASES.add
def multithreading_is_a_setting(torch: Any) -> Any:
    @torch.autograd.set_multithreading_enabled(False)
    def run(x: Any) -> Any:
        (x * 3).backward()
        return x.grad

    with torch.autograd.set_multithreading_enabled(False):
        return run(torch.tensor(1.0, requires_grad=True))


@CASES.add
def nodes_can_be_called(torch: Any) -> Any:
    x = torch.ones(2, 2, requires_grad=True)
    one = torch.ones(2, 2)
    power, product, double = x**2, x * (one * 2).requires_grad_(), x * 2
    first = x.unbind()[0]
    leaf_node = double.grad_fn.next_functions[0][0]
    found = [
        power.grad_fn(one), power.grad_fn(None), *product.grad_fn(one * 3), *double.grad_fn(one),
        first.grad_fn(one[0], one[0]), first.grad_fn(one[0], None), leaf_node(one), x.grad,
    ]  # fmt: skip
    return found + [
        error(call)
        for call in (
            lambda: power.grad_fn(),
            lambda: power.grad_fn(1),
            lambda: power.grad_fn(x, x),
            lambda: first.grad_fn(one[0]),
        )
    ]


@CASES.add
def gradients_of_nothing_can_be_differentiated(torch: Any) -> Any:
    x, a = torch.tensor(0.5, requires_grad=True), torch.tensor(1.0, requires_grad=True)
    (d,) = torch.autograd.grad(x * a, x, create_graph=True)
    zeros = torch.autograd.grad(d, x, create_graph=True, materialize_grads=True)
    found = [zeros[0].requires_grad, *torch.autograd.grad(zeros, x, materialize_grads=True)]
    y = torch.ones(2, 2, requires_grad=True)
    batches = torch.ones(5, 3, 2)
    wrong = error(lambda: torch.autograd.grad(y.clone(), y, batches, is_grads_batched=True))
    return [*found, wrong]


@CASES.add
def arrays_without_recording(torch: Any) -> Any:
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        found = [x.numpy().tolist(), float(x.sum())]
    return [*found, error(x.numpy)]


@CASES.add
def extremes_share_among_nan(torch: Any) -> Any:
    found, nan = [], float("nan")
    for name in ("min", "max", "median", "nanmedian"):
        for values in ([1.0, 0, 1, 0, 1, 0], [nan] * 3, [1, nan, 2.0]):
            x = torch.tensor(values, requires_grad=True)
            getattr(torch, name)(x).backward()
            found.append(x.grad)
    return found


@CASES.add
def unsafe_pieces_have_versions_of_their_own(torch: Any) -> Any:
    found = []
    for cut in (lambda t: t.unsafe_split(1), lambda t: t.unsafe_chunk(3)):
        a = torch.arange(9.0).view(3, 3).requires_grad_()
        b = a + a
        pieces = cut(b)
        pieces[0].mul_(pieces[1])
        pieces[0].sum().backward()
        found += [a.grad, pieces[0]._version, b._version]
    return found


@CASES.add
def hooks_of_inputs_that_were_asked_for(torch: Any) -> Any:
    log: list[int] = []

    def on_tensor(g: Any) -> Any:
        log.append(1)
        return g * 3

    def on_node(gs: Any) -> Any:
        log.append(2)
        return tuple(g * 2 for g in gs)

    a = torch.tensor(1.0, requires_grad=True)
    b = a.clone()
    b.grad_fn.register_prehook(on_node)
    b.register_hook(on_tensor)
    leaf_node = b.grad_fn.next_functions[0][0]
    a.register_hook(on_tensor)
    leaf_node.register_prehook(on_node)
    b.sum().backward(retain_graph=True)
    torch.autograd.grad(b.sum(), a, retain_graph=True)
    b.sum().backward(inputs=(b,))
    return [log, b.grad, a.grad]


def test_a_hook_of_several_gradients_leaves_nothing_behind() -> None:
    import torchlike

    a = torchlike.ones(2, requires_grad=True)
    hook = torchlike.autograd.graph.register_multi_grad_hook((a,), lambda grads: None)
    (a * 2).sum().backward()
    gc.collect()
    assert not hook.passes


test_scenario = CASES.test()
