"""Adafactor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from functional.modes import no_grad
from functional.ops.create import filled, like
from functional.tensor import Tensor

from ..number_info import finfo
from . import on_tensors as F
from .elementwise import check_one, new_count, plain, scalar
from .on_arrays import OnArrays, update
from .optimizer import Optimizer
from .updates import closure_loss, count_writes, plain_pair

__all__ = ["Adafactor"]


def _check(lr: Any, beta2_decay: float, eps: tuple[float | None, float], d: float,
           weight_decay: float) -> None:  # fmt: skip
    """PyTorch's errors for values out of range."""
    check_one(lr)
    if not lr >= 0.0:
        raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
    if not beta2_decay <= 0.0:
        raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
    if eps[0] is not None and not eps[0] >= 0.0:
        raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
    if not eps[1] >= 0.0:
        raise ValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
    if not d >= 1.0:
        raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
    if not weight_decay >= 0.0:
        raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")


class Adafactor(Optimizer):
    """Adam without momentum, whose mean squares of matrices are kept as rows and columns.

    ``beta2_decay`` is the exponent with which the means' weight falls, ``eps`` are the least
    variance (None: the dtype's precision) and the least scale of a parameter, ``d`` limits the
    size of an update. (Shazeer and Stern, 2018.)
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        _check(lr, beta2_decay, eps, d, weight_decay)
        defaults = {
            "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d,
            "weight_decay": weight_decay, "foreach": foreach, "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("foreach", None)
            for p in group["params"]:
                held = self.state.get(p)
                if held and not isinstance(held["step"], Tensor):
                    held["step"] = new_count(float(held["step"]))

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient; returns the closure's loss."""
        loss = closure_loss(closure)
        with no_grad():
            for group in self.param_groups:
                eps1 = group["eps"][0]
                for p in self._ready(group):
                    eps1 = finfo(p.dtype).eps if eps1 is None else eps1
                    _update(p, self.state[p], group, eps1)
        return loss

    def _ready(self, group: dict[str, Any]) -> list[Tensor]:
        """The parameters with gradients, each with its state."""
        params = [p for p in group["params"] if p._grad is not None]
        for p in params:
            if p.is_complex():
                raise RuntimeError("Adafactor does not support complex parameters")
            if p._grad.is_sparse:
                raise RuntimeError("Adafactor does not support sparse gradients")
            if not self.state[p]:
                _start(self.state[p], p._grad)
        return params


def _start(state: dict[str, Any], g: Tensor) -> None:
    state["step"] = new_count()
    if g.dim() < 2:
        state["variance"] = like(0, g)
        return
    *lead, rows, columns = g.shape
    state["row_var"] = filled(0, (*lead, rows, 1), g.dtype, g.device, False)
    state["col_var"] = filled(0, (*lead, 1, columns), g.dtype, g.device, False)


def _update(p: Tensor, state: dict[str, Any], group: dict[str, Any], eps1: float) -> None:
    state["step"]._data += 1
    count_writes(state["step"])
    step, lr = state["step"].item(), scalar(group["lr"], False)
    weight, rate = step ** group["beta2_decay"], min(lr, 1 / step**0.5)
    kind = _update_arrays if plain_pair(p, p._grad) else _update_tensors
    kind(p, state, group, weight, rate, eps1)


def _least(group: dict[str, Any], norm: float, count: int, rate: Any) -> Any:
    """The size of a step: relative to the parameter's root mean square."""
    return max(group["eps"][1], norm / count**0.5) * rate


def _limit(group: dict[str, Any], norm: float, count: int) -> float:
    """What an update that is too large is divided by."""
    return max(1.0, norm / (count**0.5 * group["d"]))


# --- on arrays ------------------------------------------------------------------------------------


def _update_arrays(
    p: Any, state: dict[str, Any], group: dict[str, Any], weight: float, rate: Any, eps1: float
) -> None:
    x, lr, decay = p._data, scalar(group["lr"], False), group["weight_decay"]
    scale = _least(group, _length(x), x.size, rate)
    if decay != 0:
        np.multiply(x, plain(1 - lr * decay), x)
    passes = OnArrays()
    g = passes.gradient(x, p._grad._data, group["maximize"], 0)
    delta = passes.new("delta", x)
    passes.run()
    if "variance" in state:
        v = state["variance"]
        update(lambda F, *block: _estimate(F, *block, weight), [[v._data, g, delta]])
        count_writes(v)
    else:
        _estimate_matrix(state, g, delta, weight, eps1)
    update(lambda F, d, g: _scale(F, d, g, eps1 * eps1), [[delta, g]])
    factor = plain(-scale / _limit(group, _length(delta), x.size))
    update(lambda F, x, d: F.plus_scaled(x, d, factor, x), [[x, delta]])
    count_writes(p, 2 if decay != 0 else 1)


def _estimate(F: Any, v: ndarray, g: ndarray, delta: ndarray, weight: float) -> None:
    """The running mean of the square, and a copy of it."""
    F.put(delta, F.lerp(v, F.times(g, g, F.new("root", g)), weight, v))


def _estimate_matrix(
    state: dict[str, Any], g: ndarray, delta: ndarray, weight: float, eps1: float
) -> None:
    """The product of the means of rows and columns, over the mean of both."""
    passes = OnArrays()
    square = np.multiply(g, g, passes.new("root", g))
    for name, axis in (("row_var", -1), ("col_var", -2)):
        mean = state[name]
        found = np.square(np.sqrt(square.sum(axis, keepdims=True))) / g.shape[axis]
        passes.lerp(mean._data, found, weight, mean._data)
        count_writes(mean)
    passes.run()
    rows, columns = state["row_var"]._data, state["col_var"]._data
    np.multiply(rows, columns, delta)
    np.divide(delta, np.maximum(rows.mean(-2, keepdims=True), g.dtype.type(eps1)), delta)


def _scale(F: Any, variance: ndarray, g: ndarray, least: float) -> None:
    """The gradient over the root of the variance, in its place."""
    F.maximum(variance, variance.dtype.type(least), variance)
    F.times(F.reciprocal(F.sqrt(variance, variance), variance), g, variance)


def _length(x: ndarray) -> float:
    flat = x.reshape(-1)
    return float(np.sqrt(np.dot(flat, flat)))


# --- on tensors -----------------------------------------------------------------------------------


def _update_tensors(
    p: Any, state: dict[str, Any], group: dict[str, Any], weight: float, rate: Any, eps1: float
) -> None:
    g = -p._grad if group["maximize"] else p._grad
    scale = _least(group, _norm(p), p.numel(), rate)
    if group["weight_decay"] != 0:
        p.mul_(plain(1 - scalar(group["lr"], False) * group["weight_decay"]))
    variance = _variance(state, g, weight, eps1).clamp_(min=eps1 * eps1)
    update = variance.rsqrt_().mul_(g)
    factor = plain(-scale / _limit(group, _norm(update), p.numel()))
    p.copy_(F.plus_scaled(p, update, factor, None))


def _variance(state: dict[str, Any], g: Tensor, weight: float, eps1: float) -> Tensor:
    """The estimate of the mean square, in new memory."""
    if g.dim() < 2:
        v = state["variance"]
        return v.copy_(F.lerp(v, g * g, weight, None)).clone()
    rows, columns = state["row_var"], state["col_var"]
    for mean, dim in ((rows, -1), (columns, -2)):
        square = _square_norms(g, dim) / g.shape[dim]
        mean.copy_(F.lerp(mean, square, weight, None))
    return (rows @ columns).div_(rows.mean(-2, keepdim=True).clamp_(min=eps1))


def _square_norms(g: Tensor, dim: int) -> Tensor:
    """Norms squared, with the rounding of a norm."""
    wide = g.float() if g.dtype.itemsize == 2 else g
    return (wide * wide).sum(dim, keepdim=True).sqrt().to(g.dtype).square()


def _norm(t: Tensor) -> float:
    wide = t.float() if t.dtype.itemsize == 2 else t
    return (wide * wide).sum().sqrt().to(t.dtype).item()
