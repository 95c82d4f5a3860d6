"""The functional core: arrays, the tape, every stateless function, and the transforms."""

from . import nn, operators
from .tape.op import TENSOR
from .tensor import Parameter, Tensor

globals().update(vars(TENSOR))

__all__ = ["Parameter", "Tensor", "nn", "operators"]
