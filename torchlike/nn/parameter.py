"""Parameter and Buffer: the tensors that a Module registers when they are assigned to it."""

from __future__ import annotations

from typing import Any

from functional.dtypes import FLOAT
from functional.history import set_requires_grad
from functional.tape import overrides
from functional.tape.duals import primal
from functional.tensor import Parameter, Tensor, same_memory

__all__ = [
    "Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter",
    "UninitializedTensorMixin", "is_buffer", "is_lazy", "is_parameter",
]  # fmt: skip


def is_parameter(value: Any) -> bool:
    """Whether a Module registers ``value`` as a parameter."""
    if isinstance(value, Tensor):
        return issubclass(type(value), Parameter) or "_is_param" in value.__dict__
    return False


def is_buffer(value: Any) -> bool:
    """Whether a Module registers ``value`` as a buffer without being asked."""
    return isinstance(value, Tensor) and "_is_buffer" in value.__dict__


def _plain(data: Any) -> Tensor:
    if data is None:
        from functional.ops.create import filled

        return filled(None, (0,), None, None, False)
    if not isinstance(data, Tensor):
        # whatever has a detach() may stand for a tensor; anything else fails here, by name
        data = data.detach()
    return data


def _require_grad(t: Any, wanted: bool) -> Any:
    if not wanted:
        return t
    if t.dtype.category < FLOAT:
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    set_requires_grad(t, True)
    return t


def _new_parameter(cls: type, data: Any = None, requires_grad: bool = True) -> Any:
    """A parameter over the memory of ``data`` (an empty tensor if None).

    A tensor of a class of its own keeps that class and is marked as a parameter. Raises
    RuntimeError where ``requires_grad`` is asked for an integer tensor.
    """
    data = primal(_plain(data))
    kind = type(data)
    if kind is Tensor or kind is Parameter:
        return _require_grad(overrides.as_subclass(same_memory(data), cls), requires_grad)
    t = data.detach()
    if type(t) is not kind:
        raise RuntimeError(
            f"Creating a Parameter from an instance of type {kind.__name__} requires that "
            "detach() returns an instance of the same type, but return type "
            f"{type(t).__name__} was found instead. To use the type as a Parameter, please "
            "correct the detach() semantics defined by its __torch_dispatch__() implementation."
        )
    t._is_param = True
    return _require_grad(t, requires_grad)


def _copy_parameter(self: Parameter, memo: dict[int, Any]) -> Any:
    found = memo.get(id(self))
    if found is None:
        copy = self.detach().clone()
        found = memo[id(self)] = type(self)(copy, self.requires_grad)
    return found


_P: Any = Parameter
_P.__new__ = staticmethod(_new_parameter)
_P.__deepcopy__ = _copy_parameter
_P.__torch_function__ = staticmethod(overrides.disabled)


class _BufferMeta(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return is_buffer(value)


class Buffer(Tensor, metaclass=_BufferMeta):
    """A tensor that a Module registers as a buffer when it is assigned to an attribute.

    ``Buffer(data, persistent=True)`` returns a tensor of the class of ``data``, marked;
    ``persistent`` says whether it becomes part of the module's ``state_dict``.
    """

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        t = _plain(data).detach()
        if data is not None and data.requires_grad:
            set_requires_grad(t, True)
        t._is_buffer, t.persistent = True, persistent
        return t


# --- tensors that have no shape yet ---------------------------------------------------------------

_ALLOWED = frozenset(
    """
__hash__ size copy_ is_complex is_floating_point half float double char short int long cuda cpu to
get_device _has_compatible_shallow_copy_type __get__ __set__ __delete__ __repr__ __deepcopy__
__reduce_ex__ detach requires_grad_ cast to_dtype
""".split()
)


class UninitializedTensorMixin:
    """What a parameter or buffer without a shape refuses to do."""

    cls_to_become: Any = None
    data: Any
    device: Any
    dtype: Any

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Take this shape: become an ordinary tensor, its values not set."""
        from functional.ops.create import empty

        device = self.device if device is None else device
        dtype = self.dtype if dtype is None else dtype
        self.data = empty(shape, device=device, dtype=dtype)
        self.__class__ = self.cls_to_become

    @property  # type: ignore[no-redef]
    def data(self) -> Any:
        """An empty tensor, until there is a shape."""
        t = same_memory(self)
        t._ver = None
        return t

    @data.setter
    def data(self, value: Any) -> None:
        Tensor.data.fset(self, value)  # type: ignore[attr-defined]

    @property
    def shape(self) -> Any:
        """Nothing yet: RuntimeError."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually "
            "happens in `load_state_dict` when trying to load an uninitialized parameter into an "
            "initialized one. Call `forward` to initialize the parameters before accessing their "
            "attributes."
        )

    def size(self, dim: int | None = None) -> Any:
        """That of ``data``: nothing."""
        return self.data.size() if dim is None else self.data.size(dim)

    def share_memory_(self) -> Any:
        """Nothing to share yet: RuntimeError."""
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to "
            "initialize the parameters before calling `module.share_memory()`."
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__name__", "") in _ALLOWED:
            return overrides.disabled(func, types, args, kwargs or {})
        raise ValueError(
            f"Attempted to use an uninitialized parameter in {func}. This error happens when you "
            "are using a `LazyModule` or explicitly manipulating "
            f"`torch.nn.parameter.{cls.__name__}` objects. When using LazyModules Call `forward` "
            "with a dummy batch to initialize the parameters before calling torch functions"
        )


def is_lazy(param: Any) -> bool:
    """Whether a tensor has no shape yet."""
    return isinstance(param, UninitializedTensorMixin)


def _shapeless(device: Any, dtype: Any) -> Tensor:
    from functional.ops.create import empty

    return empty(0, device=device, dtype=dtype)


class UninitializedParameter(UninitializedTensorMixin, Parameter):  # type: ignore[misc]
    """A parameter whose shape is not known yet; ``materialize`` gives it one."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        return _new_parameter(cls, _shapeless(device, dtype), requires_grad)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            t: Any = self
            memo[id(self)] = type(self)(t.requires_grad, t.device, t.dtype)
        return memo[id(self)]

    def __reduce_ex__(self, proto: Any) -> Any:
        t: Any = self
        return UninitializedParameter, (t.requires_grad, t.device, t.dtype)


class UninitializedBuffer(UninitializedTensorMixin, Tensor):  # type: ignore[misc]
    """A buffer whose shape is not known yet; ``materialize`` gives it one."""

    cls_to_become = Tensor

    def __new__(
        cls, requires_grad: bool = False, device: Any = None, dtype: Any = None,
        persistent: bool = True,
    ) -> Any:  # fmt: skip
        t = overrides.as_subclass(same_memory(_shapeless(device, dtype)), cls)
        t.persistent, t._is_buffer = persistent, True
        return _require_grad(t, requires_grad)
