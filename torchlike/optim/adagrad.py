"""Adagrad."""

from __future__ import annotations

from typing import Any, ClassVar

from functional.ops.create import like
from functional.tensor import Tensor

from .elementwise import Elementwise, check_lr, check_not_negative, new_count, plain
from .updates import check_options

__all__ = ["Adagrad"]


class Adagrad(Elementwise):
    """The gradient over the root of the sum of all its squares (Duchi et al., 2011).

    ``lr_decay`` slows down with the number of steps, ``initial_accumulator_value`` is what the sum
    starts from. ``foreach`` and ``fused`` are accepted and change nothing.
    """

    late: ClassVar[dict[str, Any]] = {
        "foreach": None, "maximize": False, "differentiable": False, "fused": None,
    }  # fmt: skip

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_lr(lr)
        check_not_negative("lr_decay value", lr_decay)
        check_not_negative("weight_decay value", weight_decay)
        check_not_negative("initial_accumulator_value value", initial_accumulator_value)
        check_not_negative("epsilon value", eps)
        defaults = {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)
        check_options(defaults)
        for group in self.param_groups:
            for p in group["params"]:
                self.start(self.state[p], p, group)

    def buffers(self, group: dict[str, Any]) -> tuple[str, ...]:
        """The sum of squares."""
        return ("sum",)

    def start(self, state: dict[str, Any], p: Tensor, group: dict[str, Any]) -> None:
        """A sum that starts from ``initial_accumulator_value``."""
        state["step"] = new_count(fused=group["fused"])
        first = self.defaults["initial_accumulator_value"]
        state["sum"] = like(complex(first, first) if p.is_complex() else first, p)

    def begin(self, o: Any, state: dict[str, Any], step: float) -> None:
        """The size of the step."""
        o.size = -plain(o.lr / (1 + (step - 1) * o.lr_decay))

    def follow(self, F: Any, o: Any, x: Any, g: Any, *sums: Any) -> None:
        """x -= size * g / (sqrt(sum) + eps)."""
        g = F.gradient(x, g, o.maximize, o.weight_decay)
        (total,) = sums
        total = F.put(total, F.addcmul(total, g, g, 1, total))
        root = F.sqrt(total, F.new("root", x))
        F.put(x, F.addcdiv(x, g, F.plus(root, o.eps, root), o.size, x))
