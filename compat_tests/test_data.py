"""Datasets, samplers and DataLoader against PyTorch: batches, order, random streams, errors."""

from __future__ import annotations

import collections
import warnings
from typing import Any

import numpy as np
import pytest

from compat_tests.scenarios import Cases, error

CASES = Cases("data")
Pair = collections.namedtuple("Pair", "a b")


def dataset(torch: Any, n: int = 10) -> Any:
    x = torch.arange(n)
    return torch.utils.data.TensorDataset(x, torch.arange(2.0 * n).reshape(n, 2))


def stream(torch: Any, with_length: bool = False) -> Any:
    members: dict[str, Any] = {"__iter__": lambda self: iter(range(5))}
    if with_length:
        members["__len__"] = lambda self: 3
    return type("Stream", (torch.utils.data.IterableDataset,), members)()


def own(torch: Any) -> Any:
    class Own(torch.utils.data.Dataset):
        def __len__(self) -> int:
            return 7

        def __getitem__(self, i: int) -> Any:
            return {"x": torch.full((2,), float(i)), "name": f"n{i}", "y": i / 2}

    return Own()


def epoch(loader: Any) -> list[Any]:
    return [batch[0].tolist() for batch in loader]


# --- datasets -------------------------------------------------------------------------------------


@CASES.add
def datasets(torch: Any) -> Any:
    data = torch.utils.data
    ds = dataset(torch)
    subset = data.Subset(ds, [1, 3, 8])
    both = data.ConcatDataset([ds, subset])
    stacked = data.StackDataset(a=ds, b=ds)
    return [
        [ds[0], ds[2:4], len(ds), subset[1], len(subset), subset[[0, 2]]],
        [both[11], both[-1], len(both), both.cumulative_sizes, len(ds + subset)],
        [subset.__getitems__([2, 0]), stacked[1], len(stacked)],
        list(stream(torch) + stream(torch)),
        error(lambda: data.TensorDataset(torch.zeros(2), torch.zeros(3))),
        error(lambda: both[-99]),
        error(lambda: data.ConcatDataset([])),
        error(lambda: data.ConcatDataset([stream(torch)])),
        error(lambda: data.Dataset()[0]),
        error(lambda: len(stream(torch))),
    ]


@CASES.add
def splitting(torch: Any) -> Any:
    split, ds = torch.utils.data.random_split, dataset(torch)
    torch.manual_seed(0)
    own_generator = torch.Generator().manual_seed(3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tiny = [len(part) for part in split(ds, [0.98, 0.02])]
        texts = [str(w.message) for w in caught]
    return [
        [part.indices for part in split(ds, [3, 7])],
        [part.indices for part in split(ds, [0.3, 0.3, 0.4], generator=own_generator)],
        [len(part) for part in split(dataset(torch, 11), [1 / 3, 1 / 3, 1 / 3])],
        [tiny, texts, torch.rand(1).item()],
        error(lambda: split(ds, [3, 3])),
        error(lambda: split(ds, [0.3, 0.3])),
        error(lambda: split(ds, [1.5, -0.5])),
    ]


# --- samplers -------------------------------------------------------------------------------------


@CASES.add
def samplers(torch: Any) -> Any:
    data, found = torch.utils.data, []
    ds, seeded = dataset(torch), lambda: torch.Generator().manual_seed(5)
    for make in (
        lambda: data.SequentialSampler(ds),
        lambda: data.RandomSampler(ds),
        lambda: data.RandomSampler(ds, replacement=True),
        lambda: data.RandomSampler(ds, replacement=True, num_samples=40),
        lambda: data.RandomSampler(ds, replacement=True, num_samples=64),
        lambda: data.RandomSampler(ds, num_samples=25),
        lambda: data.RandomSampler(ds, num_samples=3),
        lambda: data.RandomSampler(ds, generator=seeded()),
        lambda: data.SubsetRandomSampler([3, 5, 7, 1]),
        lambda: data.SubsetRandomSampler([3, 5, 7, 1], generator=seeded()),
        lambda: data.WeightedRandomSampler([0.1, 0.9, 0.5], 8),
        lambda: data.WeightedRandomSampler([0.1, 0.9, 0.5], 2, replacement=False),
        lambda: data.BatchSampler(data.RandomSampler(ds), 3, True),
        lambda: data.BatchSampler(range(5), 2, False),
    ):
        torch.manual_seed(1)
        sampler = make()
        found.append([list(sampler), list(sampler), len(sampler), torch.rand(1).item()])
    return found


@CASES.add
def sampler_errors(torch: Any) -> Any:
    data, ds = torch.utils.data, dataset(torch)
    return [
        error(lambda: data.RandomSampler(ds, replacement=3)),
        error(lambda: data.RandomSampler(ds, num_samples=0)),
        error(lambda: data.RandomSampler(ds, num_samples=1.5)),
        error(lambda: data.RandomSampler([])),
        error(lambda: data.WeightedRandomSampler([1], 0)),
        error(lambda: data.WeightedRandomSampler([[1]], 1)),
        error(lambda: data.WeightedRandomSampler([1], 1, replacement=3)),
        error(lambda: data.BatchSampler([1, 2], 0, False)),
        error(lambda: data.BatchSampler([1, 2], True, False)),
        error(lambda: data.BatchSampler([1, 2], 2, 3)),
    ]


@CASES.add
def distributed_samplers(torch: Any) -> Any:
    D, ds, found = torch.utils.data.distributed.DistributedSampler, dataset(torch), []
    torch.manual_seed(1)
    for replicas, rank in ((1, 0), (3, 0), (3, 2), (4, 3), (16, 1), (30, 29)):
        for options in ({}, {"shuffle": False}, {"seed": 7}, {"drop_last": True}):
            sampler = D(ds, replicas, rank, **options)
            first = list(sampler)
            sampler.set_epoch(2)
            found.append([first, list(sampler), len(sampler), sampler.total_size])
    loader = torch.utils.data.DataLoader(ds, 2, sampler=D(ds, num_replicas=2, rank=1))
    return [
        found,
        epoch(loader),
        torch.rand(1).item(),
        [error(lambda r=r: D(ds, 3, r)) for r in (3, -1)],
        error(lambda: D(ds)),
        error(lambda: D(ds, num_replicas=2)),
        torch.utils.data.DistributedSampler is D,
    ]


# --- collating ------------------------------------------------------------------------------------


@CASES.add
def collating(torch: Any) -> Any:
    collate, convert = torch.utils.data.default_collate, torch.utils.data.default_convert
    batches: list[Any] = [
        [1, 2],
        [1.0, 2.0],
        [1, 2.5],
        [True, False],
        ["a", "b"],
        [b"a", b"b"],
        [np.float32(1), np.float32(2)],
        [np.bool_(True)],
        [np.int64(1), np.int64(2)],
        [np.array(1.5), np.array(2.5)],
        [np.ones(2), np.zeros(2)],
        [torch.ones(2), torch.zeros(2)],
        [torch.tensor(1), torch.tensor(2)],
        [(1, 2.0), (3, 4.0)],
        [[1, 2], [3, 4]],
        [range(2), range(2)],
        [{"a": 1, "b": [1.0]}, {"a": 2, "b": [2.0]}],
        [collections.OrderedDict(a=1), collections.OrderedDict(a=2)],
        [Pair(1, 2.0), Pair(3, 4.0)],
    ]
    kinds = [type(collate(b)).__name__ for b in batches]
    mixed = convert([1, np.ones(2), "a", (np.ones(1), 2.0), {"a": np.ones(1)}])
    return kinds, [collate(b) for b in batches], mixed


@CASES.add
def collating_errors(torch: Any) -> Any:
    collate = torch.utils.data.default_collate
    batches: list[Any] = [
        [None, None],
        [[1], [1, 2]],
        [{"a": 1}, {"b": 2}],
        [],
        [torch.ones(2), torch.ones(3)],
        [np.array("a"), np.array("b")],
        [{1}, {2}],
        [1j, 2j],
        [object()],
    ]
    return [error(lambda b=b: collate(b)) for b in batches]


# --- DataLoader -----------------------------------------------------------------------------------


@CASES.add
def loading(torch: Any) -> Any:
    D, ds = torch.utils.data.DataLoader, dataset(torch)
    data = torch.utils.data

    class Many(data.Dataset):
        def __len__(self) -> int:
            return 4

        def __getitem__(self, i: int) -> int:
            return i

        def __getitems__(self, indices: list[int]) -> list[int]:
            return [i * 10 for i in indices]

    return [
        list(D(ds, 4)),
        list(D(ds, 4, drop_last=True)),
        list(D(ds, batch_size=None))[:2],
        list(D(ds, batch_sampler=[[1, 2], [-1]])),
        list(D(ds, sampler=[5, 3], batch_size=2)),
        list(D(ds, sampler=[[1, 2], [3]], batch_size=None)),
        list(D(data.Subset(data.Subset(ds, [9, 2, 4, 6]), [3, 0, 1]), 2)),
        list(D(own(torch), 3)),
        list(D(Many(), 3)),
        list(D(data.Subset(Many(), [3, 2, 1]), 2)),
        list(D(range(5), 3)),
        list(D(["a", "b"], 2)),
        list(D(ds, 3, collate_fn=len)),
        [len(D(ds, 3)), len(D(ds, 3, drop_last=True)), len(D(ds, batch_size=None))],
        [len(D(ds, batch_sampler=[[1], [2]])), len(iter(D(ds, 4)))],
    ]


@CASES.add
def batches_are_new_memory(torch: Any) -> Any:
    D = torch.utils.data.DataLoader
    x = torch.arange(6.0).reshape(2, 3).t()
    batch = next(iter(D(torch.utils.data.TensorDataset(x), 2)))[0]
    batch.zero_()
    leaf = torch.ones(3, requires_grad=True)
    recorded = next(iter(D(torch.utils.data.TensorDataset(leaf), 2)))[0]
    return x, batch.is_contiguous(), type(recorded.grad_fn).__name__


@CASES.add
def streams(torch: Any) -> Any:
    D = torch.utils.data.DataLoader
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        loader = D(stream(torch, True), batch_size=1)
        length = len(loader)
        batches = list(loader)
        texts = [str(w.message).split("object")[1][-80:] for w in caught]
    return [
        list(D(stream(torch), batch_size=2)),
        list(D(stream(torch), batch_size=2, drop_last=True)),
        list(D(stream(torch), batch_size=None)),
        [len(D(stream(torch, True), batch_size=2)), length, batches, texts],
        error(lambda: len(D(stream(torch)))),
    ]


@CASES.add
def shuffling(torch: Any) -> Any:
    """The order, and what is left of the random streams, is PyTorch's."""
    D, ds, found = torch.utils.data.DataLoader, dataset(torch), []
    generator = torch.Generator().manual_seed(3)
    for make in (
        lambda: epoch(D(ds, 4)),
        lambda: epoch(D(ds, 4, shuffle=True)),
        lambda: epoch(D(ds, 4, shuffle=True, generator=generator)),
        lambda: epoch(D(ds, 4, generator=generator)),
        lambda: [epoch(loader) for loader in [D(ds, 4, shuffle=True)] * 2],
        lambda: list(D(stream(torch))),
        lambda: iter(D(ds, 4, shuffle=True)) is None,
        lambda: D(ds, 4, shuffle=True) is None,
        lambda: epoch(D(ds, 4, sampler=torch.utils.data.RandomSampler(ds, True, 6))),
        lambda: [b["y"].tolist() for b in D(own(torch), 3, shuffle=True)],
    ):
        torch.manual_seed(1)
        found.append([make(), torch.rand(1).item(), torch.rand(1, generator=generator).item()])
    return found


@CASES.add
def loader_errors(torch: Any) -> Any:
    D, ds, flow = torch.utils.data.DataLoader, dataset(torch), stream(torch)
    loader = D(ds, 3)
    calls = [
        lambda: D(ds, num_workers=-1),
        lambda: D(ds, timeout=-1),
        lambda: D(ds, prefetch_factor=2),
        lambda: D(ds, persistent_workers=True),
        lambda: D(ds, num_workers=1, prefetch_factor=-1),
        lambda: D(flow, shuffle=True),
        lambda: D(flow, sampler=[1]),
        lambda: D(flow, batch_sampler=[1]),
        lambda: D(ds, sampler=[1], shuffle=True),
        lambda: D(ds, batch_sampler=[[1]], batch_size=2),
        lambda: D(ds, batch_size=None, drop_last=True),
        lambda: D(ds, batch_size=0),
        lambda: D(ds, 2, drop_last=2),
        lambda: D([], shuffle=True),
        lambda: D(ds, multiprocessing_context="fork"),
        lambda: D(ds, num_workers=2, multiprocessing_context="nothing"),
        lambda: D(ds, num_workers=2, multiprocessing_context=3),
        lambda: list(D(ds, sampler=[99])),
        lambda: list(D(ds, sampler=["a"])),
        *[lambda n=n: setattr(loader, n, 3) for n in ("batch_size", "dataset", "drop_last")],
    ]
    loader.num_workers = 0
    return [error(call) for call in calls]


test_scenario = CASES.test()


# --- what is this library's own -------------------------------------------------------------------


def test_workers_are_refused_by_one_warning_and_change_nothing() -> None:
    import torchlike as torch

    D, ds = torch.utils.data.DataLoader, dataset(torch)
    with pytest.warns(UserWarning, match="num_workers=2.*calling process") as caught:
        loader = D(ds, 4, shuffle=True, num_workers=2, worker_init_fn=lambda i: 1 / 0)
        torch.manual_seed(1)
        first = epoch(loader)
        second = epoch(loader)
    assert len(caught) == 1
    torch.manual_seed(1)
    alone = D(ds, 4, shuffle=True)
    assert [first, second] == [epoch(alone), epoch(alone)]
    assert torch.utils.data.get_worker_info() is None


def test_persistent_workers_draw_one_base_seed() -> None:
    import torchlike as torch

    ds = dataset(torch)
    with pytest.warns(UserWarning, match="calling process"):
        loader = torch.utils.data.DataLoader(ds, 4, num_workers=1, persistent_workers=True)
    torch.manual_seed(1)
    epoch(loader)
    after_one = torch.get_rng_state().tolist() if hasattr(torch, "get_rng_state") else None
    assert epoch(loader) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    if after_one is not None:
        assert torch.get_rng_state().tolist() == after_one
