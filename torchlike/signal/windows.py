"""Windows: ``torch.signal.windows``."""

from __future__ import annotations

from functional.tape.op import TENSOR as _FUNCTIONS

_NAMES = """
bartlett blackman cosine exponential gaussian general_cosine general_hamming hamming hann kaiser
nuttall
""".split()

for _name in _NAMES:
    globals()[_name] = getattr(_FUNCTIONS, "window_" + _name)

__all__ = list(_NAMES)
