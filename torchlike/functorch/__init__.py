"""The package ``functorch``: what ``torch.func`` was called before, and modules taken apart.

While this library serves the name ``torch``, it serves ``functorch`` too. As PyTorch's, all of it
is deprecated and says so.
"""

from __future__ import annotations

import copy
import functools
import warnings
from collections.abc import Callable
from typing import Any

from torchlike import func as _func
from torchlike.nn import Module

__all__ = [
    "FunctionalModule", "FunctionalModuleWithBuffers", "combine_state_for_ensemble",
    "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp",
    "make_functional", "make_functional_with_buffers", "vjp", "vmap",
]  # fmt: skip


def _warn(name: str, successor: str) -> None:
    warnings.warn(
        "We've integrated functorch into PyTorch. As the final step of the integration, "
        f"`functorch.{name}` is deprecated as of PyTorch 2.0 and will be deleted in a future "
        f"version of PyTorch >= 2.3. Please use `{successor}` instead; see the PyTorch 2.0 release "
        "notes and/or the `torch.func` migration guide for more details "
        "https://pytorch.org/docs/main/func.migrating.html",
        FutureWarning,
        stacklevel=3,
    )


def _former(name: str, successor: str) -> Callable[..., Any]:
    function = getattr(_func, name)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        _warn(name, successor)
        return function(*args, **kwargs)

    return call


vmap = _former("vmap", "torch.vmap")
grad = _former("grad", "torch.func.grad")
grad_and_value = _former("grad_and_value", "torch.func.grad_and_value")
hessian = _former("hessian", "torch.func.hessian")
jacfwd = _former("jacfwd", "torch.func.jacfwd")
jacrev = _former("jacrev", "torch.func.jacrev")
jvp = _former("jvp", "torch.func.jvp")
vjp = _former("vjp", "torch.func.vjp")
functionalize = _former("functionalize", "torch.func.functionalize")


def _names(members: Any) -> dict[str, list[str]]:
    """The first name of every member, and all of its names."""
    return {names[0]: names for names in _func.names_of_each(members)}


class FunctionalModule(Module):
    """A module whose parameters are arguments: ``f(params, *args)``."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        names = _names(model.named_parameters(remove_duplicate=False))
        self.stateless_model = copy.deepcopy(model).to("meta")
        self.param_names, self.names_map = tuple(names), names

    def _call(self, values: dict[str, Any], args: Any, kwargs: Any) -> Any:
        names = getattr(self, "all_names_map", self.names_map)
        full = {name: value for first, value in values.items() for name in names[first]}
        return _func.functional_call(self.stateless_model, full, args, kwargs, tie_weights=False)

    def forward(self, params: Any, *args: Any, **kwargs: Any) -> Any:
        return self._call(dict(zip(self.param_names, params, strict=False)), args, kwargs)


class FunctionalModuleWithBuffers(FunctionalModule):
    """A module whose parameters and buffers are arguments: ``f(params, buffers, *args)``."""

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        names = _names(model.named_buffers(remove_duplicate=False))
        self.buffer_names, self.all_names_map = tuple(names), {**self.names_map, **names}

    def forward(self, params: Any, buffers: Any, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        names = self.param_names + self.buffer_names
        return self._call(dict(zip(names, (*params, *buffers), strict=False)), args, kwargs)


def _copies(model: Any, untracked: bool) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Copies of a module's parameters and buffers."""
    own = copy.deepcopy(model)
    params = tuple(own.parameters())
    if untracked:
        for p in params:
            p.requires_grad_(False)
    return params, tuple(own.buffers())


def make_functional(model: Any, disable_autograd_tracking: bool = False) -> tuple[Any, Any]:
    """(f, params): ``f(params, *args)`` computes what ``model(*args)`` did.

    ``params`` are copies; RuntimeError if the model has buffers.
    """
    _warn("make_functional", "torch.func.functional_call")
    if next(iter(model.buffers()), None) is not None:
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use "
            "make_functional_with_buffers(model) instead."
        )
    return FunctionalModule(model), _copies(model, disable_autograd_tracking)[0]


def make_functional_with_buffers(
    model: Any, disable_autograd_tracking: bool = False
) -> tuple[Any, Any, Any]:
    """(f, params, buffers): ``f(params, buffers, *args)`` computes what ``model(*args)`` did."""
    _warn("make_functional_with_buffers", "torch.func.functional_call")
    return FunctionalModuleWithBuffers(model), *_copies(model, disable_autograd_tracking)


def combine_state_for_ensemble(models: Any) -> tuple[Any, Any, Any]:
    """(f, params, buffers) of equal modules, stacked along a new first dimension, for ``vmap``.

    Raises RuntimeError for modules of several classes or modes, and for none.
    """
    _warn("combine_state_for_ensemble", "torch.func.stack_module_state")
    title = "combine_state_for_ensemble: Expected"
    if not models:
        raise RuntimeError(f"{title} at least one model, got 0.")
    if len({m.training for m in models}) > 1:
        raise RuntimeError(f"{title} all models to have the same training/eval mode.")
    if len({type(m) for m in models}) > 1:
        raise RuntimeError(f"{title} all models to be of the same class.")
    params, buffers = _func.stack_module_state(models)
    untracked = tuple(p.detach() for p in params.values())
    return FunctionalModuleWithBuffers(models[0]), untracked, tuple(buffers.values())
