"""Checkpointing: trade time for memory by computing parts of the forward pass again.

Two variants. ``use_reentrant=False`` keeps the graph and forgets what it saved: the first tensor
that the backward pass asks for runs the function again (saved-tensor hooks, see ``_recomputing``).
``use_reentrant=True`` records nothing the first time, and runs a backward pass of its own inside
the outer one.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any

from functional.modes import MODE, enable_grad, no_grad
from functional.tensor import Tensor

from ..autograd import Function, backward
from ..autograd.graph import saved_tensors_hooks
from ._recomputing import (
    CheckpointError,
    Frame,
    Surroundings,
    get_device_states,
    set_device_states,
)

__all__ = [
    "CheckpointError", "CheckpointFunction", "DefaultDeviceType", "check_backward_validity",
    "checkpoint", "checkpoint_sequential", "detach_variable", "get_device_states",
    "noop_context_fn", "set_checkpoint_debug_enabled", "set_checkpoint_early_stop",
    "set_device_states",
]  # fmt: skip


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


# --- a backward pass within the backward pass -----------------------------------------------------


class CheckpointFunction(Function):
    """The reentrant variant, as an operation of its own."""

    @staticmethod
    def forward(ctx: Any, run_function: Any, preserve_rng_state: bool, *args: Any) -> Any:
        """Run without recording; keep the inputs."""
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.surroundings = Surroundings(preserve_rng_state, args)
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
    surroundings = Surroundings(preserve, args)

    def again(*args: Any, **kwargs: Any) -> None:
        with surroundings.again(), contexts[1]:
            function(*args, **kwargs)

    stop = early_stop if _Settings.early_stop is None else _Settings.early_stop
    frame = Frame(again, stop, determinism_check == "default")
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
