"""Kullback and Leibler's divergence, KL(p‖q) = E_p[log p(x) - log q(x)].

This module looks a function up by the types of both distributions. The functions themselves are in
`_kl_same` (p and q of one family) and `_kl_pairs`; the package imports both.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from torchlike import Tensor

from .distribution import Distribution

__all__ = ["kl_divergence", "register_kl"]

_KL_REGISTRY: dict[tuple[type, type], Callable[[Any, Any], Tensor]] = {}
_KL_MEMOIZE: dict[tuple[type, type], Any] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Any], Any]:
    """Decorate a function of p and q that serves these types and their subclasses.

    Where several serve, the most specific one for p is taken, and among these that for q. If the
    other order gives another function, there is a RuntimeWarning.
    """
    for name, cls in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(cls, type) and issubclass(cls, Distribution):
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {cls}")

    def decorator(function: Any) -> Any:
        _KL_REGISTRY[type_p, type_q] = function
        _KL_MEMOIZE.clear()
        return function

    return decorator


def _is_as_specific(types: tuple[type, ...], other: tuple[type, ...]) -> bool:
    """Whether the first of two types that differ is the other's subclass."""
    for x, y in zip(types, other, strict=True):
        if not issubclass(x, y):
            return False
        if x is not y:
            return True
    return True


def _most_specific(matches: list[tuple[type, ...]]) -> tuple[type, ...]:
    best = matches[0]
    for match in matches[1:]:
        if _is_as_specific(match, best):
            best = match
    return best


def _look_up(type_p: type, type_q: type) -> Any:
    matches: list[tuple[type, ...]] = [
        (p, q) for p, q in _KL_REGISTRY if issubclass(type_p, p) and issubclass(type_q, q)
    ]
    if not matches:
        return None
    left = _most_specific(matches)
    right = _most_specific([(q, p) for p, q in matches])[::-1]
    by_p, by_q = _KL_REGISTRY[left], _KL_REGISTRY[right]
    if by_p is not by_q:
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). "
            f"Please register_kl({left[0].__name__}, {right[1].__name__})",
            RuntimeWarning,
            stacklevel=3,
        )
    return by_p


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """KL(p‖q) of shape batch_shape; NotImplementedError if no function serves their types."""
    key = type(p), type(q)
    if key not in _KL_MEMOIZE:
        _KL_MEMOIZE[key] = _look_up(*key)
    if _KL_MEMOIZE[key] is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {p.__class__.__name__} and q type "
            f"{q.__class__.__name__}"
        )
    return _KL_MEMOIZE[key](p, q)
