"""Weight normalization (T. Salimans and D. P. Kingma, 2016) by a hook, the older way."""

from __future__ import annotations

from typing import Any

from functional.blame import warn
from functional.tape.op import TENSOR
from functional.tensor import Tensor

from ..parameter import Parameter, is_lazy

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]


def norm_except_dim(v: Any, dim: int = 0) -> Any:
    """The 2-norm over all dimensions but ``dim``, which keep the size 1; -1 means over all."""
    if dim == -1:
        return TENSOR.linalg_vector_norm(v)
    rest = tuple(d for d in range(v.ndim) if d != dim % v.ndim)
    return TENSOR.linalg_vector_norm(v, 2, rest, True) if rest else TENSOR.abs(v)


def scaled(v: Any, g: Any, dim: int) -> Any:
    """v with the norm g."""
    return v * (g / norm_except_dim(v, dim))


class WeightNorm:
    """The hook that computes a module's weight before each call."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module: Any) -> Any:
        """``NAME_v`` with the norm ``NAME_g``."""
        v, g = getattr(module, self.name + "_v"), getattr(module, self.name + "_g")
        return scaled(v, g, self.dim)

    @staticmethod
    def apply(module: Any, name: str, dim: int | None) -> WeightNorm:
        """Replace the parameter ``name`` by its norm and direction."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, WeightNorm) and hook.name == name:
                raise RuntimeError(
                    f"Cannot register two weight_norm hooks on the same parameter {name}"
                )
        made = WeightNorm(name, dim)
        weight = getattr(module, name)
        if is_lazy(weight):
            raise ValueError(
                "The module passed to `WeightNorm` can't have uninitialized parameters. Make "
                "sure to run the dummy forward before applying weight normalization"
            )
        del module._parameters[name]
        module.register_parameter(
            name + "_g", Parameter(norm_except_dim(weight, made.dim).detach())
        )
        module.register_parameter(name + "_v", Parameter(weight.detach()))
        setattr(module, name, made.compute_weight(module))
        module.register_forward_pre_hook(made)
        return made

    def remove(self, module: Any) -> None:
        """Make the weight one parameter again."""
        weight: Tensor = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"]
        del module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight.detach()))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: Any, name: str = "weight", dim: int = 0) -> Any:
    """Let a parameter be a direction ``NAME_v`` times norms ``NAME_g`` along ``dim``."""
    warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of "
        "`torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
    )
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Undo ``weight_norm``; ValueError where there is none."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")
