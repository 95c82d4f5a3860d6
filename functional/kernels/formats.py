"""Memory formats: results whose channels lie innermost in memory where those of their input do.

PyTorch calls that order of a batch of images or volumes ``channels_last``. Kernels compute in C
order and say with ``follows`` whose format their results take.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from . import layout

Kernel = Callable[..., Any]


def suggests_channels_last(x: Any) -> bool:
    """Whether strides say that channels lie innermost; the elements may lie apart.

    Strides of dimensions of one element count too: they alone tell the formats of images of one
    channel, or of one pixel, apart.
    """
    strides, shape = x.strides, x.shape
    if len(shape) not in (4, 5) or 0 in shape or not 0 < strides[1] <= strides[-1]:
        return False
    reach = strides[1] * shape[1]
    for axis in range(len(shape) - 1, 1, -1):
        if strides[axis] < reach:
            return False
        reach = strides[axis] * shape[axis]
    return bool(strides[1] < reach <= strides[0])  # one number per sample: either format


def channels_last_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Byte strides of a dense array with its channels innermost."""
    return layout.dense_strides(shape, (0, *range(2, len(shape)), 1), itemsize)


def channels_last(z: Any) -> Any:
    """``z``, or a copy of it, with its channels innermost; other ranks as they are."""
    if z.ndim not in (4, 5):
        return z
    return layout.with_strides(z, channels_last_strides(z.shape, z.itemsize))


def follows(
    *at: int, ranks: tuple[int, ...] = (4, 5), when: Kernel | None = None, meta: bool = True
) -> Any:
    """A kernel whose results take the format of the arguments ``at``: channels last if one is.

    ``ranks`` are the ranks of arguments that count, ``when`` a test of all arguments; without
    ``meta``, results without numbers are in C order, as some of PyTorch's are.
    """

    def decorate(kernel: Kernel) -> Kernel:
        def is_last(*args: Any) -> bool:
            found = [args[i] for i in at if args[i].ndim in ranks]
            return any(map(suggests_channels_last, found)) and (when is None or when(*args))

        @functools.wraps(kernel)
        def run(*args: Any) -> Any:
            z = kernel(*args)
            for i in at:
                strides = args[i].strides
                if len(strides) < 4 or strides[1] > strides[-1]:  # all that most calls ask
                    continue
                if strides[1] * args[i].shape[1] <= strides[-1] and is_last(*args):
                    return tuple(map(channels_last, z)) if type(z) is tuple else channels_last(z)
            return z

        run.is_last = is_last if meta else None  # type: ignore[attr-defined]
        return run

    return decorate


def shaped(kernel: Kernel, arrays: list[Any], found: Any) -> Any:
    """What a shape rule has ``found``, with the strides of the format that the kernel gives."""
    is_last = getattr(kernel, "is_last", None)
    if is_last is None or not is_last(*arrays):
        return found
    if type(found) is list:
        return [_shaped(*one) for one in found]
    return _shaped(*found)


def _shaped(shape: Any, dtype: Any, strides: Any = None) -> tuple[Any, ...]:
    if len(shape) not in (4, 5):
        return shape, dtype, strides
    return shape, dtype, channels_last_strides(tuple(shape), dtype.itemsize)
