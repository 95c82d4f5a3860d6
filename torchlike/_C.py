"""The classes that PyTorch keeps in ``torch._C`` and that programs name."""

from __future__ import annotations

from functional.random import Generator
from functional.tape.overrides import DisableTorchFunction

DisableTorchFunctionSubclass = DisableTorchFunction
