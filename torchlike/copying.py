"""``copy``, ``deepcopy`` and ``pickle`` of tensors and of the library's other objects.

A tensor goes as the whole memory it lies in, with its offset, shape and strides: so views made
of one memory still share memory in a deep copy, and ``copy.copy`` shares it with the original.
"""

from __future__ import annotations

import copy
import math
import warnings
from typing import Any

import numpy as np
from numpy import ndarray

from functional import dtypes, errors
from functional.kernels.coo import SPARSE
from functional.kernels.meta import MetaArray, empty
from functional.modes import MODE
from functional.tape import overrides
from functional.tape.duals import PlainDual, primal
from functional.tape.node import AccumulateGrad, Node, make_leaf
from functional.tape.views import edge_of
from functional.tensor import NO_EDGE, Parameter, Tensor, replace_data, wrap

from .methods import layout, memory_format

_HIDDEN = {"_data", "_edge", "_place", "_ver", "legacy_constructor", "volatile"}
_NEW_EMPTY = (
    "The default implementation of __deepcopy__() for non-wrapper subclasses only works for "
    "subclass types that implement new_empty() and for which that function returns another "
    "instance of the same subclass. You should either properly implement new_empty() for your "
    "subclass or override __deepcopy__() if it is intended behavior for new_empty() to return an "
    "instance of a different type."
)
_HOOK = (
    "backward hook {} on tensor will not be serialized.  If this is expected, you can decorate "
    "the function with @torch.utils.hooks.unserializable_hook to suppress this warning"
)


# --- memory ---------------------------------------------------------------------------------------


def _owner(array: ndarray) -> ndarray:
    """The array that owns the memory of ``array``."""
    while True:
        base = array.base
        if not isinstance(base, ndarray):
            base = getattr(base, "base", None)  # as_strided puts an object of its own between
        if not isinstance(base, ndarray):
            return array
        array = base


def _memory(array: ndarray) -> tuple[ndarray, ndarray, int, tuple[int, ...]]:
    """The owner of an array's memory, that memory as bytes, offset and strides in it."""
    owner = _owner(array)
    flat = owner.ravel("K").view(np.uint8)
    offset = _address(array) - _address(flat)
    if np.may_share_memory(flat, owner) and _inside(array, flat, offset):
        return owner, flat, offset, array.strides
    array = np.array(array, order="C")  # there are gaps in the memory: only the elements go
    return array, array.ravel().view(np.uint8), 0, array.strides


def _address(array: ndarray) -> int:
    return array.__array_interface__["data"][0]


def _inside(array: ndarray, flat: ndarray, offset: int) -> bool:
    reaches = [(n - 1) * s for n, s in zip(array.shape, array.strides, strict=True)]
    low = offset + sum(r for r in reaches if r < 0)
    high = offset + sum(r for r in reaches if r > 0) + array.itemsize
    return not array.size or (low >= 0 and high <= flat.size)


def placed(flat: ndarray, dtype: Any, shape: Any, strides: Any, offset: int) -> ndarray:
    """The array of this geometry over the bytes ``flat``."""
    if not math.prod(shape):
        return np.ndarray(shape, dtype, None, 0, strides)
    return np.ndarray(shape, dtype, flat, offset, strides)


def restore_grad(t: Any, requires_grad: bool) -> Any:
    """The tensor itself, made a leaf where it requires gradients."""
    if requires_grad:
        make_leaf(t)
    return t


# --- deep copies ----------------------------------------------------------------------------------


def _copied_data(data: Any, memo: dict[Any, Any]) -> Any:
    """A copy of an array; arrays of one memory get one memory again."""
    if type(data) is MetaArray:
        return data
    if not isinstance(data, ndarray):
        return data.copy("K")
    owner, flat, offset, strides = _memory(data)
    key = ("memory", id(owner))
    found = memo.get(key)
    if found is None:  # the owner is kept, so that its id stays its own
        found = memo[key] = owner, flat.copy()
    return placed(found[1], data.dtype, data.shape, strides, offset)


def offered(function: Any, self: Tensor, *args: Any) -> tuple[bool, Any]:
    """Let a subclass's ``__torch_function__`` or a mode handle the call."""
    if type(self) in overrides.EXACT and not MODE.functions:
        return False, None
    return overrides.call(function, (self,), (self, *args), {})


def tensor_deepcopy(self: Tensor, memo: dict[Any, Any]) -> Any:
    """An independent copy of a leaf, its gradient and its attributes."""
    handled, result = offered(Tensor.__deepcopy__, self, memo)  # type: ignore[attr-defined]
    if handled:
        return result
    node = edge_of(self)[0]
    if node is not None and type(node) is not AccumulateGrad:
        raise RuntimeError(errors.DEEPCOPY)
    if id(self) in memo:
        return memo[id(self)]
    data = _copied_data(self._data, memo)
    t = wrap(data) if type(self) in (Tensor, PlainDual) else _twin(self, data)
    restore_grad(t, node is not None)
    memo[id(self)] = t
    if self._grad is not None:
        t._grad = copy.deepcopy(self._grad, memo)
    own = {k: v for k, v in self.__dict__.items() if k != "_tangent"}
    if own:
        t.__dict__.update(copy.deepcopy(own, memo))
    return t


def _twin(self: Any, data: Any) -> Any:
    """A tensor of the same subclass, made the way the subclass makes new ones."""
    made = self.new_empty([])
    if type(made) is not type(self):
        raise RuntimeError(_NEW_EMPTY)
    made._edge, made._ver, made._grad = NO_EDGE, None, None
    replace_data(made, data)
    return made


# --- reduction: copy.copy and pickle --------------------------------------------------------------


def rebuild_tensor(
    flat: Any, dtype: str, shape: Any, strides: Any, offset: int, requires_grad: bool
) -> Tensor:
    """A tensor over the memory ``flat`` (bytes); over no memory where that is None."""
    kind = dtypes.by_name(dtype).array
    if flat is None:
        data: Any = empty(shape, kind, strides)
    elif isinstance(flat, ndarray):
        flat = flat if flat.flags.writeable else flat.copy()
        data = placed(flat, kind, shape, strides, offset)
    else:
        data = flat  # another device's array
    return restore_grad(wrap(data), requires_grad)


def rebuild_parameter(t: Tensor, requires_grad: bool, state: dict[str, Any]) -> Parameter:
    """A Parameter over the memory of ``t``, with these attributes."""
    p = restore_grad(overrides.as_subclass(t, Parameter), requires_grad)
    p.__dict__.update(state)
    return p


def typed(t: Tensor, kind: type, state: Any) -> Any:
    """The tensor as an instance of ``kind``, with this state."""
    if kind is not type(t):
        grad = t.requires_grad
        t = restore_grad(overrides.as_subclass(t, kind), grad)
    if getattr(kind, "__setstate__", None) is not None:
        t.__setstate__(state)  # type: ignore[attr-defined]
    else:
        t.__dict__.update(state)
    return t


def rebuild_typed(kind: type, args: tuple[Any, ...], state: Any) -> Any:
    """A tensor of a subclass, or one with attributes."""
    return typed(rebuild_tensor(*args), kind, state)


def _parts(t: Tensor) -> tuple[Any, ...]:
    """The arguments of ``rebuild_tensor``."""
    data, grad = t._data, edge_of(t) is not NO_EDGE
    name = t.dtype.name
    if isinstance(data, ndarray):
        _, flat, offset, strides = _memory(data)
        return flat, name, data.shape, strides, offset, grad
    flat = None if type(data) is MetaArray else data
    strides = () if type(data) in SPARSE else data.strides
    return flat, name, data.shape, strides, 0, grad


def state_of(t: Tensor) -> Any:
    """The attributes of a tensor, or what its class's ``__getstate__`` gives."""
    own = getattr(type(t), "__getstate__", None)
    if own is None or own is getattr(object, "__getstate__", None):
        return t.__dict__
    return own(t)


def warn_of_hooks(t: Tensor) -> None:
    """A warning for each hook that stays behind."""
    node = edge_of(t)[0]
    if type(node) is not AccumulateGrad or node.extra is None:
        return
    for hook in node.extra.tensor_hooks.get(0, {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(_HOOK.format(repr(hook)), UserWarning, stacklevel=4)


def tensor_reduce(self: Tensor, protocol: Any) -> Any:
    """How to rebuild the tensor: over the same memory in ``copy.copy``, over a copy in pickles."""
    handled, result = offered(Tensor.__reduce_ex__, self, protocol)
    if handled:
        return result
    warn_of_hooks(self)
    self = primal(self)
    parts, state = _parts(self), state_of(self)
    if isinstance(self, Parameter) and issubclass(type(self), Parameter):
        plain = rebuild_tensor(*parts[:-1], False)
        return rebuild_parameter, (plain, parts[-1], state)
    if type(self) is Tensor and not state:
        return rebuild_tensor, parts
    return rebuild_typed, (type(self), parts, state)


# --- what goes by its name, and what does not go --------------------------------------------------


def _by_name(self: Any) -> str:
    return self.name


def _refuse(self: Any, protocol: Any) -> Any:
    raise TypeError(f"cannot pickle '{type(self).__name__}' object")


def tensor_dir(self: Tensor) -> list[str]:
    """The attributes, without those that are only this library's."""
    return sorted(set(object.__dir__(self)) - _HIDDEN)


def attach() -> None:
    """Give the classes these methods."""
    _T: Any = Tensor
    _T.__deepcopy__, _T.__reduce_ex__, _T.__dir__ = tensor_deepcopy, tensor_reduce, tensor_dir
    tensor_deepcopy.__name__, tensor_reduce.__name__ = "__deepcopy__", "__reduce_ex__"
    for kind in (dtypes.dtype, layout, memory_format):
        kind.__reduce__ = _by_name  # type: ignore[method-assign, assignment]
    Node.__reduce_ex__ = _refuse  # type: ignore[method-assign, assignment]


attach()
