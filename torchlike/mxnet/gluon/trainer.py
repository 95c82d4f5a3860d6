"""Trainer: applies an optimizer to the parameters of a network."""

from __future__ import annotations

from typing import Any

import numpy as onp

import torchlike as torch

from .. import files
from .. import optimizer as rules
from .parameter import Parameter


class Trainer:
    """Updates parameters by their gradients; ``params`` is a dict or list of them.

    ``kvstore`` and what belongs to it are accepted: there is one device.
    """

    def __init__(
        self,
        params: Any,
        optimizer: Any,
        optimizer_params: dict[str, Any] | None = None,
        kvstore: Any = "device",
        compression_params: Any = None,
        update_on_kvstore: bool | None = None,
    ) -> None:
        listed = list(params.values()) if isinstance(params, dict) else params
        if not isinstance(listed, (list, tuple)):
            raise ValueError(f"params is a dict or list of Parameters, not {type(params).__name__}")
        for p in listed:
            if not isinstance(p, Parameter):
                raise ValueError(f"a Parameter is wanted, not {type(p).__name__}")
        self._params = list({id(p): p for p in listed}.values())
        settings = dict(optimizer_params or {})
        self._scale = settings.get("rescale_grad", 1.0)
        self._optimizer = _optimizer(optimizer, settings)
        self._optimizer.param_dict = dict(enumerate(self._params))
        self._states: dict[int, rules.State] = {}

    @property
    def optimizer(self) -> Any:
        """The optimizer."""
        return self._optimizer

    @property
    def learning_rate(self) -> float:
        """The learning rate of the next update."""
        return self._optimizer.learning_rate

    def set_learning_rate(self, lr: float) -> None:
        """Set the learning rate; a UserWarning is raised where a scheduler decides."""
        self._optimizer.set_learning_rate(lr)

    def step(self, batch_size: float, ignore_stale_grad: bool = False) -> None:
        """Update all parameters with gradients divided by ``batch_size``.

        A parameter whose gradient no backward pass has written since the last step raises a
        UserWarning before anything is changed, or is left alone with ``ignore_stale_grad``.
        """
        self.allreduce_grads()
        self.update(batch_size, ignore_stale_grad)

    def allreduce_grads(self) -> None:
        """Nothing to do: there is one device."""

    def update(self, batch_size: float, ignore_stale_grad: bool = False) -> None:
        """What ``step`` does after the gradients of all devices were added up."""
        if not batch_size > 0:
            raise ValueError(f"batch_size must be positive, and is {batch_size}")
        learnt = [(i, p) for i, p in enumerate(self._params) if p.grad_req != "null"]
        ready = [(i, p) for i, p in learnt if p.data()._fresh_grad]
        if len(ready) < len(learnt) and not ignore_stale_grad:
            stale = next(p for _, p in learnt if not p.data()._fresh_grad)
            raise UserWarning(
                f"the gradient of Parameter {stale.name} has not been written by backward since "
                "the last step: either forward and backward are missing, or the parameter takes "
                "no part, and ignore_stale_grad=True leaves it alone"
            )
        self._optimizer.rescale_grad = self._scale / batch_size
        for i, parameter in ready:
            weight = parameter.data()
            if i not in self._states:
                self._states[i] = self._optimizer.create_state(i, weight)
            self._optimizer.update(i, weight, parameter.grad(), self._states[i])
            weight._fresh_grad = False

    def save_states(self, fname: Any) -> None:
        """Save what the optimizer keeps: the slots of each parameter and the update counts."""
        found = {f"{i}.{k}": v.numpy() for i, s in self._states.items() for k, v in s.items()}
        counts = self._optimizer._counts
        found |= {f"{i}.count": onp.int64(n) for i, n in counts.items()}
        found["num_update"] = onp.int64(self._optimizer.num_update)
        files.write_arrays(fname, {k: onp.asarray(v) for k, v in found.items()})

    def load_states(self, fname: Any) -> None:
        """Load what ``save_states`` has saved; ValueError, and no change, if it does not fit."""
        found = files.read_arrays(fname)
        if "num_update" not in found:
            raise ValueError(f"{fname} holds no states of a Trainer")
        states: dict[int, Any] = {}
        counts: dict[int, int] = {}
        for name, values in found.items():
            if name != "num_update":
                index, slot = self._place(name, values, fname)
                if slot == "count":
                    counts[index] = int(values)
                else:
                    device = self._params[index].data()._tensor.device
                    states.setdefault(index, {})[slot] = torch.from_numpy(values).to(device)
        for index in counts:
            states.setdefault(index, {})
            if set(states[index]) != set(self._optimizer.slots):
                raise ValueError(f"{fname} holds the states of another optimizer")
        self._states, self._optimizer._counts = states, counts
        self._optimizer.num_update = int(found["num_update"])

    def _place(self, name: str, values: Any, fname: Any) -> tuple[int, str]:
        """The index and slot that a name in a file means."""
        number, _, slot = name.partition(".")
        index = int(number) if number.isdigit() else len(self._params)
        if index >= len(self._params) or slot not in ("count", *self._optimizer.slots):
            raise ValueError(f"{fname} holds {name}, which this Trainer does not know")
        if slot != "count" and values.shape != self._params[index].shape:
            raise ValueError(
                f"{fname} holds {name} of shape {values.shape} for a parameter of shape "
                f"{self._params[index].shape}"
            )
        return index, slot


def _optimizer(chosen: Any, settings: dict[str, Any]) -> rules.Optimizer:
    if isinstance(chosen, rules.Optimizer) and settings:
        raise ValueError("optimizer_params belong to an optimizer's name, not to an optimizer")
    return rules.create(chosen, **settings)
