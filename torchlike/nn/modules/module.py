"""Module: the base class of layers and networks."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from functional.ops.views import kind_of
from functional.tensor import Tensor

from ..parameter import is_buffer, is_parameter
from . import hooks
from .hooks import (
    ANY,
    HooksMixin,
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from .state import StateMixin, _IncompatibleKeys
from .traversal import TraversalMixin

__all__ = [
    "Module",
    "_IncompatibleKeys",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]

# hooks of all modules
_global_buffer_registration_hooks: dict[int, Any] = OrderedDict()
_global_module_registration_hooks: dict[int, Any] = OrderedDict()
_global_parameter_registration_hooks: dict[int, Any] = OrderedDict()
_global_backward_pre_hooks: dict[int, Any] = OrderedDict()
_global_backward_hooks: dict[int, Any] = OrderedDict()
_global_is_full_backward_hook: bool | None = None  # None before the first
_global_forward_pre_hooks: dict[int, Any] = OrderedDict()
_global_forward_hooks: dict[int, Any] = OrderedDict()
_global_forward_hooks_always_called: dict[int, bool] = OrderedDict()
_global_forward_hooks_with_kwargs: dict[int, bool] = OrderedDict()
hooks.ALL.names = globals()


def type_name(value: Any) -> str:
    """The name error messages use: a tensor's legacy type, else module and class."""
    if isinstance(value, Tensor):
        return kind_of(value)
    cls = type(value)
    module = cls.__module__
    if module == "builtins" or not module:
        return cls.__qualname__
    return f"{module.replace('torchlike', 'torch', 1)}.{cls.__qualname__}"


def _check_name(self: Module, name: Any, what: str, held: dict[str, Any] | None) -> None:
    """The rules for names of parameters, buffers and modules."""
    if not isinstance(name, str):
        raise TypeError(f"{what} name should be a string. Got {type_name(name)}")
    if hasattr(self, name) and (held is None or name not in held):
        raise KeyError(f"attribute '{name}' already exists")
    if "." in name:
        tail = f", got: {name}" if what == "module" else ""
        raise KeyError(f'{what} name can\'t contain "."{tail}')
    if name == "":
        raise KeyError(f'{what} name can\'t be empty string ""')


def _need(held: Any, what: str) -> Any:
    if held is None:
        raise AttributeError(f"cannot assign {what} before Module.__init__() call")
    return held


def _addindent(text: str, spaces: int = 2) -> str:
    """``text`` with every line but the first moved to the right."""
    return text.replace("\n", "\n" + " " * spaces)


class Module(HooksMixin, StateMixin, TraversalMixin):
    """A layer or a network: parameters, buffers and submodules, and a ``forward``.

    Subclasses call ``super().__init__()``, assign parameters and modules as attributes, and
    define ``forward``; the module is then called like a function.
    """

    training: bool
    dump_patches = False
    call_super_init = False
    _version = 1
    _compiled_call_impl = None
    T_destination: Any = dict

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init:
            _refuse_arguments(args, kwargs)
        d = self.__dict__
        d["training"] = True
        d["_parameters"], d["_buffers"], d["_non_persistent_buffers_set"] = {}, {}, set()
        for name in hooks.DICTS:
            d[name] = None if name == "_is_full_backward_hook" else OrderedDict()
        d["_modules"] = {}
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def forward(self, *input: Any) -> Any:
        """What the module computes; subclasses define it."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        d = self.__dict__
        try:
            hooked = (
                d["_backward_hooks"]
                or d["_backward_pre_hooks"]
                or d["_forward_hooks"]
                or d["_forward_pre_hooks"]
                or ANY
            )
        except KeyError as error:  # Module.__init__ has not been called
            text = f"'{type(self).__name__}' object has no attribute '{error.args[0]}'"
            raise AttributeError(text) from None
        if hooked:
            return hooks.call(self, args, kwargs)
        return self.forward(*args, **kwargs)

    def _call_impl(self, *args: Any, **kwargs: Any) -> Any:
        return Module.__call__(self, *args, **kwargs)

    # --- registration -----------------------------------------------------------------------------

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is no parameter; a persistent one is part of ``state_dict``.

        Raises KeyError for a name that is taken, empty or has a dot, TypeError for a value that
        is neither a Tensor nor None.
        """
        buffers = _need(self.__dict__.get("_buffers"), "buffer")
        _check_name(self, name, "buffer", buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{type_name(tensor)}' object to buffer '{name}' "
                "(torch Tensor or None required)"
            )
        for hook in list(_global_buffer_registration_hooks.values()):
            changed = hook(self, name, tensor)
            tensor = tensor if changed is None else changed
        buffers[name] = tensor
        self._non_persistent_buffers_set.discard(name)
        if not persistent:
            self._non_persistent_buffers_set.add(name)

    def register_parameter(self, name: str, param: Any) -> None:
        """Add a parameter (or None, to reserve the name).

        Raises KeyError for a name that is taken, empty or has a dot, TypeError for a value that
        is no Parameter, ValueError for one that an operation has computed.
        """
        parameters = _need(self.__dict__.get("_parameters"), "parameter")
        _check_name(self, name, "parameter", parameters)
        if param is not None and not is_parameter(param):
            raise TypeError(
                f"cannot assign '{type_name(param)}' object to parameter '{name}' "
                "(torch.nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be "
                f"created explicitly. To express '{name}' as a function of another Tensor, "
                "compute the value in the forward() method."
            )
        for hook in list(_global_parameter_registration_hooks.values()):
            changed = hook(self, name, param)
            param = param if changed is None else changed
        parameters[name] = param

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a submodule (or None) under ``name``; errors as ``register_parameter``'s."""
        if not isinstance(module, Module) and module is not None:
            raise TypeError(f"{type_name(module)} is not a Module subclass")
        modules = _need(self.__dict__.get("_modules"), "module")
        _check_name(self, name, "module", modules)
        for hook in list(_global_module_registration_hooks.values()):
            changed = hook(self, name, module)
            module = module if changed is None else changed
        modules[name] = module

    def register_module(self, name: str, module: Module | None) -> None:
        """The same as ``add_module``."""
        self.add_module(name, module)

    # --- attributes -------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        d = self.__dict__
        if "_modules" in d:
            if name in d["_parameters"]:
                return d["_parameters"][name]
            if name in d["_modules"]:
                return d["_modules"][name]
            if name in d["_buffers"]:
                return d["_buffers"][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        d = self.__dict__
        parameters, modules, buffers = d.get("_parameters"), d.get("_modules"), d.get("_buffers")
        if is_parameter(value):
            _need(parameters, "parameters")
            self._forget(name, modules, buffers)
            self.register_parameter(name, value)
        elif parameters and name in parameters:
            if value is not None:
                raise _wrong(value, "parameter", name, "torch.nn.Parameter")
            self.register_parameter(name, None)
        elif isinstance(value, Module):
            _need(modules, "module")
            self._forget(name, parameters, buffers)
            self._set_module(name, value)
        elif modules and name in modules:
            if value is not None:
                raise _wrong(value, "child module", name, "torch.nn.Module")
            self._set_module(name, None)
        elif (buffers and name in buffers) or is_buffer(value):
            self._set_buffer(name, value)
        else:
            object.__setattr__(self, name, value)

    def _set_module(self, name: str, value: Module | None) -> None:
        for hook in list(_global_module_registration_hooks.values()):
            changed = hook(self, name, value)
            value = value if changed is None else changed
        self._modules[name] = value

    def _set_buffer(self, name: str, value: Any) -> None:
        buffers = self.__dict__.get("_buffers")
        if value is not None and not isinstance(value, Tensor):
            raise _wrong(value, "buffer", name, "torch.nn.Buffer, torch.Tensor")
        persistent = getattr(value, "persistent", True) if is_buffer(value) else True
        if buffers is None or name not in buffers:
            self.register_buffer(name, value, persistent)
            return
        for hook in list(_global_buffer_registration_hooks.values()):
            changed = hook(self, name, value)
            value = value if changed is None else changed
        buffers[name] = value

    def _forget(self, name: str, *held: dict[str, Any] | None) -> None:
        """Free a name that is about to be registered as something else."""
        d = self.__dict__
        d.pop(name, None)
        for names in held:
            if names:
                names.pop(name, None)
        if d.get("_non_persistent_buffers_set"):
            d["_non_persistent_buffers_set"].discard(name)

    def __delattr__(self, name: str) -> None:
        d = self.__dict__
        for held in ("_parameters", "_buffers", "_modules"):
            if name in d.get(held, ()):
                del d[held][name]
                if held == "_buffers":
                    d["_non_persistent_buffers_set"].discard(name)
                return
        try:
            object.__delattr__(self, name)
        except AttributeError:
            text = f"'{type(self).__name__}' object has no attribute '{name}'"
            raise AttributeError(text) from None

    def __dir__(self) -> list[str]:
        names = [*dir(type(self)), *self.__dict__]
        names += [*self._parameters, *self._modules, *self._buffers]
        return sorted(name for name in names if not name[:1].isdigit())

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state.pop("_compiled_call_impl", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        d = self.__dict__
        d.setdefault("_non_persistent_buffers_set", set())
        for name in hooks.DICTS:  # what modules of older releases did not have
            default = None if name == "_is_full_backward_hook" else OrderedDict()
            d.setdefault(name, default)

    # --- printing ---------------------------------------------------------------------------------

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What the printed form says about the module itself: one line, or several."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        own = extra.split("\n") if extra else []
        children = [f"({name}): {_addindent(repr(m))}" for name, m in self._modules.items()]
        if not own and not children:
            return f"{self._get_name()}()"
        if len(own) == 1 and not children:
            return f"{self._get_name()}({own[0]})"
        return f"{self._get_name()}(\n  " + "\n  ".join([*own, *children]) + "\n)"


for _part in (HooksMixin, StateMixin, TraversalMixin):
    for _name, _member in vars(_part).items():
        if callable(_member):
            _member.__qualname__ = f"Module.{_name}"  # the name error messages show


def _refuse_arguments(args: Any, kwargs: Any) -> None:
    if kwargs:
        name = next(iter(kwargs))
        raise TypeError(f"Module.__init__() got an unexpected keyword argument '{name}'")
    if args:
        raise TypeError(
            f"Module.__init__() takes 1 positional argument but {len(args) + 1} were given"
        )


def _wrong(value: Any, what: str, name: str, wanted: str) -> TypeError:
    return TypeError(
        f"cannot assign '{type_name(value)}' as {what} '{name}' ({wanted} or None expected)"
    )
