"""RMSprop."""

from __future__ import annotations

from typing import Any, ClassVar

from .elementwise import Elementwise, check_lr, check_not_negative, plain

__all__ = ["RMSprop"]


class RMSprop(Elementwise):
    """The gradient over the root of a running mean of its square (Hinton, 2012).

    ``alpha`` is the mean's decay rate, ``eps`` is added to the root; ``centered`` divides by the
    deviation instead, ``momentum`` gathers the quotients.
    """

    late: ClassVar[dict[str, Any]] = {"momentum": 0, "centered": False, **Elementwise.late}
    writes: ClassVar[dict[str, int]] = {"square_avg": 2, "momentum_buffer": 2}

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative("epsilon value", eps)
        check_not_negative("momentum value", momentum)
        check_not_negative("weight_decay value", weight_decay)
        check_not_negative("alpha value", alpha)
        defaults = {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
            "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def buffers(self, group: dict[str, Any]) -> tuple[str, ...]:
        """The mean square; with options, the momentum and the mean."""
        names = ("square_avg",)
        names += ("momentum_buffer",) if group["momentum"] > 0 else ()
        return names + (("grad_avg",) if group["centered"] else ())

    def begin(self, o: Any, state: dict[str, Any], step: float) -> None:
        """The size of the step."""
        o.size = -plain(o.lr)

    def follow(self, F: Any, o: Any, x: Any, g: Any, v: Any, *others: Any) -> None:
        """x -= lr * g / (root + eps)."""
        g = F.gradient(x, g, o.maximize, o.weight_decay)
        rate, root = 1 - o.alpha, F.new("root", x)
        v = F.put(v, F.addcmul(F.mul(v, o.alpha, v), g, g, rate, v))
        if o.centered:
            mean = F.put(others[-1], F.lerp(others[-1], g, rate, others[-1]))
            root = F.sqrt(F.addcmul(v, mean, mean, -1, root), root)
        else:
            root = F.sqrt(v, root)
        root = F.plus(root, o.eps, root)
        if o.momentum > 0:
            b = others[0]
            b = F.put(b, F.addcdiv(F.mul(b, o.momentum, b), g, root, 1, b))
            F.put(x, F.plus_scaled(x, b, o.size, x))
        else:
            F.put(x, F.addcdiv(x, g, root, o.size, x))
