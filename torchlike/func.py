"""``torch.func``: function transforms, and modules as pure functions."""

from __future__ import annotations

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
        if name not in table:
            raise KeyError(f"the module has no parameter or buffer '{path}'")
        before[path] = table[name]
        table[name] = value
    return before


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
    dicts = parameter_and_buffer_dicts
    values = dict(dicts) if isinstance(dicts, dict) else {k: v for d in dicts for k, v in d.items()}
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
