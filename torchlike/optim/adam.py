"""Adam and AdamW."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from functional.dtypes import float32, float64, get_default_dtype
from functional.kernels.scratch import scratch
from functional.modes import no_grad
from functional.ops.create import filled, like
from functional.tensor import Tensor

from .optimizer import Optimizer
from .updates import (
    add_scaled,
    check_options,
    closure_loss,
    count_writes,
    in_blocks,
    number,
    plain_pair,
    scaled_sum,
)

__all__ = ["Adam", "AdamW"]

add, multiply, divide, subtract = np.add, np.multiply, np.divide, np.subtract


def _check(lr: Any, betas: Any, eps: float, weight_decay: float, options: dict[str, Any]) -> None:
    """PyTorch's errors for values out of range."""
    foreach = bool(options["foreach"]) and not options["capturable"]
    _check_tensor("lr", lr, foreach)
    for name, value in (("learning rate", lr), ("epsilon value", eps)):
        if not value >= 0.0:
            raise ValueError(f"Invalid {name}: {value}")
    for i in (0, 1):
        if not 0.0 <= betas[i] < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {betas[i]}")
    if not weight_decay >= 0.0:
        raise ValueError(f"Invalid weight_decay value: {weight_decay}")
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


class Adam(Optimizer):
    """Steps of the size of ``lr``, scaled by running means of the gradient and its square.

    ``betas`` are the decay rates of the two means, ``eps`` is added to the denominator,
    ``weight_decay`` adds that much of p to the gradient (or, with ``decoupled_weight_decay``,
    shrinks p itself), ``amsgrad`` uses the largest second mean so far, ``maximize`` climbs.
    ``foreach`` and ``fused`` are accepted and change nothing. (Kingma and Ba, 2014.)
    """

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
        check_options(type(self).__name__, defaults)
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for name in ("amsgrad", "maximize", "capturable", "differentiable"):
                group.setdefault(name, False)
            group.setdefault("decoupled_weight_decay", isinstance(self, AdamW))
            group.setdefault("foreach", None)
            group.setdefault("fused", None)
            for p in group["params"]:
                held = self.state.get(p)
                if held and not isinstance(held["step"], Tensor):
                    held["step"] = _new_count(float(held["step"]))

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient; returns the closure's loss."""
        loss = closure_loss(closure)
        for group in self.param_groups:
            options = _Options(group)
            for p in group["params"]:
                grad = p._grad
                if grad is None:
                    continue
                state = self.state[p]
                if not state:
                    _start(state, p, group)
                if group["capturable"]:
                    raise AssertionError(
                        "If capturable=True, params and state_steps must be on supported "
                        "devices: ['cuda', 'xpu', 'hpu', 'privateuseone', 'xla']."
                    )
                step = state["step"]
                step._data += 1
                count_writes(step)
                options.at(step._data.item())
                if plain_pair(p, grad):
                    self._update(p, grad._data, state, options)
                else:
                    _update_any(p, grad, state, options)
        return loss

    def _update(self, p: Any, g: Any, state: dict[str, Tensor], o: _Options) -> None:
        """The update on arrays."""
        names = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")[: 3 if o.amsgrad else 2]
        tensors = [state[name] for name in names]
        in_blocks(lambda *block: _follow(*block, o=o), p._data, g, *[t._data for t in tensors])
        for t, times in zip(tensors, (1, 2, 1), strict=False):
            count_writes(t, times)
        count_writes(p, 2 if o.decay and o.decoupled else 1)


def _gradient(x: ndarray, g: ndarray, o: _Options) -> ndarray:
    """The gradient with ``maximize`` and ``weight_decay``; the decoupled kind shrinks x."""
    own = scratch("gradient", x.shape, x.dtype)
    if o.maximize:
        g = np.negative(g, own)
    if o.decay and o.decoupled:
        multiply(x, 1 - o.lr * o.decay, x)
    elif o.decay:
        g = add(g, multiply(x, o.decay, scratch("update", x.shape, x.dtype)), own)
    return g


def _follow(x: ndarray, g: ndarray, m: ndarray, v: ndarray, *largest: ndarray, o: _Options) -> None:
    """Both averages, and x -= size * m / (sqrt(v) / root + eps)."""
    if o.decay or o.maximize:
        g = _gradient(x, g, o)
    s, t = scratch("update", x.shape, x.dtype), scratch("quotient", x.shape, x.dtype)
    subtract(g, m, s)
    if o.rate1 < 0.5:
        multiply(s, o.rate1, s)
        add(m, s, m)
    else:  # PyTorch interpolates from the nearer end
        multiply(s, 1 - o.rate1, s)
        subtract(g, s, m)
    multiply(v, o.beta2, v)
    multiply(g, o.rate2, s)
    multiply(s, g, s)
    add(v, s, v)
    if largest:
        v = np.maximum(largest[0], v, largest[0])
    np.sqrt(v, s)
    divide(s, o.root, s)
    add(s, o.eps, s)
    multiply(m, o.size, t)
    divide(t, s, t)
    subtract(x, t, x)


class AdamW(Adam):
    """Adam with ``weight_decay`` that shrinks the parameters directly.

    (Loshchilov and Hutter, 2019.) See Adam for the options.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize,
            capturable=capturable, differentiable=differentiable, fused=fused,
            decoupled_weight_decay=True,
        )  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True


def _new_count(value: float = 0.0) -> Tensor:
    wide = get_default_dtype() is float64
    return filled(value, (), float64 if wide else float32, "cpu", False)


def _start(state: dict[str, Any], p: Any, group: dict[str, Any]) -> None:
    """The state of a parameter that has not been updated yet."""
    state["step"] = _new_count()
    names = ["exp_avg", "exp_avg_sq"] + ["max_exp_avg_sq"] * bool(group["amsgrad"])
    for name in names:
        state[name] = like(0, p)


class _Options:
    """A group's options as plain numbers, and what depends on the number of the step."""

    def __init__(self, group: dict[str, Any]) -> None:
        self.lr, self.eps = number(group["lr"]), group["eps"]
        beta1, self.beta2 = (number(beta) for beta in group["betas"])
        self.beta1, self.rate1, self.rate2 = beta1, 1 - beta1, 1 - self.beta2
        self.decay, self.decoupled = group["weight_decay"], group["decoupled_weight_decay"]
        self.maximize, self.amsgrad = group["maximize"], group["amsgrad"]
        self.step = -1.0

    def at(self, step: float) -> None:
        """Correct for means that started from zero."""
        if step != self.step:
            self.step = step
            self.size = self.lr / (1 - self.beta1**step)
            self.root = (1 - self.beta2**step) ** 0.5


def _update_any(p: Any, g: Any, state: dict[str, Any], o: _Options) -> None:
    """The same in tensor operations, for other dtypes and other arrays."""
    with no_grad():
        g = -g if o.maximize else g
        if o.decay and o.decoupled:
            p.mul_(1 - o.lr * o.decay)
        elif o.decay:
            g = add_scaled(g, p, o.decay)
        names = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")
        parts = [state[name] for name in names if name in state]
        x, g, (m, v, *largest) = _real(p), _real(g), [_real(part) for part in parts]
        m.copy_(scaled_sum(m, _wide(g) - _wide(m), o.rate1))
        v.mul_(o.beta2)
        v.copy_(scaled_sum(v, _wide(g) * _wide(g), o.rate2))
        if o.amsgrad:
            largest[0].copy_(largest[0].maximum(v))
            v = largest[0]
        denominator = (v.sqrt() / o.root).add_(o.eps)
        x.copy_(scaled_sum(x, _wide(m) / _wide(denominator), -o.size))


def _wide(t: Tensor) -> Tensor:
    return t.float() if t.dtype.itemsize == 2 else t


def _real(t: Tensor) -> Tensor:
    """A complex tensor as pairs of real numbers over the same memory."""
    if not t.dtype.is_complex:
        return t
    from functional.tape.views import as_view

    x = t._data
    return as_view(x[..., None].view(t.dtype.to_real().array), t)
