"""``torch.func``: function transforms, and modules as pure functions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from functional.transforms import (
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    vjp,
    vmap,
)

__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "stack_module_state",
    "vjp",
    "vmap",
]


def _owner(module: Any, path: str) -> tuple[Any, str]:
    *parents, name = path.split(".")
    for parent in parents:
        module = getattr(module, parent)
    return module, name


def _exchange(module: Any, values: dict[str, Any]) -> dict[str, Any]:
    """Put tensors in the place of parameters and buffers; returns what was there."""
    before = {}
    for path, value in values.items():
        owner, name = _owner(module, path)
        table = owner._parameters if name in owner._parameters else owner._buffers
        before[path] = table[name]
        table[name] = value
    return before


def _merged(dicts: Any) -> dict[str, Any]:
    """All values by name; ValueError for names that are given twice."""
    if isinstance(dicts, dict):
        return dict(dicts)
    if not isinstance(dicts, (list, tuple)) or not all(isinstance(d, dict) for d in dicts):
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(dicts)}"
        )
    names = [name for d in dicts for name in d]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise ValueError(
            f"{twice} appeared in multiple dictionaries; behavior of functional call is ambiguous"
        )
    return {name: t for d in dicts for name, t in d.items()}


def names_of_each(members: Iterable[tuple[str, Any]]) -> list[list[str]]:
    """All the names of every parameter or buffer."""
    groups: dict[int, list[str]] = {}
    for name, t in members:
        groups.setdefault(id(t), []).append(name)
    return list(groups.values())


def _with_tied(values: dict[str, Any], members: dict[str, Any]) -> dict[str, Any]:
    """Values also for the other names of the same parameters."""
    full = dict(values)
    for names in names_of_each(members.items()):
        given = [name for name in names if name in values]
        if len({id(values[name]) for name in given}) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(given)}, which are tied. "
                "Consider using tie_weights=False"
            )
        if given:
            full |= dict.fromkeys(names, values[given[0]])
    return full


def _check_names(title: str, given: set[str], known: set[str]) -> None:
    parts = [
        f"{kind} key(s): {', '.join(map(repr, sorted(names)))}."
        for kind, names in (("Unexpected", given - known), ("Missing", known - given))
        if names
    ]
    if parts:
        raise RuntimeError(f"Error(s) in reparametrizing for {title}:\n\t" + "\n\t".join(parts))


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: Any = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call ``module`` with other parameters and buffers, given by name; the module is unchanged."""
    values = _merged(parameter_and_buffer_dicts)
    members = dict(module.named_parameters(remove_duplicate=False))
    members |= dict(module.named_buffers(remove_duplicate=False))
    if tie_weights:
        values = _with_tied(values, members)
    if strict:
        _check_names(type(module).__name__, set(values), set(members))
    values = {name: t for name, t in values.items() if name in members}
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    before = _exchange(module, values)
    try:
        return module(*args, **(kwargs or {}))
    finally:
        _exchange(module, before)


def stack_module_state(models: list[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and the buffers of equal modules, each stacked along a new first dimension."""
    from functional.tape.op import TENSOR

    def stacked(tables: list[dict[str, Any]]) -> dict[str, Any]:
        return {k: TENSOR.stack([t[k] for t in tables]).detach() for k in tables[0]}

    params = stacked([dict(m.named_parameters()) for m in models])
    for value in params.values():
        value.requires_grad_()
    return params, stacked([dict(m.named_buffers()) for m in models])
