"""The optimizers."""

from __future__ import annotations

import weakref
from typing import Any, ClassVar

import numpy as np

import torchlike as torch

from . import autograd
from .deprecation import deprecated
from .device import get_default_device
from .opt_decay import DecayScheduler, schedule
from .tensor import Tensor, float32, from_numpy


class Optimizer:
    """Base of optimizers: ``optimizer(loss)`` computes gradients, updates and counts a step.

    A subclass's ``apply`` updates one parameter in place. What it keeps for each is keyed by the
    parameter's name (``W#2`` for a second parameter of the name ``W``). ``lr`` is a float, an int
    or a DecayScheduler; ``lr_value`` (and so on) its value at this step, a Tensor of shape (1,).
    Parameters must have the data type ``dtype``.
    """

    kept: ClassVar[tuple[str, ...]] = ()  # the attributes that hold Tensors by parameter name

    def __init__(self, lr: Any, dtype: int = float32) -> None:
        self._schedules: dict[str, DecayScheduler] = {}
        self._owners: dict[str, weakref.ref[Tensor]] = {}  # whose the names are
        self.dtype = dtype
        self.step_counter = Tensor((1,), get_default_device(), float32)
        self.lr = self._scheduled("lr_value", lr, "learning rate")
        for name in self.kept:
            setattr(self, name, {})

    def _scheduled(self, attribute: str, value: Any, what: str, least: Any = None) -> Any:
        """A schedule whose value is to be in ``attribute`` at each step."""
        found = self._schedules[attribute] = schedule(value, what, least)
        setattr(self, attribute, found(self.step_counter))
        return found

    def __call__(self, loss: Tensor) -> None:
        self.call(loss)
        self.step()

    def call(self, loss: Tensor) -> None:
        """Update all parameters that ``loss`` depends on, without counting a step."""
        for p, g in autograd.backward(loss):
            self.apply(self._name_of(p), p, g)

    def _name_of(self, p: Tensor) -> str:
        """The parameter's name; with a number behind it where another one has the same name."""
        name, number = p.name, 1
        while True:
            owner = self._owners.setdefault(name, weakref.ref(p))()
            if owner is p:
                return name
            if owner is None:
                del self._owners[name]
            else:
                number += 1
                name = f"{p.name}#{number}"

    def step(self) -> None:
        """Count a step, and bring the scheduled values up to date."""
        self.step_counter += 1
        self._reschedule()

    def _reschedule(self) -> None:
        for attribute, value in self._schedules.items():
            getattr(self, attribute).copy_data(value(self.step_counter))

    def apply(self, param_name: str, param_value: Tensor, param_grad: Tensor) -> None:
        """Update a parameter in place; its gradient is not changed."""
        raise NotImplementedError(f"{type(self).__name__} has no method apply")

    @deprecated("apply, or call the optimizer with the loss")
    def update(self, param: Tensor, grad: Tensor) -> None:
        """As ``apply`` with the parameter's name; counts no step."""
        self.apply(self._name_of(param), param, grad)

    @deprecated("a call of the optimizer with the loss")
    def backward_and_update(self, loss: Tensor) -> None:
        """As a call with the loss."""
        self(loss)

    def device_check(self, *inputs: Tensor) -> None:
        """Move Tensors to the device of the first."""
        for t in inputs[1:]:
            t.to_device(inputs[0].device)

    # --- states ---

    def get_states(self) -> dict[str, Any]:
        """The number of steps, and copies of what is kept for each parameter, by its name."""
        states: dict[str, Any] = {"step_counter": float(self.step_counter.values.item())}
        for name in self.kept:
            states[name] = {key: t.clone() for key, t in getattr(self, name).items()}
        return states

    def set_states(self, states: dict[str, Any]) -> None:
        """Take over what ``get_states`` gave: Tensors or arrays.

        KeyError without ``step_counter``, ValueError for a name that this optimizer does not keep
        (unless a subclass has its own ``set_states``); nothing is changed then.
        """
        unknown = sorted(set(states) - {"step_counter", *self.kept})
        if unknown and type(self).set_states is Optimizer.set_states:
            raise ValueError(f"{type(self).__name__} keeps no {', '.join(unknown)}")
        steps = _one_number(states["step_counter"])
        taken = {
            name: {key: _own(value) for key, value in states[name].items()}
            for name in self.kept
            if name in states
        }
        self.step_counter.set_value(steps)
        for name, values in taken.items():
            setattr(self, name, values)
        self._reschedule()

    # --- what the rules share ---

    def _gradient(self, p: Tensor, g: Tensor) -> Any:
        """The gradient with weight decay; AssertionError if it or the parameter does not fit."""
        if p.shape != g.shape:
            raise AssertionError(f"{p.name}: a gradient of shape {g.shape} for shape {p.shape}")
        if p.dtype != self.dtype:
            raise AssertionError(
                f"{p.name}: a parameter of data type {p.dtype}, an optimizer of {self.dtype}"
            )
        decay = _value(self.decay_value) if "decay_value" in self._schedules else 0.0
        return g.values.add(p.values, alpha=decay) if decay else g.values

    def _kept_for(self, name: str, param_name: str, p: Tensor) -> Any:
        """The values kept under a name for a parameter, zeros at first."""
        kept: dict[str, Tensor] = getattr(self, name)
        if param_name not in kept:
            kept[param_name] = p._like(torch.zeros_like(p.values))
        found = kept[param_name]
        if found.shape != p.shape:
            raise ValueError(
                f"{name} of {param_name!r} have shape {found.shape}, the parameter {p.shape}: "
                "do two parameters have the same name?"
            )
        found.to_device(p.device)
        return found.values


def _written(p: Tensor) -> Any:
    # SINGA allows another pass over the same graph: it meets the new values, and no error
    return p.core.data


def _value(t: Tensor) -> float:
    return float(t.values.item())


def _one_number(x: Any) -> float:
    values = x.values.numpy() if isinstance(x, Tensor) else np.asarray(x)
    if values.size != 1:
        raise ValueError(f"step_counter is one number, not {values.size}")
    return float(values.reshape(-1)[0])


def _own(x: Any) -> Tensor:
    return x.clone() if isinstance(x, Tensor) else from_numpy(np.asarray(x))


class SGD(Optimizer):
    """p -= lr b, b = momentum b + (1 - dampening) g from b = 0; with ``nesterov`` g + momentum b.

    g includes weight_decay p. Mind the order of the arguments: dampening comes before the weight
    decay. Each is a number or a DecayScheduler.
    """

    kept = ("moments",)

    def __init__(
        self,
        lr: Any = 0.1,
        momentum: Any = 0,
        dampening: Any = 0,
        weight_decay: Any = 0,
        nesterov: bool = False,
        dtype: int = float32,
    ) -> None:
        super().__init__(lr, dtype)
        self.momentum = self._scheduled("mom_value", momentum, "momentum", 0.0)
        self.dampening = self._scheduled("dam_value", dampening, "dampening")
        self.weight_decay = self._scheduled("decay_value", weight_decay, "weight_decay", 0.0)
        self.nesterov = nesterov
        if nesterov and (_first(self.momentum) == 0 or _first(self.dampening) not in (0, None)):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")

    def apply(self, param_name: str, param_value: Tensor, param_grad: Tensor) -> None:
        """Update a parameter in place; its gradient is not changed."""
        g = self._gradient(param_value, param_grad)
        if _first(self.momentum) != 0:
            buffer = self._kept_for("moments", param_name, param_value)
            momentum = _value(self.mom_value)
            buffer.mul_(momentum).add_(g, alpha=1 - _value(self.dam_value))
            g = g.add(buffer, alpha=momentum) if self.nesterov else buffer
        _written(param_value).sub_(g, alpha=_value(self.lr_value))


def _first(value: DecayScheduler) -> Any:
    return getattr(value, "init_value", None)


class RMSProp(Optimizer):
    """p -= lr g / sqrt(a + epsilon), a = rho a + (1 - rho) g^2 from a = 0."""

    kept = ("running_average",)

    def __init__(
        self,
        lr: Any = 0.1,
        rho: Any = 0.9,
        epsilon: float = 1e-8,
        weight_decay: Any = 0,
        dtype: int = float32,
    ) -> None:
        super().__init__(lr, dtype)
        self.rho = self._scheduled("rho_value", rho, "rho")
        self.weight_decay = self._scheduled("decay_value", weight_decay, "weight_decay", 0.0)
        self.epsilon = epsilon

    def apply(self, param_name: str, param_value: Tensor, param_grad: Tensor) -> None:
        """Update a parameter in place; its gradient is not changed."""
        g = self._gradient(param_value, param_grad)
        average = self._kept_for("running_average", param_name, param_value)
        rho = _value(self.rho_value)
        average.mul_(rho).addcmul_(g, g, value=1 - rho)
        root = (average + self.epsilon).sqrt_()
        _written(param_value).addcdiv_(g, root, value=-_value(self.lr_value))


class AdaGrad(Optimizer):
    """p -= lr g / sqrt(h + epsilon), h the sum of all g^2."""

    kept = ("history",)

    def __init__(
        self,
        lr: Any = 0.1,
        epsilon: float = 1e-8,
        weight_decay: Any = 0,
        dtype: int = float32,
    ) -> None:
        super().__init__(lr, dtype)
        self.weight_decay = self._scheduled("decay_value", weight_decay, "weight_decay", 0.0)
        self.epsilon = epsilon

    def apply(self, param_name: str, param_value: Tensor, param_grad: Tensor) -> None:
        """Update a parameter in place; its gradient is not changed."""
        g = self._gradient(param_value, param_grad)
        history = self._kept_for("history", param_name, param_value)
        history.addcmul_(g, g)
        root = (history + self.epsilon).sqrt_()
        _written(param_value).addcdiv_(g, root, value=-_value(self.lr_value))


class Adam(Optimizer):
    """Kingma and Ba, arXiv:1412.6980, algorithm 1; the weight decay is added to the gradient.

    The bias correction follows ``step``: without it every update counts as the first.
    """

    kept = ("m", "v")

    def __init__(
        self,
        lr: Any = 0.1,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: float = 1e-8,
        weight_decay: Any = 0,
        dtype: int = float32,
    ) -> None:
        super().__init__(lr, dtype)
        self.beta_1 = self._scheduled("beta_1_value", beta_1, "beta_1")
        self.beta_2 = self._scheduled("beta_2_value", beta_2, "beta_2")
        self.weight_decay = self._scheduled("decay_value", weight_decay, "weight_decay", 0.0)
        self.epsilon = epsilon

    def apply(self, param_name: str, param_value: Tensor, param_grad: Tensor) -> None:
        """Update a parameter in place; its gradient is not changed."""
        g = self._gradient(param_value, param_grad)
        m = self._kept_for("m", param_name, param_value)
        v = self._kept_for("v", param_name, param_value)
        beta_1, beta_2 = _value(self.beta_1_value), _value(self.beta_2_value)
        t = _value(self.step_counter) + 1
        m.mul_(beta_1).add_(g, alpha=1 - beta_1)
        v.mul_(beta_2).addcmul_(g, g, value=1 - beta_2)
        root = (v / (1 - beta_2**t)).sqrt_().add_(self.epsilon)
        rate = _value(self.lr_value) / (1 - beta_1**t)
        _written(param_value).addcdiv_(m, root, value=-rate)
