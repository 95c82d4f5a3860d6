"""SciPy, where it is installed: an optional extra that only some kernels need."""

from __future__ import annotations

import importlib
from typing import Any


def scipy_part(module: str, what: str) -> Any:
    """``scipy.MODULE``; where there is no SciPy, an ImportError says that ``what`` needs it."""
    try:
        return importlib.import_module(f"scipy.{module}")
    except ImportError:
        raise ImportError(f"{what} needs SciPy: pip install torchlike[scipy]") from None
