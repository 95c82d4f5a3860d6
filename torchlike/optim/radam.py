"""RAdam."""

from __future__ import annotations

from typing import Any, ClassVar

from .adam import decayed, moments, set_rates
from .elementwise import Elementwise, check_beta, check_lr, check_not_negative, plain

__all__ = ["RAdam"]


class RAdam(Elementwise):
    """Adam that takes plain steps until the mean square can be relied on (Liu et al., 2020).

    ``decoupled_weight_decay`` shrinks the parameters directly.
    """

    late: ClassVar[dict[str, Any]] = {"decoupled_weight_decay": False, **Elementwise.late}
    writes: ClassVar[dict[str, int]] = {"exp_avg_sq": 2}

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative("epsilon value", eps)
        check_beta(betas)
        check_not_negative("weight_decay value", weight_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "maximize": maximize, "foreach": foreach, "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def buffers(self, group: dict[str, Any]) -> tuple[str, ...]:
        """Both means."""
        return ("exp_avg", "exp_avg_sq")

    def begin(self, o: Any, state: dict[str, Any], step: float) -> None:
        """Corrections of the means, and the rectification where its variance is finite."""
        set_rates(o)
        beta1, beta2 = o.betas
        o.correction, second = plain(1 - beta1**step), 1 - beta2**step
        limit = 2 / (1 - beta2) - 1
        length = limit - 2 * step * (beta2**step) / second
        o.rate, o.rectified = plain(o.lr), length > 5.0
        if o.rectified:
            above = (length - 4) * (length - 2) * limit
            o.factor = plain((above / ((limit - 4) * (limit - 2) * length)) ** 0.5)
            o.root = plain(second**0.5)

    def parameter_writes(self, o: Any) -> int:
        """The decoupled decay is a write of its own."""
        return 2 if o.weight_decay and o.decoupled_weight_decay else 1

    def follow(self, F: Any, o: Any, x: Any, g: Any, *means: Any) -> None:
        """x -= lr * m / correction, times factor * root / (sqrt(v) + eps) when rectified."""
        g = decayed(F, o, x, g)
        m, v = moments(F, o, g, *means)
        update = F.new("update", x)
        update = F.mul(F.div(m, o.correction, update), o.rate, update)
        if o.rectified:
            root = F.new("root", x)
            root = F.plus(F.sqrt(v, root), o.eps, root)
            root = F.mul(F.reciprocal(root, root), o.root, root)
            update = F.mul(F.times(update, root, update), o.factor, update)
        F.put(x, F.plus_scaled(x, update, -1, x))
