"""Checkpointing: trade time for memory by computing parts of the forward pass again.

Two variants. ``use_reentrant=False`` keeps the graph and forgets what it saved: the first tensor
that the backward pass asks for runs the function again (saved-tensor hooks, see ``_Frame``).
``use_reentrant=True`` records nothing the first time, and runs a backward pass of its own inside
the outer one.
"""

from __future__ import annotations

import contextlib
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from functional.modes import MODE, enable_grad, no_grad
from functional.tensor import Tensor

from .. import cuda
from ..amp import _state
from ..amp.autocast_mode import autocast
from ..autograd import Function, backward
from ..autograd.graph import saved_tensors_hooks
from ..random import fork_rng, get_rng_state, set_rng_state

__all__ = [
    "CheckpointError", "CheckpointFunction", "DefaultDeviceType", "check_backward_validity",
    "checkpoint", "checkpoint_sequential", "detach_variable", "get_device_states",
    "noop_context_fn", "set_checkpoint_debug_enabled", "set_checkpoint_early_stop",
    "set_device_states",
]  # fmt: skip


class CheckpointError(RuntimeError):
    """The second run did not do what the first did."""


class DefaultDeviceType:
    """Which kind of device's generators are kept where no argument says it."""

    _kind = "cuda"

    @staticmethod
    def set_device_type(device: str = "cuda") -> None:
        """Set the kind of device."""
        DefaultDeviceType._kind = device

    @staticmethod
    def get_device_type() -> str:
        """The kind of device."""
        return DefaultDeviceType._kind


class _Settings:
    early_stop: bool | None = None  # None: as each call says
    debug: bool | None = None


class _Setting(contextlib.ContextDecorator):
    """Sets one of the settings inside a block."""

    def __init__(self, name: str, value: bool | None) -> None:
        self.name, self.value = name, value

    def __enter__(self) -> None:
        self.before = getattr(_Settings, self.name)
        setattr(_Settings, self.name, self.value)

    def __exit__(self, *exc: object) -> None:
        setattr(_Settings, self.name, self.before)


def set_checkpoint_early_stop(enable: bool) -> AbstractContextManager[None]:
    """Inside: whether a second run ends as soon as all that was saved is there again."""
    return _Setting("early_stop", enable)


def set_checkpoint_debug_enabled(enabled: bool | None) -> AbstractContextManager[None]:
    """Inside: overrides the argument ``debug`` of ``checkpoint``; it has no effect here."""
    return _Setting("debug", enabled)


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Leaves over the same memory as the tensors among ``inputs``."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            "Only tuple of tensors is supported. Got Unsupported input type: "
            f"{type(inputs).__name__}"
        )
    return tuple(_leaf(x) if isinstance(x, Tensor) else x for x in inputs)


def _leaf(t: Tensor) -> Tensor:
    return t.detach().requires_grad_(t.requires_grad)


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn where no input needs a gradient, so that none would arrive."""
    if not any(t.requires_grad for t in inputs if isinstance(t, Tensor)):
        warnings.warn(
            "None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2
        )


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


class _Surroundings:
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


# --- a backward pass within the backward pass -----------------------------------------------------


class CheckpointFunction(Function):
    """The reentrant variant, as an operation of its own."""

    @staticmethod
    def forward(ctx: Any, run_function: Any, preserve_rng_state: bool, *args: Any) -> Any:
        """Run without recording; keep the inputs."""
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.surroundings = _Surroundings(preserve_rng_state, args)
        ctx.inputs = [None if isinstance(x, Tensor) else x for x in args]
        ctx.places = [i for i, x in enumerate(args) if isinstance(x, Tensor)]
        ctx.save_for_backward(*(args[i] for i in ctx.places))
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *args: Any) -> Any:
        """Run again, recording, and go back through what was recorded."""
        _no_inputs_argument()
        inputs = list(ctx.inputs)
        for i, t in zip(ctx.places, ctx.saved_tensors, strict=True):
            inputs[i] = t
        leaves = detach_variable(tuple(inputs))
        with ctx.surroundings.again(), enable_grad():
            outputs = ctx.run_function(*leaves)
        if isinstance(outputs, Tensor):
            outputs = (outputs,)
        wanted = [
            (out, g)
            for out, g in zip(outputs, args, strict=True)
            if isinstance(out, Tensor) and out.requires_grad
        ]
        if not wanted:
            raise RuntimeError(
                "none of output has requires_grad=True, this checkpoint() is not necessary"
            )
        backward([out for out, _ in wanted], [g for _, g in wanted])
        grads = (x.grad if isinstance(x, Tensor) else None for x in leaves)
        return (None, None, *grads)


def _no_inputs_argument() -> None:
    task = MODE.task
    while task is not None:
        if task.inputs is not None:
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or "
                "passing an `inputs` parameter to .backward(). To resolve this error, you can "
                "either set use_reentrant=False, or call .backward() without passing the `inputs` "
                "argument."
            )
        task = task.outer


# --- saved tensors that are computed again --------------------------------------------------------


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


class _Frame:
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
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the "
                "original forward and recomputation.\n"
                f"Number of tensors saved during forward: {len(self.slots)}\n"
                f"Number of tensors saved during recomputation: {self.counts[task]}."
            )
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
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the "
                "original forward and recomputation.\n"
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


# --- the functions --------------------------------------------------------------------------------


def noop_context_fn() -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
    """Two contexts that do nothing."""
    return contextlib.nullcontext(), contextlib.nullcontext()


_ADVICE = (
    "use_reentrant=False is recommended, but if you need to preserve the current default behavior, "
    "you can pass use_reentrant=True. Refer to docs for more details on the differences between "
    "the two variants."
)


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[Any, Any]] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """``function(*args, **kwargs)``, without keeping what its backward pass needs.

    That is computed again when a backward pass asks, from the same random state
    (``preserve_rng_state=True``) and under the same autocast. Of ``context_fn()``'s two contexts
    the first surrounds the first run, the second all others. CheckpointError where the second run
    saves other tensors than the first (``determinism_check="none"`` looks at their number only).

    With ``use_reentrant=True``: positional arguments only, gradients for arguments only, and no
    ``autograd.grad``.
    """
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. "
            "Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise an "
            f"exception. {_ADVICE}",
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug is not False:
            raise ValueError(
                "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
            )
        return CheckpointFunction.apply(function, preserve, *args)
    if determinism_check not in ("default", "none"):
        raise ValueError(
            "determinism_check should be one of ['default', 'none'], but got " + determinism_check
        )
    contexts = context_fn()
    if not MODE.grad:
        with contexts[0]:
            return function(*args, **kwargs)
    surroundings = _Surroundings(preserve, args)

    def again(*args: Any, **kwargs: Any) -> None:
        with surroundings.again(), contexts[1]:
            function(*args, **kwargs)

    stop = early_stop if _Settings.early_stop is None else _Settings.early_stop
    frame = _Frame(again, stop, determinism_check == "default")
    frame.keep(args, kwargs)
    with saved_tensors_hooks(frame.pack, frame.unpack), contexts[0]:
        result = function(*args, **kwargs)
    frame.done = True
    return result


def checkpoint_sequential(
    functions: Any,
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    **kwargs: Any,
) -> Any:
    """Run a sequence of modules in ``segments`` parts, all but the last checkpointed.

    ``functions`` is a Sequential or a list of functions.
    """
    from ..nn import Sequential

    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be "
            "passed explicitly. In version 2.9 we will raise an exception if use_reentrant is not "
            f"passed. {_ADVICE}",
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    steps = list(functions.children()) if isinstance(functions, Sequential) else list(functions)
    size = len(steps) // segments
    for start in range(0, size * (segments - 1), size):
        part = _chain(steps[start : start + size])
        input = checkpoint(part, input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return _chain(steps[size * (segments - 1) :])(input)


def _chain(steps: list[Any]) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        for step in steps:
            x = step(x)
        return x

    return run
