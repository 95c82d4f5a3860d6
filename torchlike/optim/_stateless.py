"""An optimizer's step on other parameters and another state."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from functional.tensor import Tensor

from .optimizer import Optimizer

__all__ = ["swap_in_optimizer_params_and_state"]

_NAME = "swap_in_optimizer_params_and_state"
_STYLE = f"{_NAME} requires optimizer.state_dict()-style "


@contextmanager
def swap_in_optimizer_params_and_state(
    optimizer: Optimizer, swapin_parameters: dict[str, Tensor], swapin_optim_state: dict[str, Any]
) -> Iterator[None]:
    """A context in which the optimizer has these parameters, and the state of this state_dict.

    Parameters stand in the order of the optimizer's own. Afterwards everything is as before.
    Raises RuntimeError where groups, options or ids do not match.
    """
    groups, held = optimizer.param_groups, optimizer.state
    states, swapped = _checked(optimizer, swapin_optim_state)
    params = iter(_divided([len(g["params"]) for g in swapped], swapin_parameters))
    _check_ids(states, swapped)
    before = [dict(group) for group in groups]
    try:
        state: defaultdict[Any, Any] = defaultdict(dict)
        for group, other in zip(groups, swapped, strict=True):
            group.update({**other, "params": next(params)})
            for p, key in zip(group["params"], other["params"], strict=True):
                state[p] = dict(states.get(key, {}))
        optimizer.state = state
        yield
    finally:
        for group, old in zip(groups, before, strict=True):
            group.clear()
            group.update(old)
        optimizer.state = held


def _checked(optimizer: Optimizer, given: Any) -> tuple[dict[Any, Any], list[dict[str, Any]]]:
    """States by number, and groups."""
    if not optimizer.state:
        raise RuntimeError(f"{_NAME} requires initialized optimizer state.")
    if not isinstance(given, dict):
        raise RuntimeError(f"{_NAME} requires a DCP-style optimizer state_dict.")
    states, groups = given.get("state"), given.get("param_groups")
    _check_states(states)
    if not isinstance(groups, list):
        raise RuntimeError(
            f"{_NAME} requires swapin_optim_state['param_groups'] to be a list of param-group "
            f"dicts, got {type(groups).__name__}."
        )
    if len(optimizer.param_groups) != len(groups):
        raise RuntimeError(
            "swapin_optim_state has a different number of parameter groups than the live optimizer."
        )
    for i, (own, other) in enumerate(zip(optimizer.param_groups, groups, strict=True)):
        _check_group(i, own, other)
    return states, groups  # type: ignore[return-value]


def _check_states(states: Any) -> None:
    if not isinstance(states, dict):
        raise RuntimeError(
            f"{_NAME} requires swapin_optim_state['state'] to be a dict mapping packed parameter "
            f"ids to per-param state dicts, got {type(states).__name__}."
        )
    if any(isinstance(key, Tensor) for key in states):
        raise RuntimeError(f"{_STYLE}state keyed by packed parameter ids.")
    if any(isinstance(key, int) and not isinstance(s, dict) for key, s in states.items()):
        raise RuntimeError(
            f"{_NAME} requires per-parameter optimizer state entries to be dictionaries."
        )


def _check_group(i: int, own: dict[str, Any], other: Any) -> None:
    if not isinstance(other, dict):
        raise RuntimeError(f"{_NAME} requires each optimizer param group to be a dictionary.")
    ids = other.get("params")
    if not isinstance(ids, list) or not all(isinstance(key, int) for key in ids):
        raise RuntimeError(
            f"{_STYLE}param_groups[*]['params'] entries keyed by packed parameter ids."
        )
    if len(own["params"]) != len(ids):
        raise RuntimeError(
            f"swapin_optim_state param group {i} has a different number of params than the live "
            "optimizer param group."
        )
    extra, lacking = [k for k in other if k not in own], [k for k in own if k not in other]
    if extra or lacking:
        raise RuntimeError(
            f"{_STYLE}param group keys to exactly match the live optimizer group keys for group "
            f"{i}. Keys only in swap-in: {extra}. Keys only in live: {lacking}."
        )


def _divided(sizes: list[int], parameters: dict[str, Tensor]) -> list[list[Tensor]]:
    """The parameters by group."""
    flat, found = list(parameters.values()), []
    if sum(sizes) > len(flat):
        raise RuntimeError(
            f"{_NAME} requires the explicit parameter state to match optimizer.param_groups "
            "ordering."
        )
    for size in sizes:
        found.append(flat[:size])
        del flat[:size]
    return found


def _check_ids(states: dict[Any, Any], groups: list[dict[str, Any]]) -> None:
    known = {key for group in groups for key in group["params"]}
    extra = [key for key in states if key not in known]
    if extra:
        raise RuntimeError(
            f"{_NAME} requires swapin_optim_state['state'] to be keyed only by packed parameter "
            f"ids from param_groups[*]['params']; got extra keys {extra!r}."
        )
