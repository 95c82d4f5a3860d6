"""Rates that a function of the epoch gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..optimizer import Optimizer
from .base import LRScheduler, is_function

__all__ = ["LambdaLR", "MultiplicativeLR"]

Function = Callable[[int], float]


class _WithFunctions(LRScheduler):
    """Base of schedules with a function, or a list of one per group."""

    lr_lambdas: list[Function]

    def __init__(
        self, optimizer: Optimizer, lr_lambda: Function | list[Function], last_epoch: int = -1
    ) -> None:
        self.optimizer = optimizer
        count = len(optimizer.param_groups)
        if not isinstance(lr_lambda, (list, tuple)):
            self.lr_lambdas = [lr_lambda] * count
        elif len(lr_lambda) != count:
            raise ValueError(f"Expected {count} lr_lambdas, but got {len(lr_lambda)}")
        else:
            self.lr_lambdas = list(lr_lambda)
        self._check_functions()
        super().__init__(optimizer, last_epoch)

    def _check_functions(self) -> None:
        pass

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer; of the functions only the attributes of objects."""
        state = super().state_dict()
        del state["lr_lambdas"]
        state["lr_lambdas"] = [
            None if is_function(f) else f.__dict__.copy() for f in self.lr_lambdas
        ]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from what ``state_dict`` returned; functions stay as they are."""
        saved = state_dict["lr_lambdas"]
        self.__dict__.update({k: v for k, v in state_dict.items() if k != "lr_lambdas"})
        for function, attributes in zip(self.lr_lambdas, saved, strict=False):
            if attributes is not None:
                function.__dict__.update(attributes)


class LambdaLR(_WithFunctions):
    """The initial learning rates times ``lr_lambda(epoch)`` (or a list of functions)."""

    def get_lr(self) -> list[Any]:
        """The initial rates times the functions' values."""
        self._warn_outside_step()
        pairs = zip(self.base_lrs, self.lr_lambdas, strict=True)
        return [base * function(self.last_epoch) for base, function in pairs]


class MultiplicativeLR(_WithFunctions):
    """The current learning rates times ``lr_lambda(epoch)`` (or a list of functions)."""

    def _check_functions(self) -> None:
        for f in self.lr_lambdas:
            if not callable(f):
                raise TypeError(f"lr_lambda should be a function, but got {type(f).__name__}")

    def get_lr(self) -> list[Any]:
        """The current rates times the functions' values."""
        self._warn_outside_step()
        if self._is_initial:
            return self._current()
        pairs = zip(self.optimizer.param_groups, self.lr_lambdas, strict=True)
        return [group["lr"] * function(self.last_epoch) for group, function in pairs]
