"""Draws that no tensor method makes: gamma and Dirichlet numbers, with gradients.

The gradients hold the draw fixed and are implicit: see ``functional.kernels.gamma_gradients``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from functional.kernels import gamma_draws, gamma_gradients
from functional.modes import MODE
from functional.ops import drawing
from functional.ops.create import empty_like
from functional.random import default_generator
from functional.tape.wrappers import Wrapped
from functional.tensor import Tensor, wrap
from torchlike.autograd.function import Function, once_differentiable


def _drawn(name: str, kernel: Callable[..., Any], *parameters: Tensor) -> Tensor:
    """What a kernel draws for parameters on the CPU; only the shape for those on ``meta``."""
    where = parameters[0].device.type
    if where == "meta":
        return empty_like(parameters[0])
    if where != "cpu":
        raise NotImplementedError(f"{name} on a device of type {where}")
    return wrap(kernel(default_generator, *(p._data for p in parameters)))


class _StandardGamma(Function):
    """Gamma numbers of scale 1 for concentrations."""

    @staticmethod
    def forward(concentration: Tensor) -> Tensor:
        return _drawn("_standard_gamma", gamma_draws.standard_gamma, concentration)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs, output)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return grad * _StandardGammaGrad.apply(*ctx.saved_tensors)

    @staticmethod
    def vmap(info: Any, in_dims: Any, concentration: Tensor) -> Any:
        return _StandardGamma.apply(concentration), in_dims[0]


class _StandardGammaGrad(Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(concentration: Tensor, x: Tensor) -> Tensor:
        return wrap(gamma_gradients.standard_gamma_grad(concentration._data, x._data))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Nothing is kept."""

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        raise NotImplementedError("the derivative for '_standard_gamma_grad' is not implemented.")


class _Dirichlet(Function):
    """Points of the simplex for concentrations, (..., K)."""

    @staticmethod
    def forward(ctx: Any, concentration: Tensor) -> Tensor:
        x = _drawn("_sample_dirichlet", gamma_draws.dirichlet, concentration)
        ctx.save_for_backward(x, concentration)
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        x, concentration = ctx.saved_tensors
        total = concentration.sum(-1, True).expand_as(concentration)
        inner = gamma_gradients.dirichlet_grad(x._data, concentration._data, total._data)
        return wrap(inner) * (grad - (x * grad).sum(-1, True))


def standard_gamma(concentration: Tensor) -> Tensor:
    """Gamma numbers of scale 1, for one example or, in ``vmap``, as its randomness says."""
    batch = drawing.vmapped() if MODE.transforms else None
    level = concentration._level if isinstance(concentration, Wrapped) else 0
    if batch is None or level > batch.level:
        return _StandardGamma.apply(concentration)
    return drawing.of_tensors(standard_gamma, concentration)


dirichlet: Callable[[Tensor], Tensor] = _Dirichlet.apply
