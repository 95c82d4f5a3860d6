"""Averages of a model's parameters over training."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from itertools import chain
from typing import Any

from functional.dtypes import int64
from functional.modes import no_grad
from functional.ops.create import filled
from functional.tensor import Tensor

from ..nn.modules.module import Module
from . import on_arrays, on_tensors
from .lr_scheduler import LRScheduler
from .lr_scheduler.base import per_group
from .optimizer import Optimizer
from .updates import array_pair, count_writes, number, real_parts

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]  # fmt: skip

Average = Callable[[Tensor, Tensor, Any], Tensor]
Averages = Callable[[list[Tensor], list[Tensor], Any], None]


def _check_decay(decay: float) -> None:
    if decay < 0.0 or decay > 1.0:
        raise ValueError(
            f"Invalid decay value {decay} provided. Please provide a value in [0,1] range."
        )


def _blend(averaged: Tensor, current: Tensor, weight: float) -> None:
    """Move ``averaged`` towards ``current`` by that part of the way, in place."""
    if not array_pair(averaged, current):
        averaged.copy_(on_tensors.lerp(averaged, current, weight, None))
        return
    arrays = [real_parts(averaged._data), real_parts(current._data)]
    on_arrays.update(lambda F, x, y: F.lerp(x, y, weight, x), [arrays])
    count_writes(averaged)


def _is_float(t: Tensor) -> bool:
    return t.is_floating_point() or t.is_complex()


def get_ema_multi_avg_fn(decay: float = 0.999) -> Averages:
    """In-place average decay * averaged + (1 - decay) * current, for lists of tensors."""
    _check_decay(decay)

    def ema_update(averaged: list[Tensor], current: list[Tensor], _: Any) -> None:
        with no_grad():
            for a, c in zip(averaged, current, strict=True):
                if _is_float(averaged[0]):
                    _blend(a, c, 1 - decay)
                else:
                    a.copy_(a * decay + c * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn() -> Averages:
    """In-place mean of all models so far, for lists of tensors."""

    def swa_update(averaged: list[Tensor], current: list[Tensor], num_averaged: Any) -> None:
        with no_grad():
            weight = number(1 / (num_averaged + 1))
            for a, c in zip(averaged, current, strict=True):
                if _is_float(averaged[0]):
                    _blend(a, c, weight)
                else:
                    a.add_(c - a, alpha=weight)

    return swa_update


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """The average decay * averaged + (1 - decay) * current, of two tensors."""
    _check_decay(decay)

    def ema_update(averaged: Tensor, current: Tensor, num_averaged: Any) -> Tensor:
        with no_grad():
            return decay * averaged + (1 - decay) * current

    return ema_update


def get_swa_avg_fn() -> Average:
    """The mean of all models so far, of two tensors."""

    def swa_update(averaged: Tensor, current: Tensor, num_averaged: Any) -> Tensor:
        with no_grad():
            return averaged + (current - averaged) / (num_averaged + 1)

    return swa_update


class AveragedModel(Module):
    """A copy of ``model`` whose parameters are averages of those that it is shown.

    ``avg_fn`` averages two tensors, or ``multi_avg_fn`` lists of them in place (one at most); the
    mean of all is the default. ``use_buffers`` averages buffers too instead of copying them.
    (Izmailov et al., 2018.)
    """

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Average | None = None,
        multi_avg_fn: Averages | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        count = filled(0, (), int64, "cpu" if device is None else device, False)
        self.register_buffer("n_averaged", count)
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the averaged model computes."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Take the parameters of ``model`` into the averages; the first time, copy them."""
        pairs = [
            (a.detach(), c.detach().to(a.device))
            for a, c in zip(self._averaged(self.module), self._averaged(model), strict=False)
        ]
        if self.n_averaged == 0:
            for averaged, current in pairs:
                averaged.copy_(current)
        elif self.avg_fn is None and self.multi_avg_fn is not None:
            self._average_lists(pairs, self.multi_avg_fn)
        else:
            average = self.avg_fn or get_swa_avg_fn()
            for averaged, current in pairs:
                averaged.copy_(average(averaged, current, self.n_averaged.to(averaged.device)))
        if not self.use_buffers:
            for a, c in zip(self.module.buffers(), model.buffers(), strict=True):
                a.detach().copy_(c.detach().to(a.device))
        self.n_averaged += 1

    def _averaged(self, model: Module) -> Iterable[Tensor]:
        if self.use_buffers:
            return chain(model.parameters(), model.buffers())
        return model.parameters()

    def _average_lists(self, pairs: list[tuple[Tensor, Tensor]], average: Averages) -> None:
        """One call for each device and dtype."""
        groups: dict[Any, tuple[list[Tensor], list[Tensor]]] = {}
        for averaged, current in pairs:
            group = groups.setdefault((averaged.device, averaged.dtype), ([], []))
            group[0].append(averaged)
            group[1].append(current)
        for (device, _), (averaged_list, current_list) in groups.items():
            average(averaged_list, current_list, self.n_averaged.to(device))


def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Compute the running statistics of batch normalization anew, in one pass over ``loader``.

    A batch is a tensor, or a list whose first element is the model's input.
    """
    layers: list[Any] = [m for m in model.modules() if _is_batch_norm(m)]
    for layer in layers:
        layer.reset_running_stats()
    if not layers:
        return
    momenta, training = [layer.momentum for layer in layers], model.training
    model.train()
    for layer in layers:
        layer.momentum = None
    with no_grad():
        for batch in loader:
            given = batch[0] if isinstance(batch, (list, tuple)) else batch
            model(given if device is None else given.to(device))
    for layer, momentum in zip(layers, momenta, strict=True):
        layer.momentum = momentum
    model.train(training)


def _is_batch_norm(module: Module) -> bool:
    return any(cls.__name__ == "_BatchNorm" for cls in type(module).__mro__)


class SWALR(LRScheduler):
    """From the current rate to ``swa_lr`` (one, or one per group) in ``anneal_epochs`` epochs.

    ``anneal_strategy`` is "cos" or "linear". Afterwards the rate stays.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: Any,
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        rates = per_group("swa_lr", optimizer, swa_lr)
        for rate, group in zip(rates, optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._set_anneal_func(anneal_strategy)
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _set_anneal_func(self, strategy: str) -> None:
        self._anneal_strategy = strategy
        self.anneal_func = _cosine if strategy == "cos" else _line

    def _part(self, step: float) -> Any:
        """How much of the way is behind after that many steps."""
        return self.anneal_func(max(0, min(1, step / max(1, self.anneal_epochs))))

    def get_lr(self) -> list[Any]:
        """The rates at this epoch, from the current ones."""
        self._warn_outside_step()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, part = self._part(step - 1), self._part(step)
        rates = []
        for group in self.optimizer.param_groups:
            lr, end = group["lr"], group["swa_lr"]
            first = end if before == 1 else (lr - before * end) / (1 - before)
            rates.append(end * part + first * (1 - part))
        return rates

    def state_dict(self) -> dict[str, Any]:
        """Everything about the schedule but its optimizer."""
        state = super().state_dict()
        del state["anneal_func"]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from what ``state_dict`` returned."""
        super().load_state_dict(state_dict)
        self._set_anneal_func(self._anneal_strategy)


def _line(t: float) -> float:
    return t


def _cosine(t: float) -> float:
    return (1 - math.cos(math.pi * t)) / 2
