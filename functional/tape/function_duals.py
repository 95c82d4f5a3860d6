"""User-written Functions among dual tensors: ``jvp`` computes the tangents of the results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..modes import MODE
from ..tensor import Tensor, base_of
from . import duals
from .op import TENSOR


def run(cls: Any, args: tuple[Any, ...], call: Callable[[], tuple[Any, Any]]) -> Any:
    """``call()``, which runs the Function and gives its context and results; then its ``jvp``."""
    wanted = duals.enabled()
    before, MODE.tangents = MODE.tangents, False  # neither forward nor jvp sees dual tensors
    try:
        ctx, result = call()
        outs = list(result) if isinstance(result, tuple) else [result]
        found = _jvp(cls, ctx, args, len(outs)) if wanted else []
    finally:
        MODE.tangents = before
    inputs = [a for a in args if isinstance(a, Tensor)]
    for out, tangent in zip(outs, found):
        if tangent is not None:
            _give_tangent(out, duals.primal(tangent), inputs)
    return result


def _jvp(cls: Any, ctx: Any, args: tuple[Any, ...], count: int) -> list[Any]:
    """The tangents of the ``count`` results; those of inputs that have none are zeros."""
    if not hasattr(cls, "jvp"):
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with "
            "forward mode AD."
        )
    found = call_jvp(cls, ctx, args, [duals.tangent_of(a) for a in args])
    found = list(found) if isinstance(found, (tuple, list)) else [found]
    if len(found) != count:
        raise RuntimeError(
            f"Function's jvp returned an invalid number of forward gradients (expected {count} but "
            f"got {len(found)})"
        )
    for i, t in enumerate(found):
        if t is not None and not isinstance(t, Tensor):
            kind = type(t).__name__
            raise RuntimeError(f"expected Variable or None (got {kind}) for grad output {i}.")
    return found


def call_jvp(cls: Any, ctx: Any, args: tuple[Any, ...], tangents: list[Any]) -> Any:
    """What the user's ``jvp`` returns; it gets zeros for tensors that have no tangent."""
    if ctx.materialize_grads:
        pairs = zip(args, tangents, strict=True)
        tangents = [
            TENSOR.zeros_like(a) if t is None and isinstance(a, Tensor) else t for a, t in pairs
        ]
    ctx.in_jvp = True
    try:
        return cls.jvp(ctx, *tangents)
    finally:
        ctx.in_jvp = False


def _give_tangent(out: Tensor, tangent: Tensor, inputs: list[Tensor]) -> None:
    duals.check_size(out, tangent)
    if type(out) is not duals.PlainDual:
        _check_view(base_of(out), base_of(tangent), inputs)
    elif duals.tangent_of(out) is not tangent:
        raise RuntimeError(
            "An inplace custom Function is not modifying the forward mode gradients inplace. If "
            "the forward is modifying an input inplace, then the jvp function must modify the "
            "corresponding gradient inplace."
        )
    duals.give(out, tangent)


def _check_view(base: Any, source: Any, inputs: list[Tensor]) -> None:
    """The tangent of a view of an input must be a view (of ``source``) of the input's tangent."""
    for a in inputs:
        if base is None or (base is not a and base is not base_of(a)):
            continue
        if source is None:
            raise RuntimeError(
                "A custom Function's forward is returning a view (or an input as-is) but the jvp "
                "is not returning a view."
            )
        own = duals.tangent_of(a)
        if own is not None and source is not own and source is not base_of(own):
            raise RuntimeError(
                "A custom Function is returning a view but the jvp is not returning a view of the "
                "given grad input."
            )
