"""Fourier transforms: ``torch.fft``."""

from __future__ import annotations

from functional.tape.op import TENSOR as _FUNCTIONS

from . import intercept as _intercept

_NAMES = """
fft ifft fft2 ifft2 fftn ifftn rfft irfft rfft2 irfft2 rfftn irfftn hfft ihfft hfft2 ihfft2 hfftn
ihfftn fftfreq rfftfreq fftshift ifftshift
""".split()

for _name in _NAMES:
    globals()[_name] = _intercept.intercepted(getattr(_FUNCTIONS, "fft_" + _name), _name)

__all__ = list(_NAMES)
