"""Layers of vectors: Dense, Dropout, Embedding, Flatten and the normalizations."""

from __future__ import annotations

import math
from typing import Any

from ... import layers, shaping
from ..block import HybridBlock
from ..parameter import Parameter
from .containers import Activation


def positive(**sizes: int) -> None:
    """ValueError for a size that is no positive whole number."""
    for name, size in sizes.items():
        if not isinstance(size, int) or size < 1:
            raise ValueError(f"{name} must be a positive whole number, not {size!r}")


class Dense(HybridBlock):
    """``x`` times ``weight`` (units, in_units) transposed, plus ``bias`` (units,).

    With ``flatten``, (N, ...) becomes (N, units); else the last dimension does.
    """

    bias: Parameter | None

    def __init__(
        self,
        units: int,
        activation: str | None = None,
        use_bias: bool = True,
        flatten: bool = True,
        dtype: Any = "float32",
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_units: int = 0,
    ) -> None:
        super().__init__()
        positive(units=units)
        self._units, self._flatten = units, flatten
        self.weight = Parameter(
            "weight", shape=(units, in_units), dtype=dtype, init=weight_initializer,
            allow_deferred_init=True,
        )  # fmt: skip
        self.bias = (
            Parameter("bias", shape=(units,), dtype=dtype, init=bias_initializer)
            if use_bias
            else None
        )
        self.act = None if activation is None else Activation(activation)

    def infer_shape(self, x: Any) -> None:
        """The weight's second size is that of an item, or of the last dimension."""
        self.weight.shape = (
            self._units,
            math.prod(x.shape[1:]) if self._flatten else x.shape[-1],
        )

    def forward(self, x: Any) -> Any:
        """Shape (N, units) or (..., units)."""
        weight, bias = self.weight.data(), None if self.bias is None else self.bias.data()
        out = layers.fully_connected(x, weight, bias, flatten=self._flatten)
        return out if self.act is None else self.act(out)

    def __repr__(self) -> str:
        units, inputs = self.weight.shape  # type: ignore[misc]
        act = "linear" if self.act is None else self.act._act_type
        return f"Dense({inputs or None} -> {units}, {act})"


class Dropout(HybridBlock):
    """In training, each element is 0 with probability ``rate``, else divided by 1 - rate."""

    def __init__(self, rate: float, axes: Any = ()) -> None:
        super().__init__()
        if not 0 <= rate < 1:
            raise ValueError(f"rate must be at least 0 and less than 1, not {rate}")
        self._rate, self._axes = rate, axes

    def forward(self, x: Any) -> Any:
        """The elements that stay; in prediction all."""
        return layers.dropout(x, self._rate, axes=self._axes)

    def __repr__(self) -> str:
        return f"Dropout(p = {self._rate}, axes={self._axes})"


class Embedding(HybridBlock):
    """A learnt vector for each index: shape (*indices, output_dim)."""

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        dtype: Any = "float32",
        weight_initializer: Any = None,
        sparse_grad: bool = False,
    ) -> None:
        super().__init__()
        positive(input_dim=input_dim, output_dim=output_dim)
        if sparse_grad:
            raise ValueError("sparse_grad is not supported: gradients are dense")
        self.weight = Parameter(
            "weight", shape=(input_dim, output_dim), dtype=dtype, init=weight_initializer
        )

    def forward(self, x: Any) -> Any:
        """The vectors of the indices."""
        return layers.embedding(x, self.weight.data())


class Flatten(HybridBlock):
    """All dimensions but the first made one."""

    def forward(self, x: Any) -> Any:
        """Shape (N, -1)."""
        return shaping.flatten(x) if x.ndim else x

    def __repr__(self) -> str:
        return "Flatten"


class Identity(HybridBlock):
    """Gives back what it gets."""

    def forward(self, x: Any) -> Any:
        """The input itself."""
        return x


def _scale_and_shift(block: Any, size: int, scale: bool, center: bool, inits: Any) -> None:
    """Give a normalization its gamma and beta; without gradients where not asked for."""
    for name, learnt, init in zip(("gamma", "beta"), (scale, center), inits):
        parameter = Parameter(
            name, "write" if learnt else "null", (size,), init=init, allow_deferred_init=True,
            differentiable=learnt,
        )  # fmt: skip
        setattr(block, name, parameter)


class BatchNorm(HybridBlock):
    """Each channel with mean 0 and variance 1, times ``gamma`` plus ``beta``.

    In training by the batch's own statistics; their running means (biased variance, ``momentum``
    weighs the old value) move in the backward pass and serve in prediction.
    """

    gamma: Parameter
    beta: Parameter

    def __init__(
        self,
        axis: int = 1,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        use_global_stats: bool = False,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        running_mean_initializer: Any = "zeros",
        running_variance_initializer: Any = "ones",
        in_channels: int = 0,
    ) -> None:
        super().__init__()
        self._axis = axis
        self._settings = {
            "eps": epsilon, "momentum": momentum, "axis": axis, "fix_gamma": not scale,
            "use_global_stats": use_global_stats,
        }  # fmt: skip
        inits = (gamma_initializer, beta_initializer)
        _scale_and_shift(self, in_channels, scale, center, inits)
        self.running_mean, self.running_var = (
            Parameter(
                name, "null", (in_channels,), init=init, allow_deferred_init=True,
                differentiable=False,
            )
            for name, init in (
                ("running_mean", running_mean_initializer),
                ("running_var", running_variance_initializer),
            )
        )  # fmt: skip

    def _parts(self) -> tuple[Parameter, ...]:
        return self.gamma, self.beta, self.running_mean, self.running_var

    def infer_shape(self, x: Any) -> None:
        """One number for each channel."""
        for parameter in self._parts():
            parameter.shape = (x.shape[self._axis],)

    def forward(self, x: Any) -> Any:
        """The normalized input."""
        return layers.batch_norm(x, *(p.data() for p in self._parts()), **self._settings)

    def __repr__(self) -> str:
        named = ", ".join(f"{k}={v}" for k, v in self._settings.items())
        return f"BatchNorm({named}, in_channels={self.gamma.shape[0] or None})"


class LayerNorm(HybridBlock):
    """Each item with mean 0 and variance 1 along an axis, times ``gamma`` plus ``beta``."""

    gamma: Parameter
    beta: Parameter

    def __init__(
        self,
        axis: int = -1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        in_channels: int = 0,
    ) -> None:
        super().__init__()
        self._axis, self._epsilon = axis, epsilon
        inits = (gamma_initializer, beta_initializer)
        _scale_and_shift(self, in_channels, scale, center, inits)

    def infer_shape(self, x: Any) -> None:
        """One number for each place along the axis."""
        for parameter in (self.gamma, self.beta):
            parameter.shape = (x.shape[self._axis],)

    def forward(self, x: Any) -> Any:
        """The normalized input."""
        scale, shift = self.gamma.data(), self.beta.data()
        return layers.layer_norm(x, scale, shift, self._axis, self._epsilon)
