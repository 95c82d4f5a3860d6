"""Padding as functions."""

from __future__ import annotations

from typing import Any

from . import dtypes
from .kernels.padding import padded_shape
from .ops.arguments import ints
from .ops.cast import copy_
from .ops.nn_checks import remembered
from .ops.padding import constant_pad, reflection_pads, replication_pads
from .ops.pooling import refuse_dtypes
from .ops.views import slice_
from .tape.op import public
from .tape.wrappers import Wrapped
from .tensor import Tensor

_AXES = {1: "W", 2: "HW", 3: "DHW"}


@public
def constant_pad_nd(input: Tensor, pad: Any, value: float = 0) -> Tensor:
    """The input with ``value`` around it; pads are for the last dimension first, negative cut."""
    pads = ints((pad,))
    if len(pads) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pads)}")
    if len(pads) > 2 * input.ndim:
        raise RuntimeError(
            "Length of pad should be no more than twice the number of dimensions of the input. Pad "
            f"length is {len(pads)}while the input has {input.ndim}dimensions."
        )
    _check_constant(input, pads)
    found: Tensor = constant_pad(input, pads, value)
    return found


def _check_constant(x: Tensor, pads: tuple[int, ...]) -> bool:
    """What is cut off may not be more than there is."""
    for i in range(len(pads) // 2):
        size, (before, after) = x.shape[-1 - i], pads[2 * i : 2 * i + 2]
        if size + min(before, 0) + min(after, 0) < 0:
            raise RuntimeError("narrow(): length must be non-negative.")
        if size + before + after < 0:
            raise RuntimeError(
                f"The input size {size}, plus negative padding {before} and {after} resulted in a "
                "negative output size, which is invalid. Check dimension "
                f"{x.ndim - 1 - i} of your input."
            )
    return True


# --- edges ----------------------------------------------------------------------------------------


def _check_filled(x: Tensor, n: int) -> None:
    valid = x.ndim in (n + 1, n + 2) and 0 not in x.shape[x.ndim - n - 1 :]
    if not valid:
        raise RuntimeError(
            f"Expected {n + 1}D or {n + 2}D (batch mode) tensor with possibly 0 batch size and "
            f"other non-zero dimensions for input, but got: {list(x.shape)}"
        )


def _check_reflection(x: Tensor, pads: tuple[int, ...]) -> None:
    for i in range(len(pads) // 2):
        before, after = pads[2 * i : 2 * i + 2]
        if before >= x.shape[-1 - i] or after >= x.shape[-1 - i]:
            raise RuntimeError(
                f"Argument #{4 + 2 * i}: Padding size should be less than the corresponding input "
                f"dimension, but got: padding ({before}, {after}) at dimension {x.ndim - 1 - i} of "
                f"input {list(x.shape)}"
            )


def _check_result(x: Tensor, pads: tuple[int, ...]) -> None:
    n = len(pads) // 2
    shape = padded_shape(tuple(x.shape), pads)
    if min(shape[-n:]) < 1:
        given, found = (
            " ".join(f"{a}: {s}" for a, s in zip(_AXES[n], v[-n:], strict=True))
            for v in (tuple(x.shape), shape)
        )
        raise RuntimeError(f"input ({given}) is too small. Calculated output {found}")


def _check_edge(x: Tensor, pads: tuple[int, ...], mode: str) -> bool:
    n = len(pads) // 2
    _check_filled(x, n)
    if mode == "reflect":
        _check_reflection(x, pads)
    _check_result(x, pads)
    if x.dtype is dtypes.bool_:
        name = "reflection" if mode == "reflect" else "replication"
        refuse_dtypes(x, f"{name}_pad{n}d")
    return True


def _edge(x: Tensor, pads: tuple[int, ...], mode: str) -> Tensor:
    n = len(pads) // 2
    remembered(_check_edge, (x,), (pads, mode))
    found: Tensor = (reflection_pads if mode == "reflect" else replication_pads)[n - 1](x, pads)
    return found


def _circular(x: Tensor, pads: tuple[int, ...]) -> Tensor:
    """Writes x into new memory, then the ends of every dimension from its other side."""
    shape = _check_circular(x, pads)
    if isinstance(x, Wrapped):  # what is written to must have the batch of what is written
        out: Any = constant_pad(x, pads, 0)
    else:
        out = x.new_empty(shape)
    target, source = out, x
    sides = [(x.ndim - 1 - i, *pads[2 * i : 2 * i + 2]) for i in range(len(pads) // 2)]
    for dim, before, after in sides:
        target = slice_(target, dim, max(before, 0), shape[dim] - max(after, 0), 1)
        source = slice_(source, dim, max(-before, 0), x.shape[dim] - max(-after, 0), 1)
    copy_(target, source)
    for dim, before, after in sides:
        end = shape[dim] - max(after, 0)
        if before > 0:
            copy_(slice_(out, dim, 0, before, 1), slice_(out, dim, end - before, end, 1))
        if after > 0:
            start = max(before, 0)
            copy_(slice_(out, dim, end, shape[dim], 1), slice_(out, dim, start, start + after, 1))
    result: Tensor = out
    return result


def _check_circular(x: Tensor, pads: tuple[int, ...]) -> tuple[int, ...]:
    shape = padded_shape(tuple(x.shape), pads)
    for i in range(len(pads) // 2):
        size, (before, after) = x.shape[-1 - i], pads[2 * i : 2 * i + 2]
        if before > size or after > size:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        if shape[-1 - i] < 0:
            raise RuntimeError("Negative padding value is resulting in an empty dimension")
    return shape


@public
def pad(input: Tensor, pad: Any, mode: str = "constant", value: float | None = None) -> Tensor:
    """The input with a margin: (before, after) of the last dimension, of the one before it, ...

    ``mode`` is ``constant`` (``value``, 0 if not given), ``reflect``, ``replicate`` or
    ``circular``; the last three are for images (N, C, *) or (C, *) of up to 3 dimensions.
    """
    pads = tuple(pad) if type(pad) in (tuple, list) else ints((pad,))
    if len(pads) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pads) > 2 * input.ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got "
            f"padding length {len(pads)} and input of dimension {input.ndim}"
        )
    if mode == "constant":
        remembered(_check_constant, (input,), (pads,))
        found: Tensor = constant_pad(input, pads, 0 if value is None else value)
        return found
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if mode not in ("circular", "reflect", "replicate"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if len(pads) not in (2, 4, 6) or input.ndim not in (len(pads) // 2 + 1, len(pads) // 2 + 2):
        raise NotImplementedError(
            f"Padding size {len(pads)} is not supported for {input.ndim}D input tensor."
        )
    if mode == "circular":
        return _circular(input, pads)
    return _edge(input, pads, mode)
