"""Parameter and Buffer: the tensors that a Module registers when they are assigned to it."""

from __future__ import annotations

from typing import Any

from functional.autograd import set_requires_grad
from functional.dtypes import FLOAT
from functional.tape import overrides
from functional.tensor import Parameter, Tensor, same_memory

__all__ = ["Buffer", "Parameter", "is_buffer", "is_parameter"]


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
    data = _plain(data)
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
