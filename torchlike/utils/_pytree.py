"""Trees: leaves in nested lists, dicts and other containers, and what remains without the leaves.

::

    leaves, spec = tree_flatten({"a": [1, 2]})
    tree_unflatten([x + 1 for x in leaves], spec)  # {"a": [2, 3]}

Containers are tuple, list, dict, OrderedDict, defaultdict, deque, named tuples, and the classes
given to ``register_pytree_node``; those are containers for ``torch.func`` too.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from functional.pytree import KINDS, MAPPINGS, Kind, kind_of

from ._treepaths import (
    WITH_KEYS,
    GetAttrKey,
    MappingKey,
    SequenceKey,
    key_get,
    keystr,
    paths,
)
from ._treespec import (
    BUILTIN,
    LEAF,
    NAMED,
    WRITTEN,
    LeafSpec,
    TreeSpec,
    Written,
    check_spec,
    treespec_dict,
    treespec_dumps,
    treespec_leaf,
    treespec_loads,
    treespec_pprint,
    treespec_tuple,
)

__all__ = [
    "GetAttrKey", "LeafSpec", "MappingKey", "PyTree", "PyTreeSpec", "SequenceKey", "TreeSpec",
    "arg_tree_leaves", "is_namedtuple", "is_namedtuple_class", "is_namedtuple_instance",
    "is_structseq", "is_structseq_class", "is_structseq_instance", "key_get", "keystr", "map_only",
    "register_dataclass", "register_pytree_node", "tree_all", "tree_all_only", "tree_any",
    "tree_any_only", "tree_flatten", "tree_flatten_with_path", "tree_is_leaf", "tree_iter",
    "tree_leaves", "tree_leaves_with_path", "tree_map", "tree_map_", "tree_map_only",
    "tree_map_only_", "tree_map_with_path", "tree_structure", "tree_unflatten", "treespec_dict",
    "treespec_dumps", "treespec_leaf", "treespec_loads", "treespec_pprint", "treespec_tuple",
]  # fmt: skip

PyTree = Any
PyTreeSpec = TreeSpec
Test = Callable[[Any], bool]
STANDARD_DICT_TYPES = frozenset(MAPPINGS)
BUILTIN_TYPES = frozenset(BUILTIN)


# --- classes that are containers ------------------------------------------------------------------


def register_pytree_node(
    cls: Any,
    flatten_fn: Callable[[Any], tuple[list[Any], Any]],
    unflatten_fn: Callable[[Iterable[Any], Any], Any],
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: Callable[[Any], Any] | None = None,
    from_dumpable_context: Callable[[Any], Any] | None = None,
    flatten_with_keys_fn: Callable[[Any], tuple[list[tuple[Any, Any]], Any]] | None = None,
) -> None:
    """Make instances of ``cls`` containers.

    ``flatten_fn(x)`` gives the children and a context, of which ``unflatten_fn(children, context)``
    builds a container again; ``flatten_with_keys_fn`` gives pairs of keys and children. The others
    are for ``treespec_dumps``. Raises ValueError for a class that is a container already.
    """
    if cls in KINDS:
        raise ValueError(f"{cls} is already registered as pytree node.")
    if (to_dumpable_context is None) != (from_dumpable_context is None):
        raise ValueError(
            f"Both to_dumpable_context and from_dumpable_context for {cls} must be None or "
            "registered."
        )
    KINDS[cls] = Kind(flatten_fn, unflatten_fn)
    if flatten_with_keys_fn is not None:
        WITH_KEYS[cls] = flatten_with_keys_fn
    if serialized_type_name is not None:
        WRITTEN[cls] = Written(serialized_type_name, to_dumpable_context, from_dumpable_context)


_register_pytree_node = register_pytree_node


def _register_namedtuple(cls: type, *, serialized_type_name: str) -> None:
    """Give a class of named tuples the name by which ``treespec_dumps`` writes it."""
    NAMED[cls] = serialized_type_name


def register_dataclass(
    cls: type,
    *,
    field_names: list[str] | None = None,
    drop_field_names: list[str] | None = None,
    serialized_type_name: str | None = None,
) -> None:
    """Make instances of a dataclass containers of their fields; those that are None stay away."""
    dropped = drop_field_names or []
    names = [f.name for f in dataclasses.fields(cls) if f.init and f.name not in dropped]
    names = field_names or names

    def take(x: Any) -> tuple[list[tuple[Any, Any]], Any]:
        found = [(n, getattr(x, n)) for n in names]
        here = [(GetAttrKey(n), v) for n, v in found if v is not None]
        return here, [[k.name for k, _ in here], [n for n, v in found if v is None]]

    def plain(x: Any) -> tuple[list[Any], Any]:
        pairs, context = take(x)
        return [v for _, v in pairs], context

    def build(values: Iterable[Any], context: Any) -> Any:
        return cls(**dict(zip(context[0], values)), **dict.fromkeys(context[1]))

    register_pytree_node(
        cls,
        plain,
        build,
        serialized_type_name=serialized_type_name,
        flatten_with_keys_fn=take,
    )


def is_namedtuple_class(cls: type) -> bool:
    """Whether a class was made by ``namedtuple``, or derives from such a one."""
    fields = getattr(cls, "_fields", None)
    return (
        isinstance(cls, type)
        and issubclass(cls, tuple)
        and isinstance(fields, tuple)
        and all(isinstance(f, str) for f in fields)
    )


def is_namedtuple_instance(obj: object) -> bool:
    """Whether a value is a named tuple."""
    return is_namedtuple_class(type(obj))


def is_namedtuple(obj: Any) -> bool:
    """Whether this is a named tuple, or a class of them."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def is_structseq_class(cls: type) -> bool:
    """Whether a class is one of tuples with named fields that C code makes."""
    counts = ("n_fields", "n_sequence_fields", "n_unnamed_fields")
    return (
        isinstance(cls, type)
        and cls.__bases__ == (tuple,)
        and all(isinstance(getattr(cls, n, None), int) for n in counts)
    )


def is_structseq_instance(obj: object) -> bool:
    """Whether a value is such a tuple."""
    return is_structseq_class(type(obj))


def is_structseq(obj: Any) -> bool:
    """Whether this is such a tuple, or a class of them."""
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


# --- leaves and structure -------------------------------------------------------------------------


def tree_is_leaf(tree: Any, is_leaf: Test | None = None) -> bool:
    """Whether a value is a leaf: no container, or one that ``is_leaf`` says not to open."""
    return kind_of(tree) is None or (is_leaf is not None and bool(is_leaf(tree)))


def _take(tree: Any, leaves: list[Any], is_leaf: Test | None) -> TreeSpec:
    kind = kind_of(tree)
    if kind is None or (is_leaf is not None and is_leaf(tree)):
        leaves.append(tree)
        return LEAF
    children, context = KINDS[kind].take(tree)
    return TreeSpec(kind, context, [_take(child, leaves, is_leaf) for child in children])


def tree_flatten(tree: Any, is_leaf: Test | None = None) -> tuple[list[Any], TreeSpec]:
    """The leaves, depth first, and the structure without them."""
    leaves: list[Any] = []
    spec = _take(tree, leaves, is_leaf)
    return leaves, spec


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> Any:
    """The tree of this structure that has these leaves. Raises ValueError for a wrong number."""
    check_spec(treespec)
    return treespec.unflatten(leaves)


def tree_iter(tree: Any, is_leaf: Test | None = None) -> Iterator[Any]:
    """The leaves, one after the other."""
    if tree_is_leaf(tree, is_leaf):
        yield tree
    else:
        for child in KINDS[kind_of(tree)].take(tree)[0]:
            yield from tree_iter(child, is_leaf)


def tree_leaves(tree: Any, is_leaf: Test | None = None) -> list[Any]:
    """The leaves, depth first."""
    return list(tree_iter(tree, is_leaf))


def arg_tree_leaves(*args: Any, **kwargs: Any) -> list[Any]:
    """The leaves of a call's arguments."""
    return tree_leaves([*args, *kwargs.values()])


def tree_structure(tree: Any, is_leaf: Test | None = None) -> TreeSpec:
    """The structure without the leaves."""
    return tree_flatten(tree, is_leaf)[1]


def _broadcast_to_and_flatten(
    tree: Any, treespec: TreeSpec, is_leaf: Test | None = None
) -> list[Any] | None:
    """One value for every leaf of a structure, of which ``tree`` is the upper part; or None."""
    check_spec(treespec)
    if tree_is_leaf(tree, is_leaf):
        return [tree] * treespec.num_leaves
    children, context = KINDS[kind_of(tree)].take(tree)
    here = (kind_of(tree), context, len(children))
    if treespec.is_leaf() or here != (treespec.type, treespec.context, treespec.num_children):
        return None
    found: list[Any] = []
    for child, spec in zip(children, treespec.children()):
        part = _broadcast_to_and_flatten(child, spec, is_leaf)
        if part is None:
            return None
        found += part
    return found


# --- functions of all leaves ----------------------------------------------------------------------


def _rows(tree: Any, rests: tuple[Any, ...], is_leaf: Test | None) -> tuple[Any, TreeSpec]:
    leaves, spec = tree_flatten(tree, is_leaf)
    return zip(leaves, *(spec.flatten_up_to(r) for r in rests)), spec


def tree_map(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: Test | None = None) -> Any:
    """The same structure of ``func(leaf, *what the other trees have in its place)``."""
    rows, spec = _rows(tree, rests, is_leaf)
    return spec.unflatten(func(*row) for row in rows)


def tree_map_(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: Test | None = None) -> Any:
    """Call ``func`` on all leaves for what it does; returns ``tree``."""
    for row in _rows(tree, rests, is_leaf)[0]:
        func(*row)
    return tree


def _test(wanted: Any) -> Test:
    if isinstance(wanted, (type, types.UnionType)) or (
        isinstance(wanted, tuple) and all(isinstance(t, type) for t in wanted)
    ):
        return lambda x: isinstance(x, wanted)
    if callable(wanted):
        return wanted
    raise TypeError("Argument must be a type, a tuple of types, or a callable.")


def map_only(type_or_types_or_pred: Any, /) -> Callable[[Callable[[Any], Any]], Any]:
    """A decorator: the function leaves values alone that are not of these types."""
    wanted = _test(type_or_types_or_pred)

    def decorate(func: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda x: func(x) if wanted(x) else x

    return decorate


def tree_map_only(
    type_or_types_or_pred: Any,
    /,
    func: Callable[[Any], Any],
    tree: Any,
    is_leaf: Test | None = None,
) -> Any:
    """``tree_map`` of the leaves of some types, or for which a function says yes."""
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(
    type_or_types_or_pred: Any,
    /,
    func: Callable[[Any], Any],
    tree: Any,
    is_leaf: Test | None = None,
) -> Any:
    """``tree_map_`` of the leaves of some types, or for which a function says yes."""
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred: Test, tree: Any, is_leaf: Test | None = None) -> bool:
    """Whether ``pred`` holds for all leaves."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Test, tree: Any, is_leaf: Test | None = None) -> bool:
    """Whether ``pred`` holds for a leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(
    type_or_types: Any, /, pred: Test, tree: Any, is_leaf: Test | None = None
) -> bool:
    """Whether ``pred`` holds for all leaves of these types."""
    return all(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


def tree_any_only(
    type_or_types: Any, /, pred: Test, tree: Any, is_leaf: Test | None = None
) -> bool:
    """Whether ``pred`` holds for a leaf of these types."""
    return any(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


# --- with paths -----------------------------------------------------------------------------------


def tree_leaves_with_path(tree: Any, is_leaf: Test | None = None) -> list[tuple[Any, Any]]:
    """Each leaf behind the keys that lead to it.

    Raises ValueError for registered classes that do not say which keys they have.
    """
    return list(paths(tree, is_leaf))


def tree_flatten_with_path(
    tree: Any, is_leaf: Test | None = None
) -> tuple[list[tuple[Any, Any]], TreeSpec]:
    """``tree_leaves_with_path``, and the structure without the leaves."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(
    func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: Test | None = None
) -> Any:
    """``tree_map``, with a function that takes the leaf's path first."""
    pairs, spec = tree_flatten_with_path(tree, is_leaf)
    others = zip(*(spec.flatten_up_to(r) for r in rests)) if rests else ((),) * len(pairs)
    return spec.unflatten(func(*pair, *more) for pair, more in zip(pairs, others))
