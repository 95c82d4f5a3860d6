"""The default random generator: seeding, its state, and forking it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from functional.random import default_generator, initial_seed, manual_seed, seed
from functional.tensor import Tensor

__all__ = [
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]


def get_rng_state() -> Tensor:
    """The state of the default generator: a uint8 tensor of shape (5056,)."""
    return default_generator.get_state()  # type: ignore[attr-defined]


def set_rng_state(new_state: Tensor) -> None:
    """Continue the default generator from a state of ``get_rng_state``."""
    default_generator.set_state(new_state)  # type: ignore[attr-defined]


@contextlib.contextmanager
def fork_rng(devices: Any = None, enabled: bool = True, **other: Any) -> Iterator[None]:
    """Leave the default generators, those of GPUs too, as they were before the block."""
    from . import cuda

    state, states = get_rng_state(), cuda.get_rng_state_all()
    try:
        yield
    finally:
        if enabled:
            set_rng_state(state)
            cuda.set_rng_state_all(states)
