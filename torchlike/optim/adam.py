"""Adam."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from functional.tensor import Tensor

from .elementwise import Elementwise, check_beta, check_not_negative, plain
from .updates import check_options

__all__ = ["Adam"]


def _check(lr: Any, betas: Any, eps: float, weight_decay: float, options: dict[str, Any]) -> None:
    """PyTorch's errors for values out of range."""
    foreach = bool(options["foreach"]) and not options["capturable"]
    _check_tensor("lr", lr, foreach)
    check_not_negative("learning rate", lr)
    check_not_negative("epsilon value", eps)
    check_beta(betas)
    check_not_negative("weight_decay value", weight_decay)
    if isinstance(betas[0], Tensor) != isinstance(betas[1], Tensor):
        raise ValueError("betas must be either both floats or both Tensors")
    for i in (0, 1):
        _check_tensor(f"betas[{i}]", betas[i], foreach)


def _check_tensor(name: str, value: Any, foreach: bool) -> None:
    if not isinstance(value, Tensor):
        return
    if foreach:
        raise ValueError(
            f"{name} as a Tensor is not supported for capturable=False and foreach=True"
        )
    if value.numel() != 1:
        raise ValueError(f"Tensor {name} must be 1-element")


class Adam(Elementwise):
    """Steps of the size of ``lr``, scaled by running means of the gradient and its square.

    ``betas`` are the decay rates of the two means, ``eps`` is added to the denominator,
    ``weight_decay`` adds that much of p to the gradient (or, with ``decoupled_weight_decay``,
    shrinks p itself), ``amsgrad`` uses the largest second mean so far, ``maximize`` climbs.
    ``foreach`` and ``fused`` are accepted and change nothing. (Kingma and Ba, 2014.)
    """

    late: ClassVar[dict[str, Any]] = {"amsgrad": False, "fused": None, **Elementwise.late}
    writes: ClassVar[dict[str, int]] = {"exp_avg_sq": 2}

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "amsgrad": amsgrad, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable, "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }  # fmt: skip
        _check(lr, betas, eps, weight_decay, defaults)
        super().__init__(params, defaults)
        check_options(defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("decoupled_weight_decay", False)

    def buffers(self, group: dict[str, Any]) -> tuple[str, ...]:
        """Both means, and with ``amsgrad`` the largest second one."""
        return ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")[: 3 if group["amsgrad"] else 2]

    def check_sparse(self, group: dict[str, Any]) -> None:
        """PyTorch's error for sparse gradients."""
        raise RuntimeError(
            "Adam does not support sparse gradients, please consider SparseAdam instead"
        )

    def begin(self, o: Any, state: dict[str, Any], step: float) -> None:
        """Correct for means that started from zero."""
        set_rates(o)
        beta1, beta2 = o.betas
        if o.differentiable:  # PyTorch then computes with the count itself
            step = np.float32(step)
        o.size = -plain(o.lr / (1 - beta1**step))
        o.root = plain((1 - beta2**step) ** 0.5)

    def parameter_writes(self, o: Any) -> int:
        """The decoupled decay is a write of its own."""
        return 2 if o.weight_decay and o.decoupled_weight_decay else 1

    def follow(self, F: Any, o: Any, x: Any, g: Any, m: Any, v: Any, *largest: Any) -> None:
        """x += size * m / (sqrt(v) / root + eps)."""
        g = decayed(F, o, x, g)
        m, v = moments(F, o, g, m, v)
        if largest:
            v = F.put(largest[0], F.maximum(largest[0], v, largest[0]))
        F.put(x, F.adapted(x, m, v, o, x))


def decayed(F: Any, o: Any, x: Any, g: Any) -> Any:
    """The gradient with its sign and decay; decoupled decay goes into x instead."""
    if not (o.weight_decay and o.decoupled_weight_decay):
        return F.gradient(x, g, o.maximize, o.weight_decay)
    F.put(x, F.mul(x, plain(1 - o.lr * o.weight_decay), x))
    return F.gradient(x, g, o.maximize, 0)


def set_rates(o: Any) -> None:
    """What ``moments`` needs, computed once for all parameters."""
    beta1, beta2 = o.betas
    o.rate1, o.beta2, o.rate2 = plain(1 - beta1), plain(beta2), plain(1 - beta2)


def moments(F: Any, o: Any, g: Any, m: Any, v: Any) -> tuple[Any, Any]:
    """The running means of the gradient and of its square."""
    m = F.put(m, F.lerp(m, g, o.rate1, m))
    return m, F.put(v, F.addcmul(F.mul(v, o.beta2, v), g, g, o.rate2, v))
