"""Layers that normalize over features or groups of channels."""

from __future__ import annotations

import numbers
from typing import Any, ClassVar

from functional.normalization import group_norm, layer_norm, local_response_norm, rms_norm
from functional.ops.create import empty
from functional.tensor import Tensor

from .. import init
from ..parameter import Parameter
from .module import Module


def _add_parameters(module: Module, shape: Any, wanted: dict[str, bool], where: Any) -> None:
    for name, present in wanted.items():
        if present:
            setattr(module, name, Parameter(empty(shape, **where)))
        else:
            module.register_parameter(name, None)


def _reset(weight: Any, bias: Any) -> None:
    if weight is not None:
        init.ones_(weight)
    if bias is not None:
        init.zeros_(bias)


class LayerNorm(Module):
    """(x - mean) / sqrt(var + eps) * weight + bias over the last dimensions, ``normalized_shape``.

    Weight and bias have that shape; weight starts at 1, bias at 0.
    """

    __constants__: ClassVar = ["normalized_shape", "eps", "elementwise_affine"]
    normalized_shape: tuple[int, ...]

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if isinstance(normalized_shape, numbers.Integral):
            normalized_shape = (normalized_shape,)
        self.normalized_shape = tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        wanted = {"weight": elementwise_affine, "bias": elementwise_affine and bias}
        _add_parameters(self, self.normalized_shape, wanted, {"device": device, "dtype": dtype})
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight 1, bias 0."""
        _reset(self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """``input``, normalized."""
        return layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The shape and all options."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """x / sqrt(mean(x²) + eps) * weight over the last dimensions, ``normalized_shape``."""

    __constants__: ClassVar = ["normalized_shape", "eps", "elementwise_affine"]
    normalized_shape: tuple[int, ...]

    def __init__(
        self,
        normalized_shape: Any,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if isinstance(normalized_shape, numbers.Integral):
            normalized_shape = (normalized_shape,)
        self.normalized_shape = tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        where = {"device": device, "dtype": dtype}
        _add_parameters(self, self.normalized_shape, {"weight": elementwise_affine}, where)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight 1."""
        _reset(self.weight, None)

    def forward(self, input: Tensor) -> Tensor:
        """``input``, normalized."""
        return rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """The shape and all options."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class GroupNorm(Module):
    """(N, C, *) normalized over ``num_groups`` groups of channels; weight and bias are (C,).

    Raises ValueError where the channels cannot be shared evenly.
    """

    __constants__: ClassVar = ["num_groups", "num_channels", "eps", "affine"]

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(
                f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})"
            )
        self.num_groups, self.num_channels = num_groups, num_channels
        self.eps, self.affine = eps, affine
        wanted = {"weight": affine, "bias": affine and bias}
        _add_parameters(self, num_channels, wanted, {"device": device, "dtype": dtype})
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight 1, bias 0."""
        _reset(self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """``input``, normalized."""
        return group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The sizes and all options."""
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class LocalResponseNorm(Module):
    """x / (k + alpha · mean of squares over ``size`` neighbouring channels) ** beta."""

    __constants__: ClassVar = ["size", "alpha", "beta", "k"]

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        """``input``, (N, C, *), normalized."""
        return local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        """The options."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(LocalResponseNorm):
    """LocalResponseNorm for (N, C, H, W)."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__(size, alpha, beta, k)
