"""Tensors, and the functions on them that the tape does not record."""

from __future__ import annotations

from .singa_wrap import Tensor as CTensor
from .tensor_class import PlaceHolder, Tensor
from .tensor_functions import *  # noqa: F403
from .tensor_functions import __all__ as _functions

__all__ = ["CTensor", "PlaceHolder", "Tensor", *_functions]
