"""Threads that work for another, and are there within microseconds when work follows upon work.

A thread that sleeps takes 30 to 60 µs to come, in which two hundred thousand numbers are added. So
after work that came soon after other work a helper watches for more before it sleeps, as OpenMP's
threads do, and its caller watches for the end. To watch without the interpreter's lock, they run
one of NumPy's reductions over one byte, read again and again: it ends when it meets a True that
another thread has written. What is seen so is a hint; what counts is said under the lock.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

_MOMENT = 1 << 15  # readings in which a caller comes to work that needs no lock: some 10 µs
_MOMENTS = 8  # for which one watches for the other
_SOON = 1e-4  # seconds from work to work, up to which a helper watches for more
_until = np.logical_or.reduce

Outcome = tuple[Any, BaseException | None]


def outcome_of(call: Callable[[], Any]) -> Outcome:
    """What a call returned, and what it raised."""
    try:
        return call(), None
    except BaseException as failure:
        return None, failure


class _Meeting:
    """Where one thread waits for another, unless that one is there first."""

    __slots__ = "_first", "_lock", "came"

    def __init__(self) -> None:
        self.came = False
        self._first: dict[str, str] = {}  # setdefault is one step, which no other thread divides
        self._lock = threading.Lock()
        self._lock.acquire()

    def wait(self) -> None:
        if self._first.setdefault("who", "waits") == "waits":
            self._lock.acquire()

    def come(self) -> bool:
        """Wakes the one that waits; whether it did already."""
        self.came = True
        waited = self._first.setdefault("who", "comes") == "waits"
        if waited:
            self._lock.release()
        return waited


class _Job:
    def __init__(self) -> None:
        self.given, self.ended = _Meeting(), _Meeting()
        self.call: Callable[[], Any]
        self.outcome: Outcome


class Helper:
    """A thread for one caller at a time: ``give`` it work, then ``take`` what became of that.

    While it watches, it runs over rows of one byte each. The first, always True, gives a result at
    once: it says that the helper is there. The caller makes the next ones True. The last is always
    False, so that the helper asks for the lock when the caller has come to its own part of the work
    and left it. With several calls in place of one, it would ask at the wrong times.
    """

    def __init__(self) -> None:
        self._job = self._next = _Job()
        self.alert = self._watches = False  # is it there at once; does it watch after its work
        self._called = False
        self._taken = 0.0
        signs = np.array([True] + [False] * (_MOMENTS + 1))
        self._call, self._rows = signs[1:-1], np.broadcast_to(signs[:, None], (signs.size, _MOMENT))
        self._seen = np.zeros(signs.size, bool)
        self._until_ended = np.broadcast_to(self._seen[:1], _MOMENTS * _MOMENT)
        threading.Thread(target=self._serve, name="kernels", daemon=True).start()

    def _serve(self) -> None:
        while True:
            job = self._next
            if self._watches:
                self.alert = True
                _until(self._rows, axis=1, out=self._seen)
                self.alert = False
            if not job.given.came:
                job.given.wait()
            self._call[:] = False
            job.outcome = outcome_of(job.call)
            del job.call
            self._next = _Job()
            job.ended.come()

    def give(self, work: Callable[[int, int], Any], first: int, last: int, watch: bool) -> None:
        """Has work(first, last) done. ``watch``: afterwards it may watch for more."""
        job = self._job = self._next
        context = contextvars.copy_context()  # it carries the caller's np.errstate
        job.call = lambda: context.run(work, first, last)
        self._watches = watch and perf_counter() - self._taken < _SOON
        self._seen[0] = False
        self._called = not job.given.come()
        if self._called:
            self._call[:] = True

    def take(self) -> Outcome:
        """What the work returned or raised, once it has ended."""
        job = self._job
        if not job.ended.came:
            if self._called:
                _until(self._until_ended)
            job.ended.wait()
        self._taken = perf_counter()
        self._job = self._next  # the outcome is the caller's alone
        return job.outcome
