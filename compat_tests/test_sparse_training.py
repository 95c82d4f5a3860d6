"""Sparse gradients of tables: embedding layers, how they add up, optimizers, checkpoints."""

from __future__ import annotations

import io
from typing import Any

import torchlike
from compat_tests.scenarios import Cases, error, needs_torch
from compat_tests.sparse_cases import ordered, outcome, parts

CASES = Cases("sparse_training")


def table(torch: Any, **options: Any) -> Any:
    layer = torch.nn.Embedding(4, 2, sparse=True, **options)
    with torch.no_grad():
        layer.weight.copy_(torch.arange(8.0).view(4, 2))
    return layer


@CASES.add
def gradients_of_a_table(torch: Any) -> Any:
    layer, found = table(torch, padding_idx=1), []
    for indices in ([[0, 1], [3, 3]], [[2, 1], [3, 0]]):
        layer(torch.tensor(indices)).sum().backward()
        found.append([parts(layer.weight.grad), parts(layer.weight.grad.coalesce())])
    (layer.weight**2).sum().backward()
    found.append(layer.weight.grad.clone())
    layer.weight.grad = None
    (layer.weight**2).sum().backward()
    layer(torch.tensor([1, 2])).sum().backward()
    return [*found, layer.weight.grad, repr(layer)]


@CASES.add
def several_uses(torch: Any) -> Any:
    layer = table(torch)
    w = layer.weight
    y, z = layer(torch.tensor([0, 2])), layer(torch.tensor([2, 3]))
    (y * z).sum().backward()
    found = [parts(w.grad), y.grad_fn.name()]
    layer.zero_grad(set_to_none=False)
    found.append(parts(w.grad))
    w.grad = None
    y, z = layer(torch.tensor([0, 2])), layer(torch.tensor([2, 3]))
    ((y * z).sum() + (w * 2).sum()).backward()
    found += [
        w.grad,
        [parts(g) for g in torch.autograd.grad((layer(torch.tensor([1])) ** 2).sum(), w)],
    ]
    (g,) = torch.autograd.grad((layer(torch.tensor([0, 1, 1])) ** 3).sum(), w, create_graph=True)
    return [*found, parts(g), [parts(x) for x in torch.autograd.grad(torch.sparse.sum(g), w)]]


@CASES.add
def functions_and_bags(torch: Any) -> Any:
    F, found = torch.nn.functional, []
    w = torch.arange(8.0).view(4, 2).requires_grad_()
    samples = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    at, starts = torch.tensor([0, 1, 1]), torch.tensor([0, 2])
    for call in (
        lambda: F.embedding(at, w, sparse=True), lambda: F.embedding(at.int(), w, 1, sparse=True),
        lambda: F.embedding(at, w, max_norm=1.0, sparse=True),
        lambda: F.embedding(at, w, sparse=True, scale_grad_by_freq=True),
        lambda: F.embedding_bag(at, w, starts, mode="sum", sparse=True),
        lambda: F.embedding_bag(at, w, starts, mode="mean", sparse=True),
        lambda: F.embedding_bag(at, w, starts, mode="max", sparse=True),
        lambda: F.embedding_bag(at, w, starts, mode="mean", sparse=True, padding_idx=1),
        lambda: F.embedding_bag(at.view(1, 3), w, mode="sum", sparse=True),
        lambda: F.embedding_bag(
            at, w, starts, mode="sum", sparse=True, per_sample_weights=samples
        ),
        lambda: torch.embedding(w, at, -1, False, True),
    ):  # fmt: skip
        w.grad = samples.grad = None
        raised = error(lambda call=call: (call() ** 2).sum().backward())
        found.append([raised, parts(w.grad), samples.grad])
    bag = torch.nn.EmbeddingBag.from_pretrained(w.detach(), freeze=False, mode="sum", sparse=True)
    bag(torch.tensor([0, 1, 1, 3]), torch.tensor([0, 3])).sum().backward()
    return [*found, parts(bag.weight.grad), repr(bag)]


@CASES.add
def hooks(torch: Any) -> Any:
    seen: list[Any] = []
    w = torch.arange(8.0).view(4, 2).requires_grad_()
    scaled = w * 1
    scaled.retain_grad()
    scaled.register_hook(lambda g: seen.append(repr(g.layout)))
    w.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.is_sparse))
    torch.nn.functional.embedding(torch.tensor([0, 1, 1]), scaled, sparse=True).sum().backward()
    return [seen, parts(scaled.grad), parts(w.grad)]


def trained(torch: Any, make: Any, sparse: bool = True) -> Any:
    """Three steps: the table, the optimizer's state, or the error."""
    layer = torch.nn.Embedding(5, 2, sparse=sparse)
    with torch.no_grad():
        layer.weight.copy_(torch.arange(10.0).view(5, 2) / 7)
    optimizer = make(layer.parameters())

    def steps() -> None:
        for k in range(3):
            optimizer.zero_grad()
            (layer(torch.tensor([[1, k, 1], [3, 4, k]])) ** 2).sum().backward()
            optimizer.step()

    raised = error(steps)
    state = optimizer.state.get(layer.weight, {})
    return [raised, layer.weight.detach(), [[k, state_part(v)] for k, v in state.items()]]


def state_part(value: Any) -> Any:
    return parts(value)[:4] if getattr(value, "is_sparse", False) else value


@CASES.add
def optimizers(torch: Any) -> Any:
    optim = torch.optim
    return [
        trained(torch, make)
        for make in (
            lambda p: optim.SGD(p, lr=0.1), lambda p: optim.SGD(p, lr=0.1, momentum=0.9),
            lambda p: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
            lambda p: optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.5),
            lambda p: optim.SGD(p, lr=0.1, maximize=True),
            lambda p: optim.SGD(p, lr=0.1, weight_decay=0.1),
            lambda p: optim.Adagrad(p, lr=0.1), lambda p: optim.Adagrad(p, lr=0.1, lr_decay=0.1),
            lambda p: optim.Adagrad(p, lr=0.1, maximize=True, initial_accumulator_value=0.5),
            lambda p: optim.Adagrad(p, lr=0.1, weight_decay=0.1),
            lambda p: optim.SparseAdam(p, lr=0.1),
            lambda p: optim.SparseAdam(p, lr=0.1, betas=(0.5, 0.6), eps=1e-3, maximize=True),
            lambda p: optim.SparseAdam(p, lr=torch.tensor(0.1)),
        )
    ]  # fmt: skip


@CASES.add
def optimizers_that_refuse(torch: Any) -> Any:
    names = "Adam AdamW Adadelta Adamax NAdam RAdam RMSprop Rprop ASGD Adafactor Muon".split()
    found = [trained(torch, lambda p, n=name: getattr(torch.optim, n)(p))[0] for name in names]
    return [*found, trained(torch, torch.optim.SparseAdam, sparse=False)[0]]


@CASES.add
def sparse_adam(torch: Any) -> Any:
    make = torch.optim.SparseAdam
    new = lambda: torch.nn.Parameter(torch.ones(2, 2))
    bad = [
        {"lr": -1}, {"lr": 0}, {"eps": -1}, {"eps": 0}, {"betas": (1, 0.9)}, {"betas": (0.9, -1)},
        {"lr": torch.tensor([1.0, 2.0])},
    ]  # fmt: skip
    sparse = torch.nn.Parameter(torch.ones(2, 2).to_sparse())
    optimizer = make([new()])
    return [
        repr(optimizer), list(optimizer.defaults.items()), optimizer.step(lambda: 3.0),
        [error(lambda kw=kw: make([new()], **kw)) for kw in bad],
        error(lambda: make([sparse])), error(lambda: make([{"params": [new(), sparse]}])),
        error(lambda: make([torch.nn.Parameter(torch.ones(2, dtype=torch.complex64))])),
    ]  # fmt: skip


@CASES.add
def resuming_sparse_adam(torch: Any) -> Any:
    layer = table(torch)
    first = torch.optim.SparseAdam(layer.parameters(), lr=0.1)
    layer(torch.tensor([1, 2])).sum().backward()
    first.step()
    second = torch.optim.SparseAdam(layer.parameters(), lr=0.1)
    second.load_state_dict(first.state_dict())
    second.step()
    return [layer.weight.detach(), second.state_dict()["state"][0]["step"]]


@CASES.add
def a_graph_network(torch: Any) -> Any:
    torch.manual_seed(0)
    edges = torch.tensor([[0, 0, 1, 2, 3, 3, 4], [1, 2, 0, 3, 3, 4, 0]])
    adjacency = torch.sparse_coo_tensor(edges, torch.full((7,), 0.5), (5, 5)).coalesce()
    features, target = torch.randn(5, 3), torch.tensor([0, 1, 1, 0, 1])
    first, second = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.3)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        hidden = torch.relu(torch.spmm(adjacency, first(features)))
        loss = torch.nn.functional.cross_entropy(torch.sparse.mm(adjacency, second(hidden)), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return [losses, first.weight.detach()]


@CASES.add
def checkpoints(torch: Any) -> Any:
    s, found = ordered(torch), []
    content = {"s": s, "c": s.coalesce(), "p": torch.nn.Parameter(s.double().coalesce())}
    for options in ({}, {"weights_only": False}):
        file = io.BytesIO()
        torch.save(content, file)
        file.seek(0)
        loaded = torch.load(file, **options)
        found += [[k, type(v).__name__, v.requires_grad, parts(v)] for k, v in loaded.items()]
    return found


@CASES.add
def text_of_errors(torch: Any) -> Any:
    layer = table(torch)
    layer(torch.tensor([0, 2])).sum().backward()
    g = layer.weight.grad
    return [outcome(call) for call in (lambda: g.numpy(), lambda: g + 1, lambda: g.view(-1))]


test_scenario = CASES.test()


@needs_torch
def test_a_file_of_pytorch_reads_as_sparse(tmp_path):
    import torch

    for writer, reader in ((torch, torchlike), (torchlike, torch)):
        writer.save(ordered(writer).coalesce(), tmp_path / "s.pt")
        found = reader.load(tmp_path / "s.pt")
        assert found.to_dense().tolist() == [[0.0, 0.0, 3.0], [4.0, 0.0, 5.0]]
        assert found.is_coalesced()
