"""What may be written where: overlapping memory, shapes and dtypes of in-place results."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from .. import dtypes, errors
from ..kernels import layout
from ..tensor import Tensor


def check_overlap(target: Tensor, inputs: Any, allowed: bool = False) -> bool:
    """PyTorch's errors for writing to memory that several elements, or part of an input, share.

    Returns whether elements share memory, which is ``allowed`` to a few operations.
    """
    x = target._data
    contiguous = type(x) is ndarray and x.flags.c_contiguous
    shared = (
        not contiguous
        and x.size > 0
        and any(s == 0 and n > 1 for s, n in zip(x.strides, x.shape, strict=True))
    )
    if shared and not allowed:
        raise RuntimeError(errors.INTERNAL_OVERLAP)
    if type(x) is not ndarray or not x.size:
        return False
    for a in inputs:
        if isinstance(a, Tensor) and a is not target and type(a._data) is ndarray:
            y = a._data
            if np.may_share_memory(x, y) and _overlap_partly(x, y):
                raise RuntimeError(errors.PARTIAL_OVERLAP)
    return shared


def check_apart(target: Tensor, inputs: Any) -> None:
    """The same for operations that read their inputs after they have begun to write."""
    check_overlap(target, ())
    x = target._data
    for a in inputs:
        arrays = isinstance(a, Tensor) and type(a._data) is ndarray and type(x) is ndarray
        if arrays and x.size and np.may_share_memory(x, a._data):
            raise RuntimeError(errors.PARTIAL_OVERLAP)


def write_changes(x: ndarray, data: ndarray) -> None:
    """Write what is new, so that an element left alone does not undo the write of its twin."""
    np.copyto(x, data, where=(x != data) & ~((x != x) & (data != data)))


def _overlap_partly(x: ndarray, y: ndarray) -> bool:
    """Whether dense arrays that share memory are not the same array; others may always."""
    if not (layout.is_dense(x) and layout.is_dense(y)):
        return False
    (a, b), (c, d) = np.lib.array_utils.byte_bounds(x), np.lib.array_utils.byte_bounds(y)
    if (a, b) == (c, d):
        return x.strides != y.strides
    return a < d and c < b


def check_shape(target: Tensor, *operands: Any) -> None:
    """PyTorch's error for operands that broadcast to more than ``target`` holds."""
    shapes = [tuple(a.shape) for a in operands]
    try:
        found = np.broadcast_shapes(*shapes)
    except ValueError:
        raise size_mismatch(*shapes) from None
    if found != tuple(target.shape):
        raise RuntimeError(
            f"output with shape {list(target.shape)} doesn't match the broadcast shape "
            f"{list(found)}"
        )


def check_result(data: Any, target: Tensor) -> None:
    """PyTorch's errors for a result that cannot be written into ``target``."""
    check_shape(target, data)
    dtypes.check_cast(dtypes.FROM_ARRAY[data.dtype], target.dtype)


def size_mismatch(*shapes: tuple[int, ...]) -> RuntimeError:
    """PyTorch's error for shapes that do not broadcast."""
    a, b = shapes[0], shapes[1] if len(shapes) > 1 else ()
    for other in shapes[2:]:
        try:
            a = np.broadcast_shapes(a, b)
            b = other
        except ValueError:
            break
    n = max(len(a), len(b))
    wide = [(1,) * (n - len(s)) + tuple(s) for s in (a, b)]
    for axis in reversed(range(n)):
        p, q = wide[0][axis], wide[1][axis]
        if p != q and 1 not in (p, q):
            return RuntimeError(
                f"The size of tensor a ({p}) must match the size of tensor b ({q}) at "
                f"non-singleton dimension {axis}"
            )
    return RuntimeError(f"shapes {a} and {b} do not broadcast")
