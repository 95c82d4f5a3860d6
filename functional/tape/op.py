"""Op: everything declared about one operation, and the namespace that rules run in."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from .. import errors
from ..dtypes import C64, C128, F32, F64
from ..kernels.many import for_many
from ..modes import MODE
from ..tensor import Tensor
from .node import Node
from .saved import SavedTensor, open_raw, open_tensor, save_input, save_result

# `F` when gradients are Tensors: every public function, by name. `F` for arrays is a kernel module.
TENSOR = SimpleNamespace()
OPS: dict[str, Op] = {}


class OpNode(Node):
    """A node made by a declaration: opens what was saved and calls the rules."""

    __slots__ = ()
    op: Op

    def apply(self, F: Any, g: Any, raw: bool) -> Any:
        values = self.open(raw) if self.saved_names else ()
        if self.dtype is C64 or self.dtype is C128:
            return _conjugated(self.op, F, g, self.next_functions, values)
        return call_rules(self.op, F, g, self.next_functions, values)

    def open(self, raw: bool) -> list[Any]:
        """Everything saved, in the order of ``saved_names``: as arrays if ``raw``, else Tensors."""
        saved = self.saved
        if saved is None:
            raise RuntimeError(errors.FREED)
        opener = open_raw if raw else open_tensor
        values = list(saved)
        for at in self.op.opening:  # hooks see tensors again in the order they were packed
            values[at] = opener(saved[at], self)
        return values

    def release(self) -> None:
        """Forget saved tensors. A node that kept none can run again, as in PyTorch."""
        saved = self.saved
        if saved is not None:
            for i in self.op.tensors:
                if saved[i] is not None:
                    self.saved = None
                    return

    def __dir__(self) -> list[str]:
        raw = [f"_raw_saved_{self.saved_names[at]}" for at in self.op.tensors]
        return [*super().__dir__(), *raw, *(f"_saved_{name}" for name in self.saved_names)]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_saved_") and name[7:] in self.saved_names:
            entry = self.open(False)[self.saved_names.index(name[7:])]
            if isinstance(entry, (int, float, complex)) and name[7:] in self.op.inputs:
                return TENSOR.tensor(entry, dtype=TENSOR.float64)
            return entry
        if name.startswith("_raw_saved_") and name[11:] in self.saved_names:
            at = self.saved_names.index(name[11:])
            if at in self.op.tensors:
                return SavedTensor.of(self, at)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


def call_rules(op: Op, F: Any, g: Any, edges: Any, values: Any) -> Any:
    """Gradients for every edge that leads somewhere; None for the others."""
    if op.joint is not None:
        return op.joint(F, g, tuple([edge[0] is not None for edge in edges]), *values)
    return [
        call(F, g, values) if edge[0] is not None and call is not None else None
        for edge, call in zip(edges, op.bound, strict=True)
    ]


def _conjugated(op: Op, F: Any, g: Any, edges: Any, values: Any) -> Any:
    """Rules are plain derivative formulas; the gradient of a complex result is their conjugate."""
    if not op.holomorphic:
        return call_rules(op, F, g, edges, values)
    g = [F.conj(part) if part is not None else None for part in g] if type(g) is list else F.conj(g)
    return [None if x is None else F.conj(x) for x in call_rules(op, F, g, edges, values)]


def _bind(rule: Any, wants: tuple[int, ...]) -> Any:
    """``rule`` as a function of (F, g, all saved values)."""
    if rule is None:
        return None
    if not wants:
        return lambda F, g, values: rule(F, g)
    if len(wants) == 1:
        (i,) = wants
        return lambda F, g, values: rule(F, g, values[i])
    if len(wants) == 2:
        i, j = wants
        return lambda F, g, values: rule(F, g, values[i], values[j])
    return lambda F, g, values: rule(F, g, *[values[i] for i in wants])


def fast_apply(op: Op) -> Any:
    """``apply`` for the commonest forms, with fewer calls; None for the others.

    Each falls back on the general form for anything but arrays that nobody has written to.
    """
    if op.joint is not None or not all(op.rules):
        return None
    kinds = [kind for kind, _, _ in op.plan]
    if len(op.rules) == 1 and not kinds:
        return _apply_unsaved(op.rules[0])
    if len(op.rules) == 1 and kinds in ([INPUT], [RESULT]):
        return _apply_one(op.rules[0])
    if len(op.rules) == 2 and not kinds:
        return _apply_pair_unsaved(*op.rules)
    if op.wants == [(1,), (0,)] and kinds == [INPUT, INPUT]:
        return _apply_product(*op.rules)
    return None


def _apply_unsaved(rule: Any) -> Any:
    def apply(self: OpNode, F: Any, g: Any, raw: bool) -> Any:
        if self.dtype is F32 or self.dtype is F64:
            return (rule(F, g),)
        return OpNode.apply(self, F, g, raw)

    return apply


def _apply_pair_unsaved(first: Any, second: Any) -> Any:
    def apply(self: OpNode, F: Any, g: Any, raw: bool) -> Any:
        if self.dtype is F32 or self.dtype is F64:
            return first(F, g), second(F, g)
        return OpNode.apply(self, F, g, raw)

    return apply


def _apply_one(rule: Any) -> Any:
    def apply(self: OpNode, F: Any, g: Any, raw: bool) -> Any:
        saved = self.saved
        if raw and saved and (self.dtype is F32 or self.dtype is F64):
            entry = saved[0]
            if type(entry) is tuple:
                if len(entry) == 3:
                    z, counter, version = entry
                    if counter[0] == version:
                        return (rule(F, g, z),)
                else:
                    t, version = entry
                    if t._ver is None or t._ver[0] == version:
                        return (rule(F, g, t._data),)
        return OpNode.apply(self, F, g, raw)

    return apply


def _apply_product(first: Any, second: Any) -> Any:
    def apply(self: OpNode, F: Any, g: Any, raw: bool) -> Any:
        saved = self.saved
        if raw and saved and (self.dtype is F32 or self.dtype is F64):
            one, other = saved
            if type(one) is tuple and type(other) is tuple:
                x, version = one
                y, version_y = other
                if (x._ver is None or x._ver[0] == version) and (
                    y._ver is None or y._ver[0] == version_y
                ):
                    return first(F, g, y._data), second(F, g, x._data)
        return OpNode.apply(self, F, g, raw)

    return apply


INPUT, RESULT, SHAPE, STATIC, SHAPES, TRANSPOSED = range(6)  # what an entry of a node holds


def _flows(edges: Any, readers: tuple[int, ...]) -> bool:
    """Whether one of these edges leads somewhere."""
    return any([edges[k][0] is not None for k in readers])


class Op:
    """One primitive operation: kernel, derivative rules, and how transforms treat it.

    ``rules`` has one vjp per input (or ``joint`` is one vjp for all of them, given a ``need``
    mask). The names a rule asks for are what is saved: an input, ``result``, a static argument,
    ``<input>_shape``, or ``<input>_transposed`` (see ``is_transposed``).
    """

    call: Callable[..., Any]  # the closure users call
    public: Callable[..., Any]  # what __torch_function__ is told was called
    check: Callable[..., None] | None = None  # raises PyTorch's errors, on the general path
    scaled: Op | None = None  # the same operation with a factor on its second operand
    fixed: frozenset[str] = frozenset()  # elementwise inputs that keep their own dtype
    refused: tuple[Any, ...] = ()  # dtypes PyTorch has no kernel for, and what it says
    # In place, it may write to elements that share memory; if this is its name, with a warning.
    rewrites: bool | str = False
    apart: tuple[str, ...] = ()  # inputs that may share no memory at all with what is written
    loose: tuple[str, ...] = ()  # inputs that may share any of it
    title: str | None = None  # what errors call it, if not by its name
    refuses_gradients = False  # recorded, but has no derivative
    number: Any = None  # the form whose second operand is a number, where its node differs
    contiguous = False  # an elementwise result that ignores its inputs' order in memory
    foreign_kernel: Any = None  # the kernel of the same name for CuPy's arrays, once looked up
    strict = False  # all tensors must have one dtype: others are for ``check`` to refuse
    complex_kernel: Any = None  # for complex numbers, where it is another
    truth = False  # gives truth values, which any dtype can hold
    narrow = False  # computes in half types, where others do in float32
    rounds = False  # takes its numbers in half types, where others do in float32
    mixes = False  # takes a tensor without dimensions from the CPU beside others of a GPU

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
        constants: tuple[str, ...] = (),
        kind: str = "general",
        result: Any = "same",
        pair: bool = False,
    ) -> None:
        self.name, self.kernel, self.inputs, self.statics = name, kernel, inputs, statics
        self.many = for_many(kernel)  # the same for arrays of more than SHARED elements
        # inputs without a rule have no edge, except in the pairs of binary operations; a joint
        # rule serves all inputs but the constants
        self.edge_at = tuple(
            i
            for i, n in enumerate(inputs)
            if pair or (joint and n not in constants) or (i < len(rules) and rules[i])
        )
        rules = tuple(rules[i] for i in self.edge_at) if rules else ()
        self.rules, self.joint, self.jvp, self.vmap, self.shape = rules, joint, jvp, vmap, shape
        self.holomorphic, self.differentiable = holomorphic, differentiable
        self.kind, self.result = kind, result
        self.plans: dict[Any, Any] = {}  # how the general path computes operands of some dtypes
        self.sequence = len(inputs) == 1 and inputs[0].startswith("*")
        asked = [_asked(rule) for rule in rules]
        if joint is not None:
            asked = [_asked(joint, skip=3)]
        self.saved_names = self._in_order({n for names in asked for n in names})
        self.wants = [tuple(self.saved_names.index(n) for n in names) for names in asked]
        self.asked = asked
        self.plan = tuple(self._planned(name) for name in self.saved_names)
        self.packing = self._packing()
        self.static = tuple(kind >= SHAPE for kind, _, _ in self.plan)
        self.opening = tuple([at for at in self.packing if not self.static[at]])
        self.tensors = tuple(
            i for i, name in enumerate(self.saved_names) if not self.static[i] or name == "indices"
        )
        self.bound = [_bind(rule, want) for rule, want in zip(rules, self.wants, strict=False)]
        self.node: Any = self._node_class(node) if any(rules) or joint else None
        OPS[name] = self

    def _in_order(self, names: set[str]) -> tuple[str, ...]:
        """Inputs, their shapes, statics, then results: the order the hot closures save in."""
        order = [*self.inputs, *(f"{n}_shape" for n in self.inputs), "shapes", *self.statics]
        order += [f"{n}_transposed" for n in self.inputs]
        order += ["result", *(f"result{i}" for i in range(9))]
        unknown = names - set(order)
        if unknown:
            raise NameError(f"{self.name}: a rule asks for {sorted(unknown)}, which it has not")
        return tuple(n for n in order if n in names)

    def _packing(self) -> tuple[int, ...]:
        """The order in which saved-tensor hooks see what is saved: by name, results last."""
        names = self.saved_names
        return tuple(sorted(range(len(names)), key=lambda i: (self.plan[i][0] == RESULT, names[i])))

    def _node_class(self, node: str | None) -> type[OpNode]:
        title = node or camel(self.name) + "Backward0"
        members: dict[str, Any] = {"__slots__": (), "op": self, "saved_names": self.saved_names}
        asked = [[n for n in names if n in self._tensor_names()] for names in self.asked]
        members["frees"] = 2 if asked and all(asked) else int(bool(self.tensors))
        fast = fast_apply(self)
        if fast is not None:
            members["apply"] = fast
        return type(title, (OpNode,), members)

    def edge_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments that a node has edges for."""
        return tuple(args[0]) if self.sequence else tuple([args[i] for i in self.edge_at])

    def _tensor_names(self) -> set[str]:
        return {self.saved_names[i] for i in self.tensors}

    def _planned(self, name: str) -> tuple[int, int, tuple[int, ...] | None]:
        """(kind, position, edges whose rules ask for it; None: all)."""
        readers = tuple(k for k, names in enumerate(self.asked) if name in names)
        everyone = None if self.joint is not None else readers
        if name == "shapes":
            return SHAPES, 0, None
        if name.startswith("result"):
            return RESULT, int(name[6:] or 0), None
        if name in self.inputs:
            return INPUT, self.inputs.index(name), everyone
        if name.removesuffix("_transposed") in self.inputs:
            return TRANSPOSED, self.inputs.index(name.removesuffix("_transposed")), None
        if name.removesuffix("_shape") in self.inputs:
            return SHAPE, self.inputs.index(name.removesuffix("_shape")), None
        return STATIC, len(self.inputs) + self.statics.index(name), None

    def needs_input(self, at: int, edges: tuple[Any, ...]) -> bool:
        """Whether a rule that will run asks for input ``at``."""
        for kind, position, readers in self.plan:
            if kind == INPUT and position == at:
                return readers is None or _flows(edges, readers)
        return False

    def save(
        self, args: Any, edges: Any, outs: list[Tensor] | None, at_level: bool = False
    ) -> list[Any]:
        """The entries a node of this operation keeps.

        A node of a transform level keeps results as it keeps inputs: they are of the level below.
        """
        entries: list[Any] = [None] * len(self.plan)
        for at in self.packing:
            kind, i, readers = self.plan[at]
            if kind == INPUT:
                a = args[i]
                if not isinstance(a, Tensor):
                    entries[at] = a
                elif readers is None or _flows(edges, readers):
                    entries[at] = save_input(a)
            elif kind == STATIC:
                entries[at] = args[i]
            elif kind == RESULT:
                if outs is not None:
                    out = outs[i]
                    entries[at] = save_input(out) if at_level else save_result(out, i)
            elif kind == SHAPE:
                entries[at] = tuple(args[i].shape) if isinstance(args[i], Tensor) else ()
            elif kind == TRANSPOSED:
                entries[at] = is_transposed(args[i]._data)
            else:
                entries[at] = [tuple(a.shape) for a in args[0]]
        return entries

    def save_results(self, saved: list[Any], outs: list[Tensor]) -> None:
        """Save the results anew, after an in-place write."""
        for at, (kind, i, _) in enumerate(self.plan):
            if kind == RESULT:
                saved[at] = save_result(outs[i], i)

    def values(self, args: Any, outs: list[Any]) -> list[Any]:
        """What the rules ask for, straight from the arguments and results."""
        edges = tuple((1, 0) for _ in self.edge_inputs(args))
        hooks, MODE.saved_hooks = MODE.saved_hooks, ()
        try:
            entries = self.save(args, edges, outs, at_level=True)
        finally:
            MODE.saved_hooks = hooks
        return [e[0] if type(e) is tuple and not static else e
                for e, static in zip(entries, self.static, strict=True)]  # fmt: skip


def is_transposed(x: Any) -> bool:
    """Whether a matrix lies in memory column by column, so that its gradient should too."""
    return not isinstance(x, Tensor) and x.flags.f_contiguous and not x.flags.c_contiguous


def camel(name: str) -> str:
    """``log_softmax`` -> ``LogSoftmax``."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def _asked(rule: Callable[..., Any] | None, skip: int = 2) -> tuple[str, ...]:
    if rule is None:
        return ()
    names = getattr(rule, "names", None)  # set where a rule takes *rest
    if names is None:
        code = rule.__code__
        names = code.co_varnames[: code.co_argcount]
    return tuple(names[skip:])


def public(function: Callable[..., Any], name: str | None = None) -> Callable[..., Any]:
    """Enter a function in the namespace that rules and users see."""
    setattr(TENSOR, name or function.__name__, function)
    return function
