"""The recorded graph: its nodes, and what happens to tensors saved in it."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from functional.autograd import GradientEdge
from functional.modes import MODE, enter_slow, leave_slow
from functional.tape.node import Node
from functional.tape.views import bump, edge_of
from functional.tensor import NO_EDGE, Tensor

__all__ = [
    "GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks",
    "get_gradient_edge", "increment_version", "register_multi_grad_hook", "save_on_cpu",
    "saved_tensors_hooks",
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


class _MultiGradHook:
    """Calls a function once in every backward pass, when the gradients of several tensors came."""

    def __init__(self, tensors: list[Tensor], fn: Callable[..., Any], every: bool) -> None:
        self.fn, self.every, self.count = fn, every, len(tensors)
        self.nodes = [edge_of(t)[0] for t in tensors]
        self.passes: weakref.WeakKeyDictionary[Any, list[Any]] = weakref.WeakKeyDictionary()
        self.lock = threading.Lock()
        self.handles = [t.register_hook(partial(self._arrived, i)) for i, t in enumerate(tensors)]

    def _arrived(self, i: int, grad: Tensor) -> None:
        task = MODE.task
        with self.lock:
            grads, left = self.passes.get(task) or ([None] * self.count, self._expected(task))
            grads[i] = grad
            self.passes[task] = [grads, left - 1]
        if self.every and left == 1:
            self.fn(grads)
            del self.passes[task]
        elif not self.every and sum(g is not None for g in grads) == 1:
            self.fn(grad)

    def _expected(self, task: Any) -> int:
        return sum(task.will_run(node) for node in self.nodes)

    def remove(self) -> None:
        """Take the hook away again."""
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> _MultiGradHook:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def register_multi_grad_hook(
    tensors: Iterable[Tensor], fn: Callable[..., Any], *, mode: str = "all"
) -> _MultiGradHook:
    """Call ``fn`` in every backward pass that computes gradients of some of ``tensors``.

    With ``mode="all"`` once all have come, with a list in which those that the pass does not
    compute are None; with ``"any"`` at the first, with that gradient. Returns a handle.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    return _MultiGradHook(list(tensors), fn, mode == "all")


class _Kept:
    """Stands for a saved tensor."""

    def __init__(self, t: Tensor) -> None:
        self.tensor: Tensor | None = t


class allow_mutation_on_saved_tensors(saved_tensors_hooks):
    """Inside, tensors saved for the backward pass may be written to: they are copied before that.

    Backward passes have to run inside the same block. Such blocks cannot be nested.
    """

    def __init__(self) -> None:
        super().__init__(self._pack, self._unpack)
        self.clear()

    def __enter__(self) -> allow_mutation_on_saved_tensors:  # type: ignore[override]
        if MODE.writing is not None:
            raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
        super().__enter__()
        MODE.writing = self._writing
        return self

    def __exit__(self, *args: object) -> None:
        MODE.writing = None
        self.clear()
        super().__exit__(*args)

    def clear(self) -> None:
        """Forget the tensors saved so far."""
        self.cloned: weakref.WeakKeyDictionary[_Kept, Tensor] = weakref.WeakKeyDictionary()
        self.kept: dict[int, weakref.WeakValueDictionary[Any, _Kept]] = {}  # by their memory

    def _pack(self, t: Tensor) -> _Kept:
        alike = self.kept.setdefault(t.untyped_storage().data_ptr(), weakref.WeakValueDictionary())
        key = t.data_ptr(), t.shape, t.stride(), t.dtype, edge_of(t)
        kept = alike.get(key)
        if kept is None:
            kept = alike[key] = _Kept(t)
        return kept

    def _unpack(self, kept: _Kept) -> Tensor:
        here = MODE.writing == self._writing
        if here and kept in self.cloned:
            return self.cloned[kept]
        if not here or kept.tensor is None:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin "
                "which the graph was originally recorded."  # PyTorch's words
            )
        return kept.tensor

    def _writing(self, t: Tensor) -> None:
        """Copy what was saved of the memory that is about to change."""
        MODE.writing = None
        try:
            for kept in self.kept.pop(t.untyped_storage().data_ptr(), {}).values():
                assert kept.tensor is not None
                self.cloned[kept] = kept.tensor.detach().clone()
                kept.tensor = None
        finally:
            MODE.writing = self._writing


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
