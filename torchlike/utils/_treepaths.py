"""Where in a tree a leaf is: tuples of keys."""

from __future__ import annotations

import dataclasses
from collections import namedtuple
from collections.abc import Callable, Iterator
from typing import Any

from functional.pytree import KINDS, MAPPINGS, kind_of


@dataclasses.dataclass(frozen=True)
class SequenceKey:
    """The place in a list, say."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        """What is there."""
        return sequence[self.idx]


@dataclasses.dataclass(frozen=True)
class MappingKey:
    """The key in a dict."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        """What is there."""
        return mapping[self.key]


@dataclasses.dataclass(frozen=True)
class GetAttrKey:
    """The name of an attribute."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        """What is there."""
        return getattr(obj, self.name)


Pair = tuple[Any, Any]
WITH_KEYS: dict[Any, Callable[[Any], tuple[list[Pair], Any]]] = {}  # of registered classes
_OURS = frozenset(KINDS)  # tuples and the like; registered classes say their keys themselves


def _pairs(tree: Any, kind: Any) -> list[Pair]:
    """The children with their keys."""
    if kind in WITH_KEYS:
        return WITH_KEYS[kind](tree)[0]
    if kind in MAPPINGS:
        return [(MappingKey(key), value) for key, value in tree.items()]
    if kind is namedtuple:
        return [(GetAttrKey(name), getattr(tree, name)) for name in tree._fields]
    if kind in _OURS or issubclass(kind, tuple):
        return [(SequenceKey(i), value) for i, value in enumerate(tree)]
    raise ValueError(
        f"Did not find a flatten_with_keys_fn for type: {kind}. Please pass a "
        "flatten_with_keys_fn argument to register_pytree_node."
    )


def paths(tree: Any, is_leaf: Any, above: tuple[Any, ...] = ()) -> Iterator[Pair]:
    """Each leaf behind the keys that lead to it."""
    kind = kind_of(tree)
    if kind is None or (is_leaf is not None and is_leaf(tree)):
        yield above, tree
    else:
        for key, child in _pairs(tree, kind):
            yield from paths(child, is_leaf, (*above, key))


def keystr(kp: tuple[Any, ...]) -> str:
    """A path as one would write it behind the tree's name: ``['a'][0].x``."""
    return "".join(map(str, kp))


def key_get(obj: Any, kp: tuple[Any, ...]) -> Any:
    """What a path leads to."""
    for key in kp:
        obj = key.get(obj)
    return obj
