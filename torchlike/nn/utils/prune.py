"""Pruning: parameters with a mask that sets some of their elements to 0."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from functional.tape.op import TENSOR

from .pruning_base import (
    BasePruningMethod,
    PruningContainer,
    _checked_amount,
    _compute_norm,
    _methods,
    _validate_pruning_amount_init,
    _validate_pruning_dim,
    _validate_structured_pruning,
)

# --- the methods ----------------------------------------------------------------------------------


class Identity(BasePruningMethod):
    """Prunes nothing, but puts the mask in place."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask so far."""
        return default_mask

    @classmethod
    def apply(cls, module: Any, name: str) -> Any:
        """Put a mask of ones in place."""
        return super().apply(module, name)


class RandomUnstructured(BasePruningMethod):
    """Prunes elements at random: ``amount`` of them, a number or a share."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: Any) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask so far, with more zeros."""
        n = _checked_amount(self.amount, t.nelement())
        mask = default_mask.clone()
        if n:
            chosen = TENSOR.topk(TENSOR.rand_like(t).view(-1), k=n)[1]
            mask.view(-1)[chosen] = 0
        return mask

    @classmethod
    def apply(cls, module: Any, name: str, amount: Any) -> Any:
        """Prune a parameter."""
        return super().apply(module, name, amount=amount)


class L1Unstructured(BasePruningMethod):
    """Prunes the elements with the smallest absolute values."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: Any) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask so far, with more zeros."""
        n = _checked_amount(self.amount, t.nelement())
        mask = default_mask.clone()
        if n:
            chosen = TENSOR.topk(TENSOR.abs(t).view(-1), k=n, largest=False)[1]
            mask.view(-1)[chosen] = 0
        return mask

    @classmethod
    def apply(cls, module: Any, name: str, amount: Any, importance_scores: Any = None) -> Any:
        """Prune a parameter."""
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


class _Structured(BasePruningMethod):
    """Prunes whole slices along a dimension."""

    PRUNING_TYPE = "structured"
    amount: Any
    dim: int

    def _scores(self, t: Any) -> Any:
        raise NotImplementedError

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask so far, without the slices of the lowest scores."""
        _validate_structured_pruning(t)
        _validate_pruning_dim(t, self.dim)
        size = t.shape[self.dim]
        n = _checked_amount(self.amount, size)
        scores = self._scores(t)
        if not n:
            return default_mask
        kept = TENSOR.topk(scores, k=size - n, largest=True)[1]
        mask = TENSOR.zeros_like(t)
        where: list[Any] = [slice(None)] * t.ndim
        where[self.dim] = kept
        mask[tuple(where)] = 1
        return mask * default_mask.to(dtype=mask.dtype)


class RandomStructured(_Structured):
    """Prunes slices along a dimension at random."""

    def __init__(self, amount: Any, dim: int = -1) -> None:
        _validate_pruning_amount_init(amount)
        self.amount, self.dim = amount, dim

    def _scores(self, t: Any) -> Any:
        return TENSOR.rand(t.shape[self.dim])

    @classmethod
    def apply(cls, module: Any, name: str, amount: Any, dim: int = -1) -> Any:
        """Prune a parameter."""
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(_Structured):
    """Prunes the slices along a dimension that have the smallest n-norms."""

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        _validate_pruning_amount_init(amount)
        self.amount, self.n, self.dim = amount, n, dim

    def _scores(self, t: Any) -> Any:
        return _compute_norm(t, self.n, self.dim)

    @classmethod
    def apply(
        cls, module: Any, name: str, amount: Any, n: Any, dim: int, importance_scores: Any = None
    ) -> Any:
        """Prune a parameter."""
        return super().apply(
            module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores
        )


class CustomFromMask(BasePruningMethod):
    """Prunes by a given mask."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Any) -> None:
        self.mask = mask

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Both masks together."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError("default_mask and self.mask must have the same shape")
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module: Any, name: str, mask: Any) -> Any:
        """Prune a parameter."""
        return super().apply(module, name, mask=mask)


# --- functions ------------------------------------------------------------------------------------


def identity(module: Any, name: str) -> Any:
    """Put a mask of ones on a parameter."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: Any) -> Any:
    """Prune elements at random: ``amount`` of them, a number or a share."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Any, name: str, amount: Any, importance_scores: Any = None) -> Any:
    """Prune the elements with the smallest absolute values."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: Any, dim: int) -> Any:
    """Prune slices along a dimension at random."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Any, name: str, amount: Any, n: Any, dim: int, importance_scores: Any = None
) -> Any:
    """Prune the slices along a dimension that have the smallest n-norms."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def global_unstructured(
    parameters: Any, pruning_method: Any, importance_scores: Any = None, **kwargs: Any
) -> None:
    """Prune elements of several parameters ((module, name) pairs), compared with each other."""
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    importance_scores = {} if importance_scores is None else importance_scores
    if not isinstance(importance_scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    pairs = [(module, name) for module, name in parameters]
    tensors = [getattr(m, n) for m, n in pairs]
    scores = [importance_scores.get((m, n), t) for (m, n), t in zip(pairs, tensors, strict=True)]
    masks = [getattr(m, n + "_mask", TENSOR.ones_like(t))
             for (m, n), t in zip(pairs, tensors, strict=True)]  # fmt: skip
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    container.add_pruning_method(method)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    flat = TENSOR.cat([t.reshape(-1) for t in scores])
    final = container.compute_mask(flat, TENSOR.cat([m.reshape(-1) for m in masks]))
    start = 0
    for module, name in pairs:
        t = getattr(module, name)
        custom_from_mask(module, name, final[start : start + t.numel()].view_as(t))
        start += t.numel()


def custom_from_mask(module: Any, name: str, mask: Any) -> Any:
    """Prune by a given mask."""
    CustomFromMask.apply(module, name, mask)
    return module


def remove(module: Any, name: str) -> Any:
    """Make the pruned values a plain parameter; ValueError where nothing was pruned."""
    for key, hook in _methods(module, name):
        hook.remove(module)
        del module._forward_pre_hooks[key]
        return module
    raise ValueError(
        f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed"
    )


def is_pruned(module: Any) -> bool:
    """Whether a module, or one below it, has been pruned."""
    return any(
        isinstance(hook, BasePruningMethod)
        for _, submodule in module.named_modules()
        for hook in submodule._forward_pre_hooks.values()
    )
