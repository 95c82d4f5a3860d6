"""What can be seen of a record: run with a library, it gives plain facts to compare.

The same functions observe PyTorch and torchlike. Facts are dicts, lists, strings and NumPy arrays
only, so that PyTorch's can be stored and stand in for it where it is not installed.
"""

from __future__ import annotations

import contextlib
import importlib
import warnings
import zlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from .records.base import In, Record, build

Facts = dict[str, Any]
HALF = ("float16", "bfloat16")  # their gradients are rounded after every step: not compared


def library(name: str) -> Any:
    """The namespace that records are called with: ``torch`` or ``torchlike``."""
    torch = importlib.import_module(name)
    for part in ("nn.functional", "autograd", "func"):
        with contextlib.suppress(ImportError):
            importlib.import_module(f"{name}.{part}")
    return torch


def error_facts(error: BaseException) -> list[str]:
    """An exception as facts: its class and the first line of its text."""
    lines = str(error).strip().splitlines()
    return [type(error).__name__, lines[0] if lines else ""]


# --- arguments ------------------------------------------------------------------------------------


def to_tensor(T: Any, array: np.ndarray, dtype: str) -> Any:
    """A tensor over (a copy of) an array with the array's strides."""
    t = T.from_numpy(array)
    if dtype == "bfloat16" and array.dtype == np.float32:
        return t.to(T.bfloat16)
    return t


def arguments(T: Any, record: Record, index: int, dtype: str, grad: bool = True) -> list[Any]:
    """The arguments of a sample; its differentiable inputs require gradients."""
    return tensors_of(T, record.samples[index], record.arrays(index, dtype), dtype, grad)


def tensors_of(T: Any, sample: Any, arrays: list[Any], dtype: str, grad: bool) -> list[Any]:
    def one(spec: Any, value: Any) -> Any:
        if isinstance(spec, list):
            return [one(s, v) for s, v in zip(spec, value, strict=True)]
        if not isinstance(spec, In):
            return value
        t = to_tensor(T, value, dtype)
        wanted = grad and spec.differentiable and (t.is_floating_point() or t.is_complex())
        return t.requires_grad_() if wanted else t

    return [one(s, v) for s, v in zip(sample, arrays, strict=True)]


def flat(tree: Any) -> list[Any]:
    """The tensors in nested lists and tuples."""
    if isinstance(tree, (list, tuple)):
        return [t for part in tree for t in flat(part)]
    return [tree] if hasattr(tree, "requires_grad") else []


def leaves(args: list[Any]) -> list[Any]:
    return [t for t in flat(args) if t.requires_grad]


def weights(T: Any, like: Any, seed: int) -> Any:
    """Deterministic numbers in the shape and dtype of a tensor."""
    rng = np.random.default_rng(zlib.crc32(repr((seed, tuple(like.shape))).encode()))
    values = rng.uniform(-1, 1, tuple(like.shape))
    if like.is_complex():
        values = values + 1j * rng.uniform(-1, 1, tuple(like.shape))
    return T.from_numpy(np.asarray(values)).to(like.dtype)


# --- facts ----------------------------------------------------------------------------------------


def to_array(t: Any) -> np.ndarray:
    """The values of a tensor as NumPy holds them."""
    t = t.detach()
    for name in ("resolve_conj", "resolve_neg"):
        t = getattr(t, name, lambda t=t: t)()
    if str(t.dtype) == "torch.bfloat16":
        t = t.float()
    return np.array(t.numpy(force=True))


def tensor_facts(t: Any, values: bool = True) -> Facts:
    """Everything about one tensor except its history."""
    facts: Facts = {
        "dtype": str(t.dtype),
        "shape": list(t.shape),
        "strides": list(t.stride()),
        "contiguous": bool(t.is_contiguous()),
        "requires_grad": bool(t.requires_grad),
        "view": bool(t._is_view()),
    }
    if values:
        facts["values"] = to_array(t)
    return facts


def chain(fn: Any) -> list[Any]:
    """The graph above a node: [name, [edges of its inputs]], each node listed once."""
    found: list[Any] = []
    numbers: dict[Any, int] = {}

    def visit(node: Any) -> int:
        if node is None:
            return -1
        if node not in numbers:
            numbers[node] = len(found)
            entry: list[Any] = [node.name(), []]
            found.append(entry)
            entry[1] = [[visit(n), nr] for n, nr in node.next_functions]
        return numbers[node]

    visit(fn)
    return [[name.replace("torch::autograd::", ""), edges] for name, edges in found]


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def observe(T: Any, record: Record, index: int, dtype: str, order: int = 2) -> Facts:
    """Result, graph, gradients and (with ``order`` 2) second derivatives of one sample."""
    with quiet():
        args = arguments(T, record, index, dtype)
        try:
            result = record.call(T, *args)
        except Exception as error:
            return {"error": error_facts(error)}
        outs = flat(result)
        facts: Facts = {
            "kind": type(result).__name__,
            "outs": [tensor_facts(t) for t in outs],
            "graph": [chain(t.grad_fn) for t in outs],
        }
        if order and leaves(args):
            order = order if record.second else 1
            facts |= derivatives(T, leaves(args), outs, order)
        return facts


def derivatives(T: Any, inputs: list[Any], outs: list[Any], order: int) -> Facts:
    """First order without a graph and with one; second order with respect to everything."""
    outs = [t for t in outs if t.requires_grad]
    if not outs:
        return {}
    cotangents = [weights(T, t, 1).requires_grad_() for t in outs]
    try:
        grads = gradients(T, outs, inputs, cotangents)
    except (RuntimeError, NotImplementedError) as error:
        return {"no_gradient": error_facts(error)}
    facts: Facts = {"grads": [None if g is None else gradient_facts(g) for g in grads]}
    if order < 2:
        return facts
    grads = gradients(T, outs, inputs, cotangents, True)
    facts["grads_again"] = [None if g is None else to_array(g) for g in grads]
    again = [g for g in grads if g is not None and g.requires_grad]
    if not again:
        return facts
    second = gradients(T, again, [*inputs, *cotangents], [weights(T, g, 2) for g in again])
    facts["second"] = [None if g is None else to_array(g) for g in second]
    return facts


def gradient_facts(g: Any) -> Facts:
    return {"dtype": str(g.dtype), "shape": list(g.shape), "values": to_array(g)}


def gradients(T: Any, outs: Any, inputs: Any, cotangents: Any, create: bool = False) -> Any:
    return T.autograd.grad(
        outs, inputs, cotangents, retain_graph=True, create_graph=create, allow_unused=True
    )


def observe_in_place(T: Any, record: Record, index: int, dtype: str) -> Facts:
    """The in-place twin, applied to a copy of the first input."""
    with quiet():
        args = arguments(T, record, index, dtype)
        assert record.in_place
        target = args[0].clone()
        try:
            result = getattr(target, record.in_place)(*args[1:])
        except Exception as error:
            return {"error": error_facts(error)}
        facts: Facts = {
            "same": result is target,
            "version": target._version,
            "outs": [tensor_facts(target)],
            "graph": [chain(target.grad_fn)],
        }
        if leaves(args) and dtype not in HALF:
            facts |= derivatives(T, leaves(args), [target], 1)
        return facts


def observe_out(T: Any, record: Record, index: int, dtype: str) -> Facts:
    """``out=`` into an empty tensor, into one of the right shape, and with a gradient."""
    facts: Facts = {}
    with quiet():
        args = arguments(T, record, index, dtype, grad=False)
        try:
            plain = record.call(T, *args)
        except Exception as error:
            return {"error": error_facts(error)}
        call = called_with_out(record)
        for name, out in (
            ("empty", T.empty(0, dtype=plain.dtype)),
            ("fits", T.zeros(tuple(plain.shape), dtype=plain.dtype)),
        ):
            result = call(T, out, *args)
            facts[name] = [result is out, tensor_facts(out)]
        facts["grad"] = ""
        needing = arguments(T, record, index, dtype)
        if leaves(needing):
            try:
                call(T, T.empty(0, dtype=plain.dtype), *needing)
            except Exception as error:
                facts["grad"] = error_facts(error)
    return facts


def called_with_out(record: Record) -> Any:
    """The record's call, every function of the torch namespace in it given ``out=``."""

    def call(T: Any, out: Any, *args: Any) -> Any:
        def function(name: str) -> Any:
            return lambda *a, **kw: getattr(T, name)(*a, **kw, out=out)

        class Namespace(SimpleNamespace):
            def __getattr__(self, name: str) -> Any:
                return function(name)

        return record.call(Namespace(), *args)

    return call


def observe_bad(T: Any, record: Record, index: int) -> Facts:
    """The exception of a bad call."""
    sample = record.bad[index]
    arrays = build(sample, f"{record.name}/bad{index}", "float32")
    with quiet():
        args = tensors_of(T, sample, arrays, "float32", False)
        try:
            record.call(T, *args)
        except Exception as error:
            return {"error": error_facts(error)}
    return {"error": None}


def _without_numbers(T: Any, t: Any) -> Any:
    """A meta tensor with the shape, dtype and strides of ``t``."""
    last = sum((n - 1) * s for n, s in zip(t.shape, t.stride(), strict=True))
    line = T.empty(max(last, 0) + 1, dtype=t.dtype, device="meta")
    return line.as_strided(tuple(t.shape), t.stride())


def observe_meta(T: Any, record: Record, index: int, dtype: str = "float32") -> Facts:
    """Shape, dtype and strides on the meta device."""
    with quiet():
        args = arguments(T, record, index, dtype, grad=False)

        def move(a: Any) -> Any:
            if isinstance(a, list):
                return [move(b) for b in a]
            return _without_numbers(T, a) if hasattr(a, "requires_grad") else a

        try:
            outs = flat(record.call(T, *[move(a) for a in args]))
        except Exception as error:
            return {"error": error_facts(error)}
        return {"outs": [tensor_facts(t, False) for t in outs]}


# --- writes to what was saved ---------------------------------------------------------------------


def observe_saved(T: Any, record: Record, index: int, dtype: str = "float64") -> Facts:
    """Which in-place writes between forward and backward make the backward pass raise."""
    facts: Facts = {}
    with quiet():
        for create in (False, True):
            count = 1
            at = 0
            while at < count:
                count, found = _written(T, record, index, dtype, at, create)
                facts[f"{at}/{create}"] = found
                at += 1
    return facts


def _written(T: Any, record: Record, index: int, dtype: str, at: int, create: bool) -> Any:
    """Write to tensor ``at`` (inputs, then outputs) and go backward: the error, or None."""
    args = arguments(T, record, index, dtype)
    wanted = leaves(args)
    args = _copied(args)
    outs = flat(record.call(T, *args))
    places = [*flat(args), *outs]
    places[at].detach().zero_()  # shares memory and version, and is not recorded
    outs = [t for t in outs if t.requires_grad]
    if not outs:
        return len(places), None
    cotangents = [weights(T, t, 1) for t in outs]
    try:
        gradients(T, outs, wanted, cotangents, create)
    except RuntimeError as error:
        return len(places), error_facts(error)
    return len(places), None


def _copied(args: Any) -> Any:
    return [
        _copied(a) if isinstance(a, list) else a.clone() if hasattr(a, "requires_grad") else a
        for a in args
    ]
