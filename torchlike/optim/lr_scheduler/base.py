"""LRScheduler, and what all schedules share."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

from functional.blame import warn
from functional.modes import no_grad
from functional.tensor import Tensor

from ..optimizer import Optimizer

__all__ = [
    "EPOCH_DEPRECATION_WARNING", "LRScheduler", "check_optimizer", "inside_step",
    "is_function", "per_group", "set_option",
]  # fmt: skip

_ORDER = (
    "`optimizer.step()` before `lr_scheduler.step()`. {} See more details at "
    "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
)
_SKIPPED = "Failure to do this will result in PyTorch skipping the first value of the learning "
_SKIPPED += "rate schedule."
EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where "
    "possible. Please use `scheduler.step()` to step the scheduler. During the deprecation, if "
    "epoch is different from None, the closed form is used instead of the new chainable form, "
    "where available. Please open an issue if you are unable to replicate your use case: "
    "https://github.com/pytorch/pytorch/issues/new/choose."
)


def _copy(lr: Any) -> Any:
    return lr.clone() if isinstance(lr, Tensor) else lr


def _track_steps(optimizer: Any) -> None:
    """Note on the optimizer when its ``step`` is called, for the warning about their order."""
    if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        return
    function, reference = optimizer.step.__func__, weakref.ref(optimizer)

    @functools.wraps(function)
    def step(*args: Any, **kwargs: Any) -> Any:
        opt = reference()
        opt._opt_called = True  # type: ignore[union-attr]
        return function(opt, *args, **kwargs)

    step._wrapped_by_lr_sched = True  # type: ignore[attr-defined]
    optimizer.step = step


class LRScheduler:
    """Base of schedules: ``get_lr`` gives the learning rates for ``last_epoch``.

    ``last_epoch`` is -1 to start, or the epoch to continue after, for which every group must
    have its ``initial_lr`` (KeyError).
    """

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _copy(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming "
                    "scheduler with last_epoch >= 0.\nThis typically happens when:\n1. You're "
                    "trying to resume training from a checkpoint but haven't properly loaded the "
                    "optimizer state\n2. You're using last_epoch >= 0 for a fresh training run "
                    "(not recommended)"
                )
        self.base_lrs = [_copy(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        _track_steps(optimizer)
        self._initial_step()

    def _initial_step(self) -> None:
        """Set the first learning rates."""
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """Everything about the schedule but its optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from what ``state_dict`` returned."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[Any]:
        """The learning rates that are in use, one per group."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """The learning rates for ``last_epoch``; subclasses define it."""
        raise NotImplementedError

    def _current(self) -> list[Any]:
        return [_copy(group["lr"]) for group in self.optimizer.param_groups]

    def _scaled(self, factor: Any) -> list[Any]:
        return [group["lr"] * factor for group in self.optimizer.param_groups]

    def _warn_outside_step(self) -> None:
        if not self._get_lr_called_within_step:
            warn(
                "To get the last learning rate computed by the scheduler, please use "
                "`get_last_lr()`.",
            )

    def step(self, epoch: int | None = None) -> None:
        """Go to the next epoch and set its learning rates."""
        if self._step_count == 1:
            self._check_order()
        self._step_count += 1
        if epoch is not None:
            warn(EPOCH_DEPRECATION_WARNING)
        self._update_lr(epoch)

    def _check_order(self) -> None:
        if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
            first = (
                "Seems like `optimizer.step()` has been overridden after learning rate scheduler "
                "initialization. Please, make sure to call "
            )
            warn(first + _ORDER.format("").replace("  ", " "))
        elif not getattr(self.optimizer, "_opt_called", False):
            first = (
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch "
                "1.1.0 and later, you should call them in the opposite order: "
            )
            warn(first + _ORDER.format(" " + _SKIPPED))

    def _update_lr(self, epoch: int | None = None) -> None:
        with inside_step(self):
            if epoch is None:
                self.last_epoch += 1
                values = self.get_lr()
            else:
                self.last_epoch = epoch
                closed = getattr(self, "_get_closed_form_lr", self.get_lr)
                values = closed()
        self._set_rates(values)

    def _set_rates(self, values: list[Any]) -> None:
        for group, value in zip(self.optimizer.param_groups, values, strict=True):
            set_option(group, "lr", value)
        self._last_lr = self._current()


class _LRScheduler(LRScheduler):
    """LRScheduler's old name."""


@contextmanager
def inside_step(scheduler: LRScheduler) -> Iterator[None]:
    """``get_lr`` does not warn here."""
    scheduler._get_lr_called_within_step = True
    try:
        yield
    finally:
        scheduler._get_lr_called_within_step = False


def set_option(group: dict[str, Any], name: str, value: Any) -> None:
    """Set an option of a group; one that is a tensor keeps its memory."""
    held = group[name]
    if isinstance(held, Tensor):
        with no_grad():
            held.fill_(value.item() if isinstance(value, Tensor) else value)
    else:
        group[name] = value


def per_group(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """A value for each group, given one for all or a list (of that length, else ValueError)."""
    count = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        value = [value] * count
    elif len(value) != count:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has "
            f"{len(value)} values, param_groups has {count}."
        )
    return [_copy(v) for v in value]


def is_function(f: Any) -> bool:
    """Whether it is a plain function, whose attributes are no state."""
    return type(f) is FunctionType


def check_optimizer(optimizer: Any) -> None:
    """TypeError for anything else."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
