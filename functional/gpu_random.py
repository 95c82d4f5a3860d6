"""Generators on a GPU: counted streams of Philox4x32-10, with a state of a seed and an offset.

The same seed gives the same numbers on every GPU, but not the numbers of PyTorch's GPU streams.
"""

from __future__ import annotations

import os
import struct
import threading
from typing import Any

import numpy as np

from . import devices
from .random import DEFAULT_SEED, Generator, _check_seed

_STATE = struct.Struct("<QQ")  # seed and offset, as in PyTorch's state of a GPU's generator


class GpuGenerator(Generator):
    """A stream on one GPU: ``manual_seed``, ``get_state`` and an offset, in words."""

    __slots__ = ("_device", "_offset")

    def __init__(self, device: Any = "cuda") -> None:
        self._device = devices.resolve(device)
        self.lock = threading.RLock()
        self._reseed(DEFAULT_SEED)

    @property
    def device(self) -> devices.device:
        """The GPU."""
        return self._device

    def _reseed(self, seed: int) -> None:
        self._seed, self._offset = seed, 0
        self.pending_double = self.pending_float = None

    def seed(self) -> int:
        """Restart from a seed that the operating system picks; returns it."""
        self._reseed(int.from_bytes(os.urandom(8), "little") >> 11)
        return self._seed

    def get_offset(self) -> int:
        """How many words have been drawn."""
        return self._offset

    def set_offset(self, offset: int) -> None:
        """Go on from a number of words."""
        self._offset = int(offset)

    def words(self, count: int) -> Any:
        """The next ``count`` words: a uint32 array on the GPU."""
        import cupy

        from .kernels.cupy.fused import PHILOX

        with self.lock:
            first, self._offset = self._offset, self._offset + count
        places = cupy.arange(count, dtype=np.uint64) + np.uint64(first)
        return PHILOX(places, np.uint64(self._seed)) if count else cupy.empty(0, np.uint32)

    def words64(self, count: int) -> Any:
        """The next ``count`` 64-bit draws."""
        return self.words(2 * count).view(np.uint64)

    def state_bytes(self) -> np.ndarray:
        """Seed and offset: 16 bytes, on the host."""
        return np.frombuffer(_STATE.pack(self._seed, self._offset), np.uint8).copy()

    def load_state_bytes(self, state: np.ndarray) -> None:
        """Continue from what ``state_bytes`` gave."""
        if not isinstance(state, np.ndarray) or state.dtype != np.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        if state.size != _STATE.size:
            raise RuntimeError("RNG state is wrong size")
        self._seed, self._offset = _STATE.unpack(state.tobytes())

    def clone_state(self) -> GpuGenerator:
        """A new generator that continues this stream on its own."""
        twin = GpuGenerator(self._device)
        twin.load_state_bytes(self.state_bytes())
        return twin


_DEFAULTS: dict[int, GpuGenerator] = {}
_WANTED: list[int] = []  # the seed that manual_seed chose before a generator was needed


def default(index: int) -> GpuGenerator:
    """The generator that a GPU uses where none is given."""
    found = _DEFAULTS.get(index)
    if found is None:
        found = _DEFAULTS[index] = GpuGenerator(devices.device("cuda", index))
        found._reseed(_WANTED[0]) if _WANTED else found.seed()
    return found


def manual_seed_all(seed: Any) -> None:
    """Seed the generators of all GPUs, those that are not in use yet too."""
    _WANTED[:] = [_check_seed(int(seed))]
    for generator in _DEFAULTS.values():
        generator._reseed(_WANTED[0])
