"""Activation layers that resemble ReLU."""

from __future__ import annotations

from typing import Any, ClassVar

from functional.blame import warn
from functional.ops.create import empty
from functional.tensor import Tensor

from .. import functional as F
from .. import init
from ..parameter import Parameter
from .module import Module


class _InPlace(Module):
    """A layer whose only option is ``inplace``."""

    __constants__: ClassVar = ["inplace"]
    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        """Says if it works in place."""
        return "inplace=True" if self.inplace else ""


def _shown(module: Any, *names: str) -> str:
    parts = [f"{name}={getattr(module, name)}" for name in names]
    return ", ".join(parts + ["inplace=True"] * module.inplace)


class Threshold(Module):
    """x where it is above ``threshold``, else ``value``."""

    __constants__: ClassVar = ["threshold", "value", "inplace"]

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace

    def forward(self, input: Tensor) -> Tensor:
        """``input`` with its small elements replaced."""
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        """The options."""
        return _shown(self, "threshold", "value")


class RReLU(Module):
    """LeakyReLU with random slopes in training, and their mean in evaluation."""

    __constants__: ClassVar = ["lower", "upper", "inplace"]

    def __init__(
        self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False
    ) -> None:
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input: Tensor) -> Tensor:
        """``input`` with its negative part scaled."""
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        """The bounds."""
        return _shown(self, "lower", "upper")


class Hardtanh(Module):
    """x limited to [min_val, max_val]."""

    __constants__: ClassVar = ["min_val", "max_val", "inplace"]

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__()
        for old, new, value in (
            ("min_value", "min_val", min_value), ("max_value", "max_val", max_value),
        ):  # fmt: skip
            if value is not None:
                warn(
                    f"keyword argument `{old}` is deprecated and renamed to `{new}`", FutureWarning
                )
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace
        if not self.max_val > self.min_val:
            raise AssertionError(
                f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})"
            )

    def forward(self, input: Tensor) -> Tensor:
        """``input`` within the limits."""
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        """The limits."""
        return _shown(self, "min_val", "max_val")


class ReLU6(Hardtanh):
    """x limited to [0, 6]."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        """Says if it works in place."""
        return "inplace=True" if self.inplace else ""


class _WithAlpha(Module):
    __constants__: ClassVar = ["alpha", "inplace"]

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def extra_repr(self) -> str:
        """The factor of the negative part."""
        return _shown(self, "alpha")


class ELU(_WithAlpha):
    """x, and alpha (exp(x) - 1) below 0."""

    def forward(self, input: Tensor) -> Tensor:
        """elu(input)."""
        return F.elu(input, self.alpha, self.inplace)


class CELU(_WithAlpha):
    """x, and alpha (exp(x / alpha) - 1) below 0."""

    def forward(self, input: Tensor) -> Tensor:
        """celu(input)."""
        return F.celu(input, self.alpha, self.inplace)


class SELU(_InPlace):
    """ELU with the scale and alpha that keep mean 0 and variance 1."""

    def forward(self, input: Tensor) -> Tensor:
        """selu(input)."""
        return F.selu(input, self.inplace)


class SiLU(_InPlace):
    """x sigmoid(x)."""

    def forward(self, input: Tensor) -> Tensor:
        """silu(input)."""
        return F.silu(input, self.inplace)


class Mish(_InPlace):
    """x tanh(softplus(x))."""

    def forward(self, input: Tensor) -> Tensor:
        """mish(input)."""
        return F.mish(input, self.inplace)


class Hardswish(_InPlace):
    """x hardsigmoid(x)."""

    def forward(self, input: Tensor) -> Tensor:
        """hardswish(input)."""
        return F.hardswish(input, self.inplace)

    def extra_repr(self) -> str:
        """Nothing, as in PyTorch."""
        return ""


class Hardsigmoid(_InPlace):
    """(x + 3) / 6, limited to [0, 1]."""

    def forward(self, input: Tensor) -> Tensor:
        """hardsigmoid(input)."""
        return F.hardsigmoid(input, self.inplace)

    def extra_repr(self) -> str:
        """Nothing, as in PyTorch."""
        return ""


class PReLU(Module):
    """LeakyReLU with a learned slope: one, or one per channel."""

    __constants__: ClassVar = ["num_parameters"]

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the slopes to their starting value."""
        init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        """``input`` with its negative part scaled."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """How many slopes."""
        return f"num_parameters={self.num_parameters}"
