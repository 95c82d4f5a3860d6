"""Results where nothing special is among the operands: the general path's short ways.

How an operation treats operands of certain dtypes is looked up once and remembered with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import asarray, ndarray, ufunc

from .. import dtypes
from ..dtypes import DEFAULT, F32, F64
from ..kernels import layout
from ..kernels.threads import LONG, SHARED
from ..modes import MODE, PLAIN
from ..tensor import NO_EDGE, ODD, Tensor, new
from .node import next_seq
from .op import Op
from .views import edge_of


def of_views(op: Op, args: tuple[Any, ...]) -> Tensor | None:
    """An elementwise operation on float32 or float64 tensors of any layout, views among them, and
    on numbers, as the hot closures run it; None for anything else.
    """
    arrays, dt, in_order = list(args), None, True
    count, numbers = len(op.inputs), op.result == "numbers"
    for i, a in enumerate(args):
        kind = type(a)
        if kind in PLAIN:
            arrays[i] = x = a._data
            if type(x) is not ndarray:
                return None
            if x.dtype is not dt:
                if dt is not None or (x.dtype is not F32 and x.dtype is not F64):
                    return None
                dt = x.dtype
            in_order = in_order and x.flags.c_contiguous
        elif not i or ((i < count or numbers) and kind is not float and kind is not int):
            return None
    if op.check is not None:
        op.check(*args)
    operands = None if in_order else [x for x in arrays if type(x) is ndarray]
    writes = len(args) == 2 == count and type(arrays[1]) is ndarray and op.result != "bool"
    z = _run(op, arrays, operands, dt, writes and type(op.kernel) is ufunc)
    if z is None:
        return None
    t = new(Tensor)
    t._data = z
    t._place = None if z.flags.c_contiguous else ODD
    t._edge = NO_EDGE
    t._ver = t._grad = None
    if MODE.grad and op.node is not None:
        attach(op, args, [t])
    return t


def attach(op: Op, args: tuple[Any, ...], outs: list[Tensor], flags: Any = None) -> None:
    """Put a node of ``op`` behind its results if an input, a plain tensor, needs a gradient."""
    flows, edges = False, []
    # without the frames of edge_inputs and, for most, of edge_of: a microsecond of five
    for a in args[0] if op.sequence else [args[i] for i in op.edge_at]:
        edge = NO_EDGE
        if type(a) in PLAIN:
            place = a._place
            known = place is None or place.base is None or place.version == a._ver[0]
            edge = a._edge if known else edge_of(a)
            flows = flows or edge is not NO_EDGE
        edges.append(edge)
    if not flows:
        return
    first = outs[0]._data
    n = new(op.node)
    n.next_functions = found = tuple(edges)
    n.shape = first.shape if len(outs) == 1 else [t._data.shape for t in outs]
    n.dtype = first.dtype
    n.seq = next_seq()
    n.extra = None
    for nr, t in enumerate(outs):
        if flags is None or flags[nr]:
            t._edge = (n, nr)
    n.saved = op.save(args, found, outs) if op.plan else ()


def uniform_array(op: Op, args: tuple[Any, ...]) -> Any:
    """The array of an elementwise operation on tensors of the commonest dtypes and on numbers.

    The layouts are any; None for anything else.
    """
    arrays: list[Any] = []
    kinds: list[Any] = [DEFAULT.dtype]
    in_order = True  # is everything C-contiguous?
    for a in args:
        kind = type(a)
        if kind in PLAIN:
            x = a._data
            if type(x) is not ndarray:
                return None
            in_order = in_order and x.flags.c_contiguous
            kinds.append(x.dtype if x.ndim else (x.dtype,))
            arrays.append(x)
        else:
            kinds.append(kind)
            arrays.append(a)
    key = tuple(kinds)
    plan = op.plans[key] if key in op.plans else _planned(op, key)
    return None if plan is None else _computed(op, args, arrays, plan, in_order)


def _computed(op: Op, args: Any, arrays: list[Any], plan: Any, in_order: bool) -> Any:
    """``op`` of ``arrays``, which become operands of one dtype; None where a number is too large.

    Without ``in_order`` the result is laid out as PyTorch would.
    """
    if op.check is not None:
        op.check(*args)
    dt, low, high, convert, numbers, writes = plan
    for i in numbers:
        if not low <= arrays[i] <= high:
            return None
    for i in convert:
        x = arrays[i]
        arrays[i] = x.astype(dt) if type(x) is ndarray else float(x)
    operands = None if in_order else [a._data for a in args if isinstance(a, Tensor)]
    return _run(op, arrays, operands, dt, writes)


def _run(op: Op, arrays: list[Any], operands: list[Any] | None, dt: Any, writes: bool) -> Any:
    """``op`` of arrays of dtype ``dt``; None where the kernel refuses or gives another dtype.

    The result is laid out as PyTorch lays out that of ``operands``; None: all are C-contiguous.
    ``writes``: the kernel is a ufunc of two arrays, which writes where it is told to.
    """
    size, shape = arrays[0].size, arrays[0].shape
    kernel = op.kernel if size <= SHARED else op.many
    if operands is not None and writes and size > LONG and shape == arrays[1].shape:
        strides = layout.result_strides(shape, operands, dt.itemsize)
        arrays, operands = [*arrays, layout.empty(shape, strides, dt)], None
    try:
        z = kernel(*arrays)
    except LEAVE:
        return None
    if type(z) is not ndarray:
        z = asarray(z)
    if z.dtype is not dt and op.result != "bool":
        return None
    if operands is not None:
        strides = layout.result_strides(z.shape, [] if op.contiguous else operands, z.itemsize)
        z = layout.with_strides(z, strides)
    return z


_LIMITS = {
    d.array: (int(np.iinfo(d.array).min), int(np.iinfo(d.array).max))
    for d in (dtypes.int64, dtypes.int32, dtypes.uint8)
}
_EXACT = 1 << 53  # whole numbers up to here are floats as well
_WHOLE = {*_LIMITS, dtypes.bool_.array}
_NUMBERS: dict[Any, Any] = {int: 0, float: 0.0}
LEAVE = (ValueError, TypeError, OverflowError, RuntimeWarning, FloatingPointError)


def _planned(op: Op, key: tuple[Any, ...]) -> Any:
    """How ``uniform_array`` computes operands of these kinds, remembered; None: not at all.

    The result is the dtype, its limits for numbers, which arguments to convert to it, which
    numbers have to lie in the limits, and whether the kernel writes where it is told to.
    """
    if len(op.plans) > 256:
        op.plans.clear()
    plan = op.plans[key] = _plan(op, key[1:])
    return plan


def _plan(op: Op, kinds: tuple[Any, ...]) -> Any:
    count = len(op.inputs)
    if len(kinds) < count or not isinstance(kinds[0], (np.dtype, tuple)):
        return None
    operands: list[Any] = []
    for i, kind in enumerate(kinds):
        fixed = op.inputs[i] in op.fixed if i < count else op.result != "numbers"
        if isinstance(kind, (np.dtype, tuple)):
            array = kind[0] if isinstance(kind, tuple) else kind
            if i >= count or array not in dtypes.FROM_ARRAY:
                return None
            found: Any = (dtypes.FROM_ARRAY[array], isinstance(kind, np.dtype))
        elif kind in _NUMBERS:
            found = _NUMBERS[kind]
        elif i >= count and (op.result != "numbers" or kind in (str, type(None))):
            continue  # a setting
        else:
            return None
        if not fixed:
            operands.append(found)
    return _plan_for(op, kinds, operands)


def _plan_for(op: Op, kinds: tuple[Any, ...], operands: list[Any]) -> Any:
    try:
        d = dtypes.result_type(operands)
    except (RuntimeError, NotImplementedError):
        return None
    if op.result == "float" and d.category < dtypes.FLOAT:
        d = dtypes.get_default_dtype()
    if any(d.category in refused for refused, _, _ in op.refused):
        return None
    dt, count = d.array, len(op.inputs)
    own = [i for i in range(count) if op.inputs[i] not in op.fixed]
    writes = len(kinds) == 2 == count and not any(kind in _NUMBERS for kind in kinds)
    writes = writes and _writes(op.kernel, dt)
    if dt is F32 or dt is F64:
        whole = [i for i in own if kinds[i] is int]
        convert = [i for i in own if kinds[i] not in (dt, (dt,), float)]
        return dt, -_EXACT, _EXACT, convert, whole, writes
    if dt not in _WHOLE:
        return None
    low, high = _LIMITS.get(dt, (1, 0))  # numbers are never booleans
    convert = [i for i in own if kinds[i] not in (dt, (dt,), int)]
    at = own if op.result != "numbers" else range(len(kinds))
    return dt, low, high, convert, [i for i in at if kinds[i] is int], writes


def _writes(kernel: Any, dt: Any) -> bool:
    """Whether it is a ufunc of two operands whose results are of their dtype."""
    if type(kernel) is not ufunc or kernel.nin != 2:
        return False
    try:
        return bool(kernel.resolve_dtypes((dt, dt, None))[-1] == dt)
    except TypeError:
        return False


def _holds_tensors(value: Any) -> bool:
    if type(value) in (list, tuple) and value:
        value = value[0]
    return isinstance(value, Tensor)


def plain(op: Op, args: tuple[Any, ...]) -> Any:
    """Any other operation on NumPy arrays of the commonest dtypes; None where it is not that."""
    if op.sequence:
        return None
    arrays = list(args)
    first: Any = None
    for i, a in enumerate(args):
        kind = type(a)
        if kind in PLAIN:
            x = a._data
            if type(x) is not ndarray:
                return None
            arrays[i] = x
            first = x if first is None else first
        elif _holds_tensors(a) or (a is not None and i < len(op.inputs)):
            return None
    if first is None or not (first.dtype is F32 or first.dtype is F64 or first.dtype in _WHOLE):
        return None
    if op.check is not None:
        op.check(*args)
    if op.refused:
        refuse(op, dtypes.FROM_ARRAY[first.dtype])
    try:
        return op.kernel(*arrays)
    except LEAVE:
        return None


def refuse(op: Op, d: dtypes.dtype) -> None:
    """PyTorch's error for a dtype that it has no kernel for."""
    for kinds, error, text in op.refused:
        if d.category in kinds:
            raise error(text.format(d.legacy))
