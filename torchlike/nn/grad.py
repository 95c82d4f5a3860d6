"""The gradients of convolutions, as functions."""

from __future__ import annotations

from typing import Any

from functional.autograd import grad
from functional.modes import enable_grad
from functional.ops.create import empty
from functional.tensor import Tensor

from . import functional as F

__all__ = [
    "conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input",
    "conv3d_weight",
]  # fmt: skip


def _empty_leaf(size: Any, like: Tensor) -> Tensor:
    return empty(tuple(size), dtype=like.dtype, device=like.device).requires_grad_()


def _of_input(n: int) -> Any:
    convolve = getattr(F, f"conv{n}d")

    def gradient(
        input_size: Any, weight: Tensor, grad_output: Tensor, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1,
    ) -> Tensor:  # fmt: skip
        if len(input_size) != n + 2:
            raise RuntimeError(
                f"Expected {n + 2}-dimensional input for {n + 2}-dimensional weight "
                f"{list(weight.shape)}, but got {len(input_size)}-dimensional input of size "
                f"{list(input_size)} instead"
            )
        with enable_grad():
            x = _empty_leaf(input_size, weight)
            y = convolve(x, weight.detach(), None, stride, padding, dilation, groups)
        return grad(y, x, grad_output)[0]

    return _named(gradient, f"conv{n}d_input", "an input of this size")


def _of_weight(n: int) -> Any:
    convolve = getattr(F, f"conv{n}d")

    def gradient(
        input: Tensor, weight_size: Any, grad_output: Tensor, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1,
    ) -> Tensor:  # fmt: skip
        with enable_grad():
            w = _empty_leaf(weight_size, input)
            y = convolve(input.detach(), w, None, stride, padding, dilation, groups)
        return grad(y, w, grad_output)[0]

    return _named(gradient, f"conv{n}d_weight", "a weight of this size")


def _named(function: Any, name: str, of: str) -> Any:
    function.__name__ = function.__qualname__ = name
    kind = name.partition("_")[0]
    function.__doc__ = f"The gradient of {of} in ``{kind}``, given the result's gradient."
    return function


conv1d_input, conv2d_input, conv3d_input = map(_of_input, (1, 2, 3))
conv1d_weight, conv2d_weight, conv3d_weight = map(_of_weight, (1, 2, 3))
