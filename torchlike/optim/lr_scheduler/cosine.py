"""Rates that fall along a cosine, once or again and again."""

from __future__ import annotations

import math
from typing import Any

from ..optimizer import Optimizer
from .base import LRScheduler, inside_step

__all__ = ["CosineAnnealingLR", "CosineAnnealingWarmRestarts"]


class CosineAnnealingLR(LRScheduler):
    """From the initial rate to ``eta_min`` in ``T_max`` epochs, and back in as many.

    (Loshchilov and Hutter, 2017, without the restarts.)
    """

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The current rates, moved on by one epoch."""
        self._warn_outside_step()
        groups, least, at = self.optimizer.param_groups, self.eta_min, self.last_epoch
        if self._is_initial:
            return self._current()
        if self._step_count == 1 and at > 0:
            return self._closed(at * math.pi / self.T_max)
        if (at - 1 - self.T_max) % (2 * self.T_max) == 0:
            rise = 1 - math.cos(math.pi / self.T_max)
            pairs = zip(self.base_lrs, groups, strict=True)
            return [group["lr"] + (base - least) * rise / 2 for base, group in pairs]
        now = 1 + math.cos(math.pi * at / self.T_max)
        before = 1 + math.cos(math.pi * (at - 1) / self.T_max)
        return [now / before * (group["lr"] - least) + least for group in groups]

    def _closed(self, angle: float) -> list[Any]:
        height = 1 + math.cos(angle)
        return [self.eta_min + (base - self.eta_min) * height / 2 for base in self.base_lrs]

    def _get_closed_form_lr(self) -> list[Any]:
        return self._closed(math.pi * self.last_epoch / self.T_max)


class CosineAnnealingWarmRestarts(LRScheduler):
    """From the initial rate to ``eta_min``, and again from the start.

    The first descent takes ``T_0`` epochs, each next one ``T_mult`` times as many.
    (Loshchilov and Hutter, 2017.)
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(
                f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}"
            )
        self.T_0, self.T_i, self.T_mult, self.eta_min = T_0, T_0, T_mult, eta_min
        self.T_cur = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The rates after ``T_cur`` of ``T_i`` epochs."""
        self._warn_outside_step()
        height = 1 + math.cos(math.pi * self.T_cur / self.T_i)
        return [self.eta_min + (base - self.eta_min) * height / 2 for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Go to the next epoch, or to a given one, which may be a fraction."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur, self.T_i = self.T_cur % self.T_i, self.T_i * self.T_mult
        elif epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        else:
            self._jump(epoch)
        self.last_epoch = math.floor(epoch)
        with inside_step(self):
            self._set_rates(self.get_lr())

    def _jump(self, epoch: Any) -> None:
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            ratio = epoch / self.T_0 * (self.T_mult - 1) + 1
            n = int(math.log(ratio, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**n - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**n
