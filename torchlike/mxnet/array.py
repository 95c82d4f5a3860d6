"""NDArray: one core tensor with MXNet's manners; ``ndarray`` is the same with NumPy's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as onp

import torchlike as torch
from functional import dtypes

from . import graph
from .base import ASSIGNED, MXNetError
from .context import Context, context_of, core_device
from .state import FLAGS, NUMPY, run


class NDArray:
    """An array on one device. Reductions to one number have shape (1,), comparisons give 0 and 1.

    Made by ``nd.array`` and its kin. In a recorded graph it must not be written to.
    """

    __slots__ = ("__weakref__", "_tensor")
    __array_priority__ = 1000.0  # NumPy leaves mixed operators to us
    __hash__ = object.__hash__
    _tensor: Any

    def __init__(self, *args: Any, **named: Any) -> None:
        raise TypeError(f"{type(self).__name__} has no constructor: use array(), zeros(), ones()")

    # --- what it is -----------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of every dimension."""
        return tuple(self._tensor.shape)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._tensor.ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._tensor.numel()

    @property
    def dtype(self) -> Any:
        """The NumPy scalar type of the elements."""
        return self._tensor.dtype.array.type

    @property
    def context(self) -> Context:
        """The device it lies on."""
        return context_of(self._tensor)

    ctx = device = context

    @property
    def stype(self) -> str:
        """The storage type: always ``default``, which is dense."""
        return "default"

    def tostype(self, stype: str) -> NDArray:
        """Itself; MXNetError for a sparse storage type, of which there is none."""
        if stype != "default":
            raise MXNetError(f"storage type {stype!r} is not supported: arrays are dense")
        return self

    # --- going out ------------------------------------------------------------------------------

    def asnumpy(self) -> onp.ndarray:
        """A NumPy array with a copy of the elements."""
        return self._tensor.detach().cpu().numpy().copy()

    def asscalar(self) -> Any:
        """The one element as a NumPy scalar; ValueError if there are more."""
        if self.size != 1:
            raise ValueError(f"an array of shape {self.shape} is not a scalar")
        return self.asnumpy().reshape(())[()]

    def item(self, *index: int) -> Any:
        """One element as a Python number; without an index there must be only one."""
        return self.asnumpy().item(*index)

    def tolist(self) -> Any:
        """The elements in nested lists."""
        return self._tensor.tolist()

    def wait_to_read(self) -> None:
        """Return at once: operations are done when they return."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> onp.ndarray:
        found = self.asnumpy()
        return found if dtype is None else found.astype(dtype)

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("an array without dimensions has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[NDArray]:
        return (self[i] for i in range(len(self)))

    def __bool__(self) -> bool:
        if self.size > 1:
            raise ValueError(f"an array of shape {self.shape} is neither true nor false")
        return bool(self.size and self.asscalar())

    def __float__(self) -> float:
        return float(self.asscalar())

    def __int__(self) -> int:
        return int(self.asscalar())

    def __index__(self) -> int:
        if self._tensor.dtype.is_floating_point:
            raise TypeError(f"an array of {self.dtype.__name__} is no index")
        return int(self)

    def __repr__(self) -> str:
        size = "x".join(map(str, self.shape))
        return f"\n{self.asnumpy()}\n<{type(self).__name__} {size} @{self.context}>"

    def __reduce__(self) -> Any:
        return _from_numpy, (self.asnumpy(), type(self))

    # --- elements -------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        found = run(graph.live(self._tensor).__getitem__, as_index(key))
        return wrap(graph.sharing(found), type(self))

    def __setitem__(self, key: Any, value: Any) -> None:
        value = operand(value, self)
        run(self._written().__setitem__, as_index(key), value)

    def _written(self) -> Any:
        """The tensor to write into; MXNetError if that would spoil a graph being recorded."""
        if FLAGS.recording and graph.in_graph(self._tensor):
            raise MXNetError(ASSIGNED)
        target = graph.live(self._tensor)
        if FLAGS.recording:  # what is written may bring the array into the graph
            self._tensor = target
        return target

    def copyto(self, other: Any) -> NDArray:
        """Write the elements into another array, or copy them to a context; returns the copy."""
        if isinstance(other, Context):
            return self.copy().as_in_context(other)
        if other is not self:
            run(other._written().copy_, graph.live(self._tensor))
        return other

    def as_in_context(self, context: Context) -> NDArray:
        """Itself if it lies there already, else a copy on that device."""
        device = core_device(context)
        if device.type == "cpu" and self._tensor.device.type == "cpu":
            return self
        return wrap(run(graph.live(self._tensor).to, device), type(self))

    as_in_ctx = to_device = as_in_context

    def astype(self, dtype: Any, copy: bool = True) -> NDArray:
        """A copy of another dtype (of the same one without ``copy``: itself)."""
        new = core_dtype(dtype)
        if new is self._tensor.dtype and not copy:
            return self
        return wrap(run(graph.live(self._tensor).to, new, copy=True), type(self))

    def copy(self) -> NDArray:
        """A copy with memory of its own."""
        return wrap(run(graph.live(self._tensor).clone), type(self))

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> NDArray:
        return self.detach().copy()

    def as_np_ndarray(self) -> ndarray:
        """The same memory and history with NumPy's manners."""
        return wrap(self._tensor, ndarray)

    def as_nd_ndarray(self) -> NDArray:
        """The same memory and history with the manners of ``nd``."""
        return wrap(self._tensor, NDArray)

    # --- gradients ------------------------------------------------------------------------------

    def attach_grad(self, grad_req: str = "write", stype: str | None = None) -> None:
        """Want a gradient: zeros for now, written (``write``) or added to (``add``) by backward.

        Inside a graph the array stays there. With ``null`` nothing is ever written.
        """
        if stype not in (None, "default"):
            raise MXNetError(f"storage type {stype!r} is not supported: gradients are dense")
        self._mark(wrap(torch.zeros_like(self._tensor.detach()), type(self)), grad_req)

    def _mark(self, grad: NDArray, grad_req: str) -> None:
        self._tensor = graph.mark(self._tensor, graph.Mark(grad, grad_req))

    @property
    def grad(self) -> NDArray | None:
        """The gradient array, or None without ``attach_grad``."""
        note = graph.mark_of(self._tensor)
        return None if note is None else note.grad

    @property
    def _fresh_grad(self) -> bool:
        """Whether backward has written the gradient since the flag was cleared."""
        note = graph.mark_of(self._tensor)
        return note is not None and note.fresh

    @_fresh_grad.setter
    def _fresh_grad(self, value: bool) -> None:
        note = graph.mark_of(self._tensor)
        if note is None:
            raise MXNetError("an array without attach_grad() has no gradient to call fresh")
        note.fresh = bool(value)

    def drop_grad(self) -> None:
        """Give up the gradient array; recorded graphs stay as they are."""
        graph.unmark(self._tensor)

    def detach(self) -> NDArray:
        """The same memory, outside of every graph."""
        return wrap(self._tensor.detach(), type(self))

    def backward(
        self, out_grad: Any = None, retain_graph: bool = False, train_mode: bool = True
    ) -> None:
        """Bring the gradients of its sum, or of its product with ``out_grad``, to the variables."""
        from .autograd import backward

        backward([self], [out_grad], retain_graph, train_mode)


class ndarray(NDArray):
    """An NDArray with NumPy's manners: results without dimensions, comparisons give booleans."""

    __slots__ = ()

    def __repr__(self) -> str:
        text = repr(self.asnumpy()).replace(", dtype=float32", "")
        where = "" if self.context.device_type == "cpu" else f", ctx={self.context}"
        return text if not where else f"{text[:-1]}{where})"

    def __str__(self) -> str:
        return str(self.asnumpy())

    def __format__(self, spec: str) -> str:
        return format(self.item() if spec and self.size == 1 else str(self), spec)


Kind = type[NDArray]


def wrap(result: Any, kind: Kind) -> Any:
    """Core tensors as arrays of that kind; ``nd`` has no 0-d ones unless NumPy shapes are on."""
    if isinstance(result, (tuple, list)):
        return [wrap(r, kind) for r in result]
    if not isinstance(result, torch.Tensor):
        return result
    if kind is NDArray and not result.ndim and not NUMPY.shape:
        result = run(result.reshape, 1)
    new = object.__new__(kind)
    new._tensor = result
    return new


def default_kind() -> Kind:
    """The kind Gluon makes."""
    return ndarray if NUMPY.array else NDArray


def core_dtype(dtype: Any) -> Any:
    """The core's dtype of a NumPy dtype, its name or type; TypeError for an unknown one."""
    if isinstance(dtype, torch.dtype):
        return dtype
    named = getattr(torch, dtype, None) if isinstance(dtype, str) else None
    if isinstance(named, torch.dtype):
        return named
    found = dtypes.FROM_ARRAY.get(onp.dtype(dtype))
    if found is None:
        raise TypeError(f"dtype {dtype!r} is not supported")
    return found


def core_tensor(source: Any, dtype: Any = None, ctx: Any = None) -> Any:
    """A new core tensor with a copy of the elements of an array, number or nested list."""
    device = core_device(ctx)
    if isinstance(source, NDArray):
        device = source._tensor.device if ctx is None else device
        return source._tensor.detach().to(device, core_dtype(dtype or source.dtype), copy=True)
    if isinstance(source, (list, tuple)):
        source = [s.asnumpy() if isinstance(s, NDArray) else s for s in source]
    host = onp.array(source, dtype=None if dtype is None else core_dtype(dtype).array)
    return torch.from_numpy(host).to(device)


def _from_numpy(source: onp.ndarray, kind: Kind) -> NDArray:
    return wrap(core_tensor(source, source.dtype), kind)


def operand(value: Any, like: NDArray) -> Any:
    """The other operand for the core: an array's tensor, a number, or new memory like ``like``."""
    if isinstance(value, NDArray):
        return graph.live(value._tensor)
    if isinstance(value, (bool, int, float, onp.generic)):
        return value.item() if isinstance(value, onp.generic) else value
    if isinstance(value, (onp.ndarray, list, tuple)):
        return core_tensor(value, like.dtype, like.context)
    raise TypeError(f"an array or a number is wanted, not {type(value).__name__}")


def as_index(key: Any) -> Any:
    """An index for the core: arrays of floats count as whole numbers, as ``nd`` makes such."""
    if isinstance(key, tuple):
        return tuple(map(as_index, key))
    if isinstance(key, NDArray):
        tensor = key._tensor.detach()
        return tensor.long() if tensor.dtype.is_floating_point else tensor
    if isinstance(key, range):
        return torch.tensor(list(key), dtype=torch.int64)
    if isinstance(key, onp.ndarray):
        return torch.from_numpy(onp.ascontiguousarray(key))
    return key.item() if isinstance(key, onp.integer) else key


def kind_of(args: Any) -> Kind | None:
    """NumPy's kind if any array among the arguments has it; None without arrays."""
    kind: Kind | None = None
    for a in args:
        found = kind_of(a) if isinstance(a, (list, tuple)) else type(a)
        if found is ndarray:
            return ndarray
        if found is NDArray:
            kind = NDArray
    return kind


def _plain(value: Any) -> Any:
    if isinstance(value, NDArray):
        return graph.live(value._tensor)
    if isinstance(value, (list, tuple)) and kind_of(value) is not None:
        return [_plain(v) for v in value]
    return value


def call(function: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """Call a function of core tensors with arrays, and wrap what it returns."""
    kind = kind_of(args) or kind_of(named.values())
    if kind is None:
        raise TypeError("an NDArray is wanted among the arguments, and there is none")
    plain = [_plain(a) for a in args]
    result = run(function, *plain, **{k: _plain(v) for k, v in named.items()})
    return wrap(result, kind)


def write_out(out: NDArray | None, result: Any) -> Any:
    """The result itself, or written into ``out``."""
    return result if out is None else result.copyto(out)
