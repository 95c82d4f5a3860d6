"""What may be written where: overlapping memory, shapes and dtypes of in-place results."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from .. import dtypes, errors
from ..blame import warn
from ..kernels import layout
from ..tensor import Tensor

_DEPRECATED = (
    "Use of {} on expanded tensors is deprecated. Please clone() the tensor before performing this "
    "operation. This also applies to advanced indexing e.g. {}"
)


def check_target(op: Any, target: Tensor, inputs: Any) -> bool:
    """PyTorch's errors for an in-place ``op`` where elements share memory with one another, or
    the target with other inputs, as declared by ``op.rewrites``, ``op.apart`` and ``op.loose``.

    Returns whether elements of the target share memory.
    """
    shared = check_internal(target, op.rewrites)
    if op.loose or op.apart:
        named = list(zip(op.inputs[1:], inputs, strict=False))
        inputs = [a for name, a in named if name not in op.loose and name not in op.apart]
        check_apart(target, [a for name, a in named if name in op.apart])
    check_overlap(target, inputs)
    return shared


def check_internal(target: Tensor, allowed: Any = False) -> bool:
    """PyTorch's error for writing to elements that share memory.

    Returns whether some do, which is ``allowed``, with a warning if that is an operation's name.
    """
    x = target._data
    if type(x) is ndarray and x.flags.c_contiguous:
        return False
    shared = x.size > 0 and any(s == 0 and n > 1 for s, n in zip(x.strides, x.shape, strict=True))
    if shared and not allowed:
        raise RuntimeError(errors.INTERNAL_OVERLAP)
    if shared and type(allowed) is str:
        tensors = allowed == "index_put_"
        written = "tensor[indices] = tensor" if tensors else "tensor[mask] = scalar"
        warn(_DEPRECATED.format(allowed, written))
    return shared


def check_overlap(target: Tensor, inputs: Any) -> None:
    """PyTorch's error for writing to a part of an input."""
    x = target._data
    if type(x) is ndarray and x.size:
        for a in inputs:
            if isinstance(a, Tensor) and a is not target and type(a._data) is ndarray:
                y = a._data
                if np.may_share_memory(x, y) and _overlap(x, y) == PARTLY:
                    raise RuntimeError(errors.PARTIAL_OVERLAP)


def shares(target: Tensor, other: Tensor) -> bool:
    """Whether two tensors may have memory in common."""
    x, y = target._data, other._data
    return type(x) is ndarray and type(y) is ndarray and np.may_share_memory(x, y)


def check_apart(target: Tensor, inputs: Any) -> None:
    """The same for operations that read these inputs after they have begun to write."""
    x = target._data
    if type(x) is ndarray and x.size:
        for a in inputs:
            if isinstance(a, Tensor) and type(a._data) is ndarray:
                y = a._data
                if y is x or (np.may_share_memory(x, y) and _overlap(x, y)):
                    raise RuntimeError(errors.PARTIAL_OVERLAP)


def write_changes(x: ndarray, data: ndarray) -> None:
    """Write what is new, so that an element left alone does not undo the write of its twin."""
    np.copyto(x, data, where=(x != data) & ~((x != x) & (data != data)))


APART, PARTLY, SAME = range(3)


def _overlap(x: ndarray, y: ndarray) -> int:
    """How dense arrays lie in memory; others count as apart."""
    if not (layout.is_dense(x) and layout.is_dense(y)):
        return APART
    (a, b), (c, d) = np.lib.array_utils.byte_bounds(x), np.lib.array_utils.byte_bounds(y)
    if (a, b) == (c, d):
        return SAME if x.strides == y.strides else PARTLY
    return PARTLY if a < d and c < b else APART


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
