"""The classes and functions that PyTorch keeps in ``torch._C`` and that programs name."""

from __future__ import annotations

from functional.random import Generator
from functional.tape.overrides import DisableTorchFunction
from functional.tape.overrides import disabled as _disabled_torch_function_impl

DisableTorchFunctionSubclass = DisableTorchFunction
