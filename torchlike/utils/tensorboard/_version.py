"""Whether the ``tensorboard`` package is there, and new enough."""

import tensorboard

_found = getattr(tensorboard, "__version__", "0.0").split(".")[:2]
if tuple(map(int, _found)) < (1, 15):
    raise ImportError("TensorBoard logging requires TensorBoard version 1.15 or above")
