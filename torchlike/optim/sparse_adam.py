"""SparseAdam."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

from functional.modes import no_grad
from functional.ops.create import like
from functional.ops.sparse import coo_of
from functional.tape.sparse import is_sparse
from functional.tensor import Tensor

from .elementwise import check_beta, check_one, scalar
from .optimizer import Optimizer
from .updates import closure_loss

__all__ = ["SparseAdam"]


class SparseAdam(Optimizer):
    """Adam for sparse gradients: only the moments and parameters that have a gradient move.

    The parameters themselves are dense.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        check_one(lr)
        for name, value in (("learning rate", lr), ("epsilon value", eps)):
            if not value > 0.0:
                raise ValueError(f"Invalid {name}: {value}")
        check_beta(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        self._refuse("Sparse", is_sparse, "requires dense parameter tensors")
        self._refuse("Complex", Tensor.is_complex, "does not support complex parameters")

    def _refuse(self, kind: str, has: Callable[[Any], bool], text: str) -> None:
        found = [
            [i, j]
            for i, group in enumerate(self.param_groups)
            for j, p in enumerate(group["params"])
            if has(p)
        ]
        if found:
            raise ValueError(f"{kind} params at indices {found}: SparseAdam {text}")

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient; returns the closure's loss."""
        loss = closure_loss(closure)
        with no_grad():
            for group in self.param_groups:
                params = [p for p in group["params"] if p._grad is not None]
                if not all(is_sparse(p._grad) for p in params):
                    raise RuntimeError(
                        "SparseAdam does not support dense gradients, please consider Adam instead"
                    )
                for p in params:
                    state = self.state[p]
                    if not state:
                        state.update(step=0, exp_avg=like(0, p), exp_avg_sq=like(0, p))
                    state["step"] += 1
                    _update(p, state, group)
        return loss


def _update(p: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
    g = -p._grad if group["maximize"] else p._grad
    g = g.coalesce()
    held = g._values()
    if not held.numel():
        return
    first, second = group["betas"]
    mean = _moved(state["exp_avg"], g, held, 1 - first)
    square = _moved(state["exp_avg_sq"], g, held * held, 1 - second)
    step = state["step"]
    rate = scalar(group["lr"], False)
    size = rate * sqrt(1 - second**step) / (1 - first**step)
    p.add_(_in_places(g, (mean / (square.sqrt() + group["eps"])) * -float(size)))


def _moved(average: Any, g: Any, target: Any, weight: float) -> Tensor:
    """Move an average towards ``target`` in the places of ``g``: the new values there."""
    old = average.sparse_mask(g)._values()
    change = (target - old) * weight
    average.add_(_in_places(g, change))
    return change + old


def _in_places(g: Any, values: Any) -> Tensor:
    return coo_of(g._indices(), values, tuple(g.shape), True)
