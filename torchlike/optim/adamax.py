"""Adamax."""

from __future__ import annotations

from typing import Any, ClassVar

from .elementwise import Elementwise, check_beta, check_lr, check_not_negative, plain

__all__ = ["Adamax"]


class Adamax(Elementwise):
    """Adam with the largest recent gradient in place of the root mean square.

    (Kingma and Ba, 2014, section 7.)
    """

    writes: ClassVar[dict[str, int]] = {"exp_inf": 2}

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative("epsilon value", eps)
        check_beta(betas)
        check_not_negative("weight_decay value", weight_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
            "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def buffers(self, group: dict[str, Any]) -> tuple[str, ...]:
        """The mean gradient and the decaying maximum."""
        return ("exp_avg", "exp_inf")

    def begin(self, o: Any, state: dict[str, Any], step: float) -> None:
        """Correct for a mean that started from zero."""
        o.size = -plain(o.lr / (1 - o.betas[0] ** step))

    def follow(self, F: Any, o: Any, x: Any, g: Any, *means: Any) -> None:
        """x -= size * m / max(beta2 * u, abs(g) + eps)."""
        m, u = means
        g = F.gradient(x, g, o.maximize, o.weight_decay)
        m = F.put(m, F.lerp(m, g, 1 - o.betas[0], m))
        size = F.new("root", x)
        size = F.plus(F.absolute(g, size), o.eps, size)
        u = F.put(u, F.maximum(F.mul(u, o.betas[1], u), size, u))
        F.put(x, F.addcdiv(x, m, u, o.size, x))
