"""The bilinear layer."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from functional.ops.chains import bilinear
from functional.ops.create import empty
from functional.tensor import Tensor

from .. import init
from ..parameter import Parameter
from .module import Module


class Bilinear(Module):
    """``y = x1 W x2 + b``: (*, in1) and (*, in2) to (*, out); W is (out, in1, in2)."""

    __constants__: ClassVar = ["in1_features", "in2_features", "out_features"]
    weight: Tensor

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got (in1_features={in1_features})")
        self.in1_features, self.in2_features = in1_features, in2_features
        self.out_features = out_features
        where = {"device": device, "dtype": dtype}
        self.weight = Parameter(empty((out_features, in1_features, in2_features), **where))
        if bias:
            self.bias = Parameter(empty(out_features, **where))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new starting values, uniform within 1 / sqrt(in1_features)."""
        bound = 1 / math.sqrt(self.weight.shape[1])
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """The bilinear form of both inputs, one for each output."""
        return bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The sizes."""
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )
