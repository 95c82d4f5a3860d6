"""The functional core: arrays, the tape, every stateless function, and the transforms."""

from . import waiting  # before NumPy

# isort: split
from . import (
    activations,
    attention,
    autograd,
    distances,
    dtypes,
    nn,
    normalization,
    operators,
    recurrent,
)
from .dtypes import get_default_dtype, promote_types, set_default_dtype
from .function import Function
from .modes import enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled
from .random import Generator, default_generator, manual_seed
from .size import Size
from .tape.op import TENSOR
from .tensor import Parameter, Tensor
from .transforms import (
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    vjp,
    vmap,
)

# Every dtype, declared operation and public function, under its own name.
globals().update(dtypes.NAMES)
globals().update(vars(TENSOR))
