"""A module that behaves as CuPy does, without a GPU: the test bed of the CUDA backend.

Its arrays hold NumPy arrays and refuse every implicit conversion. Reductions give 0-d arrays,
results are C-contiguous as CuPy's are, indices wrap around. Only names, parameters and ufunc
types that the real CuPy has are there: ``table.json`` records them (``compat_tests.record_cupy``).
"""

from __future__ import annotations

import sys

from . import build


def install() -> None:
    """Be what ``import cupy`` and ``import cupyx`` find from now on."""
    for name, module in build.modules().items():
        sys.modules[name] = module
