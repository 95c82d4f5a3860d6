"""Whether operations are recorded."""

from __future__ import annotations

from functional.modes import ModeSwitch, enable_grad, inference_mode, no_grad, set_grad_enabled

__all__ = [
    "enable_grad", "inference_mode", "no_grad", "set_grad_enabled", "set_multithreading_enabled",
]  # fmt: skip


class _Multithreading:
    on = True


class set_multithreading_enabled(ModeSwitch):
    """Whether a backward pass may use several threads. Here each runs in the thread it began in."""

    def __init__(self, mode: bool) -> None:
        self.mode, self.previous = mode, _Multithreading.on
        _Multithreading.on = mode

    def clone(self) -> set_multithreading_enabled:
        return set_multithreading_enabled(self.mode)

    def __enter__(self) -> None:
        _Multithreading.on = self.mode

    def __exit__(self, *exc: object) -> None:
        _Multithreading.on = self.previous
