"""Dropout of elements and of whole channels: torch.NAME, with PyTorch's random bits."""

from __future__ import annotations

import math
from typing import Any

from .. import dtypes
from ..kernels.meta import MetaArray
from ..modes import MODE
from ..tape.declare import general
from ..tape.op import TENSOR, public
from ..tensor import Tensor
from . import drawing, pointwise
from .create import empty, empty_like, ones, zeros
from .random_fills import bernoulli_
from .views import squeeze

_ALPHA = 1.7580993408473766  # scale times alpha of SELU (G. Klambauer et al., 2017)


def _check(p: float) -> None:
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")


def _kept(input: Tensor, feature: bool) -> Tensor:
    """An empty tensor with one element for each that is kept or dropped on its own."""
    if not feature:
        return empty_like(input)
    if input.ndim < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return empty((*input.shape[:2], *(1,) * (input.ndim - 2)), dtype=input.dtype,
                 device=input.device)  # fmt: skip


def _noise(input: Tensor, feature: bool, p: float) -> Tensor:
    """Ones for what is kept, with probability ``p``, and zeros."""
    batch = drawing.vmapped() if MODE.transforms else None
    if batch is None:
        return bernoulli_(_kept(input, feature), p)
    shape = tuple(_kept(input, feature).shape)
    kind = {"dtype": input.dtype, "device": input.device}
    return drawing.of_shape(lambda s: bernoulli_(empty(s, **kind), p), shape, batch)


def drop(input: Tensor, p: float, feature: bool, alpha: bool, inplace: bool) -> Any:
    """Drop elements or channels with probability ``p``, 0 to 1, and scale the others.

    With ``alpha`` what is dropped becomes SELU's lower limit, and mean and variance stay.
    """
    mul, add = pointwise.mul, pointwise.add
    if inplace:
        mul, add = mul.in_place, add.in_place
    if p == 0 or input.numel() == 0:
        return input
    if p == 1:
        return mul(input, zeros((), dtype=input.dtype, device=input.device))
    noise = _noise(input, feature, 1 - p)
    if not alpha:
        return mul(input, pointwise.div.in_place(noise, 1 - p))
    a = 1 / math.sqrt((_ALPHA * _ALPHA * p + 1) * (1 - p))
    shift = pointwise.mul.in_place(pointwise.add(noise, -1), _ALPHA * a)
    shift = pointwise.add.in_place(shift, _ALPHA * a * p)
    return add(mul(input, pointwise.mul.in_place(noise, a)), shift)


def _form(name: str, feature: bool, alpha: bool) -> None:
    def make(title: str, inplace: bool) -> None:
        def function(input: Tensor, p: float, train: bool) -> Any:
            _check(p)
            return drop(input, p, feature, alpha, inplace) if train else input

        function.__name__ = function.__qualname__ = title
        function.__doc__ = f"``{name}`` of probability ``p`` in training, else ``input``."
        public(function)

    make(name, False)
    make(f"{name}_", True)


for _name, _kinds in {
    "dropout": (False, False), "feature_dropout": (True, False),
    "alpha_dropout": (False, True), "feature_alpha_dropout": (True, True),
}.items():  # fmt: skip
    _form(_name, *_kinds)


def of_unbatched(input: Tensor, p: float, training: bool, inplace: bool) -> Any:
    """Feature dropout of one sample (C, *)."""
    if not inplace:
        x = TENSOR.unsqueeze(input, 0)
        return squeeze(drop(x, p, True, False, False) if training else x, 0)
    if not training:
        return input
    if p in (0, 1):
        return drop(input, p, False, False, True)
    noise = _noise(TENSOR.unsqueeze(input, 0), True, 1 - p)
    pointwise.div.in_place(noise, 1 - p)
    return pointwise.mul.in_place(input, squeeze(noise, 0))


# --- native_dropout -------------------------------------------------------------------------------


def _shape(x: Any, mask: Any, scale: float) -> Any:
    return x.shape, x.dtype


native_dropout_of = general(
    "native_dropout_of",
    lambda F, g, mask, scale: F.native_dropout_backward(g, mask, scale),
    inputs=("self", "mask"),
    statics=("scale",),
    kernel="native_dropout_backward",
    node="NativeDropoutBackward0",
    shape=_shape,
)
native_dropout_backward = general(
    "native_dropout_backward",
    lambda F, g, mask, scale: F.native_dropout_backward(g, mask, scale),
    inputs=("self", "mask"),
    statics=("scale",),
    node="NativeDropoutBackwardBackward0",
    shape=_shape,
)


@public
def native_dropout(input: Tensor, p: float, train: Any) -> tuple[Any, Any]:
    """Dropout, and the mask of what was kept."""
    if train is not None and not train:
        mask = ones(tuple(input.shape), dtype=dtypes.bool_, device=input.device)
        return native_dropout_of(input, mask, 1.0), mask
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={1 - p:g}")
    if input.dtype.category < dtypes.FLOAT:
        raise RuntimeError(
            f"result type Float can't be cast to the desired output type {input.dtype.legacy}"
        )
    mask = empty_like(input.detach(), dtype=dtypes.bool_)
    if type(mask._data) is not MetaArray and mask.numel():
        bernoulli_(mask, 1 - p)
    return native_dropout_of(input, mask, 0.0 if p == 1 else 1 / (1 - p)), mask
