"""Parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

from functional.ops.joining import cat
from functional.tensor import Tensor


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All elements of all parameters in one vector; recorded, so gradients flow back."""
    return cat([p.view(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Give the parameters the elements of ``vec``: they become views of it.

    Raises TypeError for what is no Tensor, RuntimeError where it has too few elements.
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    start = 0
    for p in parameters:
        stop = start + p.numel()
        p.data = vec[start:stop].view(p.shape).data
        start = stop
