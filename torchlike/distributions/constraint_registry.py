"""From a constraint to a transform of unconstrained numbers onto the values it allows.

``biject_to(constraint)`` is bijective, as changes of variables need it; ``transform_to`` need not
be, and its coordinates are the more convenient ones for optimizers::

    loc = torch.zeros(3, requires_grad=True)
    scale = transform_to(constraints.positive)(unconstrained)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import constraints, transforms
from .utils import Number

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """A function of constraints that looks up, by their type, how to make a transform."""

    def __init__(self) -> None:
        self._registry: dict[type, Callable[[Any], Any]] = {}

    def register(self, constraint: Any, factory: Any = None) -> Any:
        """Serve a constraint's type with ``factory(constraint)``; without it, a decorator."""
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        if isinstance(constraint, constraints.Constraint):
            constraint = type(constraint)
        if not isinstance(constraint, type) or not issubclass(constraint, constraints.Constraint):
            raise TypeError(
                "Expected constraint to be either a Constraint subclass or instance, "
                f"but got {constraint}"
            )
        self._registry[constraint] = factory
        return factory

    def __call__(self, constraint: Any) -> Any:
        """A transform onto ``constraint``; NotImplementedError if its type has none."""
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _both(*kinds: Any) -> Callable[[Any], Any]:
    """Register a function for both, and several types."""

    def register(factory: Any) -> Any:
        for kind in kinds:
            biject_to.register(kind, factory)
            transform_to.register(kind, factory)
        return factory

    return register


_both(constraints.real)(lambda c: transforms.identity_transform)
_both(constraints.corr_cholesky)(lambda c: transforms.CorrCholeskyTransform())
biject_to.register(constraints.simplex, lambda c: transforms.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda c: transforms.SoftmaxTransform())
transform_to.register(constraints.lower_cholesky, lambda c: transforms.LowerCholeskyTransform())
for _kind in (constraints.positive_definite, constraints.positive_semidefinite):
    transform_to.register(_kind, lambda c: transforms.PositiveDefiniteTransform())


def _then_affine(first: Any, loc: Any, scale: Any) -> Any:
    return transforms.ComposeTransform([first, transforms.AffineTransform(loc, scale)])


@_both(constraints.greater_than, constraints.greater_than_eq)
def _above(constraint: Any) -> Any:
    return _then_affine(transforms.ExpTransform(), constraint.lower_bound, 1)


@_both(constraints.less_than)
def _below(constraint: Any) -> Any:
    return _then_affine(transforms.ExpTransform(), constraint.upper_bound, -1)


def _is(bound: Any, value: int) -> bool:
    return isinstance(bound, Number) and bound == value


@_both(constraints.interval, constraints.half_open_interval)
def _between(constraint: Any) -> Any:
    low, high = constraint.lower_bound, constraint.upper_bound
    if _is(low, 0) and _is(high, 1):
        return transforms.SigmoidTransform()
    return _then_affine(transforms.SigmoidTransform(), low, high - low)


def _register_joined(registry: ConstraintRegistry) -> None:
    """Constraints that are made of others."""

    def independent(c: Any) -> Any:
        inner = registry(c.base_constraint)
        return transforms.IndependentTransform(inner, c.reinterpreted_batch_ndims)

    def cat(c: Any) -> Any:
        return transforms.CatTransform([registry(part) for part in c.cseq], c.dim, c.lengths)

    def stack(c: Any) -> Any:
        return transforms.StackTransform([registry(part) for part in c.cseq], c.dim)

    registry.register(constraints.independent, independent)
    registry.register(constraints.cat, cat)
    registry.register(constraints.stack, stack)


_register_joined(biject_to)
_register_joined(transform_to)
