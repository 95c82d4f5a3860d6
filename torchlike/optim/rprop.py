"""Rprop."""

from __future__ import annotations

from typing import Any, ClassVar

from functional.ops.create import like

from .elementwise import Elementwise, check_lr, new_count, scalar

__all__ = ["Rprop"]


class Rprop(Elementwise):
    """Steps by the gradient's sign, longer while it stays and shorter when it changes.

    ``etas`` are the two factors, ``step_sizes`` the limits of the step (Riedmiller and Braun,
    1993).
    """

    writes: ClassVar[dict[str, int]] = {"step_size": 2}

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def buffers(self, group: dict[str, Any]) -> tuple[str, ...]:
        """The gradient before, and the sizes of the steps."""
        return ("prev", "step_size")

    def start(self, state: dict[str, Any], p: Any, group: dict[str, Any]) -> None:
        """Every step starts from ``lr``."""
        state["step"], state["prev"] = new_count(), like(0, p)
        lr = float(scalar(group["lr"], False))
        state["step_size"] = like(complex(lr, lr) if p.is_complex() else lr, p._grad)

    def follow(self, F: Any, o: Any, x: Any, g: Any, *buffers: Any) -> None:
        """x -= sign(g) * size, with no step where the sign has changed."""
        previous, size = buffers
        smaller, larger = o.etas
        g = F.gradient(x, g, o.maximize, 0)
        factor = F.factors(g, previous, smaller, larger)
        size = F.put(size, F.clamp(F.times(size, factor, size), *o.step_sizes, size))
        g = F.without(g, factor, smaller)
        F.put(x, F.addcmul_signs(x, g, size, x))
        F.put(previous, g)
