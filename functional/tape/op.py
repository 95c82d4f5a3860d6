"""Op: everything declared about one operation, and the namespace that rules run in."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from ..dtypes import C64, C128
from ..tensor import Tensor
from .node import Node
from .saved import Static, open_all, save_input, save_result

# `F` when gradients are Tensors: every public function, by name. `F` for arrays is a kernel module.
TENSOR = SimpleNamespace()
OPS: dict[str, Op] = {}


class OpNode(Node):
    """A node made by a declaration: opens what was saved and calls the rules."""

    __slots__ = ()
    op: Op

    def apply(self, F: Any, g: Any, raw: bool) -> Any:
        op, edges = self.op, self.next_functions
        values = open_all(self, raw)
        if self.dtype is C64 or self.dtype is C128:
            return _conjugated(op, F, g, edges, values)
        return call_rules(op, F, g, edges, values)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_saved_") and name[7:] in self.saved_names:
            entry = open_all(self, False)[self.saved_names.index(name[7:])]
            if isinstance(entry, (int, float, complex)) and name[7:] in self.op.inputs:
                return TENSOR.tensor(entry, dtype=TENSOR.float64)
            return entry
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


def call_rules(op: Op, F: Any, g: Any, edges: Any, values: list[Any]) -> Any:
    """Gradients for every edge that leads somewhere; None for the others."""
    if op.joint is not None:
        return op.joint(F, g, tuple(edge[0] is not None for edge in edges), *values)
    return [
        rule(F, g, *[values[i] for i in wants]) if edge[0] is not None and rule else None
        for edge, rule, wants in zip(edges, op.rules, op.wants, strict=False)
    ]


def _conjugated(op: Op, F: Any, g: Any, edges: Any, values: list[Any]) -> Any:
    """Rules are plain derivative formulas; the gradient of a complex result is their conjugate."""
    if not op.holomorphic:
        return call_rules(op, F, g, edges, values)
    g = [F.conj(part) if part is not None else None for part in g] if type(g) is list else F.conj(g)
    return [None if x is None else F.conj(x) for x in call_rules(op, F, g, edges, values)]


class Op:
    """One primitive operation: kernel, derivative rules, and how transforms treat it.

    ``rules`` has one vjp per input (or ``joint`` is one vjp for all of them, given a ``need``
    mask). The names a rule asks for are what is saved: an input, ``result``, a static argument,
    or ``<input>_shape``.
    """

    call: Callable[..., Any]  # the closure users call
    public: Callable[..., Any]  # what __torch_function__ is told was called
    fixed: frozenset[str] = frozenset()  # elementwise inputs that keep their own dtype

    def __init__(
        self,
        name: str,
        kernel: Callable[..., Any],
        *,
        inputs: tuple[str, ...],
        statics: tuple[str, ...] = (),
        rules: tuple[Callable[..., Any] | None, ...] = (),
        joint: Callable[..., Any] | None = None,
        node: str | None = None,
        jvp: Any = "transpose",
        vmap: Any = "loop",
        shape: Any = None,
        holomorphic: bool = True,
        differentiable: tuple[bool, ...] | None = None,
        kind: str = "general",
        result: Any = "same",
        pair: bool = False,
    ) -> None:
        self.name, self.kernel, self.inputs, self.statics = name, kernel, inputs, statics
        # inputs without a rule have no edge, except in the pairs of binary operations
        self.edge_at = tuple(
            i for i in range(len(inputs)) if joint or pair or (i < len(rules) and rules[i])
        )
        rules = tuple(rules[i] for i in self.edge_at) if rules else ()
        self.rules, self.joint, self.jvp, self.vmap, self.shape = rules, joint, jvp, vmap, shape
        self.holomorphic, self.differentiable = holomorphic, differentiable
        self.kind, self.result = kind, result
        self.sequence = len(inputs) == 1 and inputs[0].startswith("*")
        asked = [_asked(rule) for rule in rules]
        if joint is not None:
            asked = [_asked(joint, skip=3)]
        self.saved_names = self._in_order({n for names in asked for n in names})
        self.wants = [tuple(self.saved_names.index(n) for n in names) for names in asked]
        self.node = self._node_class(node) if any(rules) or joint else None
        self.asked = asked
        OPS[name] = self

    def _in_order(self, names: set[str]) -> tuple[str, ...]:
        """Inputs, their shapes, statics, then results: the order the hot closures save in."""
        order = [*self.inputs, *(f"{n}_shape" for n in self.inputs), "shapes", *self.statics]
        order += ["result", *(f"result{i}" for i in range(9))]
        unknown = names - set(order)
        if unknown:
            raise NameError(f"{self.name}: a rule asks for {sorted(unknown)}, which it has not")
        return tuple(n for n in order if n in names)

    def _node_class(self, node: str | None) -> type[OpNode]:
        title = node or camel(self.name) + "Backward0"
        members = {"__slots__": (), "op": self, "saved_names": self.saved_names}
        return type(title, (OpNode,), members)

    def edge_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments that a node has edges for."""
        return tuple(args[0]) if self.sequence else tuple([args[i] for i in self.edge_at])

    def needed_by(self, name: str, edges: tuple[Any, ...]) -> bool:
        """Whether a rule that will run asks for ``name``."""
        if self.joint is not None:
            return True
        return any(
            name in asked and edge[0] is not None
            for asked, edge in zip(self.asked, edges, strict=False)
        )

    def save(self, args: Any, edges: Any, outs: list[Tensor], at_level: bool = False) -> Any:
        """The entries a node of this operation keeps.

        A node of a transform level keeps results as it keeps inputs: they are of the level below.
        """
        keep = _keep_below if at_level else save_result
        return [self._entry(name, args, edges, outs, keep) for name in self.saved_names]

    def values(self, args: Any, outs: list[Any]) -> list[Any]:
        """What the rules ask for, straight from the arguments and results."""
        edges = tuple((1, 0) for _ in self.edge_inputs(args))
        return [
            _opened(self._entry(name, args, edges, outs, _keep_below)) for name in self.saved_names
        ]

    def save_results(self, saved: list[Any], outs: list[Tensor]) -> None:
        """Save the results anew, after an in-place write."""
        for i, name in enumerate(self.saved_names):
            if name.startswith("result"):
                saved[i] = self._entry(name, (), (), outs, save_result)

    def _entry(self, name: str, args: Any, edges: Any, outs: list[Tensor], keep: Any) -> Any:
        if name == "result":
            return keep(outs[0])
        if name.startswith("result") and name[6:].isdigit():
            return keep(outs[int(name[6:])], int(name[6:]))
        if name.endswith("_shape") and name[:-6] in self.inputs:
            arg = args[self.inputs.index(name[:-6])]
            return Static(tuple(arg.shape) if isinstance(arg, Tensor) else ())
        if name in self.inputs:
            arg = args[self.inputs.index(name)]
            if not isinstance(arg, Tensor) or not self.needed_by(name, edges):
                return None if isinstance(arg, Tensor) else arg
            return save_input(arg)
        if name == "shapes" and self.sequence:
            return [tuple(a.shape) for a in args[0]]
        value = args[len(self.inputs) + self.statics.index(name)]
        return Static(value) if type(value) is tuple else value


def _keep_below(t: Tensor, nr: int = 0) -> Any:
    return save_input(t)


def _opened(entry: Any) -> Any:
    if type(entry) is tuple:
        return entry[0]
    return tuple(entry) if type(entry) is Static else entry


def camel(name: str) -> str:
    """``log_softmax`` -> ``LogSoftmax``."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def _asked(rule: Callable[..., Any] | None, skip: int = 2) -> tuple[str, ...]:
    if rule is None:
        return ()
    return tuple(inspect.signature(rule).parameters)[skip:]


def public(function: Callable[..., Any], name: str | None = None) -> Callable[..., Any]:
    """Enter a function in the namespace that rules and users see."""
    setattr(TENSOR, name or function.__name__, function)
    return function
