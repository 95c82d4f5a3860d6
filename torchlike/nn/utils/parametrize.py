"""Parameters that are computed from others: register_parametrization and what goes with it."""

from __future__ import annotations

import collections
import copyreg
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from typing import Any

from functional.modes import no_grad
from functional.tensor import Tensor

from ..modules.container import ModuleDict, ModuleList
from ..modules.module import Module
from ..parameter import Parameter, is_parameter

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization",
    "remove_parametrizations", "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]  # fmt: skip

_cache_enabled = 0
_cache: dict[tuple[int, str], Tensor | None] = {}


@contextmanager
def cached() -> Iterator[None]:
    """Compute each parametrized tensor at most once within the block."""
    global _cache_enabled, _cache
    _cache_enabled += 1
    try:
        yield
    finally:
        _cache_enabled -= 1
        if not _cache_enabled:
            _cache = {}


def _register_parameter_or_buffer(module: Any, name: str, X: Any) -> None:
    if is_parameter(X):
        module.register_parameter(name, X)
    else:
        module.register_buffer(name, X)


def _check_kept(what: str, old: Any, new: Any, first: str, second: str) -> None:
    if old != new:
        raise ValueError(
            f"Registering a parametrization may not change the {what} of the tensor, unless "
            f"`unsafe` flag is enabled.\n{first} {what}: {old}\n{second} {what}: {new}"
        )


def _is_sequence(value: Any) -> bool:
    return isinstance(value, collections.abc.Sequence)


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor in turn, and what the first is applied to.

    ``original`` (or ``original0``, ``original1``, … where ``right_inverse`` returns several) is
    the tensor that is learned.
    """

    original: Any
    unsafe: bool

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        with no_grad():
            new: Any = original
            for module in reversed(self):
                if hasattr(module, "right_inverse"):
                    with suppress(NotImplementedError):
                        new = module.right_inverse(new)
        if not isinstance(new, Tensor) and not _is_sequence(new):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got {type(new).__name__}"
            )
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            self._keep_one(original, new)
        else:
            self._keep_several(original, new)
        if not unsafe:
            self._check_result(shape, dtype)

    def _keep_one(self, original: Any, new: Tensor) -> None:
        if original.dtype != new.dtype:
            raise ValueError(
                "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {new.dtype}"
            )
        with no_grad():
            if original is not new:
                original.data = new.detach()
        _register_parameter_or_buffer(self, "original", original)

    def _keep_several(self, original: Any, new: Any) -> None:
        for i, t in enumerate(new):
            if not isinstance(t, Tensor):
                raise ValueError(
                    "`right_inverse` must return a Tensor or a Sequence of tensors (list, "
                    f"tuple...). Got element {i} of the sequence with type {type(t).__name__}."
                )
            if is_parameter(original):
                t = Parameter(t, requires_grad=original.requires_grad)
            elif original.requires_grad:
                t.requires_grad_(True)
            _register_parameter_or_buffer(self, f"original{i}", t)

    def _check_result(self, shape: Any, dtype: Any) -> None:
        z = self()
        if not isinstance(z, Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {type(z).__name__}.")
        _check_kept("dtype", dtype, z.dtype, "unparametrized", "parametrized")
        _check_kept("shape", shape, z.shape, "unparametrized", "parametrized")

    def right_inverse(self, value: Tensor) -> None:
        """Set the original so that the parametrized tensor becomes ``value``."""
        with no_grad():
            for module in reversed(self):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement right_inverse."
                    )
                value = module.right_inverse(value)
            values = [value] if self.is_tensor else list(value)
            if self.is_tensor and not isinstance(value, Tensor):
                raise ValueError(
                    f"`right_inverse` should return a tensor. Got {type(value).__name__}"
                )
            if len(values) != self.ntensors:
                raise ValueError(
                    "'right_inverse' must return a sequence of tensors of length "
                    f"{self.ntensors}. Got a sequence of length {len(values)}."
                )
            names = ["original"] if self.is_tensor else [f"original{i}" for i in range(len(values))]
            for name, t in zip(names, values, strict=True):
                own = getattr(self, name)
                if own.dtype != t.dtype:
                    raise ValueError(
                        f"Tensor returned by `right_inverse` has dtype {t.dtype} while `{name}` "
                        f"has dtype {own.dtype}"
                    )
                own.data = t.detach().clone() if own.shape == t.shape else t.detach()

    def forward(self) -> Any:
        """The parametrized tensor."""
        if self.is_tensor:
            x = self[0](self.original)
        else:
            x = self[0](*(getattr(self, f"original{i}") for i in range(self.ntensors)))
        for i in range(1, len(self)):
            x = self[i](x)
        return x


# --- the class of a parametrized module -----------------------------------------------------------


def _no_pickling(self: Any) -> Any:
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(). See:\n"
        "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
        "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
    )


def _copied(self: Any, memo: dict[int, Any]) -> Any:
    if id(self) in memo:
        return memo[id(self)]
    made = self.__new__(self.__class__)
    memo[id(self)] = made
    made.__dict__ = deepcopy(self.__dict__, memo)
    for slot in copyreg._slotnames(self.__class__):
        if hasattr(self, slot):
            setattr(made, slot, deepcopy(getattr(self, slot), memo))
    return made


def _inject_new_class(module: Any) -> None:
    cls = module.__class__
    members: dict[str, Any] = {"__getstate__": _no_pickling, "__module__": __name__}
    if not hasattr(cls, "__deepcopy__"):
        members["__deepcopy__"] = _copied
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), members)


def _inject_property(module: Any, tensor_name: str) -> None:
    def get(self: Any) -> Any:
        if not _cache_enabled:
            return self.parametrizations[tensor_name]()
        key = (id(self), tensor_name)
        found = _cache.get(key)
        if found is None:
            _cache[key] = found = self.parametrizations[tensor_name]()
        return found

    def set_original(self: Any, value: Any) -> None:
        self.parametrizations[tensor_name].right_inverse(value)

    setattr(module.__class__, tensor_name, property(get, set_original))


def register_parametrization(
    module: Any, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Any:
    """Let ``module.tensor_name`` be ``parametrization`` of a tensor that is learned instead.

    A second one is applied to the result of the first. Raises ValueError for results of another
    shape or dtype, unless ``unsafe``.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_addition(module, tensor_name, parametrization)
        module.parametrizations[tensor_name].append(parametrization)
        module.parametrizations[tensor_name].unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        made = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _inject_new_class(module)
            module.parametrizations = ModuleDict()
        _inject_property(module, tensor_name)
        module.parametrizations[tensor_name] = made
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element "
            f"with name '{tensor_name}'"
        )
    return module


def _check_addition(module: Any, tensor_name: str, parametrization: Any) -> None:
    with no_grad():
        y = getattr(module, tensor_name)
        x = parametrization(y)
        if not isinstance(x, Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {type(x).__name__}.")
        for what in ("dtype", "shape"):
            old, new = getattr(y, what), getattr(x, what)
            call = f"parametrization(module.{tensor_name})"
            if old != new:
                raise ValueError(
                    f"Registering a parametrization may not change the {what} of the tensor, "
                    f"unless the `unsafe` flag is enabled.\nmodule.{tensor_name}.{what}: {old}\n"
                    f"{call}.{what}: {new}"
                )
        if hasattr(parametrization, "right_inverse"):
            try:
                z = parametrization.right_inverse(x)
            except NotImplementedError:
                return
            if not isinstance(z, Tensor):
                raise ValueError(
                    f"parametrization.right_inverse must return a tensor. Got: {type(z).__name__}"
                )
            for what in ("dtype", "shape"):
                old, new = getattr(x, what), getattr(z, what)
                if old != new:
                    raise ValueError(
                        f"The tensor returned by parametrization.right_inverse must have the same "
                        f"{what} as module.{tensor_name}, unless the `unsafe` flag is enabled.\n"
                        f"module.{tensor_name}.{what}: {old}\nreturned {what}: {new}"
                    )


def is_parametrized(module: Any, tensor_name: str | None = None) -> bool:
    """Whether a module (or one of its tensors) has a parametrization."""
    held = getattr(module, "parametrizations", None)
    if held is None or not isinstance(held, ModuleDict):
        return False
    return len(held) > 0 if tensor_name is None else tensor_name in held


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Make ``tensor_name`` a parameter again: of its present value, or of the original's."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    held = module.parametrizations[tensor_name]
    if held.is_tensor:
        original = held.original
        if leave_parametrized:
            with no_grad():
                t = getattr(module, tensor_name)
            with no_grad():
                original.data = t.detach()
    elif leave_parametrized:
        t = getattr(module, tensor_name)
        original = Parameter(t) if t.requires_grad else t
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is "
            "parametrized in terms of a sequence of tensors."
        )
    delattr(module.__class__, tensor_name)
    del module.parametrizations[tensor_name]
    _register_parameter_or_buffer(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = module.__class__.__bases__[0]
    return module


def type_before_parametrizations(module: Any) -> type:
    """The class a module had before its first parametrization."""
    return module.__class__.__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Any, to_module: Any, tensor_name: str | None = None
) -> Any:
    """Give a module the parametrizations of another, and the parameters they need."""
    if not is_parametrized(from_module):
        return to_module
    if not isinstance(from_module.parametrizations, ModuleDict):
        raise AssertionError("parametrizations must be a ModuleDict")
    names = from_module.parametrizations if tensor_name is None else [tensor_name]
    for name in names:
        held = from_module.parametrizations[name]
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(held.original))
        for parametrization in held:
            register_parametrization(to_module, name, parametrization)
        if hasattr(held, "original"):
            to_module.parametrizations[name].original = held.original
        else:
            i = 0
            while hasattr(held, f"original{i}"):
                setattr(
                    to_module.parametrizations[name], f"original{i}", getattr(held, f"original{i}")
                )
                i += 1
    return to_module
