"""Activation layers."""

from __future__ import annotations

from typing import Any, ClassVar

from functional import nn as core
from functional.tensor import Tensor

from .. import functional as F
from .attention import MultiheadAttention as MultiheadAttention
from .module import Module
from .rectifiers import (
    CELU as CELU,
)
from .rectifiers import (
    ELU as ELU,
)
from .rectifiers import (
    SELU as SELU,
)
from .rectifiers import (
    Hardsigmoid as Hardsigmoid,
)
from .rectifiers import (
    Hardswish as Hardswish,
)
from .rectifiers import (
    Hardtanh as Hardtanh,
)
from .rectifiers import (
    Mish as Mish,
)
from .rectifiers import (
    PReLU as PReLU,
)
from .rectifiers import (
    ReLU6 as ReLU6,
)
from .rectifiers import (
    RReLU as RReLU,
)
from .rectifiers import (
    SiLU as SiLU,
)
from .rectifiers import (
    Threshold as Threshold,
)


class ReLU(Module):
    """max(0, x), element by element."""

    __constants__: ClassVar = ["inplace"]
    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """The positive part of ``input``."""
        return core.relu.in_place(input) if self.inplace else core.relu(input)

    def extra_repr(self) -> str:
        """Says if it works in place."""
        return "inplace=True" if self.inplace else ""


class LeakyReLU(Module):
    """x where it is positive, ``negative_slope`` times x elsewhere."""

    __constants__: ClassVar = ["inplace", "negative_slope"]
    inplace: bool
    negative_slope: float

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace

    def forward(self, input: Tensor) -> Tensor:
        """``input`` with its negative part scaled."""
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        """The slope."""
        return f"negative_slope={self.negative_slope}" + (", inplace=True" if self.inplace else "")


class Tanh(Module):
    """tanh, element by element."""

    def forward(self, input: Tensor) -> Tensor:
        """tanh(input)."""
        return core.tanh(input)


class Sigmoid(Module):
    """1 / (1 + exp(-x)), element by element."""

    def forward(self, input: Tensor) -> Tensor:
        """sigmoid(input)."""
        return core.sigmoid(input)


class _OverDim(Module):
    __constants__: ClassVar = ["dim"]
    dim: int | None

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("dim", None)

    def extra_repr(self) -> str:
        """The dimension."""
        return f"dim={self.dim}"


class Softmax(_OverDim):
    """exp(x) over its sum along ``dim``."""

    def forward(self, input: Tensor) -> Tensor:
        """Probabilities along ``dim``."""
        return F.softmax(input, self.dim, _stacklevel=5)


class LogSoftmax(_OverDim):
    """The logarithm of Softmax, computed stably."""

    def forward(self, input: Tensor) -> Tensor:
        """Logarithms of probabilities along ``dim``."""
        return F.log_softmax(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        """The dimension."""
        return f"dim={self.dim}"


class Softmin(_OverDim):
    """Softmax of -x."""

    def forward(self, input: Tensor) -> Tensor:
        """Probabilities along ``dim``."""
        return F.softmin(input, self.dim, _stacklevel=5)


class Softmax2d(Module):
    """Softmax over the channels of (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        """Probabilities at every position."""
        if input.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead")
        return F.softmax(input, -3, _stacklevel=5)


class GLU(_OverDim):
    """The first half along ``dim`` times the sigmoid of the second half."""

    dim: int

    def __init__(self, dim: int = -1) -> None:
        super().__init__(dim)

    def forward(self, input: Tensor) -> Tensor:
        """glu(input), half as long along ``dim``."""
        return F.glu(input, self.dim)


class GELU(Module):
    """x Φ(x), exactly or by tanh (``approximate="tanh"``)."""

    __constants__: ClassVar = ["approximate"]

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """gelu(input)."""
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        """How it is computed."""
        return f"approximate={self.approximate!r}"


class _Shrink(Module):
    __constants__: ClassVar = ["lambd"]

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        """The limit."""
        return str(self.lambd)


class Hardshrink(_Shrink):
    """x, and 0 where |x| is at most ``lambd``."""

    def forward(self, input: Tensor) -> Tensor:
        """hardshrink(input)."""
        return F.hardshrink(input, self.lambd)


class Softshrink(_Shrink):
    """x moved towards 0 by ``lambd``, as far as 0."""

    def forward(self, input: Tensor) -> Tensor:
        """softshrink(input)."""
        return F.softshrink(input, self.lambd)


class Tanhshrink(Module):
    """x - tanh(x)."""

    def forward(self, input: Tensor) -> Tensor:
        """tanhshrink(input)."""
        return F.tanhshrink(input)


class Softsign(Module):
    """x / (1 + |x|)."""

    def forward(self, input: Tensor) -> Tensor:
        """softsign(input)."""
        return F.softsign(input)


class LogSigmoid(Module):
    """log(sigmoid(x))."""

    def forward(self, input: Tensor) -> Tensor:
        """logsigmoid(input)."""
        return F.logsigmoid(input)


class Softplus(Module):
    """log(1 + exp(beta x)) / beta; x itself where beta x is above ``threshold``."""

    __constants__: ClassVar = ["beta", "threshold"]

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, input: Tensor) -> Tensor:
        """softplus(input)."""
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        """The options."""
        return f"beta={self.beta}, threshold={self.threshold}"
