"""The version: the PyTorch release this library follows, and its own as the local part."""

from __future__ import annotations

PYTORCH = "2.13.0"
TORCHLIKE = "0.1.0"

__version__ = f"{PYTORCH}+torchlike.{TORCHLIKE}"
debug = False
cuda = hip = rocm = xpu = None
