"""What is left of a tree without its leaves: ``TreeSpec``, and how it is written as text."""

from __future__ import annotations

import importlib
import json
import warnings
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from functional.pytree import KINDS, MAPPINGS, kind_of, node_text
from functional.size import Size

BUILTIN = (tuple, list, dict, namedtuple, OrderedDict, defaultdict, deque)
_NO_CHILDREN_SPECS = (
    "`treespec.children_specs` is deprecated. Use `treespec.child(index)` to access a single "
    "child, or `treespec.children()` to get all children."
)
_NO_LEAF_SPEC = (
    "`isinstance(treespec, LeafSpec)` is deprecated, use `isinstance(treespec, TreeSpec) and "
    "treespec.is_leaf()` instead."
)


class TreeSpec:
    """The structure of a tree: a container's class, its context (keys, say) and its children.

    ``num_leaves`` and ``num_nodes`` count those of the whole tree, ``num_children`` of the top.
    """

    __slots__ = ("_children", "_context", "num_children", "num_leaves", "num_nodes", "type")

    def __init__(self, type: Any, context: Any, children_specs: list[TreeSpec]) -> None:
        self.type, self._context, self._children = type, context, children_specs
        self.num_children = len(children_specs)
        self.num_nodes = 1 + sum(c.num_nodes for c in children_specs)
        self.num_leaves = 1 if type is None else sum(c.num_leaves for c in children_specs)

    @property
    def context(self) -> Any:
        """What the container is built from beside its children."""
        return self._context

    @property
    def children_specs(self) -> list[TreeSpec]:
        """The children; deprecated."""
        warnings.warn(_NO_CHILDREN_SPECS, FutureWarning, stacklevel=2)
        return self._children

    def is_leaf(self) -> bool:
        """Whether this is the structure of a leaf."""
        return self.type is None

    def children(self) -> list[TreeSpec]:
        """The structures of the children."""
        return self._children.copy()

    def child(self, index: int) -> TreeSpec:
        """The structure of one child."""
        return self._children[index]

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """The parts of ``tree`` that are where this structure has leaves.

        Raises ValueError where ``tree`` has another structure.
        """
        if self.type is None:
            return [tree]
        parts = zip(self._children, self._children_of(tree))
        return [x for spec, child in parts for x in spec.flatten_up_to(child)]

    def _children_of(self, tree: Any) -> list[Any]:
        kind = kind_of(tree)
        mapping = self.type in MAPPINGS and kind in MAPPINGS
        if kind is not self.type and not mapping:
            got = type(tree) if kind is None else kind
            raise ValueError(f"Node type mismatch; expected {self.type!r}, but got {got!r}.")
        children, context = KINDS[kind].take(tree)
        if len(children) != self.num_children:
            raise ValueError(
                f"Node arity mismatch; expected {self.num_children}, but got {len(children)}."
            )
        if mapping:
            return self._by_key(tree)
        if kind is not deque and context != self._context:
            raise ValueError(_other_context(kind, self._context, context))
        return children

    def _by_key(self, tree: Any) -> list[Any]:
        keys = self._context[1] if self.type is defaultdict else self._context
        if set(keys) == set(tree):
            return [tree[key] for key in keys]
        missing, extra = set(keys) - set(tree), set(tree) - set(keys)
        raise ValueError(f"Node keys mismatch; missing key(s): {missing}; extra key(s): {extra}.")

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """A tree of this structure. Raises ValueError for another number of leaves."""
        leaves = list(leaves)
        if len(leaves) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(leaves)} but the spec "
                f"refers to a pytree that holds {self.num_leaves} items ({self})."
            )
        return self._built(iter(leaves))

    def _built(self, leaves: Any) -> Any:
        if self.type is None:
            return next(leaves)
        return KINDS[self.type].build([c._built(leaves) for c in self._children], self._context)

    def __repr__(self, indent: int = 0) -> str:
        if self.type is None:
            return "*"
        children = [c.__repr__(indent + 2) for c in self._children]
        return node_text(self.type, self._context, children, indent)

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, TreeSpec):
            return NotImplemented
        mine, theirs = ((s.type, s._context, s._children) for s in (self, other))
        return mine == theirs

    def __hash__(self) -> int:
        return hash((self.type, tuple(self._children)))  # a context may be unhashable

    def __reduce__(self) -> Any:
        if self.type is None:
            return treespec_leaf, ()
        return TreeSpec, (self.type, self._context, self._children)


class LeafSpec(TreeSpec):
    """The structure of a leaf. To make one is deprecated: ``treespec_leaf`` gives it."""

    __slots__ = ()

    def __init__(self) -> None:
        warnings.warn(_NO_LEAF_SPEC, FutureWarning, stacklevel=2)
        super().__init__(None, None, [])


def _other_context(kind: Any, expected: Any, got: Any) -> str:
    if kind in BUILTIN:
        return (
            f"Node context mismatch for node type {kind!r}; expected {expected!r}, but got {got!r}."
        )
    return f"Node context mismatch for custom node type {kind!r}."


def _leaf() -> LeafSpec:
    leaf = LeafSpec.__new__(LeafSpec)
    TreeSpec.__init__(leaf, None, None, [])
    return leaf


LEAF = _leaf()


def treespec_leaf() -> LeafSpec:
    """The structure of a leaf."""
    return LEAF


def treespec_tuple(iterable: Iterable[TreeSpec] = (), /) -> TreeSpec:
    """The structure of a tuple of trees of these structures."""
    return TreeSpec(tuple, None, list(iterable))


def treespec_dict(mapping: Any = (), /, **kwargs: TreeSpec) -> TreeSpec:
    """The structure of a dict of trees of these structures."""
    specs = dict(mapping, **kwargs)
    return TreeSpec(dict, list(specs), list(specs.values()))


def check_spec(treespec: Any) -> None:
    """Raise TypeError for anything but a TreeSpec."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            "Expected `treespec` to be an instance of PyTreeSpec but got item of type "
            f"{type(treespec)}."
        )


class _Mark:
    def __repr__(self) -> str:
        return "*"


def treespec_pprint(treespec: TreeSpec) -> str:
    """The structure as the tree is written, with ``*`` for its leaves."""
    check_spec(treespec)
    return repr(treespec.unflatten(_Mark() for _ in range(treespec.num_leaves)))


# --- as text --------------------------------------------------------------------------------------


class Written(NamedTuple):
    """Under which name a class is written, and how its context is, if not by ``json`` itself."""

    name: str
    dump: Callable[[Any], Any] | None = None
    load: Callable[[Any], Any] | None = None


def _dump_defaultdict(context: Any) -> Any:
    factory, keys = context
    return {
        "default_factory_module": getattr(factory, "__module__", None),
        "default_factory_name": getattr(factory, "__qualname__", None),
        "dict_context": keys,
    }


def _load_defaultdict(known: Any) -> Any:
    module, name = known["default_factory_module"], known["default_factory_name"]
    factory = None if module is None else getattr(importlib.import_module(module), name)
    return [factory, known["dict_context"]]


WRITTEN: dict[Any, Written] = {
    tuple: Written("builtins.tuple"),
    list: Written("builtins.list"),
    dict: Written("builtins.dict"),
    OrderedDict: Written("collections.OrderedDict"),
    defaultdict: Written("collections.defaultdict", _dump_defaultdict, _load_defaultdict),
    deque: Written("collections.deque"),
    Size: Written("torch.Size"),
}
NAMED: dict[type, str] = {}  # namedtuple classes that have a name to be written under
_PROTOCOL = 1


def _to_json(spec: TreeSpec) -> dict[str, Any]:
    if spec.type is None:
        return {"type": None, "context": None, "children_spec": []}
    name, context = _head(spec.type, spec._context)
    children = [_to_json(c) for c in spec._children]
    return {"type": name, "context": context, "children_spec": children}


def _head(kind: Any, context: Any) -> tuple[str, Any]:
    if kind is namedtuple:
        if context not in NAMED:
            raise NotImplementedError(
                f"Can't serialize TreeSpec of namedtuple class {context} because we didn't "
                "register a serializated_type_name. Please register using `_register_namedtuple`."
            )
        return "collections.namedtuple", NAMED[context]
    written = WRITTEN.get(kind)
    if written is None:
        raise NotImplementedError(
            f"No registered serialization name for {kind} found. Please update your "
            "_register_pytree_node call with a `serialized_type_name` kwarg."
        )
    dump = json.dumps if written.dump is None else written.dump
    return written.name, dump(context)


def _from_json(known: Any) -> TreeSpec:
    name = known["type"]
    if name is None:
        return LEAF
    children = [_from_json(c) for c in known["children_spec"]]
    if name == "collections.namedtuple":
        cls = next(c for c, written in NAMED.items() if written == known["context"])
        return TreeSpec(namedtuple, cls, children)
    kind = next((k for k, w in WRITTEN.items() if w.name == name), None)
    if kind is None:
        raise NotImplementedError(f"Deserializing {name} in pytree is not registered.")
    load = WRITTEN[kind].load or json.loads
    return TreeSpec(kind, load(known["context"]), children)


def _check_protocol(protocol: Any) -> None:
    if protocol != _PROTOCOL:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: [{_PROTOCOL}]")


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """The structure as JSON, in PyTorch's form.

    Raises NotImplementedError for classes that have no name to be written under.
    """
    check_spec(treespec)
    protocol = _PROTOCOL if protocol is None else protocol
    _check_protocol(protocol)
    return json.dumps((protocol, _to_json(treespec)))


def treespec_loads(serialized: str) -> TreeSpec:
    """The structure that ``treespec_dumps`` has written; the classes must be registered."""
    protocol, known = json.loads(serialized)
    _check_protocol(protocol)
    return _from_json(known)
