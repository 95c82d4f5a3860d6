"""Kernels written for the GPU, each beside a portable twin that says the same with array functions.

The twin runs where there is no GPU (a stand-in for CuPy takes it in place of the CUDA source), and
the tests on a GPU compare the two.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

TWINS: dict[str, Callable[..., Any]] = {}
KERNELS: list[Kernel] = []


class Kernel:
    """An elementwise kernel; it is compiled when it is first called.

    ``twin(xp, *arguments)`` says the same with the functions of ``xp``; ``domain`` is where the
    tests compare the two.
    """

    def __init__(
        self, name: str, inputs: str, outputs: str, source: str, twin: Callable[..., Any],
        domain: tuple[float, float] = (-6.0, 6.0), dtypes: str = "fd",
        numbers: tuple[int, ...] = (),
    ) -> None:  # fmt: skip
        self.inputs, self.outputs, self.source, self.twin = inputs, outputs, source, twin
        self.name, self.domain, self.dtypes = f"torchlike_{name}", domain, dtypes
        self.numbers = numbers  # the inputs that are no arrays
        TWINS[self.name] = twin
        KERNELS.append(self)

    @cached_property
    def _compiled(self) -> Any:
        import cupy

        return cupy.ElementwiseKernel(self.inputs, self.outputs, self.source, self.name)

    def __call__(self, *arrays: Any) -> Any:
        return self._compiled(*arrays)

    def samples(self, rng: Any) -> list[list[Any]]:
        """Arguments to try the kernel on, one list for each dtype."""
        count = len(self.inputs.split(","))
        sizes = [() if i in self.numbers else 1000 for i in range(count)]
        draw = lambda size, char: np.asarray(rng.uniform(*self.domain, size)).astype(char)
        return [[draw(size, char) for size in sizes] for char in self.dtypes]


def fused(name: str, inputs: str, source: str, general: Any) -> Any:
    """A function that is one kernel for float32 and float64, and ``general`` for other dtypes."""
    kernel = Kernel(name, inputs, "T z", source, lambda xp, *arrays: general(*arrays))

    def function(*arrays: Any) -> Any:
        kind = arrays[0].dtype
        if kind.char in "fd" and all(x.dtype == kind for x in arrays) and arrays[-1].ndim:
            return kernel(*arrays)
        return general(*arrays)

    function.__name__ = name
    return function


# --- random words ---------------------------------------------------------------------------------

# Philox4x32-10: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3"
# (SC'11), the constants of their table 2
_M0, _M1, _W0, _W1 = 0xD2511F53, 0xCD9E8D57, 0x9E3779B9, 0xBB67AE85
_LOW = 0xFFFFFFFF


def philox(xp: Any, place: Any, seed: Any) -> Any:
    """Word ``place`` of the stream of ``seed`` (both uint64): four words per 128-bit counter."""
    u = xp.uint64
    key0, key1 = int(seed) & _LOW, int(seed) >> 32
    counter = place >> u(2)
    c = [counter & u(_LOW), counter >> u(32), counter * u(0), counter * u(0)]
    for _ in range(10):
        first, second = c[0] * u(_M0), c[2] * u(_M1)
        c = [
            (second >> u(32)) ^ c[1] ^ u(key0), second & u(_LOW),
            (first >> u(32)) ^ c[3] ^ u(key1), first & u(_LOW),
        ]  # fmt: skip
        key0, key1 = (key0 + _W0) & _LOW, (key1 + _W1) & _LOW
    which = place & u(3)
    low = xp.where(which == u(0), c[0], c[1])
    return xp.where(which < u(2), low, xp.where(which == u(2), c[2], c[3])).astype(xp.uint32)


PHILOX = Kernel(
    "philox",
    "uint64 place, uint64 seed",
    "uint32 word",
    """
    unsigned int k0 = (unsigned int)seed, k1 = (unsigned int)(seed >> 32);
    unsigned long long counter = place >> 2;
    unsigned int c0 = (unsigned int)counter, c1 = (unsigned int)(counter >> 32), c2 = 0, c3 = 0;
    for (int round = 0; round < 10; ++round) {
        unsigned int h0 = __umulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0;
        unsigned int h1 = __umulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
        c0 = h1 ^ c1 ^ k0; c1 = l1; c2 = h0 ^ c3 ^ k1; c3 = l0;
        k0 += 0x9E3779B9u; k1 += 0xBB67AE85u;
    }
    int which = (int)(place & 3);
    word = which == 0 ? c0 : which == 1 ? c1 : which == 2 ? c2 : c3;
    """,
    philox,
    (0.0, 1e18),
    "Q",
    (1,),
)
