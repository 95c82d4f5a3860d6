"""A few threads for kernels whose NumPy calls release the interpreter lock.

Worth it where the work is copies, pointwise functions, and matrix products too small for the BLAS
to spread by itself.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import wraps
from itertools import pairwise
from typing import Any

import numpy as np

from .helper import Helper, outcome_of

# More threads than this have not been measured to help.
_MOST = 8


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_PROCESSORS = _processors()
_workers = min(_MOST, _PROCESSORS)
_helpers: list[Helper] = []
_free = threading.Lock()  # held while the helpers work for one caller


def workers() -> int:
    """How many threads, the caller's own included, share a kernel's work."""
    return _workers


def set_workers(count: int) -> None:
    """Use `count` threads from now on; 1 means the caller's only."""
    global _workers
    _workers = max(1, count)


def _forget() -> None:
    # A forked child has these objects but none of their threads; an interrupted caller has left a
    # helper at work.
    global _helpers, _free
    _helpers, _free = [], threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def spread(count: int, parts: int, work: Callable[[int, int], Any], lead: float = 0.0) -> list[Any]:
    """Calls work(first, last) on `parts` ranges of range(count), side by side.

    Returns what the calls return, in order. The first range runs in the calling thread, and is
    longer than the others by the fraction `lead` if one of those sleeps: the time in which a short
    piece of work would be done before it has woken.
    """
    parts = min(parts, _workers, count)
    if parts <= 1:
        return [work(0, count)]
    if not _free.acquire(False):  # a caller elsewhere, or around this one, has the helpers
        return [work(first, last) for first, last in ranges(count, parts, lead)]
    free = _free
    try:
        while len(_helpers) < parts - 1:
            _helpers.append(Helper())
        busy = _helpers[: parts - 1]
        late = not all(helper.alert for helper in busy)
        return _side_by_side(busy, ranges(count, parts, lead if late else 0.0), work)
    finally:
        free.release()


def ranges(count: int, parts: int, lead: float) -> list[tuple[int, int]]:
    """range(count) in parts, the first longer than the others by the fraction ``lead``."""
    share = count / (parts + lead)
    edges = [0, *[int(share * (part + lead)) for part in range(1, parts)], count]
    return list(pairwise(edges))


def _side_by_side(
    busy: list[Helper], parts: list[tuple[int, int]], work: Callable[[int, int], Any]
) -> list[Any]:
    calm = _workers <= _PROCESSORS  # otherwise a helper that watches is in the way of others
    for helper, (first, last) in zip(busy, parts[1:], strict=True):
        helper.give(work, first, last, calm)
    outcomes = [outcome_of(lambda: work(*parts[0]))]
    try:
        outcomes += [helper.take() for helper in busy]
    except BaseException:  # an interrupt, with helpers still at work
        _forget()
        raise
    for _, failure in outcomes:
        if failure is not None:
            raise failure
    return [found for found, _ in outcomes]


# How many elements are worth waking a thread for. How many a part of a kernel's work has: with a
# few passes over rows, waiting for each other's interpreter lock costs threads more than a nearer
# cache saves; a dozen passes over a line (_CACHED) are better off in the cache.
SHARED, _CACHED, _PART = 1 << 18, 1 << 18, 1 << 20
_NEAR = 1 << 15  # of a dozen passes in one thread
LONG = 1 << 11  # from here on a few passes are quicker than one of NumPy's plain loops
LEAD = 0.4  # the caller's, for the time in which other threads wake


def in_chunks(
    count: int, size: int, work: Callable[[int, int], Any], part: int = _PART
) -> list[Any]:
    """Calls work(first, last) on parts of range(count), each item having `size` elements.

    There are threads for them if there is enough to do, and no part has many more elements than
    `part`. Returns what the calls return, in order.
    """
    if count * size <= SHARED:
        return [work(0, count)]
    step = max(1, part // max(1, size))

    def walk(first: int, last: int) -> list[Any]:
        return [work(start, min(start + step, last)) for start in range(first, last, step)]

    shares = spread(count, count * size // SHARED, walk, LEAD)
    return [part for parts in shares for part in parts]


def in_cache(count: int, work: Callable[[int, int], Any]) -> None:
    """Calls work(first, last), a dozen passes, on parts of range(count) that stay in cache."""
    if count > SHARED:
        in_chunks(count, 1, work, _CACHED)
    elif count <= 2 * _NEAR:
        work(0, count)
    else:
        for first in range(0, count, _NEAR):
            work(first, min(first + _NEAR, count))


def in_parts(arrays: int) -> Callable[[Any], Any]:
    """For an elementwise kernel whose first arguments are ``arrays`` arrays: if those are many
    numbers of one shape and type, its passes go over parts that stay in cache, on all threads.
    """

    def decorate(kernel: Any) -> Any:
        @wraps(kernel)
        def call(x: Any, *args: Any) -> Any:
            if x.size <= SHARED:
                return kernel(x, *args)
            others, statics = args[: arrays - 1], args[arrays - 1 :]
            if not all(alike(x, y) for y in (x, *others)):
                return kernel(x, *args)
            z, lines = np.empty(x.shape, x.dtype), [y.reshape(-1) for y in (x, *others)]
            out = z.reshape(-1)

            def work(first: int, last: int) -> None:
                out[first:last] = kernel(*(line[first:last] for line in lines), *statics)

            in_cache(x.size, work)
            return z

        return call

    return decorate


def alike(x: Any, y: Any) -> bool:
    """Whether threads may go over both as lines: float32 or float64, contiguous, of one shape."""
    return (
        type(y) is np.ndarray
        and y.dtype is x.dtype
        and y.dtype.char in "fd"
        and y.shape == x.shape
        and bool(y.flags.c_contiguous)
    )
