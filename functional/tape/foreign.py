"""The general path for arrays that are not NumPy's: CuPy's, on a GPU.

Which kernels serve them, which device a call runs on, and PyTorch's errors where there are two.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from .. import dtypes, errors
from ..kernels import layout, shapes
from ..kernels import numpy as numpy_kernels
from ..kernels.coo import SPARSE
from ..kernels.meta import ARRAYS, MetaArray
from ..kernels.transfer import move
from ..tensor import Tensor
from .memory import size_mismatch
from .op import Op
from .operand_types import as_operand, widened

_NAMES: dict[int, str] = {}
# Recorded moves between devices, and operations on sparse tensors, that are alive: while there are
# any, a backward pass runs on Tensors, as its arrays may be of two kinds.
CROSSINGS: weakref.WeakSet[Any] = weakref.WeakSet()


def is_foreign(x: Any) -> bool:
    """Whether an array is CuPy's."""
    return type(x) in ARRAYS and type(x) not in (ndarray, MetaArray) and type(x) not in SPARSE


def namespace() -> Any:
    """The CuPy kernels; importing them imports CuPy."""
    from ..kernels import cupy as cupy_kernels

    return cupy_kernels


def kernel_of(op: Op, x: Any) -> Callable[..., Any]:
    """The kernel of ``op`` for an array like ``x``."""
    if type(x) is ndarray or type(x) is MetaArray:
        return op.kernel
    found = op.foreign_kernel
    if found is None:
        found = op.foreign_kernel = _twin(op.kernel)
    return found


def _twin(kernel: Any) -> Any:
    """The CuPy kernel of the same name."""
    if not _NAMES:
        _NAMES.update({id(value): name for name, value in vars(numpy_kernels).items()})
    name = _NAMES.get(id(kernel)) or kernel.__name__
    found = getattr(namespace(), name, None)
    if found is None:
        raise NotImplementedError(f"{name} is not implemented on cuda")
    return found


def on(device: Any) -> Any:
    """A context in which CuPy works on a device; nothing for the CPU."""
    if device.type != "cuda":
        return contextlib.nullcontext()
    namespace()
    import cupy

    return cupy.cuda.Device(device.index)


def place(x: Any, device: Any) -> Any:
    """A copy of an array on a device."""
    namespace()
    return move(x, device)


def adopted(x: Any) -> Any:
    """CuPy's array over the memory of an array on a GPU."""
    namespace()
    import cupy

    return cupy.asarray(x)


def filled(value: Any, shape: Any, dtype: Any, device: Any, strides: Any = None) -> Any:
    """A new array on a device: one value everywhere, or None for any."""
    if strides is None:
        strides = layout.dense_strides(shape, list(range(len(shape))), dtype.itemsize)
    if device.type == "cpu":
        out = layout.empty(shape, strides, dtype)
    else:
        with on(device):
            out = layout_for(None).empty(shape, strides, dtype)
    if value is not None:
        out.fill(value)
    return out


def library(x: Any) -> Any:
    """NumPy or CuPy: the module whose functions take ``x``."""
    return np if type(x) is ndarray else _need_strided(x, _names)()


def _names() -> Any:
    from ..kernels.cupy import names

    return names


def _need_strided(x: Any, call: Any) -> Any:
    """``call``, unless ``x`` is sparse."""
    if type(x) in SPARSE:
        raise NotImplementedError("not available for tensors of layout Sparse")
    return call


def kernels_for(x: Any) -> Any:
    """The kernel namespace that takes ``x``."""
    return numpy_kernels if isinstance(x, (ndarray, MetaArray)) else _need_strided(x, namespace)()


def layout_for(x: Any) -> Any:
    """The module ``kernels/layout.py``, for arrays like ``x``."""
    if isinstance(x, (ndarray, MetaArray)):
        return layout
    return _need_strided(x, _twin_module)("layout")


def strided(x: Any, shape: Any, strides: Any, offset: int = 0) -> Any:
    """A view over the memory of ``x``; ``strides`` and ``offset`` in bytes from its start."""
    module = shapes if isinstance(x, ndarray) else _need_strided(x, _twin_module)("shapes")
    return module.strided(x, shape, strides, offset)


def _twin_module(name: str) -> Any:
    from ..kernels.cupy.twins import twin

    return twin(name)


def common_device(op: Op, tensors: list[Tensor], numbers: bool) -> Any:
    """An array of the one device that all tensors are on; PyTorch's error if there are two.

    With ``numbers``, tensors without dimensions on the CPU count as numbers.
    """
    first = next(t for t in tensors if type(t._data) is not ndarray)._data
    if type(first) is MetaArray:
        raise mixed(op, tensors)
    where = first.device.id
    for t in tensors:
        x = t._data
        if type(x) is ndarray:
            if not (numbers and not x.ndim):
                raise mixed(op, tensors)
        elif type(x) is MetaArray or x.device.id != where:
            raise mixed(op, tensors)
    return first


def mixed(op: Op, tensors: list[Tensor]) -> RuntimeError:
    """PyTorch's error for tensors on two devices."""
    found = [str(t.device) for t in tensors]
    if op.name == "convolution":
        kinds = [t.type() for t in tensors[:2]]
        if kinds[0] != kinds[1]:
            return RuntimeError(errors.TWO_TYPES.format(*kinds))
    if op.kind == "elementwise":
        two = sorted(dict.fromkeys(found), key=lambda name: name == "cpu")
        return RuntimeError(errors.TWO_DEVICES.format(*two[:2]))
    at = next(i for i, where in enumerate(found) if where != found[0])
    name = "tensors" if op.sequence else op.inputs[at]
    return RuntimeError(errors.OTHER_DEVICE.format(name, found[at], found[0], op.name))


def compute(op: Op, args: tuple[Any, ...], inputs: tuple[Any, ...], operand_type: Any) -> Any:
    """The array(s) of a result on a GPU."""
    tensors = [a for a in inputs if isinstance(a, Tensor)]
    elementwise = op.kind == "elementwise"
    first = common_device(op, tensors, elementwise or op.mixes)
    with first.device:
        if elementwise:
            return _elementwise(op, inputs, args[len(inputs) :], operand_type, first)
        if op.refused:
            from .slow import refuse

            refuse(op, tensors[0].dtype)
        arrays = [_converted(a) for a in args]
        data = kernel_of(op, first)(*arrays)
        return data if op.kind == "view" or op.shape is None else _in_order(op, arrays, data)


def _in_order(op: Op, arrays: list[Any], data: Any) -> Any:
    """Results in the memory order that the operation's shape rule says; CuPy's are in C order."""
    found = op.shape(*arrays)
    order = layout_for(None)

    def arranged(z: Any, shape: Any, dtype: Any, strides: Any = None) -> Any:
        if strides is None or z.size <= 1:
            return z
        return order.with_strides(z, tuple(strides))

    if type(found) is list:
        return tuple(arranged(z, *one) for z, one in zip(data, found, strict=True))
    return arranged(data, *found)


def _converted(a: Any) -> Any:
    """A tensor's array; a number that lies on the CPU goes to the device."""
    if isinstance(a, Tensor):
        x = a._data
        return library(None).asarray(x) if type(x) is ndarray else x
    if type(a) is ndarray:
        return library(None).asarray(a)
    if type(a) in (list, tuple) and a and isinstance(a[0], Tensor):
        return [_converted(b) for b in a]
    return a


def _operand(value: Any, d: dtypes.dtype) -> Any:
    """An array, or a NumPy number of the dtype, as CuPy's ufuncs take it."""
    if isinstance(value, Tensor) and type(value._data) is not ndarray:
        x = value._data
        return x if x.dtype == d.array else x.astype(d.array)
    found = as_operand(value, d)
    return library(None).asarray(found) if d.array.kind == "V" else found[()]


def _elementwise(
    op: Op, inputs: tuple[Any, ...], statics: tuple[Any, ...], operand_type: Any, first: Any
) -> Any:
    from .slow import refuse

    d = operand_type(op, inputs, statics)
    arrays = [
        a if a is None else a._data if name in op.fixed else _operand(a, d)
        for name, a in zip(op.inputs, inputs, strict=True)
    ]
    shapes = [x.shape for x in arrays if x is not None]
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        raise size_mismatch(*shapes) from None
    if op.refused:
        refuse(op, d)
    half = d.array in dtypes.HALF
    work = widened(op, inputs, arrays) if half else arrays
    work = [x[()] if type(x) is ndarray else x for x in work]  # numbers
    z = kernel_of(op, first)(*work, *statics)
    if type(z) is not type(first):
        z = library(first).asarray(z)
    if half and z.dtype == np.float32:
        z = z.astype(d.array)
    order = layout_for(first)
    like = [] if op.contiguous else [a._data for a in inputs if isinstance(a, Tensor)]
    return order.with_strides(z, order.result_strides(shape, like, z.dtype.itemsize))
