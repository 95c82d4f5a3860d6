"""What optimizers share whose update of an element looks at that element only."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from functional.dtypes import float32, float64, get_default_dtype
from functional.modes import no_grad
from functional.ops.create import filled, like
from functional.tensor import Tensor

from . import on_arrays, on_tensors
from .optimizer import Optimizer
from .updates import (
    array_pair,
    check_fused,
    closure_loss,
    count_writes,
    real_parts,
)

__all__ = [
    "Elementwise",
    "check_beta",
    "check_lr",
    "check_not_negative",
    "check_one",
    "new_count",
    "plain",
    "scalar",
]

DEVICES = "['cuda', 'xpu', 'hpu', 'privateuseone', 'xla']"


def check_one(lr: Any) -> None:
    """ValueError for a learning rate that is a tensor of several."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")


def check_lr(lr: Any) -> None:
    """PyTorch's errors for a learning rate."""
    check_one(lr)
    check_not_negative("learning rate", lr)


def check_not_negative(name: str, value: Any) -> None:
    """ValueError for a value below zero, or nan."""
    if not value >= 0.0:
        raise ValueError(f"Invalid {name}: {value}")


def check_beta(betas: Any) -> None:
    """ValueError for decay rates outside 0 <= beta < 1."""
    for i in (0, 1):
        if not 0.0 <= betas[i] < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {betas[i]}")


def new_count(value: float = 0.0, fused: Any = False) -> Tensor:
    """A number that is part of the state, in float32, or float64 if that is the default dtype."""
    wide = get_default_dtype() is float64 and not fused
    return filled(value, (), float64 if wide else float32, "cpu", False)


def scalar(value: Any, recorded: bool) -> Any:
    """An option as a number of its own precision; a tensor that is to be recorded stays one."""
    if type(value) is tuple:
        return tuple(scalar(v, recorded) for v in value)
    if not isinstance(value, Tensor) or (recorded and value.requires_grad):
        return value
    return value.detach().cpu().numpy().reshape(())[()]


def plain(value: Any) -> Any:
    """What has been computed from options, as a Python float."""
    return value if isinstance(value, Tensor) else float(value)


class Elementwise(Optimizer):
    """Base of these optimizers: ``step`` walks over groups, parameters and blocks.

    A subclass names the ``buffers`` of a parameter's state, the ``counts`` in it (scalars) and the
    ``late`` options (those that old checkpoints lack), and defines ``begin`` (numbers that depend
    on the number of the step) and ``follow`` (the update of a block).
    """

    counts: tuple[str, ...] = ("step",)
    writes: ClassVar[dict[str, int]] = {}  # in-place writes per step, where they are not one
    late: ClassVar[dict[str, Any]] = {
        "foreach": None, "maximize": False, "differentiable": False, "capturable": False,
    }  # fmt: skip
    begins_anew = False  # does ``begin`` depend on more of the state than the step?
    capturable_devices = DEVICES
    capturable_states = "params and state_steps"

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for name, value in self.late.items():
                group.setdefault(name, value)
            for p in group["params"]:
                held = self.state.get(p)
                for name in self.counts if held else ():
                    if not isinstance(held[name], Tensor):
                        held[name] = new_count(float(held[name]))

    def buffers(self, group: dict[str, Any]) -> tuple[str, ...]:
        """Names of the states that are as large as the parameter."""
        raise NotImplementedError

    def start(self, state: dict[str, Any], p: Tensor, group: dict[str, Any]) -> None:
        """The state of a parameter that has not been updated yet."""
        state["step"] = new_count(fused=group.get("fused"))
        for name in self.buffers(group):
            state[name] = like(0, p)

    def begin(self, o: Any, state: dict[str, Any], step: float) -> None:
        """Put into ``o`` what depends on the number of the step."""

    def follow(self, F: Any, o: Any, x: Any, g: Any, *buffers: Any) -> None:
        """Update a block of parameters, from its gradient and its state."""
        raise NotImplementedError

    def parameter_writes(self, o: Any) -> int:
        """How many times a step writes to a parameter."""
        return 1

    def check_sparse(self, group: dict[str, Any]) -> None:
        """PyTorch's error for sparse gradients."""
        raise RuntimeError(f"{type(self).__name__} does not support sparse gradients")

    def finish(self, o: Any, state: dict[str, Any], step: float) -> None:
        """Change the scalars of the state after the update."""

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient; returns the closure's loss."""
        loss = closure_loss(closure)
        for group in self.param_groups:
            params = [p for p in group["params"] if p._grad is not None]
            for p in params:
                if p._grad.is_sparse:
                    self.check_sparse(group)
                if group.get("fused"):
                    check_fused(p)
                if not self.state[p]:
                    self.start(self.state[p], p, group)
            if params and group.get("capturable"):
                raise AssertionError(
                    f"If capturable=True, {self.capturable_states} must be on supported devices: "
                    f"{self.capturable_devices}."
                )
            recorded = group["differentiable"]
            o = SimpleNamespace(**{k: scalar(v, recorded) for k, v in group.items()})
            o.at, o.waiting = None, []
            with np.errstate(all="ignore"):
                for p in params:
                    self._update(p, self.state[p], o)
                self._update_arrays(o)
        return loss

    def _update(self, p: Any, state: dict[str, Any], o: Any) -> None:
        step = state["step"]
        step._data += 1
        count_writes(step)
        number = step._data.item()
        if number != o.at or self.begins_anew:
            self._update_arrays(o)
            o.at = number
            self.begin(o, state, number)
            o.names = self.buffers(vars(o))
            o.writes = [self.writes.get(name, 1) for name in o.names]
            o.parameter_writes = self.parameter_writes(o)
        buffers = [state[name] for name in o.names]
        if o.differentiable or not array_pair(p, p._grad):
            self._update_tensors(p, buffers, o)
        else:
            arrays = [p._data, p._grad._data, *[t._data for t in buffers]]
            if arrays[0].dtype.kind == "c":
                arrays = [real_parts(a) for a in arrays]
            o.waiting.append(arrays)
            for t, times in zip(buffers, o.writes, strict=True):
                count_writes(t, times)
            count_writes(p, o.parameter_writes)
        self.finish(o, state, number)

    def _update_arrays(self, o: Any) -> None:
        """The update of the parameters that have been waiting to be updated together."""
        if o.waiting:
            on_arrays.update(lambda F, *block: self.follow(F, o, *block), o.waiting)
            o.waiting = []

    def _update_tensors(self, p: Any, buffers: list[Any], o: Any) -> None:
        tensors = (p, p._grad, *buffers)
        if o.differentiable:
            self.follow(on_tensors, o, *tensors)
        else:
            with no_grad():
                self.follow(on_tensors, o, *tensors)
