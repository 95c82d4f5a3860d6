"""Two settings of what is below us: the C library's free memory and NumPy's buffers.

A training step allocates and frees the same megabytes again and again: gradients, activations,
temporaries. By default glibc returns large blocks to the system at once, and the next step pays for
every page anew (a 784-512-512-10 network's step: 4.1 ms instead of 2.6 ms). Asked to keep them, it
hands the same pages out again. Other C libraries are left as they are.

Where two rows or more fit into a ufunc's buffer, NumPy (2.4) copies the operands of a broadcast
into it: a matrix less one number per row takes 0.35 ns an element instead of 0.15, rows having 512
to 4096. Conversions, which need the buffer, are as quick with 1024 elements of it as with 8192, and
slower with fewer.
"""

from __future__ import annotations

import sys

import numpy as np

KEEP = 1 << 28  # bytes of free memory at the end of the heap that stay with the process
LARGEST = 1 << 25  # blocks up to this size come from the heap: the most that glibc accepts
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3  # of mallopt(3)


def keep_freed_memory() -> None:
    """Tell glibc to keep what arrays free, if that is the C library here."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes  # NumPy has it loaded

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, LARGEST)
        mallopt(_TRIM_THRESHOLD, KEEP)
        mallopt(_TOP_PAD, 1 << 24)


def shorten_ufunc_buffer() -> None:
    """Let ufuncs go over long rows in place, unless the program has set the buffer's size itself.

    The size belongs to the context it is set in; ufuncs in threads that others start keep NumPy's.
    """
    if np.getbufsize() == 8192:
        np.setbufsize(1024)
