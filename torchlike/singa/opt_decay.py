"""Schedules: the learning rate, momentum and the like as functions of the step."""

from __future__ import annotations

from typing import Any

import torchlike as torch

from .tensor import Tensor


class DecayScheduler:
    """A value that changes with the step: a subclass's ``call`` says how.

    Called with the step, a Tensor of shape (1,), it returns such a Tensor.
    """

    def __init__(self, init_value: float) -> None:
        self.init_value = init_value

    def __call__(self, step: Tensor) -> Tensor:
        return self.call(step)

    def call(self, step: Tensor) -> Tensor:
        """The value at a step."""
        raise NotImplementedError(f"{type(self).__name__} has no method call(step)")


class Constant(DecayScheduler):
    """The same value at every step."""

    def call(self, step: Tensor) -> Tensor:
        """The value, of shape (1,)."""
        return Tensor((1,), step.device).set_value(self.init_value)


class ExponentialDecay(DecayScheduler):
    """init_value * decay_rate ** (step / decay_steps); ``staircase`` rounds the exponent down."""

    def __init__(
        self, init_value: float, decay_steps: int, decay_rate: float, staircase: bool = False
    ) -> None:
        super().__init__(init_value)
        if decay_steps <= 0:
            raise ValueError(f"decay_steps must be positive, not {decay_steps}")
        self.decay_steps, self.decay_rate, self.staircase = decay_steps, decay_rate, staircase

    def call(self, step: Tensor) -> Tensor:
        """The value at a step, of shape (1,)."""
        exponent = step.values / self.decay_steps
        exponent = exponent.floor() if self.staircase else exponent
        return step._like(self.init_value * torch.pow(self.decay_rate, exponent))


def schedule(value: Any, what: str, least: float | None = None) -> DecayScheduler:
    """A schedule for a number or a schedule.

    TypeError for anything else, a bool or NumPy's numbers too; ValueError below ``least``.
    """
    if type(value) in (float, int):
        value = Constant(value)
    if not isinstance(value, DecayScheduler):
        raise TypeError(
            f"Wrong {what} type: a float, an int or a DecayScheduler, not {type(value).__name__}"
        )
    first = getattr(value, "init_value", None)
    if least is not None and first is not None and first < least:
        raise ValueError(f"Invalid {what} value: {first}")
    return value
