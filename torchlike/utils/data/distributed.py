"""The sampler of one of several processes that share a dataset."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from functional.ops.random_integers import randperm
from functional.random import Generator

from .sampler import Sampler

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler[int]):
    """Every ``num_replicas``-th index from ``rank`` on, of an order all processes agree on.

    The order is shuffled by ``seed`` and the number given to ``set_epoch``. Indices are repeated
    so that all processes have equally many, or with ``drop_last`` left out. Both numbers must be
    given, as there are no process groups to ask; ValueError for a rank out of range.
    """

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None or rank is None:
            raise ValueError(
                "Default process group has not been initialized, please make sure to call "
                "init_process_group."
            )
        if rank >= num_replicas or rank < 0:
            raise ValueError(
                f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]"
            )
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.epoch, self.drop_last = 0, drop_last
        n = len(dataset)
        self.num_samples = n // num_replicas if drop_last else -(-n // num_replicas)
        self.total_size = self.num_samples * num_replicas
        self.shuffle, self.seed = shuffle, seed

    def _order(self) -> list[int]:
        n = len(self.dataset)
        if not self.shuffle:
            return list(range(n))
        generator = Generator()
        generator.manual_seed(self.seed + self.epoch)
        return randperm(n, generator=generator).tolist()

    def __iter__(self) -> Iterator[int]:
        order = self._order()
        if order and not self.drop_last:
            order *= -(-self.total_size // len(order))
        return iter(order[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Shuffle in another order from the next pass on."""
        self.epoch = epoch
