"""DataLoader: batches of a dataset's samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Generic, TypeVar

import numpy as np
from numpy import ndarray

from functional import devices
from functional.blame import warn
from functional.modes import PLAIN
from functional.tensor import wrap

from ._utils.collate import default_collate, default_convert
from ._utils.worker import get_worker_info
from .dataset import IterableDataset, Subset, TensorDataset
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, draw_seed

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

T_co = TypeVar("T_co", covariant=True)
_FIXED = frozenset(
    ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")
)
_START_METHODS = ["fork", "spawn", "forkserver"]


class _DatasetKind:
    Map = 0
    Iterable = 1


class _InfiniteConstantSampler(Sampler[None]):
    """For streams: every index is None."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


def _check_workers(
    num_workers: int, timeout: float, prefetch_factor: int | None, persistent: bool
) -> None:
    if num_workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to disable "
            "multiprocessing."
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing.let num_workers > "
            "0 to enable multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _check_stream(shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
    for name, value, given in (
        ("shuffle", shuffle, shuffle not in (False, None)),
        ("sampler", sampler, sampler is not None),
        ("batch_sampler", batch_sampler, batch_sampler is not None),
    ):
        if given:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, but got "
                f"{name}={value}"
            )


class DataLoader(Generic[T_co]):
    """Iterates over a dataset's samples in batches.

    ``shuffle``, ``sampler`` or ``batch_sampler`` say in which order; ``collate_fn`` makes a
    batch of a list of samples; ``batch_size=None`` gives single samples. Everything is loaded
    in the calling process, so ``num_workers`` and what belongs to it change nothing but a
    warning (``worker_init_fn`` is never called). Raises ValueError for options that exclude
    each other.
    """

    dataset: Any
    batch_size: int | None
    num_workers: int
    sampler: Any
    __initialized = False

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset, self.num_workers = dataset, num_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.pin_memory, self.pin_memory_device = pin_memory, pin_memory_device
        self.timeout, self.worker_init_fn = timeout, worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        if isinstance(dataset, IterableDataset):
            self._dataset_kind = _DatasetKind.Iterable
            _check_stream(shuffle, sampler, batch_sampler)
        else:
            self._dataset_kind = _DatasetKind.Map
        _check_batching(batch_size, bool(shuffle), sampler, batch_sampler, drop_last)
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        if sampler is None:
            sampler = self._default_sampler(bool(shuffle), generator)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size, self.drop_last = batch_size, drop_last
        self.sampler, self.batch_sampler, self.generator = sampler, batch_sampler, generator
        if collate_fn is None:
            collate_fn = default_collate if self._auto_collation else default_convert
        self.collate_fn, self.persistent_workers = collate_fn, persistent_workers
        self.__initialized = True
        self._IterableDataset_len_called: int | None = None
        self._iterator: Any = None
        if num_workers:
            self._warn_of_workers()

    def _default_sampler(self, shuffle: bool, generator: Any) -> Any:
        if self._dataset_kind == _DatasetKind.Iterable:
            return _InfiniteConstantSampler()
        if shuffle:
            return RandomSampler(self.dataset, generator=generator)
        return SequentialSampler(self.dataset)

    def _warn_of_workers(self) -> None:
        warn(
            f"DataLoader(num_workers={self.num_workers}): torchlike has no worker processes; "
            "samples are loaded in the calling process.",
        )

    @property
    def multiprocessing_context(self) -> Any:
        """What was given; no processes are started."""
        return self.__multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, value: Any) -> None:
        if value is not None:
            _check_context(value, self.num_workers)
        self.__multiprocessing_context = value

    def __setattr__(self, name: str, value: Any) -> None:
        if self.__initialized and name in _FIXED:
            raise ValueError(
                f"{name} attribute should not be set after {type(self).__name__} is initialized"
            )
        super().__setattr__(name, value)

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        return self.batch_sampler if self._auto_collation else self.sampler

    def _get_iterator(self) -> _SingleProcessDataLoaderIter:
        return _SingleProcessDataLoaderIter(self)

    def __iter__(self) -> Any:
        if self.persistent_workers and self.num_workers > 0:
            if self._iterator is None:
                self._iterator = self._get_iterator()
            else:
                self._iterator._reset(self)
            return self._iterator
        return self._get_iterator()

    def __len__(self) -> int:
        """The number of batches (of samples where nothing is batched)."""
        if self._dataset_kind != _DatasetKind.Iterable:
            return len(self._index_sampler)
        length = self._IterableDataset_len_called = len(self.dataset)
        if self.batch_size is None:
            return length
        count = length / self.batch_size
        return math.floor(count) if self.drop_last else math.ceil(count)


def _check_context(value: Any, num_workers: int) -> None:
    if num_workers == 0:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading (num_workers > "
            f"0), but got num_workers={num_workers}"
        )
    if isinstance(value, str):
        if value not in _START_METHODS:
            raise ValueError(
                "multiprocessing_context option should specify a valid start method in "
                f"{_START_METHODS!r}, but got multiprocessing_context={value!r}"
            )
    elif not hasattr(value, "get_start_method"):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string "
            f"specifying the start method, but got multiprocessing_context={value}"
        )


def _check_batching(
    batch_size: Any, shuffle: bool, sampler: Any, batch_sampler: Any, drop_last: Any
) -> None:
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None:
        if batch_size != 1 or shuffle or sampler is not None or drop_last:
            raise ValueError(
                "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, "
                "and drop_last"
            )
    elif batch_size is None and drop_last:
        raise ValueError(
            "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
        )


# --- iterating ------------------------------------------------------------------------------------


class _SingleProcessDataLoaderIter:
    """One pass over a DataLoader."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        self._loader = loader
        self._fetch = _fetcher(loader)
        self._base_seed = draw_seed(loader.generator)  # drawn, though there are no workers to seed
        if loader.pin_memory and not devices.count("cuda"):
            warn(
                "'pin_memory' argument is set as true but no accelerator is found, then device "
                "pinned memory won't be used.",
            )
        self._reset(loader)

    def _reset(self, loader: DataLoader[Any]) -> None:
        self._sampler_iter = iter(loader._index_sampler)
        self._num_yielded = 0
        if loader._dataset_kind == _DatasetKind.Iterable:
            self._fetch = _fetcher(loader)

    def __iter__(self) -> _SingleProcessDataLoaderIter:
        return self

    def __next__(self) -> Any:
        data = self._fetch(next(self._sampler_iter))
        self._num_yielded += 1
        length = self._loader._IterableDataset_len_called
        if length is not None and self._num_yielded > length:
            warn(
                f"Length of IterableDataset {self._loader.dataset} was reported to be {length}"
                f"(when accessing len(dataloader)), but {self._num_yielded} samples have been "
                "fetched. ",
            )
        return data

    def __len__(self) -> int:
        return len(self._loader._index_sampler)


def _fetcher(loader: DataLoader[Any]) -> Callable[[Any], Any]:
    """The function from what the sampler gives to what the loader gives."""
    dataset, collate = loader.dataset, loader.collate_fn
    if loader._dataset_kind == _DatasetKind.Iterable:
        return _stream_fetcher(loader)
    if not loader._auto_collation:
        return lambda index: collate(dataset[index])

    def fetch(indices: Any) -> Any:
        if getattr(dataset, "__getitems__", None):
            return collate(dataset.__getitems__(indices))
        return collate([dataset[i] for i in indices])

    if collate is default_collate:
        arrays = _arrays(dataset)
        if arrays:
            return lambda indices: _take(dataset, arrays, indices) or fetch(indices)
    return fetch


def _stream_fetcher(loader: DataLoader[Any]) -> Callable[[Any], Any]:
    stream, collate = iter(loader.dataset), loader.collate_fn
    if not loader._auto_collation:
        return lambda index: collate(next(stream))

    def fetch(indices: list[None]) -> Any:
        samples = list(islice(stream, len(indices)))
        if not samples or (loader.drop_last and len(samples) < len(indices)):
            raise StopIteration
        return collate(samples)

    return fetch


def _arrays(dataset: Any) -> list[ndarray]:
    """The arrays of a TensorDataset (or of subsets of one) whose batches are plain indexing."""
    while type(dataset) is Subset:
        dataset = dataset.dataset
    if type(dataset) is not TensorDataset:
        return []
    tensors = dataset.tensors
    for t in tensors:
        if type(t) not in PLAIN or type(t._data) is not ndarray or t.requires_grad:
            return []
        if t._place is not None and t._place.inference:
            return []
    return [t._data for t in tensors]


def _take(dataset: Any, arrays: list[ndarray], indices: Any) -> Any:
    """The batch that collating single samples would give, or None where it may differ."""
    try:
        while type(dataset) is Subset:
            chosen = dataset.indices
            indices = [chosen[i] for i in indices]
            dataset = dataset.dataset
        index = np.asarray(indices)
        if index.ndim != 1 or index.dtype.kind != "i":
            return None
        return [wrap(np.take(x, index, 0)) for x in arrays]
    except (IndexError, TypeError, ValueError):
        return None  # sample by sample, for the error that belongs to it
