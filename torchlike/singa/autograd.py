"""Operations that the tape records, and gradients: ``for p, g in autograd.backward(loss): ...``.

``training`` is read when an operator is called: dropout drops, and batch normalization uses the
batch's statistics, only where it is True. It does not turn recording on or off.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

import torchlike as torch

from .operator import Dummy as Dummy
from .operator import Operation as Operation
from .operator import Operator
from .operators import NAMES
from .singa_wrap import Tensor as CTensor
from .tensor import Tensor

training = False


def infer_dependency(op: Operator) -> tuple[Counter[Any], Counter[int]]:
    """How many operators use each operator's results, and each tensor (by id), below ``op``."""
    return _uses(op, all_of_them=True)


def _uses(op: Operator, all_of_them: bool) -> tuple[Counter[Any], Counter[int]]:
    """The same; unless ``all_of_them``, of what is run backwards and tensors that are delivered.

    Only those tensors are sure to live still: another's id may be in use again.
    """
    operators: Counter[Any] = Counter()
    tensors: Counter[int] = Counter()
    seen, waiting = {op}, [op]
    operators[op] = 0
    while waiting:
        for source, ident, _, stores in waiting.pop().src:
            operators[source] += 1
            tensors[ident] += all_of_them or stores
            if source not in seen and (all_of_them or source.requires_grad):
                seen.add(source)
                waiting.append(source)
    return operators, tensors


def _delivered(root: Operator) -> list[Tensor]:
    """The tensors whose gradients are asked for, in the order in which they are complete."""
    operators, tensors = _uses(root, all_of_them=False)
    found, ready = [], [root]
    while ready:
        for source, ident, tensor, stores in ready.pop().src:
            operators[source] -= 1
            tensors[ident] -= stores
            if stores and tensors[ident] == 0:
                found.append(tensor)
            if operators[source] == 0 and source.requires_grad:
                ready.append(source)
    return found


def backward(y: Tensor, dy: Any = None) -> Iterator[tuple[Tensor, Tensor]]:
    """Pairs of a tensor with ``stores_grad`` and the gradient of ``y`` with respect to it.

    ``y`` has one element; ``dy``, 1 by default, is a number or a Tensor that multiplies. Tensors
    come in the order in which their gradients are complete. Nothing is computed before the first
    pair is asked for; the graph stays, for as long as ``y`` does.
    """
    if not isinstance(y, Tensor):
        raise AssertionError(f"backward takes a Tensor, not {type(y).__name__}")
    if y.size() != 1:
        raise AssertionError(
            f"backward starts from a tensor of one element, not of shape {y.shape}"
        )
    return _pairs(y, 1.0 if dy is None else dy)


def _pairs(y: Tensor, dy: Any) -> Iterator[tuple[Tensor, Tensor]]:
    asked = [t for t in _delivered(y.creator) if t.core.requires_grad]
    if not asked or not y.core.requires_grad:
        return
    start = dy.values.reshape(y.core.shape) if isinstance(dy, Tensor) else None
    start = torch.full_like(y.core, float(dy)) if start is None else start
    grads = torch.autograd.grad(
        y.core, [t.core for t in asked], start, retain_graph=True, allow_unused=True
    )
    memory: set[int] = set()
    for tensor, g in zip(asked, grads, strict=True):
        if g is None:
            continue
        # what is delivered may be written to: an addition's gradients are one array at first
        g = g.clone() if g.data_ptr() in memory else g
        memory.add(g.data_ptr())
        yield tensor, Tensor(data=CTensor.of(g, tensor.device), name=_grad_name(tensor))


def _grad_name(tensor: Tensor) -> str:
    creator = tensor.creator
    return str(creator.grad_name(creator.y_id2idx.get(id(tensor), 0)))


def gradients(y: Tensor, dy: Any = None) -> dict[int, Tensor]:
    """The gradients that ``backward`` delivers, by the tensors' ids."""
    return {id(tensor): g for tensor, g in backward(y, dy)}


globals().update(NAMES)

_LAYERS = frozenset(
    "Layer Linear Conv2d SeparableConv2d BatchNorm2d Pooling2d MaxPool2d AvgPool2d MaxPool1d "
    "AvgPool1d RNN_Base RNN LSTM".split()
)


def __getattr__(name: str) -> Any:
    """The layers that are also here: they need this module first."""
    if name not in _LAYERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(".layer", __package__), name)
