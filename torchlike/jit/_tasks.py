"""Tasks that run at once."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

_OLD = "`torch.jit.{}` is deprecated. Please use `torch.compile` instead."


class Future:
    """A result that is there already, or will be set."""

    def __init__(self, *, devices: Any = None) -> None:
        self._result: list[Any] = []
        self._waiting: list[Callable[[Future], Any]] = []

    def done(self) -> bool:
        """Whether there is a result."""
        return bool(self._result)

    def wait(self) -> Any:
        """The result; RuntimeError where there is none, as nobody else could set it."""
        if not self._result:
            raise RuntimeError("Future.wait: no result has been set, and nothing runs beside this")
        return self._result[0]

    def value(self) -> Any:
        """The same as ``wait``."""
        return self.wait()

    def set_result(self, result: Any) -> None:
        """Set the result."""
        self._result = [result]
        waiting, self._waiting = self._waiting, []
        for callback in waiting:
            callback(self)

    def add_done_callback(self, callback: Callable[[Future], Any]) -> None:
        """Call ``callback`` with this when there is a result."""
        if self._result:
            callback(self)
        else:
            self._waiting.append(callback)

    def then(self, callback: Callable[[Future], Any]) -> Future:
        """A future of what ``callback`` returns for this one."""
        after = Future()
        self.add_done_callback(lambda future: after.set_result(callback(future)))
        return after


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Future:
    """Call a function at once; its result as a ``Future``."""
    warnings.warn(_OLD.format("fork"), DeprecationWarning, stacklevel=2)
    future = Future()
    future.set_result(func(*args, **kwargs))
    return future


def wait(future: Future) -> Any:
    """The result of ``fork``."""
    warnings.warn(_OLD.format("wait"), DeprecationWarning, stacklevel=2)
    return future.wait()
