"""Operations on sparse tensors: plain tensors over a ``CooArray``.

Their arrays keep them off every hot path, and the general path brings them here. What is declared
about an operation stays as it is, its derivative rules included; only its kernel is another, which
takes the arguments themselves, without recording, and gives arrays. An operation without a kernel
here raises PyTorch's error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy import asarray, ndarray

from .. import dtypes
from ..kernels.compressed import CompressedArray, to_coo
from ..kernels.coo import SPARSE, CooArray, to_dense
from ..modes import MODE
from ..tensor import NO_EDGE, Tensor, wrap
from . import levels, overrides, wrappers
from .foreign import CROSSINGS
from .op import TENSOR, Op
from .views import bump, check_in_place, rebase, requires_grad

KERNELS: dict[str, Callable[..., Any]] = {}  # by the operation's name
COMPRESSED: dict[str, Callable[..., Any]] = {}  # the same where a compressed matrix takes part
DECLARED: set[str] = set()  # operations that only sparse tensors have
COALESCED: set[str] = set()  # operations that in place want coalesced tensors
NOT_IN_PLACE = {"pow_scalar": "pow_.Scalar"}
_FORGETS = {"mul"}  # by a number in place: the result counts as not coalesced
TITLES: dict[str, str] = {}  # PyTorch's names of operations, where ours are others


def is_sparse(a: Any) -> bool:
    """Whether a value is a sparse tensor in coordinate format."""
    return isinstance(a, Tensor) and type(a._data) is CooArray


def is_compressed(a: Any) -> bool:
    """Whether a value is a sparse matrix in compressed format."""
    return isinstance(a, Tensor) and type(a._data) is CompressedArray


def refused(name: str, backend: str = "SparseCPU") -> NotImplementedError:
    """PyTorch's error for an operation that a kind of tensor lacks."""
    return NotImplementedError(
        f"Could not run 'aten::{name}' with arguments from the '{backend}' backend. There is no "
        "kernel for it; to_dense() gives a tensor that it can be run on."
    )


def not_sparse(name: str, a: Any = None) -> RuntimeError:
    """PyTorch's error for a method of tensors in coordinate format, called of another one."""
    title = a._data.title if isinstance(a, Tensor) and type(a._data) in SPARSE else "Strided"
    return RuntimeError(f"{name} expected sparse coordinate tensor layout but got {title}")


def _kernel_of(op: Op, inputs: Any) -> Callable[..., Any]:
    compressed = any(is_compressed(a) for a in inputs)
    found = (COMPRESSED if compressed else KERNELS).get(op.name)
    if found is None:
        name = TITLES.get(op.name, (op.title or op.name).partition("_of")[0])
        raise refused(name, "SparseCsrCPU" if compressed else "SparseCPU")
    return found


def _computed(op: Op, args: tuple[Any, ...]) -> Any:
    """The array or arrays of a result."""
    inputs = args[0] if op.sequence else args
    if any(isinstance(a, wrappers.Wrapped) for a in inputs):
        raise NotImplementedError(f"{op.name}: a sparse tensor inside a transform")
    for a in inputs:
        if isinstance(a, Tensor) and a.device.type != "cpu":
            raise NotImplementedError(f"{op.name}: sparse tensors beside those on {a.device}")
    kernel, before = _kernel_of(op, inputs), MODE.grad
    MODE.grad = False
    try:
        found = kernel(*args)
    finally:
        MODE.grad = before
    if type(found) is tuple:
        return tuple([z._data for z in found])
    return found._data if isinstance(found, Tensor) else found


def run(op: Op, args: tuple[Any, ...], out: Any = None) -> Any:
    """An operation, recorded. Backward passes through its node run on tensors."""
    from .slow import record

    if out is not None:
        raise NotImplementedError(f"{op.name}: out= together with sparse tensors")
    data = _computed(op, args)
    several = type(data) in (tuple, list)
    outs = [wrap(z) for z in (data if several else (data,))]
    record(op, args, outs)
    for t in outs:
        if t._edge is not NO_EDGE:
            CROSSINGS.add(t._edge[0])
    return (list(outs) if type(data) is list else tuple(outs)) if several else outs[0]


def write(op: Op, args: tuple[Any, ...]) -> Tensor:
    """An operation whose result replaces its first argument."""
    from .slow import in_place_node

    target = args[0]
    tensors = [a for a in args if isinstance(a, Tensor)]
    recording = MODE.grad and any(requires_grad(a) for a in tensors)
    check_in_place(target, recording)
    if op.name in COALESCED and is_sparse(target) and not target._data.coalesced:
        raise RuntimeError(f"{op.name}_ requires coalesced input")
    if op.name in NOT_IN_PLACE and is_sparse(target):
        raise refused(NOT_IN_PLACE[op.name])
    data = _computed(op, args)
    if op.kind == "view":
        return _reshaped(op, target, data, recording)
    _check_cast(op, args, data)
    if type(data) is CooArray and type(target._data) not in SPARSE:
        data = to_dense(data)
    elif type(data) is not type(target._data):
        raise NotImplementedError(f"{op.name}_: a result of another layout than its target")
    node = in_place_node(op, args) if recording and op.node is not None else None
    put(target, data)
    if op.name in _FORGETS and is_sparse(target) and not isinstance(args[1], Tensor):
        x = target._data
        target._data = CooArray(x.indices, x.values, x.shape)
    if node is not None:
        op.save_results(node.saved, [target])
        rebase(target, node)
        CROSSINGS.add(target._edge[0])
    return target


def _check_cast(op: Op, args: tuple[Any, ...], data: Any) -> None:
    """PyTorch's errors for a sum or product of another dtype than its target's."""
    name = (op.title or op.name).replace("sub", "add")
    if name not in ("add", "mul") or data.dtype == args[0]._data.dtype:
        return
    found, own = dtypes.FROM_ARRAY[data.dtype], args[0].dtype
    both = [isinstance(a, Tensor) and is_sparse(a) for a in args[:2]]
    if name == "mul" and both == [True, False] and isinstance(args[1], Tensor) and args[1].ndim:
        raise RuntimeError(
            f"dtype of values ({args[1].dtype.legacy}) must match dtype of sparse tensor "
            f"({own.legacy})"
        )
    if not dtypes.can_cast(found, own):
        name = name if all(both) else "add"
        raise RuntimeError(
            f"Can't convert result type {found.legacy} to output {own.legacy} in {name} operation"
        )


def _reshaped(op: Op, target: Tensor, data: Any, recording: bool) -> Tensor:
    if recording:
        raise NotImplementedError(f"{op.name}: recorded, on a sparse tensor")
    target._data = data
    bump(target)
    return target


def put(target: Tensor, data: Any) -> None:
    """Write a result over a tensor; a sparse one gets new memory."""
    own = target._data
    if tuple(data.shape) != tuple(own.shape):
        raise RuntimeError(
            f"output with shape {list(own.shape)} doesn't match the broadcast shape "
            f"{list(data.shape)}"
        )
    if type(own) is CompressedArray:
        target._data = data.with_values(data.values.astype(own.values.dtype, copy=False))
    elif type(own) is not CooArray:
        own[...] = data
    else:
        values = data.values.astype(own.values.dtype, copy=False)
        target._data = CooArray(data.indices, values, own.shape, data.coalesced)
    bump(target)


def declare(
    name: str,
    kernel: Callable[..., Any],
    *rules: Callable[..., Any] | None,
    inputs: tuple[str, ...] = ("self",),
    statics: tuple[str, ...] = (),
    node: str | None = None,
    differentiable: tuple[bool, ...] | None = None,
) -> Any:
    """An operation that makes, takes or differentiates sparse tensors, whatever it is given."""
    op = Op(
        name, kernel, inputs=inputs, statics=statics, rules=rules, node=node,
        differentiable=differentiable,
    )  # fmt: skip
    KERNELS[name] = kernel
    DECLARED.add(name)

    def call(*args: Any) -> Any:
        if MODE.functions or any(
            isinstance(a, Tensor) and type(a) not in overrides.EXACT for a in args
        ):
            handled, result = overrides.dispatch(op, args, args)
            if handled:
                return result
            if any(isinstance(a, wrappers.Wrapped) for a in args):
                return levels.process(op, args)
        return run(op, args)

    call.__name__ = call.__qualname__ = name
    call.op = op  # type: ignore[attr-defined]
    op.call = op.public = call
    setattr(TENSOR, name, call)
    return call


def added(a: Tensor, b: Tensor) -> Tensor:
    """The sum of two gradients, of which one may be sparse."""
    mixed = type(a._data) in SPARSE and type(b._data) not in SPARSE
    return TENSOR.add(b, a) if mixed else TENSOR.add(a, b)


def accumulated(old: Tensor, g: Tensor) -> Tensor:
    """A leaf's gradient with more added: in place, unless a sparse one becomes dense."""
    mixed = type(old._data) in SPARSE and type(g._data) not in SPARSE
    return added(old, g) if mixed else TENSOR.add_(old, g)


def copied(g: Tensor, leaf: Tensor) -> Tensor:
    """A copy of ``g``, laid out like the leaf: ``grad`` is nobody else's tensor."""
    if type(g._data) in SPARSE or type(leaf._data) in SPARSE:
        return TENSOR.clone(g)
    return TENSOR.empty_like(leaf, dtype=g.dtype).copy_(g)


def as_array(g: Any) -> ndarray:
    """A gradient that a user's Function or a NumPy kernel made, as an array; dense if sparse."""
    x = g._data if isinstance(g, Tensor) else g
    if type(x) is CompressedArray:
        x = to_coo(x)
    return to_dense(x) if type(x) is CooArray else asarray(x)
