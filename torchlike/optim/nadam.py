"""NAdam."""

from __future__ import annotations

from typing import Any, ClassVar

from .adam import decayed, moments, set_rates
from .elementwise import Elementwise, check_beta, check_lr, check_not_negative, new_count, plain
from .updates import count_writes

__all__ = ["NAdam"]


class NAdam(Elementwise):
    """Adam with Nesterov's momentum, whose rate grows with the steps (Dozat, 2016).

    ``momentum_decay`` says how fast; ``decoupled_weight_decay`` shrinks the parameters directly.
    """

    counts = ("step", "mu_product")
    late: ClassVar[dict[str, Any]] = {"decoupled_weight_decay": False, **Elementwise.late}
    writes: ClassVar[dict[str, int]] = {"exp_avg_sq": 2}
    begins_anew = True
    capturable_states = "params, mu_products and state_steps"

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
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
        check_not_negative("momentum_decay value", momentum_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "momentum_decay": momentum_decay, "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize, "foreach": foreach, "capturable": capturable,
            "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def buffers(self, group: dict[str, Any]) -> tuple[str, ...]:
        """Both means."""
        return ("exp_avg", "exp_avg_sq")

    def start(self, state: dict[str, Any], p: Any, group: dict[str, Any]) -> None:
        """The product of the momentum's rates starts from one."""
        state["step"], state["mu_product"] = new_count(), new_count(1.0)
        empty: dict[str, Any] = {}
        super().start(empty, p, group)
        state.update({name: empty[name] for name in self.buffers(group)})

    def begin(self, o: Any, state: dict[str, Any], step: float) -> None:
        """The rates of this step and the next one."""
        set_rates(o)
        beta1, beta2 = o.betas
        o.correction = plain(1 - beta2**step)
        rate = beta1 * (1.0 - 0.5 * (0.96 ** (step * o.momentum_decay)))
        following = beta1 * (1.0 - 0.5 * (0.96 ** ((step + 1) * o.momentum_decay)))
        product = state["mu_product"]
        if o.differentiable:  # it may need a gradient itself
            so_far = product.mul_(rate).clone()
            o.now = -o.lr * (1.0 - rate) / (1.0 - so_far)
            o.ahead = -o.lr * following / (1.0 - so_far * following)
            return
        product._data *= rate
        count_writes(product)
        so_far = product._data.item()
        o.now = plain(-o.lr * (1.0 - rate) / (1.0 - so_far))
        o.ahead = plain(-o.lr * following / (1.0 - so_far * following))

    def parameter_writes(self, o: Any) -> int:
        """Two terms, and the decoupled decay."""
        return 3 if o.weight_decay and o.decoupled_weight_decay else 2

    def follow(self, F: Any, o: Any, x: Any, g: Any, *means: Any) -> None:
        """x += (now * g + ahead * m) / (sqrt(v / correction) + eps)."""
        g = decayed(F, o, x, g)
        m, v = moments(F, o, g, *means)
        root = F.new("root", x)
        root = F.sqrt(F.div(v, o.correction, root), root)
        root = F.plus(root, o.eps, root)
        F.put(x, F.addcdiv(x, g, root, o.now, x))
        F.put(x, F.addcdiv(x, m, root, o.ahead, x))
