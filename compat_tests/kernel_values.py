"""What the tests of the neural network kernels share: inputs and comparisons.

Values agree to TOLERANCE of the largest reference value (2e-5 in float32; half types to one unit in
their last place); shapes and dtypes agree exactly.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

try:
    import torch
except ImportError:
    torch = None

needs_torch = pytest.mark.skipif(torch is None, reason="torch is not installed")
bfloat16 = np.dtype(ml_dtypes.bfloat16)
HALF = [np.dtype(np.float16), bfloat16]
TOLERANCE = {np.dtype(np.float64): 1e-10, np.dtype(np.float16): 1e-3, bfloat16: 8e-3}


def assert_same(ours, theirs, what=""):
    theirs = from_torch(theirs)
    assert ours.shape == theirs.shape, what
    assert ours.dtype == theirs.dtype, what
    wide = np.complex128 if ours.dtype.kind == "c" else np.float64
    a, b = ours.astype(wide), theirs.astype(wide)
    scale = np.abs(b[np.isfinite(b)]).max(initial=1.0)
    rtol = TOLERANCE.get(ours.dtype, 2e-5)
    np.testing.assert_allclose(a, b, atol=rtol * scale, rtol=rtol, err_msg=str(what))


def from_torch(x):
    if torch is None or not isinstance(x, torch.Tensor):
        return np.asarray(x)
    x = x.detach()
    return x.float().numpy().astype(bfloat16) if x.dtype == torch.bfloat16 else x.numpy()


def to_torch(x):
    if x is None:
        return None
    if x.dtype == bfloat16:
        return torch.from_numpy(x.astype(np.float32)).to(torch.bfloat16)
    return torch.from_numpy(x.copy())


def normal(*shape, dtype=np.float32, seed=0):
    rng = np.random.default_rng([seed, *shape])
    if np.dtype(dtype).kind == "c":
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


def scattered(x):
    """The same values, not contiguous: every second element of an array in reverse axis order."""
    room = np.zeros(tuple(2 * n for n in reversed(x.shape)), x.dtype)
    view = room[(slice(None, None, 2),) * x.ndim + (...,)].T
    view[...] = x
    return view
