"""The hot closures: one Python frame per recorded operation.

Each closure built here *is* the public function (and the Tensor method). Its body is, in order:
plain types or leave; arrays; dtypes identical or leave; kernel; result; node. Everything else is
in slow.py. See "The hot path" in docs/design.md before changing a line: each costs every
operation of every program.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from numpy import asarray, ndarray

from ..dtypes import F32, F64
from ..kernels.threads import SHARED
from ..modes import MODE, PLAIN
from ..tensor import NO_EDGE, ODD, Place, Tensor, new, wrap
from .node import next_seq
from .op import Op
from .operands import TENSORS, check_operands, factor, first_operand, is_number, not_a_tensor
from .quick import LEAVE, attach, of_views
from .slow import slow, uniform
from .views import as_views, edge_of

# NumPy's floating-point warnings never reach users: they are attributed to these modules.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"(functional|torchlike)\.")
ONE = 1  # alpha, if nobody gives another; True and 1.0 are others


def unary_closure(op: Op) -> Callable[..., Tensor]:
    """``op(input, *, out=None)`` for an elementwise operation of one tensor."""
    kernel, many, node = op.kernel, op.many, op.node
    keep_self, keep_result = "self" in op.saved_names, "result" in op.saved_names

    def unary(input: Any, *, out: Any = None) -> Tensor:
        if type(input) in PLAIN and input._place is None and out is None:
            x = input._data
            dt = x.dtype
            if dt is F32 or dt is F64:
                try:
                    z = kernel(x) if x.size <= SHARED else many(x)
                except LEAVE:
                    return slow(op, (input,))
                if type(z) is not ndarray:
                    z = asarray(z)
                t = new(Tensor)
                t._data = z
                t._place = t._ver = t._grad = None
                edge = input._edge
                if edge is NO_EDGE or not MODE.grad or node is None:
                    t._edge = NO_EDGE
                    return t
                n = new(node)
                n.next_functions = (edge,)
                if keep_result:
                    t._ver = v = [0]
                    n.saved = ((z, v, 0),)
                    if keep_self:
                        v = input._ver
                        n.saved = ((input, 0 if v is None else v[0]), n.saved[0])
                elif keep_self:
                    v = input._ver
                    n.saved = ((input, 0 if v is None else v[0]),)
                else:
                    n.saved = ()
                n.shape = z.shape
                n.dtype = z.dtype
                n.seq = next_seq()
                n.extra = None
                t._edge = (n, 0)
                return t
        return slow(op, (input,), out)

    return _named(unary, op)


def _readers(op: Op) -> tuple[tuple[bool, bool], tuple[bool, bool]]:
    """For the rule of each operand, whether it asks for the first and for the second operand."""
    first, second = op.asked if op.node else ((), ())
    return ("self" in first, "other" in first), ("self" in second, "other" in second)


def binary_closure(op: Op, dunder: str = "") -> Callable[..., Tensor]:
    """``op(input, other, *, alpha=1, out=None)`` for an elementwise operation of two operands.

    ``dunder``: as the method of this name.
    """
    kernel, many, node = op.kernel, op.many, op.node
    (self_for_self, other_for_self), (self_for_other, other_for_other) = _readers(op)
    keep_self, keep_other, keep_result = (n in op.saved_names for n in ("self", "other", "result"))
    leave: Any = partial(slow_operator, dunder) if dunder else slow_binary
    numbers = op.number is None and (bool(dunder) or op.name not in TENSORS)

    def binary(input: Any, other: Any, *, alpha: Any = 1, out: Any = None) -> Tensor:
        if (
            type(input) not in PLAIN
            or input._place is not None
            or out is not None
            or alpha is not ONE
        ):
            return leave(op, input, other, out, alpha)
        x = input._data
        dt = x.dtype
        if dt is not F32 and dt is not F64:
            return leave(op, input, other, out)
        kind = type(other)
        if kind in PLAIN:
            y, other_edge = other._data, other._edge
            if other._place is not None or y.dtype is not dt:
                return leave(op, input, other, out)
        elif numbers and (kind is float or kind is int):
            y, other_edge = other, NO_EDGE
        else:
            return leave(op, input, other, out)
        try:
            z = kernel(x, y) if x.size <= SHARED else many(x, y)
        except LEAVE:
            return leave(op, input, other, out)
        if type(z) is not ndarray:
            z = asarray(z)
        t = new(Tensor)
        t._data = z
        t._place = t._ver = t._grad = None
        t._edge = NO_EDGE
        edge = input._edge
        flows, other_flows = edge is not NO_EDGE, other_edge is not NO_EDGE
        if not (flows or other_flows) or not MODE.grad or node is None:
            return t
        n = new(node)
        n.next_functions = (edge, other_edge)
        saved: Any = ()
        if keep_self:
            v = input._ver
            wanted = (flows and self_for_self) or (other_flows and self_for_other)
            saved = ((input, 0 if v is None else v[0]) if wanted else None,)
        if keep_other:
            entry = other if y is other else None
            if y is not other and ((flows and other_for_self) or (other_flows and other_for_other)):
                v = other._ver
                entry = (other, 0 if v is None else v[0])
            saved = (*saved, entry)
        if keep_result:
            t._ver = v = [0]
            saved = (*saved, (z, v, 0))
        n.saved = saved
        n.shape, n.dtype = z.shape, z.dtype
        n.seq, n.extra = next_seq(), None
        t._edge = (n, 0)
        return t

    return _named(binary, op)


def _short_way(op: Op, self: Any, other: Any, out: Any, alpha: Any) -> Tensor | None:
    """Views, whole numbers and mixed dtypes, with nothing to refuse; None for anything else."""
    if out is not None or type(alpha) is not int or alpha != 1 or other is None:
        return None
    form = op
    if op.number is not None and type(other) not in PLAIN:
        if isinstance(other, Tensor):
            return None
        form = op.number
    found = of_views(form, (self, other))
    return uniform(form, (self, other)) if found is None else found


def slow_binary(op: Op, self: Any, other: Any, out: Any = None, alpha: Any = 1) -> Any:
    """A function call's general path: arguments that are not operands raise."""
    name = op.title or op.name
    if type(self) not in PLAIN or (name in TENSORS and type(other) not in PLAIN):
        check_operands(name, self, other)
        self = first_operand(name, self, other)
    found = _short_way(op, self, other, out, alpha)
    if found is not None:
        return found
    check_operands(name, self, other)
    return _scaled(op, self, other, out, alpha)


def _scaled(op: Op, self: Any, other: Any, out: Any, alpha: Any) -> Any:
    """``self op alpha · other``, for the two operations that take ``alpha``."""
    if type(alpha) is int and alpha == 1:
        if op.number is not None and isinstance(self, Tensor) and not isinstance(other, Tensor):
            op = op.number
        return slow(op, (self, other), out)
    if op.scaled is None:
        raise TypeError(f"{op.name}() got an unexpected keyword argument 'alpha'")
    return slow(op.scaled, (self, other, factor(op.name, "alpha", alpha)), out)


def slow_operator(
    dunder: str, op: Op, self: Any, other: Any, out: Any = None, alpha: Any = 1
) -> Any:
    """An operator's general path: Python tries the other operand next."""
    if not isinstance(self, Tensor) and dunder != "__floordiv__":  # called by its name
        raise not_a_tensor(dunder, self)
    found = _short_way(op, self, other, out, alpha)
    if found is not None:
        return found
    if type(other) is ndarray and op.name.startswith("eq"):  # the one that takes arrays
        other = wrap(other)
    if not isinstance(other, Tensor) and not is_number(other):
        if type(other) in (str, list, tuple, dict, ndarray) or other is None:
            return NotImplemented
        if not hasattr(type(other), "__torch_function__"):
            return NotImplemented
    return _scaled(op, self, other, out, alpha)


def general_closure(op: Op) -> Callable[..., Any]:
    """``op(inputs..., statics...)`` for any other operation; its inputs may be views."""
    if op.sequence:
        return _sequence_closure(op)
    kernel, node, edge_at = op.kernel, op.node, op.edge_at
    flags, inputs = op.differentiable, range(len(op.inputs))
    odd = "fiubcV" if op.strict else "f"  # kinds of another dtype that the general path sees to

    def general(*args: Any) -> Any:
        arrays = list(args)
        dt = None
        for i in inputs:
            a = arrays[i]
            if a is None:
                continue
            if type(a) not in PLAIN:
                return slow(op, args)
            arrays[i] = x = a._data
            if type(x) is not ndarray:
                return slow(op, args)
            if dt is None:
                dt = x.dtype
                if dt is not F32 and dt is not F64:
                    return slow(op, args)
            elif x.dtype is not dt and x.dtype.kind in odd:
                return slow(op, args)
        try:
            z = kernel(*arrays)
        except LEAVE:
            return slow(op, args)
        if type(z) is tuple:
            outs = [wrap(part) for part in z]
        else:
            outs = [t := new(Tensor)]
            t._data = z = z if type(z) is ndarray else asarray(z)
            t._place = None if z.flags.c_contiguous else ODD
            t._edge = NO_EDGE
            t._ver = t._grad = None
        if node is not None and MODE.grad:
            for i in edge_at:
                a = args[i]
                if a is not None and (a._edge is not NO_EDGE or a._place is not None):
                    attach(op, args, outs, flags)
                    break
        return tuple(outs) if type(z) is tuple else outs[0]

    return _named(general, op)


def _sequence_closure(op: Op) -> Callable[..., Any]:
    """``op(tensors, statics...)`` for an operation of any number of tensors."""
    kernel = op.kernel

    def sequence(*args: Any) -> Any:
        arrays: list[Any] = []
        dt = None
        for a in args[0]:
            if type(a) not in PLAIN or type(a._data) is not ndarray:
                return slow(op, args)
            x = a._data
            if dt is not x.dtype:
                if dt is not None:
                    return slow(op, args)
                dt = x.dtype
            arrays.append(x)
        try:
            t = wrap(kernel(arrays, *args[1:]))
        except LEAVE:
            return slow(op, args)
        if MODE.grad:
            for a in args[0]:
                if a._edge is not NO_EDGE or a._place is not None:
                    attach(op, args, [t])
                    break
        return t

    return _named(sequence, op)


def general_elementwise(op: Op) -> Callable[..., Any]:
    """An elementwise operation of one tensor with static arguments, or of several operands."""
    if len(op.inputs) != 1:
        return _named(lambda *args: slow(op, args), op)
    kernel, node, asked = op.kernel, op.node, op.saved_names

    def with_statics(self: Any, *statics: Any) -> Any:
        if type(self) not in PLAIN or self._place is not None:
            return slow(op, (self, *statics))
        x = self._data
        dt = x.dtype
        if dt is not F32 and dt is not F64:
            return slow(op, (self, *statics))
        try:
            z = kernel(x, *statics)
        except LEAVE:
            return slow(op, (self, *statics))
        if type(z) is not ndarray:
            z = asarray(z)
        if z.dtype is not dt:
            return slow(op, (self, *statics))
        t = new(Tensor)
        t._data = z
        t._place = t._ver = t._grad = None
        edge = self._edge
        if edge is NO_EDGE or not MODE.grad or node is None:
            t._edge = NO_EDGE
            return t
        n = new(node)
        n.next_functions = edges = (edge,)
        n.shape = z.shape
        n.dtype = dt
        n.seq = next_seq()
        n.extra = None
        t._edge = (n, 0)
        n.saved = op.save((self, *statics), edges, [t]) if asked else ()
        return t

    return _named(with_statics, op)


def view_closure(op: Op) -> Callable[..., Any]:
    """``op(self, *statics)`` for an operation whose result shares its input's memory."""
    kernel, node = op.kernel, op.node

    def view(self: Any, *statics: Any) -> Any:
        if type(self) not in PLAIN or type(self._data) is not ndarray:
            return slow(op, (self, *statics))
        z = kernel(self._data, *statics)
        if type(z) is not ndarray:
            several = as_views(z, self, "multi")
            if MODE.grad:
                attach(op, (self, *statics), several)
            return several
        parent = self._place
        ver = self._ver
        if ver is None:
            ver = self._ver = [0]
        place = new(Place)
        place.version = ver[0]
        place.inference = False
        recording = MODE.grad
        if parent is None or parent.base is None:
            if parent is not None and parent.inference:
                return slow(op, (self, *statics))
            place.base = self
            place.made = None if recording else "no_grad"
            edge = self._edge
        else:
            place.base = parent.base
            place.made = parent.made if recording else "no_grad"
            edge = edge_of(self)
        t = new(Tensor)
        t._data = z
        t._place = place
        t._ver = ver
        t._grad = None
        t._edge = NO_EDGE
        if recording and edge is not NO_EDGE:
            n = new(node)
            n.next_functions = edges = (edge,)
            n.shape = z.shape
            n.dtype = z.dtype
            n.seq = next_seq()
            n.extra = None
            t._edge = (n, 0)
            n.saved = op.save((self, *statics), edges, [t])
        return t

    return _named(view, op)


def _named(function: Any, op: Op) -> Any:
    function.__name__ = function.__qualname__ = op.name
    function.op = op
    op.call = function
    return function
