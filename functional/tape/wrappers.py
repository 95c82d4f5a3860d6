"""Wrappers of tensors at the levels of transforms, and the transforms that are being computed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, NamedTuple

from .. import devices, dtypes
from ..kernels.coo import SPARSE
from ..modes import MODE
from ..size import Size
from ..tensor import NO_EDGE, Tensor, new
from .node import Node, new_node
from .op import TENSOR


class Wrapped(Tensor):
    """A tensor of one transform level over a tensor of the level below."""

    __slots__ = ("_level",)
    _level: float

    @property
    def shape(self) -> Size:
        return self._data.shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> dtypes.dtype:
        return self._data.dtype

    @property
    def device(self) -> devices.device:
        return self._data.device

    def detach_level(self) -> Any:
        """This level's history dropped; lower levels keep theirs."""
        return given(type(self), self._level, self._data)


class Batched(Wrapped):
    """A batch of tensors that the program sees as one: the first dimension is hidden."""

    __slots__ = ()

    @property
    def shape(self) -> Size:
        return self._data.shape[1:]


class Dual(Wrapped):
    """A value and its tangent (None: zero)."""

    __slots__ = ("tangent",)
    tangent: Any


class Taped(Wrapped):
    """A value recorded on the tape of its level."""

    __slots__ = ()


class LevelLeaf(Node):
    """Where gradients of one level arrive."""

    __slots__ = ()

    def apply(self, F: Any, g: Any, raw: bool) -> Any:
        return ()


def make(cls: Any, level: float, value: Any) -> Any:
    """A wrapper without history."""
    t: Any = new(cls)
    t._data, t._level = value, level
    t._edge = NO_EDGE
    t._place = t._ver = t._grad = None
    if cls is Dual:
        t.tangent = None
    return t


def given(cls: Any, level: float, value: Any) -> Any:
    """A wrapper of a tensor that others know: writes to it go there."""
    t = make(cls, level, value)
    t.__dict__["given"] = True
    return t


def entered(level: float, value: Tensor, dim: int) -> Batched:
    """A batch whose dimension is ``dim``."""
    moved = dim % max(value.ndim, 1)
    return given(Batched, level, TENSOR.movedim(value, dim, 0) if moved else value)


def tape_leaf(level: float, value: Tensor) -> Taped:
    """A Taped tensor whose gradient will be asked for."""
    t = given(Taped, level, value)
    shape, dtype = tuple(value.shape), value.dtype.array
    t._edge = (new_node(LevelLeaf, (), (), shape, dtype), 0)
    return t


class Transform(NamedTuple):
    """A transform that is being computed; ``size`` and ``randomness`` are those of a vmap."""

    level: int
    cls: type[Wrapped]
    size: int = 0
    randomness: str = "error"


@contextlib.contextmanager
def new_level(
    cls: type[Wrapped] | None = None, size: int = 0, randomness: str = "error"
) -> Iterator[int]:
    """Enter one more transform level; of class None: one that new tensors do not belong to."""
    before = MODE.transforms
    MODE.level += 1
    if cls is not None:
        MODE.transforms = (*before, Transform(MODE.level, cls, size, randomness))
    try:
        yield MODE.level
    finally:
        MODE.level -= 1
        MODE.transforms = before


@contextlib.contextmanager
def lowered(level: float) -> Iterator[None]:
    """Compute below a level: only the transforms further out are met."""
    before = MODE.transforms
    MODE.transforms = tuple([t for t in before if t.level < level])
    try:
        yield
    finally:
        MODE.transforms = before


def born(t: Any) -> Any:
    """A tensor made just now, as one of the transforms around: it may be written to there."""
    if t.dtype.category < dtypes.FLOAT or t._data.__class__ in SPARSE:
        return t
    for transform in MODE.transforms:
        own = t._level if isinstance(t, Wrapped) else 0
        if transform.cls is not Batched and own < transform.level:
            t = make(transform.cls, transform.level, t)
    return t


def refuse_graph(outputs: list[Any]) -> None:
    """A level's tape serves one backward pass: that pass is not recorded on it again."""
    for t in outputs:
        while isinstance(t, Wrapped):
            if type(t) is Taped and t._edge is not NO_EDGE:
                raise NotImplementedError(
                    "torch.autograd.grad(create_graph=True) of what a transform around it "
                    "differentiates: use torch.func.grad or vjp there"
                )
            t = t._data


def is_batched(t: Any) -> bool:
    """Whether a tensor is a batch at any level."""
    while isinstance(t, Wrapped):
        if type(t) is Batched:
            return True
        t = t._data
    return False
