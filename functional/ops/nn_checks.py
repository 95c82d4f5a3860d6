"""Checks that are remembered; PyTorch's errors for the arguments of classification losses."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..errors import type_name
from ..modes import PLAIN
from ..tensor import Tensor
from .arguments import wrong_type
from .dtype_checks import expect_type

_remembered: dict[Any, Any] = {}
_MOST = 1024


def _signature(t: Tensor) -> Any:
    """What a check needs to know of a tensor."""
    if type(t) in PLAIN:
        return t._data.shape, t._data.dtype
    return t.shape, t.dtype


def remembered(make: Any, tensors: tuple[Any, ...], given: tuple[Any, ...]) -> Any:
    """``make(*tensors, *given)``, or its earlier result for the same shapes and arguments.

    The checks cost more than a small convolution. What raises is never remembered.
    """
    key = (make, *[t if t is None else _signature(t) for t in tensors], given)
    try:
        found = _remembered.get(key)
    except TypeError:  # a list among the arguments
        return make(*tensors, *given)
    if found is None:
        found = make(*tensors, *given)
        if len(_remembered) >= _MOST:
            _remembered.clear()
        _remembered[key] = found
    return found


WORDS = {1: "one int", 2: "two ints", 3: "three ints"}


def _is_int(value: Any) -> bool:
    return not isinstance(value, bool) and hasattr(value, "__index__")


def listed(value: Any, where: str) -> tuple[int, ...]:
    """An int or a sequence of ints as a tuple; ``where`` is like ``max_pool2d.stride.3``."""
    if not isinstance(value, (tuple, list)):
        if _is_int(value):
            return (int(value),)
        raise wrong_type(where, "tuple of ints", value)
    function, name, position = where.split(".")
    for at, item in enumerate(value):
        if _is_int(item):
            continue
        start, kind = f"{function}(): argument '{name}'", type_name(item)
        if at == 0:
            raise TypeError(
                f"{start} (position {position}) must be tuple of ints, but found element of type "
                f"{kind} at pos 0"
            )
        raise TypeError(
            f"{start} failed to unpack the object at pos {at + 1} with error "
            f'"type must be tuple of ints,but got {kind}"'
        )
    return tuple(map(int, value))


# --- classification losses ------------------------------------------------------------------------


def check_nll(input: Tensor, target: Tensor, weight: Any) -> None:
    """Shapes and dtypes of class scores, class indices and class weights."""
    if input.ndim == 0:
        raise ValueError(f"Expected 1 or more dimensions (got {input.ndim})")
    if input.ndim != 1 and (not target.ndim or input.shape[0] != target.shape[0]):
        raise ValueError(
            f"Expected input batch_size ({input.shape[0]}) to match target batch_size "
            f"({target.shape[0] if target.ndim else 0})."
        )
    _check_target_rank(input, target)
    if target.dtype not in (dtypes.int64, dtypes.uint8):
        raise RuntimeError(
            f"expected target dtype to be Long or Byte, but got {target.dtype.legacy}"
        )
    if input.ndim == 1 and target.ndim == 1 and target.shape[0] != 1:
        raise ValueError(
            f"For 1D input, 1D target must have size 1, but got target size: {target.shape[0]}"
        )
    classes = input.shape[0 if input.ndim == 1 else 1]
    if weight is not None and tuple(weight.shape) != (classes,):
        if input.ndim > 2:
            raise RuntimeError("weight tensor should be defined either for all or no classes")
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but "
            f"got weight tensor of shape: {list(weight.shape)}"
        )
    if input.ndim == 4 and target.shape != (input.shape[0], *input.shape[2:]):
        raise RuntimeError(
            f"size mismatch (got input: {list(input.shape)} , target: {list(target.shape)}"
        )
    if input.dtype.category == dtypes.FLOAT:  # PyTorch has no kernel for others
        expect_type(input.dtype, weight)


def _check_target_rank(input: Tensor, target: Tensor) -> None:
    if input.ndim <= 2:
        if target.ndim > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    elif input.ndim == 4:
        if target.ndim != 3:
            raise RuntimeError(
                "only batches of spatial targets supported (3D tensors) but got targets of "
                f"dimension: {target.ndim}"
            )
    else:  # PyTorch makes images of them
        wanted = [input.shape[0], *input.shape[2:]]
        if list(target.shape) != wanted:
            raise RuntimeError(f"Expected target size {wanted}, got {list(target.shape)}")
