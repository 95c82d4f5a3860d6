"""Nested containers of values: flatten them, map over them, build them again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any


def flatten(tree: Any) -> list[Any]:
    """The leaves, depth first; dicts in their own order."""
    if isinstance(tree, dict):
        return [leaf for value in tree.values() for leaf in flatten(value)]
    if isinstance(tree, (list, tuple)):
        return [leaf for value in tree for leaf in flatten(value)]
    return [tree]


def map_tree(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """The same structure with every leaf replaced by ``function(leaf, *other leaves)``."""
    if isinstance(tree, dict):
        items = ((k, map_tree(function, v, *(o[k] for o in others))) for k, v in tree.items())
        return OrderedDict(items) if isinstance(tree, OrderedDict) else dict(items)
    if isinstance(tree, (list, tuple)):
        parts = [map_tree(function, v, *(o[i] for o in others)) for i, v in enumerate(tree)]
        return type(tree)(*parts) if hasattr(tree, "_fields") else type(tree)(parts)
    return function(tree, *others)


def broadcast_prefix(prefix: Any, tree: Any) -> list[Any]:
    """One value of ``prefix`` for every leaf of ``tree``: a value covers what is below it."""
    if isinstance(tree, dict) and isinstance(prefix, dict):
        return [x for k, v in tree.items() for x in broadcast_prefix(prefix[k], v)]
    if isinstance(tree, (list, tuple)) and isinstance(prefix, (list, tuple)):
        if len(prefix) != len(tree):
            raise ValueError(f"structure of {prefix!r} does not match {len(tree)} values")
        return [x for p, v in zip(prefix, tree, strict=True) for x in broadcast_prefix(p, v)]
    return [prefix] * len(flatten(tree))


def unflatten(tree: Any, leaves: list[Any]) -> Any:
    """``tree`` with its leaves replaced, in order."""
    it = iter(leaves)
    return map_tree(lambda _: next(it), tree)
