"""ASGD."""

from __future__ import annotations

from typing import Any

import numpy as np

from functional.ops.create import like

from .elementwise import Elementwise, check_lr, check_not_negative, new_count, plain, scalar
from .updates import count_writes

__all__ = ["ASGD"]


class ASGD(Elementwise):
    """Gradient descent that also averages the parameters, in the state ``ax``.

    The rate falls as lr / (1 + lambd * lr * step) ** alpha, averaging starts after ``t0`` steps,
    ``lambd`` shrinks the parameters (Polyak and Juditsky, 1992).
    """

    counts = ("step", "eta", "mu")
    begins_anew = True
    capturable_states = "params, mus, etas, and state_steps"

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative("weight_decay value", weight_decay)
        defaults = {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay,
            "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
            "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def buffers(self, group: dict[str, Any]) -> tuple[str, ...]:
        """The average."""
        return ("ax",)

    def start(self, state: dict[str, Any], p: Any, group: dict[str, Any]) -> None:
        """The rate starts from ``lr``, the weight of the average from one."""
        state["step"] = new_count()
        state["eta"] = new_count(float(scalar(group["lr"], False)))
        state["mu"], state["ax"] = new_count(1.0), like(0, p)

    def begin(self, o: Any, state: dict[str, Any], step: float) -> None:
        """The rates of this step."""
        o.eta, o.mu = state["eta"].item(), state["mu"].item()

    def parameter_writes(self, o: Any) -> int:
        """The decay and the step."""
        return 2

    def follow(self, F: Any, o: Any, x: Any, g: Any, *averages: Any) -> None:
        """x = (1 - lambd * eta) * x - eta * g, and the average follows x by mu."""
        (average,) = averages
        g = F.gradient(x, g, o.maximize, o.weight_decay)
        F.put(x, F.mul(x, 1 - o.lambd * o.eta, x))
        F.put(x, F.plus_scaled(x, g, -o.eta, x))
        if o.mu == 1:
            F.put(average, x)
            return
        term = F.new("update", x)
        term = F.mul(F.plus_scaled(x, average, -1, term), o.mu, term)
        F.put(average, F.plus_scaled(average, term, 1, average))

    def finish(self, o: Any, state: dict[str, Any], step: float) -> None:
        """The rates of the next step."""
        eta, mu = state["eta"], state["mu"]
        eta._data[...] = np.float32(plain(o.lr / ((1 + o.lambd * o.lr * step) ** o.alpha)))
        mu._data[...] = np.float32(1 / max(1, step - o.t0))
        count_writes(eta)
        count_writes(mu)
