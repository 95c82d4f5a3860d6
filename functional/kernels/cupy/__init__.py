"""The CuPy kernels as one flat namespace: what rules see as ``F`` for arrays on a GPU.

It exports what ``kernels/numpy.py`` exports: every kernel module is run a second time with CuPy in
NumPy's place (``twins``), and what CuPy lacks or does badly is made up for in ``names`` or replaced
function by function in the modules ``on_NAME``. Importing this imports CuPy.
"""

from __future__ import annotations

import cupy

from ..meta import ARRAYS
from .twins import twin

ARRAYS.add(cupy.ndarray)
_NAMESPACE = twin("numpy").__dict__
globals().update({name: value for name, value in _NAMESPACE.items() if name[:2] != "__"})
