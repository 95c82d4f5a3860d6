"""Views as copies: ``permute_copy`` and its kin, and pieces that may be written to."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..errors import not_true
from ..tape import duals
from ..tape.op import public
from ..tape.out import check_out, write_out
from ..tape.views import edge_of
from ..tape.wrappers import Wrapped
from ..tensor import Tensor, same_memory
from . import pieces, rearrange, views
from .cast import clone_contiguous
from .view_ops import alias


@functools.cache
def renamed(cls: Any, name: str) -> Any:
    """A node's class under another name."""
    return type(name, (cls,), {"__slots__": ()})


def _apart(made: Any, name: str, copy: Callable[[Tensor], Tensor] = clone_contiguous) -> Any:
    """New views (one, or a tuple of one node's) as tensors of their own; the node stays."""
    if isinstance(made, tuple):
        return tuple(_apart(view, name, copy) for view in made)
    if isinstance(made, Wrapped):
        return clone_contiguous(made)
    node, nr = made._edge
    separate = copy(made.detach())
    if node is not None:
        cls: Any = type(node)
        if nr == 0:
            node.__class__ = renamed(cls, name or f"{cls.__name__}_copy")
        separate._edge = (node, nr)
    duals.keep(made, separate)
    return separate


def _copy_of(view: Callable[..., Any], name: str, node: str = "") -> Any:
    def copy(self: Tensor, *args: Any, out: Any = None, **named: Any) -> Any:
        if out is not None:
            if name == "narrow_copy":
                check_out(name, (self,), out)
            return _into(copy, out, self, args, named)
        if name in _REAL_ONLY and self.requires_grad and self.is_complex():
            raise RuntimeError(
                f"{name} does not support automatic differentiation for outputs with complex dtype."
            )
        return _apart(view(self, *args, **named), node)

    copy.__name__ = copy.__qualname__ = name
    copy.__doc__ = f"`{name.removesuffix('_copy')}` as a copy instead of a view."
    return public(copy)


_REAL_ONLY = ("select_copy", "slice_copy")  # PyTorch derives them for real numbers only


def _into(copy: Any, out: Any, self: Tensor, args: Any, named: Any) -> Any:
    made = copy(self.detach(), *args, **named)
    if isinstance(out, Tensor):
        return write_out(made, out, copy.__name__)
    for part, to in zip(made, out, strict=True):
        write_out(part, to, copy.__name__)
    return None


def _as_strided(self: Tensor, *args: Any, **named: Any) -> Tensor:
    """``as_strided`` that does not mind later writes to ``self``, whose geometry it saves."""
    if isinstance(self, (Wrapped, duals.PlainDual)):
        return views.as_strided(self, *args, **named)
    own = same_memory(self)
    own._ver, own._edge = None, edge_of(self)
    return views.as_strided(own, *args, **named)


_SOURCES = {
    "alias": alias,
    "as_strided": _as_strided,
    "diagonal": views.diagonal,
    "expand": views.expand,
    "permute": views.permute,
    "select": views.select,
    "split": pieces.split,
    "split_with_sizes": pieces.split,
    "squeeze": views.squeeze,
    "t": views.t,
    "transpose": views.transpose,
    "unbind": pieces.unbind,
    "unfold": rearrange.unfold,
    "unsqueeze": views.unsqueeze,
    "view": views.view_,
}
for _name, _view in _SOURCES.items():
    globals()[f"{_name}_copy"] = _copy_of(_view, f"{_name}_copy")


def _slice(
    self: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    at = views.one_dim(self, dim)
    first, last, _ = slice(start, end).indices(self.shape[at])
    return views.slice_(self, at, first, last, step)


slice_copy = _copy_of(_slice, "slice_copy")


def _narrow(self: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """``narrow`` with the checks of ``narrow_copy``."""
    if self.ndim and dim >= self.ndim:
        raise not_true("dim < static_cast<int64_t>(self_sizes.size())")
    view = views.narrow(self, dim, start, max(length, 0))
    if length < 0:
        n, at = self.shape[dim], start.__index__()
        at += n if at < 0 else 0
        raise RuntimeError(f"start ({at}) + length ({length}) exceeds dimension size ({n}).")
    return view


narrow_copy = _copy_of(_narrow, "narrow_copy", "NarrowCopyBackward0")


def _uncounted(view: Tensor) -> Tensor:
    """The same memory, with a version counter of its own."""
    out = same_memory(view)
    out._ver = None
    return out


def _unsafe(cut: Callable[..., Any], name: str, node: str) -> Any:
    def pieces_of(self: Tensor, sizes: Any, dim: int = 0) -> tuple[Tensor, ...]:
        return _apart(cut(self, sizes, dim), node, _uncounted)

    pieces_of.__name__ = pieces_of.__qualname__ = name
    pieces_of.__doc__ = (
        f"`{name.removeprefix('unsafe_')}` whose pieces do not count as views: they may be written "
        "to, if ``self`` is not used any more."
    )
    return public(pieces_of)


unsafe_split = _unsafe(pieces.split, "unsafe_split", "UnsafeSplitBackward0")
unsafe_chunk = _unsafe(pieces.chunk, "unsafe_chunk", "UnsafeSplitBackward0")
unsafe_split_with_sizes = _unsafe(
    pieces.split_with_sizes, "unsafe_split_with_sizes", "UnsafeSplitWithSizesBackward0"
)
