"""Datasets: anything with a length and items by number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...array import NDArray


class Dataset:
    """Base class; subclasses define ``__getitem__`` and ``__len__``."""

    def __getitem__(self, idx: int) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no items")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} has no length")

    def transform(self, fn: Callable[..., Any], lazy: bool = True) -> Dataset:
        """The items put through a function, each time one is asked for or (not lazy) now."""
        changed = _Transformed(self, fn)
        return changed if lazy else SimpleDataset([changed[i] for i in range(len(changed))])

    def transform_first(self, fn: Callable[..., Any], lazy: bool = True) -> Dataset:
        """The same for the first element of each item only."""
        return self.transform(_First(fn), lazy)

    def take(self, count: int | None) -> Dataset:
        """The first items; all for None."""
        return _Chosen(self, range(len(self) if count is None else min(count, len(self))))

    def filter(self, fn: Callable[[Any], bool]) -> Dataset:
        """The items for which a function is true."""
        return _Chosen(self, [i for i in range(len(self)) if fn(self[i])])


class _First:
    def __init__(self, fn: Callable[..., Any]) -> None:
        self._fn = fn

    def __call__(self, first: Any, *rest: Any) -> Any:
        return (self._fn(first), *rest) if rest else self._fn(first)


class _Transformed(Dataset):
    def __init__(self, source: Dataset, fn: Callable[..., Any]) -> None:
        self._source, self._fn = source, fn

    def __len__(self) -> int:
        return len(self._source)

    def __getitem__(self, idx: int) -> Any:
        item = self._source[idx]
        return self._fn(*item) if isinstance(item, tuple) else self._fn(item)


class _Chosen(Dataset):
    def __init__(self, source: Dataset, indices: Any) -> None:
        self._source, self._indices = source, indices

    def __len__(self) -> int:
        return len(self._indices)

    def __getitem__(self, idx: int) -> Any:
        return self._source[self._indices[idx]]


class SimpleDataset(Dataset):
    """A list of items."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, idx: int) -> Any:
        return self._data[idx]


class ArrayDataset(Dataset):
    """Arrays or lists of one length: an item holds one element of each, bare if there is one.

    Elements of one-dimensional NDArrays are NumPy's numbers.
    """

    def __init__(self, *args: Any) -> None:
        if not args:
            raise ValueError("at least one array is wanted")
        lengths = [len(a) for a in args]
        if len(set(lengths)) > 1:
            raise ValueError(f"the arrays have different lengths: {lengths}")
        self._length, self.arrays = lengths[0], args
        flat = (isinstance(a, NDArray) and a.ndim == 1 for a in args)
        self._columns = [a.asnumpy() if f else a for a, f in zip(args, flat)]

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, idx: int) -> Any:
        item = tuple(column[idx] for column in self._columns)
        return item if len(item) > 1 else item[0]
