"""What transforms take and give: the arguments that are meant, outputs, and PyTorch's errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import pytree
from ..tape.wrappers import Wrapped
from ..tensor import Tensor

Function = Callable[..., Any]


def positions(argnums: Any, count: int) -> Any:
    """``argnums`` counted from the front. RuntimeError for what are no ``count`` positions."""
    if isinstance(argnums, int):
        return _position(argnums, count)
    if not isinstance(argnums, tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    if not argnums:
        raise RuntimeError("argnums must be non-empty")
    found = tuple(_position(n, count) for n in argnums)
    if len(set(found)) < len(found):
        raise RuntimeError(f"argnums elements must be unique, got {found}")
    return found


def _position(n: Any, count: int) -> int:
    if not isinstance(n, int):
        raise RuntimeError(f"argnum must be int, got: {type(n)}")
    if not -count <= n < count:
        raise RuntimeError(f"Got argnum={n}, but only {count} positional inputs")
    return n % count


def selected(args: tuple[Any, ...], argnums: Any) -> Any:
    """The argument at a position, or a tuple of those at several."""
    return args[argnums] if isinstance(argnums, int) else tuple(args[i] for i in argnums)


def replaced(args: tuple[Any, ...], argnums: Any, values: Any) -> list[Any]:
    """All arguments, with other values at these positions."""
    full = list(args)
    if isinstance(argnums, int):
        full[argnums] = values
    else:
        for i, value in zip(argnums, values, strict=True):
            full[i] = value
    return full


def out_of(cls: type[Wrapped], level: int, x: Any) -> Any:
    """A tensor as it is below a level; RuntimeError for what is no tensor."""
    if not isinstance(x, Tensor):
        raise RuntimeError(f"Expected tensors, got unsupported type {type(x)}")
    return x._data if type(x) is cls and x._level == level else x


def lowered_tree(cls: type[Wrapped], level: int, tree: Any) -> Any:
    """``out_of`` for all tensors of a tree."""
    return pytree.map_tree(lambda x: out_of(cls, level, x), tree)


def with_aux(name: str, result: Any) -> tuple[Any, Any]:
    """A function's (output, aux)."""
    if type(result) is not tuple or len(result) != 2:
        raise RuntimeError(
            f"{name}: output of function f should be a tuple: (output, aux) if has_aux is True"
        )
    return result


def check_outputs(name: str, outputs: list[Any]) -> None:
    """PyTorch's errors for a function that returns nothing, or other things than tensors."""
    if not outputs or (len(outputs) == 1 and outputs[0] is None):
        raise RuntimeError(
            f"{name}: Expected f to be a function that has non-empty output (got output = "
            f"{outputs})"
        )
    for x in outputs:
        if not isinstance(x, Tensor):
            raise RuntimeError(
                f"{name}: expected f(*primals) to return only tensors, got unsupported type "
                f"{type(x)}"
            )
