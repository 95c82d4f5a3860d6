"""Hooks of modules: registering them, and calling a module that has some."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from functional.blame import warn
from functional.tensor import Tensor

from ...utils.hooks import RemovableHandle
from .backward_hooks import BackwardHook, attach_old_style

# the attributes every module has for hooks, in PyTorch's order (pickles hold them)
DICTS = (
    "_backward_pre_hooks",
    "_backward_hooks",
    "_is_full_backward_hook",
    "_forward_hooks",
    "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called",
    "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
    "_state_dict_hooks",
    "_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)

# every hook that sees all modules' calls, of whatever kind
ANY: dict[int, Any] = OrderedDict()


class _Everywhere:
    """The hooks of all modules, by kind: dictionaries under PyTorch's names in ``module.py``.

    They are looked up there each time, as programs put other dictionaries in their place.
    """

    names: dict[str, Any]  # of ``module.py``

    def __getattr__(self, kind: str) -> Any:
        return self.names[f"_global_{kind}"]


ALL = _Everywhere()


def _add(hooks: Any, hook: Any, prepend: bool = False, flags: Any = (), extra: Any = ()) -> Any:
    """Register ``hook``; ``flags`` are (dictionary, wanted) pairs that mark it under its id."""
    handle = RemovableHandle(hooks, extra_dict=[*(d for d, _ in flags), *extra])
    hooks[handle.id] = hook
    for marks, wanted in flags:
        if wanted:
            marks[handle.id] = True
    for also in extra:
        also[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


class HooksMixin:
    """The part of Module that registers hooks."""

    _backward_hooks: dict[int, Any]
    _backward_pre_hooks: dict[int, Any]
    _is_full_backward_hook: bool | None
    _forward_hooks: dict[int, Any]
    _forward_hooks_with_kwargs: dict[int, bool]
    _forward_hooks_always_called: dict[int, bool]
    _forward_pre_hooks: dict[int, Any]
    _forward_pre_hooks_with_kwargs: dict[int, bool]

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before ``forward``; a result replaces the arguments.

        With ``with_kwargs`` it is ``hook(module, args, kwargs)`` and returns both or None.
        """
        flags = [(self._forward_pre_hooks_with_kwargs, with_kwargs)]
        return _add(self._forward_pre_hooks, hook, prepend, flags)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after ``forward``; a result replaces the output.

        With ``always_call`` the hook also runs when ``forward`` or another hook raises.
        """
        flags = [
            (self._forward_hooks_with_kwargs, with_kwargs),
            (self._forward_hooks_always_called, always_call),
        ]
        return _add(self._forward_hooks, hook, prepend, flags)

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` when the output's gradients are known."""
        return _add(self._backward_pre_hooks, hook, prepend)

    def register_full_backward_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` when the inputs' gradients are known.

        A result replaces ``grad_input``. Raises RuntimeError on a module that has old-style
        backward hooks.
        """
        if self._is_full_backward_hook is False:
            raise RuntimeError(_mixed("single Module"))
        self._is_full_backward_hook = True
        return _add(self._backward_hooks, hook, prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """The old style: the gradients are those of the output's own node only."""
        if self._is_full_backward_hook is True:
            raise RuntimeError(_mixed("single Module"))
        self._is_full_backward_hook = False
        return _add(self._backward_hooks, hook)

    def _get_backward_hooks(self) -> tuple[list[Any], list[Any]]:
        """(full hooks, old-style hooks), those of all modules first."""
        everywhere, own = list(ALL.backward_hooks.values()), list(self._backward_hooks.values())
        full = (everywhere if ALL.is_full_backward_hook is True else []) + (
            own if self._is_full_backward_hook is True else []
        )
        old = (everywhere if ALL.is_full_backward_hook is False else []) + (
            own if self._is_full_backward_hook is False else []
        )
        return full, old

    def _get_backward_pre_hooks(self) -> list[Any]:
        return [*ALL.backward_pre_hooks.values(), *self._backward_pre_hooks.values()]


def _mixed(where: str) -> str:
    return (
        "Cannot use both regular backward hooks and full backward hooks on a "
        f"{where}. Please use only one of them."
    )


# --- hooks of all modules -------------------------------------------------------------------------


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, args)`` before the ``forward`` of every module."""
    return _add(ALL.forward_pre_hooks, hook, extra=[ANY])


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call ``hook(module, args, output)`` after the ``forward`` of every module."""
    flags = [
        (ALL.forward_hooks_with_kwargs, with_kwargs),
        (ALL.forward_hooks_always_called, always_call),
    ]
    return _add(ALL.forward_hooks, hook, flags=flags, extra=[ANY])


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """``register_full_backward_pre_hook`` for every module."""
    return _add(ALL.backward_pre_hooks, hook, extra=[ANY])


def _register_backward(hook: Callable[..., Any], full: bool) -> RemovableHandle:
    if ALL.is_full_backward_hook is (not full):
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module "
            "hook. Please use only one of them."
        )
    ALL.names["_global_is_full_backward_hook"] = full
    return _add(ALL.backward_hooks, hook, extra=[ANY])


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """``register_full_backward_hook`` for every module."""
    return _register_backward(hook, True)


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """``register_backward_hook`` for every module."""
    return _register_backward(hook, False)


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, buffer)`` when a buffer is registered; a result replaces it."""
    return _add(ALL.buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, submodule)`` when one is registered; a result replaces it."""
    return _add(ALL.module_registration_hooks, hook)


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, parameter)`` when one is registered; a result replaces it."""
    return _add(ALL.parameter_registration_hooks, hook)


# --- calling a module that has hooks --------------------------------------------------------------


def call(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call ``module`` with all its hooks."""
    always = ALL.forward_hooks_always_called or module._forward_hooks_always_called
    if not always:
        return _Call(module, args, kwargs).run()
    current = _Call(module, args, kwargs)
    try:
        return current.run()
    except Exception:
        current.run_always_called()
        raise


class _Call:
    """One call of a module: what its arguments and its result have become so far."""

    def __init__(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.module, self.args, self.kwargs = module, args, kwargs
        self.result: Any = None
        self.called: set[int] = set()  # always-called hooks that have had their turn

    def run(self) -> Any:
        module = self.module
        full, old = module._get_backward_hooks()
        before = module._get_backward_pre_hooks()
        self._forward_pre_hooks()
        backward = BackwardHook(module, full, before) if full or before else None
        if backward is not None:
            self.args = backward.watch_inputs(self.args)
        self.result = module.forward(*self.args, **self.kwargs)
        self._forward_hooks()
        if backward is not None:
            if not isinstance(self.result, (Tensor, tuple)):
                warn(
                    "For backward hooks to be called, module output should be a Tensor or a "
                    f"tuple of Tensors but received {type(self.result)}",
                )
            self.result = backward.watch_outputs(self.result)
        if old:
            attach_old_style(module, old, self.args, self.result)
        return self.result

    def _forward_pre_hooks(self) -> None:
        module = self.module
        for key, hook in [*ALL.forward_pre_hooks.items(), *module._forward_pre_hooks.items()]:
            if key in module._forward_pre_hooks_with_kwargs:
                found = hook(module, self.args, self.kwargs)
                if found is None:
                    continue
                if not (isinstance(found, tuple) and len(found) == 2):
                    raise RuntimeError(
                        "forward pre-hook must return None or a tuple of (new_args, new_kwargs), "
                        f"but got {found}."
                    )
                self.args, self.kwargs = found
            else:
                found = hook(module, self.args)
                if found is not None:
                    self.args = found if isinstance(found, tuple) else (found,)

    def _call_one(self, key: int, hook: Any, kwargs: Any) -> None:
        if key in kwargs:
            found = hook(self.module, self.args, self.kwargs, self.result)
        else:
            found = hook(self.module, self.args, self.result)
        if found is not None:
            self.result = found

    def _forward_hooks(self) -> None:
        module = self.module
        for hooks, kwargs, always in (
            (ALL.forward_hooks, ALL.forward_hooks_with_kwargs, ALL.forward_hooks_always_called),
            (
                module._forward_hooks,
                module._forward_hooks_with_kwargs,
                module._forward_hooks_always_called,
            ),
        ):
            for key, hook in list(hooks.items()):
                if key in always:
                    self.called.add(key)
                self._call_one(key, hook, kwargs)

    def run_always_called(self) -> None:
        """After an error: the always-called hooks that have not run; their errors only warn."""
        module = self.module
        left = [
            (key, ALL.forward_hooks[key], ALL.forward_hooks_with_kwargs, "global module")
            for key in [*ALL.forward_hooks_always_called]
        ] + [
            (key, module._forward_hooks[key], module._forward_hooks_with_kwargs, "module")
            for key in [*module._forward_hooks_always_called]
        ]
        for key, hook, kwargs, kind in left:
            if key in self.called:
                continue
            try:
                self._call_one(key, hook, kwargs)
            except Exception as error:
                warn(
                    f"{kind} forward hook with ``always_call=True`` raised an exception that was "
                    f"silenced as another error was raised in forward: {error}",
                )
