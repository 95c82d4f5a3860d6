"""What the tests of SINGA's interface share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from torchlike.singa import autograd, device, tensor
from torchlike.singa.tensor import Tensor


@contextmanager
def singa_mode(training: bool) -> Iterator[None]:
    """A seeded device and the flag ``autograd.training``, which is off again afterwards."""
    device.get_default_device().SetRandSeed(0)
    autograd.training = training
    try:
        yield
    finally:
        autograd.training = False


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    """Normal float32 numbers."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def leaf(values: Any, stores: bool = True, requires: bool = True, name: Any = None) -> Tensor:
    """A tensor of values, whose gradient is delivered."""
    return Tensor(
        data=np.array(values, np.float32), stores_grad=stores, requires_grad=requires, name=name
    )


def constant(values: Any, dtype: Any = np.float32) -> Tensor:
    """A tensor of values."""
    return tensor.from_numpy(np.array(values, dtype))


def total(x: Tensor) -> Tensor:
    """The sum of all elements."""
    return autograd.reduce_sum(x)


def delivered(y: Tensor, dy: Any = None) -> dict[str, Any]:
    """The gradients of ``y`` by the tensors' names, as lists."""
    return {t.name: tensor.to_numpy(g).tolist() for t, g in autograd.backward(y, dy)}


def close(found: Any, expected: Any, rtol: float = 2e-6, atol: float = 1e-6) -> None:
    """Shapes are the same and values nearly so."""
    found = tensor.to_numpy(found) if isinstance(found, Tensor) else np.asarray(found)
    assert found.shape == np.shape(expected)
    np.testing.assert_allclose(found, np.asarray(expected), rtol=rtol, atol=atol)
