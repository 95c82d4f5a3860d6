"""Kind words: one block declares everything about an operation.

Each function makes the Op, its node class and its closure, enters the closure in the namespace
that rules see, and returns it. `kernel` names a function of the kernel modules (the operation's
own name if not given); rules are written against `F`, which is a kernel module for arrays and
the Tensor functions under create_graph and in transforms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..kernels import numpy as numpy_kernels
from . import dispatch, inplace
from .op import TENSOR, Op

Rule = Callable[..., Any]


def _kernel(name: str | None, default: str) -> Callable[..., Any]:
    return getattr(numpy_kernels, name or default)


def _enter(op: Op, closure: Any, twin: Any = None, hidden: bool = False) -> Any:
    op.public = closure
    if not hidden:
        setattr(TENSOR, op.name, closure)
    if twin is not None:
        setattr(TENSOR, twin.__name__, twin)
        closure.in_place = twin
    return closure


def unary(
    name: str,
    vjp: Rule | None = None,
    *,
    kernel: str | None = None,
    node: str | None = None,
    result: str = "same",
    holomorphic: bool = True,
    jvp: Any = "elementwise",
    in_place: bool = True,
) -> Any:
    """An elementwise operation of one tensor.

    ``result`` is ``same``, ``float`` (integers become the default float) or ``bool``.
    """
    op = Op(
        name,
        _kernel(kernel, name),
        inputs=("self",),
        rules=(vjp,) if vjp else (),
        node=node,
        kind="elementwise",
        result=result,
        holomorphic=holomorphic,
        jvp=jvp if holomorphic else "transpose",
        vmap="elementwise",
    )
    twin = inplace.elementwise_twin(op) if in_place else None
    return _enter(op, dispatch.unary_closure(op), twin)


def binary(
    name: str,
    vjp_self: Rule | None = None,
    vjp_other: Rule | None = None,
    *,
    kernel: str | None = None,
    node: str | None = None,
    result: str = "same",
    holomorphic: bool = True,
    in_place: bool = True,
    hidden: bool = False,
    number: Op | None = None,
) -> Any:
    """An elementwise operation of two operands, tensors or numbers, that broadcast.

    ``number`` is its form for a number as the second operand, if that has a node of its own.
    """
    op = Op(
        name,
        _kernel(kernel, name),
        inputs=("self", "other"),
        rules=(vjp_self, vjp_other) if vjp_self or vjp_other else (),
        node=node,
        kind="elementwise",
        result=result,
        holomorphic=holomorphic,
        jvp="elementwise" if holomorphic else "transpose",
        vmap="elementwise",
        pair=True,
    )
    op.number = number
    twin = inplace.elementwise_twin(op) if in_place else None
    return _enter(op, dispatch.binary_closure(op), twin, hidden)


def elementwise(
    name: str,
    *rules: Rule | None,
    inputs: tuple[str, ...],
    statics: tuple[str, ...] = (),
    kernel: str | None = None,
    node: str | None = None,
    result: str = "same",
    hidden: bool = False,
) -> Any:
    """Any other elementwise operation: several operands, or static arguments."""
    op = Op(
        name,
        _kernel(kernel, name),
        inputs=inputs,
        statics=statics,
        rules=rules,
        node=node,
        kind="elementwise",
        result=result,
        jvp="elementwise",
        vmap="elementwise",
    )
    return _enter(op, dispatch.general_elementwise(op), inplace.general_twin(op), hidden)


def general(
    name: str,
    *rules: Rule | None,
    inputs: tuple[str, ...] = ("self",),
    statics: tuple[str, ...] = (),
    joint: Rule | None = None,
    kernel: str | None = None,
    node: str | None = None,
    jvp: Any = "transpose",
    vmap: Any = "loop",
    shape: Any = None,
    differentiable: tuple[bool, ...] | None = None,
    constants: tuple[str, ...] = (),
    check: Callable[..., None] | None = None,
    strict: bool = False,
    hidden: bool = False,
) -> Any:
    """Any operation: one vjp per input, or one ``joint`` vjp with a ``need`` mask.

    ``jvp`` is ``linear``, ``multilinear``, ``transpose`` (derived from the vjp) or a rule;
    ``vmap`` is ``loop`` or a rule; ``shape`` gives (shape, dtype) for meta arrays. ``constants``
    are inputs that a ``joint`` rule gives no gradient. ``check``
    raises PyTorch's errors; it runs on the general path only, where the closure goes when the
    kernel raises ValueError, so the kernel must refuse what ``check`` refuses. Where ``strict``,
    the closure goes there with any tensors that differ in dtype, instead of floating ones only.
    """
    op = Op(
        name,
        _kernel(kernel, name),
        inputs=inputs,
        statics=statics,
        rules=rules,
        joint=joint,
        node=node,
        jvp=jvp,
        vmap=vmap,
        shape=shape,
        differentiable=differentiable,
        constants=constants,
    )
    op.check, op.strict = check, strict
    return _enter(op, dispatch.general_closure(op), hidden=hidden)


def view(
    name: str,
    vjp: Rule,
    *,
    statics: tuple[str, ...] = (),
    kernel: str | None = None,
    node: str | None = None,
    vmap: Any = "loop",
    joint: bool = False,
    hidden: bool = False,
) -> Any:
    """An operation whose result (or list of results, with ``joint``) shares its input's memory."""
    op = Op(
        name,
        _kernel(kernel, name),
        inputs=("self",),
        statics=statics,
        rules=() if joint else (vjp,),
        joint=vjp if joint else None,
        node=node,
        kind="view",
        jvp="linear",
        vmap=vmap,
    )
    return _enter(op, dispatch.view_closure(op), hidden=hidden)
