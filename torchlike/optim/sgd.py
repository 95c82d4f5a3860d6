"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy import ndarray

from functional.kernels.scratch import scratch
from functional.modes import no_grad
from functional.tensor import Tensor, wrap

from .optimizer import Optimizer
from .updates import (
    add_scaled,
    check_fused,
    check_options,
    closure_loss,
    count_writes,
    in_blocks,
    number,
    plain_pair,
)

__all__ = ["SGD"]

_FEW = 1 << 12
add, multiply, subtract, negative = np.add, np.multiply, np.subtract, np.negative


class SGD(Optimizer):
    """p -= lr * v, where v is the gradient or, with ``momentum``, v = momentum * v + gradient.

    ``weight_decay`` adds that much of p to the gradient, ``dampening`` takes so much of the
    gradient away before it enters v, ``nesterov`` looks ahead, ``maximize`` climbs. ``foreach``
    and ``fused`` are accepted and change nothing.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: Any = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for name, value in (
            ("learning rate", lr),
            ("momentum value", momentum),
            ("weight_decay value", weight_decay),
        ):
            if value < 0.0:
                raise ValueError(f"Invalid {name}: {value}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
            "nesterov": nesterov, "maximize": maximize, "foreach": foreach,
            "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)
        check_options(defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for name, value in (
                ("nesterov", False),
                ("maximize", False),
                ("foreach", None),
                ("differentiable", False),
                ("fused", False),
            ):
                group.setdefault(name, value)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient; returns the closure's loss."""
        loss = closure_loss(closure)
        state = self.state
        for group in self.param_groups:
            momentum = group["momentum"]
            options, recorded = _Options(group), group["differentiable"]
            for p in group["params"]:
                grad = p._grad
                if grad is None:
                    continue
                if group["fused"]:
                    check_fused(p)
                buffer = state[p].get("momentum_buffer") if momentum else None
                if plain_pair(p, grad) and not recorded:
                    made = self._update(p, grad._data, buffer, options)
                else:
                    made = _update_any(p, grad, buffer, options, recorded)
                if made is not None:
                    state[p]["momentum_buffer"] = made
        return loss

    def _update(self, p: Any, g: Any, buffer: Any, o: _Options) -> Any:
        """The update on arrays; returns the momentum buffer if it is new."""
        x, made = p._data, None
        if not o.momentum and not o.changes_gradient and x.size < _FEW:
            _descend(x, g, o)
        elif not o.momentum:
            in_blocks(lambda x, g: _descend(x, _gradient(x, g, o), o), x, g)
        elif buffer is None:
            made = wrap(np.empty_like(g))
            in_blocks(lambda x, g, v: _begin(x, _gradient(x, g, o), v, o), x, g, made._data)
        else:
            in_blocks(lambda x, g, v: _gather(x, _gradient(x, g, o), v, o), x, g, buffer._data)
            count_writes(buffer, 2)
        count_writes(p)
        return made


def _gradient(x: ndarray, g: ndarray, o: _Options) -> ndarray:
    """The gradient negated for ``maximize`` and with ``weight_decay``, in memory of its own."""
    if not o.changes_gradient:
        return g
    own = scratch("gradient", x.shape, x.dtype)
    if o.maximize:
        g = negative(g, own)
    if o.decay:
        g = add(g, multiply(x, o.decay, scratch("update", x.shape, x.dtype)), own)
    return g


def _descend(x: ndarray, g: ndarray, o: _Options) -> None:
    # a small product is cheaper made anew than in memory that has to be looked up
    s = None if x.size < _FEW else scratch("update", x.shape, x.dtype)
    subtract(x, multiply(g, o.lr, s), x)


def _begin(x: ndarray, g: ndarray, v: ndarray, o: _Options) -> None:
    """The first step with momentum: v is the gradient."""
    np.copyto(v, g)
    _follow(x, g, v, o)


def _gather(x: ndarray, g: ndarray, v: ndarray, o: _Options) -> None:
    """v = momentum * v + (1 - dampening) * gradient."""
    multiply(v, o.momentum, v)
    add(v, g if o.keep == 1 else multiply(g, o.keep, scratch("update", x.shape, x.dtype)), v)
    _follow(x, g, v, o)


def _follow(x: ndarray, g: ndarray, v: ndarray, o: _Options) -> None:
    if o.nesterov:
        s = scratch("update", x.shape, x.dtype)
        _descend(x, add(g, multiply(v, o.momentum, s), s), o)
    else:
        _descend(x, v, o)


class _Options:
    """A group's options as plain numbers."""

    __slots__ = (
        "changes_gradient", "decay", "keep", "lr", "maximize", "momentum", "nesterov",
    )  # fmt: skip

    def __init__(self, group: dict[str, Any]) -> None:
        self.lr, self.decay = number(group["lr"]), number(group["weight_decay"])
        self.momentum, self.keep = group["momentum"], 1 - group["dampening"]
        self.nesterov, self.maximize = group["nesterov"], group["maximize"]
        self.changes_gradient = self.maximize or self.decay != 0


def _update_any(p: Any, g: Any, buffer: Any, o: _Options, recorded: bool) -> Any:
    """The same in tensor operations, for other dtypes and other arrays."""
    with nullcontext() if recorded else no_grad():
        g = -g if o.maximize else g
        if o.decay:
            g = add_scaled(g, p, o.decay)
        made = None
        if o.momentum:
            if buffer is None:
                buffer = made = g.detach().clone()
            else:
                buffer.mul_(o.momentum)
                buffer.copy_(add_scaled(buffer, g, o.keep))
            g = add_scaled(g, buffer, o.momentum) if o.nesterov else buffer
        p.copy_(add_scaled(p, g, -o.lr))
    return made
