"""The functional core: arrays, the tape, every stateless function, and the transforms."""

from . import operators
from .dtypes import ALIASES, NAMES
from .tape.op import TENSOR
from .tensor import Parameter, Tensor

globals().update(vars(TENSOR))
