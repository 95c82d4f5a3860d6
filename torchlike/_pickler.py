"""Pickles that PyTorch can read: everything of ours goes under PyTorch's names."""

from __future__ import annotations

import pickle
import sys
from collections import OrderedDict
from types import FunctionType
from typing import Any

import numpy as np
from numpy import ndarray

from functional import dtypes
from functional.kernels.coo import SPARSE, CooArray
from functional.kernels.meta import MetaArray
from functional.ops.cast import host
from functional.ops.layouts import layout_of
from functional.ops.results import RETURN_TYPES
from functional.random import Generator
from functional.tape.duals import primal
from functional.tensor import Parameter, Tensor, address, device_of, wrap

from . import _tensor, _utils
from ._locations import PACKAGES, location_tag
from .copying import offered, state_of, warn_of_hooks
from .loading import PRIVATE
from .methods import layout
from .storage import CLASSES, TypedStorage, UntypedStorage, bytes_of

_TWO_TYPES = "Cannot save multiple tensors or storages that view the same data as different types"
_NAMED_RESULTS = frozenset(RETURN_TYPES.values())


def pytorch_name(value: Any, name: str | None = None) -> tuple[str, str]:
    """The module and the name under which PyTorch has a class or function."""
    if isinstance(value, dtypes.dtype):
        return "torch", value.name
    name = name or getattr(value, "__qualname__", None) or value.__name__
    module = pickle.whichmodule(value, name)
    root, _, rest = module.partition(".")
    if (root == "functional" or module.startswith(PRIVATE)) and isinstance(value, FunctionType):
        return _place_of_function(name), name
    if root == "torchlike":
        module = f"torch.{rest}" if rest else "torch"
    return module, name


def _place_of_function(name: str) -> str:
    """Where PyTorch keeps a function of the core."""
    group = name.partition("_")[0]
    if group in ("fft", "linalg", "special") and name != group:
        return f"torch._C._{group}"
    surface: Any = sys.modules.get("torchlike.nn.functional")
    return "torch.nn.functional" if hasattr(surface, name) else "torch"


def sparse_parts(x: Any) -> tuple[Any, ...]:
    """What a sparse tensor is made of."""
    if type(x) is CooArray:
        return wrap(x.indices), wrap(x.values), tuple(x.shape), x.coalesced
    return wrap(x.starts), wrap(x.inner), wrap(x.values), tuple(x.shape)


class Pointer:
    """A storage on its way into a pickle."""

    __slots__ = ("pid",)

    def __init__(self, *pid: Any) -> None:
        self.pid = pid


class Storages:
    """The memory that a pickle refers to, each piece under a number."""

    def __init__(self) -> None:
        self.records: dict[str, ndarray] = {}
        self._kept: list[Any] = []
        self._known: dict[tuple[int, int], tuple[str, dtypes.dtype | None]] = {}

    def key(self, memory: Any, dtype: dtypes.dtype | None) -> str:
        """The number of a piece of memory; RuntimeError where it has two dtypes."""
        where = address(memory), memory.size
        key, known = self._known.get(where, (None, dtype)) if memory.size else (None, dtype)
        if known is not dtype:
            raise RuntimeError(_TWO_TYPES)
        if key is None:
            key = str(len(self.records))
            self.records[key] = host(memory)
            self._known[where] = key, dtype
            self._kept.append(memory)  # so that its address stays its own
        return key

    def pointer(self, memory: Any, dtype: dtypes.dtype | None) -> Pointer:
        """What stands for memory whose elements are of a dtype (bytes where that is None)."""
        kind: Any = UntypedStorage if dtype is None else CLASSES[dtype]
        item = 1 if dtype is None else dtype.itemsize
        place = location_tag(UntypedStorage.over(memory)) if PACKAGES else str(device_of(memory))
        return Pointer("storage", kind, self.key(memory, dtype), place, memory.size // item)


class CheckpointPickler:
    """Mixed into a Pickler written in Python: tensors become references to ``storages``."""

    storages: Storages
    proto: int

    def persistent_id(self, value: Any) -> Any:
        """The reference that stands for a storage; None for everything else."""
        if type(value) is Pointer:
            return value.pid
        if isinstance(value, UntypedStorage):
            return self.storages.pointer(value._held(), None).pid
        if isinstance(value, TypedStorage):
            dtype = value.dtype if value.dtype in CLASSES else None
            return self.storages.pointer(value.untyped()._held(), dtype).pid
        return None

    def reducer_override(self, value: Any) -> Any:
        """How our own objects are taken apart."""
        if isinstance(value, Tensor):
            if type(value).__reduce_ex__ is not Tensor.__reduce_ex__:
                return NotImplemented
            return self._reduced(value)
        if isinstance(value, dtypes.dtype):
            return value.name
        if isinstance(value, layout):
            from ._safe_globals import _get_layout

            return _get_layout, (str(value),)
        if isinstance(value, tuple) and type(value) in _NAMED_RESULTS:
            return type(value), (tuple(value), {})
        if isinstance(value, Generator):
            kind, args, (seed, offset, state) = value.__reduce__()
            return kind, args, (seed, offset, wrap(np.array(state)))
        return NotImplemented

    def _reduced(self, t: Tensor) -> Any:
        handled, result = offered(Tensor.__reduce_ex__, t, self.proto)
        if handled:
            return result
        warn_of_hooks(t)
        t = primal(t)
        state = state_of(t)
        if isinstance(t, Parameter) and issubclass(type(t), Parameter):
            function, args = self._geometry(t, False)
            rest = _Made(function, args), t.requires_grad
            if state:
                return _utils._rebuild_parameter_with_state, (*rest, OrderedDict(), state)
            return _utils._rebuild_parameter, (*rest, OrderedDict())
        function, args = self._geometry(t, t.requires_grad)
        if type(t) is Tensor and not state:
            return function, args
        return _tensor._rebuild_from_type_v2, (function, type(t), args, state)

    def _geometry(self, t: Tensor, requires_grad: bool) -> tuple[Any, tuple[Any, ...]]:
        """The function that makes the tensor, and its arguments."""
        if type(t._data) is MetaArray:
            args = t.dtype, tuple(t.shape), t.stride(), requires_grad
            return _utils._rebuild_meta_tensor_no_storage, args
        if type(t._data) in SPARSE:
            return _utils._rebuild_sparse_tensor, (layout_of(t), sparse_parts(t._data))
        if any(s < 0 for s in t._data.strides):
            t = wrap(t._data.copy("C"))
        dtype = t.dtype if t.dtype in CLASSES else None
        pointer = self.storages.pointer(bytes_of(t), dtype)
        place = (pointer, t.storage_offset(), tuple(t.shape), t.stride())
        rest: tuple[Any, ...] = (requires_grad, OrderedDict())
        if dtype is None:
            return _utils._rebuild_tensor_v3, (*place, *rest, t.dtype)
        return _utils._rebuild_tensor_v2, (*place, *rest)

    def save_global(self, value: Any, name: str | None = None) -> None:
        """Write a class's or a function's name."""
        module, found = pytorch_name(value, name)
        if module.partition(".")[0] != "torch" or "." in found:
            super().save_global(value, name)  # type: ignore[misc]
            return
        me: Any = self
        if self.proto >= 4:
            me.save(module)
            me.save(found)
            me.write(pickle.STACK_GLOBAL)
        else:
            me.write(pickle.GLOBAL + f"{module}\n{found}\n".encode())
        me.memoize(value)


class _Made:
    """A tensor on its way into a pickle, by the function that makes it."""

    def __init__(self, function: Any, args: Any) -> None:
        self.reduced = function, args

    def __reduce__(self) -> Any:
        return self.reduced


def dump(
    value: Any, file: Any, module: Any, protocol: int, storages: Storages | None = None
) -> Any:
    """Write a pickle of ``value``; returns the memory it refers to."""
    base = pickle._Pickler if module is pickle else module.Pickler  # type: ignore[attr-defined]
    pickler: Any = type("Pickler", (CheckpointPickler, base), {})(file, protocol)
    pickler.storages = storages or Storages()
    pickler.dispatch = {**base.dispatch, FunctionType: CheckpointPickler.save_global}
    pickler.dump(value)
    return pickler.storages
