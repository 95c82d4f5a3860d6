"""Functions with gradients of their own behind older methods of Tensor."""

from __future__ import annotations

import functools
import operator
from typing import Any

from functional.function import Function
from functional.tensor import Tensor


def _in_words(sizes: Any) -> str:
    return "x".join(map(str, sizes))


class Resize(Function):
    """The same elements in another shape: ``view``, under an older name."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor, sizes: tuple[Any, ...]) -> Any:
        count = functools.reduce(operator.mul, sizes, 1)
        if tensor.numel() != count:
            raise RuntimeError(
                f"requested resize to {_in_words(sizes)} ({count} elements in total), but the "
                f"given tensor has a size of {_in_words(tensor.size())} ({tensor.numel()} "
                "elements). autograd's resize can only change the shape of a given tensor, while "
                "preserving the number of elements. "
            )
        ctx.input_sizes = tensor.size()
        return tensor.detach().contiguous().view(*sizes)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads[0].contiguous().view(ctx.input_sizes), None
