"""Gradient clipping."""

from __future__ import annotations

import math
import types
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy import ndarray

from functional.blame import warn
from functional.dtypes import HALF, float32
from functional.modes import no_grad
from functional.ops.create import filled
from functional.ops.joining import stack
from functional.tape.op import TENSOR
from functional.tensor import Tensor, wrap

Tensors = Tensor | Iterable[Tensor]


def _listed(tensors: Tensors) -> list[Tensor]:
    if isinstance(tensors, Tensor):
        return [tensors]
    found = list(tensors)
    if not found and isinstance(tensors, types.GeneratorType):
        warn("`parameters` is an empty generator, no gradient clipping will occur.")
    return found


def _gradients(parameters: list[Tensor]) -> list[Tensor]:
    return [p._grad for p in parameters if p._grad is not None]


def _norm(t: Tensor, order: float) -> Tensor:
    """The vector norm of all elements, in the tensor's dtype."""
    x = t._data
    if type(x) is not ndarray:
        return TENSOR.linalg_vector_norm(t, order)
    flat = x.reshape(-1)
    wide = flat.astype(np.float32) if x.dtype in HALF else flat
    with np.errstate(all="ignore"):
        found = np.linalg.norm(wide, order)
    real = np.dtype(x.dtype.char.lower()) if x.dtype.kind == "c" else x.dtype
    return wrap(np.asarray(found, real))


def get_total_norm(
    tensors: Tensors,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The norm of all elements of all tensors together, 0-dimensional.

    Raises RuntimeError for one that is not finite, if ``error_if_nonfinite``.
    """
    order, found = float(norm_type), _listed(tensors)
    if not found:
        return filled(0.0, (), float32, None, False)
    with no_grad():
        total = _norm(stack(_promoted([_norm(t, order) for t in found])), order)
    if error_if_nonfinite and not math.isfinite(total.item()):
        raise RuntimeError(
            f"The total norm of order {order} for gradients from `parameters` is non-finite, so "
            "it cannot be clipped. To disable this error and scale the gradients by the "
            "non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return total


def _promoted(norms: list[Tensor]) -> list[Tensor]:
    from functional.dtypes import promote_types

    d = norms[0].dtype
    for t in norms:
        d = promote_types(d, t.dtype)
    return [t.to(d) for t in norms]


def clip_grads_with_norm_(
    parameters: Tensors, max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale gradients, whose norm is ``total_norm``, to a norm of at most ``max_norm``."""
    grads = _gradients(_listed(parameters))
    with no_grad():
        factor = (max_norm / (total_norm + 1e-6)).clamp(max=1.0)
        for g in grads:
            g.mul_(factor)


def clip_grad_norm_(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale all gradients together to a norm of at most ``max_norm``; returns their norm before.

    ``norm_type`` is the order (``inf`` for the largest absolute value). Raises RuntimeError for
    a norm that is not finite, if ``error_if_nonfinite``.
    """
    found = _listed(parameters)
    total = get_total_norm(_gradients(found), norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(found, max_norm, total, foreach)
    return total


def clip_grad_norm(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The old name of ``clip_grad_norm_``."""
    warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of "
        "`torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(parameters: Tensors, clip_value: float, foreach: bool | None = None) -> None:
    """Bring every element of every gradient between -``clip_value`` and ``clip_value``."""
    clip_value = float(clip_value)
    found: Any = [parameters] if isinstance(parameters, Tensor) else parameters
    with no_grad():
        for p in found:
            if p._grad is not None:
                p._grad.clamp_(min=-clip_value, max=clip_value)
