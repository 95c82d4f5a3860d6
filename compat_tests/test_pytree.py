"""``torch.utils._pytree``: trees of containers, and registered classes, also under transforms."""

from __future__ import annotations

import collections
import copy
import dataclasses
import importlib
import pickle
import time
from typing import Any, NamedTuple

import pytest

import torchlike
from compat_tests.scenarios import Cases, error
from torchlike.utils import _pytree

CASES = Cases("pytree")


class Pair(NamedTuple):
    x: Any
    y: Any


class Other(NamedTuple):
    x: Any
    y: Any


class Box:
    """A container of one value, with a label."""

    def __init__(self, value: Any, label: Any = None) -> None:
        self.value, self.label = value, label

    def __repr__(self) -> str:
        return f"Box({self.value}, {self.label})"


class Labelled(Box):
    """The same, with keys and a name to be written under."""


@dataclasses.dataclass
class Data:
    a: Any
    b: Any = None


def pytree(torch: Any) -> Any:
    """The module, with our classes registered, once per library."""
    p = importlib.import_module(f"{torch.__name__}.utils._pytree")
    if not hasattr(p, "has_ours"):
        p.has_ours = True
        take = lambda box: ([box.value], box.label)
        p.register_pytree_node(Box, take, lambda v, label: Box(*v, label))
        p.register_pytree_node(
            Labelled,
            take,
            lambda v, label: Labelled(*v, label),
            serialized_type_name="tests.Labelled",
            flatten_with_keys_fn=lambda b: ([(p.GetAttrKey("value"), b.value)], b.label),
        )
        p.register_dataclass(Data)
        p._register_namedtuple(Other, serialized_type_name="tests.Other")
    return p


def tree() -> Any:
    return {
        "b": [1, 2, (3,)],
        "a": Pair(4, [5]),
        "o": collections.OrderedDict(z=1, y=2),
        "dd": collections.defaultdict(list, {"k": 7}),
        "dq": collections.deque([8, 9], maxlen=3),
        "n": None,
        "e": [],
    }


def names(text: Any) -> str:
    """A repr without what depends on where a class is."""
    return str(text).replace(f"{__name__}.", "").split(" at 0x")[0]


def attempt(call: Any) -> Any:
    """What a call gives, or the error it raises."""
    failed = names(error(call))
    return call() if failed == "no error" else failed


@CASES.add
def structures(torch: Any) -> Any:
    p = pytree(torch)
    leaves, spec = p.tree_flatten(tree())
    trees = [
        3, [], (), {}, [1, [2]], (1, {"a": 2}), collections.deque([1]), Pair(1, [2]), Box(1, "l"),
        collections.defaultdict(int, a=1), collections.OrderedDict(a=1), torch.Size([1, 2]),
        torch.ones(2, 2).max(0), time.gmtime(0), collections.Counter("a"), Data(1, [2]), Data(1),
    ]  # fmt: skip
    return [
        leaves, names(spec), names(p.treespec_pprint(spec)), names(p.tree_unflatten(leaves, spec)),
        spec.num_nodes, spec.num_leaves, spec.num_children, spec.is_leaf(), repr(spec.child(0)),
        len(spec.children()), spec.context, spec.type.__name__, spec.__repr__(4)[-40:],
        [names(p.tree_structure(t)) for t in trees], spec == p.tree_structure(tree()), spec == 3,
        [p.tree_is_leaf(t) for t in trees], p.tree_is_leaf([1], lambda x: True),
        error(lambda: spec.child(99)), error(lambda: spec + 1),
    ]  # fmt: skip


@CASES.add
def leaf_structures(torch: Any) -> Any:
    p = pytree(torch)
    leaf = p.tree_structure(3)
    return [
        repr(p.LeafSpec()), p.LeafSpec() == leaf, leaf.type, leaf.context, leaf.num_nodes,
        leaf.num_leaves, leaf.num_children, leaf.children(), isinstance(leaf, p.LeafSpec),
        isinstance(p.tree_structure([3]), p.LeafSpec), repr(p.treespec_leaf()),
        repr(p.treespec_tuple([leaf])), repr(p.treespec_dict(a=leaf)),
        p.TreeSpec(list, None, [leaf]) == p.tree_structure([1]),
        p.tree_structure({1: 2, 3: 4}) == p.tree_structure({3: 4, 1: 2}),
    ]  # fmt: skip


@CASES.add
def building_again(torch: Any) -> Any:
    p = pytree(torch)
    spec = p.tree_structure([1])
    return [
        p.tree_unflatten(iter([1]), spec), error(lambda: p.tree_unflatten([1, 2], spec)),
        error(lambda: p.tree_unflatten([1], 3)), error(lambda: p.tree_unflatten(3, spec)),
        error(lambda: p.tree_unflatten([], p.treespec_leaf())), spec.unflatten([5]),
        spec.flatten_up_to([[6]]), error(lambda: spec.flatten_up_to(3)),
        names(p.tree_map(lambda x: x, tree())) == names(tree()),
    ]  # fmt: skip


@CASES.add
def mapping(torch: Any) -> Any:
    p = pytree(torch)
    both = lambda a, b: (a, b)
    ordered, default = collections.OrderedDict, collections.defaultdict
    pairs = [
        ([1, {"a": 2}], [3, {"a": [4]}]), ([1, {"a": 2}], [3, {"c": [4]}]), ([1, 2], [3]),
        ([1, 2], (3, 4)), ({"a": 1}, ordered(a=2)), ({"a": 1}, {"a": 2, "b": 3}),
        (ordered(a=1, b=2), ordered(b=2, a=1)), ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (collections.deque([1]), collections.deque([2], maxlen=3)), ([[1]], [3]),
        (default(int, a=1), default(list, a=2)), ({"a": 1}, [2]), ([(1,)], [(2, 3)]),
        (Box(1, 2), Box(3, 4)), (Box(1, 2), Box(3, 2)), (Data(1), Data(2)),
    ]  # fmt: skip
    named = [(Pair(1, 2), Pair(3, 4)), (Pair(1, 2), (3, 4)), (Pair(1, 2), Other(3, 4))]
    found = [attempt(lambda a=a, b=b: repr(p.tree_map(both, a, b))) for a, b in (*pairs, *named)]
    pairwise = p.tree_map(lambda a, b: a + b, torch.ones(2, 2).max(0), torch.ones(2, 2).max(0))
    return [found, type(pairwise).__name__, list(pairwise)]


@CASES.add
def some_leaves(torch: Any) -> Any:
    p, seen = pytree(torch), []
    double = lambda a: a * 2
    t = [1, "a", 2.0]
    return [
        [p.tree_map_only(w, double, t) for w in (int, (int, str), int | str, lambda x: x == 1)],
        [error(lambda w=w: p.tree_map_only(w, double, t)) for w in (3, [int])],
        p.tree_map_(seen.append, t) is t, p.tree_map_only_(int, seen.append, t), seen,
        p.tree_all(bool, t), p.tree_any(lambda x: x == 5, t), p.tree_all_only(int, bool, t),
        p.tree_any_only(str, lambda x: x == "b", t), list(p.tree_iter(tree())),
        p.tree_leaves(tree(), is_leaf=lambda x: isinstance(x, list)), p.map_only(int)(double)(3),
        p.arg_tree_leaves(1, [2], k={"a": 3}),
        p._broadcast_to_and_flatten([1, 2], p.tree_structure([1, (2, 3)])),
        p._broadcast_to_and_flatten((1, 2), p.tree_structure([1, (2, 3)])),
    ]  # fmt: skip


@CASES.add
def paths(torch: Any) -> Any:
    p = pytree(torch)
    pairs, spec = p.tree_flatten_with_path(tree())
    keys = [p.SequenceKey(0), p.MappingKey("a"), p.GetAttrKey("a")]
    return [
        [[repr(path), p.keystr(path), leaf, p.key_get(tree(), path)] for path, leaf in pairs],
        spec == p.tree_structure(tree()), p.keystr(()), [[repr(k), str(k)] for k in keys],
        keys[0] == p.SequenceKey(0), hash(keys[1]) == hash(p.MappingKey("a")), keys[1] == keys[2],
        p.tree_map_with_path(lambda k, v, w: p.keystr(k) + f"{v}{w}", [1, {"a": 2}], [3, {"a": 4}]),
        p.tree_map_with_path(lambda k, v: p.keystr(k), (1, [2])),
        repr(p.tree_leaves_with_path([Labelled([1, 2])])), repr(p.tree_leaves_with_path(Data(1))),
        names(error(lambda: p.tree_flatten_with_path([Box(1)]))),
        repr(p.tree_leaves_with_path(torch.Size([3]))),
        len(p.tree_leaves_with_path(torch.ones(2, 2).max(0))),
    ]  # fmt: skip


@CASES.add
def registering(torch: Any) -> Any:
    p = pytree(torch)
    two = (lambda x: ([], None), lambda v, c: None)
    return [
        repr(p.tree_map(lambda x: x + 1, [Box(1, "l")])),
        names(error(lambda: p.register_pytree_node(Box, *two))),
        error(lambda: p.register_pytree_node(list, *two)),
        names(error(lambda: p.register_pytree_node(Clone, *two, to_dumpable_context=str))),
        [p.is_namedtuple(x) for x in (Pair(1, 2), Pair, (1,), tuple)],
        p.is_namedtuple_class(Pair), p.is_namedtuple_instance(Pair),
        [p.is_structseq(x) for x in (time.gmtime(0), time.struct_time, (1,))],
        p.is_structseq_class(time.struct_time), p.is_structseq_instance(time.struct_time),
    ]  # fmt: skip


class Clone(Box):
    """Never registered."""


@CASES.add
def written_as_text(torch: Any) -> Any:
    p = pytree(torch)
    ordered, default = collections.OrderedDict, collections.defaultdict
    trees = [
        1, [1, (2,)], {"a": [1], "o": ordered(x=1)}, collections.deque([1], maxlen=2), Other(1, 2),
        default(list, a=1), torch.Size([1]), Labelled(1, [3]), Data(1),
        Pair(1, 2), Box(1),
    ]  # fmt: skip
    specs = [p.tree_structure(t) for t in trees]
    dumps = p.treespec_dumps
    return [
        [attempt(lambda s=s: dumps(s)) for s in specs],
        [p.treespec_loads(dumps(s)) == s for s in specs[:8]],
        error(lambda: dumps(3)), error(lambda: dumps(specs[0], 7)), dumps(specs[0], 1),
        error(lambda: p.treespec_loads("[7, 3]")), error(lambda: p.treespec_loads("x")),
        error(lambda: p.treespec_loads('[1, {"type": "a.B", "context": "", "children_spec": []}]')),
    ]  # fmt: skip


test_scenario = CASES.test()


def test_structures_are_copied_and_pickled() -> None:
    spec = _pytree.tree_structure([1, (2, {"a": 3})])
    assert pickle.loads(pickle.dumps(spec)) == spec and copy.deepcopy(spec) == spec
    assert hash(spec) == hash(_pytree.tree_structure([1, (2, {"a": 3})]))
    leaf = pickle.loads(pickle.dumps(spec.child(0)))
    assert leaf.is_leaf() and type(leaf) is _pytree.LeafSpec


def test_deprecations_warn() -> None:
    with pytest.warns(FutureWarning, match="`treespec.children_specs` is deprecated"):
        assert _pytree.tree_structure([1]).children_specs == [_pytree.treespec_leaf()]
    with pytest.warns(FutureWarning, match="LeafSpec"):
        _pytree.LeafSpec()


def test_transforms_know_registered_classes() -> None:
    pytree(torchlike)
    x = torchlike.tensor([1.0, 2.0])
    slope = torchlike.func.grad(lambda box: (box.value**3).sum())(Box(x, "l"))
    assert type(slope) is Box and slope.label == "l" and slope.value.tolist() == [3.0, 12.0]
    doubled = torchlike.func.vmap(lambda t: collections.deque([t * 2]))(x)
    assert type(doubled) is collections.deque and doubled[0].tolist() == [2.0, 4.0]
    largest = torchlike.func.vmap(lambda t: t.max(0))(torchlike.ones(2, 3))
    assert type(largest).__name__ == "max" and largest.values.tolist() == [1.0, 1.0]
