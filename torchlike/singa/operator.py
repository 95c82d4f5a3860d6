"""Operators: what is called on Tensors, recorded, and run backwards on raw tensors."""

from __future__ import annotations

import copy
import itertools
import weakref
from typing import Any, ClassVar

import torchlike as torch

from .singa_wrap import Tensor as CTensor
from .tensor import Tensor

# (its creator, its id, itself if its gradient is wanted, whether that is so) of an operand
Source = tuple[Any, int, Any, bool]


class Operator:
    """Base of operations: ``forward`` and ``backward`` on raw tensors.

    A call gives a tuple of Tensors whose ``creator`` is this object, and keeps in ``src`` who made
    the operands. An object serves one call; later calls are those of copies. ``backward`` gets one
    raw gradient per result and returns one per operand (None where there is none).
    """

    op_count: ClassVar[int] = 0
    _numbers: ClassVar[Any]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._numbers = itertools.count()

    def __init__(self, name: str | None = None) -> None:
        self._named = name
        self._number()

    def _number(self) -> None:
        if "name" not in self.__dict__:
            given = self.__dict__.get("_named")
            self.name = given or f"{type(self).__name__}#{next(type(self)._numbers)}"

    def __call__(self, *xs: Tensor) -> tuple[Tensor, ...]:
        return self._do_forward(*xs)

    def _do_forward(self, *xs: Tensor) -> tuple[Tensor, ...]:
        if "src" in self.__dict__:
            return self._again()._do_forward(*xs)
        self._number()  # a subclass may not have called our __init__
        for x in xs:
            if not isinstance(x, Tensor):
                raise AssertionError(f"{type(self).__name__} takes Tensors, not {type(x).__name__}")
        self.requires_grad = any(x.requires_grad for x in xs)
        self.src: list[Source] = [
            (x.creator, id(x), x if x.stores_grad else None, x.stores_grad) for x in xs
        ]
        device = xs[0].device if xs else None
        with torch.set_grad_enabled(self.requires_grad):
            made = self._record([x.operand() for x in xs])
        ys = tuple(
            Tensor(data=CTensor.of(y, device), requires_grad=self.requires_grad, creator=self,
                   name=self.output_name(i))
            for i, y in enumerate(made)
        )  # fmt: skip
        for tensor, y in zip(ys, made, strict=True):
            tensor.core = y
        self.y_id2idx = {id(y): i for i, y in enumerate(ys)}
        return ys

    def _again(self) -> Operator:
        """A copy for another call, as the first call's results refer to this one's state."""
        other = copy.copy(self)
        for attribute in ("src", "y_id2idx", "name"):
            other.__dict__.pop(attribute, None)
        return other

    def _record(self, operands: list[Any]) -> tuple[Any, ...]:
        """The results on our tape; here through the user's own ``forward`` and ``backward``."""
        found = _Raw.apply(self, *operands)
        return found if isinstance(found, tuple) else (found,)

    def _do_backward(self, *dys: CTensor) -> tuple[Any, ...]:
        dxs = self.backward(*dys)
        dxs = dxs if isinstance(dxs, tuple) else (dxs,)
        if len(dxs) != len(self.src):
            raise AssertionError(
                f"{self.name}: backward returned {len(dxs)} gradients for {len(self.src)} operands"
            )
        return dxs

    def forward(self, *xs: CTensor) -> Any:
        """Raw results of raw operands: one, or a tuple."""
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def backward(self, *dys: CTensor) -> Any:
        """Raw gradients of the operands from those of the results: one, or a tuple."""
        raise NotImplementedError(f"{type(self).__name__} has no backward")

    def output_name(self, idx: int) -> str:
        """The name of a result."""
        return f"{self.name}:{idx}"

    def grad_name(self, idx: int) -> str:
        """The name of a result's gradient."""
        return f"{self.name}:{idx}_g"

    def get_params(self) -> list[Any]:
        """An operator has no parameters."""
        return []


Operation = Operator
Operator._numbers = itertools.count()


class Dummy(Operator):
    """The creator of a tensor that no operator made; other attributes are the tensor's."""

    def __init__(self, tensor: Tensor, name: str | None = None) -> None:
        super().__init__(name)
        # weakly, as the tensor holds its creator: neither then waits for the garbage collector
        self._tensor = weakref.ref(tensor)
        self.src, self.y_id2idx, self.requires_grad = [], {id(tensor): 0}, False

    @property
    def tensor(self) -> Tensor | None:
        """The tensor, while it lives."""
        return self._tensor()

    def output_name(self, idx: int) -> str:
        return self.name

    def grad_name(self, idx: int) -> str:
        return f"{self.name}_g"

    def __getattr__(self, name: str) -> Any:
        tensor = self.__dict__["_tensor"]() if "_tensor" in self.__dict__ else None
        if tensor is None or name.startswith("__"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return getattr(tensor, name)


class _Raw(torch.autograd.Function):
    """A user's operator as one node of the tape."""

    @staticmethod
    def forward(ctx: Any, op: Operator, *operands: Any) -> Any:
        ctx.op = op
        ctx.set_materialize_grads(True)
        raw = [CTensor.of(x.detach()) for x in operands]
        found = op.forward(*raw)
        many = isinstance(found, tuple)
        cores = [_result(op, y) for y in (found if many else (found,))]
        # a result in the memory of an operand would count as the operand itself
        cores = [y.clone() if any(y is x.core for x in raw) else y for y in cores]
        return tuple(cores) if many else cores[0]

    @staticmethod
    def backward(ctx: Any, *dys: Any) -> Any:
        dxs = ctx.op._do_backward(*(CTensor.of(dy.detach().clone()) for dy in dys))
        return (None, *(None if dx is None else _result(ctx.op, dx) for dx in dxs))


def _result(op: Operator, found: Any) -> Any:
    if not isinstance(found, CTensor):
        kind = type(found).__name__
        raise TypeError(f"{op.name}: forward and backward return raw tensors, not {kind}")
    return found.core


class Recorded(Operator):
    """An operator made of our own operations: ``compute`` takes and returns our tensors.

    Its ``forward`` and ``backward`` on raw tensors come from that.
    """

    def compute(self, *xs: Any) -> Any:
        """The result, or a tuple of results."""
        raise NotImplementedError

    def _record(self, operands: list[Any]) -> tuple[Any, ...]:
        found = self.compute(*operands)
        self._operands = operands
        # an operand given back as it is becomes a result of its own
        ys = found if isinstance(found, tuple) else (found,)
        self._results = tuple(y.view_as(y) if any(y is x for x in operands) else y for y in ys)
        return self._results

    def forward(self, *xs: CTensor) -> Any:
        self._record([_leaf(x.core) for x in xs])
        ys = tuple(CTensor.of(y.detach()) for y in self._results)
        return ys if len(ys) > 1 else ys[0]

    def backward(self, *dys: Any) -> Any:
        operands, results = self._operands, self._results
        if not any(y.requires_grad for y in results) or any(_unrecorded(x) for x in operands):
            operands = [_leaf(x) for x in operands]
            with torch.enable_grad():
                found = self.compute(*operands)
            results = found if isinstance(found, tuple) else (found,)
        dxs = self._gradients(operands, results, dys)
        return dxs if len(dxs) != 1 else dxs[0]

    def _gradients(self, operands: Any, results: Any, dys: Any) -> tuple[Any, ...]:
        wanted = [x for x in operands if x.requires_grad]
        pairs = [(y, _start(y, dy)) for y, dy in zip(results, dys, strict=True) if y.requires_grad]
        if not pairs:
            return tuple(None for _ in operands)
        found = iter(
            torch.autograd.grad(
                [y for y, _ in pairs], wanted, [dy for _, dy in pairs], retain_graph=True,
                allow_unused=True,
            )
        )  # fmt: skip
        dxs = [next(found) if x.requires_grad else None for x in operands]
        return tuple(None if dx is None else CTensor.of(dx) for dx in dxs)


def _unrecorded(x: Any) -> bool:
    return x.is_floating_point() and not x.requires_grad


def _leaf(x: Any) -> Any:
    return x.detach().requires_grad_(x.is_floating_point())


def _start(y: Any, dy: Any) -> Any:
    """A gradient to start from: a raw tensor's, or a number's for every element."""
    if isinstance(dy, CTensor):
        return dy.core.to(y.dtype).reshape(y.shape)
    return torch.full_like(y, float(dy))


def training() -> bool:
    """``autograd.training``, as it is now."""
    from . import autograd

    return autograd.training
