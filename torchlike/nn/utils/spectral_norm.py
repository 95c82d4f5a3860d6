"""Spectral normalization (T. Miyato et al., 2018) by a hook, the older way."""

from __future__ import annotations

from typing import Any

from functional.modes import no_grad
from functional.tape.op import TENSOR

from .. import functional as F
from ..parameter import Parameter, is_lazy

__all__ = ["SpectralNorm", "remove_spectral_norm", "spectral_norm"]


def as_matrix(weight: Any, dim: int) -> Any:
    """``weight`` as (shape[dim], everything else)."""
    if dim != 0:
        weight = TENSOR.permute(weight, (dim, *[d for d in range(weight.ndim) if d != dim]))
    return TENSOR.reshape(weight, (weight.shape[0], -1))


def default_dim(module: Any) -> int:
    """The dimension of outputs: 1 for transposed convolutions, else 0."""
    names = {cls.__name__ for cls in type(module).__mro__}
    return int(bool(names & {"ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"}))


class SpectralNorm:
    """The hook that divides a module's weight by its largest singular value."""

    _version = 1

    def __init__(
        self,
        name: str = "weight",
        n_power_iterations: int = 1,
        dim: int = 0,
        eps: float = 1e-12,
    ) -> None:
        self.name, self.dim, self.eps = name, dim, eps
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        self.n_power_iterations = n_power_iterations

    def compute_weight(self, module: Any, do_power_iteration: bool) -> Any:
        """The weight over u W v; in training u and v are improved first."""
        weight = getattr(module, self.name + "_orig")
        u, v = getattr(module, self.name + "_u"), getattr(module, self.name + "_v")
        matrix = as_matrix(weight, self.dim)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    F.normalize(TENSOR.mv(matrix.t(), u), dim=0, eps=self.eps, out=v)
                    F.normalize(TENSOR.mv(matrix, v), dim=0, eps=self.eps, out=u)
                u, v = u.clone(), v.clone()
        return weight / TENSOR.dot(u, TENSOR.mv(matrix, v))

    def remove(self, module: Any) -> None:
        """Make the weight one parameter again."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        delattr(module, self.name)
        for part in ("_u", "_v", "_orig"):
            delattr(module, self.name + part)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))

    @staticmethod
    def apply(
        module: Any, name: str, n_power_iterations: int, dim: int, eps: float
    ) -> SpectralNorm:
        """Replace the parameter ``name`` by its original and two singular vectors."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, SpectralNorm) and hook.name == name:
                raise RuntimeError(
                    f"Cannot register two spectral_norm hooks on the same parameter {name}"
                )
        made = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        if is_lazy(weight):
            raise ValueError(
                "The module passed to `SpectralNorm` can't have uninitialized parameters. Make "
                "sure to run the dummy forward before applying spectral normalization"
            )
        with no_grad():
            h, w = as_matrix(weight, dim).shape
            u = F.normalize(weight.new_empty(h).normal_(0, 1), dim=0, eps=eps)
            v = F.normalize(weight.new_empty(w).normal_(0, 1), dim=0, eps=eps)
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        setattr(module, name, weight.detach())
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(made)
        module._register_state_dict_hook(SpectralNormStateDictHook(made))
        module._register_load_state_dict_pre_hook(SpectralNormLoadStateDictPreHook(made))
        return made

    def solve_v(self, matrix: Any, u: Any, sigma: Any) -> Any:
        """The v for which u W v is ``sigma``, as u is W v, normalized."""
        gram = TENSOR.mm(matrix.t(), matrix)
        column = TENSOR.unsqueeze(TENSOR.mv(matrix.t(), u), 1)
        v = TENSOR.squeeze(TENSOR.mm(TENSOR.linalg_pinv(gram), column), 1)
        return v * (sigma / TENSOR.dot(u, TENSOR.mv(matrix, v)))


class SpectralNormLoadStateDictPreHook:
    """Finds v for a ``state_dict`` of the first format, which had the computed weight instead."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, missing_keys: Any,
        unexpected_keys: Any, error_msgs: Any,
    ) -> None:  # fmt: skip
        fn, key = self.fn, prefix + self.fn.name
        version = local_metadata.get("spectral_norm", {}).get(fn.name + ".version")
        if version is not None and version >= 1:
            return
        ours = all(key + part in state_dict for part in ("_orig", "_u", "_v"))
        if version is None and ours and key not in state_dict:
            return  # the format is today's, without its number
        lacking = [key + part for part in ("_orig", "", "_u") if key + part not in state_dict]
        if strict:
            missing_keys += lacking
        if lacking:
            return
        with no_grad():
            weight = state_dict[key + "_orig"]
            sigma = (weight / state_dict.pop(key)).mean()
            matrix = as_matrix(weight, fn.dim)
            state_dict[key + "_v"] = fn.solve_v(matrix, state_dict[key + "_u"], sigma)


class SpectralNormStateDictHook:
    """Notes the version of the format in the metadata of a ``state_dict``."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(self, module: Any, state_dict: Any, prefix: str, local_metadata: Any) -> None:
        held = local_metadata.setdefault("spectral_norm", {})
        key = self.fn.name + ".version"
        if key in held:
            raise RuntimeError(f"Unexpected key in metadata['spectral_norm']: {key}")
        held[key] = self.fn._version


def spectral_norm(
    module: Any,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Any:
    """Divide a parameter by (an estimate of) its largest singular value before each call."""
    if dim is None:
        dim = default_dim(module)
    SpectralNorm.apply(module, name, n_power_iterations, dim, eps)
    return module


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """Undo ``spectral_norm``; ValueError where there is none."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            break
    else:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    for key, hook in module._state_dict_hooks.items():
        held = getattr(hook, "hook", hook)
        if isinstance(held, SpectralNormStateDictHook) and held.fn.name == name:
            del module._state_dict_hooks[key]
            break
    return module
