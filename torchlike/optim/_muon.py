"""Muon."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

from functional.modes import no_grad
from functional.ops.added_products import addmm
from functional.ops.create import like
from functional.tensor import Tensor

from . import on_tensors as F
from .elementwise import check_one, plain, scalar
from .optimizer import Optimizer
from .updates import closure_loss

__all__ = ["Muon"]


class Muon(Optimizer):
    """Momentum for matrices, made orthogonal before it is applied.

    ``ns_coefficients`` and ``ns_steps`` are those of the Newton-Schulz iteration, which runs in
    bfloat16; ``adjust_lr_fn`` is "original" (None) or "match_rms_adamw" and scales the rate by
    the matrix's shape. (Jordan et al., 2024; Liu et al., 2025.)
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        check_one(lr)
        for name, value in (
            ("Learning rate", lr), ("momentum", momentum), ("weight decay", weight_decay),
        ):  # fmt: skip
            if not value >= 0.0:
                raise ValueError(f"{name} should be >= 0 but is: {value}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
            "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }  # fmt: skip
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError(
                        "Muon only supports 2D parameters whereas we found a parameter with "
                        f"size: {p.size()}"
                    )

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every matrix that has a gradient; returns the closure's loss."""
        loss = closure_loss(closure)
        with no_grad():
            for group in self.param_groups:
                for p in self._ready(group):
                    _update(p, p._grad, self.state[p]["momentum_buffer"], group)
        return loss

    def _ready(self, group: dict[str, Any]) -> list[Tensor]:
        """The matrices with gradients, each with its state."""
        params = [p for p in group["params"] if p._grad is not None]
        for p in params:
            if p.is_complex():
                raise RuntimeError("Muon does not support complex parameters")
            if p._grad.is_sparse:
                raise RuntimeError("Muon does not support sparse gradients")
            if "momentum_buffer" not in self.state[p]:
                self.state[p]["momentum_buffer"] = like(0, p._grad)
        return params


def _update(p: Tensor, g: Any, buffer: Tensor, group: dict[str, Any]) -> None:
    if g.ndim != 2:
        raise ValueError("Param gradient must be a 2D matrix")
    momentum, lr = group["momentum"], scalar(group["lr"], False)
    buffer.copy_(F.lerp(buffer, g, 1 - momentum, None))
    update = F.lerp(g, buffer, momentum, None) if group["nesterov"] else buffer
    update = _orthogonal(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
    p.mul_(plain(1 - lr * group["weight_decay"]))
    size = lr * _ratio(group["adjust_lr_fn"], *p.shape)
    p.add_(update.to(p.dtype), alpha=-plain(size))


def _orthogonal(g: Tensor, coefficients: Any, steps: int, eps: float) -> Tensor:
    """A matrix near to the orthogonal one of g's polar form, in bfloat16."""
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    tall = g.shape[0] > g.shape[1]
    x = g.bfloat16()
    x = x.T if tall else x
    wide = x.float()
    x.div_((wide * wide).sum().sqrt().bfloat16().clamp(min=eps))
    for _ in range(steps):
        gram = x @ x.T
        x = addmm(x, addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.T if tall else x


def _ratio(kind: str | None, rows: int, columns: int) -> float:
    if kind == "match_rms_adamw":
        return 0.2 * sqrt(max(rows, columns))
    return sqrt(max(1, rows / columns))
