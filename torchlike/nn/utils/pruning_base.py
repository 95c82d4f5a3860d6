"""What pruning methods share, several of them in turn, and the checks of their arguments."""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from functional.tape.op import TENSOR


class BasePruningMethod(ABC):
    """A way of choosing what to prune; subclasses define ``compute_mask`` and PRUNING_TYPE."""

    _tensor_name: str
    PRUNING_TYPE: str

    def __call__(self, module: Any, inputs: Any) -> None:
        """Apply the mask before a call of the module."""
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """A mask for ``t``, on top of ``default_mask``."""

    def apply_mask(self, module: Any) -> Any:
        """The original parameter times the mask."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        mask = getattr(module, self._tensor_name + "_mask")
        original = getattr(module, self._tensor_name + "_orig")
        return TENSOR.mul(mask.to(dtype=original.dtype), original)

    @classmethod
    def apply(
        cls, module: Any, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any
    ) -> Any:
        """Prune the parameter ``name`` of a module, also on top of earlier pruning."""
        old = _methods(module, name)
        if len(old) > 1:
            raise AssertionError(
                f"Avoid adding multiple pruning hooks to the same tensor {name} of module "
                f"{module}. Use a PruningContainer."
            )
        method: Any = cls(*args, **kwargs)
        method._tensor_name = name
        if old:
            key, hook = old[0]
            del module._forward_pre_hooks[key]
            container = hook if isinstance(hook, PruningContainer) else PruningContainer(hook)
            container.add_pruning_method(method)
            method = container
        original = getattr(module, name)
        if importance_scores is None:
            importance_scores = original
        elif importance_scores.shape != original.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter                 {name} "
                f"of {module}"
            )
        _mask(module, name, method, importance_scores, bool(old))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t: Any, default_mask: Any = None, importance_scores: Any = None) -> Any:
        """A pruned copy of ``t``."""
        if importance_scores is None:
            importance_scores = t
        elif importance_scores.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t")
        if default_mask is None:
            default_mask = TENSOR.ones_like(t)
        return t * self.compute_mask(importance_scores, default_mask=default_mask)

    def remove(self, module: Any) -> None:
        """Make the pruned values a plain parameter again."""
        name = self._tensor_name
        if name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters[name + "_orig"]
        original.data = weight.data
        del module._parameters[name + "_orig"]
        del module._buffers[name + "_mask"]
        setattr(module, name, original)


def _methods(module: Any, name: str) -> list[tuple[int, Any]]:
    """The pruning hooks of a parameter."""
    hooks = module._forward_pre_hooks.items()
    return [(k, h) for k, h in hooks if isinstance(h, BasePruningMethod) and h._tensor_name == name]


def _mask(module: Any, name: str, method: Any, scores: Any, again: bool) -> None:
    """Put a parameter's original, its mask and their product in its place."""
    original = getattr(module, name)
    if not again:
        module.register_parameter(name + "_orig", original)
        del module._parameters[name]
        default = TENSOR.ones_like(original)
    else:
        default = getattr(module, name + "_mask").detach().clone()
    try:
        mask = method.compute_mask(scores, default_mask=default)
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
    except Exception:
        if not again:
            module.register_parameter(name, original)
            del module._parameters[name + "_orig"]
        raise


class PruningContainer(BasePruningMethod):
    """Several pruning methods of one parameter, one after the other."""

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[Any, ...] = ()
        if len(args) == 1 and not isinstance(args[0], Iterable):
            self._tensor_name = args[0]._tensor_name
            self.add_pruning_method(args[0])
        else:
            for method in args:
                self._tensor_name = method._tensor_name
                self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Add one more; TypeError for anything else, ValueError for another parameter's."""
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}."
                f" Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Any:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The last method's mask, computed on what is still there."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        kind = method.PRUNING_TYPE
        if kind == "unstructured":
            where: Any = mask == 1
        elif kind == "structured":
            if not hasattr(method, "dim"):
                raise AttributeError(
                    'Pruning methods of PRUNING_TYPE "structured" need to have the attribute '
                    "`dim` defined."
                )
            n = t.ndim
            dim = method.dim if method.dim >= 0 else n + method.dim
            if dim < 0:
                raise IndexError(f"Index is out of bounds for tensor with dimensions {n}")
            kept = mask.sum(dim=[d for d in range(n) if d != dim]) != 0
            where = tuple([slice(None)] * dim + [kept])
        elif kind == "global":
            where = (slice(None),) * t.ndim
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {kind}")
        part = method.compute_mask(t[where], default_mask=mask[where])
        new = mask.clone()
        new[where] = part.to(mask.dtype)
        return new


# --- checks ---------------------------------------------------------------------------------------


def _validate_pruning_amount_init(amount: Any) -> None:
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if (isinstance(amount, numbers.Integral) and amount < 0) or (
        not isinstance(amount, numbers.Integral) and (float(amount) > 1.0 or float(amount) < 0.0)
    ):
        raise ValueError(
            f"amount={amount} should either be a float in the range [0, 1] or a non-negative "
            "integer"
        )


def _validate_pruning_amount(amount: Any, tensor_size: int) -> None:
    if isinstance(amount, numbers.Integral) and amount > tensor_size:
        raise ValueError(
            f"amount={amount} should be smaller than the number of parameters to "
            f"prune={tensor_size}"
        )


def _compute_nparams_toprune(amount: Any, tensor_size: int) -> int:
    return amount if isinstance(amount, numbers.Integral) else round(amount * tensor_size)


def _checked_amount(amount: Any, size: int) -> int:
    """How many of ``size`` elements to prune."""
    n = _compute_nparams_toprune(amount, size)
    _validate_pruning_amount(n, size)
    return n


def _validate_structured_pruning(t: Any) -> None:
    if t.ndim <= 1:
        raise ValueError(
            "Structured pruning can only be applied to multidimensional tensors. Found tensor of "
            f"shape {t.shape} with {t.ndim} dims"
        )


def _validate_pruning_dim(t: Any, dim: int) -> None:
    if dim >= t.ndim:
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")


def _compute_norm(t: Any, n: Any, dim: int) -> Any:
    dims = list(range(t.ndim))
    dims.remove(dims[dim])
    return TENSOR.norm(t, p=n, dim=dims)
