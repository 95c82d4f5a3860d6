"""PyTorch's errors for sizes that are too large, or no sizes at all."""

from __future__ import annotations

import math

_MOST = 1 << 63


def check_numel(shape: tuple[int, ...]) -> None:
    """PyTorch's error for sizes whose product is no number of elements."""
    if any(n < 0 for n in shape) or math.prod(shape) >= _MOST:
        raise RuntimeError("numel: integer multiplication overflow")


def check_bytes(shape: tuple[int, ...], item: int, strides: tuple[int, ...] | None = None) -> None:
    """PyTorch's error for a geometry that spans more bytes than there can be.

    ``strides``, in elements, are named in the error where they are given.
    """
    if strides is None:
        need = math.prod(shape) * item
    elif 0 in shape:
        return
    else:
        need = (1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))) * item
    if need >= _MOST or (strides is not None and any(s < 0 for s in strides)):
        rest = "" if strides is None else f" and strides={list(strides)}"
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)}{rest}")


def no_memory(need: int) -> RuntimeError:
    """PyTorch's error where the system has not as many bytes."""
    return RuntimeError(
        "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate "
        f"memory: you tried to allocate {need} bytes. Error code 12 (Cannot allocate memory)"
    )


def too_large(shape: tuple[int, ...], item: int) -> Exception:
    """PyTorch's error for an array of this shape, which could not be made."""
    try:
        check_bytes(shape, item)
    except RuntimeError as error:
        return error
    return no_memory(math.prod(shape) * item)
