"""Adagrad."""

from __future__ import annotations

from typing import Any, ClassVar

from functional.modes import no_grad
from functional.ops.create import like
from functional.ops.sparse import coo_of
from functional.tensor import Tensor

from ..nn.parameter import is_lazy
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
        if is_lazy(p):
            p.abs()  # it has no shape yet, which is an error of its own
        state["step"] = new_count(fused=group["fused"])
        first = self.defaults["initial_accumulator_value"]
        state["sum"] = like(complex(first, first) if p.is_complex() else first, p)

    def begin(self, o: Any, state: dict[str, Any], step: float) -> None:
        """The size of the step."""
        o.size = -plain(o.lr / (1 + (step - 1) * o.lr_decay))

    def check_sparse(self, group: dict[str, Any]) -> None:
        """Sparse gradients are welcome."""

    def _update_tensors(self, p: Any, buffers: list[Any], o: Any) -> None:
        if not p._grad.is_sparse:
            super()._update_tensors(p, buffers, o)
            return
        if o.weight_decay != 0:
            raise RuntimeError("weight_decay option is not compatible with sparse gradients")
        with no_grad():
            _in_places(p, buffers[0], o)

    def follow(self, F: Any, o: Any, x: Any, g: Any, *sums: Any) -> None:
        """x -= size * g / (sqrt(sum) + eps)."""
        g = F.gradient(x, g, o.maximize, o.weight_decay)
        (total,) = sums
        total = F.put(total, F.addcmul(total, g, g, 1, total))
        root = F.sqrt(total, F.new("root", x))
        F.put(x, F.addcdiv(x, g, F.plus(root, o.eps, root), o.size, x))


def _in_places(p: Any, total: Any, o: Any) -> None:
    """The update in the places of a sparse gradient."""
    g = (-p._grad if o.maximize else p._grad).coalesce()
    places, held, size = g._indices(), g._values(), tuple(g.shape)
    total.add_(coo_of(places, held * held, size, True))
    root = total.sparse_mask(g)._values().sqrt() + o.eps
    p.add_(coo_of(places, held / root, size, True), alpha=o.size)
