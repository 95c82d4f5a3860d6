"""What CuPy has of SciPy: most of ``special``."""

from __future__ import annotations

import importlib
from typing import Any


def scipy_part(module: str, what: str) -> Any:
    """``cupyx.scipy.MODULE``; what it lacks raises NotImplementedError."""
    return _Part(module, what)


class _Part:
    def __init__(self, module: str, what: str) -> None:
        self._module, self._what = module, what

    def __getattr__(self, name: str) -> Any:
        if self._module == "special":
            found = getattr(importlib.import_module("cupyx.scipy.special"), name, None)
            if found is not None:
                return found
        raise NotImplementedError(f"{self._what} is not implemented on cuda: CuPy has no {name}")
