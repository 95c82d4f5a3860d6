"""Update rules: ``sgd`` and ``adam``."""

from __future__ import annotations

import math
from typing import Any

import torchlike as torch

from .array import NDArray

State = dict[str, Any]


class Optimizer:
    """Base class: the gradient is rescaled, clipped, and has ``wd`` times the weight added.

    ``param_dict`` gives each index its parameter, for ``lr_mult`` and ``wd_mult``.
    """

    slots: tuple[str, ...] = ()
    default_lr = 0.01

    def __init__(
        self,
        learning_rate: float | None = None,
        wd: float = 0.0,
        rescale_grad: float = 1.0,
        clip_gradient: float | None = None,
        lr_scheduler: Any = None,
        param_dict: dict[int, Any] | None = None,
        begin_num_update: int = 0,
    ) -> None:
        self.lr = self.default_lr if learning_rate is None else learning_rate
        if lr_scheduler is not None and learning_rate is not None:
            lr_scheduler.base_lr = learning_rate
        self.wd, self.rescale_grad, self.clip_gradient = wd, rescale_grad, clip_gradient
        self.lr_scheduler, self.param_dict = lr_scheduler, param_dict or {}
        self.num_update = self._begin = begin_num_update
        self._counts: dict[int, int] = {}

    @property
    def learning_rate(self) -> float:
        """The learning rate after the updates so far; by the scheduler where there is one."""
        return self.lr if self.lr_scheduler is None else self.lr_scheduler(self.num_update)

    def set_learning_rate(self, lr: float) -> None:
        """Set the learning rate; a UserWarning is raised where a scheduler decides."""
        if self.lr_scheduler is not None:
            raise UserWarning("the scheduler decides on the learning rate: it cannot be set")
        self.lr = lr

    def create_state(self, index: int, weight: NDArray) -> State:
        """What is kept for a weight between updates: zeros of its shape in each slot."""
        return {slot: torch.zeros_like(weight._tensor.detach()) for slot in self.slots}

    def update(self, index: int, weight: NDArray, grad: NDArray, state: State) -> None:
        """One step of a weight, in place."""
        count = self._counts.get(index, self._begin) + 1
        self._counts[index] = count
        self.num_update = max(self.num_update, count)
        parameter = self.param_dict.get(index)
        lr = self.learning_rate * (1 if parameter is None else parameter.lr_mult)
        wd = self.wd * (1 if parameter is None else parameter.wd_mult)
        with torch.no_grad():
            w, g = weight._tensor.detach(), grad._tensor.detach() * self.rescale_grad
            if self.clip_gradient is not None:
                g.clamp_(-self.clip_gradient, self.clip_gradient)
            self.step(w, g.add_(w, alpha=wd) if wd else g, state, lr, count)

    def step(self, w: Any, g: Any, state: State, lr: float, count: int) -> None:
        """Change the weight ``w`` by its finished gradient ``g``."""
        raise NotImplementedError(f"{type(self).__name__} has no step")


class SGD(Optimizer):
    """m = momentum * m - lr * g; w += m. The learning rate is part of the momentum."""

    default_lr = 0.1

    def __init__(
        self, learning_rate: float | None = None, momentum: float = 0.0, **more: Any
    ) -> None:
        super().__init__(learning_rate, **more)
        self.momentum = momentum
        self.slots = ("momentum",) if momentum else ()

    def step(self, w: Any, g: Any, state: State, lr: float, count: int) -> None:
        """Change the weight by its gradient."""
        if not self.momentum:
            w.add_(g, alpha=-lr)
            return
        m = state["momentum"]
        m.mul_(self.momentum).add_(g, alpha=-lr)
        w.add_(m)


class Adam(Optimizer):
    """Means of the gradient and its square (Kingma and Ba, 2015, the form at the end of section 2).

    m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g g; w -= lr sqrt(1 - b2^t) / (1 - b1^t) *
    m / (sqrt(v) + epsilon).
    """

    slots = ("mean", "var")
    default_lr = 0.001

    def __init__(
        self,
        learning_rate: float | None = None,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        **more: Any,
    ) -> None:
        super().__init__(learning_rate, **more)
        self.beta1, self.beta2, self.epsilon = beta1, beta2, epsilon

    def step(self, w: Any, g: Any, state: State, lr: float, count: int) -> None:
        """Change the weight by its gradient."""
        m, v = state["mean"], state["var"]
        m.mul_(self.beta1).add_(g, alpha=1 - self.beta1)
        v.mul_(self.beta2).addcmul_(g, g, value=1 - self.beta2)
        lr *= math.sqrt(1 - self.beta2**count) / (1 - self.beta1**count)
        w.addcdiv_(m, v.sqrt().add_(self.epsilon), value=-lr)


NAMES: dict[str, type[Optimizer]] = {"sgd": SGD, "adam": Adam}


def create(name: Any, **settings: Any) -> Optimizer:
    """An optimizer from its name and settings, or itself; ValueError for an unknown name."""
    if isinstance(name, Optimizer):
        return name
    if str(name).lower() not in NAMES:
        raise ValueError(f"there is no optimizer {name!r}, only {', '.join(NAMES)}")
    return NAMES[name.lower()](**settings)


def register(cls: type[Optimizer]) -> type[Optimizer]:
    """Let an optimizer be made by its class's name."""
    NAMES[cls.__name__.lower()] = cls
    return cls
