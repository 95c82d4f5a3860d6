"""The recorded graph: its nodes, and what happens to tensors saved in it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

from functional.autograd import GradientEdge
from functional.modes import MODE, enter_slow, leave_slow
from functional.tape.node import Node
from functional.tape.views import bump, edge_of
from functional.tensor import NO_EDGE, Tensor

__all__ = [
    "GradientEdge", "Node", "disable_saved_tensors_hooks", "get_gradient_edge",
    "increment_version", "save_on_cpu", "saved_tensors_hooks",
]  # fmt: skip


class _Disabled(threading.local):
    message: str | None = None


_DISABLED = _Disabled()


class saved_tensors_hooks:
    """Tensors saved inside go through ``pack_hook`` when saved, ``unpack_hook`` when needed.

    ``pack_hook`` may return anything, of which ``unpack_hook`` makes a tensor with the same
    content. The innermost pair counts.
    """

    def __init__(
        self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]
    ) -> None:
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self) -> None:
        if _DISABLED.message is not None:
            raise RuntimeError(_DISABLED.message)
        enter_slow()
        MODE.saved_hooks = (*MODE.saved_hooks, (self.pack_hook, self.unpack_hook))

    def __exit__(self, *args: object) -> None:
        MODE.saved_hooks = MODE.saved_hooks[:-1]
        leave_slow()


class save_on_cpu(saved_tensors_hooks):
    """Saved tensors wait in the CPU's memory, and go back to their device when needed.

    CuPy copies from any memory, so that ``pin_memory`` changes nothing.
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(_to_cpu, _from_cpu)


def _to_cpu(t: Tensor) -> tuple[Any, Tensor]:
    return t.device, t.cpu()


def _from_cpu(packed: tuple[Any, Tensor]) -> Tensor:
    return packed[1].to(packed[0])


class disable_saved_tensors_hooks:
    """Inside, using saved-tensor hooks raises RuntimeError with this message."""

    def __init__(self, error_message: str) -> None:
        self.message = error_message
        self.before: str | None = None

    def __enter__(self) -> None:
        if MODE.saved_hooks:
            raise RuntimeError(self.message)
        self.before, _DISABLED.message = _DISABLED.message, self.message

    def __exit__(self, *args: object) -> None:
        _DISABLED.message = self.before


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge at which the gradient of ``tensor`` arrives; RuntimeError where it needs none."""
    edge = edge_of(tensor)
    if edge is NO_EDGE:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require "
            "gradients"
        )
    return GradientEdge(*edge)


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Count a write that was made behind autograd's back, so that its checks see it."""
    for t in [tensor] if isinstance(tensor, Tensor) else tensor:
        bump(t)
