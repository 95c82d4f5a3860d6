"""Running a function a second time for the tensors that its backward pass needs."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from functional.modes import MODE, enable_grad
from functional.tensor import Tensor

from .. import cuda
from ..amp import _state
from ..amp.autocast_mode import autocast
from ..autograd import Function
from ..autograd.graph import saved_tensors_hooks
from ..random import fork_rng, get_rng_state, set_rng_state


class CheckpointError(RuntimeError):
    """The second run did not do what the first did."""


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """The GPUs on which there are tensors among ``args``, and their generators' states."""
    found = {t.device.index for t in args if isinstance(t, Tensor) and t.device.type != "cpu"}
    ids = sorted(i for i in found if i is not None)
    return ids, [cuda.get_rng_state(i) for i in ids]


def set_device_states(
    devices: list[int], states: list[Tensor], *, device_type: str | None = None
) -> None:
    """Continue the generators of GPUs from ``states``."""
    for device, state in zip(devices, states, strict=True):
        cuda.set_rng_state(state, device)


class Surroundings:
    """The random state and autocast regions of a first run, to be had again in the second."""

    def __init__(self, preserve_rng_state: bool, args: tuple[Any, ...]) -> None:
        self.state = get_rng_state() if preserve_rng_state else None
        self.devices, self.states = get_device_states(*args) if preserve_rng_state else ([], [])
        cache = _state.is_autocast_cache_enabled()
        self.regions = [
            (kind, _state.get_autocast_dtype(kind), _state.is_autocast_enabled(kind), cache)
            for kind in ("cpu", "cuda")
        ]

    @contextlib.contextmanager
    def again(self) -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            if self.state is not None:
                stack.enter_context(fork_rng())
                set_rng_state(self.state)
                set_device_states(self.devices, self.states)
            for kind, dtype, enabled, cache in self.regions:
                if enabled or _state.is_autocast_enabled(kind):
                    stack.enter_context(autocast(kind, dtype, enabled, cache))
            yield


class _Slot:
    """The place of a tensor that was not kept, with its value in every backward pass that asked."""

    def __init__(self, meta: Any) -> None:
        self.meta = meta
        self.values: weakref.WeakKeyDictionary[Any, Tensor | None] = weakref.WeakKeyDictionary()


class _Pass:
    """Stands for a backward pass where a saved tensor is read outside of any."""


class _Stop(Exception):
    """All that was saved is there again."""


class _Inputs(Function):
    """Keeps a call's tensors on the tape, so that an outer checkpoint can forget them too."""

    @staticmethod
    def forward(ctx: Any, dummy: Tensor, *tensors: Tensor) -> Tensor:
        ctx.save_for_backward(*tensors)
        return dummy.detach()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise AssertionError("nothing flows back through the inputs of a checkpoint")


class Frame:
    """One checkpointed call: its inputs, how to run it again, and what it saved, in order."""

    def __init__(self, again: Callable[..., None], early_stop: bool, check: bool) -> None:
        self.again, self.early_stop, self.check = again, early_stop, check
        self.slots: list[weakref.ref[_Slot]] = []
        # a backward pass within the first run sees only what has been saved so far
        self.done = self.partly = False
        self.counts: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()

    def keep(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Remember the arguments: tensors by way of the tape."""
        from .. import empty

        tensors = [x for x in args if isinstance(x, Tensor)]
        self.rest = [None if isinstance(x, Tensor) else x for x in args]
        self.places = [i for i, x in enumerate(args) if isinstance(x, Tensor)]
        self.kwargs = kwargs
        self.inputs = _Inputs.apply(empty((0,), requires_grad=True), *tensors).grad_fn

    def pack(self, t: Tensor) -> _Slot:
        slot = _Slot(_meta(t) if self.check else None)
        self.slots.append(weakref.ref(slot))
        return slot

    def unpack(self, slot: _Slot) -> Tensor:
        task = _Pass() if MODE.task is None else MODE.task
        if task not in self.counts:
            self._run(task)
        if task not in slot.values:
            raise self._other_number(task)
        value = slot.values[task]
        if value is None:
            raise CheckpointError(
                "torch.utils.checkpoint: Unpack is being triggered for a tensor that was either "
                "never recomputed, or already unpacked once. If you are calling ctx.saved_tensors "
                "in backward, make sure to do so only once. Otherwise please open an issue with "
                "details on your use case."
            )
        slot.values[task] = None
        return value

    def _run(self, task: Any) -> None:
        """Run again, and hand what is saved to the slots."""
        args = list(self.rest)
        for i, t in zip(self.places, self.inputs.saved_tensors, strict=True):
            args[i] = t
        self.counts[task] = 0

        def pack(t: Tensor) -> Tensor:
            return self._refill(task, t)

        with contextlib.suppress(_Stop), saved_tensors_hooks(pack, _same), enable_grad():
            self.again(*args, **self.kwargs)
        if self.counts[task] != len(self.slots) and not self.partly:
            raise self._other_number(task)

    def _other_number(self, task: Any) -> CheckpointError:
        return CheckpointError(
            "torch.utils.checkpoint: A different number of tensors was saved during the original "
            "forward and recomputation.\n"
            f"Number of tensors saved during forward: {len(self.slots)}\n"
            f"Number of tensors saved during recomputation: {self.counts[task]}."
        )

    def _refill(self, task: Any, t: Tensor) -> Tensor:
        nr = self.counts[task]
        if nr >= len(self.slots):
            if not self.done:
                self.partly = True
                return t.detach()
            raise CheckpointError(
                "torch.utils.checkpoint: trying to save more tensors during recomputation than "
                "during the original forward pass.\n"
                f"Number of tensors saved during forward: {len(self.slots)}"
            )
        self.counts[task] = nr + 1
        t = t.detach()
        slot = self.slots[nr]()
        if slot is not None:
            if self.check:
                _compare(nr, slot.meta, _meta(t))
            slot.values[task] = t
        if self.early_stop and nr + 1 == len(self.slots):
            raise _Stop
        return t


def _same(t: Tensor) -> Tensor:
    return t


def _meta(t: Tensor) -> dict[str, Any]:
    return {"shape": t.shape, "dtype": t.dtype, "device": t.device}


def _compare(nr: int, saved: dict[str, Any], now: dict[str, Any]) -> None:
    if saved != now:
        raise CheckpointError(
            "torch.utils.checkpoint: Recomputed values for the following tensors have different "
            "metadata than during the forward pass.\n"
            f"tensor at position {nr}:\nsaved metadata: {saved}\nrecomputed metadata: {now}"
        )
