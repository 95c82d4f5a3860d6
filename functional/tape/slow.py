"""The general path: everything the hot closures leave alone.

Promotion, Python numbers, half types, memory order, meta tensors, subclasses, modes and
transform levels are handled here, for every operation, from its declaration.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from .. import dtypes
from ..kernels import formats, layout, meta
from ..kernels.coo import SPARSE
from ..kernels.meta import MetaArray
from ..modes import MODE, PLAIN
from ..tensor import NO_EDGE, ODD, Parameter, Shared, Tensor, wrap
from . import duals, foreign, level_views, levels, overrides, wrappers
from .memory import (
    check_overlap,
    check_result,
    check_shape,
    check_target,
    size_mismatch,
    write_changes,
)
from .node import new_node
from .op import TENSOR, Op
from .operand_types import as_operand, check_cast, operand_type, widened
from .operands import no_tensor
from .out import check_out, need_out, write_out
from .quick import of_views, plain, refuse, uniform_array
from .views import as_view, as_views, bump, check_in_place, edge_of, rebase, requires_grad

EXACT = (Tensor, Parameter)


def inputs_of(op: Op, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The tensor arguments (numbers and None where an input is not a tensor)."""
    return tuple(args[0]) if op.sequence else args[: len(op.inputs)]


def slow(op: Op, args: tuple[Any, ...], out: Tensor | None = None) -> Any:
    """Run ``op`` on anything: subclasses, levels, modes, mixed dtypes, meta tensors."""
    if out is None:
        if op.kind == "elementwise":
            result = of_views(op, args)
            if result is None:
                result = uniform(op, args)
            if result is not None:
                return result
        elif op.kind != "view":
            data = plain(op, args)
            if data is not None:
                return finish(op, args, data)
    inputs = inputs_of(op, args)
    tensors = [a for a in inputs if isinstance(a, Tensor)]
    if len(tensors) < len(inputs):
        others = [a for a in inputs if hasattr(type(a), "__torch_function__")]
        if len(others) > len(tensors):
            handled, result = overrides.dispatch(op, args, others, out)
            if handled:
                return result
    if not tensors and not op.sequence:
        raise no_tensor(op.title or op.name, args)
    if MODE.functions or any(type(a) not in EXACT for a in tensors):
        handled, result = overrides.dispatch(op, args, inputs, out)
        if handled:
            return result
        wrapped = any(isinstance(a, wrappers.Wrapped) for a in inputs)
        if not wrapped and any(type(a._data) in SPARSE for a in tensors):
            return _sparse().run(op, args, out)
        if op.check is not None:
            op.check(*args)
        if wrapped:
            if out is not None:
                levels.refuse_out(op, inputs, out)
            return levels.process(op, args)
        if out is None and any(type(a) is duals.PlainDual for a in inputs):
            return duals.extend(op, args, finish(op, args, compute(op, args)))
    elif any([type(a._data) in SPARSE for a in tensors]):
        return _sparse().run(op, args, out)
    elif op.check is not None:
        op.check(*args)
    if out is not None:
        return _into(op, args, out)
    return finish(op, args, compute(op, args))


def _sparse() -> Any:
    from . import sparse

    return sparse


def uniform(op: Op, args: tuple[Any, ...]) -> Tensor | None:
    """An elementwise operation on arrays of the commonest dtypes, of any layout, and on numbers.

    None for anything else.
    """
    z = uniform_array(op, args)
    if z is None:
        return None
    t = wrap(z)
    if op.node is not None:
        record(op, args, [t])
    return t


def finish(op: Op, args: tuple[Any, ...], data: Any) -> Any:
    """Results as Tensors (or a list of them), recorded."""
    if op.kind == "view":
        return _finish_view(op, args, data)
    several = type(data) in (tuple, list)
    outs = [wrap(z) for z in (data if several else (data,))]
    record(op, args, outs)
    return tuple(outs) if several else outs[0]


def _finish_view(op: Op, args: tuple[Any, ...], data: Any) -> Any:
    several = type(data) in (tuple, list)
    outs = as_views(data, args[0], "multi") if several else [as_view(data, args[0])]
    record(op, args, outs)
    return outs if several else outs[0]


def edges_of(op: Op, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The edges of a node of ``op``."""
    return tuple([edge_of(a) if isinstance(a, Tensor) else NO_EDGE for a in op.edge_inputs(args)])


def record(op: Op, args: tuple[Any, ...], outs: list[Tensor]) -> None:
    """Put a node on the tape if an input needs a gradient."""
    if op.node is None or not MODE.grad:
        return
    for a in args[0] if op.sequence else args:
        if isinstance(a, Tensor) and (
            a._edge is not NO_EDGE or (a._place is not None and requires_grad(a))
        ):
            break
    else:
        return
    edges = edges_of(op, args)
    if all(edge is NO_EDGE for edge in edges):
        return
    flags = op.differentiable or (True,) * len(outs)
    single = len(outs) == 1
    shape = outs[0]._data.shape if single else [t._data.shape for t in outs]
    dtype: Any = outs[0]._data.dtype
    if not single and not op.holomorphic:  # real results beside complex ones
        dtype = [t._data.dtype for t in outs]
    node = new_node(op.node, edges, None, shape, dtype)
    for nr, (t, flag) in enumerate(zip(outs, flags, strict=False)):
        if flag:
            t._edge = (node, nr)
    node.saved = op.save(args, edges, outs)


# --- values ---------------------------------------------------------------------------------------


def compute(op: Op, args: tuple[Any, ...]) -> Any:
    """The array(s) of a result, without recording."""
    inputs = inputs_of(op, args)
    if any([isinstance(a, Tensor) and type(a._data) is not ndarray for a in inputs]):
        if any(isinstance(a, Tensor) and type(a._data) is MetaArray for a in inputs):
            return _compute_meta(op, args, inputs)
        return foreign.compute(op, args, inputs, operand_type)
    if op.kind == "elementwise":
        return _elementwise(op, inputs, args[len(inputs) :])
    if op.refused:
        refuse(op, next(a.dtype for a in inputs if isinstance(a, Tensor)))
    arrays = _arrays(args)
    with np.errstate(all="ignore"):
        return op.kernel(*arrays)


def _arrays(args: tuple[Any, ...]) -> list[Any]:
    def convert(a: Any) -> Any:
        if isinstance(a, Tensor):
            return a._data
        if type(a) in (list, tuple) and a and isinstance(a[0], Tensor):
            return [convert(b) for b in a]
        return a

    return [convert(a) for a in args]


def _elementwise(op: Op, inputs: tuple[Any, ...], statics: tuple[Any, ...]) -> ndarray:
    d = operand_type(op, inputs, statics)
    arrays = [
        a if a is None else a._data if name in op.fixed else as_operand(a, d)
        for name, a in zip(op.inputs, inputs, strict=True)
    ]
    shapes = [x.shape for x in arrays if x is not None]
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        raise size_mismatch(*shapes) from None
    if op.refused:
        refuse(op, d)
    if op.result == "numbers" and d.category == dtypes.INT:
        statics = tuple([as_operand(s, d)[()] if type(s) is int else s for s in statics])
    half = d.array in dtypes.HALF and not op.narrow
    if half and op.rounds:
        statics = tuple([float(d.array.type(s)) if type(s) is float else s for s in statics])
    work = widened(op, inputs, arrays) if half else arrays
    with np.errstate(all="ignore"):
        kernel = op.complex_kernel if op.complex_kernel and d.is_complex else op.kernel
        z = np.asarray(kernel(*work, *statics))
    if half and z.dtype == np.float32:
        z = z.astype(d.array)
    originals = [] if op.contiguous else [a._data for a in inputs if isinstance(a, Tensor)]
    return layout.with_strides(z, layout.result_strides(shape, originals, z.dtype.itemsize))


def _compute_meta(op: Op, args: tuple[Any, ...], inputs: tuple[Any, ...]) -> Any:
    tensors = [a for a in inputs if isinstance(a, Tensor)]
    for t in tensors:
        if type(t._data) is not MetaArray and t.ndim:
            first, other = "cpu meta".split() if t is tensors[0] else "meta cpu".split()
            raise RuntimeError(f"Tensor on device {other} is not on the expected device {first}!")
    if op.kind == "elementwise":
        return _elementwise_meta(op, inputs, args[len(inputs) :])
    if op.kind == "view":
        data = op.kernel(args[0]._data.phantom, *args[1:])
        several = type(data) in (tuple, list)
        return [MetaArray(z) for z in data] if several else MetaArray(data)
    if op.shape is None:
        raise NotImplementedError(f"{op.name}: no shape rule for meta tensors")
    arrays = _arrays(args)
    found = formats.shaped(op.kernel, arrays, op.shape(*arrays))
    if type(found) is list:
        return tuple(meta.empty(*one) for one in found)
    return meta.empty(*found)


def _elementwise_meta(op: Op, inputs: tuple[Any, ...], statics: tuple[Any, ...]) -> MetaArray:
    d = operand_type(op, inputs, statics)
    arrays = [a._data for a in inputs if isinstance(a, Tensor)]
    try:
        shape = np.broadcast_shapes(*(x.shape for x in arrays))
    except ValueError:
        raise size_mismatch(*(x.shape for x in arrays)) from None
    small = [None if a is None else np.ones((), d.array) for a in inputs]
    dtype = np.asarray(op.kernel(*small, *statics)).dtype
    phantoms = [] if op.contiguous else [getattr(x, "phantom", x) for x in arrays]
    return meta.empty(shape, dtype, layout.result_strides(shape, phantoms, dtype.itemsize))


# --- writing into given memory --------------------------------------------------------------------


def _into(op: Op, args: tuple[Any, ...], out: Tensor) -> Tensor:
    """``out=``: compute, check, resize if needed, copy."""
    name = op.title or op.name
    if op.node is not None and not op.refuses_gradients:
        check_out(name, inputs_of(op, args), out)
    need_out(name, out)
    check_overlap(out, inputs_of(op, args))
    result = finish(op, args, compute(op, args))
    if name == "abs" and result.dtype is not args[0].dtype:  # of complex numbers
        if out.dtype.is_complex:
            result = TENSOR.to_dtype(result, args[0].dtype)
        else:
            name = "abs.complex"
    return write_out(result, out, name)


def in_place(op: Op, args: tuple[Any, ...]) -> Tensor:
    """Run ``op`` and write its result into its first argument."""
    target = args[0]
    inputs = inputs_of(op, args)
    if type(target) in PLAIN and target._place is None and _written(op, inputs, args):
        return target
    if MODE.functions or any(isinstance(a, Tensor) and type(a) not in EXACT for a in inputs):
        twin = getattr(TENSOR, f"{op.public.__name__}_", None)
        if twin is not None:
            handled, result = overrides.call(twin, inputs, args, {})
            if handled:
                return result
        if any(isinstance(a, wrappers.Wrapped) for a in inputs):
            return level_views.process_in_place(op, args)
        if any(type(a) is duals.PlainDual for a in inputs):
            return duals.written(op, args, _write)
    if any([isinstance(a, Tensor) and type(a._data) in SPARSE for a in inputs]):
        return _sparse().write(op, args)
    return _write(op, args)


def _write(op: Op, args: tuple[Any, ...]) -> Tensor:
    """The same with no transform or mode to look after."""
    target, inputs = args[0], inputs_of(op, args)
    recording = MODE.grad and any(isinstance(a, Tensor) and requires_grad(a) for a in inputs)
    check_in_place(target, recording)
    try:
        shared, data = _in_place_result(op, args, inputs)
    except NotImplementedError:
        check_cast(op, args, inputs)  # says so first
        raise
    check_result(data, target)
    node = in_place_node(op, args) if recording and op.node is not None else None
    if shared:
        write_changes(target._data, data)
    elif type(target._data) is not MetaArray:
        target._data[...] = data
    bump(target)
    if node is not None:
        op.save_results(node.saved, [target])
        rebase(target, node)
    return target


def _in_place_result(op: Op, args: tuple[Any, ...], inputs: tuple[Any, ...]) -> tuple[bool, Any]:
    """(whether an operand shares memory with the target, what is to be written)."""
    if op.check is not None:
        op.check(*args)
    shared = check_target(op, args[0], inputs[1:])
    if op.refused and op.kind == "elementwise":
        check_shape(args[0], *(a for a in inputs if isinstance(a, Tensor)))
    return shared, compute(op, args)


def _written(op: Op, inputs: tuple[Any, ...], args: tuple[Any, ...]) -> bool:
    """Write over a contiguous tensor where nothing is recorded; whether that was done."""
    target = args[0]
    for a in inputs:
        if isinstance(a, Tensor) and (type(a) not in PLAIN or (MODE.grad and requires_grad(a))):
            return False
    try:
        data = (uniform_array if op.kind == "elementwise" else plain)(op, args)
    except NotImplementedError:
        return False  # the general path finds out what to say
    x = target._data
    if type(data) is not ndarray or data.dtype is not x.dtype or data.shape != x.shape:
        return False
    check_target(op, target, inputs[1:])
    x[...] = data
    bump(target)
    return True


def view_in_place(op: Op, self: Tensor, *statics: Any) -> Tensor:
    """Give ``self`` the geometry that the view ``op`` would have."""
    if isinstance(self, wrappers.Wrapped):
        return level_views.view_in_place(op, self, statics)
    if type(self._data) in SPARSE:
        return _sparse().write(op, (self, *statics))
    recording = MODE.grad and requires_grad(self)
    check_in_place(self, recording)
    edge = edge_of(self)
    kernel = foreign.kernel_of(op, self._data)
    data = kernel(getattr(self._data, "phantom", self._data), *statics)
    if recording:
        node = new_node(op.node, (edge,), None, data.shape, data.dtype)
        node.saved = op.save((self, *statics), (edge,), [self])
        self._edge = (node, 0)
    _move(self, data)
    duals.view_written(op, self, statics)
    bump(self)
    return self


def _move(t: Tensor, data: Any) -> None:
    """Give a tensor another array over the same memory."""
    place, old = t._place, t._data
    if type(old) is MetaArray:
        t._data = MetaArray(data)
        return
    if place is None or place is ODD:
        if data.size != old.size or (data.size and not layout.is_dense(data)):
            t._place = Shared(old)
        else:
            t._place = None if type(data) is ndarray and data.flags.c_contiguous else ODD
    t._data = data


def in_place_node(op: Op, args: tuple[Any, ...]) -> Any:
    """The node of an in-place operation, made before the write, so that versions tell of it."""
    target = args[0]
    edges = edges_of(op, args)
    if op.needs_input(0, edges):
        # the rule needs what is about to be overwritten
        old = wrap(target._data if type(target._data) is MetaArray else target._data.copy("K"))
        old._edge = edges[0]
        duals.keep(target, old)
        args = (old, *args[1:])
    saved = op.save(args, edges, None)
    return new_node(op.node, edges, saved, target._data.shape, target._data.dtype)
