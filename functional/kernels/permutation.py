"""Random permutations of a Generator, equal to PyTorch's, without a loop over the elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .draws import BF16, DIGITS, F16, REAL, not_implemented, scalar_name
from .integers import I64, narrow_integers

if TYPE_CHECKING:
    from ..random import Generator

SMALL = (2**32 - 1) // 20  # from here on the remainders of 32-bit draws would be too skewed
_SHORT = 200  # below this a plain loop is quicker


def randperm(generator: Generator, n: int, dtype: np.dtype = I64) -> np.ndarray:
    """A permutation of 0 to n - 1, as ``randperm``, of shape (n,).

    Fisher and Yates's shuffle from the front with n - 1 draws of one word; from n = 214,748,364
    on Knuth's inside-out form of it with n draws of two words. Raises RuntimeError for a negative
    n and for an n whose largest index the dtype cannot hold, NotImplementedError for bool,
    complex and the longer unsigned dtypes.
    """
    dtype = np.dtype(dtype)
    check_permutation(n, dtype)
    if n < SMALL:
        return narrow_integers(_from_front(generator, n), dtype)
    return narrow_integers(_inside_out(generator, n), dtype)


def check_permutation(n: int, dtype: np.dtype) -> None:
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    if dtype == np.bool_ or dtype in REAL or (dtype.kind == "u" and dtype.itemsize > 1):
        raise not_implemented("randperm", dtype)
    if dtype in DIGITS:
        # PyTorch leaves bfloat16 unchecked.
        limit = 2 ** DIGITS[dtype] + 1
        if n > limit and dtype != BF16:
            shown = str(limit) if dtype == F16 else f"2^{DIGITS[dtype]}+1"
            raise RuntimeError(f"n cannot be greater than {shown} for {scalar_name(dtype)} type.")
    elif n > np.iinfo(dtype).max + 1:
        raise RuntimeError(f"value cannot be converted to type {dtype}_t without overflow")


def _from_front(generator: Generator, n: int) -> np.ndarray:
    if n < 2:
        return np.arange(n)
    steps = np.arange(n, dtype=np.uint32)
    partners = steps.copy()
    partners[:-1] += generator.words(n - 1) % (np.uint32(n) - steps[:-1])
    if n <= _SHORT:
        return shuffle_by_loop(partners)
    return shuffle(partners)


def _inside_out(generator: Generator, n: int) -> np.ndarray:
    steps = np.arange(n, dtype=np.uint64)
    partners = (generator.words64(n) % (steps + np.uint64(1))).astype(np.uint32)
    return inside_out(partners)


def shuffle_by_loop(partners: np.ndarray) -> np.ndarray:
    """0 to n - 1 after swapping elements i and partners[i] for i from 0 up, as int64."""
    result = list(range(len(partners)))
    for i, j in enumerate(partners.tolist()):
        result[i], result[j] = result[j], result[i]
    return np.array(result)


def shuffle(partners: np.ndarray) -> np.ndarray:
    """``shuffle_by_loop`` as array operations, for uint32 partners[i] >= i.

    When step i comes, position j = partners[i] holds what the last earlier step with the same
    partner carried there, or else j itself; and step k carries away what position k then holds,
    which in turn an earlier step may have carried there. So the chains of carriers are followed
    to their ends (doubling), and steps are sorted by partner to find each one's predecessor.
    """
    n = len(partners)
    steps = np.arange(n, dtype=np.uint32)
    carried = np.arange(n)  # for step k: the latest earlier step that wrote to position k
    moving = np.flatnonzero(partners != steps)
    carried[partners[moving]] = moving  # of equal partners the last assignment, the latest, stays
    _follow(carried, np.flatnonzero(carried != steps))
    order = partners.astype(np.uint64)
    order <<= np.uint64(32)
    order |= steps
    order.sort()
    target, step = order >> np.uint64(32), (order & np.uint64(0xFFFFFFFF)).astype(np.int64)
    again = np.flatnonzero(target[1:] == target[:-1])
    result = partners.astype(np.int64)
    result[step[again + 1]] = carried[step[again]]
    return result


def _follow(parent: np.ndarray, active: np.ndarray) -> None:
    """Replace each parent by the root it leads to, in rounds that double the distance."""
    while active.size:
        before = parent[active]
        after = parent[before]
        changed = after != before
        active = active[changed]
        parent[active] = after[changed]


def inside_out(partners: np.ndarray) -> np.ndarray:
    """The inside-out shuffle for uint32 partners[i] <= i: place i at partners[i], move what was
    there to i.

    Its swaps are those of ``shuffle`` on reversed positions in reversed order, which make the
    inverse permutation.
    """
    last = np.uint32(len(partners) - 1)
    inverse = np.int64(last) - shuffle((last - partners)[::-1])[::-1]
    result = np.empty_like(inverse)
    result[inverse] = np.arange(len(partners))
    return result
