"""A few threads for kernels whose NumPy calls release the interpreter lock.

Worth it where the work is copies and matrix products too small for the BLAS to spread by itself.
"""

from __future__ import annotations

import contextvars
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

# More threads than this have not been measured to help.
_MOST = 8


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_workers = min(_MOST, _processors())
_pool: ThreadPoolExecutor | None = None


def workers() -> int:
    """How many threads, the caller's own included, share a kernel's work."""
    return _workers


def set_workers(count: int) -> None:
    """Use `count` threads from now on; 1 means the caller's only."""
    global _workers
    _workers = max(1, count)
    _forget_pool()


def _forget_pool() -> None:
    # A forked child has the pool object but none of its threads.
    global _pool
    _pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


def _submit(work: Callable, first: int, last: int):
    global _pool
    if _pool is None:
        from concurrent.futures import ThreadPoolExecutor  # with logging, some milliseconds

        _pool = ThreadPoolExecutor(_workers, thread_name_prefix="kernels")
    # The context carries the caller's np.errstate.
    return _pool.submit(contextvars.copy_context().run, work, first, last)


def spread(count: int, parts: int, work: Callable[[int, int], Any]) -> list[Any]:
    """Calls work(first, last) on `parts` equal ranges of range(count), side by side.

    Returns what the calls return, in order. The first range runs in the calling thread.
    """
    parts = min(parts, _workers, count)
    if parts <= 1:
        return [work(0, count)]
    edges = [count * part // parts for part in range(parts + 1)]
    later = [_submit(work, edges[part], edges[part + 1]) for part in range(1, parts)]
    results = [work(0, edges[1])]
    return results + [future.result() for future in later]


# Elements that several passes go over at a time: fewer would stay in a nearer cache, but threads
# that call often spend their time handing each other the interpreter lock. And how many elements
# are worth waking a thread for.
_CACHED, _SHARED = 1 << 18, 1 << 18


def in_chunks(count: int, size: int, work: Callable[[int, int], Any]) -> list[Any]:
    """Calls work(first, last) on parts of range(count), each item having `size` elements.

    Parts are small enough that what several passes touch stays in cache, and are shared among
    threads if there is enough to do. Returns what the calls return, in order.
    """
    if count * size <= _CACHED:
        return [work(0, count)]
    step = max(1, _CACHED // max(1, size))

    def walk(first: int, last: int) -> list[Any]:
        return [work(start, min(start + step, last)) for start in range(first, last, step)]

    return [part for parts in spread(count, count * size // _SHARED, walk) for part in parts]
