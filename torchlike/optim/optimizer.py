"""Optimizer: parameter groups, state, and what all optimizers share."""

from __future__ import annotations

import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from itertools import chain
from typing import Any

from functional.blame import warn
from functional.modes import no_grad
from functional.ops.views import kind_of
from functional.tensor import Tensor

from ..nn.modules.traversal import clear_grad
from ..utils.hooks import RemovableHandle

__all__ = [
    "Optimizer",
    "register_optimizer_step_post_hook",
    "register_optimizer_step_pre_hook",
    "required",
]

_PRE: dict[int, Any] = OrderedDict()  # hooks of every optimizer's step
_POST: dict[int, Any] = OrderedDict()
_HOOKS = tuple(
    f"_optimizer_{kind}_hooks"
    for kind in ("step_pre", "step_post", "state_dict_pre", "state_dict_post",
                 "load_state_dict_pre", "load_state_dict_post")
)  # fmt: skip


class _RequiredParameter:
    def __repr__(self) -> str:
        return "<required parameter>"


required = _RequiredParameter()


def _add(hooks: Any, hook: Any, prepend: bool = False) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` before every optimizer's step."""
    return _add(_PRE, hook)


def register_optimizer_step_post_hook(hook: Callable[..., None]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` after every optimizer's step."""
    return _add(_POST, hook)


def _hooked(step: Callable[..., Any]) -> Callable[..., Any]:
    """A class's ``step`` with its hooks around it."""

    @functools.wraps(step)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        self = args[0]
        before, after = self._optimizer_step_pre_hooks, self._optimizer_step_post_hooks
        if not (before or after or _PRE or _POST):
            return step(*args, **kwargs)
        for hook in list(chain(_PRE.values(), before.values())):
            found = hook(self, args, kwargs)
            if found is None:
                continue
            if not (isinstance(found, tuple) and len(found) == 2):
                raise RuntimeError(
                    f"{step} must return None or a tuple of (new_args, new_kwargs), but got "
                    f"{found}."
                )
            args, kwargs = found
        out = step(*args, **kwargs)
        for hook in list(chain(after.values(), _POST.values())):
            hook(self, args, kwargs)
        return out

    wrapper.hooked = True  # type: ignore[attr-defined]
    return wrapper


class Optimizer:
    """Base of optimizers: ``params`` are tensors, (name, tensor) pairs, or dicts of groups.

    ``defaults`` are the options of groups that do not give their own. Subclasses define
    ``step``.
    """

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self._prepare()
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or "
                f"dicts, but got {kind_of(params)}"
            )
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def _prepare(self) -> None:
        """What is neither state nor options: hooks."""
        for name in _HOOKS:
            self.__dict__.setdefault(name, OrderedDict())
        self._zero_grad_profile_name = f"Optimizer.zero_grad#{type(self).__name__}.zero_grad"
        cls = type(self)
        if not getattr(cls.step, "hooked", False):
            cls.step = _hooked(cls.step)  # type: ignore[method-assign]

    def __getstate__(self) -> dict[str, Any]:
        return {
            "defaults": self.defaults,
            "state": self.state,
            "param_groups": self.param_groups,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare()
        self.defaults.setdefault("differentiable", False)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {i}")
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
            lines.append("")
        lines[-1:] = [")"] if self.param_groups else [*lines[-1:], ")"]
        return "\n".join(lines)

    # --- groups -----------------------------------------------------------------------------------

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group, ``{"params": ..., option: value, ...}``.

        Raises TypeError for what is no dict or no tensors, ValueError for tensors that an
        operation has computed, or that another group has.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = _as_list(param_group["params"])
        _take_names(param_group, params)
        for param in param_group["params"]:
            self._check_param(param)
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(
                    f"parameter group didn't specify a value of required optimization parameter "
                    f"{name}"
                )
            param_group.setdefault(name, default)
        self._check_group(param_group)
        self.param_groups.append(param_group)

    def _check_param(self, param: Any) -> None:
        if not isinstance(param, Tensor):
            raise TypeError(
                "optimizer can only optimize Tensors, but one of the params is "
                f"{type(param).__name__}"
            )
        if not self.defaults.get("differentiable") and not (param.is_leaf or param.retains_grad):
            raise ValueError("can't optimize a non-leaf Tensor")

    def _check_group(self, group: dict[str, Any]) -> None:
        params = group["params"]
        if len(params) != len(set(params)):
            warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this "
                "will cause an error; see github.com/pytorch/pytorch/issues/40967 for more "
                "information",
            )
        known: set[Any] = set()
        for other in self.param_groups:
            known.update(other["params"])
            if ("param_names" in group) != ("param_names" in other):
                has = "with" if "param_names" in group else "without"
                raise ValueError(
                    "all optimizer param groups should be with/without names. cannot add param "
                    f"group {has} names to the optimizer"
                )
        if not known.isdisjoint(params):
            raise ValueError("some parameters appear in more than one parameter group")

    # --- gradients --------------------------------------------------------------------------------

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or fill them with zeros."""
        for group in self.param_groups:
            if set_to_none:
                for p in group["params"]:
                    p._grad = None
            else:
                for p in group["params"]:
                    clear_grad(p, False)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One update of all parameters; ``closure`` recomputes and returns the loss."""
        raise NotImplementedError

    # --- hooks ------------------------------------------------------------------------------------

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before ``step``; a result replaces both."""
        return _add(self._optimizer_step_pre_hooks, hook)  # type: ignore[attr-defined]

    def register_step_post_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after ``step``."""
        return _add(self._optimizer_step_post_hooks, hook)  # type: ignore[attr-defined]

    def register_state_dict_pre_hook(
        self, hook: Callable[..., None], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer)`` before ``state_dict``."""
        return _add(self._optimizer_state_dict_pre_hooks, hook, prepend)  # type: ignore[attr-defined]

    def register_state_dict_post_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` after ``state_dict``; a result replaces it."""
        return _add(self._optimizer_state_dict_post_hooks, hook, prepend)  # type: ignore[attr-defined]

    def register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` before loading; a result replaces it."""
        return _add(self._optimizer_load_state_dict_pre_hooks, hook, prepend)  # type: ignore[attr-defined]

    def register_load_state_dict_post_hook(
        self, hook: Callable[..., None], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer)`` after loading."""
        return _add(self._optimizer_load_state_dict_post_hooks, hook, prepend)  # type: ignore[attr-defined]

    # --- saving and loading -----------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """State and groups, with parameters replaced by their number in order."""
        for hook in list(self._optimizer_state_dict_pre_hooks.values()):  # type: ignore[attr-defined]
            hook(self)
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            for p in group["params"]:
                numbers.setdefault(id(p), len(numbers))
            packed = {key: value for key, value in group.items() if key != "params"}
            packed["params"] = [numbers[id(p)] for p in group["params"]]
            groups.append(packed)
        state = {
            numbers[id(key)] if isinstance(key, Tensor) else key: value
            for key, value in self.state.items()
        }
        result: dict[str, Any] = {"state": state, "param_groups": groups}
        for hook in list(self._optimizer_state_dict_post_hooks.values()):  # type: ignore[attr-defined]
            found = hook(self, result)
            result = result if found is None else found
        return result

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from what ``state_dict`` returned; parameters are matched by their order.

        Raises ValueError where the groups do not have the same sizes.
        """
        with no_grad():
            state_dict = state_dict.copy()
            for hook in list(self._optimizer_load_state_dict_pre_hooks.values()):  # type: ignore[attr-defined]
                found = hook(self, state_dict)
                state_dict = state_dict if found is None else found
            groups, saved = self.param_groups, deepcopy(state_dict["param_groups"])
            _check_sizes(groups, saved)
            of = dict(
                zip(
                    chain.from_iterable(g["params"] for g in saved),
                    chain.from_iterable(g["params"] for g in groups),
                    strict=True,
                )
            )
            options = {id_: g for g in saved for id_ in g["params"]}
            state: defaultdict[Any, Any] = defaultdict(dict)
            for key, value in state_dict["state"].items():
                if key in of:
                    state[of[key]] = _cast(of[key], value, options[key])
                else:
                    state[key] = value
            self.__setstate__({"state": state, "param_groups": _merged(groups, saved)})
            for hook in list(self._optimizer_load_state_dict_post_hooks.values()):  # type: ignore[attr-defined]
                hook(self)


def _as_list(params: Any) -> list[Any]:
    if isinstance(params, Tensor):
        return [params]
    if isinstance(params, set):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the ordering "
            "of tensors in sets will change between runs. Please use a list instead."
        )
    return list(params)


def _take_names(group: dict[str, Any], params: list[Any]) -> None:
    """Split (name, parameter) pairs into the group's ``params`` and ``param_names``."""
    named = [isinstance(p, tuple) for p in params]
    if not any(named):
        group["params"] = params
        return
    if not all(named):
        raise ValueError(
            "all optimizer params should be with/without names. Some param names are missing"
        )
    group["params"] = [p for _, p in params]
    group["param_names"] = [name for name, _ in params]


def _check_sizes(groups: list[Any], saved: list[Any]) -> None:
    if len(groups) != len(saved):
        raise ValueError("loaded state dict has a different number of parameter groups")
    if any(len(a["params"]) != len(b["params"]) for a, b in zip(groups, saved, strict=True)):
        raise ValueError(
            "loaded state dict contains a parameter group that doesn't match the size of "
            "optimizer's group"
        )


def _merged(groups: list[Any], saved: list[Any]) -> list[dict[str, Any]]:
    """The saved options with this optimizer's own parameters (and names, if none are saved)."""
    for old, new in zip(groups, saved, strict=True):
        new["params"] = old["params"]
        if "param_names" in old:
            new.setdefault("param_names", old["param_names"])
    return saved


def _cast(param: Any, value: Any, options: dict[str, Any], key: Any = None) -> Any:
    """Saved state in the dtype and on the device of its parameter."""
    if isinstance(value, Tensor):
        if key == "step":  # a count, which half precision could not hold
            on_device = options.get("capturable") or options.get("fused")
            return value.float().to(param.device) if on_device else value
        if param.is_floating_point():
            return value.to(dtype=param.dtype, device=param.device)
        return value.to(device=param.device)
    if isinstance(value, dict):
        return {k: _cast(param, v, options, k) for k, v in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return type(value)(_cast(param, v, options) for v in value)  # type: ignore[call-arg]
    return value
