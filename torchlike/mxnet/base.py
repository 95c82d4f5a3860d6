"""The exception MXNet programs catch, and the texts of the errors about recorded graphs."""

from __future__ import annotations

NOT_IN_GRAPH = (
    "Cannot differentiate node because it is not in a computational graph. Compute it inside "
    "autograd.record() from an array with attach_grad(), and ask for retain_graph=True where one "
    "graph is to be differentiated twice."
)
NO_INPUTS = (
    "There are no inputs in computation graph that require gradients: every variable it was "
    "computed from has grad_req 'null'."
)
ASSIGNED = (
    "Assigning to NDArrays that are already in a computational graph would make their gradients "
    "wrong. Write into a copy, or outside of autograd.record()."
)


class MXNetError(RuntimeError):
    """What goes wrong inside an operation or in the recorded graph."""
