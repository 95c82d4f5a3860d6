"""What programs say to TorchScript's compiler about their functions, values and types."""

from __future__ import annotations

import builtins
import types
import typing
import warnings
from typing import Any, NamedTuple

# types that do not say what is in them, by the names that they are called by
_BARE: dict[Any, str] = {kind: kind.__name__ for kind in (list, dict, tuple)}
_BARE.update({getattr(typing, name): name for name in ("List", "Dict", "Tuple", "Optional")})
_LOST = (
    "The inner type of a container is lost when calling torch.jit.isinstance in eager mode. For "
    "example, List[int] would become list and therefore falsely return True for List[float] or "
    "List[str]."
)


class Attribute(NamedTuple):
    """A value and the type it is declared to have."""

    value: Any
    type: Any


def annotate(the_type: Any, the_value: Any) -> Any:
    """``the_value``."""
    return the_value


def export(fn: Any) -> Any:
    """The method itself."""
    return fn


def unused(fn: Any) -> Any:
    """The function itself."""
    return fn


def interface(obj: Any) -> Any:
    """The class itself."""
    return obj


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """The function itself; also ``ignore(drop=...)``, a decorator."""
    if callable(drop):
        return drop
    if not builtins.isinstance(drop, bool):
        raise RuntimeError(
            f"Argument to @torch.jit.ignore must be a bool or a function but got {drop}"
        )
    if drop:
        warnings.warn(
            "ignore(True) has been deprecated. TorchScript will now drop the function call on "
            "compilation. Use torch.jit.unused now. {}",
            FutureWarning,
            stacklevel=2,
        )
    return lambda fn: fn


def isinstance(obj: Any, target_type: Any) -> bool:
    """Whether a value has a type: also ``list[int]``, ``dict[str, int]``, ``int | None``, ...

    The elements of lists, dictionaries and tuples are looked at. Raises RuntimeError for a
    container's type that does not say what is in it.
    """
    if builtins.isinstance(target_type, tuple):
        return any(isinstance(obj, one) for one in target_type)
    if target_type in _BARE:
        raise _without_contents(_BARE[target_type])
    origin, inner = typing.get_origin(target_type), typing.get_args(target_type)
    if origin is None:
        return builtins.isinstance(obj, types.NoneType if target_type is None else target_type)
    if origin in (typing.Union, types.UnionType):
        return any(isinstance(obj, one) for one in inner)
    return builtins.isinstance(obj, origin) and _holds(obj, origin, inner)


def _without_contents(name: str) -> RuntimeError:
    many = name in ("dict", "Dict")
    what, wanted = ("contained types", "contained type") if many else ("a contained type",) * 2
    example = f"{name}[int, int]" if many else f"{name}[int]"
    return RuntimeError(
        f"Attempted to use {name} without {what}. Please add {wanted}, e.g. {example}"
    )


def _holds(obj: Any, origin: Any, inner: tuple[Any, ...]) -> bool:
    """Whether the elements of a container have the types it should hold."""
    if origin in (list, dict) and not obj:
        warnings.warn(_LOST, stacklevel=3)
        return True
    if origin is list:
        return all(isinstance(x, inner[0]) for x in obj)
    if origin is dict:
        return all(isinstance(k, inner[0]) and isinstance(v, inner[1]) for k, v in obj.items())
    if origin is tuple:
        if len(inner) == 2 and inner[1] is Ellipsis:
            return all(isinstance(x, inner[0]) for x in obj)
        return len(obj) == len(inner) and all(map(isinstance, obj, inner))
    return True
