"""state_dict and load_state_dict of modules."""

from __future__ import annotations

import weakref
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Mapping
from typing import Any

from functional.blame import warn
from functional.kernels.meta import MetaArray
from functional.modes import no_grad
from functional.tensor import Tensor

from ... import __future__ as conversion
from ...utils.hooks import RemovableHandle
from ..parameter import Parameter, is_lazy, is_parameter
from .conversion import swap

EXTRA = "_extra_state"


class _IncompatibleKeys(namedtuple("IncompatibleKeys", "missing_keys unexpected_keys")):
    """What ``load_state_dict`` did not find, and what it found no use for."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return (
            f"_IncompatibleKeys(missing_keys={self.missing_keys}, "
            f"unexpected_keys={self.unexpected_keys})"
        )

    __str__ = __repr__


def _add(hooks: dict[int, Any], hook: Callable[..., Any]) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


class _Replacing:
    """A hook whose result replaces the dictionary; the public kind may not return one."""

    def __init__(self, hook: Callable[..., Any]) -> None:
        self.hook = hook

    def __call__(self, *args: Any) -> Any:
        return self.hook(*args)


class _WithModule:
    """A load hook that is told the module it belongs to, which it does not keep alive."""

    def __init__(self, hook: Callable[..., Any], module: Any) -> None:
        self.hook, self.module = hook, weakref.ref(module)

    def __call__(self, *args: Any) -> Any:
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args)

    def __getstate__(self) -> dict[str, Any]:
        return {"hook": self.hook, "module": self.module()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if state["module"] is None:
            raise RuntimeError("You are trying to revive the hook of a dead Module!")
        self.hook, self.module = state["hook"], weakref.ref(state["module"])


class StateMixin:
    """The part of Module that saves and loads its tensors."""

    _version: int
    _modules: dict[str, Any]
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _state_dict_hooks: dict[int, Any]
    _state_dict_pre_hooks: dict[int, Any]
    _load_state_dict_pre_hooks: dict[int, Any]
    _load_state_dict_post_hooks: dict[int, Any]

    # --- saving -----------------------------------------------------------------------------------

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        return _add(self._state_dict_hooks, _Replacing(hook))

    def register_state_dict_post_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata)`` after saving."""
        return _add(self._state_dict_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Call ``hook(module, prefix, keep_vars)`` before saving."""
        return _add(self._state_dict_pre_hooks, hook)

    def get_extra_state(self) -> Any:
        """What else belongs in the ``state_dict``; subclasses define both this and its twin."""
        raise _never("get_extra_state")

    def set_extra_state(self, state: Any) -> None:
        """Take back what ``get_extra_state`` returned."""
        raise _never("set_extra_state")

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        skip = self._non_persistent_buffers_set
        own = {n: t for n, t in self._buffers.items() if n not in skip}
        for name, t in [*self._parameters.items(), *own.items()]:
            if t is not None:
                destination[prefix + name] = t if keep_vars else t.detach()
        if type(self).get_extra_state is not StateMixin.get_extra_state:
            destination[prefix + EXTRA] = self.get_extra_state()

    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """All parameters and persistent buffers by name, as an OrderedDict.

        The tensors share memory with the module's; they are detached unless ``keep_vars``.
        """
        if args:
            destination, prefix, keep_vars = _old_arguments(args, destination, prefix, keep_vars)
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in list(self._state_dict_pre_hooks.values()):
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(
                    destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars
                )
        for hook in list(self._state_dict_hooks.values()):
            found = hook(self, destination, prefix, metadata)
            if isinstance(hook, _Replacing):
                destination = destination if found is None else found
            elif found is not None:
                raise RuntimeError("state_dict post-hook must return None")
        return destination

    # --- loading ----------------------------------------------------------------------------------

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        entry = _WithModule(hook, self) if with_module else hook
        return _add(self._load_state_dict_pre_hooks, entry)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata, strict, missing_keys,
        unexpected_keys, error_msgs)`` before the module loads its own tensors."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def register_load_state_dict_post_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Call ``hook(module, incompatible_keys)`` after loading; it may change the lists."""
        return _add(self._load_state_dict_post_hooks, hook)

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load the module's own tensors, not its submodules'; problems go into the lists."""
        for hook in list(self._load_state_dict_pre_hooks.values()):
            hook(
                state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                error_msgs,
            )  # fmt: skip
        assign = local_metadata.get("assign_to_params_buffers", False)
        skip = self._non_persistent_buffers_set
        own = {n: t for n, t in self._buffers.items() if n not in skip}
        local = {n: t for n, t in {**self._parameters, **own}.items() if t is not None}
        for name, t in local.items():
            key = prefix + name
            if key in state_dict:
                _load_one(self, name, t, key, state_dict[key], assign, error_msgs)
            elif strict:
                missing_keys.append(key)
        self._load_extra_state(state_dict, prefix + EXTRA, strict, missing_keys, unexpected_keys)
        if strict:
            unexpected_keys.extend(self._unexpected(state_dict, prefix, local))

    def _load_extra_state(
        self, state: Any, key: str, strict: bool, missing: list[str], unexpected: list[str]
    ) -> None:
        if type(self).set_extra_state is not StateMixin.set_extra_state:
            if key in state:
                self.set_extra_state(state[key])
            elif strict:
                missing.append(key)
        elif strict and key in state:
            unexpected.append(key)

    def _unexpected(self, state: Any, prefix: str, local: dict[str, Any]) -> list[str]:
        found = []
        for key in state:
            if key.startswith(prefix) and key != prefix + EXTRA:
                first, dot, _ = key[len(prefix) :].partition(".")
                if first not in (self._modules if dot else local):
                    found.append(key)
        return found

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> Any:
        """Copy tensors saved by ``state_dict`` into this module.

        With ``assign`` the module takes the tensors themselves. Returns the lists of missing and
        unexpected keys; raises RuntimeError that lists every mismatch, those two kinds only if
        ``strict``, and TypeError for what is not a mapping.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        loading = _Loading(strict, assign, getattr(state_dict, "_metadata", None))
        state = OrderedDict(state_dict)
        if loading.metadata is not None:
            state._metadata = loading.metadata  # type: ignore[attr-defined]
        loading.module(self, state, "")
        if strict:
            loading.list_keys()
        if loading.errors:
            raise RuntimeError(
                "Error(s) in loading state_dict for {}:\n\t{}".format(
                    type(self).__name__, "\n\t".join(loading.errors)
                )
            )
        return _IncompatibleKeys(loading.missing, loading.unexpected)


class _Loading:
    """One ``load_state_dict``: what it has found so far."""

    def __init__(self, strict: bool, assign: bool, metadata: Any) -> None:
        self.strict, self.assign, self.metadata = strict, assign, metadata
        self.missing: list[str] = []
        self.unexpected: list[str] = []
        self.errors: list[str] = []

    def module(self, module: Any, state: Any, prefix: str) -> None:
        """Load a module and everything below it."""
        local = {} if self.metadata is None else self.metadata.get(prefix[:-1], {})
        if self.assign:
            local["assign_to_params_buffers"] = True
        module._load_from_state_dict(
            state, prefix, local, True, self.missing, self.unexpected, self.errors
        )
        for name, child in module._modules.items():
            if child is not None:
                start = f"{prefix}{name}."
                part = {key: value for key, value in state.items() if key.startswith(start)}
                self.module(child, part, start)
        both = _IncompatibleKeys(self.missing, self.unexpected)
        for hook in list(module._load_state_dict_post_hooks.values()):
            if hook(module, both) is not None:
                raise AssertionError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not "
                    "expected to return new values, if incompatible_keys need to be modified, "
                    "it should be done inplace."
                )

    def list_keys(self) -> None:
        """Missing and unexpected keys, before the errors found on the way."""
        first = []
        for what, keys in (("Missing", self.missing), ("Unexpected", self.unexpected)):
            if keys:
                names = ", ".join(f'"{key}"' for key in keys)
                first.append(f"{what} key(s) in state_dict: {names}. ")
        self.errors[:0] = first


def _load_one(
    module: Any, name: str, t: Any, key: str, given: Any, assign: bool, errors: list[str]
) -> None:
    if not isinstance(given, Tensor):
        errors.append(
            f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like '
            f"object from checkpoint but received {type(given)}"
        )
        return
    lazy = is_lazy(t)
    if not lazy and t.ndim == 0 and given.ndim == 1 and given.numel() == 1:
        given = given[0]  # scalars of very old checkpoints
    if not lazy and given.shape != t.shape:
        errors.append(
            f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, "
            f"the shape in current model is {t.shape}."
        )
        return
    if type(t._data) is MetaArray and type(given._data) is not MetaArray and not assign:
        _warn_meta(key)
    try:
        with no_grad():
            if assign:
                _assign(module, name, t, given)
            else:
                (t.data if lazy else t).copy_(given.data if is_lazy(given) else given)
    except Exception as error:
        errors.append(
            f'While copying the parameter named "{key}", whose dimensions in the model are '
            f"{t.size()} and whose dimensions in the checkpoint are {given.size()}, an exception "
            f"occurred : {error.args}."
        )


def _assign(module: Any, name: str, old: Any, given: Any) -> None:
    if is_parameter(old):
        if is_parameter(given):
            given.requires_grad_(old.requires_grad)
        else:
            given = Parameter(given, requires_grad=old.requires_grad)
        if conversion.get_swap_module_params_on_conversion():
            swap(old, given, f"Couldn't swap {type(module).__name__}.{name}")
            return
    setattr(module, name, given)


def _warn_meta(key: str) -> None:
    warn(
        f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter in "
        "the current model, which is a no-op. (Did you mean to pass `assign=True` to assign "
        "items in the state dictionary to their corresponding key in the module instead of "
        "copying them in place?)",
    )


def _never(name: str) -> RuntimeError:
    return RuntimeError(
        f"Reached a code path in Module.{name}() that should never be called. Please file an "
        "issue at https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml to "
        "report this bug."
    )


def _old_arguments(args: Any, destination: Any, prefix: str, keep_vars: bool) -> Any:
    warn(
        "Positional args are being deprecated, use kwargs instead. Refer to "
        "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict "
        "for details.",
        FutureWarning,
    )
    given = [*args[:3], *(None,) * (3 - len(args))]
    return (
        given[0] if destination is None else destination,
        given[1] if len(args) > 1 and prefix == "" else prefix,
        given[2] if len(args) > 2 and keep_vars is False else keep_vars,
    )
