"""autograd.Function: operations whose derivative the user writes."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any

from . import errors
from .modes import ANOMALY, MODE, no_grad
from .ops.create import filled, like
from .tape import duals, function_duals, function_levels, wrappers
from .tape.node import Node, next_seq
from .tape.saved import SavedTensor, open_tensor, save_input, save_result
from .tape.views import as_view, bump, check_in_place, edge_of, rebase, requires_grad
from .tensor import NO_EDGE, Tensor, base_of, new, same_memory, wrap

_SAVED_AS_IS = (
    "An input that has been returned as-is as output is being saved for backward. This is not "
    "supported if you override setup_context. You should return and save a view of the input "
    "instead, e.g. with x.view_as(x) or setup ctx inside the forward function itself."
)


class FunctionCtx(Node):
    """The context a Function's methods get, which is also its node on the tape."""

    frees = 1
    function: Any
    outputs_info: list[tuple[tuple[int, ...], Any] | None]
    needs: tuple[bool, ...]
    is_tensor: list[bool]
    has_saved = False
    in_jvp = False
    saved_for_forward: tuple[Any, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors (inputs, outputs or None) for ``backward``: read ``saved_tensors``."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors for ``jvp``."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Say which inputs ``forward`` has written to in place."""
        self.dirty_tensors = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Say which outputs have no gradient."""
        self.non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether a missing gradient reaches ``backward`` as zeros (the default) or None."""
        self.materialize_grads = value

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What ``save_for_backward`` kept (in ``jvp``: ``save_for_forward``).

        Raises if it was freed or written to.
        """
        if self.in_jvp:
            return self.saved_for_forward
        if self.saved is None:
            raise RuntimeError(errors.FREED)
        if self.saved == ():
            return tuple(getattr(self, "to_save", ()))
        return tuple(open_tensor(entry, self) for entry in self.saved)

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        """The older name of ``saved_tensors``."""
        warnings.warn(
            "'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2
        )
        return self.saved_tensors

    @property
    def _raw_saved_tensors(self) -> tuple[SavedTensor, ...]:
        return tuple(SavedTensor.of(self, i) for i in range(len(self.saved or ())))

    @property
    def needs_input_grad(self) -> tuple[bool, ...]:
        """For every argument of ``apply``, whether its gradient is wanted."""
        return self.needs

    def release(self) -> None:
        if getattr(self, "has_saved", False):
            self.saved = None

    def apply(self, F: Any, g: Any, raw: bool) -> Any:
        given = g if type(g) is list else [g]
        grads = [wrap(x) if raw and x is not None else x for x in given]
        if self.materialize_grads:
            grads = [self._zeros(i) if x is None else x for i, x in enumerate(grads)]
        found = self.function._derivative()(self, *grads)
        return self._for_tensors(found if isinstance(found, (tuple, list)) else (found,))

    def _zeros(self, i: int) -> Tensor | None:
        info = self.outputs_info[i]
        return None if info is None else filled(0, info[0], info[1], None, False)

    def _for_tensors(self, found: Any) -> list[Any]:
        """The gradients of tensor arguments; those of other arguments must be None."""
        found = list(found)
        while len(found) > len(self.needs) and found[-1] is None:
            found.pop()
        if len(found) != len(self.needs):
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients (expected "
                f"{len(self.needs)}, got {len(found)})"
            )
        for i, (x, tensor) in enumerate(zip(found, self.is_tensor, strict=True)):
            if not tensor and x is not None:
                raise RuntimeError(
                    f"function {self.name()} returned a gradient different than None at position "
                    f"{i + 1}, but the corresponding forward input was not a Variable"
                )
            if x is not None and not isinstance(x, Tensor):
                raise RuntimeError(f"expected Variable or None (got {type(x).__name__})")
        return [x for x, tensor in zip(found, self.is_tensor, strict=True) if tensor]

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{type(self).__name__} object at {hex(id(self))}>"


class _FunctionMeta(type):
    """Gives every Function the class of its nodes."""

    def __init__(cls, name: str, bases: Any, members: Any) -> None:
        super().__init__(name, bases, members)
        cls._backward_cls = type(name + "Backward", (FunctionCtx,), {"function": cls})


class Function(metaclass=_FunctionMeta):
    """Base of user-written operations: static ``forward`` and ``backward``, called by ``apply``.

    ``forward(ctx, *args)`` computes, or ``forward(*args)`` with ``setup_context(ctx, inputs,
    output)``; ``backward(ctx, *grad_outputs)`` returns one gradient per argument (None for
    arguments that are no tensors).
    """

    _backward_cls: Any
    generate_vmap_rule = False

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all "
            "static, so you should invoke them on the class itself. Instantiating an autograd "
            "function will raise an error in a future version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    vjp = backward
    setup_context: Any = None

    @classmethod
    def _derivative(cls) -> Any:
        """The one of ``backward`` and ``vjp`` that the user wrote."""
        if cls.vjp is Function.vjp:
            return cls.backward
        if cls.backward is not Function.backward:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
                "should only implement one of them."
            )
        return cls.vjp

    @classmethod
    def new_context(cls, args: tuple[Any, ...], edges: list[Any]) -> FunctionCtx:
        """A context for one call, as a node with these edges (one per tensor argument)."""
        return new_context(cls, args, edges)

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run the operation and record it."""
        if cls.setup_context is not None:
            bound = inspect.signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args = bound.args
        if any(isinstance(a, wrappers.Wrapped) for a in args):
            return function_levels.process_function(cls, args)
        if duals.FORWARD.level and any(type(a) is duals.PlainDual for a in args):
            named = kwargs if cls.setup_context is None else {}
            return function_duals.run(cls, args, lambda: _run(cls, args, named))
        return run_function(cls, args, kwargs if cls.setup_context is None else {})

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use "
            "new-style autograd function with static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )


def new_context(cls: Any, args: tuple[Any, ...], edges: list[Any]) -> FunctionCtx:
    """A context for one call, as a node with these edges (one per tensor argument)."""
    ctx = new(cls._backward_cls)
    ctx.seq, ctx.extra, ctx.saved = next_seq(), None, ()
    ctx.materialize_grads, ctx.dirty_tensors, ctx.non_differentiable = True, (), ()
    ctx.to_save = ()
    ctx.is_tensor = [isinstance(a, Tensor) for a in args]
    it = iter(edges)
    ctx.needs = tuple(tensor and next(it) is not NO_EDGE for tensor in ctx.is_tensor)
    ctx.next_functions = tuple(edges)
    if ANOMALY.on:
        ctx.more().anomaly = ANOMALY.forward()  # type: ignore[misc]
    return ctx


def call_forward(cls: Any, ctx: FunctionCtx, args: tuple[Any, ...], named: Any) -> Any:
    """``forward``, in either of its two styles, without recording."""
    with no_grad():
        if cls.setup_context is None:
            return cls.forward(ctx, *args, **named)
        output = cls.forward(*args)
        cls.setup_context(ctx, args, output)
        return output


def run_function(cls: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """One call of a Function on ordinary tensors."""
    return _run(cls, args, named)[1]


def _run(cls: Any, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[FunctionCtx, Any]:
    """The context of a call, and its results."""
    recording = MODE.grad and any(isinstance(a, Tensor) and requires_grad(a) for a in args)
    edges = [edge_of(a) if recording else NO_EDGE for a in args if isinstance(a, Tensor)]
    ctx = new_context(cls, args, edges)
    result = call_forward(cls, ctx, args, named)
    several = isinstance(result, (tuple, list))
    outs = list(result) if several else [result]
    inputs = [a for a in args if isinstance(a, Tensor)]
    _check_saved(cls, ctx, outs, inputs)
    outs = [_output(ctx, o, inputs, recording) if isinstance(o, Tensor) else o for o in outs]
    if recording:
        _record(ctx, outs)
    return ctx, tuple(outs) if several else outs[0]


def _check_saved(cls: Any, ctx: FunctionCtx, outs: list[Any], inputs: list[Tensor]) -> None:
    """PyTorch's error where ``setup_context`` saves an input that is an output as it is."""
    if cls.setup_context is None:
        return
    for t in ctx.to_save:
        same = any(t is o for o in outs) and any(t is i for i in inputs)
        if t is not None and same and not any(t is d for d in ctx.dirty_tensors):
            raise RuntimeError(_SAVED_AS_IS)


def _output(ctx: FunctionCtx, out: Tensor, inputs: list[Tensor], recording: bool) -> Tensor:
    """An output without history of its own; inputs returned as they are become views of them."""
    if any(out is d for d in ctx.dirty_tensors):
        _check_dirty(out, recording)
        bump(out)
        return out
    if any(out is i for i in inputs):
        if any(out is n for n in ctx.non_differentiable):
            out = same_memory(out)
            ctx.non_differentiable = (*ctx.non_differentiable, out)
            return out
        return as_view(out._data, out, "custom")
    base = base_of(out)
    if base is not None and recording and any(base is i or base is base_of(i) for i in inputs):
        assert out._place is not None
        out._place.made = "custom"
        return out
    if out._edge is not NO_EDGE and base is None:
        out._edge = NO_EDGE
    return out


def _check_dirty(out: Tensor, recording: bool) -> None:
    """In-place errors, in the past tense: ``forward`` has already written."""
    try:
        check_in_place(out, recording)
    except RuntimeError as error:
        raise RuntimeError(str(error).replace("is being used", "has been used")) from None


def _record(ctx: FunctionCtx, outs: list[Any]) -> None:
    known = [(tuple(o.shape), o.dtype) if isinstance(o, Tensor) else None for o in outs]
    ctx.outputs_info = known
    shapes = [() if info is None else info[0] for info in known]
    types = [None if info is None else info[1].array for info in known]
    single = len(outs) == 1
    ctx.shape, ctx.dtype = (shapes[0], types[0]) if single else (shapes, types)
    ctx.saved = [_entry(at, t, outs) for at, t in enumerate(ctx.to_save)]
    ctx.has_saved = bool(ctx.saved)
    for nr, t in enumerate(outs):
        if (
            not isinstance(t, Tensor)
            or any(t is n for n in ctx.non_differentiable)
            or t.dtype.category < 2
        ):
            continue
        if any(t is d for d in ctx.dirty_tensors):
            rebase(t, ctx)
            continue
        t._edge = (ctx, nr)
        if t._place is not None and t._place.base is not None:
            t._place.version = t._ver[0] if t._ver else 0
    ctx.to_save = ctx.dirty_tensors = ctx.non_differentiable = ()  # no cycles through outputs


def _entry(at: int, t: Any, outs: list[Any]) -> Any:
    if t is None:
        return None
    if not isinstance(t, Tensor):
        raise TypeError(
            f"save_for_backward can only save variables, but argument {at} is of type "
            f"{type(t).__name__}"
        )
    for nr, out in enumerate(outs):
        if t is out:
            return save_result(t, nr)
    return save_input(t)


def once_differentiable(function: Callable[..., Any]) -> Callable[..., Any]:
    """For a ``backward`` that is itself not differentiable: a second derivative raises."""

    @functools.wraps(function)
    def wrapped(ctx: Any, *args: Any) -> Any:
        recording = MODE.grad and any(isinstance(a, Tensor) and a.requires_grad for a in args)
        with no_grad():
            found = function(ctx, *args)
        if not recording:
            return found
        several = isinstance(found, tuple)
        outs = [_refuse(x) for x in (found if several else (found,))]
        return tuple(outs) if several else outs[0]

    return wrapped


class _Refuse(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )


def _refuse(x: Any) -> Any:
    if not isinstance(x, Tensor):
        return x
    fake = like(0, x).requires_grad_()
    out = _Refuse.apply(fake)
    out._data[...] = x._data
    return out
