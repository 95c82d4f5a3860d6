"""Function transforms: grad, vjp, jvp, vmap, and Jacobians built of them."""

from .batch import in_parts, vmap
from .forward import jvp, linearize
from .jacobians import hessian, jacfwd, jacrev
from .reverse import grad, grad_and_value, vjp

__all__ = [
    "grad",
    "grad_and_value",
    "hessian",
    "in_parts",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "vjp",
    "vmap",
]
