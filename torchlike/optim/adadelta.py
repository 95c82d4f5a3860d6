"""Adadelta."""

from __future__ import annotations

from typing import Any, ClassVar

from .elementwise import Elementwise, check_lr, check_not_negative, plain

__all__ = ["Adadelta"]


class Adadelta(Elementwise):
    """Steps as large as earlier steps were, relative to the gradient (Zeiler, 2012).

    ``rho`` is the decay rate of both mean squares, ``eps`` is added to them.
    """

    capturable_devices = "['cuda', 'xpu', 'hpu', 'privateuseone']"
    writes: ClassVar[dict[str, int]] = {"square_avg": 2, "acc_delta": 2}

    def __init__(
        self,
        params: Any,
        lr: Any = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_not_negative("epsilon value", eps)
        check_not_negative("weight_decay value", weight_decay)
        defaults = {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "capturable": capturable, "foreach": foreach, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def buffers(self, group: dict[str, Any]) -> tuple[str, ...]:
        """Mean squares of the gradients and of the steps."""
        return ("square_avg", "acc_delta")

    def begin(self, o: Any, state: dict[str, Any], step: float) -> None:
        """The size of the step."""
        o.size = -plain(o.lr)

    def follow(self, F: Any, o: Any, x: Any, g: Any, *means: Any) -> None:
        """x -= lr * g * sqrt(steps + eps) / sqrt(squares + eps)."""
        v, u = means
        g = F.gradient(x, g, o.maximize, o.weight_decay)
        root, delta = F.new("root", x), F.new("delta", x)
        v = F.put(v, F.addcmul(F.mul(v, o.rho, v), g, g, 1 - o.rho, v))
        root = F.sqrt(F.plus(v, o.eps, root), root)
        delta = F.sqrt(F.plus(u, o.eps, delta), delta)
        delta = F.times(F.over(delta, root, delta), g, delta)
        F.put(u, F.addcmul(F.mul(u, o.rho, u), delta, delta, 1 - o.rho, u))
        F.put(x, F.plus_scaled(x, delta, o.size, x))
