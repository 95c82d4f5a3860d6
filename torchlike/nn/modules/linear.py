"""Linear layers."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from functional.ops.create import empty
from functional.ops.matmul import linear
from functional.tensor import Tensor

from .. import init
from ..parameter import Parameter, UninitializedParameter
from .bilinear import Bilinear as Bilinear
from .lazy import LazyModuleMixin
from .module import Module


class Identity(Module):
    """Returns its input; takes any arguments, and ignores them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """``input`` itself."""
        return input


class Linear(Module):
    """``y = x @ weight.T + bias``: (*, in_features) to (*, out_features).

    Weight is (out_features, in_features), bias (out_features,); both start uniform within
    1 / sqrt(in_features).
    """

    __constants__: ClassVar = ["in_features", "out_features"]
    in_features: int
    out_features: int
    weight: Tensor

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        where = {"device": device, "dtype": dtype}
        self.weight = Parameter(empty((out_features, in_features), **where))
        if bias:
            self.bias = Parameter(empty(out_features, **where))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new starting values."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = init._bias_bound(self.weight)
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """``input`` times the weight, plus the bias."""
        held = self.__dict__["_parameters"]
        try:
            weight, bias = held["weight"], held["bias"]
        except KeyError:  # something (pruning, a parametrization) has replaced a parameter
            weight, bias = self.weight, self.bias
        return linear(input, weight, bias)

    def extra_repr(self) -> str:
        """The sizes."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class NonDynamicallyQuantizableLinear(Linear):
    """Linear under another name, which marks that it is not to be quantized."""


class LazyLinear(LazyModuleMixin, Linear):
    """A Linear that takes ``in_features`` from its first input."""

    cls_to_become = Linear
    weight: Any
    bias: Any

    def __init__(
        self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(0, 0, False, device, dtype)
        where = {"device": device, "dtype": dtype}
        self.weight = UninitializedParameter(**where)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(**where)

    def reset_parameters(self) -> None:
        """Draw new starting values, once there is something to draw."""
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Take the number of features from ``input``, and make the parameters."""
        if self.has_uninitialized_params():
            self.in_features = int(input.shape[-1])
            self.weight.materialize((self.out_features, self.in_features))
            if self.bias is not None:
                self.bias.materialize((self.out_features,))
            self.reset_parameters()
        if self.in_features == 0:
            self.in_features = int(self.weight.shape[-1])
