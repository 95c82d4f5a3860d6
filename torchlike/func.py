"""``torch.func``: function transforms, and modules as pure functions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from functional.tape.wrappers import Wrapped
from functional.tensor import Tensor
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

from ._rearrange import rearrange

__all__ = [
    "debug_unwrap",
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "rearrange",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]


_MISSING = object()  # there was no such attribute


def _owner(module: Any, path: str) -> tuple[Any, str]:
    """The module that a name leads to, and the rest of the name."""
    from .nn import Module

    parents, _, name = path.rpartition(".")
    for parent in parents.split(".") if parents else ():
        child = getattr(module, parent, _MISSING)
        if child is _MISSING:
            raise AttributeError(f"{type(module).__name__} has no attribute `{parent}`")
        if not isinstance(child, Module):
            raise TypeError(f"submodule `{parent}`: {child} is not an instance of torch.nn.Module")
        module = child
    if not name:
        raise KeyError('tensor name can\'t be empty string ""')
    return module, name


def _exchange_one(owner: Any, name: str, value: Any) -> Any:
    """Put a tensor, None or nothing in an attribute's place; returns what was there."""
    if not (value is None or value is _MISSING or isinstance(value, Tensor)):
        raise TypeError(f"{value} is not an instance of torch.Tensor")
    for table in (owner._parameters, owner._buffers):
        if name in table:
            before = table[name]
            if value is _MISSING:
                del table[name]
            else:
                table[name] = value
            return before
    before = getattr(owner, name, _MISSING)
    if not (before is None or before is _MISSING or isinstance(before, Tensor)):
        raise TypeError(f"attribute `{name}`: {before} is not an instance of torch.Tensor")
    if value is not _MISSING:
        setattr(owner, name, value)
    elif before is not _MISSING:
        delattr(owner, name)
    return before


def _exchange(module: Any, values: dict[str, Any], before: dict[str, Any]) -> None:
    """Put tensors in the place of attributes; ``before`` gets what was there."""
    for path, value in values.items():
        before[path] = _exchange_one(*_owner(module, path), value)


def _merged(dicts: Any) -> dict[str, Any]:
    """All values by name; ValueError for names that are given twice."""
    if isinstance(dicts, dict):
        return dicts
    if not isinstance(dicts, (list, tuple)):
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(dicts)}"
        )
    if not all(isinstance(d, dict) for d in dicts):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
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
    """Call ``module`` with other parameters and buffers, given by name; the module is unchanged.

    What the call assigns to these names ends up in the dictionary. A tensor may also be given for
    an attribute that the module lacks, and None for any, unless ``strict`` refuses names that are
    neither parameters nor buffers, and asks for all of those. Raises RuntimeError for that,
    ValueError for tied parameters with different values, TypeError for other values than tensors.
    """
    given = _merged(parameter_and_buffer_dicts)
    values = given
    if tie_weights or strict:
        members = dict(module.named_parameters(remove_duplicate=False))
        members |= dict(module.named_buffers(remove_duplicate=False))
        if tie_weights:
            values = _with_tied(values, members)
        if strict:
            _check_names(type(module).__name__, set(values), set(members))
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}
    try:
        _exchange(module, values, before)
        return module(*args, **({} if kwargs is None else kwargs))
    finally:
        _exchange(module, dict(reversed(before.items())), after)
        given.update((k, t) for k, t in after.items() if k in given and t is not _MISSING)


def stack_module_state(models: list[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and the buffers of equal modules, each stacked along a new first dimension.

    Raises RuntimeError for modules of several classes or modes, and for none.
    """
    from functional.tape.op import TENSOR

    title = "stack_module_state: Expected"
    if len(models) == 0:
        raise RuntimeError(f"{title} at least one model, got 0.")
    if len({m.training for m in models}) > 1:
        raise RuntimeError(f"{title} all models to have the same training/eval mode.")
    if len({type(m) for m in models}) > 1:
        raise RuntimeError(f"{title} all models to be of the same class.")

    named = [dict(m.named_parameters()) for m in models]
    for name in named[0]:
        if len({table[name].requires_grad for table in named}) > 1:
            raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")

    def stacked(tables: list[dict[str, Any]]) -> dict[str, Any]:
        return {k: TENSOR.stack([t[k] for t in tables]).detach() for k in tables[0]}

    params = stacked(named)
    for name, value in params.items():
        value.requires_grad_(named[0][name].requires_grad)
    return params, stacked([dict(m.named_buffers()) for m in models])


def debug_unwrap(tensor: Tensor, *, recurse: bool = True) -> Tensor:
    """The tensor below a transform's level (below all, with ``recurse``): to look at, not to use.

    Raises ValueError for what is no tensor.
    """
    if not isinstance(tensor, Tensor):
        raise ValueError(f"Expected torch.Tensor, got {type(tensor)}")
    while isinstance(tensor, Wrapped):
        tensor = tensor._data
        if not recurse:
            break
    return tensor


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """``func`` as it is: what it computes without writing in place is the same.

    ``remove`` may be "mutations" or "mutations_and_views"; RuntimeError for anything else.
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            "functionalize(f, remove='mutations'): received invalid argument for remove=. Valid "
            "options are:\n     remove='mutations': all inplace and out= operators will be removed "
            "from the program, and replaced\n         with their out-of-place equivalents.\n     "
            "remove='mutations_and_views': In addition to the above, all aliasing operators {view} "
            "will be\n         replaced with their non-aliasing counterparts, {view}_copy.\n"
        )

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    return call


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """Have every batch normalization in ``root`` keep no running statistics; returns ``root``."""
    from .nn.modules.batchnorm import _BatchNorm

    for module in root.modules():
        if isinstance(module, _BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
