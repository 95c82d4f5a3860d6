"""``Timer``: runs a statement often enough to know how long it takes."""

from __future__ import annotations

import enum
import statistics
import textwrap
import timeit
from collections.abc import Callable
from typing import Any, NoReturn

from torchlike import accelerator

from .common import Measurement, TaskSpec, set_torch_threads

__all__ = ["Language", "Timer", "timer"]

Callback = Callable[[int, float], Any]
_SHARE_OF_OVERHEAD = 1e-4  # of a block's time, at most, for reading the clock


if accelerator.is_available():

    def timer() -> float:
        """Seconds of a clock, once the device has done what it was given."""
        accelerator.synchronize()
        return timeit.default_timer()

else:  # the clock is read often: it must not ask each time

    def timer() -> float:
        """Seconds of a clock."""
        return timeit.default_timer()


class Language(enum.Enum):
    """What a statement is written in; C++ needs a compiler and PyTorch."""

    PYTHON = 0
    CPP = 1


_LANGUAGES = {
    "py": Language.PYTHON, "python": Language.PYTHON, "c++": Language.CPP, "cpp": Language.CPP,
}  # fmt: skip


def _checked_language(language: Language | str, global_setup: str) -> None:
    found = language if isinstance(language, Language) else _LANGUAGES.get(str(language).lower())
    if found is None:
        raise ValueError(f"Invalid language `{language}`.")
    if found is Language.CPP:
        raise NotImplementedError("torch.utils.benchmark.Timer of C++ code")
    if global_setup:
        raise ValueError(
            f"global_setup is C++ only, got `{global_setup}`. Most likely this code can simply be "
            "moved to `setup`."
        )


def _tidy(code: str) -> str:
    """Code from an indented literal, without its margin and the empty lines around it."""
    return textwrap.dedent(code).lstrip("\n").rstrip()


class Timer:
    """Times ``stmt``, after ``setup``, with the names in ``globals`` and ``torch``.

    ``label``, ``sub_label``, ``description`` and ``env`` say in tables what is measured;
    ``num_threads`` is the number of threads that kernels may share their work among meanwhile.

    Raises ValueError for a statement that is no string, NotImplementedError for C++.
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Language | str = Language.PYTHON,
    ) -> None:
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        _checked_language(language, global_setup)
        import torchlike

        stmt, setup = _tidy(stmt), _tidy(setup)
        names = {"torch": torchlike, **(globals or {})}
        self._timer = timeit.Timer(stmt, setup, timer=timer, globals=names)
        self._task_spec = TaskSpec(stmt, setup, "", label, sub_label, description, env, num_threads)

    def _timeit(self, number: int) -> float:
        return max(self._timer.timeit(number), 1e-9)  # clocks of low resolution give 0

    def _measured(self, number: int, times: list[float]) -> Measurement:
        return Measurement(number, times, self._task_spec)

    def timeit(self, number: int = 1000000) -> Measurement:
        """Run the statement ``number`` times in one block, after a hundredth of it to warm up."""
        with set_torch_threads(self._task_spec.num_threads):
            self._timeit(max(number // 100, 2))
            return self._measured(number, [self._timeit(number)])

    def repeat(self, repeat: int = -1, number: int = -1) -> NoReturn:
        """Of ``timeit.Timer``, not here: raises NotImplementedError."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def autorange(self, callback: Callback | None = None) -> NoReturn:
        """Of ``timeit.Timer``, not here: raises NotImplementedError."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def _block_size(self, least: float) -> int:
        """How many runs make a block of which reading the clock takes a negligible part."""
        with set_torch_threads(self._task_spec.num_threads):
            overhead = statistics.median(self._timeit(0) for _ in range(5))
            number = 1
            while True:
                took = self._timeit(number)
                if took > least:
                    return number
                if overhead <= took * _SHARE_OF_OVERHEAD and took >= least / 1000:
                    return number
                number *= 10

    def _blocks(
        self,
        number: int,
        enough: Callable[[list[float]], bool],
        least: float,
        most: float | None = None,
        callback: Callback | None = None,
    ) -> list[float]:
        """Times of blocks, until they took ``least`` seconds and are ``enough``."""
        times: list[float] = []
        total = 0.0
        with set_torch_threads(self._task_spec.num_threads):
            while total < least or not enough(times):
                times.append(self._timeit(number))
                total += times[-1]
                if callback is not None:
                    callback(number, times[-1])
                if most is not None and total > most:
                    break
        return times

    def blocked_autorange(
        self, callback: Callback | None = None, min_run_time: float = 0.2
    ) -> Measurement:
        """Blocks of runs for ``min_run_time`` seconds.

        Blocks are long enough for the clock and, where possible, short enough to be many.
        ``callback(number, seconds)`` is told of each.
        """
        number = self._block_size(min_run_time)
        times = self._blocks(number, lambda times: True, min_run_time, callback=callback)
        return self._measured(number, times)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callback | None = None,
    ) -> Measurement:
        """Blocks of runs until the middle half of their times lies within ``threshold`` of them.

        At least four blocks and ``min_run_time`` seconds, at most ``max_run_time`` seconds.
        """
        number = self._block_size(0.05)

        def steady(times: list[float]) -> bool:
            return len(times) > 3 and self._measured(number, times).meets_confidence(threshold)

        times = self._blocks(number, steady, min_run_time, max_run_time, callback)
        return self._measured(number, times)

    def collect_callgrind(self, number: int = 100, **options: Any) -> NoReturn:
        """Counts of instructions: raises NotImplementedError, as they need PyTorch's bindings."""
        raise NotImplementedError(
            "torch.utils.benchmark.Timer.collect_callgrind: it needs valgrind and PyTorch"
        )
