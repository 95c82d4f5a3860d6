"""The classes and functions that PyTorch keeps in ``torch._C`` and that programs name."""

from __future__ import annotations

from functional.random import Generator
from functional.tape import overrides

DisableTorchFunction = DisableTorchFunctionSubclass = overrides.DisableTorchFunction
_disabled_torch_function_impl = overrides.disabled

__all__ = ["DisableTorchFunction", "DisableTorchFunctionSubclass", "Generator"]
