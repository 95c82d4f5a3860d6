"""Samplers, and DataLoader, which makes batches of a dataset."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as onp

import torchlike as torch

from ...array import NDArray, call, core_tensor, default_kind, wrap
from .datasets import ArrayDataset

LAST_BATCH = ("keep", "discard", "rollover")


class SequentialSampler:
    """The numbers from ``start``, as many as ``length``, in order."""

    def __init__(self, length: int, start: int = 0) -> None:
        self._range = range(start, start + length)

    def __iter__(self) -> Iterator[int]:
        return iter(self._range)

    def __len__(self) -> int:
        return len(self._range)


class RandomSampler:
    """The numbers before ``length`` in an order that is random each time."""

    def __init__(self, length: int) -> None:
        self._length = length

    def __iter__(self) -> Iterator[int]:
        return iter(torch.randperm(self._length).tolist())

    def __len__(self) -> int:
        return self._length


class BatchSampler:
    """Lists of ``batch_size`` numbers from a sampler.

    A smaller last one is kept (``keep``), left out (``discard``) or begins the next round
    (``rollover``).
    """

    def __init__(self, sampler: Any, batch_size: int, last_batch: str = "keep") -> None:
        if batch_size < 1:
            raise ValueError(f"batch_size must be positive, and is {batch_size}")
        if last_batch not in LAST_BATCH:
            raise ValueError(f"last_batch must be one of {', '.join(LAST_BATCH)}: {last_batch!r}")
        self._sampler, self._batch_size, self._last = sampler, batch_size, last_batch
        self._over: list[int] = []

    def __iter__(self) -> Iterator[list[int]]:
        batch, self._over = self._over, []
        for i in self._sampler:
            batch.append(i)
            if len(batch) == self._batch_size:
                yield batch
                batch = []
        if batch and self._last == "keep":
            yield batch
        elif self._last == "rollover":
            self._over = batch

    def __len__(self) -> int:
        count = len(self._sampler) + len(self._over)
        return (count + self._batch_size - 1 if self._last == "keep" else count) // self._batch_size


def default_batchify_fn(data: list[Any]) -> Any:
    """A batch of items: arrays stacked, numbers in an array, tuples element by element."""
    if isinstance(data[0], NDArray):
        return call(lambda *x: torch.stack(x), *data)
    if isinstance(data[0], (tuple, list)):
        return [default_batchify_fn(list(column)) for column in zip(*data)]
    host = onp.asarray(data)
    return wrap(core_tensor(host, host.dtype), default_kind())


class DataLoader:
    """Batches of a dataset, by ``batch_size``, ``shuffle`` and ``last_batch`` or a sampler.

    ``batchify_fn`` makes a batch of a list of items. Workers and memory pinning are accepted;
    everything is loaded where the loop runs.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = None,
        shuffle: bool = False,
        sampler: Any = None,
        last_batch: str | None = None,
        batch_sampler: Iterable[list[int]] | None = None,
        batchify_fn: Any = None,
        num_workers: int = 0,
        **ignored: Any,
    ) -> None:
        self._dataset, self._batchify = dataset, batchify_fn
        if batch_sampler is not None:
            if batch_size is not None or shuffle or sampler is not None or last_batch is not None:
                raise ValueError(
                    "batch_size, shuffle, sampler and last_batch do not go with a batch_sampler"
                )
            self._batches: Any = batch_sampler
            return
        if batch_size is None:
            raise ValueError("batch_size or batch_sampler is wanted")
        if sampler is not None and shuffle:
            raise ValueError("shuffle does not go with a sampler")
        order = (RandomSampler if shuffle else SequentialSampler)(len(dataset))
        self._batches = BatchSampler(sampler or order, batch_size, last_batch or "keep")

    def __len__(self) -> int:
        return len(self._batches)

    def __iter__(self) -> Iterator[Any]:
        whole = type(self._dataset) is ArrayDataset and self._batchify is None
        arrays = self._dataset.arrays if whole else ()
        if whole and all(isinstance(a, (NDArray, onp.ndarray)) for a in arrays):
            return (_rows(arrays, batch) for batch in self._batches)
        make = self._batchify or default_batchify_fn
        return (make([self._dataset[i] for i in batch]) for batch in self._batches)


def _rows(arrays: Any, batch: list[int]) -> Any:
    """The same batch as from the items one by one, taken from whole arrays at once."""
    index = onp.asarray(batch)
    columns = []
    for a in arrays:
        flat = isinstance(a, NDArray) and a.ndim == 1
        kind = type(a) if isinstance(a, NDArray) and not flat else default_kind()
        if isinstance(a, NDArray):
            columns.append(wrap(a._tensor.detach()[torch.from_numpy(index)], kind))
        else:
            columns.append(wrap(core_tensor(a[index], a.dtype), kind))
    return columns if len(columns) > 1 else columns[0]
