"""Rates that rise and fall, and momentum that does the opposite."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from ..optimizer import Optimizer
from .base import LRScheduler, check_optimizer, is_function, per_group, set_option

__all__ = ["CyclicLR", "OneCycleLR"]


class _WithMomentum(LRScheduler):
    """Base of schedules that also change momentum, or the first of Adam's betas."""

    use_beta1: bool

    def _take_momentum(self, base: Any, most: Any, begin: bool) -> tuple[list[Any], list[Any]]:
        """The least and the largest momentum of each group; ``begin`` with the largest."""
        optimizer = self.optimizer
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError(
                "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"
            )
        self.use_beta1 = "betas" in optimizer.defaults
        least = per_group("base_momentum", optimizer, base)
        largest = per_group("max_momentum", optimizer, most)
        if begin:
            for low, high, group in zip(least, largest, optimizer.param_groups, strict=True):
                self._set_momentum(group, high)
                group["max_momentum"], group["base_momentum"] = high, low
        return least, largest

    def _set_momentum(self, group: dict[str, Any], value: Any) -> None:
        if self.use_beta1:
            group["betas"] = (value, *group["betas"][1:])
        else:
            group["momentum"] = value


class CyclicLR(_WithMomentum):
    """Between ``base_lr`` and ``max_lr``, up in ``step_size_up`` steps and down in as many.

    ``mode`` is "triangular", "triangular2" (half the height at each cycle) or "exp_range"
    (``gamma`` per step); a ``scale_fn`` of the cycle or of the step ("iterations") may take its
    place. ``cycle_momentum`` moves momentum the other way. (Smith, 2017.)
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: Any,
        max_lr: Any,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: Any = 0.8,
        max_momentum: Any = 0.9,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        base_lrs = per_group("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for lr, group in zip(base_lrs, optimizer.param_groups, strict=True):
                set_option(group, "lr", lr)
        self.max_lrs = per_group("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        self.total_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode, self.gamma = mode, gamma
        self._scale_fn_custom, self.scale_mode = scale_fn, scale_mode
        self._init_scale_fn()
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.base_momentums, self.max_momentums = self._take_momentum(
                base_momentum, max_momentum, last_epoch == -1
            )
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def _init_scale_fn(self) -> None:
        if self._scale_fn_custom is not None:
            return
        if self.mode == "exp_range":
            self._scale_fn_ref: Callable[[float], float] = partial(_power, self.gamma)
            self.scale_mode = "iterations"
        else:
            self._scale_fn_ref = _one if self.mode == "triangular" else _halves
            self.scale_mode = "cycle"

    def scale_fn(self, x: float) -> float:
        """The height of a cycle, relative to the first one's."""
        custom = self._scale_fn_custom
        return self._scale_fn_ref(x) if custom is None else custom(x)

    def get_lr(self) -> list[Any]:
        """The rates at this step of the cycle; sets momentum too."""
        self._warn_outside_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        ratio = self.step_ratio
        height = x / ratio if x <= ratio else (x - 1) / (ratio - 1)

        def moved(start: Any, end: Any) -> Any:
            at = cycle if self.scale_mode == "cycle" else self.last_epoch
            return (end - start) * height * self.scale_fn(at)

        rates = [b + moved(b, m) for b, m in zip(self.base_lrs, self.max_lrs, strict=True)]
        if self.cycle_momentum:
            pairs = zip(self.base_momentums, self.max_momentums, strict=True)
            values = [m - moved(b, m) for b, m in pairs]
            for group, value in zip(self.optimizer.param_groups, values, strict=True):
                self._set_momentum(group, value)
        return rates

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer; of ``scale_fn`` only an object's attributes."""
        state = super().state_dict()
        state.pop("_scale_fn_ref", None)
        custom = state.pop("_scale_fn_custom")
        given = custom is not None and not is_function(custom)
        state["_scale_fn_custom"] = custom.__dict__.copy() if given else None
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from what ``state_dict`` returned; a ``scale_fn`` stays as it is."""
        attributes = state_dict.pop("_scale_fn_custom")
        super().load_state_dict(state_dict)
        if attributes is not None:
            self._scale_fn_custom.__dict__.update(attributes)
        self._init_scale_fn()


def _one(x: float) -> float:
    return 1.0


def _halves(x: float) -> float:
    return 1 / 2.0 ** (x - 1)


def _power(gamma: float, x: float) -> float:
    return gamma**x


class OneCycleLR(_WithMomentum):
    """One rise to ``max_lr`` and one fall far below the start, in ``total_steps`` steps.

    The rise takes ``pct_start`` of them and begins at max_lr / ``div_factor``; the fall ends at
    that over ``final_div_factor``. ``three_phase`` falls to the start as fast as it rose, and only
    then further. (Smith and Topin, 2018.)
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: Any,
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: Any = 0.85,
        max_momentum: Any = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        self.total_steps = _total(total_steps, epochs, steps_per_epoch)
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._anneal_func_type = anneal_strategy
        largest = per_group("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for lr, group in zip(largest, optimizer.param_groups, strict=True):
                group["initial_lr"], group["max_lr"] = lr / div_factor, lr
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._take_momentum(base_momentum, max_momentum, last_epoch == -1)
        super().__init__(optimizer, last_epoch)

    def _anneal_func(self, start: Any, end: Any, part: float) -> Any:
        if self._anneal_func_type == "cos":
            return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)
        return (end - start) * part + start

    def get_lr(self) -> list[Any]:
        """The rates at this step; sets momentum too."""
        self._warn_outside_step()
        at = self.last_epoch
        if at > self.total_steps:
            raise ValueError(
                f"Tried to step {at} times. The specified number of total steps is "
                f"{self.total_steps}"
            )
        rates = []
        for group in self.optimizer.param_groups:
            phase, part = self._phase(at)
            rates.append(self._anneal_func(group[phase["start_lr"]], group[phase["end_lr"]], part))
            if self.cycle_momentum:
                start, end = group[phase["start_momentum"]], group[phase["end_momentum"]]
                self._set_momentum(group, self._anneal_func(start, end, part))
        return rates

    def _phase(self, at: float) -> tuple[dict[str, Any], float]:
        """The phase that a step is in, and how far."""
        start = 0.0
        for phase in self._schedule_phases[:-1]:
            if at <= phase["end_step"]:
                break
            start = phase["end_step"]
        else:
            phase = self._schedule_phases[-1]
        return phase, (at - start) / (phase["end_step"] - start)


def _total(total_steps: Any, epochs: Any, steps_per_epoch: Any) -> int:
    if total_steps is not None:
        if total_steps <= 0 or not isinstance(total_steps, int):
            raise ValueError(f"Expected positive integer total_steps, but got {total_steps}")
        return total_steps
    if epochs is None or steps_per_epoch is None:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    for name, value in (("epochs", epochs), ("steps_per_epoch", steps_per_epoch)):
        if not isinstance(value, int) or value <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {value}")
    return epochs * steps_per_epoch


def _phases(total: int, part: float, three: bool) -> list[dict[str, Any]]:
    """Where each phase ends, and the options that it goes between."""
    top = float(part * total) - 1
    rows = [(top, "initial_lr", "max_lr", "max_momentum", "base_momentum")]
    if three:
        back = float(2 * part * total) - 2
        rows.append((back, "max_lr", "initial_lr", "base_momentum", "max_momentum"))
        rows.append((total - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum"))
    else:
        rows.append((total - 1, "max_lr", "min_lr", "base_momentum", "max_momentum"))
    names = ("end_step", "start_lr", "end_lr", "start_momentum", "end_momentum")
    return [dict(zip(names, row, strict=True)) for row in rows]
