"""Recording and differentiating: ``record``, ``backward``, ``grad``, ``Function`` and their kin."""

from __future__ import annotations

from typing import Any

import torchlike as torch

from . import graph
from .array import NDArray, call, wrap
from .base import MXNetError
from .state import FLAGS, flags, run

__all__ = [
    "Function", "backward", "grad", "is_recording", "is_training", "mark_variables", "pause",
    "predict_mode", "record", "set_recording", "set_training", "train_mode",
]  # fmt: skip


class _Scope:
    """A context manager, also a decorator, that sets flags of this thread; None keeps one."""

    def __init__(self, recording: bool | None, training: bool | None) -> None:
        self._flags, self._entered = (recording, training), []  # type: tuple[Any, Any], list[Any]

    def __enter__(self) -> None:
        scope = flags(*self._flags)
        self._entered.append(scope)
        scope.__enter__()

    def __exit__(self, *exc: Any) -> None:
        self._entered.pop().__exit__(*exc)


def record(train_mode: bool = True) -> Any:
    """In ``with``: operations on marked arrays are recorded; ``train_mode`` sets the other flag."""
    return _Scope(True, train_mode)


def pause(train_mode: bool = False) -> Any:
    """In ``with``: nothing is recorded; ``train_mode`` sets the other flag."""
    return _Scope(False, train_mode)


def train_mode() -> Any:
    """In ``with``: layers behave as in training, recording stays as it is."""
    return _Scope(None, True)


def predict_mode() -> Any:
    """In ``with``: layers behave as in prediction, recording stays as it is."""
    return _Scope(None, False)


def is_recording() -> bool:
    """Whether this thread records."""
    return FLAGS.recording


def is_training() -> bool:
    """Whether layers behave as in training."""
    return FLAGS.training


def set_recording(is_recording: bool) -> bool:
    """Switch recording; returns what it was."""
    before, FLAGS.recording = FLAGS.recording, bool(is_recording)
    return before


def set_training(train_mode: bool) -> bool:
    """Switch training; returns what it was."""
    before, FLAGS.training = FLAGS.training, bool(train_mode)
    return before


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def mark_variables(variables: Any, gradients: Any, grad_reqs: Any = "write") -> None:
    """Let the gradients of the variables be put into these arrays, by one ``grad_req`` or many.

    MXNetError for another shape; nothing is marked then.
    """
    variables, gradients = _listed(variables), _listed(gradients)
    reqs = [grad_reqs] * len(variables) if isinstance(grad_reqs, str) else list(grad_reqs)
    if not len(variables) == len(gradients) == len(reqs):
        raise ValueError(
            f"{len(variables)} variables, {len(gradients)} gradients and {len(reqs)} grad_reqs"
        )
    for i, (variable, gradient) in enumerate(zip(variables, gradients)):
        if variable.shape != gradient.shape:
            raise MXNetError(
                f"variable {i} has shape {variable.shape}, its gradient {gradient.shape}"
            )
    for variable, gradient, req in zip(variables, gradients, reqs):
        variable._mark(gradient, req)


def _starts(heads: list[Any], head_grads: Any) -> tuple[list[Any], list[Any]]:
    """Tensors of the heads and the gradients to start from, ones where None is given."""
    for head in heads:
        if not isinstance(head, NDArray):
            raise TypeError(f"heads are NDArrays, not {type(head).__name__}")
    given = [None] * len(heads) if head_grads is None else _listed(head_grads)
    if len(given) != len(heads):
        raise ValueError(f"{len(heads)} heads and {len(given)} head gradients")
    tensors = [head._tensor for head in heads]
    return tensors, [_start(i, t, g) for i, (t, g) in enumerate(zip(tensors, given))]


def _start(i: int, tensor: Any, given: Any) -> Any:
    if given is None:
        return torch.ones_like(tensor.detach())
    if given.shape != tuple(tensor.shape):
        raise MXNetError(f"head {i} has shape {tuple(tensor.shape)}, its gradient {given.shape}")
    return graph.live(given._tensor).to(tensor.dtype)


def backward(
    heads: Any, head_grads: Any = None, retain_graph: bool = False, train_mode: bool = True
) -> None:
    """Bring the heads' gradients to the variables' gradient arrays, by each one's ``grad_req``.

    A head without a gradient starts from ones. The graph is used up unless it is retained.
    MXNetError where a head is in no graph, or nothing it was computed from wants a gradient.
    """
    tensors, starts = _starts(_listed(heads), head_grads)
    nodes, edges, marks = graph.wanted(tensors)
    with flags(False, train_mode):
        found = run(torch.autograd.grad, tensors, edges, starts, retain_graph, allow_unused=True)
        for mark, gradient in zip(marks, found):
            if gradient is not None:
                _deliver(mark, gradient)
    if not retain_graph:
        graph.clear(nodes)


def _deliver(mark: graph.Mark, gradient: Any) -> None:
    buffer = mark.grad._tensor.detach()
    run(buffer.add_ if mark.req == "add" else buffer.copy_, gradient)
    mark.fresh = True


def grad(
    heads: Any,
    variables: Any,
    head_grads: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    train_mode: bool = True,
) -> list[NDArray]:
    """The gradients of the heads with respect to marked variables, as a list of new arrays.

    A variable that the heads do not depend on has zeros. With ``create_graph`` the result can be
    differentiated again. MXNetError for a variable that is not marked, or with ``null``.
    """
    variables = _listed(variables)
    keep = create_graph if retain_graph is None else retain_graph
    for i, variable in enumerate(variables):
        mark = graph.mark_of(variable._tensor)
        if mark is None or mark.req == "null":
            raise MXNetError(f"variable {i} does not want a gradient: attach_grad() comes first")
    tensors, starts = _starts(_listed(heads), head_grads)
    nodes = graph.wanted(tensors)[0]
    inputs = [variable._tensor for variable in variables]
    with flags(create_graph, train_mode):
        found = run(
            torch.autograd.grad, tensors, inputs, starts, keep, create_graph, materialize_grads=True
        )
    if not keep:
        graph.clear(nodes)
    return [wrap(g, type(v)) for g, v in zip(found, variables)]


class Function:
    """An operation with a derivative of its own: subclasses define ``forward`` and ``backward``.

    ``forward(*inputs)`` gives one array or several, ``backward(*output_gradients)`` one gradient
    for each input. An instance is called once.
    """

    _used = False
    saved_tensors: tuple[Any, ...] = ()

    def save_for_backward(self, *args: Any) -> None:
        """Keep arrays for ``backward``, which finds them in ``saved_tensors``."""
        self.saved_tensors = args

    def forward(self, *inputs: Any) -> Any:
        """The results for the inputs; nothing in here is recorded."""
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def backward(self, *output_grads: Any) -> Any:
        """The gradients of the inputs for those of the results."""
        raise NotImplementedError(f"{type(self).__name__} has no backward")

    def __call__(self, *inputs: NDArray) -> Any:
        assert not self._used, f"this {type(self).__name__} was called before: make a new one"
        self._used = True
        if not FLAGS.recording:
            return self.forward(*inputs)
        for x in inputs:
            if not isinstance(x, NDArray):
                raise TypeError(f"inputs of a Function are NDArrays, not {type(x).__name__}")
        single: list[bool] = []
        kinds = [type(x) for x in inputs]
        found = call(lambda *tensors: _Own.apply(self, inputs, single, kinds, *tensors), *inputs)
        return found[0] if single[0] else found

    def _gradients(self, output_grads: Any, kinds: list[Any]) -> tuple[Any, ...]:
        """The core gradients of all inputs; MXNetError where ``backward`` gives another number."""
        wrapped = wrap(list(output_grads), kinds[0])
        found = _listed(self.backward(*wrapped))
        if len(found) != len(kinds):
            raise MXNetError(
                f"{type(self).__name__}.backward gave {len(found)} gradients for {len(kinds)} "
                "inputs of forward"
            )
        return tuple(None if g is None else graph.live(g._tensor) for g in found)


class _Own(torch.autograd.Function):
    """A Function on the core's tape."""

    @staticmethod
    def forward(ctx: Any, function: Any, inputs: Any, single: Any, kinds: Any, *_: Any) -> Any:
        ctx.own, ctx.kinds = function, kinds
        with flags(recording=False):
            found = function.forward(*inputs)
        single.append(isinstance(found, NDArray))
        for x in _listed(found):
            if not isinstance(x, NDArray):
                raise TypeError(f"forward gives NDArrays, not {type(x).__name__}")
        return tuple(array._tensor for array in _listed(found))

    @staticmethod
    def backward(ctx: Any, *output_grads: Any) -> Any:
        return (None,) * 4 + ctx.own._gradients(output_grads, ctx.kinds)
