"""The text of tensors: ``repr``, ``str``, ``format``, and ``set_printoptions``."""

from __future__ import annotations

import math
from typing import Any

from numpy import ndarray

from functional import dtypes
from functional.kernels.coo import SPARSE, CooArray
from functional.kernels.meta import MetaArray
from functional.modes import MODE
from functional.ops.layouts import layout_of
from functional.tape import duals, overrides, wrappers
from functional.tape.node import AccumulateGrad
from functional.tape.views import edge_of
from functional.tensor import Parameter, Tensor, device_of

from ._number_format import OPTIONS, PRECISION, texts

_PROFILES = {  # precision, threshold, edgeitems
    "default": (PRECISION, 1000, 3),
    "short": (2, 1000, 2),
    "full": (PRECISION, math.inf, 3),
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Choose how tensors print.

    ``precision`` digits after the point (4); more than ``threshold`` elements (1000) are
    summarised to ``edgeitems`` (3) at both ends of each dimension; lines are ``linewidth`` (80)
    columns; ``profile`` is ``default``, ``short`` or ``full``; ``sci_mode`` forces scientific
    notation on or off, and None leaves the choice to each tensor.
    """
    if profile in _PROFILES:
        OPTIONS.precision, OPTIONS.threshold, OPTIONS.edgeitems = _PROFILES[profile]
        OPTIONS.linewidth = 80
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems}
    given["linewidth"] = linewidth
    for name, value in given.items():
        if value is not None:
            setattr(OPTIONS, name, value)
    OPTIONS.sci_mode = sci_mode


# --- the brackets ---------------------------------------------------------------------------------


def _contents(data: Any, indent: int) -> str:
    """The numbers of an array in nested brackets."""
    array = data if isinstance(data, ndarray) else data.get()  # CuPy's way to the host
    if not array.size:
        return "[]"
    cut = [False] * array.ndim
    if array.size > OPTIONS.threshold:
        cut = [n > 2 * OPTIONS.edgeitems for n in array.shape]
        array = _edges(array, cut)
    if not array.size:  # edgeitems=0
        return "[...]"
    items, width = texts(array)
    if not array.ndim:
        return items[0]
    return _rows(items, array.shape, cut, indent, width + 2)


def _edges(array: ndarray, cut: list[bool]) -> ndarray:
    """The elements that a summary shows."""
    edge = OPTIONS.edgeitems
    for axis, long in enumerate(cut):
        if long:
            n = array.shape[axis]
            array = array.take([*range(edge), *range(n - edge, n)], axis)
    return array


def _rows(
    items: list[str], shape: tuple[int, ...], cut: list[bool], indent: int, column: int
) -> str:
    """The items of an array of this shape, row under row."""
    if len(shape) == 1:
        return _row(items, cut[0], indent, column)
    step = math.prod(shape[1:])
    parts = [
        _rows(items[i * step : (i + 1) * step], shape[1:], cut[1:], indent + 1, column)
        for i in range(shape[0])
    ]
    if cut[0]:
        parts.insert(OPTIONS.edgeitems, "...")
    between = "," + "\n" * (len(shape) - 1) + " " * (indent + 1)
    return f"[{between.join(parts)}]"


def _row(items: list[str], cut: bool, indent: int, column: int) -> str:
    if cut:
        edge = OPTIONS.edgeitems
        items = [*items[:edge], " ...", *items[edge:]]
    per_line = max(1, math.floor((OPTIONS.linewidth - indent) / column))
    lines = [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)]
    between = ",\n" + " " * (indent + 1)
    return f"[{between.join(lines)}]"


# --- what follows them ----------------------------------------------------------------------------


def _expected_dtype(d: dtypes.dtype, empty: bool) -> bool:
    """Whether the numbers themselves tell the dtype."""
    default = dtypes.get_default_dtype()
    if empty:
        return d is default
    complex_default = dtypes.complex128 if default is dtypes.float64 else dtypes.complex64
    return d in (default, complex_default, dtypes.int64, dtypes.bool_)


def _size(t: Tensor) -> str:
    return f"size={tuple(t.shape)}"


def _describe(t: Tensor, indent: int, contents: str | None) -> tuple[str, list[str]]:
    """The contents, and the notes on device, size and dtype that follow them."""
    data, notes = t._data, []
    device = device_of(data)
    if device.type != "cpu":
        notes.append(f"device='{device}'")
    if type(data) is MetaArray:
        notes.append(_size(t))
        empty, contents = True, contents or "..."
    else:
        empty = not data.size
        if (data.ndim != 1) if empty else not OPTIONS.edgeitems:
            notes.append(_size(t))
        if contents is None:
            contents = _contents(data, indent)
    if not _expected_dtype(t.dtype, empty):
        notes.append(f"dtype={t.dtype}")
    return contents, notes


def _named_parts(x: Any) -> list[tuple[str, Any]]:
    if type(x) is CooArray:
        return [("indices", x.indices), ("values", x.values)]
    outer, inner = ("crow", "col") if x.by_rows else ("ccol", "row")
    return [(f"{outer}_indices", x.starts), (f"{inner}_indices", x.inner), ("values", x.values)]


def _parts(t: Tensor, indent: int, contents: str | None) -> tuple[str, list[str]]:
    """The same of a sparse tensor: its places and elements."""
    x, texts_ = t._data, []
    for name, part in _named_parts(x):
        text = _contents(part, indent + len(f"{name}=tensor("))
        texts_.append(f"{name}=tensor({text}{'' if part.size else f', size={part.shape}'})")
    notes = [_size(t), f"nnz={x.nnz}"]
    if not _expected_dtype(t.dtype, False):
        notes.append(f"dtype={t.dtype}")
    notes.append(f"layout={layout_of(t)}")
    return contents or (",\n" + " " * indent).join(texts_), notes


def _history(t: Tensor) -> list[str]:
    node = edge_of(t)[0]
    if node is None:
        return []
    if type(node) is AccumulateGrad:
        return ["requires_grad=True"]
    return [f"grad_fn=<{type(node).__name__}>"]


def _tangent(t: Tensor) -> list[str]:
    found = duals.tangent_of(t) if duals.enabled() else None
    return [] if found is None else [f"tangent={found}"]


def _with_notes(text: str, notes: list[str], indent: int, begin: bool = False) -> str:
    """Notes go on the last line where they fit, else on lines of their own, as they ``begin``."""
    used = len(text) - text.rfind("\n") + 1
    parts = [text]
    for note in notes:
        if begin or used + len(note) + 2 > OPTIONS.linewidth:
            begin = False
            parts.append(",\n" + " " * indent + note)
            used = indent + len(note)
        else:
            parts.append(", " + note)
            used += len(note) + 2
    return "".join(parts)


def _plain_text(t: Tensor, contents: str | None) -> str:
    kind = type(t)
    exact = kind is Tensor or kind is Parameter or kind is duals.PlainDual
    prefix = "tensor(" if exact else f"{kind.__name__}("
    sparse = type(t._data) in SPARSE
    contents, notes = (_parts if sparse else _describe)(t, len(prefix), contents)
    notes += _history(t) + _tangent(t)
    begin = type(t._data) is CooArray
    text = _with_notes(prefix + contents, notes, len(prefix), begin) + ")"
    return f"Parameter({text})" if not exact and isinstance(t, Parameter) else text


def _wrapped_text(t: Any) -> str:
    """A transform's wrapper shows what it wraps."""
    batched = isinstance(t, wrappers.Batched)
    head = "BatchedTensor" if batched else "GradTrackingTensor"
    where = ", bdim=0" if batched else ""
    lines = ("    " + line if line else line for line in repr(t._data).split("\n"))
    return "\n".join([f"{head}(lvl={t._level}{where}, value=", *lines, ")"])


# --- the methods of Tensor ------------------------------------------------------------------------


def tensor_repr(self: Tensor, *, tensor_contents: str | None = None) -> str:
    """The tensor as PyTorch prints it; ``tensor_contents`` replaces the numbers."""
    if type(self) not in overrides.EXACT or MODE.functions:
        if isinstance(self, wrappers.Wrapped):
            return _wrapped_text(self)
        kwargs = {"tensor_contents": tensor_contents}
        handled, result = overrides.call(Tensor.__repr__, (self,), (self,), kwargs)
        if handled:
            return result
    return _plain_text(self, tensor_contents)


def parameter_repr(self: Parameter) -> str:
    """``Parameter containing:`` and the tensor below."""
    return "Parameter containing:\n" + tensor_repr(self)


def tensor_format(self: Tensor, format_spec: str) -> str:
    """A 0-dim tensor formats as its number; others take no format specification."""
    if type(self) not in overrides.EXACT or MODE.functions:
        handled, result = overrides.call(Tensor.__format__, (self,), (self, format_spec), {})
        if handled:
            return result
    if self.ndim or type(self._data) is MetaArray:
        return object.__format__(self, format_spec)
    if type(self) is Tensor or isinstance(self, (wrappers.Wrapped, duals.PlainDual)):
        return format(self.item(), format_spec)
    return object.__format__(self, format_spec)


def attach() -> None:
    """Give Tensor and Parameter these methods."""
    _T: Any = Tensor
    _T.__repr__, _T.__format__ = tensor_repr, tensor_format
    _P: Any = Parameter
    _P.__repr__ = parameter_repr


tensor_repr.__name__, tensor_format.__name__ = "__repr__", "__format__"
attach()
