"""Forward mode: ``jvp`` and ``linearize``."""

from __future__ import annotations

from typing import Any

from .. import dtypes, pytree
from ..ops.create import like
from ..tape.duals import check_size
from ..tape.wrappers import Dual, given, new_level
from ..tensor import Tensor
from .arguments import Function, check_outputs, lowered_tree, with_aux

_JVP = "jvp(f, primals, tangents)"


def _dual_leaf(level: int, primal: Tensor, tangent: Tensor) -> Dual:
    for name, x in (("primal", primal), ("tangent", tangent)):
        if x.dtype.category < dtypes.FLOAT:
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {x.dtype}")
    check_size(primal, tangent)
    dual = given(Dual, level, primal)
    dual.tangent = tangent
    return dual


def _check(primals: Any, tangents: Any) -> None:
    if not isinstance(primals, tuple):
        raise RuntimeError(
            f"{_JVP}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals)."
        )
    if not pytree.same_structure(primals, tangents):
        raise RuntimeError(
            f"{_JVP}: Expected primals and tangents to have the same python structure. For "
            "example, if primals is a tuple of 3 tensors, tangents also must be. Got primals with "
            f"structure {pytree.described(primals)} and tangents with structure "
            f"{pytree.described(tangents)}"
        )
    for name, tree in (("primals", primals), ("tangents", tangents)):
        flat = pytree.flatten(tree)
        if not flat:
            raise RuntimeError(f"{_JVP}: Expected {name} to contain at least one Tensor.")
        for x in flat:
            if not isinstance(x, Tensor):
                raise RuntimeError(
                    f"{_JVP}: Expected {name} to only contain Tensors, got {type(x)}"
                )


def jvp(
    func: Function, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False
) -> Any:
    """``func(*primals)`` and its directional derivative along ``tangents``.

    With ``has_aux`` the function returns ``(output, aux)``, and aux comes third. RuntimeError for
    tangents of another structure or shape, with ``strict`` also for outputs that do not depend on
    the primals; ValueError for integers.
    """
    _check(primals, tangents)
    with new_level(Dual) as level:
        duals = pytree.map_tree(lambda p, t: _dual_leaf(level, p, t), primals, tangents)
        output = func(*duals)
        aux = None
        if has_aux:
            output, aux = with_aux(_JVP, output)
            aux = lowered_tree(Dual, level, aux)
        check_outputs(_JVP, pytree.flatten(output))
        values = lowered_tree(Dual, level, output)
    found = pytree.map_tree(lambda x: _tangent_of(level, x, strict), output)
    return (values, found, aux) if has_aux else (values, found)


def _tangent_of(level: int, x: Any, strict: bool) -> Any:
    own = type(x) is Dual and x._level == level
    if own and x.tangent is not None:
        return x.tangent
    if strict:
        raise RuntimeError(
            "jvp(f, primals, tangents, strict=True): The output of f is independent of the "
            "inputs. This is not allowed with strict=True."
        )
    return like(0, x._data if own else x)


def linearize(func: Function, *primals: Any) -> Any:
    """``func(*primals)`` and the linear map of tangents at that point.

    The map raises RuntimeError for tangents of another structure, shape or dtype.
    """
    value = func(*primals)

    def push(*tangents: Any) -> Any:
        _check_tangents(primals, tangents)
        return jvp(func, primals, tangents)[1]

    return value, push


def _check_tangents(primals: Any, tangents: Any) -> None:
    if not pytree.same_structure(primals, tangents):
        raise RuntimeError(
            f"Expected the tangents {pytree.described(tangents)} to have the same argspec as the "
            f"primals {pytree.described(primals)}"
        )
    pairs = zip(pytree.flatten(primals), pytree.flatten(tangents), strict=True)
    for i, (p, t) in enumerate(pairs):
        for what in ("shape", "device", "dtype"):
            own, other = getattr(p, what), getattr(t, what)
            if own != other:
                raise RuntimeError(
                    f"tangent:{i} with {what} {other} in flattened pytree doesn't match the "
                    f"{what} {own} of the corresponding primal."
                )
