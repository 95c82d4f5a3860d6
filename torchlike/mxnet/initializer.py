"""How parameters begin: ``mx.init``."""

from __future__ import annotations

import math
from typing import Any

import torchlike as torch

from .array import NDArray
from .state import flags


class Initializer:
    """Fills arrays by the ends of their names; subclasses say in ``_init_weight`` how weights are.

    Biases, beta and running means are zeros, gamma and running variances ones.
    """

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = kwargs

    def __call__(self, name: str, arr: NDArray) -> None:
        """Fill the array of that name."""
        with flags(recording=False):
            if name.endswith(("bias", "beta", "running_mean")):
                arr[:] = 0
            elif name.endswith(("gamma", "running_var")):
                arr[:] = 1
            else:
                self._init_weight(name, arr)

    def fill(self, name: str, arr: NDArray) -> None:
        """Fill an array that this initializer was chosen for, whatever its name."""
        with flags(recording=False):
            self._init_weight(name, arr)

    def _init_weight(self, name: str, arr: NDArray) -> None:
        raise NotImplementedError(f"{type(self).__name__} does not say how weights begin")

    def __repr__(self) -> str:
        named = ", ".join(f"{k}={v!r}" for k, v in self._kwargs.items())
        return f"{type(self).__name__}({named})"


def _target(arr: NDArray) -> Any:
    return arr._written().detach()


class Constant(Initializer):
    """One number, or the elements of an array of the same shape."""

    def __init__(self, value: Any = 0.0) -> None:
        super().__init__(value=value)
        self.value = value

    def _init_weight(self, name: str, arr: NDArray) -> None:
        arr[:] = self.value


class Zero(Constant):
    """Zeros."""

    def __init__(self) -> None:
        super().__init__(0.0)


class One(Constant):
    """Ones."""

    def __init__(self) -> None:
        super().__init__(1.0)


class Uniform(Initializer):
    """Evenly from -``scale`` to ``scale``."""

    def __init__(self, scale: float = 0.07) -> None:
        super().__init__(scale=scale)
        self.scale = scale

    def _init_weight(self, name: str, arr: NDArray) -> None:
        _target(arr).uniform_(-self.scale, self.scale)


class Normal(Initializer):
    """Normally with standard deviation ``sigma``."""

    def __init__(self, sigma: float = 0.01) -> None:
        super().__init__(sigma=sigma)
        self.sigma = sigma

    def _init_weight(self, name: str, arr: NDArray) -> None:
        _target(arr).normal_(0, self.sigma)


class Xavier(Initializer):
    """Scaled by the number of inputs and outputs (Glorot and Bengio, 2010).

    With n their mean (``avg``), or one of them (``in``, ``out``): evenly within
    sqrt(magnitude / n), or normally (``gaussian``) with that standard deviation.
    """

    def __init__(
        self, rnd_type: str = "uniform", factor_type: str = "avg", magnitude: float = 3
    ) -> None:
        if rnd_type not in ("uniform", "gaussian"):
            raise ValueError(f"rnd_type must be 'uniform' or 'gaussian', not {rnd_type!r}")
        if factor_type not in ("avg", "in", "out"):
            raise ValueError(f"factor_type must be 'avg', 'in' or 'out', not {factor_type!r}")
        super().__init__(rnd_type=rnd_type, factor_type=factor_type, magnitude=magnitude)
        self.rnd_type, self.factor_type, self.magnitude = rnd_type, factor_type, float(magnitude)

    def _init_weight(self, name: str, arr: NDArray) -> None:
        if arr.ndim < 2:
            raise ValueError(f"Xavier wants two dimensions or more, and {name} has {arr.shape}")
        field = math.prod(arr.shape[2:])
        fans = {"in": arr.shape[1] * field, "out": arr.shape[0] * field}
        n = fans.get(self.factor_type, (fans["in"] + fans["out"]) / 2)
        scale = math.sqrt(self.magnitude / n)
        if self.rnd_type == "uniform":
            _target(arr).uniform_(-scale, scale)
        else:
            _target(arr).normal_(0, scale)


class Orthogonal(Initializer):
    """Rows (or columns, if there are more rows) that are orthogonal and of length ``scale``."""

    def __init__(self, scale: float = 1.414) -> None:
        super().__init__(scale=scale)
        self.scale = scale

    def _init_weight(self, name: str, arr: NDArray) -> None:
        torch.nn.init.orthogonal_(_target(arr), self.scale)


NAMES: dict[str, Any] = {
    "zeros": Zero, "zero": Zero, "ones": One, "one": One, "uniform": Uniform, "normal": Normal,
    "xavier": Xavier, "constant": Constant, "orthogonal": Orthogonal,
}  # fmt: skip


def create(init: Any) -> Initializer:
    """An initializer from itself, its class or its name; ValueError for an unknown name."""
    if isinstance(init, str):
        if init.lower() not in NAMES:
            raise ValueError(f"there is no initializer {init!r}, only {', '.join(NAMES)}")
        return NAMES[init.lower()]()
    if isinstance(init, type):
        init = init()
    if not isinstance(init, Initializer):
        raise TypeError(f"an initializer or its name is wanted, not {init!r}")
    return init
