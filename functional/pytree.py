"""Nested containers of values: flatten them, map over them, build them again.

``KINDS`` says which classes are containers. Instances of other classes, also of classes derived
from these, are leaves; classes made by ``namedtuple`` share one entry.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from .size import Size


class Kind(NamedTuple):
    """How containers of a class come apart, into children and whatever else is to be known."""

    take: Callable[[Any], tuple[list[Any], Any]]
    build: Callable[[Iterable[Any], Any], Any]


def _mapping(make: Callable[[Any], Any]) -> Kind:
    return Kind(lambda d: (list(d.values()), list(d)), lambda v, keys: make(zip(keys, v)))


def _take_defaultdict(d: Any) -> tuple[list[Any], Any]:
    return list(d.values()), [d.default_factory, list(d)]


# The key of all classes that ``namedtuple`` makes is that function.
KINDS: dict[Any, Kind] = {
    tuple: Kind(lambda t: (list(t), None), lambda v, _: tuple(v)),
    list: Kind(lambda t: (t, None), lambda v, _: list(v)),
    dict: _mapping(dict),
    namedtuple: Kind(lambda t: (list(t), type(t)), lambda v, cls: cls(*v)),
    OrderedDict: _mapping(OrderedDict),
    defaultdict: Kind(_take_defaultdict, lambda v, known: defaultdict(known[0], zip(known[1], v))),
    deque: Kind(lambda t: (list(t), t.maxlen), lambda v, most: deque(v, maxlen=most)),
    Size: Kind(lambda t: (list(t), None), lambda v, _: tuple(v)),
}
MAPPINGS = (dict, OrderedDict, defaultdict)  # interchangeable, and compared by their keys


def kind_of(tree: Any) -> Any:
    """The key of a value's class in ``KINDS``; None for a leaf."""
    cls = type(tree)
    if cls in KINDS:
        return cls
    return namedtuple if isinstance(tree, tuple) and hasattr(cls, "_fields") else None


def flatten(tree: Any) -> list[Any]:
    """The leaves, depth first; dicts in their own order."""
    kind = kind_of(tree)
    if kind is None:
        return [tree]
    return [leaf for child in KINDS[kind].take(tree)[0] for leaf in flatten(child)]


def map_tree(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """The same structure with every leaf replaced by ``function(leaf, *other leaves)``."""
    kind = kind_of(tree)
    if kind is None:
        return function(tree, *others)
    children, context = KINDS[kind].take(tree)
    columns = [_like(tree, kind, other) for other in others]
    rows = zip(children, *columns, strict=True)
    return KINDS[kind].build([map_tree(function, *row) for row in rows], context)


def _like(tree: Any, kind: Any, other: Any) -> list[Any]:
    """The children of ``other``, in the order of those of ``tree``."""
    if kind in MAPPINGS:
        return [other[key] for key in tree]
    return KINDS[kind_of(other)].take(other)[0]


def prefix_of(prefix: Any, tree: Any) -> list[Any] | None:
    """One value of ``prefix`` for every leaf of ``tree``: a value covers what is below it.

    None where ``prefix`` is not the upper part of ``tree``.
    """
    kind = kind_of(prefix)
    if kind is None:
        return [prefix] * len(flatten(tree))
    if kind_of(tree) != kind:
        return None
    (upper, context), (lower, other) = KINDS[kind].take(prefix), KINDS[kind].take(tree)
    if context != other or len(upper) != len(lower):
        return None
    found: list[Any] = []
    for above, part in zip(upper, lower, strict=True):
        values = prefix_of(above, part)
        if values is None:
            return None
        found += values
    return found


def same_structure(tree: Any, other: Any) -> bool:
    """Whether two trees differ in their leaves only."""
    return described(tree) == described(other)


def described(tree: Any, indent: int = 0) -> str:
    """The structure of ``tree`` as PyTorch writes it."""
    kind = kind_of(tree)
    if kind is None:
        return "*"
    children, context = KINDS[kind].take(tree)
    return node_text(kind, context, [described(c, indent + 2) for c in children], indent)


class _Star:
    def __repr__(self) -> str:
        return "*"


def stars(tree: Any) -> str:
    """``tree`` as text, with a star for each leaf."""
    return repr(map_tree(lambda _: _Star(), tree))


def node_text(kind: Any, context: Any, children: list[str], indent: int) -> str:
    """A container's line in a structure; those of its children are indented by two more."""
    parts = (",\n" + " " * (indent + 2)).join(children)
    return f"TreeSpec({kind.__name__}, {context}, [{parts}])"


def unflatten(tree: Any, leaves: list[Any]) -> Any:
    """``tree`` with its leaves replaced, in order."""
    it = iter(leaves)
    return map_tree(lambda _: next(it), tree)
