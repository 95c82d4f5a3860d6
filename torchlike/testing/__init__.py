"""``torch.testing``: comparisons that say what differs, and tensors to test with."""

from .comparison import assert_allclose, assert_close
from .creation import make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]
