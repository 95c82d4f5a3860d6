"""What layers do with arguments, and names of ``state_dict``'s entries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Any

__all__ = ["consume_prefix_in_state_dict_if_present"]


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    """A function that makes a tuple of anything iterable, and repeats everything else n times."""

    def parse(x: Any) -> tuple[Any, ...]:
        return tuple(x) if isinstance(x, Iterable) else tuple(repeat(x, n))

    parse.__name__ = name
    return parse


_single, _pair = _ntuple(1, "_single"), _ntuple(2, "_pair")
_triple, _quadruple = _ntuple(3, "_triple"), _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(t: Sequence[Any], n: int) -> tuple[Any, ...]:
    """(1, 2), 2 -> (2, 2, 1, 1)."""
    return tuple(x for x in reversed(t) for _ in range(n))


def _list_with_default(out_size: Any, defaults: Sequence[int]) -> Any:
    """``out_size`` with the last of ``defaults`` in the places of its Nones."""
    if isinstance(out_size, (int, str)):
        return out_size
    if len(defaults) <= len(out_size):
        raise ValueError(f"Input dimension should be at least {len(out_size) + 1}")
    own = defaults[len(defaults) - len(out_size) :]
    return [d if v is None else v for v, d in zip(out_size, own)]


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Take ``prefix`` off the names in a ``state_dict`` (and in its metadata) that have it."""
    for key in list(state_dict):
        if key.startswith(prefix):
            state_dict[key.removeprefix(prefix)] = state_dict.pop(key)
    metadata = getattr(state_dict, "_metadata", None)
    for key in list(metadata or ()):
        if key and (key == prefix.replace(".", "") or key.startswith(prefix)):
            metadata[key[len(prefix) :]] = metadata.pop(key)
