"""Blocks one after the other, and blocks made of a function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ... import elementwise, layers, numpy, numpy_extension
from ... import ndarray as nd
from ...state import NUMPY
from ..block import Block, HybridBlock


class Sequential(Block):
    """Children called one after the other, each with what the one before has given."""

    def __init__(self, *blocks: Block) -> None:
        super().__init__()
        self.add(*blocks)

    def add(self, *blocks: Block) -> None:
        """Put blocks at the end."""
        for block in blocks:
            self.register_child(block)

    def forward(self, x: Any, *args: Any) -> Any:
        """What the last child gives; further inputs go to the first."""
        for block in self._children.values():
            x = block(x, *args)
            args = ()
            if isinstance(x, (tuple, list)):
                x, *args = x  # type: ignore[assignment]
        return [x, *args] if args else x

    def __len__(self) -> int:
        return len(self._children)

    def __iter__(self) -> Iterator[Block]:
        return iter(self._children.values())

    def __getitem__(self, key: Any) -> Any:
        found = list(self._children.values())[key]
        return type(self)(*found) if isinstance(key, slice) else found


class HybridSequential(Sequential, HybridBlock):
    """The same as Sequential."""


def _named(function: Any) -> Callable[..., Any]:
    """A function by its name in ``np``, ``npx`` or ``nd``; ValueError for an unknown one."""
    if callable(function):
        return function
    places = (numpy, numpy_extension) if NUMPY.array else (nd,)
    for place in places:
        found = getattr(place, function, None)
        if callable(found):
            return found
    raise ValueError(f"there is no function {function!r}")


class Lambda(Block):
    """A function, or one of ``nd`` (with NumPy semantics: of ``np``, ``npx``) by name."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self._function = _named(function)

    def forward(self, *args: Any) -> Any:
        """What the function gives."""
        return self._function(*args)


class HybridLambda(Lambda, HybridBlock):
    """The same as Lambda."""


class Activation(HybridBlock):
    """``relu``, ``sigmoid``, ``tanh``, ``softrelu``, ``softsign`` and the like, by name."""

    def __init__(self, activation: str) -> None:
        super().__init__()
        if activation not in layers.ACTIVATIONS:
            raise ValueError(
                f"activation must be one of {', '.join(layers.ACTIVATIONS)}, not {activation!r}"
            )
        self._act_type = activation

    def forward(self, x: Any) -> Any:
        """The function of each element."""
        return layers.activation(x, self._act_type)

    def __repr__(self) -> str:
        return f"Activation({self._act_type})"


class LeakyReLU(HybridBlock):
    """Positive elements as they are, negative ones times ``alpha``."""

    def __init__(self, alpha: float) -> None:
        super().__init__()
        self._alpha = alpha

    def forward(self, x: Any) -> Any:
        """Each element, or ``alpha`` times it."""
        return elementwise.where(x > 0, x, x * self._alpha)
