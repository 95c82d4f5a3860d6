"""Random numbers inside transforms: refused by ``vmap``, or the same or different per example."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import errors
from ..modes import MODE
from ..tape import batching
from ..tape.levels import below, constant
from ..tape.op import TENSOR
from ..tape.wrappers import Batched, Transform, Wrapped, lowered, make
from ..tensor import Tensor

_ERROR_MODE = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
    "'different' randomness flags on vmap or perform the randomness operation out of vmap"
)
_SAME = (
    "Vmap does not currently support same randomness with a batched tensor input. Please file an "
    "issue with functorch"
)
_UNBATCHED = (
    "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear "
    "like same randomness. If this is necessary for your usage, please file an issue with "
    "functorch."
)
_OUT = (
    "vmap: We do not support calling out variants of random operations inside of vmap. Please use "
    "non-out variants as a workaround"
)
Draw = Callable[..., Any]


def vmapped(out: Any = None) -> Transform | None:
    """The innermost vmap that is being computed; RuntimeError for its mode, or an ``out=``."""
    for t in reversed(MODE.transforms):
        if t.cls is Batched:
            if out is not None:
                raise RuntimeError(_OUT)
            return t
    return None


def refuse(name: str) -> None:
    """PyTorch's error for an operation that ``vmap`` knows no rule for."""
    if vmapped() is not None:
        raise RuntimeError(f"vmap: we do not yet support aten::{name}. Please file an issue")


def _allowed(batch: Transform) -> str:
    if batch.randomness == "error":
        raise RuntimeError(_ERROR_MODE)
    return batch.randomness


def concerns(*tensors: Any, out: Any = None) -> bool:
    """Whether numbers drawn for these arguments meet a transform."""
    return vmapped(out) is not None or any(isinstance(t, Wrapped) for t in tensors)


def of_shape(draw: Draw, shape: tuple[int, ...], batch: Transform) -> Any:
    """``draw(shape)``, once or with the batch as first dimension."""
    same = _allowed(batch) == "same"
    with lowered(batch.level):
        return draw(shape) if same else make(Batched, batch.level, draw((batch.size, *shape)))


def row_by_row(draw: Callable[[], Any], batch: Transform) -> Any:
    """``draw()``, once or for each example, where a shape says nothing."""
    same = _allowed(batch) == "same"
    with lowered(batch.level):
        if same:
            return draw()
        rows = [draw() for _ in range(batch.size)]
        return make(Batched, batch.level, TENSOR.stack(rows))


def _top(tensors: Any) -> Any:
    wrapped = [t for t in tensors if isinstance(t, Wrapped)]
    return max(wrapped, key=lambda t: t._level) if wrapped else None


def _below(draw: Draw, top: Any, tensors: Any) -> Any:
    """Numbers drawn under a level that differentiates, for which they are constants."""
    cls, level = type(top), top._level
    with lowered(level):
        return constant(cls, level, draw(*[below(cls, level, t) for t in tensors]))


def of_tensors(draw: Draw, *tensors: Any) -> Any:
    """``draw(*tensors)``: elementwise, with tensors (or numbers) as parameters."""
    top, batch = _top(tensors), vmapped()
    if batch is None or (top is not None and top._level > batch.level):
        return _below(draw, top, tensors)
    flags = [type(t) is Batched and t._level == batch.level for t in tensors]
    same = _allowed(batch) == "same"
    if same and any(flags):
        raise RuntimeError(_SAME)
    with lowered(batch.level):
        if same:
            return draw(*tensors)
        return make(Batched, batch.level, draw(*_aligned(tensors, flags, batch.size)))


def _aligned(tensors: Any, flags: list[bool], size: int) -> list[Any]:
    """Tensors with the batch first: one that has none gets it if no other has."""
    rank = max(t.ndim for t in tensors if isinstance(t, Tensor))
    found = [
        batching.aligned(t._data, t.ndim, rank) if flag else t
        for t, flag in zip(tensors, flags, strict=True)
    ]
    if not any(flags):
        at = next(i for i, t in enumerate(found) if isinstance(t, Tensor))
        t = found[at]
        lead = (1,) * (rank - t.ndim)
        found[at] = TENSOR.expand(TENSOR.reshape(t, (*lead, *t.shape)), (size, *lead, *t.shape))
    return found


def like(draw: Draw, input: Any) -> Any:
    """``draw(input)``, which looks at the shape of ``input`` only."""
    batch = vmapped()
    if batch is None or (isinstance(input, Wrapped) and input._level > batch.level):
        return _below(draw, input, (input,))
    same = _allowed(batch) == "same"
    batched = isinstance(input, Batched)
    with lowered(batch.level):
        if same:
            return draw(input._data[0] if batched else input)
        full = input._data if batched else TENSOR.expand(input, (batch.size, *input.shape))
        return make(Batched, batch.level, draw(full))


def in_place(draw: Draw, self: Any, *others: Any, name: str = "arithmetic") -> Any:
    """``draw(self, *others)``, which writes over ``self``; ``others`` are parameters."""
    top, batch = _top((self, *others)), vmapped()
    if batch is None or (top is not None and top._level > batch.level):
        cls, level = type(top), top._level
        with lowered(level):
            target, *rest = (below(cls, level, t) for t in (self, *others))
            value = draw(TENSOR.empty_like(target), *rest)
        return self.copy_(value)
    own, *flags = (type(t) is Batched and t._level == batch.level for t in (self, *others))
    same = _allowed(batch) == "same"
    if same and any(flags):
        raise RuntimeError(_SAME)
    if any(flags) and not own:
        raise RuntimeError(errors.VMAP_INPLACE.format(name))
    if not own and not same:
        raise RuntimeError(_UNBATCHED)
    with lowered(batch.level):
        if not own:
            return draw(self, *others)
        row = self._data if not same else self._data[0]
        values = _aligned((self, *others), [own, *flags], batch.size)[1:] if not same else others
        value = draw(TENSOR.empty_like(row), *values)
    return self.copy_(value if same else make(Batched, batch.level, value))
