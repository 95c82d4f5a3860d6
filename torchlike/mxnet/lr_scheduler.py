"""Learning rates that depend on the number of updates done."""

from __future__ import annotations

import math
from collections.abc import Sequence


class LRScheduler:
    """Base class: a linear (or ``constant``) warm-up, then what ``after`` says.

    The warm-up goes from ``warmup_begin_lr`` to ``base_lr`` in ``warmup_steps`` updates.
    """

    def __init__(
        self,
        base_lr: float = 0.01,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        if warmup_mode not in ("linear", "constant"):
            raise ValueError(f"warmup_mode must be 'linear' or 'constant', not {warmup_mode!r}")
        if warmup_steps < 0:
            raise ValueError(f"warmup_steps must not be negative, and is {warmup_steps}")
        self.base_lr, self.warmup_steps = base_lr, warmup_steps
        self.warmup_begin_lr, self.warmup_mode = warmup_begin_lr, warmup_mode

    def __call__(self, num_update: int) -> float:
        """The learning rate of an update, counted from 1."""
        if num_update >= self.warmup_steps:
            return self.after(num_update)
        if self.warmup_mode == "constant":
            return self.warmup_begin_lr
        rise = self.base_lr - self.warmup_begin_lr
        return self.warmup_begin_lr + rise * num_update / self.warmup_steps

    def after(self, num_update: int) -> float:
        """The learning rate once the warm-up is over."""
        raise NotImplementedError(f"{type(self).__name__} has no schedule")


class FactorScheduler(LRScheduler):
    """Times ``factor`` after each ``step`` updates, but not below ``stop_factor_lr``."""

    def __init__(
        self,
        step: int,
        factor: float = 1,
        stop_factor_lr: float = 1e-8,
        base_lr: float = 0.01,
        **warmup: object,
    ) -> None:
        super().__init__(base_lr, **warmup)  # type: ignore[arg-type]
        if step < 1 or not 0 < factor <= 1:
            raise ValueError(f"step must be positive and factor in (0, 1], not {step}, {factor}")
        self.step, self.factor, self.stop_factor_lr = step, factor, stop_factor_lr

    def after(self, num_update: int) -> float:
        """The learning rate once the warm-up is over."""
        times = max(0, num_update - 1) // self.step
        return max(self.base_lr * self.factor**times, self.stop_factor_lr)


class MultiFactorScheduler(LRScheduler):
    """Times ``factor`` after each of the numbers of updates in ``step``."""

    def __init__(
        self, step: Sequence[int], factor: float = 1, base_lr: float = 0.01, **warmup: object
    ) -> None:
        super().__init__(base_lr, **warmup)  # type: ignore[arg-type]
        if list(step) != sorted(set(step)) or not step or step[0] < 1:
            raise ValueError(f"step must be growing positive numbers, not {step}")
        if factor > 1:
            raise ValueError(f"factor must not be above 1, and is {factor}")
        self.step, self.factor = list(step), factor

    def after(self, num_update: int) -> float:
        """The learning rate once the warm-up is over."""
        return self.base_lr * self.factor ** sum(num_update > s for s in self.step)


class _ToEnd(LRScheduler):
    """From ``base_lr`` to ``final_lr`` at update ``max_update``."""

    def __init__(
        self, max_update: int, base_lr: float = 0.01, final_lr: float = 0, **warmup: object
    ) -> None:
        super().__init__(base_lr, **warmup)  # type: ignore[arg-type]
        if max_update <= self.warmup_steps:
            raise ValueError(f"max_update must be above {self.warmup_steps}, and is {max_update}")
        self.max_update, self.final_lr = max_update, final_lr

    def after(self, num_update: int) -> float:
        """The learning rate once the warm-up is over."""
        length = self.max_update - self.warmup_steps
        done = min(1.0, (num_update - self.warmup_steps) / length)
        return self.final_lr + (self.base_lr - self.final_lr) * self.left(done)

    def left(self, done: float) -> float:
        """The share of the way to ``final_lr`` that is left, from the share of updates done."""
        raise NotImplementedError


class PolyScheduler(_ToEnd):
    """Falls as a power ``pwr`` of the share of updates that is left."""

    def __init__(
        self,
        max_update: int,
        base_lr: float = 0.01,
        pwr: float = 2,
        final_lr: float = 0,
        **warmup: object,
    ) -> None:
        super().__init__(max_update, base_lr, final_lr, **warmup)
        self.power = pwr

    def left(self, done: float) -> float:
        """The share of the way that is left."""
        return (1 - done) ** self.power


class CosineScheduler(_ToEnd):
    """Falls along half a cosine."""

    def left(self, done: float) -> float:
        """The share of the way that is left."""
        return (1 + math.cos(math.pi * done)) / 2
